//! Judges the sources' answers.

use super::Client;
use super::anchoring::{Anchoring, Step};
use super::event::{Report, RequestId, SourceId, SourceState};
use super::source::{LONGEST_PAUSE, Purpose, Source};
use super::tree::{Refusal, unparsed};
use crate::checkpoint::MAX_HEIGHT;
use crate::hash::Hash;
use crate::header::HashingBlob;

/// The consequence of an answer for its source.
enum Judgement {
    /// Go on.
    Fine,
    /// The answer was not usable.
    Failed,
    /// Change the state.
    State(SourceState),
}

impl Client {
    /// Takes the answer to a request off its source.
    pub(super) fn take_request(&mut self, request: RequestId) -> Option<(usize, Purpose)> {
        let open = |id: &Option<(RequestId, Purpose)>| id.is_some_and(|(id, _)| id == request);
        let source = self.sources.iter().position(|source| open(&source.request))?;
        let (_, purpose) = self.sources[source].request.take()?;
        Some((source, purpose))
    }

    pub(super) fn fail(&mut self, source: usize, now: u64) {
        if !self.sources[source].failed(now) {
            return;
        }
        self.set_state(source, SourceState::Unresponsive);
        if let Some((anchoring, provider)) = &mut self.anchoring
            && let Some(failed) = provider.take_if(|provider| provider.is(source))
        {
            // It may claim the anchor again at once: others that may be faster come first.
            self.sources[source].pace = Some(failed.pace(anchoring.blocks()));
        }
    }

    pub(super) fn set_state(&mut self, source: usize, state: SourceState) {
        if self.sources[source].state == state {
            return;
        }
        let dropped = matches!(state, SourceState::Invalid { .. } | SourceState::OtherNetwork);
        if dropped {
            self.sources[source].tip = self.tree.base().id;
            self.sources[source].claim = None;
            self.sources[source].search = None;
            self.changed = true;
        }
        if matches!(state, SourceState::Invalid { .. }) {
            // The answer to its open question would change the state again.
            self.sources[source].request = None;
        }
        self.sources[source].state = state.clone();
        self.report(Report::Source { source: SourceId(source as u32), state });
    }

    fn judge(&mut self, source: usize, judgement: Judgement, now: u64) {
        match judgement {
            Judgement::Fine => self.sources[source].answered(),
            Judgement::Failed => self.fail(source, now),
            Judgement::State(state) => {
                self.sources[source].answered();
                if state != SourceState::Connecting {
                    self.sources[source].claim = None;
                    self.sources[source].search = None;
                }
                self.set_state(source, state);
            }
        }
    }

    pub(super) fn on_tip(&mut self, request: RequestId, height: u64, id: &Hash, now: u64) {
        let Some((source, purpose)) = self.take_request(request) else { return };
        let judgement = if purpose == Purpose::Tip && height <= MAX_HEIGHT {
            self.compare_tip(source, height, id)
        } else {
            Judgement::Failed
        };
        // A claim of blocks that the source has yet to show is no usable answer: with nothing else it
        // would stay `Connecting` forever. While the chain between the anchors is read, the client asks
        // only one source for blocks: a claim of another one ends its failures, but not its state `Unresponsive`.
        let Source { claim, tip, state, .. } = &self.sources[source];
        let boasts = *claim > Some(self.tree.height(tip));
        let claims_are_answers = self.anchoring.is_some() && *state != SourceState::Unresponsive;
        if boasts && !claims_are_answers && matches!(judgement, Judgement::Fine) {
            return;
        }
        self.judge(source, judgement, now);
    }

    fn compare_tip(&mut self, source: usize, height: u64, id: &Hash) -> Judgement {
        let base = self.tree.base().height;
        let state = &mut self.sources[source];
        (state.claim, state.end) = (Some(height), *id);
        if let Some((anchoring, _)) = &self.anchoring {
            return if height < anchoring.height() {
                state.is_read = false;
                Judgement::State(SourceState::Behind)
            } else if state.state == SourceState::OtherNetwork {
                // It may have another chain by now. Others that can provide blocks come first.
                state.pace = Some(0);
                Judgement::State(SourceState::Connecting)
            } else {
                Judgement::Fine
            };
        }
        if self.tree.contains(id) && self.tree.height(id) == height {
            state.search = None;
            state.early = None;
            self.show(source, *id);
            self.changed = true;
            return self.shares_chain(source);
        } else if height < base {
            state.is_read = false;
            return Judgement::State(SourceState::Behind);
        } else if height == base {
            return Judgement::State(SourceState::OtherNetwork);
        } else if height <= self.tree.height(&state.tip) {
            return self.search(source, height);
        } else if self.has_long_side(source) {
            // No more of that side is read, which would show whether the source has left it.
            let tip = self.sources[source].tip;
            return self.search(source, self.tree.height(&tip) + 1);
        }
        Judgement::Fine
    }

    pub(super) fn on_headers(&mut self, request: RequestId, blobs: &[Vec<u8>], now: u64) {
        let Some((source, purpose)) = self.take_request(request) else { return };
        let judgement = match purpose {
            Purpose::Anchor => self.anchor(source, |anchoring| anchoring.headers(blobs)),
            Purpose::Probe { height } => self.probed(source, height, blobs),
            Purpose::Extend { count } if blobs.is_empty() || blobs.len() as u64 > count => {
                Judgement::Failed
            }
            Purpose::Extend { .. } => self.extend(source, blobs, now),
            // The answer does not belong to what the client asks now.
            Purpose::Outdated => return,
            Purpose::Tip => Judgement::Failed,
        };
        self.judge(source, judgement, now);
    }

    pub(super) fn on_difficulties(&mut self, request: RequestId, values: &[u128], now: u64) {
        let Some((source, purpose)) = self.take_request(request) else { return };
        let judgement = match purpose {
            Purpose::Anchor => self.anchor(source, |anchoring| anchoring.difficulties(values)),
            Purpose::Outdated => return,
            _ => Judgement::Failed,
        };
        self.judge(source, judgement, now);
    }

    fn anchor(&mut self, source: usize, take: impl FnOnce(&mut Anchoring) -> Step) -> Judgement {
        let Some((anchoring, provider)) = &mut self.anchoring else { return Judgement::Fine };
        let (step, is_resumed) = anchoring.take_from(SourceId(source as u32), take);
        if matches!(step, Step::OtherNetwork | Step::False(_)) {
            *provider = provider.filter(|present| !present.is(source));
        }
        match step {
            Step::More => Judgement::State(SourceState::Connecting),
            Step::Done(base) => {
                self.end_anchoring(source, *base);
                Judgement::State(SourceState::Connecting)
            }
            Step::Short => Judgement::Failed,
            // The answers from before an interruption and those after it may be of different chains.
            Step::OtherNetwork | Step::False(_) if is_resumed => Judgement::Failed,
            Step::OtherNetwork => {
                self.sources[source].paused = self.clock.saturating_add(LONGEST_PAUSE);
                Judgement::State(SourceState::OtherNetwork)
            }
            Step::False(reason) => {
                let reason = reason.to_owned();
                Judgement::State(SourceState::Invalid { reason, evidence: None })
            }
        }
    }

    fn probed(&mut self, source: usize, height: u64, blobs: &[Vec<u8>]) -> Judgement {
        let ([blob], Some(mut search)) = (blobs, self.sources[source].search) else {
            return Judgement::Failed;
        };
        let id = match HashingBlob::parse(blob) {
            Ok(blob) => blob.id(),
            Err(_) => match unparsed(blob) {
                Refusal::UpdateNeeded(version) => {
                    return Judgement::State(SourceState::UpdateNeeded { height, version });
                }
                _ => return Judgement::Failed,
            },
        };
        let agree = self.tree.contains(&id) && self.tree.height(&id) == height;
        if !search.note(height, agree) {
            return Judgement::Failed;
        }
        let asked = &mut self.sources[source];
        asked.search = Some(search);
        if agree && asked.tip == id {
            // It still has the side that is too long to be read.
            asked.search = None;
            asked.note_read();
        }
        if agree {
            self.show(source, id);
            self.changed = true;
        }
        Judgement::Fine
    }

    /// Adds headers that should follow a source's newest known block.
    fn extend(&mut self, source: usize, blobs: &[Vec<u8>], now: u64) -> Judgement {
        let start = self.sources[source].tip;
        let mut tip = start;
        let before = self.tree.len();
        let mut is_stuck = false;
        self.sources[source].early = None;
        let mut judgement = Judgement::Fine;
        for blob in blobs {
            match self.tree.insert(&tip, blob, now) {
                Ok(id) if self.refused.contains(&id) => {
                    let reason = self.lacks_work();
                    let evidence = Some(self.evidence_against(self.tree.checkpoint(&tip), blob));
                    self.tree.remove(&id);
                    judgement = Judgement::State(SourceState::Invalid { reason, evidence });
                }
                Ok(id) => {
                    tip = id;
                    continue;
                }
                // Its chain changed since the last answer, or within this one.
                Err(Refusal::Unlinked) if tip == start => {
                    let judgement = self.search_below(source, &start);
                    self.sources[source].is_stuck = matches!(judgement, Judgement::State(_));
                    return judgement;
                }
                Err(Refusal::Unlinked) => self.sources[source].claim = None,
                Err(Refusal::TooEarly(timestamp)) => {
                    self.sources[source].claim = None;
                    self.sources[source].early = Some(timestamp);
                    is_stuck = true;
                    if self.is_clock_slow() {
                        judgement = Judgement::State(SourceState::Unresponsive);
                    }
                }
                Err(Refusal::Malformed) => judgement = Judgement::Failed,
                Err(Refusal::UpdateNeeded(version)) => {
                    let height = self.tree.height(&tip) + 1;
                    is_stuck = true;
                    judgement = Judgement::State(SourceState::UpdateNeeded { height, version });
                }
                Err(Refusal::Invalid(reason)) => {
                    let evidence = Some(self.evidence_against(self.tree.checkpoint(&tip), blob));
                    judgement = Judgement::State(SourceState::Invalid { reason, evidence });
                }
            }
            break;
        }
        let new = self.tree.len().saturating_sub(before);
        self.sources[source].hold.note_blocks(new, &self.config);
        self.show(source, tip);
        self.changed = true;
        if matches!(judgement, Judgement::Fine) {
            judgement = self.shares_chain(source);
        }
        if tip != start || is_stuck {
            self.sources[source].is_stuck = is_stuck;
        }
        judgement
    }

    /// Judges a source that has the client's chain: `Connecting` if it had another one, or if it was silent or
    /// behind and claims more blocks than it sent.
    fn shares_chain(&self, source: usize) -> Judgement {
        let source = &self.sources[source];
        // The client may refuse a stuck source's next block as well.
        let has_more = source.claim > Some(self.tree.height(&source.tip)) && !source.is_stuck;
        match source.state {
            SourceState::OtherNetwork => Judgement::State(SourceState::Connecting),
            SourceState::Unresponsive | SourceState::Behind if has_more => {
                Judgement::State(SourceState::Connecting)
            }
            _ => Judgement::Fine,
        }
    }

    /// Looks for the last common block, since a source no longer has `tip`.
    fn search_below(&mut self, source: usize, tip: &Hash) -> Judgement {
        let (base, high) = (self.tree.base().height, self.tree.height(tip));
        if high == base {
            return Judgement::State(SourceState::OtherNetwork);
        }
        self.search(source, high)
    }

    fn search(&mut self, source: usize, high: u64) -> Judgement {
        if self.sources[source].begin_search(self.tree.base().height, high) {
            Judgement::Fine
        } else {
            Judgement::State(SourceState::Unresponsive)
        }
    }
}
