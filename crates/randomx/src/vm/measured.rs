//! The number of lanes of a VM: set by its options, measured, or guessed.

use std::mem;
use std::ops::Range;

use super::group::Group;
use super::lanes::Job;
use super::plan::Plan;
use super::trials::{self, Conditions, HAS_CLOCK, Participant};
use super::{Observer, Vm};
use crate::params::HASH_SIZE;

impl Vm {
    /// Sets the number of lanes for the present key and version.
    pub(super) fn adapt_lanes(&mut self) {
        let group = Group { fast: self.source.is_fast(), cpu: self.options.cpu };
        let joins = self.member.as_ref().is_none_or(|member| member.group() != group);
        if HAS_CLOCK && self.measures_lanes && joins {
            self.member = Some(group.join());
        }
        let conditions = self.conditions();
        let earlier = mem::replace(&mut self.chosen_under, conditions);
        if HAS_CLOCK && (earlier != conditions || self.trials.is_none()) {
            self.trials = conditions.map(|conditions| Participant::new(conditions.trials()));
        }
        let best = self.trials.as_ref().filter(|_| HAS_CLOCK).and_then(Participant::choice);
        // The choice for fewer or more VMs is a better guess than the expected number.
        let similar = earlier.zip(conditions).is_some_and(|(one, other)| one.resembles(other));
        let guess = if similar { self.plan } else { Plan::expected(group.fast, self.version) };
        let plan = self.options.lanes.map(Plan::of).or(best).unwrap_or(guess);
        self.plan = plan.with(self.hasher.reserve(plan.lanes));
    }

    /// Returns what the fastest number of lanes depends on now, if it may be chosen.
    pub(super) fn conditions(&self) -> Option<Conditions> {
        let member = self.member.as_ref().filter(|_| HAS_CLOCK)?;
        let (group, members) = (member.group(), member.rounded_members());
        Some(Conditions { group, members, version: self.version })
    }

    /// Hashes the first inputs by different plans, while the fastest one is not known.
    /// Returns how many it has hashed.
    pub(super) fn measure(
        &mut self,
        inputs: &[&[u8]],
        outputs: &mut [[u8; HASH_SIZE]],
        observer: &mut dyn Observer,
    ) -> usize {
        let Vm { source, plan, trials, has_spare_lanes, hasher, .. } = self;
        let (source, version) = (&*source, self.version);
        let Some(participant) = trials.as_mut().filter(|_| HAS_CLOCK) else {
            return 0;
        };
        // Allocated before the first trial, so that no trial takes the time for it.
        let tried = participant.most_lanes(inputs.len());
        hasher.reserve(tried);
        *has_spare_lanes |= tried > 0;
        let hash = |plan: Plan, range: Range<usize>| {
            if hasher.reserve(plan.lanes) < plan.lanes {
                return false;
            }
            let (inputs, outputs) = (&inputs[range.clone()], &mut outputs[range]);
            hasher.hash_many(Job { source, version, plan, inputs, outputs }, observer);
            true
        };
        let measured = participant.measure(inputs.len(), trials::clock(), hash);
        if let Some(choice) = participant.choice() {
            *plan = choice.with(hasher.reserve(choice.lanes));
            // Not after each change of the key or the version: callers that alternate keep the lanes for both.
            if mem::take(has_spare_lanes) {
                hasher.release(choice.lanes);
            }
            // Later calls need not ask again.
            *trials = None;
        }
        measured
    }
}
