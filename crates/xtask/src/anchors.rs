//! Complete anchors for a release.

use std::{env, path::PathBuf};

use anyhow::Result;
use clap::Args;

use crate::{build, process, workspace};

/// A node, and where its anchor is written.
#[derive(Args)]
pub(crate) struct AnchorsArgs {
    /// The node's address
    #[arg(long, value_name = "URL")]
    node: String,

    /// The node's network
    #[arg(long, value_name = "NAME", default_value = "mainnet")]
    network: String,

    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "anchor.json")]
    output: PathBuf,
}

/// Follows the node's chain from the anchors in `crates/monero/src/anchor.rs` to its end, checks every
/// proof of work on the way, and writes the tip with the 735 blocks that the rules need after it.
/// `randomx follow --start` and the npm package begin there. The node is not trusted.
///
/// A node that lies about how the earlier anchor's work divides among its last 735 blocks has a little
/// freedom, which `crates/monero/src/client/anchoring.rs` states.
pub(crate) fn anchors(args: &AnchorsArgs) -> Result<()> {
    let randomx = match env::var_os(build::NATIVE) {
        Some(program) => program.into(),
        None => build::native("release", &[])?,
    };
    let mut follow = process::command(randomx);
    follow.args(["follow", "--once", "--node", &args.node, "--network", &args.network]);
    process::run(follow.arg("--checkpoint").arg(workspace::here(&args.output)?))
}
