//! Moves a target's inputs between its file in the repository and the folder that libFuzzer uses.
//! `cargo xtask fuzz` calls it.

// Code that is instrumented for libFuzzer calls functions of its library.
#[cfg(feature = "libfuzzer")]
use libfuzzer_sys as _;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use randomx_fuzz::{TARGETS, Target, corpus};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let moved = match arguments[..] {
        ["list"] => {
            TARGETS.iter().for_each(|target| println!("{} {}", target.name, target.longest));
            return ExitCode::SUCCESS;
        }
        ["unpack", target, folder] => corpus::unpack(&Target::named(target), Path::new(folder)),
        ["pack", target, folder] => corpus::pack(&Target::named(target), Path::new(folder)),
        _ => {
            eprintln!("usage: corpus list | unpack TARGET FOLDER | pack TARGET FOLDER");
            return ExitCode::from(2);
        }
    };
    match moved {
        Ok(count) => {
            println!("{count} inputs");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", arguments[1]);
            ExitCode::FAILURE
        }
    }
}
