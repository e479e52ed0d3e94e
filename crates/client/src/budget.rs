//! Bounds the memory for answers: each by itself, and all that are read at once to 16 MiB.
//!
//! Answers are read in stages, each with memory of its own. A long answer holds one place in each stage that
//! it reaches. Beyond the first stage, a source has one answer at a time. So one slow source cannot block
//! other sources' answers of up to 2 MiB. A node may serve two sources, as in `randomx guard`. If it
//! is slow for both, it can take both places of a stage. Then other answers wait, perhaps for too long.

use std::io::{self, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

/// Where each stage ends, and how many answers may be in it. Nearly all answers end in the first stage:
/// Monero's blocks have some 30 KB as JSON, and a node sends 8 at once. Larger blocks end in the second, and
/// 1,000 headers in the third. No request allows more than 8 MiB.
const STAGES: [(u64, u64); 4] = [(64 << 10, 80), (256 << 10, 8), (2 << 20, 2), (8 << 20, 1)];

static ALL: Budget = Budget::new(STAGES);

/// Memory that requests share.
struct Budget {
    /// In ascending order. An answer takes a permit of each stage that it reaches, in this order, so no two
    /// answers wait for each other.
    stages: [Stage; 4],
}

/// A part of an answer, from the end of the previous stage on.
struct Stage {
    end: u64,
    permits: Permits,
}

/// A number of permits.
struct Permits {
    free: Mutex<u64>,
    freed: Condvar,
}

/// A permit, until it is dropped.
struct Permit<'a>(&'a Permits);

/// The permit of a source's long answer: one at a time grows beyond the first stage.
pub(crate) struct Turn(Permits);

/// An answer's bytes.
pub(crate) struct Body<'a> {
    bytes: Vec<u8>,
    _permits: Vec<Permit<'a>>,
}

/// The reason why an answer was not read.
#[derive(Debug, Error)]
pub(crate) enum ReadError {
    /// It has more bytes than allowed.
    #[error("expected an answer of at most {limit} bytes, got more")]
    TooLarge {
        /// The most bytes allowed.
        limit: u64,
    },
    /// Other large answers took the memory for too long.
    #[error("no memory for a large answer within {} ms", .0.as_millis())]
    Busy(Duration),
    /// The connection failed.
    #[error("{0}")]
    Connection(#[from] ureq::Error),
}

impl std::ops::Deref for Body<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads an answer of at most `limit` bytes from the source that `turn` belongs to. Waits up to `timeout`
/// for the memory.
pub(crate) fn read<'a>(
    body: &mut ureq::Body,
    limit: u64,
    timeout: Duration,
    turn: &'a Turn,
) -> Result<Body<'a>, ReadError> {
    let reader = body.with_config().limit(limit.saturating_add(1)).reader();
    let (bytes, permits) = ALL.read(reader, limit, timeout, turn)?;
    Ok(Body { bytes, _permits: permits })
}

impl Budget {
    const fn new([first, second, third, last]: [(u64, u64); 4]) -> Budget {
        let stages = [Stage::new(first), Stage::new(second), Stage::new(third), Stage::new(last)];
        Budget { stages }
    }

    /// Reads a body, and waits at each stage for its memory.
    fn read<'a>(
        &'a self,
        mut reader: impl Read,
        limit: u64,
        timeout: Duration,
        turn: &'a Turn,
    ) -> Result<(Vec<u8>, Vec<Permit<'a>>), ReadError> {
        let deadline = Instant::now() + timeout;
        let failed = |problem: io::Error| ReadError::Connection(problem.into());
        let (mut bytes, mut permits) = (Vec::new(), Vec::new());
        for (index, stage) in self.stages.iter().enumerate() {
            let own = (index == 1).then_some(&turn.0);
            for needed in own.into_iter().chain([&stage.permits]) {
                permits.push(needed.take(deadline).ok_or(ReadError::Busy(timeout))?);
            }
            let end = limit.min(stage.end);
            let left = end.saturating_sub(bytes.len() as u64);
            // A vector that grows on its own may take twice its length, and the permits are for no more than that.
            bytes.try_reserve_exact(left as usize).map_err(|problem| failed(problem.into()))?;
            reader.by_ref().take(left).read_to_end(&mut bytes).map_err(failed)?;
            if (bytes.len() as u64) < end {
                return Ok((bytes, permits));
            }
            if end == limit {
                break;
            }
        }
        if reader.read(&mut [0]).map_err(failed)? > 0 {
            return Err(ReadError::TooLarge { limit: bytes.len() as u64 });
        }
        Ok((bytes, permits))
    }
}

impl Stage {
    const fn new((end, permits): (u64, u64)) -> Stage {
        Stage { end, permits: Permits::new(permits) }
    }
}

impl Permits {
    const fn new(count: u64) -> Permits {
        Permits { free: Mutex::new(count), freed: Condvar::new() }
    }

    /// Waits for a permit. `None` if there is none before the deadline.
    fn take(&self, deadline: Instant) -> Option<Permit<'_>> {
        let mut free = self.lock();
        while *free == 0 {
            let patience = deadline.checked_duration_since(Instant::now())?;
            free =
                self.freed.wait_timeout(free, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= 1;
        Some(Permit(self))
    }

    /// Locks the number, also after a panic of another thread: it changes in one step.
    fn lock(&self) -> MutexGuard<'_, u64> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *self.0.lock() += 1;
        self.0.freed.notify_one();
    }
}

impl Default for Turn {
    fn default() -> Turn {
        Turn(Permits::new(1))
    }
}

#[cfg(test)]
impl Turn {
    pub(crate) fn is_taken(&self) -> bool {
        *self.0.lock() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    const SOON: Duration = Duration::from_millis(50);
    const MINUTE: Duration = Duration::from_secs(60);

    /// Returns short stages. So many answers may be in the first.
    fn budget(first: u64) -> Budget {
        Budget::new([(1000, first), (10_000, 2), (100_000, 1), (1_000_000, 1)])
    }

    fn free(budget: &Budget) -> [u64; 4] {
        budget.stages.each_ref().map(|stage| *stage.permits.lock())
    }

    #[test]
    fn the_stages_of_all_answers_together_have_16_mib() {
        let begins = [0].into_iter().chain(STAGES.map(|(end, _)| end));
        let sizes = begins.zip(STAGES).map(|(begin, (end, permits))| (end - begin) * permits);
        assert_eq!(sizes.sum::<u64>(), 16 << 20);
    }

    #[test]
    fn limits_are_inclusive() {
        let (budget, turn) = (budget(1), Turn::default());
        for limit in [0, 1, 100, 999, 1000, 1001, 10_000, 10_001, 300_000, 1_000_000] {
            let exact = vec![7; limit as usize];
            let (bytes, permits) = budget.read(&exact[..], limit, SOON, &turn).expect("it fits");
            assert_eq!(bytes, exact);
            assert!(bytes.capacity() as u64 <= limit, "the permits are for no more");
            assert_eq!(free(&budget)[0], 0);
            drop(permits);
            let longer = vec![7; limit as usize + 1];
            let read = budget.read(&longer[..], limit, SOON, &turn).map(|_| ());
            assert!(matches!(read, Err(ReadError::TooLarge { limit: named }) if named == limit));
            assert_eq!(free(&budget), [1, 2, 1, 1]);
        }
    }

    #[test]
    fn short_answers_do_not_wait_for_long_ones() {
        let (budget, turns) = (budget(3), [(); 3].map(|()| Turn::default()));
        let long = vec![7; 800_000];
        let read =
            |bytes, source: usize| budget.read(&long[..bytes], 800_000, SOON, &turns[source]);
        let longest = read(800_000, 0).expect("it fits");
        assert!(matches!(read(800_000, 1), Err(ReadError::Busy(_))));
        assert!(read(10_000 - 1, 1).is_ok());
        let second = read(9000, 1).expect("it fits");
        // Two long answers are in memory, and all but the shortest wait.
        assert!(matches!(read(9000, 2), Err(ReadError::Busy(_))));
        assert!(read(999, 2).is_ok());
        drop((longest, second));
        assert!(read(800_000, 2).is_ok());
        assert_eq!(free(&budget), [3, 2, 1, 1]);
    }

    #[test]
    fn a_source_has_one_long_answer_at_a_time() {
        let (budget, turns) = (budget(3), [(); 2].map(|()| Turn::default()));
        let long = vec![7; 9000];
        let read = |bytes, source: usize| budget.read(&long[..bytes], 9000, SOON, &turns[source]);
        let first = read(9000, 0).expect("it fits");
        assert!(matches!(read(9000, 0), Err(ReadError::Busy(_))));
        assert!(read(999, 0).is_ok());
        assert!(read(9000, 1).is_ok());
        drop(first);
        assert!(read(9000, 0).is_ok());
    }

    /// Counts the bytes that readers on many threads have in memory.
    struct Counted<'a> {
        left: u64,
        read: u64,
        held: &'a AtomicU64,
        most: &'a AtomicU64,
    }

    impl Read for Counted<'_> {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            let count = (bytes.len() as u64).min(self.left).min(8192);
            self.left -= count;
            self.read += count;
            let held = self.held.fetch_add(count, Ordering::Relaxed) + count;
            self.most.fetch_max(held, Ordering::Relaxed);
            Ok(count as usize)
        }
    }

    #[test]
    fn all_answers_together_stay_within_the_budget() {
        // 8 of the first stage.
        const TOTAL: u64 = 8 * 1000 + 2 * 9000 + 90_000 + 900_000;
        let (budget, turns) = (budget(8), [(); 16].map(|()| Turn::default()));
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for (thread, turn) in (0..16_u64).zip(&turns) {
                let (budget, held, most) = (&budget, &held, &most);
                scope.spawn(move || {
                    for round in 0..20 {
                        let left = (thread * 20 + round) * 9973 % 1_000_000;
                        let mut reader = Counted { left, read: 0, held, most };
                        let read = budget.read(&mut reader, 1_000_000, MINUTE, turn);
                        let read = read.expect("its turn");
                        assert_eq!(read.0.len() as u64, left);
                        held.fetch_sub(reader.read, Ordering::Relaxed);
                        drop(read);
                    }
                });
            }
        });
        assert_eq!(free(&budget), [8, 2, 1, 1]);
        let most = most.load(Ordering::Relaxed);
        assert!(most > TOTAL / 4 && most <= TOTAL, "{most}");
    }
}
