use instr_trace::model::{Interval, Intervals, State};
use instr_trace::names::NoNames;
use instr_trace::synth;

use super::*;
use crate::fixture::Fixture;
use longest::{What, Where};

pub(super) fn collected(session: &Session) -> Collected {
    let names: Vec<Box<dyn Names>> = vec![Box::new(NoNames)];
    collect(session, &names, false, &mut |_, _| {}).expect("a sound trace")
}

/// Numbers of a column of four bytes.
fn numbers(block: &Block, table: &super::super::columns::Stored, column: usize) -> Vec<u32> {
    let at = &table.columns[column];
    let bytes = &block.bytes()[at.at..at.at + at.bytes];
    let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap());
    bytes.chunks(4).map(number).collect()
}

fn intervals(trace: &Trace) -> Vec<Interval> {
    let mut all = Vec::new();
    replay(trace, &mut Intervals(|interval| all.push(interval))).expect("a sound trace");
    all
}

fn number(state: State) -> usize {
    let order = [
        State::Useful,
        State::Synchronization,
        State::Scheduling,
        State::Idle,
        State::Flush,
    ];
    order.iter().position(|own| *own == state).unwrap()
}

/// Every window between borders of bins has the states that the trace's own intervals have there.
fn windows_are_exact(trace: Trace) {
    let all = intervals(&trace);
    assert!(!all.is_empty());
    let threads = trace.threads().len();
    let session = Session::of(vec![trace]);
    let begin = session.traces()[0]
        .threads()
        .iter()
        .map(|thread| thread.first_time);
    let begin = begin.min().unwrap_or(0);
    let Collected {
        timeline, block, ..
    } = collected(&session);
    let mut random = fastrand::Rng::with_seed(11);
    for level in &timeline.levels {
        let columns: Vec<_> = (0..STATES)
            .map(|state| numbers(&block, &level.table, state))
            .collect();
        for _ in 0..50 {
            let track = random.usize(..threads);
            let first = random.usize(..level.bins);
            let last = random.usize(first..level.bins) + 1;
            let (from, to) = (first as u64 * level.width_ns, last as u64 * level.width_ns);
            for (state, column) in columns.iter().enumerate() {
                let bins = &column[track * level.bins..][first..last];
                let found: u64 = bins.iter().map(|ns| u64::from(*ns) * level.unit_ns).sum();
                let within = all.iter().filter(|interval| {
                    interval.position == track && number(interval.state) == state
                });
                let brute: u64 = within
                    .map(|interval| {
                        let end = (interval.end - begin).min(to);
                        end.saturating_sub((interval.begin - begin).max(from))
                    })
                    .sum();
                assert_eq!(found, brute, "track {track}, state {state}, {from} to {to}");
            }
        }
    }
}

#[test]
fn shares_of_any_window_are_those_of_the_intervals_in_it() {
    for layout in synth::layouts() {
        let fixture = Fixture::new(layout);
        windows_are_exact(fixture.open());
    }
    let dir = tempfile::tempdir().unwrap();
    synth::tasks(dir.path(), synth::layouts()[0], 3, 30_000).unwrap();
    windows_are_exact(Trace::open(dir.path()).unwrap());
}

#[test]
fn spans_lanes_and_longest_executions_are_those_of_the_fixture() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let session = Session::of(vec![fixture.open()]);
    let Collected {
        timeline,
        longest,
        histograms,
        ..
    } = collected(&session);
    assert_eq!((timeline.end_ns, timeline.spans.exact_from_ns), (2000, 0));
    let tracks: Vec<_> = timeline
        .tracks
        .iter()
        .map(|track| (track.begin_ns, track.end_ns))
        .collect();
    assert_eq!(tracks, [(0, 2000), (105, 1900)]);
    // The figure in the fixture: the region, its tasks, its waits.
    let place = |begin, end, track| Some(Where { begin, end, track });
    let of = |what| longest.of(0, what);
    assert_eq!(of(What::Region(0x1000.into())), place(100, 1500, 0));
    assert_eq!(of(What::Task(0x2000.into())), place(700, 900, 0));
    assert_eq!(of(What::Lock("named critical", 0x9000)), place(410, 430, 0));
    assert_eq!(of(What::Serial), place(1500, 2000, 0));
    assert_eq!(longest.lock(0, None), place(410, 430, 0));
    assert_eq!(longest.lock(0, Some("lock")), None);
    let barrier = timeline.waits.iter().position(|name| *name == "taskwait");
    let mut waits = longest.waits(0);
    let taskwait = waits.find(|(kind, _)| Some(usize::from(*kind)) == barrier);
    assert_eq!(taskwait.map(|(_, at)| at), place(680, 1100, 0));
    // Task 1 ran 200 ns with 60 of task 4 in it; task 2 100 ns on the other thread.
    let tasks = |label: &str, task| {
        let code = timeline
            .codes
            .iter()
            .position(|code| code.label == label && code.task == task);
        let histogram = histograms
            .iter()
            .find(|of| Some(usize::from(of.code)) == code)
            .expect(label);
        let rows = histogram.rows.iter();
        rows.map(|row| (row.track, row.count, row.total_ns))
            .collect::<Vec<_>>()
    };
    assert_eq!(tasks("0x2000", true), [(0, 1, 140), (1, 1, 100)]);
    assert_eq!(tasks("0x3000", true), [(0, 2, 160)]);
    assert_eq!(tasks("0x1000", false), [(0, 1, 1290), (1, 1, 485)]);
    // 1, 2 and 3 are created before the first begins; 4 runs on top of 1, and 2 when 1 has ended: 1 and 3 are
    // ready at once, 2 is not.
    let ranges: Vec<_> = timeline
        .lanes
        .iter()
        .map(|lane| (lane.name.as_str(), lane.least, lane.most))
        .collect();
    assert_eq!(
        ranges,
        [
            ("tasks not begun", 0.0, 3.0),
            ("tasks running", 0.0, 1.0),
            ("tasks ready", 0.0, 2.0)
        ]
    );
}
