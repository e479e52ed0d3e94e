//! Choices with a clock that the tests set.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::*;
use crate::cpu::Cpu;

const VERSIONS: [Version; 2] = Version::ALL;
const FOUR_OR_TWO: [Plan; 2] = [Plan::of(4), Plan::of(2)];
const THREE: [Plan; 3] = [Plan::of(4), Plan::of(1), Plan::of(8)];
const TWO_OR_EIGHT: [Plan; 2] = [Plan::of(2), Plan::of(8)];

fn shared(candidates: &'static [Plan], rounds: usize) -> SharedTrials {
    Arc::new(Mutex::new(Trials::new(candidates, rounds)))
}

/// Measures with a clock on which a trial takes as long as `time` says for its plan.
fn measured(
    participant: &mut Participant,
    calls: &[usize],
    time: impl Fn(Plan) -> Duration,
) -> usize {
    let now = Cell::new(Duration::ZERO);
    calls
        .iter()
        .map(|&inputs| {
            let hash = |plan, _| {
                now.set(now.get() + time(plan));
                true
            };
            participant.measure(inputs, || now.get(), hash)
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
            let mut alone = Participant::new(shared(candidates, conditions.rounds()));
            assert_eq!(alone.choice(), None, "before all trials");
            let time = |plan| Duration::from_micros(if plan == fastest { 900 } else { 1000 });
            let hashed = measured(&mut alone, &[1000], time);
            assert_eq!(alone.choice(), Some(fastest), "{conditions:?}");
            assert_eq!(hashed, conditions.rounds() * candidates.len() * HASHES);
            assert_eq!(measured(&mut alone, &[1000], time), 0, "there were enough");
        }
    }
}

#[test]
fn the_expected_candidate_stays_unless_another_is_clearly_faster() {
    for conditions in all_conditions() {
        let candidates = conditions.candidates();
        let mut alone = Participant::new(shared(candidates, conditions.rounds()));
        let time = |plan| Duration::from_micros(if plan == candidates[0] { 1000 } else { 990 });
        measured(&mut alone, &[1000], time);
        assert_eq!(alone.choice(), Some(candidates[0]), "{conditions:?}");
    }
}

#[test]
fn interruptions_of_some_trials_and_slow_rounds_change_nothing() {
    let mut alone = Participant::new(shared(&FOUR_OR_TWO, 7));
    let trial = Cell::new(0);
    measured(&mut alone, &[1000], |plan| {
        let number = trial.replace(trial.get() + 1);
        let interruption = if number == 1 || number == 8 { 5000 } else { 0 };
        let busy = [1, 3, 2, 1, 1, 4, 1][number / 2];
        Duration::from_micros(interruption + busy * if plan.lanes == 2 { 900 } else { 1000 })
    });
    assert_eq!(alone.choice(), Some(Plan::of(2)));
}

/// Threads that take turns with single trials would try some candidates on one processor only.
#[test]
fn threads_of_different_speeds_favour_no_candidate() {
    for conditions in all_conditions() {
        let candidates = conditions.candidates();
        for &fastest in candidates {
            let trials = shared(candidates, conditions.rounds());
            let mut threads = [1, 2].map(|slowness| (slowness, Participant::new(trials.clone())));
            for _ in 0..conditions.rounds() * candidates.len() {
                for (slowness, thread) in &mut threads {
                    let units = |plan| if plan == fastest { 900 } else { 1000 };
                    let time = |plan| Duration::from_micros(*slowness * units(plan));
                    measured(thread, &[HASHES], time);
                }
            }
            assert!(threads.iter().all(|(_, thread)| thread.choice() == Some(fastest)));
        }
    }
}

#[test]
fn trials_go_on_in_later_calls_and_wait_for_enough_inputs() {
    let mut alone = Participant::new(shared(&THREE, 1));
    let time = |_| Duration::from_micros(1);
    assert_eq!(measured(&mut alone, &[HASHES - 1], time), 0);
    assert_eq!(measured(&mut alone, &[2 * HASHES - 1], time), HASHES);
    assert_eq!(measured(&mut alone, &[HASHES], time), HASHES);
    assert_eq!(alone.choice(), None);
    assert_eq!(measured(&mut alone, &[1000], time), HASHES);
    assert_eq!(alone.choice(), Some(Plan::of(4)));
}

#[test]
fn each_round_begins_with_another_candidate() {
    let mut alone = Participant::new(shared(&THREE, 3));
    let tried = RefCell::new(Vec::new());
    measured(&mut alone, &[1000], |plan| {
        tried.borrow_mut().push(plan.lanes);
        Duration::from_micros(1)
    });
    assert_eq!(tried.into_inner(), [4, 1, 8, 1, 8, 4, 8, 4, 1]);
}

#[test]
fn a_round_that_a_vm_leaves_is_continued_by_another_on_its_thread() {
    let trials = shared(&THREE, 1);
    let time = |plan: Plan| Duration::from_micros(plan.lanes as u64);
    let mut first = Participant::new(trials.clone());
    assert_eq!(measured(&mut first, &[2 * HASHES], time), 2 * HASHES);
    drop(first);
    let other = trials.clone();
    thread::spawn(move || {
        let mut other = Participant::new(other);
        assert_eq!(measured(&mut other, &[HASHES], time), HASHES);
    })
    .join()
    .expect("a round of its own");
    assert_eq!(lock(&trials).choice(), None);
    let mut second = Participant::new(trials);
    assert_eq!(measured(&mut second, &[1000], time), HASHES);
    assert_eq!(second.choice(), Some(Plan::of(1)));
}

#[test]
fn threads_that_end_too_soon_finish_rounds_of_others() {
    let trials = shared(&THREE, 1);
    let time = |_| Duration::from_micros(1);
    for number in 0.. {
        assert!(lock(&trials).left.len() <= MOST_LEFT);
        if lock(&trials).choice().is_some() {
            assert_eq!(number, MOST_LEFT + 2);
            return;
        }
        let one = Participant::new(trials.clone());
        thread::spawn(move || {
            let mut one = one;
            measured(&mut one, &[HASHES], time)
        })
        .join()
        .expect("a trial");
    }
}

#[test]
fn lanes_are_wanted_only_while_there_are_trials() {
    let mut alone = Participant::new(shared(&THREE, 1));
    assert_eq!([HASHES - 1, HASHES].map(|inputs| alone.most_lanes(inputs)), [0, 8]);
    measured(&mut alone, &[1000], |_| Duration::from_micros(1));
    assert_eq!(alone.most_lanes(HASHES), 0, "nothing is left to try");
}

#[test]
fn no_vm_waits_for_the_round_of_another() {
    let trials = shared(&THREE, 1);
    let mut idle = Participant::new(trials.clone());
    let time = |_| Duration::from_micros(1);
    measured(&mut idle, &[HASHES], time);
    let mut busy = Participant::new(trials);
    assert_eq!(measured(&mut busy, &[1000], time), 3 * HASHES);
    assert!(busy.choice().is_some() && idle.choice().is_some());
    assert_eq!(measured(&mut idle, &[1000], time), 0, "there were enough");
}

#[test]
fn lanes_that_cannot_be_allocated_are_not_chosen() {
    let mut alone = Participant::new(shared(&TWO_OR_EIGHT, 7));
    let now = Cell::new(Duration::ZERO);
    let hash = |plan: Plan, _| {
        now.set(now.get() + Duration::from_micros(10));
        plan.lanes == 2
    };
    let hashed = alone.measure(1000, || now.get(), hash);
    assert_eq!((hashed, alone.choice()), (HASHES * 7, Some(Plan::of(2))));
}

#[test]
fn without_memory_for_the_expected_lanes_the_fastest_others_are_chosen() {
    let mut alone = Participant::new(shared(&THREE, 7));
    let now = Cell::new(Duration::ZERO);
    let hash = |plan: Plan, _| {
        now.set(now.get() + Duration::from_micros(if plan.lanes == 8 { 10 } else { 20 }));
        plan.lanes != 4
    };
    alone.measure(1000, || now.get(), hash);
    assert_eq!(alone.choice(), Some(Plan::of(8)));
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
fn a_round_that_panics_is_replaced() {
    let mut alone = Participant::new(shared(&TWO_OR_EIGHT, 1));
    let panics = |plan: Plan, _| if plan.lanes == 2 { true } else { panic!("{plan:?}") };
    let measured_once = AssertUnwindSafe(|| alone.measure(1000, || Duration::ZERO, panics));
    catch_unwind(measured_once).expect_err("a panic");
    assert_eq!(alone.choice(), None);
    measured(&mut alone, &[1000], |plan| Duration::from_micros(plan.lanes as u64));
    assert_eq!(alone.choice(), Some(Plan::of(2)));
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
