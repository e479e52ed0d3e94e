//! The choice of a plan, by measuring the first hashes.
//!
//! The fastest number of lanes depends on how many reads of memory a processor overlaps, and on how much code it
//! keeps decoded. The fastest prefetches depend on how long it takes to find a page. A VM that may choose tries each candidate on its first inputs, in turn, and goes on with
//! the fastest. The hashes of these inputs are results like all others. VMs of one group and version share the trials,
//! as long as [`Member::rounded_members`] stays the same.
//!
//! [`Member::rounded_members`]: super::group::Member::rounded_members

use std::array;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
#[cfg(not(target_os = "linux"))]
use std::time::Instant;

use super::group::Group;
use super::plan::Plan;
use super::shared::Shared;
use crate::params::{MAX_LANES, Version};

/// The most trials of each candidate. In a round the candidates take turns, so that other load affects all of them. VMs
/// on several threads divide a round among them.
const MOST_ROUNDS: usize = 15;

/// Hashes of each trial, whatever its plan: the times of single hashes differ by their programs.
const HASHES: usize = MAX_LANES;

/// The most candidates.
const MOST: usize = 5;

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
    /// Trials of each candidate, an odd number.
    rounds: usize,
    /// Trials that have begun.
    begun: usize,
    /// Trials that have ended.
    ended: usize,
    /// The time of each trial of each round, in the order of the candidates.
    times: [[Duration; MOST]; MOST_ROUNDS],
}

/// A trial that has begun.
#[derive(Clone, Copy)]
struct Trial {
    round: usize,
    candidate: usize,
    plan: Plan,
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
        Trials { candidates, rounds, begun: 0, ended: 0, times }
    }

    /// Returns the chosen plan: the expected one, unless another is faster by the margin of [`FASTER`].
    /// Returns `None` until all trials have ended.
    pub(super) fn choice(&self) -> Option<Plan> {
        let [expected, others @ ..] = self.candidates else { return None };
        if self.ended < self.rounds * self.candidates.len() {
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

    /// Returns whether some trials have not begun.
    pub(super) fn has_more(&self) -> bool {
        self.begun < self.rounds * self.candidates.len()
    }

    /// Begins the next trial. Returns `None` if there were enough, or if `inputs` are too few for one.
    fn begin(&mut self, inputs: usize) -> Option<Trial> {
        let (round, candidate) =
            (self.begun / self.candidates.len(), self.begun % self.candidates.len());
        let plan = self.candidates[candidate];
        if !self.has_more() || inputs < HASHES {
            return None;
        }
        self.begun += 1;
        Some(Trial { round, candidate, plan })
    }

    fn end(&mut self, Trial { round, candidate, .. }: Trial, time: Duration) {
        self.times[round][candidate] = time;
        self.ended += 1;
    }
}

/// Returns `time` relative to `expected`, in units of 1 / [`EQUAL`]. Times of more than 584 years are equal.
fn ratio(time: Duration, expected: Duration) -> u128 {
    let nanoseconds = |time: Duration| time.as_nanos().min(u64::MAX.into());
    (nanoseconds(time) * EQUAL).checked_div(nanoseconds(expected)).unwrap_or(u128::MAX)
}

/// Runs trials on the first of a VM's inputs until all trials have begun, or fewer than [`HASHES`] inputs are left.
/// Returns the number of inputs hashed. `inputs` is the number of inputs at hand.
///
/// `hash` hashes the inputs of a range by a plan, and returns `false` if there are fewer lanes. `clock` returns the time since a fixed moment.
pub(super) fn measure(
    trials: &Mutex<Trials>,
    inputs: usize,
    clock: impl Fn() -> Duration,
    mut hash: impl FnMut(Plan, Range<usize>) -> bool,
) -> usize {
    let mut hashed = 0;
    loop {
        // Other threads go on with their trials while this one hashes.
        let begun = lock(trials).begin(inputs - hashed);
        let Some(trial) = begun else { return hashed };
        // The time stays the longest one if there is no memory for the lanes, or if `hash` panics.
        let mut running = RunningTrial { trials, trial, time: Duration::MAX };
        let start = clock();
        if hash(trial.plan, hashed..hashed + HASHES) {
            hashed += HASHES;
            running.time = clock().saturating_sub(start);
        }
    }
}

/// A trial that ends when this is dropped.
struct RunningTrial<'a> {
    trials: &'a Mutex<Trials>,
    trial: Trial,
    time: Duration,
}

impl Drop for RunningTrial<'_> {
    fn drop(&mut self) {
        lock(self.trials).end(self.trial, self.time);
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
pub(super) fn lock(trials: &Mutex<Trials>) -> MutexGuard<'_, Trials> {
    trials.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;
    use crate::cpu::Cpu;

    const VERSIONS: [Version; 2] = Version::ALL;
    const FOUR_OR_TWO: [Plan; 2] = [Plan::of(4), Plan::of(2)];
    const THREE: [Plan; 3] = [Plan::of(4), Plan::of(1), Plan::of(8)];
    const TWO_OR_EIGHT: [Plan; 2] = [Plan::of(2), Plan::of(8)];

    /// Measures with a clock on which a trial takes as long as `time` says for its plan.
    fn measured(trials: &Mutex<Trials>, calls: &[usize], time: impl Fn(Plan) -> Duration) -> usize {
        let now = Cell::new(Duration::ZERO);
        calls
            .iter()
            .map(|&inputs| {
                measure(
                    trials,
                    inputs,
                    || now.get(),
                    |plan, _| {
                        now.set(now.get() + time(plan));
                        true
                    },
                )
            })
            .sum()
    }

    fn all_conditions() -> impl Iterator<Item = Conditions> {
        let groups = [false, true].map(|fast| Group { fast, cpu: Cpu::baseline() });
        groups.into_iter().flat_map(|group| {
            let of = move |members| VERSIONS.map(|version| Conditions { group, members, version });
            [1, 2].into_iter().flat_map(of)
        })
    }

    #[test]
    fn each_candidate_is_chosen_where_it_is_fastest() {
        for conditions in all_conditions() {
            let candidates = conditions.candidates();
            for &fastest in candidates {
                let trials = Mutex::new(Trials::new(candidates, conditions.rounds()));
                assert_eq!(lock(&trials).choice(), None, "before all trials");
                let time = |plan| Duration::from_micros(if plan == fastest { 900 } else { 1000 });
                let hashed = measured(&trials, &[1000], time);
                assert_eq!(lock(&trials).choice(), Some(fastest), "{conditions:?}");
                assert_eq!(hashed, conditions.rounds() * candidates.len() * HASHES);
                assert_eq!(measured(&trials, &[1000], time), 0, "there were enough");
            }
        }
    }

    #[test]
    fn the_expected_candidate_stays_unless_another_is_clearly_faster() {
        for conditions in all_conditions() {
            let candidates = conditions.candidates();
            let trials = Mutex::new(Trials::new(candidates, conditions.rounds()));
            let time = |plan| Duration::from_micros(if plan == candidates[0] { 1000 } else { 990 });
            measured(&trials, &[1000], time);
            assert_eq!(lock(&trials).choice(), Some(candidates[0]), "{conditions:?}");
        }
    }

    #[test]
    fn interruptions_of_some_trials_and_slow_rounds_change_nothing() {
        let trials = Mutex::new(Trials::new(&FOUR_OR_TWO, 7));
        let trial = Cell::new(0);
        measured(&trials, &[1000], |plan| {
            let number = trial.replace(trial.get() + 1);
            let interruption = if number == 1 || number == 8 { 5000 } else { 0 };
            let busy = [1, 3, 2, 1, 1, 4, 1][number / 2];
            Duration::from_micros(interruption + busy * if plan.lanes == 2 { 900 } else { 1000 })
        });
        assert_eq!(lock(&trials).choice(), Some(Plan::of(2)));
    }

    #[test]
    fn trials_go_on_in_later_calls_and_wait_for_enough_inputs() {
        let trials = Mutex::new(Trials::new(&THREE, 7));
        let time = |_| Duration::from_micros(1);
        assert_eq!(measured(&trials, &[HASHES - 1], time), 0);
        assert_eq!(measured(&trials, &[3 * HASHES - 1], time), 2 * HASHES);
        assert_eq!(measured(&trials, &[HASHES], time), HASHES);
        assert_eq!(lock(&trials).begun, 3);
    }

    #[test]
    fn lanes_that_cannot_be_allocated_are_not_chosen() {
        let trials = Mutex::new(Trials::new(&TWO_OR_EIGHT, 7));
        let now = Cell::new(Duration::ZERO);
        let hashed = measure(
            &trials,
            1000,
            || now.get(),
            |plan, _| {
                now.set(now.get() + Duration::from_micros(10));
                plan.lanes == 2
            },
        );
        assert_eq!((hashed, lock(&trials).choice()), (HASHES * 7, Some(Plan::of(2))));
    }

    #[test]
    fn without_memory_for_the_expected_lanes_the_fastest_others_are_chosen() {
        let trials = Mutex::new(Trials::new(&THREE, 7));
        let now = Cell::new(Duration::ZERO);
        let hash = |plan: Plan, _| {
            now.set(now.get() + Duration::from_micros(if plan.lanes == 8 { 10 } else { 20 }));
            plan.lanes != 4
        };
        measure(&trials, 1000, || now.get(), hash);
        assert_eq!(lock(&trials).choice(), Some(Plan::of(8)));
    }

    #[test]
    fn ratios_of_all_times_are_in_their_order() {
        let [none, some, longest] = [Duration::ZERO, Duration::from_millis(3), Duration::MAX];
        assert_eq!([ratio(some, some), ratio(longest, longest)], [EQUAL; 2]);
        assert_eq!([none, some, longest].map(|time| ratio(time, none)), [u128::MAX; 3]);
        assert!(ratio(some * 979 / 1000, some) < FASTER);
        assert!(ratio(some * 981 / 1000, some) > FASTER);
        assert!(ratio(some, longest) < ratio(2 * some, longest));
        assert!(ratio(longest, some) > EQUAL);
    }

    #[test]
    fn a_trial_that_panics_ends() {
        let trials = Mutex::new(Trials::new(&TWO_OR_EIGHT, 1));
        let panics = |plan: Plan, _| if plan.lanes == 2 { true } else { panic!("{plan:?}") };
        let measured = AssertUnwindSafe(|| measure(&trials, 1000, || Duration::ZERO, panics));
        catch_unwind(measured).expect_err("a panic");
        assert_eq!(lock(&trials).choice(), Some(Plan::of(2)));
    }

    #[test]
    fn measured_inputs_differ() {
        let (one, other) = (inputs(), inputs());
        let mut all = [one, other].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * HASHES);
    }

    #[test]
    fn vms_share_trials_under_the_same_conditions_only() {
        let conditions: Vec<Conditions> = all_conditions().collect();
        for (at, one) in conditions.iter().enumerate() {
            for (other_at, other) in conditions.iter().enumerate() {
                assert_eq!(Arc::ptr_eq(&one.trials(), &other.trials()), at == other_at);
            }
        }
    }
}
