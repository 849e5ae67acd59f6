//! The switches that `instr run` counts beside those that `perf sched record` has of the same run: tracepoints of the scheduler, read by a program
//! that shares nothing with ours. The set-up does not install it (Debian: linux-perf), and the kernel lets administrators alone use it.

use std::collections::BTreeMap;
use std::path::Path;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("perf-sched::as-many-switches", || as_many("perf")),
        trial("perf-sched::as-many-switches-by-ebpf", || as_many("ebpf")),
    ]
}

/// Voluntary and involuntary switches of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Switches {
    voluntary: u64,
    involuntary: u64,
}

/// What perf has of a thread up to its last sleep, and of all its life. The kernel takes our event from a thread that ends before it closes its files,
/// for which it may wait.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    asleep: Switches,
    all: Switches,
}

impl Known {
    /// Ours begin a moment behind the new name of the program, in its `exec`: another thread may take the processor there once.
    fn is(&self, found: Switches) -> bool {
        let (least, most) = (self.asleep, self.all);
        (least.voluntary..=most.voluntary).contains(&found.voluntary)
            && (least.involuntary.saturating_sub(1)..=most.involuntary).contains(&found.involuntary)
    }
}

/// A mount of tracefs, which perf makes where there is none, goes with its name space.
const PERF: [&str; 3] = ["unshare", "--mount", "perf"];

fn as_many(by: &str) -> Check {
    if need("perf").is_err() {
        let why = "perf (Debian: linux-perf) is not installed";
        return Err(Stop::Unfit(why.to_owned()));
    }
    let dir = workspace::work_dir("perf-sched")?;
    let source = workspace::root()?.join("tests/processors/sleeps.c");
    let build = Build::openmp(Target::X86_64).flag("-O1").flag("-pthread");
    build.plain(&[&source], &dir.path().join("sleeps"))?;
    let record = |command: &[&str]| {
        let words = PERF.iter().chain(&["sched", "record", "-o", "perf", "--"]);
        let run = Run::words(words.chain(command)).dir(dir.path());
        run.env("INSTR_SWITCHES", by).output()
    };
    let alone = record(&["true"])?;
    if alone.status != Status::Code(0) {
        let why = alone.errors();
        let why = why.lines().find(|line| !line.trim().is_empty());
        let why = format!("perf sched record: {}", why.unwrap_or("no reason").trim());
        return Err(Stop::Unfit(why));
    }
    let instr = tools()?.instr.display().to_string();
    let ran = record(&[&instr, "run", "-o", "trace", "--", "./sleeps"])?;
    ensure(ran.status == Status::Code(0), || ran.to_string())?;
    let theirs = theirs(dir.path())?;
    let ours = ours(dir.path())?;
    let text = ran.text();
    for sleeps in [1000, 500] {
        let told = text
            .split_whitespace()
            .find_map(|word| word.strip_prefix(&format!("sleeps{sleeps}=")));
        let tid: u64 = told.ok_or_else(|| format!("no thread: {ran}"))?.parse()?;
        let (Some(ours), Some(theirs)) = (ours.get(&tid), theirs.get(&tid)) else {
            return Err(format!("thread {tid}: {ours:?} {theirs:?}").into());
        };
        ensure(theirs.is(*ours) && ours.voluntary >= sleeps, || {
            format!("{sleeps} sleeps: {ours:?}, perf has {theirs:?}")
        })?;
    }
    Ok(())
}

/// What perf has of threads of `sleeps`, under that name and so behind its `exec`. The last switch of a thread, at its end, is no wait.
fn theirs(dir: &Path) -> Check<BTreeMap<u64, Known>> {
    let script = ["script", "-i", "perf", "-F", "event,trace"];
    let run = Run::words(PERF.iter().chain(&script)).dir(dir);
    let text = run.succeed()?.text();
    let lost = text.lines().find(|line| line.contains("LOST"));
    ensure(lost.is_none(), || format!("perf lost events: {lost:?}"))?;
    let mut found = BTreeMap::<u64, Known>::new();
    for line in text.lines() {
        let Some((_, line)) = line.split_once("sched_switch: prev_comm=sleeps prev_pid=") else {
            continue;
        };
        let (tid, line) = line.split_once(' ').unwrap_or((line, ""));
        let state = line.split_once("prev_state=").map(|(_, state)| state);
        let state = state.and_then(|state| state.split_whitespace().next());
        let thread = found.entry(tid.parse()?).or_default();
        match state {
            Some("R" | "R+") => thread.all.involuntary += 1,
            Some("D" | "I") => thread.all.voluntary += 1,
            Some("S") => {
                thread.all.voluntary += 1;
                thread.asleep = thread.all;
            }
            Some("X" | "Z") => {}
            _ => return Err(format!("a state of perf's: {line}").into()),
        }
    }
    Ok(found)
}

/// What `instr processors` says of all threads.
fn ours(dir: &Path) -> Check<BTreeMap<u64, Switches>> {
    let instr = &tools()?.instr;
    let shown = Run::new(instr).args(["processors", "--json", "trace"]);
    let shown = shown.dir(dir).succeed()?.text();
    let shown: Value = serde_json::from_str(&shown).map_err(|error| error.to_string())?;
    ensure(shown["lost"] == 0 && shown["trouble"].is_null(), || {
        format!("{shown:#}")
    })?;
    let all = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let mut found = BTreeMap::new();
    for application in all(&shown, "applications") {
        for process in all(&application, "processes") {
            for thread in all(&process, "threads") {
                let number = |name: &str| {
                    let number = thread[name].as_u64();
                    number.ok_or_else(|| format!("no {name}: {thread}"))
                };
                let switches = Switches {
                    voluntary: number("voluntary")?,
                    involuntary: number("involuntary")?,
                };
                found.insert(number("tid")?, switches);
            }
        }
    }
    Ok(found)
}
