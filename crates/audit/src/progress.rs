//! How far a run is, on stderr: a bar on a terminal, and lines elsewhere.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use randomx_console::{draws_bars, machine, print_message};

/// The time between two movements of the bar.
const TICK: Duration = Duration::from_millis(200);

/// The shortest time between two lines.
const PAUSE: Duration = Duration::from_secs(10);

/// The progress of a run. Any thread may report to it.
pub(crate) struct Progress {
    bar: ProgressBar,
    lines: Mutex<Lines>,
}

struct Lines {
    epochs: usize,
    done: usize,
    printed: Instant,
}

impl Progress {
    /// Begins with the number of epochs, those that are done, and the blocks of the others.
    pub(crate) fn new(epochs: usize, done: usize, blocks: u64) -> Progress {
        let is_drawn = draws_bars();
        let target =
            if is_drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = "{msg} [{bar:40}] {human_pos}/{human_len} blocks, {per_sec}, {eta} left";
        let style = ProgressStyle::with_template(style).expect("the template is a constant");
        let bar = ProgressBar::with_draw_target(Some(blocks), target).with_style(style);
        bar.set_message(format!("{done} of {epochs} epochs"));
        // The bar has a thread of its own.
        if is_drawn && machine::can_start_threads() {
            bar.enable_steady_tick(TICK);
        }
        let lines = Lines { epochs, done, printed: Instant::now() };
        Progress { bar, lines: Mutex::new(lines) }
    }

    /// Counts blocks.
    pub(crate) fn blocks(&self, count: u64) {
        self.bar.inc(count);
        self.print(&mut self.lines());
    }

    /// Counts an epoch.
    pub(crate) fn epoch(&self) {
        let mut lines = self.lines();
        lines.done += 1;
        let Lines { epochs, done, .. } = *lines;
        self.bar.set_message(format!("{done} of {epochs} epochs"));
        self.print(&mut lines);
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line, unless there is a bar or the last line is recent.
    fn print(&self, lines: &mut Lines) {
        if !self.bar.is_hidden() || lines.printed.elapsed() < PAUSE {
            return;
        }
        lines.printed = Instant::now();
        let Lines { epochs, done, .. } = *lines;
        let (blocks, all) = (self.bar.position(), self.bar.length().unwrap_or_default());
        let left = HumanDuration(self.bar.eta());
        print_message(&format!("{done} of {epochs} epochs, {blocks} of {all} blocks, {left} left"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_printed_within_an_epoch() {
        let printed = Instant::now().checked_sub(PAUSE).expect("an earlier time");
        let bar = ProgressBar::with_draw_target(Some(9), ProgressDrawTarget::hidden());
        let lines = Mutex::new(Lines { epochs: 1, done: 0, printed });
        let progress = Progress { bar, lines };
        progress.blocks(3);
        assert!(progress.lines().printed > printed);
    }
}
