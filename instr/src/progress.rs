//! A progress bar on the error stream, when that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instr_trace::Trace;

use crate::console::Console;

/// Events between two looks at the bar.
const STEP: u64 = 1 << 16;

/// How far a pass over a trace is, measured in the trace's own time.
pub struct Progress {
    bar: ProgressBar,
    events: u64,
}

impl Progress {
    /// A bar titled `what` for one pass over `trace`; silent unless the console shows progress.
    pub fn new(what: &'static str, trace: &Trace, console: &Console<'_>) -> Self {
        let target = if console.progress {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(trace.end_time().max(1)), target);
        if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:40}] {percent:>3} %  {eta}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(what);
        Self { bar, events: 0 }
    }

    /// One more event, at `time` (ns).
    #[inline]
    pub fn event(&mut self, time: u64) {
        self.events += 1;
        if self.events.is_multiple_of(STEP) {
            self.bar.set_position(time);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
