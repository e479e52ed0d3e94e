//! `randomx follow`.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use randomx_client::{Follower, LightHasher, Store};
use randomx_monero::client::{
    Alarm, Config, Evidence, Fork, Report, SourceId, SourceState, Start, Tip,
};
use serde_json::{Value, json};

use crate::{args::FollowArgs, chain::CheckpointFile, error::Error, output};

/// The exit code if a source is proven to have lied.
const LIED: u8 = 1;

/// Follows the chain and prints what happens.
pub(crate) fn run(args: &FollowArgs) -> Result<ExitCode, Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|problem| Error::Randomness(problem.to_string()))?;
    let config = Config {
        fixed_difficulty: args.fixed_difficulty.map(u128::from),
        sample: args.sample,
        poll: args.poll,
        ..Config::new(args.network, secret)
    };
    let store = args.store.as_deref().map(Store::open).transpose()?;
    let (sources, names) = args.sources();
    let hasher = LightHasher::new(args.work.threads());
    let mut follower = Follower::new(config, start(args)?, sources, hasher, store)?;
    let mut printer = Printer {
        names,
        json: args.json,
        folder: args.evidence.clone().or_else(|| args.store.clone()),
        written: 0,
    };
    if let Some(tip) = follower.client().tip() {
        printer.print(&follower, &Report::Tip(tip))?;
    }
    loop {
        for report in follower.step()? {
            printer.print(&follower, &report)?;
        }
        if let Some(failure) = follower.hash_failure() {
            return Err(Error::Hash(randomx_client::HashError(failure.to_string())));
        }
        if args.once && follower.client().is_settled() {
            let code = end(&follower, &printer)?;
            if let (ExitCode::SUCCESS, Some(file)) = (code, &args.checkpoint)
                && let Some(checkpoint) = follower.client().checkpoint()
            {
                CheckpointFile::new(file).write(&checkpoint)?;
            }
            return Ok(code);
        }
    }
}

/// Returns where a run without a stored state begins.
fn start(args: &FollowArgs) -> Result<Start, Error> {
    let Some(file) = &args.start else { return Ok(Start::Anchors) };
    let absent = || io::Error::from(io::ErrorKind::NotFound);
    let checkpoint = CheckpointFile::new(file).read()?;
    let checkpoint =
        checkpoint.ok_or_else(|| Error::Read { file: file.clone(), problem: absent() })?;
    Ok(Start::Checkpoint(checkpoint))
}

/// Returns the exit code of a run with `--once`.
fn end(follower: &Follower, printer: &Printer) -> Result<ExitCode, Error> {
    let states = || follower.client().sources().map(|(_, state)| state);
    if states().any(|state| matches!(state, SourceState::Invalid { .. })) {
        return Ok(ExitCode::from(LIED));
    }
    let followed = |state| matches!(state, &SourceState::Following | &SourceState::Behind);
    if follower.client().tip().is_some() && states().any(followed) {
        return Ok(ExitCode::SUCCESS);
    }
    let reasons = follower.client().sources().map(|(source, state)| {
        let failure = follower.failure(source).map(|f| format!(" ({f})")).unwrap_or_default();
        format!("{} is {state}{failure}", printer.name(source))
    });
    Err(Error::NoSource(reasons.collect::<Vec<_>>().join("; ")))
}

/// Prints reports, as JSON lines or as sentences.
struct Printer {
    names: Vec<String>,
    json: bool,
    /// The folder for evidence.
    folder: Option<PathBuf>,
    written: usize,
}

impl Printer {
    fn name(&self, source: SourceId) -> &str {
        self.names.get(source.index()).map_or("", String::as_str)
    }

    fn print(&mut self, follower: &Follower, report: &Report) -> Result<(), Error> {
        let evidence = match report {
            Report::Disagreement { evidence, .. }
            | Report::Source {
                state: SourceState::Invalid { evidence: Some(evidence), .. }, ..
            } => self.write_evidence(evidence)?,
            _ => None,
        };
        let value = self.describe(follower, report, evidence.as_deref());
        let json = self.json;
        output::write(
            |out| if json { output::json_line(out, &value) } else { sentence(out, &value) },
        )
    }

    /// Writes evidence to a new file, if there is a folder for it, and returns the file's path.
    fn write_evidence(&mut self, evidence: &Evidence) -> Result<Option<PathBuf>, Error> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let fail = |problem| Error::WriteEvidence { folder: folder.clone(), problem };
        fs::create_dir_all(folder).map_err(fail)?;
        loop {
            self.written += 1;
            let file = folder.join(format!("evidence-{}.bin", self.written));
            match fs::File::create_new(&file) {
                Ok(mut opened) => {
                    opened.write_all(&evidence.to_bytes()).map_err(fail)?;
                    return Ok(Some(file));
                }
                // Of an earlier run.
                Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists => {}
                Err(problem) => return Err(fail(problem)),
            }
        }
    }

    fn describe(&self, follower: &Follower, report: &Report, evidence: Option<&Path>) -> Value {
        match report {
            Report::Tip(tip) => {
                let mut value = describe_tip(tip);
                value["event"] = json!("tip");
                value
            }
            Report::Reorganised { fork, tip } => {
                let mut value = describe_fork("reorg", fork);
                value["tip"] = describe_tip(tip);
                value
            }
            Report::DeepReorganisation { source, fork } => {
                let mut value = describe_fork("deep-reorg", fork);
                value["source"] = json!(self.name(*source));
                value
            }
            Report::Disagreement { source, fork, .. } => {
                let mut value = describe_fork("disagreement", fork);
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
                json!({ "event": "alarm", "alarm": "stale", "age": age })
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

fn describe_fork(event: &str, fork: &Fork) -> Value {
    let ids = |ids: &[[u8; 32]]| ids.iter().map(hex::encode).collect::<Vec<_>>();
    json!({
        "event": event,
        "common": { "height": fork.height, "id": hex::encode(fork.id) },
        "depth": fork.ours.ids.len(),
        "ours": { "ids": ids(&fork.ours.ids), "work": fork.ours.work.to_string() },
        "theirs": { "ids": ids(&fork.theirs.ids), "work": fork.theirs.work.to_string() },
    })
}

/// Prints an event for people.
fn sentence(out: &mut dyn Write, event: &Value) -> io::Result<()> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let (source, common) = (text(&event["source"]), &event["common"]["height"]);
    let (depth, theirs) = (&event["depth"], event["theirs"]["ids"].as_array().map_or(0, Vec::len));
    match event["event"].as_str().unwrap_or_default() {
        "tip" => writeln!(out, "block {} {}", event["height"], text(&event["id"])),
        "reorg" => writeln!(
            out,
            "reorganisation: {depth} blocks after {common} were replaced by {theirs} with more \
             work; the tip is block {} {}",
            event["tip"]["height"],
            text(&event["tip"]["id"])
        ),
        "deep-reorg" => writeln!(
            out,
            "{source} has {theirs} blocks with more work that would replace {depth} after {common}"
        ),
        "disagreement" => writeln!(
            out,
            "{source} differs after block {common}: {theirs} blocks against {depth}{}",
            event["evidence"]
                .as_str()
                .map(|file| format!("; evidence: {file}"))
                .unwrap_or_default()
        ),
        "source" => writeln!(
            out,
            "{source} is {}{}",
            text(&event["state"]),
            event["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default()
        ),
        _ => writeln!(out, "the chain's growth: {}", text(&event["alarm"])),
    }
}
