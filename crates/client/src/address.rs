//! The addresses of servers.

use url::Url;

/// Parses the address of an HTTP server without a login. Drops what no server gets: a query and a fragment.
pub(crate) fn http_address(text: &str, example: &str) -> Result<Url, String> {
    let mut address = Url::parse(text)
        .map_err(|problem| format!("{problem}; expected something like {example}"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(format!("expected http or https, got {}", address.scheme()));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err("expected an address without a login".to_owned());
    }
    address.set_query(None);
    address.set_fragment(None);
    Ok(address)
}
