//! A progress bar on the error stream, when that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::console::Console;

/// Events between two looks at the bar.
const STEP: u64 = 1 << 16;

/// How far a pass over a trace is. Nothing is drawn before the first step, so that short work stays silent.
pub struct Progress {
    bar: ProgressBar,
    shown: bool,
}

impl Progress {
    /// A bar titled `what`; silent unless the console shows progress.
    pub fn new(what: &'static str, console: &Console<'_>) -> Self {
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %  {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Self {
            bar,
            shown: !console.progress,
        }
    }

    /// `done` of `total` is done, in any unit.
    pub fn at(&mut self, done: u64, total: u64) {
        if done < total && !self.shown {
            self.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_length(total.max(1));
        self.bar.set_position(done);
    }

    /// A function that takes the time of each event of a pass that ends at `end` (ns).
    pub fn by_time(&mut self, end: u64) -> impl FnMut(u64) {
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
