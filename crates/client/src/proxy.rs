//! The proxy through which other machines are reached.

use std::env;
use std::ffi::OsString;
use std::net::Ipv6Addr;

use thiserror::Error;
use ureq::{Proxy, ProxyProtocol};
use url::Host;

/// The variables of the environment that name a proxy. The first that is set counts.
const NAMES: [&str; 6] =
    ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// The variables that name hosts to reach without a proxy.
const EXCEPT: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The reason why a variable of the environment names no proxy. Its value may have a password, and is not shown.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{name}: expected the address of a proxy, such as socks5://127.0.0.1:9050")]
pub struct ProxyError {
    name: &'static str,
}

/// Parses the address of a proxy, such as `socks5://127.0.0.1:9050` or `http://user:password@host:8080`.
///
/// The proxy resolves the names of hosts: a name server would learn them, and knows no `.onion` name.
pub fn parse_proxy(address: &str) -> Option<Proxy> {
    resolving(address, &[])
}

/// Returns the proxy that the environment names, if it names one.
///
/// # Errors
///
/// If a variable is set and is not the address of a proxy. A request without the proxy would tell who asks.
pub fn environment_proxy() -> Result<Option<Proxy>, ProxyError> {
    named_by(|name| env::var_os(name))
}

fn named_by(variable: impl Fn(&str) -> Option<OsString>) -> Result<Option<Proxy>, ProxyError> {
    let set = |names: &[&'static str]| {
        let mut values = names.iter().filter_map(|&name| Some((name, variable(name)?)));
        values.find(|(_, value)| !value.is_empty())
    };
    let Some((name, address)) = set(&NAMES) else { return Ok(None) };
    let except = set(&EXCEPT).map(|(_, hosts)| hosts.to_string_lossy().into_owned());
    let hosts: Vec<&str> =
        except.iter().flat_map(|hosts| hosts.split(',')).map(str::trim).collect();
    let proxy = address.to_str().and_then(|address| resolving(address, &hosts));
    proxy.map(Some).ok_or(ProxyError { name })
}

/// Returns a proxy that resolves names, for all hosts but some.
fn resolving(address: &str, except: &[&str]) -> Option<Proxy> {
    let given = Proxy::new(address).ok()?;
    let protocol = match given.protocol() {
        ProxyProtocol::Socks4 => ProxyProtocol::Socks4A,
        ProxyProtocol::Socks5 => ProxyProtocol::Socks5h,
        other => other,
    };
    let mut proxy = Proxy::builder(protocol).host(given.host()).port(given.port());
    if let Some(name) = given.username() {
        proxy = proxy.username(name);
    }
    if let Some(password) = given.password() {
        proxy = proxy.password(password);
    }
    except.iter().fold(proxy, |proxy, host| proxy.no_proxy(&in_address(host))).build().ok()
}

/// Returns a host as it is written in an address: ureq compares texts, and an IPv6 address has brackets there.
fn in_address(host: &str) -> String {
    let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    literal
        .parse::<Ipv6Addr>()
        .map_or_else(|_| host.to_owned(), |address| Host::<String>::Ipv6(address).to_string())
}

#[cfg(test)]
mod tests {
    use ureq::http::Uri;
    use url::Url;

    use super::*;

    fn found(variables: &[(&str, &str)]) -> Result<Option<Proxy>, ProxyError> {
        named_by(|name| {
            let value = variables.iter().find(|(known, _)| *known == name);
            value.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn every_proxy_resolves_names() {
        for address in [
            "socks5://127.0.0.1:9050",
            "socks5h://127.0.0.1:9050",
            "socks://127.0.0.1:9050",
            "socks4://127.0.0.1:9050",
            "http://127.0.0.1:9050",
            "127.0.0.1:9050",
            "https://us%40er:pass%20word@[::1]:9050",
        ] {
            let proxy = parse_proxy(address).expect(address);
            assert!(!proxy.resolve_target(), "{address}");
            assert_eq!(proxy.port(), 9050, "{address}");
        }
        let proxy = parse_proxy("socks5://us%40er:pass%20word@[::1]").expect("a proxy");
        assert_eq!((proxy.username(), proxy.password()), (Some("us@er"), Some("pass word")));
        assert_eq!((proxy.host(), proxy.port()), ("[::1]", 1080));
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        assert_eq!(found(&[]), Ok(None));
        assert_eq!(found(&[("ALL_PROXY", ""), ("NO_PROXY", "a")]), Ok(None));
        let (first, second) = ("socks5://a:1", "http://b:2");
        let variables = [("http_proxy", second), ("all_proxy", first), ("ALL_PROXY", "")];
        let proxy = found(&variables).expect("an address").expect("a proxy");
        assert_eq!((proxy.host(), proxy.protocol()), ("a", ProxyProtocol::Socks5h));
    }

    #[test]
    fn hosts_can_be_excepted() {
        for (hosts, address, is_excepted) in [
            ("b, *.c", "http://b:18081", true),
            ("b,*.c", "http://a.c", true),
            ("b, *.c", "http://d", false),
            ("127.0.0.1", "http://127.0.0.1:18081", true),
            ("::1", "http://[::1]:18081", true),
            ("[::1]", "http://[::1]:18081", true),
            ("0:0::1", "http://[::1]", true),
            ("::1", "http://[::2]", false),
            ("::ffff:127.0.0.1", "http://[::ffff:127.0.0.1]", true),
        ] {
            let found = found(&[("ALL_PROXY", "socks5://a:1"), ("NO_PROXY", hosts)]);
            let proxy = found.expect("an address").expect("a proxy");
            let address = Url::parse(address).expect("an address");
            let uri = address.as_str().parse::<Uri>().expect("an address");
            assert_eq!(proxy.is_no_proxy(&uri), is_excepted, "{hosts}: {address}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused() {
        for address in ["sock5://a:1", "socks5://", " ", "ftp://a"] {
            for name in ["ALL_PROXY", "https_proxy"] {
                // Another variable is no way out.
                let refused = found(&[(name, address), ("http_proxy", "http://a:1")]);
                assert_eq!(refused, Err(ProxyError { name }), "{address}");
            }
        }
        assert_eq!(
            ProxyError { name: "ALL_PROXY" }.to_string(),
            "ALL_PROXY: expected the address of a proxy, such as socks5://127.0.0.1:9050",
        );
    }
}
