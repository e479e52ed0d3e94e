//! The addresses of hosts.

use std::io;
use std::net::SocketAddr;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::NextTimeout;
use ureq::unversioned::transport::time::Duration;

/// Resolves names within a time, as ureq's own resolver does. That one starts a thread even for an IP
/// address, and panics if the system refuses the thread.
#[derive(Debug)]
pub(super) struct TimedResolver {
    /// Returns the settings of the thread that waits for the system.
    builder: fn() -> thread::Builder,
}

impl Default for TimedResolver {
    fn default() -> TimedResolver {
        TimedResolver { builder: thread::Builder::new }
    }
}

impl Resolver for TimedResolver {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, Error> {
        // Without a limit, ureq's resolver starts no thread.
        let unlimited = NextTimeout { after: Duration::NotHappening, ..timeout };
        if timeout.after.is_not_happening() || is_ip_address(uri) {
            return DefaultResolver::default().resolve(uri, config, unlimited);
        }
        let (uri, config) = (uri.clone(), config.clone());
        self.within(timeout, move || DefaultResolver::default().resolve(&uri, &config, unlimited))
    }
}

impl TimedResolver {
    /// Waits for a thread that resolves a name. A thread that takes too long goes on, since nothing can
    /// stop it.
    fn within<T: Send + 'static>(
        &self,
        timeout: NextTimeout,
        resolve: impl FnOnce() -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (sender, found) = mpsc::sync_channel(1);
        // The receiver has gone if the time is over.
        let thread = (self.builder)().spawn(move || drop(sender.send(resolve())));
        thread.map_err(|problem| {
            io::Error::other(format!("cannot start a thread to resolve the name: {problem}"))
        })?;
        match found.recv_timeout(*timeout.after) {
            Ok(found) => found,
            Err(RecvTimeoutError::Timeout) => Err(Error::Timeout(timeout.reason)),
            Err(RecvTimeoutError::Disconnected) => {
                Err(io::Error::other("the thread that resolves the name panicked").into())
            }
        }
    }
}

/// Whether the host is an IP address, which needs no name server.
fn is_ip_address(uri: &Uri) -> bool {
    let (Some(scheme), Some(authority)) = (uri.scheme(), uri.authority()) else { return false };
    DefaultResolver::host_and_port(scheme, authority)
        .is_some_and(|host| host.parse::<SocketAddr>().is_ok())
}

#[cfg(test)]
mod tests {
    use ureq::Timeout;

    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn limit(after: Duration) -> NextTimeout {
        NextTimeout { after, reason: Timeout::Resolve, ..NextTimeout::default() }
    }

    fn resolve(resolver: &TimedResolver, uri: &str, after: Duration) -> Result<Vec<String>, Error> {
        let uri = uri.parse().expect("an address");
        let addresses = resolver.resolve(&uri, &Config::default(), limit(after))?;
        Ok(addresses.iter().map(|address| address.to_string()).collect())
    }

    #[test]
    fn only_names_need_a_thread() {
        let impossible = || thread::Builder::new().stack_size(usize::MAX / 4);
        let resolver = TimedResolver { builder: impossible };
        for (uri, address) in [
            ("http://127.0.0.1:18081/json_rpc", "127.0.0.1:18081"),
            ("https://127.0.0.1", "127.0.0.1:443"),
            ("http://[::1]:18081", "[::1]:18081"),
            ("socks5://127.0.0.1", "127.0.0.1:1080"),
        ] {
            assert_eq!(resolve(&resolver, uri, MINUTE).expect(uri), [address]);
        }
        let refused = resolve(&resolver, "http://localhost:18081", MINUTE).expect_err("no thread");
        let sentence = "io: cannot start a thread to resolve the name: ";
        assert!(refused.to_string().starts_with(sentence), "{refused}");
        assert!(resolve(&resolver, "http://localhost:1", Duration::NotHappening).is_ok());
    }

    #[test]
    fn names_are_resolved() {
        let resolver = TimedResolver::default();
        let found = resolve(&resolver, "http://localhost:18081", MINUTE).expect("addresses");
        let loopback = ["127.0.0.1:18081", "[::1]:18081"];
        assert!(found.iter().any(|found| loopback.contains(&&**found)), "{found:?}");
        let invalid = resolve(&resolver, "localhost", MINUTE);
        assert!(matches!(invalid, Err(Error::BadUri(_))), "{invalid:?}");
    }

    #[test]
    fn late_threads_and_panics_are_errors() {
        let resolver = TimedResolver::default();
        let (sender, receiver) = mpsc::channel::<()>();
        let wait = move || Ok(receiver.recv().is_ok());
        let late = resolver.within(limit(Duration::from_millis(20)), wait);
        assert!(matches!(late, Err(Error::Timeout(Timeout::Resolve))), "{late:?}");
        drop(sender);
        let panicked = resolver.within::<()>(limit(MINUTE), || panic!("a defect"));
        let panicked = panicked.expect_err("no addresses").to_string();
        assert_eq!(panicked, "io: the thread that resolves the name panicked");
    }
}
