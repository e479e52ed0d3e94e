//! Which node is asked, and how long.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

use super::times::RATE;
use super::together::MOST_SENDING;
use super::*;

const NEVER: Duration = Duration::from_secs(3600);

/// The time that a slow node takes.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns times that have no consequences.
fn times() -> Times {
    Times { request: NEVER, silence: NEVER, slow: NEVER, penalty: 1 }
}

fn nodes(transports: Vec<TimedTransport>, times: Times) -> Nodes {
    let journal = Journal::new(Box::new(|_| {}), Box::new(|_| Err(io::Error::other(""))));
    let names = (0..).map(|index: u32| index.to_string());
    Nodes { times, ..Nodes::with_timed(names.zip(transports), Arc::new(journal)) }
}

/// Asks two nodes three times. The first takes a time, and then gives this answer. Returns how often each
/// is asked.
fn asked(
    pause: Duration,
    answer: fn() -> Result<Vec<u8>, NoAnswer>,
    useful: u64,
    times: Times,
) -> [u32; 2] {
    let counts = [0; 2].map(|count| Arc::new(AtomicU32::new(count)));
    let transports = counts.iter().enumerate().map(|(index, count)| {
        let count = Arc::clone(count);
        let send = move |_: &Call, _| {
            count.fetch_add(1, Ordering::Relaxed);
            if index > 0 {
                return Ok(b"usable".to_vec());
            }
            thread::sleep(pause);
            answer()
        };
        Box::new(send) as TimedTransport
    });
    let nodes = nodes(transports.collect(), times);
    for _ in 0..3 {
        let judge = |_: &str, answer: &[u8]| match answer {
            b"usable" => Ok(((), useful)),
            _ => Err(Fault::Unusable("a problem".to_owned())),
        };
        let call = |_: &str| Cow::Owned(Call::json_rpc("get_info", &json!({}), 1));
        let answer = nodes.ask_each(Instant::now(), call, judge);
        assert!(answer.is_ok());
    }
    if answer().is_ok_and(|answer| answer == b"usable") {
        assert_eq!(nodes.describe()[0]["failure"], json!(null));
    } else {
        assert_eq!(nodes.describe()[0]["failure"], json!("get_info: a problem"));
    }
    counts.map(|count| count.load(Ordering::Relaxed))
}

fn silent() -> Result<Vec<u8>, NoAnswer> {
    Err(NoAnswer::Silent("a problem".to_owned()))
}

fn refused() -> Result<Vec<u8>, NoAnswer> {
    Err(NoAnswer::Refused("a problem".to_owned()))
}

#[test]
fn the_first_node_stays_the_first_unless_it_was_silent_a_short_time_ago() {
    let times = |silence| Times { silence, ..times() };
    assert_eq!(asked(Duration::ZERO, silent, 0, times(NEVER)), [1, 3]);
    assert_eq!(asked(Duration::ZERO, silent, 0, times(Duration::ZERO)), [3, 3]);
    assert_eq!(asked(Duration::ZERO, refused, 0, times(NEVER)), [3, 3]);
}

#[test]
fn a_node_that_wasted_time_is_asked_after_the_others_whatever_it_sent() {
    let slow = || Times { silence: Duration::ZERO, slow: PAUSE, penalty: 100_000, ..times() };
    assert_eq!(asked(PAUSE, silent, 0, slow()), [1, 3]);
    assert_eq!(asked(PAUSE, refused, 0, slow()), [1, 3]);
    assert_eq!(asked(PAUSE, || Ok(Vec::new()), 0, slow()), [1, 3]);
    assert_eq!(asked(PAUSE, || Ok(b"usable".to_vec()), 0, slow()), [1, 2]);
    // As many bytes as a slow connection takes some seconds for.
    assert_eq!(asked(PAUSE, || Ok(b"usable".to_vec()), 9 * RATE, slow()), [3, 0]);
}

#[test]
fn a_request_leaves_time_for_nodes_that_wasted_none() {
    let given = Arc::new(Mutex::new(Vec::new()));
    let transports = (0..3).map(|index| {
        let given = Arc::clone(&given);
        let send = move |_: &Call, time: Duration| {
            given.lock().expect("no panic").push((index, time));
            thread::sleep(PAUSE);
            if index < 2 { refused() } else { Ok(Vec::new()) }
        };
        Box::new(send) as TimedTransport
    });
    let minute = Duration::from_secs(60);
    let times = Times { request: minute, ..times() };
    let nodes = nodes(transports.collect(), times);
    let call = Call::json_rpc("get_info", &json!({}), 1);
    let ask = || {
        assert!(nodes.ask(&call, |_| Ok(())).is_ok());
        given.lock().expect("no panic").drain(..).collect::<Vec<_>>()
    };
    let shares = ask();
    assert_eq!(shares.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [0, 1, 2]);
    let times: Vec<Duration> = shares.iter().map(|(_, time)| *time).collect();
    // The others are done sooner, and leave their time to the last one.
    assert!(times[1] < times[0] && times[0] <= minute / 2, "{times:?}");
    assert!(times[2] > times[0] && times[2] < minute, "{times:?}");
    // If all others wasted time before, a node may take all of it: a slow connection is better than none.
    for node in &nodes.nodes {
        node.lock().behind_until = Instant::now().checked_add(NEVER);
    }
    let shares = ask();
    assert!(shares[0].1 > minute / 2, "{shares:?}");
}

#[test]
fn a_request_ends_when_its_time_is_over() {
    let count = Arc::new(AtomicU32::new(0));
    let transports = (0..20).map(|_| {
        let count = Arc::clone(&count);
        let send = move |_: &Call, _| {
            count.fetch_add(1, Ordering::Relaxed);
            thread::sleep(PAUSE);
            refused()
        };
        Box::new(send) as TimedTransport
    });
    let times = Times { request: 3 * PAUSE, ..times() };
    let nodes = nodes(transports.collect(), times);
    let answer = nodes.ask(&Call::json_rpc("get_info", &json!({}), 1), |_| Ok(()));
    let refusal = answer.expect_err("no answer").to_string();
    assert!(refusal.ends_with("there is no time left for other nodes"), "{refusal}");
    assert!(count.load(Ordering::Relaxed) <= 3);
}

#[test]
fn the_parts_of_a_request_share_its_time() {
    let transports = vec![Box::new(|_: &Call, _| Ok(Vec::new())) as TimedTransport];
    let nodes = nodes(transports, Times { request: PAUSE, ..times() });
    let (call, begun) = (Call::json_rpc("get_info", &json!({}), 1), Instant::now());
    thread::sleep(PAUSE);
    let refusal = nodes.ask_since(begun, &call, |_| Ok(())).expect_err("no time").to_string();
    assert_eq!(refusal, "there is no time left for other nodes");
}

#[test]
fn few_threads_wait_for_a_node_that_receives_transactions() {
    let (test, asked) = (thread::current().id(), Arc::new(AtomicU32::new(0)));
    let (release, released) = mpsc::channel::<()>();
    let (count, released) = (Arc::clone(&asked), Mutex::new(released));
    let slow = move |_: &Call, _| {
        if thread::current().id() == test {
            count.fetch_add(1, Ordering::Relaxed);
        } else {
            // Until the test ends.
            let _ = released.lock().expect("no panic").recv();
        }
        refused()
    };
    let fast = |_: &Call, _| Ok(Vec::new());
    let nodes = nodes(vec![Box::new(slow), Box::new(fast)], times());
    let send = || nodes.ask_all(Call::json_rpc("get_info", &json!({}), 1)).next();
    for _ in 0..MOST_SENDING {
        assert_eq!(send(), Some(Ok(Vec::new())));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // The request's own thread sends to this node.
    send();
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    drop(release);
}
