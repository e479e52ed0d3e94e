//! A server for a test, and a client that sends exactly the given bytes.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Command, Stdio},
    time::Duration,
};

use randomx_testing::Running;
use serde_json::Value;

use super::common::start;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(90);

/// A server on its own port. It ends with the test.
pub(crate) struct Server {
    child: Running,
    /// Its name and port, as in `Host`.
    pub(crate) host: String,
    /// The folder of its page.
    pub(crate) page: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: String,
    pub(crate) body: Vec<u8>,
}

impl Server {
    /// Starts a server with a page of two files.
    pub(crate) fn start() -> Server {
        let page = tempfile::tempdir().expect("a temporary folder");
        fs::write(page.path().join("index.html"), "<h1>page</h1>").expect("a file");
        fs::create_dir(page.path().join("assets")).expect("a folder");
        fs::write(page.path().join("assets/large.wasm"), vec![0; 32 << 20]).expect("a file");
        let folder = page.path().to_str().expect("UTF-8").to_owned();
        Server::with(page, &["--page", &folder])
    }

    /// Starts a server in a folder that has no built page.
    pub(crate) fn start_without_page() -> Server {
        Server::with(tempfile::tempdir().expect("a temporary folder"), &[])
    }

    fn with(page: tempfile::TempDir, arguments: &[&str]) -> Server {
        let arguments = [&["serve", "--port", "0"], arguments].concat();
        let (child, line) = start(&arguments, Stdio::inherit());
        let host = line.trim().strip_prefix("http://").and_then(|rest| rest.strip_suffix('/'));
        let host = host.expect("an address").to_owned();
        Server { child, host, page }
    }

    /// Opens a connection.
    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.host).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// The answer to these bytes.
    pub(crate) fn raw(&self, bytes: impl AsRef<[u8]>) -> Answer {
        let mut stream = self.connect();
        // The server may close the connection before it has read everything.
        let _ = stream.write_all(bytes.as_ref());
        Answer::read(stream)
    }

    /// The answer to a request with these header lines after `Host`.
    pub(crate) fn ask(&self, line: &str, headers: &[&str], body: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(&self.request(line, headers, body)).expect("it is sent");
        Answer::read(stream)
    }

    /// The answer to a GET.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path}"), &[], b"")
    }

    /// The answer to a POST with a JSON body.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let body = body.to_string();
        self.ask(&format!("POST {path}"), &["Content-Type: application/json"], body.as_bytes())
    }

    /// The answer to a POST with a JSON body, as a stream of events.
    pub(crate) fn events(&self, path: &str, body: &Value) -> Events {
        let headers = ["Content-Type: application/json", "Accept: text/event-stream"];
        let request = self.request(&format!("POST {path}"), &headers, body.to_string().as_bytes());
        let mut stream = self.connect();
        stream.write_all(&request).expect("it is sent");
        Events(BufReader::new(stream))
    }

    fn request(&self, line: &str, headers: &[&str], body: &[u8]) -> Vec<u8> {
        let mut head = format!("{line} HTTP/1.1\r\nHost: {}\r\n", self.host);
        head += &format!("Connection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|header| head += &format!("{header}\r\n"));
        [head.as_bytes(), b"\r\n", body].concat()
    }

    /// The server's resident memory in MiB, if the system reports it.
    pub(crate) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? >> 10)
    }

    /// Sends it a signal, such as `INT`. Returns whether it succeeded.
    #[cfg(unix)]
    pub(crate) fn ends_by(mut self, signal: &str) -> bool {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        sent.expect("a signal").success() && self.child.wait().expect("it ends").success()
    }
}

impl Answer {
    /// Reads a connection to its end.
    pub(crate) fn read(mut stream: TcpStream) -> Answer {
        let mut bytes = Vec::new();
        // A server that refuses a request without reading it may reset the connection.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, body) =
            end.map_or((&bytes[..], &[][..]), |end| (&bytes[..end], &bytes[end + 4..]));
        let head = String::from_utf8_lossy(head).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, headers: head.to_lowercase(), body: body.to_vec() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("JSON, not {}", String::from_utf8_lossy(&self.body)))
    }

    /// The status, the code and the message of an error.
    pub(crate) fn error(&self) -> (u16, String, String) {
        let error = &self.json()["error"];
        let text = |field: &str| error[field].as_str().expect("a text").to_owned();
        (self.status, text("code"), text("message"))
    }

    /// A header's value.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value)
    }
}

/// A stream of events. Dropping it disconnects.
pub(crate) struct Events(BufReader<TcpStream>);

impl Events {
    /// Waits until the head of the answer arrives.
    pub(crate) fn read_head(&mut self) {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer in time");
        assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
    }
}

impl Iterator for Events {
    type Item = (String, Value);

    fn next(&mut self) -> Option<(String, Value)> {
        let mut name = String::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).expect("an answer in time") == 0 {
                return None;
            }
            if let Some(event) = line.strip_prefix("event: ") {
                name = event.trim().to_owned();
            } else if let Some(data) = line.strip_prefix("data: ") {
                return Some((name, serde_json::from_str(data).expect("JSON")));
            }
        }
    }
}
