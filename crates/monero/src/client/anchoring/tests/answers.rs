//! The meaning of single answers.

use super::*;

#[test]
fn the_window_may_come_in_several_answers() {
    let chain = simulate(10);
    let mut anchoring = chain.start();
    let window = DIFFICULTY_BLOCKS as u64;
    let first = BEFORE + 1 - window;
    let mut read = 0;
    for count in [1, 500, 234] {
        assert_eq!(anchoring.query(), Query::Headers { first: first + read, count: window - read });
        let mut blobs = chain.headers(anchoring.query());
        assert_eq!(anchoring.headers(&[]), Step::Short);
        blobs.push(blobs[0].clone());
        assert_eq!(anchoring.headers(&blobs), Step::Short, "more than it was asked for");
        assert_eq!(anchoring.headers(&blobs[..count]), Step::More);
        read += count as u64;
    }
    assert_eq!(anchoring.query(), Query::Difficulties { first, count: window });
}

#[test]
fn a_gap_between_answers_is_found_once_the_anchor_is_reached() {
    let chain = simulate(10);
    let mut anchoring = chain.start();
    let blobs = chain.headers(anchoring.query());
    assert_eq!(anchoring.headers(&blobs[..1]), Step::More);
    // One block is left out, and another one sent twice.
    assert_eq!(anchoring.headers(&blobs[2..]), Step::More);
    let step = anchoring.headers(&blobs[DIFFICULTY_BLOCKS - 1..]);
    assert_eq!(step, Step::False("the blocks before the anchor are not its predecessors"));
}

#[test]
fn a_first_block_after_another_genesis_block_is_of_another_network() {
    let chain = simulate(10);
    let start = |network| Anchoring::between(network, anchor(0, 1), anchor(BEFORE, 1 << 100));
    let mut anchoring = start(Network::Testnet);
    assert_eq!(anchoring.headers(&chain.blobs[..3]), Step::OtherNetwork);
    // Later on, the source contradicts itself.
    let mut anchoring = start(NETWORK);
    assert_eq!(anchoring.headers(&chain.blobs[..3]), Step::More);
    assert!(matches!(anchoring.headers(&chain.blobs[5..8]), Step::False(_)));
}

#[test]
fn other_chains_are_told_from_broken_ones() {
    let (chain, other) = (simulate(3000), simulate(3100));
    let mut anchoring = Anchoring::between(NETWORK, other.anchors[1], other.anchors[1]);
    assert_eq!(anchoring.headers(&chain.blobs[..DIFFICULTY_BLOCKS]), Step::OtherNetwork);
    let mut anchoring = chain.start();
    let query = anchoring.query();
    let mut window = chain.headers(query);
    window[5] = window[6].clone();
    assert!(matches!(anchoring.headers(&window), Step::False(_)));
    assert_eq!(chain.start().headers(&[]), Step::Short);
    assert_eq!(
        chain.start().headers(&vec![vec![1]; DIFFICULTY_BLOCKS]),
        Step::False("a block before the anchor cannot be parsed")
    );
}

#[test]
fn questions_name_the_blocks_that_are_missing() {
    let window = DIFFICULTY_BLOCKS as u64;
    let asked = |from: u64| Anchoring::between(NETWORK, anchor(from, 1), anchor(9000, 2)).query();
    assert_eq!(asked(0), Query::Headers { first: 1, count: MAX_HEADERS });
    assert_eq!(asked(window - 1), Query::Headers { first: 1, count: MAX_HEADERS });
    assert_eq!(asked(window), Query::Headers { first: 1, count: window });
    assert_eq!(asked(1000), Query::Headers { first: 1001 - window, count: window });
    let walk = Walk::after(Checkpoint { height: 4, ..Checkpoint::genesis(NETWORK) });
    let (network, from, to) = (NETWORK, anchor(0, 1), anchor(10, 2));
    let anchoring = Anchoring { stage: Stage::Walk(walk), ..Anchoring::between(network, from, to) };
    assert_eq!(anchoring.query(), Query::Headers { first: 5, count: 6 });
    assert_eq!(anchoring.read(), 4);
    assert_eq!(Anchoring::between(NETWORK, anchor(1000, 1), to).read(), 1000);
}

#[test]
fn difficulties_add_up_to_no_more_than_the_anchors_work() {
    let answer = |work, difficulties: &[u128]| {
        let (from, to) = (anchor(1000, work), anchor(9000, 100));
        let stage = Stage::Difficulties(vec![1, 2]);
        Anchoring { stage, ..Anchoring::between(NETWORK, from, to) }.difficulties(difficulties)
    };
    assert_eq!(answer(7, &[3, 4]), Step::More);
    assert_eq!(answer(8, &[3, 4]), Step::More);
    for (work, difficulties) in [(6, [3, 4]), (7, [7, 0]), (7, [u128::MAX, 2])] {
        assert!(matches!(answer(work, &difficulties), Step::False(_)), "{difficulties:?}");
    }
    assert_eq!(answer(7, &[3]), Step::Short);
}

/// Returns what follows if a client that has this block reads up to it once more.
fn anew(chain: &Simulated, to: Anchor, end: (u64, Hash)) -> Step {
    let mut anchoring = Anchoring::anew(NETWORK, chain.anchors[0], to, end);
    let difficulties: Vec<u128> = chain.window().iter().map(|block| block.difficulty).collect();
    loop {
        assert_eq!(anchoring.height(), end.0);
        let step = match anchoring.query() {
            Query::Difficulties { .. } => anchoring.difficulties(&difficulties),
            query => anchoring.headers(&chain.headers(query)),
        };
        if step != Step::More {
            return step;
        }
    }
}

#[test]
fn a_second_reading_ends_at_a_block_that_the_client_has() {
    let chain = simulate(3000);
    let middle = BEFORE as usize + 1000;
    let work = chain.recent[..middle].iter().map(|block| block.difficulty).sum::<u128>() + 1;
    let id = HashingBlob::parse(&chain.blobs[middle - 1]).expect("a block").id();
    let to = Anchor { height: middle as u64, id, work };
    let end = chain.anchors[1];
    let Step::Done(checkpoint) = anew(&chain, to, (end.height, end.id)) else { panic!("not done") };
    assert_eq!((checkpoint.id, checkpoint.work), (end.id, end.work));
    assert_eq!(checkpoint.recent, chain.recent[chain.recent.len() - DIFFICULTY_BLOCKS..]);
    assert_eq!(anew(&chain, to, (end.height, [7; 32])), Step::OtherNetwork);
    let elsewhere = Anchor { id: [7; 32], ..to };
    assert_eq!(anew(&chain, elsewhere, (end.height, end.id)), Step::OtherNetwork);
    for work in [work - 1, work + 1] {
        let step = anew(&chain, Anchor { work, ..to }, (end.height, end.id));
        assert!(matches!(step, Step::False(_)), "{step:?}");
    }
}
