//! A scheduler in virtual time: runs a graph on some threads as OpenMP allows it, in a random order, and writes the trace of it. For what
//! no run-time library here does: the kinds of GCC 13, untied tasks that change threads, events fulfilled by somebody else, and
//! every byte order and word size.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufWriter;
use std::path::Path;

use instr_trace::Layout;
use instr_trace::synth::{self, START_TICKS, StreamWriter};

use super::random::Random;
use super::replay::tag;
use super::report::TraceId;
use super::rules;
use super::script::{Depend, Graph, Kind, Op, Task};
use crate::outcome::{Check, Stop, ensure};

/// Address of storage location 0; the others follow byte by byte.
const LOCATION_0: u64 = 0x9000;
/// Entries that one event holds.
const ENTRIES: usize = 64;
const REGION: TraceId = (0, 7);

type Writer = StreamWriter<BufWriter<std::fs::File>>;

/// A task while the simulation runs.
#[derive(Debug)]
struct State<'a> {
    task: Option<&'a Task>,
    parent: Option<u32>,
    /// Thread of the implicit task that it descends from.
    root: usize,
    trace: TraceId,
    /// Children are undeferred.
    final_: bool,
    undeferred: bool,
    begun: bool,
    ended: bool,
    fulfilled: bool,
    /// Taken off its thread before its end.
    suspended: Option<Box<Frame<'a>>>,
}

/// Operations still to do at one nesting level of taskgroups.
#[derive(Debug, Clone)]
struct Ops<'a> {
    ops: &'a [Op],
    next: usize,
    /// Children that a taskgroup has to wait for; none at the level of the body.
    group: Option<Vec<u32>>,
}

/// What a task is waiting for.
#[derive(Debug, Clone)]
enum Wait {
    /// To begin or to see the end of an undeferred child.
    Child(u32),
    /// `taskwait`
    Children(Vec<u32>),
    /// `taskwait depend`: its node.
    Node(u32),
    /// The end of a taskgroup.
    Group(Vec<u32>),
}

/// A task on a thread; no id: the implicit or initial task.
#[derive(Debug, Clone)]
struct Frame<'a> {
    id: Option<u32>,
    levels: Vec<Ops<'a>>,
    children: Vec<u32>,
    wait: Option<Wait>,
}

/// A thread: its tasks, innermost last; none when it is in the closing barrier.
#[derive(Debug)]
struct Thread<'a> {
    frames: Vec<Frame<'a>>,
    writer: Writer,
    created: u32,
}

/// The simulation.
struct Simulation<'a> {
    graph: &'a Graph,
    random: Random,
    layout: Layout,
    full_queue: bool,
    now: u64,
    threads: Vec<Thread<'a>>,
    tasks: BTreeMap<u32, State<'a>>,
    before: BTreeMap<u32, BTreeSet<u32>>,
    exclusions: BTreeMap<u32, BTreeSet<u32>>,
}

/// Runs `graph` on `threads` threads and writes the trace into `dir`. With `full_queue`, the library runs some tasks at once
/// whose clauses do not ask for it.
///
/// # Errors
///
/// When the trace cannot be written, or the simulation cannot go on (a mistake in it).
pub fn run(
    graph: &Graph,
    threads: u32,
    layout: Layout,
    full_queue: bool,
    seed: u64,
    dir: &Path,
) -> Check {
    synth::begin(dir, layout, 1_000_000_000)?;
    let mut simulation = Simulation {
        graph,
        random: Random::new(seed ^ 0x51_7C_C1_B7_27_22_0A_95),
        layout,
        full_queue,
        now: START_TICKS,
        threads: Vec::new(),
        tasks: BTreeMap::new(),
        before: BTreeMap::new(),
        exclusions: BTreeMap::new(),
    };
    for (from, to) in rules::edges(graph) {
        simulation.before.entry(to).or_default().insert(from);
    }
    for (first, second) in rules::exclusions(graph) {
        simulation
            .exclusions
            .entry(first)
            .or_default()
            .insert(second);
        simulation
            .exclusions
            .entry(second)
            .or_default()
            .insert(first);
    }
    simulation.open(if graph.serial { 1 } else { threads }, dir)?;
    simulation.run()?;
    simulation.close()
}

impl<'a> Simulation<'a> {
    fn tick(&mut self) -> u64 {
        let longest = if self.random.chance(10) { 900 } else { 40 };
        self.now += u64::from(self.random.between(1, longest));
        self.now
    }

    /// Writes an event of a thread; now and then the packet ends before it.
    fn emit(&mut self, thread: usize, id: u8, fields: impl FnOnce(&mut synth::Body)) -> Check {
        let now = self.tick();
        let cut = self.random.chance(3);
        let in_region = !self.graph.serial;
        let running = self.threads[thread]
            .frames
            .iter()
            .rev()
            .find_map(|frame| frame.id);
        let task = running.map(|task| self.tasks[&task].trace);
        let state = &mut self.threads[thread];
        if cut {
            state.writer.close_packet()?;
            state.writer.context.task = task.unwrap_or((u32::MAX, u32::MAX));
            let implicit = state.frames.first().is_some_and(|frame| frame.id.is_none());
            let inside = in_region && implicit;
            state.writer.context.region = if inside { REGION } else { (u32::MAX, u32::MAX) };
        }
        Ok(state.writer.event(now, id, fields)?)
    }

    fn open(&mut self, threads: u32, dir: &Path) -> Check {
        for thread in 0..threads {
            let mut writer = StreamWriter::create(dir, self.layout, thread, 1 << 20)?;
            writer.context.task = (u32::MAX, u32::MAX);
            writer.context.region = (u32::MAX, u32::MAX);
            self.threads.push(Thread {
                frames: Vec::new(),
                writer,
                created: 0,
            });
        }
        for index in 0..self.threads.len() {
            let thread = index as u32;
            self.emit(index, 1, |body| {
                body.u32(4000 + thread).u32(u32::from(thread == 0));
            })?;
            if thread == 0 {
                let number = u64::from(self.graph.number);
                self.emit(0, 8, |body| {
                    body.u32(tag::GRAPH as u32).u64(number);
                })?;
                if !self.graph.serial {
                    self.emit(0, 16, |body| {
                        body.u32(REGION.1).addr(0x1000).u32(threads).u32(0);
                    })?;
                }
            }
        }
        for index in 0..self.threads.len() {
            if !self.graph.serial {
                let team = if index == 0 { threads } else { 0 };
                self.emit(index, 18, |body| {
                    body.u32(REGION.0).u32(REGION.1).u32(index as u32).u32(team);
                })?;
            }
            let ops = self.graph.roots.get(index).map_or(&[][..], Vec::as_slice);
            self.threads[index].frames.push(Frame::new(None, ops));
        }
        Ok(())
    }

    fn close(mut self) -> Check {
        if !self.graph.serial {
            self.emit(0, 17, |body| {
                body.u32(REGION.1);
            })?;
        }
        for thread in 0..self.threads.len() {
            self.emit(thread, 2, |_| {})?;
        }
        for thread in self.threads {
            thread.writer.finish()?;
        }
        Ok(())
    }

    fn run(&mut self) -> Check {
        let mut idle = 0;
        while !self.over() {
            let thread = self.random.below(self.threads.len() as u32) as usize;
            let moved = if self.random.chance(10) && self.fulfil(thread)? {
                true
            } else {
                self.step(thread)?
            };
            idle = if moved { 0 } else { idle + 1 };
            ensure(idle < 10_000, || {
                format!("the simulation stands still: {:?}", self.tasks)
            })?;
        }
        Ok(())
    }

    fn over(&self) -> bool {
        let at_rest = self.threads.iter().all(|thread| thread.frames.is_empty());
        at_rest && self.tasks.keys().all(|&id| self.complete(id))
    }

    /// Whether a task is complete: ended and fulfilled; a node without a body when nothing precedes it any more.
    fn complete(&self, id: u32) -> bool {
        let state = &self.tasks[&id];
        match state.task {
            Some(_) => state.ended && state.fulfilled,
            None => self.free(id),
        }
    }

    /// Whether all predecessors are complete.
    fn free(&self, id: u32) -> bool {
        let before = self.before.get(&id);
        before.is_none_or(|before| before.iter().all(|&id| self.complete(id)))
    }

    /// Whether a task's body may begin, or go on, now.
    fn can_begin(&self, id: u32) -> bool {
        let state = &self.tasks[&id];
        let runs = |id: &u32| {
            self.tasks
                .get(id)
                .is_some_and(|other| other.begun && !other.ended)
        };
        let excluded = self
            .exclusions
            .get(&id)
            .is_some_and(|others| others.iter().any(runs));
        state.task.is_some() && !state.begun && !excluded && self.free(id)
    }

    fn is_below(&self, id: u32, ancestor: u32) -> bool {
        let mut parent = self.tasks[&id].parent;
        while let Some(at) = parent {
            if at == ancestor {
                return true;
            }
            parent = self.tasks[&at].parent;
        }
        false
    }

    /// Somebody fulfils an event that is still open. True when there was one.
    fn fulfil(&mut self, thread: usize) -> Check<bool> {
        let open = self
            .tasks
            .iter()
            .filter(|(_, state)| !state.fulfilled && state.begun);
        let open: Vec<u32> = open.map(|(&id, _)| id).collect();
        if open.is_empty() {
            return Ok(false);
        }
        let id = open[self.random.below(open.len() as u32) as usize];
        let trace = self.tasks[&id].trace;
        self.emit(thread, 53, |body| {
            body.u32(trace.0).u32(trace.1).addr(handle(trace));
        })?;
        self.state(id)?.fulfilled = true;
        Ok(true)
    }

    fn state(&mut self, id: u32) -> Check<&mut State<'a>> {
        let state = self.tasks.get_mut(&id);
        state.ok_or_else(|| Stop::Fail(format!("task {id} was not created")))
    }

    /// One step of a thread. False when it cannot do anything now.
    fn step(&mut self, thread: usize) -> Check<bool> {
        let Some(frame) = self.threads[thread].frames.last() else {
            return self.take(thread, |_, _| true);
        };
        let owner = frame.id;
        match frame.wait.clone() {
            None => self.advance(thread),
            Some(wait) => {
                if self.waited(thread, &wait)? {
                    return Ok(true);
                }
                if self.random.chance(40) {
                    return Ok(false);
                }
                let whole_group = matches!(wait, Wait::Group(_));
                self.take(thread, |simulation, id| {
                    let state = &simulation.tasks[&id];
                    let below = owner.is_none_or(|owner| simulation.is_below(id, owner));
                    let of_this_root = owner.is_some() || state.root == thread;
                    of_this_root && (state.parent == owner || whole_group && below)
                })
            }
        }
    }

    /// Begins, or resumes, one of the deferred tasks that `fits`.
    fn take(&mut self, thread: usize, fits: impl Fn(&Self, u32) -> bool) -> Check<bool> {
        let ready = self.tasks.iter().filter(|&(&id, state)| {
            let waiting = state.suspended.is_some() || (!state.undeferred && self.can_begin(id));
            waiting && fits(self, id)
        });
        let ready: Vec<u32> = ready.map(|(&id, _)| id).collect();
        if ready.is_empty() {
            return Ok(false);
        }
        let id = ready[self.random.below(ready.len() as u32) as usize];
        match self.state(id)?.suspended.take() {
            Some(frame) => {
                let trace = self.tasks[&id].trace;
                self.emit(thread, 51, |body| {
                    body.u32(trace.0).u32(trace.1);
                })?;
                self.threads[thread].frames.push(*frame);
            }
            None => self.begin(thread, id)?,
        }
        Ok(true)
    }

    fn begin(&mut self, thread: usize, id: u32) -> Check {
        let state = self.state(id)?;
        state.begun = true;
        let (trace, task) = (state.trace, state.task);
        self.emit(thread, 42, |body| {
            body.u32(trace.0).u32(trace.1);
        })?;
        let ops = task.map_or(&[][..], |task| task.body.as_slice());
        self.threads[thread].frames.push(Frame::new(Some(id), ops));
        self.mark(thread, tag::BEGIN, id)
    }

    fn mark(&mut self, thread: usize, kind: u64, id: u32) -> Check {
        self.emit(thread, 8, |body| {
            body.u32(kind as u32).u64(u64::from(id));
        })
    }

    /// Ends a wait when it may end. True when something happened.
    fn waited(&mut self, thread: usize, wait: &Wait) -> Check<bool> {
        let all_complete =
            |simulation: &Self, ids: &[u32]| ids.iter().all(|&id| simulation.complete(id));
        let end = match wait {
            Wait::Child(id) if self.can_begin(*id) => {
                self.begin(thread, *id)?;
                return Ok(true);
            }
            Wait::Child(id) if self.complete(*id) => None,
            Wait::Children(ids) if all_complete(self, ids) => Some(3),
            Wait::Node(id) if self.complete(*id) => Some(4),
            Wait::Group(ids) => {
                let descends = |id: u32| {
                    ids.iter()
                        .any(|&member| id == member || self.is_below(id, member))
                };
                let mut members = self.tasks.keys().filter(|&&id| descends(id));
                if !members.all(|&id| self.complete(id)) {
                    return Ok(false);
                }
                Some(5)
            }
            _ => return Ok(false),
        };
        match end {
            Some(kind) => self.emit(thread, 33, |body| {
                body.u32(kind);
            })?,
            None => self.emit(thread, 41, |_| {})?,
        }
        self.frame(thread)?.wait = None;
        Ok(true)
    }

    fn frame(&mut self, thread: usize) -> Check<&mut Frame<'a>> {
        let frame = self.threads[thread].frames.last_mut();
        Ok(frame.ok_or("nothing runs on this thread")?)
    }

    /// The next operation of the innermost task.
    fn advance(&mut self, thread: usize) -> Check<bool> {
        let frame = self.frame(thread)?;
        let (id, children) = (frame.id, frame.children.clone());
        let level = frame.levels.last_mut().ok_or("no operations")?;
        let op = level.ops.get(level.next);
        level.next += 1;
        match op {
            None => self.level_end(thread)?,
            Some(Op::Work(iterations)) => self.now += u64::from(*iterations),
            Some(Op::Yield) => self.pause(thread, id)?,
            Some(Op::Task(task)) => self.create(thread, task)?,
            Some(Op::Taskwait) => self.wait(thread, 3, Wait::Children(children))?,
            Some(Op::TaskwaitDepend {
                id,
                depends,
                nowait,
            }) => {
                self.taskwait_depend(thread, *id, depends, *nowait)?;
            }
            Some(Op::Taskgroup(inner)) => {
                self.emit(thread, 48, |_| {})?;
                self.frame(thread)?
                    .levels
                    .push(Ops::of(inner, Some(Vec::new())));
            }
        }
        Ok(true)
    }

    fn wait(&mut self, thread: usize, kind: u32, wait: Wait) -> Check {
        self.emit(thread, 32, |body| {
            body.u32(kind);
        })?;
        self.frame(thread)?.wait = Some(wait);
        Ok(())
    }

    /// A taskyield; an untied task may leave its thread there, when it is not inside a construct of another one.
    fn pause(&mut self, thread: usize, id: Option<u32>) -> Check {
        let leaves = |id: &u32| {
            let state = &self.tasks[id];
            state.task.is_some_and(|task| task.untied) && !state.undeferred
        };
        match id.filter(leaves) {
            Some(id) if self.random.chance(60) => {
                self.emit(thread, 50, |_| {})?;
                let frame = self.threads[thread].frames.pop().map(Box::new);
                self.state(id)?.suspended = frame;
                Ok(())
            }
            _ => {
                self.emit(thread, 32, |body| {
                    body.u32(6);
                })?;
                self.emit(thread, 33, |body| {
                    body.u32(6);
                })
            }
        }
    }

    /// The end of a taskgroup's block, of a body, or of an implicit task.
    fn level_end(&mut self, thread: usize) -> Check {
        let frame = self.frame(thread)?;
        let id = frame.id;
        let group = frame.levels.pop().and_then(|level| level.group);
        if let Some(members) = group {
            let outer = frame
                .levels
                .last_mut()
                .and_then(|level| level.group.as_mut());
            if let Some(outer) = outer {
                outer.extend(&members);
            }
            return self.wait(thread, 5, Wait::Group(members));
        }
        match id {
            Some(id) => {
                self.mark(thread, tag::END, id)?;
                self.emit(thread, 43, |_| {})?;
                self.state(id)?.ended = true;
            }
            None if !self.graph.serial => self.emit(thread, 19, |_| {})?,
            None => {}
        }
        self.threads[thread].frames.pop();
        Ok(())
    }

    /// A new child of the innermost task of the thread: its id in the trace.
    fn new_child(&mut self, thread: usize, id: u32, task: Option<&'a Task>) -> Check<TraceId> {
        self.mark(thread, tag::CREATE, id)?;
        let state = &mut self.threads[thread];
        let trace = (thread as u32, state.created);
        state.created += 1;
        let frame = state
            .frames
            .last_mut()
            .ok_or("nothing runs on this thread")?;
        frame.children.push(id);
        if let Some(group) = frame
            .levels
            .iter_mut()
            .rev()
            .find_map(|level| level.group.as_mut())
        {
            group.push(id);
        }
        let parent = frame.id;
        let at_once = task.is_some() && self.full_queue && self.random.chance(25);
        let included = parent.map_or(self.graph.serial, |parent| self.tasks[&parent].final_);
        let state = State {
            task,
            parent,
            root: parent.map_or(thread, |parent| self.tasks[&parent].root),
            trace,
            final_: included || task.is_some_and(|task| task.final_),
            undeferred: included || at_once || task.is_some_and(|task| task.undeferred),
            begun: false,
            ended: false,
            fulfilled: !task.is_some_and(|task| task.detach),
            suspended: None,
        };
        self.tasks.insert(id, state);
        Ok(trace)
    }

    /// The entries as events hold them; those that do not fit into one go ahead in events of their own.
    fn entries(&mut self, thread: usize, seq: u32, depends: &[Depend]) -> Check<Vec<(u64, u32)>> {
        let entry = |depend: &Depend| match depend.kind {
            Kind::All => (0, 6),
            kind => (LOCATION_0 + u64::from(depend.address), kind as u32),
        };
        let mut entries: Vec<(u64, u32)> = depends.iter().map(entry).collect();
        while entries.len() > ENTRIES {
            let rest = entries.split_off(ENTRIES);
            self.emit(thread, 44, |body| {
                body.u32(seq).deps(&entries);
            })?;
            entries = rest;
        }
        Ok(entries)
    }

    fn create(&mut self, thread: usize, task: &'a Task) -> Check {
        let trace = self.new_child(thread, task.id, Some(task))?;
        let entries = self.entries(thread, trace.1, &task.depends)?;
        let flags = flags(task);
        self.emit(thread, 40, |body| {
            body.u32(trace.1).addr(0x2000).u32(flags).deps(&entries);
        })?;
        if task.detach {
            self.emit(thread, 52, |body| {
                body.u32(trace.0).u32(trace.1).addr(handle(trace));
            })?;
        }
        if self.tasks[&task.id].undeferred {
            self.frame(thread)?.wait = Some(Wait::Child(task.id));
            return Ok(());
        }
        self.emit(thread, 41, |_| {})
    }

    fn taskwait_depend(
        &mut self,
        thread: usize,
        id: u32,
        depends: &[Depend],
        nowait: bool,
    ) -> Check {
        let trace = self.new_child(thread, id, None)?;
        let entries = self.entries(thread, trace.1, depends)?;
        self.emit(thread, 45, |body| {
            body.u32(trace.1).u32(u32::from(nowait)).deps(&entries);
        })?;
        if nowait {
            return Ok(());
        }
        self.wait(thread, 4, Wait::Node(id))
    }
}

impl<'a> Frame<'a> {
    fn new(id: Option<u32>, ops: &'a [Op]) -> Self {
        Self {
            id,
            levels: vec![Ops::of(ops, None)],
            children: Vec::new(),
            wait: None,
        }
    }
}

impl<'a> Ops<'a> {
    fn of(ops: &'a [Op], group: Option<Vec<u32>>) -> Self {
        Self {
            ops,
            next: 0,
            group,
        }
    }
}

fn handle(trace: TraceId) -> u64 {
    0x10_0000 + u64::from(trace.0) * 0x1_0000 + u64::from(trace.1) * 16
}

/// The flags of `GOMP_task`, and the tracer's own for a false if clause.
fn flags(task: &Task) -> u32 {
    let bits = [
        (task.untied, 1),
        (task.final_, 2),
        (task.mergeable, 4),
        (!task.depends.is_empty(), 8),
        (task.priority.is_some(), 0x10),
        (task.detach, 0x2000),
        (task.undeferred, 0x8000),
    ];
    bits.iter()
        .map(|&(set, bit)| if set { bit } else { 0 })
        .sum()
}
