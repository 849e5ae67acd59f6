//! Version 2 of the format: short headers and those that tell the whole time, fields that share words, and what babeltrace2 reads there.

use std::process::Command;

use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Payload, Trace, WordSize};

const T: u64 = START_TICKS;
/// What a short header tells of the clock is the same again after so many ticks.
const RANGE: u64 = 1 << 25;

/// Times around the range, at a begin whose low bits are about to wrap and at another.
fn times() -> Vec<u64> {
    let mut times = vec![T, T + RANGE - 2];
    for gap in [
        0,
        1,
        RANGE - 1,
        RANGE,
        RANGE + 1,
        5,
        2 * RANGE - 1,
        2 * RANGE,
        RANGE - 1,
        1 << 40,
        RANGE - 1,
        3,
    ] {
        times.push(times[times.len() - 1] + gap);
    }
    times
}

fn write(dir: &std::path::Path, layout: Layout, limit: usize) {
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, limit).unwrap();
    for (number, at) in times().into_iter().enumerate() {
        stream.user_event(at, 1, number as u64).unwrap();
    }
    stream.finish().unwrap();
}

#[test]
fn gaps_of_any_length_are_told() {
    for layout in synth::all_layouts() {
        for limit in [1, 50, usize::MAX] {
            let dir = tempfile::tempdir().unwrap();
            write(dir.path(), layout, limit);
            let trace = Trace::open(dir.path()).unwrap();
            assert_eq!(trace.warning_count(), 0, "{:?}", trace.warnings());
            let (mut merge, mut found) = (trace.merge(), Vec::new());
            while let Some(event) = merge.next().unwrap() {
                assert!(
                    matches!(event.payload, Payload::UserEvent { value, .. } if value == found.len() as u64)
                );
                found.push(event.ticks);
            }
            assert_eq!((found, merge.damaged()), (times(), 0), "{layout:?} {limit}");
        }
    }
}

#[test]
fn babeltrace_reads_gaps_of_any_length() {
    if !instr_test_needs::has("babeltrace2") {
        return;
    }
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), layout, 70);
        let output = Command::new("babeltrace2")
            .args(["--clock-cycles", "--no-delta"])
            .arg(dir.path())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let ticks: Vec<u64> = text
            .lines()
            .map(|line| line[1..21].parse().unwrap())
            .collect();
        assert_eq!(ticks, times(), "{layout:?}");
    }
}

/// Numbers that need more bits than there usually are, or all of them.
#[test]
fn fields_that_share_words_hold_all_values() {
    let near = synth::CODE_BASE;
    let functions = [
        near,
        near + 0x7fff_ffff,
        near - 0x8000_0000,
        near + 0x8000_0000,
        near - 0x8000_0001,
        0,
        0x7fff_ffff_f123,
        u64::MAX,
    ];
    for layout in synth::all_layouts() {
        let narrow = layout.word == WordSize::Four;
        let address = |of: u64| if narrow { of & 0xffff_ffff } else { of };
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let mut stream = StreamWriter::create(dir.path(), layout, 0, 300).unwrap();
        let cells = [(0x7fff_ffff_fff8, 6), (u64::MAX - 7, 1), (0, 2)];
        let numbers = [0, 1, 0x7fff, 0x8000, 0x10_0000, u32::MAX];
        for (at, function) in (0..).zip(functions) {
            stream
                .parallel_begin(T + at, 7, function, 0x1f_fffe, 0x103u32)
                .unwrap();
            let list = &cells[..at as usize % 4];
            stream
                .task_create(T + at, u32::MAX, function, 0x1f_ffff, list)
                .unwrap();
        }
        for number in numbers {
            stream.implicit_begin(T + 100, (3, 4), number, 2).unwrap();
            stream.implicit_begin(T + 100, (3, 4), 0, number).unwrap();
        }
        stream.finish().unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let (mut merge, mut found) = (trace.merge(), Vec::new());
        let (mut at, mut implicit) = (0, Vec::new());
        while let Some(event) = merge.next().unwrap() {
            match event.payload {
                Payload::ParallelBegin {
                    seq,
                    function,
                    requested,
                    kind,
                    call_site,
                } => {
                    found.push(function);
                    assert_eq!(
                        (seq, requested, u32::from(kind), call_site),
                        (7, 0x1f_fffe, 3, true)
                    );
                }
                Payload::TaskCreate {
                    seq,
                    function,
                    flags,
                    deps,
                } => {
                    assert_eq!((seq, flags), (u32::MAX, 0x1f_ffff));
                    assert_eq!(function, found[at]);
                    let deps: Vec<_> = deps.map(|dep| (dep.address, u32::from(dep.kind))).collect();
                    let written = cells.iter().map(|(cell, kind)| (address(*cell), *kind));
                    assert_eq!(deps, written.take(at % 4).collect::<Vec<_>>(), "{layout:?}");
                    at += 1;
                }
                Payload::ImplicitBegin {
                    region,
                    thread_num,
                    team_size,
                } => {
                    assert_eq!((region.thread, region.seq), (3, 4));
                    implicit.push((thread_num, team_size));
                }
                _ => {}
            }
        }
        assert_eq!(merge.damaged(), 0);
        assert_eq!(found, functions.map(address), "{layout:?}");
        let written = numbers
            .into_iter()
            .flat_map(|number| [(number, 2), (0, number)]);
        assert_eq!(implicit, written.collect::<Vec<_>>());
    }
}
