//! The task graph of the trace in [`crate::fixture`], and closed forms for larger ones.

use std::path::Path;

use instr_trace::Trace;
use instr_trace::names::{CodeName, Names};
use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use serde_json::{Value, json};

use super::{Form, write_graph};
use crate::cli::GraphFormat;
use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn graph(path: &str, format: &str) -> String {
    let (status, out, _) = instr(&["graph", path, "--format", format]);
    assert_eq!(status, Status::Done);
    out
}

fn parsed(path: &str) -> Value {
    serde_json::from_str(&graph(path, "json")).unwrap()
}

/// What the fields in `expected` are in `object`.
fn picked(object: &Value, expected: &Value) -> Value {
    let fields = expected.as_object().unwrap().keys();
    fields
        .map(|field| (field.clone(), object[field].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

#[test]
fn json_holds_each_task_with_its_times_and_each_dependence() {
    for layout in synth::layouts() {
        let fixture = Fixture::new(layout);
        let graph = parsed(fixture.path());
        let node = |id: &str, label: &str, parent: Value, thread: u32, times: [u64; 6]| {
            json!({"id": id, "kind": "task", "label": label, "parent": parent, "region": "0.1", "thread": thread,
                "created_ns": times[0], "ready_ns": times[1], "begin_ns": times[2], "end_ns": times[3], "complete_ns": times[3],
                "duration_ns": times[4], "work_ns": times[5], "undeferred": id == "0.3", "cancelled": false})
        };
        // 1 creates 4 (10 ns) and waits for it (20 ns) besides the 60 ns of 4 itself.
        let expected = [
            node(
                "0.1",
                "0x2000",
                Value::Null,
                0,
                [510, 510, 700, 900, 140, 110],
            ),
            node(
                "0.2",
                "0x2000",
                Value::Null,
                1,
                [530, 900, 950, 1050, 100, 100],
            ),
            node(
                "0.3",
                "0x3000",
                Value::Null,
                0,
                [550, 550, 560, 660, 100, 100],
            ),
            node(
                "0.4",
                "0x3000",
                json!("0.1"),
                0,
                [710, 710, 740, 800, 60, 60],
            ),
        ];
        let nodes = graph["nodes"].as_array().unwrap();
        let picked: Vec<Value> = nodes
            .iter()
            .map(|node| picked(node, &expected[0]))
            .collect();
        assert_eq!(picked, expected);
        let levels: Vec<u64> = nodes
            .iter()
            .map(|node| node["level"].as_u64().unwrap())
            .collect();
        // 1 waits for 4 before its end, so 2 follows both.
        assert_eq!(levels, [0, 2, 0, 1]);
        assert_eq!(
            graph["edges"],
            json!([{"from": "0.1", "to": "0.2", "kind": "depend"}])
        );
    }
}

#[test]
fn the_numbers_of_the_region_are_those_worked_out_by_hand() {
    let graph = parsed(Fixture::new(synth::layouts()[0]).path());
    let region = &graph["regions"][0];
    // Thread 0, user code: 110–120, chunks 125–225 and 230–330, 330 asks; 400–410, 430–510, 520–530, 540–550, task 3,
    // 670–680, tasks 1 and 4, 1100–1400. Thread 1: 115–120, chunk 125–300, 400–600, task 2.
    let first = 10 + 100 + 100 + 10 + 80 + 10 + 10 + 100 + 10 + 110 + 60 + 300;
    let second = 5 + 175 + 200 + 100;
    let work = first + second;
    let expected = json!({"id": "0.1", "label": "0x1000", "threads": 2, "begin_ns": 100, "elapsed_ns": 1400, "tasks": 4, "edges": 1,
        "task_work_ns": 370, "span_hops": 3, "width": 2, "chain_ns": 210, "chain_hops": 2,
        "levels": [{"tasks": 2, "work_ns": 210}, {"tasks": 1, "work_ns": 60}, {"tasks": 1, "work_ns": 100}]});
    assert_eq!(picked(region, &expected), expected);
    let number = |field: &str| region[field].as_u64().unwrap();
    // What follows the last chunk's end and 25 is the next request: 5 ns of each thread may count as either.
    assert!(number("work_ns").abs_diff(work) <= 10, "{region}");
    assert_eq!(
        number("work_ns") + number("delay_ns") + number("no_work_ns"),
        2 * 1400
    );
    let bounds = (number("lower_bound_ns"), number("upper_bound_ns"));
    let half = number("work_ns").div_ceil(2);
    let span = number("span_ns");
    assert_eq!(bounds, (half.max(span), half + span));
    // 1 and 2 in turn, and 4 within 1; or all that thread 0 does.
    let critical = graph["functions"].as_array().unwrap().iter();
    let sum: u64 = critical
        .map(|function| function["span_ns"].as_u64().unwrap())
        .sum();
    assert_eq!(sum, span);
    let total = &graph["total"];
    for field in [
        "work_ns",
        "span_ns",
        "delay_ns",
        "no_work_ns",
        "width",
        "tasks",
        "edges",
    ] {
        assert_eq!(total[field], region[field], "{field}");
    }
    assert_eq!(graph["order_violations"], 0);
}

#[test]
fn chains_of_inout_give_one_edge_for_each_task_but_the_first_of_each() {
    let dir = tempfile::tempdir().unwrap();
    let tasks = synth::tasks(dir.path(), synth::layouts()[0], 3, 4_000).unwrap();
    let path = dir.path().to_str().unwrap();
    let json = parsed(path);
    assert_eq!(json["nodes"].as_array().unwrap().len() as u64, tasks);
    // 64 addresses, all tasks siblings, each with one inout: 64 chains.
    assert_eq!(json["edges"].as_array().unwrap().len() as u64, tasks - 64);
    let region = &json["regions"][0];
    assert_eq!(
        (&region["width"], &region["span_hops"]),
        (&json!(64), &json!(tasks.div_ceil(64)))
    );
    let dot = graph(path, "dot");
    assert_eq!(
        dot.lines().filter(|line| line.contains(" [label=")).count() as u64,
        tasks
    );
    assert_eq!(
        dot.lines().filter(|line| line.contains(" -> ")).count() as u64,
        tasks - 64
    );
    let (_, summary, _) = instr(&["summary", "--json", path]);
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["tasks"]["edges"], tasks - 64);
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
        let colour = line.split("fillcolor=").nth(1).unwrap();
        colour.split(',').next().unwrap().to_owned()
    };
    assert_eq!(colour("0.1"), colour("0.2"));
    assert_eq!(colour("0.3"), colour("0.4"));
    assert_ne!(colour("0.1"), colour("0.3"));
}

#[test]
fn the_graph_goes_to_a_file_on_request_and_the_tables_to_the_error_stream() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for format in ["dot", "json", "graphml", "svg"] {
        let file = fixture.out.path().join("graph");
        let name = file.to_str().unwrap();
        let arguments = ["graph", fixture.path(), "--format", format, "-o", name];
        let (status, out, err) = instr(&arguments);
        assert_eq!((status, out.as_str()), (Status::Done, ""));
        let (_, tables, _) = instr(&["graph", fixture.path()]);
        // In front of them stands what the command has to warn of.
        assert!(!tables.is_empty() && err.ends_with(&tables), "{err}");
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            graph(fixture.path(), format)
        );
    }
}

#[test]
fn the_tables_answer_the_question_first() {
    let (status, out, err) = instr(&["graph", Fixture::new(synth::layouts()[0]).path()]);
    assert_eq!(status, Status::Done);
    assert!(!err.contains("span"), "{err}");
    let first = out.lines().next().unwrap();
    assert!(
        first.starts_with("synth · exposed parallelism 1.6, exploited 1.0 on 2 threads ("),
        "{out}"
    );
    for word in [
        "span T∞",
        "max(T1/P, T∞)",
        "no work",
        "of the span",
        "ready wait",
        "slack",
        "level ",
        "outside of tasks",
    ] {
        assert!(out.contains(word), "{word} in {out}");
    }
}

#[test]
fn a_trace_without_tasks_says_so() {
    let dir = tempfile::tempdir().unwrap();
    synth::user_events(dir.path(), synth::layouts()[0], 2, 100, 10).unwrap();
    let path = dir.path().to_str().unwrap();
    let (status, out, _) = instr(&["graph", path]);
    assert_eq!(status, Status::Done);
    assert_eq!(out, "synth · no parallel region with explicit tasks\n");
    let json = parsed(path);
    assert_eq!((&json["nodes"], &json["regions"]), (&json!([]), &json!([])));
    for format in ["dot", "graphml", "svg"] {
        graph(path, format);
    }
}

/// `count` tasks of one thread, in `levels` levels; each works longer than it takes to create a level.
fn many(dir: &Path, count: u32, levels: u32) {
    let layout = synth::layouts()[0];
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, 1 << 16).unwrap();
    let mut now = START_TICKS;
    let mut put = |id: u8, fields: &dyn Fn(&mut Body)| {
        now += if id == 43 {
            10 * u64::from(count / levels)
        } else {
            5
        };
        stream.event(now, id, |body| fields(body)).unwrap();
    };
    put(1, &|b| _ = b.u32(1).u32(1));
    put(16, &|b| _ = b.u32(1).addr(0x1000).u32(1).u32(0));
    put(18, &|b| _ = b.u32(0).u32(1).u32(0).u32(1));
    for seq in 0..count {
        let address = u64::from(seq % (count / levels)) * 8 + 8;
        put(40, &|b| {
            _ = b.u32(seq).addr(0x2000).u32(8).deps(&[(address, 2)])
        });
        put(41, &|_| {});
    }
    put(32, &|b| _ = b.u32(2));
    for seq in 0..count {
        put(42, &|b| _ = b.u32(0).u32(seq));
        put(43, &|_| {});
    }
    put(33, &|b| _ = b.u32(2));
    put(19, &|_| {});
    put(17, &|b| _ = b.u32(1));
    put(2, &|_| {});
    stream.finish().unwrap();
}

/// What stands in `text` between `begin` and the next `end`, each time.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Vec<&'t str> {
    let parts = text.split(begin).skip(1);
    parts.filter_map(|part| part.split(end).next()).collect()
}

/// The width of a picture, and its boxes.
fn width_and_boxes(svg: &str) -> (usize, usize) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let width = document.root_element().attribute("width").unwrap();
    (
        width.parse().unwrap(),
        between(svg, "<rect x=\"", "\"").len(),
    )
}

#[test]
fn a_picture_has_a_box_for_each_task_while_they_are_few() {
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 100, 5);
    let svg = graph(dir.path().to_str().unwrap(), "svg");
    let columns = |svg: &str| -> usize {
        let boxes = between(svg, "<rect x=\"", "\"").into_iter();
        boxes.collect::<std::collections::BTreeSet<_>>().len()
    };
    let (width, boxes) = width_and_boxes(&svg);
    assert!(width <= 1_600, "{width}");
    assert_eq!((boxes, columns(&svg)), (100, 5));
    assert_eq!(between(&svg, "<path d=\"", "\"").len(), 80);
    // A path through all levels is critical.
    assert_eq!(between(&svg, "class=\"critical\"", "/>").len(), 5);
    // Too many levels for columns: they are rows.
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 100, 25);
    let svg = graph(dir.path().to_str().unwrap(), "svg");
    let (width, boxes) = width_and_boxes(&svg);
    assert!(width <= 1_600, "{width}");
    assert_eq!((boxes, columns(&svg)), (100, 4));
    assert_eq!(between(&svg, "<path d=\"", "\"").len(), 96);
}

#[test]
fn a_picture_of_many_tasks_has_a_box_for_each_function_and_level() {
    // Tasks, levels, levels of a row: of a function there are tasks × step ÷ levels in a box.
    for (tasks, levels, step) in [(400, 20, 1), (5_000, 50, 2), (1_200, 1_200, 25)] {
        let dir = tempfile::tempdir().unwrap();
        many(dir.path(), tasks, levels);
        let path = dir.path().to_str().unwrap();
        let (status, svg, err) = instr(&["graph", path, "--format", "svg"]);
        assert_eq!(status, Status::Done);
        let (width, boxes) = width_and_boxes(&svg);
        assert!(width <= 1_600, "{width}");
        let rows = (levels / step) as usize;
        assert_eq!(boxes, rows, "{tasks} tasks");
        let (of_box, of_level) = (tasks * step / levels, tasks / levels);
        let text = format!(
            ">{} task{}, ",
            crate::summary::units::count(of_box.into()),
            if of_box == 1 { "" } else { "s" }
        );
        assert_eq!(svg.matches(&text).count(), rows, "{text}");
        // From each row to the next goes a line for the tasks of one level; all others are inside.
        assert_eq!(between(&svg, "<path d=\"", "\"").len(), rows - 1);
        let number = format!("class=\"small middle\">{of_level}</text>");
        assert_eq!(svg.matches(&number).count(), rows - 1);
        if step > 1 {
            let inside = (step - 1) * of_level;
            let inside = format!("\n{inside} dependences among them");
            assert_eq!(svg.matches(&inside).count(), rows, "{inside}");
        }
        let told = "--all-tasks draws every task";
        assert!(svg.contains(told) && err.contains(told), "{err}");
    }
}

#[test]
fn every_task_is_drawn_on_request() {
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 400, 20);
    let path = dir.path().to_str().unwrap();
    let (_, svg, err) = instr(&["graph", path, "--format", "svg", "--all-tasks"]);
    assert_eq!(width_and_boxes(&svg).1, 400);
    assert_eq!(between(&svg, "<path d=\"", "\"").len(), 380);
    assert!(!err.contains("the picture"), "{err}");
}

#[test]
fn the_ending_of_a_file_is_its_format() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for (name, format) in [
        ("a.dot", "dot"),
        ("a.gv", "dot"),
        ("a.graphml", "graphml"),
        ("a.json", "json"),
        ("a.b.svg", "svg"),
    ] {
        let (status, out, _) = instr(&["graph", fixture.path(), "-o", &file(name)]);
        assert_eq!((status, out.as_str()), (Status::Done, ""), "{name}");
        let written = std::fs::read_to_string(file(name)).unwrap();
        assert_eq!(written, graph(fixture.path(), format), "{name}");
    }
    let (_, tables, _) = instr(&["graph", fixture.path()]);
    for name in ["a.txt", "plain"] {
        let (status, _, _) = instr(&["graph", fixture.path(), "-o", &file(name)]);
        assert_eq!(status, Status::Done);
        assert_eq!(std::fs::read_to_string(file(name)).unwrap(), tables);
    }
    for (arguments, part) in [
        (vec!["-o", "a.png"], ".png is none of .dot"),
        (
            vec!["-o", "a.svg", "--format", "dot"],
            "--format dot and a file for svg contradict each other: a.svg",
        ),
        (vec!["--all-tasks"], "--all-tasks is for pictures"),
        (
            vec!["--all-tasks", "-o", "a.json"],
            "--all-tasks is for pictures",
        ),
    ] {
        let words: Vec<&str> = ["graph", fixture.path()]
            .into_iter()
            .chain(arguments)
            .collect();
        let (status, _, err) = instr(&words);
        assert_eq!(status, Status::Usage, "{err}");
        assert!(err.contains(part) && err.contains("\n  help: "), "{err}");
    }
}

#[test]
fn what_a_picture_leaves_out_is_told() {
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 1_200, 1_200);
    let path = dir.path().to_str().unwrap();
    let (_, svg, err) = instr(&["graph", path, "--format", "svg", "--all-tasks"]);
    let told = "200 tasks not drawn, in levels and regions behind the first 1 000";
    assert!(svg.contains(told) && err.contains(told), "{err}");
    assert_eq!(between(&svg, "<rect x=\"", "\"").len(), 1_000);
    roxmltree::Document::parse(&svg).unwrap();
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 3_001, 1);
    let path = dir.path().to_str().unwrap();
    let (_, _, err) = instr(&["graph", path, "--format", "dot"]);
    assert!(
        err.contains("3 001 tasks are more than `dot` draws"),
        "{err}"
    );
}

/// Calls everything by a name that tries to break out of every format.
struct Hostile;

const HOSTILE: &str = "]]>\"'\\</text></graphml>&amp;<b>\n\u{1b}[31m\u{fffe}\\";

impl Names for Hostile {
    fn resolve(&self, _: u64) -> Option<CodeName> {
        Some(CodeName {
            function: Some(HOSTILE.to_owned()),
            file: Some(HOSTILE.to_owned()),
            line: Some(7),
            module: None,
            place: None,
        })
    }
}

#[test]
fn hostile_names_stay_inside_their_strings() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let trace = Trace::open(fixture.dir.path()).unwrap();
    let written = |format| {
        let mut out = Vec::new();
        let form = Form {
            format: Some(format),
            all_tasks: false,
        };
        write_graph(&trace, &Hostile, form, &mut out, |_| {}).unwrap();
        String::from_utf8(out).unwrap()
    };
    let json: Value = serde_json::from_str(&written(GraphFormat::Json)).unwrap();
    assert_eq!(json["nodes"][0]["function"], HOSTILE);
    let safe = HOSTILE.replace(['\n', '\u{1b}', '\u{fffe}'], "?");
    for (format, tag) in [(GraphFormat::Graphml, "data"), (GraphFormat::Svg, "title")] {
        let text = written(format);
        let document = roxmltree::Document::parse(&text).unwrap();
        let texts = document
            .descendants()
            .filter(|node| node.has_tag_name(tag))
            .filter_map(|node| node.text());
        assert!(texts.into_iter().any(|text| text.contains(&safe)), "{text}");
    }
    // Each line is a statement whose quotes are balanced, but for the first and the last.
    let dot = written(GraphFormat::Dot);
    for line in dot.lines() {
        let plain = line.replace("\\\\", "").replace("\\\"", "");
        assert_eq!(plain.matches('"').count() % 2, 0, "{line}");
        assert!(!line.contains('\u{1b}'), "{line}");
    }
    assert_eq!(dot.lines().count(), 2 + 4 + 1 + 2);
}

/// Reads a GraphML document with a real parser.
#[test]
fn xml_is_well_formed_and_complete() {
    let dir = tempfile::tempdir().unwrap();
    many(dir.path(), 100, 10);
    let path = dir.path().to_str().unwrap();
    let text = graph(path, "graphml");
    let document = roxmltree::Document::parse(&text).unwrap();
    let named = |name: &str| {
        let all = document.descendants();
        all.filter(|node| node.has_tag_name(name)).count()
    };
    assert_eq!((named("node"), named("edge")), (100, 90));
    let keys: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("key"))
        .filter_map(|node| node.attribute("id"))
        .collect();
    for data in document
        .descendants()
        .filter(|node| node.has_tag_name("data"))
    {
        assert!(keys.contains(&data.attribute("key").unwrap()));
    }
    let ids: Vec<_> = document
        .descendants()
        .filter(|node| node.has_tag_name("node"))
        .filter_map(|node| node.attribute("id"))
        .collect();
    for edge in document
        .descendants()
        .filter(|node| node.has_tag_name("edge"))
    {
        for end in ["source", "target"] {
            assert!(ids.contains(&edge.attribute(end).unwrap()));
        }
    }
    roxmltree::Document::parse(&graph(path, "svg")).unwrap();
}
