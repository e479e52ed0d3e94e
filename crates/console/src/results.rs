//! Results on stdout.

use std::io::{self, BufWriter, ErrorKind, Write};

/// Writes results to stdout, buffered. A reader that closes the pipe early is no error.
///
/// # Errors
///
/// Any other error of writing to stdout.
pub fn write_results(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    match results(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}
