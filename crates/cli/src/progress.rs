//! Progress bars on stderr, for a person who waits; nothing where nobody looks.

use std::{
    fmt,
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{
    HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use randomx::{CacheBuilder, Dataset};

/// The bars of a run. Dropping it clears them.
pub(crate) struct Progress {
    bars: MultiProgress,
    hashes: ProgressBar,
}

/// The bar of a key that is expanded: for its cache, then for its dataset. Dropping it clears it.
pub(crate) struct KeyBar(ProgressBar);

impl Progress {
    /// Bars for so many hashes, visible when stderr is a terminal.
    pub(crate) fn on_terminal(hashes: usize) -> Progress {
        if io::stderr().is_terminal() {
            Progress::new(hashes, ProgressDrawTarget::stderr())
        } else {
            Progress::new(hashes, ProgressDrawTarget::hidden())
        }
    }

    /// Bars that nobody sees.
    pub(crate) fn hidden() -> Progress {
        Progress::new(0, ProgressDrawTarget::hidden())
    }

    fn new(hashes: usize, target: ProgressDrawTarget) -> Progress {
        let bars = MultiProgress::with_draw_target(target);
        let style =
            style("hashes  [{bar:40}] {human_pos}/{human_len}{rate}").with_key("rate", rate);
        let hashes = bars.add(ProgressBar::new(hashes as u64).with_style(style));
        hashes.enable_steady_tick(Duration::from_millis(200));
        Progress { bars, hashes }
    }

    /// A bar for expanding key `index` (from 0) of `keys`.
    pub(crate) fn key(&self, index: usize, keys: usize) -> KeyBar {
        let bar = ProgressBar::new(CacheBuilder::BLOCKS as u64)
            .with_style(style("{prefix} {msg} [{bar:40}] {percent}%"))
            .with_prefix(format!("key {} of {keys}: cache", index + 1));
        KeyBar(self.bars.insert(0, bar))
    }

    /// Counts hashes; any thread may.
    pub(crate) fn hashed(&self, count: usize) {
        self.hashes.inc(count as u64);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hashes.finish_and_clear();
    }
}

impl KeyBar {
    /// Moves the bar to so many blocks of the cache, of [`CacheBuilder::BLOCKS`].
    pub(crate) fn filled(&self, blocks: usize) {
        self.0.set_position(blocks as u64);
    }

    /// Moves the bar to so many items of the dataset, of [`Dataset::ITEMS`].
    pub(crate) fn computed(&self, items: usize) {
        self.0.set_message("done, dataset");
        self.0.set_length(Dataset::ITEMS as u64);
        self.0.set_position(items as u64);
    }
}

impl Drop for KeyBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The bar of a benchmark. Dropping it clears it.
pub(crate) struct Spinner(ProgressBar);

impl Spinner {
    /// A bar of so many rows, visible when stderr is a terminal.
    pub(crate) fn on_terminal(rows: usize) -> Spinner {
        let visible = io::stderr().is_terminal();
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(rows as u64), target)
            .with_style(style("{pos}/{len} [{bar:40}] {elapsed} {msg}"));
        bar.enable_steady_tick(Duration::from_millis(200));
        Spinner(bar)
    }

    /// Begins the next row.
    pub(crate) fn at(&self, row: impl fmt::Display) {
        if !self.0.message().is_empty() {
            self.0.inc(1);
        }
        self.0.set_message(row.to_string());
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The speed and the time left, as soon as there is a hash to tell them by.
fn rate(state: &ProgressState, out: &mut dyn fmt::Write) {
    if state.pos() > 0 {
        // A bar that cannot be drawn is no reason to stop.
        let _ = write!(out, ", {:.1}/s, {:#} left", state.per_sec(), HumanDuration(state.eta()));
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .expect("the templates are constants")
        .progress_chars("=> ")
}
