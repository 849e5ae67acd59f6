//! Empty parallel regions and tasks: plain, traced, and with a bare wrapper that only stores.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::run::{Bench, ensure_traced, output, timings};
use crate::stats::Series;
use crate::table::Row;

/// A C program built in three ways.
struct Variants {
    plain: PathBuf,
    bare: PathBuf,
    traced: PathBuf,
}

/// What to measure.
struct Subject {
    /// Name of the C program, without `.c`, and of the line that it prints.
    program: &'static str,
    name: &'static str,
    /// The file with the bare wrapper and the function that it wraps.
    bare: &'static str,
    wrapped: &'static str,
    what: &'static str,
    goal: f64,
    count: u32,
}

/// Added time of an empty parallel region on two threads.
pub(crate) fn measure_regions(bench: &Bench) -> Result<Vec<Row>> {
    measure(
        bench,
        &Subject {
            program: "regions",
            name: "region",
            bare: "bare_parallel.c",
            wrapped: "GOMP_parallel",
            what: "empty parallel region, 2 threads, added",
            goal: 100.0,
            count: bench.choose(2_000, 500),
        },
    )
}

/// Added time of a task with one inout dependence on one thread.
pub(crate) fn measure_tasks(bench: &Bench) -> Result<Vec<Row>> {
    measure(
        bench,
        &Subject {
            program: "tasks",
            name: "task",
            bare: "bare_task.c",
            wrapped: "GOMP_task",
            what: "task with one inout dependence, 1 thread, added",
            goal: 100.0,
            count: bench.choose(10_000, 1_000),
        },
    )
}

fn build(bench: &Bench, subject: &Subject) -> Result<Variants> {
    let source = bench.source(&format!("{}.c", subject.program));
    let flags = [
        "-O2",
        "-falign-functions=64",
        "-falign-loops=64",
        "-fopenmp",
    ];
    let variants = Variants {
        plain: bench.path(&format!("{}_plain", subject.program)),
        bare: bench.path(&format!("{}_bare", subject.program)),
        traced: bench.path(&format!("{}_traced", subject.program)),
    };
    output(
        Command::new("gcc")
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&variants.plain),
    )?;
    output(
        Command::new("gcc")
            .args(flags)
            .arg(&source)
            .arg(bench.source(subject.bare))
            .arg(format!("-Wl,--wrap={}", subject.wrapped))
            .arg("-o")
            .arg(&variants.bare),
    )?;
    output(
        bench
            .tool("instr-cc")
            .arg("gcc")
            .args(flags)
            .arg(&source)
            .arg("-o")
            .arg(&variants.traced),
    )?;
    Ok(variants)
}

/// Median and least time of one operation, in ns; `policy` when the program is traced. Threads stay on their cores and spin, so that waking them up, which takes
/// a hundred times as long as what is measured, does not hide it.
fn time(
    bench: &Bench,
    subject: &Subject,
    program: &Path,
    policy: Option<&str>,
) -> Result<(f64, f64)> {
    let trace = bench.fresh("openmp.instr")?;
    let text = output(
        Command::new(program)
            .arg(subject.count.to_string())
            .arg(bench.choose("151", "51"))
            .env("OMP_WAIT_POLICY", "active")
            .env("OMP_PROC_BIND", "true")
            .env("INSTR_TRACE", &trace)
            .env("INSTR_KEEP", "0")
            .env("INSTR_POLICY", policy.unwrap_or("ring")),
    )?
    .stdout;
    if policy.is_some() {
        ensure_traced(&trace)?;
    }
    timings(&text)
        .get(subject.name)
        .copied()
        .with_context(|| format!("{} printed no '{}'", subject.program, subject.name))
}

fn measure(bench: &Bench, subject: &Subject) -> Result<Vec<Row>> {
    let variants = build(bench, subject)?;
    let mut plain = Series::default();
    let (mut bare, mut ring, mut stream, mut spread) = (
        Series::default(),
        Series::default(),
        Series::default(),
        Series::default(),
    );
    let mut least = [f64::INFINITY; 3];
    for _ in 0..bench.choose(9, 2) {
        let first = time(bench, subject, &variants.plain, None)?;
        let with_bare = time(bench, subject, &variants.bare, None)?;
        let with_ring = time(bench, subject, &variants.traced, Some("ring"))?;
        let with_stream = time(bench, subject, &variants.traced, Some("stream"))?;
        let second = time(bench, subject, &variants.plain, None)?;
        let without = f64::midpoint(first.0, second.0);
        plain.push(without);
        bare.push(with_bare.0 - without);
        ring.push(with_ring.0 - without);
        stream.push(with_stream.0 - without);
        spread.push((first.0 - second.0).abs());
        for (least, value) in
            least
                .iter_mut()
                .zip([first.1.min(second.1), with_bare.1, with_ring.1])
        {
            *least = least.min(value);
        }
    }
    let _ = bench.fresh("openmp.instr")?;
    let note = format!(
        "plain {:.0} ns, bare wrapper {:+.0} ns, A/A ±{:.0} ns; of the least times {:+.0} ns, bare {:+.0} ns",
        plain.median(),
        bare.median(),
        spread.median(),
        least[2] - least[0],
        least[1] - least[0],
    );
    Ok(vec![
        Row::at_most(
            &format!("{} (ring)", subject.what),
            subject.goal,
            " ns",
            ring.median(),
            0,
            note,
        ),
        Row::info(
            &format!("{} (stream)", subject.what),
            format!("{:.0} ns", stream.median()),
            "written to a file".into(),
        ),
    ])
}
