//! The memory that reading a Parquet file takes, from the headers of its pages. The Parquet reader
//! allocates what these name, so a file is refused before it is read.

use std::io::{self, BufReader};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::BATCH_BYTES;
use super::page_header::{Encoding, Kind, PageHeader};
use super::thrift::{Reader, malformed};
use crate::error::Error;
use crate::storage::{Chunks, Part};

/// The bytes that are read at a time for a header. Most are shorter.
const HEADER: usize = 128;

/// The most bytes of a value that is not of variable length, in any Arrow type.
const NUMBER: u64 = 32;

/// The bytes of a value of variable length besides its own.
const PLACE: u64 = 24;

/// The rows that any file may have. A larger one may have a row for each byte more.
const FEW_ROWS: u64 = 1 << 20;

/// What reading columns takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The bytes of pages and dictionaries.
    held: u64,
    /// The most bytes of a row, where rows of a page are counted as equally long.
    row: u64,
}

impl Needs {
    /// Returns what reading both takes.
    pub(super) fn and(self, other: Needs) -> Needs {
        Needs {
            held: self.held.saturating_add(other.held),
            row: self.row.saturating_add(other.row),
        }
    }

    /// Returns what reading either takes.
    fn or(self, other: Needs) -> Needs {
        Needs { held: self.held.max(other.held), row: self.row.max(other.row) }
    }

    /// Returns the number of rows that are read at a time.
    pub(super) fn batch(&self, most: usize) -> usize {
        let rows = BATCH_BYTES as u64 / self.row.max(1);
        rows.clamp(1, most as u64) as usize
    }

    /// Returns the bytes besides batches of [`BATCH_BYTES`].
    pub(super) fn memory(&self) -> u64 {
        let longer = self.row.saturating_sub(BATCH_BYTES as u64);
        self.held.saturating_add(longer.saturating_mul(3))
    }
}

/// Measures files.
pub(super) struct Measure<'a> {
    pub(super) file: &'a Chunks,
    pub(super) path: &'a Path,
    /// The bytes that reading takes besides [`Needs`].
    pub(super) used: usize,
    /// The most bytes that reading may take.
    pub(super) most: usize,
}

impl Measure<'_> {
    /// Returns what reading each column takes, with the column's name.
    pub(super) fn columns(
        &self,
        metadata: &ParquetMetaData,
    ) -> Result<Vec<(String, Needs)>, Error> {
        let groups = metadata.row_groups();
        let rows = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
        let most_rows = FEW_ROWS.saturating_add(self.file.size);
        if rows.fold(0, u64::saturating_add) > most_rows {
            return Err(Error::Rows { path: self.path.to_owned(), most: most_rows });
        }
        let mut found = Vec::new();
        for (index, column) in metadata.file_metadata().schema_descr().columns().iter().enumerate()
        {
            let fail = |problem: io::Error| Error::Column {
                path: self.path.to_owned(),
                column: column.name().to_owned(),
                problem: problem.to_string(),
            };
            let mut needs = Needs::default();
            for group in groups {
                let chunk = group.columns().get(index);
                let chunk = chunk.ok_or_else(|| fail(malformed("expected all columns")))?;
                needs = needs.or(self.chunk(group, chunk).map_err(fail)?);
                self.check(needs)?;
            }
            found.push((column.name().to_owned(), needs));
        }
        Ok(found)
    }

    /// Returns the bytes that reading takes, which must not be more than it may.
    pub(super) fn check(&self, needs: Needs) -> Result<usize, Error> {
        let needed = needs.memory().saturating_add(self.used as u64);
        match usize::try_from(needed) {
            Ok(needed) if needed <= self.most => Ok(needed),
            _ => Err(Error::Pages { path: self.path.to_owned(), needed, most: self.most as u64 }),
        }
    }

    /// Returns what reading a column of a row group takes.
    fn chunk(&self, group: &RowGroupMetaData, chunk: &ColumnChunkMetaData) -> io::Result<Needs> {
        if chunk.column_descr().max_rep_level() > 0 {
            return Err(malformed("expected values that are not repeated; leave this column out"));
        }
        // Of two formats with this name, one names no size.
        if matches!(chunk.compression(), Compression::LZ4) {
            return Err(malformed(
                "expected LZ4_RAW, Snappy, zstd, gzip or no compression, got LZ4",
            ));
        }
        let kind = chunk.column_type();
        let Range { start: mut position, end } = self.range(chunk)?;
        let (mut stored, mut size, mut longest_page, mut dictionary) = (0, 0, 0, None);
        let (mut values, mut row) = (0_u64, 0);
        while position < end {
            let rest = Part::new(Arc::clone(&self.file.file), position..end);
            let mut reader = Reader::new(BufReader::with_capacity(HEADER, rest));
            let page = PageHeader::read(&mut reader)?;
            let start = position + reader.position();
            position = start.saturating_add(page.stored);
            if position > end {
                return Err(malformed("expected pages within their column"));
            }
            // The size of a page that is not compressed is not the one in its header.
            let page = PageHeader { size: page.size.max(page.stored), ..page };
            stored = page.stored.max(stored);
            size = page.size.max(size);
            match page.kind {
                Kind::Other => continue,
                Kind::Dictionary if values > 0 || dictionary.is_some() => {
                    return Err(malformed("expected one dictionary, before all values"));
                }
                Kind::Dictionary if page.values > page.size => {
                    return Err(malformed("expected a byte or more for each value"));
                }
                Kind::Dictionary => dictionary = Some(page),
                Kind::Data => {
                    values = values.saturating_add(page.values);
                    if page.encoding == Encoding::Own && kind == Type::BYTE_ARRAY {
                        longest_page = page.size.max(longest_page);
                        row = (page.size / page.values.max(1)).max(row);
                    }
                }
            }
            if page.encoding == Encoding::Shared {
                return Err(malformed("expected values without delta encoding of bytes"));
            }
            if matches!(chunk.compression(), Compression::GZIP(_)) {
                self.check_gzip(start + page.plain.min(page.stored)..position, &page)?;
            }
        }
        if values != u64::try_from(group.num_rows()).unwrap_or(u64::MAX) {
            let rows = group.num_rows();
            return Err(malformed(&format!("expected {rows} values in a row group, got {values}")));
        }
        let mut needs = Needs { held: stored + size + 2 * longest_page, row: NUMBER };
        if let Some(page) = dictionary {
            needs.held += 2 * page.size + 16 * page.values;
        }
        match kind {
            Type::FIXED_LEN_BYTE_ARRAY => {
                let length = chunk.column_descr().type_length();
                needs.row = u64::try_from(length).unwrap_or(0).max(NUMBER);
            }
            Type::BYTE_ARRAY => {
                // The page is decompressed, which takes no more than this.
                if dictionary.is_some() && needs.held <= self.most as u64 {
                    row = self.longest(chunk)?.max(row);
                }
                needs.row = PLACE + row;
            }
            _ => {}
        }
        Ok(needs)
    }

    /// Returns the place of a column in the file.
    fn range(&self, chunk: &ColumnChunkMetaData) -> io::Result<Range<u64>> {
        let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        let range = range.and_then(|(start, length)| Some(start..start.checked_add(length)?));
        range
            .filter(|range| range.end <= self.file.size)
            .ok_or_else(|| malformed("expected a column within the file"))
    }

    /// Checks that a page compressed with gzip has the size that its header names, of which its
    /// decompressor takes no notice.
    fn check_gzip(&self, range: Range<u64>, page: &PageHeader) -> io::Result<()> {
        let part = Part::new(Arc::clone(&self.file.file), range).buffered();
        let mut unpacked = io::Read::take(MultiGzDecoder::new(part), page.size + 1);
        let mut size = 0;
        let mut buffer = [0; 4096];
        // The Parquet reader reports malformed data.
        while let Ok(count @ 1..) = io::Read::read(&mut unpacked, &mut buffer) {
            size += count as u64;
        }
        if size > page.size {
            return Err(malformed("expected a page of the size in its header"));
        }
        Ok(())
    }

    /// Returns the bytes of the longest value in a column's dictionary.
    fn longest(&self, chunk: &ColumnChunkMetaData) -> io::Result<u64> {
        let mut pages = SerializedPageReader::new(Arc::new(self.file.clone()), chunk, 0, None)?;
        let Some(Page::DictionaryPage { buf, .. }) = pages.get_next_page()? else {
            return Err(malformed("expected the dictionary at the start of the column"));
        };
        let (mut rest, mut longest) = (&buf[..], 0);
        while let Some((length, values)) = rest.split_first_chunk() {
            let length = u32::from_le_bytes(*length);
            longest = longest.max(length);
            rest = values
                .get(length as usize..)
                .ok_or_else(|| malformed("expected values within the dictionary"))?;
        }
        Ok(longest.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use parquet::file::reader::Length;

    use super::*;

    #[test]
    fn gzip_is_unpacked_to_see_its_size() {
        let mut file = tempfile::tempfile().expect("a file");
        // Two members, which are unpacked one after the other.
        for _ in 0..2 {
            let mut member = GzEncoder::new(&file, Compression::default());
            member.write_all(&[7; 50_000]).expect("writable");
            member.finish().expect("writable");
        }
        file.flush().expect("writable");
        let size = file.metadata().expect("a file").len();
        let file = Chunks { file: Arc::new(file), size };
        let measure = Measure { file: &file, path: Path::new("x"), used: 0, most: 0 };
        let check = |size| {
            let page = PageHeader {
                kind: Kind::Data,
                stored: file.len(),
                size,
                values: 1,
                plain: 0,
                encoding: Encoding::Own,
            };
            measure.check_gzip(0..file.len(), &page)
        };
        check(100_000).expect("the size in the header");
        assert!(check(99_999).is_err());
        assert!(check(50_000).is_err());
    }

    #[test]
    fn long_rows_are_read_in_small_batches() {
        let needs = |row| Needs { held: 1000, row };
        assert_eq!(needs(400).batch(4096), 4096);
        assert_eq!(needs(1 << 20).batch(4096), 16);
        assert_eq!((needs(0).batch(9), needs(u64::MAX).batch(9)), (9, 1));
        assert_eq!(needs(1 << 20).memory(), 1000);
        assert_eq!(needs(17 << 20).memory(), 1000 + (3 << 20));
        assert_eq!(needs(u64::MAX).and(needs(5)).memory(), u64::MAX);
    }
}
