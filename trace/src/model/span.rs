//! What an interpreter gives: spans, and the states of threads that follow from them.

use crate::event::{
    MutexKind, ParallelKind, RegionId, Schedule, SyncKind, TargetKind, TaskId, target_flags,
};

/// What a thread does. The five add up to its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// User code.
    Useful,
    /// Waiting for others: barriers, task waits, locks, the closing barrier of a region.
    Synchronization,
    /// Starting regions, creating tasks, asking for chunks.
    Scheduling,
    /// The tracer itself writes.
    Flush,
    /// A worker between two regions.
    Idle,
}

/// What a thread does, as far as its load is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Activity {
    /// User code.
    Useful,
    /// Waiting in a barrier: explicit, of a work-sharing construct, or closing a region.
    Barrier,
    /// Anything else, or nothing.
    #[default]
    Other,
}

/// A time in which one thread was in one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Position of the thread in [`crate::Trace::threads`].
    pub position: usize,
    /// What it did.
    pub state: State,
    /// Begin, ns since the trace's start.
    pub begin: u64,
    /// End, ns since the trace's start; later than `begin`.
    pub end: u64,
}

/// Code as an event names it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    /// Address; 0: unknown.
    pub address: u64,
    /// The address is a return address into the function that holds the construct, not the construct's own body.
    pub site: bool,
}

impl Code {
    /// The body at `address`, or the construct before it.
    pub fn new(address: u64, site: bool) -> Self {
        Self { address, site }
    }
}

impl From<u64> for Code {
    /// The body at an address.
    fn from(address: u64) -> Self {
        Self::new(address, false)
    }
}

/// A work-sharing construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A loop.
    Loop {
        /// How it is divided.
        schedule: Schedule,
        /// What is added to the loop's variable.
        incr: i64,
    },
    /// A loop that was begun together with its region, so that its begin has no event.
    Combined,
    /// `sections`.
    Sections,
    /// `scope`.
    Scope,
}

/// A device construct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its kind.
    pub kind: TargetKind,
    /// The host version of the region; 0: none.
    pub function: u64,
    /// See [`target_flags`].
    pub flags: u32,
}

impl Target {
    /// Whether data leave the device.
    pub fn is_exit(&self) -> bool {
        self.flags & target_flags::EXIT_DATA != 0
    }
}

/// The number of a thread in a team where it is not known.
pub const NO_NUMBER: u32 = u32::MAX;

/// Something that has a begin and an end on a thread, or in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Span {
    /// A parallel construct on the thread that encountered it.
    Parallel {
        /// Its identity.
        region: RegionId,
        /// What it combines.
        kind: ParallelKind,
        /// Its body.
        code: Code,
    },
    /// The body of an implicit task.
    Implicit {
        /// Of this region.
        region: RegionId,
        /// The region's body; address 0: the region's begin was lost.
        code: Code,
        /// Number of the thread in its team; [`NO_NUMBER`]: found behind a gap.
        thread_num: u32,
    },
    /// The closing barrier of a region.
    Closing {
        /// Of this region.
        region: RegionId,
    },
    /// The body of an explicit task.
    Task {
        /// The task.
        task: TaskId,
        /// Its body; address 0: its creation was lost, or no sink asks for [`TASK_CODES`](super::Sink::TASK_CODES).
        code: Code,
        /// It runs inside of the call that creates it.
        undeferred: bool,
    },
    /// The call that creates an explicit task.
    Create {
        /// The task.
        task: TaskId,
        /// Its body.
        code: Code,
        /// See [`crate::event::task_flags`].
        flags: u32,
    },
    /// A `taskwait` with dependences, which counts as an empty task.
    WaitDepend {
        /// The task.
        task: TaskId,
        /// `nowait`: it ends at once.
        nowait: bool,
    },
    /// The call of a `taskloop`.
    Taskloop {
        /// Its number among the tasks.
        task: TaskId,
        /// The body of its tasks.
        code: Code,
        /// See [`crate::event::task_flags`], and [`Span::NOGROUP`].
        flags: u32,
    },
    /// A taskgroup region.
    Taskgroup,
    /// A work-sharing construct.
    Work(Work),
    /// Asking for a chunk or section.
    Asking {
        /// It is a call of its own, not the begin of the construct.
        called: bool,
    },
    /// A `single` block on the thread that executes it.
    Single,
    /// A `masked` block.
    Masked,
    /// A wait.
    Sync(SyncKind),
    /// Waiting for a lock.
    Acquire {
        /// Its kind.
        kind: MutexKind,
        /// Its address.
        object: u64,
    },
    /// Holding a lock. Unlike other spans these need not nest.
    Hold {
        /// Its kind.
        kind: MutexKind,
        /// Its address.
        object: u64,
    },
    /// A device construct.
    Target(Target),
    /// The tracer writes.
    Flush,
    /// A region of the program's own.
    User {
        /// Address of its name.
        name: u64,
    },
    /// A call of a described function.
    Call {
        /// Address of its name.
        name: u64,
    },
    /// A function that a language's runtime tells of. One that is suspended and goes on has [`End::Suspended`] and [`Begin::Resumed`]; its
    /// pieces do not know of each other, since any number of generators of one function may be suspended.
    Function {
        /// Address of its text: see [`crate::words::function_parts`].
        name: u64,
    },
}

impl Span {
    /// The flag of a taskloop with a `nogroup` clause: it does not wait for its tasks.
    pub const NOGROUP: u32 = 0x800;

    /// Whether it is the body of a task.
    pub fn is_body(&self) -> bool {
        matches!(self, Self::Implicit { .. } | Self::Task { .. })
    }

    /// The code of a body.
    pub fn body(&self) -> Option<Code> {
        match *self {
            Self::Implicit { code, .. } | Self::Task { code, .. } => Some(code),
            _ => None,
        }
    }

    /// The state of a thread in it; `None`: that of what is around it.
    pub fn state(&self) -> Option<State> {
        Some(match self {
            Self::Implicit { .. } | Self::Task { .. } | Self::Work(_) => State::Useful,
            Self::Target(target) => match target.kind {
                // The host runs the body.
                TargetKind::Target => State::Useful,
                _ => State::Scheduling,
            },
            Self::Parallel { .. }
            | Self::Create { .. }
            | Self::Taskloop { .. }
            | Self::Asking { .. } => State::Scheduling,
            Self::Closing { .. } | Self::Sync(_) | Self::Acquire { .. } => State::Synchronization,
            Self::Flush => State::Flush,
            Self::WaitDepend { .. }
            | Self::Taskgroup
            | Self::Single
            | Self::Masked
            | Self::Hold { .. }
            | Self::User { .. }
            | Self::Call { .. }
            | Self::Function { .. } => return None,
        })
    }
}

/// How a span begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// By an event.
    Told,
    /// It runs, but its begin was lost: a body behind a gap, or a lock that was not asked for.
    Found,
    /// The task it is in goes on, or the function itself.
    Resumed,
}

/// When a span began, ns since the trace's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Since {
    /// The last [`Sink::begin`](super::Sink::begin) of the span. That is later than `first` when its task was suspended, or behind a gap.
    pub here: u64,
    /// The span's own begin, whatever came between; `None`: it was lost.
    pub first: Option<u64>,
}

impl Since {
    /// A span that begins and is never interrupted.
    pub(super) fn told(time: u64) -> Self {
        Self {
            here: time,
            first: Some(time),
        }
    }
}

/// How long the body of an explicit task ran from its begin to its end, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ran {
    /// On threads: without the times between suspension and resumption.
    pub whole: u64,
    /// Of these, without explicit tasks that ran on top of it.
    pub own: u64,
}

/// How a span ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By an event.
    Told,
    /// A lock was asked for in vain.
    Refused,
    /// By the end of what it is in: its own event was lost.
    Implied,
    /// By a gap, or with its thread.
    Cut,
    /// The task it is in leaves its thread, or the function itself.
    Suspended,
    /// By a gap, but it goes on below what is known to run behind it; its true end comes as [`End::Unseen`].
    Kept,
    /// The true end behind [`End::Kept`].
    Unseen {
        /// By an event, as [`End::Told`]; else as [`End::Implied`] or [`End::Cut`].
        told: bool,
    },
}

impl End {
    /// Whether the span does not go on anywhere.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Suspended | Self::Kept)
    }
}
