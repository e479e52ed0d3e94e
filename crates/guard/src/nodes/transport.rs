//! Calls over HTTP.

use std::time::Duration;

use ureq::Agent;

use super::{Call, LARGE, NoAnswer};

/// Sends a call to a node. An answer may take the time `longest`, and a small one no longer than the agent's
/// time limit. For a large answer that limit applies to each read, not to the whole: otherwise wallets on
/// slow connections could never scan full blocks.
pub(super) fn send(
    agent: &Agent,
    address: &str,
    call: &Call,
    longest: Duration,
) -> Result<Vec<u8>, NoAnswer> {
    let fail = |problem: ureq::Error| match problem {
        ureq::Error::BodyExceedsLimit(limit) => {
            NoAnswer::Refused(format!("expected an answer of at most {limit} bytes, got more"))
        }
        ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
            NoAnswer::Refused(problem.to_string())
        }
        ureq::Error::Timeout(_) => NoAnswer::Silent("no answer in time".to_owned()),
        other => NoAnswer::Silent(other.to_string()),
    };
    let url = format!("{address}{}", call.path);
    let mut request = agent.post(url).header("Content-Type", call.form.content_type());
    if let Some(limit) = agent.config().timeouts().global {
        let limit = limit.min(longest);
        let whole = if call.limit > LARGE { longest } else { limit };
        request = request
            .config()
            .timeout_global(Some(whole))
            .timeout_resolve(Some(limit))
            .timeout_connect(Some(limit))
            .timeout_per_read(Some(limit))
            .timeout_per_write(Some(limit))
            .build();
    }
    let mut response = request.send(&call.body[..]).map_err(fail)?;
    if response.status() != 200 {
        return Err(NoAnswer::Refused(format!("HTTP status {}", response.status().as_u16())));
    }
    response.body_mut().with_config().limit(call.limit).read_to_vec().map_err(fail)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;
    use std::time::Instant;

    use randomx_client::{Route, agent_settings};

    use super::*;
    use crate::answer::Form;

    /// The time limit, and the pause between two parts of an answer.
    const LIMIT: Duration = Duration::from_secs(3);
    const PAUSE: Duration = Duration::from_millis(500);

    /// Asks a node that sends a part of its answer after each pause, and then nothing more. The node
    /// sends `sent` of the answer's `length` parts. Returns the outcome and the time.
    fn ask(limit: u64, length: usize, sent: usize, longest: Duration) -> (bool, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a connection");
            let _ = stream.read(&mut [0; 1024]);
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let mut parts = std::iter::once(head.as_bytes()).chain(vec![&b"."[..]; sent]);
            while parts.next().is_some_and(|part| stream.write_all(part).is_ok()) {
                thread::sleep(PAUSE);
            }
            thread::sleep(20 * LIMIT);
        });
        let call = Call {
            method: String::new(),
            path: "/getblocks.bin".to_owned(),
            form: Form::Binary,
            body: Vec::new(),
            limit,
        };
        let agent = agent_settings(&Route::direct(LIMIT)).new_agent();
        let begun = Instant::now();
        match send(&agent, &address, &call, longest) {
            Ok(answer) => assert_eq!(answer.len(), length),
            Err(problem) => {
                assert!(matches!(&problem, NoAnswer::Silent(text) if text == "no answer in time"));
                return (false, begun.elapsed());
            }
        }
        (true, begun.elapsed())
    }

    #[test]
    fn a_large_answer_may_take_longer_unless_the_node_is_silent() {
        thread::scope(|scope| {
            // Longer than the limit.
            scope.spawn(|| assert!(ask(LARGE + 1, 10, 10, 20 * LIMIT).0));
            scope.spawn(|| {
                let (arrived, time) = ask(LARGE, 10, 10, 20 * LIMIT);
                assert!(!arrived && time < 2 * LIMIT, "{time:?}");
            });
            scope.spawn(|| {
                let (arrived, time) = ask(LARGE + 1, 10, 2, 20 * LIMIT);
                assert!(!arrived && time < 10 * LIMIT, "{time:?}");
            });
            scope.spawn(|| {
                let (arrived, time) = ask(LARGE + 1, 100, 100, 2 * LIMIT);
                assert!(!arrived && time >= 2 * LIMIT && time < 10 * LIMIT, "{time:?}");
            });
            // A request whose time is nearly over: the answer takes longer, but less than the limit.
            for limit in [LARGE, LARGE + 1] {
                scope.spawn(move || assert!(!ask(limit, 4, 4, LIMIT / 4).0));
            }
        });
    }
}
