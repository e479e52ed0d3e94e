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
    // A request for another key keeps the turn while it waits for this key's clients. These must be able to
    // lease their dataset again meanwhile.
    let (lease, turn) = tokio::select! {
        biased;
        lease = server.keys.leases.join_when_ready(&key) => (Some(lease), None),
        turn = server.gates.fast.enter() => (None, Some(turn?)),
    };
    let worker = Arc::clone(&server);
    work::answer_at_once(turn, &headers, &server.stopping, move |client| {
        let start = Instant::now();
        let lease = match lease {
            Some(lease) => lease,
            None => worker.keys.lease(&key, worker.threads, worker.options, client)?,
        };
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

#[cfg(test)]
mod tests {
    use axum::body;
    use clap::Parser;
    use randomx::Dataset;
    use randomx_http::Names;
    use serde_json::Value;

    use super::*;
    use crate::{
        args::{Cli, Command},
        serve::{Gates, keys::Keys},
    };

    fn server() -> Arc<Server> {
        let Ok(Cli { command: Command::Serve(args) }) = Cli::try_parse_from(["randomx", "serve"])
        else {
            panic!("expected the command `serve`");
        };
        Arc::new(Server {
            names: Names::new("127.0.0.1:1".parse().expect("an address")),
            options: args.work.vm_options(),
            threads: 1,
            work: args.work,
            keys: Keys::default(),
            gates: Gates::default(),
            stopping: Arc::default(),
            no_jit: None,
        })
    }

    /// Asks for the dataset of the key 0. Returns the answer.
    async fn lease(server: Arc<Server>) -> Value {
        let request = Request::builder().header("Content-Type", "application/json");
        let request = request.body(r#"{"key":"00"}"#.into()).expect("a request");
        let answer = post(State(server), request).await.expect("a lease");
        let body = body::to_bytes(answer.into_body(), 1 << 10).await.expect("a body");
        serde_json::from_slice(&body).expect("JSON")
    }

    #[tokio::test]
    async fn requests_for_the_dataset_in_memory_do_not_wait_for_one_with_another_key() {
        let server = server();
        let leases = &server.keys.leases;
        // A request for another key keeps its turn while it waits.
        let _turn = server.gates.fast.enter().await.expect("a turn");
        let starting = leases.begin(&[0]);
        let early = tokio::spawn(lease(Arc::clone(&server)));
        for _ in 0..10 {
            task::yield_now().await;
        }
        assert!(!early.is_finished(), "there is no dataset yet");
        // Nobody reads this dataset, so the system gives it no memory.
        leases.end(&starting, Ok(Dataset::zeroed().expect("2080 MiB"))).expect("a lease");
        let early = early.await.expect("an answer");
        let late = lease(Arc::clone(&server)).await;
        assert_eq!((&early["state"], &late["state"]), (&json!("ready"), &json!("ready")));
        assert_ne!(early["lease"], late["lease"]);
    }
}
