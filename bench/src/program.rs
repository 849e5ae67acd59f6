//! Run time of sparselu, traced and plain, and the bytes its events take.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::run::{Bench, ensure_traced, folder_bytes, output};
use crate::stats::Compared;
use crate::table::Row;

/// Another alignment of the inner loop changes the run time by half; see `bench/README.md`.
const FLAGS: &str = "-O2 -g -falign-functions=64 -falign-loops=64";

/// Both versions of sparselu.
pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let (plain, traced) = (
        bench.fresh("sparselu_plain")?,
        bench.fresh("sparselu_traced")?,
    );
    bench.make_example(
        "sparselu",
        &[
            ("BUILD", plain.as_os_str()),
            ("CFLAGS", OsStr::new(FLAGS)),
            ("CC", OsStr::new("gcc")),
        ],
    )?;
    let mut compiler = bench.bin.join("instr-cc").into_os_string();
    compiler.push(" gcc");
    bench.make_example(
        "sparselu",
        &[
            ("BUILD", traced.as_os_str()),
            ("CFLAGS", OsStr::new(FLAGS)),
            ("CC", &compiler),
        ],
    )?;

    let mut rows = Vec::new();
    for version in ["sparselu_for", "sparselu_task"] {
        let trace = bench.path("sparselu.instr");
        let compared = Compared::measure(
            bench.choose(21, 2),
            || seconds(bench, &plain.join(version), None),
            || seconds(bench, &traced.join(version), Some(&trace)),
        )?;
        rows.push(Row::at_most(
            &format!("{version}, added run time"),
            1.0,
            " %",
            (compared.ratio() - 1.0) * 100.0,
            2,
            format!(
                "plain {:.3} s, A/A {:+.2} %; of the least times {:+.2} %",
                compared.plain.median(),
                (compared.spread() - 1.0) * 100.0,
                (compared.best_ratio() - 1.0) * 100.0,
            ),
        ));
        let (bytes, events) = (folder_bytes(&trace)?, events(bench, &trace)?);
        rows.push(Row::info(
            &format!("{version}, bytes per event"),
            format!("{:.1} B", bytes as f64 / events as f64),
            format!("{events} events, {bytes} bytes with metadata"),
        ));
    }
    Ok(rows)
}

/// The time of the factorization, as the program prints it; `trace` when it is traced.
fn seconds(bench: &Bench, program: &Path, trace: Option<&Path>) -> Result<f64> {
    let mut command = Command::new(program);
    command
        .arg(bench.choose("40", "12"))
        .env("OMP_NUM_THREADS", "2");
    if let Some(trace) = trace {
        if trace.exists() {
            std::fs::remove_dir_all(trace)?;
        }
        command.env("INSTR_TRACE", trace);
    }
    let text = output(&mut command)?.stderr;
    trace.map_or(Ok(()), ensure_traced)?;
    text.lines()
        .find_map(|line| line.strip_prefix("time: ")?.split(' ').next()?.parse().ok())
        .with_context(|| format!("{} printed no time", program.display()))
}

fn events(bench: &Bench, trace: &Path) -> Result<u64> {
    let text = output(bench.tool("instr").args(["summary", "--json"]).arg(trace))?.stdout;
    let summary: Value =
        serde_json::from_str(&text).context("instr summary --json did not print JSON")?;
    let threads = summary["threads"]
        .as_array()
        .context("the summary holds no threads")?;
    Ok(threads
        .iter()
        .filter_map(|thread| thread["events"].as_u64())
        .sum())
}
