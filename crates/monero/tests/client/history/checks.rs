//! Conditions that hold at each step, and at the end.

use randomx_monero::client::{Alarm, Evidence, Report, SideVerdict, SourceId, SourceState};

use super::{History, start};
use crate::counts::count;
use crate::sources::Mode;

impl History {
    /// A saved tip was hashed, and no hash of this life showed that a block up to it is forged.
    pub(super) fn check_store(&self, bytes: &[u8]) {
        let saved = start(&self.config, Some(bytes.to_vec()), 0);
        let tip = saved.tip().expect("a stored chain has a tip").id;
        let is_genesis = saved.tip().is_some_and(|tip| tip.height == 0);
        assert!(is_genesis || self.hashed.contains(&tip), "a saved tip was hashed");
        let tip = self.world.by_id[&tip];
        for index in self.world.chain(tip) {
            let block = &self.world.blocks[index];
            assert!(!self.refuted.contains(&block.id), "a saved chain has no refuted block");
            if self.config.sample == 1 {
                assert!(index == 0 || self.hashed.contains(&block.id), "all were hashed");
            }
        }
    }

    pub(super) fn state(&self, source: usize) -> SourceState {
        let mut probe = self.client.sources();
        probe.nth(source).expect("a source").1.clone()
    }

    pub(super) fn check_report(&mut self, report: Report) {
        match report {
            Report::Tip(tip) => {
                let (old, new) = (self.world.by_id[&self.reported], self.world.by_id[&tip.id]);
                assert!(self.world.has(new, old), "a tip extends the chain");
                assert_eq!(self.world.blocks[new].work, tip.work);
                self.reported = tip.id;
                count("tip");
            }
            Report::Reorganised { fork, tip } => {
                assert!(fork.theirs.work > fork.ours.work, "only more work replaces a chain");
                assert_eq!(fork.ours.ids.last(), Some(&self.reported));
                assert_eq!(fork.theirs.ids.last(), Some(&tip.id));
                let common = self.world.by_id[&fork.id];
                for branch in [&fork.ours, &fork.theirs] {
                    let tip = self.world.by_id[branch.ids.last().expect("blocks")];
                    assert_eq!(self.world.at(tip, fork.height), Some(common));
                    let work = self.world.blocks[tip].work - self.world.blocks[common].work;
                    assert_eq!(work, branch.work);
                    assert!(!branch.ids.contains(&fork.id));
                }
                for id in &fork.theirs.ids {
                    assert!(self.hashed.contains(id), "all adopted blocks were hashed");
                }
                if fork.ours.ids.len() as u64 >= self.config.deep {
                    assert!(self.announced.contains(&fork.id), "a deep one is announced before");
                    count("deep reorganisation");
                }
                self.reported = tip.id;
                count("reorganisation");
            }
            Report::DeepReorganisation { fork, .. } => {
                assert!(fork.theirs.work > fork.ours.work);
                self.announced.insert(fork.id);
            }
            Report::Disagreement { fork, evidence, .. } => {
                assert!(!fork.ours.ids.is_empty() && !fork.theirs.ids.is_empty());
                let newest = fork.theirs.ids.last().expect("blocks");
                assert!(self.hashed.contains(newest), "no side is forged for free");
                let sides = self.verify(&evidence);
                // With a sample the client may have missed a forgery, which evidence shows.
                if self.config.sample == 1 {
                    assert_eq!(sides[0].valid, fork.ours.ids.len());
                    assert_eq!(sides[0].work, fork.ours.work);
                }
                count("disagreement");
            }
            Report::Source { source, state } => self.check_state(source, &state),
            Report::Alarm(alarm) => count(match alarm {
                Alarm::Cleared => "alarm cleared",
                Alarm::Stale { .. } => "stale",
                Alarm::SlowWork { .. } => "slow",
            }),
        }
    }

    fn check_state(&self, source: SourceId, state: &SourceState) {
        match state {
            SourceState::Invalid { evidence, .. } => {
                assert!(self.sources[source.index()].lied, "only a liar is accused");
                let evidence = evidence.as_ref().expect("regtest has no anchors");
                let sides = self.verify(evidence);
                let refused = sides.iter().any(|side| side.refused.is_some());
                assert!(refused, "evidence proves a lie");
                count("invalid");
            }
            SourceState::Connecting => count("connecting"),
            SourceState::Following => count("following"),
            SourceState::Behind => count("behind"),
            SourceState::Unresponsive => count("unresponsive"),
            SourceState::OtherNetwork => count("other network"),
            SourceState::UpdateNeeded { version, .. } => {
                assert!(*version > 16);
                count("update needed");
            }
        }
    }

    fn verify(&self, evidence: &Evidence) -> Vec<SideVerdict> {
        let bytes = evidence.to_bytes();
        let evidence = Evidence::from_bytes(&bytes).expect("evidence");
        let now = self.now;
        evidence
            .verify(None, now, &mut |_, blob| Some(self.world.hash(blob)))
            .expect("a complete start")
    }

    /// The client has the chain with the most work of those that an answering source has.
    pub(super) fn check_end(&self) {
        let (id, work) = self.end();
        let tip = self.world.by_id[&id];
        if self.config.sample == 1 {
            assert!(self.world.is_sound(tip), "nothing forged is trusted");
        }
        assert!(self.world.is_worked(&id));
        let base = self.client.base_height();
        for (index, source) in self.sources.iter().enumerate() {
            let state = self.state(index);
            if source.mode == Mode::Stall {
                continue;
            }
            let shares_base = self.world.at(source.tip, base) == self.world.at(tip, base);
            match (&state, self.world.judgeable(source.tip)) {
                (SourceState::Invalid { .. }, _) => assert!(source.lied),
                (SourceState::OtherNetwork, _) => assert!(!shares_base),
                _ if !shares_base => count("forked before the base"),
                (SourceState::Behind, _) if self.is_too_long(source.tip, tip) => {
                    count("too long");
                }
                (_, Some(end)) => {
                    let best = &self.world.blocks[end];
                    assert!(work >= best.work, "source {index} in {state} has more work");
                }
                // Forged blocks with less work than the client's chain are not hashed.
                (_, None) => {
                    let end = self.world.readable(source.tip);
                    assert!(work >= self.world.blocks[end].work);
                }
            }
        }
    }

    /// Whether a side is longer than what the client reads before it has more work.
    fn is_too_long(&self, theirs: usize, ours: usize) -> bool {
        let common = self.world.chain(theirs).find(|&block| self.world.has(ours, block));
        let common = common.map_or(0, |common| self.world.blocks[common].height);
        self.world.blocks[theirs].height - common > 2 * self.config.kept
    }
}
