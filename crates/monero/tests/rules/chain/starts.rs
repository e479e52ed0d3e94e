//! The start of a chain: checkpoints, and values that the source has to give.

use randomx_monero::{
    Candidate, Chain, ChainError, CheckName, Checkpoint, CheckpointError, Link, Network,
};

use super::{NOW, WORKED, add, failed, genesis, grown, of};
use crate::common::{bytes, hash, items, made_chain, read};

/// Otherwise a source could attach another chain to a checkpoint.
#[test]
fn the_first_block_names_the_checkpoints_block() {
    let blocks = made_chain(101);
    let checkpoint = grown(&blocks[..100]).checkpoint().expect("blocks");
    for begin in [Chain::resume, Chain::resume_unchecked] {
        let mut chain = begin(checkpoint.clone(), Network::Regtest).expect("a checkpoint");
        let mut other = blocks[100].clone();
        other.previous_id[0] ^= 1;
        other.finish();
        let refused = add(&mut chain.clone(), &of(&other.blob), Some(WORKED));
        assert_eq!(failed(&refused), [CheckName::PreviousId]);
        let accepted = add(&mut chain, &of(&blocks[100].blob), Some(WORKED));
        assert_eq!((failed(&accepted), accepted.complete_start), (vec![], true));
    }
}

#[test]
fn incomplete_checkpoints_are_refused_unless_allowed() {
    let complete = grown(&made_chain(100)).checkpoint().expect("blocks");
    let incomplete = Checkpoint { recent: complete.recent[1..].to_vec(), ..complete };
    let refused = Chain::resume(incomplete.clone(), Network::Regtest).map(|_| ());
    assert_eq!(refused, Err(CheckpointError::Incomplete));
    let mut chain = Chain::resume_unchecked(incomplete, Network::Regtest).expect("well-formed");
    let next = made_chain(101).pop().expect("blocks");
    let given = Link { difficulty: "1".parse().ok(), ..of(&next.blob) };
    assert!(!add(&mut chain, &given, Some(WORKED)).complete_start);
    assert!(add(&mut genesis(), &of(&made_chain(1)[0].blob), Some(WORKED)).complete_start);
}

#[test]
fn unknown_values_must_be_given_once() {
    let vectors = read("mainnet-headers.json");
    let headers = items(&vectors, "blocks");
    let blobs: Vec<_> = headers.iter().map(|header| bytes(header, "hashing_blob")).collect();
    let mut chain = Chain::begin_at(3_727_300, Network::Mainnet).expect("low");
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
    assert!(add(&mut chain, &Link { difficulty, ..link }, Some(WORKED)).status.is_accepted());
    // The second block has the first one's seed, whatever the source gives now.
    let other = Link { seed_hash: Some([1; 32]), difficulty, ..silent(&blobs[1]) };
    assert_eq!(failed(&add(&mut chain.clone(), &other, Some(WORKED))), [CheckName::SeedHash]);
    assert!(
        add(&mut chain, &Link { difficulty, ..silent(&blobs[1]) }, Some(WORKED))
            .status
            .is_accepted()
    );
}
