//! What `instr run --config` reads of the machine and of processes beside the time line: as much as getrusage(2) counts.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

/// Pages that the program touches.
const PAGES: u64 = 5000;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("series::as-much-as-getrusage-counts", as_much),
        trial("series::what-is-refused-is-told-once-by-name", refused),
        trial("series::all-mistakes-at-once", mistakes),
        trial("series::of-a-program-that-ends-at-once", at_once),
    ]
}

fn program(dir: &Path) -> Check<PathBuf> {
    let path = dir.join("series");
    let source = workspace::root()?.join("tests/series/series.c");
    Build::openmp(Target::X86_64)
        .flag("-O1")
        .plain(&[&source], &path)?;
    Ok(path)
}

fn run(dir: &Path, config: &str, command: &[&str]) -> Check<Run> {
    let file = dir.join("c.toml");
    std::fs::write(&file, config)?;
    let run = Run::new(&tools()?.instr).args(["run", "--config"]);
    let run = run.arg(&file).arg("--").args(command);
    Ok(run.env("INSTR_TRACE", dir.join("trace")))
}

fn total(summary: &Value, name: &str, scope: &str) -> Check<f64> {
    let all = summary["series"]["series"].as_array();
    let found = all
        .into_iter()
        .flatten()
        .find(|series| series["name"] == name && series["scope"] == scope);
    let total = found.and_then(|series| series["total"].as_f64());
    total.ok_or_else(|| Stop::from(format!("no {name} of {scope}: {}", summary["series"])))
}

fn told(text: &str, name: &str) -> Check<f64> {
    let value = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let value = value.and_then(|value| value.parse().ok());
    value.ok_or_else(|| Stop::from(format!("no {name} in {text}")))
}

/// The program counts itself as it ends, perf and `/proc` to its very end: times agree within 1 %, faults but for those of its beginning and end.
fn as_much() -> Check {
    let dir = workspace::work_dir("series")?;
    let path = program(dir.path())?.display().to_string();
    let config =
        "[counters]\nevents = [\"task-clock\", \"page-faults\"]\nrate = 50\n[process]\nrate = 50\n";
    let pages = PAGES.to_string();
    let ended = run(dir.path(), config, &[&path, &pages, "500"])?.succeed()?;
    if ended.errors().contains("series: [counters]") {
        return Err(Stop::NotAllowed(ended.errors()));
    }
    let text = ended.text();
    let summary = cases::summary(&dir.path().join("trace"))?;
    let (faults, cpu) = (told(&text, "FAULTS")?, told(&text, "CPU_NS")?);
    let clock = total(&summary, "task-clock", "tree")?;
    ensure((clock - cpu).abs() <= cpu / 100.0, || {
        format!("task-clock {clock} of {cpu} ns")
    })?;
    for (name, scope) in [("page-faults", "tree"), ("minor faults", "process")] {
        let found = total(&summary, name, scope)?;
        ensure(
            found >= PAGES as f64 && (found - faults).abs() <= 100.0,
            || format!("{name}: {found} of {faults}"),
        )?;
    }
    let thread = total(&summary, "page-faults", "thread")?;
    let tree = total(&summary, "page-faults", "tree")?;
    ensure(thread <= tree && tree - thread <= 100.0, || {
        format!("the only thread has {thread} of {tree} faults")
    })
}

fn refused() -> Check {
    let dir = workspace::work_dir("series")?;
    // A machine without anything: the copy of another one's /sys and /proc is empty.
    let run = run(dir.path(), "[energy]\n[frequency]\n", &["true"])?;
    let ended = run.env("INSTR_SENSORS_ROOT", dir.path()).succeed()?;
    let errors = ended.errors();
    for module in ["energy", "frequency"] {
        let found = errors.matches(&format!("series: [{module}]: ")).count();
        ensure(found == 1, || format!("[{module}] {found} times: {errors}"))?;
    }
    Ok(())
}

fn mistakes() -> Check {
    let dir = workspace::work_dir("series")?;
    let config = "[energi]\nrate = 1\n[process]\nperod = \"1s\"\nrate = 0\n";
    let outcome = run(dir.path(), config, &["true"])?.output()?;
    ensure(outcome.status == Status::Code(1), || {
        format!("status {:?}", outcome.status)
    })?;
    let errors = outcome.errors();
    for part in [
        ":1:2: there is no module `energi`; did you mean `energy`?",
        ":4:1: [process]: there is no key `perod`; did you mean `period`?",
        ":5:8: `rate` is more than 0",
    ] {
        ensure(errors.contains(part), || format!("no {part:?}: {errors}"))?;
    }
    ensure(!dir.path().join("trace").exists(), || {
        "there is a trace".to_owned()
    })
}

/// It may end before anything is read of it; what was read of the machine stands all the same.
fn at_once() -> Check {
    let dir = workspace::work_dir("series")?;
    let config = "[processors]\nperiod = \"60min\"\n";
    run(dir.path(), config, &["true"])?.succeed()?;
    let summary = cases::summary(&dir.path().join("trace"))?;
    let modules = &summary["series"]["modules"];
    ensure(modules[0]["readings"] == 2, || format!("{modules}"))
}
