//! `cargo xtask bench-shares`: the load of a pool on the package.

use anyhow::Result;

use crate::setup::Node;
use crate::{addon, build, process};

/// Builds the package and the native add-on, and runs the benchmark in the user's Node.js.
pub(crate) fn bench_shares(args: &[String]) -> Result<()> {
    build::package_from_scratch()?;
    if addon::is_possible()? {
        addon::package()?;
    }
    let script = Node::Installed.run("tests/node/shares-bench.mjs")?;
    let mut node = process::command(script.get_program());
    // It collects garbage before it measures memory.
    node.arg("--expose-gc").args(script.get_args());
    process::run(node.args(args))
}
