//! Signals that were ignored when this process was started: a program that it starts ignores them, too.
//!
//! Rust's start-up ignores SIGPIPE and gives its children the default action, whatever there was before: a server of systemd, which ignores it for
//! services, would be killed where it got EPIPE. And where SIGCHLD is ignored, the kernel keeps no status of children, so that nobody can wait for one.

use std::os::unix::process::CommandExt as _;
use std::process::Command;
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

/// Lets the program that is started, or that this process becomes, ignore what this process ignored.
pub(crate) fn pass_to(command: &mut Command) {
    let pipe = PIPE.load(Ordering::Relaxed);
    let child = CHILD.load(Ordering::Relaxed);
    if !pipe && !child {
        return;
    }
    let ignore = move || {
        for (signal, is_ignored) in [(libc::SIGPIPE, pipe), (libc::SIGCHLD, child)] {
            if is_ignored {
                // SAFETY: plain integers.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
        }
        Ok(())
    };
    // SAFETY: between fork and exec only plain system calls are made.
    unsafe { command.pre_exec(ignore) };
}
