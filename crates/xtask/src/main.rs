//! The repository's commands, run as `cargo xtask <command>`.

fn main() {}
