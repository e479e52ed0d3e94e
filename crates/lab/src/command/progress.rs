//! A progress bar on stderr.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use randomx_console::{draws_bars, machine};
use randomx_lab::Progress;

/// An experiment's progress bar, which restarts with each stage. Dropping it clears it.
pub(crate) struct StageBar(ProgressBar);

impl StageBar {
    /// A bar that is visible if stderr is a terminal.
    pub(crate) fn on_terminal() -> StageBar {
        let visible = draws_bars();
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let style = ProgressStyle::with_template("[{bar:40}] {percent}% {elapsed} {msg}")
            .expect("the template is a constant")
            .progress_chars("=> ");
        let bar = ProgressBar::with_draw_target(Some(1), target).with_style(style);
        // The bar has a thread of its own.
        if visible && machine::can_start_threads() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        StageBar(bar)
    }
}

impl Progress for StageBar {
    fn at(&mut self, stage: &str, done: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(done);
        if self.0.message() != stage {
            self.0.set_message(stage.to_owned());
        }
    }
}

impl Drop for StageBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
