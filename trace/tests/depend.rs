//! The streaming dependency bookkeeping against the definition applied to whole lists of siblings.

use std::collections::{BTreeMap, BTreeSet};

use instr_trace::depend::Edges;
use instr_trace::model::Interpreter;
use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use instr_trace::{TaskId, Trace};

type Entry = (u64, u32);
const IN: u32 = 1;
const OUT: u32 = 2;
const MUTEX: u32 = 4;
const INOUTSET: u32 = 5;
const ALL: u32 = 6;

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// What a generating task does.
#[derive(Clone, Debug)]
enum Step {
    Task(Vec<Entry>),
    /// `taskwait` with a `depend` clause.
    Wait(Vec<Entry>),
    Taskwait,
}

/// The entry of a task for an address: different kinds together order like `out`; `omp_all_memory` stands for an `out` of every
/// address.
fn entry(task: &[Entry], address: u64) -> Option<u32> {
    if task.iter().any(|(_, kind)| *kind == ALL) {
        return Some(OUT);
    }
    let own = task.iter().filter(|(at, _)| *at == address);
    let kinds: BTreeSet<u32> = own.map(|(_, kind)| *kind).collect();
    match kinds.len() {
        0 | 1 => kinds.first().copied(),
        _ => Some(OUT),
    }
}

/// The definition in `docs/graph.md`, address by address: the entries in order of creation fall into runs of one kind that does
/// not order its members (an `out` is a run of its own); each member of a run directly follows all members of the run before.
/// An address that nobody names has the entries of the `omp_all_memory` tasks.
fn reference(steps: &[Step]) -> BTreeSet<(usize, usize)> {
    let tasks = || {
        steps
            .iter()
            .enumerate()
            .filter_map(|(at, step)| match step {
                Step::Task(entries) | Step::Wait(entries) => Some((at, entries)),
                Step::Taskwait => None,
            })
    };
    let named = tasks().flat_map(|(_, task)| task.iter().map(|(at, _)| *at));
    let addresses: BTreeSet<u64> = named.chain([u64::MAX]).collect();
    let mut edges = BTreeSet::new();
    for address in addresses {
        let mut runs: Vec<(u32, Vec<usize>)> = Vec::new();
        for (at, task) in tasks() {
            let Some(kind) = entry(task, address) else {
                continue;
            };
            match runs.last_mut() {
                Some((last, members)) if *last == kind && kind != OUT => members.push(at),
                _ => runs.push((kind, vec![at])),
            }
        }
        for pair in runs.windows(2) {
            for from in &pair[0].1 {
                edges.extend(pair[1].1.iter().map(|to| (*from, *to)));
            }
        }
    }
    edges
}

fn random_steps(random: &mut Random, count: u64, with_all: bool) -> Vec<Step> {
    (0..count)
        .map(|_| {
            if random.below(40) == 0 {
                return Step::Taskwait;
            }
            let entries = (0..random.below(4)).map(|_| {
                (
                    0x100 + 8 * random.below(4),
                    [IN, IN, OUT, MUTEX, INOUTSET][random.below(5) as usize],
                )
            });
            let mut entries: Vec<Entry> = entries.collect();
            if with_all && random.below(12) == 0 {
                entries.push((0, ALL));
            }
            match random.below(10) {
                0 if !entries.is_empty() => Step::Wait(entries),
                _ => Step::Task(entries),
            }
        })
        .collect()
}

/// Writes the steps of several generating tasks of one thread, one after the other, and gives each task's expected edges.
fn write(
    dir: &std::path::Path,
    layout: instr_trace::Layout,
    parents: &[Vec<Step>],
    chained: bool,
) -> BTreeSet<(u32, u32)> {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, 4096).unwrap();
    let (mut now, mut seq) = (START_TICKS, 1000u32);
    let mut expected = BTreeSet::new();
    let mut put = |id: u8, fields: &dyn Fn(&mut Body)| {
        now += 1;
        stream.event(now, id, fields).unwrap();
    };
    for (number, steps) in parents.iter().enumerate() {
        let outer = number as u32;
        put(40, &|b| _ = b.u32(outer).addr(1).u32(0).u32(0));
        put(41, &|_| {});
        put(42, &|b| _ = b.u32(0).u32(outer));
        let mut seqs = BTreeMap::new();
        for (at, step) in steps.iter().enumerate() {
            match step {
                Step::Taskwait => {
                    put(32, &|b| _ = b.u32(3));
                    put(33, &|b| _ = b.u32(3));
                }
                Step::Task(entries) | Step::Wait(entries) => {
                    seq += 1;
                    seqs.insert(at, seq);
                    let split = if chained { entries.len() / 2 } else { 0 };
                    if split > 0 {
                        put(44, &|b| _ = b.u32(seq).deps(&entries[..split]));
                    }
                    if let Step::Wait(_) = step {
                        put(45, &|b| _ = b.u32(seq).u32(1).deps(&entries[split..]));
                        continue;
                    }
                    put(40, &|b| {
                        _ = b.u32(seq).addr(2).u32(8).deps(&entries[split..])
                    });
                    put(41, &|_| {});
                }
            }
        }
        put(43, &|_| {});
        expected.extend(
            reference(steps)
                .into_iter()
                .map(|(from, to)| (seqs[&from], seqs[&to])),
        );
    }
    stream.finish().unwrap();
    expected
}

/// Calls `edge` with each edge of the trace; gives how many tasks were kept at its end.
fn follow(trace: &Trace, edge: impl FnMut(TaskId, TaskId)) -> usize {
    let mut edges = Edges::new(edge);
    let mut model = Interpreter::of(trace);
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, &mut edges);
    }
    edges.live()
}

fn streamed(dir: &std::path::Path) -> (BTreeSet<(u32, u32)>, usize) {
    let trace = Trace::open(dir).unwrap();
    let (mut edges, mut count) = (BTreeSet::new(), 0);
    let live = follow(&trace, |from, to| {
        edges.insert((from.seq, to.seq));
        count += 1;
    });
    assert_eq!(
        live, 0,
        "all tasks are released at the end of their parents"
    );
    (edges, count)
}

#[test]
fn edges_equal_those_of_the_rules_on_random_graphs() {
    let mut random = Random(42);
    for round in 0..60 {
        let dir = tempfile::tempdir().unwrap();
        let steps: Vec<_> = (0..3)
            .map(|_| random_steps(&mut random, 40, round % 3 == 0))
            .collect();
        let expected = write(
            dir.path(),
            synth::layouts()[round % 4],
            &steps,
            round % 2 == 0,
        );
        let (edges, count) = streamed(dir.path());
        assert_eq!(edges, expected, "round {round}: {steps:?}");
        assert_eq!(count, edges.len(), "each edge is given once");
    }
}

#[test]
fn block_lu_has_the_edges_of_its_closed_form() {
    // Tiled LU without pivoting, dense: N(N+1)(2N+1)/6 tasks; each block is read or written as the algorithm says.
    for n in [1u64, 2, 5, 8] {
        let block = |i: u64, j: u64| 0x1000 + 8 * (i * n + j);
        let mut steps = Vec::new();
        for k in 0..n {
            steps.push(Step::Task(vec![(block(k, k), OUT)]));
            for j in k + 1..n {
                steps.push(Step::Task(vec![(block(k, k), IN), (block(k, j), OUT)]));
            }
            for i in k + 1..n {
                steps.push(Step::Task(vec![(block(k, k), IN), (block(i, k), OUT)]));
            }
            for i in k + 1..n {
                for j in k + 1..n {
                    steps.push(Step::Task(vec![
                        (block(i, k), IN),
                        (block(k, j), IN),
                        (block(i, j), OUT),
                    ]));
                }
            }
        }
        assert_eq!(steps.len() as u64, n * (n + 1) * (2 * n + 1) / 6);
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), synth::layouts()[0], &[steps], false);
        // lu0 → fwd, bdiv: 2m; fwd, bdiv → bmod: 2m²; bmod → the task of the next step on the same block: m² (m = n-k-1).
        let expected: u64 = (0..n).map(|k| n - k - 1).map(|m| 2 * m + 3 * m * m).sum();
        assert_eq!(streamed(dir.path()).1 as u64, expected, "{n} blocks");
    }
}

/// The edges of these tasks of one parent, by number from 0.
fn edges_of(steps: Vec<Step>) -> Vec<(u32, u32)> {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), synth::layouts()[3], &[steps], false);
    let edges = streamed(dir.path()).0;
    edges.iter().map(|(a, b)| (a - 1001, b - 1001)).collect()
}

#[test]
fn a_taskwait_with_dependences_is_a_task_between_others() {
    let edges = edges_of(vec![
        Step::Task(vec![(8, OUT)]),
        Step::Task(vec![(16, OUT)]),
        Step::Task(vec![(8, IN)]),
        Step::Wait(vec![(8, IN), (16, OUT)]),
        Step::Task(vec![(8, IN), (16, IN)]),
        Step::Task(vec![(8, OUT)]),
    ]);
    let expected = [
        (0, 2),
        (0, 3),
        (0, 4),
        (1, 3),
        (2, 5),
        (3, 4),
        (3, 5),
        (4, 5),
    ];
    assert_eq!(edges, expected);
}

#[test]
fn a_taskwait_keeps_the_edges_across_it() {
    let steps = vec![
        Step::Task(vec![(8, OUT)]),
        Step::Taskwait,
        Step::Task(vec![(8, IN)]),
    ];
    assert_eq!(edges_of(steps), [(0, 1)]);
}

#[test]
fn all_memory_reaches_addresses_nobody_names() {
    let edges = edges_of(vec![
        Step::Task(vec![(8, IN)]),
        Step::Task(vec![(8, IN)]),
        Step::Task(vec![(0, ALL), (8, IN)]),
        Step::Task(vec![]),
        Step::Task(vec![(8, OUT)]),
        Step::Task(vec![(16, IN)]),
        Step::Task(vec![(0, ALL)]),
        Step::Task(vec![(24, MUTEX)]),
    ]);
    let expected = [
        (0, 2),
        (1, 2),
        (2, 4),
        (2, 5),
        (2, 6),
        (4, 6),
        (5, 6),
        (6, 7),
    ];
    assert_eq!(edges, expected);
}

#[test]
fn a_later_member_of_a_set_follows_the_set_before() {
    for kind in [IN, MUTEX, INOUTSET] {
        let steps = vec![
            Step::Task(vec![(8, OUT)]),
            Step::Task(vec![(8, kind)]),
            Step::Task(vec![(8, kind), (8, kind)]),
            Step::Task(vec![(8, OUT)]),
        ];
        assert_eq!(
            edges_of(steps),
            [(0, 1), (0, 2), (1, 3), (2, 3)],
            "kind {kind}"
        );
    }
}

#[test]
fn an_untied_task_goes_on_creating_siblings_on_another_thread() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut streams =
        [0, 1].map(|thread| StreamWriter::create(dir.path(), layout, thread, 4096).unwrap());
    let deps = |b: &mut Body, seq| _ = b.u32(seq).addr(1).u32(8).deps(&[(8, OUT)]);
    let mut put = |thread: usize, time, id, fields: &dyn Fn(&mut Body)| {
        streams[thread]
            .event(START_TICKS + time, id, fields)
            .unwrap();
    };
    put(0, 1, 40, &|b| _ = b.u32(1).addr(1).u32(1).deps(&[]));
    put(0, 2, 41, &|_| {});
    put(0, 3, 42, &|b| _ = b.u32(0).u32(1));
    put(0, 4, 40, &|b| deps(b, 2));
    put(0, 5, 41, &|_| {});
    put(0, 6, 50, &|_| {});
    // Not a sibling: thread 0 is back in its initial task.
    put(0, 7, 40, &|b| deps(b, 3));
    put(1, 8, 51, &|b| _ = b.u32(0).u32(1));
    put(1, 9, 40, &|b| deps(b, 9));
    put(1, 10, 41, &|_| {});
    put(1, 11, 43, &|_| {});
    for stream in streams {
        stream.finish().unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    let mut edges = Vec::new();
    follow(&trace, |a, b| edges.push((a, b)));
    let task = |thread, seq| TaskId { thread, seq };
    assert_eq!(edges, [(task(0, 2), task(1, 9))]);
}
