//! A guard: the follower, the nodes and the server together.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use randomx_client::{Follower, FollowerError, Hasher, Route, Source, Store, StoreFileError};
use randomx_files::remove_leftovers;
use randomx_http::Server;
use randomx_monero::Network;
use randomx_monero::client::{Config, Report, SourceId, SourceState, Start, Tip};
use thiserror::Error;
use url::Url;

use crate::archive::{Archive, Connect, REQUEST_PATIENCE};
use crate::chain::{Chain, View};
use crate::following::{Following, Seen, now};
use crate::journal::{Journal, is_evidence, keep_in};
use crate::nodes::Nodes;
use crate::routes;
use crate::service::{Service, SourceStatus};

/// The folder of older headers in the store's folder.
const HEADERS: &str = "older-headers";

/// Its name in older stores. A relay has a file of this name in its store.
const FORMER_HEADERS: &str = "headers";

/// The settings of a guard.
pub struct Setup<'a> {
    /// How the chain is followed.
    pub config: Config,
    /// Where the chain begins if nothing is stored.
    pub start: Start,
    /// The addresses of nodes, as [`node::address`](randomx_client::node::address) returns them.
    pub nodes: Vec<Url>,
    /// The addresses of relays.
    pub relays: Vec<Url>,
    /// How nodes and relays are reached.
    pub route: Route,
    /// The folder for the chain's state, older headers and evidence.
    pub store: &'a Path,
    /// Receives lines for people.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// A guard. It follows the chain while [`Guard::step`] is called, and answers wallets while the server
/// that [`Guard::listen`] returns is kept.
///
/// When it is dropped, the threads that read headers end after their current requests to sources. Neither they nor
/// requests of wallets write to the store any more. Such a request can outlive the guard and its server by minutes.
pub struct Guard {
    follower: Follower,
    service: Arc<Service>,
    names: Vec<String>,
    network: Network,
    /// The tip that requests see.
    shown: Option<Tip>,
    following: Following,
}

impl Guard {
    /// Opens the store, and starts to follow the chain.
    ///
    /// # Errors
    ///
    /// If the store cannot be used, its state is refused, or threads cannot be started.
    pub fn new(setup: Setup<'_>, hasher: impl Hasher + 'static) -> Result<Guard, GuardError> {
        let Setup { config, start, nodes, relays, route, store, log } = setup;
        let network = config.network;
        let following = Following::new(config.poll, route.timeout);
        let journal = Arc::new(Journal::new(log, keep_in(store.to_owned())));
        let sources = || -> Vec<Source> {
            let nodes = nodes.iter().map(|url| Source::node(&route, url));
            nodes.chain(relays.iter().map(|url| Source::relay(&route, url))).collect()
        };
        let names = nodes.iter().chain(&relays).map(Url::to_string).collect();
        let remote = Nodes::new(&nodes, &route, Arc::clone(&journal));
        let opened = Store::open(store)?;
        let archive = Arc::new(Archive::new(headers_folder(store), REQUEST_PATIENCE));
        // No other process writes to the store, which is locked.
        remove_leftovers(store, is_evidence);
        archive.remove_leftovers();
        let follower = Follower::new(config, start, sources(), hasher, Some(opened))?;
        let connect = |source: fn(&Route, &Url) -> Source, url: &Url| -> Connect {
            let (route, url) = (route.clone(), url.clone());
            Box::new(move |time| {
                let timeout = route.timeout.min(time);
                source(&Route { timeout, ..route.clone() }, &url)
            })
        };
        // Relays have headers at hand, nodes must be asked for whole blocks.
        let older = relays.iter().map(|url| connect(Source::relay, url));
        let older = older.chain(nodes.iter().map(|url| connect(Source::node, url)));
        let older: Vec<Connect> = older.collect();
        let (filled, noted) = (Arc::clone(&archive), Arc::clone(&journal));
        let work = move || filled.run(&older, &noted);
        thread::Builder::new().spawn(work).map_err(GuardError::Threads)?;
        let service = Service::new(Chain::new(archive), remote, journal);
        let service = Arc::new(service);
        let mut guard = Guard { follower, service, names, network, shown: None, following };
        guard.show();
        Ok(guard)
    }

    /// Answers wallets at an address until the returned server is dropped.
    ///
    /// # Errors
    ///
    /// If the address is not available, or threads cannot be started.
    pub fn listen(&self, address: SocketAddr) -> Result<Server, GuardError> {
        let service = Arc::clone(&self.service);
        let router = |bound| routes::router(service, bound);
        Server::start_with(address, router, routes::settings())
            .map_err(|problem| GuardError::Listen { address, problem })
    }

    /// Returns the follower.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// Returns the addresses of the sources, in the order of the follower's.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Follows the chain for a second at most, and returns what is to be reported.
    ///
    /// The second value is an error if the state cannot be stored or a thread has ended. Requests then go on seeing the
    /// state from before this step.
    pub fn step(&mut self) -> (Vec<Report>, Result<(), GuardError>) {
        let (reports, outcome) = self.follower.step();
        for report in &reports {
            if let Report::Source { source, state: SourceState::Invalid { reason, .. } } = report {
                self.service.nodes.drop_node(source.index(), reason);
            }
        }
        if outcome.is_ok() {
            self.show();
        }
        (reports, outcome.map_err(GuardError::from))
    }

    /// Shows the present state to requests.
    fn show(&mut self) {
        let (client, network) = (self.follower.client(), self.network);
        if client.tip() != self.shown
            && let Some(view) = View::of(client, network)
        {
            self.shown = client.tip();
            self.service.chain.show(view);
        }
        // In each step: a request may judge a node by the chain from before a reorganisation.
        self.service.reconsider();
        let seen = Seen {
            tip: client.tip().map(|tip| (tip.id, tip.timestamp)),
            is_followed: client.sources().any(|(source, _)| client.has_read(source)),
            is_settled: client.is_settled(),
        };
        self.service.set_followed(self.following.note(now(), seen));
        let describe = |(source, state): (SourceId, &SourceState)| SourceStatus {
            name: self.names.get(source.index()).cloned().unwrap_or_default(),
            state: state.as_str(),
            words: state.to_string(),
            problem: self.follower.failure(source).map(str::to_owned),
        };
        *self.service.sources() = client.sources().map(describe).collect();
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The follower still holds the store's lock.
        self.service.chain.archive().stop();
        self.service.journal.stop();
    }
}

/// Returns the folder of older headers in a store.
fn headers_folder(store: &Path) -> PathBuf {
    let former = store.join(FORMER_HEADERS);
    if former.is_dir() { former } else { store.join(HEADERS) }
}

/// The reason why a guard cannot start or go on.
#[derive(Debug, Error)]
pub enum GuardError {
    /// Following ended.
    #[error(transparent)]
    Follow(#[from] FollowerError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreFileError),
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
    /// The address is not available.
    #[error("cannot listen on {address}: {problem}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        problem: std::io::Error,
    },
}
