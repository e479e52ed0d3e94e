//! `randomx verify --listen`: verdicts for other programs on this machine, by a Unix socket.

mod connection;
mod socket;

use std::{
    os::unix::net::UnixListener,
    path::Path,
    process::ExitCode,
    sync::{Arc, Weak},
    thread,
    time::Duration,
};

use crate::{
    args::VerifyArgs,
    error::Error,
    hasher::Hasher,
    output,
    progress::Progress,
    queue::{Limits, Queue},
    signals,
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
    // Before the socket is announced, so that no signal ends the program without removing it.
    signals::when_stopped(move |_| stopped.close()).map_err(failed)?;
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
