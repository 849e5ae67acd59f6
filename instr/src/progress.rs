//! A progress bar on the error stream, when that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;

/// Events between two looks at the bar.
const STEP: u64 = 1 << 16;

/// How far a pass over a trace is.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar titled `what`; silent unless the console shows progress.
    pub fn new(what: &'static str, console: &Console<'_>) -> Self {
        let target = match console.progress {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(Some(1), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %  {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Self { bar }
    }

    /// `done` of `total` is done, in any unit.
    pub fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total.max(1));
        self.bar.set_position(done);
    }

    /// A function that takes the time of each event of a pass that ends at `end` (ns).
    pub fn by_time(&self, end: u64) -> impl FnMut(u64) {
        let mut events = 0u64;
        move |time| {
            events += 1;
            if events.is_multiple_of(STEP) {
                self.at(time, end);
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
