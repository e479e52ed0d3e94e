//! Generated and real chains, and the checks that refuse altered ones.

mod starts;

use crate::common::{MadeBlock, bytes, hash, items, made_chain, number, read, text};
use randomx_monero::{
    Candidate, Chain, ChainError, CheckName, Checkpoint, Difficulty, Hash, Link,
    MAINNET_GENESIS_ID, Network, Outcome, SEED_EPOCH_BLOCKS, Status, Verdict, seed_height,
};

/// Meets every difficulty.
const WORKED: Hash = [0; 32];

/// Meets no difficulty but 1.
const UNWORKED: Hash = [0xff; 32];

/// After every timestamp here.
const NOW: u64 = 2_000_000_000;

fn genesis() -> Chain {
    Chain::resume(Checkpoint::genesis(Network::Regtest), Network::Regtest).expect("a checkpoint")
}

/// Pushes and settles a block. Its verdict has each check once, in order.
fn add(chain: &mut Chain, link: &Link<'_>, proof: Option<Hash>) -> Verdict {
    chain.push(link, NOW).expect("the chain takes a block");
    let verdict = chain.settle(proof).expect("a block waits");
    assert!(verdict.checks.iter().map(|check| check.name).eq(CheckName::ALL));
    verdict
}

fn of(block: &[u8]) -> Link<'_> {
    Link { block: Candidate { block: Some(block), ..Candidate::default() }, ..Link::default() }
}

/// A chain with these blocks, all valid.
fn grown(blocks: &[MadeBlock]) -> Chain {
    let mut chain = genesis();
    for block in blocks {
        let verdict = add(&mut chain, &of(&block.blob), Some(WORKED));
        assert_eq!(verdict.status, Status::Valid, "{}", failures(&verdict));
    }
    chain
}

fn failures(verdict: &Verdict) -> String {
    let failed = verdict.checks.iter().filter(|check| check.outcome == Outcome::Failed);
    failed.map(|check| format!("{check}; ")).collect()
}

fn failed(verdict: &Verdict) -> Vec<CheckName> {
    let failed = verdict.checks.iter().filter(|check| check.outcome == Outcome::Failed);
    failed.map(|check| check.name).collect()
}

#[test]
fn a_long_chain_is_valid_and_its_checkpoints_go_on() {
    let blocks = made_chain(5000);
    let mut chain = genesis();
    let mut resumed: Option<Chain> = None;
    for (index, block) in blocks.iter().enumerate() {
        let verdict = add(&mut chain, &of(&block.blob), Some(WORKED));
        assert_eq!(verdict.status, Status::Valid, "{}", failures(&verdict));
        assert_eq!((verdict.height, verdict.id), (index as u64 + 1, Some(block.id)));
        assert!(verdict.checks.iter().map(|check| check.name).eq(CheckName::ALL));
        let checkpoint = chain.checkpoint().expect("a block was settled");
        if let Some(mut other) = resumed.take() {
            add(&mut other, &of(&block.blob), Some(WORKED));
            assert_eq!(other.checkpoint().as_ref(), Some(&checkpoint), "height {}", index + 1);
        }
        if index % 7 == 0 {
            assert!(checkpoint.is_complete(), "height {}", index + 1);
            resumed = Some(Chain::resume(checkpoint, Network::Regtest).expect("a checkpoint"));
        }
    }
}

#[test]
fn seeds_and_difficulties_are_the_chains_own() {
    let blocks = made_chain(2200);
    let mut chain = genesis();
    for block in &blocks {
        let height = chain.next_height();
        let work = chain.push(&of(&block.blob), NOW).expect("a block").expect("is wanted");
        let seed = seed_height(height);
        let expected = match seed {
            0 => MAINNET_GENESIS_ID,
            _ => blocks[seed as usize - 1].id,
        };
        assert_eq!(work.seed_hash, expected, "height {height}");
        assert_eq!(work.difficulty.as_u128(), Some(block.difficulty), "height {height}");
        chain.settle(Some(WORKED)).expect("a block waits");
    }
    assert_eq!(seed_height(chain.next_height()), SEED_EPOCH_BLOCKS);
}

#[test]
fn each_lie_is_caught_by_its_own_check() {
    let blocks = made_chain(803);
    let (next, before) = (&blocks[802], grown(&blocks[..802]));
    let truth = Link {
        block: Candidate {
            block: Some(&next.blob),
            hashing_blob: None,
            id: Some(next.id),
            height: Some(803),
        },
        seed_hash: Some(MAINNET_GENESIS_ID),
        difficulty: Difficulty::try_from(next.difficulty).ok(),
    };
    let given = |link: Link<'_>, proof| failed(&add(&mut before.clone(), &link, Some(proof)));
    let made = |change: &dyn Fn(&mut MadeBlock)| {
        let mut block = next.clone();
        change(&mut block);
        block.finish();
        given(Link { difficulty: None, ..of(&block.blob) }, WORKED)
    };

    assert_eq!(given(truth, WORKED), []);
    assert_eq!(given(truth, UNWORKED), [CheckName::ProofOfWork]);
    assert_eq!(given(Link { seed_hash: Some([1; 32]), ..truth }, WORKED), [CheckName::SeedHash]);
    for wrong in [next.difficulty - 1, next.difficulty + 1, 1, u128::MAX] {
        let difficulty = Difficulty::try_from(wrong).ok();
        assert_eq!(given(Link { difficulty, ..truth }, WORKED), [CheckName::Difficulty]);
    }
    let candidate = |block| Link { block, ..truth };
    let id = candidate(Candidate { id: Some([1; 32]), ..truth.block });
    assert_eq!(given(id, WORKED), [CheckName::Id]);
    for height in [0, 802, 804, u64::MAX] {
        let height = candidate(Candidate { height: Some(height), ..truth.block });
        assert_eq!(given(height, WORKED), [CheckName::Height]);
    }
    let blob = candidate(Candidate { hashing_blob: Some(&[16]), ..truth.block });
    assert_eq!(given(blob, WORKED), [CheckName::HashingBlob]);
    let cut =
        candidate(Candidate { block: Some(&next.blob[..next.blob.len() - 1]), ..truth.block });
    assert_eq!(given(cut, WORKED), [CheckName::Block]);
    assert_eq!(given(Link { block: Candidate::default(), ..truth }, WORKED), [CheckName::Block]);

    assert_eq!(made(&|_| ()), []);
    assert_eq!(made(&|block| block.previous_id[0] ^= 1), [CheckName::PreviousId]);
    assert_eq!(
        made(&|block| block.version = 11),
        [CheckName::Version],
        "the rules before RandomX are not checked"
    );
    assert_eq!(made(&|block| block.timestamp = NOW + 7201), [CheckName::TimestampFuture]);
    assert_eq!(made(&|block| block.timestamp = NOW + 7200), []);
    assert_eq!(made(&|block| block.timestamp = 0), [CheckName::TimestampMedian]);
    assert_eq!(made(&|block| block.unlock -= 1), [CheckName::MinerTransaction]);
    assert_eq!(
        made(&|block| block.height += 1),
        [CheckName::Height],
        "the unlock time is still that of the chain's height"
    );
}

#[test]
fn the_timestamp_may_be_the_median_but_no_earlier() {
    let blocks = made_chain(100);
    let before = grown(&blocks[..99]);
    let mut last: Vec<u64> = blocks[39..99].iter().map(|block| block.timestamp).collect();
    last.sort_unstable();
    let median = last[29].midpoint(last[30]);
    for (timestamp, valid) in [(median, true), (median - 1, false)] {
        let mut block = blocks[99].clone();
        block.timestamp = timestamp;
        block.finish();
        let verdict = add(&mut before.clone(), &of(&block.blob), Some(WORKED));
        assert_eq!(verdict.status == Status::Valid, valid, "{}", failures(&verdict));
    }
}

#[test]
fn nothing_follows_a_refused_block() {
    let blocks = made_chain(300);
    let mut chain = grown(&blocks[..200]);
    let good = chain.checkpoint();
    for block in &blocks[200..210] {
        assert!(chain.push(&of(&block.blob), NOW).expect("a block").is_some());
    }
    assert_eq!((chain.pending(), chain.checkpoint()), (10, good));
    assert!(chain.settle(Some(WORKED)).expect("a block waits").status.is_accepted());
    let good = chain.checkpoint();
    let verdict = chain.settle(Some(UNWORKED)).expect("a block waits");
    assert_eq!((verdict.status, verdict.height), (Status::Invalid, 202));
    assert_eq!(chain.settle(Some(WORKED)), Err(ChainError::NothingPending));
    assert_eq!(chain.push(&of(&blocks[210].blob), NOW), Err(ChainError::Refused { height: 202 }));
    assert_eq!(
        chain.checkpoint(),
        genesis().checkpoint(),
        "the checkpoint falls back to the start"
    );
    let mut again = Chain::resume(good.expect("some"), Network::Regtest).expect("a checkpoint");
    assert!(add(&mut again, &of(&blocks[201].blob), Some(WORKED)).status.is_accepted());
}

#[test]
fn blocks_before_a_refused_one_are_still_settled() {
    let blocks = made_chain(20);
    let mut chain = grown(&blocks[..10]);
    assert!(chain.push(&of(&blocks[10].blob), NOW).expect("a block").is_some());
    assert_eq!(chain.push(&of(&blocks[12].blob), NOW), Ok(None));
    assert!(chain.settle(Some(WORKED)).expect("a block waits").status.is_accepted());
    assert_eq!(chain.checkpoint(), genesis().checkpoint(), "a later block was refused");
    let verdict = chain.settle(None).expect("a block waits");
    assert_eq!(
        failed(&verdict),
        [CheckName::Height, CheckName::MinerTransaction, CheckName::PreviousId]
    );
    assert_eq!(verdict.work, grown(&blocks[..11]).checkpoint().expect("blocks").work);
    assert_eq!(chain.checkpoint(), genesis().checkpoint());
}

/// With sampling, a source could serve forged blocks and hang up before one is found.
#[test]
fn the_checkpoint_moves_only_onto_blocks_with_a_checked_proof_of_work() {
    let blocks = made_chain(64);
    let mut chain = grown(&blocks[..3]);
    let proven = chain.checkpoint();
    for block in &blocks[3..] {
        let verdict = add(&mut chain, &of(&block.blob), None);
        let work = verdict.checks.last().expect("the last check");
        assert_eq!((work.name, work.outcome), (CheckName::ProofOfWork, Outcome::NotChecked));
        assert_eq!((verdict.status, verdict.hash), (Status::Unproven, None));
        assert_eq!(chain.checkpoint(), proven);
    }
}

#[test]
fn unknown_versions_are_never_valid() {
    let blocks = made_chain(20);
    for version in [17, 255] {
        let mut block = blocks[10].clone();
        (block.version, block.vote) = (version, version);
        block.finish();
        let verdict = add(&mut grown(&blocks[..10]), &of(&block.blob), Some(WORKED));
        assert_eq!((verdict.status, verdict.hash), (Status::UpdateNeeded, None), "{version}");
    }
    let old = Checkpoint { height: 3_700_000, ..Checkpoint::genesis(Network::Mainnet) };
    let mut chain = Chain::resume_unchecked(old, Network::Mainnet).expect("well-formed");
    let mut block = blocks[0].clone();
    (block.version, block.vote, block.previous_id) = (12, 12, MAINNET_GENESIS_ID);
    (block.height, block.unlock) = (3_700_001, 3_700_061);
    block.finish();
    let given = Link { seed_hash: Some([1; 32]), difficulty: "1".parse().ok(), ..of(&block.blob) };
    let verdict = add(&mut chain, &given, Some(WORKED));
    assert_eq!(failed(&verdict), [CheckName::Version, CheckName::MinerTransaction]);
}

#[test]
fn verdicts_sum_the_work_and_list_transactions() {
    let blocks = made_chain(900);
    let (mut chain, mut work) = (genesis(), 1);
    for block in &blocks {
        let verdict = add(&mut chain, &of(&block.blob), Some(WORKED));
        work += block.difficulty;
        assert_eq!(verdict.work, work);
        assert_eq!(verdict.difficulty, Difficulty::try_from(block.difficulty).ok());
        assert_eq!(verdict.transaction_ids.len(), 1);
    }
    assert_eq!(chain.checkpoint().map(|checkpoint| checkpoint.work), Some(work));
}

#[test]
fn rules_of_transactions_that_need_only_the_block() {
    let blocks = made_chain(11);
    let check = |change: &dyn Fn(&mut MadeBlock)| {
        let mut block = blocks[10].clone();
        change(&mut block);
        block.finish();
        failed(&add(&mut grown(&blocks[..10]), &of(&block.blob), Some(WORKED)))
    };
    assert_eq!(check(&|_| ()), []);
    assert_eq!(check(&|block| block.vote = 17), []);
    assert_eq!(check(&|block| block.vote = 15), [CheckName::Vote]);
    assert_eq!(check(&|block| block.transactions = vec![[1; 32], [2; 32]]), []);
    let twice = vec![[1; 32], [2; 32], [1; 32]];
    assert_eq!(check(&|block| block.transactions = twice.clone()), [CheckName::Transactions]);
    assert_eq!(check(&|block| block.amounts = vec![]), [CheckName::MinerTransaction]);
    assert_eq!(check(&|block| block.amounts = vec![u64::MAX, 0]), []);
    assert_eq!(check(&|block| block.amounts = vec![u64::MAX, 1]), [CheckName::MinerTransaction]);
    assert_eq!(check(&|block| block.tagged = false), [CheckName::MinerTransaction]);
}

#[test]
fn a_fixed_difficulty_replaces_the_rule() {
    let blocks = made_chain(3);
    let mut chain = genesis().with_fixed_difficulty(7);
    let given = |block, difficulty: u128| Link {
        difficulty: Difficulty::try_from(difficulty).ok(),
        ..of(block)
    };
    assert!(add(&mut chain, &given(&blocks[0].blob, 7), Some(WORKED)).status.is_accepted());
    assert!(add(&mut chain, &of(&blocks[1].blob), Some(WORKED)).status.is_accepted());
    let lower = add(&mut chain.clone(), &given(&blocks[2].blob, 6), Some(WORKED));
    assert_eq!(failed(&lower), [CheckName::Difficulty]);
    let unworked = add(&mut chain, &of(&blocks[2].blob), Some(UNWORKED));
    assert_eq!(failed(&unworked), [CheckName::ProofOfWork]);
}

#[test]
fn the_number_of_waiting_blocks_is_bounded() {
    let blocks = made_chain(Chain::MAX_PENDING + 1);
    let mut chain = genesis();
    for block in &blocks[..Chain::MAX_PENDING] {
        chain.push(&of(&block.blob), NOW).expect("a block");
    }
    let last = of(&blocks[Chain::MAX_PENDING].blob);
    assert_eq!(chain.push(&last, NOW), Err(ChainError::TooManyPending));
    for _ in 0..Chain::MAX_PENDING {
        assert!(chain.settle(Some(WORKED)).expect("a block waits").status.is_accepted());
    }
    assert!(chain.push(&last, NOW).is_ok());
    assert!(chain.settle(Some(WORKED)).expect("a block waits").status.is_accepted());
    assert_eq!(chain.checkpoint(), grown(&blocks).checkpoint());
}

#[test]
fn the_main_networks_headers_are_a_chain() {
    let vectors = read("mainnet-headers.json");
    let headers = items(&vectors, "blocks");
    let mut chain = Chain::begin_at(number(&headers[0], "height"), Network::Mainnet).expect("low");
    for header in headers {
        let blob = bytes(header, "hashing_blob");
        let link = Link {
            block: Candidate {
                hashing_blob: Some(&blob),
                id: Some(hash(header, "id")),
                height: Some(number(header, "height")),
                block: None,
            },
            seed_hash: Some(hash(&vectors, "seed_hash")),
            difficulty: text(header, "difficulty").parse().ok(),
        };
        let verdict = add(&mut chain, &link, Some(hash(header, "pow_hash")));
        assert_eq!(verdict.status, Status::Valid, "{}", failures(&verdict));
    }
    let checkpoint = chain.checkpoint().expect("settled");
    assert!(!checkpoint.is_complete());
    assert_eq!((checkpoint.recent.len(), checkpoint.seeds.len()), (8, 1));
}

#[test]
fn another_block_at_the_height_of_an_anchor_is_refused() {
    let vectors = read("mainnet-headers.json");
    let blob = bytes(&items(&vectors, "blocks")[0], "hashing_blob");
    let block = Candidate { hashing_blob: Some(&blob), ..Candidate::default() };
    let link = Link { block, seed_hash: Some([1; 32]), difficulty: "1000".parse().ok() };
    let judge = |height| {
        let mut chain = Chain::begin_at(height, Network::Mainnet).expect("low");
        failed(&add(&mut chain, &link, Some(WORKED)))
    };
    assert_eq!(judge(3_707_000), [CheckName::Id]);
    assert_eq!(judge(3_707_001), []);
}
