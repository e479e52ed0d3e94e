//! `cargo xtask start`: serves the page.

use std::process::Command;

use anyhow::Result;

use crate::build;
use crate::process;

/// Builds the page and the program `randomx`, then serves the page on 127.0.0.1 until interrupted.
pub(crate) fn start(port: u16) -> Result<()> {
    build::product_from_scratch()?;
    build::web()?;
    let randomx = build::native("release", &[])?;
    let mut server = process::command(randomx);
    server.args(["serve", "--page", "web/dist", "--port", &port.to_string()]);
    become_or_run(&mut server)
}

/// Replaces this process by the server, so that the server receives every signal itself.
#[cfg(unix)]
fn become_or_run(server: &mut Command) -> Result<()> {
    use std::os::unix::process::CommandExt;
    Err(anyhow::Error::new(server.exec()).context("cannot start the server"))
}

#[cfg(not(unix))]
fn become_or_run(server: &mut Command) -> Result<()> {
    process::run(server)
}
