//! How sources are reached: through the proxy, with TLS, and at no other address than the named one.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use randomx_client::{Authorities, Route, Source, SourceError, node, parse_proxy};
use randomx_monero::client::Query;

/// The longest wait on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A certificate that no server has, by OpenSSL.
const CERTIFICATE: &str = "-----BEGIN CERTIFICATE-----\n\
    MIIBGzCBzqADAgECAgEBMAUGAytlcDAMMQowCAYDVQQDDAFjMCAXDTI2MTEyODE5\n\
    NDE0MloYDzIxMjYxMTA0MTk0MTQyWjAMMQowCAYDVQQDDAFjMCowBQYDK2VwAyEA\n\
    Ae5KMOrXITctbTJaPO42IQ3vmAPv/k5Mnez8rnktzoajUzBRMB0GA1UdDgQWBBQ3\n\
    7Pay3i1VKu/T7XFwwW+rG+wp8jAfBgNVHSMEGDAWgBQ37Pay3i1VKu/T7XFwwW+r\n\
    G+wp8jAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBAMHSTF3RQHzy5adWEz6VWX33\n\
    TyVgn2u6+WQPvSh/Y10qD8PhBOu9CArcb0NelMjX2X920KAiiZU1RYoCcT71FQ4=\n\
    -----END CERTIFICATE-----\n";

/// Starts a server that answers one connection. Returns its port, and a thread that returns the first bytes received.
fn server(answer: String) -> (u16, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let received = thread::spawn(move || {
        let (mut stream, _): (TcpStream, _) = listener.accept().expect("a connection");
        let (mut first, mut part) = (Vec::new(), [0; 4096]);
        loop {
            let length = stream.read(&mut part).expect("a request");
            first.extend(&part[..length]);
            // A client may send the head of a request in parts. TLS waits for an answer after the first one.
            if length == 0 || answer.is_empty() || first.windows(4).any(|end| end == b"\r\n\r\n") {
                break;
            }
        }
        let _ = stream.write_all(answer.as_bytes());
        if !answer.is_empty() {
            // Closing with unread bytes could reset the connection before the client has read the answer.
            let _ = stream.shutdown(Shutdown::Write);
            let _ = io::copy(&mut stream, &mut io::sink());
        }
        first
    });
    (port, received)
}

/// Asks a node for its tip.
fn ask(route: &Route, address: &str) -> Result<(), SourceError> {
    let address = node::address(address).expect("an address");
    Source::node(route, &address).ask(Query::Tip).map(|_| ())
}

#[test]
fn a_redirection_leads_to_no_other_server() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    other.set_nonblocking(true).expect("a socket");
    let elsewhere = other.local_addr().expect("an address");
    for status in ["302 Found", "307 Temporary Redirect"] {
        let (port, received) = server(format!(
            "HTTP/1.1 {status}\r\nLocation: http://{elsewhere}/json_rpc\r\nContent-Length: 0\r\n\r\n"
        ));
        let outcome = ask(&Route::direct(PATIENCE), &format!("http://127.0.0.1:{port}"));
        let problem = outcome.expect_err("no answer").to_string();
        assert!(problem.ends_with(&format!("HTTP status {}", &status[..3])), "{problem}");
        assert!(received.join().expect("no panic").starts_with(b"POST /json_rpc "));
        assert!(other.accept().is_err(), "nobody asks the other server");
    }
}

#[test]
fn the_proxy_gets_the_name_of_the_node() {
    let (port, received) = server("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n".to_owned());
    let proxy = parse_proxy(&format!("http://127.0.0.1:{port}"));
    let route = Route { proxy, ..Route::direct(PATIENCE) };
    // No name server knows this name.
    assert!(ask(&route, "http://node.invalid:18081").is_err());
    // If the client asks elsewhere, this connection ends the server's wait: the test fails and does not hang.
    drop(TcpStream::connect(("127.0.0.1", port)));
    let received = String::from_utf8(received.join().expect("no panic")).expect("text");
    assert!(received.contains(" node.invalid:18081 "), "{received}");
}

#[test]
fn a_connection_with_the_users_authorities_begins_with_tls() {
    let (port, received) = server(String::new());
    let authorities = Authorities::parse(CERTIFICATE.as_bytes()).ok();
    assert!(authorities.is_some());
    let route = Route { authorities, ..Route::direct(PATIENCE) };
    assert!(ask(&route, &format!("https://127.0.0.1:{port}")).is_err());
    // A handshake record of TLS.
    assert_eq!(received.join().expect("no panic").first(), Some(&0x16));
}
