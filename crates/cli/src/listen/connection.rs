//! One connection: lines in, verdicts out, in the same order.

use std::{
    io::{self, BufReader, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    sync::{
        Arc,
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
    time::Duration,
};

use randomx_monero::Difficulty;
use serde::Serialize;

use crate::{
    backend::Hash,
    error::Error,
    jsonl::Lines,
    output,
    queue::{Job, Queue},
    verify::{self, Verdict},
};

/// Lines of a connection that are read and not yet answered. It lets others have their turn.
const AHEAD: usize = 256;

/// The longest that a program may leave its verdicts unread.
const PATIENCE: Duration = Duration::from_secs(30);

/// Where the verdict on a line goes.
pub(super) struct Reply {
    difficulty: Difficulty,
    verdicts: Sender<Vec<u8>>,
}

impl Reply {
    /// Sends the verdict on a hash. The program may be gone.
    pub(super) fn send(&self, hash: &Hash) {
        let _ = self.verdicts.send(line(&Verdict::new(hash, &self.difficulty)));
    }
}

/// A line of output that ends a connection.
#[derive(Serialize)]
struct Refusal<'a> {
    error: &'a str,
}

/// Serves a connection by two threads, which hold `place` as long as they run.
pub(super) fn serve<P: Send + Sync + 'static>(
    stream: UnixStream,
    queue: Arc<Queue<Reply>>,
    place: P,
) -> io::Result<()> {
    stream.set_write_timeout(Some(PATIENCE))?;
    let reading = stream.try_clone()?;
    let (verdicts, to_write) = channel();
    // A line takes one of the places in this channel from its reading to the writing of its verdict.
    let (begun, done) = sync_channel(AHEAD);
    let place = Arc::new(place);
    let writer = {
        let place = Arc::clone(&place);
        move || {
            let _place = place;
            // A program that is gone needs no more.
            let _ = write_all(&stream, &to_write, &done);
            let _ = stream.shutdown(Shutdown::Both);
        }
    };
    thread::Builder::new().spawn(writer)?;
    let reader = move || {
        let _place = place;
        read_all(reading, &queue, &verdicts, &begun);
    };
    thread::Builder::new().spawn(reader).map(drop)
}

/// Refuses a connection.
pub(super) fn refuse(mut stream: UnixStream, error: &str) {
    // Its buffer is empty, so this does not wait. The program may be gone.
    let _ = stream.write_all(&line(&Refusal { error }));
}

fn read_all(
    stream: UnixStream,
    queue: &Queue<Reply>,
    verdicts: &Sender<Vec<u8>>,
    begun: &SyncSender<()>,
) {
    let mut lines = Lines::of_connection(Box::new(BufReader::new(stream)));
    loop {
        let Job { key, version, input, tag: difficulty } = match lines.next(verify::parse) {
            Ok(Some(job)) => job,
            Ok(None) => return,
            Err(problem) => return end(&problem, verdicts, begun),
        };
        if begun.send(()).is_err() {
            return;
        }
        let tag = Reply { difficulty, verdicts: verdicts.clone() };
        queue.push(Job { key, version, input, tag });
    }
}

/// Sends the reason of the end, after the verdicts on the lines before.
fn end(problem: &Error, verdicts: &Sender<Vec<u8>>, begun: &SyncSender<()>) {
    if (0..AHEAD).all(|_| begun.send(()).is_ok()) {
        let _ = verdicts.send(line(&Refusal { error: &problem.to_string() }));
    }
}

fn write_all(
    mut stream: &UnixStream,
    verdicts: &Receiver<Vec<u8>>,
    done: &Receiver<()>,
) -> io::Result<()> {
    for line in verdicts {
        stream.write_all(&line)?;
        // The place that its line took.
        let _ = done.try_recv();
    }
    Ok(())
}

fn line(record: &impl Serialize) -> Vec<u8> {
    let mut line = Vec::new();
    output::json_line(&mut line, record).expect("strings, numbers and memory to write to");
    line
}
