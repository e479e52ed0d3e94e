//! The names by which requests may address this server.
//!
//! A page of another site can make a browser send requests here. If that site points a name of its
//! own to this computer's address (DNS rebinding), it could read the answers too. Such a request has
//! that site's name in `Host` or in `Origin`.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;

/// The port of a URL without one.
const HTTP: u16 = 80;

/// The names of this server, which follow from the address that it listens on.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    bound: SocketAddr,
}

impl Names {
    /// Returns the names of a server that listens on this address.
    pub fn new(bound: SocketAddr) -> Names {
        Names { bound }
    }

    /// Whether `host`, as in the header `Host`, is this server.
    pub fn is_own_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let own_port = authority.port_u16().unwrap_or(HTTP) == self.bound.port();
        own_port && is_name_and_port(host, authority.host()) && self.is_own_name(authority.host())
    }

    /// Whether `origin`, as in the header `Origin`, is a page of this server under the name `host`.
    pub fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        origin.strip_prefix("http://").is_some_and(|from| from.eq_ignore_ascii_case(host))
    }

    fn is_own_name(&self, name: &str) -> bool {
        let bound = self.bound.ip();
        if name.eq_ignore_ascii_case("localhost") {
            return bound.is_loopback() || bound.is_unspecified();
        }
        let literal = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let Ok(address) = literal.unwrap_or(name).parse::<IpAddr>() else { return false };
        if bound.is_loopback() {
            address.is_loopback()
        } else {
            // DNS cannot redirect a numeric address.
            bound.is_unspecified() || address == bound
        }
    }
}

/// Whether `host` has nothing besides this name and a port. The parser allows for user names, and for
/// several ports and addresses in a row.
fn is_name_and_port(host: &str, name: &str) -> bool {
    host.strip_prefix(name).is_some_and(|rest| {
        let port = rest.strip_prefix(':').unwrap_or(rest);
        port.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(bound: &str) -> Names {
        Names::new(bound.parse().expect("an address"))
    }

    #[test]
    fn a_loopback_server_has_only_loopback_names() {
        let own = names("127.0.0.1:4173");
        for host in ["127.0.0.1:4173", "localhost:4173", "LOCALHOST:4173", "[::1]:4173"] {
            assert!(own.is_own_host(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:80",
            "localhost:41730",
            "evil.example:4173",
            "localhost.evil.example:4173",
            "127.0.0.1.evil.example:4173",
            "192.168.0.1:4173",
            "evil@localhost:4173",
            // Found by fuzzing.
            "localhost:4173[::1]:4173",
            "localhost:4173@evil.example",
            "localhost:4173/",
            "http://localhost:4173",
            "[::1:4173",
            "0x7f000001:4173",
            "\u{e9}:4173",
        ] {
            assert!(!own.is_own_host(host), "{host}");
        }
    }

    #[test]
    fn the_default_port_can_be_left_out() {
        assert!(names("127.0.0.1:80").is_own_host("localhost"));
        assert!(names("127.0.0.1:80").is_own_host("localhost:80"));
    }

    #[test]
    fn other_servers_have_only_numeric_names() {
        assert!(names("192.168.0.1:9").is_own_host("192.168.0.1:9"));
        for host in ["192.168.0.2:9", "localhost:9", "evil.example:9"] {
            assert!(!names("192.168.0.1:9").is_own_host(host), "{host}");
        }
        for host in ["192.168.0.2:9", "localhost:9", "[fe80::1]:9"] {
            assert!(names("0.0.0.0:9").is_own_host(host), "{host}");
        }
        assert!(!names("0.0.0.0:9").is_own_host("evil.example:9"));
    }

    #[test]
    fn the_origin_has_the_name_of_the_request() {
        let own = names("127.0.0.1:4173");
        assert!(own.is_own_origin("http://localhost:4173", "localhost:4173"));
        for origin in [
            "null",
            "",
            "https://localhost:4173",
            "http://localhost:4174",
            "http://127.0.0.1:4173",
            "http://localhost:4173.evil.example",
            "http://evil.example",
        ] {
            assert!(!own.is_own_origin(origin, "localhost:4173"), "{origin}");
        }
    }
}
