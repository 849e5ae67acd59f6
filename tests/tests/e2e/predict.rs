//! `instr predict`: from runs with one thread to runs with two, and from functions as they are to functions that are really faster. The programs
//! ([shapes.c](../../predict/shapes.c)) work for known processor times, and waiting for a processor is not in a prediction, so that
//! what else the machine does matters little.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, measuring, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Family, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

const SHAPES: [&str; 7] = [
    "fib",
    "queens",
    "sort",
    "strassen",
    "alignment",
    "health",
    "wavefront",
];
/// How far a prediction may be off.
const OFF: f64 = 0.1;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("predict::killed", killed),
        trial("predict::sparc", sparc),
        trial("predict::children", children),
        trial("predict::costs-of-another-program", other_costs),
        trial("predict::costs-of-another-library", costs_of_no_use),
        trial("predict::runs-of-other-work", other_work),
        trial("predict::fastest-alone", fastest_alone),
        trial("predict::constructs::gcc", || constructs(Family::Gcc)),
        trial("predict::constructs::clang", || constructs(Family::Clang)),
    ];
    // Runs of some milliseconds, whose times other work on the machine moves by more than is allowed here.
    if cases::all() {
        trials.push(measuring("predict::really-faster", faster));
        trials.push(measuring("predict::without-a-lock", without_lock));
        trials.extend(SHAPES.map(|shape| {
            measuring(
                format!("predict::two-threads-from-one::{shape}"),
                move || two_from_one(shape),
            )
        }));
    }
    trials
}

fn build(target: Target, dir: &Path, leaf: u32) -> Check<PathBuf> {
    let source = workspace::root()?.join("tests/predict/shapes.c");
    let program = dir.join(format!("shapes{leaf}"));
    let build = Build::openmp(target).flag("-O1").flag("-g");
    let build = build.flag(format!("-DLEAF={leaf}"));
    build.traced(&[&source], &program)?;
    Ok(program)
}

/// A trace of the program with so many threads.
fn record(target: Target, program: &Path, shape: &str, threads: u32) -> Check<PathBuf> {
    let trace = program.with_extension(format!("{shape}{threads}"));
    let run = target.run(program).arg(shape);
    let run = run.env("OMP_NUM_THREADS", threads.to_string());
    run.env("INSTR_TRACE", &trace).succeed()?;
    Ok(trace)
}

fn predict(trace: &Path, words: &[&str]) -> Check<Value> {
    let run = Run::new(&tools()?.instr).arg("predict").arg(trace);
    let out = run.arg("--json").args(words).succeed()?;
    serde_json::from_slice(&out.stdout).map_err(|error| Stop::Fail(format!("no JSON: {error}")))
}

/// The predicted time with two threads, ns, and the bounds of its error.
fn with_two(prediction: &Value) -> Check<[f64; 3]> {
    let points = prediction["points"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let point = points.iter().find(|point| point["threads"] == 2);
    let point = point.ok_or("no prediction for two threads")?;
    let bounds =
        ["low_ns", "time_ns", "high_ns"].map(|key| point[key].as_f64().unwrap_or(f64::NAN));
    ensure(bounds.is_sorted() && bounds[0] < bounds[2], || {
        format!("no prediction without its error: {point}")
    })?;
    Ok(bounds)
}

fn near(predicted: f64, measured: f64, what: &str) -> Check {
    let off = predicted / measured - 1.0;
    ensure(off.abs() <= OFF, || {
        format!(
            "{what}: {predicted} ns is not {measured} ns, but {:+.1} %",
            100.0 * off
        )
    })
}

/// Times without waiting for a processor are only known where that is recorded.
fn has_switches(trace: &Path) -> Check {
    let trace = instr_trace::Trace::open(trace).map_err(|error| Stop::Fail(error.to_string()))?;
    match trace.metadata().switches.as_deref() {
        Some("perf") => Ok(()),
        _ => Err(Stop::NotAllowed(
            "context switches cannot be recorded here".into(),
        )),
    }
}

const TASKS: &str = "#include <stdlib.h>\nint main(int argc, char **argv) {\n  long sum = 0;\n#pragma omp parallel\n#pragma omp single\n\
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {\n#pragma omp task\n#pragma omp atomic\n    sum += i;\n  }\n  return sum < 0;\n}\n";

/// A program that makes as many tasks as it is told to, and a run of it.
fn tasks(dir: &Path, name: &str) -> Check<PathBuf> {
    let source = dir.join("tasks.c");
    std::fs::write(&source, TASKS)?;
    let program = dir.join(name);
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    Ok(program)
}

/// Only runs of the same work show how work changes with the number of threads.
fn other_work() -> Check {
    let dir = workspace::work_dir("predict")?;
    let (own, others) = (tasks(dir.path(), "own")?, tasks(dir.path(), "others")?);
    let record = |program: &Path, name: &str, count: &str, threads: &str| -> Check<PathBuf> {
        let trace = dir.path().join(name);
        let run = Run::new(program).arg(count).env("INSTR_TRACE", &trace);
        run.env("OMP_NUM_THREADS", threads).succeed()?;
        Ok(trace)
    };
    let first = record(&own, "a", "200", "1")?;
    let same = record(&own, "b", "200", "2")?;
    let more = record(&own, "c", "800", "2")?;
    let alike = record(&own, "d", "200", "1")?;
    let foreign = record(&others, "e", "200", "2")?;
    let refused = |other: &Path, why: &str| {
        let run = Run::new(&tools()?.instr).arg("predict").arg(&first);
        let outcome = run.arg(other).output()?;
        ensure(
            outcome.status == Status::Code(1) && outcome.errors().contains(why),
            || format!("{outcome}"),
        )
    };
    refused(&foreign, "it is a trace of others")?;
    refused(&first, "is there twice")?;
    let notes = |other: &Path| -> Check<String> {
        let other = other.display().to_string();
        Ok(predict(&first, &[&other])?["notes"].to_string())
    };
    let told = notes(&same)?;
    ensure(told.contains("(1 other trace)"), || told.clone())?;
    ensure(!told.contains("other work"), || told.clone())?;
    let told = notes(&more)?;
    let why = "did other work (800 tasks, not 200): it counts for costs";
    ensure(
        told.contains(why) && !told.contains("(1 other trace)"),
        || told.clone(),
    )?;
    let told = notes(&alike)?;
    ensure(told.contains("has 1 thread, too"), || told.clone())
}

/// Tasks that do nothing are fastest with one thread, whether one is asked for or not.
fn fastest_alone() -> Check {
    let dir = workspace::work_dir("predict")?;
    let program = tasks(dir.path(), "tiny")?;
    let trace = dir.path().join("trace");
    let run = Run::new(&program).arg("2000").env("INSTR_TRACE", &trace);
    run.env("OMP_NUM_THREADS", "2").succeed()?;
    for threads in ["8", "1,8"] {
        let found = predict(&trace, &["--threads", threads])?;
        let alone = found["alone_ns"].as_u64();
        let limit = &found["limit"];
        let is_alone = limit["threads"] == 1 && limit["time_ns"].as_u64() == alone;
        ensure(alone.is_some() && is_alone, || {
            format!("{threads}: {found}")
        })?;
    }
    Ok(())
}

/// The prediction from a run with one thread, and that from the run with two: the time that this one took where nobody took a processor from it.
fn two_from_one(shape: &str) -> Check {
    let dir = workspace::work_dir("predict")?;
    let program = build(Target::X86_64, dir.path(), 400)?;
    let [one, two] = [1, 2].map(|threads| record(Target::X86_64, &program, shape, threads));
    let (one, two) = (one?, two?);
    has_switches(&two)?;
    // What is outside of regions is as long as recorded, whoever else uses the processors.
    let words = ["--threads", "1,2,64", "--faster", "serial=0"];
    let (from_one, from_two) = (predict(&one, &words)?, predict(&two, &words)?);
    let measured = with_two(&from_two)?[1];
    near(
        with_two(&from_one)?[1],
        measured,
        "with two threads, from one",
    )?;
    // The run as it was recorded, simulated.
    let both =
        ["simulated_ns", "recorded_ns"].map(|key| from_two[key].as_f64().unwrap_or(f64::NAN));
    near(both[0], both[1], "the recorded run")
}

/// What is predicted of leaves of half the work, and a program that has them.
fn faster() -> Check {
    let dir = workspace::work_dir("predict-faster")?;
    let (program, other) = (
        build(Target::X86_64, dir.path(), 400)?,
        build(Target::X86_64, dir.path(), 200)?,
    );
    for threads in [1, 2] {
        let slow = record(Target::X86_64, &program, "leaves", threads)?;
        let fast = record(Target::X86_64, &other, "leaves", threads)?;
        has_switches(&slow)?;
        let predicted = predict(
            &slow,
            &[
                "--threads",
                "2",
                "--faster",
                "leaf=2x",
                "--faster",
                "serial=0",
            ],
        )?;
        let measured = predict(&fast, &["--threads", "2", "--faster", "serial=0"])?;
        near(
            with_two(&predicted)?[1],
            with_two(&measured)?[1],
            "leaves of half the work",
        )?;
        let best = &predicted["gains"][0];
        ensure(
            best["what"]
                .as_str()
                .is_some_and(|what| what.starts_with("leaf ")),
            || format!("not what helps most: {best}"),
        )?;
    }
    Ok(())
}

/// 200 times 0.1 ms, and 0.4 ms in a critical section.
fn without_lock() -> Check {
    let dir = workspace::work_dir("predict-lock")?;
    let program = build(Target::X86_64, dir.path(), 400)?;
    let trace = record(Target::X86_64, &program, "locks", 1)?;
    has_switches(&trace)?;
    let with = predict(&trace, &["--threads", "8", "--faster", "serial=0"])?;
    let time = |prediction: &Value| {
        prediction["points"][0]["time_ns"]
            .as_f64()
            .unwrap_or(f64::NAN)
    };
    near(time(&with), 200.0 * 0.4e6 + 0.1e6, "with the lock")?;
    let point = &with["points"][0];
    ensure(point["loss"] == "waiting for locks", || format!("{point}"))?;
    let place = point["loss_place"].as_str().unwrap_or_default().to_owned();
    ensure(place.contains("shared"), || place.clone())?;
    let without = predict(
        &trace,
        &[
            "--threads",
            "8",
            "--without-lock",
            &place,
            "--faster",
            "serial=0",
        ],
    )?;
    near(time(&without), 200.0 / 8.0 * 0.5e6, "without it")?;
    two_locks(dir.path())
}

/// Two critical sections, one after the other, 40 times.
const TWO_LOCKS: &str = r"#define _POSIX_C_SOURCE 199309L
#include <time.h>
static void work(long us)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    const long long end = at.tv_sec * 1000000LL + at.tv_nsec / 1000 + us;
    do
        clock_gettime(CLOCK_MONOTONIC, &at);
    while (at.tv_sec * 1000000LL + at.tv_nsec / 1000 < end);
}
int main(void)
{
    #pragma omp parallel for schedule(dynamic, 1) num_threads(1)
    for (int i = 0; i < 40; i++) {
        work(50);
        #pragma omp critical(alpha)
        work(300);
        #pragma omp critical(beta)
        work(200);
    }
    return 0;
}
";

/// Without one of two locks, what the other one costs is counted without both: the first would hide it.
fn two_locks(dir: &Path) -> Check {
    let source = dir.join("two.c");
    std::fs::write(&source, TWO_LOCKS)?;
    let program = dir.join("two");
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    Run::new(&program).dir(dir).succeed()?;
    let words = ["--threads", "8", "--without-lock", "alpha"];
    let without = predict(&dir.join("two.instr"), &words)?;
    let time = without["points"][0]["time_ns"].as_f64();
    let gains = without["gains"].as_array().into_iter().flatten();
    let mut locks = gains.filter(|gain| gain["kind"] == "lock");
    let gone = locks.next().and_then(|gain| gain["half_ns"].as_f64());
    // 40 times 0.2 ms one after the other become 40 times 0.55 ms on 8 threads.
    let is_less = gone.zip(time).is_some_and(|(gone, time)| gone < 0.7 * time);
    ensure(is_less && locks.next().is_none(), || format!("{without}"))
}

/// Of constructs of known times, four threads from one; what libomp does not record is named.
fn constructs(family: Family) -> Check {
    let dir = workspace::work_dir("predict-constructs")?;
    let source = workspace::root()?.join("tests/predict/constructs.c");
    let program = dir.path().join("constructs");
    let mut build = Build::openmp(Target::X86_64).flag("-O1").flag("-g");
    build.family = family;
    build.traced(&[&source], &program)?;
    for (shape, of_alone, unknown) in [
        ("exclusive", 1.0, None),
        ("nogroup", 0.5, None),
        ("undeferred", 1.0, Some("an if clause")),
        (
            "sections",
            40.0 / 60.0,
            Some("sections whose begins are not recorded"),
        ),
    ] {
        let trace = record(Target::X86_64, &program, shape, 1)?;
        let prediction = predict(&trace, &["--threads", "4"])?;
        let point = &prediction["points"][0];
        let [low, time, high] =
            ["low_ns", "time_ns", "high_ns"].map(|key| point[key].as_f64().unwrap_or(f64::NAN));
        let alone = prediction["alone_ns"].as_f64().unwrap_or(f64::NAN);
        let expected = of_alone * alone;
        let unknown = unknown.filter(|_| family == Family::Clang);
        let unmodelled = prediction["unmodelled"].to_string();
        let is_named = unknown.is_none_or(|why| unmodelled.contains(why));
        // One of the sleeps may take longer; what is wrong is off by a third, or more.
        let is_right = match (unknown, shape) {
            (None, _) => (time / expected - 1.0).abs() < 0.15,
            (Some(_), "sections") => low < expected && expected < high,
            (Some(_), _) => true,
        };
        ensure(is_named && is_right, || format!("{shape}: {prediction:#}"))?;
    }
    Ok(())
}

/// A trace that ends inside of its only region holds nothing to predict from, and says so.
fn killed() -> Check {
    let dir = workspace::work_dir("predict-killed")?;
    let source = dir.path().join("app.c");
    std::fs::write(
        &source,
        "#include <signal.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    for (int more = argc; more >= 1; more--)\n    {\n        #pragma omp parallel num_threads(2)\n        \
         {\n            #pragma omp single\n            if (more == 1)\n                raise(SIGKILL);\n        }\n    }\n    return argv == NULL;\n}\n",
    )?;
    let program = dir.path().join("app");
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    Run::new(&program).dir(dir.path()).output()?;
    let run = Run::new(&tools()?.instr).arg("predict").arg("app");
    let outcome = run.dir(dir.path()).output()?;
    ensure(
        outcome.status == Status::Code(1) && outcome.stdout.is_empty(),
        || format!("{outcome}"),
    )?;
    ensure(
        outcome.errors().contains("nothing can be predicted from"),
        || format!("{outcome}"),
    )?;
    // What ended before can be predicted, but not the run.
    Run::new(&program).arg("more").dir(dir.path()).output()?;
    let notes = predict(&dir.path().join("app.instr"), &[])?["notes"].to_string();
    ensure(notes.contains("app.instr was not closed"), || notes)
}

/// Traces of other processors are as good.
fn sparc() -> Check {
    let dir = workspace::work_dir("predict-sparc")?;
    let target = Target::from_name("sparc-linux").ok_or("no such target")?;
    let program = build(target, dir.path(), 400)?;
    let trace = record(target, &program, "wavefront", 2)?;
    let prediction = predict(&trace, &["--threads", "1,2,64"])?;
    with_two(&prediction)?;
    let speedups: Vec<f64> = prediction["points"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|point| point["speedup"].as_f64())
        .collect();
    // The longest path has 27 of 196 tasks.
    let last = speedups.last().copied().unwrap_or_default();
    ensure(speedups.len() == 3 && last < 1.1 * 196.0 / 27.0, || {
        format!("{speedups:?}")
    })
}

/// The program of `examples/costs`, with so many threads.
fn costs(target: Target, dir: &Path, threads: u32) -> Check<PathBuf> {
    let source = workspace::root()?.join("examples/costs/costs.c");
    let program = dir.join("costs");
    Build::openmp(target)
        .flag("-O2")
        .traced(&[&source], &program)?;
    let trace = dir.join(format!("costs{threads}.instr"));
    let run = target.run(&program).arg("3");
    let run = run.env("OMP_NUM_THREADS", threads.to_string());
    run.env("INSTR_TRACE", &trace).succeed()?;
    Ok(trace)
}

/// What a run with one thread cannot show is taken from a run of another program; of itself it is only in the error.
fn other_costs() -> Check {
    let dir = workspace::work_dir("predict-costs")?;
    let program = build(Target::X86_64, dir.path(), 4)?;
    let trace = record(Target::X86_64, &program, "leaves", 1)?;
    let (one, two) = (
        costs(Target::X86_64, dir.path(), 1)?,
        costs(Target::X86_64, dir.path(), 2)?,
    );
    let mean = |prediction: &Value, what: &str, key: &str| {
        let mut costs = prediction["costs"].as_array().into_iter().flatten();
        let cost = costs.find(|cost| cost["what"] == what);
        cost.and_then(|cost| cost[key].as_f64())
    };
    let alone = predict(&trace, &["--threads", "2"])?;
    ensure(
        mean(&alone, "starting threads", "several_ns").is_none()
            && alone["notes"].to_string().contains("Not measured"),
        || format!("{alone}"),
    )?;
    let [.., high] = with_two(&alone)?;
    let [one, two] = [one, two].map(|trace| trace.display().to_string());
    let words = ["--threads", "2", "--costs", &one, "--costs", &two];
    let told = predict(&trace, &words)?;
    let [_, time, _] = with_two(&told)?;
    let before = with_two(&alone)?[1];
    let start = mean(&told, "starting threads", "several_ns");
    let measured = mean(
        &predict(Path::new(&two), &["--threads", "2"])?,
        "starting threads",
        "mean_ns",
    );
    ensure(start > Some(0.0) && start == measured, || {
        format!("{start:?} {measured:?}")
    })?;
    // The one region begins later by that, tasks may cost more; the error had it.
    ensure(time >= before + 0.9 * start.unwrap_or_default(), || {
        format!("{before} {time} {start:?}")
    })?;
    ensure(high >= before + 4e6, || format!("{before} {high}"))?;
    let run = Run::new(&tools()?.instr).arg("predict").arg(&trace);
    let outcome = run.args(["--costs", &one]).output()?;
    ensure(
        outcome.status == Status::Code(2)
            && outcome
                .errors()
                .contains("no trace has a region of several threads"),
        || format!("{outcome}"),
    )?;
    // Several threads are no faster at creating tasks than one.
    let created = ["mean_ns", "several_ns"].map(|key| mean(&told, "creating tasks", key));
    ensure(created[1] >= created[0], || format!("{created:?}"))
}

/// Costs on another machine say nothing.
fn costs_of_no_use() -> Check {
    let dir = workspace::work_dir("predict-costs")?;
    let program = build(Target::X86_64, dir.path(), 4)?;
    let trace = record(Target::X86_64, &program, "leaves", 1)?;
    let target = Target::from_name("sparc-linux").ok_or("no such target")?;
    let other = costs(target, dir.path(), 2)?;
    let run = Run::new(&tools()?.instr).arg("predict").arg(&trace);
    let outcome = run.arg("--costs").arg(&other).output()?;
    ensure(
        outcome.status == Status::Code(1)
            && outcome.stdout.is_empty()
            && outcome
                .errors()
                .contains("has no costs of this run: it is of"),
        || format!("{outcome}"),
    )
}

/// The trace of a program that forks is that of the parent.
fn children() -> Check {
    let dir = workspace::work_dir("predict-children")?;
    let source = dir.path().join("app.c");
    std::fs::write(
        &source,
        "#include <sys/wait.h>\n#include <unistd.h>\nint main(void)\n{\n    pid_t child = fork();\n    if (child > 0)\n        waitpid(child, 0, 0);\n    volatile int sum = 0;\n    #pragma omp parallel num_threads(2)\n    for (int i = 0; i < 1000000; i++)\n        sum++;\n    return 0;\n}\n",
    )?;
    let program = dir.path().join("app");
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    Run::new(&program).dir(dir.path()).succeed()?;
    let prediction = predict(&dir.path().join("app.instr"), &["--threads", "2"])?;
    let notes = prediction["notes"].to_string();
    let is_said = notes.contains("of processes that it forked or started");
    ensure(prediction["recorded_threads"] == 2 && is_said, || {
        format!("{prediction}")
    })
}
