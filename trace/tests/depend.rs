//! The streaming dependency bookkeeping against the rules of OpenMP applied to all pairs.

use std::collections::{BTreeMap, BTreeSet};

use instr_trace::depend::DependGraph;
use instr_trace::event::{DependKind, RegionId};
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
    Taskwait,
}

/// The entry of a task for an address: the strongest; `omp_all_memory` stands for an `out` of every address.
fn entry(task: &[Entry], address: u64) -> Option<u32> {
    let strength = |kind: &u32| {
        [OUT, MUTEX, INOUTSET, IN]
            .iter()
            .position(|other| other == kind)
    };
    if task.iter().any(|(_, kind)| *kind == ALL) {
        return Some(OUT);
    }
    task.iter()
        .filter(|(at, _)| *at == address)
        .map(|(_, kind)| *kind)
        .min_by_key(strength)
}

/// Whether two entries for one address order their tasks.
fn conflict(a: u32, b: u32) -> bool {
    a == OUT || b == OUT || a != b
}

/// All pairs: on each address an edge where the rules order two siblings and no chain of others does; between two siblings
/// that use all memory, where no sibling with a `depend` clause lies between.
fn reference(steps: &[Step]) -> BTreeSet<(usize, usize)> {
    let mut edges = BTreeSet::new();
    let tasks: Vec<Option<&Vec<Entry>>> = steps
        .iter()
        .map(|step| {
            if let Step::Task(entries) = step {
                Some(entries)
            } else {
                None
            }
        })
        .collect();
    let all = |at: usize| tasks[at].is_some_and(|task| task.iter().any(|(_, kind)| *kind == ALL));
    let addresses: BTreeSet<u64> = tasks
        .iter()
        .flatten()
        .flat_map(|task| task.iter())
        .filter(|(_, kind)| *kind != ALL)
        .map(|(at, _)| *at)
        .collect();
    let waits = |from: usize, to: usize| (from..to).any(|at| tasks[at].is_none());
    let uses = |at: usize, address: u64| {
        tasks[at].is_some_and(|task| {
            task.iter()
                .any(|(own, kind)| *own == address && *kind != ALL)
        })
    };
    for &address in &addresses {
        let kinds: Vec<Option<u32>> = tasks
            .iter()
            .map(|task| task.and_then(|task| entry(task, address)))
            .collect();
        for to in 0..steps.len() {
            let Some(kind) = kinds[to] else { continue };
            // Tasks that `to` is ordered behind, by a chain on this address.
            for from in 0..to {
                let Some(earlier) = kinds[from] else { continue };
                if !conflict(earlier, kind) || waits(from, to) {
                    continue;
                }
                if all(from) && all(to) {
                    continue;
                }
                // An address that nobody used since the last all-memory task is not known to it yet.
                if all(to) && !(from..to).any(|at| uses(at, address)) {
                    continue;
                }
                let mut reached: BTreeSet<usize> = [from].into();
                for middle in from + 1..to {
                    let Some(own) = kinds[middle] else { continue };
                    if reached
                        .iter()
                        .any(|before| conflict(kinds[*before].unwrap(), own))
                    {
                        reached.insert(middle);
                    }
                }
                reached.remove(&from);
                if !reached
                    .iter()
                    .any(|middle| conflict(kinds[*middle].unwrap(), kind))
                {
                    edges.insert((from, to));
                }
            }
        }
    }
    for to in 0..steps.len() {
        for from in 0..to {
            let between = (from + 1..to).any(|at| tasks[at].is_some_and(|task| !task.is_empty()));
            if all(from) && all(to) && !between && !waits(from, to) {
                edges.insert((from, to));
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
            Step::Task(entries)
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
                Step::Task(entries) => {
                    seq += 1;
                    seqs.insert(at, seq);
                    let split = if chained { entries.len() / 2 } else { 0 };
                    if split > 0 {
                        put(44, &|b| _ = b.u32(seq).deps(&entries[..split]));
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

fn streamed(dir: &std::path::Path) -> (BTreeSet<(u32, u32)>, usize) {
    let trace = Trace::open(dir).unwrap();
    let mut graph = DependGraph::with_releases();
    let (mut edges, mut count) = (BTreeSet::new(), 0);
    let mut merge = trace.merge();
    let mut live: BTreeSet<TaskId> = BTreeSet::new();
    while let Some(event) = merge.next().unwrap() {
        graph.event(&event, |from, to| {
            edges.insert((from.seq, to.seq));
            count += 1;
            live.insert(from);
        });
        for task in graph.released() {
            live.remove(&task);
        }
        assert!(
            live.iter().all(|task| graph.is_live(*task)),
            "released tasks are told"
        );
    }
    assert!(
        live.is_empty(),
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

#[test]
fn taskwait_depend_joins_what_it_waits_for() {
    use instr_trace::current::Parent;
    let parent = Parent::Implicit {
        thread: 0,
        region: RegionId { thread: 0, seq: 1 },
    };
    let task = |seq| TaskId { thread: 0, seq };
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[3];
    synth::begin(dir.path(), layout, 1).unwrap();
    let mut stream = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    let steps: [(u32, &[Entry]); 6] = [
        (1, &[(8, OUT)]),
        (2, &[(16, OUT)]),
        (3, &[(8, IN)]),
        (0, &[(8, IN), (16, OUT)]),
        (4, &[(8, IN), (16, IN)]),
        (5, &[(8, OUT)]),
    ];
    for (seq, deps) in steps {
        let id = if seq == 0 { 45 } else { 40 };
        stream
            .event(START_TICKS, id, |b| {
                if seq != 0 {
                    b.u32(seq).addr(1).u32(8);
                } else {
                    b.u32(9).u32(0);
                }
                b.deps(deps);
            })
            .unwrap();
    }
    stream.finish().unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut graph = DependGraph::new();
    let mut edges = Vec::new();
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        match event.payload {
            instr_trace::Payload::TaskCreate { seq, deps, .. } => {
                graph.create(parent, task(seq), deps, |a, b| edges.push((a.seq, b.seq)))
            }
            instr_trace::Payload::TaskwaitDepend { deps, .. } => {
                graph.taskwait_depend(parent, deps)
            }
            _ => {}
        }
    }
    // 1 → 3 before the wait; behind it 4 depends on nothing that still runs; 5 on the readers 3 and 4.
    assert_eq!(edges, [(1, 3), (3, 5), (4, 5)]);
    assert_eq!(DependKind::from(OUT), DependKind::Out);
}
