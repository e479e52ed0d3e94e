//! Requests for outputs, from which wallets choose decoys: `get_outs.bin`.

use crate::epee::{
    self, FormatError, Writer, boolean, check_status, hashes, list, number, once, text,
};

use super::facts::Facts;

/// The most outputs in a request. Restricted nodes answer 5,000.
const MAX_OUTPUTS: usize = 65_536;

/// Checks that an answer has as many outputs as requested.
pub(super) fn check(request: &[u8], answer: &[u8]) -> Result<Facts, String> {
    let malformed = |problem: FormatError| problem.to_string();
    let wanted = requested(request).map_err(malformed)?.len();
    let facts = facts(answer).map_err(malformed)?;
    let got = facts.unlocked.len();
    if got == wanted { Ok(facts) } else { Err(format!("outs: expected {wanted}, got {got}")) }
}

/// Returns the amount and the index of each output in a request.
fn requested(request: &[u8]) -> Result<Vec<(u64, u64)>, FormatError> {
    let mut outputs = None;
    epee::read(request, |name, entry| match name {
        b"outputs" => {
            let read = list(entry, MAX_OUTPUTS, |entry| {
                let (mut amount, mut index) = (None, None);
                epee::object(entry, |name, entry| match name {
                    b"amount" => once(&mut amount, "amount", number(entry)?),
                    b"index" => once(&mut index, "index", number(entry)?),
                    _ => Ok(()),
                })?;
                Ok((amount.unwrap_or(0), index.unwrap_or(0)))
            })?;
            once(&mut outputs, "outputs", read)
        }
        _ => Ok(()),
    })?;
    Ok(outputs.unwrap_or_default())
}

/// Returns a request without the field by which a node recognises a wallet again.
pub(super) fn rewrite(request: &[u8]) -> Result<Vec<u8>, FormatError> {
    let outputs = requested(request)?;
    let mut get_txid = None;
    epee::read(request, |name, entry| match name {
        b"get_txid" => once(&mut get_txid, "get_txid", boolean(entry)?),
        _ => Ok(()),
    })?;
    let mut writer = Writer::new();
    writer.flag("get_txid", get_txid.unwrap_or(true));
    writer.objects("outputs", outputs.len(), |writer, place| {
        let (amount, index) = outputs[place];
        writer.number("amount", amount);
        writer.number("index", index);
    });
    Ok(writer.finish())
}

/// Returns the key and the commitment of each output in an answer, and whether it is unlocked. Wallets use no
/// other output as a decoy.
fn facts(answer: &[u8]) -> Result<Facts, FormatError> {
    let (mut status, mut outputs) = (None, None);
    epee::read(answer, |name, entry| match name {
        b"status" => once(&mut status, "status", text(entry)?),
        b"outs" => {
            let mut facts = Facts::default();
            facts.unlocked = list(entry, MAX_OUTPUTS, |entry| {
                let (mut key, mut mask, mut unlocked) = (None, None, None);
                epee::object(entry, |name, entry| match name {
                    b"key" => once(&mut key, "key", hashes(entry)?),
                    b"mask" => once(&mut mask, "mask", hashes(entry)?),
                    b"unlocked" => once(&mut unlocked, "unlocked", boolean(entry)?),
                    _ => Ok(()),
                })?;
                let (Some([key]), Some([mask])) = (key, mask) else {
                    return Err(FormatError::Hashes);
                };
                facts.same.extend([key, mask].map(|bytes| &bytes[..]).concat());
                Ok(unlocked.unwrap_or(false))
            })?;
            once(&mut outputs, "outs", facts)
        }
        _ => Ok(()),
    })?;
    check_status(status)?;
    Ok(outputs.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a request for so many outputs.
    fn outputs(count: usize) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.objects("outputs", count, |writer, index| writer.number("index", index as u64));
        writer.finish()
    }

    /// Returns an answer with the key and the commitment of each output, and those that are unlocked.
    fn keys(status: &str, outputs: &[[u8; 2]], unlocked: &[bool]) -> Vec<u8> {
        let mut writer = Writer::new();
        writer.bytes("status", status.as_bytes());
        writer.objects("outs", outputs.len(), |writer, index| {
            let [key, mask] = outputs[index];
            writer.bytes("key", &[key; 32]);
            writer.bytes("mask", &[mask; 32]);
            if let Some(unlocked) = unlocked.get(index) {
                writer.flag("unlocked", *unlocked);
            }
        });
        writer.finish()
    }

    fn checked(answer: &[u8]) -> Result<Facts, String> {
        check(&outputs(2), answer)
    }

    #[test]
    fn outputs_are_compared_by_key_and_commitment() {
        let honest = checked(&keys("OK", &[[1, 2], [3, 4]], &[])).expect("plausible");
        assert!(honest.covers(&honest));
        for other in [[[9, 2], [3, 4]], [[1, 9], [3, 4]], [[1, 2], [3, 9]], [[3, 4], [1, 2]]] {
            let other = checked(&keys("OK", &other, &[])).expect("plausible");
            assert_ne!(other, honest);
            assert!(!honest.covers(&other) && !other.covers(&honest));
        }
        for count in [0, 1, 3] {
            assert!(checked(&keys("OK", &vec![[1, 2]; count], &[])).is_err(), "{count}");
        }
        assert!(checked(&keys("Failed", &[[1, 2], [3, 4]], &[])).is_err());
    }

    #[test]
    fn outputs_are_locked_unless_the_node_says_otherwise() {
        for (said, unlocked) in [(&[][..], [false; 2]), (&[false, true], [false, true])] {
            let facts = checked(&keys("OK", &[[1, 2], [3, 4]], said)).expect("plausible");
            assert_eq!(facts.unlocked, unlocked);
        }
    }
}
