//! The settings of requests to other machines.

use std::time::Duration;

use ureq::config::ConfigBuilder;
use ureq::typestate::AgentScope;
use ureq::{Agent, Proxy};

/// Returns the settings of an HTTP client for nodes and relays. `timeout` counts from the request to
/// the last byte.
///
/// The client follows no redirection, which would lead to a node that nobody named, and returns
/// answers of every status. A proxy takes the place of the one that the environment names.
pub fn agent_settings(timeout: Duration, proxy: Option<&Proxy>) -> ConfigBuilder<AgentScope> {
    let settings = Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false);
    match proxy {
        Some(proxy) => settings.proxy(Some(proxy.clone())),
        None => settings,
    }
}
