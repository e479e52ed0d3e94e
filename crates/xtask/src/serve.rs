//! Serving the page.

use std::process::Command;

use anyhow::Result;

use crate::build;
use crate::setup::Node;

/// Builds the page if it has to be and serves it on 127.0.0.1 until interrupted.
pub(crate) fn start(port: u16) -> Result<()> {
    build::product_from_scratch()?;
    build::web()?;
    let mut vite = Node::Installed.run("node_modules/vite/bin/vite.js")?;
    vite.args(["preview", "--host", "127.0.0.1", "--strictPort", "--port", &port.to_string()]);
    become_or_run(&mut vite)
}

/// Lets the server take this process's place, so that it gets every signal itself.
#[cfg(unix)]
fn become_or_run(server: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(anyhow::Error::new(server.exec()).context("cannot start the server"))
}

#[cfg(not(unix))]
fn become_or_run(server: &mut Command) -> Result<()> {
    crate::process::run(server)
}
