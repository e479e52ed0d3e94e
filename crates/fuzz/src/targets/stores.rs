//! Stored states and evidence: bytes whose checksum is right, so that the parsers see them.

use monero::cryptonote::hash::keccak_256;
use randomx_monero::client::{Client, Config, Event, Evidence, Start};
use randomx_monero::{
    Checkpoint, DIFFICULTY_BLOCKS, Difficulty, HashingBlob, Network, RecentBlock,
    SEED_EPOCH_BLOCKS, Seed,
};

use crate::Target;
use crate::world::{Fault, START, World};

pub(super) const STORES: Target =
    Target { name: "stores", longest: 20_480, quick: 2000, run: stores, seeds: store_seeds };

pub(super) const EVIDENCE: Target =
    Target { name: "evidence", longest: 2048, quick: 2000, run: evidence, seeds: evidence_seeds };

const NOW: u64 = START + 1_000_000;

/// The length of the checksum.
const CHECKSUM: usize = 32;

/// The magic bytes of states from releases that did not store stated difficulties.
const FORMER: &[u8] = b"RXMstor1";

/// Where the present format says whether a source stated the first difficulties: after the magic bytes, the network,
/// the fixed difficulty, and whether the work is known.
const STATED: usize = 8 + 1 + 16 + 1;

/// The length of a stored anchor: its height, id and work.
const ANCHOR: usize = 8 + 32 + 16;

fn with_checksum(content: &[u8]) -> Vec<u8> {
    [content, &keccak_256(content)].concat()
}

fn config(content: &[u8]) -> Config {
    // After the magic bytes.
    let network = content.get(8).and_then(|&byte| Network::ALL.get(usize::from(byte)));
    let fixed = content.get(9..25).map(|bytes| {
        bytes.iter().rev().fold(0_u128, |number, &byte| number << 8 | u128::from(byte))
    });
    let config = Config::new(network.copied().unwrap_or(Network::Regtest), [1; 32]);
    Config { fixed_difficulty: fixed.filter(|&difficulty| difficulty != 0), ..config }
}

fn stores(content: &[u8]) -> bool {
    // So few that most states have more.
    let config = Config { kept: 1, batch: 1, ..config(content) };
    let start = |bytes: Vec<u8>| Client::new(config.clone(), Start::Stored(bytes));
    let Ok(mut client) = start(with_checksum(content)) else { return false };
    let saved = client.save().expect("a stored chain has a tip");
    let again = start(saved.clone()).expect("what was saved is accepted");
    assert_eq!(again.save(), Some(saved));
    assert_eq!(again.tip(), client.tip());
    let tip = client.tip().expect("a stored chain has a tip");
    assert_eq!(client.confirmations(tip.height), 1);
    assert_eq!(client.block_id(tip.height), Some(tip.id));
    let checkpoint = client.checkpoint().expect("a stored chain has a tip");
    assert_eq!((checkpoint.height, checkpoint.id), (tip.height, tip.id));
    assert_eq!(checkpoint.check(config.network), Ok(()), "what follows the rules is plausible");
    let tick = |client: &mut Client, now| {
        client.handle(Event::Tick, now);
        while client.next_action().is_some() {}
        assert!(client.blocks() <= client.max_blocks(), "memory is bounded");
    };
    // A source may need blocks for a while. Without one, the base moves at once.
    tick(&mut client, 0);
    client.add_source().expect("there is none");
    for now in [0, NOW, u64::MAX] {
        tick(&mut client, now);
    }
    true
}

fn store_seeds() -> Vec<Vec<u8>> {
    let seed = |fixed, blocks| stored(fixed, &blobs(blocks, fixed), &[[5; 32]]);
    vec![seed(None, 0), seed(None, 8), seed(Some(1), 3), seed(Some(1), 20), stated(), former()]
}

/// Returns the stored state of a client of the main network that began some years after the anchors, so that the first
/// difficulties may be a source's. It has no blocks after its base, one refused block, and no checksum.
fn stated() -> Vec<u8> {
    let height = 3_800_000;
    let past = |block: u64| RecentBlock {
        timestamp: 1_900_000_000 + 120 * block,
        difficulty: 600_000_000_000,
    };
    let start = Checkpoint {
        height,
        id: [4; 32],
        work: 1 << 90,
        recent: (0..DIFFICULTY_BLOCKS as u64).map(past).collect(),
        seeds: vec![Seed { height: height - height % SEED_EPOCH_BLOCKS, id: [3; 32] }],
    };
    let config = Config::new(Network::Mainnet, [1; 32]);
    let client = Client::new(config, Start::Checkpoint(start)).expect("a start");
    extended(&client, &[], &[[5; 32]])
}

/// Returns the same state as former releases stored it.
fn former() -> Vec<u8> {
    let content = stated();
    [FORMER, &content[FORMER.len()..STATED], &content[STATED + 1 + 2 * ANCHOR..]].concat()
}

/// Returns the stored state of a client whose chain has these blocks after the genesis block, without
/// the checksum.
fn stored(fixed: Option<u128>, blobs: &[Vec<u8>], refused: &[[u8; 32]]) -> Vec<u8> {
    let start = Checkpoint::genesis(Network::Regtest);
    let config = Config { fixed_difficulty: fixed, ..Config::new(Network::Regtest, [1; 32]) };
    let client = Client::new(config, Start::Checkpoint(start)).expect("a start");
    extended(&client, blobs, refused)
}

/// Returns a client's stored state with blocks after its base and refused ones, without the checksum. The client has
/// neither.
fn extended(client: &Client, blobs: &[Vec<u8>], refused: &[[u8; 32]]) -> Vec<u8> {
    let saved = client.save().expect("a tip");
    // Ends in the number of blocks, the blocks, the number of refused ones and the checksum.
    let mut content = saved[..saved.len() - CHECKSUM - 8].to_vec();
    content.extend((blobs.len() as u32).to_le_bytes());
    for blob in blobs {
        content.extend([1, blob.len() as u8]);
        content.extend(blob);
    }
    content.extend((refused.len() as u32).to_le_bytes());
    content.extend(refused.as_flattened());
    content
}

/// Returns a client of a chain of difficulty 1 with these blocks after the genesis block.
pub(super) fn client_of(blobs: &[Vec<u8>]) -> Client {
    let content = stored(Some(1), blobs, &[]);
    let start = Start::Stored(with_checksum(&content));
    Client::new(config(&content), start).expect("a stored chain")
}

fn evidence(content: &[u8]) -> bool {
    let bytes = with_checksum(content);
    let Ok(evidence) = Evidence::from_bytes(&bytes) else { return false };
    assert_eq!(evidence.to_bytes(), bytes, "evidence has one form");
    let blobs: usize = evidence.sides.iter().map(Vec::len).sum();
    let mut hashes = 0;
    let difficulty = evidence.difficulty();
    let verdicts = evidence.verify(evidence.fixed_difficulty, NOW, &mut |_, blob| {
        hashes += 1;
        assert!(HashingBlob::parse(blob).is_ok(), "only parsed blobs are hashed");
        (hashes < 1000).then_some([0; 32])
    });
    assert!(hashes <= blobs);
    for (verdict, side) in verdicts.iter().flatten().zip(&evidence.sides) {
        assert!(verdict.valid != 1 || difficulty == Some(verdict.work));
        assert_eq!(verdict.refused.is_none(), verdict.valid == side.len());
        let work = verdict.work;
        assert!(verdict.valid == 0 && work == 0 || Difficulty::try_from(work).is_ok());
    }
    true
}

fn evidence_seeds() -> Vec<Vec<u8>> {
    let evidence = |fixed, sides: &[usize]| {
        let start = Checkpoint::genesis(Network::Regtest);
        let sides = sides.iter().map(|&count| blobs(count, fixed)).collect();
        let evidence =
            Evidence { network: Network::Regtest, fixed_difficulty: fixed, start, sides };
        let mut bytes = evidence.to_bytes();
        bytes.truncate(bytes.len() - CHECKSUM);
        bytes
    };
    vec![evidence(None, &[3]), evidence(None, &[2, 5]), evidence(Some(100), &[1, 1])]
}

/// Returns the blobs of a chain after the genesis block.
fn blobs(count: usize, fixed: Option<u128>) -> Vec<Vec<u8>> {
    let mut world = World::new(fixed);
    let mut tip = 0;
    let mut blobs = Vec::new();
    for _ in 0..count {
        tip = world.child(tip, 100, Fault::None);
        blobs.push(world.blocks[tip].blob.clone());
    }
    blobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::corpus;

    /// The magic bytes of every format that is read.
    const MAGICS: [&[u8]; 2] = [b"RXMstor2", FORMER];

    #[test]
    fn kept_inputs_and_seeds_of_each_format_are_accepted() {
        let kept = corpus::read(&STORES).expect("a corpus");
        for (inputs, name) in [(kept, "kept inputs"), (store_seeds(), "seeds")] {
            for magic in MAGICS {
                let of_format = inputs.iter().filter(|input| input.starts_with(magic));
                let accepted = of_format.filter(|input| stores(input)).count();
                assert!(accepted > 0, "no {name} of {}", String::from_utf8_lossy(magic));
            }
        }
    }

    #[test]
    fn restored_seeds_have_stated_difficulties() {
        for content in [stated(), former()] {
            let start = Start::Stored(with_checksum(&content));
            let client = Client::new(config(&content), start).expect("a stored chain");
            assert_eq!(client.save().expect("a tip")[STATED], 1);
        }
    }
}
