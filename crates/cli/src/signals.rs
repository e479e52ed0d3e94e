//! Signals that ask the program to stop.

use std::{io, thread};

use tokio::{
    runtime, select,
    signal::unix::{SignalKind, signal},
};

/// From now on, SIGINT and SIGTERM do not end the program. At the first of them, a thread calls `stop` with the exit
/// code that shells show for a program that the signal ended.
pub(crate) fn when_stopped(stop: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()];
    let (mut interrupted, mut terminated) = {
        let _entered = runtime.enter();
        (signal(interrupt)?, signal(terminate)?)
    };
    let wait = move || {
        let kind = runtime.block_on(async {
            select! {
                _ = interrupted.recv() => interrupt,
                _ = terminated.recv() => terminate,
            }
        });
        stop(128 + kind.as_raw_value());
    };
    thread::Builder::new().spawn(wait).map(drop)
}
