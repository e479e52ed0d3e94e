//! Stored bytes and evidence that are damaged, incomplete or foreign.

use randomx_monero::client::{
    Client, Config, Evidence, EvidenceError, Start, StartError, StoreError,
};
use randomx_monero::{Checkpoint, Hash, HashingBlob, Network, keccak256};

use crate::drive::drive;
use crate::sources::Source;
use crate::world::{Fault, START, World};

const NOW: u64 = START + 1_000_000;

fn config() -> Config {
    Config::new(Network::Regtest, [1; 32])
}

/// Returns the bytes that a client stores after it has followed a chain of 30 blocks.
fn stored(world: &mut World) -> Vec<u8> {
    let mut source = Source::new();
    for _ in 0..30 {
        source.tip = world.child(source.tip, 100, Fault::None);
    }
    let mut client = Client::new(config(), Start::Anchors).expect("a start");
    client.add_source().expect("few sources");
    drive(&mut client, &mut [source], world, NOW);
    assert_eq!(client.tip().map(|tip| tip.height), Some(30));
    client.save().expect("a chain")
}

fn restore(bytes: &[u8], config: Config) -> Result<Client, StartError> {
    Client::new(config, Start::Stored(bytes.to_vec()))
}

#[test]
fn every_changed_byte_and_every_cut_of_a_store_is_noticed() {
    let bytes = stored(&mut World::new(None));
    assert_eq!(restore(&bytes, config()).expect("a store").save().as_ref(), Some(&bytes));
    let damaged = Some(StartError::Store(StoreError::Damaged));
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        assert_eq!(restore(&changed, config()).err(), damaged, "byte {index}");
        assert_eq!(restore(&bytes[..index], config()).err(), damaged, "cut at {index}");
    }
    assert_eq!(restore(&[&bytes[..], &[0]].concat(), config()).err(), damaged);
    assert_eq!(restore(&lengthened(&bytes), config()).err(), damaged);
}

/// Adds a byte that nothing needs, with the checksum that belongs to it.
fn lengthened(bytes: &[u8]) -> Vec<u8> {
    let (content, _) = bytes.split_last_chunk::<{ size_of::<Hash>() }>().expect("a checksum");
    let content = [content, &[0]].concat();
    [&content[..], &keccak256(&[&content])].concat()
}

#[test]
fn a_restored_client_knows_the_work_since_the_genesis_block() {
    let mut world = World::new(None);
    let bytes = stored(&mut world);
    let checkpoint = restore(&bytes, config()).expect("a store").checkpoint().expect("a chain");
    assert_eq!(checkpoint.work, world.blocks[30].work);
    assert_eq!(checkpoint.check(Network::Regtest), Ok(()));
}

#[test]
fn stores_of_other_networks_and_difficulties_are_refused() {
    let bytes = stored(&mut World::new(None));
    for expected in [Network::Mainnet, Network::Stagenet, Network::Testnet] {
        let foreign = StoreError::ForeignNetwork { expected, stored: Network::Regtest };
        let refused = restore(&bytes, Config { network: expected, ..config() }).err();
        assert_eq!(refused, Some(StartError::Store(foreign)));
    }
    let fixed = Config { fixed_difficulty: Some(1), ..config() };
    let foreign = StoreError::ForeignDifficulty { expected: Some(1), stored: None };
    assert_eq!(restore(&bytes, fixed).err(), Some(StartError::Store(foreign)));
}

#[test]
fn incomplete_checkpoints_are_no_start() {
    let mut checkpoint = Checkpoint::genesis(Network::Regtest);
    checkpoint.recent.clear();
    let start = Client::new(config(), Start::Checkpoint(checkpoint));
    assert!(matches!(start, Err(StartError::Checkpoint(_))));
}

/// Where the work of the start is unknown, works count from there, and the stored base moves.
#[test]
fn a_chain_of_unknown_work_can_be_stored_at_any_length() {
    let mut world = World::new(Some(5));
    let config = Config { fixed_difficulty: Some(5), kept: 40, batch: 16, ..config() };
    let follow = |start, blocks: usize, world: &mut World, source: &mut Source| {
        let mut client = Client::new(config.clone(), start).expect("a start");
        client.add_source().expect("few sources");
        for _ in 0..blocks {
            source.tip = world.child(source.tip, 100, Fault::None);
        }
        drive(&mut client, std::slice::from_mut(source), world, NOW);
        client
    };
    let mut source = Source::new();
    let before = follow(Start::Anchors, 30, &mut world, &mut source);
    let checkpoint = Checkpoint { work: 0, ..before.checkpoint().expect("a chain") };
    let mut start = Start::Checkpoint(checkpoint);
    for (blocks, work) in [(20, 100), (100, 600), (300, 2100)] {
        let client = follow(start, blocks, &mut world, &mut source);
        assert_eq!(client.tip().map(|tip| tip.work), Some(work), "from the start");
        let known = client.checkpoint().expect("a chain");
        assert_eq!((known.work, known.check(Network::Regtest)), (0, Ok(())));
        assert!(client.base_height() >= 30);
        start = Start::Stored(client.save().expect("a chain"));
    }
}

#[test]
fn every_changed_byte_and_every_cut_of_evidence_is_noticed() {
    let mut world = World::new(None);
    let (mut tip, mut sides) = (0, vec![Vec::new(), Vec::new()]);
    for side in &mut sides {
        for _ in 0..3 {
            tip = world.child(tip, 100, Fault::None);
            side.push(world.blocks[tip].blob.clone());
        }
        tip = 0;
    }
    let start = Checkpoint::genesis(Network::Regtest);
    let evidence = Evidence { network: Network::Regtest, fixed_difficulty: None, start, sides };
    let bytes = evidence.to_bytes();
    assert_eq!(Evidence::from_bytes(&bytes), Ok(evidence.clone()));
    for index in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[index] ^= 1;
        let other = Err(EvidenceError::NotEvidence);
        assert_eq!(Evidence::from_bytes(&changed), other, "byte {index}");
        assert_eq!(Evidence::from_bytes(&bytes[..index]), other, "cut at {index}");
    }
    let verdicts =
        evidence.verify(None, NOW, &mut |_, blob| Some(world.hash(blob))).expect("complete");
    assert_eq!(verdicts.iter().map(|side| side.valid).collect::<Vec<_>>(), [3, 3]);
    let stopped = evidence.verify(None, NOW, &mut |_, _| None);
    assert_eq!(stopped, Err(EvidenceError::Stopped));
}

#[test]
fn evidence_has_one_or_two_sides_of_hashing_blobs() {
    let parsed = |sides: Vec<Vec<Vec<u8>>>| {
        let start = Checkpoint::genesis(Network::Regtest);
        let evidence = Evidence { network: Network::Regtest, fixed_difficulty: None, start, sides };
        let bytes = evidence.to_bytes();
        assert_eq!(Evidence::from_bytes(&lengthened(&bytes)), Err(EvidenceError::NotEvidence));
        Evidence::from_bytes(&bytes).map(|parsed| parsed == evidence)
    };
    let refused = Err(EvidenceError::NotEvidence);
    for (sides, expected) in [(0, refused), (1, Ok(true)), (2, Ok(true)), (3, refused)] {
        assert_eq!(parsed(vec![Vec::new(); sides]), expected, "{sides} sides");
    }
    let most = HashingBlob::MAX_BYTES;
    assert_eq!(parsed(vec![vec![vec![1; most]]]), Ok(true));
    assert_eq!(parsed(vec![vec![vec![1; most + 1]]]), refused);
}

/// Only the difficulty rule ties proofs of work to a network.
#[test]
fn a_fixed_difficulty_counts_on_regtest_or_if_it_is_stated() {
    let mut world = World::new(Some(5));
    let tip = world.child(0, 100, Fault::None);
    let sides = vec![vec![world.blocks[tip].blob.clone()]];
    for network in Network::ALL {
        for given in [None, Some(5), Some(6)] {
            let start = Checkpoint::genesis(network);
            let evidence =
                Evidence { network, fixed_difficulty: given, start, sides: sides.clone() };
            for stated in [None, Some(5), Some(6)] {
                let verdicts = evidence.verify(stated, NOW, &mut |_, blob| Some(world.hash(blob)));
                let is_permitted =
                    stated == given || stated.is_none() && network == Network::Regtest;
                let refused = EvidenceError::FixedDifficulty { expected: stated, given };
                let error = (!is_permitted).then_some(refused);
                assert_eq!(verdicts.err(), error, "{network}, {given:?}, {stated:?}");
            }
            assert_eq!(evidence.difficulty(), Some(given.unwrap_or(1)));
        }
    }
    let error = EvidenceError::FixedDifficulty { expected: None, given: Some(5) };
    assert_eq!(error.to_string(), "fixed difficulty: expected none, got 5");
}
