//! The interpreter: its rules for lost events, and its cost whatever the events.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use instr_trace::event::MutexKind;
use instr_trace::model::{
    Activity, At, Begin, Code, End, Interpreter, Mark, NO_NUMBER, Ran, Since, Sink, Span, State,
};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::tasks::{TaskStates, Totals};
use instr_trace::{Trace, paraver};

type Stream = StreamWriter<std::io::BufWriter<std::fs::File>>;

/// A trace whose thread 0 is written by `fill`; another thread by `worker`.
fn trace(fill: impl Fn(&mut Stream), worker: impl Fn(&mut Stream)) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    for (thread, fill) in [&fill as &dyn Fn(&mut Stream), &worker]
        .into_iter()
        .enumerate()
    {
        let mut stream = StreamWriter::create(dir.path(), layout, thread as u32, 1 << 16).unwrap();
        stream
            .thread_begin(START_TICKS, 4000, u32::from(thread == 0))
            .unwrap();
        fill(&mut stream);
        stream.finish().unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    (dir, trace)
}

/// One thread.
fn alone(fill: impl Fn(&mut Stream)) -> (tempfile::TempDir, Trace) {
    trace(fill, |_| {})
}

/// A line for each call: time, thread, what.
#[derive(Default)]
struct Protocol(String);

fn short(span: &Span) -> String {
    let text = match span {
        Span::Parallel { region, .. } => format!("parallel {}", region.seq),
        Span::Implicit { region, .. } => format!("implicit {}", region.seq),
        Span::Closing { region } => format!("closing {}", region.seq),
        Span::Task { task, .. } => format!("task {}", task.seq),
        Span::Create { task, .. } => format!("create {}", task.seq),
        other => format!("{other:?}"),
    };
    text.to_lowercase()
}

impl Sink for Protocol {
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let (time, thread) = (at.time, at.position);
        writeln!(self.0, "{time} {thread} +{} {how:?}", short(span)).unwrap();
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        let (time, thread) = (at.time, at.position);
        writeln!(self.0, "{time} {thread} -{} {how:?}", short(span)).unwrap();
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        writeln!(self.0, "{} {} {mark:?}", at.time, at.position).unwrap();
    }

    fn state(&mut self, at: At, state: State) {
        writeln!(self.0, "{} {} = {state:?}", at.time, at.position).unwrap();
    }
}

fn interpret(trace: &Trace, sink: &mut impl Sink) {
    let mut model = Interpreter::of(trace);
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, sink);
    }
    model.finish(sink);
}

fn protocol(trace: &Trace) -> Vec<String> {
    let mut protocol = Protocol::default();
    interpret(trace, &mut protocol);
    protocol.0.lines().map(str::to_owned).collect()
}

/// The spans only.
fn spans(trace: &Trace) -> Vec<String> {
    let lines = protocol(trace).into_iter();
    lines.filter(|line| !line.contains('=')).collect()
}

const AT: u64 = START_TICKS;

#[test]
fn a_region_whose_inner_ends_are_lost_ends_with_the_outer_one() {
    let (_dir, trace) = alone(|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 20, (0, 1), 0, 1).unwrap();
        thread.parallel_begin(AT + 30, 2, 0x200, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 40, (0, 2), 0, 1).unwrap();
        // Here implicit_end and parallel_end of region 2 are missing.
        thread.task_create(AT + 50, 1, 0x300, 0x8000, &[]).unwrap();
        thread.task_begin(AT + 60, (0, 1)).unwrap();
        thread.task_end(AT + 1060).unwrap();
        thread.task_created(AT + 1070).unwrap();
        thread.implicit_end(AT + 1080).unwrap();
        thread.parallel_end(AT + 1090, 1).unwrap();
        thread.thread_end(AT + 1100).unwrap();
    });
    let expected = [
        "10 0 +parallel 1 Told",
        "20 0 +implicit 1 Told",
        "30 0 +parallel 2 Told",
        "40 0 +implicit 2 Told",
        "50 0 +create 1 Told",
        "60 0 +task 1 Told",
        "1060 0 -task 1 Told",
        "1070 0 -create 1 Told",
        "1080 0 -implicit 2 Told",
        "1080 0 +closing 2 Told",
        "1090 0 -closing 2 Implied",
        "1090 0 -parallel 2 Implied",
        "1090 0 -implicit 1 Implied",
        "1090 0 -parallel 1 Told",
    ];
    assert_eq!(spans(&trace), expected);
}

/// `outer` ends while nothing is recorded, `other` begins there.
#[test]
fn regions_end_where_recording_is_switched_off() {
    let (_dir, trace) = alone(|thread| {
        thread.region_begin(AT + 10, 0x900).unwrap();
        thread.call_begin(AT + 20, 0x910, &[]).unwrap();
        thread.tracing_off(AT + 30).unwrap();
        thread.tracing_on(AT + 130).unwrap();
        thread.call_end(AT + 140, 0).unwrap();
        thread.region_end(AT + 150).unwrap();
        thread.region_begin(AT + 160, 0x920).unwrap();
        thread.region_end(AT + 170).unwrap();
        thread.thread_end(AT + 200).unwrap();
    });
    let own = |line: &String| line.contains("user") || line.contains("call");
    let found: Vec<_> = spans(&trace).into_iter().filter(own).collect();
    let expected = [
        "10 0 +user { name: 2304 } Told",
        "20 0 +call { name: 2320 } Told",
        "30 0 -call { name: 2320 } Cut",
        "30 0 -user { name: 2304 } Cut",
        "160 0 +user { name: 2336 } Told",
        "170 0 -user { name: 2336 } Told",
    ];
    assert_eq!(found, expected);
}

/// A thread lives up to its last event, and so do its regions, whatever others do later.
#[test]
fn regions_of_a_thread_without_further_events_end_before_recording_is_switched_off() {
    let (_dir, trace) = trace(
        |thread| {
            thread.region_begin(AT + 10, 0x900).unwrap();
            thread.tracing_off(AT + 300).unwrap();
            thread.thread_end(AT + 400).unwrap();
        },
        |thread| {
            thread.region_begin(AT + 20, 0x910).unwrap();
            thread.user_event(AT + 120, 7, 1).unwrap();
        },
    );
    let ends = |line: &String| line.contains("-user");
    let found: Vec<_> = spans(&trace).into_iter().filter(ends).collect();
    let expected = [
        "300 0 -user { name: 2304 } Cut",
        "120 1 -user { name: 2320 } Cut",
    ];
    assert_eq!(found, expected);
}

#[test]
fn ends_without_a_begin_are_passed_over() {
    let (_dir, trace) = alone(|thread| {
        thread.implicit_begin(AT + 10, (0, 1), 0, 1).unwrap();
        thread.task_end(AT + 20).unwrap();
        thread.work_end(AT + 30, false).unwrap();
        thread.sync_end(AT + 40, 2u32).unwrap();
        thread.task_created(AT + 50).unwrap();
        thread.mutex_released(AT + 60, 1u32, 0).unwrap();
        thread.region_end(AT + 70).unwrap();
        thread.implicit_end(AT + 80).unwrap();
        thread.implicit_end(AT + 90).unwrap();
        thread.thread_end(AT + 100).unwrap();
    });
    let expected = [
        "10 0 +implicit 1 Told",
        "80 0 -implicit 1 Told",
        "80 0 +closing 1 Told",
        "100 0 -closing 1 Cut",
    ];
    assert_eq!(spans(&trace), expected);
}

#[test]
fn an_end_does_not_reach_out_of_the_running_task() {
    let (_dir, trace) = alone(|thread| {
        thread.sync_begin(AT + 10, 3u32).unwrap();
        thread.task_begin(AT + 20, (0, 7)).unwrap();
        thread.sync_end(AT + 30, 3u32).unwrap();
        thread.task_end(AT + 40).unwrap();
        thread.sync_end(AT + 50, 3u32).unwrap();
        thread.thread_end(AT + 60).unwrap();
    });
    let lines = protocol(&trace);
    let expected = [
        "0 1 = Useful",
        "10 0 +sync(taskwait) Told",
        "10 0 = Synchronization",
        "20 0 +task 7 Told",
        "20 0 = Useful",
        "40 0 -task 7 Told",
        "40 0 = Synchronization",
        "50 0 -sync(taskwait) Told",
        "50 0 = Useful",
    ];
    assert_eq!(lines[1..], expected);
}

#[test]
fn a_task_that_leaves_its_thread_takes_along_what_is_open_in_it() {
    let (_dir, trace) = trace(
        |thread| {
            thread.task_begin(AT + 10, (0, 1)).unwrap();
            thread.mutex_acquire(AT + 11, 5u32, 0x10).unwrap();
            thread.mutex_acquired(AT + 12, 5u32, 0x10).unwrap();
            thread.sync_begin(AT + 20, 6u32).unwrap();
            thread.task_suspend(AT + 30).unwrap();
            thread.sync_begin(AT + 35, 3u32).unwrap();
            thread.sync_end(AT + 60, 3u32).unwrap();
        },
        |thread| {
            thread.task_resume(AT + 40, (0, 1)).unwrap();
            thread.sync_end(AT + 50, 6u32).unwrap();
            thread.mutex_released(AT + 51, 5u32, 0x10).unwrap();
            thread.task_end(AT + 55).unwrap();
        },
    );
    let of_task: Vec<String> = spans(&trace)
        .into_iter()
        .filter(|line| !line.contains("acquire") && !line.contains("taskwait"))
        .collect();
    let hold = format!("hold {{ kind: {:?}, object: 16 }}", MutexKind::Lock).to_lowercase();
    let expected = [
        "10 0 +task 1 Told".to_owned(),
        format!("12 0 +{hold} Told"),
        "20 0 +sync(taskyield) Told".to_owned(),
        "30 0 -sync(taskyield) Suspended".to_owned(),
        format!("30 0 -{hold} Suspended"),
        "30 0 -task 1 Suspended".to_owned(),
        "40 1 +task 1 Resumed".to_owned(),
        format!("40 1 +{hold} Resumed"),
        "40 1 +sync(taskyield) Resumed".to_owned(),
        "50 1 -sync(taskyield) Told".to_owned(),
        format!("51 1 -{hold} Told"),
        "55 1 -task 1 Told".to_owned(),
    ];
    assert_eq!(of_task, expected);
}

#[test]
fn behind_a_gap_outer_bodies_go_on() {
    let (_dir, trace) = alone(|thread| {
        thread.implicit_begin(AT + 10, (0, 1), 0, 1).unwrap();
        thread.task_begin(AT + 20, (0, 1)).unwrap();
        thread.sync_begin(AT + 30, 3u32).unwrap();
        thread.task_begin(AT + 40, (0, 2)).unwrap();
        thread.close_packet().unwrap();
        thread.lose_packet();
        thread.context.task = (0, 2);
        thread.context.region = (0, 1);
        thread.task_end(AT + 60).unwrap();
        thread.task_end(AT + 70).unwrap();
        thread.implicit_end(AT + 80).unwrap();
    });
    let expected = [
        "10 0 +implicit 1 Told",
        "20 0 +task 1 Told",
        "30 0 +sync(taskwait) Told",
        "40 0 +task 2 Told",
        "60 0 -task 2 Kept",
        "60 0 -sync(taskwait) Cut",
        "60 0 -task 1 Kept",
        "60 0 -implicit 1 Kept",
        "60 0 +implicit 1 Found",
        "60 0 +task 2 Found",
        "60 0 -task 2 Told",
        "70 0 -task 1 Unseen { told: true }",
        "80 0 -implicit 1 Told",
        "80 0 +closing 1 Told",
        "80 0 -closing 1 Cut",
    ];
    assert_eq!(spans(&trace), expected);
}

#[test]
fn a_lock_whose_request_is_lost_is_held_all_the_same() {
    let (_dir, trace) = alone(|thread| {
        thread.mutex_acquired(AT + 10, 5u32, 0x10).unwrap();
        thread.mutex_released(AT + 20, 5u32, 0x10).unwrap();
        thread.mutex_failed(AT + 30, 5u32, 0x10).unwrap();
        thread.thread_end(AT + 40).unwrap();
    });
    let hold = format!("hold {{ kind: {:?}, object: 16 }}", MutexKind::Lock).to_lowercase();
    let expected = [format!("10 0 +{hold} Found"), format!("20 0 -{hold} Told")];
    assert_eq!(spans(&trace), expected);
}

#[test]
fn locks_of_threads_are_free_or_waited_for_and_given_back() {
    let (_dir, trace) = alone(|thread| {
        thread.lock_taken(AT + 10, 7u32, 0x10, 0x400).unwrap();
        thread.mutex_released(AT + 20, 7u32, 0x10).unwrap();
        thread.lock_wait(AT + 30, 9u32, 0x20, 0x500).unwrap();
        thread.mutex_acquired(AT + 40, 9u32, 0x20).unwrap();
        // What gives a lock for writing back tells of one for reading.
        thread.mutex_released(AT + 50, 8u32, 0x20).unwrap();
        thread.lock_wait(AT + 60, 7u32, 0x10, 0x400).unwrap();
        thread.lock_waited(AT + 70, 7u32, 0x10).unwrap();
        thread.lock_busy(AT + 80, 10u32, 0x30, 0x600).unwrap();
        thread.thread_end(AT + 90).unwrap();
    });
    let told = protocol(&trace);
    let lines: Vec<&String> = told
        .iter()
        .filter(|line| line.contains("hold") || line.contains("acquire") || line.contains("Lock"))
        .collect();
    let mutex = "{ kind: mutex, object: 16 }";
    let write = "{ kind: writelock, object: 32 }";
    let mark = |time, kind, object, site, found| {
        format!("{time} 0 Lock {{ kind: {kind}, object: {object}, site: {site}, found: {found} }}")
    };
    let expected = [
        mark(10, "Mutex", 0x10, 0x400, "Free"),
        format!("10 0 +hold {mutex} Found"),
        format!("20 0 -hold {mutex} Told"),
        mark(30, "WriteLock", 0x20, 0x500, "Held"),
        format!("30 0 +acquire {write} Told"),
        format!("40 0 -acquire {write} Told"),
        format!("40 0 +hold {write} Told"),
        format!("50 0 -hold {write} Told"),
        mark(60, "Mutex", 0x10, 0x400, "Held"),
        format!("60 0 +acquire {mutex} Told"),
        format!("70 0 -acquire {mutex} Told"),
        format!("70 0 +hold {mutex} Told"),
        format!("70 0 -hold {mutex} Implied"),
        mark(80, "SpinLock", 0x30, 0x600, "Refused"),
    ];
    assert_eq!(lines, expected.iter().collect::<Vec<_>>());
}

#[test]
fn a_single_block_ends_by_its_event_or_with_the_next_construct_of_the_team() {
    let (_dir, trace) = alone(|thread| {
        thread.single(AT + 10, true).unwrap();
        thread.sync_begin(AT + 20, 3u32).unwrap();
        thread.sync_end(AT + 30, 3u32).unwrap();
        thread.single_end(AT + 40).unwrap();
        thread.single(AT + 50, true).unwrap();
        thread.sync_begin(AT + 60, 2u32).unwrap();
        thread.sync_end(AT + 70, 2u32).unwrap();
        thread.single_end(AT + 80).unwrap();
        thread.thread_end(AT + 90).unwrap();
    });
    let expected = [
        "10 0 +single Told",
        "20 0 +sync(taskwait) Told",
        "30 0 -sync(taskwait) Told",
        "40 0 -single Told",
        "50 0 +single Told",
        "60 0 -single Implied",
        "60 0 +sync(implicitbarrier) Told",
        "70 0 -sync(implicitbarrier) Told",
    ];
    assert_eq!(spans(&trace), expected);
}

/// When spans began, what tasks ran, which body a thread runs, and what it does.
#[derive(Default)]
struct Times(Vec<String>);

impl Sink for Times {
    fn begin(&mut self, _at: At, span: &Span, _how: Begin) {
        match *span {
            Span::Implicit { thread_num, .. } if thread_num == NO_NUMBER => {
                self.0.push("no number".to_owned());
            }
            Span::Implicit { thread_num, .. } => self.0.push(format!("number {thread_num}")),
            Span::Task {
                code, undeferred, ..
            } => {
                let Code { address, site } = code;
                self.0
                    .push(format!("code {address:x} {site}, undeferred {undeferred}"));
            }
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let (time, Since { here, first }) = (at.time, since);
        let first = first.map_or("?".to_owned(), |first| first.to_string());
        let line = format!("{time} -{} {how:?}: {first}, here {here}", short(span));
        self.0.push(line);
    }

    fn task_ran(&mut self, at: At, _task: &Span, ran: Ran) {
        let Ran { whole, own } = ran;
        self.0.push(format!("{} ran {whole}, own {own}", at.time));
    }

    fn body(&mut self, at: At, body: Option<&Span>) {
        let body = body.map_or("initial".to_owned(), short);
        self.0
            .push(format!("{} {} runs {body}", at.time, at.position));
    }

    fn activity(&mut self, at: At, activity: Activity) {
        if at.position == 0 {
            self.0.push(format!("{} {activity:?}", at.time));
        }
    }
}

fn times(trace: &Trace) -> Vec<String> {
    let mut times = Times::default();
    interpret(trace, &mut times);
    times.0
}

#[test]
fn tasks_on_top_of_each_other_and_suspended_ones_have_their_own_times() {
    let (_dir, trace) = alone(|thread| {
        thread.task_create(AT + 5, 1, 0x300, 0x8000, &[]).unwrap();
        thread.task_begin(AT + 10, (0, 1)).unwrap();
        thread.sync_begin(AT + 15, 6u32).unwrap();
        thread.task_begin(AT + 20, (0, 2)).unwrap();
        thread.task_suspend(AT + 50).unwrap();
        thread.sync_end(AT + 60, 6u32).unwrap();
        thread.task_end(AT + 110).unwrap();
        thread.task_created(AT + 120).unwrap();
        thread.task_resume(AT + 200, (0, 2)).unwrap();
        thread.task_end(AT + 207).unwrap();
        // Never seen to begin.
        thread.task_resume(AT + 210, (0, 3)).unwrap();
        thread.task_end(AT + 220).unwrap();
        thread.thread_end(AT + 230).unwrap();
    });
    let expected = [
        "code 300 false, undeferred true",
        "10 0 runs task 1",
        "10 Useful",
        "15 Other",
        "code 0 false, undeferred false",
        "20 0 runs task 2",
        "20 Useful",
        "50 -task 2 Suspended: 20, here 20",
        "50 0 runs task 1",
        "50 Other",
        "60 -sync(taskyield) Told: 15, here 15",
        "60 Useful",
        // 10 to 110, less 20 to 50.
        "110 ran 100, own 70",
        "110 -task 1 Told: 10, here 10",
        "110 0 runs initial",
        "110 Other",
        "120 -create 1 Told: 5, here 5",
        "120 Useful",
        "code 0 false, undeferred false",
        "200 0 runs task 2",
        // 20 to 50 and 200 to 207.
        "207 ran 37, own 37",
        "207 -task 2 Told: 20, here 200",
        "207 0 runs initial",
        "code 0 false, undeferred false",
        "210 0 runs task 3",
        "220 -task 3 Told: ?, here 210",
        "220 0 runs initial",
    ];
    let lines = times(&trace);
    assert_eq!(lines[..2], ["0 Useful", "5 Other"]);
    assert_eq!(lines[2..], expected);
}

#[test]
fn what_goes_on_behind_a_gap_keeps_its_begin() {
    let (_dir, trace) = alone(|thread| {
        thread.implicit_begin(AT + 10, (0, 1), 3, 4).unwrap();
        thread.task_begin(AT + 20, (0, 1)).unwrap();
        thread.task_begin(AT + 30, (0, 2)).unwrap();
        thread.close_packet().unwrap();
        thread.lose_packet();
        thread.context.task = (0, 1);
        thread.context.region = (0, 2);
        thread.task_end(AT + 60).unwrap();
        thread.implicit_end(AT + 70).unwrap();
        thread.task_end(AT + 80).unwrap();
    });
    let expected = [
        "0 Useful",
        "number 3",
        "10 0 runs implicit 1",
        "code 0 false, undeferred false",
        "20 0 runs task 1",
        "code 0 false, undeferred false",
        "30 0 runs task 2",
        "60 -task 2 Cut: 30, here 30",
        "60 -task 1 Kept: 20, here 20",
        "60 -implicit 1 Kept: 10, here 10",
        "60 0 runs task 1",
        // Region 2 began in the gap.
        "no number",
        "60 0 runs implicit 2",
        "code 0 false, undeferred false",
    ];
    let lines = times(&trace);
    assert_eq!(lines[..expected.len()], expected);
    let rest = [
        "70 -implicit 2 Told: ?, here 60",
        "70 0 runs task 1",
        "70 Barrier",
        // 20 to 80, less 30 to 60, which ended at the latest behind the gap.
        "80 -closing 2 Implied: 70, here 70",
        "80 ran 60, own 30",
        "80 -task 1 Told: 20, here 60",
        "80 0 runs implicit 1",
        "80 Useful",
        "80 -implicit 1 Unseen { told: false }: 10, here 10",
        "80 0 runs initial",
    ];
    assert_eq!(lines[expected.len()..], rest);
}

/// What runs: time, number of the body.
#[derive(Default)]
struct Runs(Vec<(u64, u32)>);

impl Sink for Runs {
    fn begin(&mut self, at: At, span: &Span, _: Begin) {
        // The call that creates a task is in the body that makes it.
        if matches!(span, Span::Create { .. }) {
            assert_eq!(at.body, self.0.last().map_or(0, |(_, body)| *body));
        }
    }

    fn body(&mut self, at: At, _: Option<&Span>) {
        self.0.push((at.time, at.body));
    }
}

#[test]
fn a_body_has_its_number_until_its_end() {
    let (_dir, trace) = alone(|thread| {
        thread.task_begin(AT + 10, (0, 1)).unwrap();
        thread.task_begin(AT + 20, (0, 2)).unwrap();
        thread.task_create(AT + 25, 3, 0x100, 0, &[]).unwrap();
        thread.task_end(AT + 30).unwrap();
        thread.task_suspend(AT + 40).unwrap();
        thread.task_begin(AT + 50, (0, 3)).unwrap();
        thread.task_end(AT + 60).unwrap();
        thread.task_resume(AT + 70, (0, 1)).unwrap();
        thread.task_end(AT + 80).unwrap();
    });
    let mut runs = Runs::default();
    let mut model = Interpreter::of(&trace);
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, &mut runs);
    }
    // 0 and 1 are the initial tasks of the two threads. The third task gets the number of the second; the first keeps its own.
    let expected = [
        (10, 2),
        (20, 3),
        (30, 2),
        (40, 0),
        (50, 3),
        (60, 0),
        (70, 2),
        (80, 0),
    ];
    assert_eq!(runs.0, expected);
}

/// Processor time of this thread so far; the time of day where the system does not give it.
fn now(begin: Instant) -> Duration {
    let ns = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split(' ').next()?.parse().ok());
    ns.map_or_else(|| begin.elapsed(), Duration::from_nanos)
}

/// Interprets the trace, merges it, and follows its tasks. What is linear takes some hundredths of a second (a second without
/// optimization), what is not, minutes.
fn is_fast(what: &str, fill: impl Fn(&mut Stream)) {
    let (dir, trace) = alone(fill);
    let begin = Instant::now();
    let before = now(begin);
    let mut model = Interpreter::of(&trace);
    let mut tasks = TaskStates::new(trace.threads(), Totals::default());
    let mut merge = trace.merge();
    while let Some(event) = merge.next().unwrap() {
        let position = trace.position(event.thread).unwrap();
        model.event(position, &event, &mut tasks);
    }
    model.finish(&mut tasks);
    tasks.finish();
    let out = dir.path().join("out");
    let names: [Box<dyn instr_trace::Names>; 1] = [Box::new(instr_trace::names::NoNames)];
    let session = instr_trace::Session::of(vec![trace]);
    paraver::write(&session, &names, &Default::default(), &out, &mut |_, _| {}).unwrap();
    let took = now(begin) - before;
    assert!(took < Duration::from_secs(10), "{what} took {took:?}");
}

const MANY: u64 = 20_000;

#[test]
fn no_sequence_of_events_takes_longer_than_linear() {
    is_fast("locks asked for and others refused", |thread| {
        for number in 0..MANY {
            let at = AT + 2 * number;
            thread.mutex_acquire(at, 5u32, 8 * number).unwrap();
            thread.mutex_failed(at + 1, 5u32, 8 * number + 4).unwrap();
        }
    });
    is_fast("locks held and given back in their order", |thread| {
        for number in 0..MANY / 2 {
            thread.mutex_acquire(AT + number, 5u32, 8 * number).unwrap();
            thread
                .mutex_acquired(AT + number, 5u32, 8 * number)
                .unwrap();
        }
        for number in 0..MANY / 2 {
            thread.mutex_released(AT + MANY, 5u32, 8 * number).unwrap();
        }
    });
    is_fast("creations without their returns", |thread| {
        for number in 0..MANY {
            let seq = number as u32;
            thread.task_create(AT + number, seq, 0x100, 0, &[]).unwrap();
        }
        for number in 0..MANY {
            thread
                .task_begin(AT + MANY + number, (0, number as u32))
                .unwrap();
            thread.task_end(AT + MANY + number).unwrap();
        }
    });
    is_fast("tasks on top of each other, ended in vain", |thread| {
        for number in 0..MANY / 2 {
            thread.task_begin(AT + number, (0, number as u32)).unwrap();
        }
        for number in 0..MANY / 2 {
            thread.implicit_end(AT + MANY + number).unwrap();
            thread
                .parallel_end(AT + MANY + number, number as u32)
                .unwrap();
            thread.sync_end(AT + MANY + number, 3u32).unwrap();
        }
    });
    is_fast("a task with much in it that leaves and returns", |thread| {
        thread.task_begin(AT, (0, 1)).unwrap();
        for number in 0..MANY / 2 {
            thread.masked_begin(AT + number).unwrap();
        }
        for number in 0..MANY / 2 {
            thread.task_suspend(AT + MANY + number).unwrap();
            thread.task_resume(AT + MANY + number, (0, 1)).unwrap();
        }
    });
    is_fast("regions that never end", |thread| {
        for number in 0..MANY {
            let seq = number as u32;
            thread
                .parallel_begin(AT + number, seq, 0x100, 1, 0u32)
                .unwrap();
            thread.implicit_begin(AT + number, (0, seq), 0, 1).unwrap();
        }
    });
}
