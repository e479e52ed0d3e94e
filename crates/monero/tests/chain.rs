//! Chains, made here and real ones, and what is wrong with altered ones.

mod common;

use common::{MadeBlock, bytes, hash, items, made_chain, number, read, text};
use randomx_monero::{
    Candidate, Chain, ChainError, CheckName, Checkpoint, Difficulty, Hash, Layout, Link,
    MAINNET_GENESIS_ID, Outcome, SEED_EPOCH_BLOCKS, Verdict, seed_height,
};

/// Meets every difficulty.
const WORKED: Hash = [0; 32];

/// Meets no difficulty but 1.
const UNWORKED: Hash = [0xff; 32];

/// After every timestamp here.
const NOW: u64 = 2_000_000_000;

fn genesis() -> Chain {
    Chain::resume(Checkpoint::genesis(MAINNET_GENESIS_ID), Layout::default()).expect("a checkpoint")
}

/// Pushes and settles a block.
fn add(chain: &mut Chain, link: &Link<'_>, proof: Option<Hash>) -> Verdict {
    chain.push(link, NOW).expect("the chain takes a block");
    chain.settle(proof).expect("a block waits")
}

fn of(block: &[u8]) -> Link<'_> {
    Link { block: Candidate { block: Some(block), ..Candidate::default() }, ..Link::default() }
}

/// A chain with these blocks, all of which are valid.
fn grown(blocks: &[MadeBlock]) -> Chain {
    let mut chain = genesis();
    for block in blocks {
        let verdict = add(&mut chain, &of(&block.blob), Some(WORKED));
        assert!(verdict.valid, "{}", failures(&verdict));
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
        assert!(verdict.valid, "{}", failures(&verdict));
        assert_eq!((verdict.height, verdict.id), (index as u64 + 1, Some(block.id)));
        assert!(verdict.checks.iter().map(|check| check.name).eq(CheckName::ALL));
        let checkpoint = chain.checkpoint().expect("a block was settled");
        if let Some(mut other) = resumed.take() {
            add(&mut other, &of(&block.blob), Some(WORKED));
            assert_eq!(other.checkpoint().as_ref(), Some(&checkpoint), "height {}", index + 1);
        }
        if index % 7 == 0 {
            assert!(checkpoint.is_complete(), "height {}", index + 1);
            resumed = Some(Chain::resume(checkpoint, Layout::default()).expect("a checkpoint"));
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
    let told = |link: Link<'_>, proof| failed(&add(&mut before.clone(), &link, Some(proof)));
    let made = |change: &dyn Fn(&mut MadeBlock)| {
        let mut block = next.clone();
        change(&mut block);
        block.finish();
        told(Link { difficulty: None, ..of(&block.blob) }, WORKED)
    };

    assert_eq!(told(truth, WORKED), []);
    assert_eq!(told(truth, UNWORKED), [CheckName::ProofOfWork]);
    assert_eq!(told(Link { seed_hash: Some([1; 32]), ..truth }, WORKED), [CheckName::SeedHash]);
    for wrong in [next.difficulty - 1, next.difficulty + 1, 1, u128::MAX] {
        let difficulty = Difficulty::try_from(wrong).ok();
        assert_eq!(told(Link { difficulty, ..truth }, WORKED), [CheckName::Difficulty]);
    }
    let candidate = |block| Link { block, ..truth };
    let id = candidate(Candidate { id: Some([1; 32]), ..truth.block });
    assert_eq!(told(id, WORKED), [CheckName::Id]);
    for height in [0, 802, 804, u64::MAX] {
        let height = candidate(Candidate { height: Some(height), ..truth.block });
        assert_eq!(told(height, WORKED), [CheckName::Height]);
    }
    let blob = candidate(Candidate { hashing_blob: Some(&[16]), ..truth.block });
    assert_eq!(told(blob, WORKED), [CheckName::HashingBlob]);
    let cut =
        candidate(Candidate { block: Some(&next.blob[..next.blob.len() - 1]), ..truth.block });
    assert_eq!(told(cut, WORKED), [CheckName::Block]);
    assert_eq!(told(Link { block: Candidate::default(), ..truth }, WORKED), [CheckName::Block]);

    assert_eq!(made(&|_| ()), []);
    assert_eq!(made(&|block| block.previous_id[0] ^= 1), [CheckName::PreviousId]);
    assert_eq!(made(&|block| block.version = 11), [CheckName::Version]);
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
        assert_eq!(verdict.valid, valid, "{}", failures(&verdict));
    }
}

#[test]
fn nothing_follows_on_a_block_that_is_not_valid() {
    let blocks = made_chain(300);
    let mut chain = grown(&blocks[..200]);
    let good = chain.checkpoint();
    for block in &blocks[200..210] {
        assert!(chain.push(&of(&block.blob), NOW).expect("a block").is_some());
    }
    assert_eq!((chain.pending(), chain.checkpoint()), (10, good));
    assert!(chain.settle(Some(WORKED)).expect("a block waits").valid);
    let good = chain.checkpoint();
    let verdict = chain.settle(Some(UNWORKED)).expect("a block waits");
    assert_eq!((verdict.valid, verdict.height), (false, 202));
    assert_eq!(chain.settle(Some(WORKED)), Err(ChainError::NothingPending));
    assert_eq!(chain.push(&of(&blocks[210].blob), NOW), Err(ChainError::Broken { height: 202 }));
    assert_eq!(chain.checkpoint(), good);
    let mut again = Chain::resume(good.expect("some"), Layout::default()).expect("a checkpoint");
    assert!(add(&mut again, &of(&blocks[201].blob), Some(WORKED)).valid);
}

#[test]
fn those_before_a_block_that_is_not_valid_are_still_settled() {
    let blocks = made_chain(20);
    let mut chain = grown(&blocks[..10]);
    assert!(chain.push(&of(&blocks[10].blob), NOW).expect("a block").is_some());
    assert_eq!(chain.push(&of(&blocks[12].blob), NOW), Ok(None));
    assert!(chain.settle(Some(WORKED)).expect("a block waits").valid);
    assert_eq!(chain.checkpoint(), grown(&blocks[..11]).checkpoint());
    let verdict = chain.settle(None).expect("a block waits");
    assert_eq!(
        failed(&verdict),
        [CheckName::Height, CheckName::MinerTransaction, CheckName::PreviousId]
    );
    assert_eq!(chain.checkpoint(), grown(&blocks[..11]).checkpoint());
}

#[test]
fn a_proof_that_is_not_looked_at_is_not_asked() {
    let blocks = made_chain(3);
    let mut chain = genesis();
    let verdict = add(&mut chain, &of(&blocks[0].blob), None);
    let work = verdict.checks.last().expect("the last check");
    assert_eq!((work.name, work.outcome), (CheckName::ProofOfWork, Outcome::NotAsked));
    assert!(verdict.valid && verdict.hash.is_none());
}

#[test]
fn a_fixed_difficulty_takes_the_place_of_the_rule() {
    let blocks = made_chain(3);
    let mut chain = genesis().with_fixed_difficulty(7);
    let told = |block, difficulty: u128| Link {
        difficulty: Difficulty::try_from(difficulty).ok(),
        ..of(block)
    };
    assert!(add(&mut chain, &told(&blocks[0].blob, 7), Some(WORKED)).valid);
    assert!(add(&mut chain, &of(&blocks[1].blob), Some(WORKED)).valid);
    let lower = add(&mut chain.clone(), &told(&blocks[2].blob, 6), Some(WORKED));
    assert_eq!(failed(&lower), [CheckName::Difficulty]);
    let unworked = add(&mut chain, &of(&blocks[2].blob), Some(UNWORKED));
    assert_eq!(failed(&unworked), [CheckName::ProofOfWork]);
}

#[test]
fn what_waits_is_bounded() {
    let blocks = made_chain(Chain::MAX_PENDING + 1);
    let mut chain = genesis();
    for block in &blocks[..Chain::MAX_PENDING] {
        chain.push(&of(&block.blob), NOW).expect("a block");
    }
    let last = of(&blocks[Chain::MAX_PENDING].blob);
    assert_eq!(chain.push(&last, NOW), Err(ChainError::TooManyPending));
    for _ in 0..Chain::MAX_PENDING {
        assert!(chain.settle(Some(WORKED)).expect("a block waits").valid);
    }
    assert!(chain.push(&last, NOW).is_ok());
    assert!(chain.settle(Some(WORKED)).expect("a block waits").valid);
    assert_eq!(chain.checkpoint(), grown(&blocks).checkpoint());
}

#[test]
fn the_main_networks_headers_are_a_chain() {
    let vectors = read("mainnet-headers.json");
    let headers = items(&vectors, "blocks");
    let mut chain = Chain::begin_at(number(&headers[0], "height"), Layout::default()).expect("low");
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
        assert!(verdict.valid, "{}", failures(&verdict));
    }
    let checkpoint = chain.checkpoint().expect("settled");
    assert!(!checkpoint.is_complete());
    assert_eq!((checkpoint.recent.len(), checkpoint.seeds.len()), (8, 1));
}

#[test]
fn what_is_not_known_must_be_told_and_stays() {
    let vectors = read("mainnet-headers.json");
    let headers = items(&vectors, "blocks");
    let blobs: Vec<_> = headers.iter().map(|header| bytes(header, "hashing_blob")).collect();
    let mut chain = Chain::begin_at(3_727_300, Layout::default()).expect("low");
    let silent = |blob| Link {
        block: Candidate { hashing_blob: Some(blob), ..Candidate::default() },
        ..Link::default()
    };
    let needed = Err(ChainError::SeedHashNeeded { seed_height: 3_725_312 });
    assert_eq!(chain.push(&silent(&blobs[0]), NOW), needed);
    let seed_hash = Some(hash(&vectors, "seed_hash"));
    let link = Link { seed_hash, ..silent(&blobs[0]) };
    assert_eq!(chain.push(&link, NOW), Err(ChainError::DifficultyNeeded));
    let difficulty = "1000".parse().ok();
    assert!(add(&mut chain, &Link { difficulty, ..link }, Some(WORKED)).valid);
    // The second block has the first one's seed, whatever is told now.
    let other = Link { seed_hash: Some([1; 32]), difficulty, ..silent(&blobs[1]) };
    assert_eq!(failed(&add(&mut chain.clone(), &other, Some(WORKED))), [CheckName::SeedHash]);
    assert!(add(&mut chain, &Link { difficulty, ..silent(&blobs[1]) }, Some(WORKED)).valid);
}
