//! Whether the chain grows as it should.

use super::Client;
use super::event::{Alarm, Report};
use crate::retarget::DIFFICULTY_TARGET;

/// The age of a tip, in seconds, that raises an alarm. With one block in two minutes on average,
/// an hour without any has a probability of e^-30.
pub(super) const STALE: u64 = 3600;

/// The number of blocks over which the speed of the chain is measured.
const SPEED_WINDOW: usize = 60;

/// The slowness that raises an alarm: fewer than 60 blocks where 120 are expected has a
/// probability below 10^-9.
const SLOWEST: u64 = 2;

impl Client {
    /// Compares the age and the speed of the chain with what they should be.
    pub(super) fn check_growth(&mut self, now: u64) {
        let alarm = self.growth(now);
        let same_kind = std::mem::discriminant(&alarm) == std::mem::discriminant(&self.alarm);
        if !same_kind {
            self.alarm = alarm;
            self.report(Report::Alarm(alarm));
        }
    }

    fn growth(&self, now: u64) -> Alarm {
        let tip = self.describe(&self.trusted);
        let age = now.saturating_sub(tip.timestamp);
        let last = self.tree.chain(&self.trusted).nth(SPEED_WINDOW);
        let took = last.map_or(0, |(_, entry)| now.saturating_sub(entry.timestamp));
        let expected = SPEED_WINDOW as u64 * DIFFICULTY_TARGET;
        if age > STALE {
            Alarm::Stale { age }
        } else if took > SLOWEST * expected {
            Alarm::SlowWork { took, expected }
        } else {
            Alarm::Cleared
        }
    }
}
