//! The output of `randomx follow`.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
};

use randomx_client::Follower;
use randomx_monero::client::{Alarm, Branch, Fork, Report, SourceId, SourceState, Tip};
use serde_json::{Value, json};

use super::evidence::EvidenceFolder;
use crate::{error::Error, output};

/// The most ids of a side whose proofs of work have not all been checked: the oldest ones. A side can be long.
const MAX_IDS: usize = 100;

/// Prints reports, as JSON lines or as sentences.
pub(crate) struct Printer {
    names: Vec<String>,
    json: bool,
    /// Where evidence is written.
    folder: Option<EvidenceFolder>,
    /// Receives a message for people.
    log: Box<dyn Fn(&Error)>,
    /// Whether the log has received that evidence cannot be written.
    is_noted: Cell<bool>,
}

impl Printer {
    /// Opens the folder for evidence. `log` receives the first error of writing to it later.
    pub(crate) fn new(
        names: Vec<String>,
        json: bool,
        folder: Option<PathBuf>,
        log: impl Fn(&Error) + 'static,
    ) -> Result<Printer, Error> {
        let folder = folder.map(EvidenceFolder::open).transpose()?;
        Ok(Printer { names, json, folder, log: Box::new(log), is_noted: Cell::new(false) })
    }

    /// Returns the address of a source.
    pub(super) fn name(&self, source: SourceId) -> &str {
        self.names.get(source.index()).map_or("", String::as_str)
    }

    /// Prints a report and writes its evidence. Returns whether stdout still has a reader.
    pub(crate) fn print(&self, follower: &Follower, report: &Report) -> Result<bool, Error> {
        let value = self.event(follower, report);
        let json = self.json;
        output::write_while_read(|out| {
            if json {
                output::json_line(out, &value)
            } else {
                writeln!(out, "{}", sentence(report, &value))
            }
        })
    }

    /// Returns a report as a sentence and writes its evidence.
    pub(crate) fn sentence(&self, follower: &Follower, report: &Report) -> String {
        sentence(report, &self.event(follower, report))
    }

    /// Returns a report as JSON and writes its evidence.
    fn event(&self, follower: &Follower, report: &Report) -> Value {
        let evidence = self.write_evidence(report);
        self.describe(follower, report, evidence.as_deref())
    }

    /// Writes the evidence of a report and returns its file. An error goes to the log: the report matters more
    /// than its evidence.
    fn write_evidence(&self, report: &Report) -> Option<PathBuf> {
        let (evidence, is_lie) = match report {
            Report::Disagreement { evidence, .. } => (evidence, false),
            Report::Source {
                state: SourceState::Invalid { evidence: Some(evidence), .. }, ..
            } => (evidence, true),
            _ => return None,
        };
        let written = self.folder.as_ref()?.write(evidence, is_lie);
        written.unwrap_or_else(|problem| {
            if !self.is_noted.replace(true) {
                (self.log)(&problem);
            }
            None
        })
    }

    fn describe(&self, follower: &Follower, report: &Report, evidence: Option<&Path>) -> Value {
        // JSON has no text for a path that is not Unicode.
        let evidence = evidence.map(Path::to_string_lossy);
        match report {
            Report::Tip(tip) => {
                let mut value = describe_tip(tip);
                value["event"] = json!("tip");
                value
            }
            Report::Reorganised { fork, tip } => {
                let mut value = describe_fork("reorg", fork, usize::MAX);
                value["tip"] = describe_tip(tip);
                value
            }
            Report::DeepReorganisation { source, fork } => {
                let mut value = describe_fork("deep-reorg", fork, MAX_IDS);
                value["source"] = json!(self.name(*source));
                value
            }
            Report::Disagreement { source, fork, .. } => {
                let mut value = describe_fork("disagreement", fork, MAX_IDS);
                value["source"] = json!(self.name(*source));
                value["evidence"] = json!(evidence);
                value
            }
            Report::Source { source, state } => {
                let mut value = json!({
                    "event": "source",
                    "source": self.name(*source),
                    "state": state.as_str(),
                });
                match state {
                    SourceState::Invalid { reason, .. } => {
                        value["reason"] = json!(reason);
                        value["evidence"] = json!(evidence);
                    }
                    SourceState::UpdateNeeded { height, version } => {
                        value["height"] = json!(height);
                        value["version"] = json!(version);
                    }
                    SourceState::Unresponsive => {
                        value["reason"] = json!(follower.failure(*source));
                    }
                    _ => {}
                }
                value
            }
            Report::Alarm(Alarm::Cleared) => json!({ "event": "alarm", "alarm": "cleared" }),
            Report::Alarm(Alarm::Stale { age }) => {
                let height = follower.client().tip().map(|tip| tip.height);
                json!({ "event": "alarm", "alarm": "stale", "age": age, "height": height })
            }
            Report::Alarm(Alarm::SlowWork { took, expected }) => {
                json!({ "event": "alarm", "alarm": "slow", "took": took, "expected": expected })
            }
        }
    }
}

fn describe_tip(tip: &Tip) -> Value {
    json!({
        "height": tip.height,
        "id": hex::encode(tip.id),
        "timestamp": tip.timestamp,
        "work": tip.work.to_string(),
    })
}

/// Describes a fork, with at most so many ids of each side, the oldest ones.
fn describe_fork(event: &str, fork: &Fork, most: usize) -> Value {
    let side = |side: &Branch| {
        let ids: Vec<String> = side.ids.iter().take(most).map(hex::encode).collect();
        json!({ "blocks": side.ids.len(), "ids": ids, "work": side.work.to_string() })
    };
    json!({
        "event": event,
        "common": { "height": fork.height, "id": hex::encode(fork.id) },
        "depth": fork.ours.ids.len(),
        "ours": side(&fork.ours),
        "theirs": side(&fork.theirs),
    })
}

/// Returns a report for people, given its event.
fn sentence(report: &Report, event: &Value) -> String {
    match report {
        Report::Source { state, .. } => source_sentence(state, event),
        _ => event_sentence(event),
    }
}

/// Returns the state of a source for people.
fn source_sentence(state: &SourceState, event: &Value) -> String {
    let source = event["source"].as_str().unwrap_or_default();
    let reason = event["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{source} {state}{reason}")
}

/// Returns any other event for people.
fn event_sentence(event: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (source, common) = (text(&event["source"]), &event["common"]["height"]);
    let (depth, theirs) = (&event["depth"], &event["theirs"]["blocks"]);
    match event["event"].as_str().unwrap_or_default() {
        "tip" => format!("block {} {}", event["height"], text(&event["id"])),
        "reorg" => {
            let cause = match theirs.as_u64() {
                Some(0) => {
                    "were dropped, since their hashes may miss corrected difficulties".to_owned()
                }
                _ => format!("were replaced by {theirs} with more work"),
            };
            let (height, id) = (&event["tip"]["height"], text(&event["tip"]["id"]));
            format!(
                "reorganisation: {depth} blocks after {common} {cause}; the tip is block {height} {id}"
            )
        }
        "deep-reorg" => format!(
            "{source} has {theirs} blocks with more work that would replace {depth} after {common}"
        ),
        "disagreement" => format!(
            "{source} differs after block {common}: {theirs} blocks against {depth}{}",
            event["evidence"]
                .as_str()
                .map(|file| format!("; evidence: {file}"))
                .unwrap_or_default()
        ),
        _ => alarm(event),
    }
}

/// Returns an alarm for people.
fn alarm(event: &Value) -> String {
    const CAUSE: &str = "the network is in trouble, or the sources withhold blocks";
    let minutes = |field: &str| event[field].as_u64().unwrap_or_default() / 60;
    match event["alarm"].as_str().unwrap_or_default() {
        // The genesis block has no time, so it has no age.
        "stale" if event["height"] == 0 => {
            format!("the chain has no block after the genesis block: {CAUSE}")
        }
        "stale" => format!("the newest block is {} minutes old: {CAUSE}", minutes("age")),
        "slow" => format!(
            "the last blocks took {} minutes instead of {}: {CAUSE}",
            minutes("took"),
            minutes("expected")
        ),
        _ => "the chain grows as it should".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_nothing_replaces_are_dropped() {
        let (kept, left) =
            (Branch { ids: vec![[1; 32]], work: 1 }, Branch { ids: vec![], work: 0 });
        for (theirs, cause) in
            [(kept.clone(), "were replaced by 1 with more work; "), (left, "were dropped, since ")]
        {
            let fork = Fork { height: 7, id: [2; 32], ours: kept.clone(), theirs };
            let sentence = event_sentence(&describe_fork("reorg", &fork, usize::MAX));
            let begin = format!("reorganisation: 1 blocks after 7 {cause}");
            assert!(sentence.starts_with(&begin), "{sentence}");
        }
    }

    #[test]
    fn the_state_of_a_source_is_a_sentence() {
        let event = json!({ "source": "http://a", "state": "unresponsive", "reason": "too slow" });
        assert_eq!(
            source_sentence(&SourceState::Unresponsive, &event),
            "http://a gives no usable answer: too slow"
        );
        assert_eq!(source_sentence(&SourceState::Behind, &json!({ "source": "b" })), "b is behind");
    }

    #[test]
    fn a_line_has_few_ids_of_a_long_side_and_its_length() {
        let long = Branch { ids: vec![[1; 32]; 4000], work: 1 };
        let fork = Fork { height: 7, id: [2; 32], ours: long.clone(), theirs: long };
        for (most, expected) in [(MAX_IDS, 100), (usize::MAX, 4000)] {
            let event = describe_fork("disagreement", &fork, most);
            for side in [&event["ours"], &event["theirs"]] {
                assert_eq!(side["ids"].as_array().map(Vec::len), Some(expected));
                assert_eq!(side["blocks"], 4000);
            }
            assert_eq!(event_sentence(&event), " differs after block 7: 4000 blocks against 4000");
        }
    }

    #[test]
    fn an_old_block_has_an_age_and_the_genesis_block_has_none() {
        let said = |height: u64, age: u64| {
            event_sentence(
                &json!({ "event": "alarm", "alarm": "stale", "age": age, "height": height }),
            )
        };
        assert!(said(7, 7200).starts_with("the newest block is 120 minutes old: "));
        let genesis = said(0, 1_700_000_000);
        assert!(genesis.starts_with("the chain has no block after the genesis block: "));
    }
}
