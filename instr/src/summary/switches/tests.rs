//! On traces whose numbers can be worked out by hand. One tick is one nanosecond.

use std::path::Path;

use instr_analysis::scheduling::Split;
use instr_analysis::switches::{ContextSwitches, OnProcessor, Processor};
use instr_trace::names::NoNames;
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Trace};

use crate::page::Page;

use super::super::model::Summary;
use super::super::summarize;

const MAIN: u32 = 0x0b01_0001;
const WORKER: u32 = 0x0b01_0002;
const OTHER: u32 = 0x0a01_0003;
const IDLE: u32 = 0x0901_0001;

fn summary(dir: &Path) -> Summary {
    summarize(&Trace::open(dir).unwrap(), &NoNames, None, |_| {}).unwrap()
}

fn begin(dir: &Path, layout: Layout) {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let path = dir.join("metadata");
    let text = std::fs::read_to_string(&path).unwrap();
    let at = text.find("target = \"").unwrap() + "target = \"".len();
    let end = at + text[at..].find('"').unwrap();
    std::fs::write(&path, format!("{}sparc-rtems{}", &text[..at], &text[end..])).unwrap();
}

/// A thread that lives from 0 to 1000; `on` are the times and numbers of processors it tells.
fn thread(dir: &Path, layout: Layout, index: u32, os_tid: u32, on: &[(u64, u32)]) {
    let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
    let flags = u32::from(index == 0);
    stream
        .event(START_TICKS, 1, |body| _ = body.u32(os_tid).u32(flags))
        .unwrap();
    for (time, processor) in on {
        stream
            .event(START_TICKS + time, 89, |body| _ = body.u32(*processor))
            .unwrap();
    }
    stream.event(START_TICKS + 1000, 2, |_| {}).unwrap();
    stream.finish().unwrap();
}

/// The record of a processor from 0 to 1000; `None` loses what was recorded so far.
fn processor(
    dir: &Path,
    layout: Layout,
    index: u32,
    number: u32,
    switches: &[Option<(u64, u32, u32)>],
) {
    let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
    stream
        .event(START_TICKS, 1, |body| _ = body.u32(number).u32(4))
        .unwrap();
    for switch in switches {
        match switch {
            Some((time, from, to)) => stream
                .event(START_TICKS + time, 88, |body| {
                    _ = body.u32(number).u32(*from).u32(*to)
                })
                .unwrap(),
            None => {
                stream.close_packet().unwrap();
                stream.lose_packet();
            }
        }
    }
    stream.event(START_TICKS + 1000, 2, |_| {}).unwrap();
    stream.finish().unwrap();
}

fn on(thread: usize, switches: &ContextSwitches) -> Vec<(u32, u64)> {
    let list = switches.threads[thread].by_processor.iter();
    list.map(|at: &OnProcessor| (at.processor, at.running_ns.unwrap()))
        .collect()
}

#[test]
fn times_of_threads_on_processors_are_those_worked_out_by_hand() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        begin(dir.path(), layout);
        thread(dir.path(), layout, 0, MAIN, &[(10, 0), (500, 1)]);
        thread(dir.path(), layout, 1, WORKER, &[]);
        // main 0-300, idle 300-600, other 600-1000.
        processor(
            dir.path(),
            layout,
            2,
            0,
            &[Some((300, MAIN, IDLE)), Some((600, IDLE, OTHER))],
        );
        // worker 0-350, main 350-450, worker 450-500, main 500-1000.
        processor(
            dir.path(),
            layout,
            3,
            1,
            &[
                Some((350, WORKER, MAIN)),
                Some((450, MAIN, WORKER)),
                Some((500, WORKER, MAIN)),
            ],
        );
        let summary = summary(dir.path());
        let found = summary.context_switches.as_ref().unwrap();
        assert_eq!((found.source, found.count), ("switches", 5));
        let row = |processor, switches, busy_ns, idle_ns| Processor {
            processor,
            switches,
            recorded_ns: 1000,
            busy_ns,
            idle_ns,
            unknown_ns: 0,
        };
        assert_eq!(found.processors, [row(0, 2, 700, 300), row(1, 3, 1000, 0)]);
        let threads: Vec<_> = found
            .threads
            .iter()
            .map(|t| {
                (
                    t.index,
                    t.name.as_str(),
                    t.running_ns.unwrap(),
                    t.runs.unwrap(),
                    t.migrations,
                )
            })
            .collect();
        assert_eq!(
            threads,
            [
                (Some(0), "main", 900, 3, 1),
                (Some(1), "thread 1", 400, 2, 0),
                (None, "idle 1", 300, 1, 0),
                (None, "0x0a010003", 400, 1, 0),
            ]
        );
        assert_eq!(on(0, found), [(0, 300), (1, 600)]);
        assert_eq!(on(1, found), [(1, 400)]);
        // Every thread runs on one processor at a time: the sums over threads and over processors are the same.
        let by_thread: u64 = found.threads.iter().filter_map(|t| t.running_ns).sum();
        assert_eq!(by_thread, 2000);
        let mut text = Vec::new();
        super::table::write(&summary, &mut Page::new(&mut text, 100, 40, false)).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(
            text.contains("scheduled thread") && text.contains("CPU 1"),
            "{text}"
        );
    }
}

#[test]
fn what_is_not_known_is_nobodys_time() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    begin(dir.path(), layout);
    thread(dir.path(), layout, 0, MAIN, &[]);
    // main 0-100, other from 100; a switch is missing before 300; other 300-400; the packet with the switches of 500 is lost: other ran
    // until 400 at least; main 800-900 and on to 1000.
    processor(
        dir.path(),
        layout,
        1,
        0,
        &[
            Some((100, MAIN, OTHER)),
            Some((300, IDLE, OTHER)),
            Some((400, OTHER, MAIN)),
            None,
            Some((800, OTHER, MAIN)),
            Some((900, MAIN, OTHER)),
        ],
    );
    let summary = summary(dir.path());
    let found = summary.context_switches.unwrap();
    assert_eq!(on(0, &found), [(0, 200)], "main");
    assert_eq!(
        on(1, &found),
        [(0, 200)],
        "other: 300 to 400, 900 to the end"
    );
    let at = &found.processors[0];
    assert_eq!((at.busy_ns, at.idle_ns, at.unknown_ns), (400, 0, 600));
    assert_eq!(at.switches, 5);
}

/// Of a thread that lives from 0 to 1000: its own switches.
fn own_switches(dir: &Path, layout: Layout, index: u32, told: &[(u64, u32, u32)]) {
    let mut stream = StreamWriter::create(dir, layout, index | 1 << 31, 1 << 16).unwrap();
    for (time, state, number) in told {
        stream
            .scheduled(START_TICKS + time, *state, *number)
            .unwrap();
    }
    stream.scheduled(START_TICKS + 1000, UNKNOWN, 0).unwrap();
    stream.finish().unwrap();
}

const BLOCKED: u32 = 1;
const READY: u32 = 2;
const RUNNING: u32 = 3;
const UNKNOWN: u32 = 4;

#[test]
fn what_the_system_does_with_a_thread_splits_its_useful_time_by_place() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        // In a region from 250 to 650, in its closing barrier from 550 on.
        let mut main = StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
        main.thread_begin(START_TICKS, 77, 1).unwrap();
        main.parallel_begin(START_TICKS + 250, 0, 0x4000, 1, 0_u32)
            .unwrap();
        main.implicit_begin(START_TICKS + 250, (0, 0), 0, 1)
            .unwrap();
        main.implicit_end(START_TICKS + 550).unwrap();
        main.parallel_end(START_TICKS + 650, 0).unwrap();
        main.thread_end(START_TICKS + 1000).unwrap();
        main.finish().unwrap();
        thread(dir.path(), layout, 1, 78, &[]);
        let told = [
            (10, RUNNING, 1),
            (200, READY, 0),
            (300, RUNNING, 0),
            (400, BLOCKED, 0),
            (600, RUNNING, 0),
            (700, UNKNOWN, 3),
            (800, RUNNING, 1),
        ];
        own_switches(dir.path(), layout, 0, &told);
        let summary = summary(dir.path());
        assert_eq!(summary.threads.len(), 2, "its switches are no thread");
        assert_eq!(summary.threads[1].scheduling, None);
        let found = summary.threads[0].scheduling.unwrap();
        let split = |running_ns, ready_ns, blocked_ns, unknown_ns| Split {
            running_ns,
            ready_ns,
            blocked_ns,
            unknown_ns,
        };
        assert_eq!(found.whole, split(590, 100, 200, 110));
        // In the barrier it was blocked for 50 and ran for 50.
        assert_eq!(found.useful, split(540, 100, 150, 110));
        assert_eq!((found.preempted, found.blocked, found.lost), (1, 1, 3));
        let useful = summary.threads[0].useful_ns;
        assert_eq!(found.useful.total_ns(), useful);
        // Longest wait first.
        let places: Vec<_> = summary.scheduling.iter().map(|at| at.useful).collect();
        assert_eq!(places, [split(100, 50, 150, 0), split(440, 50, 0, 110)]);
        assert_eq!(summary.scheduling[0].place.address, Some(0x4000));
        assert_eq!(
            summary.scheduling[1].place.label,
            "(outside of parallel regions)"
        );
        let counts: Vec<_> = summary
            .scheduling
            .iter()
            .map(|at| (at.preempted, at.blocked))
            .collect();
        assert_eq!(counts, [(0, 1), (1, 0)]);
        let switches = summary.context_switches.unwrap();
        assert_eq!((switches.source, switches.count), ("threads", 2));
        assert_eq!(on(0, &switches), [(0, 200), (1, 390)]);
        let first = &switches.threads[0];
        assert_eq!((first.runs, first.migrations), (Some(4), 2));
    }
}

#[test]
fn switches_of_no_thread_and_behind_its_end_are_passed_over() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    thread(dir.path(), layout, 0, 77, &[]);
    own_switches(
        dir.path(),
        layout,
        0,
        &[(1, RUNNING, 0), (1500, BLOCKED, 0), (1600, RUNNING, 0)],
    );
    own_switches(dir.path(), layout, 9, &[(100, READY, 0)]);
    let summary = summary(dir.path());
    assert_eq!(summary.duration_ns, 1000);
    let found = summary.threads[0].scheduling.unwrap();
    assert_eq!(found.whole.total_ns(), 1000);
    assert_eq!((found.whole.blocked_ns, found.blocked), (0, 0));
}

#[test]
fn a_processor_that_never_switches_runs_what_it_ran_at_the_beginning() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    begin(dir.path(), layout);
    thread(dir.path(), layout, 0, MAIN, &[]);
    processor(dir.path(), layout, 1, 0, &[Some((5, MAIN, MAIN))]);
    processor(dir.path(), layout, 2, 1, &[Some((6, IDLE, IDLE))]);
    // Told at 7, switched at 300; and one that does not fit: a switch in between was not seen.
    let first = Some((7, MAIN, MAIN));
    processor(dir.path(), layout, 3, 2, &[first, Some((300, MAIN, OTHER))]);
    processor(dir.path(), layout, 4, 3, &[first, Some((300, IDLE, OTHER))]);
    processor(dir.path(), layout, 5, 4, &[]);
    let found = summary(dir.path()).context_switches.unwrap();
    let rows: Vec<_> = found
        .processors
        .iter()
        .map(|at| (at.switches, at.busy_ns, at.idle_ns, at.unknown_ns))
        .collect();
    assert_eq!(
        rows,
        [
            (0, 1000, 0, 0),
            (0, 0, 1000, 0),
            (1, 1000, 0, 0),
            (1, 700, 0, 300),
            (0, 0, 0, 1000),
        ]
    );
    assert_eq!(on(0, &found), [(0, 1000), (2, 300)]);
    assert_eq!(found.count, 2);
}

#[test]
fn without_switches_the_threads_events_tell_migrations() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    begin(dir.path(), layout);
    thread(
        dir.path(),
        layout,
        0,
        MAIN,
        &[(1, 0), (2, 0), (3, 2), (4, 0)],
    );
    thread(dir.path(), layout, 1, WORKER, &[(5, 1)]);
    let found = summary(dir.path()).context_switches.unwrap();
    assert_eq!((found.source, found.processors.len()), ("events", 0));
    let migrations: Vec<u64> = found.threads.iter().map(|t| t.migrations).collect();
    assert_eq!(migrations, [2, 0]);
    assert_eq!(found.threads[0].running_ns, None);
    let processors = found.threads[0].by_processor.iter().map(|at| at.processor);
    assert_eq!(processors.collect::<Vec<_>>(), [0, 2]);
}

#[test]
fn nothing_is_said_of_systems_that_tell_no_processors() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    begin(dir.path(), layout);
    thread(dir.path(), layout, 0, MAIN, &[]);
    assert_eq!(summary(dir.path()).context_switches, None);
}
