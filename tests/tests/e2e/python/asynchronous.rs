//! Tasks of asyncio: each has a line of its own, on which it runs or awaits something.

use std::collections::BTreeMap;

use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;
use serde_json::Value;

use super::place::{DEBIAN, Place, pyenv, text, wheels};

/// Number of begins, resumptions, and time suspended, ns.
type Counts = [u64; 3];

/// By name; an await at several places counts as one.
fn counted(summary: &Value) -> BTreeMap<String, Counts> {
    let mut found = BTreeMap::<String, Counts>::new();
    for function in summary["functions"].as_array().into_iter().flatten() {
        let of = |key: &str| function[key].as_u64();
        if let (Some(name), Some(suspended)) = (function["name"].as_str(), of("suspended_ns")) {
            let sum = found.entry(name.to_owned()).or_default();
            let counts = [of("calls"), of("resumptions"), Some(suspended)];
            for (sum, count) in sum.iter_mut().zip(counts) {
                *sum += count.unwrap_or(0);
            }
        }
    }
    found
}

/// What `tests/python/tasks.py` does, on the interpreters that are there.
pub(super) fn tasks() -> Check {
    for release in [DEBIAN, "3.9", "3.13"] {
        if release != DEBIAN && (pyenv(release).is_none() || wheels().is_err()) {
            continue;
        }
        let place = Place::new(release)?;
        let program = place.program("tasks.py");
        let said = place.recorded(&[&program]).succeed()?;
        text(&said, "['ValueError', 'CancelledError']\n")?;
        let found = counted(&place.summary("out.instr")?);
        let fits = |name: &str, calls: u64, resumptions: u64| {
            let counts = found.get(name).copied().unwrap_or_default();
            ensure(counts[..2] == [calls, resumptions], || {
                format!("{release}, {name}: {counts:?} of {found:?}")
            })
        };
        fits("task slow", 1, 3)?;
        fits("task waits", 4, 4)?;
        fits("task failing", 1, 1)?;
        fits("task cancelled", 1, 1)?;
        fits("task main", 1, 5)?;
        fits("await sleep", 3, 3)?;
        fits("await Event.wait", 4, 4)?;
        fits("await task slow", 1, 1)?;
        fits("await gather", 3, 3)?;
        fits("await Future", 1, 1)?;
        let suspended = |name: &str| found.get(name).map_or(0, |counts| counts[2]);
        // Three times 20 ms, and what is awaited is awaited as long as its task is suspended.
        ensure(suspended("task slow") >= 60_000_000, || {
            format!("{found:?}")
        })?;
        for (task, reason) in [
            ("task slow", "await sleep"),
            ("task waits", "await Event.wait"),
            ("task cancelled", "await Future"),
        ] {
            ensure(suspended(task) == suspended(reason), || {
                format!("{release}, {task}: {found:?}")
            })?;
        }
        let sum = |prefix: &str| {
            let all = found.iter().filter(|(name, _)| name.starts_with(prefix));
            all.map(|(_, counts)| counts[2]).sum::<u64>()
        };
        ensure(sum("task ") == sum("await "), || format!("{found:?}"))?;
        place.recorded(&["-f", "!asyncio", &program]).succeed()?;
        let none = counted(&place.summary("out.instr")?);
        ensure(none.is_empty(), || format!("{none:?}"))?;
    }
    Ok(())
}

const LANES: &str = "\
import sys, collections
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
trace = Trace(); trace.ParseFromString(open(sys.argv[1], 'rb').read())
tracks, names, lanes, open_ones, last = {}, {}, collections.defaultdict(list), collections.Counter(), {}
for packet in trace.packet:
    names.update({name.iid: name.name for name in packet.interned_data.event_names})
    if packet.HasField('track_descriptor'):
        tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
    if packet.HasField('track_event') and tracks.get(packet.track_event.track_uuid, '').startswith('task '):
        event = packet.track_event
        assert packet.timestamp >= last.get(event.track_uuid, 0)
        last[event.track_uuid] = packet.timestamp
        open_ones[event.track_uuid] += {1: 1, 2: -1}[event.type]
        assert open_ones[event.track_uuid] in (0, 1)
        if event.type == 1:
            lanes[event.track_uuid].append(names[event.name_iid].partition(' (')[0])
assert not any(open_ones.values())
for row in sorted((tracks[uuid].partition(' (')[0], rows) for uuid, rows in lanes.items()):
    if not row[0].startswith('task asyncio.'): print(*row)
";

/// A track for each task, on which it runs and awaits in turn.
pub(super) fn lanes() -> Check {
    let place = Place::new(DEBIAN)?;
    let program = place.program("tasks.py");
    place.recorded(&[&program]).succeed()?;
    let export = ["export", "out.instr", "-o", "out.pftrace"];
    Run::new(&tools()?.instr)
        .args(export)
        .dir(place.dir.path())
        .succeed()?;
    let said = Run::new(crate::perfetto::python()?)
        .args(["-c", LANES])
        .arg(place.at("out.pftrace"))
        .succeed()?;
    let waits = "task waits ['task waits', 'await Event.wait', 'task waits']\n";
    let expected = format!(
        "\
task cancelled ['task cancelled', 'await Future', 'task cancelled']
task failing ['task failing', 'await its turn', 'task failing']
task main ['task main', 'await task slow', 'task main', 'await gather', 'task main', 'await gather', 'task main', 'await its turn', 'task main', 'await gather', 'task main']
task slow ['task slow', 'await sleep', 'task slow', 'await sleep', 'task slow', 'await sleep', 'task slow']
{}",
        waits.repeat(4)
    );
    text(&said, &expected)?;
    paraver(&place)
}

/// Runs of each task of `tests/python/tasks.py`, and what it awaited after each, from the files for Paraver.
const FROM_PARAVER: &str = "\
import collections
labels, kinds = {}, []
for line in open('out.pcf'):
    words = line.split(None, 2)
    if line.startswith('EVENT_TYPE') or not line.strip():
        kinds = []
    elif len(words) > 1 and words[1].startswith('200000') and words[0] in ('0', '6', '7', '9'):
        kinds = [int(words[1])]
    elif kinds and words[0].isdigit():
        labels[kinds[0], int(words[0])] = line.split(None, 1)[1].partition(' (')[0].strip()
runs, names, awaits, last = collections.Counter(), {}, collections.defaultdict(list), 0
for line in open('out.prv'):
    if line.startswith('2:'):
        words = [int(word) for word in line.split(':')]
        events = list(zip(words[6::2], words[7::2]))
        for kind, value in events:
            if kind == 20000040 and value:
                name = labels[kind, value]
            elif kind == 20000041 and value:
                last = value
                names[value] = name
                runs[value] += 1
            elif kind == 20000042 and value:
                awaits[last].append(labels[kind, value])
for row in sorted((names[number], runs[number], awaits[number]) for number in runs):
    if not row[0].startswith('task asyncio.'): print(*row)
";

/// In the files for Paraver: tasks by name and number on their thread, and what each awaits as it is suspended.
fn paraver(place: &Place) -> Check {
    Run::new(&tools()?.instr)
        .args(["merge", "out.instr", "-o", "out"])
        .dir(place.dir.path())
        .succeed()?;
    let said = Run::new("python3")
        .args(["-c", FROM_PARAVER])
        .dir(place.dir.path())
        .succeed()?;
    let waits = "task waits 2 ['await Event.wait']\n";
    let expected = format!(
        "\
task cancelled 2 ['await Future']
task failing 2 ['await its turn']
task main 6 ['await task slow', 'await gather', 'await gather', 'await its turn', 'await gather']
task slow 4 ['await sleep', 'await sleep', 'await sleep']
{}",
        waits.repeat(4)
    );
    text(&said, &expected)
}
