//! Against numbers worked out by hand, and sums of schedules made in virtual time.

use instr_trace::names::NoNames;
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Trace};
use serde_json::{Value, json};

use super::super::model::Summary;
use super::super::summarize;
use crate::console::tests::instr;
use crate::fixture::Fixture;

/// Thread 0 is useful for 600 outside of the region and 900 inside, of 1400; thread 1 for 5 + 175 + 200 + 100 inside (what it does before
/// its first region is the library's).
pub(in super::super) fn region_of_fixture() -> Value {
    let thread = |number: u32, useful: u64, barrier: u64, start: u64| json!({"thread_num": number, "executions": 1, "useful_ns": useful, "barrier_ns": barrier, "start_ns": start});
    json!({
        "threads": 2, "useful_max_ns": 900, "useful_mean_ns": 690, "useful_min_ns": 480, "imbalance": 900.0 / 690.0,
        "imbalance_loss_ns": 210, "barrier_ns": 1060, "starting_ns": 30, "outermost": 1,
        "parallel_efficiency": 1380.0 / 2800.0, "load_balance": 1380.0 / 1800.0, "scheduling": 1800.0 / 2800.0,
        // 335–400 and 1400–1500; 305–400 and 600–1500 less the task 950–1050.
        "by_thread": [thread(0, 900, 165, 10), thread(1, 480, 895, 15)],
    })
}

pub(in super::super) fn efficiency_of_fixture() -> Value {
    json!({
        "threads": 2, "elapsed_ns": 2000, "capacity_ns": 4000, "useful_ns": 1980, "serialization_ns": 600, "imbalance_ns": 420,
        "scheduling_ns": 1000, "serial_useful_ns": 600, "region_useful_ns": 1380, "parallel_ns": 1400,
        "useful_of_threads_ns": [1500, 480],
        "parallel_efficiency": 1980.0 / 4000.0,
        "multiplicative": {"load_balance": 990.0 / 1500.0, "communication_efficiency": 1500.0 / 2000.0},
        "additive": {"openmp_region_efficiency": 1.0 - 710.0 / 2000.0, "load_balance": 1.0 - 210.0 / 2000.0,
            "scheduling": 0.75, "team_size": 1.0, "serial_region_efficiency": 1.0 - 300.0 / 2000.0},
        "talp": {"serialization": 1980.0 / 2580.0, "load_balance": 2580.0 / 3000.0, "scheduling": 0.75},
        "largest_loss": {"kind": "scheduling", "cause": "barriers", "share": 0.25, "region": "0x1000",
            "text": "the largest loss, 25.0% of the threads' time, is scheduling: threads wait in barriers inside of \
                regions, now for one and now for another"},
    })
}

/// Id, 32-bit words, and an address behind the first of them.
type Entry = (u64, u8, Vec<u32>, Option<u64>);

fn summary_of(layout: Layout, threads: &[Vec<Entry>]) -> (tempfile::TempDir, Summary) {
    let dir = tempfile::tempdir().unwrap();
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    for (thread, events) in (0..).zip(threads) {
        let mut stream = StreamWriter::create(dir.path(), layout, thread, 1 << 16).unwrap();
        for (time, id, words, address) in events {
            let fields = |body: &mut synth::Body| {
                for (at, word) in words.iter().enumerate() {
                    body.u32(*word);
                    if let (0, Some(address)) = (at, address) {
                        body.addr(*address);
                    }
                }
            };
            stream.event(START_TICKS + time, *id, fields).unwrap();
        }
        stream.finish().unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    let summary = summarize(&trace, &NoNames, None, |_| {}).unwrap();
    (dir, summary)
}

/// A team of `threads` from 0 to `end`, in which thread *t* gives `inside(t)` and is in user code until the time that it also gives.
fn team(threads: u32, end: u64, inside: impl Fn(u32) -> (Vec<Entry>, u64)) -> Vec<Vec<Entry>> {
    let mut all = Vec::new();
    for thread in 0..threads {
        let mut events = vec![(0, 1, vec![7, u32::from(thread == 0)], None)];
        if thread == 0 {
            events.push((0, 16, vec![1, 0, 0], Some(0x1000)));
        }
        events.push((0, 18, vec![0, 1, thread, threads], None));
        let (more, until) = inside(thread);
        events.extend(more);
        events.push((until, 19, vec![], None));
        if thread == 0 {
            events.push((end, 17, vec![1], None));
        }
        events.push((end, 2, vec![], None));
        all.push(events);
    }
    all
}

#[test]
fn work_proportional_to_the_thread_number_has_the_imbalance_of_an_arithmetic_series() {
    for layout in synth::layouts() {
        for threads in [2, 4, 7] {
            let n = u64::from(threads);
            let end = 1000 * n;
            let (dir, summary) = summary_of(
                layout,
                &team(threads, end, |thread| {
                    (Vec::new(), 1000 * (u64::from(thread) + 1))
                }),
            );
            // Useful: 1000, 2000 … 1000 n: mean 500 (n + 1); the barrier takes the rest.
            let load = summary.parallel_regions[0].load.as_ref().unwrap();
            assert_eq!(
                (load.useful_max_ns, load.useful_mean_ns, load.useful_min_ns),
                (1000 * n, 500 * (n + 1), 1000)
            );
            let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9);
            let ratio = 2.0 * n as f64 / (n + 1) as f64;
            near(load.imbalance.unwrap(), ratio);
            for (number, thread) in (0..).zip(&load.by_thread) {
                assert_eq!(thread.thread_num, Some(number as u32));
                assert_eq!(
                    (thread.useful_ns, thread.barrier_ns),
                    (1000 * (number + 1), 1000 * (n - number - 1))
                );
            }
            let efficiency = summary.efficiency.as_ref().unwrap();
            near(efficiency.parallel_efficiency, 1.0 / ratio);
            near(efficiency.talp.load_balance, 1.0 / ratio);
            near(efficiency.talp.serialization, 1.0);
            assert_eq!(efficiency.largest_loss.kind, "imbalance");
            let (_, out, _) = instr(&["summary", "--all", dir.path().to_str().unwrap()]);
            assert!(
                out.contains("time, is imbalance: threads of a region"),
                "{out}"
            );
            assert!(out.contains("threads of 0x1000:"), "{out}");
            let commands =
                |line: &str| line.contains("instr summary") || line.contains("instr merge");
            let narrow = |line: &str| line.chars().count() <= 80 || commands(line);
            assert!(out.lines().all(narrow), "{out}");
        }
    }
}

#[test]
fn threads_that_ask_for_a_critical_section_at_once_contend_all_but_the_first() {
    // All ask at 100; thread t has it from 100 + 50 t for 50; at 1000 + 100 t it has it once more, alone.
    let threads = 4;
    let inside = |thread: u32| {
        let mutex = |time: u64, id: u8| (time, id, vec![2], Some(0x9000));
        let (has, alone) = (100 + 50 * u64::from(thread), 1000 + 100 * u64::from(thread));
        let events = vec![
            mutex(100, 34),
            mutex(has, 35),
            mutex(has + 50, 36),
            mutex(alone, 34),
            mutex(alone + 1, 35),
            mutex(alone + 11, 36),
        ];
        (events, 2000)
    };
    let (_dir, summary) = summary_of(synth::layouts()[1], &team(threads, 2000, inside));
    let item = &summary.criticals[0];
    assert_eq!((item.count, item.contended, item.failed), (8, 3, 0));
    assert_eq!((item.wait_ns, item.wait_max_ns), (50 + 100 + 150 + 4, 150));
    assert_eq!((item.held_ns, item.held_max_ns), (4 * 60, 50));
}

#[test]
fn only_regions_with_explicit_tasks_have_a_graph_and_its_parts_add_up() {
    let (_dir, summary) = summary_of(synth::layouts()[0], &team(2, 100, |_| (Vec::new(), 100)));
    assert!(summary.graph.is_none());
    let fixture = Fixture::new(synth::layouts()[2]);
    let summary = summarize(&fixture.open(), &NoNames, None, |_| {}).unwrap();
    let graph = summary.graph.unwrap();
    assert_eq!(
        (graph.regions, graph.threads, graph.elapsed_ns),
        (1, 2, 1400)
    );
    assert_eq!((graph.work_ns, graph.capacity_ns), (1380, 2800));
    // Task 1: 200 less task 4, 10 of creating it, and 20 in the taskwait.
    assert_eq!(graph.task_work_ns, 110 + 100 + 100 + 60);
    assert_eq!(
        graph.work_ns + graph.delay_ns + graph.no_work_ns,
        graph.capacity_ns
    );
    // Task 2 depends on task 1; task 4 is a child of task 1, which waits for it.
    assert_eq!(graph.width, 2);
    assert!(graph.headline.is_some());
}

#[test]
fn a_program_without_parallel_regions_has_no_efficiency() {
    let (_dir, summary) = summary_of(
        synth::layouts()[0],
        &[vec![(0, 1, vec![7, 1], None), (9, 2, vec![], None)]],
    );
    assert!(summary.efficiency.is_none());
    assert!(summary.parallel_regions.is_empty());
}
