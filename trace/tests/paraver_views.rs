//! What views of Paraver rest on beyond sound records: where time begins, types of the program's own, labels.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use instr_trace::Session;
use instr_trace::event::{BlockKind, StackKind};
use instr_trace::names::NoNames;
use instr_trace::paraver::{self, Options};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

/// The `.prv` and the `.pcf` of traces.
fn merged(dirs: &[&Path]) -> (String, String) {
    let session = Session::open(dirs).unwrap();
    let names: Vec<Box<dyn instr_trace::Names>> = session
        .traces()
        .iter()
        .map(|_| Box::new(NoNames) as Box<dyn instr_trace::Names>)
        .collect();
    let out = tempfile::tempdir().unwrap();
    let base = out.path().join("o");
    paraver::write(&session, &names, &Options::default(), &base, &mut |_, _| {}).unwrap();
    let text = |name: &str| fs::read_to_string(out.path().join(name)).unwrap();
    (text("o.prv"), text("o.pcf"))
}

/// Length in the header.
fn length(prv: &str) -> u64 {
    let rest = prv.split("):").nth(1).unwrap();
    rest.split("_ns").next().unwrap().parse().unwrap()
}

/// (time, type, value) of all events.
fn events(prv: &str) -> Vec<(u64, u64, u64)> {
    let mut found = Vec::new();
    for record in prv.lines().filter(|line| line.starts_with("2:")) {
        let fields: Vec<u64> = record.split(':').map(|f| f.parse().unwrap()).collect();
        for pair in fields[6..].chunks(2) {
            found.push((fields[5], pair[0], pair[1]));
        }
    }
    found
}

/// Labels of types.
fn labels(pcf: &str) -> BTreeMap<u64, String> {
    let mut found = BTreeMap::new();
    for block in pcf.split("EVENT_TYPE\n").skip(1) {
        for line in block
            .lines()
            .take_while(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        {
            let mut words = line.splitn(3, "    ");
            let kind = words.nth(1).unwrap().parse().unwrap();
            let before = found.insert(kind, words.next().unwrap().to_owned());
            assert_eq!(before, None, "{kind} is declared twice");
        }
    }
    found
}

#[test]
fn time_begins_with_the_first_event_and_ends_with_the_last() {
    for layout in synth::layouts() {
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        // The second process begins 400 after the first; each has its first event later than that.
        for (dir, start, first, last) in [(&one, 0, 300, 1000), (&two, 400, 50, 900)] {
            synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
            let metadata = dir.path().join("metadata");
            let text = fs::read_to_string(&metadata).unwrap();
            let at = text.find("start_monotonic_ns = ").unwrap();
            let end = at + text[at..].find(';').unwrap();
            let started = format!("start_monotonic_ns = {}", 7_000 + start);
            fs::write(&metadata, [&text[..at], &started, &text[end..]].concat()).unwrap();
            let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
            main.thread_begin(START_TICKS + first, 50, 1u32).unwrap();
            main.user_event(START_TICKS + first + 10, 1000, first)
                .unwrap();
            main.thread_end(START_TICKS + last).unwrap();
            main.finish().unwrap();
        }
        let own = |prv: &str| -> Vec<(u64, u64)> {
            let all = events(prv).into_iter().filter(|event| event.1 == 1000);
            all.map(|(time, _, value)| (time, value)).collect()
        };
        let (alone, _) = merged(&[one.path()]);
        assert_eq!((length(&alone), own(&alone)), (700, vec![(10, 300)]));
        let (later, _) = merged(&[two.path()]);
        assert_eq!((length(&later), own(&later)), (850, vec![(10, 50)]));
        // From 300 of the first process to 900 of the second, which is 1300 of the first.
        let (both, _) = merged(&[one.path(), two.path()]);
        assert_eq!(length(&both), 1000);
        assert_eq!(own(&both), [(10, 300), (160, 50)]);
        let (both, _) = merged(&[two.path(), one.path()]);
        assert_eq!(own(&both), [(10, 300), (160, 50)]);
    }
}

#[test]
fn types_of_the_program_that_are_taken_are_shown_under_others() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    main.thread_begin(START_TICKS, 50, 1u32).unwrap();
    let kinds = [
        1,
        60_000_001,
        19_999_999,
        0,
        1 << 31,
        20_000_010,
        30_000_000,
        42_000_050,
        40_000_033,
    ];
    for (time, kind) in (10..).zip(kinds) {
        for _ in 0..2 {
            main.user_event(START_TICKS + time, kind, time).unwrap();
        }
    }
    // One of ours at the same time as the program's.
    main.sync_begin(START_TICKS + 100, 2u32).unwrap();
    main.sync_end(START_TICKS + 100, 2u32).unwrap();
    main.thread_end(START_TICKS + 200).unwrap();
    main.finish().unwrap();
    let (prv, pcf) = merged(&[dir.path()]);
    let labels = labels(&pcf);
    let mut shown = BTreeMap::new();
    for (time, kind, value) in events(&prv) {
        assert!(labels.contains_key(&kind), "{kind} has no label");
        if (10..100).contains(&time) {
            assert_eq!(time, value);
            *shown.entry((time, kind)).or_insert(0) += 1;
        }
    }
    assert!(shown.values().all(|count| *count == 2), "{shown:?}");
    let shown: Vec<u64> = shown.keys().map(|(_, kind)| *kind).collect();
    let taken = 23_000_000;
    let expected = [
        1,
        taken,
        19_999_999,
        taken + 1,
        taken + 2,
        taken + 3,
        taken + 4,
        taken + 5,
        taken + 6,
    ];
    assert_eq!(shown, expected);
    assert_eq!(labels[&19_999_999], "User event 19999999");
    assert_eq!(labels[&taken], "User event 60000001 (a type that is taken)");
    assert_eq!(
        labels[&(taken + 2)],
        "User event 2147483648 (a type that is taken)"
    );
    // A type has one value in a record, whatever happens at one time.
    for record in prv.lines().filter(|line| line.starts_with("2:")) {
        let fields: Vec<&str> = record.split(':').collect();
        let mut types: Vec<&str> = fields[6..].chunks(2).map(|pair| pair[0]).collect();
        types.sort_unstable();
        let count = types.len();
        types.dedup();
        assert_eq!(types.len(), count, "{record}");
    }
}

/// Of `window_filter_module NAME COUNT VALUE…` the values.
fn filtered(cfg: &str, name: &str) -> Vec<u64> {
    let start = format!("window_filter_module {name} ");
    let line = cfg.lines().find_map(|line| line.strip_prefix(&start));
    let words = line.map_or("", |line| line).split(' ');
    let values: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    match values.split_first() {
        Some((count, values)) => {
            assert_eq!(*count, values.len() as u64);
            values.to_vec()
        }
        None => Vec::new(),
    }
}

#[test]
fn each_view_that_is_installed_finds_its_events() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let metadata = dir.path().join("metadata");
    let text = fs::read_to_string(&metadata).unwrap();
    let lines = "env {\n    sensor_0 = \"rapl/package-0 J 1e-6 1 total 0 900 - /p\";\n    \
                 sensor_1 = \"hwmon/chip/temp1 degC 0.001 1 level 0 900 - /t\";\n";
    fs::write(&metadata, text.replacen("env {\n", lines, 1)).unwrap();
    let at = |time: u64| START_TICKS + time;
    let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    main.thread_begin(at(0), 50, 1u32).unwrap();
    main.parallel_begin(at(10), 1, 0x100, 1, 0u32).unwrap();
    main.implicit_begin(at(20), (0, 1), 0, 1).unwrap();
    main.region_begin(at(25), 0x50).unwrap();
    main.mem_get(at(26), BlockKind::Malloc, 100, 0x40).unwrap();
    main.mem_got(at(30), 0x1000).unwrap();
    main.region_end(at(35)).unwrap();
    for (seq, time) in [(1, 40), (2, 50)] {
        let deps = [(0x10u64, 3u32)];
        main.task_create(at(time), seq, 0x200, 0u32, &deps).unwrap();
        main.task_created(at(time + 5)).unwrap();
    }
    for (seq, time) in [(1, 60), (2, 80)] {
        main.task_begin(at(time), (0, seq)).unwrap();
        main.task_end(at(time + 10)).unwrap();
    }
    for (time, joules) in [(100, 1000), (200, 3000)] {
        main.sensor(at(time), 0, &[joules]).unwrap();
        main.sensor(at(time), 1, &[41_000]).unwrap();
    }
    main.implicit_end(at(300)).unwrap();
    main.parallel_end(at(310), 1).unwrap();
    main.stack(at(320), StackKind::Touched, 0x1000, 0x9000, 0x7000)
        .unwrap();
    main.function_begin(at(330), 0x60).unwrap();
    main.function_end(at(340), 0x60).unwrap();
    main.string(at(350), "task t\t/a.py:1", 0x61).unwrap();
    main.function_begin(at(350), 0x61).unwrap();
    main.function_end(at(360), 0x61).unwrap();
    main.thread_end(at(400)).unwrap();
    main.finish().unwrap();
    let (prv, pcf) = merged(&[dir.path()]);
    let (labels, events) = (labels(&pcf), events(&prv));
    let tags: Vec<u64> = prv
        .lines()
        .filter(|line| line.starts_with("3:"))
        .map(|line| line.rsplit(':').next().unwrap().parse().unwrap())
        .collect();
    let values = |kind: u64| -> Vec<u64> {
        let of = events.iter().filter(|event| event.1 == kind);
        of.map(|(_, _, value)| *value).collect()
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/paraver");
    let mut shown = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let cfg = fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(cfg.starts_with("#ParaverCFG\n"), "{name}");
        let windows = cfg
            .lines()
            .filter(|line| line.starts_with("< NEW DISPLAYING WINDOW "));
        assert_eq!(windows.count(), 1, "{name}");
        for tag in filtered(&cfg, "tag_msg") {
            assert!(tags.contains(&tag), "{name}: no line has the tag {tag}");
        }
        for kind in filtered(&cfg, "evt_type") {
            assert!(labels.contains_key(&kind), "{name}: {kind} has no label");
            shown.insert(name.clone(), values(kind));
        }
    }
    // 2 mJ in 100 ns are 20 kW.
    let function = *shown["dependences"].first().unwrap();
    let expected = [
        ("asyncio_tasks", vec![1, 0]),
        ("dependences", vec![function, 0, function, 0]),
        ("functions", vec![2, 0, 3, 0]),
        ("heap", vec![100]),
        ("heap_calls", vec![1, 0]),
        ("listed_functions", vec![2, 0, 3, 0]),
        ("power", vec![20_000_000]),
        ("regions", vec![1, 0]),
        ("stack", vec![0x2000]),
        ("temperature", vec![41_000, 41_000]),
    ];
    let expected = expected.map(|(name, values)| (name.to_owned(), values));
    assert_eq!(shown, expected.into());
}

#[test]
fn calls_of_the_heap_have_size_and_caller_at_their_begin_and_their_block_at_their_end() {
    let layout = synth::layouts()[0];
    let dir = tempfile::tempdir().unwrap();
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    let at = |time: u64| START_TICKS + time;
    let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
    main.thread_begin(at(0), 50, 1u32).unwrap();
    main.mem_get(at(10), BlockKind::Calloc, 100, 0x40).unwrap();
    main.mem_got(at(15), 0x1000).unwrap();
    main.mem_move(at(20), 0x1000, 300, 0x44).unwrap();
    main.mem_got(at(28), 0x2000).unwrap();
    main.mem_give(at(30), BlockKind::Malloc, 0x2000).unwrap();
    main.mem_given(at(31)).unwrap();
    main.mem_get(at(40), BlockKind::New, 1 << 40, 0x40).unwrap();
    main.mem_got(at(49), 0).unwrap();
    // As older runtimes tell it.
    main.mem_alloc(at(50), BlockKind::Malloc, 0x3000, 7, 0x48)
        .unwrap();
    main.thread_end(at(60)).unwrap();
    main.finish().unwrap();
    let (prv, pcf) = merged(&[dir.path()]);
    let of = |kinds: &[u64]| -> Vec<(u64, u64, u64)> {
        let all = events(&prv).into_iter();
        all.filter(|(_, kind, _)| kinds.contains(kind)).collect()
    };
    let call = 40_000_040;
    let calls = [
        (10, call, 4),
        (15, call, 0),
        (20, call, 3),
        (28, call, 0),
        (30, call, 2),
        (31, call, 0),
        (40, call, 21),
        (49, call, 0),
        (50, call, 1),
        (50, call, 0),
    ];
    assert_eq!(of(&[call]), calls);
    let (size, given_in, out) = (40_000_041, 40_000_042, 40_000_043);
    let begins = [
        (10, size, 100),
        (20, size, 300),
        (20, given_in, 0x1000),
        (30, given_in, 0x2000),
        (40, size, 1 << 40),
        (50, size, 7),
    ];
    assert_eq!(of(&[size, given_in]), begins);
    let ends = [
        (15, out, 0x1000),
        (28, out, 0x2000),
        (49, out, 0),
        (50, out, 0x3000),
    ];
    assert_eq!(of(&[out]), ends);
    let (got, given, in_use) = (40_000_069, 40_000_070, 20_000_010);
    let blocks = [
        (15, got, 100),
        (28, given, 100),
        (28, got, 300),
        (30, given, 300),
        (50, got, 7),
    ];
    assert_eq!(of(&[got, given]), blocks);
    let in_use_after = [
        (15, in_use, 100),
        (28, in_use, 300),
        (30, in_use, 0),
        (49, in_use, 0),
        (50, in_use, 7),
    ];
    assert_eq!(of(&[in_use]), in_use_after);
    // Without names a function is its address; 0 and 1 are the end and what is not known.
    let (function, line) = (70_000_001, 80_000_001);
    let callers = of(&[function]);
    let ids: Vec<(u64, u64)> = callers.iter().map(|(time, _, id)| (*time, *id)).collect();
    assert_eq!(ids, [(10, 2), (20, 3), (40, 2), (50, 4)]);
    for label in ["2      0x40", "3      0x44", "4      0x48"] {
        assert!(pcf.lines().any(|line| line == label), "{pcf}");
    }
    assert_eq!(of(&[line]).len(), callers.len());
    assert_eq!(labels(&pcf)[&function], "Caller at level 1");
}

#[test]
fn a_processor_of_any_number_is_written() {
    // The largest one may stand for none, which is no reason to refuse the trace.
    for number in [3, u32::MAX - 1, u32::MAX] {
        let layout = synth::layouts()[0];
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let mut main = StreamWriter::create(dir.path(), layout, 0, 4096).unwrap();
        main.thread_begin(START_TICKS, 50, 1u32).unwrap();
        main.thread_end(START_TICKS + 20).unwrap();
        main.finish().unwrap();
        let mut processor = StreamWriter::create(dir.path(), layout, 1, 4096).unwrap();
        processor.thread_begin(START_TICKS, number, 4u32).unwrap();
        let at = START_TICKS + 5;
        processor.thread_switch(at, number, 7, 50).unwrap();
        processor.finish().unwrap();
        let (prv, _) = merged(&[dir.path()]);
        let own: Vec<(u64, u64, u64)> = events(&prv)
            .into_iter()
            .filter(|(_, kind, _)| *kind == 40_000_033)
            .collect();
        if number != u32::MAX {
            assert_eq!(own, [(5, 40_000_033, u64::from(number))]);
        }
    }
}

/// A taskloop of three pieces and one of two: what is shown of calls and pieces, on whatever thread.
#[test]
fn pieces_of_taskloops_and_begins_of_taskgroups_are_shown() {
    let layout = synth::layouts()[0];
    // The pieces are told when they begin (libgomp), or are created in the call (libomp).
    for created in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let at = |time: u64| START_TICKS + time;
        let open = |thread| StreamWriter::create(dir.path(), layout, thread, 4096).unwrap();
        let (mut main, mut other) = (open(0), open(1));
        main.thread_begin(at(0), 50, 1u32).unwrap();
        main.parallel_begin(at(1), 1, 0x100, 2, 0u32).unwrap();
        main.implicit_begin(at(2), (0, 1), 0, 2).unwrap();
        other.thread_begin(at(3), 51, 0u32).unwrap();
        other.implicit_begin(at(4), (0, 1), 1, 0).unwrap();
        main.taskgroup_begin(at(10)).unwrap();
        // Numbers of tasks are given in order: 1 to the first taskloop, 5 to the second with libomp, which creates three tasks before.
        let loops = [(1, 20, 0x200, 3), (5, 40, 0x300, 2)];
        for (seq, time, function, pieces) in loops {
            main.taskloop_begin(at(time), seq, function, 0u32, pieces, 0, 30, 1)
                .unwrap();
            for piece in (0..pieces as u32).filter(|_| created) {
                let time = time + 1 + 2 * u64::from(piece);
                main.task_create(at(time), seq + 1 + piece, function, 0u32, &[])
                    .unwrap();
                main.task_created(at(time + 1)).unwrap();
            }
            main.taskloop_end(at(time + 10)).unwrap();
        }
        let mut number = 0;
        for (time, taskloop, piece) in [(60, 1, 2), (70, 1, 3), (80, 5, 6), (90, 1, 4), (100, 5, 7)]
        {
            number += 1;
            if created {
                other.task_begin(at(time), (0, piece)).unwrap();
            } else {
                other
                    .taskloop_task(at(time), (0, taskloop), number, 0, 10)
                    .unwrap();
                other.task_begin(at(time), (1, number)).unwrap();
            }
            other.task_end(at(time + 5)).unwrap();
        }
        main.sync_begin(at(110), 5u32).unwrap();
        main.sync_end(at(120), 5u32).unwrap();
        other.implicit_end(at(130)).unwrap();
        main.implicit_end(at(130)).unwrap();
        main.parallel_end(at(140), 1).unwrap();
        main.thread_end(at(150)).unwrap();
        other.thread_end(at(150)).unwrap();
        main.finish().unwrap();
        other.finish().unwrap();
        let (prv, pcf) = merged(&[dir.path()]);
        let of = |kind: u64| -> Vec<(u64, u64)> {
            let all = events(&prv).into_iter().filter(|event| event.1 == kind);
            all.map(|(time, _, value)| (time, value)).collect()
        };
        let second = if created { 5 } else { 2 };
        let mut ids = vec![(20, 1), (30, 0), (40, second), (50, 0)];
        for (time, number) in [(60, 1), (70, 1), (80, second), (90, 1), (100, second)] {
            ids.extend([(time, number), (time + 5, 0)]);
        }
        assert_eq!(of(60_010_029), ids);
        assert_eq!(of(60_000_029), [(20, 1), (30, 0), (40, 1), (50, 0)]);
        assert_eq!(of(60_000_025), [(10, 1), (10, 0), (110, 2), (120, 0)]);
        assert_eq!(of(60_000_027), [(10, 1), (120, 0)]);
        // The call instantiates the function of its pieces, and that is what they run.
        let (instantiated, executed) = (of(60_000_024), of(60_000_023));
        let ends = [(30, 0), (50, 0)];
        assert!(ends.iter().all(|end| instantiated.contains(end)));
        let function = |all: &[(u64, u64)], at: u64| {
            let of = |event: &&(u64, u64)| event.0 == at && event.1 != 0;
            all.iter().find(of).map(|event| event.1)
        };
        for (call, pieces) in [(20, [60, 70, 90]), (40, [80, 100, 100])] {
            let called = function(&instantiated, call);
            assert!(called.is_some(), "{instantiated:?}");
            assert_eq!(pieces.map(|piece| function(&executed, piece)), [called; 3]);
        }
        let all = instantiated.iter().filter(|event| event.1 != 0).count();
        assert_eq!(all, if created { 2 + 5 } else { 2 });
        assert_eq!(labels(&pcf)[&60_010_029], "Taskloop Identifier");
    }
}
