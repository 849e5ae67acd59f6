//! Signals that end a command while it writes: what it has begun under a temporary name goes before the process ends as by the signal alone.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use instr_trace::new_file::remove_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

static BEGUN: Once = Once::new();
static ASKS: AtomicBool = AtomicBool::new(false);

/// The command asks for statements: an interrupt ends one of them, not the process.
pub(crate) fn ends_statements() {
    ASKS.store(true, Ordering::Relaxed);
}

/// From now on signals that end the process remove unfinished outputs first. Signals that are ignored, as by `nohup`, stay ignored. Where the system
/// grants no thread for that, or no handler, they are left behind.
pub(crate) fn removes_outputs() {
    BEGUN.call_once(|| {
        let ignored = ignored();
        let all = [SIGINT, SIGTERM, SIGHUP].into_iter();
        let wanted = all.filter(|signal| ignored & 1 << (signal - 1) == 0);
        let wanted = wanted.filter(|signal| *signal != SIGINT || !ASKS.load(Ordering::Relaxed));
        let wanted: Vec<i32> = wanted.collect();
        let Ok(mut signals) = Signals::new(&wanted) else {
            return;
        };
        let wait = move || {
            if let Some(signal) = signals.forever().next() {
                remove_unfinished();
                let _ = emulate_default_handler(signal);
            }
        };
        let thread = std::thread::Builder::new().name("signals".into());
        if thread.spawn(wait).is_err() {
            // Nobody reads the signals, which would do nothing now.
            for signal in wanted {
                let end = move || _ = emulate_default_handler(signal);
                // SAFETY: the function may be called in a signal handler, as its documentation says.
                let _ = unsafe { signal_hook::low_level::register(signal, end) };
            }
        }
    });
}

/// The signals that the process ignores, a bit each (`/proc/PID/status`, proc(5)).
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
