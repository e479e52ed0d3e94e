//! A client's statements about its own state.

use std::collections::VecDeque;

use randomx_monero::Network;
use randomx_monero::client::{Action, Client, Config, Event, Start};

use crate::drive::drive;
use crate::sources::Source;
use crate::world::{Fault, START, World};

const NOW: u64 = START + 1_000_000;

/// Carries out all that a client wants at a time. It is settled once it has what the source has.
fn follow(client: &mut Client, source: &mut Source, world: &World, now: u64) {
    let goal = world.blocks[source.tip].height;
    let mut events = VecDeque::from([Event::Tick]);
    let mut is_known = false;
    while let Some(event) = events.pop_front() {
        is_known |= matches!(event, Event::Tip { .. });
        client.handle(event, now);
        while let Some(action) = client.next_action() {
            match action {
                Action::Request { request, query, .. } => {
                    events.push_back(source.answer(world, request, query));
                }
                Action::Hash { job, blob, .. } => {
                    events.push_back(Event::Hashed { job, hash: world.hash(&blob) });
                }
                Action::Report(_) | Action::Store(_) => {}
            }
        }
        if is_known {
            let is_read = client.tip().is_some_and(|tip| tip.height == goal);
            assert_eq!(client.is_settled(), is_read);
        }
    }
    assert!(is_known && client.is_settled());
}

#[test]
fn a_client_is_settled_when_all_sources_have_been_read() {
    let (mut world, mut source) = (World::new(None), Source::new());
    let mut client =
        Client::new(Config::new(Network::Regtest, [1; 32]), Start::Anchors).expect("a start");
    client.add_source().expect("few sources");
    assert!(!client.is_settled(), "the source has not answered yet");
    for round in 0..3 {
        for _ in 0..30 {
            source.tip = world.child(source.tip, 100, Fault::None);
        }
        follow(&mut client, &mut source, &world, NOW + 1000 * round);
    }
    client.add_source().expect("few sources");
    assert!(!client.is_settled(), "the second source has not answered yet");
}

#[test]
fn the_base_moves_by_a_quarter_of_the_kept_blocks() {
    let (mut world, mut source) = (World::new(None), Source::new());
    let config = Config { kept: 8, ..Config::new(Network::Regtest, [1; 32]) };
    let mut client = Client::new(config, Start::Anchors).expect("a start");
    client.add_source().expect("few sources");
    let mut bases = Vec::new();
    for round in 0..14 {
        source.tip = world.child(source.tip, 100, Fault::None);
        drive(&mut client, std::slice::from_mut(&mut source), &world, NOW + 1000 * round);
        bases.push(client.base_height());
        let kept = client.kept().count() as u64;
        assert_eq!(client.base_height() + kept, round + 1);
        assert!(client.blocks() as u64 >= kept);
    }
    assert_eq!(bases, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 3, 3, 6]);
}
