//! The only place that writes to standard error.

use std::io::Write;

/// Prints an error of ours.
pub fn error(text: &str) {
    write("error", text);
}

/// Prints a warning of ours.
pub fn warning(text: &str) {
    write("warning", text);
}

/// Prints a note, if notes are wanted.
pub fn note(wanted: bool, text: &str) {
    if wanted {
        write("note", text);
    }
}

fn write(severity: &str, text: &str) {
    // One write, so that lines of parallel jobs do not mix. Nobody is left to tell when it fails.
    _ = std::io::stderr().write_all(format!("instr-cc: {severity}: {text}\n").as_bytes());
}
