//! Repaired traces are plain CTF that babeltrace2 reads, with every complete event.

use std::path::Path;
use std::process::Command;

use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Payload, Trace};

fn values(dir: &Path) -> Vec<(u32, u64)> {
    let trace = Trace::open(dir).unwrap();
    let mut merge = trace.merge();
    let mut values = Vec::new();
    while let Some(event) = merge.next().unwrap() {
        if let Payload::UserEvent { value, .. } = event.payload {
            values.push((event.thread, value));
        }
    }
    values
}

fn babeltrace(dir: &Path) -> Option<usize> {
    let output = Command::new("babeltrace2").arg(dir).output().ok()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    Some(
        output
            .stdout
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .count(),
    )
}

/// A killed run: thread 0 has two packets and a window, thread 1 only a window, thread 2 a torn stream.
fn killed(dir: &Path, layout: Layout) -> usize {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    for thread in 0..3u32 {
        let mut stream = StreamWriter::new(Vec::new(), layout, thread, usize::MAX);
        let mut file = Vec::new();
        for packet in 0..3u64 {
            for number in 0..10 {
                let value = packet * 10 + number;
                stream
                    .event(START_TICKS + value * 100, 8, |b| _ = b.u32(1).u64(value))
                    .unwrap();
            }
            match (thread, packet) {
                (0, 2) | (1, 0) => {
                    let window = synth::window(layout, thread, &[stream.packet(false)], 0, packet);
                    std::fs::write(dir.join(format!(".window_{thread:04}")), window).unwrap();
                }
                (2, 2) => file.extend_from_slice(
                    &stream.packet(true)[..104 + 3 * synth::user_event_bytes(layout) + 7],
                ),
                _ => file.extend_from_slice(&stream.packet(true)),
            }
            stream.lose_packet();
            if thread == 1 {
                break;
            }
        }
        if thread != 1 {
            std::fs::write(synth::stream_path(dir, thread), file).unwrap();
        }
    }
    30 + 10 + 23
}

#[test]
fn a_killed_run_becomes_a_plain_trace_with_all_its_events() {
    for layout in synth::all_layouts() {
        let dir = tempfile::tempdir().unwrap();
        let (raw, plain) = (dir.path().join("raw"), dir.path().join("plain"));
        let count = killed(&raw, layout);
        killed(&raw.join("fork-7"), layout);
        let trace = Trace::open(&raw).unwrap();
        assert!(trace.needs_repair());
        assert_eq!(trace.truncated_streams(), 3);
        trace.repair(&plain).unwrap();
        assert_eq!(values(&plain).len(), count);
        assert_eq!(values(&plain), values(&raw));
        assert_eq!(values(&plain.join("fork-7")), values(&raw));
        assert!(!Trace::open(&plain).unwrap().needs_repair());
        for dir in [plain.clone(), plain.join("fork-7")] {
            assert!(babeltrace(&dir).is_none_or(|events| events == count));
        }
        assert!(
            trace.repair(&plain).is_err(),
            "an existing trace is not overwritten"
        );
    }
}

#[test]
fn damage_in_the_middle_is_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let (raw, plain) = (dir.path().join("raw"), dir.path().join("plain"));
    let layout = synth::layouts()[2];
    synth::begin(&raw, layout, 1_000_000_000).unwrap();
    let mut stream =
        StreamWriter::create(&raw, layout, 0, 10 * synth::user_event_bytes(layout)).unwrap();
    for value in 0..40 {
        stream
            .event(START_TICKS + value, 8, |b| _ = b.u32(1).u64(value))
            .unwrap();
    }
    stream.finish().unwrap();
    let path = synth::stream_path(&raw, 0);
    let mut bytes = std::fs::read(&path).unwrap();
    let packet = bytes.len() / 4;
    bytes[packet] ^= 1; // the magic number of packet 1
    bytes[2 * packet + 104 + 5 * synth::user_event_bytes(layout)] = 0xee; // the id of event 5 of packet 2
    std::fs::write(&path, &bytes).unwrap();
    Trace::open(&raw).unwrap().repair(&plain).unwrap();
    let expected: Vec<_> = (0..10)
        .chain(20..25)
        .chain(30..40)
        .map(|value| (0, value))
        .collect();
    assert_eq!(values(&plain), expected);
    if let Some(events) = babeltrace(&plain) {
        assert_eq!(events, 25);
    }
}
