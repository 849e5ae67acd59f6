//! Tasks and edges of the graph, of the summary and of the time line.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::facts::Facts;
use super::{Differences, int};
use crate::prv;

/// The tag of a dependence.
const DEPEND: u64 = 60_000_001;

/// The graph's numbers in the summary and in the graph itself.
pub(super) fn totals(all: &mut Differences, summary: &Value, graph: &Value) {
    let edges = graph["edges"].as_array().map_or(&[][..], Vec::as_slice);
    let count = int(&summary["tasks"]["edges"]);
    all.equal("edges, summary and graph", count, edges.len() as u64);
    let analysis = &summary["graph"];
    if analysis.is_object() {
        for field in [
            "span_ns",
            "work_ns",
            "elapsed_ns",
            "capacity_ns",
            "no_work_ns",
            "delay_ns",
        ] {
            let (own, other) = (int(&analysis[field]), int(&graph["total"][field]));
            all.equal(&format!("graph's {field}, summary and graph"), own, other);
        }
    }
}

/// Nodes of the graph, and the arrows between them in the time line.
pub(super) fn arrows(all: &mut Differences, facts: &Facts, graph: &Value, prv: &prv::Trace) {
    let edges = graph["edges"].as_array().map_or(&[][..], Vec::as_slice);
    let nodes = graph["nodes"].as_array().map_or(&[][..], Vec::as_slice);
    let known: BTreeMap<&str, &Value> = nodes
        .iter()
        .map(|node| (node["id"].as_str().unwrap_or(""), node))
        .collect();
    // An arrow needs both tasks to run, the later one behind the earlier one. A `taskwait` with `nowait` runs nowhere.
    let arrows = edges.iter().filter(|edge| {
        let end = |name: &str| {
            let name = edge[name].as_str().unwrap_or("");
            known.get(name).filter(|_| !facts.nowait.contains(name))
        };
        let (Some(from), Some(to)) = (end("from"), end("to")) else {
            return false;
        };
        match (from["end_ns"].as_u64(), to["begin_ns"].as_u64()) {
            (Some(end), Some(begin)) => end <= begin,
            _ => false,
        }
    });
    let drawn = prv.comms.iter().filter(|comm| comm.tag == DEPEND).count();
    let has_begun = |node: &&Value| node["begin_ns"].is_u64() && node["kind"] != "taskwait";
    let begun = nodes.iter().filter(has_begun).count() as u64;
    if begun == facts.executed_told {
        all.equal("dependences, graph and .prv", arrows.count(), drawn);
    } else {
        let fewer = begun < facts.executed_told;
        all.equal("tasks that the graph leaves out", fewer, true);
    }
    let ids: BTreeSet<&str> = known.keys().copied().collect();
    all.equal("nodes with a name of their own", ids.len(), nodes.len());
}
