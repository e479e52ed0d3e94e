//! `POST /api/bench`: what `randomx bench --mode light --version v1` measures, row by row.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{Request, State},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    Server, body,
    failure::Failure,
    work::{self, Event, milliseconds},
};
use crate::{args::BenchArgs, bench};

/// Seconds to measure, by default and at most.
const DEFAULT_SECONDS: u16 = 20;
pub(crate) const MAX_SECONDS: u16 = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    seconds: Option<u16>,
}

/// Measures v1 in light mode and its parts.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let body: Body = body::read(request).await?;
    let seconds = body.seconds.unwrap_or(DEFAULT_SECONDS);
    if !(1..=MAX_SECONDS).contains(&seconds) {
        let complaint = format!("expected 1 to {MAX_SECONDS}, got {seconds}");
        return Err(Failure::argument("seconds", complaint));
    }
    let args = BenchArgs::light(seconds, server.work.clone());
    work::answer(&headers, &server.gates.bench, &server.stopping, move |client| {
        let start = Instant::now();
        let mut rows = 0;
        let outcome = bench::each_row(&args, &|| client.check().is_err(), |row| {
            rows += 1;
            client.send(Event::Row(json!({
                "what": row.name,
                "unit": row.unit,
                "value": row.value,
                "low": row.spread.map(|(slow, fast)| slow.min(fast)),
                "high": row.spread.map(|(slow, fast)| slow.max(fast)),
            })))
        });
        // If the measurement was stopped, this is the reason.
        client.check()?;
        outcome?;
        Ok(json!({ "count": rows, "ms": milliseconds(start.elapsed()) }))
    })
    .await
}
