//! The repository's commands, run as `cargo xtask <command>`.
//!
//! `package.json` names an npm script for most of them. `npm start` and `npm test` work on a fresh
//! clone, because every command first installs the tools that it lacks.

mod addon;
mod anchors;
mod arm64;
mod bench;
mod bench_shares;
mod bench_web;
mod build;
mod builder;
mod capi;
mod check;
mod compiler;
mod dist;
mod emulated;
mod foreign_smoke;
mod fuzz;
mod native_tests;
mod others;
mod output;
mod process;
mod processor_time;
mod release;
mod remap;
mod replace;
mod report;
#[cfg(test)]
mod selected;
mod serve;
mod setup;
mod stamp;
mod stand_in;
mod test;
mod tier;
mod versions;
mod windows;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::anchors::AnchorsArgs;
use crate::bench_web::BenchWebArgs;
use crate::capi::CapiArgs;
use crate::dist::DistArgs;
use crate::fuzz::FuzzArgs;
use crate::release::ReleaseArgs;
use crate::report::Report;
use crate::tier::{System, Tier};

/// Set up, build, check, test, benchmark and serve this repository.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Install every tool that this machine lacks.
    Setup {
        /// Leave out what the setup installs only on Debian and Ubuntu.
        #[arg(long)]
        portable: bool,
    },
    /// Build the wasm crates into `wasm/pkg`, `wasm/monero/pkg`, `wasm/block/pkg`, `wasm/follow/pkg`,
    /// `wasm/explore/pkg` and `crates/conformance/pkg`.
    BuildWasm,
    /// Build the npm package into `wasm/dist`.
    BuildPackage,
    /// Build the native add-on into the npm package for this system, in `crates/node/npm`.
    BuildAddon,
    /// Build the page for any static host into `web/site`.
    BuildPage {
        /// The address that the page will have, such as `https://example.org/randomx/`. Without it,
        /// previews of links to the page show no picture. The variable `PAGE_URL` sets it too.
        #[arg(long)]
        url: Option<String>,
    },
    /// Build the page and the program `randomx`, and serve both on 127.0.0.1.
    Start {
        /// The port to listen on.
        #[arg(long, default_value_t = 4173)]
        port: u16,
    },
    /// Run the quick checks and tests, or every check and test.
    Test {
        /// Run every test there is, in about an hour, and show all failures.
        #[arg(long)]
        full: bool,
        /// Leave out what the setup installs only on Debian and Ubuntu: Firefox, WebKit, the tests of the
        /// C library, code that needs C++, dieharder, Monero's daemon, emulators, and Wine.
        #[arg(long)]
        portable: bool,
    },
    /// Run the tests of the core on ARM64, in an emulator.
    TestArm64 {
        /// Run them with as many inputs as the full tests.
        #[arg(long)]
        full: bool,
    },
    /// Run the tests of the core, Monero's rules and the program on Windows, in Wine.
    TestWindows {
        /// Run them with as many inputs as the full tests.
        #[arg(long)]
        full: bool,
    },
    /// Run the interpreter on RISC-V, i686, ARMv7 and s390x, in emulators where this processor cannot.
    TestOthers,
    /// Run machine code for x86-64 in an emulator that keeps translations of code.
    TestEmulated,
    /// Check formats, lints, types and documentation.
    Check,
    /// Lint the code for macOS, and for Windows with Microsoft's C library.
    CheckOthers,
    /// Look for known vulnerabilities of dependencies.
    Advisories,
    /// Build the archives of a release twice, in different folders, and compare them.
    Release(ReleaseArgs),
    /// Build the archives of the programs and of the native add-on for every system that this machine can build for,
    /// and try them.
    Dist(DistArgs),
    /// Run `randomx bench`, linked with the reference implementation; arguments are passed on.
    Bench {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the benchmarks of the wasm build in Node.js; arguments are passed on.
    BenchNode {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Put the load of a pool on the package in Node.js; arguments are passed on.
    BenchShares {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run the benchmarks of the package in the browsers.
    BenchWeb(BenchWebArgs),
    /// Build librandomx, the C library, and install it below a folder.
    Capi(CapiArgs),
    /// Run the fuzz targets of `crates/fuzz` with libFuzzer.
    Fuzz(FuzzArgs),
    /// Write a complete anchor, checked from Monero's own checkpoints on, from a node's chain.
    Anchors(AnchorsArgs),
}

fn main() -> ExitCode {
    if let Some(code) = stand_in::run().or_else(compiler::run) {
        return code;
    }
    // Steps that need the path report the error.
    let _ = process::itself();
    match Cli::parse().command {
        Command::Test { full, portable } => {
            let report = if full { Report::keeping_going() } else { Report::new() };
            report.run(|report| test::test(report, tier(full), system(portable)))
        }
        Command::TestArm64 { full } => Report::new().run(|report| arm64::test(report, tier(full))),
        Command::TestWindows { full } => {
            Report::new().run(|report| windows::test(report, tier(full)))
        }
        Command::TestEmulated => Report::new().run(emulated::test),
        Command::TestOthers => Report::new().run(others::test),
        Command::Check => Report::new().run(check::check),
        Command::CheckOthers => Report::new().run(check::other_systems),
        Command::Advisories => Report::keeping_going().run(check::advisories),
        Command::Release(args) => exit_code(release::release(&args)),
        Command::Dist(args) => exit_code(dist::dist(&args)),
        Command::Setup { portable } => exit_code(setup::everything(system(portable))),
        Command::BuildWasm => exit_code(build::wasm_from_scratch()),
        Command::BuildPackage => exit_code(build::package_from_scratch()),
        Command::BuildAddon => exit_code(addon::package().map(drop)),
        Command::BuildPage { url } => exit_code(build::page_from_scratch(url.as_deref())),
        Command::Start { port } => exit_code(serve::start(port)),
        Command::Bench { args } => exit_code(bench::native(&args)),
        Command::BenchNode { args } => exit_code(bench::node(&args)),
        Command::BenchShares { args } => exit_code(bench_shares::bench_shares(&args)),
        Command::Capi(args) => exit_code(capi::capi(&args)),
        Command::Fuzz(args) => exit_code(fuzz::fuzz(&args)),
        Command::Anchors(args) => exit_code(anchors::anchors(&args)),
        Command::BenchWeb(args) => exit_code(bench_web::bench_web(&args)),
    }
}

fn tier(full: bool) -> Tier {
    if full { Tier::Full } else { Tier::Quick }
}

fn system(portable: bool) -> System {
    if portable { System::Any } else { System::Debian }
}

fn exit_code(result: Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;

    use super::{Cli, workspace};

    #[test]
    fn every_script_of_npm_is_a_command_of_this_program() {
        let text = fs::read_to_string(workspace::root().join("package.json")).expect("a file");
        let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let scripts = manifest["scripts"].as_object().expect("scripts");
        for (name, script) in scripts {
            let words = script.as_str().expect("a script").strip_prefix("cargo xtask ");
            let words = words.unwrap_or_else(|| panic!("{name}: {script}")).split(' ');
            if let Err(error) = Cli::try_parse_from(["cargo xtask"].into_iter().chain(words)) {
                panic!("{name}: {error}");
            }
        }
    }
}
