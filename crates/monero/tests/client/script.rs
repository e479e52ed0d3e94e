//! A client whose answers and hashes a test gives one by one.

use randomx_monero::client::{
    Action, Client, Config, Event, JobId, Query, Report, RequestId, SourceState, Start,
};
use randomx_monero::{Hash, Network};

use crate::world::{Fault, START, World};

/// The time at which a script begins.
pub const NOW: u64 = START + 1_000_000;

/// A hash that the client asked for.
pub struct Job {
    id: JobId,
    pub seed_hash: Hash,
    pub blob: Vec<u8>,
    pub fresh: bool,
}

/// A client, and what it waits for.
pub struct Script {
    pub client: Client,
    pub now: u64,
    /// The open question of each source.
    open: Vec<Option<(RequestId, Query)>>,
    /// All hashes that the client asked for.
    pub jobs: Vec<Job>,
    /// The first of them that [`Script::hash_all`] has not computed.
    next: usize,
    requests: u64,
    pub reports: Vec<Report>,
    /// The bytes that the client stored last.
    pub stored: Option<Vec<u8>>,
}

impl Script {
    /// A client on a chain from the genesis block on, after its first event.
    pub fn new(sources: usize) -> Self {
        Self::with(Config::new(Network::Regtest, [1; 32]), Start::Anchors, sources)
    }

    pub fn with(config: Config, start: Start, sources: usize) -> Self {
        let mut client = Client::new(config, start).expect("a start");
        for _ in 0..sources {
            client.add_source().expect("few sources");
        }
        let mut script = Self {
            client,
            now: NOW,
            open: vec![None; sources],
            jobs: Vec::new(),
            next: 0,
            requests: 0,
            reports: Vec::new(),
            stored: None,
        };
        script.feed(Event::Tick);
        script
    }

    pub fn wait(&mut self, seconds: u64) {
        self.now += seconds;
        self.feed(Event::Tick);
    }

    /// Lets time pass in steps that are too short for a sleep.
    pub fn pass(&mut self, seconds: u64) {
        (0..seconds).for_each(|_| self.wait(1));
    }

    fn feed(&mut self, event: Event) {
        self.client.handle(event, self.now);
        while let Some(action) = self.client.next_action() {
            match action {
                Action::Request { source, request, query } => {
                    // Callers in other languages may hold the numbers as floating point numbers.
                    assert_eq!(request.number(), self.requests, "requests are numbered from 0");
                    self.requests += 1;
                    let before = self.open[source.index()].replace((request, query));
                    assert_eq!(before, None, "a source has one question at a time");
                }
                Action::Hash { job, seed_hash, blob, fresh } => {
                    assert_eq!(job.number(), self.jobs.len() as u64, "jobs are numbered from 0");
                    self.jobs.push(Job { id: job, seed_hash, blob, fresh });
                }
                Action::Report(report) => self.reports.push(report),
                Action::Store(bytes) => self.stored = Some(bytes),
            }
        }
        assert!(self.client.blocks() <= self.client.max_blocks());
    }

    /// The question that a source has not answered.
    pub fn asked(&self, source: usize) -> Option<Query> {
        self.open[source].map(|(_, query)| query)
    }

    fn take(&mut self, source: usize) -> RequestId {
        self.open[source].take().expect("a question").0
    }

    pub fn tip(&mut self, source: usize, height: u64, id: Hash) {
        let request = self.take(source);
        self.feed(Event::Tip { request, height, id });
    }

    pub fn headers(&mut self, source: usize, blobs: Vec<Vec<u8>>) {
        let request = self.take(source);
        self.feed(Event::Headers { request, blobs });
    }

    pub fn difficulties(&mut self, source: usize, difficulties: Vec<u128>) {
        let request = self.take(source);
        self.feed(Event::Difficulties { request, difficulties });
    }

    pub fn fail(&mut self, source: usize) {
        let request = self.take(source);
        self.feed(Event::Failed { request });
    }

    /// Answers the open question with the headers of these blocks.
    pub fn blocks(&mut self, source: usize, world: &World, blocks: &[usize]) {
        let blobs = blocks.iter().map(|&block| world.blocks[block].blob.clone());
        self.headers(source, blobs.collect());
    }

    /// Answers the question for the tip with a block.
    pub fn tip_at(&mut self, source: usize, world: &World, block: usize) {
        assert_eq!(self.asked(source), Some(Query::Tip));
        let block = &world.blocks[block];
        self.tip(source, block.height, block.id);
    }

    /// Answers the question for the tip, and sends the chain's headers for as long as the client asks.
    pub fn show(&mut self, source: usize, world: &World, tip: usize) {
        self.tip_at(source, world, tip);
        while let Some(Query::Headers { first, count }) = self.asked(source) {
            let heights = first..first + count;
            let mut blocks: Vec<usize> = world
                .chain(tip)
                .filter(|&block| heights.contains(&world.blocks[block].height))
                .collect();
            blocks.reverse();
            self.blocks(source, world, &blocks);
        }
    }

    /// Gives a hash that meets every difficulty, or none but 1.
    pub fn hash(&mut self, job: usize, meets: bool) {
        self.hash_as(job, if meets { [0; 32] } else { [0xff; 32] });
    }

    pub fn hash_as(&mut self, job: usize, hash: Hash) {
        let job = self.jobs[job].id;
        self.feed(Event::Hashed { job, hash });
    }

    /// Gives a hash that meets no difficulty but 1, and the same again when the client doubts it.
    pub fn refute(&mut self, job: usize) {
        self.hash(job, false);
        let again = self.jobs.len() - 1;
        assert!(self.jobs[again].fresh && self.jobs[again].blob == self.jobs[job].blob);
        self.hash(again, false);
    }

    pub fn fail_hash(&mut self, job: usize) {
        let job = self.jobs[job].id;
        self.feed(Event::HashFailed { job });
    }

    /// Computes all hashes that the client asks for, in order.
    pub fn hash_all(&mut self, world: &World) {
        while let Some(job) = self.jobs.get(self.next) {
            let (job, hash) = (job.id, world.hash(&job.blob));
            self.next += 1;
            self.feed(Event::Hashed { job, hash });
        }
    }

    /// Shows a chain of the first source, which the client then follows.
    pub fn following(&mut self, world: &World, tip: usize) {
        self.show(0, world, tip);
        self.hash_all(world);
        assert_eq!(self.height(), Some(world.blocks[tip].height));
    }

    pub fn height(&self) -> Option<u64> {
        self.client.tip().map(|tip| tip.height)
    }

    pub fn state(&self, source: usize) -> SourceState {
        self.client.sources().nth(source).expect("a source").1.clone()
    }

    /// Why a source is invalid.
    pub fn reason(&self, source: usize) -> String {
        match self.state(source) {
            SourceState::Invalid { reason, .. } => reason,
            other => panic!("the source is {other}"),
        }
    }
}

/// Makes blocks after another, and returns the last.
pub fn grow(world: &mut World, parent: usize, blocks: usize) -> usize {
    (0..blocks).fold(parent, |tip, _| world.child(tip, 100, Fault::None))
}
