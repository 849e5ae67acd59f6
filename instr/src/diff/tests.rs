//! `instr diff` on traces whose times are known: a simulated machine that is busy in bursts, interrupts executions, and drifts from run to run.

use std::path::{Path, PathBuf};

use instr_trace::synth::{self, Body, START_REALTIME, START_TICKS, StreamWriter};
use serde_json::Value;

use crate::console::Status;
use crate::console::tests::instr;

/// Constructs of the simulated program by the address of their body, with the time of one execution in ns.
const REGIONS: [(u64, f64); 3] = [(0x1000, 20_000.0), (0x2000, 50_000.0), (0x3000, 30_000.0)];
/// Executions of each.
const EXECUTIONS: usize = 30;

/// Writes a trace whose regions take so long, one after the other.
pub(crate) fn trace(dir: &Path, started: u64, regions: &[(u64, u64)]) {
    let layout = synth::layouts()[0];
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let metadata = dir.join("metadata");
    let text = std::fs::read_to_string(&metadata).unwrap();
    let own = format!("start_realtime_ns = {START_REALTIME}");
    assert!(text.contains(&own), "the begin has to be written");
    let other = text.replace(&own, &format!("start_realtime_ns = {started}"));
    std::fs::write(&metadata, other).unwrap();
    let mut stream = StreamWriter::create(dir, layout, 0, 1 << 16).unwrap();
    let mut now = START_TICKS;
    let mut event = |now: u64, id: u8, fields: &dyn Fn(&mut Body)| {
        stream.event(now, id, |body| fields(body)).unwrap();
    };
    event(now, 1, &|body| _ = body.u32(4000).u32(1));
    for (number, (code, ns)) in (1_u32..).zip(regions) {
        now += 1000;
        event(now, 16, &|body| {
            _ = body.u32(number).addr(*code).u32(0).u32(0)
        });
        event(now, 18, &|body| _ = body.u32(0).u32(number).u32(0).u32(1));
        now += ns;
        event(now, 19, &|_| {});
        event(now, 17, &|body| _ = body.u32(number));
    }
    event(now + 1000, 2, &|_| {});
    stream.finish().unwrap();
}

/// A run on a machine whose speed changes a little from run to run, that is busy for a part of the run, and where one of eight executions is interrupted.
fn run(dir: &Path, started: u64, random: &mut fastrand::Rng, speed: f64, slower: f64) {
    let busy_from = random.usize(..EXECUTIONS);
    let busy_to = busy_from + random.usize(..EXECUTIONS / 3);
    let mut regions = Vec::new();
    for number in 0..EXECUTIONS {
        let busy = if (busy_from..busy_to).contains(&number) {
            2.0
        } else {
            1.0
        };
        for (at, (code, ns)) in REGIONS.into_iter().enumerate() {
            let planted = if at == 1 { slower } else { 1.0 };
            let interrupted = if random.u8(..8) == 0 {
                4.0 * random.f64()
            } else {
                0.0
            };
            let ns = ns * planted * speed * busy * (1.0 + 0.02 * random.f64() + interrupted);
            regions.push((code, ns as u64));
        }
    }
    trace(dir, started, &regions);
}

/// Ten runs of each of two programs, the second of which may have one slower region; in turn, A B B A.
fn trial(dir: &Path, seed: u64, slower: f64) -> [PathBuf; 2] {
    let mut random = fastrand::Rng::with_seed(seed);
    let sides = ["before", "after"].map(|name| dir.join(name));
    let mut speed = 1.0;
    for number in 0..20_u64 {
        speed *= 1.0 + 0.02 * (random.f64() - 0.5);
        let side = usize::from(matches!(number % 4, 1 | 2));
        let folder = sides[side].join(format!("run{number}.instr"));
        let factor = if side == 1 { slower } else { 1.0 };
        run(
            &folder,
            START_REALTIME + number * 1_000_000_000,
            &mut random,
            speed,
            factor,
        );
    }
    sides
}

fn json(sides: &[PathBuf; 2]) -> Value {
    let words = [
        "diff",
        "--json",
        sides[0].to_str().unwrap(),
        sides[1].to_str().unwrap(),
    ];
    let (status, out, err) = instr(&words);
    assert_eq!(status, Status::Done, "{err}");
    serde_json::from_str(&out).unwrap()
}

/// Labels of the rows with a verdict other than "same".
fn different(diff: &Value) -> Vec<String> {
    let rows = diff["rows"].as_array().unwrap().iter();
    let differs = rows.filter(|row| matches!(row["verdict"].as_str(), Some("slower" | "faster")));
    differs
        .map(|row| {
            format!(
                "{} {}",
                row["label"].as_str().unwrap(),
                row["verdict"].as_str().unwrap()
            )
        })
        .collect()
}

#[test]
fn five_percent_in_one_region_are_found_on_a_noisy_machine_and_nothing_else() {
    for seed in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let diff = json(&trial(dir.path(), seed, 1.05));
        let found = different(&diff);
        assert!(
            found.contains(&"region 2 without a name slower".to_owned()),
            "{seed}: {found:?}"
        );
        // The run as a whole is slower too, where that is more than its noise.
        assert!(
            found
                .iter()
                .all(|label| !label.starts_with("region 1 ") && !label.starts_with("region 3 ")),
            "{seed}: {found:?}"
        );
        let row = diff["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|row| row["label"] == "region 2 without a name")
            .unwrap();
        let each = &row["each"];
        let change = each["change"].as_f64().unwrap();
        assert!((0.03..0.07).contains(&change), "{seed}: {change}");
        assert!(
            each["range"][0].as_f64().unwrap() < change
                && change < each["range"][1].as_f64().unwrap()
        );
        assert_eq!(diff["order"], "in_turn");
    }
}

#[test]
fn nothing_is_found_between_runs_of_one_program() {
    for seed in 100..120 {
        let dir = tempfile::tempdir().unwrap();
        let diff = json(&trial(dir.path(), seed, 1.0));
        assert_eq!(different(&diff), [""; 0], "{seed}");
        assert!(diff["tested"].as_u64().unwrap() >= 6, "regions and the run");
    }
}

/// Two folders with so many runs each, of regions that take `ns` before and after, without any noise.
fn exact(dir: &Path, runs: u64, before: &[(u64, u64)], after: &[(u64, u64)]) -> [String; 2] {
    let sides = [("before", before, 0), ("after", after, 1)];
    sides.map(|(name, regions, odd)| {
        for number in 0..runs {
            let started = START_REALTIME + (2 * number + odd) * 1_000_000_000;
            trace(
                &dir.join(format!("{name}/run{number}.instr")),
                started,
                regions,
            );
        }
        dir.join(name).to_str().unwrap().to_owned()
    })
}

fn diff(words: &[&str]) -> (Status, String, String) {
    instr(&[&["diff"], words].concat())
}

#[test]
fn a_limit_refuses_what_is_slower_by_it_and_no_less() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(
        dir.path(),
        8,
        &[(0x1000, 100_000), (0x2000, 100_000)],
        &[(0x1000, 100_000), (0x2000, 107_000)],
    );
    let (status, out, err) = diff(&[&before, &after, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Refused);
    assert!(
        err.contains(
            "instr: error: slower by 5.0% or more: region 2 without a name +7.0%, region 2 without a name, implicit task +7.0%\n"
        ),
        "{err}"
    );
    assert!(
        out.contains("Slower: region 2 without a name by +7.0%"),
        "{out}"
    );
    let (status, _, err) = diff(&[&before, &after, "--fail-if-slower", "8%"]);
    assert_eq!(status, Status::Done, "{err}");
    let (status, _, _) = diff(&[&after, &before, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Done, "faster is no fault");
}

#[test]
fn one_run_each_has_differences_and_no_verdict() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(dir.path(), 1, &[(0x1000, 100_000)], &[(0x1000, 150_000)]);
    let (status, out, err) = diff(&[&before, &after]);
    assert_eq!(status, Status::Done, "{err}");
    assert!(
        out.contains("one run each: whether a difference is more than noise cannot be said"),
        "{out}"
    );
    assert!(
        out.contains("100.00 us")
            && out.contains("150.00 us")
            && out.contains("+50.0%")
            && !out.contains("slower"),
        "{out}"
    );
    let (status, _, err) = diff(&[&before, &after, "--fail-if-slower", "5"]);
    assert_eq!(status, Status::Refused);
    assert!(
        err.contains("+50.0%") && err.contains("note: one run each"),
        "{err}"
    );
}

#[test]
fn executions_that_are_more_in_number_are_seen_in_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(
        dir.path(),
        8,
        &[(0x1000, 100_000); 10],
        &[(0x1000, 100_000); 12],
    );
    let (_, out, _) = diff(&[&before, &after]);
    assert!(
        out.contains("Slower: region 1 without a name, all executions together by +20.0%"),
        "{out}"
    );
    assert!(out.contains("executed 12 times, before 10"), "{out}");
}

/// One execution takes 2.9 % more, and there are more than twice as many.
#[test]
fn a_limit_sees_all_executions_as_well_as_one() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(
        dir.path(),
        8,
        &[(0x1000, 200_000); 40],
        &[(0x1000, 205_800); 100],
    );
    let (status, _, err) = diff(&[&before, &after, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("region 1 without a name +157"), "{err}");
    // So few runs show nothing: what is told is no more than with one run each, and no less.
    let few = dir.path().join("few");
    let [before, after] = exact(&few, 3, &[(0x1000, 200_000); 40], &[(0x1000, 405_800); 40]);
    let (status, _, err) = diff(&[&before, &after, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("too few runs: that this is more"), "{err}");
    let (status, _, err) = diff(&[&after, &before, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Done, "{err}");
    // Each is faster, all of them are slower.
    let [before, after] = exact(
        &dir.path().join("more"),
        8,
        &[(0x1000, 200_000); 40],
        &[(0x1000, 190_000); 100],
    );
    let (status, out, err) = diff(&[&before, &after, "--fail-if-slower", "5%"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("region 1 without a name +137"), "{err}");
    assert!(
        out.contains("Slower: region 1 without a name, all executions together by +137"),
        "{out}"
    );
}

#[test]
fn a_run_that_cannot_be_read_is_not_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(dir.path(), 3, &[(0x1000, 100)], &[(0x1000, 100)]);
    let damaged = Path::new(&after).join("run1.instr/metadata");
    let bytes = std::fs::read(&damaged).unwrap();
    std::fs::write(&damaged, &bytes[..40]).unwrap();
    let (status, _, err) = diff(&[&before, &after]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("run1.instr/metadata"), "{err}");
}

#[test]
fn few_runs_have_no_range_below_no_time() {
    let dir = tempfile::tempdir().unwrap();
    let regions = |ns| [[(0x1000, ns)], [(0x1000, 9 * ns)]];
    let sides = ["before", "after"].map(|side| {
        for (number, regions) in regions(10_000).iter().enumerate() {
            let run = dir.path().join(format!("{side}/run{number}.instr"));
            trace(&run, START_REALTIME + number as u64, regions);
        }
        dir.path().join(side)
    });
    let json = json(&sides);
    let mut ranges = 0;
    for row in json["rows"].as_array().unwrap() {
        for range in [
            &row["each"]["before_range_ns"],
            &row["total"]["before_range_ns"],
        ] {
            let low = range[0].as_f64();
            ranges += u32::from(low.is_some());
            assert!(low.is_none_or(|low| low >= 0.0), "{row}");
        }
    }
    assert!(ranges > 0, "{json}");
}

#[test]
fn too_few_runs_say_how_many_would_do() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(dir.path(), 2, &[(0x1000, 100_000)], &[(0x1000, 150_000)]);
    let (_, out, _) = diff(&[&before, &after]);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        out.contains("no difference can be more than noise at 0.01;")
            && out.contains(" of each would do"),
        "{out}"
    );
    assert!(out.contains("No difference beyond noise"), "{out}");
}

#[test]
fn groups_that_were_not_made_in_turn_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let regions = [(0x1000, 100_000)];
    for number in 0..12_u64 {
        let side = if number < 6 { "before" } else { "after" };
        trace(
            &dir.path().join(format!("{side}/run{number}.instr")),
            START_REALTIME + number,
            &regions,
        );
    }
    let [before, after] =
        ["before", "after"].map(|name| dir.path().join(name).to_str().unwrap().to_owned());
    let (_, out, _) = diff(&[&before, &after]);
    assert!(out.contains("were not made in turn"), "{out}");
}

#[test]
fn mistyped_commands_say_what_was_meant() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(dir.path(), 1, &[(0x1000, 100)], &[(0x1000, 100)]);
    for (words, expected) in [
        (&[][..], "nothing to compare"),
        (&[before.as_str()], "one word is not two runs"),
        (&[&before, &after, &after], "more than two words"),
        (&["--before", &before], "go together"),
        (
            &[&before, "--before", &before, "--after", &after],
            "words beside",
        ),
        (
            &[&before, &after, "--fail-if-slower", "fast"],
            "not a share in percent",
        ),
        (&[&before, &after, "--level", "5"], "not a probability"),
    ] {
        let (status, _, err) = diff(words);
        assert_eq!(status, Status::Usage, "{words:?}");
        assert!(err.contains(expected), "{words:?}: {err}");
    }
    let (status, _, err) = diff(&[&before, &before]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("is there twice"), "{err}");
}

#[test]
fn traces_without_an_event_are_refused_or_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let [before, after] = exact(dir.path(), 2, &[(0x1000, 100)], &[(0x1000, 100)]);
    let empty = dir.path().join("empty.instr");
    synth::begin(&empty, synth::layouts()[0], 1_000_000_000).unwrap();
    let empty = empty.to_str().unwrap();
    let (status, _, err) = diff(&[&before, empty]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("nothing was recorded after: "), "{err}");
    let (status, _, err) = diff(&["--before", &before, "--after", &after, empty]);
    assert_eq!(status, Status::Done, "{err}");
    assert!(
        err.contains("warning: left out, since nothing was recorded"),
        "{err}"
    );
}

#[test]
fn regions_without_a_name_are_compared_where_all_runs_have_as_many() {
    let dir = tempfile::tempdir().unwrap();
    // A region between the others is new: the numbers of those behind it mean other regions.
    let [before, after] = exact(
        dir.path(),
        8,
        &[(0x1000, 100_000), (0x3000, 300_000)],
        &[(0x1000, 100_000), (0x2000, 200_000), (0x3000, 300_000)],
    );
    let (status, out, err) = diff(&[&before, &after, "--all", "--fail-if-slower", "100%"]);
    assert_eq!(status, Status::Done, "{err}");
    let words: Vec<&str> = out.split_whitespace().collect();
    let note = "regions without a name are not compared, since their numbers differ from run to run (before 2, after 3)";
    assert!(words.join(" ").contains(note), "{out}");
    assert!(!out.contains("region 1"), "{out}");
    // Against a program without any, they are new.
    let [before, after] = exact(&dir.path().join("none"), 8, &[], &[(0x1000, 100_000)]);
    let (_, out, _) = diff(&[&before, &after, "--all"]);
    assert!(out.contains("region 1 without a name"), "{out}");
    assert!(!out.contains("not compared"), "{out}");
}
