//! The state of each thread over time, as "What the host derives" in `docs/trace-format.md` says.

use hashbrown::HashMap;

use crate::event::{Event, Payload, RegionId, SyncKind, TargetKind, TaskId, schedule_flags};
use crate::trace::{ThreadInfo, Trace};

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

/// What a thread does, as far as its load tells.
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

/// Something begun and not ended on a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    /// `parallel_begin` … `parallel_end` on the encountering thread.
    Fork(u32),
    /// `implicit_begin` … `implicit_end`.
    Implicit(RegionId),
    /// `implicit_end` … `parallel_end` of the region.
    Closing(RegionId),
    /// A loop, sections or scope construct; `true` while it asks for work.
    Work(bool),
    Sync(SyncKind),
    Mutex,
    Create,
    Taskloop,
    Task(TaskId),
    /// A device construct; `true` when the thread runs its body (the host fallback), else it only moves data.
    Target(bool),
    Flush,
}

impl Frame {
    fn state(self) -> State {
        match self {
            Self::Implicit(_) | Self::Task(_) | Self::Work(false) | Self::Target(true) => {
                State::Useful
            }
            Self::Fork(_)
            | Self::Work(true)
            | Self::Create
            | Self::Taskloop
            | Self::Target(false) => State::Scheduling,
            Self::Closing(_) | Self::Sync(_) | Self::Mutex => State::Synchronization,
            Self::Flush => State::Flush,
        }
    }

    /// Whether it is the body of a task: ends that belong inside do not reach beyond it.
    fn is_body(self) -> bool {
        matches!(self, Self::Implicit(_) | Self::Task(_))
    }
}

/// Deeper nesting is damage: it is not followed.
const MAX_DEPTH: usize = 1 << 16;

#[derive(Clone, Debug)]
struct Line {
    index: u32,
    frames: Vec<Frame>,
    /// A worker is idle outside regions once it has been in one.
    worker: bool,
    /// The run-time library does not tell where a section begins.
    whole_sections: bool,
    /// Begin and kind of the running interval; `None` before the first event and after the end.
    running: Option<(u64, State)>,
    ended: bool,
}

impl Line {
    fn state(&self) -> State {
        match self.frames.last() {
            Some(frame) => frame.state(),
            None if self.worker => State::Idle,
            None => State::Useful,
        }
    }

    fn push(&mut self, frame: Frame) {
        if self.frames.len() < MAX_DEPTH {
            self.frames.push(frame);
        }
    }

    /// Removes the innermost frame that `is` says, and all inside it, if it lies in the running body.
    fn pop(&mut self, is: impl Fn(Frame) -> bool) -> Option<Frame> {
        let body = self
            .frames
            .iter()
            .rposition(|frame| frame.is_body())
            .map_or(0, |at| at + 1);
        let at = self.frames[body..].iter().rposition(|frame| is(*frame))? + body;
        let frame = self.frames[at];
        self.frames.truncate(at);
        Some(frame)
    }

    /// Removes the innermost frame that `is` says, wherever it lies, and all inside it.
    fn close(&mut self, is: impl Fn(Frame) -> bool) -> Option<Frame> {
        let at = self.frames.iter().rposition(|frame| is(*frame))?;
        let frame = self.frames[at];
        self.frames.truncate(at);
        Some(frame)
    }

    fn ask(&mut self, asking: bool) {
        match self.frames.last_mut() {
            Some(Frame::Work(state)) => *state = asking,
            // The loop was begun together with its region.
            _ if asking => self.push(Frame::Work(true)),
            _ => {}
        }
    }

    /// Ends the running interval at `time` if the state has changed.
    fn change(&mut self, position: usize, time: u64, interval: &mut impl FnMut(Interval)) {
        let now = self.state();
        match &mut self.running {
            Some((_, state)) if *state == now => {}
            Some((begin, state)) => {
                if *begin < time {
                    interval(Interval {
                        position,
                        state: *state,
                        begin: *begin,
                        end: time,
                    });
                }
                (*begin, *state) = (time.max(*begin), now);
            }
            None => self.running = Some((time, now)),
        }
    }

    fn end(&mut self, position: usize, time: u64, interval: &mut impl FnMut(Interval)) {
        if let Some((begin, state)) = self.running.take()
            && begin < time
        {
            interval(Interval {
                position,
                state,
                begin,
                end: time,
            });
        }
        self.ended = true;
    }
}

/// State machines of all threads of a trace. Feed it the merged events in time order; it gives each interval when it ends.
#[derive(Clone, Debug)]
pub struct Timeline {
    lines: Vec<Line>,
    last: Vec<u64>,
    /// Workers in the closing barrier of a region that runs on.
    closing: HashMap<RegionId, Vec<usize>>,
    /// What was open in tasks that left their thread before their end.
    suspended: HashMap<TaskId, Vec<Frame>>,
    /// Threads that the last event let out of a closing barrier.
    joined: Vec<usize>,
}

impl Timeline {
    /// For a trace, with what its run-time library leaves out: libomp does not tell where a section begins.
    pub fn of(trace: &Trace) -> Self {
        let mut timeline = Self::new(trace.threads());
        if trace.metadata().openmp.starts_with("libomp") {
            for line in &mut timeline.lines {
                line.whole_sections = true;
            }
        }
        timeline
    }

    /// For the threads of one trace of libgomp, as [`crate::Trace::threads`] gives them.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let line = |thread: &ThreadInfo| Line {
            index: thread.index,
            frames: Vec::new(),
            worker: false,
            whole_sections: false,
            running: None,
            ended: false,
        };
        Self {
            lines: threads.iter().map(line).collect(),
            last: threads.iter().map(|thread| thread.last_time).collect(),
            closing: HashMap::new(),
            suspended: HashMap::new(),
            joined: Vec::new(),
        }
    }

    /// The state of a thread after the events so far; `None` before its first and after its end.
    pub fn state(&self, position: usize) -> Option<State> {
        self.lines.get(position)?.running.map(|(_, state)| state)
    }

    /// What a thread does after the events so far.
    #[inline]
    pub fn activity(&self, position: usize) -> Activity {
        let Some(line) = self.lines.get(position) else {
            return Activity::Other;
        };
        match line.running {
            Some((_, State::Useful)) => Activity::Useful,
            Some((_, State::Synchronization)) => match line.frames.last() {
                Some(
                    Frame::Closing(_)
                    | Frame::Sync(SyncKind::ExplicitBarrier | SyncKind::ImplicitBarrier),
                ) => Activity::Barrier,
                _ => Activity::Other,
            },
            _ => Activity::Other,
        }
    }

    /// Positions of the other threads whose state the last event changed.
    pub fn joined(&self) -> &[usize] {
        &self.joined
    }

    /// Whether the thread has ended.
    pub fn ended(&self, position: usize) -> bool {
        self.lines.get(position).is_none_or(|line| line.ended)
    }

    /// Takes an event of the thread at `position` into account.
    #[inline]
    pub fn event(
        &mut self,
        position: usize,
        event: &Event<'_>,
        mut interval: impl FnMut(Interval),
    ) {
        let Some(line) = self.lines.get_mut(position) else {
            return;
        };
        self.joined.clear();
        if line.ended {
            return;
        }
        if line.running.is_none() {
            line.running = Some((event.time, line.state()));
        }
        match event.payload {
            // The frequent ones that change nothing.
            Payload::UserEvent { .. } | Payload::Counter { .. } | Payload::String { .. } => return,
            Payload::ThreadEnd => {
                line.end(position, event.time, &mut interval);
                return;
            }
            Payload::ImplicitEnd => self.close_implicit(position),
            Payload::ParallelEnd { seq } => self.join(position, seq, event.time, &mut interval),
            Payload::TaskSuspend => {
                if let Some((task, frames)) = line.suspend() {
                    self.suspended.insert(task, frames);
                }
            }
            Payload::TaskResume { task } => {
                let frames = self.suspended.remove(&task);
                line.resume(task, frames.unwrap_or_default());
            }
            ref payload => line.apply(payload),
        }
        if let Some(line) = self.lines.get_mut(position) {
            line.change(position, event.time, &mut interval);
        }
    }

    fn close_implicit(&mut self, position: usize) {
        let line = &mut self.lines[position];
        let Some(Frame::Implicit(region)) = line.close(|frame| matches!(frame, Frame::Implicit(_)))
        else {
            return;
        };
        line.push(Frame::Closing(region));
        if region.thread != line.index {
            line.worker = true;
            self.closing.entry(region).or_default().push(position);
        }
    }

    /// `parallel_end`: the closing barrier ends on all threads of the region.
    fn join(&mut self, position: usize, seq: u32, time: u64, interval: &mut impl FnMut(Interval)) {
        let region = RegionId {
            thread: self.lines[position].index,
            seq,
        };
        self.lines[position].close(|frame| frame == Frame::Fork(seq));
        self.lines[position].close(|frame| frame == Frame::Closing(region));
        let Some(waiting) = self.closing.remove(&region) else {
            return;
        };
        for &worker in &waiting {
            let line = &mut self.lines[worker];
            if !line.ended
                && line
                    .close(|frame| frame == Frame::Closing(region))
                    .is_some()
            {
                line.change(worker, time, interval);
            }
        }
        self.joined = waiting;
    }

    /// Ends the thread at `time` (no earlier than its last event), unless it has ended.
    pub fn end(&mut self, position: usize, time: u64, mut interval: impl FnMut(Interval)) {
        if let Some(line) = self.lines.get_mut(position)
            && !line.ended
        {
            line.end(position, time, &mut interval);
        }
    }

    /// Ends all threads, each at the time of its last event.
    pub fn finish(mut self, mut interval: impl FnMut(Interval)) {
        for position in 0..self.lines.len() {
            let time = self.last[position];
            self.end(position, time, &mut interval);
        }
    }
}

impl Line {
    fn apply(&mut self, payload: &Payload<'_>) {
        match *payload {
            Payload::FlushBegin => self.push(Frame::Flush),
            Payload::Flush { .. } => _ = self.pop(|frame| frame == Frame::Flush),
            Payload::ParallelBegin { seq, .. } => self.push(Frame::Fork(seq)),
            Payload::ImplicitBegin { region, .. } => {
                // A worker that is in a new region has left the closing barrier of the last one.
                if region.thread != self.index {
                    while let Some(Frame::Closing(_)) = self.frames.last() {
                        self.frames.pop();
                    }
                }
                self.push(Frame::Implicit(region));
            }
            // Where chunks or sections are not told, all of the construct is user code.
            Payload::LoopBegin { schedule, .. } => {
                self.push(Frame::Work(!schedule.has(schedule_flags::COUNTED)))
            }
            Payload::SectionsBegin { .. } => self.push(Frame::Work(!self.whole_sections)),
            Payload::Dispatch => self.ask(true),
            Payload::ChunkBegin { .. } | Payload::SectionBegin { .. } => self.ask(false),
            Payload::WorkEnd { .. } => _ = self.pop(|frame| matches!(frame, Frame::Work(_))),
            Payload::SyncBegin { kind } => self.push(Frame::Sync(kind)),
            Payload::SyncEnd { .. } => _ = self.pop(|frame| matches!(frame, Frame::Sync(_))),
            Payload::MutexAcquire { .. } => self.push(Frame::Mutex),
            Payload::MutexAcquired { .. } | Payload::MutexFailed { .. } => {
                _ = self.pop(|frame| frame == Frame::Mutex)
            }
            Payload::TaskCreate { .. } => self.push(Frame::Create),
            Payload::TaskCreated => _ = self.pop(|frame| frame == Frame::Create),
            Payload::TaskloopBegin { .. } => self.push(Frame::Taskloop),
            Payload::TaskloopEnd => _ = self.pop(|frame| frame == Frame::Taskloop),
            Payload::TaskBegin { task } => self.push(Frame::Task(task)),
            Payload::TaskEnd => {
                if let Some(at) = self.running_task() {
                    self.frames.truncate(at);
                }
            }
            Payload::ScopeBegin => self.push(Frame::Work(false)),
            Payload::TargetBegin { kind, .. } => {
                self.push(Frame::Target(kind == TargetKind::Target))
            }
            Payload::TargetEnd { .. } => _ = self.pop(|frame| matches!(frame, Frame::Target(_))),
            Payload::Lost { task, region, .. } => {
                self.frames.clear();
                self.frames.extend(region.map(Frame::Implicit));
                self.frames.extend(task.map(Frame::Task));
            }
            // A masked or single block is user code like what is around it.
            _ => {}
        }
    }

    /// Where the innermost body begins, if it is that of an explicit task.
    fn running_task(&self) -> Option<usize> {
        let at = self.frames.iter().rposition(|frame| frame.is_body())?;
        matches!(self.frames[at], Frame::Task(_)).then_some(at)
    }

    /// The running task leaves: what is open in it goes with it.
    fn suspend(&mut self) -> Option<(TaskId, Vec<Frame>)> {
        let frames = self.frames.split_off(self.running_task()?);
        match frames.first() {
            Some(Frame::Task(task)) => Some((*task, frames)),
            _ => None,
        }
    }

    fn resume(&mut self, task: TaskId, frames: Vec<Frame>) {
        if frames.is_empty() {
            self.push(Frame::Task(task));
        }
        for frame in frames {
            self.push(frame);
        }
    }
}
