//! One history: a client, its sources, its disk, and everything that goes wrong.

// Named in full for `crates/fuzz`, which includes this file from elsewhere.
#[path = "history/checks.rs"]
mod checks;
#[path = "history/op.rs"]
mod op;

use std::collections::{HashSet, VecDeque};

use randomx_monero::client::{
    Action, Client, Config, Event, JobId, Query, RequestId, SourceId, SourceState, Start,
};
use randomx_monero::{Hash, Network};

use crate::counts::count;
use crate::sources::{Mode, Source};
use crate::world::{Fault, START, World};

pub use op::Op;

/// Something that the client waits for.
#[derive(Clone, Debug)]
enum Pending {
    Request(SourceId, RequestId, Query),
    /// Whether with a cache that is filled anew, which the second hash of a block needs.
    Hash {
        job: JobId,
        blob: Vec<u8>,
        fresh: bool,
    },
}

pub struct History {
    world: World,
    sources: Vec<Source>,
    config: Config,
    client: Client,
    outbox: VecDeque<Action>,
    pending: Vec<Pending>,
    disk: Option<Vec<u8>>,
    /// The blocks whose hashes were computed and sufficed, in all lives of the process.
    hashed: HashSet<Hash>,
    /// The blocks that a hash showed to be forged in this life of the process, or that it knew to be from the start.
    refuted: HashSet<Hash>,
    /// Those of them that a second hash confirmed, and those that the disk knows.
    refused: HashSet<Hash>,
    refused_on_disk: HashSet<Hash>,
    /// The tip by the reports.
    reported: Hash,
    announced: HashSet<Hash>,
    /// The number of hashes that were computed wrongly.
    errors: u64,
    now: u64,
}

impl History {
    pub fn new(config: Config, sources: usize) -> Self {
        let world = World::new(config.fixed_difficulty);
        let client = start(&config, None, sources);
        let reported = client.tip().expect("regtest needs no anchor").id;
        Self {
            world,
            sources: vec![Source::new(); sources],
            config,
            client,
            outbox: VecDeque::new(),
            pending: Vec::new(),
            disk: None,
            hashed: HashSet::new(),
            refuted: HashSet::new(),
            refused: HashSet::new(),
            refused_on_disk: HashSet::new(),
            reported,
            announced: HashSet::new(),
            errors: 0,
            now: START + 1_000_000,
        }
    }

    pub fn run(&mut self, op: &Op) {
        let which = |source: &usize| source % self.sources.len();
        match op {
            Op::Grow { source, blocks, seconds } => {
                let source = which(source);
                self.grow(source, *blocks, *seconds);
            }
            Op::Lie { source, fault, blocks } => {
                let source = which(source);
                let tip = self.sources[source].tip;
                self.sources[source].tip = self.world.child(tip, 60, *fault);
                self.grow(source, *blocks, 60);
            }
            Op::Fork { source, depth, blocks, seconds } => {
                let source = which(source);
                self.sources[source].other = self.sources[source].tip;
                self.pop(source, *depth);
                self.grow(source, *blocks, *seconds);
            }
            Op::Pop { source, depth } => {
                let source = which(source);
                self.pop(source, *depth);
                count("pop");
            }
            Op::Join { source, other } => {
                let tip = self.sources[which(other)].tip;
                let source = which(source);
                self.sources[source].tip = tip;
            }
            Op::Mode { source, mode } => {
                let source = which(source);
                self.sources[source].mode = *mode;
            }
            Op::Deliver { picks } => picks.iter().for_each(|&pick| self.deliver(pick)),
            Op::HashFails { pick } => self.fail_hash(*pick),
            Op::HashErrs { pick } => self.err(*pick),
            Op::Tick { seconds } => self.pass(*seconds),
            Op::Sleep { seconds } => self.tick(*seconds),
            Op::Crash { pick, executed } => {
                self.arrive(*pick);
                for _ in 0..*executed {
                    self.execute();
                }
                self.crash();
            }
        }
        self.execute_all();
    }

    fn grow(&mut self, source: usize, blocks: usize, seconds: u64) {
        for _ in 0..blocks {
            let tip = self.sources[source].tip;
            self.sources[source].tip = self.world.child(tip, seconds, Fault::None);
        }
    }

    fn pop(&mut self, source: usize, depth: usize) {
        let tip = self.sources[source].tip;
        self.sources[source].tip = self.world.chain(tip).take(depth + 1).last().unwrap_or(0);
    }

    fn deliver(&mut self, pick: usize) {
        self.arrive(pick);
        self.execute_all();
    }

    /// Lets one answer arrive, without executing what the client wants then.
    fn arrive(&mut self, pick: usize) {
        if self.pending.is_empty() {
            return;
        }
        let mut second = None;
        let event = match self.pending.remove(pick % self.pending.len()) {
            Pending::Request(source, request, query) => {
                let source = &mut self.sources[source.index()];
                count(match source.mode {
                    Mode::Honest => "honest answer",
                    Mode::Stall => "stall",
                    Mode::Truncate => "truncate",
                    Mode::Garbage => "garbage",
                    Mode::Boast => "boast",
                    Mode::Equivocate => "equivocate",
                    Mode::Shuffle => "shuffle",
                    Mode::Flood => "flood",
                    Mode::Divide => "divide",
                });
                source.answer(&self.world, request, query)
            }
            Pending::Hash { job, blob, fresh } => {
                let hash = self.world.hash(&blob);
                let id = randomx_monero::HashingBlob::parse(&blob).expect("a hashing blob").id();
                if self.world.is_worked(&id) {
                    self.hashed.insert(id);
                } else {
                    self.refuted.insert(id);
                    second = fresh.then_some(id);
                }
                Event::Hashed { job, hash }
            }
        };
        let before = self.outbox.len();
        self.feed(event);
        // The client stores what it refuses. If the first hash was wrong, it does not.
        let stores = |action: &Action| matches!(action, Action::Store(_));
        if let Some(id) = second
            && self.outbox.range(before..).any(stores)
        {
            self.refused.insert(id);
            count("forgery found");
        }
    }

    fn fail_hash(&mut self, pick: usize) {
        if let Some((job, _)) = self.take_hash(pick) {
            count("hash failed");
            self.feed(Event::HashFailed { job });
        }
    }

    fn err(&mut self, pick: usize) {
        let Some((job, blob)) = self.take_hash(pick) else { return };
        let id = randomx_monero::HashingBlob::parse(&blob).expect("a hashing blob").id();
        if self.world.blocks[self.world.by_id[&id]].difficulty == 1 {
            // Every hash meets it.
            self.hashed.insert(id);
        }
        self.errors += 1;
        let mut hash = [0xff; 32];
        hash[..8].copy_from_slice(&self.errors.to_le_bytes());
        count("wrong hash");
        self.feed(Event::Hashed { job, hash });
    }

    fn take_hash(&mut self, pick: usize) -> Option<(JobId, Vec<u8>)> {
        let jobs: Vec<usize> = (0..self.pending.len())
            .filter(|&index| matches!(self.pending[index], Pending::Hash { .. }))
            .collect();
        let index = *jobs.get(pick % jobs.len().max(1))?;
        match self.pending.remove(index) {
            Pending::Hash { job, blob, .. } => Some((job, blob)),
            Pending::Request(..) => None,
        }
    }

    fn feed(&mut self, event: Event) {
        self.client.handle(event, self.now);
        while let Some(action) = self.client.next_action() {
            self.outbox.push_back(action);
        }
        assert!(self.client.blocks() <= self.client.max_blocks(), "memory is bounded");
        assert!(self.outbox.len() <= 2000, "actions are bounded");
    }

    fn execute_all(&mut self) {
        while self.execute() {}
    }

    /// Executes one action; says whether there was one.
    fn execute(&mut self) -> bool {
        let Some(action) = self.outbox.pop_front() else { return false };
        match action {
            Action::Request { source, request, query } => {
                self.pending.push(Pending::Request(source, request, query));
            }
            Action::Hash { job, blob, fresh, .. } => {
                self.pending.push(Pending::Hash { job, blob, fresh });
            }
            Action::Store(bytes) => {
                self.check_store(&bytes);
                self.disk = Some(bytes);
                self.refused_on_disk = self.refused.clone();
                count("store");
            }
            Action::Report(report) => self.check_report(report),
        }
        true
    }

    fn crash(&mut self) {
        count("crash");
        self.outbox.clear();
        self.pending.clear();
        self.client = start(&self.config, self.disk.clone(), self.sources.len());
        self.reported = self.client.tip().expect("regtest needs no anchor").id;
        self.announced.clear();
        self.refused = self.refused_on_disk.clone();
        self.refuted = self.refused.clone();
    }

    /// Lets all sources answer until nothing changes, and checks where the client ends: this one,
    /// one that is restarted now, and one that is restarted at the end.
    pub fn finish(&mut self) {
        let mut restarted = self.restarted();
        restarted.settle();
        restarted.check_end();
        self.settle();
        self.check_end();
        let mut again = self.restarted();
        again.settle();
        again.check_end();
        let caught = (0..self.sources.len()).any(|source| {
            matches!(self.state(source), SourceState::Invalid { .. } | SourceState::OtherNetwork)
        });
        // A new process does not remember whom it caught, and follows a reformed liar.
        if !caught {
            assert_eq!(self.end(), again.end(), "a restart changes nothing");
            count("restart compared");
        }
    }

    fn end(&self) -> (Hash, u128) {
        let tip = self.client.tip().expect("regtest needs no anchor");
        (tip.id, tip.work)
    }

    /// The same world with a new process that has only the stored bytes.
    fn restarted(&self) -> Self {
        let bytes = self.client.save();
        let world = self.world.clone();
        let client = start(&self.config, bytes, self.sources.len());
        let reported = client.tip().expect("regtest needs no anchor").id;
        Self {
            world,
            sources: self.sources.clone(),
            config: self.config.clone(),
            client,
            outbox: VecDeque::new(),
            pending: Vec::new(),
            disk: None,
            hashed: self.hashed.clone(),
            refuted: self.refused.clone(),
            refused: self.refused.clone(),
            refused_on_disk: self.refused.clone(),
            reported,
            announced: HashSet::new(),
            errors: self.errors,
            now: self.now,
        }
    }

    /// Lets time pass in steps that are too short for a sleep.
    fn pass(&mut self, mut seconds: u64) {
        while seconds > 0 {
            let step = seconds.min(100);
            self.tick(step);
            seconds -= step;
        }
    }

    fn tick(&mut self, seconds: u64) {
        self.now += seconds;
        self.feed(Event::Tick);
    }

    fn settle(&mut self) {
        for source in &mut self.sources {
            if source.mode != Mode::Stall {
                source.mode = Mode::Honest;
            }
        }
        let mut quiet = 0;
        for _ in 0..100 {
            let before = self.end();
            self.pass(700);
            self.execute_all();
            for _ in 0..10_000 {
                if self.pending.is_empty() {
                    break;
                }
                self.deliver(0);
            }
            assert!(self.pending.is_empty(), "questions come to an end");
            quiet = if self.end() == before { quiet + 1 } else { 0 };
            if quiet == 4 {
                return;
            }
        }
        panic!("the client does not come to rest");
    }
}

fn start(config: &Config, disk: Option<Vec<u8>>, sources: usize) -> Client {
    let start = disk.map_or(Start::Anchors, Start::Stored);
    let mut client = Client::new(config.clone(), start).expect("a start");
    for _ in 0..sources {
        client.add_source().expect("few sources");
    }
    client
}

/// Settings for short histories.
pub fn config(fixed: Option<u128>, sample: u64, kept: u64, batch: usize) -> Config {
    Config {
        fixed_difficulty: fixed,
        sample,
        // Batches are short, and blocks are to be missed.
        newest: 1,
        deep: 5,
        poll: 30,
        kept,
        batch,
        ..Config::new(Network::Regtest, [9; 32])
    }
}
