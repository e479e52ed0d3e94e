//! `POST /api/verify`: one block of the main network. Fields and answer are those of the package's `verifyBlock`, with
//! bytes in hex. A request may also choose an `engine`. The answer also has `ms`. It has no `difficulty` and no
//! `transactionIds`.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    response::Response,
};
use randomx::{Version, VmOptions};
use randomx_monero::{
    Candidate, Check, Difficulty, Network, Outcome, Status, examine, proof_of_work,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Server, body,
    failure::Failure,
    hash::{self, EngineName, Job},
    work::{self, Client, milliseconds},
};
use crate::{bytes, mode::Mode};

/// The largest height that JavaScript's numbers hold exactly.
const MAX_HEIGHT: u64 = (1 << 53) - 1;

/// The body of a request: a block, and claims about it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Body {
    block: Option<String>,
    hashing_blob: Option<String>,
    seed_hash: String,
    difficulty: String,
    expected_id: Option<String>,
    height: Option<u64>,
    #[serde(default)]
    engine: EngineName,
}

/// A parsed body.
pub(super) struct Claim {
    block: Option<Vec<u8>>,
    hashing_blob: Option<Vec<u8>>,
    pub(super) seed_hash: [u8; 32],
    pub(super) difficulty: Difficulty,
    id: Option<[u8; 32]>,
    height: Option<u64>,
    pub(super) options: VmOptions,
}

impl Claim {
    pub(super) fn candidate(&self) -> Candidate<'_> {
        Candidate {
            block: self.block.as_deref(),
            hashing_blob: self.hashing_blob.as_deref(),
            id: self.id,
            height: self.height,
        }
    }
}

/// Verifies a block.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let claim = claim(server.options, body::read(request).await?)?;
    let worker = Arc::clone(&server);
    let gate = &server.gates.verify;
    work::answer(&headers, gate, &server.stopping, move |client| verify(&worker, &claim, client))
        .await
}

/// Parses the bytes of a body, for a server with these options.
#[cfg(feature = "internals")]
pub(super) fn parse(bytes: &[u8], options: VmOptions) -> Result<Claim, Failure> {
    claim(options, body::parse(bytes)?)
}

fn claim(options: VmOptions, body: Body) -> Result<Claim, Failure> {
    if body.block.is_none() && body.hashing_blob.is_none() {
        return Err(Failure::argument("hashingBlob", "expected this or block, got neither"));
    }
    if body.height.is_some_and(|height| height > MAX_HEIGHT) {
        return Err(Failure::argument("height", "expected a whole number from 0 to 2^53 - 1"));
    }
    let bytes = |name, hex: Option<String>| match hex {
        Some(hex) => bytes::from_hex(&hex).map(Some).map_err(|p| Failure::argument(name, p)),
        None => Ok(None),
    };
    let hash = |name, hex: &str| bytes::hash_from_hex(hex).map_err(|p| Failure::argument(name, p));
    let difficulty: Result<Difficulty, _> = body.difficulty.parse();
    let options = VmOptions { lanes: Some(1), ..body.engine.among(options) };
    Ok(Claim {
        block: bytes("block", body.block)?,
        hashing_blob: bytes("hashingBlob", body.hashing_blob)?,
        seed_hash: hash("seedHash", &body.seed_hash)?,
        difficulty: difficulty.map_err(|problem| Failure::argument("difficulty", problem))?,
        id: body.expected_id.map(|id| hash("expectedId", &id)).transpose()?,
        height: body.height,
        options,
    })
}

fn verify(server: &Server, claim: &Claim, client: &Client) -> Result<Value, Failure> {
    let start = Instant::now();
    let found = examine(&claim.candidate(), Network::Mainnet);
    let mut checks = found.checks;
    let mut reports: Vec<Value> = checks.iter().map(report).collect();
    let hash = match found.hashing_blob {
        Some(blob) => {
            let hash = hash_of(server, claim, blob.as_bytes(), client)?;
            let proof = proof_of_work(&hash, &claim.difficulty);
            reports.push(report(&proof));
            checks.push(proof);
            Some(hex::encode(hash))
        }
        None => {
            let detail = "the block cannot be parsed";
            reports.push(json!({ "name": "proof-of-work", "passed": null, "detail": detail }));
            None
        }
    };
    let status = Status::of(&checks);
    Ok(json!({
        "status": status.as_str(),
        "valid": status == Status::Valid,
        "hash": hash,
        "id": found.id.map(hex::encode),
        "height": found.height,
        "checks": reports,
        "ms": milliseconds(start.elapsed()),
    }))
}

fn hash_of(
    server: &Server,
    claim: &Claim,
    blob: &[u8],
    client: &Client,
) -> Result<[u8; 32], Failure> {
    let job = Job {
        key: claim.seed_hash.to_vec(),
        inputs: vec![blob.to_vec()],
        version: Version::V1,
        mode: Mode::Light,
        threads: 1,
        options: claim.options,
    };
    let mut hash = [0; 32];
    hash::hash_all(server, &job, client, |_, found, _| {
        hash = *found;
        Ok(())
    })?;
    Ok(hash)
}

fn report(check: &Check) -> Value {
    let passed = match check.outcome {
        Outcome::Passed => Some(true),
        Outcome::Failed | Outcome::UpdateNeeded => Some(false),
        Outcome::NotChecked => None,
    };
    json!({ "name": check.name.as_str(), "passed": passed, "detail": check.detail })
}
