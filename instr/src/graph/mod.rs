//! `instr graph`: the explicit tasks of a trace, their dependences, and what the graph says about the run.
//!
//! `docs/graph.md` has the definitions. The trace is read once. Edges are written as they are found, nodes when their region
//! has ended, for then their slack is known: memory grows with the largest region, and by 32 bytes for each task for the distributions
//! of their times.

pub mod collect;
pub mod dot;
pub mod graphml;
pub mod json;
pub mod model;
pub mod svg;
pub mod table;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use hashbrown::HashMap;
use instr_trace::model::Interpreter;
use instr_trace::names::CodeRole;
use instr_trace::tasks::{TaskKind, TaskRecord, TaskStates};
use instr_trace::{Names, TaskId, Trace};

use crate::cli::{GraphFormat, GraphOptions};
use crate::console::WrongUsage;
use crate::console::{Console, NO_OUTPUT};
use crate::output::write_to;
use crate::page::Page;
use crate::progress::Progress;
use crate::summary::counts::Code;
use crate::summary::model::Place;
use crate::symbols::{self, Symbols};
use collect::Collector;
use model::{Analysis, Node, Region};

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

    /// All tasks of a region have been given; those of no region come at the end.
    ///
    /// # Errors
    ///
    /// Those of writing.
    fn region(&mut self, _region: &Region) -> io::Result<()> {
        Ok(())
    }

    /// The end, and all numbers. What the user should know of the output comes back.
    ///
    /// # Errors
    ///
    /// Those of writing.
    fn finish(self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>>;
}

/// For the table alone.
struct Nothing;

impl GraphSink for Nothing {
    fn node(&mut self, _: &Node) -> io::Result<()> {
        Ok(())
    }

    fn edge(&mut self, _: TaskId, _: TaskId) -> io::Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, _: &Analysis) -> io::Result<Option<String>> {
        Ok(None)
    }
}

/// Runs the command: the graph to the output if a format is given, and the analysis as tables to the error stream; else the tables
/// to the output.
///
/// # Errors
///
/// Directories that hold no readable trace, and failures to write.
pub fn run(options: &GraphOptions, console: &mut Console<'_>) -> Result<()> {
    let form = Form::of(options)?;
    let trace = symbols::open_trace(&options.trace, console)?;
    let names = Symbols::of(&trace, &options.symbols);
    symbols::warn_of_losses(&trace, console);
    let mut progress = Progress::new("reading", console);
    let program = trace.metadata().program.clone();
    let (mut analysis, mut warning) = (None, None);
    let (width, colour) = (console.width, console.colour);
    let ascii = console.is_ascii() && options.output == Path::new("-");
    let tables = |analysis: &Analysis, out: &mut dyn Write| {
        let mut page = Page::new(out, width, table::MAX_ROWS, colour);
        page.ascii = ascii;
        table::write(&program, analysis, &mut page)
    };
    write_to(&options.output, console, |out| {
        let seen = progress.by_time(trace.end_time());
        let (done, note) = write_graph(&trace, &names, form, out, seen)?;
        if form.format.is_none() {
            tables(&done, out)?;
        }
        (analysis, warning) = (Some(done), note);
        Ok(())
    })?;
    drop(progress);
    symbols::warn_of_unreadable(&trace, console);
    names.report(console);
    if let Some(warning) = warning {
        console.warn(&warning);
    }
    if let Some(analysis) = analysis.filter(|_| form.format.is_some()) {
        let mut text = Vec::new();
        tables(&analysis, &mut text).context(NO_OUTPUT)?;
        // A closed error stream is no reason to fail: the graph is written.
        let _ = console.err.write_all(&text);
    }
    Ok(())
}

/// How the graph is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Form {
    /// None: only the tables.
    pub format: Option<GraphFormat>,
    /// A picture has a box for each task, however wide that is.
    pub all_tasks: bool,
}

impl Form {
    /// What the command line says: the format by its name, or by the ending of the file.
    ///
    /// # Errors
    ///
    /// A file whose ending is that of another format or of none, and `--all-tasks` without a picture.
    pub fn of(options: &GraphOptions) -> Result<Self> {
        let file = options.output.display();
        let ending = options
            .output
            .extension()
            .map(std::ffi::OsStr::to_string_lossy);
        let by_name = match ending.as_deref() {
            None => None,
            Some("dot" | "gv") => Some(GraphFormat::Dot),
            Some("graphml") => Some(GraphFormat::Graphml),
            Some("json") => Some(GraphFormat::Json),
            Some("svg") => Some(GraphFormat::Svg),
            Some("txt") => None,
            Some(other) if options.format.is_none() => {
                return Err(WrongUsage(format!(
                    "cannot tell the format of {file}: .{other} is none of .dot, .graphml, .json, .svg, .txt (tables)\n  \
                     help: name the format, as in --format svg"
                ))
                .into());
            }
            Some(_) => None,
        };
        if let (Some(named), Some(ending)) = (options.format, by_name)
            && named != ending
        {
            let (named, ending) = (named.name(), ending.name());
            return Err(WrongUsage(format!(
                "--format {named} and a file for {ending} contradict each other: {file}\n  \
                 help: leave --format out, or name the file NAME.{named}"
            ))
            .into());
        }
        let format = options.format.or(by_name);
        if options.all_tasks && format != Some(GraphFormat::Svg) {
            return Err(WrongUsage(
                "--all-tasks is for pictures: every other format has all tasks\n  \
                 help: write a picture, as in -o graph.svg --all-tasks"
                    .to_owned(),
            )
            .into());
        }
        Ok(Self {
            format,
            all_tasks: options.all_tasks,
        })
    }
}

/// Writes the graph of `trace`, if a format is given, and analyses it; `seen` is called with the time of each event.
///
/// # Errors
///
/// Stream files that cannot be read any more, and failures to write.
pub fn write_graph(
    trace: &Trace,
    names: &dyn Names,
    form: Form,
    out: &mut dyn Write,
    mut seen: impl FnMut(u64),
) -> Result<(Analysis, Option<String>)> {
    let program = &trace.metadata().program;
    let mut sink: Box<dyn GraphSink + '_> = match form.format {
        None => Box::new(Nothing),
        Some(GraphFormat::Dot) => Box::new(dot::DotSink::new(program, out)?),
        Some(GraphFormat::Graphml) => Box::new(graphml::GraphmlSink::new(program, out)?),
        Some(GraphFormat::Json) => Box::new(json::JsonSink::new(program, out)?),
        Some(GraphFormat::Svg) => Box::new(svg::SvgSink::new(program, form.all_tasks, out)),
    };
    let collector = Collector::new(Places::new(names), &mut *sink);
    let mut tasks = TaskStates::with_segments(trace.threads(), collector);
    let mut model = Interpreter::of(trace);
    let mut merge = trace.merge();
    while let Some(time) = merge.advance()? {
        seen(time);
        let position = merge.position().filter(|at| *at < trace.threads().len());
        if let (Some(position), Some(event)) = (position, &merge.current()) {
            model.event(position, event, &mut tasks);
        }
        tasks.out().check()?;
    }
    model.finish(&mut tasks);
    let analysis = tasks.finish().finish()?;
    let note = sink.finish(&analysis)?;
    Ok((analysis, note))
}

/// The places of bodies, each made once.
pub struct Places<'n> {
    names: &'n dyn Names,
    tasks: HashMap<(u64, bool, bool), Place>,
    regions: HashMap<(u64, bool), Place>,
    taskwait: Place,
}

impl<'n> Places<'n> {
    /// With names from `names`.
    pub fn new(names: &'n dyn Names) -> Self {
        Self {
            names,
            tasks: HashMap::new(),
            regions: HashMap::new(),
            taskwait: Place {
                label: "taskwait depend".to_owned(),
                ..Place::default()
            },
        }
    }

    /// The place of a task's body.
    pub fn task(&mut self, task: &TaskRecord) -> &Place {
        if collect::without_body(task) {
            return &self.taskwait;
        }
        let call_site = collect::call_site(task);
        let target = task.kind == TaskKind::Target;
        let role = if target {
            CodeRole::Target
        } else {
            CodeRole::Task
        };
        let code = Code::new(task.function, call_site);
        let place = || Place::of(self.names, Some(code), role);
        self.tasks
            .entry((task.function, call_site, target))
            .or_insert_with(place)
    }

    /// The place of a parallel region's body.
    pub fn region(&mut self, function: u64, call_site: bool) -> &Place {
        let code = Code::new(function, call_site);
        let place = || Place::of(self.names, Some(code), CodeRole::Parallel);
        self.regions
            .entry((function, call_site))
            .or_insert_with(place)
    }
}
