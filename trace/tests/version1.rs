//! Traces of version 1 of the format are read as ever. Those in `version1/` were written by the last runtime of that version: `program.c` there,
//! built with `instr-cc gcc -O2 -g -fopenmp` for x86-64, and with `sparc64-linux-gnu-gcc -m32 -mcpu=v8 -static` for SPARC V8 (under qemu).
//! Host and paths in their metadata were replaced. What they must hold follows from the program's source.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use instr_trace::event::DependKind;
use instr_trace::{Format, Payload, Trace};

/// Steps of the program, and tasks of each.
const STEPS: usize = 5;
const WIDTH: usize = 3;

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/version1")
        .join(target)
}

#[test]
fn what_the_program_did_is_read() {
    for (target, locks) in [("x86_64", 2), ("sparc", 4)] {
        let trace = Trace::open(folder(target)).unwrap();
        assert_eq!(trace.warning_count(), 0, "{:?}", trace.warnings());
        assert_eq!(trace.metadata().layout.format, Format::One);
        let (mut merge, mut counts) = (trace.merge(), BTreeMap::new());
        let (mut last, mut functions, mut lists) = (0, BTreeSet::new(), Vec::new());
        let (mut chunks, mut values, mut begun) = (Vec::new(), Vec::new(), BTreeSet::new());
        while let Some(event) = merge.next().unwrap() {
            assert!(event.time >= last);
            last = event.time;
            *counts.entry(event.payload.id()).or_insert(0) += 1;
            match event.payload {
                Payload::UserEvent { kind, value } => values.push((kind, value)),
                Payload::ParallelBegin { requested, .. } => assert_eq!(requested, 2),
                Payload::ImplicitBegin {
                    thread_num,
                    team_size,
                    ..
                } => {
                    let size = if event.thread == 0 { 2 } else { 0 };
                    assert_eq!((thread_num, team_size), (event.thread, size));
                }
                Payload::LoopBegin {
                    start, end, chunk, ..
                } => assert_eq!((start, end, chunk), (0, 40, 4)),
                Payload::ChunkBegin { begin, end } => chunks.push((begin, end)),
                Payload::TaskCreate { function, deps, .. } => {
                    functions.insert(function);
                    lists.push(deps.collect::<Vec<_>>());
                }
                Payload::TaskBegin { task } => _ = begun.insert(task.seq),
                Payload::String { text, .. } => assert_eq!(text, b"chain"),
                _ => {}
            }
        }
        assert_eq!(merge.damaged(), 0);
        let expected: Vec<(u32, u64)> = (0..7).map(|i| (1000 + i, u64::from(i) << 40)).collect();
        assert_eq!(values, expected);
        chunks.sort_unstable();
        let expected: Vec<(i64, i64)> = (0..10).map(|at| (4 * at, 4 * at + 4)).collect();
        assert_eq!(chunks, expected);
        assert_eq!(functions.len(), 1);
        assert_eq!(begun.len(), STEPS * WIDTH);
        // Each task writes a cell of 4 bytes, and reads the one before.
        let first = lists[0][1].address;
        for (number, list) in lists.iter().enumerate() {
            let cell = first + 4 * (number % WIDTH) as u64;
            let found: Vec<_> = list.iter().map(|dep| (dep.address, dep.kind)).collect();
            assert_eq!(found, [(cell + 4, DependKind::Out), (cell, DependKind::In)]);
        }
        let number = |id| counts.get(&id).copied().unwrap_or(0);
        let tasks = STEPS * WIDTH;
        assert_eq!([40, 41, 42, 43].map(number), [tasks; 4]);
        assert_eq!([16, 17, 18, 19].map(number), [1, 1, 2, 2]);
        assert_eq!([34, 35, 36].map(number), [locks; 3], "{target}");
    }
}
