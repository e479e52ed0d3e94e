//! A proxy that counts what a server sends.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

/// A proxy before a server.
pub struct Counter {
    address: SocketAddr,
    received: Arc<AtomicU64>,
}

impl Counter {
    /// Starts a proxy, which runs until the process ends.
    pub fn before(server: SocketAddr) -> io::Result<Counter> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let received = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&received);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let (Ok(client_side), Ok(server_side)) = (client.try_clone(), server.try_clone())
                else {
                    continue;
                };
                let counted = Arc::clone(&counted);
                thread::spawn(move || copy(client_side, server, &AtomicU64::new(0)));
                thread::spawn(move || copy(server_side, client, &counted));
            }
        });
        Ok(Counter { address, received })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the bytes that the server has sent so far, with the heads of its answers.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream, counted: &AtomicU64) {
    let mut bytes = [0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        counted.fetch_add(count as u64, Ordering::Relaxed);
        if to.write_all(&bytes[..count]).is_err() {
            return;
        }
    }
}
