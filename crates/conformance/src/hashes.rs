//! The suites of whole hashes.

use std::sync::Arc;

use randomx::{CacheBuilder, Version, Vm, VmOptions};
use serde::Deserialize;

use crate::{Error, Report, bytes, parse};

/// A known hash.
#[derive(Clone, Debug)]
pub struct HashVector {
    /// A description, to identify the vector.
    pub name: String,
    /// The version of RandomX.
    pub version: Version,
    /// The key.
    pub key: Vec<u8>,
    /// The input.
    pub input: Vec<u8>,
    /// The hash, in hexadecimal.
    pub hash: String,
}

/// Checks vectors of one key on a VM of that key: those of one version together, then the others.
pub fn check_hashes(vm: &mut Vm, vectors: &[HashVector], report: &mut Report) {
    for version in Version::ALL {
        let of_version: Vec<&HashVector> =
            vectors.iter().filter(|vector| vector.version == version).collect();
        let inputs: Vec<&[u8]> = of_version.iter().map(|vector| vector.input.as_slice()).collect();
        vm.set_version(version);
        for (vector, hash) in of_version.iter().zip(vm.hash_many(&inputs)) {
            report.check(|| vector.name.clone(), hex::encode(hash), vector.hash.clone());
        }
    }
}

/// Checks vectors of any number of keys, those of a key together. If a key has both versions, also
/// each vector alone in the file's order, which switches versions on one VM.
pub(crate) fn check(
    vectors: &[HashVector],
    options: VmOptions,
    report: &mut Report,
) -> Result<(), Error> {
    let mut keys: Vec<&[u8]> = vectors.iter().map(|vector| vector.key.as_slice()).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        let of_key: Vec<HashVector> =
            vectors.iter().filter(|vector| vector.key == key).cloned().collect();
        let mut vm = machine(key, options)?;
        let has = |version| of_key.iter().any(|vector| vector.version == version);
        let alone = if Version::ALL.into_iter().all(has) { of_key.as_slice() } else { &[] };
        for vector in alone {
            vm.set_version(vector.version);
            let hash = hex::encode(vm.hash(&vector.input));
            report.check(|| format!("{}, alone", vector.name), hash, vector.hash.clone());
        }
        check_hashes(&mut vm, &of_key, report);
    }
    Ok(())
}

fn machine(key: &[u8], options: VmOptions) -> Result<Vm, Error> {
    let cache = CacheBuilder::new(key, options.cpu)
        .map_err(|error| Error::Failed(error.to_string()))?
        .finish();
    Vm::with_options(Arc::new(cache), Version::V1, options)
        .map_err(|error| Error::Failed(error.to_string()))
}

#[derive(Deserialize)]
struct Hashes {
    vectors: Vec<Hash>,
}

#[derive(Deserialize)]
struct Hash {
    version: u64,
    key: String,
    input: String,
    hash: String,
}

/// Reads hashes of any keys.
pub(crate) fn read(text: &str) -> Result<Vec<HashVector>, Error> {
    let vectors = parse::<Hashes>(text)?.vectors;
    let vectors = vectors.into_iter().map(|Hash { version: number, key, input, hash }| {
        let name = format!("v{number} hash of {input} under {key}");
        Ok(HashVector {
            name,
            version: version(number)?,
            key: bytes(&key)?,
            input: bytes(&input)?,
            hash,
        })
    });
    vectors.collect()
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

/// Reads proof-of-work hashes of real blocks and shares, all of one seed epoch.
pub(crate) fn read_mainnet(text: &str) -> Result<Vec<HashVector>, Error> {
    let mainnet: Mainnet = parse(text)?;
    let key = mainnet
        .seed_hash
        .as_ref()
        .or_else(|| mainnet.blocks.first().and_then(|block| block.seed_hash.as_ref()))
        .ok_or_else(|| Error::Malformed("no seed hash".to_owned()))?;
    if mainnet.blocks.iter().any(|block| block.seed_hash.as_ref().is_some_and(|hash| hash != key)) {
        return Err(Error::Malformed("more than one seed epoch".to_owned()));
    }
    let vectors = mainnet.blocks.iter().map(|block| {
        Ok(HashVector {
            name: format!("proof-of-work hash at height {}", block.height),
            version: version(mainnet.version)?,
            key: bytes(key)?,
            input: bytes(&block.hashing_blob)?,
            hash: block.pow_hash.clone(),
        })
    });
    vectors.collect()
}

pub(crate) fn version(number: u64) -> Result<Version, Error> {
    Version::try_from(number).map_err(|error| Error::Malformed(error.to_string()))
}
