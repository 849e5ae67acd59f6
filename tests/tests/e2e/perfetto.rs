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
    SOURCES.into_iter().map(of).collect()
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
