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
    pub(crate) prv: prv::Trace,
}

/// Runs the commands.
pub(crate) fn of(trace: &Path) -> Result<Outputs, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let trace = trace.as_os_str();
    let base = folder.path().join("out");
    let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    let summary = run(&["summary".as_ref(), "--json".as_ref(), trace])?;
    let graph = run(&["graph".as_ref(), "--format=json".as_ref(), trace])?;
    run(&["merge".as_ref(), trace, "-o".as_ref(), base.as_os_str()])?;
    Ok(Outputs {
        summary: json(&summary)?,
        graph: json(&graph)?,
        prv: prv::read(&base.with_extension("prv"))?,
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
