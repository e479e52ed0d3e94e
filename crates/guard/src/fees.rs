//! Fee estimates, compared with the fees in recent verified blocks.
//!
//! A wallet without an estimate pays its built-in fee: Debian's 300,000 for a byte, 15 times what
//! mainnet's nodes estimate. So where no node sends a plausible estimate, the guard sends its own.

use std::sync::PoisonError;
use std::time::Instant;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::blocks::{self, Checked};
use crate::chain::View;
use crate::journal::Lie;
use crate::nodes::{Call, Fault, LARGE};
use crate::paid::{MULTIPLE, Paid, Payments};
use crate::refusal::{READING, Refusal};
use crate::service::Service;

const METHOD: &str = "get_fee_estimate";

/// The name under which estimates are counted that follow from no block.
const CONSTANT: &str = "get_fee_estimate: the guard's own, without a block";

/// The number of recent blocks whose fees are read.
const BLOCKS: u64 = 10;

/// How much more the four priorities cost than the lowest, at most, by the nodes' own rule.
const PRIORITIES: [u64; 4] = [1, 4, 16, 200];

/// The fee of a byte for each priority, by which wallets pay. Nodes send all four since version 15 of
/// blocks. Wallets pay their built-in fee for a priority that is missing.
type Fees = [u64; PRIORITIES.len()];

/// The multiple to which wallets round fees up. Nodes of every network send this one, and wallets get no
/// other: it would mark their transactions.
const MASK: u64 = 10_000;

/// The lowest fee of a byte that nodes accept where blocks are small and the reward is 0.6 XMR. No network
/// has a lower reward.
const LEAST: u64 = 19_000;

#[derive(Deserialize)]
struct Parameters {
    #[serde(default)]
    grace_blocks: u64,
}

#[derive(Deserialize)]
struct Answer {
    result: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    status: String,
    fee: u64,
    #[serde(default)]
    fees: Vec<u64>,
    #[serde(default)]
    quantization_mask: u64,
}

/// Answers `get_fee_estimate` with the lower of two nodes' estimates for each priority, or with the
/// guard's own. Does not wait until the chain is read: a wallet that already knows the height would
/// otherwise pay its built-in fee. The request began at `begun`.
pub(crate) fn estimate(
    service: &Service,
    begun: Instant,
    params: Option<&RawValue>,
) -> Result<Value, Refusal> {
    let params = params.map_or("{}", RawValue::get);
    let Parameters { grace_blocks } = serde_json::from_str(params)
        .map_err(|problem| Refusal::Request(format!("{METHOD}: {problem}")))?;
    let paid = paid(service, begun);
    let estimated = paid.clone().and_then(|paid| lower_of_two(service, begun, grace_blocks, paid));
    let fees = estimated.unwrap_or_else(|refusal| {
        if paid.is_err() {
            service.journal.count_not_verified(CONSTANT);
        }
        let fees = own(paid.ok());
        service.journal.log(&format!("{METHOD}: {refusal}; the guard sends its own: {fees:?}"));
        fees
    });
    Ok(json!({
        "status": "OK",
        "untrusted": false,
        "fee": fees[0],
        "fees": fees,
        "quantization_mask": MASK,
    }))
}

/// Returns the lower of two nodes' plausible estimates for each priority, for a request that began at `begun`.
fn lower_of_two(
    service: &Service,
    begun: Instant,
    grace_blocks: u64,
    paid: Paid,
) -> Result<Fees, Refusal> {
    let call = Call::json_rpc(METHOD, &json!({ "grace_blocks": grace_blocks }), 16 << 10);
    let judge = |answer: &[u8]| {
        let Answer { result } = serde_json::from_slice(answer)
            .map_err(|problem| Fault::Unusable(problem.to_string()))?;
        if result.status != "OK" {
            return Err(Fault::Unusable(format!("the node answered {:?}", result.status)));
        }
        check(&result, paid)
    };
    let estimates = without_liars(|| service.nodes.ask_two(begun, &call, judge))?;
    service.journal.not_verified(METHOD);
    if let [one, other] = estimates[..]
        && one.iter().zip(other).any(|(one, other)| one.abs_diff(other) > *one.min(&other))
    {
        service.journal.log(&format!("fee estimates of two nodes differ: {one:?} and {other:?}"));
    }
    let lower = |one: Fees, other: Fees| std::array::from_fn(|place| one[place].min(other[place]));
    let lowest = estimates.into_iter().reduce(lower);
    lowest.ok_or_else(|| Refusal::Unusable("no estimate".to_owned()))
}

/// Returns the estimates of nodes where blocks are small, given what blocks paid if that is known.
fn own(paid: Option<Paid>) -> Fees {
    let accepted = paid.map_or(LEAST, |paid| paid.lowest.max(LEAST));
    // Nodes accept 5% less than they estimate, and round estimates up to two digits.
    let lowest = accepted.saturating_mul(20) / 19;
    PRIORITIES.map(|factor| {
        let fee = lowest.saturating_mul(factor);
        let unit = 10_u64.pow(fee.ilog10().saturating_sub(1));
        fee.div_ceil(unit).saturating_mul(unit)
    })
}

/// Repeats a request while nodes lie. Each lie drops a node.
fn without_liars<T>(request: impl Fn() -> Result<T, Refusal>) -> Result<T, Refusal> {
    loop {
        match request() {
            Err(Refusal::Lie { .. }) => {}
            outcome => return outcome,
        }
    }
}

/// Compares an estimate with the limits, and returns the fees in it.
fn check(estimate: &Estimate, paid: Paid) -> Result<Fees, Fault> {
    let limit = paid.limit();
    let mask = estimate.quantization_mask;
    if mask > MASK {
        let reason = format!("quantization_mask: expected at most {MASK}, got {mask}");
        return Err(Lie::new(reason).with("quantization_mask", mask).into());
    }
    let all = estimate.fees.iter().zip(PRIORITIES).chain([(&estimate.fee, 1)]);
    for (&fee, factor) in all {
        let most = limit.saturating_mul(factor);
        if fee > most {
            let times = MULTIPLE * factor;
            let reason = format!(
                "the fee estimate {fee} for a byte exceeds {most}, {times} times what recent blocks paid"
            );
            let lie =
                Lie::new(reason).with("fee", estimate.fee).with("fees", estimate.fees.clone());
            return Err(lie.with("median", paid.median).with("lowest", paid.lowest).into());
        }
    }
    Fees::try_from(estimate.fees.as_slice()).map_err(|_| {
        let (expected, got) = (PRIORITIES.len(), estimate.fees.len());
        Fault::Unusable(format!("fees: expected {expected}, got {got}"))
    })
}

/// Returns what the newest blocks paid, or what those did that were read last.
fn paid(service: &Service, begun: Instant) -> Result<Paid, Refusal> {
    let newest = without_liars(|| recent(service, &*service.chain.view()?, begun));
    newest.or_else(|refusal| {
        let last = *service.paid.lock().unwrap_or_else(PoisonError::into_inner);
        last.map(|(_, paid)| paid).ok_or(refusal)
    })
}

/// Returns what the newest blocks paid. They are fetched once for each tip.
fn recent(service: &Service, view: &View, begun: Instant) -> Result<Paid, Refusal> {
    let (tip, id) = view.tip();
    if let Some((known, paid)) = *service.paid.lock().unwrap_or_else(PoisonError::into_inner)
        && known == id
    {
        return Ok(paid);
    }
    let heights: Vec<u64> = (tip.saturating_sub(BLOCKS - 1).max(1)..=tip).collect();
    // No block has paid anything before the first one is verified, and every estimate would exceed that.
    if heights.is_empty() {
        return Err(Refusal::Busy(READING.to_owned()));
    }
    let paid = blocks::fetch(service, view, begun, &heights, LARGE, |_, checked| {
        let mut paid = Payments::default();
        for Checked { block, transactions } in checked {
            let sum = block.miner_transaction.sum.unwrap_or(0);
            let fees = transactions.iter().map(|found| (found.fee.unwrap_or(0), found.size()));
            paid.add(sum, fees);
        }
        Ok(paid.finish())
    })?;
    *service.paid.lock().unwrap_or_else(PoisonError::into_inner) = Some((id, paid));
    Ok(paid)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    const HONEST: Fees = [20_000, 80_000, 320_000, 4_000_000];

    fn estimate(fee: u64, fees: &[u64]) -> Estimate {
        let (status, fees) = ("OK".to_owned(), fees.to_vec());
        Estimate { status, fee, fees, quantization_mask: MASK }
    }

    #[test]
    fn an_estimate_that_follows_from_no_block_is_not_verified() {
        let service = Service::before(iter::empty());
        let counted = || {
            let answer =
                service.journal.count(METHOD, || super::estimate(&service, Instant::now(), None));
            assert_eq!(answer.expect("an estimate")["fees"], json!(HONEST));
            let described = service.journal.describe();
            (described["verified"].clone(), described["notVerified"].clone())
        };
        assert_eq!(counted(), (json!({}), json!({ CONSTANT: 1 })));
        // No node sends an estimate, but the guard has read a block.
        *service.paid.lock().expect("no panic") =
            Some(([7; 32], Paid { median: Some(20_000), lowest: 19_000 }));
        assert_eq!(counted(), (json!({ METHOD: 1 }), json!({ CONSTANT: 1 })));
    }

    #[test]
    fn fees_are_rounded_as_nodes_do() {
        let paid = Paid { median: Some(20_000), lowest: 19_000 };
        let rounded = |mask| Estimate { quantization_mask: mask, ..estimate(20_000, &HONEST) };
        for mask in [0, 1, MASK] {
            assert!(check(&rounded(mask), paid).is_ok(), "{mask}");
        }
        for mask in [MASK + 1, 1_000_000_000_000, u64::MAX] {
            assert!(matches!(check(&rounded(mask), paid), Err(Fault::Lie(_))), "{mask}");
        }
    }

    #[test]
    fn each_priority_has_its_limit() {
        let paid = Paid { median: Some(20_000), lowest: 19_000 };
        assert!(check(&estimate(20_000, &HONEST), paid).is_ok());
        assert!(check(&estimate(200_000, &HONEST), paid).is_ok());
        for (fee, fees) in [
            (200_001, vec![]),
            (20_000, vec![200_001]),
            (20_000, vec![20_000, 800_001]),
            (20_000, vec![20_000, 80_000, 3_200_001]),
            (20_000, vec![20_000, 80_000, 320_000, 40_000_001]),
            (u64::MAX, vec![]),
        ] {
            let outcome = check(&estimate(fee, &fees), paid);
            assert!(matches!(outcome, Err(Fault::Lie(_))), "{fee} {fees:?}");
        }
        let outcome = check(&estimate(20_000, &[20_000, 80_000, 320_000, 40_000_001]), paid);
        let Err(Fault::Lie(lie)) = outcome else { panic!("the fourth fee is above its limit") };
        let limit = "40000000, 2000 times what recent blocks paid";
        assert_eq!(lie.reason, format!("the fee estimate 40000001 for a byte exceeds {limit}"));
        let none = Paid { median: None, lowest: 19_000 };
        assert!(check(&estimate(190_000, &HONEST), none).is_ok());
        assert!(check(&estimate(190_001, &HONEST), none).is_err());
    }

    #[test]
    fn an_estimate_has_a_fee_for_each_priority() {
        let paid = Paid { median: Some(20_000), lowest: 19_000 };
        for fees in [&HONEST[..0], &HONEST[..3], &[20_000; 5]] {
            let outcome = check(&estimate(20_000, fees), paid);
            assert!(matches!(outcome, Err(Fault::Unusable(_))), "{fees:?}");
        }
    }

    #[test]
    fn the_guards_own_estimate_is_that_of_nodes() {
        assert_eq!(own(None), HONEST);
        assert_eq!(own(Some(Paid { median: Some(7), lowest: 19_000 })), HONEST);
        assert_eq!(own(Some(Paid { median: None, lowest: 0 })), HONEST);
        // A reward of 35 XMR.
        let early = own(Some(Paid { median: None, lowest: 1_108_333 }));
        assert_eq!(early, [1_200_000, 4_700_000, 19_000_000, 240_000_000]);
        assert_eq!(own(Some(Paid { median: None, lowest: u64::MAX }))[3], u64::MAX);
    }
}
