//! What the commands write about a trace, each read by a reader that shares nothing with its writer.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::Value;

use crate::prv;

/// Runs `instr` with these words: its exit status and standard output, or an end of another kind.
pub type Run<'r> = dyn Fn(&[&OsStr]) -> Result<(u8, String), String> + 'r;

/// All outputs of a trace.
pub(super) struct Outputs {
    pub(super) summary: Value,
    pub(super) graph: Value,
    /// None where there is no thread: Paraver refuses a process without threads, and so does `instr merge`.
    pub(super) prv: Option<prv::Trace>,
}

/// Runs the commands.
pub(super) fn of(trace: &Path, run: &Run<'_>) -> Result<Outputs, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trace = trace.as_os_str();
    let base = folder.path().join("out");
    let done = |words: &[&OsStr]| match run(words)? {
        (0, out) => Ok(out),
        (status, _) => Err(format!("{words:?}: status {status}")),
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let summary = json(&done(&["summary".as_ref(), "--json".as_ref(), trace])?)?;
    let graph = json(&done(&["graph".as_ref(), "--format=json".as_ref(), trace])?)?;
    let threads = summary["threads"].as_array();
    let merge = ["merge".as_ref(), trace, "-o".as_ref(), base.as_os_str()];
    let prv = match run(&merge)? {
        (0, _) => Some(prv::read(&base.with_extension("prv"))?),
        (1, _) if threads.is_some_and(Vec::is_empty) => None,
        (status, _) => return Err(format!("{merge:?}: status {status}")),
    };
    Ok(Outputs {
        summary,
        graph,
        prv,
    })
}
