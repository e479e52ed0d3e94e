//! The first start: from the chain between two anchors, so that no source has to be trusted.
//!
//! The blocks between two anchors are proven by their ids, and with them timestamps and seed
//! hashes. The ids do not prove how the first anchor's work divides among the 735 blocks up to it, which
//! the next difficulties depend on. A source states the division, and the difficulties that follow by the
//! rule must add up to the second anchor's work exactly. The rule is linear in work,
//! so the sum fixes the scale. A wrong division shifts the level of all later difficulties, by an
//! amount that falls with the number of blocks. The tests below measure it for 45,000 blocks, as
//! many as between the main network's last two anchors, under a hash rate that halves and doubles:
//! an even division is off by 0.012%, a ramp by 0.23%, and all work in 100 of the 735 blocks by 0.8%.
//! No division does more than one that puts all work in a single block: after 12,000 blocks the worst
//! of these is off by 2.9%, and all work in 100 blocks by 2.7%. If the level is too high, some honest
//! blocks miss it; [`statement`](super::statement) says what the client does then.

use super::event::{MAX_HEADERS, Query, SourceId};
use crate::anchor::Anchor;
use crate::checkpoint::{Checkpoint, MAX_HEIGHT, RecentBlock, Seed};
use crate::hash::Hash;
use crate::header::HashingBlob;
use crate::history::{Demand, History};
use crate::network::Network;
use crate::retarget::DIFFICULTY_BLOCKS;
use crate::seed::{SEED_EPOCH_BLOCKS, seed_height};

/// Reads the chain between two anchors from one source.
#[derive(Clone, Debug)]
pub(super) struct Anchoring {
    network: Network,
    from: Anchor,
    to: Anchor,
    /// The height and the id of the last block to read: the second anchor, or a later block that the
    /// client has.
    end: (u64, Hash),
    stage: Stage,
    /// The source that sent what was read.
    source: Option<SourceId>,
    /// What other sources have sent.
    others: Vec<(SourceId, Stage)>,
    /// Whether the client has a chain, and reads this part of it once more.
    pub(super) is_anew: bool,
    /// Whether the reading was interrupted. The source's chain may have changed meanwhile.
    pub(super) is_resumed: bool,
}

#[derive(Clone, Debug)]
enum Stage {
    /// The 735 blocks up to the first anchor.
    Window(Window),
    /// Their difficulties; these are their timestamps.
    Difficulties(Vec<u64>),
    /// The blocks up to the second anchor.
    Walk(Walk),
}

impl Stage {
    fn first(network: Network, from: Anchor) -> Self {
        if Anchoring::is_stated(from) {
            Self::Window(Window { timestamps: Vec::new(), id: None, linked: true })
        } else {
            Self::Walk(Walk::after(Checkpoint::genesis(network)))
        }
    }
}

/// The first of the 735 blocks. A slow source sends them in several answers.
#[derive(Clone, Debug)]
struct Window {
    timestamps: Vec<u64>,
    /// The id of the last of them.
    id: Option<Hash>,
    /// Whether each follows the one before it.
    linked: bool,
}

/// A chain that is read forwards, whose blocks are not kept.
#[derive(Clone, Debug)]
struct Walk {
    height: u64,
    id: Hash,
    work: u128,
    history: History,
    seeds: Vec<Seed>,
}

/// The state after an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is more to read.
    More,
    /// The last block was reached, and everything adds up.
    Done(Box<Checkpoint>),
    /// The source has another chain.
    OtherNetwork,
    /// The answer has fewer entries than it should.
    Short,
    /// The answer is proven false.
    False(&'static str),
}

impl Anchoring {
    /// Begins with the last two anchors of a network, or on test networks with the genesis block and
    /// the last anchor. Returns `None` if only the genesis block is known.
    pub(super) fn new(network: Network) -> Option<Self> {
        let anchors = Anchor::all(network);
        let to = *anchors.last().filter(|last| last.height > 0)?;
        let from = match network {
            Network::Mainnet => *anchors.get(anchors.len().checked_sub(2)?)?,
            _ => *anchors.first()?,
        };
        Some(Self::between(network, from, to))
    }

    /// Whether the blocks between two anchors can exist, and have the keys of the blocks that follow.
    pub(super) fn is_wide(from: Anchor, to: Anchor) -> bool {
        let seed = seed_height(to.height.saturating_add(1));
        let wide = seed == 0 || seed > from.height;
        from.height < to.height && to.height < MAX_HEIGHT && from.work < to.work && wide
    }

    /// Begins with two anchors.
    pub(super) fn between(network: Network, from: Anchor, to: Anchor) -> Self {
        Self {
            network,
            from,
            to,
            end: (to.height, to.id),
            stage: Stage::first(network, from),
            source: None,
            others: Vec::new(),
            is_anew: false,
            is_resumed: false,
        }
    }

    /// Begins with two anchors, and reads on to a block that the client has.
    pub(super) fn anew(network: Network, from: Anchor, to: Anchor, end: (u64, Hash)) -> Self {
        Self { end, is_anew: true, ..Self::between(network, from, to) }
    }

    /// Whether the difficulties up to an anchor are stated by a source. Those of fewer blocks follow
    /// from the genesis block.
    pub(super) fn is_stated(from: Anchor) -> bool {
        from.height >= DIFFICULTY_BLOCKS as u64
    }

    /// Returns the anchors, if a source states the difficulties up to the first one.
    pub(super) fn stated(&self) -> Option<(Anchor, Anchor)> {
        Self::is_stated(self.from).then_some((self.from, self.to))
    }

    /// Returns the network's anchors if a checkpoint's difficulties may follow from some that a source stated:
    /// its chain may have begun there.
    pub(super) fn stated_before(
        network: Network,
        fixed: Option<u128>,
        base: &Checkpoint,
    ) -> Option<(Anchor, Anchor)> {
        let stated = Self::new(network).and_then(|anchoring| anchoring.stated());
        let may_follow = |to: &Anchor| to.height <= base.height && base.work > 0 && fixed.is_none();
        stated.filter(|(_, to)| may_follow(to))
    }

    /// Returns the height of the block that a source must have.
    pub(super) fn height(&self) -> u64 {
        self.end.0
    }

    /// Returns the height up to which the chain is read.
    pub(super) fn read(&self) -> u64 {
        match &self.stage {
            Stage::Walk(walk) => walk.height,
            Stage::Window(_) | Stage::Difficulties(_) => self.from.height,
        }
    }

    /// Returns the number of blocks that were read.
    pub(super) fn blocks(&self) -> u64 {
        match &self.stage {
            Stage::Window(window) => window.timestamps.len() as u64,
            Stage::Difficulties(timestamps) => timestamps.len() as u64,
            Stage::Walk(walk) => DIFFICULTY_BLOCKS as u64 + walk.height - self.from.height,
        }
    }

    /// Drops what the present source has sent.
    fn restart(&mut self) {
        self.stage = Stage::first(self.network, self.from);
        (self.source, self.is_resumed) = (None, false);
    }

    /// Goes on with what a source has sent, or begins with it.
    pub(super) fn read_from(&mut self, source: SourceId) {
        if let Some(former) = self.source.replace(source) {
            let first = Stage::first(self.network, self.from);
            self.others.push((former, std::mem::replace(&mut self.stage, first)));
        }
        let sent = self.others.iter().position(|(other, _)| *other == source);
        self.is_resumed = sent.is_some();
        if let Some(sent) = sent {
            self.stage = self.others.swap_remove(sent).1;
        }
    }

    /// Takes an answer of a source whose turn may be over. Drops all that the source has sent if the answer is
    /// of another chain. Returns also whether the source's reading was interrupted.
    pub(super) fn take_from(
        &mut self,
        source: SourceId,
        take: impl FnOnce(&mut Self) -> Step,
    ) -> (Step, bool) {
        let (present, present_is_resumed) = (self.source, self.is_resumed);
        let is_late = present != Some(source);
        if is_late {
            self.read_from(source);
        }
        let step = take(self);
        let is_resumed = self.is_resumed;
        if matches!(step, Step::OtherNetwork | Step::False(_)) {
            self.restart();
        }
        if is_late && let Some(present) = present {
            self.read_from(present);
            self.is_resumed = present_is_resumed;
        }
        (step, is_resumed)
    }

    /// Returns the next question.
    pub(super) fn query(&self) -> Query {
        let window = DIFFICULTY_BLOCKS as u64;
        let first = (self.from.height + 1).saturating_sub(window);
        match &self.stage {
            Stage::Window(read) => {
                let read = read.timestamps.len() as u64;
                Query::Headers { first: first + read, count: window - read }
            }
            Stage::Difficulties(_) => Query::Difficulties { first, count: window },
            Stage::Walk(walk) => Query::Headers {
                first: walk.height + 1,
                count: MAX_HEADERS.min(self.end.0 - walk.height),
            },
        }
    }

    /// Takes the answer to [`Query::Headers`].
    pub(super) fn headers(&mut self, blobs: &[Vec<u8>]) -> Step {
        match self.stage {
            Stage::Window(_) => self.window(blobs),
            Stage::Difficulties(_) => Step::Short,
            Stage::Walk(_) => self.walk(blobs),
        }
    }

    fn window(&mut self, blobs: &[Vec<u8>]) -> Step {
        let Stage::Window(window) = &mut self.stage else { return Step::Short };
        if blobs.is_empty() || window.timestamps.len() + blobs.len() > DIFFICULTY_BLOCKS {
            return Step::Short;
        }
        for blob in blobs {
            match HashingBlob::parse(blob) {
                Ok(blob) => window.push(&blob),
                Err(_) => return Step::False("a block before the anchor cannot be parsed"),
            }
        }
        if window.timestamps.len() < DIFFICULTY_BLOCKS {
            return Step::More;
        }
        // A source of another network does not lie, so this comes before the links.
        if window.id != Some(self.from.id) {
            return Step::OtherNetwork;
        }
        if !window.linked {
            return Step::False("the blocks before the anchor are not its predecessors");
        }
        self.stage = Stage::Difficulties(std::mem::take(&mut window.timestamps));
        Step::More
    }

    /// Takes the answer to [`Query::Difficulties`].
    pub(super) fn difficulties(&mut self, difficulties: &[u128]) -> Step {
        let Stage::Difficulties(timestamps) = &self.stage else { return Step::Short };
        if difficulties.len() != timestamps.len() {
            return Step::Short;
        }
        let sum = difficulties.iter().try_fold(0_u128, |sum, &difficulty| {
            if difficulty == 0 { None } else { sum.checked_add(difficulty) }
        });
        if sum.is_none_or(|sum| sum > self.from.work) {
            return Step::False("the difficulties before the anchor exceed its work");
        }
        let recent = timestamps.iter().zip(difficulties);
        let recent =
            recent.map(|(&timestamp, &difficulty)| RecentBlock { timestamp, difficulty }).collect();
        let Anchor { height, id, work } = self.from;
        let seeds = vec![Seed { height: 0, id: self.network.genesis_id() }];
        let checkpoint = Checkpoint { height, id, work, recent, seeds };
        self.stage = Stage::Walk(Walk::after(checkpoint));
        Step::More
    }

    fn walk(&mut self, blobs: &[Vec<u8>]) -> Step {
        let Stage::Walk(walk) = &mut self.stage else { return Step::Short };
        let Some(first) = blobs.first() else { return Step::Short };
        // Nothing has tied the source to the network yet if the walk begins at the genesis block.
        let is_first = walk.height == 0;
        if is_first && HashingBlob::parse(first).is_ok_and(|blob| !walk.precedes(&blob)) {
            return Step::OtherNetwork;
        }
        for blob in blobs {
            let most = if walk.height < self.to.height { self.to.work } else { u128::MAX };
            if let Err(problem) = walk.push(blob, self.network, most) {
                return Step::False(problem);
            }
            if walk.height == self.to.height && walk.id != self.to.id {
                return Step::OtherNetwork;
            }
            if walk.height == self.to.height && walk.work != self.to.work {
                return Step::False("the difficulties do not add up to the anchor's work");
            }
            if walk.height == self.end.0 {
                break;
            }
        }
        if walk.height < self.end.0 {
            return Step::More;
        }
        if walk.id != self.end.1 {
            return Step::OtherNetwork;
        }
        Step::Done(Box::new(walk.checkpoint()))
    }
}

impl Window {
    fn push(&mut self, blob: &HashingBlob) {
        self.linked &= self.id.is_none_or(|id| id == blob.header.previous_id);
        self.id = Some(blob.id());
        self.timestamps.push(blob.header.timestamp);
    }
}

impl Walk {
    fn after(checkpoint: Checkpoint) -> Self {
        let Checkpoint { height, id, work, recent, seeds } = checkpoint;
        Self { height, id, work, history: History::new(recent), seeds }
    }

    fn precedes(&self, blob: &HashingBlob) -> bool {
        blob.header.previous_id == self.id
    }

    fn push(&mut self, blob: &[u8], network: Network, most: u128) -> Result<(), &'static str> {
        let blob = HashingBlob::parse(blob).map_err(|_| "a block cannot be parsed")?;
        if !self.precedes(&blob) {
            return Err("a block does not follow the one before it");
        }
        let height = self.height + 1;
        // Blocks took one minute before version 2.
        let target = if network.version_at(height) < 2 { 60 } else { 120 };
        let difficulty = match self.history.difficulty_with(height, target) {
            Demand::Ruled(difficulty) => difficulty,
            Demand::Nothing | Demand::Unknown => return Err("the rule yields no difficulty"),
        };
        let work = self.work.checked_add(difficulty).filter(|&work| work <= most);
        self.work = work.ok_or("the difficulties add up to more than the anchor's work")?;
        let timestamp = blob.header.timestamp;
        self.history.push(RecentBlock { timestamp, difficulty }, DIFFICULTY_BLOCKS);
        (self.height, self.id) = (height, blob.id());
        if height.is_multiple_of(SEED_EPOCH_BLOCKS) {
            self.seeds.push(Seed { height, id: self.id });
            let oldest = seed_height(height);
            self.seeds.retain(|seed| seed.height >= oldest);
        }
        Ok(())
    }

    fn checkpoint(&self) -> Checkpoint {
        let oldest = seed_height(self.height + 1);
        let seeds = self.seeds.iter().filter(|seed| seed.height >= oldest).copied().collect();
        let recent = self.history.without_newest(0);
        Checkpoint { height: self.height, id: self.id, work: self.work, recent, seeds }
    }
}

#[cfg(test)]
mod tests;
