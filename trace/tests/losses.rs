//! Lost events and flushes as packets tell them: where, how many, and what the thread does behind them.

use instr_trace::depend::Edges;
use instr_trace::model::{Interpreter, Interval, Intervals, State};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Payload, RegionId, TaskId, Trace};

/// Bytes of a window file before the count of lost events (see `docs/trace-format.md`).
const WINDOW_DISCARDED: usize = 32;
const WINDOW_CURSOR: usize = 56;

/// A task or region as a packet's context has it when there is none.
const NOBODY: (u32, u32) = (u32::MAX, 0);

/// Writes `thread`'s stream by hand.
fn stream(layout: Layout, thread: u32) -> StreamWriter<Vec<u8>> {
    StreamWriter::new(Vec::new(), layout, thread, usize::MAX)
}

/// An event without fields, `time` ns behind the start.
fn put(stream: &mut StreamWriter<Vec<u8>>, time: u64, id: u8, words: &[u32]) {
    let fields = |body: &mut synth::Body| words.iter().for_each(|word| _ = body.u32(*word));
    stream
        .event(START_TICKS + time, id, fields)
        .expect("memory takes it");
}

/// A user event.
fn user(stream: &mut StreamWriter<Vec<u8>>, time: u64) {
    let fields = |body: &mut synth::Body| _ = body.u32(1).u64(time);
    stream
        .event(START_TICKS + time, 8, fields)
        .expect("memory takes it");
}

/// The trace of these streams, of which nothing is to be reported.
fn trace(layout: Layout, streams: Vec<StreamWriter<Vec<u8>>>) -> (tempfile::TempDir, Trace) {
    let (dir, trace) = any_trace(layout, streams);
    assert_eq!(trace.warning_count(), 0, "{:?}", trace.warnings());
    (dir, trace)
}

/// The trace of these streams.
fn any_trace(layout: Layout, streams: Vec<StreamWriter<Vec<u8>>>) -> (tempfile::TempDir, Trace) {
    let dir = tempfile::tempdir().expect("a folder");
    synth::begin(dir.path(), layout, 1_000_000_000).expect("written");
    for stream in streams {
        let path = synth::stream_path(dir.path(), stream.thread);
        std::fs::write(path, stream.finish().expect("memory takes it")).expect("written");
    }
    let trace = Trace::open(dir.path()).expect("a trace");
    (dir, trace)
}

/// Time, number, task and region of every loss.
type Loss = (u64, u64, Option<TaskId>, Option<RegionId>);

fn losses(trace: &Trace) -> Vec<Loss> {
    let (mut merge, mut found) = (trace.merge(), Vec::new());
    while let Some(event) = merge.next().expect("readable") {
        if let Payload::Lost {
            events,
            task,
            region,
        } = event.payload
        {
            found.push((event.time, events, task, region));
        }
    }
    found
}

/// Intervals of the thread at a position.
fn intervals(trace: &Trace, position: usize) -> Vec<(State, u64, u64)> {
    let mut model = Interpreter::of(trace);
    let mut found = Vec::new();
    let mut take = Intervals(|interval: Interval| {
        if interval.position == position {
            found.push((interval.state, interval.begin, interval.end));
        }
    });
    let mut merge = trace.merge();
    while let Some(event) = merge.next().expect("readable") {
        let at = trace.position(event.thread).expect("a known thread");
        model.event(at, &event, &mut take);
    }
    model.finish(&mut take);
    found
}

#[test]
fn losses_are_told_where_they_are_with_their_number_task_and_region() {
    let (task, region) = (TaskId { thread: 2, seq: 9 }, RegionId { thread: 1, seq: 3 });
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        let mut packet = |time, discarded, hole: bool| {
            if hole {
                stream.lose_packet();
            }
            stream.context.discarded = discarded;
            user(&mut stream, time);
            user(&mut stream, time + 1);
            stream.close_packet().expect("memory takes it");
            stream.context.task = (task.thread, task.seq);
            stream.context.region = (region.thread, region.seq);
        };
        packet(0, 0, false);
        packet(10, 7, false); // told by the counter alone
        packet(20, 7, false); // nothing new
        packet(30, 7, true); // a number is missing: how many events it had is not known
        packet(40, 12, false);
        packet(50, 1 << 40, true);
        let (_dir, trace) = any_trace(layout, vec![stream]);
        let said: Vec<_> = trace.warnings().iter().map(|w| w.what.as_str()).collect();
        let missing = [3, 6].map(|seq| format!("packet {seq} is missing before this one"));
        assert_eq!(said, missing);
        let (task, region) = (Some(task), Some(region));
        let expected = [
            (10, 7, task, region),
            (30, 0, task, region),
            (40, 5, task, region),
            (50, (1 << 40) - 12, task, region),
        ];
        assert_eq!(losses(&trace), expected, "{layout:?}");
        assert_eq!(trace.discarded(), 1 << 40);
        assert_eq!(trace.threads()[0].discarded, 1 << 40);
    }
}

#[test]
fn a_ring_that_was_written_over_begins_with_its_loss() {
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        stream.lose_packet();
        stream.lose_packet();
        stream.context.flags = 1;
        stream.context.discarded = 40;
        stream.context.region = (0, 5);
        user(&mut stream, 100);
        let (_dir, trace) = trace(layout, vec![stream]);
        let region = RegionId { thread: 0, seq: 5 };
        assert_eq!(losses(&trace), [(100, 40, None, Some(region))]);
    }
}

/// A ring of three parts that was written over twice: packets 2 to 4 are there, and what is missing was before them all.
#[test]
fn a_ring_has_no_gaps_between_its_packets() {
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        stream.lose_packet();
        stream.lose_packet();
        for (packet, discarded) in [(0, 0), (1, 10), (2, 20)] {
            stream.context.flags = u32::from(packet > 0);
            stream.context.discarded = discarded;
            user(&mut stream, 100 + packet);
            stream.close_packet().expect("memory takes it");
        }
        let (_dir, trace) = trace(layout, vec![stream]);
        assert_eq!(losses(&trace), [(100, 20, None, None)], "{layout:?}");
        assert_eq!(trace.discarded(), 20);
    }
}

#[test]
fn what_only_the_window_counts_is_lost_too() {
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        stream.context.discarded = 4;
        user(&mut stream, 10);
        let packet = stream.packet(false);
        let dir = tempfile::tempdir().expect("a folder");
        synth::begin(dir.path(), layout, 1_000_000_000).expect("written");
        for (counted, expected) in [(0, 4), (4, 4), (9, 9), (1 << 33, 1 << 33)] {
            let mut window = synth::window(layout, 0, std::slice::from_ref(&packet), 0, 0);
            let mut count = synth::Body::new(layout);
            count.u64(counted);
            window[WINDOW_DISCARDED..WINDOW_DISCARDED + 8].copy_from_slice(&count.bytes);
            std::fs::write(dir.path().join(".window_0000"), window).expect("written");
            let trace = Trace::open(dir.path()).expect("a trace");
            let found = (trace.discarded(), trace.threads()[0].discarded);
            assert_eq!(found, (expected, expected), "{layout:?}: {counted}");
        }
    }
}

#[test]
fn events_inside_of_others_that_a_killed_thread_did_not_settle_are_lost() {
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        user(&mut stream, 10);
        let packet = stream.packet(false);
        let dir = tempfile::tempdir().expect("a folder");
        synth::begin(dir.path(), layout, 1_000_000_000).expect("written");
        let at = WINDOW_CURSOR + 2 * layout.word_bytes();
        for (version, nested, settled, expected) in [
            (2, 9, 9, 2),
            (2, 9, 4, 7),
            (2, 1, u32::MAX, 4),
            (1, 9, 4, 2),
        ] {
            let mut window = synth::window(layout, 0, std::slice::from_ref(&packet), 0, 0);
            let mut put = |at: usize, value: u32| {
                let mut body = synth::Body::new(layout);
                body.u32(value);
                window[at..at + 4].copy_from_slice(&body.bytes);
            };
            put(4, version);
            put(at, nested);
            put(at + 4, settled);
            let mut count = synth::Body::new(layout);
            count.u64(2);
            window[WINDOW_DISCARDED..WINDOW_DISCARDED + 8].copy_from_slice(&count.bytes);
            std::fs::write(dir.path().join(".window_0000"), window).expect("written");
            let trace = Trace::open(dir.path()).expect("a trace");
            assert_eq!(trace.discarded(), expected, "{layout:?}, version {version}");
        }
    }
}

/// A worker whose packet with the end of a barrier and the begin of a task is lost: `context` says what it does behind that.
fn worker_behind_a_loss(context: [(u32, u32); 2]) -> Vec<(State, u64, u64)> {
    let layout = synth::layouts()[0];
    let mut main = stream(layout, 0);
    put(&mut main, 0, 1, &[1, 1]);
    put(&mut main, 100, 2, &[]);
    let mut worker = stream(layout, 1);
    put(&mut worker, 0, 1, &[2, 0]);
    put(&mut worker, 10, 18, &[0, 1, 1, 2]); // implicit_begin
    put(&mut worker, 20, 32, &[2]); // sync_begin
    worker.close_packet().expect("memory takes it");
    worker.context.discarded = 3;
    [worker.context.task, worker.context.region] = context;
    user(&mut worker, 40);
    put(&mut worker, 50, 32, &[3]); // taskwait
    put(&mut worker, 60, 43, &[]); // task_end; the end of the wait is lost, too
    put(&mut worker, 70, 19, &[]); // implicit_end
    put(&mut worker, 90, 2, &[]);
    let (_dir, trace) = trace(layout, vec![main, worker]);
    intervals(&trace, 1)
}

#[test]
fn behind_a_loss_a_thread_does_what_its_packet_says() {
    use State::{Idle, Synchronization as Sync, Useful};
    let begin = [
        (Idle, 0, 10),
        (Useful, 10, 20),
        (Sync, 20, 40),
        (Useful, 40, 50),
    ];
    let with = |rest: &[(State, u64, u64)]| [&begin[..], rest].concat();
    let (task, region) = ((0, 4), (0, 1));
    // The end of the task ends its wait, the end of the body begins the closing barrier.
    let both = [(Sync, 50, 60), (Useful, 60, 70), (Sync, 70, 90)];
    assert_eq!(worker_behind_a_loss([task, region]), with(&both));
    // No task ends: the wait is the body's own, up to its end.
    let body = [(Sync, 50, 90)];
    assert_eq!(worker_behind_a_loss([NOBODY, region]), with(&body));
    // No body ends: outside of regions a worker is idle.
    let alone = [(Sync, 50, 60), (Idle, 60, 90)];
    assert_eq!(worker_behind_a_loss([task, NOBODY]), with(&alone));
    // It is in no region.
    let neither = [&begin[..3], &[(Idle, 40, 50), (Sync, 50, 90)]].concat();
    assert_eq!(worker_behind_a_loss([NOBODY, NOBODY]), neither);
}

#[test]
fn tasks_created_behind_a_loss_are_children_of_the_task_that_runs() {
    let edges = |task: (u32, u32)| {
        let layout = synth::layouts()[0];
        let mut stream = stream(layout, 0);
        let create = |stream: &mut StreamWriter<Vec<u8>>, time: u64, seq: u32| {
            let fields = |body: &mut synth::Body| {
                body.u32(seq).addr(0x2000).u32(8).deps(&[(0x9000, 2)]);
            };
            stream
                .event(START_TICKS + time, 40, fields)
                .expect("memory takes it");
            put(stream, time + 1, 41, &[]);
        };
        create(&mut stream, 10, 1);
        create(&mut stream, 20, 2);
        stream.close_packet().expect("memory takes it");
        stream.context.discarded = 1;
        stream.context.task = task;
        create(&mut stream, 30, 3);
        create(&mut stream, 40, 4);
        let (_dir, trace) = trace(layout, vec![stream]);
        let mut found = Vec::new();
        let mut edges = Edges::new(|from: TaskId, to: TaskId| found.push((from.seq, to.seq)));
        let mut model = Interpreter::of(&trace);
        let mut merge = trace.merge();
        while let Some(event) = merge.next().expect("readable") {
            let position = trace.position(event.thread).expect("a thread");
            model.event(position, &event, &mut edges);
        }
        drop(edges);
        found
    };
    assert_eq!(edges(NOBODY), [(1, 2), (2, 3), (3, 4)]);
    // Children of another task are ordered among themselves only.
    assert_eq!(edges((0, 2)), [(1, 2), (3, 4)]);
}

#[test]
fn a_flush_lasts_from_its_begin_to_its_event() {
    use State::{Flush, Useful};
    for layout in synth::layouts() {
        let mut stream = stream(layout, 0);
        let flush = |stream: &mut StreamWriter<Vec<u8>>, begin: u64, end: u64, bytes: u32| {
            let fields = |body: &mut synth::Body| _ = body.u64(START_TICKS + begin).u32(bytes);
            stream
                .event(START_TICKS + end, 4, fields)
                .expect("memory takes it");
        };
        put(&mut stream, 0, 1, &[1, 1]);
        user(&mut stream, 10);
        stream.close_packet().expect("memory takes it");
        flush(&mut stream, 12, 30, 4096);
        user(&mut stream, 40);
        stream.close_packet().expect("memory takes it");
        user(&mut stream, 55); // of a signal's handler: the flush begins behind it
        flush(&mut stream, 57, 80, 8192);
        put(&mut stream, 90, 2, &[]);
        let (_dir, trace) = trace(layout, vec![stream]);
        let mut merge = trace.merge();
        let (mut begins, mut flushes) = (Vec::new(), Vec::new());
        while let Some(event) = merge.next().expect("readable") {
            match event.payload {
                Payload::FlushBegin => begins.push(event.time),
                Payload::Flush { begin, bytes } => flushes.push((begin, event.time, bytes)),
                _ => {}
            }
        }
        assert_eq!(begins, [12, 57], "{layout:?}");
        assert_eq!(flushes, [(12, 30, 4096), (57, 80, 8192)], "{layout:?}");
        let states = [
            (Useful, 0, 12),
            (Flush, 12, 30),
            (Useful, 30, 57),
            (Flush, 57, 80),
            (Useful, 80, 90),
        ];
        assert_eq!(intervals(&trace, 0), states, "{layout:?}");
    }
}

#[test]
fn a_worker_whose_stream_ends_early_waits_no_longer_than_its_last_event() {
    for layout in synth::layouts() {
        let (mut main, mut worker) = (stream(layout, 0), stream(layout, 1));
        put(&mut main, 0, 1, &[40, 1]);
        let fields = |body: &mut synth::Body| _ = body.u32(1).addr(0x100).u32(2).u32(0);
        main.event(START_TICKS + 10, 16, fields).expect("written");
        put(&mut worker, 15, 1, &[41, 0]);
        put(&mut worker, 20, 18, &[0, 1, 1, 0]);
        put(&mut worker, 30, 19, &[]);
        user(&mut worker, 40);
        put(&mut main, 90, 17, &[1]);
        put(&mut main, 100, 2, &[]);
        let (_dir, trace) = trace(layout, vec![main, worker]);
        assert_eq!(trace.threads()[1].last_time, 40);
        let expected = [
            (State::Idle, 15, 20),
            (State::Useful, 20, 30),
            (State::Synchronization, 30, 40),
        ];
        assert_eq!(intervals(&trace, 1), expected);
    }
}

/// The gap that damage leaves belongs to nobody then: the region that the second names is not seen to go on.
#[test]
fn a_thread_without_a_readable_event_does_nothing() {
    const HEADER: usize = 104;
    let layout = synth::layouts()[0];
    let mut main = stream(layout, 0);
    put(&mut main, 0, 1, &[1, 1]);
    put(&mut main, 100, 2, &[]);
    let mut worker = stream(layout, 1);
    let mut cut = Vec::new();
    for (time, region) in [(40, NOBODY), (60, (0, 1))] {
        worker.context.region = region;
        user(&mut worker, time);
        let mut packet = worker.packet(true);
        packet.truncate(HEADER + 8); // no event has only a header
        let bits = (8 * packet.len() as u64).to_le_bytes();
        packet[40..48].copy_from_slice(&bits);
        packet[48..56].copy_from_slice(&bits);
        cut.extend(packet);
        worker.lose_packet();
    }
    let dir = tempfile::tempdir().expect("a folder");
    synth::begin(dir.path(), layout, 1_000_000_000).expect("written");
    let path = |thread| synth::stream_path(dir.path(), thread);
    std::fs::write(path(0), main.finish().expect("memory takes it")).expect("written");
    std::fs::write(path(1), cut).expect("written");
    let trace = Trace::open(dir.path()).expect("a trace");
    assert_eq!(losses(&trace), []);
    assert_eq!(intervals(&trace, 1), []);
}
