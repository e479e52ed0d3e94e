//! `randomx`: hash with RandomX, verify Monero's proof of work, one or in bulk, measure, and serve.

mod args;
mod batch;
mod bench;
mod bytes;
mod chain;
mod error;
mod hash;
mod host;
mod info;
mod jsonl;
mod machine;
mod node;
mod output;
mod progress;
mod record;
mod serve;
mod verify;
mod work;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Hash(args) => hash::run(&args),
        Command::Verify(args) => verify::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Serve(args) => serve::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        error::report(&error);
        ExitCode::from(error::UNUSABLE)
    })
}
