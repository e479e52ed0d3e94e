//! Verifies RandomX proofs of work in SQL, as a function of DataFusion.
//!
//! ```sql
//! SELECT height, randomx_verify(seed_hash, hashing_blob, difficulty)['valid'] FROM shares
//! ```
//!
//! `randomx_verify` returns what [`randomx_arrow::Kernel`] appends to a batch: a struct of `pow_hash`,
//! `valid` and `reason`. The third argument is a difficulty, or a target if it is binary. A fourth one
//! is the version of RandomX. The types are those of the kernel's columns, dictionaries included.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{
    ArrayRef, DictionaryArray, Int32Array, RecordBatch, RecordBatchOptions, StructArray,
};
use arrow_schema::{DataType, Field, Fields, Schema};
use datafusion_common::{DataFusionError, Result};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use randomx_arrow::{Kernel, OUTPUTS, Settings};

/// The function's name in SQL.
pub const NAME: &str = "randomx_verify";

/// Returns the function, for `SessionContext::register_udf`. It hashes on this many threads, and holds
/// the memory of one key: 256 MiB, and 16 MiB for each thread. Partitions that a query works on at
/// once take turns.
///
/// A call blocks its thread of the query's runtime until its batch is hashed. With as many partitions as such threads,
/// all of them hash or wait for their turns, and nothing else on that runtime goes on: no timer, no signal, no server.
/// If a query is dropped, its partitions still hash the batches of calls that have begun or wait. So run
/// such queries on a runtime of their own. Set `SessionConfig::with_target_partitions(1)`: more partitions do not hash
/// faster. Small batches make each call shorter.
pub fn randomx_verify(threads: usize) -> ScalarUDF {
    ScalarUDF::from(RandomxVerify {
        signature: Signature::one_of(
            vec![TypeSignature::Any(3), TypeSignature::Any(4)],
            Volatility::Immutable,
        ),
        threads,
        kernel: Arc::new(Mutex::new(Kernel::new(Settings::new(threads)))),
    })
}

#[derive(Debug)]
struct RandomxVerify {
    signature: Signature,
    threads: usize,
    kernel: Arc<Mutex<Kernel>>,
}

// Two of these functions give the same results.
impl PartialEq for RandomxVerify {
    fn eq(&self, other: &RandomxVerify) -> bool {
        self.threads == other.threads
    }
}

impl Eq for RandomxVerify {}

impl Hash for RandomxVerify {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.threads.hash(hasher);
    }
}

impl ScalarUDFImpl for RandomxVerify {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(results(&columns(arguments))?))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays: Vec<ArrayRef> = arguments
            .args
            .iter()
            .map(|argument| column(argument, arguments.number_rows))
            .collect::<Result<_>>()?;
        let types: Vec<DataType> = arrays.iter().map(|array| array.data_type().clone()).collect();
        let schema = columns(&types);
        let fields = results(&schema)?;
        let options = RecordBatchOptions::new().with_row_count(Some(arguments.number_rows));
        let batch = RecordBatch::try_new_with_options(Arc::new(schema), arrays, &options)?;
        let mut kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        let verified = kernel.verify(&batch).map_err(external)?;
        drop(kernel);
        let appended = verified.columns().get(types.len()..).unwrap_or_default().to_vec();
        Ok(ColumnarValue::Array(Arc::new(StructArray::try_new(fields, appended, None)?)))
    }
}

/// Returns an argument as a column. All rows share a literal: copies of a long one could take any amount of memory.
fn column(argument: &ColumnarValue, rows: usize) -> Result<ArrayRef> {
    match argument {
        ColumnarValue::Scalar(value) if !matches!(value.data_type(), DataType::Dictionary(..)) => {
            let keys = Int32Array::from_value(0, rows);
            Ok(Arc::new(DictionaryArray::try_new(keys, value.to_array()?)?))
        }
        argument => argument.to_array(rows),
    }
}

/// Returns the arguments as the columns of the kernel.
fn columns(types: &[DataType]) -> Schema {
    let is_target = |kind: &DataType| {
        use DataType::{Binary, BinaryView, Dictionary, FixedSizeBinary, LargeBinary};
        let kind = if let Dictionary(_, values) = kind { values } else { kind };
        matches!(kind, Binary | BinaryView | FixedSizeBinary(_) | LargeBinary)
    };
    let demand = if types.get(2).is_some_and(is_target) { "target" } else { "difficulty" };
    let names = ["seed_hash", "hashing_blob", demand, "version"];
    let fields = names.into_iter().zip(types);
    Schema::new(fields.map(|(name, kind)| Field::new(name, kind.clone(), true)).collect::<Vec<_>>())
}

/// Returns the fields of the struct for columns.
fn results(columns: &Schema) -> Result<Fields> {
    let schema = Kernel::schema(&Arc::new(columns.clone())).map_err(external)?;
    Ok(schema
        .fields()
        .iter()
        .filter(|field| OUTPUTS.contains(&field.name().as_str()))
        .cloned()
        .collect())
}

fn external(problem: randomx_arrow::KernelError) -> DataFusionError {
    DataFusionError::External(Box::new(problem))
}
