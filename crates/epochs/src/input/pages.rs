//! The memory that reading a Parquet file takes, from the headers of its pages. The Parquet reader
//! allocates what these name, so a file is refused before it is read.

use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;
use parquet::basic::{Compression, Type};
use parquet::column::page::{Page, PageReader};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;

use super::hashing::Hashing;
use super::page_header::{Encoding, Kind, PageHeader};
use super::thrift::{Reader, malformed, unsupported};
use super::{BATCH_BYTES, types};
use crate::error::Error;
use crate::storage::Chunks;

/// The most bytes of a value that is not of variable length, in any Arrow type.
const NUMBER: u64 = 32;

/// The bytes of a value of variable length besides its own.
const PLACE: u64 = 24;

/// The rows that any file may have. A larger one may have a row for each byte more.
const FEW_ROWS: u64 = 1 << 20;

/// The memory needed to read columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// The bytes of pages and dictionaries.
    held: u64,
    /// The most bytes of a row, where rows of a page are counted as equally long. This bounds any rows that follow
    /// each other, but not a choice of the longest ones.
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

    /// Returns what reading takes if rows are longer by this many bytes.
    pub(super) fn longer(self, bytes: u64) -> Needs {
        Needs { row: self.row.saturating_add(bytes), ..self }
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

/// The columns of a file.
pub(super) struct Columns {
    /// Their names, and what reading each takes.
    pub(super) needs: Vec<(String, Needs)>,
    /// The hash of the whole file.
    pub(super) content: [u8; 32],
}

/// Returns the bytes that reading a file takes, `used` besides its needs. They must not be more than `most`.
pub(super) fn check(path: &Path, needs: Needs, used: usize, most: usize) -> Result<usize, Error> {
    let needed = needs.memory().saturating_add(used as u64);
    match usize::try_from(needed) {
        Ok(needed) if needed <= most => Ok(needed),
        _ => Err(Error::Pages { path: path.to_owned(), needed, most: most as u64 }),
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
    /// Measures all columns. The file is read once, apart from dictionaries.
    pub(super) fn columns(&self, metadata: &ParquetMetaData) -> Result<Columns, Error> {
        let groups = metadata.row_groups();
        let rows = groups.iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(u64::MAX));
        let most_rows = FEW_ROWS.saturating_add(self.file.size);
        if rows.fold(0, u64::saturating_add) > most_rows {
            return Err(Error::Rows { path: self.path.to_owned(), most: most_rows });
        }
        let columns = metadata.file_metadata().schema_descr().columns().iter();
        let mut found: Vec<_> =
            columns.map(|column| (column.name().to_owned(), Needs::default())).collect();
        let fail = |column: &str, problem: io::Error| Error::Column {
            path: self.path.to_owned(),
            column: column.to_owned(),
            problem: problem.to_string(),
        };
        let mut chunks = Vec::new();
        for group in groups {
            for (index, (name, _)) in found.iter().enumerate() {
                let chunk = group.columns().get(index);
                let chunk = chunk.ok_or_else(|| fail(name, malformed("expected all columns")))?;
                let range = self.range(chunk).map_err(|problem| fail(name, problem))?;
                chunks.push((range.start, range.end, index, group, chunk));
            }
        }
        chunks.sort_unstable_by_key(|&(start, end, index, ..)| (start, end, index));
        let mut file = Hashing::new(self.file, 0..self.file.size);
        for (start, end, index, group, chunk) in chunks {
            let Some((name, needs)) = found.get_mut(index) else { continue };
            let measured = self.chunk(&mut file, start..end, group, chunk);
            *needs = needs.or(measured.map_err(|problem| fail(name, problem))?);
            check(self.path, *needs, self.used, self.most)?;
        }
        file.rest().map_err(|problem| Error::Read { path: self.path.to_owned(), problem })?;
        Ok(Columns { needs: found, content: file.finish() })
    }

    /// Returns what reading a column of a row group takes. It is in a part of the file that was not read
    /// before.
    fn chunk(
        &self,
        file: &mut Hashing,
        range: Range<u64>,
        group: &RowGroupMetaData,
        chunk: &ColumnChunkMetaData,
    ) -> io::Result<Needs> {
        if chunk.column_descr().max_rep_level() > 0 {
            return Err(unsupported(
                "expected values that are not repeated; leave this column out",
            ));
        }
        // Of two formats with this name, one names no size.
        if matches!(chunk.compression(), Compression::LZ4) {
            return Err(unsupported(
                "expected LZ4_RAW, Snappy, zstd, gzip or no compression, got LZ4",
            ));
        }
        if !range.is_empty() && range.start < file.position() {
            return Err(malformed("expected columns that do not overlap"));
        }
        let kind = chunk.column_type();
        let end = range.end;
        file.skip_to(range.start)?;
        let (mut stored, mut size, mut longest_page, mut dictionary) = (0, 0, 0, None);
        let (mut values, mut row) = (0_u64, 0);
        while file.position() < end {
            let rest = end - file.position();
            let page = PageHeader::read(&mut Reader::new(file.by_ref().take(rest)))?;
            let next = file.position().saturating_add(page.stored);
            if next > end {
                return Err(malformed("expected pages within their column"));
            }
            let size_in_header = page.size;
            // The size of a page that is not compressed is not the one in its header.
            let page = PageHeader { size: page.size.max(page.stored), ..page };
            stored = page.stored.max(stored);
            size = page.size.max(size);
            match page.kind {
                Kind::Dictionary if values > 0 || dictionary.is_some() => {
                    return Err(malformed("expected one dictionary, before all values"));
                }
                Kind::Dictionary if page.values > page.size => {
                    return Err(malformed("expected a byte or more for each value"));
                }
                Kind::Dictionary => {
                    types::check_dictionary(chunk.column_descr(), page.values, size_in_header)?;
                    dictionary = Some(page);
                }
                Kind::Data => {
                    values = values.saturating_add(page.values);
                    if page.encoding == Encoding::Own && kind == Type::BYTE_ARRAY {
                        longest_page = page.size.max(longest_page);
                        row = (page.size / page.values.max(1)).max(row);
                    }
                }
            }
            if let Encoding::Delta(name) = page.encoding {
                return Err(unsupported(&format!(
                    "expected pages in PLAIN or dictionary encoding, got {name}; \
                     turn off delta encoding in the writer"
                )));
            }
            if matches!(chunk.compression(), Compression::GZIP(_)) {
                file.skip_to(file.position() + page.plain.min(page.stored))?;
                let rest = next - file.position();
                check_gzip(file.by_ref().take(rest), page.size)?;
            }
            file.skip_to(next)?;
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

/// Checks that a page compressed with gzip has the size in its header, which the decompressor ignores.
fn check_gzip(page: impl Read, size: u64) -> io::Result<()> {
    let mut unpacked = MultiGzDecoder::new(page).take(size + 1);
    let (mut found, mut buffer) = (0, [0; 4096]);
    // The Parquet reader reports malformed data.
    while let Ok(count @ 1..) = unpacked.read(&mut buffer) {
        found += count as u64;
    }
    if found > size {
        return Err(malformed("expected a page of the size in its header"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::atomic::{AtomicU64, Ordering};

    use arrow_array::{ArrayRef, RecordBatch, UInt64Array};
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use parquet::arrow::ArrowWriter;
    use parquet::basic::GzipLevel;
    use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use sha2::{Digest, Sha256};

    use super::*;
    use crate::storage::StoredFile;

    #[test]
    fn gzip_is_unpacked_to_see_its_size() {
        let mut page = Vec::new();
        // Two members, which are unpacked one after the other.
        for _ in 0..2 {
            let mut member = GzEncoder::new(&mut page, Compression::default());
            member.write_all(&[7; 50_000]).expect("writable");
            member.finish().expect("writable");
        }
        check_gzip(&page[..], 100_000).expect("the size in the header");
        assert!(check_gzip(&page[..], 99_999).is_err());
        assert!(check_gzip(&page[..], 50_000).is_err());
    }

    /// A file that counts the bytes that are read.
    struct Counted(Vec<u8>, Arc<AtomicU64>);

    impl StoredFile for Counted {
        fn size(&self) -> io::Result<u64> {
            Ok(self.0.len() as u64)
        }

        fn read_at(&self, position: u64, buffer: &mut [u8]) -> io::Result<()> {
            self.1.fetch_add(buffer.len() as u64, Ordering::Relaxed);
            let bytes = self.0.get(position as usize..).unwrap_or_default();
            buffer.copy_from_slice(bytes.get(..buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
            Ok(())
        }
    }

    /// Measures a file of two columns and ten groups of rows. Returns it, the bytes that were read for
    /// that, and the result.
    fn measured(
        properties: WriterPropertiesBuilder,
        change: impl FnOnce(ParquetMetaData) -> ParquetMetaData,
    ) -> (Vec<u8>, u64, Result<[u8; 32], Error>) {
        let column = |seed: u64| {
            let numbers = (0..50_000).map(|row| row * seed);
            Arc::new(UInt64Array::from_iter_values(numbers)) as ArrayRef
        };
        let rows = RecordBatch::try_from_iter([("a", column(3)), ("b", column(0x9e37_79b9))]);
        let (mut bytes, rows) = (Vec::new(), rows.expect("a batch"));
        let properties = properties.set_max_row_group_row_count(Some(5000)).build();
        let writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties));
        let mut writer = writer.expect("a writer");
        writer.write(&rows).expect("writable");
        writer.close().expect("writable");
        let (count, size) = (Arc::new(AtomicU64::new(0)), bytes.len() as u64);
        let file = Counted(bytes.clone(), Arc::clone(&count));
        let file = Chunks::new(Arc::new(file), size);
        let reader = SerializedFileReader::new(file.clone()).expect("a file");
        let metadata = change(reader.metadata().clone());
        count.store(0, Ordering::Relaxed);
        let measure = Measure { file: &file, path: Path::new("x"), used: 0, most: 16 << 20 };
        let hash = measure.columns(&metadata).map(|columns| columns.content);
        (bytes, count.load(Ordering::Relaxed), hash)
    }

    #[test]
    fn a_file_is_measured_and_hashed_in_one_pass() {
        let properties = WriterProperties::builder;
        let gzip = || parquet::basic::Compression::GZIP(GzipLevel::default());
        for properties in [
            properties(),
            properties().set_compression(gzip()),
            properties().set_dictionary_enabled(false).set_data_page_size_limit(2000),
            properties().set_writer_version(WriterVersion::PARQUET_2_0).set_compression(gzip()),
        ] {
            let (bytes, read, hash) = measured(properties, |metadata| metadata);
            let expected: [u8; 32] = Sha256::digest(&bytes).into();
            assert_eq!(hash.expect("a usable file"), expected);
            assert_eq!(read, bytes.len() as u64);
        }
    }

    #[test]
    fn columns_that_overlap_are_refused() {
        let overlap = |metadata: ParquetMetaData| {
            let group = metadata.row_group(0).clone();
            let twice = vec![group.column(0).clone(); 2];
            let group = group.into_builder().set_column_metadata(twice).build().expect("a group");
            ParquetMetaData::new(metadata.file_metadata().clone(), vec![group])
        };
        let (_, _, refused) = measured(WriterProperties::builder(), overlap);
        let problem = refused.expect_err("an overlap").to_string();
        assert!(problem.contains("expected columns that do not overlap"), "{problem}");
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
