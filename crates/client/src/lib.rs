//! Drivers of the light client in `randomx-monero`: they carry out its actions.
//!
//! A [`Follower`] asks [`Source`]s, which are nodes or relays, on a thread for each, computes hashes
//! on another, and keeps the state in a [`Store`] on disk. A [`Relay`] serves a node's headers.
//! Only [`Client`](randomx_monero::client::Client) decides what to trust.
//!
//! Each answer has a limit that depends on the question, and all answers in memory share 16 MiB.

mod address;
mod agent;
mod answer;
mod budget;
pub mod bytes;
mod follower;
mod hasher;
#[cfg(feature = "internals")]
pub mod internals;
pub mod node;
mod proxy;
pub mod relay;
mod source;
mod store;

pub use agent::{Authorities, Route, agent_settings};
pub use answer::Answer;
pub use follower::{Follower, FollowerError};
pub use hasher::{HashError, Hasher, LightHasher};
pub use proxy::{ProxyError, environment_proxy, parse_proxy};
pub use relay::{Relay, RelayError, Update};
pub use source::{Source, SourceError};
pub use store::{Store, StoreFileError, read_state, state_file};

pub use randomx_files::LockError;
pub use ureq::Proxy;
