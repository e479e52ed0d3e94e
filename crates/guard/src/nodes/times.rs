//! The times that decide which node is asked, and how long.

use std::time::Duration;

pub(super) const TIMES: Times = Times {
    request: Duration::from_secs(180),
    silence: Duration::from_secs(60),
    slow: Duration::from_secs(15),
    penalty: 4,
    late: Duration::from_secs(5),
};

/// The useful bytes that a node must send in a second, or else it wastes time.
pub(super) const RATE: u64 = 256 << 10;

/// How long nodes are asked, and which ones after the others.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// How long a request may take from its arrival. It waits for others and for headers before a node is asked.
    /// Wallets wait 210 seconds.
    pub(super) request: Duration,
    /// How long a node that was silent is asked after the others. Not longer: the first node may be the
    /// wallet's own, and each later one learns what it is asked.
    pub(super) silence: Duration,
    /// Less wasted time has no consequence.
    pub(super) slow: Duration,
    /// How many times longer than it wasted time a node is asked after the others.
    pub(super) penalty: u32,
    /// How long nodes that wasted time are waited for, all together, to compare their answer with another one.
    pub(super) late: Duration,
}

impl Times {
    /// Returns how long a node is asked after the others, given the time that it took for an answer, whether
    /// it sent none, and how many bytes of the answer were useful.
    pub(super) fn behind(&self, took: Duration, is_silent: bool, useful: u64) -> Duration {
        let silence = if is_silent { self.silence } else { Duration::ZERO };
        let wasted = took.saturating_sub(Duration::from_secs(useful / RATE));
        if wasted < self.slow { silence } else { silence.max(self.penalty * wasted) }
    }
}
