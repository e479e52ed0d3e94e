//! `POST /api/bench`: what `randomx bench` measures, row by row.

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

/// Seconds that are measured for, if nobody says, and at most.
const DEFAULT_SECONDS: u16 = 20;
pub(crate) const MOST_SECONDS: u16 = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    seconds: Option<u16>,
}

/// Measures.
pub(crate) async fn post(
    State(server): State<Arc<Server>>,
    request: Request,
) -> Result<Response, Failure> {
    let headers = request.headers().clone();
    let asked: Asked = body::read(request).await?;
    let seconds = asked.seconds.unwrap_or(DEFAULT_SECONDS);
    if !(1..=MOST_SECONDS).contains(&seconds) {
        let complaint = format!("expected 1 to {MOST_SECONDS}, got {seconds}");
        return Err(Failure::argument("seconds", complaint));
    }
    let args = BenchArgs::light(seconds, server.work.clone());
    work::answer(&headers, &server.gates.bench, &server.stopping, move |sink| {
        let start = Instant::now();
        let mut rows = 0;
        let told = bench::each_row(&args, |row| {
            rows += 1;
            sink.tell(Event::Row(json!({
                "what": row.name,
                "unit": row.unit,
                "value": row.value,
                "low": row.spread.map(|(slow, fast)| slow.min(fast)),
                "high": row.spread.map(|(slow, fast)| slow.max(fast)),
            })))?;
            sink.check()
        })?;
        told?;
        Ok(json!({ "count": rows, "ms": milliseconds(start.elapsed()) }))
    })
    .await
}
