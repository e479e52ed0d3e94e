//! Requests without an answer.

use thiserror::Error;

/// The reason why a wallet's request has no answer.
#[derive(Clone, Debug, Error)]
pub(crate) enum Refusal {
    /// The request is malformed, or exceeds a limit.
    #[error("{0}")]
    Request(String),
    /// There is no such method.
    #[error("{0}: the guard does not offer this method")]
    Unknown(String),
    /// The guard must read more of the chain first.
    #[error("{0}")]
    Busy(String),
    /// No node gave a usable answer.
    #[error("{0}")]
    Unusable(String),
    /// A node sent something false, and is dropped.
    #[error("{node} lied: {reason}")]
    Lie {
        /// The node.
        node: String,
        /// What is false.
        reason: String,
    },
}

impl Refusal {
    /// Returns the text for the field `status`, which wallets show.
    pub(crate) fn status(&self) -> String {
        match self {
            // Wallets know this word, and try again later.
            Refusal::Busy(_) => "BUSY".to_owned(),
            other => format!("randomx guard: {other}"),
        }
    }
}
