//! Events in, numbers out: one pass over a merged trace. Addresses stay addresses; [`super::build`] names them.
//!
//! Memory grows with the threads, the functions of the program and the tasks that wait to run, not with the events.

use hashbrown::HashMap;
use instr_trace::event::{AllocatorKind, SyncKind, task_flags};
use instr_trace::{Event, Payload, RegionId, TaskId, ThreadInfo};

use super::counts::{Code, Collected, sync_name};
use super::open::{
    Body, OpenWork, Suspended, ThreadState, Work, add_named, find_last, take_last, text,
};

/// Folds the events of a merged trace.
#[derive(Debug)]
pub struct Collector {
    shared: Shared,
    /// Index and state of each thread.
    threads: Vec<(u32, ThreadState)>,
}

/// What the threads share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    pub(super) out: Collected,
    bodies_of_regions: HashMap<RegionId, Code>,
    bodies_of_tasks: HashMap<TaskId, Code>,
    pub(super) suspended: HashMap<TaskId, Suspended>,
    /// Bytes and kind of what OpenMP allocators gave and did not get back, by address.
    pub(super) allocated: HashMap<u64, (AllocatorKind, u64)>,
}

impl Collector {
    /// For the threads of one trace, as [`instr_trace::Trace::threads`] gives them.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let state = |thread: &ThreadInfo| (thread.index, ThreadState::default());
        Self {
            shared: Shared::default(),
            threads: threads.iter().map(state).collect(),
        }
    }

    /// Takes the next event, of the thread at `position`. Times must not decrease within a thread.
    #[inline]
    pub fn event(&mut self, position: usize, event: &Event<'_>) {
        let Some((_, thread)) = self.threads.get_mut(position) else {
            return;
        };
        let span = self.shared.out.span.get_or_insert((event.time, event.time));
        *span = (span.0.min(event.time), span.1.max(event.time));
        self.shared.dispatch(event, thread);
        thread.last = event.time;
        if event.payload.id() != 0 {
            thread.events += 1;
        }
    }

    /// The body that runs on the thread at `position`, and whether it is an explicit task's.
    pub fn body(&self, position: usize) -> (Option<Code>, bool) {
        let last = self
            .threads
            .get(position)
            .and_then(|(_, t)| t.bodies.last());
        (
            last.and_then(Body::function),
            matches!(last, Some(Body::Task { .. })),
        )
    }

    /// Ends all threads: what is still open counts up to the last event of its thread.
    pub fn finish(mut self) -> Collected {
        for (index, thread) in &mut self.threads {
            self.shared.close_all(thread, None, None);
            self.shared.out.events.insert(*index, thread.events);
        }
        self.shared.out
    }
}

impl Shared {
    fn dispatch(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        match event.payload {
            Payload::ParallelBegin { .. }
            | Payload::ParallelEnd { .. }
            | Payload::ImplicitBegin { .. }
            | Payload::ImplicitEnd => self.region(event, thread),
            Payload::TaskCreate { .. }
            | Payload::TaskCreated
            | Payload::TaskBegin { .. }
            | Payload::TaskEnd
            | Payload::TaskloopBegin { .. }
            | Payload::TaskloopTask { .. } => self.task(event, thread),
            Payload::LoopBegin { .. }
            | Payload::SectionsBegin { .. }
            | Payload::ChunkBegin { .. }
            | Payload::SectionBegin { .. }
            | Payload::Dispatch
            | Payload::WorkEnd { .. } => self.work(event, thread),
            Payload::SyncBegin { .. }
            | Payload::SyncEnd { .. }
            | Payload::MutexAcquire { .. }
            | Payload::MutexAcquired { .. }
            | Payload::MutexReleased { .. }
            | Payload::MutexFailed { .. } => self.waiting(event, thread),
            Payload::Lost { task, region, .. } => self.close_all(thread, region, task),
            Payload::String { .. }
            | Payload::UserEvent { .. }
            | Payload::RegionBegin { .. }
            | Payload::RegionEnd
            | Payload::CallBegin { .. }
            | Payload::CallEnd { .. }
            | Payload::Counter { .. } => self.user(event, thread),
            _ => self.construct(event, thread),
        }
    }

    fn region(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        match event.payload {
            Payload::ParallelBegin {
                seq,
                function,
                call_site,
                ..
            } => {
                let function = Code::new(function, call_site);
                self.bodies_of_regions.insert(
                    RegionId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
                thread.regions.push((seq, function, event.time));
            }
            Payload::ParallelEnd { seq } => {
                self.bodies_of_regions.remove(&RegionId {
                    thread: event.thread,
                    seq,
                });
                let open = find_last(&thread.regions, |region| region.0 == seq);
                for (_, function, begin) in
                    thread.regions.drain(open.unwrap_or(thread.regions.len())..)
                {
                    let times = self.out.regions.entry(function).or_default();
                    times.add(event.time.saturating_sub(begin));
                }
                let region = RegionId {
                    thread: event.thread,
                    seq,
                };
                thread.close_implicit(Some(region));
            }
            Payload::ImplicitBegin {
                region, thread_num, ..
            } => {
                let function = self.bodies_of_regions.get(&region).copied();
                thread.push(Body::Implicit {
                    region,
                    function,
                    leads: thread_num == 0,
                });
            }
            Payload::ImplicitEnd => thread.close_implicit(None),
            _ => {}
        }
    }

    fn task(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        match event.payload {
            Payload::TaskCreate {
                seq,
                function,
                flags,
                ..
            } => {
                let function = Code::new(function, flags & task_flags::CALL_SITE != 0);
                self.out.special_tasks.detached += u64::from(flags & task_flags::DETACH != 0);
                self.create(
                    TaskId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
                thread.creating.push(seq);
            }
            Payload::TaskCreated => drop(thread.creating.pop()),
            Payload::TaskloopBegin {
                seq,
                function,
                flags,
                ..
            } => {
                let function = Code::new(function, flags & task_flags::CALL_SITE != 0);
                self.bodies_of_tasks.insert(
                    TaskId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
            }
            Payload::TaskloopTask { taskloop, seq, .. } => {
                let function = self
                    .bodies_of_tasks
                    .get(&taskloop)
                    .copied()
                    .unwrap_or_default();
                self.create(
                    TaskId {
                        thread: event.thread,
                        seq,
                    },
                    function,
                );
            }
            Payload::TaskBegin { task } => {
                let function = self.bodies_of_tasks.remove(&task);
                self.out
                    .tasks
                    .entry(function.unwrap_or_default())
                    .or_default()
                    .executed += 1;
                if task.thread == event.thread && thread.creating.last() == Some(&task.seq) {
                    self.out.undeferred += 1;
                }
                let body = thread.task_body(task, function, Some(event.time));
                thread.push(body);
            }
            Payload::TaskEnd => {
                let is_task = |body: &mut Body| matches!(body, Body::Task { .. });
                if let Some(body) = thread.bodies.pop_if(is_task) {
                    self.end_task(body, thread, event.time);
                }
            }
            _ => {}
        }
    }

    fn create(&mut self, task: TaskId, function: Code) {
        self.bodies_of_tasks.insert(task, function);
        self.out.tasks.entry(function).or_default().created += 1;
    }

    /// Counts a task body that was just taken off the stack; the body below learns what it must not call its own.
    fn end_task(&mut self, body: Body, thread: &mut ThreadState, now: u64) {
        let Body::Task {
            function,
            begin: Some(begin),
            inner_ns,
            before_ns,
            ..
        } = body
        else {
            return;
        };
        let here = now.saturating_sub(begin);
        let whole = before_ns.saturating_add(here);
        let count = self
            .out
            .tasks
            .entry(function.unwrap_or_default())
            .or_default();
        count.own.add(whole.saturating_sub(inner_ns));
        count.inclusive_ns = count.inclusive_ns.saturating_add(whole);
        thread.not_of_below(here);
    }

    fn work(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        match event.payload {
            Payload::LoopBegin { schedule, incr, .. } => {
                thread.open_work(Work::Loop { schedule, incr }, event.time)
            }
            Payload::SectionsBegin { .. } => thread.open_work(Work::Sections, event.time),
            Payload::ChunkBegin { begin, end } => {
                if let Some(open) = thread.work.last_mut() {
                    open.begin_piece(event.time);
                    open.chunk(begin, end);
                }
            }
            Payload::SectionBegin { .. } => {
                if let Some(open) = thread.work.last_mut() {
                    open.begin_piece(event.time);
                }
            }
            Payload::Dispatch => {
                if let Some(open) = thread.work.last_mut() {
                    open.end_piece(event.time);
                }
            }
            Payload::WorkEnd { .. } => {
                if let Some(mut open) = thread.work.pop() {
                    open.end_piece(event.time);
                    self.end_work(&open, event.time);
                }
            }
            _ => {}
        }
    }

    fn end_work(&mut self, open: &OpenWork, now: u64) {
        let out = &mut self.out;
        let count = match open.work {
            Work::Loop { schedule, .. } => out
                .loops
                .entry((open.function, schedule.name()))
                .or_default(),
            Work::Sections => out.sections.entry(open.function).or_default(),
            Work::Scope => out.scopes.entry(open.function).or_default(),
        };
        count.instances += open.instances;
        count.pieces += open.pieces;
        count.chunk_iterations.merge(&open.iterations);
        count.piece_times.merge(&open.piece_times);
        count.times.add(now.saturating_sub(open.begin));
    }

    fn waiting(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        let now = event.time;
        match event.payload {
            Payload::SyncBegin { kind } => thread.syncs.push((kind, now)),
            Payload::SyncEnd { kind } => {
                if let Some(begin) =
                    take_last(&mut thread.syncs, |open| open.0 == kind).map(|open| open.1)
                {
                    let ns = now.saturating_sub(begin);
                    self.out.syncs.entry(sync_name(kind)).or_default().add(ns);
                    if kind == SyncKind::DoacrossSink {
                        self.doacross(thread).times.add(ns);
                    }
                }
            }
            Payload::MutexAcquire { kind, object } => thread.asking.push((kind, object, now)),
            Payload::MutexAcquired { kind, object } => {
                let asked = take_last(&mut thread.asking, |open| {
                    (open.0, open.1) == (kind, object)
                });
                let count = self.out.mutexes.entry((kind, object)).or_default();
                count.acquired(event.thread, asked.map(|open| open.2), now);
                thread.holding.push((kind, object, now));
            }
            Payload::MutexFailed { kind, object } => {
                take_last(&mut thread.asking, |open| {
                    (open.0, open.1) == (kind, object)
                });
                self.out.mutexes.entry((kind, object)).or_default().failed += 1;
            }
            Payload::MutexReleased { kind, object } => {
                if let Some(open) = take_last(&mut thread.holding, |open| {
                    (open.0, open.1) == (kind, object)
                }) {
                    let count = self.out.mutexes.entry((kind, object)).or_default();
                    count.released(event.thread, open.2, now);
                }
            }
            _ => {}
        }
    }

    fn user(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        match event.payload {
            Payload::String { address, text } => {
                thread
                    .strings
                    .insert(address, String::from_utf8_lossy(text).into_owned());
            }
            Payload::UserEvent { kind, .. } => *self.out.user_events.entry(kind).or_default() += 1,
            Payload::RegionBegin { name } => thread.user.push((name, event.time)),
            Payload::RegionEnd => {
                if let Some((name, begin)) = thread.user.pop() {
                    add_named(
                        &mut self.out.user_regions,
                        thread,
                        name,
                        event.time - begin.min(event.time),
                    );
                }
            }
            Payload::CallBegin { name, .. } => thread.calls.push((name, event.time)),
            Payload::CallEnd { .. } => {
                if let Some((name, begin)) = thread.calls.pop() {
                    add_named(
                        &mut self.out.calls,
                        thread,
                        name,
                        event.time - begin.min(event.time),
                    );
                }
            }
            Payload::Counter { name, value } => {
                let counter = self.out.counters.entry(text(thread, name)).or_default();
                let first = counter.count == 0;
                counter.min = if first { value } else { counter.min.min(value) };
                counter.max = if first { value } else { counter.max.max(value) };
                counter.last = value;
                counter.count += 1;
            }
            _ => {}
        }
    }

    /// Closes what is open on a thread at its last event, then takes `region` and `task` as running. Parallel and user
    /// regions and held locks, which may span the whole run, count up to here; the time of anything else that is cut
    /// would only mislead. A body that goes on is not closed.
    fn close_all(
        &mut self,
        thread: &mut ThreadState,
        region: Option<RegionId>,
        task: Option<TaskId>,
    ) {
        let now = thread.last;
        for (_, function, begin) in std::mem::take(&mut thread.regions) {
            self.out
                .regions
                .entry(function)
                .or_default()
                .add(now.saturating_sub(begin));
        }
        for (name, begin) in std::mem::take(&mut thread.user) {
            add_named(
                &mut self.out.user_regions,
                thread,
                name,
                now.saturating_sub(begin),
            );
        }
        for (kind, object, begin) in std::mem::take(&mut thread.holding) {
            let count = self.out.mutexes.entry((kind, object)).or_default();
            count.held(now.saturating_sub(begin));
        }
        thread.work.clear();
        thread.masked.clear();
        thread.single = None;
        thread.targets.clear();
        thread.calls.clear();
        thread.syncs.clear();
        thread.asking.clear();
        thread.creating.clear();
        self.replace_bodies(thread, region, task);
    }

    fn replace_bodies(
        &mut self,
        thread: &mut ThreadState,
        region: Option<RegionId>,
        task: Option<TaskId>,
    ) {
        let goes_on = |body: &Body| match body {
            Body::Implicit { region: open, .. } => Some(*open) == region,
            Body::Task { task: open, .. } => Some(*open) == task,
        };
        let keep = thread
            .bodies
            .iter()
            .rposition(goes_on)
            .map_or(0, |at| at + 1);
        thread.truncate(keep);
        if let Some(region) = region
            && !thread
                .bodies
                .iter()
                .any(|body| matches!(body, Body::Implicit { region: open, .. } if *open == region))
        {
            let function = self.bodies_of_regions.get(&region).copied();
            thread.push(Body::Implicit {
                region,
                function,
                leads: false,
            });
        }
        if let Some(task) = task
            && !thread
                .bodies
                .iter()
                .any(|body| matches!(body, Body::Task { task: open, .. } if *open == task))
        {
            let function = self.bodies_of_tasks.remove(&task);
            let body = thread.task_body(task, function, None);
            thread.push(body);
        }
    }
}
