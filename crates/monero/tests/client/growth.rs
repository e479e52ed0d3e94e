//! Alarms about a chain that does not grow as it should.

use randomx_monero::Network;
use randomx_monero::client::{Alarm, Client, Config, Report, Start};

use crate::drive::drive;
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

#[test]
fn silence_from_the_start_raises_an_alarm() {
    let mut watch = Watch::new();
    watch.source.mode = Mode::Stall;
    assert_eq!(watch.alarms(START), []);
    assert_eq!(watch.alarms(START + 60), []);
    assert_eq!(watch.alarms(START + 3700).len(), 1);
}
