//! Signals that ask the program to stop.

use std::io;

/// From now on, SIGINT and SIGTERM do not end the program. Waits for the first of them, and returns the exit code that
/// shells show for a program that it ended. Call it in a runtime of Tokio.
#[cfg(unix)]
pub(crate) fn stopped() -> io::Result<impl Future<Output = i32>> {
    use tokio::{
        select,
        signal::unix::{SignalKind, signal},
    };

    let [interrupt, terminate] = [SignalKind::interrupt(), SignalKind::terminate()];
    let (mut interrupted, mut terminated) = (signal(interrupt)?, signal(terminate)?);
    Ok(async move {
        let kind = select! {
            _ = interrupted.recv() => interrupt,
            _ = terminated.recv() => terminate,
        };
        128 + kind.as_raw_value()
    })
}

/// From now on, Ctrl-C does not end the program. Waits for it. Call it in a runtime of Tokio.
#[cfg(windows)]
pub(crate) fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut interrupted = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        interrupted.recv().await;
    })
}

/// From now on, SIGINT and SIGTERM do not end the program. At the first of them, a thread calls `stop` with the exit
/// code that shells show for a program that the signal ended.
#[cfg(unix)]
pub(crate) fn when_stopped(stop: impl FnOnce(i32) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let stopped = {
        let _entered = runtime.enter();
        stopped()?
    };
    std::thread::Builder::new().spawn(move || stop(runtime.block_on(stopped))).map(drop)
}
