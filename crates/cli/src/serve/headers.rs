//! Headers of every answer: the page's policy, isolation from other sites' pages, and caching.

use std::collections::BTreeMap;

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::Next,
    response::Response,
};

use crate::error::Error;

/// The list of headers: a copy of `web/headers.json`, which the page's own build reads.
const LIST: &str = include_str!("../../headers.json");

/// The folder whose files have a hash of their content in their names.
const NAMED_BY_CONTENT: &str = "/assets/";

/// Parses the list of headers that do not depend on the request.
pub(crate) fn all() -> Result<HeaderMap, Error> {
    let wrong = |problem: String| Error::Serve(format!("headers.json: {problem}"));
    let list: BTreeMap<String, Vec<String>> =
        serde_json::from_str(LIST).map_err(|problem| wrong(problem.to_string()))?;
    list.into_iter()
        .map(|(name, parts)| {
            let value = parts.join("; ");
            let header = name.parse::<HeaderName>().ok().zip(HeaderValue::from_str(&value).ok());
            header.ok_or_else(|| wrong(format!("{name}: expected a header's name and value")))
        })
        .collect()
}

/// Says how long an answer may be cached.
pub(crate) async fn add_caching(request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let caching = if path.starts_with("/api") {
        "no-store"
    } else if path.starts_with(NAMED_BY_CONTENT) {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let mut response = next.run(request).await;
    let found = response.status().is_success() || response.status().is_redirection();
    let caching = if found { caching } else { "no-store" };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_parsed() {
        let headers = all().expect("a list");
        let policy = headers["content-security-policy"].to_str().expect("text");
        assert!(policy.starts_with("default-src 'none'; script-src 'self' "), "{policy}");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers.len(), 6);
    }
}
