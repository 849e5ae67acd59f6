//! Streams that threads took over from others: whose events they hold, what is missing, and what a killed process leaves of them.

use instr_trace::synth::{self, HEADER, START_TICKS, StreamWriter};
use instr_trace::{ByteOrder, Layout, Payload, Trace};

/// The version of windows whose slots hold several packets.
const SHARED: u32 = 3;

/// A packet of `thread`: its begin, `events` user events from `time` on, and its end if it is complete. Its number is `seq`.
fn packet(
    layout: Layout,
    thread: u32,
    seq: u64,
    time: u64,
    events: u64,
    complete: bool,
) -> Vec<u8> {
    let mut stream = StreamWriter::new(Vec::new(), layout, thread, usize::MAX);
    stream.seq = seq;
    lived(&mut stream, time, events, complete);
    stream.packet(complete)
}

fn lived(stream: &mut StreamWriter<Vec<u8>>, time: u64, events: u64, ended: bool) {
    let os_tid = 4000 + stream.thread;
    let ticks = START_TICKS + time;
    let begin = |body: &mut synth::Body| _ = body.u32(os_tid).u32(0);
    stream.event(ticks, 1, begin).expect("memory takes it");
    for number in 0..events {
        let fields = |body: &mut synth::Body| _ = body.u32(1).u64(number);
        stream
            .event(ticks + 1 + number, 8, fields)
            .expect("memory takes it");
    }
    if ended {
        stream
            .event(ticks + 1 + events, 2, |_| ())
            .expect("memory takes it");
    }
}

fn word(layout: Layout, value: u32) -> [u8; 4] {
    match layout.order {
        ByteOrder::Little => value.to_le_bytes(),
        ByteOrder::Big => value.to_be_bytes(),
    }
}

/// A window of stream `number` whose slots hold these packets; the cursor is behind those of `slot`.
fn window(layout: Layout, number: u32, slots: &[Vec<u8>], slot: usize, next_seq: u64) -> Vec<u8> {
    let mut window = synth::window(layout, number, slots, slot, next_seq);
    window[4..8].copy_from_slice(&word(layout, SHARED));
    window
}

/// A folder with these files beside its metadata.
fn folder(layout: Layout, files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    synth::begin(dir.path(), layout, 1_000_000_000).expect("written");
    for (name, bytes) in files {
        std::fs::write(dir.path().join(name), bytes).expect("written");
    }
    dir
}

/// Index, user events, and whether something is missing at its end, of each thread.
fn threads(trace: &Trace) -> Vec<(u32, u64, bool)> {
    let mut found: Vec<_> = trace
        .threads()
        .iter()
        .map(|thread| (thread.index, 0, thread.truncated))
        .collect();
    let mut merge = trace.merge();
    while let Some(event) = merge.next().expect("readable") {
        if let Payload::UserEvent { .. } = event.payload {
            let place = trace.position(event.thread).expect("a known thread");
            found[place].1 += 1;
        }
        assert!(!matches!(event.payload, Payload::Lost { .. }), "{event:?}");
    }
    found
}

#[test]
fn each_packet_is_its_threads() {
    for layout in synth::layouts() {
        let parts = [
            packet(layout, 4, 0, 0, 3, true),
            packet(layout, 1, 1, 10, 0, true),
            packet(layout, 9, 2, 20, 2, true),
        ];
        let other = packet(layout, 2, 0, 5, 1, true);
        let dir = folder(
            layout,
            &[("thread_0000", &parts.concat()), ("thread_0001", &other)],
        );
        let trace = Trace::open(dir.path()).expect("a trace");
        assert_eq!(trace.warnings(), []);
        let expected = [(1, 0, false), (2, 1, false), (4, 3, false), (9, 2, false)];
        assert_eq!(threads(&trace), expected);
        assert!(!trace.needs_repair());
        let ids = trace.threads().iter().map(|thread| thread.os_tid);
        assert!(ids.eq([4001, 4002, 4004, 4009]));
    }
}

#[test]
fn what_is_lost_is_the_next_packets_threads() {
    for layout in synth::layouts() {
        let mut bytes = packet(layout, 0, 0, 0, 1, true);
        for (thread, seq, discarded) in [(3, 1, 5), (7, 2, 5), (8, 4, 6)] {
            let mut stream = StreamWriter::new(Vec::new(), layout, thread, usize::MAX);
            (stream.seq, stream.context.discarded) = (seq, discarded);
            lived(&mut stream, 10 * seq, 1, true);
            bytes.extend(stream.packet(true));
        }
        let dir = folder(layout, &[("thread_0000", &bytes)]);
        let trace = Trace::open(dir.path()).expect("a trace");
        let said: Vec<_> = trace.warnings().iter().map(|w| w.what.as_str()).collect();
        assert_eq!(said, ["packet 3 is missing before this one"]);
        let counts = trace
            .threads()
            .iter()
            .map(|thread| (thread.index, thread.discarded));
        assert!(counts.eq([(0, 0), (3, 5), (7, 0), (8, 1)]));
        let (mut merge, mut lost) = (trace.merge(), Vec::new());
        while let Some(event) = merge.next().expect("readable") {
            if let Payload::Lost { events, .. } = event.payload {
                lost.push((event.thread, events));
            }
        }
        assert_eq!(lost, [(3, 5), (8, 1)]);
    }
}

#[test]
fn what_a_ring_overwrote_is_no_loss_of_threads_that_came_later() {
    for layout in synth::layouts() {
        let mut bytes = Vec::new();
        for (thread, seq, discarded) in [(5, 7, 40), (6, 8, 50)] {
            let mut stream = StreamWriter::new(Vec::new(), layout, thread, usize::MAX);
            (stream.seq, stream.context.discarded, stream.context.flags) = (seq, discarded, 1);
            lived(&mut stream, 10 * seq, 1, true);
            bytes.extend(stream.packet(true));
        }
        let dir = folder(layout, &[("thread_0002", &bytes)]);
        let trace = Trace::open(dir.path()).expect("a trace");
        assert_eq!(trace.warnings(), []);
        assert_eq!(trace.discarded(), 50);
        let (mut merge, mut lost) = (trace.merge(), Vec::new());
        while let Some(event) = merge.next().expect("readable") {
            if let Payload::Lost { events, .. } = event.payload {
                lost.push((event.thread, events));
            }
        }
        assert_eq!(lost, [(5, 50)]);
    }
}

/// Wherever the process is killed, the packets that are complete in the window are their threads', and the one being filled counts up to its cursor.
#[test]
fn a_window_holds_packets_of_several_threads() {
    for layout in synth::layouts() {
        let parts = [
            packet(layout, 2, 4, 10, 3, true),
            packet(layout, 5, 5, 20, 1, true),
            packet(layout, 6, 6, 30, 2, false),
        ];
        let (begin, event) = (4 + 8, synth::user_event_bytes(layout));
        // Bytes of the third packet in front of the cursor, packets of its thread, and its user events.
        for (filled, expected) in [
            (0, None),
            (HEADER, Some(0)),
            (HEADER + begin, Some(0)),
            (HEADER + begin + event, Some(1)),
            (HEADER + begin + 2 * event, Some(2)),
        ] {
            let mut slot = [&parts[0][..], &parts[1]].concat();
            slot.extend(&parts[2][..filled]);
            let before = packet(layout, 1, 3, 0, 0, true);
            // The file has the first packet of the window already, as when the process is killed while it is written.
            let file = [&before[..], &parts[0]].concat();
            let window = window(layout, 3, &[slot], 0, 6);
            let dir = folder(layout, &[("thread_0003", &file), (".window_0003", &window)]);
            let trace = Trace::open(dir.path()).expect("a trace");
            let mut threads_expected = vec![(1, 0, false), (2, 3, false), (5, 1, false)];
            threads_expected.extend(expected.map(|events| (6, events, true)));
            // Number 3 is the first of this stream: three packets are missing in front of it, which a stream's first packet does not say.
            let found: Vec<_> = trace
                .threads()
                .iter()
                .map(|t| (t.index, t.truncated))
                .collect();
            let wanted: Vec<_> = threads_expected.iter().map(|t| (t.0, t.2)).collect();
            assert_eq!(found, wanted, "{filled} {:?}", trace.warnings());
            assert_eq!(trace.warnings(), []);
            assert!(trace.needs_repair());

            let repaired = dir.path().join("repaired");
            trace.repair(&repaired).expect("written");
            let again = Trace::open(&repaired).expect("a trace");
            assert!(!again.needs_repair());
            assert_eq!(again.warnings(), []);
            let names = std::fs::read_dir(&repaired).expect("a folder");
            assert_eq!(names.count(), 2, "metadata and one stream");
            let events = |trace: &Trace| {
                let (mut merge, mut found) = (trace.merge(), Vec::new());
                while let Some(event) = merge.next().expect("readable") {
                    found.push(format!("{event:?}"));
                }
                found
            };
            assert_eq!(events(&trace), events(&again));
            let users = |thread: u32| {
                let mut stream = trace.stream(trace.position(thread)?)?;
                let mut count = 0;
                while let Some(event) = stream.next().expect("readable") {
                    count += u64::from(matches!(event.payload, Payload::UserEvent { .. }));
                }
                Some(count)
            };
            for (thread, events, _) in threads_expected {
                assert_eq!(users(thread), Some(events));
            }
        }
    }
}

/// A ring's slots are overwritten as a whole: behind the packets of a new time there may be some of an older one.
#[test]
fn packets_of_an_earlier_time_are_left_out() {
    for layout in synth::layouts() {
        let old = packet(layout, 1, 2, 0, 1, true);
        let slots = [
            [
                packet(layout, 3, 8, 40, 1, true),
                packet(layout, 4, 9, 50, 1, true),
                old,
            ]
            .concat(),
            packet(layout, 5, 10, 60, 2, false),
            packet(layout, 2, 7, 30, 1, true),
        ];
        let window = window(layout, 0, &slots, 1, 10);
        let dir = folder(layout, &[(".window_0000", &window)]);
        let trace = Trace::open(dir.path()).expect("a trace");
        let found: Vec<_> = trace
            .threads()
            .iter()
            .map(|t| (t.index, t.truncated))
            .collect();
        assert_eq!(found, [(2, false), (3, false), (4, false), (5, true)]);
        assert_eq!(trace.warnings(), []);
    }
}

#[test]
fn a_thread_in_two_streams_is_damage() {
    for layout in synth::layouts() {
        let first = packet(layout, 1, 0, 0, 2, true);
        let second = [
            packet(layout, 2, 0, 0, 1, true),
            packet(layout, 1, 1, 9, 1, true),
        ]
        .concat();
        let dir = folder(layout, &[("thread_0000", &first), ("thread_0001", &second)]);
        let trace = Trace::open(dir.path()).expect("a trace");
        assert_eq!(threads(&trace), [(1, 2, false), (2, 1, false)]);
        let said: Vec<_> = trace.warnings().iter().map(|w| w.what.as_str()).collect();
        assert_eq!(said, ["thread 1 is in another stream too, ignored here"]);
    }
}

/// A packet that got into another thread's file is left out, wherever it is there, and the threads' own packets stay.
#[test]
fn packets_of_other_streams_are_left_out() {
    let layout = Layout::default();
    let own = |seq: u64| packet(layout, 0, seq, 100 * seq, 5, true);
    let next = |seq: u64| packet(layout, 2, seq, 100 * seq, 7, true);
    let stray = |seq: u64| packet(layout, 1, seq, 100 * seq, 3, true);
    // Thread 1's own stream, which is without the packet that went astray.
    let other = [
        packet(layout, 1, 0, 0, 4, true),
        packet(layout, 1, 1, 50, 4, true),
    ]
    .concat();
    let all = [own(0), own(1), own(2), next(3), next(4)];
    // A number that is later, or earlier, than those around it.
    for seq in [2, 9] {
        for place in 0..=all.len() {
            let mut packets = all.to_vec();
            packets.insert(place, stray(seq));
            let dir = folder(
                layout,
                &[("thread_0000", &packets.concat()), ("thread_0001", &other)],
            );
            let trace = Trace::open(dir.path()).expect("a trace");
            // At the end, a later number may be one behind a gap; where the thread changes, nothing shows one that fits.
            let text = match (seq, place) {
                (9, 5) | (2, 3) => "thread 1 is in another stream too, ignored here".to_owned(),
                _ => format!("packet {seq} of thread 1 is none of this stream, ignored"),
            };
            let told = trace.warnings().iter().any(|w| w.what == text);
            assert!(told, "{place}, {seq}: {:?}", trace.warnings());
            if (seq, place) == (2, 3) {
                continue; // its time is that of the packet before it, which ends there
            }
            assert_eq!(
                threads(&trace),
                [(0, 15, false), (1, 8, false), (2, 14, false)],
                "{place}, {seq}"
            );
        }
    }
}

/// Threads of one packet each, of which those behind a stray one stay, as do those beside a damaged number or thread.
#[test]
fn one_packet_that_went_astray_hides_no_thread() {
    let layout = Layout::default();
    let of = |thread: u32, seq: u64, place: u64| packet(layout, thread, seq, 100 * place, 5, true);
    let shown = |packets: &[(u32, u64)]| {
        let places = packets.iter().zip(0..);
        let bytes = places.flat_map(|(&(thread, seq), place)| of(thread, seq, place));
        let bytes: Vec<u8> = bytes.collect();
        let dir = folder(layout, &[("thread_0000", &bytes)]);
        let trace = Trace::open(dir.path()).expect("a trace");
        let mut found = std::collections::BTreeMap::new();
        let mut merge = trace.merge();
        while let Some(event) = merge.next().expect("readable") {
            if let Payload::UserEvent { value: 0, .. } = event.payload {
                *found.entry(event.thread).or_insert(0) += 1;
            }
        }
        found.into_iter().collect::<Vec<(u32, u32)>>()
    };
    // Thread 90 is the one that does not belong here.
    let astray = [(0, 0), (90, 9), (1, 1), (2, 2), (3, 3), (4, 4)];
    assert_eq!(shown(&astray), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]);
    let twice = [(90, 1), (0, 2), (0, 3), (0, 4), (90, 5)];
    assert_eq!(shown(&twice), [(0, 3), (90, 1)]);
    let within = [
        (0, 0),
        (0, 1),
        (90, 2),
        (1, 2),
        (1, 3),
        (1, 4),
        (90, 5),
        (1, 5),
    ];
    assert_eq!(shown(&within), [(0, 2), (1, 4), (90, 1)]);
    let thread = [
        (0, 0),
        (0, 1),
        (1, 2),
        (1, 3),
        (1, 4),
        (2, 5),
        (2, 6),
        (0, 7),
    ];
    assert_eq!(shown(&thread), [(0, 2), (1, 3), (2, 2)]);
    let number = [(0, 0), (0, 1), (0, 1 << 40), (1, 3), (1, 4)];
    assert_eq!(shown(&number), [(0, 3), (1, 2)]);
    let repeated = [(0, 0), (0, 1), (1, 1), (2, 2)];
    assert_eq!(shown(&repeated), [(0, 2), (1, 1), (2, 1)]);
}

/// The last packet of a killed thread's stream is another one's: those in the window go on.
#[test]
fn behind_a_packet_that_went_astray_the_window_goes_on() {
    let layout = Layout::default();
    let own = |seq: u64, complete: bool| packet(layout, 0, seq, 100 * seq, 5, complete);
    let file = [
        own(0, true),
        own(1, true),
        packet(layout, 1, 9, 900, 3, true),
    ]
    .concat();
    let other = [
        packet(layout, 1, 0, 0, 4, true),
        packet(layout, 1, 1, 50, 4, true),
    ]
    .concat();
    let window = window(layout, 0, &[own(2, false)], 0, 2);
    let dir = folder(
        layout,
        &[
            ("thread_0000", &file),
            ("thread_0001", &other),
            (".window_0000", &window),
        ],
    );
    let trace = Trace::open(dir.path()).expect("a trace");
    let found: Vec<_> = threads(&trace).iter().map(|t| (t.0, t.1)).collect();
    assert_eq!(found, [(0, 15), (1, 8)]);
}

/// A closed trace has the number of each stream's packets: what is missing as a whole, or at the end, is told.
#[test]
fn missing_streams_and_ends_are_told() {
    for layout in synth::layouts() {
        let parts = [
            packet(layout, 1, 0, 0, 1, true),
            packet(layout, 2, 1, 10, 1, true),
            packet(layout, 3, 2, 20, 1, true),
            packet(layout, 4, 3, 30, 1, true),
        ];
        let said = |name: &str, packets: usize, closed: bool| -> Vec<String> {
            let dir = folder(layout, &[(name, &parts[..packets].concat())]);
            let text = synth::metadata(layout, 1_000_000_000, closed);
            let text = text.replacen("env {", "env {\n    stream_3 = 4;", 1);
            std::fs::write(dir.path().join("metadata"), text).expect("written");
            let trace = Trace::open(dir.path()).expect("a trace");
            assert!(
                trace
                    .metadata()
                    .other
                    .iter()
                    .all(|(key, _)| key != "stream_3")
            );
            let told = trace.warnings().iter();
            told.map(|warning| {
                let file = warning.path.file_name().expect("a file").display();
                format!("{file} {}: {}", warning.offset, warning.what)
            })
            .collect()
        };
        let bytes = |packets: usize| parts[..packets].concat().len();
        assert_eq!(said("thread_0003", 4, true), [""; 0]);
        let end = "missing at the stream's end";
        assert_eq!(
            said("thread_0003", 3, true),
            [format!("thread_0003 {}: packet 3 is {end}", bytes(3))]
        );
        assert_eq!(
            said("thread_0003", 1, true),
            [format!(
                "thread_0003 {}: packets 1 to 3 are {end}",
                bytes(1)
            )]
        );
        assert_eq!(
            said("thread_0002", 2, true),
            ["thread_0003 0: the stream is missing, of 4 packets"]
        );
        assert_eq!(said("thread_0003", 1, false), [""; 0], "still running");
        let behind = |first: usize, policy: &str| {
            let rest = parts[first..].concat();
            let dir = folder(layout, &[("thread_0003", &rest)]);
            let text = synth::metadata(layout, 1_000_000_000, true);
            let text = text.replacen("env {", "env {\n    stream_3 = 4;", 1);
            let text = text.replacen("\"stream\"", &format!("\"{policy}\""), 1);
            std::fs::write(dir.path().join("metadata"), text).expect("written");
            let trace = Trace::open(dir.path()).expect("a trace");
            let told = trace.warnings().iter();
            told.map(|w| format!("{}: {}", w.offset, w.what))
                .collect::<Vec<_>>()
        };
        let before = "missing before this one";
        assert_eq!(behind(1, "stream"), [format!("0: packet 0 is {before}")]);
        assert_eq!(
            behind(3, "stream"),
            [format!("0: packets 0 to 2 are {before}")]
        );
        assert_eq!(behind(1, "ring"), [""; 0]);
    }
}
