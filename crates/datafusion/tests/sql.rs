//! Queries in SQL.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BinaryArray, DictionaryArray, FixedSizeBinaryArray, Int32Array, RecordBatch,
    StringArray, UInt64Array,
};
use datafusion::prelude::SessionContext;
use serde_json::Value;

const SHARES: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/mainnet-shares.json"));

fn bytes(value: &Value) -> Vec<u8> {
    hex::decode(value.as_str().expect("text")).expect("hexadecimal digits")
}

/// A table of ten shares. The difficulty of the last one is the greatest, and the one before it has
/// none.
fn shares() -> (RecordBatch, Vec<Vec<u8>>) {
    let vectors: Value = serde_json::from_str(SHARES).expect("JSON");
    let shares: Vec<&Value> =
        vectors["shares"].as_array().expect("a list").iter().take(10).collect();
    let seed = bytes(&vectors["seed_hash"]);
    let seeds = FixedSizeBinaryArray::try_from_iter(shares.iter().map(|_| &seed)).expect("hashes");
    let blobs = shares.iter().map(|share| Some(share["hashing_blob"].as_str().expect("text")));
    let mut difficulties: Vec<Option<String>> =
        shares.iter().map(|share| Some(share["share_difficulty"].to_string())).collect();
    difficulties[8] = None;
    difficulties[9] = Some(u128::MAX.to_string());
    let targets = (0..10).map(|_| Some(&[0xff; 8][..]));
    let target = Arc::new(BinaryArray::from_vec(vec![&[0xff; 8][..]]));
    let few_targets = DictionaryArray::new(Int32Array::from(vec![0; 10]), target);
    let columns: [(&str, ArrayRef); 6] = [
        ("number", Arc::new(UInt64Array::from_iter_values(0..10))),
        ("seed", Arc::new(seeds)),
        ("blob", Arc::new(blobs.collect::<StringArray>())),
        ("difficulty", Arc::new(StringArray::from(difficulties))),
        ("target", Arc::new(targets.collect::<BinaryArray>())),
        ("few_targets", Arc::new(few_targets)),
    ];
    let hashes = shares.iter().map(|share| bytes(&share["pow_hash"])).collect();
    (RecordBatch::try_from_iter(columns).expect("a table"), hashes)
}

#[test]
fn queries_verify_shares() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let context = SessionContext::new();
    let (table, hashes) = shares();
    context.register_batch("shares", table).expect("a new name");
    context.register_udf(randomx_datafusion::randomx_verify(2));
    let query = |sql: &str| {
        let found = async { context.sql(sql).await?.collect().await };
        runtime.block_on(found)
    };
    let one = |sql: &str| {
        let found = query(sql).expect("a query");
        assert_eq!(found.len(), 1, "{sql}");
        found[0].clone()
    };
    let rows = one("WITH verified AS (
            SELECT number, randomx_verify(seed, blob, difficulty) AS work FROM shares
        )
        SELECT work['pow_hash'] AS hash, work['valid'] AS valid, work['reason'] AS reason
        FROM verified ORDER BY number");
    assert_eq!(rows.num_rows(), 10);
    let (valid, reasons) = (rows["valid"].as_boolean(), rows["reason"].as_string::<i32>());
    for (row, hash) in hashes.iter().enumerate() {
        assert_eq!(valid.value(row), row < 8, "row {row}");
        assert_eq!(reasons.is_null(row), row < 8);
        if row != 8 {
            assert_eq!(rows["hash"].as_fixed_size_binary().value(row), hash);
        }
    }
    assert_eq!(reasons.value(8), "difficulty: expected a value, got null");
    assert!(reasons.value(9).starts_with("the hash does not meet difficulty "));
    let counts = one("SELECT count(*) AS n FROM shares
        WHERE randomx_verify(seed, blob, target, 1)['valid']
          AND randomx_verify(seed, blob, few_targets)['valid']
          AND NOT randomx_verify(seed, blob, '340282366920938463463374607431768211455')['valid']");
    let counts = counts["n"].as_primitive::<arrow_array::types::Int64Type>();
    assert_eq!(counts.value(0), 10);
    for (sql, mention) in [
        ("SELECT randomx_verify(seed, blob) FROM shares", "randomx_verify"),
        (
            "SELECT randomx_verify(number, blob, difficulty) FROM shares",
            "seed_hash: expected a column",
        ),
        ("SELECT randomx_verify(seed, blob, 1.5) FROM shares", "in strings, got Float64"),
    ] {
        let problem = query(sql).expect_err(sql).to_string();
        assert!(problem.contains(mention), "{problem}");
    }
}

#[test]
fn a_literal_is_not_copied_for_each_row() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let context = SessionContext::new();
    // The blobs of so many rows are too long for one array of texts.
    const ROWS: u64 = 1100;
    let numbers = Arc::new(UInt64Array::from_iter_values(1..=ROWS)) as ArrayRef;
    let table = RecordBatch::try_from_iter([("number", numbers)]).expect("a table");
    context.register_batch("numbers", table).expect("a new name");
    context.register_udf(randomx_datafusion::randomx_verify(1));
    let blob = "00".repeat((1 << 20) + 1);
    let sql = format!(
        "WITH verified AS (
            SELECT randomx_verify(NULL, '{blob}', number, 1) AS work FROM numbers
        )
        SELECT count(*) AS n FROM verified WHERE
        work['reason'] = 'hashing_blob: expected at most 1048576 bytes, got 1048577'"
    );
    let found = runtime.block_on(async { context.sql(&sql).await?.collect().await });
    let counts = &found.expect("a query")[0]["n"];
    assert_eq!(counts.as_primitive::<Int64Type>().value(0), ROWS as i64);
}
