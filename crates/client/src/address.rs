//! The addresses of servers.

use url::Url;

/// Parses the address of an HTTP server without a login. Drops what no server gets: a query and a fragment.
pub(crate) fn http_address(text: &str, example: &str) -> Result<Url, String> {
    let mut address = Url::parse(text)
        .map_err(|problem| format!("{problem}; expected something like {example}"))?;
    let scheme = address.scheme();
    if !matches!(scheme, "http" | "https") {
        // In `name:password@host` the scheme is a login's name, and no message shows a login.
        let given = if text.contains('@') { String::new() } else { format!(", got {scheme}") };
        return Err(format!("expected http or https{given}"));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err("expected an address without a login".to_owned());
    }
    address.set_query(None);
    address.set_fragment(None);
    Ok(address)
}
