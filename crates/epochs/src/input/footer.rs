//! The description at the end of a Parquet file, before the Parquet reader parses it.

use std::io::{self, Read};
use std::path::Path;

use sha2::{Digest, Sha256};

use super::thrift::{BINARY, BOOL, BYTE, EMPTY, INT, Reader, Shape, Wire, expect, malformed};
use crate::error::Error;
use crate::storage::{Chunks, Part};

/// The memory that a parsed description takes, for each byte of it.
const GROWTH: u64 = 64;

/// The most row groups, which have numbers of 16 bits.
const MAX_GROUPS: u64 = 1 << 15;

/// The bytes of a column's name in messages.
const NAME: usize = 80;

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
/// Without one, it is that of the file's end.
pub(super) fn fingerprint(file: &Chunks) -> io::Result<[u8; 32]> {
    let length = length(file)?;
    let mut hash = Sha256::new();
    let start = file.size.saturating_sub(8).saturating_sub(length);
    let mut part = Part::new(file.file.clone(), start..start + length).buffered();
    io::copy(&mut part, &mut Hashed(&mut hash))?;
    Ok(hash.finalize().into())
}

/// Returns the hash of a whole file.
pub(super) fn content(file: &Chunks) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    io::copy(&mut Part::new(file.file.clone(), 0..file.size).buffered(), &mut Hashed(&mut hash))?;
    Ok(hash.finalize().into())
}

/// Checks what the Parquet reader does not: the size of the footer, and the nesting of columns, which it
/// follows by recursion.
pub(super) fn check(file: &Chunks, path: &Path, most: usize) -> Result<(), Error> {
    let fail = |problem| Error::Read { path: path.to_owned(), problem };
    let length = length(file).map_err(fail)?;
    let longest = most as u64 / GROWTH;
    if length > longest {
        return Err(Error::Footer { path: path.to_owned(), length, longest });
    }
    let start = file.size.saturating_sub(8).saturating_sub(length);
    let part = Part::new(file.file.clone(), start..start + length).buffered();
    match nested_column(&mut Reader::new(part)).map_err(fail)? {
        Some(column) => {
            let problem = "expected values that are not nested; leave this column out".to_owned();
            Err(Error::Column { path: path.to_owned(), column, problem })
        }
        None => Ok(()),
    }
}

/// Returns the length of the footer that the file's end names, or as many bytes as there are.
fn length(file: &Chunks) -> io::Result<u64> {
    let Some(before) = file.size.checked_sub(8) else { return Ok(0) };
    let mut length = [0; 4];
    file.file.read_at(before, &mut length)?;
    Ok(u64::from(u32::from_le_bytes(length)).min(before))
}

/// Reads the schema, and the number of row groups, for which the Parquet reader allocates. Returns the
/// name of a column with columns in it.
fn nested_column<R: Read>(reader: &mut Reader<R>) -> io::Result<Option<String>> {
    let mut last = 0;
    while let Some((number, wire)) = reader.field(last)? {
        match number {
            2 => {
                let size = structs(reader, wire)?;
                for index in 0..size {
                    let (name, children) = schema_element(reader)?;
                    if index > 0 && children != 0 {
                        return Ok(Some(name));
                    }
                }
            }
            // The Parquet reader does not allocate by what follows before it has read it.
            4 if structs(reader, wire)? <= MAX_GROUPS => return Ok(None),
            4 => return Err(malformed("expected at most 32768 row groups")),
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

/// Hashes what is written.
struct Hashed<'a>(&'a mut Sha256);

impl io::Write for Hashed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
