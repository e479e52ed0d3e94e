//! Reading JSON lines from a file or stdin, one at a time, each with its number.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::{Path, PathBuf},
    str,
};

use crate::{bytes::MAX_BYTES, error::Error, record::LineError};

/// The longest line: it has room for the longest key and the longest input.
const MAX_LINE: usize = 4 * MAX_BYTES + (256 << 10);

/// The lines of a file.
pub(crate) struct Lines {
    reader: Box<dyn BufRead + Send>,
    file: PathBuf,
    max_line: usize,
    /// The number of the last line that was read, counted from 1.
    number: u64,
    line: Vec<u8>,
}

impl Lines {
    /// Opens a file; `-` is stdin.
    pub(crate) fn open(file: &Path) -> Result<Lines, Error> {
        if is_stdin(file) {
            return Ok(Lines::new(Box::new(BufReader::new(io::stdin())), file, MAX_LINE));
        }
        let opened =
            File::open(file).map_err(|problem| Error::Read { file: file.to_owned(), problem })?;
        Ok(Lines::new(Box::new(BufReader::new(opened)), file, MAX_LINE))
    }

    /// Reads the lines of a connection.
    #[cfg(unix)]
    pub(crate) fn of_connection(reader: Box<dyn BufRead + Send>) -> Lines {
        Lines::new(reader, Path::new("connection"), MAX_LINE)
    }

    /// Reads lines from bytes, as from stdin.
    #[cfg(feature = "internals")]
    pub(crate) fn of(bytes: Vec<u8>) -> Lines {
        Lines::new(Box::new(io::Cursor::new(bytes)), Path::new("-"), MAX_LINE)
    }

    fn new(reader: Box<dyn BufRead + Send>, file: &Path, max_line: usize) -> Lines {
        Lines { reader, file: file.to_owned(), max_line, number: 0, line: Vec::new() }
    }

    /// The name of the file in messages: its path, or `stdin`.
    pub(crate) fn name(&self) -> String {
        if is_stdin(&self.file) { "stdin".to_owned() } else { self.file.display().to_string() }
    }

    /// Reads the next line, without its line ending, and parses it. `None` at the end.
    pub(crate) fn next<T>(
        &mut self,
        parse: impl FnOnce(&str) -> Result<T, LineError>,
    ) -> Result<Option<T>, Error> {
        self.line.clear();
        // Two bytes more for the line ending.
        let most = self.max_line as u64 + 2;
        let length = self
            .reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut self.line)
            .map_err(|problem| Error::Read { file: self.name().into(), problem })?;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        let parsed = check_line(&self.line, self.max_line).and_then(parse);
        let (file, line) = (|| self.name(), self.number);
        parsed.map(Some).map_err(|problem| Error::Line { file: file(), line, problem })
    }
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn check_line(line: &[u8], limit: usize) -> Result<&str, LineError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > limit {
        return Err(LineError::TooLong { limit });
    }
    str::from_utf8(line).map_err(|error| LineError::NotUtf8 { position: error.valid_up_to() + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_from(
        input: &'static [u8],
        file: &str,
        mut parse: impl FnMut(&str) -> Result<String, LineError>,
    ) -> (Vec<String>, Result<(), String>) {
        let mut lines = Lines::new(Box::new(input), Path::new(file), 8);
        let mut parsed = Vec::new();
        loop {
            match lines.next(&mut parse) {
                Ok(Some(line)) => parsed.push(line),
                Ok(None) => return (parsed, Ok(())),
                Err(error) => return (parsed, Err(error.to_string())),
            }
        }
    }

    fn read(input: &'static [u8]) -> (Vec<String>, Result<(), String>) {
        read_from(input, "-", |line| Ok(line.to_owned()))
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_file() {
        assert_eq!(read(b""), (vec![], Ok(())));
        let lines = ["a", "b", "", "c"].map(String::from).to_vec();
        assert_eq!(read(b"a\nb\r\n\nc"), (lines, Ok(())));
    }

    #[test]
    fn a_line_can_be_as_long_as_the_limit() {
        assert_eq!(read(b"12345678\r\n12345678"), (vec!["12345678".to_owned(); 2], Ok(())));
        let error = "stdin: line 2: longer than 8 bytes".to_owned();
        for input in [&b"1\n123456789\n"[..], b"1\n123456789", b"1\n12345678901234567890"] {
            assert_eq!(read(input), (vec!["1".to_owned()], Err(error.clone())));
        }
    }

    #[test]
    fn a_line_that_is_not_text_says_where() {
        let error = "stdin: line 1: not UTF-8 at byte 3".to_owned();
        assert_eq!(read(b"ab\xff\n"), (vec![], Err(error)));
    }

    #[test]
    fn a_source_that_cannot_be_read_is_named() {
        struct Broken;

        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }

        for (file, name) in [("-", "stdin"), ("dir/a", "dir/a")] {
            let mut lines = Lines::new(Box::new(BufReader::new(Broken)), Path::new(file), 8);
            let problem = lines.next(|line| Ok(line.to_owned())).expect_err("it is broken");
            assert_eq!(problem.to_string(), format!("{name}: cannot read it: broken"));
        }
    }

    #[test]
    fn a_line_that_cannot_be_parsed_is_named() {
        let (before, outcome) = read_from(b"1\n2\n3\n", "dir/a", |line| match line {
            "2" => Err(LineError::Blank),
            line => Ok(line.to_owned()),
        });
        assert_eq!(before, ["1"]);
        let message = outcome.expect_err("line 2 is blank");
        assert!(
            message.starts_with("dir/a: line 2: expected a JSON object, got a blank line"),
            "{message}"
        );
    }
}
