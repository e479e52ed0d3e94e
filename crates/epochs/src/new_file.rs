//! The file of a result while it is written.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
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

/// Tells a failure to write from other errors of the Parquet writer.
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

/// A file that is being written. Unless it is finished, it disappears. That of a killed process disappears
/// when the folder is opened again. If the folder is elsewhere, it stays with this machine's temporary files.
pub struct NewFile {
    writer: ArrowWriter<HashedFile>,
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
        let create = || ArrowWriter::try_new(HashedFile::new(file), schema, Some(properties()));
        let writer = guard(&path, create)?;
        Ok(NewFile { writer, new, storage, path })
    }

    /// Appends rows.
    ///
    /// # Errors
    ///
    /// If they cannot be written.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        guard(&self.path, || {
            self.writer.write(batch)?;
            if self.writer.in_progress_size() > ROW_GROUP {
                self.writer.flush()?;
            }
            Ok(())
        })
    }

    /// Finishes the file of a task, with a value in its metadata. It appears under its name when the
    /// storage has all of it.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(self, task: &str, key: &str, value: String) -> Result<(), Error> {
        let NewFile { mut writer, new, storage, path } = self;
        for (key, value) in [(key, value.as_str()), (TASK, task), (checksum::KEY, checksum::ZEROS)]
        {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value.to_owned()));
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
    fn failures_to_write_are_told_from_other_errors() {
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
        let failed = file.finish("task", "key", String::new());
        assert!(matches!(failed, Err(Error::Write { .. })), "{failed:?}");
        let other = unwritable(Path::new("x"), ParquetError::from(ArrowError::DivideByZero));
        assert!(matches!(other, Error::Parquet { .. }), "{other:?}");
    }
}
