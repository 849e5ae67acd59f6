//! Whether `instr diff` finds 5 % on this machine, and nothing where there is nothing: trials of ten runs of each build, made in turn, in `make test-all`. The programs are
//! [planted.c](../../diff/planted.c), in which one region is longer, and `examples/sparselu`, in which one of four kernels is
//! ([slower.c](../../diff/slower.c)).

use std::path::{Path, PathBuf};

use instr_test_needs::say;
use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, measuring};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::diff::diff;

pub(crate) fn trials() -> Vec<Trial> {
    if !cases::all() {
        return Vec::new();
    }
    let of = |program: Program| {
        let name = program.name();
        [
            measuring(
                format!("diff::five-percent-on-this-machine::{name}"),
                move || on_this_machine(program, 5),
            ),
            measuring(
                format!("diff::nothing-where-there-is-nothing::{name}"),
                move || on_this_machine(program, 0),
            ),
        ]
    };
    [Program::Planted, Program::SparseLu]
        .into_iter()
        .flat_map(of)
        .collect()
}

/// Runs of each program in a trial, and trials (`INSTR_TEST_DIFF_TRIALS`).
const RUNS: usize = 10;
const TRIALS: usize = 20;

/// A program that has something slower.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Program {
    Planted,
    SparseLu,
}

impl Program {
    fn name(self) -> &'static str {
        match self {
            Self::Planted => "planted",
            Self::SparseLu => "sparselu",
        }
    }

    /// A build in which one part takes so many per cent longer.
    fn build(self, dir: &Path, name: &str, extra: u32) -> Check<PathBuf> {
        let (root, program) = (workspace::root()?, dir.join(name));
        let sources = match self {
            Self::Planted => vec![root.join("tests/diff/planted.c")],
            Self::SparseLu => {
                let example = [
                    "program.c",
                    "matrix.c",
                    "sparselu_count.c",
                    "sparselu_task.c",
                ];
                let example = example.map(|file| root.join("examples/sparselu").join(file));
                let kernels = root.join("tests/diff/slower.c");
                example.into_iter().chain([kernels]).collect()
            }
        };
        let include = format!("-I{}", root.join("examples/sparselu").display());
        let build = Build::openmp(Target::X86_64).flag("-O2").flag("-g");
        // Both builds have the same code; a loop that lies across two lines of the cache would be slower than what is planted.
        let build = build
            .flag("-falign-functions=64")
            .flag("-falign-loops=64")
            .flag(include)
            .flag(format!("-DEXTRA={extra}"))
            .flag("-lm");
        let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
        build.traced(&sources, &program)?;
        Ok(program)
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Planted => &[],
            Self::SparseLu => &["20", "40"],
        }
    }

    /// What a row is about, by its kind and label.
    fn part(self, kind: &str, label: &str) -> Check<Part> {
        Ok(match (self, kind) {
            (Self::Planted, "region" | "implicit_task") => match label.starts_with("second") {
                true => Part::Slower,
                false => Part::Other,
            },
            (Self::SparseLu, "task") => match label == inner_task()? {
                true => Part::Slower,
                false => Part::Other,
            },
            // The run and its regions have the slower part in them; who waits may wait for it.
            _ => Part::Around,
        })
    }
}

/// Where the slower code is, beside a row of the comparison.
enum Part {
    /// It is the row's own.
    Slower,
    /// The row has it in it.
    Around,
    /// Elsewhere.
    Other,
}

/// The label of the tasks that update inner blocks.
fn inner_task() -> Check<String> {
    let source = workspace::root()?.join("examples/sparselu/sparselu_task.c");
    let text = std::fs::read_to_string(source)?;
    let line = text
        .lines()
        .position(|line| line.contains("inout : inner[0]"));
    let line = line.ok_or("no task that updates inner blocks")? + 1;
    Ok(format!("create_step [omp task sparselu_task.c:{line}]"))
}

/// Makes runs of two builds in turn, whatever else the machine does, and asks for the difference.
fn on_this_machine(program: Program, extra: u32) -> Check {
    let dir = workspace::work_dir("diff")?;
    let programs = [
        program.build(dir.path(), "before", 0)?,
        program.build(dir.path(), "after", extra)?,
    ];
    let trials = std::env::var("INSTR_TEST_DIFF_TRIALS").ok();
    let trials = trials.and_then(|text| text.parse().ok()).unwrap_or(TRIALS);
    let (mut found, mut wrong) = (0, Vec::new());
    for number in 0..trials {
        let folder = dir.path().join(format!("trial{number}"));
        let sides = ["before", "after"].map(|name| folder.join(name));
        for run in 0..2 * RUNS {
            let side = usize::from(matches!(run % 4, 1 | 2));
            let trace = sides[side].join(format!("{run}.instr"));
            let run = Run::new(&programs[side]).env("INSTR_TRACE", &trace);
            // Threads that spin keep the processor from the one they wait for, where there are others.
            run.args(program.arguments())
                .env("OMP_NUM_THREADS", "2")
                .env("OMP_WAIT_POLICY", "passive")
                .succeed()?;
        }
        let result = diff(&[&sides[0], &sides[1]])?;
        let mut is_found = false;
        for row in result["rows"].as_array().into_iter().flatten() {
            let text = |name: &str| row[name].as_str().unwrap_or_default();
            let (kind, label, verdict) = (text("kind"), text("label"), text("verdict"));
            match (verdict, program.part(kind, label)?) {
                ("slower", Part::Slower) if extra > 0 => is_found = true,
                ("slower", Part::Around) if extra > 0 => {}
                ("slower" | "faster", _) => wrong.push(format!("trial {number}: {label}")),
                _ => {}
            }
        }
        found += usize::from(is_found);
        std::fs::remove_dir_all(&folder)?;
    }
    // By the level, one trial of a hundred may be wrong; two of twenty are by chance in one of sixty such tests.
    let (most, least) = (
        trials.div_ceil(20),
        if extra > 0 { trials * 19 / 20 } else { 0 },
    );
    let told = format!("{found} of {trials} trials found what is slower; wrong: {wrong:?}");
    say(&format!(
        "diff: {}: {extra} % planted: {told}",
        program.name()
    ));
    ensure(found >= least && wrong.len() <= most, || told)
}
