//! The parsers of requests, without a server.

use std::net::SocketAddr;

use randomx::VmOptions;
use randomx_http::Names;
use randomx_monero::Check;

use super::{hash, verify};

pub(crate) fn parse_hash_body(
    bytes: &[u8],
    threads: usize,
) -> Result<(Vec<u8>, Vec<Vec<u8>>), String> {
    let job = hash::parse(bytes, VmOptions::default(), threads);
    job.map(|job| (job.key, job.inputs)).map_err(|failure| failure.message)
}

pub(crate) fn parse_verify_body(bytes: &[u8]) -> Result<Vec<Check>, String> {
    verify::examine_body(bytes).map_err(|failure| failure.message)
}

pub(crate) fn is_own_host(bound: SocketAddr, host: &str) -> bool {
    Names::new(bound).is_own_host(host)
}
