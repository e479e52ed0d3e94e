//! The footer of a Parquet file, before the Parquet reader parses it.

use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::Path;

use super::hashing::Hashing;
use super::thrift::{
    BINARY, BOOL, BYTE, EMPTY, INT, Reader, Shape, Wire, expect, malformed, unsupported,
};
use crate::error::Error;
use crate::storage::{Chunks, Part};

/// The memory that a parsed footer takes, for each byte of it.
const GROWTH: u64 = 64;

/// The most row groups, which have numbers of 16 bits.
const MAX_GROUPS: u64 = 1 << 15;

/// The bytes of a column's name in messages.
const NAME: usize = 80;

/// The bytes of a value in the file's metadata that are read. A summary takes less.
const VALUE: usize = 1 << 20;

/// A time or a timestamp.
const TIME: Shape =
    Shape::Fields(&[(1, BOOL), (2, Shape::Fields(&[(1, EMPTY), (2, EMPTY), (3, EMPTY)]))]);

/// The logical type of a column.
const LOGICAL_TYPE: Shape = Shape::Fields(&[
    (1, EMPTY),
    (2, EMPTY),
    (3, EMPTY),
    (4, EMPTY),
    (5, Shape::Fields(&[(1, INT), (2, INT)])),
    (6, EMPTY),
    (7, TIME),
    (8, TIME),
    (10, Shape::Fields(&[(1, BYTE), (2, BOOL)])),
    (11, EMPTY),
    (12, EMPTY),
    (13, EMPTY),
    (14, EMPTY),
    (15, EMPTY),
    (16, Shape::Fields(&[(1, BYTE)])),
    (17, Shape::Fields(&[(1, BINARY)])),
    (18, Shape::Fields(&[(1, BINARY), (2, INT)])),
]);

/// Returns the hash of a file's footer: its schema, and the sizes, places and statistics of its columns.
pub(super) fn fingerprint(file: &Chunks, path: &Path) -> Result<[u8; 32], Error> {
    let footer = footer(file, path)?;
    let hashed = || {
        let mut hashing = Hashing::new(file, footer);
        hashing.rest()?;
        Ok(hashing.finish())
    };
    hashed().map_err(|problem| Error::Read { path: path.to_owned(), problem })
}

/// Checks what the Parquet reader does not: the size of the footer, the number of columns, and their
/// nesting, which it follows by recursion.
pub(super) fn check(file: &Chunks, path: &Path, most: usize) -> Result<(), Error> {
    let fail = |problem| Error::Read { path: path.to_owned(), problem };
    let footer = footer(file, path)?;
    let length = footer.end - footer.start;
    let longest = most as u64 / GROWTH;
    if length > longest {
        return Err(Error::Footer { path: path.to_owned(), length, longest });
    }
    let part = file.part(footer).buffered();
    match nested_column(&mut Reader::new(part)).map_err(fail)? {
        Some(column) => {
            let problem = "expected values that are not nested; leave this column out".to_owned();
            Err(Error::Column { path: path.to_owned(), column, problem })
        }
        None => Ok(()),
    }
}

/// Returns the number of rows that the footer names.
pub(super) fn rows(file: &Chunks, path: &Path) -> Result<Option<u64>, Error> {
    let rows = field(file, path, 3, |reader, wire| {
        expect(wire, INT)?;
        reader.int()
    });
    Ok(rows?.and_then(|rows| u64::try_from(rows).ok()))
}

/// Returns the value of a key in the file's metadata, cut after [`VALUE`] bytes.
pub(super) fn value(file: &Chunks, path: &Path, key: &str) -> Result<Option<String>, Error> {
    let value = field(file, path, 5, |reader, wire| {
        for _ in 0..structs(reader, wire)? {
            let [name, value] = pair(reader)?;
            if name == key.as_bytes() {
                return Ok(String::from_utf8(value).ok());
            }
        }
        Ok(None)
    });
    Ok(value?.flatten())
}

/// Reads a pair of the file's metadata.
fn pair<R: Read>(reader: &mut Reader<R>) -> io::Result<[Vec<u8>; 2]> {
    let (mut pair, mut last) = ([Vec::new(), Vec::new()], 0);
    while let Some((number, wire)) = reader.field(last)? {
        match number {
            1 | 2 => {
                expect(wire, BINARY)?;
                pair[usize::from(number == 2)] = reader.binary(VALUE)?;
            }
            _ => reader.skip(wire)?,
        }
        last = number;
    }
    Ok(pair)
}

/// Reads the footer up to a field, which `read` reads. Takes little memory, whatever the footer's length is.
fn field<T>(
    file: &Chunks,
    path: &Path,
    searched: i16,
    read: impl FnOnce(&mut Reader<BufReader<Part>>, Wire) -> io::Result<T>,
) -> Result<Option<T>, Error> {
    let mut reader = Reader::new(file.part(footer(file, path)?).buffered());
    let search = || {
        let mut last = 0;
        while let Some((number, wire)) = reader.field(last)? {
            if number == searched {
                return read(&mut reader, wire).map(Some);
            }
            reader.skip(wire)?;
            last = number;
        }
        Ok(None)
    };
    search().map_err(|problem| Error::Read { path: path.to_owned(), problem })
}

/// Whether a file ends like a Parquet file.
pub(super) fn is_parquet(file: &Chunks) -> io::Result<bool> {
    let Some(start) = file.size.checked_sub(4) else { return Ok(false) };
    let mut last = [0; 4];
    file.read_at(start, &mut last)?;
    Ok(matches!(&last, b"PAR1" | b"PARE"))
}

/// Returns the place of the footer, whose length the end of the file names.
fn footer(file: &Chunks, path: &Path) -> Result<Range<u64>, Error> {
    let path = || path.to_owned();
    let Some(end) = file.size.checked_sub(8).filter(|&end| end >= 4) else {
        return Err(Error::NotParquet { path: path() });
    };
    let mut last = [0; 8];
    let read = file.read_at(end, &mut last);
    read.map_err(|problem| Error::Read { path: path(), problem })?;
    let [length @ .., _, _, _, _] = last;
    match &last[4..] {
        b"PAR1" => {}
        b"PARE" => return Err(Error::Encrypted { path: path() }),
        _ => return Err(Error::NotParquet { path: path() }),
    }
    match end.checked_sub(u32::from_le_bytes(length).into()) {
        Some(start) => Ok(start..end),
        None => {
            let problem = malformed("expected a footer within the file");
            Err(Error::Read { path: path(), problem })
        }
    }
}

/// Reads the schema, and the number of row groups, for which the Parquet reader allocates. Returns the
/// name of a column with columns in it.
fn nested_column<R: Read>(reader: &mut Reader<R>) -> io::Result<Option<String>> {
    let mut last = 0;
    while let Some((number, wire)) = reader.field(last)? {
        match number {
            2 => {
                let size = structs(reader, wire)?;
                let mut columns = 0;
                for index in 0..size {
                    let (name, children) = schema_element(reader)?;
                    if index == 0 {
                        columns = children;
                    } else if children != 0 {
                        return Ok(Some(name));
                    }
                }
                // The root claims a number of columns. The Parquet reader allocates that many.
                let listed = size.saturating_sub(1);
                if u64::try_from(columns) != Ok(listed) {
                    let problem = format!("expected {listed} columns in the schema, got {columns}");
                    return Err(malformed(&problem));
                }
            }
            // The Parquet reader does not allocate by what follows before it has read it.
            4 if structs(reader, wire)? <= MAX_GROUPS => return Ok(None),
            4 => return Err(unsupported("expected at most 32768 row groups")),
            1 | 3 => reader.skip_shape(wire, INT)?,
            _ => reader.skip(wire)?,
        }
        last = number;
    }
    Ok(None)
}

/// Reads the header of a list of structs, and returns their number.
fn structs<R: Read>(reader: &mut Reader<R>, wire: Wire) -> io::Result<u64> {
    expect(wire, Shape::Scalar(Wire::List))?;
    let (element, size) = reader.list()?;
    if size > 0 {
        expect(element, EMPTY)?;
    }
    Ok(size)
}

/// Reads an element of the schema: the start of its name, and the number of its children.
fn schema_element<R: Read>(reader: &mut Reader<R>) -> io::Result<(String, i32)> {
    let (mut name, mut children, mut last) = (String::new(), 0, 0);
    while let Some((number, wire)) = reader.field(last)? {
        match number {
            4 => {
                expect(wire, BINARY)?;
                name = String::from_utf8_lossy(&reader.binary(NAME)?).into_owned();
            }
            5 => {
                expect(wire, INT)?;
                children = reader.int()?;
            }
            10 => reader.skip_shape(wire, LOGICAL_TYPE)?,
            1..=9 => reader.skip_shape(wire, INT)?,
            _ => reader.skip(wire)?,
        }
        last = number;
    }
    Ok((name, children))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Arc;

    use super::*;

    fn place(bytes: &[u8]) -> Result<Range<u64>, Error> {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("writable");
        let file = Chunks::new(Arc::new(file), bytes.len() as u64);
        footer(&file, Path::new("x"))
    }

    #[test]
    fn the_end_of_a_file_is_checked() {
        assert_eq!(place(b"PAR1\x07\x08\x02\0\0\0PAR1").expect("a footer"), 4..6);
        for bytes in [&b""[..], b"PAR1", b"\0\0\0\0PAR1", b"a text of several words"] {
            let refused = place(bytes);
            assert!(matches!(refused, Err(Error::NotParquet { .. })), "{bytes:?}: {refused:?}");
        }
        assert!(matches!(place(b"PARE\0\0\0\0PARE"), Err(Error::Encrypted { .. })));
        let refused = place(b"PAR1\x05\0\0\0PAR1").expect_err("no room");
        assert!(refused.to_string().contains("expected a footer within the file"), "{refused}");
    }
}
