//! Profiles of samples where the events that say how long periods are were overwritten.

use instr_export::{Format, Input, Stats, Target};
use instr_trace::synth::{self, START_TICKS, StreamWriter};
use instr_trace::{Session, Trace};

/// Two threads with two and three samples of one period each; `begins`: which ones still have the event with the length of their periods.
fn folded(begins: [bool; 2], periods: u64) -> (u64, Stats) {
    let dir = tempfile::tempdir().unwrap();
    let layout = synth::layouts()[0];
    synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
    for (thread, begins) in (0..2).zip(begins) {
        let mut stream = StreamWriter::create(dir.path(), layout, thread, 1 << 16).unwrap();
        stream.thread_begin(START_TICKS, 4000 + thread, 1).unwrap();
        if begins {
            stream.sampling(START_TICKS, 1u32, 27, periods).unwrap();
        }
        for at in 1..u64::from(thread) + 3 {
            let time = START_TICKS + at * 100;
            stream.sample(time, 0x1000 * at, 0, 1, &[]).unwrap();
        }
        stream.thread_end(START_TICKS + 9000).unwrap();
        stream.finish().unwrap();
    }
    let session = Session::of(vec![Trace::open(dir.path()).unwrap()]);
    let format = Format::named("folded").unwrap();
    let mut out = Vec::new();
    let target = Target::File(&mut out);
    let stats = format.write(&Input::unnamed(&session), target, &mut |_, _| {});
    let text = String::from_utf8(out).unwrap();
    let ns = |line: &str| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap();
    (text.lines().map(ns).sum(), stats.unwrap())
}

#[test]
fn samples_count_without_the_event_before_them() {
    for (begins, ns) in [
        ([true, true], 5 * 700),
        ([true, false], 5 * 700),
        ([false, true], 5 * 700),
        ([false, false], 5),
    ] {
        let (sum, stats) = folded(begins, 700);
        assert_eq!((sum, stats.events), (ns, 5), "{begins:?}");
        assert_eq!(stats.no_period, !begins[0] && !begins[1], "{begins:?}");
    }
}
