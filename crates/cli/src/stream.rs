//! Hashing a file of JSON lines while it is read, so that another program can keep a run open.

use std::{panic, sync::Arc, thread};

use crate::{
    backend::Hash,
    error::Error,
    hasher::Hasher,
    jsonl::Lines,
    queue::{Job, Limits, Queue},
    record::LineError,
};

/// How far the input is read ahead of the first line without an answer. Of lines whose keys
/// alternate this many are sorted by key; 65,536 short ones take about 16 MiB.
const WINDOW: Limits = Limits { jobs: 1 << 16, bytes: 64 << 20 };

/// Hashes every line of a file. `answer` receives hashes with their lines' tags, in the order of
/// the lines.
///
/// A line that cannot be parsed ends the run, after the answers to the lines before it.
pub(crate) fn hash_lines<T: Send + 'static>(
    lines: Lines,
    hasher: &mut Hasher<'_>,
    parse: impl Fn(&str) -> Result<Job<T>, LineError> + Send + 'static,
    answer: impl FnMut(&[(T, Hash)]) -> Result<(), Error> + Send,
) -> Result<(), Error> {
    let queue = Arc::new(Queue::new(WINDOW));
    let read = {
        let queue = Arc::clone(&queue);
        move || {
            let _closing = CloseOnPanic(&queue);
            queue.end(push_all(lines, &queue, parse).err());
        }
    };
    let reader = thread::Builder::new().spawn(read).map_err(Error::Reader)?;
    // After an error the reader may wait for input that never comes. It ends with the process.
    hasher.run(&queue, answer)?;
    reader.join().unwrap_or_else(|cause| panic::resume_unwind(cause));
    Ok(())
}

fn push_all<T>(
    mut lines: Lines,
    queue: &Queue<T>,
    parse: impl Fn(&str) -> Result<Job<T>, LineError>,
) -> Result<(), Error> {
    while let Some(job) = lines.next(&parse)? {
        queue.push(job);
    }
    Ok(())
}

/// Closes the queue if the reader panics, so that nobody waits for it.
struct CloseOnPanic<'a, T>(&'a Queue<T>);

impl<T> Drop for CloseOnPanic<'_, T> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.close();
        }
    }
}
