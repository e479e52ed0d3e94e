//! Checkpoints: arbitrary ones, and JSON files.

use randomx_cli::internals::{parse_checkpoint, write_checkpoint};
use randomx_monero::client::Evidence;
use randomx_monero::{
    Anchor, Candidate, Chain, Checkpoint, Link, Network, RecentBlock, SEED_EPOCH_BLOCKS, Seed,
    seed_height,
};

use crate::Target;
use crate::input::Input;

pub(super) const CHECKPOINTS: Target =
    Target { name: "checkpoints", longest: 2048, quick: 1000, run, seeds };

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    if input.byte() == b'{' {
        // The text begins with the byte that selects it.
        return json(&String::from_utf8_lossy(data));
    }
    let network = input.pick(&Network::ALL);
    let checkpoint = checkpoint(&mut input, network);
    let checked = checkpoint.check(network);
    let complete = checkpoint.is_complete();
    assert!(checked.is_err() || complete, "an accepted checkpoint is complete");
    let resumed = Chain::resume(checkpoint.clone(), network);
    assert_eq!(resumed.as_ref().err(), checked.as_ref().err());
    let unchecked = Chain::resume_unchecked(checkpoint.clone(), network);
    let chain = resumed.or(unchecked);
    let is_accepted = chain.is_ok();
    if let Ok(mut chain) = chain {
        assert_eq!(chain.next_height(), checkpoint.height + 1);
        assert_eq!(chain.checkpoint().as_ref(), Some(&checkpoint));
        let blob = input.rest();
        let block = Candidate { hashing_blob: Some(blob), ..Candidate::default() };
        let pushed = chain.push(&Link { block, ..Link::default() }, u64::MAX);
        if complete && pushed.is_err() {
            panic!("a complete checkpoint leaves nothing to be given: {pushed:?}");
        }
    }
    let sides = vec![Vec::new()];
    let evidence = Evidence { network, fixed_difficulty: None, start: checkpoint, sides };
    if evidence.start.seeds.len() < 256 {
        assert_eq!(Evidence::from_bytes(&evidence.to_bytes()).as_ref(), Ok(&evidence));
    }
    let text = write_checkpoint(&evidence.start).expect("every checkpoint has a form");
    assert_eq!(parse_checkpoint(&text), Ok(evidence.start));
    is_accepted
}

fn seeds() -> Vec<Vec<u8>> {
    let genesis = write_checkpoint(&Checkpoint::genesis(Network::Mainnet));
    let after = |height: u8, flags: u8| vec![0, 0, flags, height, 1, 9, 9, 0, 200, 7, 7, 3];
    vec![genesis.expect("JSON").into_bytes(), after(0, 0), after(40, 0)]
}

fn json(text: &str) -> bool {
    let Ok(checkpoint) = parse_checkpoint(text) else { return false };
    let written = write_checkpoint(&checkpoint).expect("every checkpoint has a form");
    assert_eq!(parse_checkpoint(&written).as_ref(), Ok(&checkpoint));
    let value: serde_json::Value = serde_json::from_str(text).expect("it was parsed before");
    let is_decimal = |value: &serde_json::Value| {
        value.as_str().is_none_or(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
    };
    assert!(is_decimal(&value["work"]), "work has other characters than digits");
    let recent = value["recent"].as_array().expect("a list");
    assert!(recent.iter().all(|block| is_decimal(&block["difficulty"])));
    true
}

/// Draws a checkpoint. Most satisfy the rules about their form.
pub(super) fn checkpoint(input: &mut Input<'_>, network: Network) -> Checkpoint {
    let flags = input.byte();
    let newest = Anchor::all(network).last().map_or(0, |anchor| anchor.height);
    let height = match flags >> 6 {
        0 => input.number() % 4096,
        1 => newest.saturating_add(input.number() % 4096),
        2 => newest,
        _ => input.number(),
    };
    let needed = height.saturating_add(1).min(735) as usize;
    let count = if flags & 1 == 0 { needed } else { input.number() as usize % 800 };
    let (mut time, step) = (input.number(), input.number());
    let difficulty = input.wide_number();
    let recent = (0..count).map(|index| {
        time = time.wrapping_add(step).wrapping_add(u64::from(index % 7 == 0));
        RecentBlock { timestamp: time, difficulty: difficulty | u128::from(flags & 2 == 0) }
    });
    let recent: Vec<RecentBlock> = recent.collect();
    let id = if flags & 4 == 0 { input.array() } else { network.genesis_id() };
    let sum = recent.iter().try_fold(0_u128, |sum, block| sum.checked_add(block.difficulty));
    let work = match input.below(3) {
        0 => 0,
        1 => sum.unwrap_or(0).wrapping_add(input.wide_number()),
        _ => input.wide_number(),
    };
    let seeds = if flags & 8 == 0 {
        let mut heights =
            vec![seed_height(height.saturating_add(1)), height - height % SEED_EPOCH_BLOCKS];
        heights.dedup();
        let id = |height: u64| if height == 0 { network.genesis_id() } else { [7; 32] };
        heights.into_iter().map(|height| Seed { height, id: id(height) }).collect()
    } else {
        (0..input.below(4)).map(|_| Seed { height: input.number(), id: input.array() }).collect()
    };
    Checkpoint { height, id, work, recent, seeds }
}
