//! `randomx guard`.

mod lines;

use std::{convert::Infallible, io, mem, process::ExitCode, time::Duration};

use randomx_client::{Route, environment_proxy};
use randomx_guard::{Guard, GuardError, Setup};
use randomx_monero::client::Report;

use crate::{
    args::GuardArgs,
    error::{self, Error},
    follow::{self, Printer},
    output,
};
use lines::Lines;

/// Answers wallets until the process is ended.
pub(crate) fn run(args: &GuardArgs) -> Result<ExitCode, Error> {
    let output = Output::new().map_err(GuardError::Threads)?;
    let Err(problem) = guard(args, &output);
    output.results.finish();
    output.messages.push(format!("error: {problem}"));
    output.messages.finish();
    Ok(ExitCode::from(error::UNUSABLE))
}

/// Answers wallets until an error.
fn guard(args: &GuardArgs, output: &Output) -> Result<Infallible, Error> {
    let (start, unused) = follow::start(args.chain.start.as_deref(), Some(&args.store))?;
    let log = output.messages.clone();
    let setup = Setup {
        config: follow::config(&args.chain, args.poll)?,
        start,
        nodes: args.nodes.clone(),
        relays: args.relays.clone(),
        route: Route {
            timeout: Duration::from_secs(args.timeout),
            proxy: args.proxy.clone().map_or_else(environment_proxy, |proxy| Ok(Some(proxy)))?,
            authorities: args.authorities.clone(),
        },
        store: &args.store,
        log: Box::new(move |line| log.push(line.to_owned())),
    };
    let mut guard = Guard::new(setup, args.work.light_hasher())?;
    unused.map_or(Ok(()), |unused| {
        unused.report(guard.follower().client(), noter(&output.messages))
    })?;
    follow::note_dropped(guard.follower().client(), noter(&output.messages));
    let names = guard.names().to_vec();
    let printer = Printer::new(names, false, Some(args.store.clone()), noter(&output.messages))?;
    let server = guard.listen(args.listen)?;
    output.results.push(format!("listening on http://{}", server.address()));
    loop {
        let (reports, outcome) = guard.step();
        for report in reports {
            // Wallets ask for the tip; a line for each block would be an access log of the chain.
            if !matches!(report, Report::Tip(_)) {
                output.results.push(printer.sentence(guard.follower(), &report));
            }
        }
        outcome?;
        if let Some(failure) = guard.follower().hash_failure() {
            return Err(Error::Hash(randomx_client::HashError(failure.to_string())));
        }
    }
}

/// The output of a guard. Wallets need the guard also if nobody reads that, so no thread that follows the
/// chain or answers a wallet waits for a reader.
struct Output {
    results: Lines,
    messages: Lines,
}

impl Output {
    fn new() -> io::Result<Output> {
        let messages = Lines::start(randomx_console::print_message)?;
        let note = noter(&messages);
        // One message about stdout is enough.
        let mut is_noted = false;
        let write = move |line: &str| {
            if let Err(problem) = output::write(|out| writeln!(out, "{line}"))
                && !mem::replace(&mut is_noted, true)
            {
                note(&problem);
            }
        };
        Ok(Output { results: Lines::start(write)?, messages })
    }
}

/// Returns a function that prints problems which do not end the run.
fn noter(messages: &Lines) -> impl Fn(&Error) + Send + 'static {
    let messages = messages.clone();
    move |problem| messages.push(format!("note: {problem}"))
}
