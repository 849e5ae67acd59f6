//! Signals that were ignored when this process was started: a program that it starts ignores them, too.
//!
//! Rust's start-up ignores SIGPIPE and gives its children the default action, whatever there was before: a server of systemd, which ignores it for
//! services, would be killed where it got EPIPE. And where SIGCHLD is ignored, the kernel keeps no status of children, so that nobody can wait for one.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

static PIPE: AtomicBool = AtomicBool::new(false);
static CHILD: AtomicBool = AtomicBool::new(false);

/// Runs before `main`, and so before Rust's start-up.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    PIPE.store(is_ignored(libc::SIGPIPE), Ordering::Relaxed);
    if is_ignored(libc::SIGCHLD) {
        CHILD.store(true, Ordering::Relaxed);
        // SAFETY: plain integers; no other thread is there.
        unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: zeros are valid in all fields of the structure, which outlives the call.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut old) == 0
            && old.sa_sigaction == libc::SIG_IGN
    }
}

/// What a new process does before it becomes its program, so that this ignores what this process ignored; nothing where that was nothing.
pub(crate) fn again() -> Option<impl Fn() -> io::Result<()> + Send + Sync + 'static> {
    let signals = [
        (libc::SIGPIPE, PIPE.load(Ordering::Relaxed)),
        (libc::SIGCHLD, CHILD.load(Ordering::Relaxed)),
    ];
    let ignore = move || {
        for (signal, _) in signals.iter().filter(|(_, is_ignored)| *is_ignored) {
            // SAFETY: plain integers.
            unsafe { libc::signal(*signal, libc::SIG_IGN) };
        }
        Ok(())
    };
    signals
        .iter()
        .any(|(_, is_ignored)| *is_ignored)
        .then_some(ignore)
}
