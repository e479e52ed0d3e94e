//! A file of JSON lines.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::fields::{FIELDS, Fields};
use super::hashing::Hashing;
use super::pieces::{Found, Piece, Pieces};
use super::{BATCH_BYTES, BATCH_ROWS};
use crate::epoch::Epoch;
use crate::error::Error;
use crate::storage::{Chunks, Storage};
use crate::task::Take;

/// The longest line. A longer one is malformed, and its rest is skipped.
const MAX_LINE: u64 = 3 << 20;

/// The bytes that are kept of a malformed line.
const EXCERPT: usize = 1000;

/// The columns of a batch. All batches of lines share this schema, and no other batch has it.
pub(super) static SCHEMA: LazyLock<SchemaRef> = LazyLock::new(|| {
    let column = |name, data_type| Field::new(name, data_type, true);
    let mut columns = vec![column("line", DataType::UInt64), column("height", DataType::UInt64)];
    columns.extend(FIELDS.into_iter().chain(["other"]).map(|name| column(name, DataType::Utf8)));
    Arc::new(Schema::new(columns))
});

/// A file of JSON lines, one object for each proof of work.
pub(super) struct Lines {
    path: PathBuf,
    size: u64,
    /// The hash of the file, once it was scanned.
    fingerprint: String,
    /// The hashes of the lines of each epoch.
    hashes: BTreeMap<Epoch, [u8; 32]>,
}

/// The lines of an epoch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Places {
    path: PathBuf,
    /// The size of the whole file.
    size: u64,
    pieces: Vec<Piece>,
    /// The hash of the lines in all pieces.
    hash: [u8; 32],
}

impl Lines {
    /// Opens a file.
    pub(super) fn open(storage: &dyn Storage, path: &Path) -> Result<Lines, Error> {
        let file = open(storage, path)?;
        let (path, hashes) = (path.to_owned(), BTreeMap::new());
        Ok(Lines { path, size: file.size, fingerprint: String::new(), hashes })
    }

    /// Returns the hash of the file.
    pub(super) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Returns the lines of an epoch.
    pub(super) fn places(&self, epoch: Epoch, pieces: Vec<Piece>) -> Places {
        let hash = self.hashes.get(&epoch).copied().unwrap_or_default();
        Places { path: self.path.clone(), size: self.size, pieces, hash }
    }

    /// Finds the epochs of all lines.
    pub(super) fn scan(
        &mut self,
        storage: &dyn Storage,
        mut pieces: Pieces,
    ) -> Result<Found, Error> {
        let file = open(storage, &self.path)?;
        self.size = file.size;
        let mut reader = BufReader::new(Hashing::new(&file, 0..file.size));
        let mut hashes: BTreeMap<Epoch, Sha256> = BTreeMap::new();
        let (mut line, mut start, mut row) = (Vec::new(), 0, 0);
        while let Some(length) =
            next(&mut reader, &mut line).map_err(|problem| unreadable(&self.path, problem))?
        {
            let end = start + length;
            let fields = Fields::parse(&line).unwrap_or_default();
            let height = fields.height;
            let seed_hash = fields.text("seed_hash").and_then(|hex| {
                let bytes = hex::decode(hex.as_ref()).ok()?;
                bytes.try_into().ok()
            });
            let (epoch, place) = (Epoch::of(height, seed_hash), Piece { file: 0, start, end, row });
            if pieces.add(height, epoch, place, &self.path)? {
                hashes.entry(epoch).or_default().update(&line);
            }
            (start, row) = (end, row + 1);
        }
        let finish = |(epoch, hash): (_, Sha256)| (epoch, hash.finalize().into());
        self.hashes = hashes.into_iter().map(finish).collect();
        self.fingerprint = hex::encode(reader.into_inner().finish());
        Ok(pieces.into_found())
    }
}

impl Places {
    /// Reads the lines. Fails if they changed since the plan, perhaps after `take` received some.
    pub(super) fn read(&self, storage: &dyn Storage, take: Take<'_>) -> Result<(), Error> {
        let fail = |problem| unreadable(&self.path, problem);
        let arrow = |problem| Error::Arrow { path: self.path.clone(), problem };
        let changed = || Error::Changed { path: self.path.clone() };
        let file = open(storage, &self.path)?;
        if file.size != self.size {
            return Err(changed());
        }
        let (mut rows, mut hash) = (Rows::default(), Sha256::new());
        let mut line = Vec::new();
        for piece in &self.pieces {
            let mut reader = file.part(piece.start..piece.end).buffered();
            let (mut at, mut row) = (piece.start, piece.row);
            while at < piece.end {
                at += next(&mut reader, &mut line).map_err(fail)?.ok_or_else(changed)?;
                hash.update(&line);
                row += 1;
                rows.add(row, &line);
                if rows.are_enough() {
                    take(&rows.batch().map_err(arrow)?)?;
                }
            }
        }
        if self.hash != <[u8; 32]>::from(hash.finalize()) {
            return Err(changed());
        }
        if rows.count > 0 {
            take(&rows.batch().map_err(arrow)?)?;
        }
        Ok(())
    }
}

fn open(storage: &dyn Storage, path: &Path) -> Result<Chunks, Error> {
    Chunks::open(storage, path).map_err(|problem| unreadable(path, problem))
}

fn unreadable(path: &Path, problem: io::Error) -> Error {
    Error::Read { path: path.to_owned(), problem }
}

/// Reads a line, and returns the bytes that it takes in the file. `None` at the end.
fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    // The longest line and its ending.
    let limited = &mut reader.by_ref().take(MAX_LINE + 1);
    let mut length = limited.read_until(b'\n', line)? as u64;
    if length > MAX_LINE && !line.ends_with(b"\n") {
        length += skip_line(reader)?;
        // The start of the line may be an object and spaces. A zero byte is never valid JSON.
        line.push(0);
    }
    Ok((length > 0).then_some(length))
}

/// Skips the rest of a line, and returns its bytes.
fn skip_line(reader: &mut impl BufRead) -> io::Result<u64> {
    let mut skipped = 0;
    loop {
        let buffer = reader.fill_buf()?;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(length);
        skipped += length as u64;
        if end.is_some() || length == 0 {
            return Ok(skipped);
        }
    }
}

/// Lines on their way into a batch.
#[derive(Default)]
struct Rows {
    count: usize,
    bytes: usize,
    line: UInt64Builder,
    height: UInt64Builder,
    texts: [StringBuilder; FIELDS.len()],
    other: StringBuilder,
}

impl Rows {
    fn add(&mut self, number: u64, line: &[u8]) {
        let fields = Fields::parse(line);
        self.count += 1;
        self.bytes += line.len();
        self.line.append_value(number);
        let known = fields.as_ref();
        self.height.append_option(known.and_then(|fields| fields.height));
        for (name, column) in FIELDS.into_iter().zip(&mut self.texts) {
            column.append_option(known.and_then(|fields| fields.text(name)));
        }
        self.other.append_option(match known {
            Some(fields) => fields.other(),
            None => {
                let start = line.get(..EXCERPT).unwrap_or(line);
                Some(String::from_utf8_lossy(start).trim_end().to_owned())
            }
        });
    }

    fn are_enough(&self) -> bool {
        self.count >= BATCH_ROWS || self.bytes >= BATCH_BYTES
    }

    /// Returns the rows, and begins anew.
    fn batch(&mut self) -> Result<RecordBatch, ArrowError> {
        let Rows { mut line, mut height, texts, mut other, .. } = std::mem::take(self);
        let mut columns = vec![Arc::new(line.finish()) as ArrayRef, Arc::new(height.finish())];
        columns.extend(texts.map(|mut column| Arc::new(column.finish()) as _));
        columns.push(Arc::new(other.finish()));
        RecordBatch::try_new(Arc::clone(&SCHEMA), columns)
    }
}
