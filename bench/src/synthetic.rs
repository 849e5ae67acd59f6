//! Traces that no program wrote.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use crate::run::{Bench, output};

/// Makes a trace of so many events; `kind` as `trace/examples/synth.rs` has it.
pub(crate) fn trace(bench: &Bench, kind: &str, events: u64, threads: u32) -> Result<PathBuf> {
    let trace = bench.fresh("synth.instr")?;
    output(
        Command::new(bench.bin.join("examples/synth"))
            .arg(&trace)
            .arg(kind)
            .arg(events.to_string())
            .arg(threads.to_string()),
    )?;
    Ok(trace)
}

/// A number of events for people; `quick`: they are thousands.
pub(crate) fn shown(bench: &Bench, count: u64) -> String {
    match bench.quick {
        true => format!("{} k", count / 1000),
        false => format!("{} M", count / 1_000_000),
    }
}
