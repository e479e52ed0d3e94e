//! Fee estimates, compared with the fees in recent verified blocks.

use std::sync::PoisonError;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::blocks::{self, Checked};
use crate::chain::View;
use crate::journal::Lie;
use crate::nodes::{Call, Fault};
use crate::paid::{MULTIPLE, Paid, Payments};
use crate::refusal::Refusal;
use crate::service::Service;

/// The number of recent blocks whose fees are read.
const BLOCKS: u64 = 10;

/// How much more the four priorities cost than the lowest, at most, by the nodes' own rule.
const PRIORITIES: [u64; 4] = [1, 4, 16, 200];

/// The multiple to which wallets round fees up. Nodes of every network send this one.
const MASK: u64 = 10_000;

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

/// Answers `get_fee_estimate` with the lower of two nodes' estimates.
pub(crate) fn estimate(service: &Service, params: Option<&RawValue>) -> Result<Value, Refusal> {
    let params = params.map_or("{}", RawValue::get);
    let Parameters { grace_blocks } = serde_json::from_str(params)
        .map_err(|problem| Refusal::Request(format!("get_fee_estimate: {problem}")))?;
    let view = service.chain.view()?;
    let paid = recent(service, &view)?;
    let method = "get_fee_estimate";
    let call = Call::json_rpc(method, &json!({ "grace_blocks": grace_blocks }), 16 << 10);
    let estimates = service.nodes.ask_two(&call, |answer| {
        let Answer { result } = serde_json::from_slice(answer)
            .map_err(|problem| Fault::Unusable(problem.to_string()))?;
        if result.status != "OK" {
            return Err(Fault::Unusable(format!("the node answered {:?}", result.status)));
        }
        check(&result, paid)?;
        Ok(result)
    })?;
    service.journal.not_verified(method);
    let lowest = estimates.iter().min_by_key(|estimate| estimate.fee);
    let highest = estimates.iter().max_by_key(|estimate| estimate.fee);
    let (Some(lowest), Some(highest)) = (lowest, highest) else {
        return Err(Refusal::Unusable("no estimate".to_owned()));
    };
    if highest.fee > lowest.fee.saturating_mul(2) {
        let (low, high) = (lowest.fee, highest.fee);
        service.journal.log(&format!("fee estimates of two nodes differ: {low} and {high}"));
    }
    Ok(json!({
        "status": "OK",
        "untrusted": false,
        "fee": lowest.fee,
        "fees": lowest.fees,
        // Wallets divide by it, and replace 0 in the same way.
        "quantization_mask": lowest.quantization_mask.max(1),
    }))
}

/// Compares an estimate with the limits.
fn check(estimate: &Estimate, paid: Paid) -> Result<(), Fault> {
    let limit = paid.limit();
    if estimate.fees.len() > PRIORITIES.len() {
        let (expected, got) = (PRIORITIES.len(), estimate.fees.len());
        return Err(Fault::Unusable(format!("fees: expected at most {expected}, got {got}")));
    }
    let mask = estimate.quantization_mask;
    if mask > MASK {
        let reason = format!("quantization_mask: expected at most {MASK}, got {mask}");
        return Err(Lie::new(reason).with("quantization_mask", mask).into());
    }
    let all = estimate.fees.iter().zip(PRIORITIES).chain([(&estimate.fee, 1)]);
    for (&fee, factor) in all {
        let most = limit.saturating_mul(factor);
        if fee > most {
            let reason = format!(
                "the fee estimate {fee} for a byte exceeds {most}, {MULTIPLE} times what recent blocks paid"
            );
            let lie =
                Lie::new(reason).with("fee", estimate.fee).with("fees", estimate.fees.clone());
            return Err(lie.with("median", paid.median).with("lowest", paid.lowest).into());
        }
    }
    Ok(())
}

/// Returns what the newest blocks paid. They are fetched once for each tip.
fn recent(service: &Service, view: &View) -> Result<Paid, Refusal> {
    let (tip, id) = view.tip();
    if let Some((known, paid)) = *service.paid.lock().unwrap_or_else(PoisonError::into_inner)
        && known == id
    {
        return Ok(paid);
    }
    let heights: Vec<u64> = (tip.saturating_sub(BLOCKS - 1).max(1)..=tip).collect();
    let paid = blocks::fetch(service, view, &heights, |_, checked| {
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
    use super::*;

    fn estimate(fee: u64, fees: &[u64]) -> Estimate {
        let (status, fees) = ("OK".to_owned(), fees.to_vec());
        Estimate { status, fee, fees, quantization_mask: MASK }
    }

    #[test]
    fn fees_are_rounded_as_nodes_do() {
        let paid = Paid { median: Some(20_000), lowest: 19_000 };
        let rounded = |mask| Estimate { quantization_mask: mask, ..estimate(20_000, &[]) };
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
        let honest = [20_000, 80_000, 320_000, 4_000_000];
        assert!(check(&estimate(20_000, &honest), paid).is_ok());
        assert!(check(&estimate(200_000, &[]), paid).is_ok());
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
        let none = Paid { median: None, lowest: 19_000 };
        assert!(check(&estimate(190_000, &[]), none).is_ok());
        assert!(check(&estimate(190_001, &[]), none).is_err());
    }
}
