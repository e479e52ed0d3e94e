//! The parsers of a relay and of its clients, without a network.

use std::io;
use std::path::Path;

use randomx_monero::client::Query;

use super::client;
use super::records::Records;
use crate::answer::Answer;

/// Parses a relay's answer, or returns `None` if it has another form.
pub fn parse_relay_answer(query: Query, answer: &[u8]) -> Option<Answer> {
    client::parse(query, answer)
}

/// Opens a relay's file of headers. Returns the first height and the height of the last block.
///
/// # Errors
///
/// If it is no such file, or the system refuses.
pub fn open_records(file: &Path) -> io::Result<(u64, Option<u64>)> {
    let records = Records::open(file, 0)?;
    Ok((records.first(), records.tip().map(|(height, _)| height)))
}
