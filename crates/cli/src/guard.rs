//! `randomx guard`.

use std::{convert::Infallible, process::ExitCode, time::Duration};

use randomx_client::{Route, environment_proxy};
use randomx_guard::{Guard, Setup};
use randomx_monero::client::Report;

use crate::{
    args::GuardArgs,
    error::Error,
    follow::{self, Printer},
    service_output::ServiceOutput,
};

/// Answers wallets until the process is ended.
pub(crate) fn run(args: &GuardArgs) -> Result<ExitCode, Error> {
    let output = ServiceOutput::start()?;
    let Err(problem) = guard(args, &output);
    Ok(output.end(&problem))
}

/// Answers wallets until an error.
fn guard(args: &GuardArgs, output: &ServiceOutput) -> Result<Infallible, Error> {
    let (start, unused) = follow::start(args.chain.start.as_deref(), Some(&args.store))?;
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
        log: Box::new(output.log()),
    };
    let mut guard = Guard::new(setup, args.work.light_hasher())?;
    unused.map_or(Ok(()), |unused| unused.report(guard.follower().client(), output.noter()))?;
    follow::note_dropped(guard.follower().client(), output.noter());
    let names = guard.names().to_vec();
    let printer = Printer::new(names, false, Some(args.store.clone()), output.noter())?;
    let server = guard.listen(args.listen)?;
    output.print(format!("listening on http://{}", server.address()));
    loop {
        let (reports, outcome) = guard.step();
        for report in reports {
            // Wallets ask for the tip; a line for each block would be an access log of the chain.
            if !matches!(report, Report::Tip(_)) {
                output.print(printer.sentence(guard.follower(), &report));
            }
        }
        outcome?;
        if let Some(failure) = guard.follower().hash_failure() {
            return Err(Error::Hash(randomx_client::HashError(failure.to_string())));
        }
    }
}
