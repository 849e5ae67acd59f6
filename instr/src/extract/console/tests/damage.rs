//! A whole trace on a console, and lines, bytes and ends of it that are lost or mixed with others: what is missing is known.

use instr_schema::declarations;
use instr_trace::synth::{START_MONOTONIC, START_TICKS, StreamWriter};
use instr_trace::{Layout, Trace};

use super::*;
use crate::extract::text;

/// Numbers that look random and are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

fn metadata() -> String {
    format!(
        "{}trace {{\n    major = 1;\n    minor = 8;\n    uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";\n    byte_order = le;\n    \
         packet.header := struct {{\n        u32 magic;\n        u8 uuid[16];\n        u32 stream_id;\n    }};\n}};\n\nenv {{\n    \
         tracer_name = \"instr\";\n    format = 2;\n    program = \"app\";\n    word_bits = 64;\n    start_ticks = {START_TICKS};\n    \
         start_monotonic_ns = {START_MONOTONIC};\n    closed = 1;\n    declarations = {};\n}};\n\nclock {{\n    name = instr;\n    \
         freq = 1000000000;\n    offset_s = 0;\n    offset = 0;\n}};\n\n",
        declarations::FIRST,
        declarations::number(),
    )
}

/// A trace of two threads with some packets each, its lines as the runtime prints them, and its events.
struct Printed {
    lines: Vec<String>,
    /// Lines of each copy of the metadata.
    copies: Vec<std::ops::Range<usize>>,
    events: u64,
    streams: Vec<Vec<u8>>,
}

const THREADS: u32 = 2;
const EVENTS: u64 = 300;

fn printed() -> Printed {
    let dir = tempfile::tempdir().unwrap();
    let mut lines = vec![line(0, 'O', 0, 3, 0, b"app")];
    let mut copies = Vec::new();
    let add = |lines: &mut Vec<String>, kind, id, total, offset: usize, payload: &[u8]| {
        let seq = lines.len() as u32;
        lines.push(line(seq, kind, id, total, offset as u32, payload));
    };
    let mut copy = |lines: &mut Vec<String>| {
        let text = metadata();
        let begin = lines.len();
        for (number, piece) in text.as_bytes().chunks(120).enumerate() {
            add(lines, 'M', 0, 0, number * 120, piece);
        }
        let sum = crc32fast::hash(text.as_bytes());
        add(lines, 'M', sum, text.len() as u32, text.len(), b"");
        copies.push(begin..lines.len());
    };
    copy(&mut lines);
    let mut streams = Vec::new();
    for thread in 0..THREADS {
        let mut stream = StreamWriter::create(dir.path(), Layout::default(), thread, 1500).unwrap();
        let begin = |body: &mut instr_trace::synth::Body| _ = body.u32(4000).u32(0);
        stream.event(START_TICKS, 1, begin).unwrap();
        for number in 1..EVENTS {
            let event = |body: &mut instr_trace::synth::Body| _ = body.u32(7).u64(number);
            stream.event(START_TICKS + number, 8, event).unwrap();
        }
        stream.finish().unwrap();
    }
    std::fs::write(
        dir.path().join("metadata"),
        text::complete(metadata().as_bytes(), &mut Losses::default()),
    )
    .unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    for thread in 0..THREADS {
        let name = format!("thread_{thread:04}");
        let bytes = std::fs::read(dir.path().join(name)).unwrap();
        for packet in trace.packets(thread as usize) {
            let from = packet.offset as usize;
            let packet = &bytes[from..from + packet.bytes as usize];
            for (number, piece) in packet.chunks(120).enumerate() {
                add(
                    &mut lines,
                    'P',
                    thread,
                    packet.len() as u32,
                    number * 120,
                    piece,
                );
            }
        }
        streams.push(bytes);
    }
    copy(&mut lines);
    copy(&mut lines);
    let events = u64::from(THREADS) * EVENTS;
    for number in 0..3 {
        let digits = format!("{events:016x}");
        add(&mut lines, 'E', 0, 3, number, digits.as_bytes());
    }
    let lines = lines.iter().map(|l| format!("~instr1:{l}\n")).collect();
    Printed {
        lines,
        copies,
        events,
        streams,
    }
}

/// The log's trace, as its readers see it: events, events that it says are lost, and whether it was closed; nothing where it is refused.
fn read(log: &[u8]) -> Option<(u64, u64, Trace, tempfile::TempDir)> {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("log");
    std::fs::write(&input, log).unwrap();
    extract(&input, &dir.path().join("out"), None).ok()?;
    let trace = Trace::open(dir.path().join("out")).unwrap();
    let (mut merge, mut events) = (trace.merge(), 0);
    while let Some(event) = merge.next().unwrap() {
        events += u64::from(event.payload.id() != 0);
    }
    drop(merge);
    Some((events, trace.discarded(), trace, dir))
}

/// What is missing is known, and how much of it, unless the trace says that its end is missing.
fn all_is_known(log: &[u8], printed: &Printed) -> bool {
    let Some((events, lost, trace, _dir)) = read(log) else {
        return false;
    };
    let metadata = trace.metadata();
    assert!(events <= printed.events);
    if metadata.closed {
        assert_eq!(events + lost, printed.events);
        assert_eq!(metadata.lost_lines > 0, metadata.lost_events.is_some());
    }
    true
}

#[test]
fn a_whole_log_is_the_trace() {
    let printed = printed();
    let (events, lost, trace, dir) = read(printed.lines.concat().as_bytes()).unwrap();
    assert_eq!((events, lost), (printed.events, 0));
    assert!(trace.metadata().closed && trace.warnings().is_empty());
    for (thread, bytes) in printed.streams.iter().enumerate() {
        let path = dir.path().join(format!("out/thread_{thread:04}"));
        assert_eq!(&std::fs::read(path).unwrap(), bytes);
    }
}

#[test]
fn any_line_may_be_lost_and_the_trace_tells_it() {
    let printed = printed();
    for gone in 0..printed.lines.len() {
        let mut lines = printed.lines.clone();
        let kind = lines.remove(gone).as_bytes()[16];
        let (events, lost, trace, _dir) = read(lines.concat().as_bytes()).unwrap();
        assert_eq!(events + lost, printed.events, "line {gone}");
        assert_eq!(lost > 0, kind == b'P', "line {gone}");
        assert_eq!(trace.metadata().lost_lines, 1, "line {gone}");
        assert!(trace.metadata().closed, "line {gone}");
    }
}

#[test]
fn copies_of_the_metadata_make_up_for_each_other() {
    let printed = printed();
    let count = printed.copies[0].len();
    // Of three copies of each line one is left, each time another one; in the last round none of line 3.
    for round in 0..3 {
        let mut lines = printed.lines.clone();
        for number in 0..count {
            let stays = (number + round) % 3;
            for (copy, range) in printed.copies.iter().enumerate() {
                if copy != stays {
                    lines[range.start + number].clear();
                }
            }
        }
        let (events, lost, trace, _dir) = read(lines.concat().as_bytes()).unwrap();
        assert_eq!((events, lost), (printed.events, 0));
        assert_eq!(trace.metadata().lost_lines, 2 * count as u64);
        for range in &printed.copies {
            lines[range.start + 3].clear();
        }
        assert!(read(lines.concat().as_bytes()).is_none());
    }
}

#[test]
fn a_log_that_ends_early_is_not_closed() {
    let printed = printed();
    let log = printed.lines.concat();
    let first_copy: usize = printed.lines[..printed.copies[0].end]
        .iter()
        .map(String::len)
        .sum();
    let behind = printed.lines[..printed.copies[2].end]
        .iter()
        .map(String::len)
        .sum();
    for cut in (first_copy..behind).step_by(397) {
        let (events, _, trace, _dir) = read(&log.as_bytes()[..cut]).unwrap();
        assert!(
            events <= printed.events && !trace.metadata().closed,
            "{cut}"
        );
    }
    assert!(read(&log.as_bytes()[..first_copy - 300]).is_none());
}

#[test]
fn other_output_in_the_midst_of_lines_costs_nothing() {
    let printed = printed();
    let whole = printed.lines.concat();
    let mut numbers = Numbers(1);
    for noise in [
        "noise 5 of the other thread\n",
        "noise 6 of the other thread\r\n",
        "[board] ",
        "a; b; c; d\r\n",
        "one line\nand another\n",
        "abcdef0123456789",
    ] {
        // Behind the head, where the line is a line.
        let log: String = printed
            .lines
            .iter()
            .map(|line| {
                let at = 8 + numbers.below(line.len() - 9);
                format!("{}{noise}{}", &line[..at], &line[at..])
            })
            .collect();
        let (events, lost, trace, _dir) = read(log.as_bytes()).unwrap();
        assert_eq!((events, lost), (printed.events, 0), "{noise:?}");
        assert_eq!(trace.metadata().lost_lines, 0, "{noise:?}");
    }
    // Idle lines and flow control, also in heads.
    for byte in ['\0', '\x11', '\x13'] {
        for step in [3, 7, 50] {
            let mut log = String::new();
            for (at, c) in whole.chars().enumerate() {
                log.push(c);
                if at % step == 0 {
                    log.push(byte);
                }
            }
            let (events, lost, trace, _dir) = read(log.as_bytes()).unwrap();
            assert_eq!((events, lost), (printed.events, 0));
            assert_eq!(trace.metadata().lost_lines, 0);
        }
    }
}

#[test]
fn whatever_is_lost_is_known() {
    let printed = printed();
    let mut numbers = Numbers(7);
    let mut accepted = 0;
    for round in 0..120 {
        let mut lines: Vec<Vec<u8>> = printed
            .lines
            .iter()
            .map(|l| l.clone().into_bytes())
            .collect();
        let share = [200, 50, 20, 8][round % 4];
        for line in &mut lines {
            if numbers.below(share) != 0 {
                continue;
            }
            let at = numbers.below(line.len());
            match numbers.below(6) {
                0 => line.clear(),
                1 => line.truncate(at),
                2 => line[at] ^= 1 << numbers.below(8),
                3 => drop(line.remove(at)),
                4 => drop(line.splice(at..at, *b"other output\r\n")),
                _ => line
                    .splice(
                        at..at,
                        (0..60)
                            .map(|_| numbers.below(256) as u8)
                            .collect::<Vec<u8>>(),
                    )
                    .for_each(drop),
            }
        }
        let mut log = lines.concat();
        if round % 5 == 0 {
            log.truncate(numbers.below(log.len()));
        }
        accepted += u32::from(all_is_known(&log, &printed));
    }
    assert!(accepted > 50, "{accepted}");
}

/// Four times as long, four times as much work.
#[test]
fn damage_takes_time_in_proportion() {
    let mut times = Vec::new();
    for count in [500, 2_000] {
        let log = format!("~instr1:{}\n", "0".repeat(180)).repeat(count);
        let begin = std::time::Instant::now();
        assert!(read(log.as_bytes()).is_none());
        times.push(begin.elapsed().as_secs_f64());
    }
    assert!(times[1] < 4.0 * times[0] * 3.0 + 0.5, "{times:?}");
}
