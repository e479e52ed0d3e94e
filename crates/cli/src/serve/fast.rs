//! `POST /api/fast` and `DELETE /api/fast`.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;
use tokio::task;

use super::{
    Server, body,
    failure::{Code, Failure},
    work::{self, milliseconds},
};
use crate::bytes;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Leased {
    lease: String,
}

/// Leases the dataset of a key, after computing it if it is not ready.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let body: Body = body::read(request).await?;
    let key = bytes::from_hex(&body.key).map_err(|problem| Failure::argument("key", problem))?;
    let worker = Arc::clone(&server);
    work::answer(&headers, &server.gates.fast, &server.stopping, move |client| {
        let start = Instant::now();
        let lease = worker.keys.lease(&key, worker.threads, worker.options, client)?;
        Ok(json!({ "state": "ready", "ms": milliseconds(start.elapsed()), "lease": lease }))
    })
    .await
}

/// Ends a lease. After the last one, answers when the dataset's memory is free.
pub(crate) async fn delete(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let Leased { lease } = body::read(request).await?;
    let released = task::spawn_blocking(move || {
        server.keys.leases.release(&lease)?;
        Ok::<_, Failure>(server.keys.leases.info().state)
    });
    let state =
        released.await.map_err(|problem| Failure::new(Code::Internal, problem.to_string()))??;
    Ok(work::json(&json!({ "state": state })))
}
