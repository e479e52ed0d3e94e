//! Checks of one block by itself.

use crate::block::Block;
use crate::checks::{Check, CheckName};
use crate::hash::{Hash, Hex};
use crate::header::{BlockHeader, HashingBlob, unknown_version};
use crate::network::{LATEST_VERSION, Network, RANDOMX_VERSION};

/// Why rules are not checked for blocks of a version before [`RANDOMX_VERSION`].
const EARLIER_RULES: &str = "the rules before RandomX are not known";

/// A block to check, whole or only its hashing blob, with what its source says about it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Candidate<'a> {
    /// The block blob.
    pub block: Option<&'a [u8]>,
    /// The hashing blob. If a block blob is given too, the two are compared.
    pub hashing_blob: Option<&'a [u8]>,
    /// The expected id.
    pub id: Option<Hash>,
    /// The expected height.
    pub height: Option<u64>,
}

/// The result of checking a block by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    /// The checks that need only the block, from `block` to `id`.
    pub checks: Vec<Check>,
    /// The bytes to hash, if the block could be parsed.
    pub hashing_blob: Option<HashingBlob>,
    /// The block's id, if the block could be parsed.
    pub id: Option<Hash>,
    /// The height in the miner transaction, or else the expected one.
    pub height: Option<u64>,
    /// The hashes of the block's transactions, the miner's first. Empty for a hashing blob.
    pub transaction_ids: Vec<Hash>,
}

/// Checks a block by itself: whether it can be parsed, agrees with its source, has a version that
/// `network` has at its height, and follows the rules that need no other block. Of a block from before
/// RandomX, the vote and the miner transaction are not checked.
///
/// A [`Chain`](crate::Chain) checks the rules that need the blocks before it.
pub fn examine(candidate: &Candidate<'_>, network: Network) -> Examination {
    let (block, blob, mut checks) = parse(candidate);
    let id = blob.as_ref().map(HashingBlob::id);
    let height = candidate.height.or(block.as_ref().map(Block::height));
    if let (Some(blob), Some(id)) = (&blob, &id) {
        let header = &blob.header;
        checks.push(check_version(header.major_version, height, network));
        checks.push(check_vote(header));
        checks.push(check_height(block.as_ref(), candidate.height));
        checks.extend(check_transactions(block.as_ref(), candidate.height));
        checks.push(match &candidate.id {
            Some(expected) => CheckName::Id.is_hash(expected, id),
            None => CheckName::Id.not_checked("no id was given"),
        });
    } else {
        checks.push(check_unparsed_version(candidate));
        let rest = [
            CheckName::Vote,
            CheckName::Height,
            CheckName::MinerTransaction,
            CheckName::Transactions,
            CheckName::Id,
        ];
        checks.extend(rest.map(|name| name.not_checked("the block could not be parsed")));
    }
    Examination {
        checks,
        hashing_blob: blob,
        id,
        height: block.as_ref().map(Block::height).or(candidate.height),
        transaction_ids: block.as_ref().map(Block::transaction_ids).unwrap_or_default(),
    }
}

/// Checks a major version against the network's table, or against all known versions of RandomX if
/// the height is unknown.
pub(crate) fn check_version(version: u8, height: Option<u64>, network: Network) -> Check {
    let name = CheckName::Version;
    if version > LATEST_VERSION {
        return name.update_needed(format!(
            "major version {version}: this release knows versions up to {LATEST_VERSION}"
        ));
    }
    if let Some(height) = height {
        let expected = network.version_at(height);
        if version > expected {
            return name.update_needed(format!(
                "major version {version}: this release expects {expected} on {network} at height \
                 {height}"
            ));
        }
        if version < expected {
            return name.failed(format!(
                "major version: expected {expected} on {network} at height {height}, got {version}"
            ));
        }
    }
    if version < RANDOMX_VERSION {
        return name.update_needed(format!(
            "major version {version}: its proof of work is not RandomX, which began with \
             {RANDOMX_VERSION}"
        ));
    }
    name.passed(format!("major version {version}"))
}

/// A block that cannot be parsed may have a format of the future.
fn check_unparsed_version(candidate: &Candidate<'_>) -> Check {
    let bytes = candidate.block.or(candidate.hashing_blob).unwrap_or_default();
    match unknown_version(bytes) {
        Some(version) => check_version(version, None, Network::Mainnet),
        None => CheckName::Version.not_checked("the block could not be parsed"),
    }
}

fn check_vote(header: &BlockHeader) -> Check {
    let (version, vote) = (header.major_version, header.minor_version);
    if version < RANDOMX_VERSION {
        return CheckName::Vote.not_checked(EARLIER_RULES);
    }
    let detail = format!("expected a vote for at least version {version}, got {vote}");
    CheckName::Vote.passes_if(vote >= version, detail)
}

/// Parses the block or its hashing blob, and checks both.
fn parse(candidate: &Candidate<'_>) -> (Option<Block>, Option<HashingBlob>, Vec<Check>) {
    use CheckName::{Block as Whole, HashingBlob as Blob};
    match (candidate.block, candidate.hashing_blob) {
        (Some(bytes), given) => match Block::parse(bytes) {
            Ok(block) => {
                let blob = block.hashing_blob().clone();
                let checks = vec![
                    Whole.passed(format!("a block of {} bytes", bytes.len())),
                    check_same_blob(given, &blob),
                ];
                (Some(block), Some(blob), checks)
            }
            Err(error) => {
                let unparsed = Blob.not_checked("the block could not be parsed");
                (None, None, vec![Whole.failed(error.to_string()), unparsed])
            }
        },
        (None, Some(bytes)) => match HashingBlob::parse(bytes) {
            Ok(blob) => {
                let detail = format!("a hashing blob of {} bytes", bytes.len());
                let alone = Blob.not_checked("no block was given to compare it with");
                (None, Some(blob), vec![Whole.passed(detail), alone])
            }
            Err(error) => {
                let unparsed = Blob.not_checked("it could not be parsed");
                (None, None, vec![Whole.failed(error.to_string()), unparsed])
            }
        },
        (None, None) => {
            let detail = "expected a block or a hashing blob, got neither";
            (None, None, vec![Whole.failed(detail), Blob.not_checked(detail)])
        }
    }
}

fn check_same_blob(given: Option<&[u8]>, blob: &HashingBlob) -> Check {
    match given {
        None => CheckName::HashingBlob.not_checked("no hashing blob was given"),
        Some(given) if given == blob.as_bytes() => {
            CheckName::HashingBlob.passed("the given hashing blob is the block's")
        }
        Some(_) => CheckName::HashingBlob.failed("the given hashing blob is not the block's"),
    }
}

fn check_height(block: Option<&Block>, expected: Option<u64>) -> Check {
    match (block, expected) {
        (Some(block), Some(expected)) => {
            let got = block.height();
            let detail = format!("expected {expected}, the miner transaction has {got}");
            CheckName::Height.passes_if(got == expected, detail)
        }
        (Some(block), None) => {
            let detail =
                format!("no height was given; the miner transaction has {}", block.height());
            CheckName::Height.not_checked(detail)
        }
        (None, _) => CheckName::Height.not_checked("a hashing blob does not contain its height"),
    }
}

fn check_transactions(block: Option<&Block>, height: Option<u64>) -> [Check; 2] {
    let Some(block) = block else {
        return [CheckName::MinerTransaction, CheckName::Transactions]
            .map(|name| name.not_checked("a hashing blob does not contain it"));
    };
    let transaction = &block.miner_transaction;
    let version = block.header().major_version;
    let ids = block.transaction_ids();
    let name = CheckName::Transactions;
    let unique = match repeated(&ids) {
        Some(id) => name.failed(format!("transaction {} is listed twice", Hex(&id))),
        None => name.passed(format!("{} transactions, all different", ids.len())),
    };
    let paid = if version < RANDOMX_VERSION {
        CheckName::MinerTransaction.not_checked(EARLIER_RULES)
    } else {
        transaction.check(version, height.unwrap_or(transaction.height))
    };
    [paid, unique]
}

/// Returns the first id that also comes before. A set would be 2 KiB of the download of a page.
fn repeated(ids: &[Hash]) -> Option<Hash> {
    let mut places: Vec<usize> = (0..ids.len()).collect();
    places.sort_unstable_by_key(|&place| (ids[place], place));
    let later = places.windows(2).filter(|pair| ids[pair[0]] == ids[pair[1]]).map(|pair| pair[1]);
    later.min().map(|place| ids[place])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::Outcome::{self, Failed, Passed, UpdateNeeded};

    fn version(version: u8, height: Option<u64>) -> Outcome {
        check_version(version, height, Network::Mainnet).outcome
    }

    #[test]
    fn the_first_repetition_is_found() {
        let found = |ids: &[u8]| {
            let ids: Vec<Hash> = ids.iter().map(|&id| [id; 32]).collect();
            repeated(&ids).map(|id| id[0])
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[3, 1, 2]), None);
        assert_eq!(found(&[3, 1, 1, 3]), Some(1));
        assert_eq!(found(&[9, 1, 9, 1, 9]), Some(9));
        assert_eq!(found(&[1, 9, 9, 9, 1]), Some(9));
    }

    #[test]
    fn unknown_versions_need_an_update() {
        for unknown in [17, 18, 127, 128, 255] {
            assert_eq!(version(unknown, None), UpdateNeeded, "{unknown}");
            assert_eq!(version(unknown, Some(3_700_000)), UpdateNeeded, "{unknown}");
        }
        for known in 12..=16 {
            assert_eq!(version(known, None), Passed, "{known}");
        }
        for older in 0..12 {
            assert_eq!(version(older, None), UpdateNeeded, "{older}");
        }
    }

    #[test]
    fn the_networks_table_decides_where_the_height_is_known() {
        assert_eq!(version(16, Some(2_689_608)), Passed);
        assert_eq!(version(15, Some(2_689_608)), Failed);
        assert_eq!(version(12, Some(3_700_000)), Failed);
        assert_eq!(version(16, Some(2_689_607)), UpdateNeeded);
        assert_eq!(version(11, Some(1_978_432)), UpdateNeeded, "CryptoNight");
        assert_eq!(version(12, Some(1_978_433)), Passed);
        let regtest = |version| check_version(version, Some(1), Network::Regtest).outcome;
        assert_eq!((regtest(16), regtest(15)), (Passed, Failed));
    }

    #[test]
    fn a_block_of_an_unknown_format_needs_an_update() {
        for bytes in [&[17_u8][..], &[0xff, 1, 2, 3]] {
            let candidate = Candidate { block: Some(bytes), ..Candidate::default() };
            let examination = examine(&candidate, Network::Mainnet);
            let check = examination.checks.iter().find(|check| check.name == CheckName::Version);
            assert_eq!(check.map(|check| check.outcome), Some(UpdateNeeded));
        }
    }
}
