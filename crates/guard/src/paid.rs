//! The fees and rewards of recent verified blocks.

/// An estimate of the lowest fee over this multiple of what recent blocks paid is refused.
pub(crate) const MULTIPLE: u64 = 10;

/// The nodes' rule for the lowest fee of a byte: `95% of the reward * 3000 / 300,000^2`, where blocks
/// are small. Larger blocks make it lower.
const REFERENCE_WEIGHT: u128 = 3000;
const FREE_WEIGHT: u128 = 300_000;

/// Fees per byte, from recent blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paid {
    /// The median, if there were transactions.
    pub(crate) median: Option<u64>,
    /// The lowest fee that nodes may ask for, from the miners' rewards.
    pub(crate) lowest: u64,
}

impl Paid {
    /// Returns the highest plausible estimate of the lowest fee.
    pub(crate) fn limit(&self) -> u64 {
        self.median.unwrap_or(0).max(self.lowest).saturating_mul(MULTIPLE)
    }
}

/// Collects payments, block by block.
#[derive(Default)]
pub(crate) struct Payments {
    rates: Vec<u64>,
    lowest: u64,
}

impl Payments {
    /// Adds a block: what its miner received, and the fee and size of each transaction.
    pub(crate) fn add(&mut self, received: u64, transactions: impl Iterator<Item = (u64, usize)>) {
        let mut fees = 0_u64;
        for (fee, size) in transactions {
            fees = fees.saturating_add(fee);
            self.rates.push(fee / (size.max(1) as u64));
        }
        self.lowest = self.lowest.max(lowest_fee(received.saturating_sub(fees)));
    }

    pub(crate) fn finish(mut self) -> Paid {
        self.rates.sort_unstable();
        Paid { median: self.rates.get(self.rates.len() / 2).copied(), lowest: self.lowest }
    }
}

/// Returns the lowest fee of a byte where blocks are small, for a reward without fees.
fn lowest_fee(reward: u64) -> u64 {
    let fee = u128::from(reward) * 95 / 100 * REFERENCE_WEIGHT / (FREE_WEIGHT * FREE_WEIGHT);
    u64::try_from(fee).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_fee_follows_the_nodes_rule() {
        // The main network's tail emission, where nodes estimate 20,000, rounded up.
        assert_eq!(lowest_fee(600_000_000_000), 19_000);
        assert_eq!(lowest_fee(0), 0);
        assert!(lowest_fee(u64::MAX) > 0);
    }

    #[test]
    fn the_median_counts_bytes_and_the_reward_has_no_fees() {
        let mut payments = Payments::default();
        payments.add(600_000_000_600, [(100, 10), (500, 10)].into_iter());
        payments.add(0, [(30, 10)].into_iter());
        let paid = payments.finish();
        assert_eq!((paid.median, paid.lowest), (Some(10), 19_000));
        assert_eq!(paid.limit(), 190_000);
        let none = Payments::default().finish();
        assert_eq!((none.median, none.limit()), (None, 0));
    }
}
