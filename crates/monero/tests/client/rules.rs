//! Rules that need no hash, at their edges.

use randomx_monero::client::{Config, Query, SourceState, Start};
use randomx_monero::{
    Anchor, Checkpoint, DIFFICULTY_BLOCKS, Hash, HashingBlob, MAX_HEIGHT, Network, RecentBlock,
    SEED_EPOCH_BLOCKS, Seed, TIMESTAMP_FUTURE_LIMIT, TIMESTAMP_WINDOW, median_timestamp,
    seed_height,
};
use randomx_testing::blocks::varint;

use crate::script::{NOW, Script, grow};
use crate::world::{Fault, START, World};

fn config(network: Network) -> Config {
    Config::new(network, [1; 32])
}

#[test]
fn a_timestamp_may_be_the_median_and_no_earlier() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 70);
    let last: Vec<u64> = world
        .chain(tip)
        .take(TIMESTAMP_WINDOW)
        .map(|block| world.blocks[block].timestamp)
        .collect();
    let median = median_timestamp(last.as_slice().try_into().expect("the window"));
    for (timestamp, is_valid) in [(median, true), (median - 1, false)] {
        let next = world.child_at(tip, timestamp, Fault::None);
        let mut script = Script::new(1);
        script.show(0, &world, next);
        if is_valid {
            script.hash_all(&world);
            assert_eq!(script.height(), Some(71));
        } else {
            let expected = format!("the timestamp {timestamp} is before the median {median}");
            assert_eq!(script.reason(0), expected);
        }
    }
}

#[test]
fn a_timestamp_may_be_two_hours_ahead_and_no_later() {
    let latest = NOW + TIMESTAMP_FUTURE_LIMIT;
    for (timestamp, height) in [(latest, 1), (latest + 1, 0)] {
        let mut world = World::new(None);
        let early = world.child_at(0, timestamp, Fault::None);
        let mut script = Script::new(1);
        script.show(0, &world, early);
        script.hash_all(&world);
        assert_eq!(script.height(), Some(height));
        assert!(!matches!(script.state(0), SourceState::Invalid { .. }), "time may mend it");
    }
}

#[test]
fn no_block_has_a_fixed_difficulty_of_zero() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, 1);
    let zero = Config { fixed_difficulty: Some(0), ..config(Network::Regtest) };
    let mut script = Script::with(zero, Start::Anchors, 1);
    script.show(0, &world, tip);
    assert_eq!(script.reason(0), "the rule yields no difficulty");
}

/// A complete checkpoint with made-up blocks.
fn checkpoint(height: u64) -> Checkpoint {
    let recent = vec![RecentBlock { timestamp: START, difficulty: 1000 }; DIFFICULTY_BLOCKS];
    let mut heights = vec![seed_height(height + 1), height - height % SEED_EPOCH_BLOCKS];
    heights.dedup();
    let seeds = heights.into_iter().map(|height| Seed { height, id: [7; 32] }).collect();
    Checkpoint { height, id: [8; 32], work: 0, recent, seeds }
}

/// The next block, and its id.
fn next(previous: Hash) -> (Vec<u8>, Hash) {
    let mut blob = vec![16, 16];
    varint(&mut blob, START + 100);
    blob.extend(previous);
    blob.extend([1; 4]);
    blob.extend([7; 32]);
    blob.push(1);
    let id = HashingBlob::parse(&blob).expect("a hashing blob").id();
    (blob, id)
}

#[test]
fn the_greatest_height_is_reached() {
    let start = checkpoint(MAX_HEIGHT - 1);
    let (blob, id) = next(start.id);
    let mut script = Script::with(config(Network::Regtest), Start::Unchecked(start), 1);
    script.tip(0, MAX_HEIGHT, id);
    assert_eq!(script.asked(0), Some(Query::Headers { first: MAX_HEIGHT, count: 1 }));
    script.headers(0, vec![blob]);
    script.hash(0, true);
    assert_eq!(script.height(), Some(MAX_HEIGHT));
}

#[test]
fn a_block_that_contradicts_an_anchor_is_invalid() {
    let anchor = Anchor::all(Network::Mainnet).last().expect("anchors");
    let start = checkpoint(anchor.height - 1);
    let (blob, id) = next(start.id);
    let mut script = Script::with(config(Network::Mainnet), Start::Unchecked(start), 1);
    script.tip(0, anchor.height, id);
    script.headers(0, vec![blob]);
    let expected = format!("expected block {} at this height", hex::encode(anchor.id));
    assert_eq!(script.reason(0), expected);
    assert!(script.jobs.is_empty());
    // The next height has no anchor, but work.
    let start = checkpoint(anchor.height);
    let (blob, id) = next(start.id);
    let mut script = Script::with(config(Network::Mainnet), Start::Unchecked(start), 1);
    script.tip(0, anchor.height + 1, id);
    script.headers(0, vec![blob]);
    script.refute(0);
    assert_eq!(script.reason(0), "a block lacks its proof of work");
}

#[test]
fn each_block_is_hashed_with_the_key_of_its_height() {
    let mut world = World::new(Some(5));
    let tip = grow(&mut world, 0, 2200);
    let fixed = Config { fixed_difficulty: Some(5), ..config(Network::Regtest) };
    let mut script = Script::with(fixed, Start::Anchors, 1);
    script.following(&world, tip);
    assert_eq!(script.jobs.len(), 2200);
    for job in &script.jobs {
        let id = HashingBlob::parse(&job.blob).expect("a hashing blob").id();
        let height = world.blocks[world.by_id[&id]].height;
        let key = world.at(tip, seed_height(height)).expect("a seed block");
        assert_eq!(job.seed_hash, world.blocks[key].id, "height {height}");
    }
    let seeds = script.client.checkpoint().expect("a chain").seeds;
    assert_eq!(seeds, [Seed { height: 2048, id: world.blocks[2048].id }]);
}
