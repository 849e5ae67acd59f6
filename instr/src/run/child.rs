//! A program that is waited for as if this process were the program: signals reach it, and this process ends as it ended.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering};

/// Signals that somebody may send to the process he started, for the program behind it.
const SIGNALS: [libc::c_int; 8] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
];

/// The program; 0: it has not begun, or is over.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// A signal that came before the program had begun; 0: none.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// What a terminal sends, it sends to the program as well: only what came from a process is passed on.
extern "C" fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a handler with SA_SIGINFO a valid pointer.
    let code = unsafe { (*info).si_code };
    if code > 0 {
        return;
    }
    match PROGRAM.load(Ordering::SeqCst) {
        0 => EARLY.store(signal, Ordering::SeqCst),
        // SAFETY: `kill` may be called in handlers, and takes plain integers.
        program => unsafe {
            libc::kill(program, signal);
        },
    }
}

/// Takes the signals, but for those that are ignored: the program ignores them, too.
fn take_signals() {
    for signal in SIGNALS {
        // SAFETY: both structures are plain data of the right size, and zeros are valid in all fields; the handler calls only what handlers may.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut old) != 0
                || old.sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            let mut new: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                pass_on;
            new.sa_sigaction = handler as libc::sighandler_t;
            new.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &raw const new, std::ptr::null_mut());
        }
    }
}

/// Runs the program to its end. Handlers stay: this process ends soon.
///
/// # Errors
///
/// When it cannot be started.
pub(super) fn run(mut command: Command) -> io::Result<ExitStatus> {
    take_signals();
    let mut child: Child = command.spawn()?;
    let id = i32::try_from(child.id()).unwrap_or(0);
    PROGRAM.store(id, Ordering::SeqCst);
    let early = EARLY.swap(0, Ordering::SeqCst);
    if early != 0 {
        // SAFETY: `kill` takes plain integers.
        unsafe { libc::kill(id, early) };
    }
    let status = child.wait();
    PROGRAM.store(0, Ordering::SeqCst);
    status
}

/// Ends this process as the program ended, without a core of its own.
pub(super) fn end_like(status: ExitStatus) -> ! {
    let none = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a structure that outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &raw const none) };
    instr_cc::exec::end_like(status)
}
