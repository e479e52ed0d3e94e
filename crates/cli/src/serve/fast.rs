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

/// Computes the dataset of a key, which replaces another one.
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
        if worker.keys.dataset(&key).is_none() {
            worker.keys.stop()?;
            worker.keys.start(&key, worker.threads, worker.options, client)?;
        }
        Ok(json!({ "state": "ready", "ms": milliseconds(start.elapsed()) }))
    })
    .await
}

/// Stops fast mode in any state, and answers when its memory is free.
pub(crate) async fn delete(State(server): State<Arc<Server>>) -> Result<Response, Failure> {
    let stopped = task::spawn_blocking(move || server.keys.stop()).await;
    stopped.map_err(|problem| Failure::new(Code::Internal, problem.to_string()))??;
    Ok(work::json(&json!({ "state": "off" })))
}
