//! The program `randomx`: hash with RandomX, verify Monero's proof of work, measure, and serve.

mod args;
mod backend;
mod bench;
mod chain;
mod error;
mod evidence;
mod external;
mod follow;
mod guard;
mod hash;
mod hasher;
mod host;
mod info;
#[cfg(feature = "internals")]
pub mod internals;
mod jsonl;
#[cfg(unix)]
mod listen;
mod mode;
mod output;
mod progress;
mod queue;
mod record;
mod relay;
mod serve;
mod service_output;
mod signals;
mod stream;
mod verify;
mod whole_file;

use std::process::ExitCode;

use randomx_client::{bytes, node};

use args::{Cli, Command, VerifyArgs};
use error::Error;

/// Runs the program with the arguments of this process.
pub fn main() -> ExitCode {
    let outcome = match randomx_console::parse_arguments::<Cli>().command {
        Command::Hash(args) => hash::run(&args),
        Command::Verify(args) => verify(&args),
        Command::Follow(args) => follow::run(&args),
        Command::Relay(args) => relay::run(&args),
        Command::Guard(args) => guard::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Audit(args) => external::run("audit", &args.arguments),
        Command::Collect(args) => external::run("collect", &args.arguments),
    };
    outcome.unwrap_or_else(|error| {
        error::report(&error);
        ExitCode::from(error::UNUSABLE)
    })
}

/// Verifies the lines of a file or of other programs, the chain of a node, or evidence.
fn verify(args: &VerifyArgs) -> Result<ExitCode, Error> {
    if let Some(file) = &args.evidence {
        return evidence::run(file, args.fixed_difficulty, &args.work);
    }
    #[cfg(unix)]
    if let Some(path) = &args.listen {
        return listen::run(args, path);
    }
    match (&args.node, &args.jsonl) {
        (Some(node), _) => chain::run(args, node),
        (None, Some(file)) => verify::run(args, file),
        (None, None) => Err(Error::NoStart),
    }
}
