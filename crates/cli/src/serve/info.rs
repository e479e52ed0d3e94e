//! `GET /api/info`: this computer, the engines, the state of fast mode, and limits.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use randomx::{
    MAX_LANES, VmOptions,
    memory::{Room, is_available},
    params::{CACHE_SIZE, DATASET_SIZE},
};
use randomx_console::machine;
use serde::Serialize;

use super::{Server, bench, body, failure::Failure, hash, work};

#[derive(Serialize)]
struct Info {
    name: &'static str,
    version: &'static str,
    cpu: Processor,
    memory: Bytes,
    engines: Vec<Engine>,
    fast: FastMode,
    limits: Limits,
}

#[derive(Serialize)]
struct Processor {
    model: String,
    processors: usize,
    features: Vec<String>,
}

#[derive(Serialize)]
struct Bytes {
    total: Option<u64>,
    available: Option<u64>,
}

/// An engine in a mode, and why it is unavailable.
#[derive(Serialize)]
struct Engine {
    engine: &'static str,
    mode: &'static str,
    available: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Serialize)]
struct FastMode {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<f64>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Limits {
    body: usize,
    inputs: usize,
    threads: usize,
    lanes: usize,
    bench_seconds: u16,
    work_seconds: u64,
}

/// Answers with the information.
pub(crate) async fn get(State(server): State<Arc<Server>>) -> Result<Response, Failure> {
    // Linux describes the computer in files.
    let answer = tokio::task::spawn_blocking(move || work::json(&info(&server))).await;
    answer.map_err(|problem| Failure::new(super::failure::Code::Internal, problem.to_string()))
}

fn info(server: &Server) -> Info {
    let fast = server.keys.leases.info();
    let no_room = no_room(fast.state, |bytes| is_available(bytes, Room::Memory));
    let engine =
        |engine, mode, why: Option<String>| Engine { engine, mode, available: why.is_none(), why };
    let jit = || server.no_jit.clone();
    Info {
        name: "randomx",
        version: env!("CARGO_PKG_VERSION"),
        cpu: Processor {
            model: machine::processor(),
            processors: machine::processors(),
            features: server.options.cpu.extensions().map(|each| each.to_string()).collect(),
        },
        memory: Bytes {
            total: machine::memory("MemTotal"),
            available: machine::memory("MemAvailable"),
        },
        engines: vec![
            engine("interpreter", "light", None),
            engine("jit", "light", jit()),
            engine("interpreter", "fast", no_room.clone()),
            engine("jit", "fast", jit().or(no_room)),
        ],
        fast: FastMode {
            state: fast.state,
            key: fast.key,
            bytes: DATASET_SIZE,
            progress: fast.progress,
        },
        limits: Limits {
            body: body::MAX_SIZE,
            inputs: hash::MAX_INPUTS,
            threads: server.threads,
            lanes: MAX_LANES,
            bench_seconds: bench::MAX_SECONDS,
            work_seconds: work::LONGEST.as_secs(),
        },
    }
}

/// Why fast mode is unavailable in a state, if it is. A dataset that is ready or in progress has its memory already.
fn no_room(state: &str, is_available: impl FnOnce(usize) -> bool) -> Option<String> {
    let needed = DATASET_SIZE + CACHE_SIZE;
    let lacks = state == "off" && !is_available(needed);
    lacks.then(|| format!("no memory: {} MiB needed", needed >> 20))
}

/// Why the JIT is unavailable, if it is.
pub(crate) fn no_jit(options: VmOptions) -> Option<String> {
    let jit = randomx::jit::native::jit(options.cpu, options.code_pages);
    let problem = jit.and_then(|jit| jit.code().map(drop)).err();
    problem.map(|problem| problem.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_dataset_that_does_not_exist_yet_needs_memory() {
        for (state, available, is_refused) in [
            ("off", false, true),
            ("off", true, false),
            ("starting", false, false),
            ("ready", false, false),
        ] {
            let refusal = no_room(state, |_| available);
            assert_eq!(refusal.is_some(), is_refused, "{state}, {available}");
        }
    }
}
