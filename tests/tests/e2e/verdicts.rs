//! The sentence that a summary begins with, for programs that lose time in one known way each, and the processor time behind it.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("verdict::more-threads-than-processors", oversubscribed),
        trial("verdict::another-program-on-the-processor", preempted),
        trial("verdict::threads-that-sleep", sleeping),
        trial("verdict::one-thread", sequential),
        trial("verdict::imbalance", imbalance),
        trial("verdict::nothing-is-lost", || {
            of_program("healthy", "healthy", "no loss is large")
        }),
        trial("verdict::serial-code", || {
            of_program("serial", "serial", "outside of parallel regions")
        }),
        trial("verdict::serial-code-that-sleeps", serial_sleep),
        trial("verdict::small-teams-have-a-place", small_teams),
        trial("verdict::tries-of-a-lock-are-waiting", tries),
        trial("verdict::killed-in-a-region", killed),
        trial("verdict::critical-section", || {
            of_program(
                "lock",
                "locks",
                "most for the named critical ledger: 40 times",
            )
        }),
        trial("verdict::tasks-that-are-too-small", || {
            of_program("fine", "fine tasks", "tasks are too small")
        }),
        trial("verdict::tasks-that-come-too-late", || {
            of_program("late", "late tasks", "created too late")
        }),
        trial("verdict::chain-of-dependences", || {
            of_program(
                "chain",
                "dependences",
                "the longest chain of dependences, 40 tasks",
            )
        }),
    ]
}

struct Program {
    dir: tempfile::TempDir,
    path: PathBuf,
}

fn program() -> Check<Program> {
    let dir = workspace::work_dir("verdict")?;
    let path = dir.path().join("cases");
    let source = workspace::root()?.join("tests/verdicts/cases.c");
    let build = Build::openmp(Target::X86_64).flag("-O1");
    build.traced(&[&source], &path)?;
    Ok(Program { dir, path })
}

/// One processor that this process may use.
fn processor() -> Check<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split([',', '-']).next());
    Ok(first.ok_or("no list of processors")?.to_owned())
}

impl Program {
    /// Runs one of its cases, `before` it; the summary, and what it printed: its processor time, ns.
    fn run(&self, before: &[&str], case: &str, threads: u32) -> Check<(Value, f64)> {
        let trace = self.dir.path().join("trace");
        let words: Vec<&Path> = before
            .iter()
            .map(Path::new)
            .chain([self.path.as_path()])
            .collect();
        let run = Run::words(words).arg(case).env("INSTR_TRACE", &trace);
        let run = run.env("OMP_NUM_THREADS", threads.to_string());
        // Threads that wait for others do not run: then the system's account is of the program's own work.
        let outcome = run.env("OMP_WAIT_POLICY", "passive").succeed()?;
        let used = outcome.text().trim().parse::<f64>();
        let used = used.map_err(|error| format!("{}: {error}", outcome.text()))?;
        Ok((cases::summary(&trace)?, used))
    }
}

/// All threads were asked, and the sum is what the process itself was told.
fn accounted(summary: &Value, used: f64) -> Check {
    let threads = summary["threads"].as_array().ok_or("no threads")?;
    let times: Option<Vec<f64>> = threads
        .iter()
        .map(|thread| thread["processor_ns"].as_f64())
        .collect();
    let times = times.ok_or_else(|| format!("a thread was not asked: {threads:?}"))?;
    let sum: f64 = times.iter().sum();
    // The trace begins before `main` and ends behind it: beside other programs that takes its time.
    ensure((sum - used).abs() < 0.05 * used + 40e6, || {
        format!("{sum} ns of the threads, {used} ns by getrusage")
    })
}

fn is(summary: &Value, kind: &str, words: &str) -> Check {
    let verdict = &summary["verdict"];
    let text = verdict["text"].as_str().unwrap_or_default();
    ensure(verdict["kind"] == kind && text.contains(words), || {
        format!(
            "expected {kind}, {words}: {verdict}\n{}",
            summary["threads"]
        )
    })
}

fn oversubscribed() -> Check {
    need("taskset")?;
    let (summary, used) = program()?.run(&["taskset", "-c", &processor()?], "team", 4)?;
    accounted(&summary, used)?;
    ensure(summary["processors"] == 1, || {
        format!("{} processors", summary["processors"])
    })?;
    is(&summary, "oversubscribed", "4 threads share 1 processor: ")?;
    let advice = &summary["verdict"]["advice"];
    ensure(
        advice
            .as_str()
            .is_some_and(|text| text.contains("OMP_NUM_THREADS=1")),
        || advice.to_string(),
    )?;
    // Four threads with equal work on one processor: each waits three quarters of the time, and more beside other programs. Each region
    // begins with one.
    let share = summary["verdict"]["share"].as_f64().unwrap_or_default();
    ensure((0.4..0.97).contains(&share), || {
        format!("a share of {share}")
    })
}

/// Ends with the test, however that ends.
struct Spinner(Child);

impl Spinner {
    fn on(processor: &str) -> Check<Self> {
        let mut command = Command::new("taskset");
        command.args(["-c", processor, "sh", "-c", "while :; do :; done"]);
        Ok(Self(command.stdin(Stdio::null()).spawn()?))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        // It may be gone: then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn preempted() -> Check {
    need("taskset")?;
    let (program, processor) = (program()?, processor()?);
    let spinner = Spinner::on(&processor)?;
    let (summary, used) = program.run(&["taskset", "-c", &processor], "team", 1)?;
    drop(spinner);
    accounted(&summary, used)?;
    is(&summary, "preempted", "other programs used the processors")?;
    let share = summary["verdict"]["share"].as_f64().unwrap_or_default();
    ensure((0.3..0.95).contains(&share), || {
        format!("a share of {share}")
    })
}

fn sleeping() -> Check {
    let (summary, used) = program()?.run(&[], "sleep", 2)?;
    accounted(&summary, used)?;
    is(
        &summary,
        "sleeping",
        "threads slept in user code for at least",
    )?;
    // 0.3 s of each of two threads, and little else.
    let share = summary["verdict"]["share"].as_f64().unwrap_or_default();
    ensure(share > 0.5, || format!("a share of {share}"))
}

/// Waiting for a processor was not worth a word: then the verdict is of the program.
fn had_processors(summary: &Value) -> bool {
    let threads = summary["threads"].as_array().map_or(&[][..], Vec::as_slice);
    let of = |name: &str| -> f64 {
        threads
            .iter()
            .filter_map(|thread| thread[name].as_f64())
            .sum()
    };
    of("processor_wait_ns") < 0.05 * of("processor_ns")
}

fn sequential() -> Check {
    let (summary, used) = program()?.run(&[], "sequential", 2)?;
    accounted(&summary, used)?;
    match had_processors(&summary) {
        true => is(&summary, "sequential", "no parallel region was seen"),
        false => is(&summary, "preempted", "other programs used the processors"),
    }
}

/// A program of two threads that loses time in one way, or in none.
fn of_program(case: &str, kind: &str, words: &str) -> Check {
    let (summary, used) = program()?.run(&[], case, 2)?;
    accounted(&summary, used)?;
    if had_processors(&summary) {
        return is(&summary, kind, words);
    }
    // Others used the processors: that is said, or what the program itself does; never sleep, nor more threads than processors.
    let said = summary["verdict"]["kind"].as_str().unwrap_or_default();
    ensure(said == kind || said == "preempted", || {
        format!("expected {kind} or preempted: {}", summary["verdict"])
    })
}

/// 400 ms of sleep before a region of 50: nobody works meanwhile, so that it is no serial code.
fn serial_sleep() -> Check {
    let (summary, used) = program()?.run(&[], "reads", 2)?;
    accounted(&summary, used)?;
    is(
        &summary,
        "sleeping",
        "outside of parallel regions the program slept ",
    )?;
    // 400 ms, and what a busy machine adds to it.
    let told = summary["verdict"]["text"].as_str().unwrap_or_default();
    let slept: f64 = told
        .split_ascii_whitespace()
        .nth(7)
        .and_then(|number| number.parse().ok())
        .ok_or(told)?;
    let ms = if told.contains(" ms of ") {
        slept
    } else {
        1000.0 * slept
    };
    ensure((380.0..2000.0).contains(&ms), || told.to_owned())?;
    ensure(
        summary["verdict"]["region"] == "(outside of parallel regions)",
        || summary["verdict"].to_string(),
    )
}

fn small_teams() -> Check {
    let (summary, _) = program()?.run(&[], "small", 2)?;
    let loss = &summary["efficiency"]["largest_loss"];
    let region = loss["region"].as_str().unwrap_or_default();
    let source = std::fs::read_to_string(workspace::root()?.join("tests/verdicts/cases.c"))?;
    let line = source
        .lines()
        .position(|line| line.contains("num_threads(1)"));
    let line = format!("cases.c:{}]", line.ok_or("no such line")? + 1);
    ensure(
        loss["kind"] == "team size" && region.ends_with(&line),
        || format!("{line}: {loss}"),
    )
}

/// Two threads that try again and again have no barrier to wait in, and the wait is that of the tries.
fn tries() -> Check {
    let (summary, _) = program()?.run(&[], "try", 2)?;
    let lock = &summary["criticals"][0];
    let number = |name: &str| lock[name].as_u64().unwrap_or_default();
    ensure(number("count") == 40 && number("failed") > 100, || {
        lock.to_string()
    })?;
    // A try takes some 20 ns or more of waiting.
    ensure(number("wait_ns") > 10 * number("failed"), || {
        lock.to_string()
    })?;
    // Where others take the processors, threads wait in barriers for those that have none.
    let loss = &summary["efficiency"]["largest_loss"];
    let preempted = summary["verdict"]["kind"] == "preempted";
    ensure(preempted || loss["cause"] != "barriers", || {
        loss.to_string()
    })
}

fn killed() -> Check {
    let program = program()?;
    let trace = program.dir.path().join("trace");
    let run = Run::new(&program.path).arg("killed");
    let run = run.env("INSTR_TRACE", &trace).env("OMP_NUM_THREADS", "2");
    let outcome = run.output()?;
    ensure(outcome.text().is_empty(), || outcome.text())?;
    let summary = cases::summary(&trace)?;
    is(
        &summary,
        "cut off",
        "the trace ends inside of a parallel region",
    )?;
    ensure(
        summary["open_region"]["label"]
            .as_str()
            .is_some_and(|label| label.contains("cases.c:")),
        || summary["open_region"].to_string(),
    )
}

fn imbalance() -> Check {
    let (summary, used) = program()?.run(&[], "imbalance", 2)?;
    accounted(&summary, used)?;
    if had_processors(&summary) {
        return is(
            &summary,
            "imbalance",
            "threads of a region wait for the one with the most work",
        );
    }
    ensure(summary["verdict"]["kind"] != "sleeping", || {
        summary["verdict"].to_string()
    })
}
