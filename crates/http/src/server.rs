//! A server on threads of its own.

use std::{future, io, net::SocketAddr};

use axum::Router;
use tokio::{
    net::TcpListener,
    runtime::{Builder, Runtime},
};

use crate::connections::{Settings, serve};

/// A server that runs until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    runtime: Option<Runtime>,
}

impl Server {
    /// Binds an address, and answers requests to it. Port 0 stands for any free one.
    ///
    /// # Errors
    ///
    /// If the address is not available, or threads cannot be started.
    pub fn start(address: SocketAddr, router: Router, settings: Settings) -> io::Result<Server> {
        Server::start_with(address, |_| router, settings)
    }

    /// Does the same as [`Server::start`], with a router that depends on the address with its port.
    ///
    /// # Errors
    ///
    /// If the address is not available, or threads cannot be started.
    pub fn start_with(
        address: SocketAddr,
        router: impl FnOnce(SocketAddr) -> Router,
        settings: Settings,
    ) -> io::Result<Server> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(address))?;
        let address = listener.local_addr()?;
        runtime.spawn(serve(listener, router(address), settings, future::pending()));
        Ok(Server { address, runtime: Some(runtime) })
    }

    /// Returns the address with its port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
