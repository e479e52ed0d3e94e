//! Which node is asked, and how long.

use std::io;
use std::iter;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::thread;

use randomx_monero::{Block, Network};
use randomx_testing::blocks::block_with;

use super::times::RATE;
use super::together::MOST_SENDING;
use super::*;
use crate::archive::Archive;
use crate::chain::{Chain, View};
use crate::epee::Writer;
use crate::service::Service;
use crate::verified::Verified;
use crate::{fees, local};

const NEVER: Duration = Duration::from_secs(3600);

/// The time that a slow node takes.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns times that have no consequences.
fn times() -> Times {
    Times { request: NEVER, silence: NEVER, slow: NEVER, penalty: 1, late: NEVER }
}

fn nodes(transports: Vec<TimedTransport>, times: Times) -> Nodes {
    let journal = Journal::new(Box::new(|_| {}), Box::new(|_| Err(io::Error::other(""))));
    let names = (0..).map(|index: u32| index.to_string());
    Nodes { times, ..Nodes::with_timed(names.zip(transports), Arc::new(journal)) }
}

/// Asks two nodes three times. Both take a time, and then the first gives this answer, and the second one of
/// use for an hour: a busy machine may hold it up too. Returns how often each is asked.
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
            thread::sleep(pause);
            if index > 0 { Ok(b"usable".to_vec()) } else { answer() }
        };
        Box::new(send) as TimedTransport
    });
    let nodes = nodes(transports.collect(), times);
    for _ in 0..3 {
        let judge = |name: &str, answer: &[u8]| match answer {
            b"usable" if name == "0" => Ok(((), useful)),
            b"usable" => Ok(((), NEVER.as_secs() * RATE)),
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
        assert!(nodes.ask(Instant::now(), &call, |_| Ok(())).is_ok());
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
    let answer = nodes.ask(Instant::now(), &Call::json_rpc("get_info", &json!({}), 1), |_| Ok(()));
    let refusal = answer.expect_err("no answer").to_string();
    assert!(refusal.ends_with("there is no time left for other nodes"), "{refusal}");
    assert!(count.load(Ordering::Relaxed) <= 3);
}

#[test]
fn the_parts_of_a_request_share_its_time() {
    let send = |_: &Call, time| {
        assert_eq!(time, Duration::ZERO);
        Ok(Vec::new())
    };
    let nodes = nodes(vec![Box::new(send)], Times { request: PAUSE, ..times() });
    let (call, begun) = (Call::json_rpc("get_info", &json!({}), 1), Instant::now());
    thread::sleep(PAUSE);
    let refusal = nodes.ask(begun, &call, |_| Ok(())).expect_err("no time").to_string();
    assert_eq!(refusal, "there is no time left for other nodes");
    let refusal = nodes.ask_two(begun, &call, |_| Ok(())).expect_err("no time").to_string();
    assert_eq!(refusal, "there is no time left for other nodes");
    // A transaction is sent in any case.
    assert_eq!(nodes.ask_all(begun, call).collect::<Vec<_>>(), [Ok(Vec::new())]);
}

/// The numbers of the nodes that were asked, and the times that they were given.
type Given = Arc<Mutex<Vec<(usize, Duration)>>>;

/// A node's answer, given the time for it.
type Answer = fn(Duration) -> Result<Vec<u8>, NoAnswer>;

/// Returns nodes that answer in these ways, and what they were given. The last `late` of them wasted time a short
/// time ago.
fn comparable(answers: Vec<Answer>, late: usize, times: Times) -> (Nodes, Given) {
    let given = Given::default();
    let count = answers.len();
    let transports = answers.into_iter().enumerate().map(|(index, answer)| {
        let given = Arc::clone(&given);
        let send = move |_: &Call, time: Duration| {
            given.lock().expect("no panic").push((index, time));
            answer(time)
        };
        Box::new(send) as TimedTransport
    });
    let nodes = nodes(transports.collect(), times);
    for (node, hours) in nodes.nodes[count - late..].iter().zip(1..) {
        node.lock().behind_until = Instant::now().checked_add(hours * NEVER);
    }
    (nodes, given)
}

/// Asks two nodes. Returns the number of results, and what the nodes were given, in their order.
fn compare((nodes, given): &(Nodes, Given)) -> (Option<usize>, Vec<(usize, Duration)>) {
    let judge = |answer: &[u8]| Ok(answer.to_vec());
    let values = nodes.ask_two(Instant::now(), &Call::json_rpc("get_info", &json!({}), 1), judge);
    let mut given: Vec<_> = given.lock().expect("no panic").drain(..).collect();
    given.sort_unstable();
    (values.ok().map(|values| values.len()), given)
}

#[test]
fn an_answer_is_not_held_for_long_by_nodes_that_wasted_time() {
    const MINUTE: Duration = Duration::from_secs(60);
    const LATE: Duration = Duration::from_secs(5);
    let times = Times { request: MINUTE, late: LATE, ..times() };
    let usable = |_| Ok(Vec::new());
    let asked = |answers: Vec<_>, late| {
        let (count, given) = compare(&comparable(answers, late, times));
        // Whether each got no more than the short time.
        (count, given.into_iter().map(|(node, time)| (node, time <= LATE)).collect::<Vec<_>>())
    };
    assert_eq!(asked(vec![usable, usable], 1), (Some(2), vec![(0, false), (1, true)]));
    // It stands in for the one that fails.
    let refuses = |_| refused();
    let expected = (Some(2), vec![(0, false), (1, false), (2, true)]);
    assert_eq!(asked(vec![usable, refuses, usable], 1), expected);
    assert_eq!(asked(vec![usable; 3], 1), (Some(2), vec![(0, false), (1, false)]));
    // Without another answer, a slow one is better than none.
    assert_eq!(asked(vec![refuses, usable], 1), (Some(1), vec![(0, false), (1, false)]));
    assert_eq!(asked(vec![usable; 2], 2), (Some(2), vec![(0, false), (1, false)]));
    // All of them together.
    let times = Times { late: PAUSE, ..times };
    let slow = |time| {
        thread::sleep(time);
        silent()
    };
    let (count, given) = compare(&comparable(vec![usable, slow, usable, usable], 3, times));
    assert_eq!((count, given.len()), (Some(1), 2), "{given:?}");
}

#[test]
fn a_slow_node_leaves_time_for_those_that_wasted_some() {
    let slow = |time| {
        thread::sleep(time);
        Ok(Vec::new())
    };
    for late in [PAUSE, NEVER] {
        let times = Times { request: 10 * PAUSE, late, ..times() };
        let (_, given) = compare(&comparable(vec![slow, |_| refused()], 1, times));
        let left = late.min(5 * PAUSE);
        assert!(given[0].1 <= 10 * PAUSE - left, "{given:?}");
    }
}

#[test]
fn a_node_that_others_left_little_time_is_still_compared() {
    // A liar takes the time of each request, so that an honest node seems to be silent.
    let cut_off = |time| {
        thread::sleep(time);
        silent()
    };
    let compared =
        comparable(vec![|_| Ok(Vec::new()), cut_off], 0, Times { request: PAUSE, ..times() });
    assert_eq!(compare(&compared).0, Some(1));
    assert_eq!(compared.0.nodes[1].behind(), Duration::ZERO);
    // Its own doing: it closes the connection, or takes long.
    let compared = comparable(vec![|_| Ok(Vec::new()), |_| silent()], 0, times());
    assert_eq!(compare(&compared).0, Some(1));
    assert_ne!(compared.0.nodes[1].behind(), Duration::ZERO);
    let times = Times { request: PAUSE, slow: PAUSE, penalty: 100_000, ..times() };
    let compared = comparable(vec![|_| Ok(Vec::new()), cut_off], 0, times);
    assert_eq!(compare(&compared).0, Some(1));
    assert_ne!(compared.0.nodes[1].behind(), Duration::ZERO);
}

/// Returns a guard that has proven a block at the height 1, and does not find it by its id. For each answer its
/// node takes as long as all of them may take together. Returns the block's id, and the methods of the calls
/// as well.
fn late() -> (Service, Hash, Arc<Mutex<Vec<String>>>) {
    let blob = block_with(1, 1, &[0; 32], 0, 600_000_000_000, &[]);
    let block = Block::parse(&blob).expect("a block");
    let id = block.id();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&calls);
    let send = move |call: &Call, _| {
        noted.lock().expect("no panic").push(call.method.clone());
        thread::sleep(PAUSE);
        match call.method.as_str() {
            "getblocks_by_height.bin" => {
                let mut writer = Writer::new();
                writer.bytes("status", b"OK");
                writer.objects("blocks", 1, |writer, _| writer.bytes("block", &blob));
                Ok(writer.finish())
            }
            "get_block_header_by_hash" => {
                let answer = json!({ "result": { "block_header": { "height": 1 } } });
                Ok(answer.to_string().into())
            }
            _ => refused(),
        }
    };
    let nodes = nodes(vec![Box::new(send)], Times { request: PAUSE, ..times() });
    let archive = Archive::new(PathBuf::new(), Duration::ZERO);
    let verified = Verified { id, blob: block.hashing_blob().clone(), work: None };
    archive.hold(0, vec![verified.clone(), verified]);
    let journal = Arc::clone(&nodes.journal);
    let service = Service::new(Chain::new(Arc::new(archive)), nodes, journal);
    (service, id, calls)
}

#[test]
fn an_estimate_and_the_blocks_that_limit_it_share_their_time() {
    let (service, id, calls) = late();
    // Its newest block.
    service.chain.show(View::of_base((1, id), Network::Regtest));
    assert!(fees::estimate(&service, Instant::now(), None).is_ok());
    assert!(!calls.lock().expect("no panic").contains(&"get_fee_estimate".to_owned()));
}

#[test]
fn a_block_and_its_height_share_their_time() {
    let (service, id, calls) = late();
    service.chain.show(View::of_base((2, [7; 32]), Network::Regtest));
    let refusal =
        local::answer(&service, Instant::now(), "get_block", &json!({ "hash": hex::encode(id) }));
    assert!(refusal.is_err());
    assert!(!calls.lock().expect("no panic").contains(&"get_block".to_owned()));
}

/// Sends as many transactions as threads may wait for the first node, and then another one. The first node answers
/// no other thread than this one. Returns the answers to the last transaction, and how often this thread asked
/// the first node.
fn sent_at_last(others: Vec<TimedTransport>) -> (Vec<Result<Vec<u8>, String>>, u32) {
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
    let is_alone = others.is_empty();
    let transports = iter::once(Box::new(slow) as TimedTransport).chain(others);
    let nodes = nodes(transports.collect(), times());
    let send = || nodes.ask_all(Instant::now(), Call::json_rpc("get_info", &json!({}), 1));
    for _ in 0..MOST_SENDING {
        let mut answers = send();
        assert!(is_alone || answers.next() == Some(Ok(Vec::new())));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    let answers = send().collect();
    drop(release);
    (answers, asked.load(Ordering::Relaxed))
}

#[test]
fn few_threads_wait_for_a_node_that_receives_transactions() {
    // The request's own thread sends to this node.
    assert_eq!(sent_at_last(Vec::new()), (vec![Err("0: a problem".to_owned())], 1));
}

#[test]
fn an_accepted_transaction_does_not_wait_for_a_node_whose_threads_are_busy() {
    let (answers, asked) = sent_at_last(vec![Box::new(|_: &Call, _| Ok(Vec::new()))]);
    assert_eq!(answers, [Ok(Vec::new()), Err("0: no thread is free for it".to_owned())]);
    assert_eq!(asked, 0);
}
