//! `randomx guard`.

use std::{mem, process::ExitCode, time::Duration};

use randomx_client::{Route, environment_proxy};
use randomx_guard::{Guard, Setup};
use randomx_monero::client::Report;

use crate::{
    args::GuardArgs,
    error::{self, Error},
    follow::{self, Printer},
    output,
};

/// Answers wallets until the process is ended.
pub(crate) fn run(args: &GuardArgs) -> Result<ExitCode, Error> {
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
        log: Box::new(randomx_console::print_message),
    };
    let mut guard = Guard::new(setup, args.work.light_hasher())?;
    unused.map_or(Ok(()), |unused| unused.report(guard.follower().client()))?;
    let server = guard.listen(args.listen)?;
    output::write(|out| writeln!(out, "listening on http://{}", server.address()))?;
    let printer = Printer::new(guard.names().to_vec(), false, Some(args.store.clone()));
    // One message about stdout is enough.
    let mut is_noted = false;
    loop {
        for report in guard.step()? {
            // Wallets ask for the tip; a line for each block would be an access log of the chain.
            if !matches!(report, Report::Tip(_)) {
                match printer.print(guard.follower(), &report) {
                    Err(problem @ Error::Write(_)) if !mem::replace(&mut is_noted, true) => {
                        error::note(&problem);
                    }
                    // Wallets need the guard also if nobody reads what it prints.
                    Ok(_) | Err(Error::Write(_)) => {}
                    Err(problem) => return Err(problem),
                }
            }
        }
        if let Some(failure) = guard.follower().hash_failure() {
            return Err(Error::Hash(randomx_client::HashError(failure.to_string())));
        }
    }
}
