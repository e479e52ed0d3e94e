use std::{thread, time::Duration};

use Version::{V1, V2};

use super::*;

fn job(key: &str, version: Version, bytes: usize) -> Job<()> {
    Job { key: key.into(), version, input: vec![0; bytes], tag: () }
}

fn turn<'a>(queue: &'a Queue<()>, key: &str, seconds: u64) -> Turn<'a, ()> {
    let until = Instant::now() + Duration::from_secs(seconds);
    Turn { queue, key: key.as_bytes().into(), until, threads: 2, lanes: 8 }
}

/// The version and the numbers of the next piece, with one free worker.
fn take(turn: &Turn<'_, ()>) -> Option<(Version, Vec<u64>)> {
    let (version, jobs) = turn.next(1)?;
    Some((version, jobs.iter().map(|job| job.number).collect()))
}

fn oldest(queue: &Queue<()>) -> Option<String> {
    let key = queue.oldest_key().expect("no error");
    key.map(|key| String::from_utf8_lossy(&key).into_owned())
}

#[test]
fn a_turn_takes_the_jobs_of_its_key_by_version() {
    let jobs = [("b", V2), ("a", V1), ("b", V1), ("", V2), ("b", V2), ("a", V1)];
    let queue = Queue::of(jobs.map(|(key, version)| job(key, version, 0)));
    assert_eq!(oldest(&queue), Some("b".to_owned()));
    let b = turn(&queue, "b", 60);
    assert_eq!(take(&b), Some((V2, vec![0, 4])));
    assert_eq!(take(&b), Some((V1, vec![2])));
    assert_eq!(take(&b), None);
    assert_eq!(oldest(&queue), Some("a".to_owned()));
    assert_eq!(take(&turn(&queue, "a", 60)), Some((V1, vec![1, 5])));
    assert_eq!(take(&turn(&queue, "", 60)), Some((V2, vec![3])));
    assert_eq!(oldest(&queue), None);
}

#[test]
fn an_older_job_ends_an_expired_turn() {
    let queue = Queue::of((0..40).map(|number| job(["a", "b"][number % 2], V1, 0)));
    let over = turn(&queue, "a", 0);
    assert_eq!(take(&over), Some((V1, vec![0, 2, 4, 6, 8, 10, 12, 14])));
    assert_eq!(take(&over), None);
    assert!(take(&turn(&queue, "a", 60)).is_some());
}

#[test]
fn few_jobs_are_divided_among_free_threads() {
    let queue = Queue::of((0..6).map(|_| job("a", V1, 0)));
    let turn = turn(&queue, "a", 60);
    let sizes = [2, 1].map(|free| turn.next(free).map(|(_, jobs)| jobs.len()));
    assert_eq!(sizes, [Some(3), Some(3)]);
}

#[test]
fn an_error_comes_after_the_jobs_before_it() {
    let queue = Queue::new(Limits { jobs: 9, bytes: 9 });
    queue.push(job("a", V1, 0));
    queue.end(Some(Error::NoStart));
    assert_eq!(oldest(&queue), Some("a".to_owned()));
    assert!(take(&turn(&queue, "a", 60)).is_some());
    assert!(matches!(queue.oldest_key(), Err(Error::NoStart)));
}

/// Whether a push waits, and goes on after `free`.
fn waits(queue: &Queue<()>, bytes: usize, free: impl FnOnce()) -> bool {
    thread::scope(|scope| {
        let push = scope.spawn(|| queue.push(job("a", V1, bytes)));
        thread::sleep(Duration::from_millis(50));
        let waits = !push.is_finished();
        free();
        push.join().expect("no panic");
        waits
    })
}

#[test]
fn the_window_is_bounded_until_jobs_are_answered() {
    let queue = Queue::new(Limits { jobs: 3, bytes: 100 });
    assert!(!waits(&queue, 1000, || ()), "a large job fits into an empty window");
    assert!(waits(&queue, 50, || queue.answered(1, 1001)));
    assert!(!waits(&queue, 10, || ()));
    assert!(waits(&queue, 50, || queue.answered(1, 51)));
    assert!(!waits(&queue, 0, || ()));
    // Taking is not answering.
    assert!(waits(&queue, 0, || {
        assert!(take(&turn(&queue, "a", 60)).is_some());
        thread::sleep(Duration::from_millis(50));
        queue.answered(1, 11);
    }));
    assert!(waits(&queue, 0, || queue.close()), "closing ends the wait");
    assert_eq!(oldest(&queue), None);
}
