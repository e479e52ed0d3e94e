//! `randomx verify --listen`: verdicts for other programs on this machine, by a Unix socket.

mod connection;
mod socket;

use std::{
    io,
    os::unix::net::UnixListener,
    path::Path,
    process::ExitCode,
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use tokio::{
    runtime, select,
    signal::unix::{SignalKind, signal},
};

use crate::{
    args::VerifyArgs,
    error::Error,
    hasher::Hasher,
    output,
    progress::Progress,
    queue::{Limits, Queue},
};

use connection::Reply;
use socket::Socket;

/// Connections at the same time.
const MAX_CONNECTIONS: usize = 16;

/// Lines of all connections that are read ahead of the first one without a verdict.
const WINDOW: Limits = Limits { jobs: 1 << 16, bytes: 64 << 20 };

/// The time until connections are accepted again after the system refused one, such as for too many files.
const PAUSE: Duration = Duration::from_millis(100);

/// Verifies the lines of every connection until the program is stopped.
pub(crate) fn run(args: &VerifyArgs, path: &Path) -> Result<ExitCode, Error> {
    let (_socket, listener) = Socket::bind(path)?;
    let failed = |problem| Error::Socket { path: path.to_owned(), problem };
    let queue = Arc::new(Queue::new(WINDOW));
    let stopped = Arc::clone(&queue);
    when_stopped(move || stopped.close()).map_err(failed)?;
    let accepting = Arc::clone(&queue);
    let accept = move || accept_all(&listener, &accepting);
    thread::Builder::new().spawn(accept).map_err(failed)?;
    output::write(|out| writeln!(out, "listening on {}", path.display()))?;
    let progress = Progress::hidden();
    let mut hasher = Hasher::new(args.work.backend(args.mode), args.work.spread(), &progress);
    hasher.run(&queue, |answers| {
        answers.iter().for_each(|(reply, hash)| reply.send(hash));
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

fn accept_all(listener: &UnixListener, queue: &Arc<Queue<Reply>>) {
    let places = Arc::new(());
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            thread::sleep(PAUSE);
            continue;
        };
        let place = Arc::downgrade(&places);
        if Weak::weak_count(&place) > MAX_CONNECTIONS {
            let error = format!("expected at most {MAX_CONNECTIONS} connections");
            connection::refuse(stream, &error);
            continue;
        }
        // Without threads the connection is closed.
        let _ = connection::serve(stream, Arc::clone(queue), place);
    }
}

/// Calls a function when the program is asked to stop.
fn when_stopped(stop: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    // Before the socket is announced, so that no signal ends the program without removing it.
    let (mut interrupted, mut terminated) = {
        let _entered = runtime.enter();
        (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?)
    };
    let wait = move || {
        runtime.block_on(async {
            select! {
                _ = interrupted.recv() => {}
                _ = terminated.recv() => {}
            }
        });
        stop();
    };
    thread::Builder::new().spawn(wait).map(drop)
}
