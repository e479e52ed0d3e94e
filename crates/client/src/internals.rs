//! The parsers of untrusted bytes, for the fuzz targets in `crates/fuzz`. They have no stability
//! promise: any release may change them.

pub use crate::node::internals::{parse_block, parse_header, parse_headers, parse_info};
pub use crate::relay::internals::{open_records, parse_relay_answer};
