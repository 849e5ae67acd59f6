//! The graph of the tasks, as `instr graph` draws it: every task while they are few, else a box for all tasks of a function in some levels.

use anyhow::Result;
use instr_trace::{Session, Trace};

use super::picture::Picture;
use crate::cli::{GraphFormat, PlotOptions};
use crate::console::{Console, WrongUsage};
use crate::graph::{Form, write_graph};
use crate::progress::Progress;
use crate::symbols::Symbols;

/// Traces that are named in a message.
const MOST_NAMES: usize = 8;

/// The process whose tasks are drawn, and those that have tasks, too: of one trace that is named its own process, else the only one that has tasks.
fn chosen<'s>(session: &'s Session, options: &PlotOptions) -> Result<(&'s Trace, Vec<String>)> {
    let traces = session.traces();
    let (with, names): (Vec<&Trace>, Vec<String>) = traces
        .iter()
        .filter(|trace| trace.has_tasks())
        .map(|trace| (trace, trace.dir().display().to_string()))
        .unzip();
    match (with.as_slice(), traces) {
        ([], [trace, ..]) => Ok((trace, Vec::new())),
        ([trace], _) => Ok((trace, Vec::new())),
        ([own, ..], [first, ..]) if options.traces.len() == 1 && own.dir() == first.dir() => {
            Ok((own, names[1..].to_vec()))
        }
        _ => {
            let names: Vec<_> = names.into_iter().take(MOST_NAMES).collect();
            let why = format!(
                "a task graph is of one process\n  help: name its trace: {}",
                names.join(", ")
            );
            Err(WrongUsage(why).into())
        }
    }
}

/// Draws the tasks of one process.
pub(super) fn draw(
    session: &Session,
    options: &PlotOptions,
    console: &mut Console<'_>,
) -> Result<Picture> {
    let (trace, others) = chosen(session, options)?;
    if !trace.has_tasks() {
        let help = "only explicit tasks of OpenMP (task, taskloop, target nowait) have a graph";
        return Err(super::lacks("tasks", help));
    }
    let names = Symbols::of(trace, &options.symbols);
    let form = Form {
        format: Some(GraphFormat::Svg),
        all_tasks: false,
    };
    let mut svg = Vec::new();
    let mut progress = Progress::new("reading", console);
    let (_, note) = write_graph(
        trace,
        &names,
        form,
        &mut svg,
        progress.by_time(trace.end_time()),
    )?;
    drop(progress);
    crate::symbols::warn_of_unreadable(trace, console);
    names.report(console);
    if !others.is_empty() {
        let named: Vec<_> = others.iter().take(MOST_NAMES).cloned().collect();
        console.note(&format!(
            "the picture is of {}; other processes have tasks, too: {}",
            trace.dir().display(),
            named.join(", ")
        ));
    }
    // What is left out is said in the picture; its advice is that of another command.
    if let Some(first) = note.as_deref().and_then(|note| note.lines().next()) {
        console.note(first);
    }
    Ok(Picture::of_svg(
        &String::from_utf8_lossy(&svg),
        options.size,
    ))
}
