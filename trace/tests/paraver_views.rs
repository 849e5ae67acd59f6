//! What views of Paraver rest on beyond sound records: where time begins, types of the program's own, labels.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use instr_trace::Trace;
use instr_trace::names::NoNames;
use instr_trace::paraver::{self, Options};
use instr_trace::synth::{self, START_TICKS, StreamWriter};

/// The `.prv` and the `.pcf` of traces.
fn merged(dirs: &[&Path]) -> (String, String) {
    let traces = Trace::open_all(dirs).unwrap();
    let names: Vec<Box<dyn instr_trace::Names>> = traces
        .iter()
        .map(|_| Box::new(NoNames) as Box<dyn instr_trace::Names>)
        .collect();
    let out = tempfile::tempdir().unwrap();
    let base = out.path().join("o");
    paraver::write(&traces, &names, &Options::default(), &base, &mut |_, _| {}).unwrap();
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
