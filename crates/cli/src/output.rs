//! Results on stdout.

use std::io::{self, Write};

use crate::error::Error;

/// Writes all results, buffered. A reader that closes the pipe early is no error.
pub(crate) fn write(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    randomx_console::write_results(results).map_err(Error::Write)
}

/// Writes one JSON line.
pub(crate) fn json_line(out: &mut dyn Write, record: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}
