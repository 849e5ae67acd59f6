//! What lies beneath a program: the interpreter's lock, garbage collections, imports.

use instr_tests::outcome::{Check, ensure};
use instr_tests::process::Run;
use instr_tests::toolchain::tools;
use serde_json::Value;

use super::place::{DEBIAN, Place, count_calls};

/// Two threads that compute, and what they say of their lives and their processor times, s.
const SPIN: &str = "\
import threading, time

def spin(end, said):
    began = time.perf_counter()
    while time.perf_counter() < end:
        pass
    said.append((time.perf_counter() - began, time.thread_time()))

def sleep(end, said):
    time.sleep(max(0, end - time.perf_counter()))

def both(what):
    said, end = [], time.perf_counter() + 0.8
    threads = [threading.Thread(target=what, args=(end, said)) for _ in range(2)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    return said

import sys
for lived, ran in both(spin if sys.argv[1] == 'spin' else sleep):
    print(lived, ran)
";

/// Blocks that nest, and somebody else's function before ours meanwhile.
const WRAPPED: &str = "\
import gc, instr, sys, warnings
warnings.simplefilter('ignore')
library = sys.modules['_frozen_importlib']
before = library._find_and_load
with instr.trace(config='INSTR_TRACE=wrap.instr'):
    ours = library._find_and_load
    assert ours is not before
    def others(*arguments, **keywords): return ours(*arguments, **keywords)
    library._find_and_load = others
    with instr.trace():
        import colorsys
assert library._find_and_load is others
import chunk
with instr.trace():
    import wave
library._find_and_load = ours
with instr.trace():
    import stringprep
assert library._find_and_load is before
assert not [one for one in gc.callbacks if 'on_collection' in str(one)]
";

fn nanoseconds(value: &Value, of: &str) -> f64 {
    value[of].as_f64().unwrap_or(0.0)
}

/// A thread that computes either runs, waits for the lock, or waits for a processor. So what is neither on a processor nor waiting for one is the wait for
/// the lock, by the threads' own clocks; and who has it is the other one.
pub(super) fn lock() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", SPIN)?;
    let run = |what: &str, trace: &str| {
        let run = Run::new(&tools()?.instr).args(["run", "-q", "-o", trace, "--"]);
        let run = run.arg(&place.python).args(["app.py", what]);
        run.dir(place.dir.path()).succeed()
    };
    let said = run("spin", "spin.instr")?.text();
    let numbers: Vec<f64> = said
        .split_whitespace()
        .filter_map(|w| w.parse().ok())
        .collect();
    ensure(numbers.len() == 4, || said.clone())?;
    let away = (numbers[0] + numbers[2] - numbers[1] - numbers[3]) * 1e9;
    let summary = place.summary("spin.instr")?;
    let waits = summary["waits"].as_array().cloned().unwrap_or_default();
    let waits: Vec<_> = waits
        .iter()
        .filter(|wait| wait["kind"] == "interpreter lock")
        .collect();
    let waited: f64 = waits.iter().map(|wait| nanoseconds(wait, "total_ns")).sum();
    let threads = summary["threads"].as_array().cloned().unwrap_or_default();
    let ready: f64 = threads[1..]
        .iter()
        .map(|thread| nanoseconds(thread, "processor_wait_ns"))
        .sum();
    let slack = 0.08e9;
    ensure(
        waited < away + slack && waited > away - ready - slack,
        || format!("waited {waited}, not on a processor {away}, of that ready {ready}: {waits:?}"),
    )?;
    let count: f64 = waits.iter().map(|wait| nanoseconds(wait, "count")).sum();
    let by_holder = |name: &str| {
        let of = waits.iter().filter(|wait| wait["object"] == name);
        of.map(|wait| nanoseconds(wait, "count")).sum::<f64>()
    };
    let others = by_holder("thread 1") + by_holder("thread 2");
    ensure(count > 8.0 && others > 0.9 * count, || {
        format!("{others} of {count} waits are for one of the two: {waits:?}")
    })?;
    // Who sleeps has given it back.
    run("sleep", "sleep.instr")?;
    let summary = place.summary("sleep.instr")?;
    let waits = summary["waits"].as_array().cloned().unwrap_or_default();
    let lock = waits
        .iter()
        .filter(|wait| wait["kind"] == "interpreter lock");
    let waited: f64 = lock.map(|wait| nanoseconds(wait, "total_ns")).sum();
    ensure(waited < 0.2e9, || format!("{waited} ns of {waits:?}"))
}

/// Each collection and each module that is loaded is there once; others choose functions alone.
pub(super) fn collections_and_imports() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("first.py", "import second\n")?;
    place.write("second.py", "")?;
    place.write(
        "app.py",
        "import gc\n\ngc.disable()\n\ndef work():\n    import first, second, first\n    for _ in range(3): gc.collect(1)\n    gc.collect()\n    try:\n        import missing_module\n    except ImportError:\n        pass\n\nwork()\n",
    )?;
    let expected = [
        ("import first", 1),
        ("import second", 1),
        ("import missing_module", 1),
        ("garbage collection, generation 1", 3),
        ("garbage collection, generation 2", 1),
        ("work", 1),
    ];
    for (patterns, with) in [
        (&[][..], true),
        (&["-f", "work", "-f", "gc", "-f", "imports"], true),
        (&["-f", "work"], false),
        (&["-f", "!gc", "-f", "!imports"], false),
    ] {
        let run = place.recorded(&[patterns, &["app.py"]].concat());
        run.succeed()?;
        let mut calls = std::collections::BTreeMap::new();
        count_calls(&place.summary("out.instr")?, &mut calls);
        for (name, n) in expected {
            let n = if with || name == "work" { n } else { 0 };
            let found = calls.get(name).copied().unwrap_or(0);
            // The interpreter collects when it ends, too.
            let at_end = u64::from(with && name.ends_with("generation 2"));
            ensure((n..=n + 2 * at_end).contains(&found), || {
                format!("{patterns:?}, {name}: {found}, expected {n} of {calls:?}")
            })?;
        }
    }
    // Who stands before the import system too, and stays there, hinders nothing.
    place.write("wrap.py", WRAPPED)?;
    place.run(&["wrap.py"]).succeed()?;
    let mut calls = std::collections::BTreeMap::new();
    count_calls(&place.summary("wrap.instr")?, &mut calls);
    let found = ["colorsys", "chunk", "wave", "stringprep"].map(|name| {
        let name = format!("import {name}");
        calls.get(&name).copied().unwrap_or(0)
    });
    ensure(found == [1, 0, 1, 1], || format!("{calls:?}"))?;
    // A failed import looks as in the plain program.
    place.write("bad.py", "import broken\n")?;
    place.write("broken.py", "1 / 0\n")?;
    let plain = place.run(&["bad.py"]).output()?;
    plain.same_as(&place.recorded(&["bad.py"]).output()?)
}
