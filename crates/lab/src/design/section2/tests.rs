//! The chapter's figures are reproduced.

use super::*;
use crate::report::Row;

fn report(samples: u64, part: &str) -> Report {
    let only = vec![part.to_owned()];
    let settings = Settings { samples: Some(samples), only, ..Settings::default() };
    crate::run(&Section2, &settings, &mut ()).expect("a report")
}

/// The quick tests of the crate `randomx-figures` compare fewer figures with the document.
#[test]
#[ignore = "full tests: traces 48 hashes"]
fn programs_match_the_document() {
    let report = report(24, "trace");
    assert!(report.unexplained().is_empty());
    let row = |what: &str| -> &Row {
        let rows = report.tables.iter().flat_map(|table| &table.rows);
        rows.into_iter().find(|row| row.what == what).expect("a row")
    };
    for (what, tolerance) in [
        ("reading instructions per program", 0.03),
        ("writing instructions per program", 0.05),
        ("bytes read", 0.03),
        ("bytes written", 0.03),
        ("2.8.1 reads from L1 per read from L2", 0.1),
        ("2.8.2 stores into L3", 0.15),
        ("the last 1792 KiB", 0.03),
        ("branches taken", 0.02),
        ("most taken in a row", 0.0),
        ("branches per program", 0.04),
        ("instructions that a branch jumps back over", 0.06),
        ("branches per program that target themselves", 0.1),
    ] {
        let row = row(what);
        let published = row.published.expect("a figure");
        assert!((row.here / published - 1.0).abs() <= tolerance, "{row:?}");
    }
    let infinite = row("programs that reach infinity").here;
    assert!(infinite > 0.3 && infinite < 6.0, "{infinite}");
    // v2 has 1.5 times as many instructions.
    let reads = row("reading instructions per program");
    let v2 = reads.others[0].expect("v2");
    assert!((v2 / reads.here - 1.5).abs() < 0.06, "{reads:?}");
}

#[test]
fn two_hashes_give_every_table_and_picture() {
    let report = report(2, "trace");
    assert_eq!(report.tables.len(), 4);
    let figures = report.tables.iter().flat_map(|table| &table.rows);
    assert!(figures.clone().all(|row| row.here.is_finite() && row.others[0].is_some()));
    let reads = figures.clone().find(|row| row.what == "reading instructions per program");
    // v2 has 1.5 times as many instructions.
    let ratio = reads.and_then(|row| Some(row.others[0]? / row.here)).expect("a row");
    assert!((1.3..1.7).contains(&ratio), "{ratio}");
    let names: Vec<&str> = report.pictures.iter().map(|picture| picture.name.as_str()).collect();
    assert_eq!(names, ["writes", "group-f", "group-e", "spans"]);
    for picture in report.pictures.iter().filter(|picture| picture.name.starts_with("group")) {
        for series in &picture.series {
            let all: f64 = series.points.iter().map(|(_, share)| share).sum();
            assert!((all - 100.0).abs() < 0.1, "{}: {all}", picture.name);
            assert!(series.points.windows(2).all(|pair| pair[0].0 < pair[1].0), "{series:?}");
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn instructions_compile_to_few_machine_instructions() {
    let report = report(20, "x86");
    let [mean, least, most] = ["mean", "least", "most"].map(|what| {
        let row = report.tables[0].rows.iter().find(|row| row.what == what).expect("a row");
        assert!(row.others[0].is_some_and(|extended| extended <= row.here), "{row:?}");
        row.here
    });
    assert!(least == 1.0 && most <= 8.0 && (mean - 1.8).abs() < 0.4, "{least} {mean} {most}");
}
