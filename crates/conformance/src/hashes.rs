//! The suites of whole hashes.

use std::sync::Arc;

use randomx::{CacheBuilder, Version, Vm, VmOptions};
use serde::Deserialize;

use crate::{Error, Report, bytes, parse};

#[derive(Deserialize)]
struct Hashes {
    vectors: Vec<Hash>,
}

#[derive(Clone, Deserialize)]
struct Hash {
    version: u64,
    key: String,
    input: String,
    hash: String,
}

/// Hashes under any number of keys: each one alone in the file's order, which switches
/// versions on one VM, and again in lanes, version by version.
pub(crate) fn hashes(text: &str, options: VmOptions, report: &mut Report) -> Result<(), Error> {
    let vectors = parse::<Hashes>(text)?.vectors;
    let mut keys: Vec<&str> = vectors.iter().map(|vector| vector.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let of_key: Vec<Hash> =
            vectors.iter().filter(|vector| vector.key == key).cloned().collect();
        let mut vm = machine(key, options)?;
        for vector in &of_key {
            vm.set_version(version(vector.version)?);
            let hash = vm.hash(&bytes(&vector.input)?);
            report.check(
                || format!("v{} hash of {} under {key}", vector.version, vector.input),
                hex::encode(hash),
                vector.hash.clone(),
            );
        }
        for number in [1, 2] {
            let of_version: Vec<&Hash> =
                of_key.iter().filter(|vector| vector.version == number).collect();
            let inputs: Vec<Vec<u8>> =
                of_version.iter().map(|vector| bytes(&vector.input)).collect::<Result<_, _>>()?;
            vm.set_version(version(number)?);
            for (vector, hash) in of_version.iter().zip(vm.hash_many(&inputs)) {
                report.check(
                    || format!("v{number} hash in lanes of {} under {key}", vector.input),
                    hex::encode(hash),
                    vector.hash.clone(),
                );
            }
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct Mainnet {
    version: u64,
    seed_hash: Option<String>,
    #[serde(alias = "shares")]
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    height: u64,
    seed_hash: Option<String>,
    hashing_blob: String,
    pow_hash: String,
}

/// Proof-of-work hashes of real blocks and shares, all of one seed epoch.
pub(crate) fn mainnet(text: &str, options: VmOptions, report: &mut Report) -> Result<(), Error> {
    let mainnet: Mainnet = parse(text)?;
    let key = mainnet
        .seed_hash
        .as_ref()
        .or_else(|| mainnet.blocks.first().and_then(|block| block.seed_hash.as_ref()))
        .ok_or_else(|| Error::Malformed("no seed hash".to_owned()))?;
    if mainnet.blocks.iter().any(|block| block.seed_hash.as_ref().is_some_and(|hash| hash != key)) {
        return Err(Error::Malformed("more than one seed epoch".to_owned()));
    }
    let mut vm = machine(key, options)?;
    vm.set_version(version(mainnet.version)?);
    let blobs: Vec<Vec<u8>> =
        mainnet.blocks.iter().map(|block| bytes(&block.hashing_blob)).collect::<Result<_, _>>()?;
    for (block, hash) in mainnet.blocks.iter().zip(vm.hash_many(&blobs)) {
        report.check(
            || format!("proof-of-work hash at height {}", block.height),
            hex::encode(hash),
            block.pow_hash.clone(),
        );
    }
    Ok(())
}

fn machine(key: &str, options: VmOptions) -> Result<Vm, Error> {
    let cache = CacheBuilder::new(&bytes(key)?, options.cpu)
        .map_err(|error| Error::Failed(error.to_string()))?
        .finish();
    Vm::with_options(Arc::new(cache), Version::V1, options)
        .map_err(|error| Error::Failed(error.to_string()))
}

pub(crate) fn version(number: u64) -> Result<Version, Error> {
    Version::try_from(number).map_err(|error| Error::Malformed(error.to_string()))
}
