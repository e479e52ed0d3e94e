//! `POST /api/hash`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    extract::{Request, State},
    response::Response,
};
use randomx::{
    EngineChoice, KeyMemory, MAX_LANES, Version, Vm, VmOptions,
    memory::{Room, is_available},
    params::SCRATCHPAD_L3,
    spread::{Pieces, spread},
};
use serde::Deserialize;
use serde_json::json;

use super::{
    Server, body,
    failure::{Code, Failure},
    leases::InUse,
    work::{self, Client, Event, milliseconds},
};
use crate::{
    backend::{self, Hash},
    bytes,
    error::Error,
    mode::Mode,
    record,
};

/// The most inputs of a request.
pub(crate) const MAX_INPUTS: usize = 1 << 16;

/// The body of a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    key: String,
    inputs: Vec<String>,
    #[serde(default, deserialize_with = "record::version")]
    version: Version,
    #[serde(default)]
    engine: EngineName,
    #[serde(default)]
    mode: ModeName,
    threads: Option<usize>,
    lanes: Option<usize>,
}

/// The engine that executes programs.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum EngineName {
    #[default]
    Auto,
    Interpreter,
    Jit,
}

impl TryFrom<String> for EngineName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<EngineName, &'static str> {
        match name.as_str() {
            "auto" => Ok(EngineName::Auto),
            "interpreter" => Ok(EngineName::Interpreter),
            "jit" => Ok(EngineName::Jit),
            _ => Err("expected auto, interpreter or jit"),
        }
    }
}

impl EngineName {
    /// The options with this engine; `auto` keeps that of the server's options.
    pub(super) fn among(self, options: VmOptions) -> VmOptions {
        let engine = match self {
            EngineName::Auto => options.engine,
            EngineName::Interpreter => EngineChoice::Interpreter,
            EngineName::Jit => EngineChoice::Jit,
        };
        VmOptions { engine, ..options }
    }
}

/// Where dataset items come from.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(try_from = "String")]
enum ModeName {
    #[default]
    Light,
    Fast,
}

impl TryFrom<String> for ModeName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<ModeName, &'static str> {
        match name.as_str() {
            "light" => Ok(ModeName::Light),
            "fast" => Ok(ModeName::Fast),
            _ => Err("expected light or fast"),
        }
    }
}

/// Inputs of one key, and how to hash them.
pub(super) struct Job {
    pub(super) key: Vec<u8>,
    pub(super) inputs: Vec<Vec<u8>>,
    pub(super) version: Version,
    pub(super) mode: Mode,
    pub(super) threads: usize,
    pub(super) options: VmOptions,
}

/// Hashes inputs.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let job = job(server.options, server.threads, body::read(request).await?)?;
    let worker = Arc::clone(&server);
    work::answer(&headers, &server.gates.hash, &server.stopping, move |client| {
        let start = Instant::now();
        let hashed = hash_all(&worker, &job, client, |index, hash, ms| {
            client.send(Event::Hash { index, hash: hex::encode(hash), ms })
        })?;
        let prepared = start.elapsed().saturating_sub(hashed.time);
        let mut done = json!({
            "count": job.inputs.len(),
            "ms": milliseconds(hashed.time),
            "prepareMs": milliseconds(prepared),
            "threads": hashed.threads,
            "lanes": hashed.lanes,
        });
        // An answer's list is made of the events about hashes, and there are none.
        if job.inputs.is_empty() {
            done["hashes"] = json!([]);
        }
        Ok(done)
    })
    .await
}

/// Parses the bytes of a body, for a server with these options and this many threads.
#[cfg(feature = "internals")]
pub(super) fn parse(bytes: &[u8], options: VmOptions, threads: usize) -> Result<Job, Failure> {
    job(options, threads, body::parse(bytes)?)
}

fn job(options: VmOptions, threads: usize, body: Body) -> Result<Job, Failure> {
    if body.inputs.len() > MAX_INPUTS {
        let complaint = format!("expected at most {MAX_INPUTS}, got {}", body.inputs.len());
        return Err(Failure::argument("inputs", complaint));
    }
    let key = bytes::from_hex(&body.key).map_err(|problem| Failure::argument("key", problem))?;
    let inputs = body.inputs.iter().enumerate().map(|(index, input)| {
        let wrong = |problem| Failure::argument(format_args!("inputs[{index}]"), problem);
        bytes::from_hex(input).map_err(wrong)
    });
    let mode = match body.mode {
        ModeName::Light => Mode::Light,
        ModeName::Fast => Mode::Fast,
    };
    let options = body.engine.among(options);
    let lanes = within("lanes", body.lanes, MAX_LANES)?.or(options.lanes);
    let threads = within("threads", body.threads, threads)?.unwrap_or(threads);
    Ok(Job {
        key,
        inputs: inputs.collect::<Result<_, _>>()?,
        version: body.version,
        mode,
        threads,
        options: VmOptions { lanes, ..options },
    })
}

fn within(name: &str, number: Option<usize>, most: usize) -> Result<Option<usize>, Failure> {
    match number {
        Some(number) if !(1..=most).contains(&number) => {
            Err(Failure::argument(name, format!("expected 1 to {most}, got {number}")))
        }
        number => Ok(number),
    }
}

/// How inputs were hashed.
pub(super) struct Hashed {
    /// The time without preparing the key.
    time: Duration,
    threads: usize,
    /// The lanes of each thread's VM.
    lanes: usize,
}

/// Hashes all inputs. `report` receives the position of each hash, the hash, and its share of its
/// batch's time in milliseconds.
pub(super) fn hash_all(
    server: &Server,
    job: &Job,
    client: &Client,
    mut report: impl FnMut(usize, &Hash, f64) -> Result<(), Failure> + Send,
) -> Result<Hashed, Failure> {
    let (key, in_use) = key_memory(server, job, client)?;
    let pieces = Pieces::new(&job.inputs, job.threads, job.options.lanes.unwrap_or(MAX_LANES));
    let mut vms = vms(&key, job, &pieces)?;
    drop(key);
    let start = Instant::now();
    let mut done = 0;
    spread(
        &mut vms,
        &pieces,
        usize::MAX,
        |vm, (first, inputs)| {
            if in_use.as_ref().is_some_and(InUse::is_stopped) {
                return Err(Failure::new(Code::Aborted, "fast mode was stopped"));
            }
            client.check()?;
            let start = Instant::now();
            let hashes = vm.hash_many(inputs);
            let ms = milliseconds(start.elapsed()) / hashes.len() as f64;
            Ok((first, hashes, ms))
        },
        |(first, hashes, ms)| {
            for (position, hash) in (first..).zip(&hashes) {
                report(position, hash, ms)?;
            }
            done += hashes.len();
            client.progress("hash", done as f64 / job.inputs.len() as f64)
        },
    )?;
    let time = start.elapsed();
    // The first hashes may have measured which number is fastest.
    let lanes = vms.first().map_or(0, Vm::lanes);
    Ok(Hashed { time, threads: vms.len(), lanes })
}

fn key_memory<'a>(
    server: &'a Server,
    job: &Job,
    client: &Client,
) -> Result<(KeyMemory, Option<InUse<'a>>), Failure> {
    match job.mode {
        Mode::Light => {
            let cache = server.keys.cache(&job.key, job.options, client)?;
            Ok((KeyMemory::Items(Arc::new(backend::items(cache, job.options)?)), None))
        }
        Mode::Fast => {
            let in_use = server.keys.leases.dataset(&job.key).ok_or_else(|| {
                let message = "mode: this key has no dataset; POST /api/fast computes it";
                Failure::new(Code::Unsupported, message)
            })?;
            Ok((in_use.memory(), Some(in_use)))
        }
    }
}

/// A VM for each thread that has work. In light mode it has no more lanes than the work needs.
fn vms(key: &KeyMemory, job: &Job, pieces: &Pieces<'_, Vec<u8>>) -> Result<Vec<Vm>, Failure> {
    let threads = job.threads.min(pieces.most());
    let options = backend::for_inputs(job.options, job.mode, pieces.group());
    let bytes = threads * options.lanes.unwrap_or(MAX_LANES) * SCRATCHPAD_L3;
    if !is_available(bytes, Room::Memory) {
        return Err(Error::Memory { what: "the scratchpads", bytes }.into());
    }
    let vm = |_| Vm::with_options(key.clone(), job.version, options);
    (0..threads).map(vm).collect::<Result<_, _>>().map_err(|problem| Error::Vm(problem).into())
}
