//! `randomx`: hash with RandomX, verify Monero's proof of work, measure, and serve.

use std::process::ExitCode;

fn main() -> ExitCode {
    randomx_cli::main()
}
