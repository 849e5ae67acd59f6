//! `instr repair`: a plain CTF trace from what a killed program left.

use std::path::Path;

use anyhow::{Context, Result};

use crate::cli::RepairOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::summary::units::{counted, size};
use crate::symbols::{open_trace, warn_of_losses};

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &RepairOptions, console: &mut Console<'_>) -> Result<()> {
    let trace = open_trace(&options.trace, console)?;
    refuse_existing(&options.output)?;
    warn_of_losses(&trace, console);
    trace.repair(&options.output)?;
    let threads = counted(trace.threads().len() as u64, "thread");
    let whole = if trace.needs_repair() {
        ""
    } else {
        " (a copy: nothing was broken)"
    };
    writeln!(
        console.out,
        "{}: {threads}, {}{whole}",
        options.output.display(),
        size(trace.bytes())
    )
    .context(NO_OUTPUT)
}

/// An existing directory may be a trace somebody wants to keep.
fn refuse_existing(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let refusal = Refusal {
        message: format!("cannot make {}: it exists", path.display()),
        notes: Vec::new(),
        help: Some("name a directory that does not exist".to_owned()),
    };
    Err(refusal.into())
}

#[cfg(test)]
mod tests {
    use instr_trace::synth;
    use serde_json::Value;

    use crate::console::Status;
    use crate::console::tests::instr;
    use crate::fixture::Fixture;

    fn summary(dir: &str) -> Value {
        let (status, out, _) = instr(&["summary", "--json", dir]);
        assert_eq!(status, Status::Done);
        let mut summary: Value = serde_json::from_str(&out).unwrap();
        for may_differ in ["directory", "truncated_streams", "bytes", "bytes_per_event"] {
            summary.as_object_mut().unwrap().remove(may_differ);
        }
        summary
    }

    #[test]
    fn the_repaired_trace_tells_the_same_and_is_whole() {
        let fixture = Fixture::new(synth::layouts()[3]);
        let stream = synth::stream_path(fixture.dir.path(), 0);
        let bytes = std::fs::read(&stream).unwrap();
        std::fs::write(&stream, &bytes[..bytes.len() - 21]).unwrap();
        let out = fixture.dir.path().join("whole.instr");
        let (status, printed, err) =
            instr(&["repair", fixture.path(), "-o", out.to_str().unwrap()]);
        assert_eq!(status, Status::Done, "{err}");
        assert!(printed.contains("whole.instr: 2 threads"), "{printed}");
        assert_eq!(summary(out.to_str().unwrap()), summary(fixture.path()));
        assert!(!instr_trace::Trace::open(&out).unwrap().needs_repair());
    }

    #[test]
    fn what_exists_is_not_touched() {
        let fixture = Fixture::new(synth::layouts()[0]);
        let (status, _, err) = instr(&["repair", fixture.path(), "-o", fixture.path()]);
        assert_eq!(status, Status::Refused);
        assert!(
            err.contains(": it exists\n  help: name a directory"),
            "{err}"
        );
    }
}
