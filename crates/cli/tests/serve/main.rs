//! `randomx serve` with friendly and hostile clients.

#[path = "../common/mod.rs"]
mod common;

mod api;
mod connections;
mod hostile;
mod page;
mod server;
mod work;
