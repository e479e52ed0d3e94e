//! The function over record batches.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::{BooleanBuilder, FixedSizeBinaryBuilder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use randomx::{Cache, Dataset, HASH_SIZE, Items, KeyMemory, Version, VmOptions, VmPool};
use randomx_monero::{Hash, Network};

use crate::group::by_seed;
use crate::row::{Proof, Rows, Unusable};
use crate::{KernelError, OUTPUTS};

/// The bytes of a batch's reasons after which the others are null. The column can have 2 GiB.
const MOST_REASONS: usize = 1 << 30;

/// The bytes of decoded texts and of reasons after which a part of a batch ends. Rows may share a text, so those of the
/// whole batch could take far more bytes than it has.
const MOST_DECODED: usize = 16 << 20;

/// The most rows of a part. A row takes some 250 bytes until its verdict is appended.
const MOST_ROWS: usize = 1 << 16;

/// How a kernel hashes.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Threads that hash at once, from 1 to [`randomx::MAX_THREADS`].
    pub threads: usize,
    /// The options of each thread's VM.
    pub options: VmOptions,
    /// The network, if the rows are Monero's blocks. A block of a version before RandomX is neither valid nor invalid
    /// then, if the network has such a version at the row's height. So is a block of a version that this release does
    /// not know, if its row has no `version`.
    pub blocks: Option<Network>,
    /// Whether the rows are blocks of a light client's chain, and a source stated its first difficulties, perhaps too
    /// high. A hash that misses its difficulty by less than 3.1 % is neither valid nor invalid then.
    pub stated: bool,
}

impl Settings {
    /// Returns the default settings: rows of any coin.
    pub fn new(threads: usize) -> Settings {
        Settings { threads, options: VmOptions::default(), blocks: None, stated: false }
    }
}

/// Verifies record batches, and keeps the memory of the last key between them: 256 MiB, and 2 MiB
/// for each lane of each thread. It verifies a batch in parts of up to 65,536 rows. The rows of a part take 17 MiB at
/// most, and so do decoded texts and reasons on their way into the result.
#[derive(Debug)]
pub struct Kernel {
    settings: Settings,
    key: Option<Key>,
}

/// A key in memory.
#[derive(Debug)]
struct Key {
    seed_hash: Hash,
    pool: VmPool,
}

impl Kernel {
    /// Creates a kernel. It takes its memory when it first hashes.
    pub fn new(settings: Settings) -> Kernel {
        Kernel { settings, key: None }
    }

    /// Computes the dataset of a key, 2080 MiB, which makes its hashes faster until another key is
    /// used.
    ///
    /// # Errors
    ///
    /// If there is no memory. The kernel then goes on without a dataset.
    pub fn prepare_dataset(&mut self, seed_hash: &Hash) -> Result<(), KernelError> {
        self.key = None;
        let cache = Arc::new(Cache::new(seed_hash)?);
        let Settings { threads, options, .. } = self.settings;
        let items = Items::new(cache, options.cpu);
        let dataset = Arc::new(Dataset::new(&items, threads)?);
        drop(items);
        let pool = self.create_pool(dataset.into())?;
        self.key = Some(Key { seed_hash: *seed_hash, pool });
        Ok(())
    }

    /// Returns the schema of the results for batches of a schema.
    ///
    /// # Errors
    ///
    /// If a column has the name of one of [`OUTPUTS`].
    pub fn schema(input: &SchemaRef) -> Result<SchemaRef, KernelError> {
        if let Some(name) = OUTPUTS.into_iter().find(|name| input.column_with_name(name).is_some())
        {
            return Err(KernelError::Taken { name });
        }
        let hash = DataType::FixedSizeBinary(HASH_SIZE as i32);
        let added = OUTPUTS.into_iter().zip([hash, DataType::Boolean, DataType::Utf8]);
        let mut fields = input.fields().to_vec();
        fields.extend(added.map(|(name, data_type)| Arc::new(Field::new(name, data_type, true))));
        Ok(Arc::new(Schema::new_with_metadata(fields, input.metadata().clone())))
    }

    /// Returns the batch with the columns of [`OUTPUTS`] appended.
    ///
    /// # Errors
    ///
    /// If a column is missing or has another type, or if there is no memory. No value of a row is an
    /// error.
    pub fn verify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, KernelError> {
        self.try_verify(batch, |_| Ok(()))
    }

    /// Verifies a batch like [`Kernel::verify`]. Meanwhile each thread calls `hashed` with the number
    /// of hashes that it has just computed, 16 at most.
    ///
    /// # Errors
    ///
    /// Those of [`Kernel::verify`], and the first one of `hashed`. The other threads then finish the hashes that they
    /// have begun.
    pub fn try_verify<E: From<KernelError> + Send>(
        &mut self,
        batch: &RecordBatch,
        hashed: impl Fn(usize) -> Result<(), E> + Sync,
    ) -> Result<RecordBatch, E> {
        let schema = Kernel::schema(batch.schema_ref())?;
        let rows = Rows::of(batch, self.settings.blocks)?;
        let mut verdicts = Verdicts::new(batch.num_rows(), MOST_REASONS, self.settings.stated);
        let mut left = 0..batch.num_rows();
        while !left.is_empty() {
            let parsed = next_part(&rows, &mut left);
            let hashes = self.hash(&parsed, &hashed)?;
            verdicts.append(&parsed, &hashes)?;
        }
        let mut columns = batch.columns().to_vec();
        columns.extend(verdicts.finish());
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let verified = RecordBatch::try_new_with_options(schema, columns, &options);
        Ok(verified.map_err(KernelError::from)?)
    }

    /// Hashes the rows that can be hashed. The others' hashes are zero.
    fn hash<E: From<KernelError> + Send>(
        &mut self,
        parsed: &[Result<Proof<'_>, Unusable>],
        hashed: &(impl Fn(usize) -> Result<(), E> + Sync),
    ) -> Result<Vec<Hash>, E> {
        let proofs = || {
            let numbered = parsed.iter().enumerate();
            numbered.filter_map(|(row, parsed)| Some((row, parsed.as_ref().ok()?)))
        };
        let mut inputs: Vec<&[u8]> = vec![&[]; parsed.len()];
        proofs().for_each(|(row, proof)| inputs[row] = &proof.blob);
        let mut hashes = vec![[0; HASH_SIZE]; parsed.len()];
        for group in by_seed(proofs(), self.key.as_ref().map(|key| key.seed_hash)) {
            let pool = self.pool(group.seed_hash)?;
            for (version, rows) in Version::ALL.into_iter().zip(group.rows) {
                let inputs: Vec<&[u8]> = rows.iter().map(|&row| inputs[row]).collect();
                pool.set_version(version);
                let computed = pool.try_hash_many(&inputs, hashed)?;
                rows.into_iter().zip(computed).for_each(|(row, hash)| hashes[row] = hash);
            }
        }
        Ok(hashes)
    }

    /// Returns the VMs of a key.
    fn pool(&mut self, seed_hash: Hash) -> Result<&mut VmPool, KernelError> {
        let key = match self.key.take() {
            Some(key) if key.seed_hash == seed_hash => key,
            other => {
                // The old cache is released first: two at once are not needed.
                drop(other);
                let cache = Arc::new(Cache::new(&seed_hash)?);
                Key { seed_hash, pool: self.create_pool(cache.into())? }
            }
        };
        Ok(&mut self.key.insert(key).pool)
    }

    fn create_pool(&self, memory: KeyMemory) -> Result<VmPool, KernelError> {
        let Settings { threads, options, .. } = self.settings;
        Ok(VmPool::new(memory, Version::V1, options, threads)?)
    }
}

/// Parses the next rows of a batch.
fn next_part<'a>(rows: &'a Rows<'_>, left: &mut Range<usize>) -> Vec<Result<Proof<'a>, Unusable>> {
    let (mut part, mut decoded) = (Vec::with_capacity(left.len().min(MOST_ROWS)), 0);
    while decoded < MOST_DECODED
        && part.len() < MOST_ROWS
        && let Some(row) = left.next()
    {
        let parsed = rows.parse(row);
        decoded += match &parsed {
            Ok(Proof { blob: Cow::Owned(blob), .. }) => blob.capacity(),
            Ok(_) => 0,
            Err(unusable) => unusable.why().len(),
        };
        part.push(parsed);
    }
    part
}

/// Builds the appended columns.
struct Verdicts {
    pow_hash: FixedSizeBinaryBuilder,
    valid: BooleanBuilder,
    reason: StringBuilder,
    /// The bytes of reasons after which the others are null.
    most: usize,
    /// Whether a source stated the first difficulties.
    stated: bool,
}

impl Verdicts {
    fn new(rows: usize, most: usize, stated: bool) -> Verdicts {
        Verdicts {
            pow_hash: FixedSizeBinaryBuilder::with_capacity(rows, HASH_SIZE as i32),
            valid: BooleanBuilder::with_capacity(rows),
            reason: StringBuilder::new(),
            most,
            stated,
        }
    }

    /// Appends the verdicts on the next rows.
    fn append(
        &mut self,
        parsed: &[Result<Proof<'_>, Unusable>],
        hashes: &[Hash],
    ) -> Result<(), KernelError> {
        for (parsed, hash) in parsed.iter().zip(hashes) {
            match parsed {
                Ok(proof) => {
                    let near_miss = || proof.requirement.near_miss(hash).filter(|_| self.stated);
                    let (valid, reason) = match proof.requirement.check(hash) {
                        Ok(()) => (Some(true), None),
                        Err(why) => {
                            near_miss().map_or((Some(false), Some(why)), |why| (None, Some(why)))
                        }
                    };
                    self.pow_hash.append_value(hash)?;
                    self.valid.append_option(valid);
                    self.append_reason(reason.as_deref());
                }
                Err(unusable) => {
                    let is_malformed = matches!(unusable, Unusable::Malformed(_));
                    self.pow_hash.append_null();
                    self.valid.append_option(is_malformed.then_some(false));
                    self.append_reason(Some(unusable.why()));
                }
            }
        }
        Ok(())
    }

    fn append_reason(&mut self, why: Option<&str>) {
        let has_room = self.reason.values_slice().len() < self.most;
        self.reason.append_option(why.filter(|_| has_room));
    }

    fn finish(mut self) -> [ArrayRef; OUTPUTS.len()] {
        let (pow_hash, valid) = (self.pow_hash.finish(), self.valid.finish());
        [Arc::new(pow_hash), Arc::new(valid), Arc::new(self.reason.finish())]
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int32Type;
    use arrow_array::{
        Array, BinaryArray, DictionaryArray, Int32Array, StringArray, new_null_array,
    };
    use arrow_schema::DataType;

    use super::*;

    #[test]
    fn reasons_end_a_part_of_a_batch() {
        const ROWS: usize = 60_000;
        // All rows share a text, whose control characters take five bytes each in a reason.
        let text = Arc::new(StringArray::from(vec!["\u{1}".repeat(100)]));
        let blobs = DictionaryArray::<Int32Type>::new(vec![0; ROWS].into(), text);
        let columns: [(&str, ArrayRef); 3] = [
            ("seed_hash", new_null_array(&DataType::Null, ROWS)),
            ("hashing_blob", Arc::new(blobs)),
            ("difficulty", new_null_array(&DataType::Null, ROWS)),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let rows = Rows::of(&batch, None).expect("columns");
        let (mut left, mut parsed) = (0..ROWS, 0);
        while !left.is_empty() {
            let part = next_part(&rows, &mut left);
            let reasons = part.iter().map(|row| match row {
                Err(Unusable::Malformed(why)) => why.len(),
                _ => 0,
            });
            let size: usize = reasons.sum();
            assert!((1..MOST_DECODED + 1000).contains(&size), "{size} bytes");
            parsed += part.len();
        }
        assert_eq!(parsed, ROWS);
    }

    #[test]
    fn a_part_of_a_batch_has_a_limit_of_rows() {
        const ROWS: usize = MOST_ROWS + 10;
        let shared = |bytes: &[u8]| {
            let values = Arc::new(BinaryArray::from_iter_values([bytes]));
            Arc::new(DictionaryArray::<Int32Type>::new(vec![0; ROWS].into(), values)) as ArrayRef
        };
        let columns: [(&str, ArrayRef); 3] = [
            ("seed_hash", shared(&[0; HASH_SIZE])),
            ("hashing_blob", shared(&[7; 76])),
            ("difficulty", Arc::new(Int32Array::from(vec![1; ROWS]))),
        ];
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        let rows = Rows::of(&batch, None).expect("columns");
        let mut left = 0..ROWS;
        for expected in [MOST_ROWS, 10, 0] {
            let part = next_part(&rows, &mut left);
            assert!(part.iter().all(Result::is_ok));
            assert_eq!((part.len(), part.capacity()), (expected, expected));
        }
        let row = size_of::<Result<Proof<'_>, Unusable>>();
        // The row's proof, its hash twice, its blob's place twice, and its number.
        let row = row + 2 * HASH_SIZE + 2 * size_of::<&[u8]>() + size_of::<usize>();
        assert!(MOST_ROWS * row <= 17 << 20, "{row} bytes");
    }

    #[test]
    fn reasons_without_room_are_null() {
        let rows: Vec<_> = (0..4).map(|_| Err(Unusable::Malformed("because".to_owned()))).collect();
        let mut verdicts = Verdicts::new(4, 10, false);
        verdicts.append(&rows, &[[0; HASH_SIZE]; 4]).expect("hashes");
        let [pow_hash, valid, reason] = &verdicts.finish();
        let reasons: Vec<Option<&str>> = reason.as_string::<i32>().iter().collect();
        assert_eq!(reasons, [Some("because"), Some("because"), None, None]);
        assert_eq!((pow_hash.null_count(), valid.as_boolean().false_count()), (4, 4));
    }
}
