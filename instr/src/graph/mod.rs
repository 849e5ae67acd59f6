//! `instr graph`: the explicit tasks of a trace and their dependences.
//!
//! The trace is read once. A task is written when it ends and a dependence when it is found, so that memory grows with
//! the tasks that live at one time, not with the trace.

pub mod collect;
pub mod dot;
pub mod json;
#[cfg(test)]
mod tests;

use std::io::{self, Write};

use anyhow::Result;
use hashbrown::HashMap;
use instr_trace::depend::DependGraph;
use instr_trace::names::CodeRole;
use instr_trace::{Names, TaskId, Trace};

use crate::cli::{GraphFormat, GraphOptions};
use crate::console::Console;
use crate::output::write_to;
use crate::progress::Progress;
use crate::summary::model::Place;
use crate::symbols::{self, Symbols};

/// An explicit task. Times are ns since the trace's start; what the trace does not hold is [`None`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Creating thread and number there.
    pub id: TaskId,
    /// The body.
    pub place: Place,
    /// The explicit task that created it; none for tasks of an implicit task.
    pub parent: Option<TaskId>,
    /// Thread that ran it.
    pub thread: Option<u32>,
    /// Entry of the construct.
    pub created_ns: Option<u64>,
    /// Begin of the body.
    pub begin_ns: Option<u64>,
    /// End of the body.
    pub end_ns: Option<u64>,
    /// From begin to end without the tasks that ran inside.
    pub own_ns: Option<u64>,
    /// Whether it ran inside the construct that created it.
    pub undeferred: bool,
}

/// Takes a graph piece by piece.
pub trait GraphSink {
    /// A task, complete.
    ///
    /// # Errors
    ///
    /// Those of writing.
    fn node(&mut self, node: &Node) -> io::Result<()>;

    /// `to` depends on `from`. Either may be given as a node before or after.
    ///
    /// # Errors
    ///
    /// Those of writing.
    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()>;

    /// The end.
    ///
    /// # Errors
    ///
    /// Those of writing.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// Runs the command.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &GraphOptions, console: &mut Console<'_>) -> Result<()> {
    let trace = symbols::open_trace(&options.trace, console)?;
    let names = Symbols::new(trace.metadata(), &options.symbols);
    symbols::warn_of_losses(&trace, console);
    let mut progress = Progress::new("reading", console);
    write_to(&options.output, console, |out| {
        write_graph(
            &trace,
            &names,
            options.format,
            out,
            progress.by_time(trace.end_time()),
        )
    })?;
    drop(progress);
    names.report(console);
    Ok(())
}

/// Writes the graph of `trace`; `seen` is called with the time of each event.
///
/// # Errors
///
/// Stream files that cannot be read any more, and failures to write.
pub fn write_graph(
    trace: &Trace,
    names: &dyn Names,
    format: GraphFormat,
    out: &mut dyn Write,
    mut seen: impl FnMut(u64),
) -> Result<()> {
    let program = &trace.metadata().program;
    let mut sink: Box<dyn GraphSink + '_> = match format {
        GraphFormat::Dot => Box::new(dot::DotSink::new(program, out)?),
        GraphFormat::Json => Box::new(json::JsonSink::new(program, out)?),
    };
    let mut places = Places {
        names,
        known: HashMap::new(),
    };
    let mut tasks = collect::Tasks::default();
    let (mut dependences, mut edges) = (DependGraph::new(), Vec::new());
    let mut merge = trace.merge();
    while let Some(event) = merge.next()? {
        seen(event.time);
        tasks.event(&event, &mut places, &mut *sink)?;
        dependences.event(&event, |from, to| edges.push((from, to)));
        edges
            .drain(..)
            .try_for_each(|(from, to)| sink.edge(from, to))?;
    }
    tasks.finish(&mut places, &mut *sink)?;
    Ok(sink.finish()?)
}

/// The places of task bodies, each made once.
pub struct Places<'n> {
    names: &'n dyn Names,
    known: HashMap<u64, Place>,
}

impl Places<'_> {
    /// The place of the task body at `address` (0: unknown).
    pub fn get(&mut self, address: u64) -> &Place {
        self.known
            .entry(address)
            .or_insert_with(|| Place::of(self.names, Some(address), CodeRole::Task))
    }
}
