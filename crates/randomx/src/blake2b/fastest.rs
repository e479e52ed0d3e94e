//! The choice among implementations, by measuring each of them once in a process.
//!
//! Which one is fastest depends on the latencies of shuffles and rotations in vectors: AVX-512 wins on Intel's
//! processors, plain code on AMD's with Zen 5.

use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Blake2b, Words};
use crate::cpu::Cpu;
use crate::once::once;
use crate::turns::shortest_times;

/// Turns of each implementation.
const ROUNDS: usize = 9;

/// Compressions in a turn, each of the one before: a few microseconds.
const CHAIN: usize = 24;

/// Returns the fastest implementation that needs no other extensions than those of `cpu`.
pub(super) fn fastest(cpu: Cpu) -> Blake2b {
    static ORDER: OnceLock<Vec<Blake2b>> = OnceLock::new();
    let order = once(&ORDER, || ordered(Blake2b::all(Cpu::detect()).collect(), time));
    let allowed = order.iter().find(|blake2b| blake2b.runs_on(cpu));
    allowed.copied().unwrap_or(Blake2b::PORTABLE)
}

/// Sorts implementations by their shortest times.
fn ordered(all: Vec<Blake2b>, mut time: impl FnMut(Blake2b) -> Duration) -> Vec<Blake2b> {
    let times = shortest_times(all.len(), ROUNDS, |index| time(all[index]));
    let mut timed: Vec<_> = times.into_iter().zip(all).collect();
    timed.sort_by_key(|(shortest, _)| *shortest);
    timed.into_iter().map(|(_, blake2b)| blake2b).collect()
}

/// Measures a turn.
fn time(blake2b: Blake2b) -> Duration {
    let mut digest = black_box(Words::default());
    let start = Instant::now();
    for _ in 0..CHAIN {
        blake2b.rehash(&mut digest);
    }
    black_box(digest);
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_implementation_comes_first_if_it_is_fastest() {
        let all: Vec<_> = Blake2b::all(Cpu::detect()).collect();
        for &fast in &all {
            let mut turns = 0;
            // A turn of the fastest one is interrupted.
            let time = |blake2b| {
                turns += 1;
                Duration::from_nanos(if blake2b == fast && turns > all.len() { 5 } else { 7 })
            };
            assert_eq!(ordered(all.clone(), time)[0], fast);
        }
    }

    #[test]
    fn the_choice_needs_no_removed_extension() {
        for cpu in Cpu::detect().levels() {
            assert!(fastest(cpu).runs_on(cpu), "{cpu}");
            assert_eq!(fastest(cpu), fastest(cpu));
        }
        assert_eq!(fastest(Cpu::baseline()), Blake2b::PORTABLE);
    }
}
