//! The parts of an answer by which two nodes are compared.

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// Bytes that are equal at all honest nodes.
    pub(super) same: Vec<u8>,
    /// Which outputs are unlocked. A node with a newer block may have more of them.
    pub(super) unlocked: Vec<bool>,
}

impl Facts {
    /// Whether this answer has all unlocked outputs of another one, and is otherwise equal.
    pub(super) fn covers(&self, other: &Facts) -> bool {
        let mut unlocked = self.unlocked.iter().zip(&other.unlocked);
        self.same == other.same && unlocked.all(|(unlocked, other)| unlocked >= other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_covers_one_with_fewer_unlocked_outputs() {
        let facts = |unlocked: [bool; 2]| Facts { same: vec![7], unlocked: unlocked.to_vec() };
        let [none, first, second, both] =
            [[false, false], [true, false], [false, true], [true, true]].map(facts);
        for (more, fewer) in [(&both, &none), (&both, &first), (&both, &second), (&first, &none)] {
            assert!(more.covers(more) && more.covers(fewer) && !fewer.covers(more), "{fewer:?}");
        }
        assert!(!first.covers(&second) && !second.covers(&first));
        let other = Facts { same: vec![8], ..facts([false; 2]) };
        assert!(!both.covers(&other) && !other.covers(&both));
    }
}
