//! Accepts requests only from this server's own pages and from programs, and only under its own name.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use randomx_http::Names;

use super::{
    Server,
    failure::{Code, Failure},
};

/// Passes permitted requests on, and refuses the others.
pub(crate) async fn guard(
    State(server): State<Arc<Server>>,
    request: Request,
    next: Next,
) -> Response {
    match check(server.names, &request) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    }
}

fn check(names: Names, request: &Request) -> Result<(), Failure> {
    let refuse = |what: &str| Err(Failure::new(Code::Forbidden, what));
    let headers = request.headers();
    let Some(host) = only(headers, header::HOST.as_str()) else {
        return refuse("Host: expected one header");
    };
    // The request line may name a server too.
    let named = request.uri().authority().is_none_or(|named| named.as_str() == host);
    if !named || !names.is_own_host(host) {
        return refuse("Host: expected a name of this server");
    }
    if headers.contains_key(header::ORIGIN) {
        let origin = only(headers, header::ORIGIN.as_str());
        if !origin.is_some_and(|origin| names.is_own_origin(origin, host)) {
            return refuse("Origin: expected this server's, or none");
        }
    }
    if headers.contains_key("sec-fetch-site") {
        let site = only(headers, "sec-fetch-site").unwrap_or_default();
        if !matches!(site, "same-origin" | "none") && !opens_the_page(request) {
            return refuse("Sec-Fetch-Site: expected a page of this server");
        }
    }
    Ok(())
}

/// Whether a browser follows a link to the page, which may be on another site.
fn opens_the_page(request: &Request) -> bool {
    let is = |name: &str, value: &str| only(request.headers(), name) == Some(value);
    request.method() == Method::GET
        && !request.uri().path().starts_with("/api")
        && is("sec-fetch-mode", "navigate")
        && is("sec-fetch-dest", "document")
}

/// The value of a header that occurs exactly once.
fn only<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value)?.to_str().ok()
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn passes(method: &str, path: &str, headers: &[(&str, &str)]) -> bool {
        let names = Names::new("127.0.0.1:4173".parse().expect("an address"));
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        check(names, &request.body(Body::empty()).expect("a request")).is_ok()
    }

    const HOST: (&str, &str) = ("host", "localhost:4173");

    #[test]
    fn programs_and_own_pages_are_accepted() {
        let origin = ("origin", "http://localhost:4173");
        assert!(passes("POST", "/api/hash", &[HOST]));
        assert!(passes("POST", "/api/hash", &[HOST, origin, ("sec-fetch-site", "same-origin")]));
        assert!(passes("GET", "/", &[HOST, ("sec-fetch-site", "none")]));
        assert!(passes("GET", "http://localhost:4173/", &[HOST]));
    }

    #[test]
    fn other_sites_are_refused() {
        assert!(!passes("GET", "/", &[]));
        assert!(!passes("GET", "/", &[HOST, HOST]));
        assert!(!passes("GET", "/", &[("host", "evil.example:4173")]));
        assert!(!passes("GET", "http://evil.example/", &[HOST]));
        assert!(!passes("POST", "/api/hash", &[HOST, ("origin", "http://evil.example")]));
        assert!(!passes("POST", "/api/hash", &[HOST, ("origin", "null")]));
        for site in ["cross-site", "same-site", "", "other"] {
            assert!(!passes("GET", "/api/info", &[HOST, ("sec-fetch-site", site)]), "{site}");
        }
    }

    #[test]
    fn a_link_on_another_site_can_open_only_the_page() {
        let link = [
            HOST,
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate"),
            ("sec-fetch-dest", "document"),
        ];
        assert!(passes("GET", "/", &link));
        assert!(!passes("GET", "/api/info", &link));
        assert!(!passes("POST", "/", &link));
        assert!(!passes("GET", "/", &link[..2]));
    }
}
