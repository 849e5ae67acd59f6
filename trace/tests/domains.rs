//! Heap, sensors, samples and processors, as the interpreter gives them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use instr_trace::event::{BlockKind, StackKind};
use instr_trace::model::{
    At, Gone, HeapCall, HeapFunction, Memory, PagesCall, PagesFunction, Reading, Run, Sample, Sink,
    Switch, replay,
};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Layout, Trace};

type Stream = StreamWriter<std::io::BufWriter<fs::File>>;

const AT: u64 = START_TICKS;

/// A stream of a trace.
fn stream(dir: &Path, layout: Layout, index: u32, fill: impl FnOnce(&mut Stream)) {
    let mut stream = StreamWriter::create(dir, layout, index, 1 << 16).unwrap();
    fill(&mut stream);
    stream.finish().unwrap();
}

/// A trace of one thread for each layout.
fn each_layout(fill: impl Fn(&mut Stream), check: impl Fn(&Trace)) {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        stream(dir.path(), layout, 0, |main| {
            main.thread_begin(AT, 4000, 1u32).unwrap();
            fill(main);
        });
        check(&Trace::open(dir.path()).unwrap());
    }
}

/// A line for each call.
#[derive(Default)]
struct Protocol(String);

impl Sink for Protocol {
    const MEMORY: bool = true;
    const READINGS: bool = true;
    const SAMPLES: bool = true;
    const PROCESSORS: bool = true;

    fn memory(&mut self, at: At, memory: &Memory) {
        writeln!(self.0, "{} {memory:?}", at.time).unwrap();
    }

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        let (time, position) = (at.time, at.position);
        match reading {
            Reading::Sensor { def, values, .. } => {
                let name = &def.name;
                for value in *values {
                    let power = value.power_mw(def, time);
                    let (raw, grown) = (value.raw, value.grown);
                    writeln!(
                        self.0,
                        "{time} {position} {name} {raw:?} {grown:?} {power:?}"
                    )
                    .unwrap();
                }
            }
            Reading::Counters { values, .. } => {
                for count in *values {
                    let (value, grown) = (count.value, count.grown);
                    writeln!(self.0, "{time} {position} counted {value:?} {grown}").unwrap();
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, at: At, sample: &Sample<'_>) {
        if let Sample::Taken { frames, periods } = sample {
            writeln!(self.0, "{} at {:#x} for {periods}", at.time, frames.pc).unwrap();
        }
    }

    fn on_cpu(&mut self, at: At, processor: Option<u32>) {
        writeln!(self.0, "{} {} on {processor:?}", at.time, at.position).unwrap();
    }

    fn switch(&mut self, switch: &Switch) {
        let (time, processor) = (switch.time, switch.processor);
        let (from, to) = (switch.from, switch.to);
        writeln!(self.0, "{time} switch of {processor} from {from:?} to {to}").unwrap();
    }

    fn ran(&mut self, run: &Run) {
        let (thread, begin, end) = (run.thread, run.begin, run.end);
        let on = (run.processor, run.switched);
        writeln!(self.0, "ran {thread:?} {begin} to {end} on {on:?}").unwrap();
    }
}

fn protocol(trace: &Trace) -> Vec<String> {
    let mut protocol = Protocol::default();
    replay(trace, &mut protocol).unwrap();
    protocol.0.lines().map(str::to_owned).collect()
}

/// Calls of the heap.
#[derive(Default)]
struct Calls(Vec<HeapCall>, Vec<PagesCall>);

impl Sink for Calls {
    const MEMORY: bool = true;

    fn memory(&mut self, _at: At, memory: &Memory) {
        match *memory {
            Memory::Heap(call) => self.0.push(call),
            Memory::Pages(call) => self.1.push(call),
            _ => {}
        }
    }
}

fn calls(trace: &Trace) -> Calls {
    let mut calls = Calls::default();
    replay(trace, &mut calls).unwrap();
    calls
}

/// What a call gave back (0: an unknown block) and got, and what is in use after it.
fn short(call: &HeapCall) -> (Option<u64>, Option<u64>, u64, u64) {
    let gone = call.gone.map(|gone| match gone {
        Gone::Block { bytes, .. } => bytes,
        Gone::Unknown => 0,
    });
    let got = call.got.map(|_| call.bytes);
    (gone, got, call.blocks_in_use, call.bytes_in_use)
}

#[test]
fn each_call_of_the_heap_gives_its_blocks_and_what_is_in_use() {
    each_layout(
        |main| {
            main.mem_alloc(AT + 1, BlockKind::Malloc, 0x1000, 100, 0x40)
                .unwrap();
            main.mem_alloc(AT + 2, BlockKind::New, 0x2000, 7, 0x50)
                .unwrap();
            main.mem_realloc(AT + 3, 0x1000, 0x3000, 300, 0x60).unwrap();
            main.mem_free(AT + 4, BlockKind::New, 0x2000).unwrap();
            // Refused twice, and an address that nobody was seen to get.
            main.mem_alloc(AT + 5, BlockKind::Calloc, 0, 1 << 40, 0x70)
                .unwrap();
            main.mem_realloc(AT + 6, 0x3000, 0, 1 << 40, 0x60).unwrap();
            main.mem_free(AT + 7, BlockKind::Malloc, 0x9000).unwrap();
            // realloc as malloc, and as free.
            main.mem_realloc(AT + 8, 0, 0x4000, 50, 0x60).unwrap();
            main.mem_realloc(AT + 9, 0x4000, 0, 0, 0x60).unwrap();
        },
        |trace| {
            let Calls(calls, _) = calls(trace);
            let shorts: Vec<_> = calls.iter().map(short).collect();
            let expected = [
                (None, Some(100), 1, 100),
                (None, Some(7), 2, 107),
                (Some(100), Some(300), 2, 307),
                (Some(7), None, 1, 300),
                (None, None, 1, 300),
                (None, None, 1, 300),
                (Some(0), None, 1, 300),
                (None, Some(50), 2, 350),
                (Some(50), None, 1, 300),
            ];
            assert_eq!(shorts, expected);
            let refused: Vec<bool> = calls.iter().map(|call| call.refused).collect();
            assert_eq!(refused.iter().position(|refused| *refused), Some(4));
            assert_eq!(refused.iter().filter(|refused| **refused).count(), 2);
            // The block of the second call was got at 0x50; the realloc's place is another one.
            let Some(Gone::Block { site, .. }) = calls[3].gone else {
                panic!("{:?}", calls[3]);
            };
            let got = calls[1].got.unwrap();
            assert_eq!((got.site.key, site), (0x50, got.site.number));
            assert_eq!(calls[3].function, HeapFunction::Give(BlockKind::New));
            let moved = calls[2].got.unwrap().site;
            assert_eq!((moved.key, moved.number), (0x60, 2));
            assert_eq!(calls[7].got.unwrap().site, moved);
        },
    );
}

/// What a trace tells of the calls of the heap, without what they did.
fn shown(trace: &Trace) -> Vec<String> {
    let mut all = protocol(trace);
    for line in &mut all {
        let end = [" Heap(", " { "]
            .iter()
            .filter_map(|at| line.find(at))
            .min();
        line.truncate(end.unwrap_or(line.len()));
    }
    all
}

#[test]
fn calls_of_the_heap_last_from_their_begin_to_their_end() {
    each_layout(
        |main| {
            main.mem_get(AT + 1, BlockKind::Malloc, 100, 0x40).unwrap();
            main.mem_got(AT + 5, 0x1000).unwrap();
            main.mem_move(AT + 6, 0x1000, 300, 0x44).unwrap();
            main.mem_got(AT + 9, 0x1800).unwrap();
            main.mem_give(AT + 10, BlockKind::Malloc, 0x1800).unwrap();
            main.mem_given(AT + 12).unwrap();
            // `new` whose malloc keeps another block, and one that throws when its handler has given one back.
            main.mem_get(AT + 20, BlockKind::New, 8, 0x60).unwrap();
            main.mem_alloc(AT + 25, BlockKind::Malloc, 0x2000, 8, 0x50)
                .unwrap();
            main.mem_got(AT + 26, 0x3000).unwrap();
            main.mem_get(AT + 30, BlockKind::New, 9, 0x60).unwrap();
            main.mem_give(AT + 31, BlockKind::Malloc, 0x2000).unwrap();
            main.mem_given(AT + 32).unwrap();
            main.mem_got(AT + 33, 0).unwrap();
            // In one event, one left by a jump, one cut by the thread's end; an end alone is passed over.
            main.mem_realloc(AT + 40, 0x3000, 0x4000, 9, 0x60).unwrap();
            main.mem_got(AT + 45, 0x9000).unwrap();
            main.mem_given(AT + 46).unwrap();
            main.mem_move(AT + 50, 0x4000, 10, 0x60).unwrap();
            main.mem_get(AT + 60, BlockKind::Calloc, 10, 0x60).unwrap();
            main.thread_end(AT + 70).unwrap();
        },
        |trace| {
            let expected = [
                "1 Begins(HeapBegin",
                "5",
                "5 Ends(Get(Malloc))",
                "6 Begins(HeapBegin",
                "9",
                "9 Ends(Move)",
                "10 Begins(HeapBegin",
                "10",
                "12 Ends(Give(Malloc))",
                "20 Begins(HeapBegin",
                "25",
                "26",
                "26 Ends(Get(New))",
                "30 Begins(HeapBegin",
                "31 Begins(HeapBegin",
                "31",
                "32 Ends(Give(Malloc))",
                "33",
                "33 Ends(Get(New))",
                "40 Begins(HeapBegin",
                "40",
                "40 Ends(Move)",
                "50 Begins(HeapBegin",
                "60 Ends(Move)",
                "60 Begins(HeapBegin",
                "70 Ends(Get(Calloc))",
            ];
            assert_eq!(shown(trace), expected);
            let Calls(calls, _) = calls(trace);
            let shorts: Vec<_> = calls.iter().map(short).collect();
            let expected = [
                (None, Some(100), 1, 100),
                (Some(100), Some(300), 1, 300),
                (Some(300), None, 0, 0),
                (None, Some(8), 1, 8),
                (None, Some(8), 2, 16),
                (Some(8), None, 1, 8),
                (None, None, 1, 8),
                (Some(8), Some(9), 1, 9),
            ];
            assert_eq!(shorts, expected);
            assert_eq!(calls.iter().position(|call| call.refused), Some(6));
        },
    );
}

/// Calls that are told by their begin and end do with blocks what those told by one event do.
#[test]
fn the_account_of_the_heap_does_not_depend_on_how_calls_are_told() {
    let mut random = fastrand::Rng::with_seed(5);
    let mut steps = Vec::new();
    for _ in 0..2000 {
        let mut address = || random.u64(..64) * 16;
        let (old, address) = (address(), address());
        steps.push((
            random.u8(..4),
            old,
            address,
            random.u64(..1000),
            random.u64(..5),
        ));
    }
    let write = |stream: &mut Stream, in_two: bool| {
        for (number, &(kind, old, address, bytes, site)) in (1..).zip(&steps) {
            let at = AT + 2 * number;
            let result = match (kind, in_two) {
                (0 | 1, false) => stream.mem_alloc(at + 1, BlockKind::New, address, bytes, site),
                (0 | 1, true) => stream
                    .mem_get(at, BlockKind::New, bytes, site)
                    .and_then(|()| stream.mem_got(at + 1, address)),
                (2, false) => stream.mem_realloc(at + 1, old, address, bytes, site),
                (2, true) => stream
                    .mem_move(at, old, bytes, site)
                    .and_then(|()| stream.mem_got(at + 1, address)),
                (_, false) => stream.mem_free(at, BlockKind::New, old),
                (_, true) => stream
                    .mem_give(at, BlockKind::New, old)
                    .and_then(|()| stream.mem_given(at + 1)),
            };
            result.unwrap();
        }
    };
    let told = [false, true].map(|in_two| {
        let told = std::cell::RefCell::new(Vec::new());
        each_layout(
            |main| write(main, in_two),
            |trace| told.borrow_mut().push(calls(trace).0),
        );
        told.into_inner()
    });
    assert!(told[0].iter().all(|calls| calls.len() == steps.len()));
    assert_eq!(told[0], told[1]);
}

#[test]
fn what_is_mapped_is_known_when_parts_of_it_go() {
    const KIB: u64 = 1 << 10;
    each_layout(
        |main| {
            main.mem_map(AT + 1, 0x10_0000, 64 * KIB, 0).unwrap();
            main.mem_unmap(AT + 2, 0x10_4000, 8 * KIB).unwrap();
            // Over the hole, which is then mapped again, and 8 KiB of the rest.
            main.mem_map(AT + 3, 0x10_4000, 16 * KIB, 0).unwrap();
            main.mem_remap(AT + 4, 0x10_0000, 64 * KIB, 0x80_0000, 100, 0)
                .unwrap();
            main.mem_map(AT + 5, 0, 100, 0).unwrap();
            main.mem_unmap(AT + 6, 0x80_0001, 100).unwrap();
        },
        |trace| {
            let Calls(_, pages) = calls(trace);
            let shorts: Vec<_> = pages
                .iter()
                .map(|call| {
                    (
                        call.function,
                        call.refused,
                        call.mapped / KIB,
                        call.gone / KIB,
                    )
                })
                .collect();
            let expected = [
                (PagesFunction::Map, false, 64, 0),
                (PagesFunction::Unmap, false, 56, 8),
                (PagesFunction::Map, false, 64, 8),
                (PagesFunction::Remap, false, 4, 64),
                (PagesFunction::Map, true, 4, 0),
                (PagesFunction::Unmap, true, 4, 0),
            ];
            assert_eq!(shorts, expected);
            let got: Vec<_> = pages
                .iter()
                .map(|call| (call.address, call.bytes))
                .collect();
            let none = (0, 0);
            let expected = [
                (0x10_0000, 64 * KIB),
                none,
                (0x10_4000, 16 * KIB),
                (0x80_0000, 100),
                none,
                none,
            ];
            assert_eq!(got, expected);
        },
    );
}

#[test]
fn totals_grow_by_the_difference_wrap_and_make_power() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let metadata = dir.path().join("metadata");
        let text = fs::read_to_string(&metadata).unwrap();
        let lines = "env {\n    sensor_3 = \"meter J 1e-6 1 total 1000 0 - /p\";\n    \
                     sensor_5 = \"level V 1 2 level 0 0 - /t\";\n    counter_0 = \"cycles -\";\n";
        fs::write(&metadata, text.replacen("env {\n", lines, 1)).unwrap();
        stream(dir.path(), layout, 0, |main| {
            main.thread_begin(AT, 4000, 1u32).unwrap();
            main.thread_counters(AT + 50, 0, &[70]).unwrap();
            main.thread_counters(AT + 60, 0, &[i64::MIN]).unwrap();
            main.thread_counters(AT + 70, 0, &[100]).unwrap();
            main.thread_counters(AT + 80, 0, &[90]).unwrap();
            main.thread_end(AT + 100).unwrap();
        });
        // A thread of the runtime's own.
        stream(dir.path(), layout, 1, |own| {
            own.thread_begin(AT, 4001, 2u32).unwrap();
            own.sensor(AT + 10, 3, &[900]).unwrap();
            own.sensor(AT + 15, 3, &[2000]).unwrap();
            own.sensor(AT + 20, 3, &[100]).unwrap();
            own.sensor(AT + 30, 5, &[-3, 4]).unwrap();
            own.sensor(AT + 40, 9, &[1]).unwrap();
            own.thread_end(AT + 90).unwrap();
        });
        // 200 uJ in 10 ns are 20 kW.
        let expected = [
            "10 1 meter Some(900) None None",
            "15 1 meter None None None",
            "20 1 meter Some(100) Some(200) Some(20000000)",
            "30 1 level Some(-3) None None",
            "30 1 level Some(4) None None",
            "50 0 counted Some(70) 70",
            "60 0 counted None 0",
            "70 0 counted Some(100) 30",
            "80 0 counted Some(90) 0",
        ];
        assert_eq!(protocol(&Trace::open(dir.path()).unwrap()), expected);
    }
}

#[test]
fn a_sample_stands_for_its_periods_and_for_one_at_least() {
    each_layout(
        |main| {
            main.sample(AT + 1, 0x40, 0x80, 0, &[0x10]).unwrap();
            main.sample(AT + 2, 0x41, 0x80, 1, &[]).unwrap();
            main.sample_stack(AT + 3, 0x42, 0x80, 7, 0, &[1, 2])
                .unwrap();
        },
        |trace| {
            let expected = ["1 at 0x40 for 1", "2 at 0x41 for 1", "3 at 0x42 for 7"];
            assert_eq!(protocol(trace), expected);
        },
    );
}

#[test]
fn a_thread_is_on_the_processor_that_turned_to_it_until_that_turns_away() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        stream(dir.path(), layout, 0, |main| {
            main.thread_begin(AT, 50, 1u32).unwrap();
            main.processor(AT, 0).unwrap();
            main.processor(AT + 80, 1).unwrap();
            main.thread_end(AT + 95).unwrap();
        });
        // It is switched to before its first event.
        stream(dir.path(), layout, 1, |late| {
            late.thread_begin(AT + 40, 60, 0u32).unwrap();
            late.thread_end(AT + 70).unwrap();
        });
        for (index, number) in [(2, 0), (3, 1)] {
            stream(dir.path(), layout, index, |processor| {
                processor.thread_begin(AT, number, 4u32).unwrap();
                match number {
                    0 => {
                        processor.thread_switch(AT + 10, 0, 50, 50).unwrap();
                        processor.thread_switch(AT + 30, 0, 50, 60).unwrap();
                        // That 60 left for 7 is missing: the time since then is nobody's.
                        processor.thread_switch(AT + 60, 0, 7, 8).unwrap();
                    }
                    _ => processor.thread_switch(AT + 50, 1, 9, 50).unwrap(),
                }
                processor.thread_end(AT + 100).unwrap();
            });
        }
        let expected = [
            "0 0 on Some(0)",
            "10 switch of 0 from None to 50",
            "ran Some(0) 0 to 30 on (0, true)",
            "30 0 on None",
            "30 switch of 0 from Some(50) to 60",
            "40 1 on Some(0)",
            "ran None 0 to 50 on (1, true)",
            "50 0 on Some(1)",
            "50 switch of 1 from Some(9) to 50",
            "60 1 on None",
            "60 switch of 0 from Some(7) to 8",
            "ran None 60 to 100 on (0, false)",
            "ran Some(0) 50 to 100 on (1, false)",
        ];
        assert_eq!(protocol(&Trace::open(dir.path()).unwrap()), expected);
    }
}

/// Whatever the events: an address got again and again, places that are all different, mappings of single pages.
#[test]
fn hostile_memory_takes_no_more_time_than_other() {
    const COUNT: u64 = 50_000;
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    stream(dir.path(), layout, 0, |main| {
        main.thread_begin(AT, 4000, 1u32).unwrap();
        for n in 0..COUNT {
            main.mem_alloc(AT + n, BlockKind::Malloc, 0x1000, 1, n)
                .unwrap();
            main.mem_map(AT + n, (2 * n + 1) << 12, 1, 0).unwrap();
            main.stack(AT + n, StackKind::Touched, n, u64::MAX, 0)
                .unwrap();
        }
        for _ in 0..COUNT {
            main.mem_free(AT + COUNT, BlockKind::Malloc, 0x1000)
                .unwrap();
        }
        main.mem_unmap(AT + COUNT, 0, u64::MAX).unwrap();
    });
    let trace = Trace::open(dir.path()).unwrap();
    let begin = Instant::now();
    let Calls(heap, pages) = calls(&trace);
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "{:?}",
        begin.elapsed()
    );
    assert_eq!(heap.last().map(short), Some((Some(1), None, 0, 0)));
    assert_eq!(pages[COUNT as usize - 1].mapped, COUNT * 4096);
    assert_eq!(pages.last().map(|call| call.mapped), Some(0));
}
