//! TLS with certificates that the user trusts.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{self, CryptoProvider, WebPkiSupportedAlgorithms, ring};
use rustls::pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme, StreamOwned,
};
use ureq::unversioned::transport::time::{Duration, Instant};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};
use webpki::{RawPublicKeyEntity, anchor_from_trusted_cert};

/// Returns the settings of TLS that trust these certificates alone, or the reason why one cannot be used.
pub(super) fn settings(certificates: &[CertificateDer<'_>]) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier::new(certificates, &provider)?;
    let settings =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let settings = settings.map_err(|problem| problem.to_string())?;
    let settings = settings.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    Ok(settings.with_no_client_auth())
}

/// Accepts a server with one of the trusted certificates, or with a certificate that one of them signed.
///
/// The first case is for certificates that are never valid otherwise. OpenSSL makes self-signed ones as
/// certificates of authorities, and those of Monero's nodes have version 1 and no names.
#[derive(Debug)]
struct Verifier {
    trusted: Vec<Trusted>,
    /// Verifies chains of certificates.
    chains: Arc<WebPkiServerVerifier>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// A trusted certificate.
#[derive(Debug)]
struct Trusted {
    certificate: CertificateDer<'static>,
    key: SubjectPublicKeyInfoDer<'static>,
}

impl Verifier {
    fn new(
        certificates: &[CertificateDer<'_>],
        provider: &Arc<CryptoProvider>,
    ) -> Result<Verifier, String> {
        let (mut roots, mut trusted) = (RootCertStore::empty(), Vec::new());
        for (certificate, number) in certificates.iter().zip(1..) {
            let malformed = || format!("certificate {number} cannot be parsed");
            trusted.push(Trusted::new(certificate).ok_or_else(malformed)?);
            roots.add(certificate.clone().into_owned()).map_err(|_| malformed())?;
        }
        let chains =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider));
        let chains = chains.build().map_err(|problem| problem.to_string())?;
        let algorithms = provider.signature_verification_algorithms;
        Ok(Verifier { trusted, chains, algorithms })
    }

    fn find(&self, certificate: &CertificateDer<'_>) -> Option<&Trusted> {
        self.trusted.iter().find(|trusted| trusted.certificate == *certificate)
    }
}

impl Trusted {
    /// Returns a certificate with its key, unless it cannot be parsed.
    fn new(certificate: &CertificateDer<'_>) -> Option<Trusted> {
        // Parses version 1 too, other than the functions for servers' certificates.
        let anchor = anchor_from_trusted_cert(certificate).ok()?;
        let key = sequence(&anchor.subject_public_key_info)?.into();
        Some(Trusted { certificate: certificate.clone().into_owned(), key })
    }
}

/// Returns a sequence in DER, given its content.
fn sequence(content: &[u8]) -> Option<Vec<u8>> {
    let [high, low] = u16::try_from(content.len()).ok()?.to_be_bytes();
    let head: &[u8] = match (high, low) {
        (0, 0..0x80) => &[0x30, low],
        (0, _) => &[0x30, 0x81, low],
        _ => &[0x30, 0x82, high, low],
    };
    Some([head, content].concat())
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.find(certificate).is_some() {
            return Ok(ServerCertVerified::assertion());
        }
        self.chains.verify_server_cert(certificate, intermediates, name, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let Some(Trusted { key, .. }) = self.find(certificate) else {
            return crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms);
        };
        let invalid = || Error::from(CertificateError::BadSignature);
        let key = RawPublicKeyEntity::try_from(key).map_err(|_| invalid())?;
        let mut fitting =
            self.algorithms.mapping.iter().filter(|(scheme, _)| *scheme == signed.scheme);
        // A scheme of TLS 1.2 names no curve. An algorithm fails if the key has another one.
        let mut algorithms = fitting.next().into_iter().flat_map(|(_, algorithms)| *algorithms);
        let is_valid = |algorithm: &&dyn rustls::pki_types::SignatureVerificationAlgorithm| {
            key.verify_signature(*algorithm, message, signed.signature()).is_ok()
        };
        algorithms.any(is_valid).then(HandshakeSignatureValid::assertion).ok_or_else(invalid)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.find(certificate) {
            Some(Trusted { key, .. }) => {
                crypto::verify_tls13_signature_with_raw_key(message, key, signed, &self.algorithms)
            }
            None => crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Adds TLS to connections, as ureq's own connector does, which accepts no verifier.
#[derive(Debug)]
pub(super) struct TlsConnector(pub(super) Arc<ClientConfig>);

impl<T: Transport> Connector<T> for TlsConnector {
    type Out = Either<T, TlsTransport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<T>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        let Some(transport) = chained else { return Ok(None) };
        if !details.needs_tls() || transport.is_tls() {
            return Ok(Some(Either::A(transport)));
        }
        let host = details.uri.host().unwrap_or_default();
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| ureq::Error::Tls("the node's name is not valid"))?;
        let mut connection = ClientConnection::new(Arc::clone(&self.0), name)?;
        let clock = Arc::clone(&details.current_time);
        let timeout = left(details.timeout, details.now, clock());
        let mut socket = TransportAdapter::new(transport.boxed(), clock);
        socket.set_timeout(timeout);
        connection.complete_io(&mut socket)?;
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        let stream = StreamOwned { conn: connection, sock: socket };
        Ok(Some(Either::B(TlsTransport { buffers, stream })))
    }
}

/// Returns what is left of a timeout that began before the connection was made.
fn left(timeout: NextTimeout, began: Instant, now: Instant) -> NextTimeout {
    match (timeout.after, began, now) {
        (Duration::Exact(after), Instant::Exact(began), Instant::Exact(now)) => {
            let after = after.saturating_sub(now.saturating_duration_since(began)).into();
            NextTimeout { after, ..timeout }
        }
        _ => timeout,
    }
}

/// A connection with TLS.
pub(super) struct TlsTransport {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl std::fmt::Debug for TlsTransport {
    fn fmt(&self, text: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        text.debug_struct("TlsTransport").finish_non_exhaustive()
    }
}

impl Transport for TlsTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        let output = &self.buffers.output()[..amount];
        Ok(std::io::Write::write_all(&mut self.stream, output)?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, ureq::Error> {
        self.stream.sock.set_timeout(timeout);
        let input = self.buffers.input_append_buf();
        let amount = std::io::Read::read(&mut self.stream, input)?;
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rustls::pki_types::PrivateKeyDer;
    use rustls::pki_types::pem::PemObject;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use rustls::version::{TLS12, TLS13};
    use rustls::{ServerConfig, ServerConnection, SupportedProtocolVersion};

    use super::*;

    /// Self-signed certificates with their keys, by OpenSSL until 2126: one of an authority, and one of
    /// version 1.
    pub(in crate::agent) const AUTHORITY: [&str; 2] = [
        "-----BEGIN CERTIFICATE-----\n\
         MIIBbzCCARWgAwIBAgIUW1TMA/YxTp4d6vqLJTnbQczMBXUwCgYIKoZIzj0EAwIw\n\
         DDEKMAgGA1UEAwwBYTAgFw0yNjExMjYxNDQ5MTVaGA8yMTI2MTEwMjE0NDkxNVow\n\
         DDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOD23unwn5cN\n\
         tlXIdJnPME9UnWjgC5krFbwXaZZa1RJ7XnA6xw3FROkPhx2m3vvZYLG1ke2H/GA9\n\
         nrpkjzx5v/KjUzBRMB0GA1UdDgQWBBRa5mkvEwwQyZD97FbU20heolzdBjAfBgNV\n\
         HSMEGDAWgBRa5mkvEwwQyZD97FbU20heolzdBjAPBgNVHRMBAf8EBTADAQH/MAoG\n\
         CCqGSM49BAMCA0gAMEUCIQCKK4UYMkxWBzPp1Yxj1dpyejBvkvxcW+I6sXvs6arn\n\
         6wIgduLFcKWqWJM9IzQ6NycYieRKbcCASapGkGNGj+12PGw=\n\
         -----END CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\n\
         MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/ICuVaa5B3miUwL9\n\
         /FYbl1nNSWaXcrDsZgjbYgVQlN+hRANCAATg9t7p8J+XDbZVyHSZzzBPVJ1o4AuZ\n\
         KxW8F2mWWtUSe15wOscNxUTpD4cdpt772WCxtZHth/xgPZ66ZI88eb/y\n\
         -----END PRIVATE KEY-----",
    ];
    pub(in crate::agent) const VERSION_1: [&str; 2] = [
        "-----BEGIN CERTIFICATE-----\n\
         MIIBFDCBuwIUaCosHxTLvWtl5IU5Pd6ZBSd5pYUwCgYIKoZIzj0EAwIwDDEKMAgG\n\
         A1UEAwwBYjAgFw0yNjExMjYxNDQ5MTVaGA8yMTI2MTEwMjE0NDkxNVowDDEKMAgG\n\
         A1UEAwwBYjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABHWRbI2Y2QfJcHCusIT5\n\
         8EbN+w3BVLwe2+XjZfE/zPnXtT2hNkFLMxM1v/mO/Otmb7KbLxqRSa6i42zGIoa8\n\
         oRswCgYIKoZIzj0EAwIDSAAwRQIhANfZy+MOIOQ8KhBcnELK3yRDoCKqcC04hyDj\n\
         3+3tA71EAiAWO1D8JEHrnoUgpxaHL9CbA3DeLMbKhRkmx3v8jfbmtA==\n\
         -----END CERTIFICATE-----",
        "-----BEGIN PRIVATE KEY-----\n\
         MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgAEOjFL3ZR7G2i36P\n\
         8MUcdEoYzHPNGAKITzlYr39+kiKhRANCAAR1kWyNmNkHyXBwrrCE+fBGzfsNwVS8\n\
         Htvl42XxP8z517U9oTZBSzMTNb/5jvzrZm+ymy8akUmuouNsxiKGvKEb\n\
         -----END PRIVATE KEY-----",
    ];

    fn certificate(pem: &str) -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(pem.as_bytes()).expect("a certificate")
    }

    #[derive(Debug)]
    struct Presented(Arc<CertifiedKey>);

    impl ResolvesServerCert for Presented {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            Some(Arc::clone(&self.0))
        }
    }

    /// Connects to a server that presents a certificate, and signs with a key.
    fn connect(
        trusted: &[&str],
        presented: &str,
        key: &str,
        version: &'static SupportedProtocolVersion,
    ) -> Result<(), Error> {
        let trusted: Vec<_> = trusted.iter().map(|pem| certificate(pem)).collect();
        let settings = settings(&trusted).expect("settings");
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).expect("a key");
        let key = ring::sign::any_supported_type(&key).expect("a key");
        let presented = Presented(Arc::new(CertifiedKey::new(vec![certificate(presented)], key)));
        let server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(presented));
        let mut server = ServerConnection::new(Arc::new(server))?;
        let name = ServerName::try_from("another.example").expect("a name");
        let mut client = ClientConnection::new(Arc::new(settings), name)?;
        let mut bytes = Vec::new();
        while client.is_handshaking() || server.is_handshaking() {
            client.write_tls(&mut bytes).expect("memory");
            server.read_tls(&mut &bytes[..]).expect("memory");
            bytes.clear();
            server.process_new_packets()?;
            server.write_tls(&mut bytes).expect("memory");
            client.read_tls(&mut &bytes[..]).expect("memory");
            bytes.clear();
            client.process_new_packets()?;
        }
        Ok(())
    }

    #[test]
    fn trusted_certificates_are_those_of_servers_too() {
        for version in [&TLS12, &TLS13] {
            for [certificate, key] in [AUTHORITY, VERSION_1] {
                let both = [AUTHORITY[0], VERSION_1[0]];
                assert_eq!(connect(&[certificate], certificate, key, version), Ok(()));
                assert_eq!(connect(&both, certificate, key, version), Ok(()));
            }
        }
    }

    #[test]
    fn a_timeout_includes_the_time_before_the_handshake() {
        let began = std::time::Instant::now();
        let timeout = NextTimeout { after: Duration::from_secs(10), ..NextTimeout::default() };
        for (passed, rest) in [(0, 10), (9, 1), (11, 0)] {
            let now = began + std::time::Duration::from_secs(passed);
            let left = left(timeout, Instant::Exact(began), Instant::Exact(now));
            assert_eq!(left.after, Duration::from_secs(rest));
        }
    }

    #[test]
    fn other_certificates_and_other_keys_are_refused() {
        for version in [&TLS12, &TLS13] {
            for (trusted, other) in [(AUTHORITY, VERSION_1), (VERSION_1, AUTHORITY)] {
                let unknown = connect(&[trusted[0]], other[0], other[1], version);
                assert!(matches!(unknown, Err(Error::InvalidCertificate(_))), "{unknown:?}");
                let stolen = connect(&[trusted[0]], trusted[0], other[1], version);
                let expected = Err(Error::InvalidCertificate(CertificateError::BadSignature));
                assert_eq!(stolen, expected);
            }
        }
    }
}
