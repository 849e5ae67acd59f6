//! A trace in, its parallel regions out, one after the other: a sink of the interpreter.
//!
//! Each body that runs has a list of steps that grows with what it meets. When an outermost region ends, its bodies become a [`Region`], which is given to a
//! [`Receiver`], and is forgotten. So memory holds one region at a time, and [`MAX_TASKS`] and [`MAX_STEPS`] bound it.

mod bodies;
mod body;
mod constructs;
mod open;
mod sink;
mod survey;
mod times;

use instr_trace::model::At;
use instr_trace::tasks::{RegionRecord, TaskRecord, TaskSink, TaskStates};
use instr_trace::{TaskId, ThreadInfo};

use super::costs::{Off, Samples};
use super::model::{Region, Spots};
use body::Body;
use open::Open;
pub use survey::{Survey, Why};
use times::Times;

/// Most tasks of one region.
pub const MAX_TASKS: usize = 1 << 22;
/// Most steps of one region: a task has two or three.
pub const MAX_STEPS: usize = 1 << 25;
/// The share of waiting for a processor, of user code, from which on processors were contended.
const CONTENDED: f64 = 0.02;
/// Texts that are kept.
const MAX_TEXTS: usize = 1 << 16;

/// Takes regions.
pub trait Receiver {
    /// A region has ended.
    fn region(&mut self, region: Region, spots: &Spots);
}

/// Edges of the task graph as they are found.
#[derive(Debug, Default)]
struct Edges(Vec<(TaskId, TaskId)>);

impl TaskSink for Edges {
    fn edge(&mut self, from: TaskId, to: TaskId) {
        self.0.push((from, to));
    }

    /// In order of creation, as libgomp runs them.
    fn excludes(&mut self, before: TaskId, task: TaskId) {
        self.0.push((before, task));
    }

    fn task(&mut self, _task: &TaskRecord) {}

    fn region(&mut self, _region: RegionRecord) {}
}

/// A thread.
#[derive(Clone, Debug, Default)]
struct Line {
    body: u32,
    last: u64,
    useful: bool,
    /// It waits for a processor.
    ready: bool,
    /// It has no processor, and how long it had none.
    away: bool,
    off: Off,
    /// The same when the region began.
    off_before: Off,
    /// Since when it looks for a task, and `off` by then.
    free: (u64, Off),
    /// User code that belongs to no body of a region.
    elsewhere: u64,
    initial: bool,
}

/// Receives what an interpreter finds in one trace.
#[derive(Debug)]
pub struct Collector<R> {
    out: R,
    tasks: TaskStates<Edges>,
    lines: Vec<Line>,
    bodies: Vec<Option<Box<Body>>>,
    open: Option<Open>,
    spots: Spots,
    samples: Samples,
    times: Times,
    survey: Survey,
    /// Threads of most regions: others have as many as they had.
    usual: Option<usize>,
    span: Option<(u64, u64)>,
    now: u64,
    /// User code of regions.
    useful: u64,
}

/// The body of this number, if it is followed.
fn running(bodies: &mut [Option<Box<Body>>], number: u32) -> Option<&mut Box<Body>> {
    bodies.get_mut(number as usize)?.as_mut()
}

impl<R: Receiver> Collector<R> {
    /// For the threads of one trace, as [`instr_trace::Trace::threads`] gives them; `usual`: threads of a region that has as many as the program may use.
    pub fn new(threads: &[ThreadInfo], usual: Option<usize>, out: R) -> Self {
        let line = |info: &ThreadInfo| Line {
            initial: info.initial,
            body: u32::MAX,
            ..Line::default()
        };
        Self {
            out,
            tasks: TaskStates::new(threads, Edges::default()),
            lines: threads.iter().map(line).collect(),
            bodies: Vec::new(),
            open: None,
            spots: Spots::default(),
            samples: Samples::default(),
            times: Times::default(),
            survey: Survey::default(),
            usual,
            span: None,
            now: 0,
            useful: 0,
        }
    }

    /// What was found, once the interpreter has [finished](instr_trace::model::Interpreter::finish).
    pub fn finish(mut self) -> (R, Spots, Survey) {
        if let Some(open) = self.open.take() {
            let ns = self.now.saturating_sub(open.begin);
            self.survey.note(Why::Cut, ns);
            self.survey.in_regions += ns;
        }
        let (first, last) = self.span.unwrap_or((0, 0));
        self.survey.elapsed = last - first;
        self.survey.recorded_costs = self.samples.measures();
        // Where others used the processors, threads that were woken up did not run at once.
        self.survey.is_contended = self.survey.ready_inside as f64 > CONTENDED * self.useful as f64;
        self.survey.costs = match self.survey.is_contended {
            true => self.samples.on_processor(),
            false => self.samples.without_others(),
        };
        let others = self.lines.iter().filter(|line| !line.initial);
        self.survey.elsewhere = others.map(|line| line.elsewhere).sum();
        (self.out, self.spots, self.survey)
    }

    /// Adds the time since the thread's last change.
    #[inline]
    fn account(&mut self, at: At) {
        self.now = self.now.max(at.time);
        let Some(line) = self.lines.get_mut(at.position) else {
            return;
        };
        let passed = at.time.saturating_sub(line.last);
        line.last = line.last.max(at.time);
        if line.away {
            line.off.all += passed;
        }
        if line.ready {
            line.off.ready += passed;
        }
        if passed == 0 || !line.useful {
            return;
        }
        let body = running(&mut self.bodies, line.body);
        match body {
            Some(body) if line.ready => {
                self.survey.ready_inside += passed;
                body.waited += passed;
            }
            Some(body) => {
                body.work += passed;
                self.useful += passed;
            }
            None if self.open.is_none() && line.initial && line.ready => {
                self.survey.ready_outside += passed;
            }
            None => line.elsewhere += passed,
        }
    }

    /// The thread has nothing of its own to do any more.
    fn is_free(&mut self, at: At) {
        let line = &mut self.lines[at.position];
        line.free = (at.time, line.off);
    }

    fn body(&mut self, at: At) -> Option<&mut Box<Body>> {
        running(&mut self.bodies, at.body)
    }

    fn set_body(&mut self, number: u32, body: Body) {
        let number = number as usize;
        if number >= self.bodies.len() {
            self.bodies.resize_with(number + 1, || None);
        }
        self.bodies[number] = Some(Box::new(body));
    }
}
