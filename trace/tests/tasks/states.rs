//! States that a run of the simulation does not show: detached, cancelled, suspended and lost tasks, taskloops, barriers.

use instr_trace::synth::{self, Body, START_TICKS, StreamWriter};
use instr_trace::tasks::{TaskKind, TaskRecord};
use instr_trace::{RegionId, TaskId, Trace};

use crate::{Collected, collect};

/// Thread, time, event, fields.
type Line<'l> = (u32, u64, u8, &'l dyn Fn(&mut Body));

fn none(_: &mut Body) {}

/// What comes of these events of two threads, in any layout.
fn of(lines: &[Line<'_>]) -> Collected {
    let mut all = synth::layouts().into_iter().map(|layout| {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        for thread in 0..2 {
            let mut stream = StreamWriter::create(dir.path(), layout, thread, 1 << 16).unwrap();
            for (_, time, id, fields) in lines.iter().filter(|line| line.0 == thread) {
                stream
                    .event(START_TICKS + time, *id, |body| fields(body))
                    .unwrap();
            }
            stream.finish().unwrap();
        }
        let collected = collect(&Trace::open(dir.path()).unwrap());
        for region in &collected.regions {
            assert_eq!(
                region.work + region.delay + region.no_work,
                region.threads * region.elapsed
            );
        }
        collected
    });
    let first = all.next().unwrap();
    assert!(all.all(|other| other.tasks == first.tasks && other.totals == first.totals));
    first
}

fn times(task: &TaskRecord) -> [Option<u64>; 5] {
    [
        task.created,
        task.ready,
        task.begin,
        task.end,
        task.complete,
    ]
}

/// A region 10–1000 of two threads around `lines`.
fn region(lines: &[Line<'_>]) -> Collected {
    let team = |thread: u32| move |b: &mut Body| _ = b.u32(0).u32(1).u32(thread).u32(2);
    let (first, second) = (team(0), team(1));
    let mut all: Vec<Line<'_>> = vec![
        (0, 0, 1, &|b| _ = b.u32(1).u32(1)),
        (0, 10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(2).u32(0)),
        (0, 20, 18, &first),
        (1, 20, 1, &|b| _ = b.u32(2).u32(0)),
        (1, 20, 18, &second),
    ];
    all.extend_from_slice(lines);
    let end: [Line<'_>; 5] = [
        (0, 900, 19, &none),
        (1, 900, 19, &none),
        (0, 1000, 17, &|b| _ = b.u32(1)),
        (0, 1100, 2, &none),
        (1, 1100, 2, &none),
    ];
    all.extend_from_slice(&end);
    of(&all)
}

/// `task_create` of number `seq` with flags and one `inout` entry.
fn task(seq: u32, flags: u32) -> impl Fn(&mut Body) {
    move |b| _ = b.u32(seq).addr(0x2000).u32(flags).deps(&[(8, 2)])
}

fn id(seq: u32) -> impl Fn(&mut Body) {
    move |b| _ = b.u32(0).u32(seq)
}

#[test]
fn a_detached_task_is_complete_when_its_event_is_fulfilled() {
    const DETACH: u32 = 0x2008;
    let handle = |thread: u32, seq: u32| move |b: &mut Body| _ = b.u32(thread).u32(seq).addr(0x77);
    let unknown = u32::MAX;
    // Told while it is created; fulfilled behind its end.
    let late = region(&[
        (0, 30, 40, &task(1, DETACH)),
        (0, 31, 52, &handle(0, 1)),
        (0, 32, 41, &none),
        (0, 40, 40, &task(2, 8)),
        (0, 42, 41, &none),
        (1, 50, 42, &id(1)),
        (1, 60, 43, &none),
        (0, 80, 53, &handle(unknown, 0)),
        (1, 90, 42, &id(2)),
        (1, 95, 43, &none),
    ]);
    assert_eq!(
        times(&late.tasks[0]),
        [Some(30), Some(30), Some(50), Some(60), Some(80)]
    );
    assert_eq!(
        times(&late.tasks[1]),
        [Some(40), Some(80), Some(90), Some(95), Some(95)]
    );
    assert_eq!(late.totals.order_violations, 0);
    // Fulfilled in its body; the handle is told when the creating call returns, behind all that.
    let early = region(&[
        (0, 30, 40, &task(1, DETACH)),
        (1, 50, 42, &id(1)),
        (1, 55, 53, &handle(unknown, 0)),
        (1, 60, 43, &none),
        (0, 70, 52, &handle(0, 1)),
        (0, 72, 41, &none),
        // The handle again, for another task.
        (0, 80, 40, &task(2, DETACH)),
        (0, 81, 52, &handle(0, 2)),
        (0, 82, 41, &none),
        (1, 90, 42, &id(2)),
        (1, 95, 43, &none),
        (0, 99, 53, &handle(0, 2)),
    ]);
    assert_eq!(
        times(&early.tasks[0]),
        [Some(30), Some(30), Some(50), Some(60), Some(60)]
    );
    assert_eq!(early.tasks[1].complete, Some(99));
    // Nobody fulfils it.
    let never = region(&[
        (0, 30, 40, &task(1, DETACH)),
        (0, 32, 41, &none),
        (1, 50, 42, &id(1)),
        (1, 60, 43, &none),
    ]);
    assert_eq!(
        (never.tasks[0].end, never.tasks[0].complete),
        (Some(60), None)
    );
    assert!(!never.tasks[0].cancelled);
    // User code: 880 ns on thread 0 less 2 of creation, of which 10 are before the task.
    assert_eq!(never.totals.span_ns, 878);
}

#[test]
fn a_task_that_never_begins_is_cancelled_with_its_region() {
    let collected = region(&[
        (0, 30, 40, &task(1, 8)),
        (0, 32, 41, &none),
        (0, 40, 40, &task(2, 8)),
        (0, 42, 41, &none),
        (1, 50, 42, &id(1)),
        (1, 60, 43, &none),
        (0, 70, 38, &|b| _ = b.u32(1).u32(3)),
    ]);
    let [first, second] = &collected.tasks[..] else {
        panic!("two tasks");
    };
    assert!(!first.cancelled && second.cancelled);
    assert_eq!(times(second), [Some(40), Some(60), None, None, None]);
    assert_eq!(second.level, None);
    let region = &collected.regions[0];
    assert_eq!((region.tasks, region.edges, region.width()), (1, 1, 1));
    assert_eq!(collected.totals.cancelled, 1);
}

#[test]
fn a_suspended_task_goes_on_elsewhere() {
    let collected = region(&[
        (1, 25, 19, &none),
        (0, 30, 40, &task(1, 1)),
        (0, 32, 41, &none),
        (0, 35, 32, &|b| _ = b.u32(3)),
        (0, 40, 42, &id(1)),
        (0, 50, 50, &none),
        (1, 70, 51, &id(1)),
        (1, 90, 43, &none),
        (0, 95, 33, &|b| _ = b.u32(3)),
    ]);
    let record = &collected.tasks[0];
    assert_eq!(
        times(record),
        [Some(30), Some(30), Some(40), Some(90), Some(90)]
    );
    assert_eq!(
        (record.duration, record.work, record.thread),
        (30, 30, Some(0))
    );
    // Behind 10 + 3 ns of its creator, which then waits for it and works 805 ns more.
    assert_eq!(collected.totals.span_ns, 10 + 30 + 805);
}

#[test]
fn a_taskloop_is_created_piece_by_piece_and_waits_for_its_pieces() {
    let begin = |flags: u32| {
        move |b: &mut Body| _ = b.u32(5).addr(0x3000).u32(flags).u64(2).i64(0).i64(8).i64(1)
    };
    let piece = |seq: u32| move |b: &mut Body| _ = b.u32(0).u32(5).u32(seq).i64(0).i64(4);
    let own = |seq: u32| move |b: &mut Body| _ = b.u32(1).u32(seq);
    let run = |flags: u32| {
        region(&[
            (1, 25, 19, &none),
            (0, 30, 46, &begin(flags)),
            (1, 40, 49, &piece(0)),
            (1, 40, 42, &own(0)),
            (1, 140, 43, &none),
            (1, 150, 49, &piece(1)),
            (1, 150, 42, &own(1)),
            (1, 190, 43, &none),
            (0, 200, 47, &none),
        ])
    };
    let grouped = run(0);
    let kinds: Vec<_> = grouped
        .tasks
        .iter()
        .map(|task| (task.kind, task.function))
        .collect();
    assert_eq!(kinds, [(TaskKind::Taskloop, 0x3000); 2]);
    assert_eq!(
        times(&grouped.tasks[0]),
        [Some(40), Some(40), Some(40), Some(140), Some(140)]
    );
    assert_eq!(
        (grouped.regions[0].width(), grouped.regions[0].span_hops()),
        (2, 1)
    );
    // 10 before, 100 for the longer piece, 700 behind.
    assert_eq!(grouped.totals.span_ns, 10 + 100 + 700);
    // With nogroup what follows is not behind the pieces.
    assert_eq!(run(0x800).totals.span_ns, 10 + 700);
}

#[test]
fn a_barrier_joins_the_team_and_its_tasks() {
    let kind = |b: &mut Body| _ = b.u32(1);
    let collected = region(&[
        (1, 30, 40, &|b| _ = b.u32(1).addr(0x2000).u32(0).deps(&[])),
        (1, 30, 41, &none),
        (0, 50, 32, &kind),
        (1, 130, 32, &kind),
        (0, 140, 42, &|b| _ = b.u32(1).u32(1)),
        (0, 200, 43, &none),
        (0, 210, 33, &kind),
        (1, 210, 33, &kind),
        (1, 220, 40, &|b| _ = b.u32(2).addr(0x2000).u32(0).deps(&[])),
        (1, 220, 41, &none),
        (0, 240, 32, &kind),
        (1, 240, 32, &kind),
        (0, 250, 42, &|b| _ = b.u32(1).u32(2)),
        (0, 255, 43, &none),
        (0, 260, 33, &kind),
        (1, 260, 33, &kind),
    ]);
    // First phase: thread 1 has 110 ns, the task 10 + 60; second: 30 ns, third: 640.
    assert_eq!(collected.totals.span_ns, 110 + 30 + 640);
    let levels: Vec<_> = collected.tasks.iter().map(|task| task.level).collect();
    assert_eq!(levels, [Some(0), Some(1)]);
}

#[test]
fn a_begin_at_the_time_of_the_predecessors_end_is_in_order() {
    let run = |begin: u64| {
        region(&[
            (0, 30, 40, &task(1, 8)),
            (0, 30, 41, &none),
            (0, 40, 40, &task(2, 8)),
            (0, 40, 41, &none),
            (0, 45, 32, &|b| _ = b.u32(3)),
            (1, 50, 42, &id(1)),
            (1, 100, 43, &none),
            (0, begin, 42, &id(2)),
            (0, 120, 43, &none),
            (0, 130, 33, &|b| _ = b.u32(3)),
        ])
    };
    let tie = run(100);
    assert_eq!(tie.totals.order_violations, 0);
    assert_eq!(
        (tie.tasks[1].level, tie.tasks[1].ready),
        (Some(1), Some(100))
    );
    assert_eq!(tie.totals.span_ns, 10 + 50 + 20 + 770);
    let wrong = run(99);
    assert_eq!(wrong.totals.order_violations, 1);
    assert_eq!(wrong.tasks[1].ready_wait(), Some(0));
}

#[test]
fn mutexinoutset_siblings_that_overlap_are_counted() {
    let task = |seq: u32| move |b: &mut Body| _ = b.u32(seq).addr(0x2000).u32(8).deps(&[(8, 4)]);
    let run = |begin: u64| {
        region(&[
            (0, 30, 40, &task(1)),
            (0, 31, 41, &none),
            (0, 40, 40, &task(2)),
            (0, 41, 41, &none),
            (0, 45, 32, &|b| _ = b.u32(3)),
            (1, 50, 42, &id(1)),
            (1, 100, 43, &none),
            (0, begin, 42, &id(2)),
            (0, 120, 43, &none),
            (0, 130, 33, &|b| _ = b.u32(3)),
        ])
    };
    assert_eq!(run(100).totals.exclusion_violations, 0);
    assert_eq!(run(99).totals.exclusion_violations, 1);
    assert!(run(99).edges.is_empty());
}

#[test]
fn a_gap_costs_only_what_it_hides() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    let mut put = |time: u64, id: u8, fields: &dyn Fn(&mut Body)| {
        stream
            .event(START_TICKS + time, id, |body| fields(body))
            .unwrap();
        if time == 60 {
            stream.close_packet().unwrap();
        } else if time == 70 {
            stream.lose_packet();
            stream.context.discarded = 1;
            stream.context.task = (0, 1);
            stream.context.region = (0, 1);
        }
    };
    put(0, 1, &|b| _ = b.u32(1).u32(1));
    put(10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(1).u32(0));
    put(20, 18, &|b| _ = b.u32(0).u32(1).u32(0).u32(1));
    put(30, 40, &task(1, 8));
    put(31, 41, &none);
    put(40, 32, &|b| _ = b.u32(3));
    put(50, 42, &id(1));
    put(60, 40, &task(2, 8));
    put(70, 41, &none);
    put(80, 40, &task(3, 8));
    put(81, 41, &none);
    put(90, 43, &none);
    put(91, 42, &id(2));
    put(95, 43, &none);
    put(100, 17, &|b| _ = b.u32(1));
    stream.finish().unwrap();
    let collected = collect(&Trace::open(dir.path()).unwrap());
    let numbers: Vec<_> = collected
        .tasks
        .iter()
        .map(|task| (task.id.seq, task.end, task.cancelled))
        .collect();
    assert_eq!(
        numbers,
        [(1, Some(90), false), (2, Some(95), false), (3, None, true)]
    );
    let edge = |from, to| {
        (
            TaskId {
                thread: 0,
                seq: from,
            },
            TaskId { thread: 0, seq: to },
        )
    };
    assert_eq!(collected.edges, [edge(2, 3)]);
    assert_eq!(
        collected.regions[0].id,
        Some(RegionId { thread: 0, seq: 1 })
    );
}

#[test]
fn a_region_that_the_trace_cuts_counts_what_ran_in_it() {
    let collected = of(&[
        (0, 0, 1, &|b| _ = b.u32(1).u32(1)),
        (1, 5, 1, &|b| _ = b.u32(2).u32(0)),
        (0, 10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(1).u32(0)),
        (0, 20, 18, &|b| _ = b.u32(0).u32(1).u32(0).u32(1)),
        (0, 30, 40, &task(1, 0)),
        (0, 35, 41, &none),
        (0, 135, 8, &|b| _ = b.u32(7).u64(1)),
    ]);
    // The program was killed behind the last event: 10 before the task was created, 100 behind that.
    let region = &collected.regions[0];
    assert_eq!((region.threads, region.elapsed), (1, 125));
    assert_eq!((region.work, region.span), (110, 110));
}

/// Whatever that event is, and whichever thread has it: the other one's was long before.
#[test]
fn a_region_that_the_trace_cuts_ends_with_the_last_event_of_all() {
    let collected = of(&[
        (0, 0, 1, &|b| _ = b.u32(1).u32(1)),
        (1, 5, 1, &|b| _ = b.u32(2).u32(0)),
        (0, 10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(2).u32(0)),
        (0, 20, 18, &|b| _ = b.u32(0).u32(1).u32(0).u32(2)),
        (1, 20, 18, &|b| _ = b.u32(0).u32(1).u32(1).u32(2)),
        (0, 30, 40, &task(1, 0)),
        (0, 35, 41, &none),
        (0, 135, 8, &|b| _ = b.u32(7).u64(1)),
        (1, 300, 22, &|b| _ = b.u32(1)),
    ]);
    // Both threads are in user code from their implicit tasks' begin on, but for the creation.
    let region = &collected.regions[0];
    assert_eq!((region.threads, region.elapsed), (2, 290));
    assert_eq!(region.work, (300 - 20) - (35 - 30) + (300 - 20));
    assert_eq!(region.span, 300 - 20);
    // Whether the task would have begun, nobody knows.
    assert!(collected.tasks[0].begin.is_none() && !collected.tasks[0].cancelled);
}

/// A chain does one thing at a time, wherever it is cut.
#[test]
fn a_task_that_the_trace_cuts_is_on_its_path() {
    let collected = of(&[
        (0, 0, 1, &|b| _ = b.u32(1).u32(1)),
        (1, 5, 1, &|b| _ = b.u32(2).u32(0)),
        (0, 10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(2).u32(0)),
        (0, 20, 18, &|b| _ = b.u32(0).u32(1).u32(0).u32(2)),
        (1, 20, 18, &|b| _ = b.u32(0).u32(1).u32(1).u32(2)),
        (1, 21, 32, &|b| _ = b.u32(2)),
        (0, 30, 40, &task(1, 8)),
        (0, 30, 41, &none),
        (0, 40, 32, &|b| _ = b.u32(2)),
        (1, 50, 42, &id(1)),
        // Another thread's event is the last one.
        (0, 400, 42, &id(7)),
    ]);
    // 10 ns up to the creation of the task, which thread 1 runs from 50 to the end at 400.
    let region = &collected.regions[0];
    assert_eq!(region.span, 10 + 350);
}

#[test]
fn a_task_whose_begin_is_lost_runs_behind_the_gap() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
    let mut put = |time: u64, id: u8, fields: &dyn Fn(&mut Body)| {
        stream
            .event(START_TICKS + time, id, |body| fields(body))
            .unwrap();
        if time == 31 {
            stream.close_packet().unwrap();
            stream.context.discarded = 1;
            stream.context.task = (0, 1);
            stream.context.region = (0, 1);
        }
    };
    put(0, 1, &|b| _ = b.u32(1).u32(1));
    put(10, 16, &|b| _ = b.u32(1).addr(0x1000).u32(1).u32(0));
    put(20, 18, &|b| _ = b.u32(0).u32(1).u32(0).u32(1));
    put(30, 40, &task(1, 8));
    put(31, 41, &none);
    put(60, 40, &task(2, 8));
    put(61, 41, &none);
    put(90, 43, &none);
    put(91, 42, &id(2));
    put(95, 43, &none);
    put(100, 17, &|b| _ = b.u32(1));
    stream.finish().unwrap();
    let collected = collect(&Trace::open(dir.path()).unwrap());
    let ends: Vec<_> = collected
        .tasks
        .iter()
        .map(|task| (task.id.seq, task.end, task.cancelled))
        .collect();
    assert_eq!(ends, [(1, Some(90), false), (2, Some(95), false)]);
    // The second is a child of the first, not its sibling.
    assert!(collected.edges.is_empty(), "{:?}", collected.edges);
}
