//! `randomx serve`, asked by clients that mean well and by others.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod connections;
mod hostile;
mod server;
mod work;
