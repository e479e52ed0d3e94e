//! The parsers of requests, without a server.

use std::net::SocketAddr;

use randomx::{EngineChoice, Version, VmOptions};
use randomx_http::Names;
use randomx_monero::{Check, Difficulty, Network, examine};

use super::{hash, verify};
use crate::mode::Mode;

/// The body of `POST /api/hash`.
#[derive(Clone, Debug)]
pub struct HashBody {
    /// The key.
    pub key: Vec<u8>,
    /// The inputs.
    pub inputs: Vec<Vec<u8>>,
    /// The version of RandomX.
    pub version: Version,
    /// The engine.
    pub engine: EngineChoice,
    /// Whether the mode is `fast`.
    pub is_fast: bool,
    /// The number of threads.
    pub threads: usize,
    /// The lanes of each thread's VM, if the body sets them.
    pub lanes: Option<usize>,
}

/// The body of `POST /api/verify`.
#[derive(Clone, Debug)]
pub struct VerifyBody {
    /// The block.
    pub block: Option<Vec<u8>>,
    /// The hashing blob.
    pub hashing_blob: Option<Vec<u8>>,
    /// The block's id.
    pub id: Option<[u8; 32]>,
    /// The block's height.
    pub height: Option<u64>,
    /// The seed hash.
    pub seed_hash: [u8; 32],
    /// The difficulty.
    pub difficulty: Difficulty,
    /// The engine.
    pub engine: EngineChoice,
    /// The block's checks without its hash.
    pub checks: Vec<Check>,
}

pub(crate) fn parse_hash_body(bytes: &[u8], threads: usize) -> Result<HashBody, String> {
    let job = hash::parse(bytes, VmOptions::default(), threads).map_err(|error| error.message)?;
    Ok(HashBody {
        key: job.key,
        inputs: job.inputs,
        version: job.version,
        engine: job.options.engine,
        is_fast: job.mode == Mode::Fast,
        threads: job.threads,
        lanes: job.options.lanes,
    })
}

pub(crate) fn parse_verify_body(bytes: &[u8]) -> Result<VerifyBody, String> {
    let claim = verify::parse(bytes, VmOptions::default()).map_err(|error| error.message)?;
    let candidate = claim.candidate();
    Ok(VerifyBody {
        block: candidate.block.map(<[u8]>::to_vec),
        hashing_blob: candidate.hashing_blob.map(<[u8]>::to_vec),
        id: candidate.id,
        height: candidate.height,
        seed_hash: claim.seed_hash,
        difficulty: claim.difficulty,
        engine: claim.options.engine,
        checks: examine(&candidate, Network::Mainnet).checks,
    })
}

pub(crate) fn is_own_host(bound: SocketAddr, host: &str) -> bool {
    Names::new(bound).is_own_host(host)
}
