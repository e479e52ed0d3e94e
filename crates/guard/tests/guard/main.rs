//! A guard between a wallet and simulated nodes, which lie in every way.

mod answers;
mod chain;
mod honest;
mod lies;
mod node;
mod older;
mod reader;
mod several;
mod store;
mod wallet;
mod world;

#[path = "../../src/epee/writer.rs"]
#[allow(dead_code, reason = "the guard uses all of it")]
mod writer;
