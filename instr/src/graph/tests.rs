//! The task graph of the trace in [`crate::fixture`], and closed forms for larger ones.

use instr_trace::synth;
use serde_json::{Value, json};

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn graph(path: &str, format: &str) -> String {
    let (status, out, _) = instr(&["graph", path, "--format", format]);
    assert_eq!(status, Status::Done);
    out
}

#[test]
fn json_holds_each_task_with_its_times_and_each_dependence() {
    for layout in synth::layouts() {
        let fixture = Fixture::new(layout);
        let graph: Value = serde_json::from_str(&graph(fixture.path(), "json")).unwrap();
        let node = |id: &str,
                    label: &str,
                    parent: Value,
                    thread: u32,
                    times: [u64; 4],
                    undeferred: bool| {
            json!({"id": id, "function": null, "file": null, "line": null, "label": label, "parent": parent, "thread": thread,
                "created_ns": times[0], "begin_ns": times[1], "end_ns": times[2], "duration_ns": times[3],
                "undeferred": undeferred})
        };
        let nodes = json!([
            node("0.3", "0x3000", Value::Null, 0, [550, 560, 660, 100], true),
            node("0.4", "0x3000", json!("0.1"), 0, [710, 740, 800, 60], false),
            node("0.1", "0x2000", Value::Null, 0, [510, 700, 900, 140], false),
            node(
                "0.2",
                "0x2000",
                Value::Null,
                1,
                [530, 950, 1050, 100],
                false
            ),
        ]);
        assert_eq!(
            graph,
            json!({"format": 1, "program": "synth", "nodes": nodes, "edges": [{"from": "0.1", "to": "0.2"}]})
        );
    }
}

#[test]
fn chains_of_inout_give_one_edge_for_each_task_but_the_first_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let tasks = synth::tasks(dir.path(), synth::layouts()[0], 3, 4_000).unwrap();
    let path = dir.path().to_str().unwrap();
    let json: Value = serde_json::from_str(&graph(path, "json")).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len() as u64, tasks);
    // 64 addresses, all tasks siblings, each with one inout.
    assert_eq!(json["edges"].as_array().unwrap().len() as u64, tasks - 64);
    let dot = graph(path, "dot");
    assert_eq!(
        dot.lines().filter(|line| line.contains("[label=")).count() as u64,
        tasks
    );
    assert_eq!(
        dot.lines().filter(|line| line.contains(" -> ")).count() as u64,
        tasks - 64
    );
    let (_, summary, _) = instr(&["summary", "--json", path]);
    let summary: Value = serde_json::from_str(&summary).unwrap();
    for (field, value) in [
        ("created", tasks),
        ("executed", tasks),
        ("undeferred", 0),
        ("edges", tasks - 64),
    ] {
        assert_eq!(summary["tasks"][field], value, "{field}");
    }
}

#[test]
fn one_function_has_one_colour() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let dot = graph(fixture.path(), "dot");
    assert!(dot.starts_with("digraph \"synth\" {\n") && dot.ends_with("}\n"));
    let colour = |id: &str| {
        let line = dot
            .lines()
            .find(|line| line.starts_with(&format!("  \"{id}\" [")))
            .unwrap();
        line.split("fillcolor=").nth(1).unwrap().to_owned()
    };
    assert_eq!(colour("0.1"), colour("0.2"));
    assert_eq!(colour("0.3"), colour("0.4"));
    assert_ne!(colour("0.1"), colour("0.3"));
}

#[test]
fn the_graph_goes_to_a_file_on_request() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let file = fixture.dir.path().join("g.dot");
    let (status, out, _) = instr(&[
        "graph",
        fixture.path(),
        "--format",
        "dot",
        "-o",
        file.to_str().unwrap(),
    ]);
    assert_eq!((status, out.as_str()), (Status::Done, ""));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        graph(fixture.path(), "dot")
    );
}
