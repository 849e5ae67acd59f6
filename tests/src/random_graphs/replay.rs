//! What happened in a trace, replayed from the events as babeltrace2 tells them: the life of each task, and the points and segments of
//! the fork-join graph that `docs/graph.md` defines.

use std::collections::{BTreeMap, BTreeSet};

use super::babel::Event;
use super::clock::Clock;
use super::paths::{Arc, Paths};
use super::report::TraceId;
use crate::outcome::{Check, Stop, ensure};

/// Types of the driver's events: see `tests/random_graphs/driver.c`.
pub mod tag {
    /// A graph begins.
    pub const GRAPH: u64 = 9000;
    /// The construct of this task comes next on this thread.
    pub const CREATE: u64 = 9001;
    /// The body of this task begins.
    pub const BEGIN: u64 = 9002;
    /// … ends.
    pub const END: u64 = 9003;
}

/// Bits of a task's flags: `final` holds …
const FINAL: u64 = 2;
/// … the if clause does not …
const IF_FALSE: u64 = 0x8000;
/// … libomp calls it undeferred.
const LIBRARY_SAYS: u64 = 0x8_0000;

/// A task: the initial one, an implicit or an explicit one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// The initial task.
    Initial,
    /// The implicit task of that region on that thread.
    Implicit(TraceId, u32),
    /// An explicit task.
    Explicit(TraceId),
}

/// The life of an explicit task. Times are ticks, durations nanoseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The script's number, told by the event before its construct.
    pub script: u32,
    /// The number told inside its body; none for a `taskwait depend`.
    pub script_inside: Option<u32>,
    /// A `taskwait depend`; with `nowait`?
    pub wait: Option<bool>,
    /// The explicit task that created it.
    pub parent: Option<TraceId>,
    /// The outermost region it was created in.
    pub region: Option<TraceId>,
    /// Place in the order of creation.
    pub number: usize,
    /// Its construct begins.
    pub created: u64,
    /// Its body begins (for a `taskwait depend`: the wait ends).
    pub begin: Option<u64>,
    /// Its body ends.
    pub end: Option<u64>,
    /// The event of its `detach` clause is fulfilled.
    pub fulfilled: Option<u64>,
    /// It has a `detach` clause.
    pub detach: bool,
    /// Thread that began the body.
    pub thread: Option<u32>,
    /// Whether the body ran inside the construct.
    pub undeferred: bool,
    /// Whether its clauses, or those of a final ancestor, ask for that.
    pub asked_undeferred: bool,
    /// Its children are included tasks.
    pub is_final: bool,
    /// Time on top of its thread.
    pub duration: u64,
    /// … less the tracer's and the run-time library's.
    pub work: u64,
}

/// An outermost parallel region.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Region {
    /// Its construct begins and ends, ticks.
    pub begin: u64,
    /// See `begin`.
    pub end: u64,
    /// Threads with an implicit task.
    pub threads: BTreeSet<u32>,
    /// User code of all its tasks, ns.
    pub work: u64,
    /// Times in user code: thread, from, to (ns).
    pub useful: Vec<(u32, u64, u64)>,
}

/// A join whose members are known only at the end.
#[derive(Debug, Clone)]
struct Join {
    point: usize,
    members: Vec<TraceId>,
    descendants: bool,
}

/// The state of one task's chain of segments.
#[derive(Debug, Clone, Default)]
struct Chain {
    point: usize,
    pending: u64,
    children: Vec<TraceId>,
    groups: Vec<Vec<TraceId>>,
}

/// What a thread is doing, innermost last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Frame {
    Runs(Who),
    /// Inside a construct or wait; the task that it creates, if any.
    Inside(Option<TraceId>),
}

/// A replayed trace.
#[derive(Debug, Default)]
pub struct Replay {
    /// Explicit tasks.
    pub tasks: BTreeMap<TraceId, Seen>,
    /// Regions.
    pub regions: BTreeMap<TraceId, Region>,
    /// Points of the fork-join graph; [`Replay::connect`] completes it.
    pub paths: Paths<Who>,
    /// The region of each point.
    pub point_regions: Vec<Option<TraceId>>,
    /// The point at which a task begins: first before it is counted as a hop, then after.
    pub begins: BTreeMap<TraceId, (usize, usize)>,
    /// The point at which a task is complete.
    pub ends: BTreeMap<TraceId, usize>,
    chains: BTreeMap<Who, Chain>,
    frames: BTreeMap<u32, Vec<Frame>>,
    last: BTreeMap<u32, u64>,
    announced: BTreeMap<u32, u32>,
    region: Option<TraceId>,
    waits: BTreeMap<u32, Vec<TraceId>>,
    joins: Vec<Join>,
}

impl Replay {
    /// Replays events in time order.
    ///
    /// # Errors
    ///
    /// When they contradict each other.
    pub fn of(events: &[Event], clock: &Clock) -> Check<Self> {
        let mut replay = Self::default();
        for event in events {
            replay.account(event, clock)?;
            replay
                .event(event)
                .map_err(|stop| Stop::Fail(format!("{stop} at {event:?}")))?;
        }
        Ok(replay)
    }

    fn top(&self, thread: u32) -> Option<Frame> {
        self.frames.get(&thread)?.last().copied()
    }

    /// The innermost task of the thread, whatever construct it is in.
    fn current(&self, thread: u32) -> Check<Who> {
        let frames = self.frames.get(&thread).map_or(&[][..], Vec::as_slice);
        let who = frames.iter().rev().find_map(|frame| match frame {
            Frame::Runs(who) => Some(*who),
            Frame::Inside(_) => None,
        });
        who.ok_or_else(|| Stop::Fail("no task runs on this thread".into()))
    }

    fn push(&mut self, thread: u32, frame: Frame) {
        self.frames.entry(thread).or_default().push(frame);
    }

    fn pop(&mut self, thread: u32) -> Check<Frame> {
        let frame = self.frames.entry(thread).or_default().pop();
        frame.ok_or_else(|| Stop::Fail("nothing is open on this thread".into()))
    }

    fn chain(&mut self, who: Who) -> Check<&mut Chain> {
        let chain = self.chains.get_mut(&who);
        chain.ok_or_else(|| Stop::Fail(format!("{who:?} has not begun")))
    }

    fn seen(&mut self, id: TraceId) -> Check<&mut Seen> {
        let seen = self.tasks.get_mut(&id);
        seen.ok_or_else(|| Stop::Fail(format!("task {id:?} was not created")))
    }

    /// Gives the time since the thread's last event to what it was doing.
    fn account(&mut self, event: &Event, clock: &Clock) -> Check {
        let now = clock.ns(event.ticks);
        let since = self.last.insert(event.thread, now).unwrap_or(now);
        let Ok(who) = self.current(event.thread) else {
            return Ok(());
        };
        if let Who::Explicit(id) = who {
            self.seen(id)?.duration += now - since;
        }
        if self.top(event.thread) != Some(Frame::Runs(who)) {
            return Ok(());
        }
        let written = match event.name.as_str() {
            "flush" => now.saturating_sub(clock.ns(event.get("begin")?).max(since)),
            _ => 0,
        };
        let useful = now - since - written;
        self.chain(who)?.pending += useful;
        if let Who::Explicit(id) = who {
            self.seen(id)?.work += useful;
        }
        if let Some(region) = self.region
            && who != Who::Initial
        {
            let region = self.regions.entry(region).or_default();
            region.work += useful;
            region.useful.push((event.thread, since, since + useful));
        }
        Ok(())
    }

    fn new_point(&mut self) -> usize {
        self.point_regions.push(self.region);
        self.paths.point()
    }

    fn begin_of(&mut self, id: TraceId) -> (usize, usize) {
        if let Some(&points) = self.begins.get(&id) {
            return points;
        }
        let (before, after) = (self.new_point(), self.new_point());
        self.paths.arc(
            after,
            Arc {
                from: before,
                work: 0,
                hops: 1,
                owner: Some(Who::Explicit(id)),
            },
        );
        self.begins.insert(id, (before, after));
        (before, after)
    }

    fn end_of(&mut self, id: TraceId) -> usize {
        if let Some(&point) = self.ends.get(&id) {
            return point;
        }
        let point = self.new_point();
        self.ends.insert(id, point);
        point
    }

    /// Moves a chain on to a new point.
    fn step(&mut self, who: Who) -> Check<usize> {
        let to = self.new_point();
        let chain = self.chain(who)?;
        let arc = Arc {
            from: chain.point,
            work: std::mem::take(&mut chain.pending),
            hops: 0,
            owner: Some(who),
        };
        chain.point = to;
        self.paths.arc(to, arc);
        Ok(to)
    }

    fn join(&mut self, who: Who, members: Vec<TraceId>, descendants: bool) -> Check {
        let point = self.step(who)?;
        self.joins.push(Join {
            point,
            members,
            descendants,
        });
        Ok(())
    }

    fn open_chain(&mut self, who: Who) {
        let point = self.new_point();
        self.chains.insert(
            who,
            Chain {
                point,
                ..Chain::default()
            },
        );
    }

    fn event(&mut self, event: &Event) -> Check {
        let thread = event.thread;
        match event.name.as_str() {
            "thread_begin" if event.get("flags")? & 1 != 0 => {
                self.open_chain(Who::Initial);
                self.push(thread, Frame::Runs(Who::Initial));
            }
            "parallel_begin" => self.region_begin(event)?,
            "parallel_end" => {
                let region = self.region.take().ok_or("no region is open")?;
                self.regions.entry(region).or_default().end = event.ticks;
                self.pop(thread)?;
            }
            "implicit_begin" => {
                let region = event.pair("region_thread", "region_seq")?;
                ensure(self.region == Some(region), || "another region".into())?;
                self.regions
                    .entry(region)
                    .or_default()
                    .threads
                    .insert(thread);
                let who = Who::Implicit(region, thread);
                self.open_chain(who);
                self.push(thread, Frame::Runs(who));
            }
            "implicit_end" => {
                let Frame::Runs(who @ Who::Implicit(..)) = self.pop(thread)? else {
                    return Err("no implicit task is on top".into());
                };
                self.step(who)?;
            }
            "user_event" => self.tagged(event)?,
            "task_create" => self.create(event)?,
            "task_created" => {
                let Frame::Inside(Some(id)) = self.pop(thread)? else {
                    return Err("no task is being created".into());
                };
                let seen = self.seen(id)?;
                if seen.undeferred && seen.asked_undeferred {
                    let who = self.current(thread)?;
                    self.join(who, vec![id], false)?;
                }
            }
            "task_begin" => self.task_begin(event)?,
            "task_end" => self.task_end(event)?,
            "task_suspend" => {
                let Frame::Runs(Who::Explicit(_)) = self.pop(thread)? else {
                    return Err("no explicit task is on top".into());
                };
            }
            "task_resume" => {
                let id = event.pair("thread", "seq")?;
                self.push(thread, Frame::Runs(Who::Explicit(id)));
            }
            "task_event" => self.seen(event.pair("thread", "seq")?)?.detach = true,
            "task_fulfill" => {
                // Without a name it is the running task: bodies of the driver fulfil their own events.
                let id = match (event.pair("thread", "seq")?, self.current(thread)) {
                    ((u32::MAX, _), Ok(Who::Explicit(id))) => id,
                    (named, _) => named,
                };
                self.seen(id)?.fulfilled = Some(event.ticks);
            }
            "taskwait_depend" => self.taskwait_depend(event)?,
            "taskgroup_begin" => {
                let who = self.current(thread)?;
                self.chain(who)?.groups.push(Vec::new());
            }
            "sync_begin" => self.push(thread, Frame::Inside(None)),
            "sync_end" => {
                self.pop(thread)?;
                self.waited(event)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn region_begin(&mut self, event: &Event) -> Check {
        ensure(self.region.is_none(), || "a nested region".into())?;
        let id = (event.thread, u32::try_from(event.get("seq")?).unwrap_or(0));
        self.region = Some(id);
        let region = Region {
            begin: event.ticks,
            ..Region::default()
        };
        self.regions.insert(id, region);
        self.push(event.thread, Frame::Inside(None));
        Ok(())
    }

    fn tagged(&mut self, event: &Event) -> Check {
        let value = u32::try_from(event.get("value")?).unwrap_or(u32::MAX);
        match event.get("type")? {
            tag::CREATE => {
                self.announced.insert(event.thread, value);
            }
            tag::BEGIN => {
                let Who::Explicit(id) = self.current(event.thread)? else {
                    return Err("a body's event outside of a task".into());
                };
                self.seen(id)?.script_inside = Some(value);
            }
            _ => {}
        }
        Ok(())
    }

    /// A new explicit task, child of the current one.
    fn new_task(&mut self, event: &Event) -> Check<(TraceId, Who)> {
        let id = (event.thread, u32::try_from(event.get("seq")?).unwrap_or(0));
        let who = self.current(event.thread)?;
        let script = self.announced.remove(&event.thread);
        let seen = Seen {
            script: script.ok_or("a construct that the driver did not announce")?,
            parent: match who {
                Who::Explicit(parent) => Some(parent),
                _ => None,
            },
            region: self.region,
            number: self.tasks.len(),
            created: event.ticks,
            ..Seen::default()
        };
        let twice = self.tasks.insert(id, seen).is_some();
        ensure(!twice, || format!("task {id:?} is created twice"))?;
        let from = self.step(who)?;
        let (before, _) = self.begin_of(id);
        self.paths.order(from, before);
        let chain = self.chain(who)?;
        chain.children.push(id);
        if let Some(group) = chain.groups.last_mut() {
            group.push(id);
        }
        Ok((id, who))
    }

    fn create(&mut self, event: &Event) -> Check {
        let (id, _) = self.new_task(event)?;
        let flags = event.get("flags")?;
        let parent = self.seen(id)?.parent;
        let included = match parent {
            Some(parent) => self.seen(parent)?.is_final,
            None => false,
        };
        let outside = self.region.is_none();
        let seen = self.seen(id)?;
        seen.is_final = included || flags & FINAL != 0;
        seen.asked_undeferred = included || outside || flags & (IF_FALSE | LIBRARY_SAYS) != 0;
        self.push(event.thread, Frame::Inside(Some(id)));
        Ok(())
    }

    fn task_begin(&mut self, event: &Event) -> Check {
        let id = event.pair("thread", "seq")?;
        let undeferred = self.top(event.thread) == Some(Frame::Inside(Some(id)));
        let (_, after) = self.begin_of(id);
        let seen = self.seen(id)?;
        ensure(seen.begin.is_none(), || "begins twice".into())?;
        seen.begin = Some(event.ticks);
        seen.thread = Some(event.thread);
        seen.undeferred = undeferred;
        let chain = Chain {
            point: after,
            ..Chain::default()
        };
        self.chains.insert(Who::Explicit(id), chain);
        self.push(event.thread, Frame::Runs(Who::Explicit(id)));
        Ok(())
    }

    fn task_end(&mut self, event: &Event) -> Check {
        let Frame::Runs(Who::Explicit(id)) = self.pop(event.thread)? else {
            return Err("no explicit task is on top".into());
        };
        self.seen(id)?.end = Some(event.ticks);
        let last = self.step(Who::Explicit(id))?;
        let end = self.end_of(id);
        self.paths.order(last, end);
        Ok(())
    }

    fn taskwait_depend(&mut self, event: &Event) -> Check {
        let (id, _) = self.new_task(event)?;
        let nowait = event.get("flags")? & 1 != 0;
        let ((_, after), end) = (self.begin_of(id), self.end_of(id));
        self.paths.order(after, end);
        self.seen(id)?.wait = Some(nowait);
        if !nowait {
            self.waits.entry(event.thread).or_default().push(id);
        }
        Ok(())
    }

    /// The end of a wait: 3 taskwait, 4 taskwait depend, 5 taskgroup.
    fn waited(&mut self, event: &Event) -> Check {
        let who = self.current(event.thread)?;
        match event.get("kind")? {
            3 => {
                let children = self.chain(who)?.children.clone();
                self.join(who, children, false)
            }
            4 => {
                let id = self.waits.entry(event.thread).or_default().pop();
                let id = id.ok_or("no taskwait depend is open")?;
                let seen = self.seen(id)?;
                (seen.begin, seen.end) = (Some(event.ticks), Some(event.ticks));
                self.join(who, vec![id], false)
            }
            5 => {
                let group = self
                    .chain(who)?
                    .groups
                    .pop()
                    .ok_or("no taskgroup is open")?;
                if let Some(outer) = self.chain(who)?.groups.last_mut() {
                    outer.extend(&group);
                }
                self.join(who, group, true)
            }
            _ => Ok(()),
        }
    }

    /// Completes the fork-join graph by the dependences and the joins.
    pub fn connect(&mut self, edges: &BTreeSet<(TraceId, TraceId)>) {
        for &(from, to) in edges {
            let (end, (begin, _)) = (self.end_of(from), self.begin_of(to));
            self.paths.order(end, begin);
        }
        for join in std::mem::take(&mut self.joins) {
            let mut members = join.members;
            let mut done = 0;
            while join.descendants && done < members.len() {
                let parent = members[done];
                let children = self
                    .tasks
                    .iter()
                    .filter(|(_, seen)| seen.parent == Some(parent));
                members.extend(children.map(|(&id, _)| id));
                done += 1;
            }
            for id in members {
                let end = self.end_of(id);
                self.paths.order(end, join.point);
            }
        }
    }

    /// When a task is complete, ticks: its end and its event; a `taskwait depend nowait` when its predecessors are.
    #[must_use]
    pub fn complete(&self, id: TraceId, edges: &BTreeSet<(TraceId, TraceId)>) -> Option<u64> {
        let seen = self.tasks.get(&id)?;
        match (seen.wait, seen.detach) {
            (Some(true), _) => self.ready(id, edges),
            (_, true) => Some(seen.end?.max(seen.fulfilled?)),
            (_, false) => seen.end,
        }
    }

    /// When a task is ready, ticks: created, and its predecessors complete.
    #[must_use]
    pub fn ready(&self, id: TraceId, edges: &BTreeSet<(TraceId, TraceId)>) -> Option<u64> {
        let mut ready = self.tasks.get(&id)?.created;
        for &(from, _) in edges.iter().filter(|(_, to)| *to == id) {
            ready = ready.max(self.complete(from, edges)?);
        }
        Some(ready)
    }
}
