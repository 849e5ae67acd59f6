//! What the commands write about a trace, each read by a reader that shares nothing with its writer.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use instr_tests::prv;
use instr_tests::toolchain::tools;
use serde_json::Value;

/// All outputs of a trace.
pub(crate) struct Outputs {
    pub(crate) summary: Value,
    pub(crate) graph: Value,
    /// None where there is no thread: Paraver refuses a process without threads, and so does `instr merge`.
    pub(crate) prv: Option<prv::Trace>,
}

/// Runs the commands.
pub(crate) fn of(trace: &Path) -> Result<Outputs, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trace = trace.as_os_str();
    let base = folder.path().join("out");
    let json = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let summary = run(&["summary".as_ref(), "--json".as_ref(), trace])?;
    let graph = run(&["graph".as_ref(), "--format=json".as_ref(), trace])?;
    let summary = json(&summary)?;
    let has_threads = summary["threads"]
        .as_array()
        .is_some_and(|threads| !threads.is_empty());
    let merge = ["merge".as_ref(), trace, "-o".as_ref(), base.as_os_str()];
    let prv = match run(&merge) {
        Ok(_) => Some(prv::read(&base.with_extension("prv"))?),
        Err(why) if !has_threads && why.contains("exit status: 1") => None,
        Err(why) => return Err(why),
    };
    Ok(Outputs {
        graph: json(&graph)?,
        summary,
        prv,
    })
}

/// Standard output of a command that must succeed.
fn run(words: &[&OsStr]) -> Result<String, String> {
    let tools = tools().map_err(|stop| stop.to_string())?;
    let output = Command::new(&tools.instr).args(words).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{words:?}: {}: {errors}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
