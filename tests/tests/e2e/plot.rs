//! `instr plot`: figures of programs whose heap and processors are known, from an environment without fonts.

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("plot::heap-of-known-size", heap),
        trial("plot::processors", processors),
        trial("plot::task-graph-of-a-program-that-forked", of_one_process),
        trial("plot::nothing-of-the-machine-is-needed", bare),
    ]
}

/// 8 MiB in a block for half of the time.
const WORK: &str = "#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n\
    static void rest(void)\n{\n    struct timespec t = { 0, 100000000 };\n    nanosleep(&t, 0);\n}\n\
    int main(void)\n{\n    rest();\n    char *volatile block = malloc(8 << 20);\n    memset(block, 1, 8 << 20);\n    rest();\n    free(block);\n    rest();\n\
    #pragma omp parallel num_threads(2)\n    rest();\n    return 0;\n}\n";

fn program() -> Check<tempfile::TempDir> {
    let dir = workspace::work_dir("plot")?;
    let (file, program) = (dir.path().join("app.c"), dir.path().join("app"));
    std::fs::write(&file, WORK)?;
    let build = Build::openmp(Target::X86_64)
        .flag("-w")
        .flag("-O1")
        .flag("--instr-memory");
    build.traced(&[&file], &program)?;
    Ok(dir)
}

/// `TASKS`: of the process itself, of its child. The child has forked before OpenMP began.
const FORKS: &str = "#include <sys/wait.h>\n#include <unistd.h>\n\
    static void tasks(int count)\n{\n#pragma omp parallel num_threads(2)\n#pragma omp single\n    for (int i = 0; i < count; i++) {\n\
    #pragma omp task\n        usleep(10);\n    }\n}\n\
    int main(void)\n{\n    if (fork() == 0) {\n        tasks(OF_CHILD);\n        return 0;\n    }\n    wait(0);\n    tasks(OF_PARENT);\n    return 0;\n}\n";

/// A graph is of one process: the only one that has tasks, else the trace's own.
fn of_one_process() -> Check {
    let dir = workspace::work_dir("plot")?;
    let (file, program) = (dir.path().join("forks.c"), dir.path().join("forks"));
    std::fs::write(&file, FORKS)?;
    let other = "other processes have tasks, too";
    for (of_child, of_parent, drawn, told) in [
        (3, 4, Some(4), true),
        (0, 4, Some(4), false),
        (3, 0, Some(3), false),
        (0, 0, None, false),
    ] {
        let trace = dir.path().join(format!("trace{of_child}{of_parent}"));
        Build::openmp(Target::X86_64)
            .flag("-w")
            .flag(format!("-DOF_CHILD={of_child}"))
            .flag(format!("-DOF_PARENT={of_parent}"))
            .traced(&[&file], &program)?;
        Run::new(&program).env("INSTR_TRACE", &trace).succeed()?;
        let run = Run::new(&tools()?.instr).args(["plot", "--kind", "tdg", "-o", "-"]);
        let outcome = run.arg(&trace).output()?;
        let Some(drawn) = drawn else {
            ensure(outcome.errors().contains("has no tasks"), || {
                format!("{outcome}")
            })?;
            continue;
        };
        ensure(outcome.errors().contains(other) == told, || {
            format!("{of_child}, {of_parent}: {}", outcome.errors())
        })?;
        // A box each, and the paper.
        let nodes = outcome.text().matches("<rect").count() - 1;
        ensure(nodes == drawn, || format!("{nodes} tasks, not {drawn}"))?;
    }
    Ok(())
}

fn plot(dir: &tempfile::TempDir, words: &[&str]) -> Check<Vec<u8>> {
    let run = Run::new(&tools()?.instr)
        .arg("plot")
        .args(words)
        .arg("-o")
        .arg("-");
    Ok(run.dir(dir.path()).succeed()?.stdout)
}

/// Points of the longest polyline.
fn points(svg: &str) -> Vec<(f64, f64)> {
    let lines = svg
        .split(" points=\"")
        .skip(1)
        .filter_map(|rest| rest.split_once('"'));
    let read = |text: &str| -> Vec<(f64, f64)> {
        let pairs = text
            .split_whitespace()
            .filter_map(|pair| pair.split_once(','));
        pairs
            .filter_map(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)))
            .collect()
    };
    lines
        .map(|(text, _)| read(text))
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

fn heap() -> Check {
    let dir = program()?;
    Run::new(dir.path().join("app")).dir(dir.path()).succeed()?;
    let svg = String::from_utf8_lossy(&plot(&dir, &["app", "--kind", "memory"])?).into_owned();
    ensure(svg.contains("heap in use [MiB]"), || svg.clone())?;
    // From the ends of the axis: y is a line of MiB, and 8 MiB are where most time of the middle is.
    let line = points(&svg);
    let high = line.iter().map(|(_, y)| *y).fold(f64::MAX, f64::min);
    let low = line.iter().map(|(_, y)| *y).fold(0.0, f64::max);
    let labels = |wanted: &str| -> Option<f64> {
        let at = svg.find(&format!(">\n{wanted}\n</text>"))?;
        let tag = &svg[svg[..at].rfind("<text")?..at];
        tag.split_once(" y=\"")?.1.split_once('"')?.0.parse().ok()
    };
    let (zero, eight) = (labels("0"), labels("8"));
    let (Some(zero), Some(eight)) = (zero, eight) else {
        return Err(Stop::Fail(format!("no labels 0 and 8: {svg}")));
    };
    let of = |y: f64| (zero - y) / (zero - eight) * 8.0;
    ensure((of(high) - 8.0).abs() < 0.3 && of(low) < 0.3, || {
        format!("from {} to {} MiB", of(low), of(high))
    })?;
    // A quarter of the time, or less where the machine is busy.
    let width =
        line.iter().map(|(x, _)| *x).fold(0.0, f64::max) - line.first().map_or(0.0, |(x, _)| *x);
    let above = line
        .windows(2)
        .filter(|pair| of(pair[0].1) > 4.0 && of(pair[1].1) > 4.0);
    let share = above.map(|pair| pair[1].0 - pair[0].0).sum::<f64>() / width;
    ensure((0.08..0.6).contains(&share), || {
        format!("for {share} of the time")
    })
}

fn processors() -> Check {
    let dir = program()?;
    let run = Run::new(&tools()?.instr).args(["run", "-q", "./app"]);
    run.dir(dir.path()).succeed()?;
    let shown = Run::new(&tools()?.instr)
        .args(["processors", "--json", "app"])
        .dir(dir.path())
        .succeed()?
        .text();
    if shown.contains("\"recorded\": \"sums\"") {
        return Err(Stop::Skip(
            "context switches cannot be recorded here".into(),
        ));
    }
    let svg = String::from_utf8_lossy(&plot(&dir, &["app", "--kind", "cores"])?).into_owned();
    ensure(
        svg.contains("\nCPU 0\n") && svg.contains("\napp\n") && svg.contains("in use"),
        || svg.clone(),
    )
}

/// Without a home, fonts or their configuration; the same bytes at another time.
fn bare() -> Check {
    let dir = program()?;
    Run::new(dir.path().join("app")).dir(dir.path()).succeed()?;
    for kind in ["gantt", "memory", "efficiency", "histogram"] {
        for (format, magic) in [("png", &b"\x89PNG"[..]), ("pdf", b"%PDF"), ("svg", b"<svg")] {
            let words = ["app", "--kind", kind, "--format", format, "--dpi", "72"];
            let made = plot(&dir, &words)?;
            ensure(made.starts_with(magic), || {
                format!("{kind} as {format}: {} bytes", made.len())
            })?;
            let run =
                Run::words(["env", "-i", "FONTCONFIG_FILE=/nonexistent"]).arg(&tools()?.instr);
            let bare = run
                .arg("plot")
                .args(words)
                .args(["-o", "-"])
                .dir(dir.path())
                .succeed()?;
            ensure(bare.stdout == made, || {
                format!("{kind} as {format} depends on the environment")
            })?;
        }
    }
    Ok(())
}
