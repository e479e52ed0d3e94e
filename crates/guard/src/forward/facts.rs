//! What the answers of two nodes are compared by.

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    /// What is the same at every node.
    pub(super) same: Vec<u8>,
    /// Which outputs are unlocked. A node with a newer block may have more of them.
    pub(super) unlocked: Vec<bool>,
}

impl Facts {
    /// Whether a wallet may get this answer, given another node's.
    pub(super) fn include(&self, other: &Facts) -> bool {
        let mut unlocked = self.unlocked.iter().zip(&other.unlocked);
        self.same == other.same && unlocked.all(|(unlocked, other)| unlocked >= other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_includes_one_with_fewer_unlocked_outputs() {
        let facts = |unlocked: [bool; 2]| Facts { same: vec![7], unlocked: unlocked.to_vec() };
        let [none, first, second, both] =
            [[false, false], [true, false], [false, true], [true, true]].map(facts);
        for (more, fewer) in [(&both, &none), (&both, &first), (&both, &second), (&first, &none)] {
            assert!(more.include(more) && more.include(fewer) && !fewer.include(more), "{fewer:?}");
        }
        assert!(!first.include(&second) && !second.include(&first));
        let other = Facts { same: vec![8], ..facts([false; 2]) };
        assert!(!both.include(&other) && !other.include(&both));
    }
}
