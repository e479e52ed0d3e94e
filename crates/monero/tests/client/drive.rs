//! Runs a client without anything going wrong outside.

use std::collections::VecDeque;

use randomx_monero::client::{Action, Client, Event, Report};

use crate::sources::Source;
use crate::world::World;

/// Lets time pass to `now`, carries out all that the client wants then, and returns its reports.
pub fn drive(client: &mut Client, sources: &mut [Source], world: &World, now: u64) -> Vec<Report> {
    let mut reports = Vec::new();
    let mut events = VecDeque::from([Event::Tick]);
    let mut handled = 0;
    while let Some(event) = events.pop_front() {
        handled += 1;
        assert!(handled < 20_000, "the client comes to rest");
        client.handle(event, now);
        while let Some(action) = client.next_action() {
            match action {
                Action::Request { source, request, query } => {
                    let source = &mut sources[source.index()];
                    events.push_back(source.answer(world, request, query));
                }
                Action::Hash { job, blob, .. } => {
                    events.push_back(Event::Hashed { job, hash: world.hash(&blob) });
                }
                Action::Report(report) => reports.push(report),
                Action::Store(_) => {}
            }
        }
        assert!(client.blocks() <= client.max_blocks());
    }
    reports
}
