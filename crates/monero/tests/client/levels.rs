//! A first start from difficulties that a source states too high, so that honest blocks miss theirs.

use randomx_monero::client::{Alarm, Client, Config, Query, Report, SourceState, Start};
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

#[test]
fn a_source_that_lies_again_is_asked_once_an_hour() {
    let world = world();
    let mut run = Run::new(&world, 2, 1);
    run.grow(Mode::Honest);
    run.sources[1].mode = Mode::Stall;
    let mut reports = run.wait(3600);
    assert_eq!(run.sources[0].statements, 2);
    assert_eq!(run.client.tip().map(|tip| tip.height), Some(TO as u64));
    reports.extend(run.wait(400));
    assert_eq!(run.sources[0].statements, 3);
    let alarms = reports.iter().filter(|report| matches!(report, Report::Alarm(_)));
    let alarms: Vec<&Report> = alarms.collect();
    assert!(matches!(alarms[..], [Report::Alarm(Alarm::Stale { .. })]), "{alarms:?}");
    // An honest source ends this.
    run.sources[1].mode = Mode::Honest;
    run.wait(3600);
    run.has_the_chain();
    assert_eq!(run.states(), ["following", "following"]);
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

/// The right level is read again and again, and the block stays as it is.
#[test]
fn a_near_miss_holds_up_no_other_chain() {
    let mut world = world();
    let narrow = world.child(TIP, 120, Fault::Narrow);
    let above = world.child(narrow, 120, Fault::None);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[2].tip = above;
    for _ in 0..3 {
        run.wait(2400);
        assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
        assert_eq!(run.states(), ["unresponsive", "following", "following"]);
        let read: Vec<bool> =
            run.client.sources().map(|(source, _)| run.client.has_read(source)).collect();
        assert_eq!(read, [false, true, false]);
    }
    let statements = run.sources[1].statements + run.sources[2].statements;
    assert!((2..=3).contains(&statements), "{statements}");
}

/// Late blocks lower the difficulty. So forged ones would make a near miss cheap.
#[test]
fn forged_blocks_before_a_near_miss_accuse_their_source() {
    for later in [false, true] {
        let mut world = world();
        let mut block = TIP;
        for _ in 0..30 {
            block = world.child(block, 7000, Fault::Forged);
        }
        let mut narrow = world.child(block, 7000, Fault::Narrow);
        if later {
            narrow = world.child(narrow, 120, Fault::Narrow);
        }
        let mut run = Run::new(&world, 0, 2);
        run.now += 40 * 7000;
        run.grow(Mode::Stall);
        run.sources[2].tip = narrow;
        run.wait(400);
        assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
        assert_eq!(run.states(), ["unresponsive", "following", "invalid"]);
        assert_eq!(run.sources[1].statements + run.sources[2].statements, 0);
    }
}

/// A second lie shifts the level upwards, so that the hash of the tip misses it.
#[test]
fn a_tip_that_misses_a_higher_level_is_left() {
    let mut world = world();
    let narrow = world.child(TIP, 120, Fault::Narrow);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[1].stated = Some(lie(&world, 2));
    run.wait(400);
    run.has_the_chain();
    run.sources[2].tip = narrow;
    let reports = run.wait(400);
    assert_eq!(run.sources[1].statements, 1);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TO].id));
    let left = |report: &Report| match report {
        Report::Reorganised { fork, tip } => Some((fork.clone(), *tip)),
        _ => None,
    };
    let [(fork, tip)] = &reports.iter().filter_map(left).collect::<Vec<_>>()[..] else {
        panic!("one reorganisation: {reports:?}")
    };
    let ours: Vec<_> = world.blocks[TO + 1..=TIP].iter().map(|block| block.id).collect();
    assert_eq!((fork.id, fork.height, tip.id), (world.blocks[TO].id, TO as u64, fork.id));
    assert_eq!((&fork.ours.ids, fork.theirs.ids.len(), fork.theirs.work), (&ours, 0, 0));
    let stored = run.client.save().expect("a tip");
    Client::new(config(), Start::Stored(stored)).expect("a state that can be restored");
    // The other source states the truth.
    run.wait(4000);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TIP].id));
    assert_eq!(run.states(), ["unresponsive", "following", "following"]);
}

/// A good hash of the newest block proves nothing about those below, whose hashes miss the higher level.
#[test]
fn blocks_that_the_client_has_left_are_hashed_again() {
    let mut world = world();
    let lucky = world.child(TIP, 120, Fault::None);
    let above = world.child(TIP, 120, Fault::None);
    let narrow = world.child(above, 120, Fault::Narrow);
    // An unknown block's hash meets every difficulty.
    let id = world.blocks[lucky].id;
    world.by_id.remove(&id);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[1].stated = Some(lie(&world, 2));
    (run.sources[1].tip, run.sources[2].tip) = (lucky, narrow);
    run.wait(400);
    assert_eq!(run.sources[1].statements, 1);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(world.blocks[TO].id));
    // The other source states the truth.
    run.wait(4000);
    assert_eq!(run.client.tip().map(|tip| tip.id), Some(id));
}

/// Returns whether a source is asked for the blocks up to the first anchor.
fn reads(script: &Script, source: usize) -> bool {
    matches!(script.asked(source), Some(Query::Headers { count, .. }) if count > 1)
}

#[test]
fn a_source_that_is_silent_while_it_is_read_gives_way_to_another_one() {
    let world = world();
    let run = Run::new(&world, 2, 0);
    let mut script = Script::with(config(), Start::Stored(run.client.save().expect("a tip")), 2);
    (0..2).for_each(|source| script.show(source, &world, TIP));
    script.hash_all(&world);
    assert!(reads(&script, 0) && !reads(&script, 1));
    (0..11).for_each(|_| script.wait(60));
    script.tip_at(1, &world, TIP);
    assert!(reads(&script, 1));
}

/// The first one has lied again. The second one is silent.
#[test]
fn a_silent_source_gives_way_to_one_that_has_stated_difficulties_as_often() {
    let world = world();
    let run = Run::new(&world, 2, 0);
    let mut script = Script::with(config(), Start::Stored(run.client.save().expect("a tip")), 2);
    (0..2).for_each(|source| script.show(source, &world, TIP));
    script.hash_all(&world);
    assert!(reads(&script, 0));
    script.blocks(0, &world, &(FROM + 1 - DIFFICULTY_BLOCKS..=FROM).collect::<Vec<_>>());
    script.difficulties(0, lie(&world, 2));
    script.blocks(0, &world, &(FROM + 1..=TO).collect::<Vec<_>>());
    (0..2).for_each(|source| script.tip_at(source, &world, TIP));
    script.hash_all(&world);
    (0..60).for_each(|_| script.wait(60));
    (0..2).for_each(|source| script.tip_at(source, &world, TIP));
    assert!(reads(&script, 1) && !reads(&script, 0));
    (0..11).for_each(|_| script.wait(60));
    script.tip_at(0, &world, TIP);
    assert!(reads(&script, 0));
}

/// The only source sends no more.
#[test]
fn a_reading_has_an_end() {
    let world = world();
    let run = Run::new(&world, 2, 0);
    let mut script = Script::with(config(), Start::Stored(run.client.save().expect("a tip")), 1);
    script.show(0, &world, TIP);
    script.hash_all(&world);
    for minutes in [0, 200] {
        (0..minutes).for_each(|_| script.wait(60));
        assert!(reads(&script, 0));
        script.fail(0);
        script.wait(60);
    }
    assert!(
        reads(&script, 0) && !script.client.sources().any(|(id, _)| script.client.has_read(id))
    );
    (0..60).for_each(|_| script.wait(60));
    script.fail(0);
    script.wait(60);
    assert_eq!(script.asked(0), Some(Query::Tip));
    assert!(!script.client.is_settled());
    // It begins again after an hour.
    script.tip_at(0, &world, TIP);
    (0..60).for_each(|_| script.wait(60));
    script.tip_at(0, &world, TIP);
    assert!(reads(&script, 0));
}

#[test]
fn a_block_without_its_proof_of_work_is_a_lie_at_any_level() {
    let mut world = world();
    let forged = world.child(TIP, 120, Fault::Forged);
    let mut run = Run::new(&world, 0, 2);
    run.grow(Mode::Stall);
    run.sources[2].tip = forged;
    run.wait(400);
    run.has_the_chain();
    assert_eq!(run.states(), ["unresponsive", "following", "invalid"]);
    // The level is wrong by more than the anchors allow.
    let mut run = Run::new(&world, 5, 1);
    run.grow(Mode::Stall);
    run.wait(400);
    assert_eq!(run.states(), ["unresponsive", "invalid"]);
}
