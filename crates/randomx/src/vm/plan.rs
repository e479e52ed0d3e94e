//! How many hashes a VM computes together, and when their lanes prefetch items.

use crate::engine::ItemPrefetches;
use crate::params::{MAX_LANES, Version};

/// How a group of hashes runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) lanes: usize,
    /// Without a dataset it has no effect.
    pub(super) prefetches: ItemPrefetches,
}

impl Plan {
    /// Returns the plan of hashes that are computed one by one.
    pub(super) const ALONE: Plan = Plan::each(1);

    /// Returns the plan with a prefetch in every turn.
    const fn each(lanes: usize) -> Plan {
        Plan { lanes, prefetches: ItemPrefetches::Each }
    }

    /// Returns the plan with prefetches in pairs, or in every turn where the engine has no pairs.
    const fn pairs(lanes: usize) -> Plan {
        let prefetches =
            if cfg!(target_arch = "x86_64") { ItemPrefetches::Pairs } else { ItemPrefetches::Each };
        Plan { lanes, prefetches }
    }

    /// Returns the plan for a fixed number of lanes. In v1 a single lane is slower with pairs: each second item would be
    /// prefetched when it is already needed.
    pub(super) const fn of(lanes: usize) -> Plan {
        if lanes > 1 { Plan::pairs(lanes) } else { Plan::ALONE }
    }

    /// Returns the plan for as many lanes as there are memory or inputs for.
    pub(super) fn with(self, lanes: usize) -> Plan {
        // Pairs that are faster in several lanes may be slower in one.
        if lanes == 1 && self.lanes > 1 { Plan::ALONE } else { Plan { lanes, ..self } }
    }

    /// Returns the plan that is probably fastest.
    pub(super) fn expected(fast: bool, version: Version) -> Plan {
        Plan::candidates(fast, version)[0]
    }

    /// Returns the plans that may be fastest, the expected one first.
    pub(super) const fn candidates(fast: bool, version: Version) -> &'static [Plan] {
        match (fast, version) {
            (false, _) => const { &[Plan::of(MAX_LANES), Plan::of(MAX_LANES / 2)] },
            // Only with x86-64 code do plans differ by their prefetches.
            (true, Version::V1) if cfg!(target_arch = "x86_64") => {
                const {
                    let expected = Plan::pairs(Version::V1.fast_lanes());
                    &[expected, Plan::pairs(2), Plan::each(2), Plan::ALONE, Plan::pairs(MAX_LANES)]
                }
            }
            (true, Version::V1) => {
                const {
                    let expected = Plan::each(Version::V1.fast_lanes());
                    &[expected, Plan::each(2), Plan::ALONE, Plan::each(MAX_LANES)]
                }
            }
            // The item of v2 is known two iterations ahead, so that one lane can prefetch pairs too.
            (true, Version::V2) if cfg!(target_arch = "x86_64") => {
                const {
                    let expected = Plan::pairs(Version::V2.fast_lanes());
                    &[expected, Plan::ALONE, Plan::pairs(1), Plan::pairs(4)]
                }
            }
            (true, Version::V2) => {
                const { &[Plan::each(Version::V2.fast_lanes()), Plan::ALONE, Plan::each(4)] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_hash_prefetches_pairs_only_if_its_plan_has_one_lane() {
        let several = Plan::pairs(4);
        assert_eq!((several.with(4), several.with(2)), (several, Plan::pairs(2)));
        assert_eq!((several.with(1), Plan::each(2).with(1)), (Plan::ALONE, Plan::ALONE));
        assert_eq!(Plan::pairs(1).with(1), Plan::pairs(1));
    }
}
