//! Random programs: nested tasks, all kinds of dependences, taskwaits, taskgroups, undeferred tasks.

use std::collections::{BTreeMap, BTreeSet};

use instr_trace::model::{Interpreter, Intervals, State};
use instr_trace::tasks::{TaskKind, TaskStates};
use instr_trace::{TaskId, Trace};

use crate::model::{ALL, IN, INOUTSET, MUTEX, OUT, Program, Step, Task, model};
use crate::run::{Random, Run, run};
use crate::{Collected, collect, collect_by};

fn add_task(random: &mut Random, tasks: &mut Vec<Task>, depth: u64, with_all: bool) -> usize {
    let deps = (0..random.below(3)).map(|_| {
        let kind = [IN, IN, OUT, MUTEX, INOUTSET][random.below(5) as usize];
        (0x100 + 8 * random.below(4), kind)
    });
    let mut deps: Vec<(u64, u32)> = deps.collect();
    if with_all && random.below(12) == 0 {
        deps.push((0, ALL));
    }
    let index = tasks.len();
    let wait = !deps.is_empty() && random.below(8) == 0;
    tasks.push(Task {
        deps,
        wait,
        undeferred: !wait && random.below(8) == 0,
        at_once: !wait && random.below(8) == 0,
        ..Task::default()
    });
    if !wait {
        tasks[index].steps = steps(random, tasks, depth, with_all);
    }
    index
}

fn steps(random: &mut Random, tasks: &mut Vec<Task>, depth: u64, with_all: bool) -> Vec<Step> {
    let count = if depth == 0 { 1 } else { random.below(8) + 1 };
    let mut steps = Vec::new();
    let mut open = 0;
    for _ in 0..count {
        match random.below(if depth == 0 { 2 } else { 10 }) {
            0 | 1 => steps.push(Step::Work(random.below(50))),
            2 => steps.push(Step::Taskwait),
            3 => {
                open += 1;
                steps.push(Step::Group);
            }
            4 if open > 0 => {
                open -= 1;
                steps.push(Step::EndGroup);
            }
            _ => steps.push(Step::Create(add_task(random, tasks, depth - 1, with_all))),
        }
    }
    steps.extend((0..open).map(|_| Step::EndGroup));
    steps
}

pub(crate) fn random_program(seed: u64) -> Program {
    let mut random = Random(seed);
    let mut tasks = vec![Task::default()];
    let mut all = Vec::new();
    for _ in 0..4 {
        all.extend(steps(&mut random, &mut tasks, 3, seed.is_multiple_of(3)));
    }
    tasks[0].steps = all;
    Program::new(tasks)
}

/// Runs a program and compares everything with the model.
pub(crate) fn check(program: &Program, threads: usize, seed: u64) -> Collected {
    let dir = tempfile::tempdir().unwrap();
    let ran = run(dir.path(), program, threads, seed);
    let trace = Trace::open(dir.path()).unwrap();
    let segments = TaskStates::with_segments(trace.threads(), Collected::default());
    let collected = collect_by(&trace, segments);
    let streamed = collect(&trace);
    assert_eq!(streamed.tasks, collected.tasks, "segments change no number");
    assert_eq!(streamed.totals, collected.totals);
    let id = |task: usize| TaskId {
        thread: ran.ids[task].0,
        seq: ran.ids[task].1,
    };
    let expected = program
        .edges()
        .iter()
        .map(|(from, to)| (id(*from), id(*to)));
    let edges: BTreeSet<_> = collected.edges.iter().copied().collect();
    assert_eq!(edges, expected.collect());
    assert_eq!(edges.len(), collected.edges.len(), "each edge once");
    assert_eq!(collected.tasks.len(), program.tasks.len() - 1);
    if collected.tasks.is_empty() {
        return collected;
    }
    records(program, &ran, &collected);
    paths(program, &ran, &collected);
    account(&trace, &collected);
    collected
}

fn records(program: &Program, ran: &Run, collected: &Collected) {
    let by_id: BTreeMap<TaskId, _> = collected.tasks.iter().map(|task| (task.id, task)).collect();
    for (index, task) in program.tasks.iter().enumerate().skip(1) {
        let (thread, seq) = ran.ids[index];
        let record = by_id[&TaskId { thread, seq }];
        let before = |edge: &&(TaskId, TaskId)| edge.1 == record.id;
        let complete = collected
            .edges
            .iter()
            .filter(before)
            .map(|(from, _)| by_id[from].complete.unwrap());
        let ready = complete.chain(record.created).max();
        assert_eq!(record.ready, ready);
        let kind = if task.wait {
            TaskKind::Taskwait
        } else {
            TaskKind::Task
        };
        let inside = task.undeferred || task.at_once;
        assert_eq!((record.kind, record.undeferred), (kind, inside));
        let work: u64 = (0..=task.steps.len())
            .filter_map(|step| ran.work.get(&(index, step)))
            .sum();
        assert_eq!(record.work, work);
        assert_eq!(record.complete, record.end);
        let times = [record.created, record.ready, record.begin, record.end];
        assert!(times.is_sorted() && times[0].is_some(), "{record:?}");
        assert!(
            record.work <= record.duration
                && record.duration <= record.end.unwrap() - record.begin.unwrap()
        );
        assert!(!record.cancelled);
    }
    assert_eq!(
        (
            collected.totals.order_violations,
            collected.totals.exclusion_violations
        ),
        (0, 0)
    );
}

fn paths(program: &Program, ran: &Run, collected: &Collected) {
    let expected = model(program, &|task, step| {
        ran.work.get(&(task, step)).copied().unwrap_or(0)
    });
    let [region] = &collected.regions[..] else {
        panic!("one region");
    };
    let by_id: BTreeMap<TaskId, _> = collected.tasks.iter().map(|task| (task.id, task)).collect();
    let mut widths: BTreeMap<u64, u64> = BTreeMap::new();
    for (index, level) in &expected.level {
        let (thread, seq) = ran.ids[*index];
        assert_eq!(
            by_id[&TaskId { thread, seq }].level,
            Some(*level as u32),
            "task {index}"
        );
        *widths.entry(*level).or_default() += 1;
    }
    assert_eq!(
        (region.span, region.span_hops()),
        (expected.span, expected.hops)
    );
    assert_eq!(
        (region.chain, u64::from(region.chain_hops)),
        (expected.chain, expected.chain_hops)
    );
    let levels: Vec<u64> = region.levels.iter().map(|level| level.tasks).collect();
    assert_eq!(levels, widths.values().copied().collect::<Vec<_>>());
    assert_eq!(region.width(), *widths.values().max().unwrap());
    let path = region.segments.as_ref().unwrap().critical_path();
    assert_eq!(path.span, region.span);
    assert_eq!(
        path.critical.iter().flatten().sum::<u64>() + path.outside_ns,
        region.span
    );
}

/// Every nanosecond of every thread of the region, one by one.
fn account(trace: &Trace, collected: &Collected) {
    let region = &collected.regions[0];
    let length = region.elapsed as usize;
    let mut working = vec![0u64; length];
    let mut model = Interpreter::new(trace.threads());
    let mut merge = trace.merge();
    let mut intervals = Vec::new();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(
            position,
            &event,
            &mut Intervals(|interval| intervals.push(interval)),
        );
    }
    model.finish(&mut Intervals(|interval| intervals.push(interval)));
    for interval in intervals
        .iter()
        .filter(|interval| interval.state == State::Useful)
    {
        for at in interval.begin..interval.end {
            let at = at.checked_sub(region.begin).map(|at| at as usize);
            if let Some(working) = at.and_then(|at| working.get_mut(at)) {
                *working += 1;
            }
        }
    }
    let mut ready = vec![0; length];
    for task in collected
        .tasks
        .iter()
        .filter(|task| task.kind == TaskKind::Task)
    {
        for at in task.ready.unwrap()..task.begin.unwrap() {
            ready[(at - region.begin) as usize] += 1;
        }
    }
    // What was told as it happened is what the records say of each nanosecond.
    let mut told = vec![0; length];
    for (time, more) in &collected.ready {
        for at in &mut told[(time - region.begin) as usize..] {
            *at += more;
        }
    }
    assert_eq!(told, ready, "tasks that were ready");
    let idle = |which: bool| -> u64 {
        let times = working
            .iter()
            .zip(&ready)
            .filter(|(_, ready)| (**ready > 0) == which);
        times.map(|(working, _)| region.threads - working).sum()
    };
    assert_eq!(region.work, working.iter().sum::<u64>());
    assert_eq!((region.delay, region.no_work), (idle(true), idle(false)));
    assert_eq!(
        region.work + region.delay + region.no_work,
        region.threads * region.elapsed
    );
    assert_eq!(region.max_parallelism, *working.iter().max().unwrap());
    assert!(
        region.lower_bound() <= region.elapsed,
        "no run is faster than its bound"
    );
}

#[test]
fn random_programs_equal_the_model() {
    let mut tasks = 0;
    for seed in 0..150 {
        let collected = check(&random_program(seed), 1 + seed as usize % 4, seed);
        tasks += collected.tasks.len();
    }
    assert!(tasks > 1500, "{tasks} tasks are too few to mean anything");
}
