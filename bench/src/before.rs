//! This runtime against an older one (`--before`), in turn in one run: plain – before – after – plain. `scripts/bench-before.sh` builds the older one.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::programs;
use crate::recorded;
use crate::report::Report;
use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::Row;

/// What each program is compiled with.
const FLAGS: [&str; 6] = [
    "-std=gnu11",
    "-O2",
    "-falign-functions=64",
    "-falign-loops=64",
    "-fopenmp",
    "-pthread",
];

/// A program that prints the time of an operation.
struct Construct {
    /// Name of the source, and of the line.
    program: &'static str,
    line: &'static str,
    what: &'static str,
    /// Operations of a block, also of a short run.
    operations: [u32; 2],
}

const CONSTRUCTS: [Construct; 4] = [
    Construct {
        program: "events",
        line: "event",
        what: "user event",
        operations: [250_000, 100_000],
    },
    Construct {
        program: "regions",
        line: "region",
        what: "empty parallel region, 2 threads",
        operations: [2_000, 500],
    },
    Construct {
        program: "tasks",
        line: "task",
        what: "task with one inout dependence, 1 thread",
        operations: [10_000, 1_000],
    },
    Construct {
        program: "threads",
        line: "thread",
        what: "thread made and joined, with one event",
        operations: [100, 50],
    },
];

/// Programs that print their time: source, arguments, those of a short run.
const PROGRAMS: [(&str, &str, [&str; 2], [&str; 2]); 3] = [
    ("fib", "fib, fine", ["37", "12"], ["30", "12"]),
    ("nqueens", "n-queens", ["14", "6"], ["11", "4"]),
    (
        "sort",
        "merge sort",
        ["6000000", "1000"],
        ["300000", "1000"],
    ),
];

/// The same program without a runtime, with the older one, with this one.
struct Builds([PathBuf; 3]);

/// All of them; nothing without an older runtime.
pub(crate) fn measure(bench: &Bench, report: &mut Report) -> Result<()> {
    let Some(before) = &bench.before else {
        return Ok(());
    };
    for construct in &CONSTRUCTS {
        eprintln!("bench: before: {}", construct.what);
        let builds = Builds::of(bench, before, &format!("{}.c", construct.program))?;
        for policy in ["ring", "stream"] {
            report.rows.push(construct.row(bench, &builds, policy)?);
        }
    }
    for (name, what, arguments, quick) in PROGRAMS {
        eprintln!("bench: before: {what}");
        let builds = Builds::of(bench, before, &format!("programs/{name}.c"))?;
        let arguments = bench.choose(arguments, quick);
        report
            .rows
            .extend(of_program(bench, &builds, what, &arguments)?);
    }
    Ok(())
}

impl Builds {
    fn of(bench: &Bench, before: &Path, source: &str) -> Result<Self> {
        let source = bench.source(source);
        let name = source.file_stem().context("a source without a name")?;
        let build = |kind: &str, tool: Option<&Path>| -> Result<PathBuf> {
            let program = bench.path(&format!("{}_{kind}", name.to_string_lossy()));
            let mut command = match tool {
                Some(folder) => {
                    let mut command = Command::new(folder.join("instr-cc"));
                    command.arg("gcc");
                    command
                }
                None => Command::new("gcc"),
            };
            command
                .args(FLAGS)
                .arg("-I")
                .arg(bench.root.join("runtime/include"));
            output(command.arg(&source).arg("-o").arg(&program))?;
            Ok(program)
        };
        Ok(Self([
            build("plain", None)?,
            build("before", Some(before))?,
            build("after", Some(&bench.bin))?,
        ]))
    }

    /// Times of both, and of the plain program, in turn: `time` runs one.
    fn in_turn(
        &self,
        rounds: usize,
        mut time: impl FnMut(&Path, bool) -> Result<f64>,
    ) -> Result<[Series; 4]> {
        let mut found = [(); 4].map(|()| Series::default());
        let Self([plain, before, after]) = self;
        for round in 0..rounds {
            let first = time(plain, false)?;
            // Whoever comes first may find the machine in another state.
            let mut traced = [0.0; 2];
            for at in [round % 2, 1 - round % 2] {
                traced[at] = time([before, after][at], true)?;
            }
            let second = time(plain, false)?;
            let [plain, before, after, apart] = &mut found;
            plain.push(f64::midpoint(first, second));
            before.push(traced[0]);
            after.push(traced[1]);
            apart.push((first - second).abs());
        }
        Ok(found)
    }
}

impl Construct {
    /// What an operation takes with each runtime more than without, ns.
    fn row(&self, bench: &Bench, builds: &Builds, policy: &str) -> Result<Row> {
        let [long, short] = self.operations;
        let operations = bench.choose(long, short).to_string();
        let time = |program: &Path, is_traced: bool| {
            let trace = bench.fresh("before.instr")?;
            let mut command = Command::new(program);
            command
                .args([operations.as_str(), bench.choose("151", "51")])
                .envs(SETTINGS)
                .env("INSTR_TRACE", &trace)
                .env("INSTR_POLICY", policy);
            let text = output(&mut command)?.stdout;
            if is_traced {
                ensure_traced(&trace)?;
            }
            let times = timings(&text);
            let (median, _) = times
                .get(self.line)
                .with_context(|| format!("{} printed no '{}'", self.program, self.line))?;
            Ok(*median)
        };
        let found = builds.in_turn(bench.choose(9, 2), time)?;
        let [plain, before, after, apart] = found.map(|series| series.median());
        let _ = bench.fresh("before.instr")?;
        Ok(Row::info(
            &format!("{}, added, {policy}: before, after", self.what),
            format!("{:.1}, {:.1} ns", before - plain, after - plain),
            format!("plain {plain:.1} ns, A/A ±{apart:.1} ns"),
        ))
    }
}

/// Threads stay on their processors and spin, so that waking them up does not hide what is measured.
const SETTINGS: [(&str, &str); 4] = [
    ("OMP_WAIT_POLICY", "active"),
    ("OMP_PROC_BIND", "true"),
    ("OMP_NUM_THREADS", "2"),
    ("INSTR_KEEP", "0"),
];

/// Run time and bytes of an event.
fn of_program(bench: &Bench, builds: &Builds, what: &str, arguments: &[&str]) -> Result<[Row; 2]> {
    let trace = bench.path("before.instr");
    let mut bytes: Vec<(PathBuf, f64)> = Vec::new();
    let time = |program: &Path, is_traced: bool| {
        let _ = bench.fresh("before.instr")?;
        let mut command = Command::new(program);
        let (_, threads) = SETTINGS[2];
        command
            .args(arguments)
            .env("OMP_NUM_THREADS", threads)
            .env("OMP_PROC_BIND", "true")
            .env("INSTR_TRACE", &trace);
        let text = output(&mut command)?.stdout;
        if is_traced && bytes.iter().all(|(other, _)| other != program) {
            let recorded = recorded::count(&trace)?.context("the program left no trace")?;
            ensure!(recorded.events > 0, "the trace has no event");
            let each = recorded.bytes as f64 / recorded.events as f64;
            bytes.push((program.to_owned(), each));
        }
        programs::number(&text, "time:").context("the program printed no time")
    };
    let found = builds.in_turn(bench.choose(9, 2), time)?;
    let [plain, before, after, apart] = found.map(|series| series.median());
    let _ = bench.fresh("before.instr")?;
    let each = |program: &Path| {
        let found = bytes.iter().find(|(other, _)| other == program);
        found.map_or(f64::NAN, |(_, bytes)| *bytes)
    };
    let Builds([_, old, new]) = builds;
    Ok([
        Row::info(
            &format!("{what}, run time ÷ plain: before, after"),
            format!("{:.3}×, {:.3}×", before / plain, after / plain),
            format!("plain {plain:.3} s, A/A ±{:.1} %", 100.0 * apart / plain),
        ),
        Row::info(
            &format!("{what}, bytes of an event: before, after"),
            format!("{:.1}, {:.1}", each(old), each(new)),
            "packet headers included".into(),
        ),
    ])
}
