//! What a prediction is made from: a parallel region as lists of steps, one for each body.
//!
//! ```text
//! #pragma omp parallel          threads: [Own(work 3)] Barrier [Once(create 0, create 1)] Barrier
//! {                             tasks:   0: work 5   1: work 7, after 0
//!   work(3);
//!   #pragma omp barrier
//!   #pragma omp single
//!   { task out(x) work(5);  task in(x) work(7); }
//! }
//! ```
//!
//! Times are ns. What belongs together is kept in one array and named by ranges of it, so that a region with a million tasks is a few
//! large allocations.

use std::ops::Range;

use hashbrown::HashMap;
use instr_trace::event::MutexKind;
use instr_trace::model::Code;

/// Number of a [`Spot`] in [`Spots`].
pub type SpotId = u32;

/// The number of [`Spot::NoProcessor`].
pub(super) const NO_PROCESSOR: SpotId = 0;

/// Where user code runs: what can be made faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Spot {
    /// Outside of parallel regions.
    Serial,
    /// A region's own code, which each of its threads runs.
    Region(Code),
    /// A work-sharing loop, or `sections`: the number of the construct in its region, from 1.
    Loop(Code, u32),
    /// `single` and `masked` blocks of a region.
    Single(Code),
    /// An explicit task.
    Task(Code),
    /// A region of the program's own, by the address of its name.
    User(u64),
    /// None: a thread has work, and no processor. Only the run as it was recorded has this.
    NoProcessor,
}

/// Numbers for spots. [`Spot::NoProcessor`] always has the first, so that steps are known for waiting without a table.
#[derive(Clone, Debug)]
pub struct Spots {
    all: Vec<Spot>,
    numbers: HashMap<Spot, SpotId>,
}

impl Default for Spots {
    fn default() -> Self {
        Self {
            all: vec![Spot::NoProcessor],
            numbers: [(Spot::NoProcessor, NO_PROCESSOR)].into_iter().collect(),
        }
    }
}

impl Spots {
    /// The number of a spot, a new one if need be.
    pub fn number(&mut self, spot: Spot) -> SpotId {
        *self.numbers.entry(spot).or_insert_with(|| {
            self.all.push(spot);
            (self.all.len() - 1) as SpotId
        })
    }

    /// All of them, by number.
    #[must_use]
    pub fn all(&self) -> &[Spot] {
        &self.all
    }
}

/// A lock, as events name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Lock {
    /// Its kind.
    pub kind: MutexKind,
    /// Its address.
    pub object: u64,
}

/// A step of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// User code.
    Work {
        /// Where.
        spot: SpotId,
        /// How long, ns.
        ns: u64,
    },
    /// A task is created: an index into [`Region::tasks`].
    Create(u32),
    /// The pieces of a taskloop are created: an index into [`Region::taskloops`].
    Pieces(u32),
    /// `taskwait`.
    Taskwait,
    /// A taskgroup begins.
    GroupBegin,
    /// It ends, when its tasks are complete.
    GroupEnd,
    /// A lock is taken: an index into [`Region::locks`].
    Acquire(u32),
    /// It is given back.
    Release(u32),
}

impl Step {
    /// Whether it is no work, but waiting for a processor.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self, Self::Work { spot, .. } if *spot == NO_PROCESSOR)
    }
}

/// Steps: a range of [`Region::steps`].
pub type Steps = Range<u32>;

/// An explicit task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// What it does.
    pub steps: Steps,
    /// Tasks that it depends on.
    pub predecessors: u32,
    /// Tasks that depend on it: a range of [`Region::successors`].
    pub successors: Range<u32>,
    /// It runs where it is created, however many threads there are.
    pub undeferred: bool,
}

/// How the pieces of a work-sharing construct are handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// Each thread has its own: one block, or every P-th one of so many iterations.
    Static(Option<u64>),
    /// Whoever comes first has the next one.
    Dynamic,
    /// Likewise, and pieces get smaller, down to so many iterations.
    Guided(u64),
    /// One block for each thread, of iterations that are not known: no chunks can be made of them.
    Blocks,
    /// Sections: as dynamic, and they cannot be divided.
    Sections,
    /// Sections, of which the begins are not known: a piece for each thread, as with blocks.
    Unseen,
}

/// A piece of a construct: steps for so many iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What is done.
    pub steps: Steps,
    /// Its iterations, not 0; 1 for a section.
    pub iterations: u64,
}

/// What the team meets together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meeting {
    /// A barrier.
    Barrier,
    /// A loop or sections. Its barrier, if it has one, is the next meeting.
    Share {
        /// How it is divided.
        sharing: Sharing,
        /// Where its work is.
        spot: SpotId,
        /// In the order of their iterations.
        pieces: Vec<Piece>,
    },
}

/// A part of what a thread does between two meetings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Each thread does the like.
    Own(Steps),
    /// The threads divide it by their numbers.
    Divided(Steps),
    /// `single`: whoever comes first.
    Once(Steps),
    /// `masked`: thread 0.
    Masked(Steps),
}

/// What each recorded thread did before a meeting.
pub type Gap = Vec<Vec<Part>>;

/// An outermost parallel region.
#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Its body.
    pub code: Code,
    /// From entry to return as recorded, ns.
    pub elapsed: u64,
    /// Threads that it had.
    pub team: usize,
    /// It has as many threads whatever is asked for: others of the program had more.
    pub fixed: bool,
    /// Steps of all bodies.
    pub steps: Vec<Step>,
    /// Explicit tasks in the order of their creation.
    pub tasks: Vec<Task>,
    /// Successors of all tasks.
    pub successors: Vec<u32>,
    /// Tasks of each taskloop.
    pub taskloops: Vec<Vec<u32>>,
    /// Locks by their number in the region.
    pub locks: Vec<Lock>,
    /// Before each meeting, and before the end: one more than meetings.
    pub gaps: Vec<Gap>,
    /// What the team meets.
    pub meetings: Vec<Meeting>,
}

impl Region {
    /// Appends steps.
    pub fn add_steps(&mut self, steps: &[Step]) -> Steps {
        let begin = self.steps.len() as u32;
        self.steps.extend_from_slice(steps);
        begin..self.steps.len() as u32
    }

    /// The steps of a range.
    #[must_use]
    pub fn at(&self, steps: &Steps) -> &[Step] {
        &self.steps[steps.start as usize..steps.end as usize]
    }

    /// Sets [`Task::predecessors`] and [`Task::successors`] from pairs (before, after).
    pub fn depend(&mut self, edges: &mut Vec<(u32, u32)>) {
        edges.sort_unstable();
        edges.dedup();
        self.successors = edges.iter().map(|edge| edge.1).collect();
        let mut at = 0;
        for (number, task) in (0..).zip(&mut self.tasks) {
            let begin = at;
            while edges.get(at as usize).is_some_and(|edge| edge.0 == number) {
                at += 1;
            }
            task.successors = begin..at;
        }
        for (_, after) in edges.iter() {
            self.tasks[*after as usize].predecessors += 1;
        }
    }

    /// Work of some steps, ns.
    #[must_use]
    pub fn work(steps: &[Step]) -> u64 {
        Self::time(steps, |step| !step.is_waiting())
    }

    /// How long the threads of some steps had work and no processor, ns.
    #[must_use]
    pub(super) fn waited(steps: &[Step]) -> u64 {
        Self::time(steps, Step::is_waiting)
    }

    fn time(steps: &[Step], is_meant: impl Fn(&Step) -> bool) -> u64 {
        let times = steps
            .iter()
            .filter(|step| is_meant(step))
            .map(|step| match step {
                Step::Work { ns, .. } => *ns,
                _ => 0,
            });
        times.fold(0, u64::saturating_add)
    }
}
