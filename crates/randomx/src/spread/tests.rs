use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;

/// The pieces 0, 1, 2 and so on.
struct Numbers {
    left: Mutex<VecDeque<u64>>,
    free: Mutex<Vec<usize>>,
}

impl Numbers {
    fn new(count: u64) -> Numbers {
        Numbers { left: Mutex::new((0..count).collect()), free: Mutex::new(Vec::new()) }
    }
}

impl Source for Numbers {
    type Piece = u64;

    fn next(&self, free: usize) -> Option<u64> {
        lock(&self.free).push(free);
        lock(&self.left).pop_front()
    }

    fn close(&self) {
        lock(&self.left).clear();
    }
}

/// Pieces that a test sends; waits for them.
struct Queue {
    pieces: Mutex<(VecDeque<u64>, bool)>,
    changed: Condvar,
}

impl Queue {
    fn new() -> Queue {
        Queue { pieces: Mutex::new((VecDeque::new(), false)), changed: Condvar::new() }
    }

    fn push(&self, piece: u64) {
        lock(&self.pieces).0.push_back(piece);
        self.changed.notify_all();
    }
}

impl Source for Queue {
    type Piece = u64;

    fn next(&self, _: usize) -> Option<u64> {
        let waits = |(pieces, closed): &mut (VecDeque<u64>, bool)| pieces.is_empty() && !*closed;
        let mut state = self.changed.wait_while(lock(&self.pieces), waits).expect("no panic");
        state.0.pop_front()
    }

    fn close(&self) {
        *lock(&self.pieces) = (VecDeque::new(), true);
        self.changed.notify_all();
    }
}

fn pause(microseconds: u8) {
    if microseconds > 0 {
        thread::sleep(Duration::from_micros(microseconds.into()));
    }
}

/// The effect of a piece on the run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Fine,
    WorkFails,
    DeliveryFails,
    WorkPanics,
    DeliveryPanics,
    Cancels,
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        60 => Just(Fate::Fine),
        1 => Just(Fate::WorkFails),
        1 => Just(Fate::DeliveryFails),
        1 => Just(Fate::WorkPanics),
        1 => Just(Fate::DeliveryPanics),
        1 => Just(Fate::Cancels),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any threads, delays and failures: the results are the first pieces in order, all of them
    /// if nothing failed, and the outcome is one of the failures.
    #[test]
    fn results_come_in_order_and_failures_end_the_run(
        pieces in proptest::collection::vec((fate(), 0..100u8, 0..60u8), 0..80),
        threads in 1..9usize,
        ahead in 0..20usize,
    ) {
        let source = Numbers::new(pieces.len() as u64);
        let mut workers = vec![Vec::new(); threads];
        let (in_work, most_ahead) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let mut delivered = Vec::new();
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            spread(&mut workers, &source, ahead, |worker: &mut Vec<u64>, piece| {
                most_ahead.fetch_max(in_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                worker.push(piece);
                let (fate, delay, _) = pieces[piece as usize];
                pause(delay);
                match fate {
                    Fate::WorkFails => Err(piece),
                    Fate::WorkPanics => panic::resume_unwind(Box::new(piece)),
                    Fate::Cancels => {
                        source.close();
                        Ok(piece)
                    }
                    _ => Ok(piece),
                }
            }, |piece| {
                in_work.fetch_sub(1, Ordering::SeqCst);
                let (fate, _, delay) = pieces[piece as usize];
                pause(delay);
                match fate {
                    Fate::DeliveryFails => return Err(piece),
                    Fate::DeliveryPanics => panic::resume_unwind(Box::new(piece)),
                    _ => delivered.push(piece),
                }
                Ok(())
            })
        }));

        let in_order: Vec<u64> = (0..delivered.len() as u64).collect();
        prop_assert_eq!(&delivered, &in_order);
        let most_ahead = most_ahead.into_inner();
        prop_assert!(most_ahead <= ahead.max(threads), "{} pieces ahead", most_ahead);
        let mut worked: Vec<u64> = workers.concat();
        worked.sort_unstable();
        prop_assert!(worked.iter().copied().eq(0..worked.len() as u64), "each piece once");

        let fates = || worked.iter().map(|&piece| pieces[piece as usize].0);
        let fate_of = |piece: u64| pieces[piece as usize].0;
        match outcome {
            Ok(Ok(())) => {
                prop_assert_eq!(delivered.len(), worked.len());
                prop_assert!(fates().all(|fate| matches!(fate, Fate::Fine | Fate::Cancels)));
                let cancelled = fates().any(|fate| fate == Fate::Cancels);
                prop_assert!(cancelled || worked.len() == pieces.len());
            }
            Ok(Err(piece)) => {
                prop_assert!(matches!(fate_of(piece), Fate::WorkFails | Fate::DeliveryFails));
                // Neither the failed piece nor a later one was delivered.
                prop_assert!(delivered.len() as u64 <= piece);
            }
            Err(cause) => {
                let piece = *cause.downcast::<u64>().expect("one of these panics");
                prop_assert!(matches!(fate_of(piece), Fate::WorkPanics | Fate::DeliveryPanics));
            }
        }
    }
}

fn all_of<W: Send>(workers: &mut [W], source: &Numbers) -> Vec<u64> {
    let mut results = Vec::new();
    let outcome = spread(
        workers,
        source,
        8,
        |_, piece| Ok::<_, Infallible>(piece),
        |piece| {
            results.push(piece);
            Ok(())
        },
    );
    let Ok(()) = outcome;
    results
}

#[test]
fn without_workers_nothing_is_taken() {
    let source = Numbers::new(3);
    assert_eq!(all_of::<()>(&mut [], &source), [0; 0]);
    assert_eq!(lock(&source.left).len(), 3);
}

#[test]
fn without_pieces_no_second_thread_starts() {
    let source = Numbers::new(0);
    assert_eq!(all_of(&mut [(); 4], &source), [0; 0]);
    assert_eq!(*lock(&source.free), [4]);
}

#[test]
fn running_threads_do_the_share_of_threads_that_cannot_start() {
    for workers in [2, 5] {
        let source = Numbers::new(50);
        let mut delivered = 0;
        // No system has memory for such a stack.
        let impossible = || thread::Builder::new().stack_size(usize::MAX / 4);
        let own = thread::current().id();
        let outcome = spread_on(
            impossible,
            &mut vec![(); workers],
            &source,
            8,
            |_, piece| {
                if thread::current().id() == own { Ok(piece) } else { Err("another thread") }
            },
            |piece| {
                assert_eq!(piece, delivered);
                delivered += 1;
                Ok(())
            },
        );
        assert_eq!(outcome, Ok(()));
        assert_eq!(delivered, 50);
        // At first all workers are free, then only the one with a thread.
        let free = lock(&source.free);
        assert_eq!((free[0], &free[1..]), (workers, &[1; 50][..]));
    }
}

#[test]
fn the_source_is_asked_until_it_has_no_more() {
    let source = Numbers::new(100);
    assert_eq!(all_of(&mut [(); 4], &source).len(), 100);
    assert_eq!(lock(&source.free).len(), 101);
}

/// Waits for other threads. A defect ends the wait, so that the test fails.
fn wait_until(is_true: impl Fn() -> bool) {
    for _ in 0..30_000 {
        if is_true() {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn workers_with_a_piece_are_not_free() {
    let source = Numbers::new(2);
    let outcome = spread(
        &mut [(); 2],
        &source,
        8,
        |_, piece| {
            wait_until(|| piece > 0 || lock(&source.free).len() > 1);
            Ok::<_, Infallible>(())
        },
        |()| Ok(()),
    );
    let Ok(()) = outcome;
    assert_eq!(lock(&source.free)[..2], [2, 1]);
}

#[test]
fn nothing_is_delivered_after_a_failure() {
    let source = Queue::new();
    source.push(0);
    source.push(1);
    let mut delivered = 0;
    let outcome = spread(
        &mut [(); 2],
        &source,
        8,
        |_, piece| match piece {
            // The failure closes the source.
            0 => {
                wait_until(|| lock(&source.pieces).1);
                Ok(())
            }
            _ => Err("an error"),
        },
        |()| {
            delivered += 1;
            Ok(())
        },
    );
    assert_eq!((outcome, delivered), (Err("an error"), 0));
}

#[test]
fn the_first_result_is_delivered_while_the_source_waits_for_more() {
    let source = Queue::new();
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let run = scope.spawn(|| {
            spread(&mut [(); 3], &source, 8, |_, piece| Ok(piece), |piece| sender.send(piece))
        });
        for piece in 0..5 {
            source.push(piece);
            assert_eq!(receiver.recv_timeout(Duration::from_secs(30)), Ok(piece));
        }
        source.close();
        assert_eq!(run.join().expect("no panic"), Ok(()));
    });
}

#[test]
fn errors_and_panics_wake_threads_that_wait_for_the_source() {
    for panics in [false, true] {
        let source = Queue::new();
        source.push(0);
        source.push(1);
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            spread(
                &mut [(); 3],
                &source,
                8,
                |_, piece| match piece {
                    0 => Ok(()),
                    _ if panics => panic::resume_unwind(Box::new("a panic")),
                    _ => {
                        // Gives the other threads time to begin waiting.
                        thread::sleep(Duration::from_millis(20));
                        Err("an error")
                    }
                },
                |()| Ok(()),
            )
        }));
        match outcome {
            Ok(outcome) => assert_eq!((outcome, panics), (Err("an error"), false)),
            Err(cause) => assert_eq!(cause.downcast_ref(), Some(&"a panic")),
        }
    }
}

#[test]
fn a_panic_of_the_source_continues_in_the_caller() {
    struct Broken;
    impl Source for Broken {
        type Piece = ();

        fn next(&self, _: usize) -> Option<()> {
            panic::resume_unwind(Box::new("broken"))
        }

        fn close(&self) {}
    }
    let outcome = panic::catch_unwind(|| {
        spread(&mut [(); 2], &Broken, 1, |_, ()| Ok::<_, ()>(()), |()| Ok(()))
    });
    assert_eq!(outcome.expect_err("a panic").downcast_ref(), Some(&"broken"));
}

#[test]
fn without_workers_the_source_keeps_its_pieces() {
    let source = Numbers::new(3);
    let mut workers: [(); 0] = [];
    let outcome = spread(&mut workers, &source, 1, |(), _| Err(()), |()| Err(()));
    assert_eq!((outcome, lock(&source.left).len()), (Ok(()), 3));
}

#[test]
fn a_slow_delivery_holds_the_workers_back() {
    let source = Numbers::new(100);
    let (worked, slow) = (AtomicUsize::new(0), AtomicBool::new(true));
    let outcome = spread(
        &mut [(); 4],
        &source,
        6,
        |_, piece| {
            worked.fetch_add(1, Ordering::SeqCst);
            Ok::<_, Infallible>(piece)
        },
        |piece| {
            if slow.swap(false, Ordering::SeqCst) {
                thread::sleep(Duration::from_millis(50));
            }
            let worked = worked.load(Ordering::SeqCst);
            assert!(worked <= piece as usize + 6, "{worked} pieces at the delivery of {piece}");
            Ok(())
        },
    );
    let Ok(()) = outcome;
    assert_eq!(worked.into_inner(), 100);
}
