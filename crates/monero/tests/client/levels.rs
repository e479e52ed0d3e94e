//! A first start from difficulties that a source states too high, so that honest blocks miss theirs.

mod misses;
mod readings;

use randomx_monero::client::{Client, Config, Query, Report, SourceState, Start};
use randomx_monero::{Anchor, DIFFICULTY_BLOCKS, Network};

use crate::drive::drive;
use crate::script::Script;
use crate::sources::{Mode, Source};
use crate::world::{Fault, START, World};

/// The heights of the anchors and of the tip.
const FROM: usize = 800;
const TO: usize = 820;
const TIP: usize = 830;

const NOW: u64 = START + TIP as u64 * 120;

/// A chain whose difficulty hardly changes.
fn world() -> World {
    let mut world = World::new(None);
    for height in 0..TIP {
        world.child(height, if height < 5 { 1 } else { 120 }, Fault::None);
    }
    world
}

/// Returns difficulties with the right sum. Those of the first blocks count nowhere. The others lead to
/// the second anchor's work, and then to difficulties that are too high by `percent`.
fn lie(world: &World, percent: u128) -> Vec<u128> {
    let truth = &world.blocks[FROM + 1 - DIFFICULTY_BLOCKS..=FROM];
    let mut difficulties: Vec<u128> = truth.iter().map(|block| block.difficulty).collect();
    // A difficulty depends on 600 blocks. Block 745 is the newest one for the block after the second anchor.
    let more = 6 * percent * difficulties[0] / 60;
    difficulties[745 - truth[0].height as usize] += 60 * more;
    difficulties[..60].iter_mut().for_each(|difficulty| *difficulty -= more);
    difficulties
}

/// A client, its sources and the time.
struct Run<'a> {
    world: &'a World,
    client: Client,
    sources: Vec<Source>,
    now: u64,
}

impl<'a> Run<'a> {
    /// Ends a first start at the second anchor, with the difficulties that the first source states. The
    /// other sources are silent.
    fn new(world: &'a World, percent: u128, others: usize) -> Self {
        let anchor = |height: usize| {
            let block = &world.blocks[height];
            Anchor { height: block.height, id: block.id, work: block.work }
        };
        let start = Start::Between(anchor(FROM), anchor(TO));
        let client = Client::new(config(), start).expect("anchors in order");
        let mut sources = vec![Source::new(); 1 + others];
        sources.iter_mut().for_each(|source| source.mode = Mode::Stall);
        (sources[0].mode, sources[0].stated) = (Mode::Honest, Some(lie(world, percent)));
        let mut run = Self { world, client, sources, now: NOW };
        run.sources.iter_mut().for_each(|source| source.tip = TO);
        run.add_sources();
        run.wait(100);
        assert_eq!((run.client.base().id, run.client.kept().count()), (world.blocks[TO].id, 0));
        run
    }

    /// Ends the process and starts it again.
    fn restart(&mut self) {
        let stored = self.client.save().expect("a tip");
        self.client = Client::new(config(), Start::Stored(stored)).expect("a state");
        self.add_sources();
    }

    fn add_sources(&mut self) {
        for _ in &self.sources {
            self.client.add_source().expect("few sources");
        }
    }

    /// Lets all sources but the first have the newest block and answer, and the first one in a manner.
    fn grow(&mut self, first: Mode) {
        for source in &mut self.sources {
            (source.tip, source.mode) = (TIP, Mode::Honest);
        }
        self.sources[0].mode = first;
    }

    fn wait(&mut self, seconds: u64) -> Vec<Report> {
        let mut reports = Vec::new();
        for _ in 0..seconds / 20 {
            self.now += 20;
            reports.extend(drive(&mut self.client, &mut self.sources, self.world, self.now));
        }
        reports
    }

    fn states(&self) -> Vec<&'static str> {
        self.client.sources().map(|(_, state)| state.as_str()).collect()
    }

    #[track_caller]
    fn has_the_chain(&self) {
        let (tip, block) = (self.client.tip().expect("a tip"), &self.world.blocks[TIP]);
        assert_eq!((tip.id, tip.work), (block.id, block.work));
        let kept: Vec<u128> = self.client.kept().map(|block| block.difficulty).collect();
        let truth = self.world.blocks[TO + 1..=TIP].iter().rev().map(|block| block.difficulty);
        assert_eq!(kept, truth.collect::<Vec<_>>());
        assert!(self.client.is_settled());
    }
}

fn config() -> Config {
    Config::new(Network::Regtest, [1; 32])
}

#[test]
fn a_wrong_level_accuses_no_source_and_is_corrected() {
    let world = world();
    for restarts in [false, true] {
        let mut run = Run::new(&world, 2, 2);
        if restarts {
            run.restart();
        }
        run.grow(Mode::Stall);
        run.wait(400);
        run.has_the_chain();
        assert_eq!(run.states(), ["unresponsive", "following", "following"]);
        run.restart();
        run.wait(400);
        run.has_the_chain();
        assert_eq!(run.states(), ["unresponsive", "following", "following"]);
    }
}

/// The client asks another source than the one that lied, though that one answers first.
#[test]
fn another_source_corrects_the_level() {
    let world = world();
    let mut run = Run::new(&world, 2, 1);
    run.sources[1].mode = Mode::Honest;
    run.wait(100);
    run.grow(Mode::Honest);
    run.wait(400);
    run.has_the_chain();
    assert_eq!(run.states(), ["following", "following"]);
    assert_eq!(run.sources[0].statements, 1);
}

/// The only source is slow.
#[test]
fn a_client_that_corrects_the_level_is_not_settled_and_watches_the_chain() {
    let world = world();
    let run = Run::new(&world, 2, 0);
    let start = Start::Stored(run.client.save().expect("a tip"));
    let mut script = Script::with(config(), start, 1);
    let alarms = |script: &Script| {
        script.reports.iter().filter(|report| matches!(report, Report::Alarm(_))).count()
    };
    script.show(0, &world, TIP);
    assert_eq!(alarms(&script), 0);
    script.hash_all(&world);
    let first = (FROM + 1 - DIFFICULTY_BLOCKS) as u64;
    let window = Query::Headers { first, count: DIFFICULTY_BLOCKS as u64 };
    assert_eq!((script.asked(0), script.height()), (Some(window), Some(TO as u64)));
    assert!(!script.client.is_settled());
    // Its blocks are old.
    assert_eq!(alarms(&script), 1);
    assert_eq!(script.client.progress(), Some((TO as u64, TIP as u64)));
    script.blocks(0, &world, &(FROM + 1 - DIFFICULTY_BLOCKS..=FROM).collect::<Vec<_>>());
    let truth = &world.blocks[FROM + 1 - DIFFICULTY_BLOCKS..=FROM];
    script.difficulties(0, truth.iter().map(|block| block.difficulty).collect());
    script.blocks(0, &world, &(FROM + 1..=TO).collect::<Vec<_>>());
    script.tip_at(0, &world, TIP);
    script.hash_all(&world);
    assert_eq!((script.height(), script.state(0)), (Some(TIP as u64), SourceState::Following));
    assert!(script.client.is_settled());
}

/// Meanwhile the client shows what it has.
#[test]
fn a_client_without_a_source_that_can_correct_the_level_keeps_its_tip() {
    let world = world();
    let mut run = Run::new(&world, 2, 1);
    run.grow(Mode::Stall);
    run.sources[1].stated = Some(vec![1; DIFFICULTY_BLOCKS]);
    run.wait(400);
    let tip = run.client.tip().expect("a tip");
    assert_eq!((tip.height, run.states()[1]), (TO as u64, "invalid"));
    assert_eq!(run.client.block_id(tip.height), Some(tip.id));
    assert!(run.client.save().is_some() && run.client.checkpoint().is_some());
    assert_eq!(run.client.progress(), None);
}
