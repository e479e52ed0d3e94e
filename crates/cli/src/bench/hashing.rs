//! Hashing on several threads for a given time.
//!
//! This does not use [`randomx::spread`]: a rate needs every thread busy from start to end, so each
//! thread counts its own hashes and its own time, and a thread that cannot start is an error.

use std::{io, panic, thread, time::Instant};

use super::measure::{Contestant, Slot, Turn};
use crate::{backend::Hash, error::Error};

/// The size of a Monero hashing blob with up to 127 transactions.
const INPUT_SIZE: usize = 76;

/// The offset of the nonce in a Monero hashing blob.
const NONCE: usize = 39;

pub(crate) type Input = [u8; INPUT_SIZE];

/// One thread's VM, of any implementation.
pub(crate) trait Hasher: Send {
    /// Returns the hashes of all inputs.
    fn hashes(&mut self, inputs: &[Input]) -> Vec<Hash>;
}

/// A contestant in which every hasher has its own thread, and hashes `batch` inputs at a time.
pub(crate) fn contestant<'a, H: Hasher + 'a>(mut hashers: Vec<H>, batch: usize) -> Contestant<'a> {
    Box::new(move |slot: Slot<'_>| {
        if let [alone] = &mut hashers[..] {
            return Ok(hash_during(alone, batch, slot));
        }
        let turns = together(&mut hashers, |hasher| hash_during(hasher, batch, slot))?;
        Ok(Turn {
            rate: turns.iter().map(|turn| turn.rate).sum(),
            time: turns.iter().map(|turn| turn.time).max().unwrap_or_default(),
        })
    })
}

/// Runs `work` for each worker on its own thread, and waits for all.
pub(crate) fn together<W: Send, T: Send>(
    workers: &mut [W],
    work: impl Fn(&mut W) -> T + Sync,
) -> Result<Vec<T>, Error> {
    let count = workers.len();
    let work = &work;
    thread::scope(|scope| {
        let threads = workers
            .iter_mut()
            .map(|worker| thread::Builder::new().spawn_scoped(scope, move || work(worker)))
            .collect::<io::Result<Vec<_>>>()
            .map_err(|problem| Error::Threads { threads: count, problem })?;
        let joined = threads.into_iter().map(|thread| thread.join());
        Ok(joined.map(|turn| turn.unwrap_or_else(|cause| panic::resume_unwind(cause))).collect())
    })
}

/// Inputs with consecutive nonces.
pub(crate) fn inputs(first: u32, count: usize) -> Vec<Input> {
    (0..count)
        .map(|number| {
            let nonce = first.wrapping_add(number as u32);
            let mut input = [0x5a; INPUT_SIZE];
            input[NONCE..NONCE + 4].copy_from_slice(&nonce.to_le_bytes());
            input
        })
        .collect()
}

fn hash_during(hasher: &mut impl Hasher, batch: usize, slot: Slot<'_>) -> Turn {
    let start = Instant::now();
    let mut done = 0;
    loop {
        hasher.hashes(&inputs(done as u32, batch));
        done += batch;
        let elapsed = start.elapsed();
        if slot.is_over(elapsed) {
            return Turn { rate: done as f64 / elapsed.as_secs_f64(), time: elapsed };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use super::*;

    /// Counts hashes, and takes a millisecond for each.
    struct Sleeper<'a>(&'a AtomicUsize);

    impl Hasher for Sleeper<'_> {
        fn hashes(&mut self, inputs: &[Input]) -> Vec<Hash> {
            thread::sleep(Duration::from_millis(inputs.len() as u64));
            self.0.fetch_add(inputs.len(), Ordering::Relaxed);
            vec![[0; 32]; inputs.len()]
        }
    }

    #[test]
    fn rates_of_threads_add_up() {
        for threads in [1, 4] {
            let count = AtomicUsize::new(0);
            let hashers = (0..threads).map(|_| Sleeper(&count)).collect();
            let slot = Slot { time: Duration::from_millis(40), stopped: &|| false };
            let turn = contestant(hashers, 5)(slot).expect("threads");
            assert!(turn.time >= Duration::from_millis(40));
            let done = count.load(Ordering::Relaxed);
            assert!(done.is_multiple_of(5) && done >= 5 * threads);
            // The threads end within one batch of each other, even if a sleeper wakes late.
            let worked = turn.rate * turn.time.as_secs_f64();
            assert!(worked > 0.8 * done as f64 && worked < 2.0 * done as f64, "{worked} {done}");
        }
    }

    #[test]
    fn inputs_differ() {
        let inputs = inputs(u32::MAX, 2);
        assert_eq!(inputs.len(), 2);
        assert_ne!(inputs[0], inputs[1]);
    }
}
