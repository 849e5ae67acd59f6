//! The graph of the tasks, as `instr graph` draws it: every task while they are few, else a box for all tasks of a function in some levels.

use anyhow::Result;
use instr_trace::Session;

use super::picture::Picture;
use crate::cli::{GraphFormat, PlotOptions};
use crate::console::{Console, WrongUsage};
use crate::graph::{Form, write_graph};
use crate::progress::Progress;
use crate::symbols::Symbols;

/// Draws the tasks of one process.
pub(super) fn draw(
    session: &Session,
    options: &PlotOptions,
    console: &mut Console<'_>,
) -> Result<Picture> {
    let traces = session.traces();
    let [trace] = traces else {
        let with_tasks = traces.iter().filter(|trace| trace.has_tasks());
        let names: Vec<_> = with_tasks
            .map(|trace| trace.dir().display().to_string())
            .take(8)
            .collect();
        let why = format!(
            "a task graph is of one process\n  help: name its trace: {}",
            names.join(", ")
        );
        return Err(WrongUsage(why).into());
    };
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
    // What is left out is said in the picture; its advice is that of another command.
    if let Some(first) = note.as_deref().and_then(|note| note.lines().next()) {
        console.note(first);
    }
    Ok(Picture::of_svg(
        &String::from_utf8_lossy(&svg),
        options.size,
    ))
}
