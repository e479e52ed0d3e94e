//! The connections of this repository's HTTP servers.
//!
//! [`serve`] answers requests with a router. It bounds the number of connections, the sizes of
//! requests and the times that clients take, and it sends the same headers with every answer, also
//! with those that the HTTP parser writes. [`Server`] does so on threads of its own.

mod body;
mod connections;
mod names;
mod parser_errors;
mod places;
mod server;
mod socket;

pub use body::{BodyError, read_body};
pub use connections::{Settings, serve};
pub use names::Names;
pub use server::Server;
