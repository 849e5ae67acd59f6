//! The bytes of Perfetto files, read again by a reader of its own.

use std::collections::BTreeMap;

use instr_export::{Error, Format, Input, Stats, Target};
use instr_trace::synth::{self, Body, START_MONOTONIC, START_TICKS, StreamWriter};
use instr_trace::{Layout, Session, Trace};

/// Fields of a message: a number, or the bytes of what has a length.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, rest) = bytes.split_first().expect("a number that ends");
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return value;
        }
    }
    panic!("a number of more than 64 bits");
}

/// All fields with their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Value<'_>)> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let len = match key & 7 {
            0 => {
                found.push((key >> 3, Value::Number(varint(&mut bytes))));
                continue;
            }
            1 => 8,
            2 => varint(&mut bytes) as usize,
            other => panic!("wire type {other}"),
        };
        let (value, rest) = bytes.split_at(len);
        bytes = rest;
        found.push((
            key >> 3,
            match key & 7 {
                1 => Value::Number(u64::from_le_bytes(value.try_into().unwrap())),
                _ => Value::Bytes(value),
            },
        ));
    }
    found
}

fn all(message: &[u8], field: u64) -> Vec<Value<'_>> {
    let of = |(number, value): (u64, _)| (number == field).then_some(value);
    fields(message).into_iter().filter_map(of).collect()
}

fn number(message: &[u8], field: u64) -> Option<u64> {
    match all(message, field)[..] {
        [] => None,
        [Value::Number(number)] => Some(number),
        ref other => panic!("field {field}: {other:?}"),
    }
}

fn numbers(message: &[u8], field: u64) -> Vec<u64> {
    let number = |value| match value {
        Value::Number(number) => number,
        Value::Bytes(_) => panic!("field {field} is packed"),
    };
    all(message, field).into_iter().map(number).collect()
}

fn message(of: &[u8], field: u64) -> Option<&[u8]> {
    all(of, field).first().map(|value| match value {
        Value::Bytes(bytes) => *bytes,
        Value::Number(_) => panic!("field {field} is a number"),
    })
}

fn text(of: &[u8], field: u64) -> String {
    String::from_utf8(message(of, field).unwrap_or_default().to_vec()).expect("text")
}

/// A slice: begin, end, name, name of its track, flows that begin and end there.
#[derive(Debug, PartialEq)]
struct Slice {
    begin: u64,
    end: u64,
    name: String,
    track: String,
    flows: [Vec<u64>; 2],
}

/// Slices of one process by begin, longest first.
fn slices(file: &[u8]) -> Vec<Slice> {
    let (mut names, mut tracks) = (BTreeMap::new(), BTreeMap::new());
    let (mut open, mut found) = (BTreeMap::<u64, Vec<Slice>>::new(), Vec::new());
    for packet in all(file, 1) {
        let Value::Bytes(packet) = packet else {
            panic!("a packet that is a number")
        };
        if let Some(interned) = message(packet, 12) {
            for name in all(interned, 2) {
                let Value::Bytes(name) = name else { panic!() };
                names.insert(number(name, 1).unwrap(), text(name, 2));
            }
        }
        if let Some(track) = message(packet, 60) {
            let name = match message(track, 4) {
                Some(thread) => text(thread, 5),
                None => text(track, 2),
            };
            tracks.insert(number(track, 1).unwrap(), name);
        }
        let Some(event) = message(packet, 11) else {
            continue;
        };
        let (time, track) = (number(packet, 8).unwrap(), number(event, 11).unwrap());
        let flows = [numbers(event, 47), numbers(event, 48)];
        let stack = open.entry(track).or_default();
        match number(event, 9) {
            Some(1) => stack.push(Slice {
                begin: time - START_MONOTONIC,
                end: 0,
                name: names[&number(event, 10).unwrap()].clone(),
                track: tracks[&track].clone(),
                flows,
            }),
            Some(2) => {
                let mut slice = stack.pop().expect("a begin");
                slice.end = time - START_MONOTONIC;
                for (all, more) in slice.flows.iter_mut().zip(flows) {
                    all.extend(more);
                }
                found.push(slice);
            }
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "{open:?}");
    found.sort_by_key(|slice| (slice.begin, std::cmp::Reverse(slice.end)));
    found
}

fn none(_: &mut Body) {}

/// One thread: a region with two tasks of which one depends on the other, and two locks that are held crosswise.
fn write(dir: &std::path::Path, layout: Layout) -> Trace {
    synth::begin(dir, layout, 1_000_000_000).expect("written");
    let mut stream = StreamWriter::create(dir, layout, 0, 1 << 16).expect("a file");
    let lock = |object| move |body: &mut Body| _ = body.u32(5).addr(object);
    let create = |seq, kind| {
        move |body: &mut Body| _ = body.u32(seq).addr(0x2000).u32(8).deps(&[(0x8000, kind)])
    };
    let task = |seq| move |body: &mut Body| _ = body.u32(0).u32(seq);
    let (first, second) = (lock(0x10), lock(0x20));
    type Event<'e> = (u64, u8, &'e dyn Fn(&mut Body));
    let events: &[Event<'_>] = &[
        (0, 1, &|body| _ = body.u32(4000).u32(1)),
        (100, 16, &|body| _ = body.u32(1).addr(0x1000).u32(0).u32(0)),
        (110, 18, &|body| _ = body.u32(0).u32(1).u32(0).u32(1)),
        (200, 40, &create(1, 2)),
        (210, 41, &none),
        (220, 40, &create(2, 1)),
        (230, 41, &none),
        (300, 32, &|body| _ = body.u32(3)),
        (310, 42, &task(1)),
        (400, 43, &none),
        (410, 42, &task(2)),
        (500, 43, &none),
        (510, 33, &|body| _ = body.u32(3)),
        (600, 34, &first),
        (610, 35, &first),
        (620, 34, &second),
        (630, 35, &second),
        (640, 36, &first),
        (650, 36, &second),
        (700, 19, &none),
        (800, 17, &|body| _ = body.u32(1)),
        (900, 2, &none),
    ];
    for (time, id, fields) in events {
        let written = stream.event(START_TICKS + time, *id, |body| fields(body));
        written.expect("a full file");
    }
    stream.finish().expect("a full file");
    Trace::open(dir).expect("a trace")
}

fn export(trace: Trace, out: &mut dyn std::io::Write) -> Result<Stats, Error> {
    let session = Session::of(vec![trace]);
    let format = Format::named("perfetto").expect("a format");
    format.write(&Input::unnamed(&session), Target::File(out), &mut |_, _| {})
}

#[test]
fn slices_nest_and_flows_join_tasks() {
    for layout in synth::layouts() {
        let dir = tempfile::tempdir().expect("a folder");
        let trace = write(dir.path(), layout);
        let mut file = Vec::new();
        let stats = export(trace, &mut file).expect("written");
        let slices = slices(&file);
        let of = |track: &str| -> Vec<(u64, u64, &str)> {
            let mine = slices.iter().filter(|slice| slice.track == track);
            mine.map(|slice| (slice.begin, slice.end, slice.name.as_str()))
                .collect()
        };
        let thread = [
            (100, 800, "0x1000"),
            (110, 700, "implicit task: 0x1000"),
            (200, 210, "create: 0x2000"),
            (220, 230, "create: 0x2000"),
            (300, 510, "taskwait"),
            (310, 400, "0x2000"),
            (410, 500, "0x2000"),
            (600, 610, "lock"),
            (620, 630, "lock"),
            (700, 800, "closing barrier"),
        ];
        assert_eq!(of("main"), thread);
        assert_eq!(of("locks held"), [(610, 640, "lock"), (630, 650, "lock")]);
        let useful = of("state").into_iter().filter(|state| state.2 == "useful");
        // Less the construct's begin, two creations, the wait but for its tasks, two waits for locks and the closing barrier.
        let expected = 900 - 10 - 20 - (210 - 180) - 20 - 100;
        assert_eq!(useful.map(|state| state.1 - state.0).sum::<u64>(), expected);
        let flows = |begin| {
            let slice = slices
                .iter()
                .find(|slice| slice.begin == begin && slice.track == "main");
            slice.expect("a slice").flows.clone()
        };
        let [created, dependence] = [[flows(200), flows(220)], [flows(310), flows(410)]];
        assert_eq!(dependence[0][1], created[0][0], "creation of the first");
        let mut ends = [created[1][0].clone(), dependence[0][0].clone()].concat();
        let mut both = dependence[1][1].clone();
        ends.sort_unstable();
        both.sort_unstable();
        assert_eq!(
            (ends.len(), &ends),
            (2, &both),
            "creation and dependence of the second"
        );
        assert_eq!(stats.flows, 3);
    }
}

#[test]
fn a_trace_without_events_is_refused() {
    let dir = tempfile::tempdir().expect("a folder");
    synth::begin(dir.path(), synth::layouts()[0], 1_000_000_000).expect("written");
    let Ok(trace) = Trace::open(dir.path()) else {
        return;
    };
    let error = export(trace, &mut Vec::new());
    assert!(
        error
            .expect_err("no events")
            .to_string()
            .contains("no events")
    );
}

#[test]
fn a_place_that_takes_nothing_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let dir = tempfile::tempdir().expect("a folder");
    let trace = write(dir.path(), synth::layouts()[0]);
    let written = export(trace, &mut Full);
    assert!(matches!(written, Err(Error::Output(_))));
}

/// A switch of a processor: time, who leaves in which state, who comes.
type Switch = (u64, (u64, u64), u64);

fn switches(file: &[u8]) -> Vec<Switch> {
    let mut found = Vec::new();
    for packet in all(file, 1) {
        let Value::Bytes(packet) = packet else {
            panic!()
        };
        let Some(bundle) = message(packet, 1) else {
            continue;
        };
        for event in all(bundle, 2) {
            let Value::Bytes(event) = event else { panic!() };
            if let Some(switch) = message(event, 4) {
                let of = |field| number(switch, field).unwrap_or(0);
                found.push((number(event, 1).unwrap(), (of(2), of(4)), of(6)));
            }
        }
    }
    found
}

/// A trace of process `pid` with one thread, whose first event comes 5 us behind its begin; and what the kernel recorded of a thread: time, what.
fn recorded(dir: &std::path::Path, pid: u32, events: &[(u64, instr_trace::kernel::What)]) -> Trace {
    use instr_trace::kernel::{Info, Record, Recorded, ThreadId, Writer, write_info};
    let layout = synth::layouts()[0];
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, 1 << 16).unwrap();
    stream.thread_begin(START_TICKS + 5000, 4000, 1).unwrap();
    stream.thread_end(START_TICKS + 9000).unwrap();
    stream.finish().unwrap();
    let kernel = dir.join("kernel");
    std::fs::create_dir(&kernel).unwrap();
    let mut writer = Writer::new(&kernel, [1; 16], 0).unwrap();
    for (time, what) in events {
        let thread = ThreadId { pid, tid: pid + 7 };
        let record = Record {
            time: START_MONOTONIC + time,
            processor: 0,
            thread,
            what: what.clone(),
        };
        writer.add(&record).unwrap();
    }
    writer.flush().unwrap();
    let info = Info {
        recorded: Recorded::System,
        pid,
        start_monotonic_ns: START_MONOTONIC - 1000,
        end_monotonic_ns: START_MONOTONIC + 200_000,
        ..Info::default()
    };
    write_info(&kernel, [1; 16], &info).unwrap();
    Trace::open(dir).unwrap()
}

const BLOCKED: u64 = 1;
const ENDED: u64 = 0x10;

/// A thread runs on behind its exit.
#[test]
fn switches_are_at_their_times_and_end_threads_where_they_leave() {
    use instr_trace::kernel::{Leave, What};
    let dir = tempfile::tempdir().unwrap();
    let events = [
        (100, What::In),
        (200, What::Exit),
        (210, What::Out(Leave::Ready)),
        (250, What::In),
        (260, What::Out(Leave::Blocked)),
    ];
    let trace = recorded(dir.path(), 70, &events);
    let mut file = Vec::new();
    export(trace, &mut file).unwrap();
    let expected = [
        (100, (0, 0), 77),
        (200, (77, ENDED), 0),
        (250, (0, 0), 77),
        (260, (77, ENDED), 0),
    ];
    let shifted = expected.map(|(time, from, to)| (START_MONOTONIC + time, from, to));
    assert_eq!(switches(&file), shifted);
}

/// Of one switch, each recording looks at the clock for itself: who comes may do so before who leaves.
#[test]
fn a_switch_between_two_recordings_has_one_order() {
    use instr_trace::kernel::{Leave, What};
    let dir = tempfile::tempdir().unwrap();
    let places = ["a", "b"].map(|name| dir.path().join(name));
    for place in &places {
        std::fs::create_dir(place).unwrap();
    }
    let blocked = || What::Out(Leave::Blocked);
    let a = [
        (0, What::In),
        (10_300, blocked()),
        (50_000, What::In),
        (90_300, What::Exit),
    ];
    let b = [
        (10_000, What::In),
        (50_300, blocked()),
        (90_000, What::In),
        // Nobody leaves for it.
        (150_000, blocked()),
    ];
    let traces = vec![recorded(&places[0], 70, &a), recorded(&places[1], 80, &b)];
    let session = Session::of(traces);
    let format = Format::named("perfetto").unwrap();
    let mut file = Vec::new();
    let target = Target::File(&mut file);
    format
        .write(&Input::unnamed(&session), target, &mut |_, _| {})
        .unwrap();
    let found = switches(&file);
    let whole: Vec<_> = found
        .iter()
        .map(|(time, from, to)| (time - START_MONOTONIC, *from, *to))
        .collect();
    let expected = [
        (0, (0, 0), 77),
        (10_300, (77, BLOCKED), 0),
        (10_300, (0, 0), 87),
        (50_300, (87, BLOCKED), 0),
        (50_300, (0, 0), 77),
        (90_300, (77, ENDED), 0),
        (90_300, (0, 0), 87),
        (150_000, (87, BLOCKED), 0),
    ];
    assert_eq!(whole, expected);
}
