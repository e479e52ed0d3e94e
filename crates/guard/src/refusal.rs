//! Requests without an answer.

use thiserror::Error;

/// The longest message in characters. Parsers quote texts of any length.
const LONGEST: usize = 500;

/// Why wallets wait, unless no source can be followed.
pub(crate) const READING: &str = "the guard reads the chain";

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
    #[error("{node} sent false data: {reason}")]
    Lie {
        /// The node.
        node: String,
        /// The reason why the data is false.
        reason: String,
    },
}

impl Refusal {
    /// Returns the text for the field `status`, which wallets show.
    pub(crate) fn status(&self) -> String {
        match self {
            // Wallets know this word, and try again later.
            Refusal::Busy(_) => "BUSY".to_owned(),
            other => format!("randomx guard: {}", brief(other.to_string())),
        }
    }
}

/// Cuts off the end of a long message.
pub(crate) fn brief(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST) {
        message.truncate(end);
        message.push('…');
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_messages_are_cut_off() {
        let status = |length| Refusal::Unusable("ä".repeat(length)).status();
        assert_eq!(status(LONGEST), format!("randomx guard: {}", "ä".repeat(LONGEST)));
        assert_eq!(status(LONGEST + 1), format!("randomx guard: {}…", "ä".repeat(LONGEST)));
    }
}
