//! The task graph as a picture: a box for each task while they are few, else one for all tasks of a function in a level.

mod groups;
mod lanes;
mod page;
mod tasks;

use std::io::{self, Write};

use instr_trace::TaskId;

use super::GraphSink;
use super::model::{Analysis, Node, Region};
use groups::Groups;
use lanes::Picture;
pub use page::{Colours, escaped};
use tasks::{Tasks, Way};

/// More tasks, or dependences, are drawn by level and function.
const MAX_TASKS: usize = 300;
const MAX_EDGES: usize = 2_000;
/// More dependences are not drawn where every task is.
const MAX_ALL_EDGES: usize = 200_000;

/// Keeps the tasks while they are few, and their groups.
pub struct SvgSink<'a> {
    program: String,
    out: &'a mut dyn Write,
    /// Every task is drawn.
    all: bool,
    tasks: Option<Tasks>,
    groups: Groups,
}

impl<'a> SvgSink<'a> {
    /// A picture titled `program`, with a box for each task if that is asked for by `all`; it is written at the end.
    pub fn new(program: &str, all: bool, out: &'a mut dyn Write) -> Self {
        Self {
            program: program.to_owned(),
            out,
            all,
            tasks: Some(Tasks::default()),
            groups: Groups::default(),
        }
    }
}

impl GraphSink for SvgSink<'_> {
    fn node(&mut self, node: &Node) -> io::Result<()> {
        if let Some(tasks) = &mut self.tasks {
            tasks.add(node);
        }
        let few = |tasks: &Tasks| self.all || tasks.len() <= MAX_TASKS;
        if !self.tasks.as_ref().is_some_and(few) {
            self.tasks = None;
        }
        if !self.all {
            self.groups.node(node);
        }
        Ok(())
    }

    fn edge(&mut self, from: TaskId, to: TaskId) -> io::Result<()> {
        if let Some(tasks) = &mut self.tasks {
            let most = if self.all { MAX_ALL_EDGES } else { MAX_EDGES };
            tasks.edge(from, to, most);
        }
        if !self.all {
            self.groups.edge(from, to);
        }
        Ok(())
    }

    fn region(&mut self, region: &Region) -> io::Result<()> {
        self.groups.region(Some(region));
        Ok(())
    }

    fn finish(mut self: Box<Self>, analysis: &Analysis) -> io::Result<Option<String>> {
        let fitting = |tasks: &Tasks| match tasks.fitting() {
            None if self.all => Some(Way::Across),
            way => way,
        };
        let tasks = self.tasks.take();
        let way = tasks.as_ref().and_then(fitting);
        if let (Some(tasks), Some(way)) = (tasks, way) {
            tasks.write(&self.program, analysis, way, self.out)?;
            let note = tasks.left_out();
            return Ok((!note.is_empty()).then(|| {
                format!("the picture is not complete: {note}\n  help: --format graphml and json hold all tasks and dependences")
            }));
        }
        self.groups.finish();
        let picture = Picture::new(&self.groups);
        let note = picture.note();
        picture.write(&self.program, analysis, &note, self.out)?;
        Ok(Some(format!(
            "the picture is a summary: {note}\n  help: --all-tasks draws every task; --format graphml and json hold all tasks and dependences"
        )))
    }
}
