//! Context switches by a program in the kernel, as root has them: who woke whom as often as the kernel counts waits, waits for a processor as long as its
//! own account, and no child that is missing. Elsewhere perf records them, and nothing is said of it.

use std::collections::BTreeMap;

use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("ebpf::two-threads-wake-each-other", players),
        trial("ebpf::timers-wake-a-sleeper", || sleeper("sleeper")),
        // Of threads whose numbers end alike, one alone is found the fast way.
        trial("ebpf::a-child-takes-the-place-of-a-sleeper", || {
            sleeper("namesake")
        }),
        trial("ebpf::rings-are-read-before-they-are-full", storm),
        trial("ebpf::a-yield-is-no-preemption", yielders),
        trial("ebpf::a-woken-thread-waits-for-its-processor", guest),
        trial("ebpf::no-child-is-missing", children),
        trial("ebpf::priorities", priorities),
        trial("ebpf::without-rights-perf-records", without_rights),
        trial("ebpf::what-is-asked-for-is-used-or-refused", forced),
    ]
}

struct Place {
    dir: TempDir,
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("ebpf")?;
        let source = workspace::root()?.join("tests/processors/wakes.c");
        let build = Build::openmp(Target::X86_64).flag("-O1").flag("-pthread");
        build.plain(&[&source], &dir.path().join("wakes"))?;
        Ok(Self { dir })
    }

    fn instr(&self, words: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(words);
        Ok(run.dir(self.dir.path()))
    }

    fn shown(&self, trace: &str) -> Check<Value> {
        let shown = self.instr(&["processors", "--json", trace])?.succeed()?;
        Ok(serde_json::from_str(&shown.text()).map_err(|error| error.to_string())?)
    }

    /// Runs a case: what the program said, and what was recorded by eBPF.
    fn run(&self, case: &str) -> Check<(BTreeMap<String, f64>, Value)> {
        let run = self.instr(&["run", "-o", "t", "./wakes", case])?;
        let outcome = run.env("INSTR_SWITCHES", "ebpf").output()?;
        permitted(&outcome)?;
        ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
        let text = outcome.text();
        let words = text.split_whitespace().filter_map(|word| {
            let (name, number) = word.split_once('=')?;
            Some((name.to_owned(), number.parse().ok()?))
        });
        let found = self.shown("t")?;
        ensure(found["recorder"] == "ebpf" && found["lost"] == 0, || {
            format!("{found:#}")
        })?;
        Ok((words.collect(), found))
    }
}

/// Root may; who may not is told so.
fn permitted(outcome: &Outcome) -> Check {
    let errors = outcome.errors();
    match errors.lines().find(|line| line.contains("eBPF")) {
        Some(why) => Err(Stop::NotAllowed(why.to_owned())),
        None => Ok(()),
    }
}

fn list<'a>(value: &'a Value, name: &str) -> Check<&'a Vec<Value>> {
    Ok(value[name]
        .as_array()
        .ok_or_else(|| format!("no {name} in {value}"))?)
}

fn number(value: &Value, name: &str) -> Check<f64> {
    Ok(value[name]
        .as_f64()
        .ok_or_else(|| format!("no {name} in {value}"))?)
}

fn between(what: &str, found: f64, least: f64, most: f64) -> Check {
    ensure((least..=most).contains(&found), || {
        format!("{what}: {found}, expected {least} to {most}")
    })
}

fn threads(found: &Value) -> Check<Vec<Value>> {
    let mut all = Vec::new();
    for process in list(&list(found, "applications")?[0], "processes")? {
        all.extend(list(process, "threads")?.iter().cloned());
    }
    Ok(all)
}

fn thread(found: &Value, tid: f64) -> Check<Value> {
    let all = threads(found)?;
    let own = all.into_iter().find(|one| one["tid"].as_f64() == Some(tid));
    Ok(own.ok_or_else(|| format!("no thread {tid} in {found:#}"))?)
}

/// How often a thread was woken: by this thread, by interrupts, altogether.
fn woken(found: &Value, tid: f64, by: f64) -> Check<[f64; 3]> {
    let mut sums = [0.0; 3];
    for wake in list(found, "woken")? {
        if wake["woken"]["tid"].as_f64() != Some(tid) {
            continue;
        }
        let times = number(wake, "times")?;
        sums[2] += times;
        if wake["context"] == "interrupt" {
            sums[1] += times;
        } else if wake["by"]["tid"].as_f64() == Some(by) {
            sums[0] += times;
        }
    }
    Ok(sums)
}

/// Beside the loop that is looked at, a thread waits for its begin, a lock of the output, its end.
const BESIDE: f64 = 6.0;

/// Each wait in the loop ends when the other thread writes, and a wait that ended was a wake-up.
fn players() -> Check {
    let (told, found) = Place::new()?.run("players")?;
    for (one, other) in [("0", "1"), ("1", "0")] {
        let of = |name: &str, at: &str| told[&format!("{name}{at}")];
        let known = of("voluntary", one);
        // Where other programs have the processors, the answer is often there before the question is over.
        ensure(known > 50.0, || format!("it waited {known} times only"))?;
        let [by_other, _, all] = woken(&found, of("tid", one), of("tid", other))?;
        between("woken by the other", by_other, known - 1.0, known + BESIDE)?;
        let waits = number(&thread(&found, of("tid", one))?, "voluntary")?;
        between("wake-ups of all waits", all, waits - 1.0, waits)?;
    }
    Ok(())
}

/// So many switches that a ring would be full long before its reader comes by itself.
fn storm() -> Check {
    let (told, found) = Place::new()?.run("storm")?;
    for at in ["0", "1"] {
        let of = |name: &str| told[&format!("{name}{at}")];
        let known = of("voluntary") + of("involuntary");
        ensure(known > 150_000.0, || format!("{known} switches only"))?;
        let thread = thread(&found, of("tid"))?;
        let all = number(&thread, "voluntary")? + number(&thread, "involuntary")?;
        // Others take the processor meanwhile, also behind its own look.
        between("switches", all, known, known + 4.0 * BESIDE)?;
    }
    Ok(())
}

/// What runs when a timer of a sleeping thread is over has not woken it.
fn sleeper(case: &str) -> Check {
    let (told, found) = Place::new()?.run(case)?;
    let [_, interrupts, all] = woken(&found, told["tid0"], 0.0)?;
    // A sleep may be over before the thread has left its processor.
    let known = told["voluntary0"];
    ensure(known > 250.0, || format!("it slept {known} times only"))?;
    let by = |what: &str| format!("{what} ({interrupts} by interrupts, {all} altogether)");
    between(&by("by interrupts"), interrupts, known, known + BESIDE)?;
    match case {
        "sleeper" => between(&by("altogether"), all, known, known + BESIDE),
        // Its children woke it, too.
        _ => Ok(()),
    }
}

/// All switches that the kernel counts as involuntary are yields here, but for those in which a third program took the processor.
fn yielders() -> Check {
    let place = Place::new()?;
    let (told, found) = place.run("yielders")?;
    for at in ["0", "1"] {
        let of = |name: &str| told[&format!("{name}{at}")];
        let thread = thread(&found, of("tid"))?;
        let yielded = number(&thread, "yielded")?;
        let known = of("involuntary");
        // Who is preempted on the way back from its call is still in it. Others take the processor meanwhile, also behind its own look.
        between("yielded", yielded, known * 0.7, known + 4.0 * BESIDE)?;
        let all = number(&thread, "involuntary")?;
        between("with preemptions", all, known, known + 4.0 * BESIDE)?;
    }
    // One that computes never gives its processor away.
    let (_, found) = place.run("guest")?;
    for thread in threads(&found)? {
        between("yielded", number(&thread, "yielded")?, 0.0, 0.0)?;
    }
    Ok(())
}

/// From its wake-up, or its preemption, until it runs: what the kernel's own account has as the thread's wait for a processor.
fn guest() -> Check {
    let (told, found) = Place::new()?.run("guest")?;
    let thread = thread(&found, told["tid1"])?;
    let waited = number(&thread, "ready_ns")?;
    let known = told["waited"];
    ensure(known > 5e6, || format!("it waited {known} ns only"))?;
    between("ready", waited, known * 0.98, known * 1.02 + 2e6)?;
    let woken = number(&thread, "woken_ns")?;
    ensure(woken > 0.0 && woken <= waited, || {
        format!("woken {woken} of {waited}")
    })?;
    let delays = list(&found, "woken")?.iter();
    let own = delays.filter(|wake| wake["woken"]["tid"].as_f64() == Some(told["tid1"]));
    let mut sum = 0.0;
    for wake in own {
        sum += number(wake, "delay_ns")?;
    }
    between("delays of wake-ups", sum, woken, woken)
}

fn children() -> Check {
    let (_, found) = Place::new()?.run("children")?;
    let all = list(&list(&found, "applications")?[0], "processes")?;
    let ended = all.iter().filter(|process| process["end_ns"].is_u64());
    let (all, ended) = (all.len(), ended.count());
    ensure((all, ended) == (1001, 1001), || {
        format!("{all} processes, {ended} with an end")
    })
}

/// The kernel's priority of a thread is 120 and its nice value.
fn priorities() -> Check {
    let place = Place::new()?;
    let run = place.instr(&["run", "-o", "t", "nice", "-n", "7", "./wakes", "sleeper"])?;
    let outcome = run.env("INSTR_SWITCHES", "ebpf").output()?;
    permitted(&outcome)?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    let found = place.shown("t")?;
    let all = threads(&found)?;
    // The tests themselves may have been started by `nice`.
    let own = Run::words(["nice"]).succeed()?.text();
    let own: u64 = own.trim().parse().map_err(|_| own.clone())?;
    let expected = (120 + own + 7).min(139);
    ensure(all.len() == 1 && all[0]["priority"] == expected, || {
        format!("{all:#?}")
    })?;
    let counts = ctf::counts(&ctf::read(&place.dir.path().join("t/kernel"))?);
    ensure(counts.get("wake").is_some_and(|wakes| *wakes > 250), || {
        format!("{counts:?}")
    })
}

/// Nothing is said, nothing fails; the trace has by what it was recorded, and why.
fn without_rights() -> Check {
    if !instr_test_needs::administrator() {
        return Err(Stop::NotAllowed("to become another user".to_owned()));
    }
    need("setpriv")?;
    let place = Place::new()?;
    let instr = tools()?.instr.display().to_string();
    let without = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    let words = ["run", "-o", "t", "./wakes", "sleeper"];
    let words = without.into_iter().chain([instr.as_str()]).chain(words);
    let run = Run::words(words).dir(place.dir.path());
    let outcome = run.output()?;
    ensure(
        outcome.status == Status::Code(0) && !outcome.errors().contains("eBPF"),
        || outcome.to_string(),
    )?;
    let metadata = std::fs::read_to_string(place.dir.path().join("t/kernel/metadata"))?;
    if metadata.contains("recorded = \"sums\"") {
        return Err(Stop::NotAllowed("context switches by perf".to_owned()));
    }
    for expected in [
        "recorder = \"perf\"",
        "recorder_why = \"eBPF is not permitted (it needs CAP_BPF and CAP_PERFMON, or root)\"",
    ] {
        ensure(metadata.contains(expected), || metadata.clone())?;
    }
    let found = place.shown("t")?;
    ensure(found["recorder"] == "perf", || format!("{found:#}"))?;
    let verbose = run.env("INSTR_VERBOSE", "1").output()?;
    ensure(
        verbose
            .errors()
            .contains("are recorded by perf, without who woke whom"),
        || verbose.to_string(),
    )
}

fn forced() -> Check {
    let place = Place::new()?;
    let run = |by: &str| {
        let run = place.instr(&["run", "-o", by, "./wakes", "sleeper"])?;
        run.env("INSTR_SWITCHES", by).output()
    };
    let outcome = run("perf")?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    let found = place.shown("perf")?;
    match found["recorded"].as_str() {
        Some("tree") => {}
        _ => return Err(Stop::NotAllowed("context switches by perf".to_owned())),
    }
    ensure(
        found["recorder"] == "perf" && list(&found, "woken")?.is_empty(),
        || format!("{found:#}"),
    )?;
    // Where it is refused the run goes on without, and says why.
    let outcome = run("ebpf")?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    permitted(&outcome)?;
    let found = place.shown("ebpf")?;
    ensure(found["recorder"] == "ebpf", || format!("{found:#}"))
}
