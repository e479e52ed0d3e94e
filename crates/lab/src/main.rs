//! `randomx-lab`: runs the experiments of the laboratory.

mod command;

use std::process::ExitCode;

use clap::Parser;

use command::{Arguments, Failure};

fn main() -> ExitCode {
    match command::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            randomx_console::print_message(&format!("error: {error}"));
            ExitCode::from(Failure::EXIT_CODE)
        }
    }
}
