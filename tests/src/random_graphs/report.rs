//! What `instr graph --format json` says (`docs/graph-json.md`), with nothing taken for granted.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::outcome::{Check, Stop, ensure};
use crate::process::Run;
use crate::toolchain::tools;

/// A task by creating thread and number there.
pub type TraceId = (u32, u32);

/// The report on one trace.
#[derive(Debug, Clone)]
pub struct Report {
    /// The whole object.
    pub json: Value,
    /// Nodes by id.
    pub nodes: BTreeMap<TraceId, Value>,
    /// Edges as listed.
    pub edges: Vec<(TraceId, TraceId)>,
}

/// Runs `instr graph` on a trace.
///
/// # Errors
///
/// When it fails, or its output is not of the documented form.
pub fn read(trace: &Path) -> Check<Report> {
    let outcome = Run::new(&tools()?.instr)
        .args(["graph", "--format", "json"])
        .arg(trace)
        .succeed()?;
    let json: Value = serde_json::from_slice(&outcome.stdout)
        .map_err(|error| format!("graph --format json: {error}"))?;
    ensure(json["format"] == 2, || {
        format!("the report has format {}, not 2", json["format"])
    })?;
    let mut nodes = BTreeMap::new();
    for node in list(&json, "nodes")? {
        let twice = nodes.insert(id(&node["id"])?, node.clone());
        ensure(twice.is_none(), || {
            format!("node {} is listed twice", node["id"])
        })?;
    }
    let edges = list(&json, "edges")?
        .iter()
        .map(|edge| Ok((id(&edge["from"])?, id(&edge["to"])?)))
        .collect::<Check<_>>()?;
    Ok(Report { json, nodes, edges })
}

/// The array in a field.
///
/// # Errors
///
/// When it is something else.
pub fn list<'a>(object: &'a Value, field: &str) -> Check<&'a [Value]> {
    let array = object[field].as_array();
    Ok(array.ok_or_else(|| format!("`{field}` is no array"))?)
}

/// `THREAD.SEQ`
///
/// # Errors
///
/// When the value is no such text.
pub fn id(value: &Value) -> Check<TraceId> {
    value
        .as_str()
        .and_then(|text| text.split_once('.'))
        .and_then(|(thread, seq)| Some((thread.parse().ok()?, seq.parse().ok()?)))
        .ok_or_else(|| Stop::Fail(format!("{value} is no task id")))
}
