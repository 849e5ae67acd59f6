//! Synthetic traces of all layouts decode to what was written, whatever is cut off.

use std::path::Path;
use std::process::Command;

use instr_trace::event::{
    AllocatorKind, BlockKind, CancelKind, Dep, DependKind, DoacrossKind, MutexKind, ParallelKind,
    SamplingClock, StackKind, SyncKind, TargetKind,
};
use instr_trace::synth::{self, START_MONOTONIC, START_REALTIME, START_TICKS, StreamWriter};
use instr_trace::{Error, Layout, Payload, RegionId, Session, TaskId, Trace};

const T: u64 = START_TICKS;

/// One event of each kind, `step` ticks apart; returns their number.
fn every_event<W: std::io::Write>(stream: &mut StreamWriter<W>, step: u64) -> u64 {
    let mut now = T;
    let mut count = 0;
    let mut put = |id: u8, fields: &dyn Fn(&mut synth::Body)| {
        stream.event(now, id, fields).unwrap();
        now += step;
        count += 1;
    };
    put(1, &|b| _ = b.u32(4711).u32(1));
    put(3, &|b| {
        _ = b.u64(T).u64(START_MONOTONIC).u64(START_REALTIME)
    });
    put(5, &|_| {});
    put(6, &|_| {});
    put(7, &|b| _ = b.text("a name").addr(0x1234));
    put(7, &|b| _ = b.text("abc").addr(0x1238));
    put(8, &|b| _ = b.u32(1000).u64(u64::MAX - 1));
    put(9, &|b| _ = b.addr(0x1234));
    put(10, &|_| {});
    put(11, &|b| _ = b.addr(0x1234).i64(-5));
    put(12, &|b| {
        _ = b.addr(0x1238).u32(3).u64(1).u64(1 << 40).u64(3)
    });
    put(13, &|b| _ = b.u64(9));
    put(16, &|b| _ = b.u32(7).addr(0x4000).u32(4).u32(0x101));
    put(18, &|b| _ = b.u32(0).u32(7).u32(0).u32(4));
    put(20, &|b| _ = b.u32(0x402).i64(-1).i64(100).i64(2).i64(8));
    put(23, &|b| _ = b.i64(-1).i64(15));
    put(25, &|_| {});
    put(26, &|b| _ = b.u32(0));
    put(32, &|b| _ = b.u32(2));
    put(33, &|b| _ = b.u32(2));
    put(21, &|b| _ = b.u32(3));
    put(24, &|b| _ = b.u32(2));
    put(26, &|b| _ = b.u32(1));
    put(22, &|b| _ = b.u32(1));
    put(34, &|b| _ = b.u32(2).addr(0x5000));
    put(35, &|b| _ = b.u32(2).addr(0x5000));
    put(36, &|b| _ = b.u32(2).addr(0x5000));
    put(37, &|b| _ = b.u32(5).addr(0x5008));
    put(48, &|_| {});
    put(44, &|b| _ = b.u32(1).deps(&[(0x6000, 1), (0x6008, 2)]));
    put(40, &|b| {
        _ = b.u32(1).addr(0x4100).u32(8).deps(&[(0x6010, 4), (0, 6)])
    });
    put(41, &|_| {});
    put(42, &|b| _ = b.u32(0).u32(1));
    put(43, &|_| {});
    put(45, &|b| _ = b.u32(3).u32(1).deps(&[(0x6000, 2)]));
    put(46, &|b| {
        _ = b.u32(2).addr(0x4200).u32(0).u64(10).i64(0).i64(100).i64(10)
    });
    put(49, &|b| _ = b.u32(0).u32(2).u32(3).i64(-10).i64(20));
    put(47, &|_| {});
    put(27, &|b| _ = b.addr(0x4300));
    put(28, &|_| {});
    put(29, &|_| {});
    put(30, &|_| {});
    put(31, &|_| {});
    put(38, &|b| _ = b.u32(8).u32(3));
    put(39, &|b| _ = b.u32(2).u32(2).i64(-1).i64(1 << 40));
    put(51, &|b| _ = b.u32(5).u32(6));
    put(52, &|b| _ = b.u32(5).u32(6).addr(0x7000));
    put(53, &|b| _ = b.u32(u32::MAX).u32(0).addr(0x7000));
    put(50, &|_| {});
    put(54, &|b| _ = b.u32(0).addr(0x4400).u32(u32::MAX).u32(1));
    put(55, &|b| _ = b.u32(0));
    put(56, &|b| _ = b.u32(1).addr(0x7100).u64(1 << 33).addr(4));
    put(57, &|b| _ = b.u32(1).addr(0x7100));
    put(67, &|b| _ = b.u32(6).u64(1 << 35).addr(0x4504));
    put(69, &|b| _ = b.addr(0x7400));
    put(68, &|b| _ = b.addr(0x7400).u64(1 << 36).addr(0x4505));
    put(69, &|b| _ = b.addr(0x7400));
    put(70, &|b| _ = b.u32(7).addr(0x7500));
    put(71, &|_| {});
    put(72, &|b| _ = b.u32(6).addr(0x7200).u64(1 << 34).addr(0x4500));
    put(73, &|b| _ = b.u32(7).addr(0x7200));
    put(74, &|b| {
        _ = b.addr(0x7200).addr(0x7300).u64(99).addr(0x4501)
    });
    put(75, &|b| _ = b.addr(0x7_0000).u64(4096).addr(0x4502));
    put(76, &|b| _ = b.addr(0x7_1000).u64(8192));
    put(77, &|b| {
        _ = b
            .addr(0x7_0000)
            .u64(4096)
            .addr(0x8_0000)
            .u64(1 << 20)
            .addr(0x4503)
    });
    put(78, &|b| _ = b.u64(1 << 33).u64(2).u64(3).u64(4));
    put(79, &|b| _ = b.u32(2).addr(0x9000).addr(0xa000).addr(0x9f00));
    put(80, &|b| _ = b.u32(1).u32(27).u64(1_000_000));
    put(81, &|b| {
        _ = b
            .addr(0x4600)
            .addr(0x9f10)
            .u32(4)
            .u32(2)
            .addr(0x4601)
            .addr(0x4602)
    });
    put(82, &|b| {
        b.addr(0x4600).addr(0x9f20).u32(1).u32(2).u32(5);
        (1..=5).for_each(|word| _ = b.addr(word));
    });
    put(83, &|b| _ = b.u32(17));
    put(4, &|b| _ = b.u64(T).u32(4096));
    put(19, &|_| {});
    put(17, &|b| _ = b.u32(7));
    put(2, &|_| {});
    count
}

fn write_every_event(dir: &Path, layout: Layout, limit: usize) -> u64 {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, limit).unwrap();
    let count = every_event(&mut stream, 100);
    stream.finish().unwrap();
    count
}

fn texts(trace: &Trace) -> Vec<String> {
    let mut merge = trace.merge();
    let mut texts = Vec::new();
    while let Some(event) = merge.next().unwrap() {
        if matches!(event.payload, Payload::FlushBegin) {
            continue;
        }
        let mut text = format!("{} {} {:?}", event.time, event.thread, event.payload);
        if let Payload::TaskCreate { deps, .. }
        | Payload::TaskDepend { deps, .. }
        | Payload::TaskwaitDepend { deps, .. } = event.payload
        {
            text = format!(
                "{} {} {} {:?}",
                event.time,
                event.thread,
                event.payload.id(),
                deps.collect::<Vec<_>>()
            );
        }
        if let Payload::CallBegin { args, .. } = event.payload {
            text = format!(
                "{} {} call {:?}",
                event.time,
                event.thread,
                args.collect::<Vec<_>>()
            );
        }
        texts.push(text);
    }
    texts
}

#[test]
fn every_event_decodes_to_what_was_written_in_all_layouts() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        let count = write_every_event(dir.path(), layout, 300);
        let trace = Trace::open(dir.path()).unwrap();
        assert_eq!(trace.warning_count(), 0, "{:?}", trace.warnings());
        assert!(trace.packets(0).len() > 2);
        let mut merge = trace.merge();
        let (mut number, mut waits) = (0, Vec::new());
        while let Some(event) = merge.next().unwrap() {
            if matches!(event.payload, Payload::FlushBegin) {
                continue;
            }
            if let Payload::WorkEnd { nowait } = event.payload {
                waits.push(nowait);
            }
            assert_eq!(event.time, number * 100);
            assert_eq!(event.ticks, T + number * 100);
            check_fields(&event.payload);
            number += 1;
        }
        assert_eq!(number, count);
        assert_eq!(waits, [false, true]);
        let thread = &trace.threads()[0];
        assert_eq!(
            (thread.os_tid, thread.initial, thread.truncated),
            (4711, true, false)
        );
        assert_eq!(
            (thread.first_time, thread.last_time),
            (0, (count - 1) * 100)
        );
        assert!(trace.has_tasks());
    }
}

fn check_fields(payload: &Payload<'_>) {
    match *payload {
        Payload::ThreadBegin { os_tid, flags } => assert_eq!((os_tid, flags), (4711, 1)),
        Payload::String {
            address: 0x1234,
            text,
        } => assert_eq!(text, b"a name"),
        Payload::String { address, text } => assert_eq!((address, text), (0x1238, &b"abc"[..])),
        Payload::UserEvent { kind, value } => assert_eq!((kind, value), (1000, u64::MAX - 1)),
        Payload::Counter { name, value } => assert_eq!((name, value), (0x1234, -5)),
        Payload::CallBegin { name, args } => assert_eq!(
            (name, args.collect::<Vec<_>>()),
            (0x1238, vec![1, 1 << 40, 3])
        ),
        Payload::CallEnd { result } => assert_eq!(result, 9),
        Payload::ParallelBegin {
            seq,
            function,
            requested,
            kind,
            call_site,
        } => {
            assert_eq!(
                (seq, function, requested, kind, call_site),
                (7, 0x4000, 4, ParallelKind::Loop, true)
            );
        }
        Payload::ImplicitBegin {
            region,
            thread_num,
            team_size,
        } => {
            assert_eq!(
                (region, thread_num, team_size),
                (RegionId { thread: 0, seq: 7 }, 0, 4)
            );
        }
        Payload::LoopBegin {
            schedule,
            start,
            end,
            incr,
            chunk,
        } => {
            assert_eq!(
                (schedule.name(), schedule.0, start, end, incr, chunk),
                ("dynamic", 0x402, -1, 100, 2, 8)
            );
        }
        Payload::ChunkBegin { begin, end } => assert_eq!((begin, end), (-1, 15)),
        Payload::SyncBegin { kind } | Payload::SyncEnd { kind } => {
            assert_eq!(kind, SyncKind::ImplicitBarrier)
        }
        Payload::MutexAcquire { kind, object } => {
            assert_eq!((kind, object), (MutexKind::NamedCritical, 0x5000))
        }
        Payload::MutexFailed { kind, object } => {
            assert_eq!((kind, object), (MutexKind::Lock, 0x5008))
        }
        Payload::TaskCreate {
            seq,
            function,
            flags,
            deps,
        } => {
            assert_eq!((seq, function, flags), (1, 0x4100, 8));
            let expected = [
                (0x6010, DependKind::MutexInOutSet),
                (0, DependKind::AllMemory),
            ];
            assert!(deps.eq(expected.map(|(address, kind)| Dep { address, kind })));
        }
        Payload::TaskwaitDepend { seq, nowait, deps } => {
            assert_eq!((seq, nowait, deps.len()), (3, true, 1))
        }
        Payload::StaticLoop { site } => assert_eq!(site, 0x4300),
        Payload::Cancel { kind, flags } => assert_eq!((kind, flags), (CancelKind::Taskgroup, 3)),
        Payload::Doacross { kind, vector } => {
            assert_eq!(kind, DoacrossKind::Sink);
            assert_eq!(
                vector.map(|v| v as i64).collect::<Vec<_>>(),
                vec![-1, 1 << 40]
            );
        }
        Payload::TaskResume { task } => assert_eq!(task, TaskId { thread: 5, seq: 6 }),
        Payload::TaskEvent { task, handle } => {
            assert_eq!((task, handle), (TaskId { thread: 5, seq: 6 }, 0x7000))
        }
        Payload::TaskFulfill { task, handle } => assert_eq!((task, handle), (None, 0x7000)),
        Payload::TargetBegin {
            kind,
            function,
            device,
            flags,
        } => assert_eq!(
            (kind, function, device, flags),
            (TargetKind::Target, 0x4400, -1, 1)
        ),
        Payload::TargetEnd { kind } => assert_eq!(kind, TargetKind::Target),
        Payload::OmpAlloc {
            kind,
            address,
            bytes,
            allocator,
        } => assert_eq!(
            (kind, address, bytes, allocator),
            (AllocatorKind::Call, 0x7100, 1 << 33, 4)
        ),
        Payload::OmpFree { kind, address } => {
            assert_eq!((kind, address), (AllocatorKind::Call, 0x7100))
        }
        Payload::MemGet { kind, bytes, site } => {
            assert_eq!((kind, bytes, site), (BlockKind::New, 1 << 35, 0x4504))
        }
        Payload::MemMove { old, bytes, site } => {
            assert_eq!((old, bytes, site), (0x7400, 1 << 36, 0x4505))
        }
        Payload::MemGot { address } => assert_eq!(address, 0x7400),
        Payload::MemGive { kind, address } => {
            assert_eq!((kind, address), (BlockKind::NewArray, 0x7500))
        }
        Payload::MemAlloc {
            kind,
            address,
            bytes,
            site,
        } => assert_eq!(
            (kind, address, bytes, site),
            (BlockKind::New, 0x7200, 1 << 34, 0x4500)
        ),
        Payload::MemFree { kind, address } => {
            assert_eq!((kind, address), (BlockKind::NewArray, 0x7200))
        }
        Payload::MemRealloc {
            old,
            address,
            bytes,
            site,
        } => assert_eq!((old, address, bytes, site), (0x7200, 0x7300, 99, 0x4501)),
        Payload::MemMap {
            address,
            bytes,
            site,
        } => assert_eq!((address, bytes, site), (0x7_0000, 4096, 0x4502)),
        Payload::MemUnmap { address, bytes } => assert_eq!((address, bytes), (0x7_1000, 8192)),
        Payload::MemRemap {
            old,
            old_bytes,
            address,
            bytes,
            site,
        } => assert_eq!(
            (old, old_bytes, address, bytes, site),
            (0x7_0000, 4096, 0x8_0000, 1 << 20, 0x4503)
        ),
        Payload::MemHeap {
            arena,
            used,
            free,
            mapped,
        } => assert_eq!((arena, used, free, mapped), (1 << 33, 2, 3, 4)),
        Payload::Stack {
            kind,
            low,
            high,
            mark,
        } => assert_eq!(
            (kind, low, high, mark),
            (StackKind::Touched, 0x9000, 0xa000, 0x9f00)
        ),
        Payload::Sampling {
            source,
            signal,
            period_ns,
        } => assert_eq!(
            (source, signal, period_ns),
            (SamplingClock::Ticks, 27, 1_000_000)
        ),
        Payload::Sample {
            pc,
            sp,
            weight,
            stack,
        } => {
            assert_eq!((pc, sp, weight), (0x4600, 0x9f10, 4));
            assert_eq!(stack.collect::<Vec<_>>(), [0x4601, 0x4602]);
        }
        Payload::SampleStack {
            pc,
            sp,
            weight,
            registers,
            words,
        } => {
            assert_eq!((pc, sp, weight), (0x4600, 0x9f20, 1));
            let (registers, stack) = words.split_at(registers as usize);
            assert_eq!(registers.collect::<Vec<_>>(), [1, 2]);
            assert_eq!(stack.collect::<Vec<_>>(), [3, 4, 5]);
        }
        Payload::SampleLost { count } => assert_eq!(count, 17),
        Payload::TaskDepend { seq, deps } => assert_eq!((seq, deps.len()), (1, 2)),
        Payload::TaskBegin { task } => assert_eq!(task, TaskId { thread: 0, seq: 1 }),
        Payload::TaskloopBegin {
            seq,
            function,
            num_tasks,
            start,
            end,
            step,
            ..
        } => {
            assert_eq!(
                (seq, function, num_tasks, start, end, step),
                (2, 0x4200, 10, 0, 100, 10)
            );
        }
        Payload::TaskloopTask {
            taskloop,
            seq,
            start,
            end,
        } => {
            assert_eq!(
                (taskloop, seq, start, end),
                (TaskId { thread: 0, seq: 2 }, 3, -10, 20)
            );
        }
        Payload::Flush { begin, bytes } => assert_eq!((begin, bytes), (0, 4096)),
        _ => {}
    }
}

#[test]
fn babeltrace_reads_the_same_events_at_the_same_times() {
    if !instr_test_needs::has("babeltrace2") {
        return;
    }
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        let count = write_every_event(dir.path(), layout, 300);
        let output = Command::new("babeltrace2")
            .args(["--clock-cycles", "--no-delta"])
            .arg(dir.path())
            .output()
            .unwrap();
        let (text, warnings) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success() && warnings.is_empty(),
            "{layout:?}: {warnings}"
        );
        let ticks: Vec<u64> = text
            .lines()
            .map(|line| line[1..21].parse().unwrap())
            .collect();
        assert_eq!(
            ticks,
            (0..count)
                .map(|number| T + number * 100)
                .collect::<Vec<_>>()
        );
        let trace = Trace::open(dir.path()).unwrap();
        let names: Vec<u8> = {
            let (mut merge, mut ids) = (trace.merge(), Vec::new());
            while let Some(event) = merge.next().unwrap() {
                ids.push(event.payload.id());
            }
            ids.retain(|id| *id != 0);
            ids
        };
        for (line, id) in text.lines().zip(names) {
            let name = line
                .split_whitespace()
                .nth(2)
                .unwrap()
                .trim_end_matches(':');
            let declared = format!("event {{ id = {id}; name = \"{name}\"");
            assert!(
                synth::metadata(layout, 1, true).contains(&declared),
                "{line} is not {id}"
            );
        }
    }
}

#[test]
fn threads_are_merged_by_time_then_by_index() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut expected = Vec::new();
    let mut state = 1u64;
    for thread in [0, 3, 7, 10, 200] {
        let mut stream = StreamWriter::create(dir.path(), layout, thread, 500).unwrap();
        let mut now = T + u64::from(thread % 4);
        for number in 0..1000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            now += state >> 62;
            stream.event(now, 8, |b| _ = b.u32(1).u64(number)).unwrap();
            expected.push((now - T, thread, number));
        }
        stream.finish().unwrap();
    }
    expected.sort();
    let trace = Trace::open(dir.path()).unwrap();
    let mut merge = trace.merge();
    let mut got = Vec::new();
    while let Some(event) = merge.next().unwrap() {
        let Payload::UserEvent { value, .. } = event.payload else {
            panic!()
        };
        got.push((event.time, event.thread, value));
    }
    assert_eq!(got, expected);
}

#[test]
fn a_stream_cut_at_any_byte_keeps_its_complete_events() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        write_every_event(dir.path(), layout, 400);
        let path = synth::stream_path(dir.path(), 0);
        let whole = std::fs::read(&path).unwrap();
        let all = texts(&Trace::open(dir.path()).unwrap());
        let mut before = 0;
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let trace = Trace::open(dir.path()).unwrap();
            let kept = texts(&trace);
            assert_eq!(kept, all[..kept.len()], "cut at {end}");
            assert!(
                kept.len() >= before && kept.len() <= before + 1,
                "cut at {end}: {} after {before}",
                kept.len()
            );
            before = kept.len();
        }
        assert_eq!(before, all.len() - 1);
    }
}

#[test]
fn a_window_continues_its_stream() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        write_every_event(dir.path(), layout, 400);
        let all = texts(&Trace::open(dir.path()).unwrap());
        // The same events, the last packet in a window, with and without a torn copy of it in the stream.
        let mut stream = StreamWriter::new(Vec::new(), layout, 0, usize::MAX);
        every_event(&mut stream, 100);
        let path = synth::stream_path(dir.path(), 0);
        let window = dir.path().join(".window_0000");
        let packet = stream.packet(false);
        std::fs::write(
            &window,
            synth::window(layout, 0, std::slice::from_ref(&packet), 0, 0),
        )
        .unwrap();
        for torn in [0, 50, 104, 300] {
            std::fs::write(&path, &stream.packet(true)[..torn]).unwrap();
            let trace = Trace::open(dir.path()).unwrap();
            assert_eq!(texts(&trace), all, "{torn} bytes in the stream");
            assert!(trace.needs_repair());
        }
        // Written but not yet taken out of the window.
        std::fs::write(&path, stream.packet(true)).unwrap();
        assert_eq!(texts(&Trace::open(dir.path()).unwrap()), all);
        // Without any stream file.
        std::fs::remove_file(&path).unwrap();
        assert_eq!(texts(&Trace::open(dir.path()).unwrap()), all);
    }
}

#[test]
fn ring_slots_come_in_the_order_of_their_numbers() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let mut stream = StreamWriter::new(Vec::new(), layout, 0, usize::MAX);
        let mut slots = vec![Vec::new(); 3];
        for seq in 0..5u64 {
            stream.context.flags = u32::from(seq > 2);
            for number in 0..10 {
                stream
                    .event(T + seq * 1000 + number, 8, |b| {
                        _ = b.u32(1).u64(seq * 10 + number)
                    })
                    .unwrap();
            }
            slots[seq as usize % 3] = stream.packet(seq < 4);
            stream.lose_packet();
        }
        std::fs::write(
            dir.path().join(".window_0000"),
            synth::window(layout, 0, &slots, 1, 4),
        )
        .unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        assert_eq!(trace.warning_count(), 0, "{:?}", trace.warnings());
        let mut merge = trace.merge();
        let mut values = Vec::new();
        while let Some(event) = merge.next().unwrap() {
            match event.payload {
                Payload::UserEvent { value, .. } => values.push(value),
                Payload::Lost { .. } => {
                    assert!(values.is_empty(), "lost only before the first packet kept")
                }
                _ => panic!(),
            }
        }
        assert_eq!(values, (20..50).collect::<Vec<_>>());
    }
}

#[test]
fn a_damaged_packet_in_the_middle_costs_only_itself() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[3];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut stream =
        StreamWriter::create(dir.path(), layout, 0, 10 * synth::user_event_bytes(layout)).unwrap();
    stream.context.region = (0, 5);
    for number in 0..100 {
        stream
            .event(T + number, 8, |b| _ = b.u32(1).u64(number))
            .unwrap();
    }
    stream.finish().unwrap();
    let path = synth::stream_path(dir.path(), 0);
    let whole = std::fs::read(&path).unwrap();
    let packet = whole.len() / 10;
    for damage in 0..packet {
        let mut bytes = whole.clone();
        bytes[3 * packet + damage] ^= 0x5a;
        std::fs::write(&path, &bytes).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let mut merge = trace.merge();
        let mut intact = 0;
        while let Some(event) = merge.next().unwrap() {
            if let Payload::UserEvent { value, .. } = event.payload
                && !(30..40).contains(&value)
                && event.time == value
            {
                intact += 1;
            }
        }
        // Times of later packets may be pulled up by a wrong time in the damaged one, but no event may be missing.
        assert!(
            merge.damaged() <= 1 && trace.warning_count() <= 2,
            "byte {damage}: {:?}",
            trace.warnings()
        );
        assert!(
            intact == 90 || (24..40).contains(&damage),
            "byte {damage}: {intact}"
        );
    }
}

#[test]
fn random_bytes_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    let mut state = 7u64;
    for round in 0..400 {
        let layout = synth::layouts()[round % 4];
        write_every_event(dir.path(), layout, 300);
        let path = synth::stream_path(dir.path(), 0);
        let mut bytes = std::fs::read(&path).unwrap();
        for _ in 0..1 + round % 9 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (state >> 33) as usize % bytes.len();
            bytes[at] = (state >> 20) as u8;
        }
        std::fs::write(&path, &bytes).unwrap();
        let mut last = 0;
        let trace = Trace::open(dir.path()).unwrap();
        let mut merge = trace.merge();
        while let Some(event) = merge.next().unwrap() {
            assert!(event.time >= last);
            last = event.time;
        }
    }
}

#[test]
fn what_is_no_trace_is_refused_with_a_reason() {
    let dir = tempfile::tempdir().unwrap();
    let error = Trace::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::NotATrace { .. }) && error.to_string().contains("metadata"));
    std::fs::write(
        dir.path().join("metadata"),
        synth::metadata(synth::layouts()[0], 1, true).replace("format = 2", "format = 3"),
    )
    .unwrap();
    let error = Trace::open(dir.path()).unwrap_err().to_string();
    assert!(
        error.contains("format version 3, this build reads 1 and 2"),
        "{error}"
    );
    std::fs::write(dir.path().join("metadata"), "nonsense").unwrap();
    assert!(matches!(
        Trace::open(dir.path()).unwrap_err(),
        Error::Metadata { .. }
    ));
}

#[test]
fn forked_children_are_further_traces() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::user_events(dir.path(), layout, 1, 10, 5).unwrap();
    for child in ["fork-12", "exec-12", "fork-5", "fork-5/fork-99"] {
        synth::user_events(&dir.path().join(child), layout, 1, 10, 5).unwrap();
    }
    let session = Session::open(&[dir.path()]).unwrap();
    let names: Vec<_> = session
        .traces()
        .iter()
        .skip(1)
        .map(|trace| trace.dir().file_name().unwrap().to_str().unwrap())
        .collect();
    // A forked process starts its program later.
    assert_eq!(names, ["fork-5", "fork-99", "fork-12", "exec-12"]);
    let parents: Vec<_> = (0..5).map(|process| session.parent(process)).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(0), Some(0)]);
}

#[test]
fn links_among_forked_children_lead_nowhere() {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::user_events(dir.path(), layout, 1, 10, 5).unwrap();
    synth::user_events(&dir.path().join("fork-3"), layout, 1, 10, 5).unwrap();
    for (name, to) in [("fork-1", "."), ("fork-2", "."), ("fork-4", "fork-3")] {
        std::os::unix::fs::symlink(to, dir.path().join(name)).unwrap();
    }
    let session = Session::open(&[dir.path()]).unwrap();
    assert_eq!(session.traces().len(), 2);
    let warnings = session.traces()[0].warnings();
    assert_eq!(warnings.len(), 3);
    let said = warnings
        .iter()
        .all(|warning| warning.to_string().contains("is not followed"));
    assert!(said, "{warnings:?}");
}

/// Opening a pipe waits for its other end, which may never come.
#[test]
fn pipes_and_devices_are_refused_at_once() {
    let layout = synth::layouts()[0];
    for name in ["thread_0007", ".window_0001", "metadata"] {
        for device in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            synth::user_events(dir.path(), layout, 1, 10, 5).unwrap();
            let path = dir.path().join(name);
            let _ = std::fs::remove_file(&path);
            if device {
                std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
            } else {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
            let error = Trace::open(dir.path()).unwrap_err().to_string();
            let why = match name {
                "metadata" => "it holds no metadata file",
                _ => "it is no regular file",
            };
            assert!(error.contains(why), "{error}");
        }
    }
}

/// Whatever the numbers in their fields: sizes and decoder come from the same rows as the encoder.
#[test]
fn every_event_of_the_table_is_read_back() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let mut stream = StreamWriter::create(dir.path(), layout, 0, 1 << 10).unwrap();
        let mut state = 7u64;
        let mut number = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            state >> 33
        };
        for round in 0..20 {
            for (id, ..) in synth::EVENTS {
                // A thread of the program's, whatever else its flags say.
                let hidden = if *id == 1 { 6 } else { 0 };
                let mut number = || number() & !hidden;
                stream.any(START_TICKS + round, *id, &mut number).unwrap();
            }
        }
        stream.finish().unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let mut merge = trace.merge();
        let mut ids = Vec::new();
        while let Some(event) = merge.next().unwrap() {
            if event.payload.id() != 0 {
                ids.push(event.payload.id());
            }
        }
        assert_eq!(merge.damaged(), 0);
        let once: Vec<u8> = synth::EVENTS.iter().map(|(id, ..)| *id).collect();
        assert_eq!(ids, once.repeat(20), "{layout:?}");
    }
}

#[test]
fn zeros_inside_a_packet_are_told_with_their_place() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let event = synth::user_event_bytes(layout);
        let mut stream = StreamWriter::create(dir.path(), layout, 0, 10 * event).unwrap();
        for number in 0..100 {
            stream
                .event(T + number, 8, |b| _ = b.u32(1).u64(number))
                .unwrap();
        }
        stream.finish().unwrap();
        let path = synth::stream_path(dir.path(), 0);
        let mut bytes = std::fs::read(&path).unwrap();
        // In packet 5, the events behind the fourth one.
        let packet = bytes.len() / 10;
        let end = 6 * packet;
        let begin = end - 6 * event;
        bytes[begin..begin + event].fill(0);
        std::fs::write(&path, &bytes).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        for _ in 0..2 {
            let mut merge = trace.merge();
            let mut values = Vec::new();
            while let Some(event) = merge.next().unwrap() {
                if let Payload::UserEvent { value, .. } = event.payload {
                    values.push(value);
                }
            }
            let expected: Vec<u64> = (0..54).chain(60..100).collect();
            assert_eq!(values, expected);
            // However often it is read.
            let (places, count) = trace.unreadable();
            let what = format!(
                "no event begins here: {} bytes of the packet cannot be read",
                6 * event
            );
            let found: Vec<_> = places
                .iter()
                .map(|place| (place.offset, &place.what))
                .collect();
            assert_eq!((found, count), (vec![(begin as u64, &what)], 1));
        }
    }
}
