//! The settings of requests to other machines.

mod resolver;
mod tls;

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use ureq::config::ConfigBuilder;
use ureq::tls::{PemItem, parse_pem};
use ureq::typestate::AgentScope;
use ureq::unversioned::transport::{
    ConnectProxyConnector, Connector, DefaultConnector, SocksConnector, TcpConnector,
};
use ureq::{Agent, Proxy};

use crate::proxy::{ProxyError, environment_proxy};
use resolver::TimedResolver;

/// How other machines are reached.
#[derive(Clone, Debug)]
pub struct Route {
    /// The longest time from a request to the last byte of its answer.
    pub timeout: Duration,
    /// The proxy, if there is one.
    pub proxy: Option<Proxy>,
    /// The trusted certificates of TLS, in place of the public authorities.
    pub authorities: Option<Authorities>,
}

impl Route {
    /// Returns the way without a proxy, with the public authorities.
    pub fn direct(timeout: Duration) -> Route {
        Route { timeout, proxy: None, authorities: None }
    }

    /// Returns the way through the proxy that the environment names, if it names one, with the public
    /// authorities.
    ///
    /// # Errors
    ///
    /// If a variable is set and is not the address of a proxy.
    pub fn of_environment(timeout: Duration) -> Result<Route, ProxyError> {
        Ok(Route { proxy: environment_proxy()?, ..Route::direct(timeout) })
    }
}

/// Certificates that are trusted, whatever their names and dates, and valid ones that they have signed.
#[derive(Clone, Debug)]
pub struct Authorities(Arc<ClientConfig>);

impl Authorities {
    /// Parses the certificates in the PEM format.
    ///
    /// # Errors
    ///
    /// If there is no certificate, something else, or a certificate that cannot be parsed.
    pub fn parse(pem: &[u8]) -> Result<Authorities, String> {
        let expected = "expected certificates in the PEM format";
        let certificates = parse_pem(pem).map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Ok(certificate),
            Ok(_) => Err(format!("{expected}, got a key")),
            Err(problem) => Err(format!("{expected}: {problem}")),
        });
        let certificates = certificates.collect::<Result<Vec<_>, String>>()?;
        if certificates.is_empty() {
            return Err(format!("{expected}, got none"));
        }
        let certificates: Vec<_> =
            certificates.iter().map(|item| CertificateDer::from(item.der())).collect();
        Ok(Authorities(Arc::new(tls::settings(&certificates)?)))
    }
}

/// Settings of an HTTP client for nodes and relays.
pub struct AgentSettings {
    config: ConfigBuilder<AgentScope>,
    authorities: Option<Authorities>,
}

/// Returns the settings of an HTTP client for nodes and relays.
///
/// The client follows no redirection, which would lead to a node that nobody named, and returns
/// answers of every status.
pub fn agent_settings(route: &Route) -> AgentSettings {
    let config = Agent::config_builder()
        .timeout_global(Some(route.timeout))
        .proxy(route.proxy.clone())
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false);
    AgentSettings { config, authorities: route.authorities.clone() }
}

impl AgentSettings {
    /// Sets the number of idle connections that are kept.
    pub fn max_idle_connections(self, count: usize) -> AgentSettings {
        AgentSettings { config: self.config.max_idle_connections(count), ..self }
    }

    /// Sets the number of idle connections to one host that are kept.
    pub fn max_idle_connections_per_host(self, count: usize) -> AgentSettings {
        AgentSettings { config: self.config.max_idle_connections_per_host(count), ..self }
    }

    /// Returns a client with these settings.
    pub fn new_agent(self) -> Agent {
        let config = self.config.build();
        let resolver = TimedResolver::default();
        let Some(Authorities(settings)) = self.authorities else {
            return Agent::with_parts(config, DefaultConnector::default(), resolver);
        };
        // As ureq's own chain, with another connector for TLS.
        let connector =
            ().chain(SocksConnector::default())
                .chain(ConnectProxyConnector::default())
                .chain(TcpConnector::default())
                .chain(tls::TlsConnector(settings));
        Agent::with_parts(config, connector, resolver)
    }
}

#[cfg(test)]
mod tests {
    use super::tls::tests::{AUTHORITY, VERSION_1};
    use super::*;

    #[test]
    fn authorities_are_certificates() {
        let both = [AUTHORITY[0], VERSION_1[0]];
        assert!(Authorities::parse(both.join("\n").as_bytes()).is_ok());
        let damaged = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
        let mistyped = VERSION_1[0].replace("MIIBFDCBuwIU", "MIIBFDCBuwIV");
        for (pem, reason) in [
            (String::new(), "got none"),
            ("a certificate".to_owned(), "got none"),
            (AUTHORITY[1].to_owned(), "got a key"),
            (format!("{}\n{}", both[0], &both[1][..40]), "PEM format: "),
            (damaged.to_owned(), "certificate 1 cannot be parsed"),
            (format!("{}\n{damaged}", both.join("\n")), "certificate 3 cannot be parsed"),
            (mistyped, "certificate 1 cannot be parsed"),
        ] {
            let problem = Authorities::parse(pem.as_bytes()).expect_err(reason);
            assert!(problem.contains(reason), "{problem}");
        }
    }
}
