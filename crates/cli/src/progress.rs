//! Progress bars on stderr, where that is a terminal.

use std::{
    fmt,
    io::{self, IsTerminal},
    time::Duration,
};

use indicatif::{
    HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};
use randomx::{CacheBuilder, Dataset};
use randomx_console::{draws_bars, machine};

/// The bars of a run. Dropping it clears them.
pub(crate) struct Progress {
    bars: MultiProgress,
    hashes: ProgressBar,
}

/// The bar of a key that is expanded: for its cache, then for its dataset. Dropping it clears it.
pub(crate) struct KeyBar(ProgressBar);

impl Progress {
    /// Bars for a number of hashes, if that is known.
    pub(crate) fn on_terminal(hashes: Option<u64>) -> Progress {
        Progress::new(hashes, stderr())
    }

    /// Bars for an unknown number of hashes. Hidden where results appear on the same terminal.
    pub(crate) fn beside_lines() -> Progress {
        if io::stdout().is_terminal() { Progress::hidden() } else { Progress::on_terminal(None) }
    }

    /// Bars that are never drawn.
    pub(crate) fn hidden() -> Progress {
        Progress::new(None, ProgressDrawTarget::hidden())
    }

    fn new(hashes: Option<u64>, target: ProgressDrawTarget) -> Progress {
        let bars = MultiProgress::with_draw_target(target);
        let bar = match hashes {
            Some(hashes) => ProgressBar::new(hashes).with_style(
                style("hashes  [{bar:40}] {human_pos}/{human_len}{rate}").with_key("rate", rate),
            ),
            None => ProgressBar::no_length().with_style(style("{human_pos} hashes, {per_sec}")),
        };
        let hashes = bars.add(bar);
        keep_current(&hashes);
        Progress { bars, hashes }
    }

    /// A bar for expanding a key.
    pub(crate) fn key(&self) -> KeyBar {
        let bar = ProgressBar::new(CacheBuilder::BLOCKS as u64)
            .with_style(style("{prefix} [{bar:40}] {percent}%"))
            .with_prefix("cache");
        KeyBar(self.bars.insert(0, bar))
    }

    /// Counts hashes. Any thread may call this.
    pub(crate) fn hashed(&self, count: usize) {
        self.hashes.inc(count as u64);
    }
}

/// The bar of a chain that is read for the first time. Dropping it clears it.
pub(crate) struct ChainBar {
    bar: ProgressBar,
    /// The height at which the reading began.
    first: Option<u64>,
}

impl ChainBar {
    pub(crate) fn on_terminal() -> ChainBar {
        let bar = ProgressBar::with_draw_target(Some(0), stderr());
        let bar = bar.with_style(style("blocks  [{bar:40}] {human_pos}/{human_len}"));
        ChainBar { bar, first: None }
    }

    /// Moves the bar to a height. It ends when the last height is reached.
    pub(crate) fn reach(&mut self, height: u64, end: u64) {
        let first = *self.first.get_or_insert(height);
        self.bar.set_length(end.saturating_sub(first));
        self.bar.set_position(height.saturating_sub(first));
        if height >= end {
            self.bar.finish_and_clear();
        }
    }

    /// Does what prints lines, without the bar in between.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for ChainBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hashes.finish_and_clear();
    }
}

impl KeyBar {
    /// Moves the bar to a number of blocks of the cache, of [`CacheBuilder::BLOCKS`].
    pub(crate) fn filled(&self, blocks: usize) {
        self.0.set_position(blocks as u64);
    }

    /// Moves the bar to a number of items of the dataset, of [`Dataset::ITEMS`].
    pub(crate) fn computed(&self, items: usize) {
        self.0.set_prefix("dataset");
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
pub(crate) struct RowBar(ProgressBar);

impl RowBar {
    /// A bar for a number of rows.
    pub(crate) fn on_terminal(rows: usize) -> RowBar {
        let bar = ProgressBar::with_draw_target(Some(rows as u64), stderr())
            .with_style(style("{pos}/{len} [{bar:40}] {elapsed} {msg}"));
        keep_current(&bar);
        RowBar(bar)
    }

    /// Begins the next row.
    pub(crate) fn at(&self, row: impl fmt::Display) {
        if !self.0.message().is_empty() {
            self.0.inc(1);
        }
        self.0.set_message(row.to_string());
    }
}

impl Drop for RowBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How often a bar is drawn again while nothing moves it.
const TICK: Duration = Duration::from_millis(200);

/// Draws a bar again and again, if it is drawn at all and the system allows the thread for it.
fn keep_current(bar: &ProgressBar) {
    if !bar.is_hidden() && machine::can_start_threads() {
        bar.enable_steady_tick(TICK);
    }
}

fn stderr() -> ProgressDrawTarget {
    if draws_bars() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// The speed and the time left, after the first hash.
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
