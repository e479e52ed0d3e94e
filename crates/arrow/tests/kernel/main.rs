//! The kernel on blocks and shares of Monero's main network.

mod garbage;
mod outside;
mod types;
mod vectors;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, Decimal128Array, DictionaryArray, Float64Array, Int32Array, RecordBatch,
    StringArray, UInt64Array,
};
use randomx_arrow::{Kernel, KernelError, Settings, read};
use randomx_monero::{Difficulty, LATEST_VERSION, Network};

use vectors::{Proof, batch, headers, hex_column, shares, verdicts};

fn kernel() -> Kernel {
    Kernel::new(Settings::new(2))
}

#[test]
fn shares_of_a_pool_are_valid() {
    let shares = shares();
    let result = kernel().verify(&batch(&shares)).expect("a result");
    let hashes = result["pow_hash"].as_fixed_size_binary();
    assert_eq!(shares.len(), 200);
    for (row, share) in shares.iter().enumerate() {
        assert_eq!(hashes.value(row), share.pow_hash, "share {row}");
    }
    assert_eq!(verdicts(&result), vec![(Some(true), None); 200]);
}

#[test]
fn rows_of_different_keys_keep_their_order_and_their_other_columns() {
    let (shares, headers) = (shares(), headers());
    let mixed: Vec<Proof> =
        headers.iter().zip(&shares).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values(0..mixed.len() as i32));
    let input = batch(&mixed);
    let mut columns: Vec<(&str, ArrayRef)> = vec![("number", numbers)];
    for field in input.schema_ref().fields() {
        columns.push((field.name(), Arc::clone(&input[field.name().as_str()])));
    }
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    assert_eq!(result.columns()[..4], input.columns()[..4]);
    assert_eq!(result.num_columns(), 7);
    let hashes = result["pow_hash"].as_fixed_size_binary();
    for (row, proof) in mixed.iter().enumerate() {
        assert_eq!(hashes.value(row), proof.pow_hash, "row {row}");
    }
    assert!(verdicts(&result).iter().all(|verdict| verdict.0 == Some(true)));
}

#[test]
fn a_part_of_a_batch_is_verified_like_the_whole() {
    let whole = batch(&shares()[..12]);
    let mut kernel = kernel();
    let all = kernel.verify(&whole).expect("a result");
    for (offset, length) in [(0, 5), (5, 1), (6, 6), (12, 0)] {
        let part = kernel.verify(&whole.slice(offset, length)).expect("a result");
        assert_eq!(part, all.slice(offset, length));
    }
}

#[test]
fn a_dataset_gives_the_same_result() {
    let part = batch(&shares()[..8]);
    let expected = kernel().verify(&part).expect("a result");
    let mut kernel = kernel();
    kernel.prepare_dataset(&shares()[0].seed_hash).expect("memory for a dataset");
    assert_eq!(kernel.verify(&part).expect("a result"), expected);
}

#[test]
fn too_little_work_and_another_input_are_reasons() {
    let mut proofs = shares()[..3].to_vec();
    proofs[0].difficulty = u64::MAX;
    proofs[1].hashing_blob[50] ^= 1;
    let result = kernel().verify(&batch(&proofs)).expect("a result");
    let problem = |difficulty| Some(format!("the hash does not meet difficulty {difficulty}"));
    let expected = [
        (Some(false), problem(u64::MAX)),
        (Some(false), problem(proofs[1].difficulty)),
        (Some(true), None),
    ];
    assert_eq!(verdicts(&result), expected);
    let hashes = result["pow_hash"].as_fixed_size_binary();
    assert_eq!(hashes.value(0), proofs[0].pow_hash);
    assert_ne!(hashes.value(1), proofs[1].pow_hash);
}

#[test]
fn blocks_before_randomx_are_neither_valid_nor_invalid() {
    let mut proofs = shares()[..2].to_vec();
    proofs[0].hashing_blob[..2].copy_from_slice(&[11, 11]);
    let at = |height: Option<u64>| {
        let heights: ArrayRef = Arc::new(UInt64Array::from(vec![height, Some(3_000_000)]));
        let input = batch(&proofs);
        let mut columns: Vec<(&str, ArrayRef)> = vec![("height", heights)];
        for name in ["seed_hash", "hashing_blob", "difficulty"] {
            columns.push((name, Arc::clone(&input[name])));
        }
        RecordBatch::try_from_iter(columns).expect("a batch")
    };
    let of = |network| Kernel::new(Settings { blocks: Some(network), ..Settings::new(1) });
    let first = |network, height| {
        let result = of(network).verify(&at(height)).expect("a result");
        assert!(result["pow_hash"].is_null(0));
        let [first, second] = <[_; 2]>::try_from(verdicts(&result)).expect("two rows");
        assert_eq!(second, (Some(true), None));
        first
    };
    let reason = "blocks of version 11 have no RandomX proof of work".to_owned();
    assert_eq!(first(Network::Mainnet, Some(1_978_432)), (None, Some(reason)));
    let reason = "hashing_blob: expected a block of version 12 at height 1978433, got version 11";
    assert_eq!(first(Network::Mainnet, Some(1_978_433)), (Some(false), Some(reason.to_owned())));
    assert_eq!(first(Network::Testnet, Some(1_978_432)).0, Some(false));
    let reason = "height: expected the height of a block of version 11, got none".to_owned();
    assert_eq!(first(Network::Mainnet, None), (Some(false), Some(reason)));
    let result = of(Network::Mainnet).verify(&batch(&proofs)).expect("a result");
    assert_eq!(verdicts(&result)[0].0, Some(false));
    let result = Kernel::new(Settings::new(1)).verify(&batch(&proofs)).expect("a result");
    assert_eq!(verdicts(&result)[0].0, Some(false));
}

#[test]
fn blocks_of_a_version_that_is_not_known_are_neither_valid_nor_invalid() {
    let mut proofs = vec![shares()[0].clone(); 5];
    proofs[0].hashing_blob[..2].copy_from_slice(&[LATEST_VERSION + 1; 2]);
    // Another format, of which a source passes only the beginning.
    proofs[1].hashing_blob = [&[0xff, 1][..], &[7; 8]].concat();
    proofs[2].hashing_blob[0] = LATEST_VERSION + 1;
    proofs[3].hashing_blob[0] = LATEST_VERSION + 1;
    proofs[3].difficulty = 0;
    let with = |name: &'static str, values: [Option<u64>; 5]| {
        let mut columns: Vec<(&str, ArrayRef)> =
            vec![(name, Arc::new(UInt64Array::from_iter(values)))];
        let input = batch(&proofs);
        for name in ["seed_hash", "hashing_blob", "difficulty"] {
            columns.push((name, Arc::clone(&input[name])));
        }
        RecordBatch::try_from_iter(columns).expect("a batch")
    };
    let mut blocks = Kernel::new(Settings { blocks: Some(Network::Mainnet), ..Settings::new(1) });
    let unknown = |version: u8| {
        let known = format!("this release knows versions up to {LATEST_VERSION}");
        (None, Some(format!("block version {version} needs an update: {known}")))
    };
    let input = with("height", [Some(4_000_000); 5]);
    let result = blocks.verify(&input).expect("a result");
    let found = verdicts(&result);
    assert_eq!(found[..3], [unknown(17), unknown(255), unknown(17)]);
    // Malformed values make a row invalid in any version.
    assert_eq!(found[3].0, Some(false));
    assert_eq!(found[4], (Some(true), None));
    assert_eq!(result["pow_hash"].null_count(), 4);
    let is_unknown = [true, true, true, false, false];
    assert_eq!(read::need_update(&result).expect("columns"), is_unknown);
    // Rows of any coin, and rows that name the version of RandomX.
    let result = Kernel::new(Settings::new(1)).verify(&input).expect("a result");
    assert_eq!(verdicts(&result)[0].0, Some(false));
    let result = blocks.verify(&with("version", [Some(1), None, Some(3), None, None]));
    let found = verdicts(&result.expect("a result"));
    assert_eq!((found[0].0, &found[1], found[2].0), (Some(false), &unknown(255), Some(false)));
}

#[test]
fn narrow_misses_of_stated_difficulties_are_neither_valid_nor_invalid() {
    let share = &shares()[0];
    let is_met = |difficulty: u64| {
        let difficulty = Difficulty::try_from(u128::from(difficulty)).expect("a difficulty");
        difficulty.is_met_by(&share.pow_hash)
    };
    // The greatest difficulty that the hash meets.
    let (mut met, mut missed) = (share.difficulty, 1 << 60);
    while missed - met > 1 {
        let middle = met.midpoint(missed);
        *(if is_met(middle) { &mut met } else { &mut missed }) = middle;
    }
    let difficulties = [met, missed, met + met / 32, met + met / 30];
    let proofs = difficulties.map(|difficulty| Proof { difficulty, ..share.clone() });
    let found = |stated| {
        let settings = Settings { stated, ..Settings::new(1) };
        verdicts(&Kernel::new(settings).verify(&batch(&proofs)).expect("a result"))
    };
    let valid = |verdicts: &[(Option<bool>, Option<String>)]| -> Vec<Option<bool>> {
        verdicts.iter().map(|(valid, _)| *valid).collect()
    };
    let stated = found(true);
    assert_eq!(valid(&stated), [Some(true), None, None, Some(false)]);
    let reason = stated[1].1.as_deref().expect("a reason");
    assert!(reason.starts_with(&format!("the hash misses difficulty {missed} by less than 3.1 %")));
    assert_eq!(valid(&found(false)), [Some(true), Some(false), Some(false), Some(false)]);
}

#[test]
fn the_version_of_randomx_is_a_column() {
    let proofs = vec![shares()[0].clone(); 4];
    let mut kernel = kernel();
    let with = |version: ArrayRef| {
        let input = batch(&proofs);
        let mut columns: Vec<(&str, ArrayRef)> = vec![("version", version)];
        for name in ["seed_hash", "hashing_blob", "difficulty"] {
            columns.push((name, Arc::clone(&input[name])));
        }
        RecordBatch::try_from_iter(columns).expect("a batch")
    };
    let versions = UInt64Array::from(vec![Some(1), Some(2), None, Some(3)]);
    let result = kernel.verify(&with(Arc::new(versions))).expect("a result");
    let hashes = result["pow_hash"].as_fixed_size_binary();
    let cache = Arc::new(randomx::Cache::new(&proofs[0].seed_hash).expect("a cache"));
    let mut vm = randomx::Vm::new(cache, randomx::Version::V2).expect("a VM");
    assert_eq!(hashes.value(0), proofs[0].pow_hash);
    assert_eq!(hashes.value(1), vm.hash(&proofs[0].hashing_blob));
    assert_eq!(hashes.value(2), proofs[0].pow_hash);
    assert!(hashes.is_null(3));
    let reason = verdicts(&result)[3].1.clone();
    assert_eq!(reason.as_deref(), Some("version: expected 1 or 2, got 3"));
    let texts = StringArray::from(vec!["1", "2", "v2", ""]);
    let result = kernel.verify(&with(Arc::new(texts))).expect("a result");
    assert_eq!(result["pow_hash"].as_fixed_size_binary().value(1), hashes.value(1));
    let reasons: Vec<_> = verdicts(&result).into_iter().filter_map(|verdict| verdict.1).collect();
    assert_eq!(
        reasons[1..],
        ["version: expected 1 or 2, got \"v2\"", "version: expected 1 or 2, got \"\""]
    );
}

#[test]
fn columns_that_do_not_fit_are_errors() {
    let good = batch(&shares()[..1]);
    let column = |name: &str| Arc::clone(&good[name]);
    let one: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let refused = |columns: Vec<(&str, ArrayRef)>| {
        let batch = RecordBatch::try_from_iter(columns).expect("a batch");
        kernel().verify(&batch).expect_err("a column that does not fit").to_string()
    };
    let all = ["seed_hash", "hashing_blob", "difficulty"].map(|name| (name, column(name)));
    let with = |name: &'static str, array: &ArrayRef| {
        let others = all.iter().filter(|(other, _)| *other != name).cloned();
        others.chain([(name, Arc::clone(array))]).collect::<Vec<_>>()
    };
    assert_eq!(refused(all[1..].to_vec()), "seed_hash: expected a column of this name");
    assert_eq!(
        refused(all[..2].to_vec()),
        "difficulty: expected a column of this name, or one named target"
    );
    assert_eq!(
        refused(with("difficulty", &one)),
        "difficulty: expected a column of integers, decimals without a fraction, or decimal digits \
         in strings, got Float64"
    );
    assert_eq!(
        refused(with("seed_hash", &one)),
        "seed_hash: expected a column of bytes, or of hexadecimal digits in strings, got Float64"
    );
    let dictionary: ArrayRef =
        Arc::new(DictionaryArray::<Int32Type>::new(vec![0].into(), Arc::clone(&one)));
    assert!(refused(with("seed_hash", &dictionary)).ends_with(", got Float64"));
    assert_eq!(
        refused(with("valid", &one)),
        "valid: expected no column of this name, which the result has"
    );
    let fraction: ArrayRef = Arc::new(Decimal128Array::from(vec![1]));
    assert!(refused(with("difficulty", &fraction)).ends_with("got Decimal128(38, 10)"));
    let twice = [&all[..], &all[..1]].concat();
    assert_eq!(refused(twice), "seed_hash: expected one column of this name, got several");
}

#[test]
fn an_empty_batch_needs_no_memory() {
    let empty = batch(&[]);
    let result = kernel().verify(&empty).expect("a result");
    assert_eq!((result.num_rows(), result.num_columns()), (0, 6));
    let threads = Settings::new(0);
    assert!(Kernel::new(threads).verify(&empty).is_ok());
    let refused = Kernel::new(threads).verify(&batch(&shares()[..1]));
    assert!(matches!(refused, Err(KernelError::Pool(_))));
}

#[test]
fn hashes_are_counted_while_they_are_computed() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let count = AtomicUsize::new(0);
    let mut proofs = shares()[..20].to_vec();
    proofs[3].seed_hash = [0; 32];
    let hashed = |hashes| {
        count.fetch_add(hashes, Ordering::Relaxed);
        Ok::<_, KernelError>(())
    };
    kernel().try_verify(&batch(&proofs), hashed).expect("a result");
    assert_eq!(count.into_inner(), 20);
}

#[test]
fn a_batch_can_be_given_up() {
    let given_up = |_| Err(KernelError::Taken { name: "given up" });
    let ended = kernel().try_verify(&batch(&shares()[..20]), given_up);
    assert!(matches!(ended, Err(KernelError::Taken { name: "given up" })));
}

#[test]
fn difficulties_and_targets_can_alternate() {
    let proofs = &shares()[..3];
    let hash = hex::encode(proofs[1].pow_hash);
    let target = StringArray::from(vec![None, Some(hash), Some("0000000000000080".to_owned())]);
    let difficulty = UInt64Array::from(vec![Some(proofs[0].difficulty), None, None]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("seed_hash", hex_column(proofs.iter().map(|proof| proof.seed_hash.to_vec()))),
        ("hashing_blob", hex_column(proofs.iter().map(|proof| proof.hashing_blob.clone()))),
        ("difficulty", Arc::new(difficulty)),
        ("target", Arc::new(target)),
    ];
    let input = RecordBatch::try_from_iter(columns).expect("a batch");
    let result = kernel().verify(&input).expect("a result");
    assert_eq!(verdicts(&result), vec![(Some(true), None); 3]);
}
