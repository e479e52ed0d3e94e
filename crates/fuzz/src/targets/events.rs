//! Arbitrary answers to the light client's questions.

use randomx_monero::client::{Action, Client, Config, Event, JobId, Query, RequestId, Start};
use randomx_monero::{Anchor, Network};

use super::checkpoints::checkpoint;
use crate::Target;
use crate::input::Input;
use crate::world::{Fault, World};

pub(super) const EVENTS: Target = Target { name: "events", longest: 512, quick: 1000, run, seeds };

/// The most actions that one event causes.
const MOST_ACTIONS: usize = 2000;

fn run(data: &[u8]) -> bool {
    let mut input = Input::new(data);
    let mut world = World::new(None);
    let mut tip = 0;
    for _ in 0..20 {
        tip = world.child(tip, 90, Fault::None);
    }
    let Some(mut client) = start(&mut input) else { return false };
    for _ in 0..=input.below(3) {
        client.add_source();
    }
    let (mut requests, mut jobs) = (Vec::new(), Vec::new());
    let mut now = 1_700_000_000;
    while !input.is_empty() {
        let event = event(&mut input, &mut requests, &mut jobs, &world);
        match input.below(8) {
            0 => now = input.number(),
            step => now = now.wrapping_add(step as u64),
        }
        client.handle(event, now);
        let mut actions = 0;
        while let Some(action) = client.next_action() {
            actions += 1;
            match action {
                Action::Request { request, query, .. } => requests.push((request, query)),
                Action::Hash { job, .. } => jobs.push(job),
                Action::Store(_) | Action::Report(_) => {}
            }
        }
        assert!(actions <= MOST_ACTIONS, "{actions} actions after one event");
        assert!(client.blocks() <= client.max_blocks(), "memory is bounded");
        if let Some(tip) = client.tip() {
            assert_eq!(client.block_id(tip.height), Some(tip.id));
            assert_eq!(client.confirmations(tip.height), 1);
        }
    }
    true
}

fn seeds() -> Vec<Vec<u8>> {
    vec![vec![0, 0, 4, 0, 1, 1, 1, 1, 1, 1, 2, 1], vec![1, 4, 1, 60, 1, 4, 2, 1, 5, 5, 5, 5]]
}

fn start(input: &mut Input<'_>) -> Option<Client> {
    let network = input.pick(&Network::ALL);
    let config = Config {
        sample: 1 + input.number() % 4,
        kept: input.number() % 64,
        batch: 1 + input.below(30),
        deep: input.number() % 10,
        ..Config::new(network, [4; 32])
    };
    let anchor = |input: &mut Input<'_>| Anchor {
        height: input.number(),
        id: input.array(),
        work: input.wide_number(),
    };
    let start = match input.below(4) {
        0 => Start::Anchors,
        1 => Start::Between(anchor(input), anchor(input)),
        2 => Start::Checkpoint(checkpoint(input, network)),
        _ => {
            let config = Config { network: Network::Regtest, ..config };
            return Client::new(config, Start::Anchors).ok();
        }
    };
    Client::new(config, start).ok()
}

/// Draws an event, mostly an answer to something that the client waits for.
fn event(
    input: &mut Input<'_>,
    requests: &mut Vec<(RequestId, Query)>,
    jobs: &mut Vec<JobId>,
    world: &World,
) -> Event {
    let kind = input.byte();
    if kind & 3 == 0 || requests.is_empty() && jobs.is_empty() {
        return Event::Tick;
    }
    if !jobs.is_empty() && (kind & 3 == 1 || requests.is_empty()) {
        let job = jobs[input.below(jobs.len().min(256))];
        // A job that was answered may be answered again.
        if kind & 4 == 0 {
            jobs.retain(|other| *other != job);
        }
        return match kind >> 4 & 3 {
            0 => Event::HashFailed { job },
            1 => Event::Hashed { job, hash: [0xff; 32] },
            _ => Event::Hashed { job, hash: [0; 32] },
        };
    }
    let index = input.below(requests.len().min(256));
    let (request, query) = requests[index];
    if kind & 4 == 0 {
        requests.remove(index);
    }
    match (kind >> 3 & 7, query) {
        (0, _) => Event::Failed { request },
        (1, _) => Event::Tip { request, height: input.number(), id: input.array() },
        (2, _) => {
            let blobs = (0..input.below(5)).map(|_| input.bytes().to_vec()).collect();
            Event::Headers { request, blobs }
        }
        (3, _) => {
            let count = [1, 735, input.below(9)][input.below(3)];
            let difficulty = input.wide_number();
            Event::Difficulties { request, difficulties: vec![difficulty; count] }
        }
        (_, Query::Tip) => {
            let last = world.blocks.last().expect("blocks");
            Event::Tip { request, height: last.height, id: last.id }
        }
        (_, Query::Headers { first, count }) => {
            let blocks = world.blocks.iter().filter(|block| block.height >= first.max(1));
            let mut blobs: Vec<Vec<u8>> =
                blocks.take(count.min(64) as usize).map(|block| block.blob.clone()).collect();
            if kind & 64 != 0
                && let Some(blob) = blobs.last_mut()
            {
                let at = input.below(blob.len());
                blob[at] ^= input.byte();
            }
            Event::Headers { request, blobs }
        }
        (_, Query::Difficulties { count, .. }) => {
            let difficulties = vec![u128::from(input.number()); count.min(2000) as usize];
            Event::Difficulties { request, difficulties }
        }
    }
}
