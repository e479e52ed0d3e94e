//! Benchmarks of native code and of the package in Node.js.

use std::path::Path;

use anyhow::Result;

use crate::setup::{self, Node};
use crate::{build, process, workspace};

/// Runs `randomx bench`, in a build that has the reference implementation.
pub(crate) fn native(args: &[String]) -> Result<()> {
    setup::cpp_tools()?;
    let randomx = build::native("release", &["reference"])?;
    let mut bench = process::command(randomx);
    // The names of files in the arguments are relative to the user's folder.
    bench.current_dir(workspace::here(Path::new(""))?);
    process::run(bench.arg("bench").args(args))
}

/// Runs the benchmarks of the wasm build in the user's Node.js.
pub(crate) fn node(args: &[String]) -> Result<()> {
    build::package_from_scratch()?;
    process::run(Node::Installed.run("tests/node/bench.mjs")?.args(args))?;
    process::run(&mut Node::Installed.run("tests/node/follow-bench.mjs")?)
}
