//! As much of HTTP/1.1 as a relay needs: one `GET` request for each connection.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The longest request, in bytes.
const MAX_REQUEST: u64 = 8 << 10;

/// The time that a client may take for each part of its request, and to read each part of the answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) if_none_match: Option<String>,
}

/// An answer.
pub(super) struct Response {
    pub(super) status: &'static str,
    pub(super) content_type: &'static str,
    pub(super) etag: Option<String>,
    /// Whether it never changes.
    pub(super) immutable: bool,
    pub(super) body: Vec<u8>,
}

impl Response {
    /// Returns an answer without content.
    pub(super) fn empty(status: &'static str) -> Response {
        let body = Vec::new();
        Response { status, content_type: "text/plain", etag: None, immutable: false, body }
    }
}

/// Reads a request and sends the answer that `respond` gives. Clients that are slow, or send
/// something else, are disconnected.
pub(super) fn serve(stream: &TcpStream, respond: impl FnOnce(&Request) -> Response) {
    // If a timeout cannot be set, the system would wait forever: rather answer nobody.
    let limited = stream.set_read_timeout(Some(PATIENCE)).is_ok()
        && stream.set_write_timeout(Some(PATIENCE)).is_ok();
    let request = limited.then(|| parse(BufReader::new(stream.take(MAX_REQUEST)))).flatten();
    let Some(request) = request else { return };
    let mut response = match request.method.as_str() {
        "GET" | "HEAD" => respond(&request),
        "OPTIONS" => Response::empty("204 No Content"),
        _ => Response::empty("405 Method Not Allowed"),
    };
    if response.etag.is_some() && response.etag == request.if_none_match {
        response.status = "304 Not Modified";
        response.body.clear();
    }
    // The client may have disconnected.
    let _ = write(stream, &request, &response);
}

fn write(mut stream: &TcpStream, request: &Request, response: &Response) -> std::io::Result<()> {
    let cache =
        if response.immutable { "public, max-age=31536000, immutable" } else { "public, no-cache" };
    let etag = response.etag.as_ref().map(|etag| format!("ETag: {etag}\r\n")).unwrap_or_default();
    let head = format!(
        "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: {cache}\r\n{etag}\
         Access-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: If-None-Match\r\n\
         Access-Control-Expose-Headers: ETag\r\nX-Content-Type-Options: nosniff\r\n\
         Connection: close\r\n\r\n",
        response.status,
        response.content_type,
        response.body.len(),
    );
    stream.write_all(head.as_bytes())?;
    if request.method != "HEAD" {
        stream.write_all(&response.body)?;
    }
    stream.flush()
}

fn parse(mut input: impl BufRead) -> Option<Request> {
    let mut line = String::new();
    input.read_line(&mut line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    words.next()?.starts_with("HTTP/1.").then_some(())?;
    let mut if_none_match = None;
    loop {
        line.clear();
        // The end of the input before the empty line is the end of a request that was too long.
        if input.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim();
        if line.is_empty() {
            return Some(Request { method, path, if_none_match });
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("if-none-match")
        {
            if_none_match = Some(value.trim().to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_parsed() {
        let text = b"GET /v1/tip HTTP/1.1\r\nHost: a\r\nIF-none-match: \"x\"\r\n\r\n";
        let request = parse(&text[..]).expect("a request");
        assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/v1/tip"));
        assert_eq!(request.if_none_match.as_deref(), Some("\"x\""));
    }

    #[test]
    fn other_bytes_are_refused() {
        for text in [
            &b""[..],
            b"GET\r\n\r\n",
            b"GET / SMTP\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\n",
            b"\xff\xfe HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
