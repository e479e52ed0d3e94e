//! The longest values of a file, for rows that do not follow each other in it.

use parquet::arrow::ProjectionMask;
use parquet::basic::Type;

use super::table_files::TableFile;
use super::types;
use crate::error::Error;
use crate::storage::Chunks;

impl TableFile {
    /// Returns the bytes that the longest values of all columns of variable length have together. Rows are read in
    /// batches of a size.
    pub(super) fn longest(&self, file: &Chunks, size: usize) -> Result<u64, Error> {
        let mut rows = self.guard(file, || {
            let builder = self.builder(file)?;
            let schema = builder.parquet_schema();
            let variable = (0..schema.num_columns())
                .filter(|&column| schema.column(column).physical_type() == Type::BYTE_ARRAY);
            let mask = ProjectionMask::leaves(schema, variable);
            self.select(builder, mask, size)
        })?;
        let mut longest = Vec::new();
        while let Some(batch) = self.guard(file, || self.next(&mut rows))? {
            longest.resize(batch.num_columns(), 0);
            for (longest, column) in longest.iter_mut().zip(batch.columns()) {
                *longest = types::longest(column).max(*longest);
            }
        }
        Ok(longest.into_iter().fold(0, u64::saturating_add))
    }
}
