//! Results on stdout.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::Error;

/// Writes results and flushes them. A reader that has closed the pipe is no error.
pub(crate) fn write(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    write_while_read(results).map(drop)
}

/// Writes results and flushes them. Returns whether they still have a reader: `false` once the pipe
/// is closed.
pub(crate) fn write_while_read(
    results: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<bool, Error> {
    randomx_console::write_while_read(results).map_err(Error::Write)
}

/// Writes one JSON line.
pub(crate) fn json_line(out: &mut dyn Write, record: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}
