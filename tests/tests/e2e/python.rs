//! Functions of Python (docs/python.md), with Debian's Python and those of pyenv that are there: the same calls as `sys.setprofile` sees, each of every
//! process, and what outputs make of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

/// Debian's, which the set-up installs, and releases that pyenv may have.
const DEBIAN: &str = "debian";
const RELEASES: [&str; 5] = ["3.9", "3.10", "3.11", "3.12", "3.13"];
const METHODS: [&str; 3] = ["fork", "spawn", "forkserver"];
const WAYS: [&str; 5] = ["with", "join", "terminate", "futures", "process"];
/// Calls of `work` in `pools.py`.
const CALLS: u64 = 100;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("python::paraver-and-perfetto", outputs),
        trial("python::selection", selection),
        trial("python::interface", interface),
        trial("python::subinterpreters", subinterpreters),
        trial("python::under-instr-run", under_run),
        trial("python::killed", killed),
        trial("python::functions-of-c", c_functions),
        trial("python::list-of-functions", list),
        trial("python::mistakes", mistakes),
        trial("python::the-program-is-as-it-was", unchanged),
    ];
    let found = RELEASES
        .into_iter()
        .filter(|release| pyenv(release).is_some());
    for release in std::iter::once(DEBIAN).chain(found) {
        let name = |what: &str| format!("python::{release}::{what}");
        trials.push(trial(name("same-calls"), move || same_calls(release)));
        for method in METHODS {
            // The ways to close a pool differ by the library alone, which changes slowly.
            let ways = match release {
                DEBIAN | "3.13" => &WAYS[..],
                _ => &WAYS[..1],
            };
            trials.push(trial(name(method), move || pools(release, method, ways)));
        }
    }
    trials
}

fn pyenv(release: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    let versions = Path::new(&home).join(".pyenv/versions").read_dir().ok()?;
    let is_of = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(release)
            .is_some_and(|rest| rest.starts_with('.'))
    };
    let mut found: Vec<_> = versions
        .flatten()
        .map(|entry| entry.path())
        .filter(is_of)
        .collect();
    found.sort();
    Some(found.pop()?.join("bin/python")).filter(|python| python.is_file())
}

/// Environments with the package, made once; they go with the test program.
static MADE: Mutex<BTreeMap<&str, Check<PathBuf>>> = Mutex::new(BTreeMap::new());

/// The interpreter of an environment with the package.
fn python(release: &'static str) -> Check<PathBuf> {
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = made.entry(release).or_insert_with(|| make(release));
    entry.clone()
}

/// As a newcomer does it, but for what pip would download: setuptools, which is the system's.
fn make(release: &'static str) -> Check<PathBuf> {
    need("gcc")?;
    let base = match release {
        DEBIAN => PathBuf::from("/usr/bin/python3"),
        _ => pyenv(release).ok_or("it was there")?,
    };
    let tools_of = "import setuptools, wheel, sysconfig, os; print(os.path.dirname(os.path.dirname(setuptools.__file__)), end='')";
    let probe = Run::new("/usr/bin/python3")
        .args(["-c", tools_of])
        .output()?;
    let header = Run::new(&base)
        .args(["-c", "import os, sysconfig; print(os.path.exists(sysconfig.get_path('include') + '/Python.h'), end='')"])
        .output()?;
    if probe.text().is_empty() || header.text() != "True" {
        let why = "Python's header files, setuptools or wheel are not installed (scripts/setup.sh)";
        return Err(Stop::Skip(why.into()));
    }
    let dir: &'static TempDir =
        Box::leak(Box::new(workspace::work_dir(&format!("python-{release}"))?));
    let root = workspace::root()?;
    // The build writes beside its sources.
    for folder in ["python", "runtime", "bindings"] {
        Run::words(["cp", "-r"])
            .arg(root.join(folder))
            .arg(dir.path())
            .succeed()?;
    }
    let environment = dir.path().join("venv");
    Run::new(&base)
        .args(["-m", "venv"])
        .arg(&environment)
        .succeed()?;
    let python = environment.join("bin/python");
    let pip = [
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-deps",
        "--no-build-isolation",
        "--disable-pip-version-check",
    ];
    let mut install = Run::new(&python).args(pip).arg(dir.path().join("python"));
    if release == DEBIAN {
        install = install.env("PYTHONPATH", probe.text());
    } else {
        let packages = wheels()?;
        Run::new(&python)
            .args([
                "-m",
                "pip",
                "install",
                "-q",
                "-U",
                "--no-index",
                "--disable-pip-version-check",
                "--find-links",
            ])
            .arg(packages)
            .args(["setuptools", "wheel"])
            .succeed()?;
        // One runtime that is built is enough: it does not depend on the interpreter.
        let folder = dir.path().join("preload");
        let mut option = std::ffi::OsString::from("--instr-preload=");
        option.push(&folder);
        Run::new(&tools()?.instr_cc).arg(option).succeed()?;
        install = install.env("INSTR_PYTHON_RUNTIME", folder.join("libinstr.so.1"));
    }
    install.succeed()?;
    Ok(python)
}

/// Where the set-up puts setuptools and wheel for other Pythons than Debian's.
fn wheels() -> Check<PathBuf> {
    let profile = workspace::profile_dir()?;
    let folder = profile.parent().unwrap_or(&profile).join("python-wheels");
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Stop::Skip(
            "setuptools for other Pythons is not there (scripts/setup.sh)".into(),
        )),
    }
}

struct Place {
    dir: TempDir,
    python: PathBuf,
    programs: PathBuf,
}

impl Place {
    fn new(release: &'static str) -> Check<Self> {
        let python = python(release)?;
        Ok(Self {
            dir: workspace::work_dir("python")?,
            python,
            programs: workspace::root()?.join("tests/python"),
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Check<PathBuf> {
        let path = self.at(name);
        std::fs::write(&path, text)?;
        Ok(path)
    }

    fn run(&self, words: &[&str]) -> Run {
        Run::new(&self.python).args(words).dir(self.dir.path())
    }

    /// `python -m instr -o out.instr WORDS`.
    fn recorded(&self, words: &[&str]) -> Run {
        self.run(&[&["-m", "instr", "-o", "out.instr"], words].concat())
    }

    fn program(&self, name: &str) -> String {
        self.programs.join(name).display().to_string()
    }

    fn summary(&self, trace: &str) -> Check<Value> {
        let run = Run::new(&tools()?.instr).args(["summary", "--json"]);
        let json = run.arg(self.at(trace)).succeed()?;
        serde_json::from_str(&json.text()).map_err(|error| Stop::Fail(error.to_string()))
    }

    /// Calls of each function, of all processes.
    fn calls(&self, trace: &str) -> Check<BTreeMap<String, u64>> {
        let mut found = BTreeMap::new();
        count_calls(&self.summary(trace)?, &mut found);
        Ok(found)
    }
}

/// What a JSON document says of functions, wherever in it.
fn count_calls(value: &Value, found: &mut BTreeMap<String, u64>) {
    match value {
        Value::Object(fields) => {
            if let (Some(name), Some(calls)) = (fields.get("name"), fields.get("calls"))
                && fields.contains_key("own_ns")
            {
                let name = name.as_str().unwrap_or_default().to_owned();
                *found.entry(name).or_default() += calls.as_u64().unwrap_or(0);
            }
            fields.values().for_each(|value| count_calls(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| count_calls(value, found)),
        _ => {}
    }
}

fn text(outcome: &instr_tests::process::Outcome, expected: &str) -> Check {
    ensure(outcome.text() == expected, || {
        format!("expected {expected:?} of\n{outcome}")
    })
}

/// What each thread does, by its name: how (`begin` …), function, line.
fn sequences(trace: &Path) -> Check<BTreeMap<String, Vec<[String; 3]>>> {
    need("babeltrace2")?;
    let shown = Run::new("babeltrace2")
        .arg("--no-delta")
        .arg(trace)
        .succeed()?
        .text();
    let after = |line: &str, key: &str| {
        let (_, rest) = line.split_once(key)?;
        Some(rest.split([',', ' ']).next().unwrap_or_default().to_owned())
    };
    let quoted = |line: &str, key: &str| {
        let (_, rest) = line.split_once(key)?;
        Some(rest.split('"').nth(1)?.to_owned())
    };
    let (mut texts, mut names) = (BTreeMap::new(), BTreeMap::new());
    let mut found: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for line in shown.lines() {
        let Some(thread) = after(line, "{ thread = ") else {
            continue;
        };
        if line.contains(" string: ") {
            let address = after(line, " address = ").unwrap_or_default();
            texts.insert(
                (thread, address),
                quoted(line, " text = ").unwrap_or_default(),
            );
        } else if line.contains(" thread_name: ") {
            names.insert(thread, quoted(line, " name = ").unwrap_or_default());
        } else if let Some((_, rest)) = line.split_once(" function_") {
            let how = rest.split(':').next().unwrap_or_default().to_owned();
            let address = after(line, " function = ").unwrap_or_default();
            let text = texts
                .get(&(thread.clone(), address))
                .cloned()
                .unwrap_or_default();
            // babeltrace2 shows the tab as two characters.
            let (name, place) = text.split_once("\\t").unwrap_or((text.as_str(), ""));
            let name = name.rsplit('.').next().unwrap_or_default().to_owned();
            let line = place.rsplit(':').next().unwrap_or_default().to_owned();
            found.entry(thread).or_default().push([how, name, line]);
        }
    }
    let named = |thread: &String| names.get(thread).cloned().unwrap_or_else(|| thread.clone());
    Ok(found
        .iter()
        .map(|(thread, all)| (named(thread), all.clone()))
        .collect())
}

/// Thread by thread the calls that a profiler in plain Python sees, in the same order.
fn same_calls(release: &'static str) -> Check {
    let place = Place::new(release)?;
    let [reference, program] = ["reference.py", "cases.py"].map(|name| place.program(name));
    let said = place
        .run(&[&reference, "reference.txt", &program])
        .succeed()?;
    ensure(said.text().contains("52 cases"), || format!("{said}"))?;
    place.recorded(&[&program]).succeed()?;
    let own = sequences(&place.at("out.instr"))?;
    let mut expected: BTreeMap<String, Vec<[String; 3]>> = BTreeMap::new();
    for line in std::fs::read_to_string(place.at("reference.txt"))?.lines() {
        let mut words = line.split('\t').map(str::to_owned);
        let thread = words.next().unwrap_or_default();
        let row = [(); 3].map(|()| words.next().unwrap_or_default());
        expected.entry(thread).or_default().push(row);
    }
    let names = |all: &BTreeMap<String, Vec<_>>| all.keys().cloned().collect::<Vec<_>>();
    ensure(names(&own) == names(&expected) && own.len() == 7, || {
        format!("threads {:?}, expected {:?}", names(&own), names(&expected))
    })?;
    for (thread, rows) in &expected {
        let found = &own[thread];
        for (number, (found, row)) in found.iter().zip(rows).enumerate() {
            // Of a generator that never goes on again the reference cannot know that it was suspended.
            let fits = match found[0].as_str() {
                "begin" => row[0] == "in",
                "resume" => row[0] == "resume",
                "suspend" => row[0] == "suspend" || row[0] == "out",
                _ => row[0] == "out",
            };
            ensure(fits && found[1..] == row[1..], || {
                format!("{thread}, event {number}: {found:?}, expected {row:?}")
            })?;
        }
        ensure(found.len() == rows.len(), || {
            format!("{thread}: {} events, expected {}", found.len(), rows.len())
        })?;
    }
    ensure(expected["at-once-0"].len() >= 1000, || {
        "too few events of threads".into()
    })
}

/// All calls of pools of processes, whichever way these begin and end.
fn pools(release: &'static str, method: &str, ways: &[&str]) -> Check {
    let place = Place::new(release)?;
    for way in ways {
        let trace = format!("{way}.instr");
        let program = place.program("pools.py");
        let run = place.run(&["-m", "instr", "-o", &trace, &program, method, way]);
        text(&run.succeed()?, "328350\n")?;
        let calls = place.calls(&trace)?;
        let work = calls
            .iter()
            .filter(|(name, _)| name.rsplit('.').next() == Some("work"));
        let sum: u64 = work.map(|(_, calls)| calls).sum();
        ensure(sum == CALLS, || {
            format!("{method}, {way}: {sum} calls of {calls:?}")
        })?;
    }
    Ok(())
}

const NESTED: &str = "\
def inner(n):
    return n

def outer(n):
    return [inner(i) for i in range(n)]

for _ in range(7):
    outer(3)
";

fn outputs() -> Check {
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
    let python = super::perfetto::python()?;
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

/// Only what patterns choose is recorded.
fn selection() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("tool.py", "class Grid:\n    def get(self): return 1\n    def step(self): return self.get()\n\ndef work(): return 2\n")?;
    place.write("app.py", "import json\nimport tool\n\ndef work():\n    return tool.work()\n\nfor _ in range(5):\n    work(); tool.Grid().step()\njson.loads('[]')\n")?;
    place.write(
        "list.txt",
        "# functions\nGrid.get # the first\n\ntool:work\n",
    )?;
    for (patterns, expected) in [
        (&["work"][..], &[("tool.work", 5), ("work", 5)][..]),
        (
            &["tool:*", "!tool:Grid", "!tool:<module>"],
            &[
                ("tool.Grid.get", 5),
                ("tool.Grid.step", 5),
                ("tool.work", 5),
            ],
        ),
        (
            &["tool:Grid.*"],
            &[("tool.Grid.get", 5), ("tool.Grid.step", 5)],
        ),
        (&["tool.py:2-2"], &[("tool.Grid.get", 5)]),
        (&["@list.txt"], &[("tool.Grid.get", 5), ("tool.work", 5)]),
        (&["json:loads"], &[("json.loads", 1)]),
        (&["!tool.py:*", "!<module>"], &[("work", 5)]),
    ] {
        let mut words = Vec::new();
        for pattern in patterns {
            words.extend(["-f", pattern]);
        }
        words.push("app.py");
        place.recorded(&words).succeed()?;
        let calls = place.calls("out.instr")?;
        let expected: BTreeMap<_, _> = expected
            .iter()
            .map(|(name, n)| ((*name).to_owned(), *n))
            .collect();
        ensure(calls == expected, || {
            format!("{patterns:?}: {calls:?}, expected {expected:?}")
        })?;
    }
    Ok(())
}

const INTERFACE: &str = "\
import instr

def listed(n): return n
def other(n): return listed(n)

@instr.region('whole')
def whole(n):
    with instr.region('part'):
        return other(n)

other(1)
with instr.trace(functions=['listed'], config='INSTR_TRACE=own.instr'):
    for n in range(4): whole(n)
    with instr.trace(functions=[other]):
        other(2)
        with instr.trace(functions='other'):
            other(3)
        other(4)
    other(5)
other(6)
for n in range(3): instr.event(77, n)
instr.counter('done', 9)
print(instr.stop(), instr.stop())
instr.event(77, 4)
print(instr.start(), instr.start())
with instr.trace():
    other(7)
@instr.trace(['listed'])
def traced(): other(8)
traced()
instr.event(77, 5)
print(instr.is_recorded(), instr.flush())
";

/// The main interpreter alone is recorded, and others are not disturbed.
fn subinterpreters() -> Check {
    let text_of = |said: &str| format!("{said}1\n");
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import _xxsubinterpreters as other\n\ndef work(): return 1\n\nmade = other.create()\nother.run_string(made, 'try:\\n import instr\\nexcept ImportError as error: print(str(error)[:42], flush=True)\\ndef work(): pass\\nwork()')\nprint(work())\n")?;
    let run = place.recorded(&["app.py"]).succeed()?;
    text(
        &run,
        &text_of("instr records the main interpreter of a pr\n"),
    )?;
    ensure(run.errors().is_empty(), || format!("{run}"))?;
    let calls = place.calls("out.instr")?;
    ensure(calls.get("work") == Some(&1), || format!("{calls:?}"))
}

/// From the program itself: blocks that nest, events, regions, start and stop, in a process that nobody started to be recorded.
fn interface() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", INTERFACE)?;
    text(&place.run(&["app.py"]).succeed()?, "0 0\n0 0\nTrue 0\n")?;
    let calls = place.calls("own.instr")?;
    let expected = [("listed", 10), ("other", 4)].map(|(name, n)| (name.to_owned(), n));
    ensure(calls == BTreeMap::from(expected), || format!("{calls:?}"))?;
    let summary = place.summary("own.instr")?;
    ensure(summary["user_events"][0]["count"] == 4, || {
        summary["user_events"].to_string()
    })?;
    ensure(summary["counters"][0]["last"] == 9, || {
        summary["counters"].to_string()
    })?;
    let regions = summary["regions"].to_string();
    ensure(regions.matches("\"count\":4").count() == 2, || {
        regions.clone()
    })?;
    // What it starts meanwhile records the same.
    place.write("start.py", "import instr, subprocess, sys\n\ndef listed(): pass\n\ndef other(): listed()\n\ndef again(): subprocess.run([sys.executable, __file__, 'again'], check=True)\n\nif len(sys.argv) > 1:\n    other()\nelse:\n    with instr.trace(['listed'], config='INSTR_TRACE=start.instr'): again()\n    again()\n")?;
    place.run(&["start.py"]).succeed()?;
    let calls = place.calls("start.instr")?;
    ensure(calls == BTreeMap::from([("listed".to_owned(), 1)]), || {
        format!("{calls:?}")
    })?;
    // Without a recording nothing happens, also where the compiled part is missing.
    place.write("plain.py", "import instr\n\n@instr.region('a')\ndef f(): return 3\n\ninstr.event(1, 2)\nprint(f(), instr.is_recorded())\n")?;
    text(&place.run(&["plain.py"]).succeed()?, "3 False\n")?;
    let left: Vec<_> = place
        .dir
        .path()
        .read_dir()?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    ensure(left.len() == 5, || format!("{left:?}"))
}

/// Unchanged, with what it starts.
fn under_run() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import subprocess, sys\n\ndef work(): pass\n\nwork()\nif len(sys.argv) == 1:\n    subprocess.run([sys.executable, __file__, 'again'], check=True)\n")?;
    let run = Run::new(&tools()?.instr).args(["run", "-q", "-o", "out.instr", "--"]);
    run.arg(&place.python)
        .arg("app.py")
        .dir(place.dir.path())
        .succeed()?;
    let calls = place.calls("out.instr")?;
    let expected = [("<module>", 2), ("work", 2)].map(|(name, n)| (name.to_owned(), n));
    ensure(calls == BTreeMap::from(expected), || format!("{calls:?}"))?;
    let off = Run::new(&tools()?.instr).args(["run", "-q", "-o", "off.instr", "--"]);
    let off = off.arg(&place.python).arg("app.py").dir(place.dir.path());
    off.env("INSTR_PYTHON", "off").succeed()?;
    let calls = place.calls("off.instr")?;
    ensure(calls.is_empty(), || format!("INSTR_PYTHON=off: {calls:?}"))
}

/// What ran before the kill is there.
fn killed() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import os, signal\n\ndef work(): pass\n\nfor _ in range(1000): work()\nos.kill(os.getpid(), signal.SIGKILL)\n")?;
    place.recorded(&["app.py"]).output()?;
    let calls = place.calls("out.instr")?;
    ensure(calls.get("work") == Some(&1000), || format!("{calls:?}"))
}

fn c_functions() -> Check {
    for release in [DEBIAN, "3.13"] {
        if release != DEBIAN && (pyenv(release).is_none() || wheels().is_err()) {
            continue;
        }
        let place = Place::new(release)?;
        place.write("app.py", "import math\n\ndef work(n):\n    a = []\n    a.append(math.sqrt(n))\n    try:\n        math.sqrt(-n - 1)\n    except ValueError:\n        a.append(len(a))\n\nfor n in range(6): work(n)\n")?;
        place.recorded(&["-c", "-f", "work", "app.py"]).succeed()?;
        let calls = place.calls("out.instr")?;
        let expected = [
            ("builtins.len", 6),
            ("math.sqrt", 12),
            ("list.append", 12),
            ("work", 6),
        ];
        for (name, n) in expected {
            ensure(calls.get(name) == Some(&n), || {
                format!("{release}, {name}: {calls:?}")
            })?;
        }
        // Those that end by an exception end.
        let all = sequences(&place.at("out.instr"))?
            .into_values()
            .next()
            .unwrap_or_default();
        let count = |how: &str| all.iter().filter(|row| row[0] == how).count();
        let found = [count("begin"), count("end"), count("unwind")];
        ensure(found[0] == 36 && found[2] == 6 && found[1] == 30, || {
            format!("{release}: {found:?}")
        })?;
    }
    Ok(())
}

/// The list can be given back.
fn list() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "import time\n\ndef often(): pass\n\ndef slow(): time.sleep(0.003)\n\nfor _ in range(50): often()\nslow(); slow()\n")?;
    let shown = place
        .run(&["-m", "instr", "functions", "app.py"])
        .succeed()?
        .text();
    let has = |words: &str| shown.lines().any(|line| line.contains(words));
    ensure(has("# often: 50 calls") && has("# slow: 2 calls"), || {
        shown.clone()
    })?;
    place
        .run(&[
            "-m",
            "instr",
            "functions",
            "--min-time",
            "1000",
            "-f",
            "!<module>",
            "-o",
            "list.txt",
            "app.py",
        ])
        .succeed()?;
    place.recorded(&["-f", "@list.txt", "app.py"]).succeed()?;
    let calls = place.calls("out.instr")?;
    ensure(calls == BTreeMap::from([("slow".to_owned(), 2)]), || {
        format!("{calls:?}")
    })
}

/// One message each, and nothing half-done.
fn mistakes() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write("app.py", "print('ran')\n")?;
    for (words, message) in [
        (
            &["nothing.py"][..],
            "cannot run 'nothing.py': there is no such file",
        ),
        (
            &["-f", "app:", "app.py"],
            "has nothing on one side of its colon",
        ),
        (&["-f", "app:3-9", "app.py"], "'app' is no file"),
        (
            &["-f", "app.py:9-3", "app.py"],
            "has no lines: 9 is behind 3",
        ),
        (
            &["-f", "@missing.txt", "app.py"],
            "the list 'missing.txt' cannot be read",
        ),
        (
            &["--fnctions", "x", "app.py"],
            "unrecognized arguments: --fnctions",
        ),
        (
            &["-o", "app.py/x.instr", "app.py"],
            "'app.py/x.instr' cannot be made",
        ),
    ] {
        let outcome = place.recorded(words).output()?;
        let errors = outcome.errors();
        ensure(
            errors.contains(message)
                && !outcome.text().contains("ran")
                && !errors.contains("Traceback"),
            || format!("{words:?}: expected {message:?} of\n{outcome}"),
        )?;
        ensure(!place.at("out.instr").exists(), || {
            format!("{words:?} left a trace")
        })?;
    }
    // In the environment the program runs, and one line says what is wrong.
    let run = place
        .run(&["app.py"])
        .env("INSTR_PYTHON", "app:")
        .succeed()?;
    text(&run, "ran\n")?;
    let left = place.dir.path().read_dir()?.count();
    ensure(left == 1, || format!("{left} files are left"))?;
    ensure(
        run.errors().lines().count() == 1 && run.errors().contains("are not recorded"),
        || format!("{run}"),
    )
}

/// Output, status, arguments, name and traceback are those of the plain program.
fn unchanged() -> Check {
    let place = Place::new(DEBIAN)?;
    place.write(
        "app.py",
        "import sys\nprint(sys.argv, __name__, __file__, sys.flags.optimize, sys.path[0])\ndef f(): raise SystemExit(int(sys.argv[1])) if sys.argv[1] != 'x' else ValueError('no')\nf()\n",
    )?;
    for arguments in [
        &["app.py", "7", "-o", "--"][..],
        &["app.py", "0"],
        &["app.py", "x"],
    ] {
        let plain = place.run(arguments).output()?;
        plain.same_as(&place.recorded(arguments).output()?)?;
    }
    let plain = place.run(&["-O", "-m", "app", "3"]).output()?;
    let recorded = place
        .run(&["-O", "-m", "instr", "-o", "out.instr", "-m", "app", "3"])
        .output()?;
    plain.same_as(&recorded)
}
