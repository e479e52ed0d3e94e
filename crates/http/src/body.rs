//! Reading a request's body, within bounds of size and time.

use std::{error::Error as _, sync::Arc, time::Duration};

use axum::{
    body::{self, Bytes},
    extract::Request,
};
use http_body::Body as _;
use http_body_util::LengthLimitError;
use thiserror::Error;

use crate::places::Place;

/// The longest time that a client may take to send a body.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The reason why a body was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum BodyError {
    /// It is too large.
    #[error("body: expected at most {limit} bytes")]
    TooLarge {
        /// The most bytes allowed.
        limit: usize,
    },
    /// Its chunks are malformed, or the client has gone, and then nobody reads the answer.
    #[error("body: expected well-formed chunks")]
    Malformed,
    /// The client took too long.
    #[error("body: expected within {} seconds", TIMEOUT.as_secs())]
    Timeout,
}

/// Reads the body of a request that [`serve`](crate::serve) accepted, of at most `limit` bytes. The
/// connection counts as idle meanwhile.
///
/// # Errors
///
/// If the body is larger or malformed, or takes longer than ten seconds.
pub async fn read_body(request: Request, limit: usize) -> Result<Bytes, BodyError> {
    if request.body().size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge { limit });
    }
    let place = request.extensions().get::<Arc<Place>>().cloned();
    let _waiting = place.map(|place| place.waits_for_client());
    let read = tokio::time::timeout(TIMEOUT, body::to_bytes(request.into_body(), limit)).await;
    let read = read.map_err(|_| BodyError::Timeout)?;
    read.map_err(|problem| {
        let is_too_large = problem.source().is_some_and(|reason| reason.is::<LengthLimitError>());
        if is_too_large { BodyError::TooLarge { limit } } else { BodyError::Malformed }
    })
}
