//! `randomx-audit`: audits the proofs of work of a chain, epoch by epoch, into Parquet files.

mod args;
mod audit;
mod budget;
mod chain;
mod collect;
mod error;
mod heights;
mod input;
mod links;
mod progress;
mod remote;
mod size;
mod table;
mod workers;

use std::process::ExitCode;

use args::{Cli, Command};

fn main() -> ExitCode {
    let outcome = match randomx_console::parse_arguments::<Cli>().command {
        Command::Audit(args) => audit::run(&args),
        Command::Collect(args) => collect::run(&args),
    };
    outcome.unwrap_or_else(|error| {
        randomx_console::print_message(&format!("error: {error}"));
        ExitCode::from(error::UNUSABLE)
    })
}
