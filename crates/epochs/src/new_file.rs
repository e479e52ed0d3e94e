//! The file of a result while it is written.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{FieldRef, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use tempfile::NamedTempFile;

use crate::checksum::{self, HashedFile};
use crate::error::{Error, without_panic};
use crate::storage::Storage;

/// The key, in a file's metadata, of the task that the file is the result of.
pub(crate) const TASK: &str = "randomx.task";

/// The bytes of rows that a file's writer keeps in memory.
const ROW_GROUP: usize = 24 << 20;

/// How files are written: the same rows give the same bytes.
fn properties() -> WriterProperties {
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by(format!("randomx-audit {}", env!("CARGO_PKG_VERSION")))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .build()
}

/// Distinguishes a failure to write from other errors of the Parquet writer.
fn unwritable(path: &Path, problem: ParquetError) -> Error {
    let path = path.to_owned();
    match problem {
        ParquetError::External(problem) => match problem.downcast() {
            Ok(problem) => Error::Write { path, problem: *problem },
            Err(other) => Error::Parquet { path, problem: ParquetError::External(other) },
        },
        problem => Error::Parquet { path, problem },
    }
}

/// Runs code of the Parquet writer.
fn guard<T>(path: &Path, work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    without_panic(path, || work().map_err(|problem| unwritable(path, problem)))
}

/// Checks that rows have the columns of a file. The Parquet writer goes by their positions, and compares
/// only the types.
fn check_columns(schema: &SchemaRef, batch: &RecordBatch) -> Result<(), ParquetError> {
    let fits = |(column, rows): (&FieldRef, &FieldRef)| {
        column.name() == rows.name() && (column.is_nullable() || !rows.is_nullable())
    };
    let (columns, rows) = (schema.fields(), batch.schema_ref().fields());
    if columns.len() == rows.len() && columns.iter().zip(rows).all(fits) {
        return Ok(());
    }
    Err(ParquetError::General(format!("expected rows with the columns {columns:?}, got {rows:?}")))
}

/// A file that is being written. Unless it is finished, it disappears. That of a killed process disappears
/// when the folder is opened again. If the folder is elsewhere, it stays with this machine's temporary files.
pub struct NewFile {
    writer: ArrowWriter<HashedFile>,
    schema: SchemaRef,
    new: NamedTempFile,
    storage: Arc<dyn Storage>,
    path: PathBuf,
}

impl NewFile {
    /// Begins to write a file that [`NewFile::finish`] moves to a path.
    pub(crate) fn new(
        (new, file): (NamedTempFile, File),
        schema: SchemaRef,
        storage: Arc<dyn Storage>,
        path: PathBuf,
    ) -> Result<NewFile, Error> {
        let (file, columns) = (HashedFile::new(file), Arc::clone(&schema));
        let create = || ArrowWriter::try_new(file, columns, Some(properties()));
        let writer = guard(&path, create)?;
        Ok(NewFile { writer, schema, new, storage, path })
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// If they cannot be written, or have other columns than the file.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        guard(&self.path, || {
            check_columns(&self.schema, batch)?;
            self.writer.write(batch)?;
            if self.writer.in_progress_size() > ROW_GROUP {
                self.writer.flush()?;
            }
            Ok(())
        })
    }

    /// Finishes the file of a task, with pairs of a key and a value in its metadata. It appears under its name when
    /// the storage has all of it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(self, task: &str, pairs: &[(&str, &str)]) -> Result<(), Error> {
        let NewFile { mut writer, new, storage, path, .. } = self;
        for (key, value) in pairs.iter().chain(&[(TASK, task), (checksum::KEY, checksum::ZEROS)]) {
            let pair = KeyValue::new((*key).to_owned(), (*value).to_owned());
            writer.append_key_value_metadata(pair);
        }
        // `ArrowWriter::into_inner` would report a failure to write as text.
        guard(&path, || writer.finish())?;
        let put = || {
            writer.inner().insert()?;
            drop(writer);
            storage.put(new, &path)
        };
        put().map_err(|problem| Error::Write { path: path.clone(), problem })
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int8Type;
    use arrow_array::{ArrayRef, DictionaryArray, Int8Array, StringViewArray, UInt64Array};
    use arrow_schema::ArrowError;

    use super::*;
    use crate::storage::Local;

    #[test]
    fn a_panic_of_the_parquet_writer_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let new = NamedTempFile::new_in(folder.path()).expect("a file");
        let file = new.as_file().try_clone().expect("a file");
        // The writer begins a file with such a column, and has no code for its values.
        let values = Arc::new(StringViewArray::from_iter_values(["x"]));
        let keys = Int8Array::from_iter_values([0]);
        let column = Arc::new(DictionaryArray::<Int8Type>::new(keys, values)) as ArrayRef;
        let rows = RecordBatch::try_from_iter([("x", column)]).expect("a batch");
        let (storage, path) = (Arc::new(Local), folder.path().join("x.parquet"));
        let file = NewFile::new((new, file), rows.schema(), storage, path.clone());
        let written = file.expect("a writer").write(&rows);
        assert!(matches!(written, Err(Error::Malformed { .. })), "{written:?}");
        assert!(!path.exists());
    }

    #[test]
    fn rows_with_other_columns_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let column = |values: [Option<u64>; 2]| Arc::new(UInt64Array::from_iter(values)) as _;
        let [numbers, nulls] = [[Some(1), Some(2)], [Some(1), None]].map(column);
        let rows = |columns: &[(&str, &ArrayRef)]| {
            let columns = columns.iter().map(|&(name, values)| (name, Arc::clone(values)));
            RecordBatch::try_from_iter(columns).expect("a batch")
        };
        let first = rows(&[("x", &numbers), ("y", &numbers)]);
        let new = NamedTempFile::new_in(folder.path()).expect("a file");
        let file = new.as_file().try_clone().expect("a file");
        let (storage, path) = (Arc::new(Local), folder.path().join("x.parquet"));
        let file = NewFile::new((new, file), first.schema(), storage, path);
        let mut file = file.expect("a writer");
        for other in [
            rows(&[("y", &numbers), ("x", &numbers)]),
            rows(&[("x", &numbers)]),
            rows(&[("x", &numbers), ("y", &numbers), ("z", &numbers)]),
            rows(&[("x", &numbers), ("y", &nulls)]),
        ] {
            let refused = file.write(&other);
            assert!(matches!(refused, Err(Error::Parquet { .. })), "{refused:?}");
        }
        file.write(&first).expect("the same columns");
    }

    #[test]
    fn failures_to_write_are_distinguished_from_other_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        let new = NamedTempFile::new_in(folder.path()).expect("a file");
        // A handle that cannot write.
        let file = File::open(new.path()).expect("a file");
        let column = Arc::new(UInt64Array::from_iter_values(0..9)) as _;
        let rows = RecordBatch::try_from_iter([("x", column)]).expect("a batch");
        let (storage, path) = (Arc::new(Local), folder.path().join("x.parquet"));
        let file = NewFile::new((new, file), rows.schema(), storage, path);
        let mut file = file.expect("a writer");
        file.write(&rows).expect("memory");
        let failed = file.finish("task", &[("key", "")]);
        assert!(matches!(failed, Err(Error::Write { .. })), "{failed:?}");
        let other = unwritable(Path::new("x"), ParquetError::from(ArrowError::DivideByZero));
        assert!(matches!(other, Error::Parquet { .. }), "{other:?}");
    }
}
