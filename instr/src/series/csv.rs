//! Every value of every series, as comma-separated values.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, anyhow};
use instr_trace::kernel::series::{Definition, Events, Scope, What};

use crate::processors::csv::quoted;

const HEADER: &str = "time_ns,module,series,scope,pid,number,unit,value,estimated";

/// Writes a line for each value of a trace. Times are ns since `begin`, by the monotonic clock.
///
/// # Errors
///
/// A trace without series, and what `out` refuses.
pub(crate) fn write(trace: &Path, begin: u64, out: &mut dyn Write) -> Result<()> {
    let Some(mut events) = Events::of_trace(trace)? else {
        return Err(anyhow!("{} has no series", trace.display()));
    };
    let mut known: Vec<Definition> = Vec::new();
    writeln!(out, "{HEADER}")?;
    while let Some(event) = events.next()? {
        let (series, value, estimated) = match event.what {
            What::Series(_, definition) => {
                known.push(definition);
                continue;
            }
            What::Value(series, value) => (series, value, 0),
            What::Estimate { series, value, .. } => (series, value, 1),
            What::Refused(..) | What::Readings { .. } => continue,
        };
        let Some(of) = usize::try_from(series).ok().and_then(|at| known.get(at)) else {
            continue;
        };
        let number = match of.scope {
            Scope::Node | Scope::Processor | Scope::Thread => of.number.to_string(),
            Scope::Machine | Scope::Tree | Scope::Process => String::new(),
        };
        let pid = match of.pid {
            0 => String::new(),
            pid => pid.to_string(),
        };
        writeln!(
            out,
            "{},{},{},{},{pid},{number},{},{value},{estimated}",
            i128::from(event.time) - i128::from(begin),
            of.module.word(),
            quoted(&of.name),
            of.scope.word(),
            of.unit.sign(),
        )?;
    }
    match events.is_damaged() {
        true => Err(anyhow!(
            "the series of {} are damaged or cut",
            trace.display()
        )),
        false => Ok(()),
    }
}
