//! Reading JSON lines: from a file or stdin, within limits, each line with its number.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    str,
};

use crate::{bytes::MAX_BYTES, error::Error, record::LineError};

/// How much input is taken in. All of it is read and checked before the first hash, so these
/// bound the memory of a run: decoded, the text takes half its size.
struct Limits {
    line_bytes: usize,
    total_bytes: u64,
    lines: usize,
}

/// Room for the longest key and the longest input in one line, and for years of a chain.
const LIMITS: Limits =
    Limits { line_bytes: 4 * MAX_BYTES + (256 << 10), total_bytes: 1 << 30, lines: 1 << 22 };

/// The name of an input in messages: its path, or `stdin` for `-`.
pub(crate) fn name(file: &Path) -> String {
    if is_stdin(file) { "stdin".to_owned() } else { file.display().to_string() }
}

/// Calls `each` with every line of the file (`-` is stdin), without its line ending.
pub(crate) fn for_each_line(
    file: &Path,
    each: impl FnMut(&str) -> Result<(), LineError>,
) -> Result<(), Error> {
    if is_stdin(file) {
        return read_lines(io::stdin().lock(), file, &LIMITS, each);
    }
    let opened =
        File::open(file).map_err(|problem| Error::Read { file: file.to_owned(), problem })?;
    read_lines(BufReader::new(opened), file, &LIMITS, each)
}

fn is_stdin(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn read_lines(
    mut reader: impl BufRead,
    file: &Path,
    limits: &Limits,
    mut each: impl FnMut(&str) -> Result<(), LineError>,
) -> Result<(), Error> {
    let mut line = Vec::new();
    let mut total = 0;
    for number in 1.. {
        line.clear();
        // One byte more for the line ending, and one more to notice a line that is too long.
        let most = limits.line_bytes as u64 + 2;
        let length = reader
            .by_ref()
            .take(most)
            .read_until(b'\n', &mut line)
            .map_err(|problem| Error::Read { file: file.to_owned(), problem })?;
        if length == 0 {
            break;
        }
        total += length as u64;
        if total > limits.total_bytes {
            return Err(Error::TooManyBytes { file: name(file), limit: limits.total_bytes });
        }
        if number > limits.lines {
            return Err(Error::TooManyLines { file: name(file), limit: limits.lines });
        }
        check_line(&line, limits).and_then(&mut each).map_err(|problem| Error::Line {
            file: name(file),
            line: number,
            problem,
        })?;
    }
    Ok(())
}

fn check_line<'a>(line: &'a [u8], limits: &Limits) -> Result<&'a str, LineError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.len() > limits.line_bytes {
        return Err(LineError::TooLong { limit: limits.line_bytes });
    }
    str::from_utf8(line).map_err(|error| LineError::NotUtf8 { position: error.valid_up_to() + 1 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limits = Limits { line_bytes: 8, total_bytes: 40, lines: 6 };

    fn read(input: &[u8]) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        read_lines(input, Path::new("-"), &SMALL, |line| {
            lines.push(line.to_owned());
            Ok(())
        })
        .map(|()| lines)
        .map_err(|error| error.to_string())
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_file() {
        assert_eq!(read(b""), Ok(vec![]));
        assert_eq!(read(b"a\nb\r\n\nc"), Ok(["a", "b", "", "c"].map(String::from).to_vec()));
    }

    #[test]
    fn a_line_can_be_as_long_as_the_limit() {
        assert_eq!(read(b"12345678\n12345678"), Ok(vec!["12345678".to_owned(); 2]));
        let error = "stdin: line 2: longer than 8 bytes".to_owned();
        assert_eq!(read(b"1\n123456789\n"), Err(error.clone()));
        assert_eq!(read(b"1\n123456789"), Err(error.clone()));
        assert_eq!(read(b"1\n12345678901234567890"), Err(error));
    }

    #[test]
    fn the_whole_is_bounded() {
        let whole = b"1234567\n".repeat(5);
        assert_eq!(read(&whole).map(|lines| lines.len()), Ok(5));
        let error = read(&[whole, b"\n".to_vec()].concat());
        assert_eq!(error, Err("stdin: more than 40 bytes; split the input".to_owned()));
        assert_eq!(read(b"\n\n\n\n\n\n").map(|lines| lines.len()), Ok(6));
        let error = read(b"\n\n\n\n\n\n\n");
        assert_eq!(error, Err("stdin: more than 6 lines; split the input".to_owned()));
    }

    #[test]
    fn a_line_that_is_not_text_says_where() {
        let error = "stdin: line 1: not UTF-8 at byte 3".to_owned();
        assert_eq!(read(b"ab\xff\n"), Err(error));
    }

    #[test]
    fn a_refused_line_ends_the_reading() {
        let mut seen = 0;
        let refused = read_lines(&b"1\n2\n3\n"[..], Path::new("dir/a"), &SMALL, |line| {
            seen += 1;
            if line == "2" { Err(LineError::Blank) } else { Ok(()) }
        });
        assert_eq!(seen, 2);
        let message = refused.expect_err("line 2 is refused").to_string();
        assert!(message.starts_with("dir/a: line 2: blank"), "{message}");
    }
}
