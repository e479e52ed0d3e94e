//! Chooses the next requests to the sources.

use super::Client;
use super::event::{Action, MAX_HEADERS, Query, RequestId, SourceId};
use super::growth::STALE;
use super::source::{Purpose, Source};

impl Client {
    /// Does everything that is possible now.
    pub(super) fn advance(&mut self, now: u64) {
        if self.anchoring.is_none() {
            if self.move_base() {
                self.changed = true;
                self.store();
            }
            self.work(now);
            if std::mem::take(&mut self.changed) {
                self.prune();
                (0..self.sources.len()).for_each(|source| self.compare(source));
            }
            self.watch_sources(now);
        }
        self.correct_level();
        if self.has_tip() {
            self.watch_growth(now);
        }
        self.choose_provider(now);
        for source in 0..self.sources.len() {
            let Source { request, paused, .. } = &self.sources[source];
            if self.sources[source].is_usable() && request.is_none() && now >= *paused {
                self.ask(source, now);
            }
        }
    }

    /// Checks the chain's growth when it is read to its end. A source that sends a block now and
    /// then, or promises some, cannot put that off for long.
    fn watch_growth(&mut self, now: u64) {
        let last = *self.current.get_or_insert(now);
        let current = self.is_idle() && self.is_up_to_date();
        if current {
            self.current = Some(now);
        }
        if current || now.saturating_sub(last) > STALE {
            self.check_growth(now);
        }
    }

    /// Whether a source answers, and the chains of all that answer are read.
    fn is_up_to_date(&self) -> bool {
        let mut known = self.sources.iter().filter(|source| source.counts());
        let answered = known.clone().any(|source| source.claim.is_some());
        let read = |source: &Source| {
            let height = self.tree.height(&source.tip);
            source.search.is_none() && source.claim.is_none_or(|claim| claim <= height)
        };
        answered && known.all(read)
    }

    /// Returns the height up to which the chain is read, and that of the newest block that a source
    /// claims to have. `None` if no source has answered.
    pub fn progress(&self) -> Option<(u64, u64)> {
        let counted = self.sources.iter().filter(|source| source.counts());
        let end = counted.filter_map(|source| source.claim).max()?;
        let read = match &self.anchoring {
            Some((anchoring, _)) if !anchoring.is_anew => anchoring.read(),
            _ => self.tree.height(&self.trusted),
        };
        Some((read, end.max(read)))
    }

    fn ask(&mut self, index: usize, now: u64) {
        if self.anchoring.is_none() {
            self.begin_base_search(index);
        }
        let source = &mut self.sources[index];
        if let Some((anchoring, provider)) = &self.anchoring {
            if provider.is_some_and(|provider| provider.is(index)) {
                let query = anchoring.query();
                self.request(index, Purpose::Anchor, query);
                return;
            }
        } else if let Some(search) = source.search {
            if let Some(height) = search.probe() {
                let query = Query::Headers { first: height, count: 1 };
                self.request(index, Purpose::Probe { height }, query);
                return;
            }
            source.search = None;
            if !search.found && search.low == self.tree.base().height {
                source.tip = self.tree.base().id;
                self.changed = true;
            }
        }
        let source = &self.sources[index];
        let tip = self.tree.height(&source.tip);
        let missing = source.claim.map_or(0, |claim| claim.saturating_sub(tip));
        let most = if source.is_stuck { 1 } else { MAX_HEADERS };
        let count = missing.min(most).min(self.room(index));
        if self.anchoring.is_none() && count > 0 {
            let query = Query::Headers { first: tip + 1, count };
            self.request(index, Purpose::Extend { count }, query);
        } else if now >= source.due {
            self.sources[index].due = now.saturating_add(self.config.poll);
            self.request(index, Purpose::Tip, Query::Tip);
        }
    }

    /// Returns how many blocks a source may send before those that it has sent are accepted.
    pub(super) fn room(&self, source: usize) -> u64 {
        let ahead = self.config.ahead();
        let chain = self.tree.chain(&self.sources[source].tip);
        let open = chain.take_while(|(_, entry)| !entry.accepted);
        let room = (ahead - open.take(ahead).count()) as u64;
        // The base may wait for other sources.
        let end = self.end_of_own().saturating_add(ahead as u64);
        room.min(end.saturating_sub(self.tree.height(&self.sources[source].tip)))
    }

    fn request(&mut self, source: usize, purpose: Purpose, query: Query) {
        let request = RequestId(self.next_request);
        self.next_request += 1;
        self.sources[source].request = Some((request, purpose));
        let source = SourceId(source as u32);
        self.actions.push_back(Action::Request { source, request, query });
    }
}
