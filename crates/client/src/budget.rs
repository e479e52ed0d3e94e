//! Bounds the memory for answers: each by itself, and all that are read at once.

use std::io::{self, Read};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

/// The bytes that every answer may have without waiting for others. Nearly all have fewer: Monero's
/// blocks have some 30 KB as JSON.
const FIRST: u64 = 64 << 10;

/// Bytes of the answers that are in memory at once: the first bytes of 128, as many as 16 nodes can
/// send at once, and one of the largest.
static ALL: Budget = Budget::new(16 << 20);

/// Bytes that requests share.
struct Budget {
    free: Mutex<u64>,
    freed: Condvar,
}

/// Bytes of the budget, until they are dropped.
struct Reserved<'a> {
    budget: &'a Budget,
    bytes: u64,
}

/// An answer's bytes.
pub(crate) struct Body {
    bytes: Vec<u8>,
    _reserved: Reserved<'static>,
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

impl std::ops::Deref for Body {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads an answer of at most `limit` bytes. Waits up to `timeout` for the memory.
pub(crate) fn read(
    body: &mut ureq::Body,
    limit: u64,
    timeout: Duration,
) -> Result<Body, ReadError> {
    let reader = body.with_config().limit(limit.saturating_add(1)).reader();
    let (bytes, reserved) = ALL.read(reader, limit, timeout)?;
    Ok(Body { bytes, _reserved: reserved })
}

impl Budget {
    const fn new(bytes: u64) -> Budget {
        Budget { free: Mutex::new(bytes), freed: Condvar::new() }
    }

    /// Reads a body. Before it grows beyond its first bytes, all that it may have are reserved: of
    /// two that wait for each other's memory neither would end.
    fn read(
        &self,
        mut reader: impl Read,
        limit: u64,
        timeout: Duration,
    ) -> Result<(Vec<u8>, Reserved<'_>), ReadError> {
        let deadline = Instant::now() + timeout;
        let busy = || ReadError::Busy(timeout);
        let failed = |problem: io::Error| ReadError::Connection(problem.into());
        let first = limit.min(FIRST);
        let mut reserved = self.reserve(first, deadline).ok_or_else(busy)?;
        let mut bytes = Vec::new();
        reader.by_ref().take(first).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 == first && limit > first {
            let rest = self.reserve(limit - first, deadline).ok_or_else(busy)?;
            reserved.merge(rest);
            reader.by_ref().take(limit - first).read_to_end(&mut bytes).map_err(failed)?;
        }
        if bytes.len() as u64 == limit && reader.read(&mut [0]).map_err(failed)? > 0 {
            return Err(ReadError::TooLarge { limit });
        }
        Ok((bytes, reserved))
    }

    fn reserve(&self, bytes: u64, deadline: Instant) -> Option<Reserved<'_>> {
        let mut free = lock(&self.free);
        while *free < bytes {
            let patience = deadline.checked_duration_since(Instant::now())?;
            free =
                self.freed.wait_timeout(free, patience).unwrap_or_else(PoisonError::into_inner).0;
        }
        *free -= bytes;
        Some(Reserved { budget: self, bytes })
    }
}

impl Reserved<'_> {
    fn merge(&mut self, mut other: Self) {
        self.bytes += std::mem::take(&mut other.bytes);
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        *lock(&self.budget.free) += self.bytes;
        self.budget.freed.notify_all();
    }
}

/// Locks the number, also after a panic of another thread: it changes in one step.
fn lock(free: &Mutex<u64>) -> MutexGuard<'_, u64> {
    free.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::thread;

    use super::*;

    const SOON: Duration = Duration::from_millis(50);

    fn free(budget: &Budget) -> u64 {
        *lock(&budget.free)
    }

    #[test]
    fn limits_are_inclusive() {
        let budget = Budget::new(1 << 20);
        for limit in [0, 1, 100, FIRST - 1, FIRST, FIRST + 1, 300_000] {
            let exact = vec![7; limit as usize];
            let (bytes, reserved) = budget.read(&exact[..], limit, SOON).expect("it fits");
            assert_eq!(bytes, exact);
            assert!(free(&budget) <= (1 << 20) - limit);
            drop(reserved);
            let longer = vec![7; limit as usize + 1];
            let read = budget.read(&longer[..], limit, SOON).map(|_| ());
            assert!(matches!(read, Err(ReadError::TooLarge { limit: named }) if named == limit));
            assert_eq!(free(&budget), 1 << 20);
        }
    }

    #[test]
    fn short_answers_do_not_wait_for_a_long_one() {
        let budget = Budget::new(1_000_000);
        let long = vec![7; 800_000];
        let first = budget.read(&long[..], 800_000, SOON).expect("it fits");
        let read = budget.read(&long[..], 800_000, SOON);
        assert!(matches!(read, Err(ReadError::Busy(_))));
        assert!(budget.read(&long[..1000], 800_000, SOON).is_ok());
        drop(first);
        assert!(budget.read(&long[..], 800_000, SOON).is_ok());
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
        const TOTAL: u64 = 4 << 20;
        let budget = Budget::new(TOTAL);
        let (held, most) = (AtomicU64::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for thread in 0..16_u64 {
                let (budget, held, most) = (&budget, &held, &most);
                scope.spawn(move || {
                    for round in 0..20 {
                        let left = (thread * 20 + round) * 9973 % (2 << 20);
                        let mut reader = Counted { left, read: 0, held, most };
                        let minute = Duration::from_secs(60);
                        let read = budget.read(&mut reader, 2 << 20, minute).expect("its turn");
                        assert_eq!(read.0.len() as u64, left);
                        held.fetch_sub(reader.read, Ordering::Relaxed);
                        drop(read);
                    }
                });
            }
        });
        assert_eq!(free(&budget), TOTAL);
        let most = most.load(Ordering::Relaxed);
        assert!(most > TOTAL / 4 && most <= TOTAL, "{most}");
    }
}
