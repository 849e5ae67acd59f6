//! Messages and numbers of small traces.

use std::path::Path;

use instr_trace::synth;
use serde_json::Value;

use crate::console::Status;
use crate::console::tests::instr;
use crate::fixture::Fixture;

fn json(arguments: &[&str]) -> Value {
    let mut all = vec!["predict", "--json"];
    all.extend(arguments);
    let (status, out, err) = instr(&all);
    assert_eq!(status, Status::Done, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn every_layout_gives_the_same_prediction() {
    let mut all = synth::layouts().into_iter().map(|layout| {
        let fixture = Fixture::new(layout);
        json(&[fixture.path(), "--threads", "1,2,8"])
    });
    let first = all.next().unwrap();
    assert!(all.all(|other| other == first));
    assert_eq!(first["recorded_threads"], 2);
    // The first thread begins at 0 and ends at 2000.
    assert_eq!(first["recorded_ns"], 2000);
    let points = first["points"].as_array().unwrap();
    let times: Vec<u64> = points
        .iter()
        .map(|point| point["time_ns"].as_u64().unwrap())
        .collect();
    assert_eq!(times.len(), 3);
    // 600 ns are outside of the region, whatever the number of threads.
    assert!(times.iter().all(|time| *time > 600), "{times:?}");
    for point in points {
        let [low, time, high] =
            ["low_ns", "time_ns", "high_ns"].map(|key| point[key].as_u64().unwrap());
        assert!(
            low < time && time < high,
            "no prediction without its error: {point}"
        );
    }
}

#[test]
fn what_is_faster_takes_less() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let dir = fixture.path();
    let time = |arguments: &[&str]| {
        let mut all = vec![dir, "--threads", "2"];
        all.extend(arguments);
        let point = json(&all)["points"][0].clone();
        let [unchanged, time] = ["unchanged_ns", "time_ns"].map(|key| point[key].as_u64().unwrap());
        (unchanged, time)
    };
    // 600 ns outside of the region become none.
    let (unchanged, gone) = time(&["--faster", "serial=0"]);
    assert_eq!(unchanged - gone, 600);
    let (unchanged, half) = time(&["--faster", "serial=2x"]);
    assert_eq!(unchanged - half, 300);
    let (unchanged, without) = time(&["--without-lock", "0x9000"]);
    assert!(without <= unchanged, "{without} {unchanged}");
}

#[test]
fn names_that_nothing_has_are_wrong_usage() {
    let fixture = Fixture::new(synth::layouts()[0]);
    for (option, name, known) in [
        ("--faster", "nothing=2x", "0x2000"),
        ("--without-lock", "nothing", "0x9000"),
    ] {
        let (status, out, err) = instr(&["predict", fixture.path(), option, name]);
        assert_eq!((status, out.as_str()), (Status::Usage, ""), "{err}");
        assert!(err.contains("nothing") && err.contains(known), "{err}");
    }
}

/// What only shows when events are read: the words of a packet's events are no events.
#[test]
fn a_trace_with_a_damaged_packet_is_refused() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let stream = Path::new(fixture.path()).join("thread_0000");
    let mut bytes = std::fs::read(&stream).unwrap();
    let end = bytes.len();
    bytes[end - 200..end - 100].fill(0xff);
    std::fs::write(&stream, bytes).unwrap();
    let (status, out, err) = instr(&["predict", fixture.path(), "--threads", "2"]);
    assert_eq!((status, out.as_str()), (Status::Refused, ""), "{err}");
    assert!(err.contains("parts of it are damaged"), "{err}");
}

#[test]
fn chunks_of_no_loop_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    crate::diff::tests::trace(dir.path(), synth::START_REALTIME, &[(0x1000, 100_000); 4]);
    let dir = dir.path().to_str().unwrap();
    let (status, _, err) = instr(&["predict", dir, "--chunk", "4"]);
    assert_eq!(status, Status::Refused);
    assert!(err.contains("--chunk 4: the trace has no loop"), "{err}");
    // Four regions say little of what others take: the error is large, the lower bound no nothing.
    for point in json(&[dir, "--threads", "2,4,64,1024"])["points"]
        .as_array()
        .unwrap()
    {
        assert!(point["low_ns"].as_u64() > Some(0), "{point}");
    }
}

#[test]
fn a_trace_without_regions_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    synth::user_events(dir.path(), synth::layouts()[0], 2, 10, 100).unwrap();
    let (status, out, err) = instr(&["predict", dir.path().to_str().unwrap()]);
    assert_eq!((status, out.as_str()), (Status::Refused, ""));
    assert!(err.contains("no parallel region"), "{err}");
}

#[test]
fn the_page_says_the_error() {
    let fixture = Fixture::new(synth::layouts()[0]);
    let (status, out, err) = instr(&["predict", fixture.path()]);
    assert_eq!(status, Status::Done, "{err}");
    for text in [
        "With 64 threads it takes",
        "threads",
        "error  ",
        "measured in this trace",
    ] {
        assert!(out.contains(text), "{text}\n{out}");
    }
}
