//! Alarms about a chain that does not grow as it should.

use randomx_monero::Network;
use randomx_monero::client::{Action, Alarm, Client, Config, Event, Query, Report, Start};

use crate::drive::drive;
use crate::script::{NOW, Script};
use crate::sources::{Mode, Source};
use crate::world::{Fault, START, World};

/// A client of one source, and the alarms that it raised.
struct Watch {
    world: World,
    client: Client,
    source: Source,
}

impl Watch {
    fn new() -> Self {
        let config = Config::new(Network::Regtest, [1; 32]);
        let mut client = Client::new(config, Start::Anchors).expect("a start");
        client.add_source().expect("few sources");
        Self { world: World::new(None), client, source: Source::new() }
    }

    fn grow(&mut self, blocks: usize, seconds: u64) -> u64 {
        for _ in 0..blocks {
            self.source.tip = self.world.child(self.source.tip, seconds, Fault::None);
        }
        self.world.blocks[self.source.tip].timestamp
    }

    fn alarms(&mut self, now: u64) -> Vec<Alarm> {
        let sources = std::slice::from_mut(&mut self.source);
        let reports = drive(&mut self.client, sources, &self.world, now);
        let alarm = |report: &Report| match report {
            Report::Alarm(alarm) => Some(*alarm),
            _ => None,
        };
        reports.iter().filter_map(alarm).collect()
    }
}

#[test]
fn a_tip_that_grows_old_raises_an_alarm_once() {
    let mut watch = Watch::new();
    let tip = watch.grow(10, 120);
    assert_eq!(watch.alarms(tip + 60), []);
    assert_eq!(watch.alarms(tip + 3600), []);
    assert_eq!(watch.alarms(tip + 3700), [Alarm::Stale { age: 3700 }]);
    assert_eq!(watch.alarms(tip + 9000), []);
    let tip = watch.grow(100, 120);
    assert_eq!(watch.alarms(tip + 60), [Alarm::Cleared]);
}

/// A client that was off for long has no tip to compare with.
#[test]
fn an_old_tip_raises_an_alarm_as_soon_as_it_is_read() {
    let mut watch = Watch::new();
    let tip = watch.grow(10, 120);
    assert_eq!(watch.alarms(tip + 3700), [Alarm::Stale { age: 3700 }]);
}

#[test]
fn a_chain_at_half_its_speed_raises_no_alarm() {
    let mut watch = Watch::new();
    let tip = watch.grow(61, 240);
    assert_eq!(watch.alarms(tip), []);
    let slow = Alarm::SlowWork { took: 60 * 240 + 1, expected: 7200 };
    assert_eq!(watch.alarms(tip + 1), [slow]);
}

#[test]
fn a_chain_that_loses_its_work_raises_an_alarm() {
    let mut watch = Watch::new();
    let tip = watch.grow(70, 120);
    assert_eq!(watch.alarms(tip + 60), []);
    // A source that cuts the client off has little work of its own.
    let tip = watch.grow(61, 300);
    let alarms = watch.alarms(tip + 60);
    let slow = Alarm::SlowWork { took: 60 * 300 + 60, expected: 7200 };
    assert_eq!(alarms.last(), Some(&slow));
}

/// A source that sends one block a minute, of many that it promises.
#[test]
fn a_source_that_is_slow_on_purpose_does_not_hide_an_old_tip() {
    let mut watch = Watch::new();
    let begin = watch.grow(400, 120) + 100_000;
    let (mut alarms, mut open) = (Vec::new(), None);
    for minute in 0..100 {
        let now = begin + 60 * minute;
        let mut events = vec![Event::Tick];
        if let Some((request, first)) = open.take() {
            let one = Query::Headers { first, count: 1 };
            events.push(watch.source.answer(&watch.world, request, one));
        }
        while let Some(event) = events.pop() {
            watch.client.handle(event, now);
            while let Some(action) = watch.client.next_action() {
                match action {
                    Action::Request { request, query: Query::Headers { first, .. }, .. } => {
                        open = Some((request, first));
                    }
                    Action::Request { request, query, .. } => {
                        events.push(watch.source.answer(&watch.world, request, query));
                    }
                    Action::Hash { job, .. } => events.push(Event::Hashed { job, hash: [0; 32] }),
                    Action::Report(Report::Alarm(alarm)) => alarms.push((minute, alarm)),
                    Action::Report(_) | Action::Store(_) => {}
                }
            }
        }
    }
    assert!(matches!(alarms[..], [(61, Alarm::Stale { .. })]), "{alarms:?}");
}

/// No source is to blame for the time of the client's own hashes.
#[test]
fn a_client_that_hashes_for_hours_raises_no_alarm() {
    let mut world = World::new(None);
    let blocks = 100;
    let tip = (1..=blocks).fold(0, |tip, block| world.child_at(tip, NOW + 60 * block, Fault::None));
    let mut script = Script::new(1);
    script.show(0, &world, tip);
    for job in 0..blocks as usize {
        script.pass(50);
        script.hash(job, true);
    }
    script.show(0, &world, tip);
    assert!(script.client.is_settled());
    let alarms = || script.reports.iter().filter(|report| matches!(report, Report::Alarm(_)));
    assert_eq!(alarms().count(), 0);
}

#[test]
fn silence_from_the_start_raises_an_alarm() {
    let mut watch = Watch::new();
    watch.source.mode = Mode::Stall;
    assert_eq!(watch.alarms(START), []);
    assert_eq!(watch.alarms(START + 60), []);
    let alarms = (2..=62).flat_map(|minute| watch.alarms(START + 60 * minute));
    assert_eq!(alarms.count(), 1);
}
