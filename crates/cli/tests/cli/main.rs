//! The program `randomx`, but for its server and its console on Windows.

mod bench;
mod checkpoint;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod environment;
mod evidence;
#[cfg(unix)]
mod few_threads;
mod follow;
mod hash;
mod info;
#[cfg(unix)]
mod listen;
mod node;
mod printing;
mod refusals;
mod relay;
mod stored;
mod stream;
mod verdicts;
mod verify;
