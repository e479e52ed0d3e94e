//! Writing results on stdout.

use std::io::{self, BufWriter, ErrorKind, Write};

use crate::error::Error;

/// Writes all results, buffered. A reader who has seen enough and closed the pipe is no error.
pub(crate) fn write(results: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Error> {
    let mut out = BufWriter::new(io::stdout().lock());
    match results(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome.map_err(Error::Write),
    }
}

/// Writes one JSON line.
pub(crate) fn json_line(out: &mut dyn Write, record: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    out.write_all(b"\n")
}
