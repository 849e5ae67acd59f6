//! Events that contradict what came before: lost, given twice, in another order. One rule each, for all outputs.

use std::fmt::Write as _;

use instr_trace::Trace;
use instr_trace::model::{
    At, Begin, End, Interval, Mark, Reading, Since, Sink, Span, State, replay,
};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink, TaskStates};

type Stream = StreamWriter<Vec<u8>>;

const AT: u64 = START_TICKS;

/// A trace of streams that end up in `dir`, each with its first event.
fn trace(streams: &[&dyn Fn(&mut Stream)]) -> (tempfile::TempDir, Trace) {
    trace_cut(streams, &[])
}

/// The same with streams cut off behind so many bytes.
fn trace_cut(streams: &[&dyn Fn(&mut Stream)], lengths: &[usize]) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    for (thread, fill) in (0..).zip(streams) {
        let mut stream = StreamWriter::new(Vec::new(), layout, thread, 1 << 16);
        let flags = u32::from(thread == 0);
        stream.thread_begin(AT, 4000 + thread, flags).unwrap();
        fill(&mut stream);
        let mut bytes = stream.finish().unwrap();
        bytes.truncate(lengths.get(thread as usize).copied().unwrap_or(usize::MAX));
        std::fs::write(synth::stream_path(dir.path(), thread), bytes).unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    (dir, trace)
}

/// Begins and ends of spans, and intervals.
#[derive(Default)]
struct Protocol {
    spans: String,
    intervals: Vec<(usize, State, u64, u64)>,
}

fn short(span: &Span) -> String {
    match span {
        Span::Implicit { region, .. } => format!("implicit {}", region.seq),
        Span::Closing { region } => format!("closing {}", region.seq),
        Span::Task { task, .. } => format!("task {}", task.seq),
        Span::Create { task, .. } => format!("create {}", task.seq),
        Span::Acquire { object, .. } => format!("wait {object}"),
        Span::Hold { object, .. } => format!("hold {object}"),
        other => format!("{other:?}").to_lowercase(),
    }
}

impl Sink for Protocol {
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        let (time, thread) = (at.time, at.position);
        writeln!(self.spans, "{time} {thread} +{} {how:?}", short(span)).unwrap();
    }

    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        let (time, thread) = (at.time, at.position);
        writeln!(self.spans, "{time} {thread} -{} {how:?}", short(span)).unwrap();
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        writeln!(self.spans, "{} {} {mark:?}", at.time, at.position).unwrap();
    }

    fn interval(&mut self, interval: Interval) {
        let Interval {
            position,
            state,
            begin,
            end,
        } = interval;
        self.intervals.push((position, state, begin, end));
    }
}

fn protocol(trace: &Trace) -> Protocol {
    let mut protocol = Protocol::default();
    replay(trace, &mut protocol).unwrap();
    protocol
}

/// Lines that name one of `words`.
fn spans(trace: &Trace, words: &[&str]) -> Vec<String> {
    let spans = protocol(trace).spans;
    let lines = spans
        .lines()
        .filter(|line| words.iter().any(|word| line.contains(word)));
    lines.map(str::to_owned).collect()
}

#[test]
fn a_task_is_created_begins_and_ends_once() {
    let (_dir, trace) = trace(&[&|thread| {
        thread.task_create(AT + 10, 1, 0x100, 0, &[]).unwrap();
        thread.task_create(AT + 11, 1, 0x100, 0, &[]).unwrap();
        thread.task_created(AT + 12).unwrap();
        thread.task_begin(AT + 20, (0, 1)).unwrap();
        thread.task_begin(AT + 21, (0, 1)).unwrap();
        thread.task_end(AT + 30).unwrap();
        thread.task_begin(AT + 40, (0, 1)).unwrap();
        thread.task_resume(AT + 41, (0, 1)).unwrap();
        thread.task_end(AT + 42).unwrap();
        // A creation that comes behind the begin is passed over, a begin whose creation is lost is not.
        thread.task_begin(AT + 50, (0, 2)).unwrap();
        thread.task_end(AT + 60).unwrap();
        thread.task_create(AT + 70, 2, 0x100, 0, &[]).unwrap();
        thread.task_created(AT + 80).unwrap();
    }]);
    let expected = [
        "10 0 +create 1 Told",
        "12 0 -create 1 Told",
        "20 0 +task 1 Told",
        "30 0 -task 1 Told",
        "50 0 +task 2 Told",
        "60 0 -task 2 Told",
    ];
    assert_eq!(spans(&trace, &["task", "create"]), expected);
}

#[test]
fn a_task_cut_by_a_gap_may_go_on() {
    let (_dir, trace) = trace(&[&|thread| {
        thread.task_begin(AT + 10, (0, 1)).unwrap();
        thread.close_packet().unwrap();
        thread.context.discarded = 3;
        thread.sync_begin(AT + 50, 3u32).unwrap();
        thread.task_resume(AT + 60, (0, 1)).unwrap();
        thread.task_end(AT + 70).unwrap();
    }]);
    let expected = [
        "10 0 +task 1 Told",
        "50 0 -task 1 Cut",
        "60 0 +task 1 Resumed",
        "70 0 -task 1 Told",
    ];
    assert_eq!(spans(&trace, &["task 1"]), expected);
}

#[test]
fn the_end_of_a_region_ends_implicit_tasks_whose_ends_are_lost() {
    let (_dir, trace) = trace(&[
        &|thread| {
            thread.parallel_begin(AT + 10, 1, 0x100, 2, 0u32).unwrap();
            thread.implicit_begin(AT + 11, (0, 1), 0, 2).unwrap();
            thread.implicit_end(AT + 50).unwrap();
            thread.parallel_end(AT + 60, 1).unwrap();
            thread.thread_end(AT + 100).unwrap();
        },
        &|thread| {
            thread.implicit_begin(AT + 20, (0, 1), 1, 0).unwrap();
            thread.task_begin(AT + 30, (0, 1)).unwrap();
            thread.task_suspend(AT + 35).unwrap();
            thread.task_begin(AT + 40, (0, 2)).unwrap();
            // Here are missing: the ends of the task and of the implicit task. The other task does not go on behind its region.
            thread.task_resume(AT + 80, (0, 1)).unwrap();
            thread.thread_end(AT + 100).unwrap();
        },
    ]);
    let worker: Vec<_> = spans(&trace, &[" 1 +", " 1 -"]);
    let expected = [
        "20 1 +implicit 1 Told",
        "30 1 +task 1 Told",
        "35 1 -task 1 Suspended",
        "40 1 +task 2 Told",
        "60 1 -task 2 Implied",
        "60 1 -implicit 1 Implied",
    ];
    assert_eq!(worker, expected);
    let states = protocol(&trace).intervals.into_iter();
    let states: Vec<_> = states.filter(|(thread, ..)| *thread == 1).collect();
    let expected = [
        (1, State::Idle, 0, 20),
        (1, State::Useful, 20, 60),
        (1, State::Idle, 60, 100),
    ];
    assert_eq!(states, expected);
}

#[test]
fn a_thread_without_an_end_lives_up_to_its_last_event() {
    let (_dir, trace) = trace(&[
        &|thread| {
            thread.parallel_begin(AT + 10, 1, 0x100, 2, 0u32).unwrap();
            thread.implicit_begin(AT + 11, (0, 1), 0, 2).unwrap();
            thread.implicit_end(AT + 50).unwrap();
            thread.parallel_end(AT + 60, 1).unwrap();
            thread.thread_end(AT + 100).unwrap();
        },
        &|thread| {
            thread.implicit_begin(AT + 20, (0, 1), 1, 0).unwrap();
            thread.implicit_end(AT + 40).unwrap();
        },
    ]);
    assert_eq!(
        spans(&trace, &[" 1 +", " 1 -"])[1..],
        [
            "40 1 -implicit 1 Told",
            "40 1 +closing 1 Told",
            "40 1 -closing 1 Cut"
        ]
    );
    let ends = protocol(&trace).intervals.into_iter();
    assert_eq!(
        ends.filter(|(thread, ..)| *thread == 1)
            .map(|of| of.3)
            .max(),
        Some(40)
    );
}

#[test]
fn a_thread_waits_for_one_lock_at_a_time() {
    let (_dir, trace) = trace(&[&|thread| {
        thread.mutex_acquire(AT + 10, 5u32, 1).unwrap();
        thread.mutex_acquire(AT + 11, 5u32, 2).unwrap();
        thread.mutex_acquired(AT + 12, 5u32, 2).unwrap();
        thread.mutex_acquire(AT + 13, 5u32, 3).unwrap();
        thread.mutex_released(AT + 14, 5u32, 2).unwrap();
        thread.mutex_acquired(AT + 15, 5u32, 3).unwrap();
        thread.mutex_acquire(AT + 16, 5u32, 4).unwrap();
        thread.mutex_failed(AT + 17, 5u32, 5).unwrap();
        thread.mutex_acquire(AT + 18, 5u32, 6).unwrap();
    }]);
    let expected = [
        "10 0 +wait 1 Told",
        "11 0 -wait 1 Implied",
        "11 0 +wait 2 Told",
        "12 0 -wait 2 Told",
        "12 0 +hold 2 Told",
        "13 0 +wait 3 Told",
        "14 0 -wait 3 Implied",
        "14 0 -hold 2 Told",
        "15 0 +hold 3 Found",
        "16 0 +wait 4 Told",
        "17 0 -wait 4 Implied",
        "18 0 +wait 6 Told",
        // What is asked for last ends first.
        "18 0 -wait 6 Cut",
        "18 0 -hold 3 Cut",
    ];
    assert_eq!(spans(&trace, &["wait", "hold"]), expected);
}

#[test]
fn a_suspended_task_takes_a_bounded_number_of_locks_and_taskgroups_along() {
    let (_dir, trace) = trace(&[&|thread| {
        thread.task_begin(AT + 1, (0, 1)).unwrap();
        for number in 0..22 {
            thread.taskgroup_begin(AT + 2).unwrap();
            thread.mutex_acquired(AT + 2, 5u32, number).unwrap();
        }
        thread.task_suspend(AT + 10).unwrap();
        thread.task_resume(AT + 20, (0, 1)).unwrap();
        thread.task_end(AT + 30).unwrap();
    }]);
    let all = spans(&trace, &["hold", "taskgroup"]);
    let count = |begin: &str, what: &str, how: &str| {
        let wanted =
            |line: &&String| line.starts_with(begin) && line.contains(what) && line.ends_with(how);
        all.iter().filter(wanted).count()
    };
    for what in ["hold", "taskgroup"] {
        assert_eq!(count("10 0 -", what, "Implied"), 6, "{what}");
        assert_eq!(count("10 0 -", what, "Suspended"), 16, "{what}");
        assert_eq!(count("20 0 +", what, "Resumed"), 16, "{what}");
        assert_eq!(count("30 0 -", what, "Implied"), 16, "{what}");
    }
    // The outermost ones are left behind.
    let left = |number: u64| all.contains(&format!("10 0 -hold {number} Implied"));
    assert!((0..6).all(left) && !left(6));
}

#[test]
fn a_worker_is_known_by_its_first_region_wherever_that_is() {
    let (_dir, trace) = trace(&[
        &|thread| {
            thread.parallel_begin(AT + 40, 1, 0x100, 2, 0u32).unwrap();
        },
        &|thread| {
            thread.user_event(AT + 10, 1000, 1).unwrap();
            thread.close_packet().unwrap();
            thread.user_event(AT + 20, 1000, 1).unwrap();
            thread.close_packet().unwrap();
            thread.implicit_begin(AT + 50, (0, 1), 1, 0).unwrap();
            thread.close_packet().unwrap();
            thread.thread_end(AT + 60).unwrap();
        },
        // This one leads a region of its own first.
        &|thread| {
            thread.close_packet().unwrap();
            thread.parallel_begin(AT + 40, 1, 0x100, 2, 0u32).unwrap();
            thread.implicit_begin(AT + 50, (0, 1), 1, 0).unwrap();
            thread.close_packet().unwrap();
            thread.thread_end(AT + 60).unwrap();
        },
    ]);
    let workers: Vec<bool> = trace.threads().iter().map(|info| info.worker).collect();
    assert_eq!(workers, [false, true, false]);
    let first = protocol(&trace).intervals.into_iter();
    let first = first
        .filter(|(thread, ..)| *thread == 1)
        .min_by_key(|of| of.2);
    assert_eq!(first, Some((1, State::Idle, 0, 50)));
}

#[test]
fn a_thread_ends_with_the_last_event_that_can_be_read() {
    let fill = |thread: &mut Stream| {
        for at in 1..20 {
            thread.user_event(AT + at * 10, 1000, 1).unwrap();
        }
        thread.close_packet().unwrap();
        thread.user_event(AT + 300, 1000, 1).unwrap();
    };
    // 19 events of 16 bytes in the first packet behind the thread's begin of 12; of the second nothing but its header is left.
    let first = synth::HEADER + 12 + 19 * 16;
    let (_dir, trace) = trace_cut(&[&fill], &[first + synth::HEADER]);
    assert_eq!(trace.threads()[0].last_time, 190);
    assert_eq!(trace.end_time(), 190);
}

#[test]
fn a_thread_without_any_event_takes_no_time() {
    let late = |thread: &mut Stream| {
        thread.lose_packet();
        thread.seq = 0;
        thread.user_event(AT + 900, 1000, 1).unwrap();
    };
    let early = |thread: &mut Stream| thread.user_event(AT + 5, 1000, 1).unwrap();
    let (_dir, trace) = trace_cut(&[&early, &late], &[usize::MAX, synth::HEADER]);
    let times: Vec<_> = trace
        .threads()
        .iter()
        .map(|info| (info.first_time, info.last_time))
        .collect();
    assert_eq!(times, [(0, 5), (0, 0)]);
}

#[test]
fn a_flush_does_not_begin_before_its_stream() {
    let (_dir, trace) = trace(&[
        &|thread| {
            thread.user_event(AT + 5, 1000, 1).unwrap();
        },
        &|thread| {
            thread.lose_packet();
            thread.seq = 0;
            thread.thread_begin(AT + 50, 4001, 0).unwrap();
            thread.flush(AT + 70, 0, 1).unwrap();
        },
    ]);
    let mut merge = trace.merge();
    let mut times = Vec::new();
    while let Some(time) = merge.advance().unwrap() {
        times.push(time);
    }
    assert_eq!(times, [0, 5, 50, 50, 70]);
}

#[test]
fn a_flush_that_is_damaged_has_no_begin() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::new(Vec::new(), layout, 0, 1 << 16);
    stream.thread_begin(AT, 4000, 1).unwrap();
    stream.user_event(AT + 10, 1000, 1).unwrap();
    stream.flush(AT + 90, AT + 80, 1).unwrap();
    let mut bytes = stream.finish().unwrap();
    // The packet says that it ends before the flush.
    bytes[32..40].copy_from_slice(&(AT + 85).to_le_bytes());
    std::fs::write(synth::stream_path(dir.path(), 0), bytes).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    assert_eq!(trace.end_time(), 10);
    let mut merge = trace.merge();
    let mut last = 0;
    while let Some(time) = merge.advance().unwrap() {
        last = time;
    }
    assert_eq!((last, merge.damaged()), (10, 1));
}

/// Tasks whose records were given, with their functions.
#[derive(Default)]
struct Given(Vec<(u32, u64)>);

impl TaskSink for Given {
    fn task(&mut self, task: &TaskRecord) {
        self.0.push((task.id.seq, task.function));
    }

    fn region(&mut self, _: RegionRecord) {}
}

#[test]
fn a_task_that_begins_behind_its_region_is_given_once() {
    let (_dir, trace) = trace(&[&|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 11, (0, 1), 0, 1).unwrap();
        thread.task_create(AT + 20, 1, 0x200, 0, &[]).unwrap();
        thread.task_created(AT + 21).unwrap();
        thread.implicit_end(AT + 50).unwrap();
        thread.parallel_end(AT + 60, 1).unwrap();
        thread.task_begin(AT + 70, (0, 1)).unwrap();
        thread.task_end(AT + 80).unwrap();
    }]);
    let mut states = TaskStates::new(trace.threads(), Given::default());
    replay(&trace, &mut states).unwrap();
    assert_eq!(states.finish().0, [(1, 0x200)]);
}

#[test]
fn tasks_of_a_taskloop_may_begin_behind_its_call() {
    // As libomp does: the call ends, and the taskgroup around it waits for the tasks.
    let (_dir, trace) = trace(&[&|thread| {
        thread.parallel_begin(AT + 10, 1, 0x100, 1, 0u32).unwrap();
        thread.implicit_begin(AT + 11, (0, 1), 0, 1).unwrap();
        thread.taskgroup_begin(AT + 15).unwrap();
        thread
            .taskloop_begin(AT + 20, 1, 0x200, 0, 0, 0, 60, 1)
            .unwrap();
        thread.taskloop_end(AT + 21).unwrap();
        thread.sync_begin(AT + 30, 5u32).unwrap();
        for seq in [2, 3] {
            let at = AT + 30 + u64::from(seq) * 10;
            thread.taskloop_task(at, (0, 1), seq, 0, 0).unwrap();
            thread.task_begin(at + 1, (0, seq)).unwrap();
            thread.task_end(at + 2).unwrap();
        }
        thread.sync_end(AT + 80, 5u32).unwrap();
        thread.implicit_end(AT + 90).unwrap();
        thread.parallel_end(AT + 95, 1).unwrap();
    }]);
    let mut states = TaskStates::new(trace.threads(), Given::default());
    replay(&trace, &mut states).unwrap();
    assert_eq!(states.finish().0, [(2, 0x200), (3, 0x200)]);
}

/// Positions of threads whose counters were read.
#[derive(Default)]
struct Counted(Vec<usize>);

impl Sink for Counted {
    const READINGS: bool = true;

    fn reading(&mut self, at: At, _: &Reading<'_>) {
        self.0.push(at.position);
    }
}

#[test]
fn a_thread_of_the_runtimes_own_has_no_counters() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    let text = synth::metadata(layout, 1_000_000_000, true);
    let text = text.replacen("env {\n", "env {\n  counter_0 = \"cycles -\";\n", 1);
    std::fs::write(dir.path().join("metadata"), text).unwrap();
    // The second is of the runtime's own.
    for (thread, flags) in [(0, 1), (1, 2)] {
        let mut stream = StreamWriter::new(Vec::new(), layout, thread, 1 << 16);
        stream.thread_begin(AT, 4000 + thread, flags).unwrap();
        stream.thread_counters(AT + 10, 0, &[7]).unwrap();
        let bytes = stream.finish().unwrap();
        std::fs::write(synth::stream_path(dir.path(), thread), bytes).unwrap();
    }
    let trace = Trace::open(dir.path()).unwrap();
    let mut counted = Counted::default();
    replay(&trace, &mut counted).unwrap();
    assert_eq!(counted.0, [0]);
}

#[test]
fn a_blank_text_names_nothing() {
    let (_dir, trace) = trace(&[&|thread| {
        for (number, text) in (0..).zip(["", " \t", "\u{1}", "a b"]) {
            thread.string(AT + 10 + number, text, 0x1000).unwrap();
        }
    }]);
    assert_eq!(spans(&trace, &["Text"]).len(), 1);
}
