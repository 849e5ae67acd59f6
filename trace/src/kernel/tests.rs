use std::io::Write as _;
use std::path::Path;

use super::*;

fn thread(pid: u32, tid: u32) -> ThreadId {
    ThreadId { pid, tid }
}

fn record(time: u64, processor: u32, thread: ThreadId, what: What) -> Record {
    Record {
        time,
        processor,
        thread,
        what,
    }
}

fn all_kinds() -> Vec<Record> {
    let (one, two) = (thread(7, 7), thread(7, u32::MAX));
    let whats = [
        What::In,
        What::Out(Leave::Blocked),
        What::Out(Leave::Ready),
        What::Fork(one),
        What::Exit,
        What::Exec("fifteen letters".into()),
        What::Name(String::new()),
        What::Arguments("é -x \"y z\"".into()),
        What::Lost(u64::MAX),
        What::Out(Leave::Yielded),
        What::Wake {
            by: one,
            processor: 77,
            context: Context::Interrupt,
        },
        What::Priority(139),
    ];
    let whats = whats.into_iter().enumerate();
    whats
        .map(|(at, what)| {
            let whose = match what {
                What::Lost(_) => ThreadId::default(),
                _ => two,
            };
            record(1000 + at as u64, 3, whose, what)
        })
        .collect()
}

fn info() -> Info {
    Info {
        hostname: "a \"host\"".into(),
        boot_id: "0-1".into(),
        pid: 7,
        program: "app\\".into(),
        arguments: "1 2".into(),
        processors: 2,
        start_monotonic_ns: 10,
        start_realtime_ns: 5,
        end_monotonic_ns: 99,
        lost: 4,
        usage: Some(Usage {
            user_ns: 1,
            system_ns: 2,
            voluntary: 3,
            involuntary: 0,
        }),
        trouble: Some("two\nlines".into()),
        recorded: Recorded::System,
        recorder: Recorder::Ebpf,
        recorder_why: "a reason".into(),
    }
}

fn written(dir: &Path, streams: &[(u32, Vec<Record>)]) -> Part {
    for (processor, records) in streams {
        let mut writer = Writer::new(dir, [9; 16], *processor).unwrap();
        for record in records {
            writer.add(record).unwrap();
        }
        writer.flush().unwrap();
    }
    write_info(dir, [9; 16], &info()).unwrap();
    Part::open(dir).unwrap()
}

fn read(part: &Part) -> (Vec<Record>, u64) {
    let mut records = part.records().unwrap();
    let mut all = Vec::new();
    while let Some(record) = records.next().unwrap() {
        all.push(record);
    }
    (all, records.damaged())
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let part = written(dir.path(), &[(3, all_kinds())]);
    assert_eq!(read(&part), (all_kinds(), 0));
    let mut expected = info();
    expected.trouble = Some("two?lines".into());
    assert_eq!(*part.info(), expected);
}

#[test]
fn streams_are_merged_by_time_and_have_many_packets() {
    let dir = tempfile::tempdir().unwrap();
    let streams: Vec<(u32, Vec<Record>)> = (0..3)
        .map(|processor| {
            let one = |at: u64| {
                let time = at * 3 + u64::from(processor);
                record(time, processor, thread(1, 1), What::In)
            };
            (processor, (0..20_000).map(one).collect())
        })
        .collect();
    let part = written(dir.path(), &streams);
    let (all, damaged) = read(&part);
    assert_eq!((all.len(), damaged), (60_000, 0));
    assert!(
        all.iter()
            .enumerate()
            .all(|(at, one)| one.time == at as u64)
    );
}

#[test]
fn a_part_of_the_time_is_read_without_what_lies_far_from_it() {
    let dir = tempfile::tempdir().unwrap();
    let one = |processor: u32| {
        let of = move |at: u64| {
            record(
                at * (1 + u64::from(processor)),
                processor,
                thread(1, 1),
                What::In,
            )
        };
        (processor, (0..20_000).map(of).collect::<Vec<_>>())
    };
    let streams = [one(0), one(1)];
    let part = written(dir.path(), &streams);
    let (all, _) = read(&part);
    for (from, to) in [
        (0, u64::MAX),
        (9_000, 9_100),
        (0, 0),
        (19_999, 50_000),
        (70_000, 80_000),
        (5, 4),
    ] {
        let mut records = part.records_of(from..=to).unwrap();
        let mut found = Vec::new();
        while let Some(record) = records.next().unwrap() {
            found.push(record);
        }
        assert_eq!(records.damaged(), 0, "{from}");
        let inside = |records: &[Record]| -> Vec<Record> {
            let inside = records.iter().filter(|one| (from..=to).contains(&one.time));
            inside.cloned().collect()
        };
        assert_eq!(inside(&found), inside(&all), "{from}");
        assert!(found.iter().all(|record| record.time <= to), "{from}");
        // Before it, not more than a packet of each stream.
        let before = found.iter().filter(|record| record.time < from).count();
        assert!(before <= 2 * 8192, "{from}: {before}");
        assert!(from < 10_000 || before < 20_000, "{from}: {before}");
    }
}

#[test]
fn a_late_event_gets_the_time_of_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let at = |time| record(time, 0, thread(1, 1), What::In);
    let part = written(dir.path(), &[(0, vec![at(50), at(40), at(60)])]);
    let times: Vec<u64> = read(&part).0.iter().map(|record| record.time).collect();
    assert_eq!(times, [50, 50, 60]);
}

#[test]
fn damage_ends_a_stream_and_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let part = written(dir.path(), &[(3, all_kinds())]);
    let path = dir.path().join(file_name(3));
    let whole = std::fs::read(&path).unwrap();
    for end in 1..whole.len() {
        std::fs::write(&path, &whole[..end]).unwrap();
        let (records, damaged) = read(&part);
        assert_eq!(damaged, 1, "cut at {end}");
        assert!(records.is_empty(), "a packet is whole or not there");
    }
    for at in 0..whole.len() {
        for bit in [1, 0x80] {
            let mut bytes = whole.clone();
            bytes[at] ^= bit;
            std::fs::write(&path, &bytes).unwrap();
            assert!(read(&part).0.len() <= all_kinds().len() + 8);
        }
    }
    let mut file = std::fs::File::create(&path).unwrap();
    file.write_all(&[whole.as_slice(), b"more"].concat())
        .unwrap();
    assert_eq!(read(&part), (all_kinds(), 1));
}

#[test]
fn metadata_of_another_version_or_any_prefix_is_refused_without_a_panic() {
    let text = info().text([1; 16]);
    for end in 0..text.len() {
        let _ = Info::parse(&text.as_bytes()[..end]);
    }
    let newer = text.replace("kernel_format = 2", "kernel_format = 3");
    let why = Info::parse(newer.as_bytes()).unwrap_err();
    assert_eq!(why, "env.kernel_format is 3, this build reads 1 to 2");
}

/// Traces of format 1 name no recorder: it was perf.
#[test]
fn kept_traces_are_read() {
    let text = info().text([1; 16]);
    let is_new = |line: &&str| line.contains("recorder");
    let old: Vec<&str> = text.lines().filter(|line| !is_new(line)).collect();
    let old = old
        .join("\n")
        .replace("kernel_format = 2", "kernel_format = 1");
    let read = Info::parse(old.as_bytes()).unwrap();
    assert_eq!(read.recorder, Recorder::Perf);
    assert_eq!((read.lost, read.pid), (4, 7));
    let other = text.replace("recorder = \"ebpf\"", "recorder = \"else\"");
    let why = Info::parse(other.as_bytes()).unwrap_err();
    assert_eq!(why, "env.recorder is \"else\"");
}

#[test]
fn the_schema_has_the_events_and_sizes_that_are_written() {
    let sizes: Vec<usize> = all_kinds()
        .iter()
        .map(|record| {
            let mut bytes = Vec::new();
            record.encode(&mut bytes);
            let id = usize::from(bytes[0]);
            let event = &instr_schema::kernel::EVENTS[id - 1];
            assert_eq!(usize::from(event.id), id);
            bytes.len().next_multiple_of(4)
        })
        .collect();
    assert_eq!(sizes, [16, 20, 20, 24, 16, 32, 20, 28, 16, 20, 32, 20]);
}

/// Texts of any length, each the last event of its packet, as now and as former releases wrote them.
#[test]
fn what_fills_the_last_word_is_no_content() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), [7; 16], 0).unwrap();
    let texts: Vec<Record> = (0..8)
        .map(|length| {
            record(
                100 + length,
                0,
                thread(7, 7),
                What::Name("n".repeat(length as usize)),
            )
        })
        .collect();
    for text in &texts {
        writer.add(text).unwrap();
        writer.flush().unwrap();
    }
    write_info(dir.path(), [7; 16], &info()).unwrap();
    let all = || read(&Part::open(dir.path()).unwrap());
    assert_eq!(all(), (texts.clone(), 0));
    let path = dir.path().join(file_name(0));
    let mut bytes = std::fs::read(&path).unwrap();
    let mut at = 0;
    for length in 0..8 {
        let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
        let (content, size) = (number(at + 40), number(at + 48));
        assert_eq!(content, (76 + 16 + length + 1) * 8);
        assert_eq!(size, content.next_multiple_of(32));
        bytes[at + 40..at + 48].copy_from_slice(&size.to_le_bytes());
        at += (size / 8) as usize;
    }
    assert_eq!(at, bytes.len());
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(all(), (texts, 0));
}
