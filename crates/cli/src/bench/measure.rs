//! Measuring in turns: contestants work one after the other, round after round, so that other load
//! on the computer affects all of them. Values are medians of the rounds.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use crate::error::Error;

/// The most rounds of a row.
const ROUNDS: usize = 9;

/// The fewest rounds of a row, however long they take.
const FEWEST_ROUNDS: usize = 3;

/// Works for about as long as its slot lasts, and does at least one piece of work.
pub(crate) type Contestant<'a> = Box<dyn FnMut(Slot<'_>) -> Result<Turn, Error> + 'a>;

/// Whether a measurement should end early. Contestants call this between pieces of work.
pub(crate) type Stopped<'a> = &'a (dyn Fn() -> bool + Sync);

/// The time of a contestant's turn.
#[derive(Clone, Copy)]
pub(crate) struct Slot<'a> {
    pub(crate) time: Duration,
    pub(crate) stopped: Stopped<'a>,
}

impl Slot<'_> {
    /// Whether the turn ends after `elapsed`.
    pub(crate) fn is_over(&self, elapsed: Duration) -> bool {
        elapsed >= self.time || (self.stopped)()
    }
}

/// The work of a contestant in its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// Units of work per second.
    pub(crate) rate: f64,
    /// Duration of the turn.
    pub(crate) time: Duration,
}

/// The time of a row, for all its contestants together.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    pub(crate) warmup: Duration,
    pub(crate) measured: Duration,
}

/// The measurements of a row.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Our turns, one a round.
    pub(crate) turns: Vec<Turn>,
    /// The reference's turns, if it takes part.
    pub(crate) reference: Option<Vec<Turn>>,
    /// The energy of our turns, if the processor counts it.
    pub(crate) joules: Option<f64>,
}

/// A contestant that repeats `work`, which does `units` of it.
pub(crate) fn repeat<'a>(units: f64, mut work: impl FnMut() + 'a) -> Contestant<'a> {
    try_repeat(units, move || {
        work();
        Ok(())
    })
}

/// [`repeat`] for work that may fail. Its first error ends the turn.
pub(crate) fn try_repeat<'a>(
    units: f64,
    mut work: impl FnMut() -> Result<(), Error> + 'a,
) -> Contestant<'a> {
    // Calls between two looks at the clock: one at first, later about a millisecond's worth.
    let mut batch = 1u32;
    Box::new(move |slot: Slot<'_>| {
        let start = Instant::now();
        let mut done = 0u64;
        loop {
            let before = start.elapsed();
            for _ in 0..batch {
                work()?;
            }
            done += u64::from(batch);
            let elapsed = start.elapsed();
            if slot.is_over(elapsed) {
                let rate = done as f64 * units / elapsed.as_secs_f64();
                return Ok(Turn { rate, time: elapsed });
            }
            if elapsed - before < Duration::from_millis(1) {
                batch = batch.saturating_mul(2);
            }
        }
    })
}

/// The turn of a single piece of work. The time excludes the release of the result.
pub(crate) fn timed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Turn, Error> {
    let start = Instant::now();
    let made = black_box(work()?);
    let time = start.elapsed();
    drop(made);
    Ok(Turn { rate: 1.0 / time.as_secs_f64(), time })
}

/// Lets the contestants take turns for the time of `budget`. `joules` reads the energy used so far,
/// if the processor counts it.
///
/// # Errors
///
/// [`Error::Stopped`] once `stopped` returns true, or the error of a contestant.
pub(crate) fn measure(
    mut ours: Contestant<'_>,
    mut reference: Option<Contestant<'_>>,
    budget: Budget,
    stopped: Stopped<'_>,
    joules: impl Fn() -> Option<f64>,
) -> Result<Outcome, Error> {
    let contestants = 1 + u32::from(reference.is_some());
    let take = |contestant: &mut Contestant<'_>, time| {
        let turn = contestant(Slot { time, stopped })?;
        if stopped() { Err(Error::Stopped) } else { Ok(turn) }
    };
    if !budget.warmup.is_zero() {
        let time = budget.warmup / contestants;
        take(&mut ours, time)?;
        reference.as_mut().map(|reference| take(reference, time)).transpose()?;
    }

    let time = budget.measured / contestants / ROUNDS as u32;
    let mut outcome = Outcome {
        turns: Vec::new(),
        reference: reference.as_ref().map(|_| Vec::new()),
        joules: Some(0.0),
    };
    let mut spent = Duration::ZERO;
    while outcome.turns.len() < ROUNDS
        && (outcome.turns.len() < FEWEST_ROUNDS || spent < budget.measured)
    {
        // They alternate in going first, so that neither always follows the other.
        let reference_first = outcome.turns.len() % 2 == 1;
        let mut reference_turn =
            || reference.as_mut().map(|reference| take(reference, time)).transpose();
        let early = if reference_first { reference_turn()? } else { None };
        let before = joules();
        let our_turn = take(&mut ours, time)?;
        let used = joules().zip(before).map(|(after, before)| after - before);
        outcome.joules = outcome.joules.zip(used).map(|(sum, used)| sum + used);
        let late = if reference_first { None } else { reference_turn()? };

        spent += our_turn.time;
        outcome.turns.push(our_turn);
        if let (Some(turns), Some(turn)) = (&mut outcome.reference, early.or(late)) {
            spent += turn.time;
            turns.push(turn);
        }
    }
    Ok(outcome)
}

impl Outcome {
    /// Our rate.
    pub(crate) fn rate(&self) -> f64 {
        median(self.turns.iter().map(|turn| turn.rate))
    }

    /// Our slowest and fastest round.
    pub(crate) fn spread(&self) -> (f64, f64) {
        let rates = self.turns.iter().map(|turn| turn.rate);
        rates.fold((f64::INFINITY, 0.0), |(low, high), rate| (low.min(rate), high.max(rate)))
    }

    /// The reference's rate.
    pub(crate) fn reference_rate(&self) -> Option<f64> {
        self.reference.as_ref().map(|turns| median(turns.iter().map(|turn| turn.rate)))
    }

    /// Our speed relative to the reference.
    pub(crate) fn ratio(&self) -> Option<f64> {
        let rounds = self.turns.iter().zip(self.reference.as_ref()?);
        Some(median(rounds.map(|(ours, reference)| ours.rate / reference.rate)))
    }

    /// Units of work per joule.
    pub(crate) fn efficiency(&self) -> Option<f64> {
        let done: f64 = self.turns.iter().map(|turn| turn.rate * turn.time.as_secs_f64()).sum();
        self.joules.filter(|&joules| joules > 0.0).map(|joules| done / joules)
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
mod tests {
    use std::{
        cell::{Cell, RefCell},
        sync::atomic::{AtomicU32, Ordering},
    };

    use super::*;

    const NO_WARMUP: Budget =
        Budget { warmup: Duration::ZERO, measured: Duration::from_millis(ROUNDS as u64 * 20) };

    fn run<'a>(
        ours: Contestant<'a>,
        reference: Option<Contestant<'a>>,
        joules: impl Fn() -> Option<f64>,
    ) -> Outcome {
        measure(ours, reference, NO_WARMUP, &|| false, joules).expect("nothing fails")
    }

    /// Reports given rates, and that it used all of its time.
    fn scripted<'a>(rates: &'a [f64], name: char, log: &'a RefCell<String>) -> Contestant<'a> {
        let mut rates = rates.iter().cycle();
        Box::new(move |slot: Slot<'_>| {
            log.borrow_mut().push(name);
            Ok(Turn { rate: *rates.next().expect("an endless cycle"), time: slot.time })
        })
    }

    #[test]
    fn contestants_take_turns_and_the_first_changes() {
        let log = RefCell::new(String::new());
        let reference = Some(scripted(&[1.0], 'r', &log));
        let outcome = run(scripted(&[2.0], 'o', &log), reference, || None);
        assert_eq!(*log.borrow(), "orroorroorroorroor");
        assert_eq!(outcome.turns.len(), ROUNDS);
        assert_eq!(outcome.ratio(), Some(2.0));
        assert_eq!(outcome.efficiency(), None);
    }

    #[test]
    fn values_are_medians_and_the_ratio_is_that_of_rounds() {
        let log = RefCell::new(String::new());
        // Every third round is half as fast, for both.
        let ours = scripted(&[4.0, 2.0, 4.0], 'o', &log);
        let reference = scripted(&[2.0, 1.0, 2.0], 'r', &log);
        let outcome = run(ours, Some(reference), || None);
        assert_eq!(outcome.rate(), 4.0);
        assert_eq!(outcome.reference_rate(), Some(2.0));
        assert_eq!(outcome.ratio(), Some(2.0));
        assert_eq!(outcome.spread(), (2.0, 4.0));
    }

    #[test]
    fn slow_work_has_few_rounds() {
        let slow: Contestant<'_> =
            Box::new(|_: Slot<'_>| Ok(Turn { rate: 1.0, time: Duration::from_secs(9) }));
        assert_eq!(run(slow, None, || None).turns.len(), FEWEST_ROUNDS);
    }

    #[test]
    fn energy_is_that_of_our_turns() {
        let meter = Cell::new(100.0);
        let turn = |joules: f64| {
            let meter = &meter;
            move |slot: Slot<'_>| {
                meter.set(meter.get() + joules);
                Ok(Turn { rate: 600.0, time: slot.time })
            }
        };
        let reference = Box::new(turn(50.0));
        let outcome = run(Box::new(turn(3.0)), Some(reference), || Some(meter.get()));
        // 10 ms at 600 a second for 3 joules.
        let efficiency = outcome.efficiency().expect("the meter works");
        assert!((efficiency - 2.0).abs() < 1e-9, "{efficiency}");
    }

    #[test]
    fn repeated_work_is_counted() {
        let calls = Cell::new(0u64);
        let mut contestant = repeat(0.5, || calls.set(calls.get() + 1));
        for _ in 0..3 {
            calls.set(0);
            let slot = Slot { time: Duration::from_millis(10), stopped: &|| false };
            let turn = contestant(slot).expect("work does not fail");
            assert!(turn.time >= Duration::from_millis(10));
            let done = turn.rate * turn.time.as_secs_f64();
            assert!((done - calls.get() as f64 / 2.0).abs() < 1e-3 * done);
        }
    }

    #[test]
    fn work_that_fails_ends_the_turn() {
        let calls = Cell::new(0);
        let work = || {
            calls.set(calls.get() + 1);
            if calls.get() < 2 { Ok(()) } else { Err(Error::Memory { what: "a test", bytes: 1 }) }
        };
        let outcome = measure(try_repeat(1.0, work), None, NO_WARMUP, &|| false, || None);
        assert!(matches!(outcome, Err(Error::Memory { .. })));
        assert_eq!(calls.get(), 2);
    }

    #[test]
    fn a_timed_turn_ends_before_the_result_is_released() {
        /// Takes a while to release, and notes when that begins.
        struct Slow<'a>(&'a Cell<Option<Instant>>);

        impl Drop for Slow<'_> {
            fn drop(&mut self) {
                self.0.set(Some(Instant::now()));
                std::thread::sleep(Duration::from_millis(20));
            }
        }

        let released = Cell::new(None);
        let before = Instant::now();
        let turn = timed(|| Ok(Slow(&released))).expect("work does not fail");
        assert!(Some(before + turn.time) <= released.get());
    }

    #[test]
    fn a_stopped_measurement_ends_within_a_turn() {
        let calls = AtomicU32::new(0);
        let work = || {
            calls.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        };
        let long = Budget { warmup: Duration::ZERO, measured: Duration::from_secs(3600) };
        let stopped = || calls.load(Ordering::Relaxed) >= 5;
        let outcome = measure(repeat(1.0, work), None, long, &stopped, || None);
        assert!(matches!(outcome, Err(Error::Stopped)));
        assert_eq!(calls.into_inner(), 5);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0].into_iter()), 2.5);
    }
}
