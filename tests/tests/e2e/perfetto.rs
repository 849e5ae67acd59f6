//! `instr export --format perfetto`: Perfetto's own classes read the file, and what it holds is what `instr summary` counts.

use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

/// Programs of `tests/sources` that between them have every kind of slice, flow, instant and counter.
const SOURCES: [&str; 9] = [
    "cancel",
    "fork_inside_region",
    "locks",
    "memory",
    "sections",
    "task_depend",
    "task_nested",
    "taskloop",
    "user_events",
];

pub(crate) fn trials() -> Vec<Trial> {
    let of = |name: &'static str| trial(format!("perfetto::{name}"), move || program(name));
    let mut trials: Vec<Trial> = SOURCES.into_iter().map(of).collect();
    trials.push(trial("perfetto::processors", processors));
    trials
}

/// The Python that has Perfetto's classes.
pub(crate) fn python() -> Check<PathBuf> {
    let profile = workspace::profile_dir()?;
    let target = profile.parent().unwrap_or(&profile);
    let python = target.join("python/bin/python3");
    let why = "the Python package perfetto is not installed (scripts/setup.sh)";
    if !python.is_file() {
        return Err(Stop::Skip(why.into()));
    }
    Ok(python)
}

fn program(name: &str) -> Check {
    let python = python()?;
    let dir = workspace::work_dir("perfetto")?;
    let [program, trace, file, summary] =
        ["program", "trace", "out.perfetto-trace", "summary.json"]
            .map(|name| dir.path().join(name));
    let root = workspace::root()?;
    let source = root
        .join("tests/sources")
        .join(name)
        .join(format!("{name}.c"));
    let mut build = Build::openmp(Target::X86_64);
    if name == "memory" {
        build = build.flag("--instr-memory");
    }
    build.traced(&[&source], &program)?;
    let run = Target::X86_64.run(&program).env("INSTR_TRACE", &trace);
    run.env("OMP_NUM_THREADS", "3")
        .env("OMP_CANCELLATION", "true")
        .succeed()?;
    let instr = |arguments: &[&Path]| Run::new(&tools()?.instr).args(arguments).succeed();
    instr(&["export".as_ref(), &trace, "-o".as_ref(), &file])?;
    let json = instr(&["summary".as_ref(), "--json".as_ref(), &trace])?;
    std::fs::write(&summary, json.stdout)?;
    let check = Run::new(&python).arg(root.join("tests/perfetto/check.py"));
    let found = check.arg(&file).arg(&summary).succeed()?;
    ensure(found.text().contains(" slices, "), || format!("{found}"))
}

/// The scheduler's events are the runs of `instr processors`: of a program with events of its own, of one without, and of what a shell starts.
fn processors() -> Check {
    let python = python()?;
    let dir = workspace::work_dir("perfetto")?;
    let instr = |words: &[&str]| -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(words);
        Ok(run.dir(dir.path()))
    };
    let source = dir.path().join("app.c");
    let text = "#include <unistd.h>\nint main(void) {\n#pragma omp parallel num_threads(3)\n    usleep(2000);\n    return 0;\n}\n";
    std::fs::write(&source, text)?;
    Build::openmp(Target::X86_64).traced(&[&source], &dir.path().join("app"))?;
    let check = workspace::root()?.join("tests/perfetto/processors.py");
    for (name, command) in [
        ("own", &["./app"] as &[&str]),
        ("none", &["sh", "-c", "for i in 1 2 3; do sleep 0.01; done"]),
        ("tree", &["sh", "-c", "./app & ./app; wait"]),
    ] {
        instr(&[&["run", "-o", name, "--"], command].concat())?.succeed()?;
        if !dir.path().join(name).join("kernel").is_dir() {
            return Err(Stop::Skip(
                "context switches cannot be recorded here".into(),
            ));
        }
        instr(&["export", name, "-o", "out.perfetto-trace"])?.succeed()?;
        instr(&["processors", name, "--csv", "runs.csv"])?.succeed()?;
        let json = instr(&["processors", name, "--json"])?.succeed()?;
        std::fs::write(dir.path().join("found.json"), &json.stdout)?;
        let run = Run::new(&python).arg(&check).dir(dir.path());
        let files = ["out.perfetto-trace", "runs.csv", "found.json"];
        let metadata = dir.path().join(name).join("kernel/metadata");
        let found = run.args(files).arg(&metadata).succeed()?;
        let text = found.text();
        ensure(text.contains(" runs on "), || format!("{found}"))?;
        // By eBPF, who sleeps is woken.
        let has_wakes = json.text().contains("\"recorder\": \"ebpf\"");
        let is_told = !text.contains(" 0 wake-ups");
        ensure(has_wakes == is_told, || format!("{found}\n{json}"))?;
    }
    Ok(())
}
