//! The fixture, whose states can be worked out by hand.

use instr_trace::model::{Interval, Intervals, State, replay};
use instr_trace::{Session, Trace, synth};
use serde_json::Value;

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn text(arguments: &[&str]) -> String {
    let (status, out, err) = instr(arguments);
    assert_eq!(status, Status::Done, "{arguments:?}: {err}");
    out
}

/// Rows of cells by the name before them.
fn cells(out: &str, name: &str, columns: usize) -> String {
    let line = out.lines().find(|line| line.starts_with(name)).expect(name);
    let cells = line
        .chars()
        .skip_while(|c| *c != ' ')
        .skip_while(|c| *c == ' ');
    cells.take(columns).collect()
}

#[test]
fn cells_are_the_state_with_most_time() {
    let fixture = Fixture::new(synth::layouts()[0]);
    // The second thread waits from 305 to 400, computes up to 600 and from 950 to 1050, and is idle or waits else.
    let out = text(&[
        "timeline",
        fixture.path(),
        "--from",
        "100ns",
        "--to",
        "300ns",
        "--thread",
        "0",
    ]);
    assert!(out.contains("1 thread · 100 ns to 300 ns"), "{out}");
    let row = out
        .lines()
        .find(|line| line.contains('█'))
        .expect("user code");
    // From 120 on a chunk at 125 is asked for, and at 225 the next, at 230.
    assert!(row.contains('▒'), "{out}");
}

/// Time of each state in each column, interval by interval.
fn brute(all: &[Interval], position: usize, state: State, from: u64, to: u64) -> u64 {
    let of = all
        .iter()
        .filter(|one| one.position == position && one.state == state);
    of.map(|one| one.end.min(to).saturating_sub(one.begin.max(from)))
        .sum()
}

#[test]
fn numbers_are_those_of_the_intervals() {
    let dir = tempfile::tempdir().unwrap();
    synth::tasks(dir.path(), synth::layouts()[0], 3, 2_000).unwrap();
    let trace = Trace::open(dir.path()).unwrap();
    let mut all = Vec::new();
    replay(&trace, &mut Intervals(|interval| all.push(interval))).unwrap();
    let session = Session::of(vec![trace]);
    let trace = &session.traces()[0];
    let begin = trace
        .threads()
        .iter()
        .map(|thread| thread.first_time)
        .min()
        .unwrap();
    let end = crate::report::timeline::part::end(&session);
    let path = dir.path().to_str().unwrap();
    for (from, to) in [(0, end), (end / 3, end / 2), (end / 2, end / 2 + 50)] {
        let (first, last) = (format!("{from}ns"), format!("{to}ns"));
        let out = text(&[
            "timeline", path, "--json", "--width", "77", "--from", &first, "--to", &last,
        ]);
        let json: Value = serde_json::from_str(&out).unwrap();
        let width = json["column_ns"].as_u64().unwrap();
        for (position, row) in json["rows"].as_array().unwrap().iter().enumerate() {
            for (name, state) in [
                ("useful_ns", State::Useful),
                ("sync_ns", State::Synchronization),
                ("sched_ns", State::Scheduling),
                ("idle_ns", State::Idle),
                ("flush_ns", State::Flush),
            ] {
                let column = row[name].as_array().unwrap();
                assert!(column.len() <= 77 && column.len() as u64 * width >= to - from);
                for (at, found) in (0..).zip(column) {
                    let begins = begin + from + at * width;
                    let wanted = brute(
                        &all,
                        position,
                        state,
                        begins,
                        (begins + width).min(begin + to),
                    );
                    assert_eq!(found.as_u64(), Some(wanted), "{name} {position} {at}");
                }
            }
        }
    }
}

#[test]
fn a_region_is_found_by_a_part_of_its_name() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for (name, from, to) in [
        ("0x1000", 100, 1500),
        ("0x3000", 560, 660),
        ("phase", 1210, 1310),
    ] {
        let (status, out, err) = instr(&["timeline", fixture.path(), "--json", "--region", name]);
        assert_eq!(status, Status::Done, "{err}");
        assert!(err.contains("the longest execution of"), "{err}");
        let json: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(
            (json["from_ns"].as_u64(), json["to_ns"].as_u64()),
            (Some(from), Some(to)),
            "{name}"
        );
    }
    let (status, _, err) = instr(&["timeline", fixture.path(), "--region", "nothing"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("there are: 0x1000"), "{err}");
}

#[test]
fn what_the_trace_does_not_have_is_refused() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for (words, told) in [
        (
            &["--from", "2us"][..],
            "nothing is recorded behind 2.00 us: the time line ends at 2.00 us",
        ),
        (&["--from", "1us", "--to", "1us"], "is empty"),
        (&["--thread", "7"], "no thread is \"7\""),
        (
            &["--by", "processor"],
            "does not have who ran on which processor",
        ),
    ] {
        let all: Vec<_> = ["timeline", fixture.path()]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let (status, out, err) = instr(&all);
        assert_eq!((status, out.as_str()), (Status::Refused, ""), "{words:?}");
        assert!(err.contains(told), "{err}");
    }
    let (status, _, _) = instr(&[
        "timeline",
        fixture.path(),
        "--by",
        "processor",
        "--region",
        "x",
    ]);
    assert_eq!(status, Status::Usage);
}

#[test]
fn lines_are_as_wide_as_asked_for() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for width in [40, 80, 133, 1000] {
        for show in ["states", "regions"] {
            let out = text(&[
                "timeline",
                fixture.path(),
                "--show",
                show,
                "--width",
                &width.to_string(),
            ]);
            let rows = out.lines().filter(|line| line.ends_with('%'));
            let widths: Vec<_> = rows.map(|line| line.chars().count()).collect();
            assert_eq!(widths.len(), 2, "{out}");
            assert!(
                widths
                    .iter()
                    .all(|own| *own <= width && *own * 3 >= width * 2 - 12),
                "{widths:?} of {width}"
            );
        }
    }
}

#[test]
fn regions_have_letters_by_their_time() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let out = text(&[
        "timeline",
        fixture.path(),
        "--show",
        "regions",
        "--width",
        "118",
    ]);
    assert!(out.contains("\na 0x1000"), "{out}");
    let columns = 100;
    let name = out
        .lines()
        .find(|line| line.ends_with('%'))
        .and_then(|line| line.split(' ').next())
        .unwrap()
        .to_owned();
    let row = cells(&out, &name, columns);
    assert!(row.contains('a') && row.contains('b'), "{out}");
}
