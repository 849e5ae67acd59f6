//! The summary of the trace in [`crate::fixture`], against numbers worked out by hand.

mod lost;

use instr_trace::Trace;
use instr_trace::names::NoNames;
use instr_trace::synth;
use instr_trace::synth::random::{self, Damage, Recipe};
use serde_json::{Value, json};

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;
use crate::page::Page;

use super::{Summary, Wanted, summarize, summarize_by};

fn times(count: u64, total: u64, min: u64, max: u64) -> Value {
    json!({"count": count, "total_ns": total, "min_ns": min, "mean_ns": total / count, "max_ns": max})
}

fn place(address: &str) -> Value {
    json!({"function": null, "file": null, "line": null, "label": address, "address": address,
        "call_site": false})
}

fn with(parts: &[Value]) -> Value {
    let mut all = serde_json::Map::new();
    for part in parts {
        all.extend(part.as_object().unwrap().clone());
    }
    Value::Object(all)
}

fn task(
    address: &str,
    count: u64,
    work: u64,
    own: u64,
    min: u64,
    max: u64,
    inclusive: u64,
) -> Value {
    let more = json!({"created": count, "executed": count, "inclusive_ns": inclusive, "work_ns": work, "total_ns": own, "min_ns": min,
        "mean_ns": own / count, "max_ns": max});
    with(&[place(address), more])
}

#[test]
fn every_number_follows_from_the_events_in_all_byte_orders_and_word_sizes() {
    for layout in synth::layouts() {
        let fixture = Fixture::new(layout);
        let summary =
            serde_json::to_value(summarize(&fixture.open(), &NoNames, None, |_| {}).unwrap())
                .unwrap();
        let is = |field: &str, expected: Value| {
            assert_eq!(summary[field], expected, "{field} of {layout:?}")
        };
        is("format", json!(1));
        is("program", json!("synth"));
        is("executable", json!("/opt/synth"));
        is("pid", json!(4000));
        is("closed", json!(true));
        is(
            "clock",
            json!({"source": "synthetic", "frequency_hz": 1_000_000_000}),
        );
        is("duration_ns", json!(2000));
        is(
            "parallel_regions",
            json!([with(&[
                place("0x1000"),
                times(1, 1400, 1400, 1400),
                json!({"load": super::load::tests::region_of_fixture()})
            ])]),
        );
        is("efficiency", super::load::tests::efficiency_of_fixture());
        is(
            "tasks",
            json!({"created": 4, "executed": 4, "undeferred": 1, "edges": 1, "taskwaits_depend": 0, "detached": 0,
                "fulfilled": 0, "suspended": 0, "discarded": 0}),
        );
        // 0x2000: task 1 has 700–900 less 740–800, task 2 950–1050. 0x3000: 560–660 and 740–800. Task 1 creates one task, and waits for it: 30.
        is(
            "task_functions",
            json!([
                task("0x2000", 2, 210, 240, 100, 140, 300),
                task("0x3000", 2, 160, 160, 60, 100, 160)
            ]),
        );
        let dynamic = json!({"schedule": "dynamic", "instances": 1, "chunks": 3,
            "chunk_iterations": {"count": 3, "total": 30, "min": 10, "mean": 10, "max": 10},
            "chunk_times": times(3, 375, 100, 175), "fetch_ns": 25});
        is(
            "loops",
            json!([with(&[place("0x1000"), dynamic, times(2, 400, 185, 215)])]),
        );
        is("sections", json!([]));
        is("singles", json!(1));
        let sync = |kind: &str, all| with(&[json!({"kind": kind}), all]);
        is(
            "syncs",
            json!([
                sync("taskwait", times(2, 500, 80, 420)),
                sync("work-sharing barrier", times(2, 160, 65, 95))
            ]),
        );
        let critical = json!({"name": "0x9000", "kind": "named critical", "count": 1, "contended": 0, "failed": 0,
            "wait_ns": 20, "wait_max_ns": 20, "held_ns": 50, "held_max_ns": 50, "calls": []});
        is("criticals", json!([critical]));
        is("user_events", json!([{"type": 7, "count": 1}]));
        is(
            "regions",
            json!([with(&[json!({"name": "phase"}), times(1, 100, 100, 100)])]),
        );
        is("discarded", json!(0));
        is("truncated_streams", json!(0));
        is("events", json!(53));
        is("children", json!([]));
        let bytes = summary["bytes"].as_u64().unwrap();
        assert_eq!(
            summary["bytes_per_event"],
            json!((bytes as f64 * 100.0 / 53.0).round() / 100.0)
        );
    }
}

#[test]
fn thread_states_add_up_to_the_threads_life() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let summary =
        serde_json::to_value(summarize(&fixture.open(), &NoNames, None, |_| {}).unwrap()).unwrap();
    let first = json!({"index": 0, "os_tid": 4000, "name": "main", "useful_ns": 1500, "sync_ns": 425, "sched_ns": 75,
        "idle_ns": 0, "flush_ns": 0, "processor_ns": null, "processor_wait_ns": null, "scheduling": null, "birth": null, "events": 40, "discarded": 0});
    // The worker waits for its first region, too.
    let second = json!({"index": 1, "os_tid": 4001, "name": "thread 1", "useful_ns": 480, "sync_ns": 895, "sched_ns": 10,
        "idle_ns": 410, "flush_ns": 0, "processor_ns": null, "processor_wait_ns": null, "scheduling": null, "birth": null, "events": 13, "discarded": 0});
    assert_eq!(summary["threads"], json!([first, second]));
}

#[test]
fn one_directory_is_an_object_and_several_are_an_array() {
    let fixture = Fixture::new(synth::layouts()[3]);
    let (status, out, _) = instr(&["summary", "--json", fixture.path()]);
    assert_eq!(status, Status::Done);
    let one: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(one["directory"], json!(fixture.path()));
    let other = Fixture::new(synth::layouts()[3]);
    let (_, out, _) = instr(&["summary", "--json", fixture.path(), other.path()]);
    let mut second = one.clone();
    second["directory"] = json!(other.path());
    assert_eq!(
        serde_json::from_str::<Value>(&out).unwrap(),
        json!([one, second])
    );
}

#[test]
fn forked_children_are_listed_under_their_parent() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let child = Fixture::new(synth::layouts()[0]);
    std::fs::rename(child.dir.path(), fixture.dir.path().join("fork-4711")).unwrap();
    let (_, out, _) = instr(&["summary", "--json", fixture.path()]);
    let summary: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(summary["children"].as_array().unwrap().len(), 1);
    assert_eq!(summary["children"][0]["forked"], json!(true));
    assert_eq!(summary["children"][0]["tasks"], summary["tasks"]);
    let (_, out, _) = instr(&["summary", fixture.path()]);
    assert_eq!(
        out.lines()
            .filter(|line| line.starts_with("synth · 2 threads · 2.00 us · x86_64-linux"))
            .count(),
        2
    );
    assert!(out.contains("forked process 4000"));
}

#[test]
fn tables_are_plain_characters_with_units() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let (status, out, err) = instr(&["summary", fixture.path()]);
    assert_eq!(status, Status::Done);
    assert!(
        out.starts_with("synth · 2 threads · 2.00 us · x86_64-linux"),
        "{out}"
    );
    for part in ["53 events", "4 executed, 1 dependence", "docs/reading.md"] {
        assert!(out.contains(part), "{part} in\n{out}");
    }
    let (_, all, _) = instr(&["summary", "--all", fixture.path()]);
    assert!(
        all.lines().all(|line| line == line.trim_end()
            && line.chars().all(|c| c.is_ascii() || "·█…".contains(c))),
        "{all}"
    );
    for part in [
        "4 tasks created, 4 executed (1 undeferred), 1 dependence",
        "1.40 us",
        "phase",
        "53 events",
    ] {
        assert!(all.contains(part), "{part} in\n{all}");
    }
    assert!(!out.contains("static loops"));
    assert!(err.contains("warning: no names from /opt/synth"), "{err}");
}

/// The first screen of what is shown in a directory, on a page of this width.
fn first_screen(summary: &Summary, width: usize) -> String {
    let mut out = Vec::new();
    let mut page = Page::new(&mut out, width, 5, false);
    super::first::screen(summary, &mut page).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn bars_take_the_room_that_their_title_leaves() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let mut summary = summarize(&fixture.open(), &NoNames, None, |_| {}).unwrap();
    let e = summary.efficiency.as_mut().unwrap();
    // A healthy run: nearly all of it is user code.
    (e.threads, e.elapsed_ns, e.capacity_ns) = (2, 122_160_000, 244_320_000);
    (e.region_useful_ns, e.serial_useful_ns) = (242_000_000, 0);
    e.additive.serial_region_efficiency = 1.0;
    e.additive.load_balance = 0.99;
    e.additive.scheduling = 1.0;
    e.additive.team_size = 1.0;
    let title = "the time of 2 threads, 122.16 ms each";
    for width in [40, 60, 80, 120] {
        let out = first_screen(&summary, width);
        assert!(out.contains(title), "{width}:\n{out}");
        let bar = |line: &str| line.chars().filter(|&c| c == '█').count();
        let longest = out.lines().map(bar).max().unwrap();
        // 37 of the title, 5 and 9 of the numbers, two blanks between and one behind; 20 of the longest row where the title is above.
        let room = |first: usize| width.saturating_sub(first + 5 + 9 + 7).min(24);
        let fits = |room: &usize| *room >= 8;
        let wanted = Some(room(37)).filter(fits);
        let wanted = wanted.or(Some(room(20)).filter(fits)).unwrap_or(0);
        assert!(
            longest.abs_diff(wanted) <= 1,
            "{width}: {longest} of {wanted}\n{out}"
        );
        let times = out.lines().skip_while(|line| !line.contains(title));
        for line in times.take_while(|line| !line.contains("most user code")) {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn commands_that_come_next_are_whole_on_every_page() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let mut summary = summarize(&fixture.open(), &NoNames, None, |_| {}).unwrap();
    for (name, quoted) in [
        ("a b  c.instr".to_owned(), "'a b  c.instr'".to_owned()),
        (
            "o\u{1b}[31m.instr".to_owned(),
            "$'o\\033[31m.instr'".to_owned(),
        ),
        ("long/".repeat(40), "long/".repeat(40)),
    ] {
        summary.path = name.into();
        for width in [40, 80] {
            let mut out = Vec::new();
            let mut page = Page::new(&mut out, width, 5, false);
            super::first::next(&summary, &mut page).unwrap();
            let out = String::from_utf8(out).unwrap();
            for command in ["instr summary", "instr merge", "instr export"] {
                assert!(out.contains(&format!("{command} {quoted}")), "{out}");
            }
        }
    }
}

#[test]
fn a_stream_cut_anywhere_still_gives_a_summary_that_adds_up() {
    let whole = Fixture::new(synth::layouts()[0]);
    let file = synth::stream_path(whole.dir.path(), 0);
    let bytes = std::fs::read(&file).unwrap();
    let mut events = 0;
    for length in (0..bytes.len()).step_by(4) {
        std::fs::write(&file, &bytes[..length]).unwrap();
        let trace = whole.open();
        let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
        assert!(
            summary.events >= events,
            "events are only added by a longer file"
        );
        events = summary.events;
        assert!(summary.tasks.executed <= 4 && summary.tasks.created <= 4);
        for (thread, info) in summary.threads.iter().zip(trace.threads()) {
            assert_eq!(
                thread.life_ns(),
                info.last_time - info.first_time,
                "at {length}"
            );
        }
    }
    assert_eq!(events, 52, "all but the last");
}

#[test]
fn one_thread_and_two_give_the_same_summary() {
    let folder = tempfile::tempdir().unwrap();
    let mut tasks = 0;
    for (number, damage) in Damage::EACH.into_iter().cycle().take(27).enumerate() {
        let dir = folder.path().join(number.to_string());
        let recipe = Recipe {
            seed: number as u64,
            threads: 1 + number as u32 % 5,
            constructs: 20,
            damage,
            layout: synth::layouts()[number % synth::layouts().len()],
        };
        random::write(&dir, &recipe).unwrap();
        let trace = Trace::open(&dir).unwrap();
        let summaries = [false, true].map(|apart| {
            let summary = summarize_by(&trace, &NoNames, Wanted::default(), |_| {}, apart).unwrap();
            tasks += summary.tasks.executed;
            serde_json::to_string(&summary).unwrap()
        });
        assert_eq!(summaries[0], summaries[1], "{recipe:?}");
    }
    assert!(tasks > 1000, "{tasks}");
}

#[test]
fn bodies_that_never_ended_are_counted_but_not_timed() {
    let whole = Fixture::new(synth::layouts()[0]);
    let file = synth::stream_path(whole.dir.path(), 1);
    let bytes = std::fs::read(&file).unwrap();
    // Without task_end and thread_end, which have no fields: one header each.
    std::fs::write(&file, &bytes[..bytes.len() - 8]).unwrap();
    let summary = summarize(&whole.open(), &NoNames, None, |_| {}).unwrap();
    assert_eq!(summary.truncated_streams, 1);
    assert_eq!((summary.tasks.executed, summary.tasks.created), (4, 4));
    let waited = &summary
        .task_functions
        .iter()
        .find(|task| task.place.address == Some(0x2000))
        .unwrap();
    assert_eq!(
        (waited.executed, waited.total_ns, waited.min_ns),
        (2, 140, 140)
    );
}

#[test]
fn a_thousand_threads_do_not_flood_the_table() {
    let dir = tempfile::tempdir().unwrap();
    synth::user_events(dir.path(), synth::layouts()[0], 1_000, 5_000, 10).unwrap();
    let path = dir.path().to_str().unwrap();
    let (_, out, _) = instr(&["summary", path]);
    assert!(out.lines().count() < 25, "{out}");
    let (_, out, _) = instr(&["summary", path, "--threads"]);
    assert!(out.lines().count() < 50, "{out}");
    let more = out
        .lines()
        .find(|line| line.starts_with("961 more"))
        .unwrap();
    assert!(
        more.ends_with(&super::units::count(961 * 7)),
        "begin, five user events, end each: {more}"
    );
    let (_, json, _) = instr(&["summary", "--json", path]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["threads"].as_array().unwrap().len(), 1_000);
}

#[test]
fn damaged_streams_give_numbers_that_still_add_up() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let file = synth::stream_path(fixture.dir.path(), 0);
    let bytes = std::fs::read(&file).unwrap();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    for round in 0..400 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + next(4) {
            let at = 104 + next(bytes.len() - 104);
            damaged[at] = next(256) as u8;
        }
        std::fs::write(&file, &damaged).unwrap();
        let trace = fixture.open();
        let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
        for (thread, info) in summary.threads.iter().zip(trace.threads()) {
            assert_eq!(
                thread.life_ns(),
                info.last_time - info.first_time,
                "round {round}"
            );
        }
        for format in ["dot", "json"] {
            let (status, ..) = instr(&["graph", fixture.path(), "--format", format]);
            assert_eq!(status, Status::Done, "round {round}");
        }
        let (status, ..) = instr(&["summary", fixture.path()]);
        assert_eq!(status, Status::Done, "round {round}");
    }
}

#[test]
fn long_tables_end_with_the_number_of_rows_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    for kind in 0..100 {
        let ticks = synth::START_TICKS + u64::from(kind);
        stream
            .event(ticks, 8, |body| _ = body.u32(kind).u64(1))
            .unwrap();
    }
    stream.finish().unwrap();
    let rows = |top: &str| {
        let (_, out, _) = instr(&["summary", dir.path().to_str().unwrap(), "--user", top]);
        out
    };
    let out = rows("--top=40");
    assert!(
        out.contains("\n... and 60 more (--top 100 shows them)\n"),
        "{out}"
    );
    assert!(!rows("--top=100").contains(" more "));
}

/// Names of all fields, at any depth.
fn fields(value: &Value, to: &mut std::collections::BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                to.insert(name.clone());
                fields(value, to);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, to)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_json_form_is_described() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/summary-json.md");
    let described = std::fs::read_to_string(path).unwrap();
    let summary = summarize(
        &Fixture::new(synth::layouts()[0]).open(),
        &NoNames,
        None,
        |_| {},
    );
    let mut all = std::collections::BTreeSet::new();
    fields(&serde_json::to_value(summary.unwrap()).unwrap(), &mut all);
    assert!(all.len() > 100, "{}", all.len());
    let missing: Vec<_> = all
        .iter()
        .filter(|name| !described.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "not in docs/summary-json.md: {missing:?}"
    );
}

#[test]
fn memory_of_allocators_has_its_peak_while_most_was_in_use() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 14).unwrap();
    let mut now = synth::START_TICKS;
    let mut put = |id: u8, address: u64, bytes: Option<u64>| {
        now += 10;
        let fields = |body: &mut synth::Body| {
            body.u32(1).addr(address);
            if let Some(bytes) = bytes {
                body.u64(bytes).addr(4);
            }
        };
        stream.event(now, id, fields).unwrap();
    };
    put(56, 0x1000, Some(100));
    put(56, 0x2000, Some(50));
    put(57, 0x1000, None);
    put(56, 0x3000, Some(10));
    put(56, 0, Some(7)); // refused
    stream.finish().unwrap();
    let trace = instr_trace::Trace::open(dir.path()).unwrap();
    let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
    let [found] = &summary.allocations[..] else {
        panic!("{:?}", summary.allocations)
    };
    assert_eq!((found.count, found.freed, found.refused), (3, 1, 1));
    assert_eq!(
        (found.bytes, found.peak_bytes, found.live_bytes),
        (160, 150, 60)
    );
}

type Stream = synth::StreamWriter<std::io::BufWriter<std::fs::File>>;

/// A trace of one thread.
fn alone(fill: impl Fn(&mut Stream)) -> (tempfile::TempDir, instr_trace::Trace) {
    let (dir, layout) = (tempfile::tempdir().unwrap(), synth::layouts()[0]);
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    stream.thread_begin(AT, 4000, 1).unwrap();
    fill(&mut stream);
    stream.finish().unwrap();
    let trace = instr_trace::Trace::open(dir.path()).unwrap();
    (dir, trace)
}

const AT: u64 = synth::START_TICKS;

#[test]
fn a_task_whose_inner_region_lost_its_end_is_timed_neither_as_a_task_nor_in_the_graph() {
    let (_dir, trace) = alone(|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 20, (0, 1), 0, 1).unwrap();
        thread.task_create(AT + 30, 1, 0x300, 0x8000, &[]).unwrap();
        thread.task_begin(AT + 100, (0, 1)).unwrap();
        thread.parallel_begin(AT + 200, 2, 0x200, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 300, (0, 2), 0, 1).unwrap();
        // Here implicit_end and parallel_end of region 2 are missing.
        thread.task_end(AT + 1100).unwrap();
        thread.task_created(AT + 1110).unwrap();
        thread.implicit_end(AT + 1120).unwrap();
        thread.parallel_end(AT + 1130, 1).unwrap();
        // Outside of all regions again.
        thread.loop_begin(AT + 1140, 2u32, 0, 10, 1, 1).unwrap();
        thread.work_end(AT + 1150, false).unwrap();
        thread.thread_end(AT + 1200).unwrap();
    });
    let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
    let summary = serde_json::to_value(summary).unwrap();
    assert_eq!(summary["task_functions"][0]["executed"], json!(1));
    assert_eq!(summary["task_functions"][0]["total_ns"], json!(0));
    assert_eq!(summary["graph"]["task_work_ns"], json!(0));
    let label = &summary["loops"][0]["label"];
    assert_eq!(label, "(outside of parallel regions)");
}

/// Processor time of this thread so far, where the system gives it.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split(' ')
        .next()
        .and_then(|ns| ns.parse().ok())
        .unwrap_or(0)
}

#[test]
fn no_sequence_of_events_takes_longer_than_linear() {
    const MANY: u64 = 20_000;
    type Fill = fn(&mut Stream, u64);
    let cases: [(&str, Fill); 4] = [
        ("locks asked for and others refused", |thread, number| {
            let at = AT + 2 * number;
            thread.mutex_acquire(at, 5u32, 8 * number).unwrap();
            thread.mutex_failed(at + 1, 5u32, 8 * number + 4).unwrap();
        }),
        ("creations without their returns", |thread, number| {
            let (at, seq) = (AT + 2 * number, number as u32);
            thread.task_create(at, seq, 0x100, 0, &[]).unwrap();
            thread.task_begin(at + 1, (0, seq)).unwrap();
            thread.task_end(at + 1).unwrap();
        }),
        ("waits of two kinds that do not match", |thread, number| {
            thread.sync_begin(AT + number, 3u32).unwrap();
            thread.sync_end(AT + number, 1u32).unwrap();
        }),
        ("tasks without an end", |thread, number| {
            thread.task_begin(AT + number, (0, number as u32)).unwrap();
            thread.implicit_end(AT + number).unwrap();
            thread.parallel_end(AT + number, number as u32).unwrap();
        }),
    ];
    for (what, fill) in cases {
        let (_dir, trace) = alone(|thread| (0..MANY).for_each(|number| fill(thread, number)));
        let before = processor_time();
        summarize(&trace, &NoNames, None, |_| {}).unwrap();
        let took = processor_time() - before;
        assert!(took < 10_000_000_000, "{what} took {took} ns");
    }
}

/// What the launcher recorded is a part: where it is damaged, the rest is shown, and one warning says so.
#[test]
fn a_damaged_recording_of_processors_hides_nothing_else() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let kernel = std::path::Path::new(fixture.path()).join("kernel");
    std::fs::create_dir(&kernel).unwrap();
    std::fs::write(kernel.join("metadata"), "damaged").unwrap();
    let page = fixture.out.path().join("page.html");
    let page = page.to_str().unwrap();
    for command in [
        &["summary", fixture.path()][..],
        &["summary", "--json", fixture.path()],
        &["report", fixture.path(), "-o", page],
    ] {
        let (status, out, err) = instr(command);
        assert_eq!(status, Status::Done, "{command:?}: {err}");
        assert!(!out.is_empty());
        assert_eq!(err.matches("kernel/metadata").count(), 1, "{err}");
    }
}
