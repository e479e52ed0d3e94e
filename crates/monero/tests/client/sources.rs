//! Honest and lying sources.

use randomx_monero::Hash;
use randomx_monero::client::{Event, Query, RequestId};

use crate::world::World;

/// How a source answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// As a node does.
    Honest,
    /// Not at all.
    Stall,
    /// With half of the headers.
    Truncate,
    /// With bytes that mean nothing.
    Garbage,
    /// With a tip that it does not have.
    Boast,
    /// With one chain and another in turns.
    Equivocate,
    /// With headers in the wrong order.
    Shuffle,
    /// With more headers than were requested.
    Flood,
    /// With difficulties that have the right sum and are not the chain's.
    Divide,
}

/// A simulated source.
#[derive(Clone, Debug)]
pub struct Source {
    pub tip: usize,
    pub other: usize,
    pub mode: Mode,
    /// The difficulties that it states in place of the chain's.
    pub stated: Option<Vec<u128>>,
    /// How often it stated difficulties.
    pub statements: u32,
    answers: usize,
    /// Whether it has shown a chain with a block that breaks a rule or is forged.
    pub lied: bool,
}

impl Source {
    pub fn new() -> Self {
        let (mode, stated) = (Mode::Honest, None);
        Self { tip: 0, other: 0, mode, stated, statements: 0, answers: 0, lied: false }
    }

    /// Answers a question.
    pub fn answer(&mut self, world: &World, request: RequestId, query: Query) -> Event {
        self.answers += 1;
        let tip = match self.mode {
            Mode::Equivocate if self.answers.is_multiple_of(2) => self.other,
            _ => self.tip,
        };
        let failed = Event::Failed { request };
        match (self.mode, query) {
            (Mode::Stall, _) => failed,
            (Mode::Boast, Query::Tip) => {
                let id: Hash = [self.answers as u8; 32];
                Event::Tip { request, height: world.blocks[tip].height + 3, id }
            }
            (_, Query::Tip) => {
                let block = &world.blocks[tip];
                // An id stands for the whole chain.
                self.lied |= world.judgeable(tip).is_none();
                Event::Tip { request, height: block.height, id: block.id }
            }
            (Mode::Garbage, Query::Headers { count, .. }) => {
                let blob = |n: u64| vec![n as u8; (self.answers + n as usize) % 100];
                Event::Headers { request, blobs: (0..count).map(blob).collect() }
            }
            (_, Query::Headers { first, count }) => {
                let Some(mut blocks) = self.headers(world, tip, first, count) else {
                    return failed;
                };
                match self.mode {
                    Mode::Truncate => blocks.truncate(blocks.len().div_ceil(2)),
                    Mode::Shuffle => blocks.reverse(),
                    Mode::Flood => blocks.extend(blocks.clone()),
                    _ => {}
                }
                // So does a block: its id depends on those before it.
                self.lied |= blocks.iter().any(|&block| world.judgeable(block).is_none());
                let blobs = blocks.iter().map(|&index| world.blocks[index].blob.clone()).collect();
                Event::Headers { request, blobs }
            }
            (_, Query::Difficulties { first, count }) => {
                self.statements += 1;
                if let Some(difficulties) = self.stated.clone() {
                    return Event::Difficulties { request, difficulties };
                }
                let Some(blocks) = self.headers(world, tip, first, count) else { return failed };
                let mut difficulties: Vec<u128> =
                    blocks.iter().map(|&index| world.blocks[index].difficulty).collect();
                if self.mode == Mode::Divide {
                    // The same sum, divided otherwise.
                    difficulties[100] += 5;
                    difficulties[600] -= 5;
                }
                Event::Difficulties { request, difficulties }
            }
        }
    }

    fn headers(&self, world: &World, tip: usize, first: u64, count: u64) -> Option<Vec<usize>> {
        let last = (first + count - 1).min(world.blocks[tip].height);
        if first > last || first == 0 {
            return None;
        }
        let chain = world.chain(tip);
        let mut blocks: Vec<usize> = chain
            .skip_while(|&index| world.blocks[index].height > last)
            .take((last - first + 1) as usize)
            .collect();
        blocks.reverse();
        Some(blocks)
    }
}
