//! The times since which wallets want the pool's news.
//!
//! A node sends the time of its clock with the pool's news. The wallet then asks for the news since that time.
//! Another node has another clock, and had other transactions then. So the guard asks a node for its whole
//! pool, unless this node sent the time itself. Wallets accept a whole pool as the answer to any request.

use std::collections::VecDeque;

/// The most times that are kept, for all wallets together.
const KEPT: usize = 16;

/// The times that nodes sent with the pool's news, and the names of these nodes.
#[derive(Default)]
pub(crate) struct PoolTimes(VecDeque<(u64, String)>);

impl PoolTimes {
    /// Returns the time since which a node is asked for news: 0 for its whole pool.
    pub(crate) fn since(&self, node: &str, wanted: u64) -> u64 {
        let mut senders = self.0.iter().filter(|(time, _)| *time == wanted).peekable();
        let is_own = senders.peek().is_some() && senders.all(|(_, sender)| sender == node);
        if is_own { wanted } else { 0 }
    }

    /// Notes the time that a node sent.
    pub(crate) fn note(&mut self, node: &str, time: u64) {
        if self.0.len() >= KEPT {
            self.0.pop_front();
        }
        self.0.push_back((time, node.to_owned()));
    }
}
