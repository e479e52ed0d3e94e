//! Serving the page.

use std::process::Command;

use anyhow::Result;

use crate::build;
use crate::process;

/// Builds what is missing, and serves the page on 127.0.0.1 beside this machine's own RandomX,
/// until interrupted.
pub(crate) fn start(port: u16) -> Result<()> {
    build::product_from_scratch()?;
    build::web()?;
    let randomx = build::server()?;
    let mut server = process::command(randomx);
    server.args(["serve", "--page", "web/dist", "--port", &port.to_string()]);
    become_or_run(&mut server)
}

/// Lets the server take this process's place, so that it gets every signal itself.
#[cfg(unix)]
fn become_or_run(server: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(anyhow::Error::new(server.exec()).context("cannot start the server"))
}

#[cfg(not(unix))]
fn become_or_run(server: &mut Command) -> Result<()> {
    process::run(server)
}
