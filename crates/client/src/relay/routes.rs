//! A relay's answers.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use randomx_http::Settings;
use randomx_monero::Hash;
use serde_json::json;
use tokio::task;
use tower_http::cors::{Any, CorsLayer};

use super::MAX_COUNT;
use super::records::{Record, Records};
use super::stored::Stored;

/// The time for which browsers may remember that other origins can read the answers.
const PREFLIGHT: Duration = Duration::from_secs(86_400);

/// The longest time of a request, and of sending its answer. The largest answer has 186 KB.
const LONGEST: Duration = Duration::from_secs(30);

/// The headers that a relay knows, and those that it is reading.
pub(super) type Shared = Arc<Mutex<Records>>;

/// The state that all requests to a relay share.
#[derive(Clone)]
pub(super) struct Served {
    pub(super) records: Shared,
    /// Whether the chain has final blocks.
    pub(super) is_final: bool,
    pub(super) stored: Arc<Stored>,
    pub(super) readiness: Arc<Readiness>,
}

/// Whether requests are answered.
pub(super) struct Readiness {
    is_set: AtomicBool,
    /// The time from which they are answered in any case.
    from: Option<Instant>,
}

impl Readiness {
    /// Requests are answered once [`Readiness::set`] is called, and `from` a time on if there is one.
    pub(super) fn new(from: Option<Instant>) -> Readiness {
        Readiness { is_set: AtomicBool::new(false), from }
    }

    pub(super) fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed) || self.from.is_some_and(|from| Instant::now() >= from)
    }
}

impl Served {
    /// Whether no reorganisation replaces a block, given the height of the last block.
    pub(super) fn keeps(&self, height: u64, tip: u64) -> bool {
        self.is_final && self.stored.is_final(height, tip)
    }
}

/// Locks the records.
pub(super) fn lock(records: &Mutex<Records>) -> MutexGuard<'_, Records> {
    // Every record is checked again when it is read.
    records.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the settings of a relay's server. Its answers are data for programs: a browser that opens
/// one must neither guess its type nor run anything in it.
pub(super) fn settings() -> Settings {
    let headers = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    let busy = json!({ "error": "too many connections; try again" }).to_string();
    Settings { headers: headers.into_iter().collect(), busy, longest: LONGEST }
}

/// Returns the router. Pages of any origin can read the answers.
pub(super) fn router(served: Served) -> Router {
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD])
        .allow_headers([header::IF_NONE_MATCH])
        .expose_headers([header::ETAG])
        .max_age(PREFLIGHT);
    Router::new()
        .route("/v1/tip", get(tip))
        .route("/v1/headers/{first}/{count}", get(headers))
        .route("/v1/difficulties/{first}/{count}", get(difficulties))
        .route_layer(middleware::from_fn_with_state(served.clone(), refuse_half))
        .layer(cors)
        .with_state(served)
}

/// Refuses requests until the relay is ready: clients would take half of the chain for all.
async fn refuse_half(State(served): State<Served>, request: Request, next: Next) -> Response {
    if served.readiness.is_set() {
        next.run(request).await
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "reading the chain\n").into_response()
    }
}

async fn tip(State(served): State<Served>, request: HeaderMap) -> Response {
    let (first, tip) = {
        let records = lock(&served.records);
        (records.first(), records.tip())
    };
    let Some((height, id)) = tip else {
        return (StatusCode::SERVICE_UNAVAILABLE, "no blocks yet\n").into_response();
    };
    let body = json!({ "first": first, "height": height, "id": hex::encode(id) }).to_string();
    let found =
        Found { content_type: "application/json", id, immutable: false, body: body.into_bytes() };
    found.answer(&request)
}

async fn headers(
    State(served): State<Served>,
    Path(range): Path<(u64, u64)>,
    request: HeaderMap,
) -> Response {
    blocks(served, range, &request, |record, body| {
        body.push(record.blob.len() as u8);
        body.extend(&record.blob);
    })
    .await
}

async fn difficulties(
    State(served): State<Served>,
    Path(range): Path<(u64, u64)>,
    request: HeaderMap,
) -> Response {
    blocks(served, range, &request, |record, body| body.extend(record.difficulty.to_le_bytes()))
        .await
}

/// Answers with something about each block of a range.
async fn blocks(
    served: Served,
    range: (u64, u64),
    request: &HeaderMap,
    write: impl Fn(&Record, &mut Vec<u8>) + Send + 'static,
) -> Response {
    // Reading a file may block.
    match task::spawn_blocking(move || find(&served, range, write)).await {
        Ok(Ok(Some(found))) => found.answer(request),
        Ok(Ok(None)) => (StatusCode::NOT_FOUND, "no such blocks\n").into_response(),
        Ok(Err(_)) | Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn find(
    served: &Served,
    (first, count): (u64, u64),
    write: impl Fn(&Record, &mut Vec<u8>),
) -> io::Result<Option<Found>> {
    let (found, tip) = {
        let mut records = lock(&served.records);
        (records.read(first, count.min(MAX_COUNT))?, records.tip())
    };
    let (Some((id, _)), Some((tip, _))) = (found.last().and_then(Record::ids), tip) else {
        return Ok(None);
    };
    let mut body = Vec::new();
    found.iter().for_each(|record| write(record, &mut body));
    let complete = found.len() as u64 == count;
    let last = first.saturating_add(count).saturating_sub(1);
    let immutable = complete && served.keeps(last, tip);
    Ok(Some(Found { content_type: "application/octet-stream", id, immutable, body }))
}

/// An answer to a request that succeeds.
struct Found {
    content_type: &'static str,
    /// The id of the last block, which stands for all before it.
    id: Hash,
    /// Whether it never changes.
    immutable: bool,
    body: Vec<u8>,
}

impl Found {
    fn answer(self, request: &HeaderMap) -> Response {
        let etag = format!("\"{}\"", hex::encode(self.id));
        let caching =
            if self.immutable { "public, max-age=31536000, immutable" } else { "public, no-cache" };
        let unchanged = matches(request, &etag);
        let headers = [(header::ETAG, etag), (header::CACHE_CONTROL, caching.to_owned())];
        if unchanged {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        let content_type = [(header::CONTENT_TYPE, self.content_type)];
        (headers, content_type, self.body).into_response()
    }
}

/// Whether a request has an answer with this `ETag` already.
fn matches(request: &HeaderMap, etag: &str) -> bool {
    let lists = request.get_all(header::IF_NONE_MATCH).iter();
    let tags = lists.filter_map(|list| list.to_str().ok()).flat_map(|list| list.split(','));
    tags.map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

#[cfg(test)]
mod tests;
