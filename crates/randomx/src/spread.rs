//! Spreads work over threads.
//!
//! Each thread owns one worker value, such as a VM. It takes a piece of work from a source that all
//! threads share, works on it, and takes the next one. Results are delivered in the order of their
//! pieces, by whichever thread finished the piece that was due.

mod pieces;

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};
use std::slice::IterMut;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};

pub use pieces::{Pieces, piece_size};

/// Where the threads of a run find work.
pub trait Source: Sync {
    /// The work that a worker takes at a time.
    type Piece;

    /// Returns the next piece, or `None` when there is no more. May wait for a piece.
    ///
    /// `free` counts the workers without a piece, including the one that asks, so that few jobs can
    /// be divided among them. Calls never overlap.
    fn next(&self, free: usize) -> Option<Self::Piece>;

    /// Cancels the rest: `next` returns `None` from now on, also in a thread that waits in it.
    ///
    /// Any thread may call this. [`spread`] does when a run fails.
    fn close(&self);
}

/// Works on all pieces of `source`, with a thread for each worker; the caller's is one of them.
///
/// `deliver` receives the results in the order in which `source` handed out the pieces. At most
/// `ahead` pieces are taken and not yet delivered, or one per worker if that is more: a slow
/// `deliver` holds the workers back.
///
/// Without workers nothing happens: the run ends with `Ok`, and the source keeps its pieces.
///
/// A thread starts when the one before it has found work. If the system refuses to start a thread,
/// the running ones do its share. Closing the source cancels the run: pieces in progress are
/// finished and delivered.
///
/// # Errors
///
/// The first error of `work` or `deliver`. It ends the run: no more pieces are taken.
///
/// # Panics
///
/// If `work`, `deliver` or `source` panics, the run ends in the same way, and the panic continues
/// in the caller.
pub fn spread<W, S, R, E>(
    workers: &mut [W],
    source: &S,
    ahead: usize,
    work: impl Fn(&mut W, S::Piece) -> Result<R, E> + Sync,
    deliver: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E>
where
    W: Send,
    S: Source + ?Sized,
    R: Send,
    E: Send,
{
    spread_on(thread::Builder::new, workers, source, ahead, work, deliver)
}

/// Spreads work over threads that `builder` configures.
fn spread_on<W, S, R, E>(
    builder: impl Fn() -> thread::Builder + Sync,
    workers: &mut [W],
    source: &S,
    ahead: usize,
    work: impl Fn(&mut W, S::Piece) -> Result<R, E> + Sync,
    deliver: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E>
where
    W: Send,
    S: Source + ?Sized,
    R: Send,
    E: Send,
{
    let ahead = ahead.max(workers.len()) as u64;
    let state = State {
        workers: workers.len(),
        busy: 0,
        delivered: 0,
        delivering: false,
        finished: BTreeMap::new(),
        failure: None,
    };
    let run = Run {
        builder,
        source,
        ahead,
        work,
        taken: Mutex::new(Taken { pieces: 0, all: false }),
        state: Mutex::new(state),
        changed: Condvar::new(),
        deliver: Mutex::new(deliver),
        unstarted: Mutex::new(workers.iter_mut()),
    };
    let own = lock(&run.unstarted).next();
    thread::scope(|scope| own.into_iter().for_each(|worker| run.employ(scope, worker)));
    let state = run.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    match state.failure {
        None => Ok(()),
        Some(Failure::Error(error)) => Err(error),
        Some(Failure::Panic(cause)) => panic::resume_unwind(cause),
    }
}

/// State that the threads of a run share.
struct Run<'a, W, S: ?Sized, R, E, B, F, D> {
    builder: B,
    source: &'a S,
    ahead: u64,
    work: F,
    /// Locked while a thread waits for the source.
    taken: Mutex<Taken>,
    /// Never locked while anything waits or works.
    state: Mutex<State<R, E>>,
    /// Signals that a piece was delivered, or that the run has failed.
    changed: Condvar,
    deliver: Mutex<D>,
    unstarted: Mutex<IterMut<'a, W>>,
}

struct Taken {
    pieces: u64,
    /// Whether the source has no more.
    all: bool,
}

struct State<R, E> {
    /// Workers that have a thread or may get one.
    workers: usize,
    /// Workers with a piece.
    busy: usize,
    /// How many results were delivered.
    delivered: u64,
    /// Whether a thread is delivering.
    delivering: bool,
    /// Results to deliver, by the number of their piece.
    finished: BTreeMap<u64, R>,
    failure: Option<Failure<E>>,
}

enum Failure<E> {
    Error(E),
    Panic(Box<dyn Any + Send>),
}

impl<'a, W, S, R, E, B, F, D> Run<'a, W, S, R, E, B, F, D>
where
    W: Send,
    S: Source + ?Sized,
    R: Send,
    E: Send,
    B: Fn() -> thread::Builder + Sync,
    F: Fn(&mut W, S::Piece) -> Result<R, E> + Sync,
    D: FnMut(R) -> Result<(), E> + Send,
{
    /// Runs a worker in this thread until the run ends.
    fn employ<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>, worker: &mut W) {
        // Unwind safety: after a panic the state only serves to end the run.
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            while let Some((number, piece)) = self.take() {
                self.start_next(scope);
                let result = (self.work)(worker, piece)?;
                self.finish(number, result)?;
            }
            Ok(())
        }));
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.fail(Failure::Error(error)),
            Err(cause) => self.fail(Failure::Panic(cause)),
        }
    }

    /// Takes the next piece once `ahead` allows it.
    fn take(&self) -> Option<(u64, S::Piece)> {
        let mut taken = lock(&self.taken);
        let free = {
            let full = |state: &mut State<R, E>| {
                state.failure.is_none() && taken.pieces - state.delivered >= self.ahead
            };
            let state = self.changed.wait_while(lock(&self.state), full);
            let state = state.unwrap_or_else(PoisonError::into_inner);
            if state.failure.is_some() || taken.all {
                return None;
            }
            state.workers - state.busy
        };
        let Some(piece) = self.source.next(free) else {
            taken.all = true;
            return None;
        };
        let number = taken.pieces;
        taken.pieces += 1;
        lock(&self.state).busy += 1;
        Some((number, piece))
    }

    /// Starts the thread of the next worker that has none.
    fn start_next<'scope>(&'scope self, scope: &'scope Scope<'scope, '_>) {
        let mut unstarted = lock(&self.unstarted);
        let Some(worker) = unstarted.next() else { return };
        let thread = (self.builder)().spawn_scoped(scope, move || self.employ(scope, worker));
        if thread.is_err() {
            lock(&self.state).workers -= 1 + unstarted.len();
            *unstarted = [].iter_mut();
        }
    }

    /// Delivers a result, and those that waited for it.
    fn finish(&self, number: u64, result: R) -> Result<(), E> {
        let mut state = lock(&self.state);
        state.busy -= 1;
        state.finished.insert(number, result);
        while !state.delivering && state.failure.is_none() {
            let due = state.delivered;
            let Some(result) = state.finished.remove(&due) else { break };
            state.delivering = true;
            drop(state);
            lock(&self.deliver)(result)?;
            state = lock(&self.state);
            state.delivering = false;
            state.delivered += 1;
            self.changed.notify_all();
        }
        Ok(())
    }

    fn fail(&self, failure: Failure<E>) {
        let mut state = lock(&self.state);
        // A panic is a defect, and must not hide behind an error that came first.
        if state.failure.is_none() || matches!(failure, Failure::Panic(_)) {
            state.failure = Some(failure);
        }
        drop(state);
        self.changed.notify_all();
        self.source.close();
    }
}

/// Locks a mutex, also after a panic of another thread.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
