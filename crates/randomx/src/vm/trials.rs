//! The choice of a plan, by measuring the first hashes.
//!
//! The fastest number of lanes depends on how many reads of memory a processor overlaps, and on how much code it
//! keeps decoded. The fastest prefetches depend on how long it takes to find a page. A VM that may choose tries each
//! candidate on its first inputs, round after round, and goes on with the fastest. The hashes of these inputs are results
//! like all others. VMs of one group and version share the trials, as long as [`Member::rounded_members`] stays the same.
//!
//! [`Member::rounded_members`]: super::group::Member::rounded_members

use std::array;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

use super::group::Group;
use super::plan::Plan;
use super::shared::Shared;
use crate::params::{MAX_LANES, Version};

/// Whether times can be measured. The compiler leaves out of WebAssembly's downloads what that needs.
pub(super) const HAS_CLOCK: bool = !cfg!(target_family = "wasm");

/// The most rounds. In a round each candidate is tried once, so that other load affects all of them. Processors differ in
/// speed, and so do the threads of one core while another program uses it. So a round belongs to one VM, which most
/// callers keep on one thread. A pool has new threads in each call: a round that stayed on its thread would seldom end.
const MOST_ROUNDS: usize = 15;

/// Hashes of each trial, whatever its plan: the times of single hashes differ by their programs.
const HASHES: usize = MAX_LANES;

/// The most candidates.
const MOST: usize = 5;

/// The most rounds that wait for their threads. Threads that end too soon to finish a round would leave more and more.
const MOST_LEFT: usize = 64;

/// The ratio of equal times. Ratios are integers: the caller's floating point environment may differ from the default,
/// and could end the process at the first result that is not exact.
const EQUAL: u128 = 1 << 64;

/// A candidate replaces the expected one only if the ratio of its time to the expected one's is below 98 %.
const FASTER: u128 = EQUAL / 100 * 98;

/// Which trials a VM takes part in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conditions {
    pub(super) group: Group,
    /// The members of the group, as [`Member::rounded_members`] counts them.
    ///
    /// [`Member::rounded_members`]: super::group::Member::rounded_members
    pub(super) members: usize,
    pub(super) version: Version,
}

/// The trials that VMs under the same conditions share.
pub(super) type SharedTrials = Arc<Mutex<Trials>>;

/// Trials of several plans.
#[derive(Debug)]
pub(super) struct Trials {
    /// The expected one comes first.
    candidates: &'static [Plan],
    /// The number of rounds, an odd one.
    rounds: usize,
    /// Rounds that have begun. There may be more than needed, because no VM waits for the round of another.
    begun: usize,
    /// Rounds that VMs have left before their end, at most [`MOST_LEFT`].
    left: Vec<Round>,
    /// Rounds that have ended.
    ended: usize,
    /// The time of each candidate in each round that has ended.
    times: [[Duration; MOST]; MOST_ROUNDS],
}

/// A round that has begun.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The thread on which the round began.
    thread: ThreadId,
    /// The candidate that is tried first. The next round starts with the next candidate.
    first: usize,
    /// The number of candidates tried.
    tried: usize,
    /// The time of each candidate.
    times: [Duration; MOST],
}

/// A VM's part in trials.
#[derive(Debug)]
pub(super) struct Participant {
    trials: SharedTrials,
    /// The VM's present round.
    round: Option<Round>,
}

impl Conditions {
    /// Returns the trials under these conditions, which all VMs of the process share.
    pub(super) fn trials(self) -> SharedTrials {
        static ALL: Shared<Conditions, Mutex<Trials>> = Shared::new();
        ALL.of(self, || Mutex::new(Trials::new(self.candidates(), self.rounds())))
    }

    /// Returns whether only the number of VMs differs.
    pub(super) fn resembles(self, other: Conditions) -> bool {
        self == Conditions { members: self.members, ..other }
    }

    fn candidates(self) -> &'static [Plan] {
        Plan::candidates(self.group.fast, self.version)
    }

    /// Returns the number of rounds. With a dataset, times vary with the load on memory, and hashes are
    /// fast enough for more.
    fn rounds(self) -> usize {
        if self.group.fast { MOST_ROUNDS } else { 7 }
    }
}

impl Trials {
    fn new(candidates: &'static [Plan], rounds: usize) -> Trials {
        let times = [[Duration::MAX; MOST]; MOST_ROUNDS];
        Trials { candidates, rounds, begun: 0, left: Vec::new(), ended: 0, times }
    }

    /// Returns the chosen plan: the expected one, unless another is faster by the margin of [`FASTER`].
    /// Returns `None` until all rounds have ended.
    pub(super) fn choice(&self) -> Option<Plan> {
        let [expected, others @ ..] = self.candidates else { return None };
        if self.has_more() {
            return None;
        }
        let ratios = (1..).zip(others).map(|(candidate, &plan)| (self.ratio(candidate), plan));
        let fast = ratios.filter(|(ratio, _)| *ratio < FASTER);
        let fastest = fast.min_by_key(|(ratio, _)| *ratio);
        Some(fastest.map_or(*expected, |(_, plan)| plan))
    }

    /// Returns a candidate's time relative to the expected one's, in units of 1 / [`EQUAL`]: the median of all rounds.
    fn ratio(&self, candidate: usize) -> u128 {
        let mut ratios = self.times.map(|times| ratio(times[candidate], times[0]));
        let ratios = &mut ratios[..self.rounds];
        ratios.sort_unstable();
        ratios[self.rounds / 2]
    }

    /// Returns whether some rounds have not ended.
    fn has_more(&self) -> bool {
        self.ended < self.rounds
    }

    /// Begins a round on `thread`, or continues one that began there and that its VM has left. Returns `None` if enough
    /// have ended.
    fn begin(&mut self, thread: ThreadId) -> Option<Round> {
        if !self.has_more() {
            return None;
        }
        if let Some(own) = self.left.iter().position(|round| round.thread == thread) {
            return Some(self.left.swap_remove(own));
        }
        // Otherwise threads that all end too soon would never finish a round.
        if self.left.len() == MOST_LEFT {
            return self.left.pop();
        }
        let first = self.begun % self.candidates.len();
        self.begun += 1;
        Some(Round { thread, first, tried: 0, times: [Duration::MAX; MOST] })
    }

    /// Keeps a round that a VM has left, for another one on the thread where it began.
    fn leave(&mut self, round: Round) {
        if self.left.len() < MOST_LEFT {
            self.left.push(round);
        }
    }

    /// Adds the times of a round that has ended.
    fn end(&mut self, round: &Round) {
        if let Some(times) = self.times[..self.rounds].get_mut(self.ended) {
            *times = round.times;
            self.ended += 1;
        }
    }
}

/// Returns `time` relative to `expected`, in units of 1 / [`EQUAL`]. Times of more than 584 years are equal.
fn ratio(time: Duration, expected: Duration) -> u128 {
    let nanoseconds = |time: Duration| time.as_nanos().min(u64::MAX.into());
    (nanoseconds(time) * EQUAL).checked_div(nanoseconds(expected)).unwrap_or(u128::MAX)
}

impl Participant {
    pub(super) fn new(trials: SharedTrials) -> Participant {
        Participant { trials, round: None }
    }

    /// Returns [`Trials::choice`].
    pub(super) fn choice(&self) -> Option<Plan> {
        lock(&self.trials).choice()
    }

    /// Returns whether some rounds have not ended.
    pub(super) fn has_more(&self) -> bool {
        lock(&self.trials).has_more()
    }

    /// Returns the most lanes that a trial on some of `inputs` inputs may need, or 0 if there will be none.
    pub(super) fn most_lanes(&self, inputs: usize) -> usize {
        let trials = lock(&self.trials);
        let lanes = trials.candidates.iter().map(|plan| plan.lanes).max();
        lanes.filter(|_| inputs >= HASHES && trials.has_more()).unwrap_or(0)
    }

    /// Runs trials on the first of a VM's inputs until enough rounds have ended, or fewer than [`HASHES`] inputs are
    /// left. Returns the number of inputs hashed. `inputs` is the number of inputs at hand.
    ///
    /// `hash` hashes the inputs of a range by a plan, and returns `false` if there are fewer lanes. `clock` returns the
    /// time since a fixed moment.
    pub(super) fn measure(
        &mut self,
        inputs: usize,
        clock: impl Fn() -> Duration,
        mut hash: impl FnMut(Plan, Range<usize>) -> bool,
    ) -> usize {
        let mut hashed = 0;
        while inputs - hashed >= HASHES {
            // Other threads go on with their rounds while this one hashes. If `hash` panics, the round is gone.
            let mut trials = lock(&self.trials);
            let present = self.round.take().filter(|_| trials.has_more());
            let Some(mut round) = present.or_else(|| trials.begin(thread::current().id())) else {
                break;
            };
            let candidates = trials.candidates;
            drop(trials);

            let candidate = (round.first + round.tried) % candidates.len();
            let start = clock();
            // Otherwise the time stays the longest one: there is no memory for the lanes.
            if hash(candidates[candidate], hashed..hashed + HASHES) {
                hashed += HASHES;
                round.times[candidate] = clock().saturating_sub(start);
            }
            round.tried += 1;
            if round.tried < candidates.len() {
                self.round = Some(round);
            } else {
                lock(&self.trials).end(&round);
            }
        }
        hashed
    }
}

/// Leaves the present round to another VM on the thread where it began.
impl Drop for Participant {
    fn drop(&mut self) {
        if let Some(round) = self.round.take().filter(|_| HAS_CLOCK) {
            lock(&self.trials).leave(round);
        }
    }
}

/// Returns inputs that no earlier call returned: the processor remembers what a program read, and where it jumped.
pub(super) fn inputs() -> [[u8; 8]; HASHES] {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let group = u64::from(NEXT.fetch_add(1, Ordering::Relaxed)) * HASHES as u64;
    array::from_fn(|index| (group + index as u64).to_le_bytes())
}

/// Returns a clock that stands still while other threads have the processor: otherwise a busy machine
/// would favour short trials.
#[cfg(target_os = "linux")]
pub(super) fn clock() -> impl Fn() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    || clock_gettime(ClockId::ThreadCPUTime).try_into().unwrap_or_default()
}

/// Returns a clock.
#[cfg(not(target_os = "linux"))]
pub(super) fn clock() -> impl Fn() -> Duration {
    let start = Instant::now();
    move || start.elapsed()
}

/// Locks trials. A panic of another thread leaves them usable.
fn lock(trials: &Mutex<Trials>) -> MutexGuard<'_, Trials> {
    trials.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
