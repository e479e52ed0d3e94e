//! Results on stdout.

use std::io::{self, BufWriter, ErrorKind, Write};

/// Writes results to stdout and flushes them. A reader that closes the pipe early is no error.
///
/// # Errors
///
/// Any other error of writing to stdout.
pub fn write_results(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_while_read(results).map(drop)
}

/// Writes results to stdout and flushes them. Returns whether they still have a reader: `false` once
/// the pipe is closed.
///
/// # Errors
///
/// Any other error of writing to stdout.
pub fn write_while_read(
    results: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<bool> {
    let mut out = BufWriter::new(io::stdout().lock());
    match results(&mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            // Dropping the buffer would write its rest.
            let _ = out.into_parts();
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
