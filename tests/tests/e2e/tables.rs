//! `instr export --format parquet` and `arrow`, `instr query`: other readers find in the files what `instr summary` counts; questions have the same answers by `instr query`,
//! by DuckDB, and by Python from what babeltrace2 prints.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::python::needs;

/// Programs of `tests/sources` that between them have every table but those of `work.c`.
const SOURCES: [&str; 5] = [
    "cancel",
    "fork_inside_region",
    "locks",
    "task_depend",
    "taskloop",
];

pub(crate) fn trials() -> Vec<Trial> {
    let of = |name: &'static str| {
        trial(format!("tables::readers::{name}"), move || {
            readers(name, Target::X86_64)
        })
    };
    let mut trials: Vec<Trial> = SOURCES.into_iter().map(of).collect();
    let sparc = |name: &'static str| {
        trial(format!("tables::readers::{name}::sparc"), move || {
            readers(name, Target::Sparc32)
        })
    };
    trials.push(sparc("task_depend"));
    for (name, target) in [("x86-64", Target::X86_64), ("sparc", Target::Sparc32)] {
        trials.push(trial(format!("tables::questions::{name}"), move || {
            questions(target)
        }));
    }
    trials.push(trial("tables::requests-in-vain", requests_in_vain));
    trials.push(trial("tables::lines-typed-ahead", typed_ahead));
    trials.push(trial("tables::cluster::dask", || {
        cluster("dask", "profile_dask.py")
    }));
    if cases::all() {
        trials.push(trial("tables::cluster::spark", || {
            cluster("pyspark", "profile_spark.py")
        }));
    }
    trials
}

/// A program that ran, and its trace.
struct Ran {
    dir: TempDir,
    trace: PathBuf,
}

impl Ran {
    fn new(source: &Path, target: Target, flags: &[&str]) -> Check<Self> {
        let dir = workspace::work_dir("tables")?;
        let (program, trace) = (dir.path().join("program"), dir.path().join("trace"));
        let mut build = Build::openmp(target).flag("-g");
        for flag in flags {
            build = build.flag(*flag);
        }
        build.traced(&[source], &program)?;
        let run = target.run(&program).env("INSTR_TRACE", &trace);
        run.env("OMP_NUM_THREADS", "3")
            .env("OMP_CANCELLATION", "true")
            .succeed()?;
        Ok(Self { dir, trace })
    }

    /// What `instr` writes with these words, into a file or folder of this name.
    fn write(&self, words: &[&str], name: &str) -> Check<PathBuf> {
        let to = self.dir.path().join(name);
        let run = Run::new(&tools()?.instr).args(words).arg(&self.trace);
        run.arg("-o").arg(&to).succeed()?;
        Ok(to)
    }

    fn summary(&self) -> Check<PathBuf> {
        let to = self.dir.path().join("summary.json");
        let run = Run::new(&tools()?.instr).args(["summary", "--json"]);
        std::fs::write(&to, run.arg(&self.trace).succeed()?.stdout)?;
        Ok(to)
    }
}

fn source(name: &str) -> Check<PathBuf> {
    Ok(workspace::root()?
        .join("tests/sources")
        .join(name)
        .join(format!("{name}.c")))
}

fn work(target: Target) -> Check<Ran> {
    let flags: &[&str] = &["--instr-memory"];
    Ran::new(
        &workspace::root()?.join("tests/tables/work.c"),
        target,
        flags,
    )
}

fn readers(name: &str, target: Target) -> Check {
    let python = needs("duckdb")?;
    let ran = Ran::new(&source(name)?, target, &[])?;
    let parquet = ran.write(&["export", "--format", "parquet"], "parquet")?;
    let arrow = ran.write(&["export", "--format", "arrow"], "arrow")?;
    let script = workspace::root()?.join("tests/tables/check.py");
    let found = Run::new(&python)
        .arg(script)
        .args([&parquet, &arrow])
        .arg(ran.summary()?)
        .succeed()?;
    ensure(found.text().contains(" spans, "), || format!("{found}"))
}

fn questions(target: Target) -> Check {
    need("babeltrace2")?;
    let python = needs("duckdb")?;
    let ran = work(target)?;
    let parquet = ran.write(&["export", "--format", "parquet"], "parquet")?;
    let script = workspace::root()?.join("tests/tables/questions.py");
    // Ticks are converted by babeltrace2 and by us in different ways.
    let exact = "0";
    let run = Run::new(&python).arg(script).arg(&tools()?.instr);
    let found = run.args([&ran.trace, &parquet]).arg(exact).succeed()?;
    ensure(found.text().contains(" numbers computed otherwise"), || {
        format!("{found}")
    })
}

/// Requests in vain have no bytes, however many were asked for: sums are of what was got.
fn requests_in_vain() -> Check {
    let source = workspace::root()?.join("tests/tables/refused.c");
    let ran = Ran::new(&source, Target::X86_64, &["--instr-memory"])?;
    let asked = "select sum(bytes), min(bytes), sum(case when refused then 1 else 0 end), \
                 sum(case when refused and bytes is not null then 1 else 0 end) from memory where (function = 'main' or refused) and call <> 'mmap'";
    let run = Run::new(&tools()?.instr).args(["query", "--format", "csv"]);
    let outcome = run.arg(&ran.trace).arg(asked).succeed()?;
    let (got, least, in_vain) = (1000 + 40 * 25 + 500 + 2000, 500, 5);
    let pages = "select call, bytes, freed_bytes, function from memory where call in ('mmap', 'munmap') and address is not null = (call = 'mmap')";
    let run = Run::new(&tools()?.instr).args(["query", "--format", "csv"]);
    let answer = run.arg(&ran.trace).arg(pages).succeed()?;
    let text = answer.text();
    let rows: Vec<&str> = text.lines().skip(1).collect();
    ensure(rows == ["mmap,8192,,main", "munmap,,8192,"], || {
        format!("{answer}")
    })?;
    // The current folder cannot be replaced.
    let place = workspace::work_dir("tables")?;
    for to in [".", "./", &place.path().display().to_string()] {
        let run = Run::new(&tools()?.instr).args(["export", "-f", "csv", "-o", to]);
        let refused = run.arg(&ran.trace).dir(place.path()).output()?;
        ensure(
            refused.errors().contains("it is the current folder"),
            || format!("{refused}"),
        )?;
    }
    let row = outcome.text().lines().nth(1).map(str::to_owned);
    ensure(row == Some(format!("{got},{least},{in_vain},0")), || {
        format!("{outcome}")
    })
}

/// Lines that arrive together, as pasted ones do, are statements as well.
fn typed_ahead() -> Check {
    need("script")?;
    let ran = Ran::new(&source("locks")?, Target::X86_64, &[])?;
    let typed = r"select 40 +\n 1 as one,\n 2 as two;\nselect 40 + 2 as more;\nselect 40 + 3 as last;\n.quit\n";
    let (instr, trace) = (tools()?.instr.display(), ran.trace.display());
    let line =
        format!("printf '{typed}' | timeout 60 script -qec '{instr} query {trace}' /dev/null");
    let run = Run::words(["sh", "-c", &line]).env("HOME", ran.dir.path());
    let outcome = run.succeed()?;
    let text = outcome.text();
    let lines = text.lines().map(str::trim);
    let answers: Vec<&str> = lines
        .filter(|line| ["41    2", "42", "43"].contains(line))
        .collect();
    ensure(answers.len() == 3, || format!("{outcome}"))
}

/// Two data sets, one of several processes.
fn cluster(package: &str, program: &str) -> Check {
    let python = needs(package)?;
    let forked = Ran::new(&source("fork_inside_region")?, Target::X86_64, &[])?;
    let tasks = work(Target::X86_64)?;
    let mut run = Run::new(&python).arg(workspace::root()?.join("examples/cluster").join(program));
    let mut summaries = Vec::new();
    for ran in [&forked, &tasks] {
        run = run.arg(ran.write(&["export", "--format", "parquet"], "parquet")?);
        summaries.push(ran.summary()?);
    }
    let profile = tasks.dir.path().join("profile.json");
    std::fs::write(&profile, run.succeed()?.stdout)?;
    let script = workspace::root()?.join("tests/tables/cluster.py");
    let found = Run::new(&python)
        .arg(script)
        .arg(&profile)
        .args(&summaries)
        .succeed()?;
    ensure(found.text().contains(" processes, "), || format!("{found}"))
}
