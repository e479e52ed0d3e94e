//! Groups of VMs, which may slow each other down.
//!
//! Threads of one processor core share its caches and its decoded code. The number of lanes that is fastest for one VM
//! may not be fastest for two VMs on a core, or for one VM on each of sixteen cores.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::shared::Shared;
use crate::cpu::Cpu;

/// The mode and the processor extensions that the VMs of a group share. Only VMs that measure their number of lanes
/// join a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Group {
    /// Whether there is a dataset.
    pub(super) fast: bool,
    /// The extensions that may be used.
    pub(super) cpu: Cpu,
}

/// A VM's membership in a group, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Member {
    group: Group,
    /// The number of members in this process.
    members: Arc<AtomicUsize>,
}

impl Group {
    /// Adds a VM to the group.
    pub(super) fn join(self) -> Member {
        static MEMBERS: Shared<Group, AtomicUsize> = Shared::new();
        let members = MEMBERS.of(self, AtomicUsize::default);
        members.fetch_add(1, Ordering::Relaxed);
        Member { group: self, members }
    }
}

impl Member {
    pub(super) fn group(&self) -> Group {
        self.group
    }

    /// Returns the number of members, rounded up to a power of two, so that few changes of the number matter.
    pub(super) fn rounded_members(&self) -> usize {
        self.members.load(Ordering::Relaxed).next_power_of_two()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.members.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_counted_by_powers_of_two() {
        // No other test has such a group.
        let group = Group { fast: true, cpu: Cpu::baseline() };
        let mut members: Vec<Member> = Vec::new();
        for expected in [1, 2, 4, 4, 8] {
            members.push(group.join());
            assert!(members.iter().all(|member| member.rounded_members() == expected));
        }
        members.truncate(2);
        assert_eq!(members[0].rounded_members(), 2);
        let other = Group { fast: false, ..group }.join();
        assert_eq!((other.group().fast, other.rounded_members()), (false, 1));
    }
}
