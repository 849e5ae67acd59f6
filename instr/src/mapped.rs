//! Files that are mapped and become shorter meanwhile: the kernel sends SIGBUS for what is missing, and the command cannot go on.

use signal_hook::consts::SIGBUS;

/// What is said then. Which file it was is not known there.
const MESSAGE: &str = "instr: error: cannot read a program or debug file further: somebody made it shorter meanwhile\n";

/// From now on such an end has a message and the status of a refused input.
pub(crate) fn end_with_a_message() {
    let action = || {
        // SAFETY: the bytes live as long as the process. Nothing can be done where they cannot be written.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len()) };
        signal_hook::low_level::exit(1);
    };
    // SAFETY: both calls of the action may be made in a signal handler (POSIX, 2.4.3). Without the action the signal ends the process.
    let _ = unsafe { signal_hook::low_level::register(SIGBUS, action) };
}
