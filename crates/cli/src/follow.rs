//! `randomx follow`.

mod evidence;
mod printer;
mod start;

use std::process::ExitCode;

use randomx_client::{Follower, Store};
use randomx_monero::client::{Config, Report, SourceState};

use crate::{
    args::{ChainArgs, FollowArgs},
    chain::CheckpointFile,
    error::{self, Error},
    progress::ChainBar,
};
pub(crate) use printer::Printer;
pub(crate) use start::{note_dropped, start};

/// The exit code if a source is proven to have sent false data.
const LIED: u8 = 1;

/// Follows the chain and prints what happens.
///
/// If the reader of stdout closes the pipe, the run ends. With `--once` it goes on until the exit code is
/// known.
pub(crate) fn run(args: &FollowArgs) -> Result<ExitCode, Error> {
    let checkpoint = args.checkpoint.as_deref().map(CheckpointFile::new);
    checkpoint.as_ref().map_or(Ok(()), CheckpointFile::can_be_written)?;
    let config = config(&args.chain, args.poll)?;
    let store = args.store.as_deref().map(Store::open).transpose()?;
    let (sources, names) = args.sources()?;
    let folder = args.evidence.clone().or_else(|| args.store.clone());
    let printer = Printer::new(names, args.json, folder, error::note)?;
    let hasher = args.work.light_hasher();
    let (start, unused) = start(args.chain.start.as_deref(), args.store.as_deref())?;
    let mut follower = Follower::new(config, start, sources, hasher, store)?;
    unused.map_or(Ok(()), |unused| unused.report(follower.client(), error::note))?;
    note_dropped(follower.client(), error::note);
    let mut has_reader = true;
    if let Some(tip) = follower.client().tip() {
        has_reader = printer.print(&follower, &Report::Tip(tip))?;
    }
    let mut bar = ChainBar::on_terminal();
    while has_reader || args.once {
        let (reports, outcome) = follower.step();
        for report in reports {
            has_reader &= bar.suspend(|| printer.print(&follower, &report))?;
        }
        outcome?;
        if let Some((read, end)) = follower.client().progress() {
            bar.reach(read, end);
        }
        if let Some(failure) = follower.hash_failure() {
            return Err(Error::Hash(randomx_client::HashError(failure.to_string())));
        }
        if args.once && follower.client().is_settled() {
            // The tip is verified also if another source sent false data.
            if has_followed(&follower)
                && let (Some(file), Some(tip)) = (&checkpoint, follower.client().checkpoint())
            {
                file.write(&tip)?;
            }
            return end(&follower, &printer, args.chain.start.is_some());
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the settings of a client, given its arguments and the seconds between questions.
pub(crate) fn config(args: &ChainArgs, poll: u64) -> Result<Config, Error> {
    Ok(Config {
        fixed_difficulty: args.fixed_difficulty.map(u128::from),
        sample: args.sample,
        poll,
        ..Config::new(args.network, random_secret()?)
    })
}

/// Returns bytes that no source can know.
pub(crate) fn random_secret() -> Result<[u8; 32], Error> {
    let mut secret = [0; 32];
    getrandom::fill(&mut secret).map_err(|problem| Error::Randomness(problem.to_string()))?;
    Ok(secret)
}

/// Whether the chain of at least one source has been followed to its end.
fn has_followed(follower: &Follower) -> bool {
    let client = follower.client();
    client.sources().any(|(source, _)| client.has_read(source))
}

/// Returns the exit code of a run with `--once`, which may have begun at a checkpoint.
fn end(follower: &Follower, printer: &Printer, at_checkpoint: bool) -> Result<ExitCode, Error> {
    let states = || follower.client().sources().map(|(_, state)| state);
    if states().any(|state| matches!(state, SourceState::Invalid { .. })) {
        return Ok(ExitCode::from(LIED));
    }
    if has_followed(follower) {
        return Ok(ExitCode::SUCCESS);
    }
    let reasons = follower.client().sources().map(|(source, state)| {
        let failure = follower.failure(source).map(|f| format!(" ({f})")).unwrap_or_default();
        format!("{} {state}{failure}", printer.name(source))
    });
    let mut reasons: Vec<String> = reasons.collect();
    let (base, tip) = (follower.client().base_height(), follower.client().tip());
    let is_other = |state| matches!(state, &SourceState::OtherNetwork);
    if at_checkpoint && tip.is_some_and(|tip| tip.height == base) && states().any(is_other) {
        reasons.push(format!(
            "if a reorganisation replaced block {base}, use an older checkpoint as --start"
        ));
    }
    Err(Error::NoSource(reasons.join("; ")))
}
