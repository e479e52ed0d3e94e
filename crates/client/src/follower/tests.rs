use std::io::{Read, Write};
use std::net::TcpListener;

use randomx_monero::Network;
use randomx_monero::client::SourceState;

use super::*;

/// Reports each call, with the number of inputs.
struct Recorder(Sender<Option<usize>>);

impl Hasher for Recorder {
    fn hash(&mut self, _: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        let _ = self.0.send(Some(inputs.len()));
        Ok(vec![[0; 32]; inputs.len()])
    }

    fn forget(&mut self) {
        let _ = self.0.send(None);
    }
}

/// Returns a follower of a source that it has not asked yet.
fn follower() -> Follower {
    let config = Config::new(Network::Regtest, [1; 32]);
    let address = url::Url::parse("http://127.0.0.1:1").expect("an address");
    let source = Source::relay(&crate::Route::direct(TICK), &address);
    let hasher = Recorder(mpsc::channel().0);
    Follower::new(config, Start::Anchors, vec![source], hasher, None).expect("a start")
}

#[test]
fn a_usable_answer_ends_a_failure() {
    let mut follower = follower();
    let (source, _) = follower.client().sources().next().expect("a source");
    let failures = [(Err(SourceError::NoBlocks), true), (Ok(Answer::Tip(0, [0; 32])), false)];
    for (answer, is_failure) in failures {
        let request = RequestId::from_number(0);
        let _ = follower.event(Happening::Answer(source, request, answer));
        assert_eq!(follower.failure(source).is_some(), is_failure);
    }
}

#[test]
fn what_is_kept_is_forgotten_before_a_fresh_hash() {
    let (jobs, waiting) = mpsc::channel();
    for (number, fresh) in [false, false, true, false, true].into_iter().enumerate() {
        let id = JobId::from_number(number as u64);
        jobs.send(Job { id, key: [0; 32], input: vec![1], fresh }).expect("a receiver");
    }
    drop(jobs);
    let (events, answers) = mpsc::channel();
    let (calls, called) = mpsc::channel();
    serve_hashes(Recorder(calls), &waiting, &events);
    let calls: Vec<_> = called.iter().collect();
    assert_eq!(calls, [Some(2), None, Some(2), None, Some(1)]);
    drop(events);
    assert_eq!(answers.iter().count(), 5);
}

#[test]
fn a_request_that_panics_has_an_answer() {
    let mut follower = follower();
    let (source, _) = follower.client().sources().next().expect("a source");
    let (sender, requests) = mpsc::channel();
    for number in 0..2 {
        sender.send((RequestId::from_number(number), Query::Tip)).expect("a receiver");
    }
    drop(sender);
    let (events, answers) = mpsc::channel();
    serve_source(source, |_| panic!("the request"), &requests, &events);
    drop(events);
    let answers: Vec<_> = answers.iter().map(|answer| follower.event(answer)).collect();
    assert!(matches!(answers[..], [Event::Failed { .. }, Event::Failed { .. }]), "{answers:?}");
    let failure = follower.failure(source).expect("a failure");
    assert!(failure.starts_with("internal error: the request panicked"), "{failure}");
}

#[test]
fn a_hash_that_panics_is_a_failure() {
    /// Its `hash` panics. It reports each call of `forget`.
    struct Panicking(Sender<()>);

    impl Hasher for Panicking {
        fn hash(&mut self, _: &Hash, _: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
            panic!("the hash")
        }

        fn forget(&mut self) {
            let _ = self.0.send(());
        }
    }

    let (jobs, waiting) = mpsc::channel();
    let job = |key| Job { id: JobId::from_number(0), key, input: vec![1], fresh: false };
    for key in [[0; 32], [1; 32]] {
        jobs.send(job(key)).expect("a receiver");
    }
    drop(jobs);
    let (events, answers) = mpsc::channel();
    let (forgets, forgotten) = mpsc::channel();
    serve_hashes(Panicking(forgets), &waiting, &events);
    drop(events);
    let failed = |answer: &Happening| matches!(answer, Happening::Hashed(_, Err(_)));
    assert_eq!(answers.iter().filter(failed).count(), 2);
    assert_eq!(forgotten.iter().count(), 2);
}

/// Serves, as a relay, a chain of one block after the genesis block, and returns its address.
fn serve() -> String {
    let blob = [&[16, 16, 1][..], &Network::Regtest.genesis_id(), &[7; 4], &[7; 32], &[1]].concat();
    let id = randomx_monero::HashingBlob::parse(&blob).expect("a hashing blob").id();
    let tip = format!(r#"{{"height":1,"id":"{}"}}"#, hex::encode(id)).into_bytes();
    let headers = [&[blob.len() as u8][..], &blob].concat();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}", listener.local_addr().expect("an address"));
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut request, mut part) = (Vec::new(), [0; 1024]);
            while !request.ends_with(b"\r\n\r\n") {
                let length = stream.read(&mut part).expect("a request");
                request.extend(&part[..length]);
            }
            let body = if request.starts_with(b"GET /v1/tip ") { &tip } else { &headers };
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
            let head = format!("{head} {}\r\n\r\n", body.len());
            stream.write_all(&[head.as_bytes(), body].concat()).expect("a reader");
        }
    });
    address
}

/// Computes hashes that meet no difficulty but 1.
struct Refuting;

impl Hasher for Refuting {
    fn hash(&mut self, _: &Hash, inputs: &[Vec<u8>]) -> Result<Vec<Hash>, HashError> {
        Ok(vec![[0xff; 32]; inputs.len()])
    }

    fn forget(&mut self) {}
}

#[test]
fn reports_come_with_the_error_of_a_state_that_cannot_be_stored() {
    let folder = tempfile::tempdir().expect("a folder");
    let inner = folder.path().join("store");
    let store = Store::open(&inner).expect("a store");
    let config =
        Config { fixed_difficulty: Some(1 << 100), ..Config::new(Network::Regtest, [1; 32]) };
    let route = crate::Route::direct(Duration::from_secs(10));
    let source = Source::relay(&route, &crate::relay::address(&serve()).expect("an address"));
    let mut follower = Follower::new(config, Start::Anchors, vec![source], Refuting, Some(store))
        .expect("a start");
    // A folder takes the place of the state.
    std::fs::create_dir(inner.join("chain")).expect("a folder");
    let is_lie = |report: &Report| {
        matches!(report, Report::Source { state: SourceState::Invalid { .. }, .. })
    };
    let mut steps = (0..20).map(|_| follower.step());
    let accused = steps.find(|(reports, _)| reports.iter().any(is_lie));
    let (_, outcome) = accused.expect("the block lacks its proof of work");
    let is_unstored =
        |outcome: &_| matches!(outcome, Err(FollowerError::Store(StoreFileError::Write { .. })));
    assert!(is_unstored(&outcome) && follower.client().is_settled(), "{outcome:?}");
    let (_, outcome) = follower.step();
    assert!(is_unstored(&outcome), "{outcome:?}");
    std::fs::remove_dir(inner.join("chain")).expect("removed");
    assert!(follower.step().1.is_ok());
    let stored = std::fs::read(inner.join("chain")).expect("a state");
    assert_eq!(Some(stored), follower.client().save());
}
