//! The parsers of a node's answers, without a node.

use super::rpc::parse_answer;
use super::{Header, Info, NodeBlock, NodeError, answers};

/// Parses an answer to `get_info`.
///
/// # Errors
///
/// If it is not usable.
pub fn parse_info(answer: &[u8]) -> Result<Info, NodeError> {
    parse_answer("get_info", answer, answers::info)
}

/// Parses an answer to `get_block_header_by_height`.
///
/// # Errors
///
/// If it is not usable.
pub fn parse_header(answer: &[u8], height: u64) -> Result<Header, NodeError> {
    parse_answer("get_block_header_by_height", answer, |json| answers::header(json, height))
}

/// Parses an answer to `get_block_headers_range`.
///
/// # Errors
///
/// If it is not usable.
pub fn parse_headers(answer: &[u8], first: u64, last: u64) -> Result<Vec<Header>, NodeError> {
    parse_answer("get_block_headers_range", answer, |json| answers::headers(json, first, last))
}

/// Parses an answer to `get_block`.
///
/// # Errors
///
/// If it is not usable.
pub fn parse_block(answer: &[u8], height: u64) -> Result<NodeBlock, NodeError> {
    parse_answer("get_block", answer, |json| {
        let (header, blob) = answers::block(json, height)?;
        Ok(NodeBlock { header, blob })
    })
}
