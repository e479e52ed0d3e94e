//! The light client, with a part of a node's chain as its only source.

use std::collections::VecDeque;

use randomx_monero::{
    Checkpoint,
    client::{Action, Client, Config, Event, Query, RequestId, Start, TrustedBlock},
};

use super::{
    hashes::Hashes,
    part::{Given, Part},
};
use crate::error::Error;

/// A part that the client has adopted.
pub(super) struct Trusted {
    pub(super) blocks: Vec<TrustedBlock>,
    /// The chain up to the part's end.
    pub(super) checkpoint: Checkpoint,
}

/// Follows a part from a checkpoint to its end. Returns `None` if the client does not adopt its last
/// block, or the node gives another difficulty for one.
pub(super) fn follow(
    config: Config,
    start: &Checkpoint,
    part: &Part,
    now: u64,
    hashes: &mut Hashes<'_, '_>,
) -> Result<Option<Trusted>, Error> {
    let blobs: Option<Vec<&[u8]>> = part.blocks.iter().map(Given::hashing_blob).collect();
    let (Some(blobs), Some(last)) = (blobs, part.blocks.last()) else { return Ok(None) };
    let mut client = Client::new(config, Start::Unchecked(start.clone()))?;
    client.add_source();
    let mut events = VecDeque::from([Event::Tick]);
    while !events.is_empty() {
        let mut jobs = Vec::new();
        while let Some(event) = events.pop_front() {
            client.handle(event, now);
            while let Some(action) = client.next_action() {
                match action {
                    Action::Request { request, query: Query::Tip, .. } => {
                        let (height, id) = (last.header.height, last.header.id);
                        events.push_back(Event::Tip { request, height, id });
                    }
                    Action::Request { request, query, .. } => {
                        events.push_back(answer(&blobs, start.height + 1, request, query));
                    }
                    Action::Hash { job, seed_hash, blob, .. } => jobs.push((job, seed_hash, blob)),
                    Action::Store(_) | Action::Report(_) => {}
                }
            }
        }
        let work: Vec<_> = jobs.iter().map(|(_, key, blob)| (*key, blob.as_slice())).collect();
        let computed = hashes.of(&work)?;
        let hashed = jobs.iter().zip(computed).map(|((job, ..), hash)| (*job, hash));
        events.extend(hashed.map(|(job, hash)| Event::Hashed { job, hash }));
    }
    let blocks = client.trusted_blocks(start.height + 1);
    let agrees = |(block, given): (&TrustedBlock, &Given)| {
        block.id == given.header.id && block.difficulty == given.header.difficulty
    };
    let all = blocks.len() == part.blocks.len() && blocks.iter().zip(&part.blocks).all(agrees);
    let checkpoint = client.checkpoint().filter(|_| all);
    Ok(checkpoint.map(|checkpoint| Trusted { blocks, checkpoint }))
}

/// Answers a question about the blocks of a part, which begins at the height `start`.
fn answer(blobs: &[&[u8]], start: u64, request: RequestId, query: Query) -> Event {
    let Query::Headers { first, count } = query else { return Event::Failed { request } };
    let Some(skipped) = first.checked_sub(start) else { return Event::Failed { request } };
    let skip = usize::try_from(skipped).unwrap_or(usize::MAX);
    let take = usize::try_from(count).unwrap_or(usize::MAX);
    let blobs = blobs.iter().skip(skip).take(take).map(|blob| blob.to_vec()).collect();
    Event::Headers { request, blobs }
}
