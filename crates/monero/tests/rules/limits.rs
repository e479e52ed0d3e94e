//! Values at the edges of what candidates, chains and checkpoints may have, and the messages about
//! values beyond them.

use randomx_monero::client::{
    Client, Config, EvidenceError, SourceState, Start, StartError, StoreError,
};
use randomx_monero::{
    Anchor, Block, Candidate, Chain, ChainError, Check, CheckName, Checkpoint, CheckpointError,
    Difficulty, LATEST_VERSION, Link, MAX_HEIGHT, Network, Outcome, RecentBlock, SEED_EPOCH_BLOCKS,
    Seed, Status, Transaction, examine,
};
use randomx_testing::blocks::block;

const NOW: u64 = 1_700_000_000;

/// A chain's most work, as the checkpoint's rule states it.
const MAX_WORK: u128 = u128::MAX / 2;

#[test]
fn no_block_is_above_the_greatest_height() {
    let beyond = Chain::begin_at(MAX_HEIGHT + 1, Network::Regtest).map(|_| ());
    assert_eq!(beyond, Err(CheckpointError::FirstHeight));
    let mut chain = Chain::begin_at(MAX_HEIGHT, Network::Regtest).expect("a height");
    let blob = block(MAX_HEIGHT, NOW, &[1; 32], 0);
    let link = Link {
        block: Candidate { block: Some(&blob), ..Candidate::default() },
        seed_hash: Some([2; 32]),
        difficulty: "1".parse().ok(),
    };
    assert!(chain.push(&link, NOW).expect("the last block").is_some());
    assert_eq!(chain.next_height(), MAX_HEIGHT + 1);
    assert_eq!(chain.push(&link, NOW), Err(ChainError::TooHigh));
}

/// A checkpoint of one block and no work, which a change makes malformed or not.
fn form(change: impl FnOnce(&mut Checkpoint)) -> Result<(), CheckpointError> {
    let recent = vec![RecentBlock { timestamp: NOW, difficulty: 7 }];
    let mut checkpoint = Checkpoint { height: 3 * SEED_EPOCH_BLOCKS, work: 0, recent, ..genesis() };
    change(&mut checkpoint);
    Chain::resume_unchecked(checkpoint, Network::Regtest).map(|_| ())
}

fn genesis() -> Checkpoint {
    Checkpoint::genesis(Network::Regtest)
}

#[test]
fn work_and_heights_of_checkpoints_are_bounded() {
    assert_eq!(form(|_| {}), Ok(()));
    assert_eq!(form(|c| c.height = MAX_HEIGHT - 1), Ok(()));
    assert_eq!(form(|c| c.height = MAX_HEIGHT), Err(CheckpointError::Height));
    assert_eq!(form(|c| c.work = 7), Ok(()));
    assert_eq!(form(|c| c.work = 6), Err(CheckpointError::Work));
    assert_eq!(form(|c| c.work = MAX_WORK), Ok(()));
    assert_eq!(form(|c| c.work = MAX_WORK + 1), Err(CheckpointError::Work));
    assert_eq!(form(|c| c.recent[0].difficulty = MAX_WORK), Ok(()));
    assert_eq!(form(|c| c.recent[0].difficulty = MAX_WORK + 1), Err(CheckpointError::Difficulty));
    assert_eq!(form(|c| c.recent[0].difficulty = 0), Err(CheckpointError::Difficulty));
}

#[test]
fn seeds_of_checkpoints_ascend_within_the_chain() {
    let with = |heights: &[u64]| {
        let seeds = heights.iter().map(|&height| Seed { height, id: [1; 32] }).collect();
        form(|c| c.seeds = seeds)
    };
    let epochs = |numbers: &[u64]| -> Vec<u64> {
        numbers.iter().map(|number| number * SEED_EPOCH_BLOCKS).collect()
    };
    assert_eq!(with(&epochs(&[1, 3])), Ok(()));
    for wrong in [&[2, 1][..], &[2, 2], &[3, 4], &[1, 2, 3]] {
        assert_eq!(with(&epochs(wrong)), Err(CheckpointError::Seeds), "{wrong:?}");
    }
    assert_eq!(with(&[SEED_EPOCH_BLOCKS + 1]), Err(CheckpointError::Seeds));
}

#[test]
fn an_unknown_sum_of_work_stays_unknown() {
    let start = Checkpoint { work: 0, ..genesis() };
    let mut chain = Chain::resume(start, Network::Regtest).expect("a checkpoint");
    let blob = block(1, NOW, &Network::Regtest.genesis_id(), 0);
    let block = Candidate { block: Some(&blob), ..Candidate::default() };
    chain.push(&Link { block, ..Link::default() }, NOW).expect("a block");
    assert_eq!(chain.settle(Some([0; 32])).expect("a block").status, Status::Valid);
    let checkpoint = chain.checkpoint().expect("a proven block");
    assert_eq!((checkpoint.height, checkpoint.work), (1, 0));
}

/// The key changes after block 2112, and with it the seeds that a checkpoint needs.
#[test]
fn a_checkpoint_has_the_seeds_of_the_next_blocks() {
    let seeds = [0, 2048].map(|height| Seed { height, id: [2; 32] });
    for (height, needed) in [(2111, &seeds[..]), (2112, &seeds[1..])] {
        let recent = vec![RecentBlock { timestamp: NOW - 100, difficulty: 7 }; 735];
        let (id, work) = ([1; 32], 0);
        let start = Checkpoint { height: height - 1, id, work, recent, seeds: seeds.to_vec() };
        let mut chain = Chain::resume_unchecked(start, Network::Regtest).expect("a checkpoint");
        let blob = block(height, NOW, &id, 0);
        let block = Candidate { block: Some(&blob), ..Candidate::default() };
        chain.push(&Link { block, ..Link::default() }, NOW).expect("a block");
        assert_eq!(chain.settle(Some([0; 32])).expect("a block").status, Status::Valid);
        assert_eq!(chain.checkpoint().expect("a proven block").seeds, needed);
    }
}

/// Judges the first block of a chain, and returns one of its checks.
fn check(chain: Chain, link: &Link<'_>, name: CheckName) -> Check {
    let mut chain = chain;
    chain.push(link, NOW).expect("a block");
    let verdict = chain.settle(Some([0; 32])).expect("a block");
    verdict.checks.into_iter().find(|check| check.name == name).expect("each check")
}

fn regtest() -> Chain {
    Chain::resume(genesis(), Network::Regtest).expect("a checkpoint")
}

#[test]
fn the_sources_height_is_compared_and_stands_in_for_the_blocks() {
    let bytes = block(1, NOW, &Network::Regtest.genesis_id(), 0);
    let parsed = Block::parse(&bytes).expect("a block");
    let whole = Candidate { block: Some(&bytes), ..Candidate::default() };
    let blob = parsed.hashing_blob().as_bytes();
    let blob = Candidate { hashing_blob: Some(blob), ..Candidate::default() };
    let judged = |candidate: Candidate<'_>, height| {
        let block = Candidate { height, ..candidate };
        check(regtest(), &Link { block, ..Link::default() }, CheckName::Height)
    };
    assert_eq!(judged(blob, None).outcome, Outcome::NotChecked);
    assert_eq!(judged(blob, Some(1)).outcome, Outcome::Passed);
    assert_eq!(judged(blob, Some(2)).outcome, Outcome::Failed);
    assert_eq!(judged(whole, None), judged(whole, Some(1)), "the block itself has the height");
    assert_eq!(judged(whole, Some(2)).outcome, Outcome::Failed);
}

#[test]
fn a_wrong_difficulty_is_compared_with_the_rules_or_the_fixed_one() {
    let bytes = block(1, NOW, &Network::Regtest.genesis_id(), 0);
    let block = Candidate { block: Some(&bytes), ..Candidate::default() };
    let wrong = Link { block, difficulty: "9".parse().ok(), ..Link::default() };
    let ruled = check(regtest(), &wrong, CheckName::Difficulty).to_string();
    assert!(ruled.contains("the rule demands 1, the source gives 9"), "{ruled}");
    let fixed =
        check(regtest().with_fixed_difficulty(5), &wrong, CheckName::Difficulty).to_string();
    assert!(fixed.contains("expected the fixed difficulty 5, got 9"), "{fixed}");
}

/// Returns a transaction whose signatures have a kind, without what is pruned.
fn signed(kind: u8) -> Vec<u8> {
    let mut blob = vec![2, 0, 1, 2, 0, 1, 9];
    blob.extend([1; 32]);
    blob.extend([1, 0, 2]);
    blob.extend([3; 32]);
    // No extra; the kind and the fee.
    blob.extend([0, kind, 5]);
    // Only version 2 of the signatures has the input's commitment here. Amounts became shorter.
    blob.extend(vec![4; if kind == 2 { 32 } else { 0 }]);
    blob.extend(vec![5; if kind >= 4 { 8 } else { 64 }]);
    blob.extend([6; 32]);
    blob
}

#[test]
fn every_known_kind_of_signatures_is_read_and_no_other() {
    for kind in 1..=6 {
        let blob = signed(kind);
        let parsed = Transaction::parse(&blob).expect("a known kind");
        assert_eq!((parsed.fee, parsed.outputs), (Some(5), 1), "{kind}");
        assert!(parsed.is_pruned() && parsed.pruned() == blob, "{kind}");
        let whole = [&blob[..], &[7; 50]].concat();
        let parsed = Transaction::parse(&whole).expect("a known kind");
        assert!(!parsed.is_pruned() && parsed.pruned() == blob, "{kind}");
    }
    for kind in [7, 8, 255] {
        assert!(Transaction::parse(&signed(kind)).is_err(), "{kind}");
    }
}

#[test]
fn a_transaction_of_version_1_is_pruned_without_its_signatures() {
    // One input, which spends an output to a key or creates money.
    let spent = [&[2, 0, 1, 9][..], &[1; 32]].concat();
    let created = vec![255, 5];
    let with = |inputs: &[&[u8]]| {
        let count = inputs.len() as u8;
        [&[1, 0, count][..], &inputs.concat(), &[1, 0, 2], &[3; 32], &[0]].concat()
    };
    for (inputs, expected) in [
        (&[&spent[..]][..], true),
        (&[&created], false),
        (&[&created, &spent], true),
        (&[&created, &created], true),
        (&[], true),
    ] {
        let blob = with(inputs);
        let parsed = Transaction::parse(&blob).expect("version 1");
        assert_eq!(parsed.is_pruned(), expected, "{inputs:?}");
        let whole = [&blob[..], &[7; 64]].concat();
        assert!(!Transaction::parse(&whole).expect("version 1").is_pruned());
    }
}

fn outcome(candidate: &Candidate<'_>, name: CheckName) -> Outcome {
    let examination = examine(candidate, Network::Regtest);
    examination.checks.iter().find(|check| check.name == name).expect("each check").outcome
}

#[test]
fn a_future_version_is_read_where_the_rest_cannot_be() {
    for (version, expected) in
        [(LATEST_VERSION, Outcome::NotChecked), (LATEST_VERSION + 1, Outcome::UpdateNeeded)]
    {
        let bytes = [version, 0];
        let whole = Candidate { block: Some(&bytes), ..Candidate::default() };
        let blob = Candidate { hashing_blob: Some(&bytes), ..Candidate::default() };
        assert_eq!(outcome(&whole, CheckName::Version), expected, "{version}");
        assert_eq!(outcome(&blob, CheckName::Version), expected, "{version}");
    }
}

#[test]
fn a_given_hashing_blob_is_compared_with_the_block() {
    let bytes = block(1, NOW, &[1; 32], 0);
    let parsed = Block::parse(&bytes).expect("a block");
    let right = parsed.hashing_blob().as_bytes();
    let wrong = &right[1..];
    for (given, expected) in [
        (None, Outcome::NotChecked),
        (Some(right), Outcome::Passed),
        (Some(wrong), Outcome::Failed),
    ] {
        let candidate =
            Candidate { block: Some(&bytes), hashing_blob: given, ..Candidate::default() };
        assert_eq!(outcome(&candidate, CheckName::HashingBlob), expected);
    }
}

#[test]
fn messages_name_what_was_expected() {
    assert_eq!(ChainError::TooHigh.to_string(), "expected no block above height 500000000");
    let needed = ChainError::SeedHashNeeded { seed_height: 7 }.to_string();
    assert_eq!(needed, "expected the id of block 7 as the seed hash, got none");
    assert_eq!(Status::UpdateNeeded.to_string(), "update-needed");
    assert_eq!(Network::Stagenet.to_string(), "stagenet");
    let unknown = "mainnnet".parse::<Network>().expect_err("a misspelt network");
    assert!(unknown.to_string().contains("stagenet"), "{unknown}");
    let zero = "0".parse::<Difficulty>().expect_err("no difficulty");
    assert_eq!(zero.to_string(), "expected at least 1, got 0");
    let too_high = form(|c| c.height = MAX_HEIGHT).expect_err("too high");
    assert!(too_high.to_string().contains("500000000"), "{too_high}");
    let anchor = Anchor { height: 0, id: Network::Regtest.genesis_id(), work: 1 };
    let config = Config::new(Network::Regtest, [1; 32]);
    let refused = Client::new(config, Start::Between(anchor, anchor)).expect_err("no distance");
    assert_eq!(refused, StartError::Anchors);
    assert!(refused.to_string().starts_with("anchors: expected the second"), "{refused}");
    assert!(refused.to_string().ends_with("and with more work"), "{refused}");
    assert_eq!(SourceState::OtherNetwork.as_str(), "other-network");
    assert_eq!(SourceState::OtherNetwork.to_string(), "has another chain");
    let newer = SourceState::UpdateNeeded { height: 7, version: 17 };
    assert_eq!(newer.to_string(), "has block 7, whose version 17 needs a newer release");
    let evidence = EvidenceError::Start(CheckpointError::Incomplete).to_string();
    assert!(evidence.starts_with("the common past: incomplete"), "{evidence}");
    let (expected, stored) = (Network::Mainnet, Network::Stagenet);
    let foreign = StoreError::ForeignNetwork { expected, stored }.to_string();
    assert_eq!(foreign, "expected a chain of mainnet, got one of stagenet");
    let foreign = StoreError::ForeignDifficulty { expected: Some(2), stored: None }.to_string();
    let message = "expected a chain with the fixed difficulty 2, got one with no fixed difficulty";
    assert_eq!(foreign, message);
}
