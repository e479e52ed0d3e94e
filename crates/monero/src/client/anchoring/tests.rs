//! Simulated chains between two anchors.

mod answers;

use std::collections::VecDeque;

use super::*;
use crate::reader::write_varint;
use crate::retarget::{DIFFICULTY_CUT, DIFFICULTY_LAG, DIFFICULTY_TARGET, DIFFICULTY_WINDOW};

/// A chain from the genesis block on, with hash rates that change, and the difficulties that the
/// rule demands.
struct Simulated {
    blobs: Vec<Vec<u8>>,
    recent: Vec<RecentBlock>,
    anchors: Vec<Anchor>,
}

const NETWORK: Network = Network::Regtest;

/// The blocks before the first anchor: enough to reach the hash rate.
const BEFORE: u64 = 2400;

fn simulate(between: u64) -> Simulated {
    let mut walk = Walk::after(Checkpoint::genesis(NETWORK));
    let mut chain = Simulated { blobs: vec![], recent: vec![], anchors: vec![] };
    let (mut clock, mut random) = (1_700_000_000_u64, 1_u64);
    for height in 1..=BEFORE + between {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Between half and twice the rate, over some two weeks.
        let phase = (height % 10_000) as f64 / 10_000.0 * std::f64::consts::TAU;
        let rate = 6e9 * 2_f64.powf(phase.sin());
        let next = match walk.history.difficulty(height) {
            Demand::Ruled(difficulty) => difficulty as f64,
            _ => panic!("a chain from the genesis block has difficulties"),
        };
        let luck = -(1.0 - (random >> 11) as f64 / (1_u64 << 53) as f64).ln();
        clock += (luck * next / rate) as u64;
        let mut blob = vec![16, 16];
        write_varint(&mut blob, clock);
        blob.extend(walk.id);
        blob.extend([1, 2, 3, 4]);
        blob.extend([5; 32]);
        blob.push(1);
        let before = walk.work;
        walk.push(&blob, NETWORK, u128::MAX).expect("a block");
        let difficulty = walk.work - before;
        chain.blobs.push(blob);
        chain.recent.push(RecentBlock { timestamp: clock, difficulty });
        if height == BEFORE || height == BEFORE + between {
            chain.anchors.push(Anchor { height, id: walk.id, work: walk.work });
        }
    }
    chain
}

impl Simulated {
    fn start(&self) -> Anchoring {
        Anchoring::between(NETWORK, self.anchors[0], self.anchors[1])
    }

    /// The true difficulties of the blocks up to the first anchor.
    fn window(&self) -> &[RecentBlock] {
        &self.recent[BEFORE as usize - DIFFICULTY_BLOCKS..BEFORE as usize]
    }

    fn headers(&self, query: Query) -> Vec<Vec<u8>> {
        let Query::Headers { first, count } = query else { panic!("{query:?}") };
        self.blobs[first as usize - 1..(first + count - 1) as usize].to_vec()
    }

    /// Answers until the end, with these difficulties of the window.
    fn run(&self, difficulties: &[u128]) -> Step {
        let mut anchoring = self.start();
        loop {
            let step = match anchoring.query() {
                Query::Difficulties { .. } => anchoring.difficulties(difficulties),
                query => anchoring.headers(&self.headers(query)),
            };
            if step != Step::More {
                return step;
            }
        }
    }

    /// The difficulty after the second anchor, if the window's work is divided in these parts
    /// and scaled so that the sum is as it should be; and the true one.
    fn after_division(&self, part: impl Fn(usize) -> f64) -> (f64, f64) {
        let target = self.anchors[1].work - self.anchors[0].work;
        let walk = |scale: f64| {
            let recent = self.window().iter().enumerate().map(|(index, block)| RecentBlock {
                timestamp: block.timestamp,
                difficulty: ((part(index) * scale) as u128).max(1),
            });
            let Anchor { height, id, work } = self.anchors[0];
            let recent = recent.collect();
            let seeds = Vec::new();
            let mut walk = Walk::after(Checkpoint { height, id, work, recent, seeds });
            for blob in &self.blobs[BEFORE as usize..] {
                walk.push(blob, NETWORK, u128::MAX).expect("a block");
            }
            let Demand::Ruled(next) = walk.history.difficulty(walk.height + 1) else {
                panic!("a difficulty")
            };
            (walk.work - work, next as f64)
        };
        // The rule is linear in work: one run at any scale gives the right one.
        let mean = self.window().iter().map(|block| block.difficulty as f64).sum::<f64>();
        let guess = mean / (0..DIFFICULTY_BLOCKS).map(&part).sum::<f64>();
        let scale = guess * target as f64 / walk(guess).0 as f64;
        let mut truth = History::new(self.recent[self.recent.len() - DIFFICULTY_BLOCKS..].to_vec());
        let Demand::Ruled(truth) = truth.difficulty(self.anchors[1].height + 1) else {
            panic!("a difficulty")
        };
        (walk(scale).1, truth as f64)
    }
}

#[test]
fn an_honest_source_leads_to_the_second_anchor() {
    let chain = simulate(3000);
    let difficulties: Vec<u128> = chain.window().iter().map(|block| block.difficulty).collect();
    let Step::Done(checkpoint) = chain.run(&difficulties) else { panic!("not done") };
    assert_eq!(checkpoint.id, chain.anchors[1].id);
    assert_eq!(checkpoint.recent, chain.recent[chain.recent.len() - DIFFICULTY_BLOCKS..]);
    assert_eq!(checkpoint.check_form(), Ok(()));
    assert!(checkpoint.is_complete());
}

#[test]
fn other_difficulties_do_not_add_up() {
    let chain = simulate(3000);
    let truth: Vec<u128> = chain.window().iter().map(|block| block.difficulty).collect();
    let run = |change: &dyn Fn(&mut Vec<u128>)| {
        let mut difficulties = truth.clone();
        change(&mut difficulties);
        chain.run(&difficulties)
    };
    let is_false = |step: Step| matches!(step, Step::False(_));
    assert!(is_false(run(&|all| all[400] += 1000)));
    assert!(is_false(run(&|all| all.iter_mut().for_each(|one| *one = *one * 9 / 10))));
    assert!(is_false(run(&|all| all.fill(1))));
    assert!(is_false(run(&|all| all[0] = u128::MAX)));
    assert!(is_false(run(&|all| all[0] = 0)));
    let moved = |all: &mut Vec<u128>| {
        all[100] += 1_000_000;
        all[600] -= 1_000_000;
    };
    assert!(is_false(run(&moved)), "the same sum, divided otherwise");
    assert_eq!(run(&|all| all.truncate(DIFFICULTY_BLOCKS - 1)), Step::Short);
}

#[test]
fn blocks_took_one_minute_before_version_2() {
    let network = Network::Stagenet;
    let (version, first) = network.forks()[0];
    assert_eq!(version, 2);
    for (height, expected) in [(first - 1, 6000), (first, 12_000), (first + 1, 12_000)] {
        // A block a minute.
        let blocks = DIFFICULTY_BLOCKS as u64;
        let recent = (0..blocks).map(|n| RecentBlock { timestamp: 60 * n, difficulty: 6000 });
        let (recent, seeds) = (recent.collect(), Vec::new());
        let checkpoint = Checkpoint { height: height - 1, id: [3; 32], work: 0, recent, seeds };
        let mut walk = Walk::after(checkpoint);
        let mut blob = vec![1, 1];
        write_varint(&mut blob, 60 * blocks);
        blob.extend(walk.id);
        blob.extend([1, 2, 3, 4]);
        blob.extend([5; 32]);
        blob.push(1);
        walk.push(&blob, network, u128::MAX).expect("a block");
        assert_eq!(walk.work, expected, "height {height}");
    }
}

/// Returns the least and the greatest next difficulty, as parts of the true one, that a source can
/// reach which divides the work of the 735 blocks as it likes.
///
/// Timestamps are proven, so each difficulty that the rule demands is a sum of the 735, with fixed
/// factors that are not negative, apart from rounding. So is the work up to the second anchor, which
/// is fixed. A quotient of two such sums is extreme where all work is in one of the 735.
fn extremes(chain: &Simulated) -> (f64, f64) {
    let first = BEFORE as usize - DIFFICULTY_BLOCKS;
    // For each block the work up to it, by the block that has all.
    let row = |block| (0..DIFFICULTY_BLOCKS).map(|one| f64::from(u8::from(one <= block))).collect();
    let mut works: VecDeque<Vec<f64>> = (0..DIFFICULTY_BLOCKS).map(row).collect();
    let demanded = |works: &VecDeque<Vec<f64>>, next: usize| -> Vec<f64> {
        let window = &chain.recent[next - DIFFICULTY_BLOCKS..next - DIFFICULTY_LAG];
        let mut times: Vec<u64> = window.iter().map(|block| block.timestamp).collect();
        times.sort_unstable();
        let (low, high) = (DIFFICULTY_CUT, DIFFICULTY_WINDOW - DIFFICULTY_CUT - 1);
        let factor = DIFFICULTY_TARGET as f64 / (times[high] - times[low]) as f64;
        works[low].iter().zip(&works[high]).map(|(low, high)| (high - low) * factor).collect()
    };
    for next in first + DIFFICULTY_BLOCKS..chain.recent.len() {
        let difficulties = demanded(&works, next);
        let last = &works[DIFFICULTY_BLOCKS - 1];
        let work = last.iter().zip(difficulties).map(|(work, more)| work + more).collect();
        works.push_back(work);
        works.pop_front();
    }
    let between = (chain.anchors[1].work - chain.anchors[0].work) as f64;
    let mut truth = History::new(chain.recent[chain.recent.len() - DIFFICULTY_BLOCKS..].to_vec());
    let Demand::Ruled(truth) = truth.difficulty(chain.anchors[1].height + 1) else {
        panic!("a difficulty")
    };
    let last = demanded(&works, chain.recent.len());
    // The first blocks are cut from every window, and count nowhere.
    let counted = works[DIFFICULTY_BLOCKS - 1].iter().zip(last).filter(|(work, _)| **work > 1.0);
    let parts = counted.map(|(work, next)| next / (work - 1.0) * between / truth as f64);
    parts.fold((f64::MAX, 0.0), |(least, most), part| (part.min(least), part.max(most)))
}

/// Returns how far the next difficulty can be from the true one: for three kinds of divisions, which
/// are tried, and for all, which [`extremes`] computes.
fn freedom(between: u64) -> [f64; 4] {
    let chain = simulate(between);
    let (least, most) = extremes(&chain);
    let deviation = |part: &dyn Fn(usize) -> f64| {
        let (got, truth) = chain.after_division(part);
        (got / truth - 1.0).abs()
    };
    let block = |from: usize| {
        move |index: usize| {
            if (from..from + 100).contains(&index) { 1e6 } else { 1e-3 }
        }
    };
    let blocks = [0, 300, 635].map(|from| deviation(&block(from)));
    [
        deviation(&|_| 1.0),
        deviation(&|index| 1.0 + index as f64).max(deviation(&|index| 736.0 - index as f64)),
        blocks.into_iter().fold(0.0, f64::max),
        (1.0 - least).max(most - 1.0),
    ]
}

#[test]
fn little_freedom_is_left_after_12_000_blocks() {
    let [flat, ramps, blocks, all] = freedom(12_000);
    println!("{flat} {ramps} {blocks} {all}");
    assert!(flat < 1e-3 && ramps < 0.01 && blocks < 0.03, "{flat} {ramps} {blocks}");
    assert!(all > blocks && all < 0.1, "{all}");
}

/// As many blocks as between the main network's last two anchors.
#[test]
#[ignore = "takes a minute; part of the full tests"]
fn less_freedom_is_left_after_45_000_blocks() {
    let [flat, ramps, blocks, all] = freedom(45_000);
    println!("{flat} {ramps} {blocks} {all}");
    assert!(flat < 3e-4 && ramps < 3e-3 && blocks < 1e-2, "{flat} {ramps} {blocks}");
    assert!(all > blocks && all < 0.03, "{all}");
}

fn anchor(height: u64, work: u128) -> Anchor {
    Anchor { height, id: [1; 32], work }
}

#[test]
fn anchors_are_apart_in_height_and_work() {
    let is_wide = |from: (u64, u128), to: (u64, u128)| {
        Anchoring::is_wide(anchor(from.0, from.1), anchor(to.0, to.1))
    };
    assert!(is_wide((4, 1), (5, 2)));
    assert!(!is_wide((5, 1), (5, 2)) && !is_wide((4, 2), (5, 2)) && !is_wide((4, 3), (5, 2)));
    // The first of the keys for the blocks after height 8000 is the id of block 6144.
    assert!(is_wide((6143, 1), (8000, 2)) && !is_wide((6144, 1), (8000, 2)));
    assert!(is_wide((6144, 1), (MAX_HEIGHT - 1, 2)) && !is_wide((6144, 1), (MAX_HEIGHT, 2)));
}
