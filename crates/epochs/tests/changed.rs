//! Inputs that change between the plan and the reading of rows.

use std::fs;

use randomx_epochs::{Error, Format, Input, Local, ROWS, Rows};

/// Reads rows, and returns their number.
fn read(rows: &Rows) -> Result<usize, Error> {
    let mut count = 0;
    rows.read(&Local, &mut |batch| {
        count += batch.num_rows();
        Ok(())
    })?;
    Ok(count)
}

#[test]
fn lines_that_change_in_their_place_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.jsonl");
    let line =
        |height, difficulty| format!("{{\"height\":{height},\"difficulty\":{difficulty}}}\n");
    let lines = |difficulty| [line(1, 1), line(3000, 1), line(2, difficulty)].concat();
    fs::write(&path, lines(1)).expect("writable");
    let mut input = Input::open(&Local, &path, Format::Lines, ROWS).expect("a file");
    let planned = input.plan(&Local, None, None).expect("lines");
    let counts = || planned.iter().map(|(_, rows)| read(rows)).collect::<Vec<_>>();
    assert!(matches!(counts()[..], [Ok(2), Ok(1)]), "{:?}", counts());
    fs::write(&path, lines(2)).expect("writable");
    assert!(matches!(counts()[..], [Err(Error::Changed { .. }), Ok(1)]), "{:?}", counts());
    fs::write(&path, lines(1)).expect("writable");
    // Lines outside the range may change.
    let planned = input.plan(&Local, Some(1), Some(1)).expect("lines");
    fs::write(&path, lines(2)).expect("writable");
    assert!(matches!(read(&planned[0].1), Ok(1)));
}
