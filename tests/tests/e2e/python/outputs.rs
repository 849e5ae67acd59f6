//! What outputs make of functions of Python.

use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;

use super::place::{DEBIAN, Place, text};

pub(super) const NESTED: &str = "\
def inner(n):
    return n

def outer(n):
    return [inner(i) for i in range(n)]

for _ in range(7):
    outer(3)
";

pub(super) fn outputs() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", NESTED)?;
    place.recorded(&["app.py"]).succeed()?;
    let instr = |words: &[&str]| {
        let run = Run::new(&tools()?.instr).args(words).dir(place.dir.path());
        run.succeed()
    };
    instr(&["merge", "out.instr", "-o", "out"])?;
    let labels = std::fs::read_to_string(place.at("out.pcf"))?;
    let value = |label: &str| -> Check<u64> {
        let line = labels.lines().find(|line| line.trim_end().ends_with(label));
        let word = line.and_then(|line| line.split_whitespace().next());
        Ok(word
            .ok_or("no label")?
            .parse::<u64>()
            .map_err(|error| error.to_string())?)
    };
    let (inner, outer) = (value("  inner (app.py:1)")?, value("  outer (app.py:4)")?);
    let records = std::fs::read_to_string(place.at("out.prv"))?;
    let count = |kind: u64, value: u64| {
        let text = format!(":{kind}:{value}");
        let is_event = |line: &&str| line.starts_with("2:");
        let events = records.lines().filter(is_event);
        events
            .map(|line| format!("{line}:").matches(&format!("{text}:")).count())
            .sum::<usize>()
    };
    // The loop of `outer` is a function of its own before 3.12.
    for kind in [60_000_019, 60_000_100] {
        let found = [count(kind, inner), count(kind, outer)];
        ensure(found == [21, 7], || format!("{kind}: {found:?}"))?;
        ensure(count(kind, 0) >= 28, || {
            format!("{kind}: {} ends", count(kind, 0))
        })?;
    }
    ensure(labels.contains("User function line"), || labels.clone())?;
    let python = crate::perfetto::python()?;
    instr(&["export", "out.instr", "-o", "out.pftrace"])?;
    let slices = "\
import sys, collections
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace
trace = Trace(); trace.ParseFromString(open(sys.argv[1], 'rb').read())
names, count = {}, collections.Counter()
for packet in trace.packet:
    names.update({name.iid: name.name for name in packet.interned_data.event_names})
    if packet.HasField('track_event') and packet.track_event.type == 1:
        count[names.get(packet.track_event.name_iid)] += 1
print(count['inner (app.py:1)'], count['outer (app.py:4)'])
";
    let said = Run::new(python)
        .args(["-c", slices])
        .arg(place.at("out.pftrace"))
        .succeed()?;
    text(&said, "21 7\n")?;
    let shown = instr(&["summary", "out.instr", "--functions"])?.text();
    let row = |name: &str| {
        shown
            .lines()
            .any(|line| line.starts_with(name) && line.contains("app.py:"))
    };
    ensure(row("inner") && row("outer"), || shown.clone())
}
