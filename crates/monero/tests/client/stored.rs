//! Stored states with blocks that this release refuses: the network's rules may have changed, or a newer release stored
//! them.

use randomx_monero::client::{Client, Config, Start, StartError, StoreError};
use randomx_monero::{Network, keccak256};

use crate::script::{Script, grow};
use crate::world::{Fault, World};

/// The number of good blocks.
const GOOD: usize = 10;

fn config() -> Config {
    Config::new(Network::Regtest, [1; 32])
}

/// Starts with the stored state of a chain of these blocks after the genesis block. The hashes of all were computed, but
/// for some.
fn restored(world: &World, blocks: &[usize], unhashed: &[usize]) -> Result<Client, StartError> {
    let client = Client::new(config(), Start::Anchors).expect("a start");
    let saved = client.save().expect("a tip");
    // Ends in the number of blocks, that of refused ones, and the checksum.
    let mut content = saved[..saved.len() - 32 - 8].to_vec();
    content.extend((blocks.len() as u32).to_le_bytes());
    for &block in blocks {
        let blob = &world.blocks[block].blob;
        content.extend([u8::from(!unhashed.contains(&block)), blob.len() as u8]);
        content.extend(blob);
    }
    content.extend(1_u32.to_le_bytes());
    content.extend([5; 32]);
    Client::new(config(), Start::Stored([&content[..], &keccak256(&[&content])].concat()))
}

/// The blocks of a chain after the genesis block, the oldest first.
fn chain(world: &World, tip: usize) -> Vec<usize> {
    let mut blocks: Vec<usize> = world.chain(tip).filter(|&block| block != 0).collect();
    blocks.reverse();
    blocks
}

#[test]
fn blocks_from_a_refused_one_on_are_dropped() {
    for fault in [Fault::OldVersion, Fault::OldVote] {
        for unhashed in [&[][..], &[GOOD, GOOD - 1], &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]] {
            let mut world = World::new(None);
            let good = grow(&mut world, 0, GOOD);
            let refused = world.child(good, 100, fault);
            let tip = grow(&mut world, refused, 2);
            let blocks = chain(&world, tip);
            let client = restored(&world, &blocks, unhashed).expect("a state");
            let kept = GOOD - unhashed.len();
            assert_eq!(client.tip().map(|tip| tip.id), Some(world.blocks[kept].id));
            assert_eq!((client.blocks(), client.dropped_from()), (kept, Some(GOOD as u64 + 1)));
            let saved = client.save().expect("a tip");
            let again = Client::new(config(), Start::Stored(saved.clone())).expect("a state");
            assert_eq!((again.dropped_from(), again.save()), (None, Some(saved)));
        }
    }
}

#[test]
fn a_client_goes_on_with_the_chain_before_a_refused_block() {
    let mut world = World::new(None);
    let good = grow(&mut world, 0, GOOD);
    let refused = world.child(good, 100, Fault::OldVersion);
    let client = restored(&world, &chain(&world, refused), &[]).expect("a state");
    let start = Start::Stored(client.save().expect("a tip"));
    let mut script = Script::with(config(), start, 1);
    let tip = grow(&mut world, good, 3);
    script.following(&world, tip);
    assert_eq!(script.jobs.len(), 3);
}

#[test]
fn a_chain_ends_with_a_block_whose_proof_of_work_was_checked() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, GOOD);
    let client = restored(&world, &chain(&world, tip), &[GOOD]).expect("a state");
    assert_eq!(client.tip().map(|tip| tip.height), Some(GOOD as u64 - 1));
    assert_eq!(client.dropped_from(), None);
}

#[test]
fn a_state_of_a_newer_release_is_refused_as_such() {
    let mut world = World::new(None);
    let good = grow(&mut world, 0, GOOD);
    let unknown = world.child(good, 100, Fault::UnknownVersion);
    let error = restored(&world, &chain(&world, unknown), &[]).expect_err("an unknown version");
    let expected = StoreError::UpdateNeeded { height: GOOD as u64 + 1, version: 17 };
    assert_eq!(error, StartError::Store(expected));
    let text = "store: the stored block 11 has version 17: expected at most 16; use the release that stored it, or \
                a newer one";
    assert_eq!(error.to_string(), text);
}

#[test]
fn blocks_that_do_not_follow_are_damage() {
    let mut world = World::new(None);
    let tip = grow(&mut world, 0, GOOD);
    let mut blocks = chain(&world, tip);
    blocks.remove(5);
    let refused = restored(&world, &blocks, &[]).err();
    assert_eq!(refused, Some(StartError::Store(StoreError::Damaged)));
}
