//! Events in, useful and waiting time by region and thread out.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::event::{Event, Payload, RegionId};
use crate::model::{Activity, Interpreter};
use crate::trace::ThreadInfo;

use super::Report;
use super::region::{RegionCode, ThreadLoad};

/// A thread's stay in a region.
#[derive(Clone, Copy, Debug)]
struct Stay {
    region: RegionId,
    /// The outermost region around it.
    root: RegionId,
    thread_num: u32,
    useful: u64,
    barrier: u64,
    /// From the region's begin to that of the thread's implicit task, once it has begun.
    start: Option<u64>,
    /// This thread encountered the region.
    leads: bool,
    /// Its implicit task has ended.
    closing: bool,
}

/// One thread of the trace.
#[derive(Clone, Debug)]
struct Line {
    index: u32,
    /// Which of the P threads it is.
    place: Option<usize>,
    stays: Vec<Stay>,
    /// Useful time outside of regions not handed on yet.
    serial: u64,
    activity: Activity,
    since: u64,
    begin: Option<u64>,
    last: u64,
    ended: bool,
}

impl Line {
    /// Counts the time up to `now` for what the thread did.
    fn settle(&mut self, now: u64) {
        let time = now.saturating_sub(self.since);
        self.since = self.since.max(now);
        match (self.activity, self.stays.last_mut()) {
            (Activity::Useful, Some(stay)) => add(&mut stay.useful, time),
            (Activity::Useful, None) => add(&mut self.serial, time),
            (Activity::Barrier, Some(stay)) => add(&mut stay.barrier, time),
            _ => {}
        }
    }
}

fn add(to: &mut u64, ns: u64) {
    *to = to.saturating_add(ns);
}

/// A region that runs.
#[derive(Clone, Debug)]
struct Region {
    code: RegionCode,
    root: RegionId,
    begin: u64,
    members: Vec<usize>,
    loads: Vec<(u32, ThreadLoad)>,
}

/// An outermost region that runs.
#[derive(Clone, Debug, Default)]
struct Root {
    code: RegionCode,
    begin: u64,
    /// Threads that entered it or a region inside of it.
    members: BTreeSet<usize>,
    /// Useful time by place among the P threads.
    useful: BTreeMap<usize, u64>,
}

/// One of the P threads.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    useful: u64,
    /// When the thread that had it ended.
    free: Option<u64>,
}

/// Deeper nesting is damage: it is not followed.
const MAX_DEPTH: usize = 1 << 12;

/// Follows a merged trace; feed it every event after the interpreter has taken it.
#[derive(Clone, Debug, Default)]
pub struct Collector {
    lines: Vec<Line>,
    places: Vec<Place>,
    regions: HashMap<RegionId, Region>,
    roots: HashMap<RegionId, Root>,
    /// Regions whose encountering thread has left them, to be ended.
    left: Vec<RegionId>,
    /// Begin of the time in which an outermost region runs.
    parallel_since: Option<u64>,
    span: Option<(u64, u64)>,
    report: Report,
}

impl Collector {
    /// For the threads of one trace, as [`crate::Trace::threads`] gives them.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let line = |thread: &ThreadInfo| Line {
            index: thread.index,
            place: None,
            stays: Vec::new(),
            serial: 0,
            activity: Activity::Other,
            since: 0,
            begin: None,
            last: 0,
            ended: false,
        };
        Self {
            lines: threads.iter().map(line).collect(),
            ..Self::default()
        }
    }

    /// Takes an event of the thread at `position` into account, after `model` has.
    #[inline]
    pub fn event(&mut self, position: usize, event: &Event<'_>, model: &Interpreter) {
        let now = event.time;
        let Some(line) = self.lines.get_mut(position) else {
            return;
        };
        if line.ended {
            return;
        }
        line.last = now;
        let span = self.span.get_or_insert((now, now));
        span.1 = span.1.max(now);
        if line.begin.is_none() {
            (line.begin, line.since) = (Some(now), now);
        }
        match event.payload {
            Payload::ThreadBegin { .. }
            | Payload::ParallelBegin { .. }
            | Payload::ParallelEnd { .. }
            | Payload::ImplicitBegin { .. }
            | Payload::ImplicitEnd
            | Payload::ThreadEnd
            | Payload::Lost { .. } => self.structure(position, event),
            _ => {}
        }
        for &joined in model.joined() {
            self.observe(joined, model.activity(joined), now);
        }
        self.observe(position, model.activity(position), now);
    }

    #[inline]
    fn observe(&mut self, position: usize, activity: Activity, now: u64) {
        if let Some(line) = self.lines.get_mut(position)
            && line.activity != activity
        {
            line.settle(now);
            line.activity = activity;
        }
    }

    fn structure(&mut self, position: usize, event: &Event<'_>) {
        let now = event.time;
        self.lines[position].settle(now);
        match event.payload {
            // Of the other threads we do not know yet whether they are the run-time library's.
            Payload::ThreadBegin { flags, .. } if flags & 1 != 0 => _ = self.take_place(position),
            Payload::ParallelBegin {
                seq,
                function,
                call_site,
                ..
            } => {
                let code = RegionCode {
                    address: function,
                    call_site,
                };
                self.encounter(position, seq, code, now);
            }
            Payload::ParallelEnd { seq } => {
                let thread = self.lines[position].index;
                self.end_region(RegionId { thread, seq }, now);
            }
            Payload::ImplicitBegin {
                region, thread_num, ..
            } => self.enter(position, region, thread_num, now),
            Payload::ImplicitEnd => {
                let stays = &mut self.lines[position].stays;
                if let Some(stay) = stays.iter_mut().rev().find(|stay| !stay.closing) {
                    stay.closing = true;
                }
            }
            Payload::ThreadEnd => self.end_line(position, now),
            Payload::Lost { region, .. } => {
                self.leave_until(position, now, |stay| Some(stay.region) == region);
                if let Some(region) = region
                    && self.lines[position].stays.is_empty()
                {
                    self.find_inside(position, region, now);
                }
            }
            _ => {}
        }
    }

    /// Behind a gap a thread is found in a region that it was not seen to enter.
    fn find_inside(&mut self, position: usize, id: RegionId, now: u64) {
        if id.thread == self.lines[position].index {
            self.encounter(position, id.seq, RegionCode::default(), now);
        } else {
            self.enter(position, id, u32::MAX, now);
        }
    }

    fn take_place(&mut self, position: usize) -> usize {
        let line = &mut self.lines[position];
        if let Some(place) = line.place {
            return place;
        }
        let begin = line.begin.unwrap_or(0);
        let fits = |place: &Place| place.free.is_some_and(|free| free <= begin);
        let at = self.places.iter().position(fits).unwrap_or_else(|| {
            self.places.push(Place::default());
            self.places.len() - 1
        });
        self.places[at].free = None;
        line.place = Some(at);
        at
    }

    fn encounter(&mut self, position: usize, seq: u32, code: RegionCode, now: u64) {
        self.take_place(position);
        let line = &self.lines[position];
        let id = RegionId {
            thread: line.index,
            seq,
        };
        if line.stays.len() >= MAX_DEPTH {
            return;
        }
        let root = line.stays.first().map_or(id, |stay| stay.root);
        self.open_region(id, root, code, now);
        self.stay(position, id, root, 0, None);
    }

    fn open_region(&mut self, id: RegionId, root: RegionId, code: RegionCode, now: u64) {
        if self.regions.contains_key(&id) {
            self.end_region(id, now);
        }
        let region = Region {
            code,
            root,
            begin: now,
            members: Vec::new(),
            loads: Vec::new(),
        };
        self.regions.insert(id, region);
        if root == id {
            let root = Root {
                code,
                begin: now,
                ..Root::default()
            };
            self.roots.insert(id, root);
            self.parallel_since.get_or_insert(now);
        }
    }

    fn stay(
        &mut self,
        position: usize,
        id: RegionId,
        root: RegionId,
        thread_num: u32,
        start: Option<u64>,
    ) {
        let line = &mut self.lines[position];
        line.stays.push(Stay {
            region: id,
            root,
            thread_num,
            useful: 0,
            barrier: 0,
            start,
            leads: id.thread == line.index,
            closing: false,
        });
        if let Some(region) = self.regions.get_mut(&id) {
            region.members.push(position);
        }
        if let Some(root) = self.roots.get_mut(&root) {
            root.members.insert(position);
        }
    }

    fn enter(&mut self, position: usize, id: RegionId, thread_num: u32, now: u64) {
        let line = &mut self.lines[position];
        let start = self
            .regions
            .get(&id)
            .map(|region| now.saturating_sub(region.begin));
        if id.thread == line.index {
            // Teams run one after the other on this thread.
            if let Some(stay) = line.stays.iter_mut().rev().find(|stay| stay.region == id) {
                stay.closing = false;
                stay.start = stay.start.or(start);
            }
            return;
        }
        self.leave_until(position, now, |stay| !stay.closing || stay.leads);
        let line = &mut self.lines[position];
        if line.stays.len() >= MAX_DEPTH {
            return;
        }
        if line.place.is_none() {
            // It was on its way into its first region.
            line.serial = 0;
            self.take_place(position);
        }
        if !self.regions.contains_key(&id) {
            self.open_region(id, id, RegionCode::default(), now);
        }
        let root = self.regions.get(&id).map_or(id, |region| region.root);
        self.stay(position, id, root, thread_num, start);
    }

    /// Ends the innermost stays of a thread down to one that `stop` accepts, which goes on.
    fn leave_until(&mut self, position: usize, now: u64, stop: impl Fn(&Stay) -> bool) {
        while let Some(stay) = self.lines[position].stays.last() {
            if stop(stay) {
                break;
            }
            self.leave(position);
        }
        self.end_left(now);
    }

    /// Ends the regions whose encountering threads have left them.
    fn end_left(&mut self, now: u64) {
        while let Some(region) = self.left.pop() {
            self.close(region, now);
        }
    }

    /// Ends the innermost stay of a thread whose time is settled.
    fn leave(&mut self, position: usize) {
        let line = &mut self.lines[position];
        let Some(stay) = line.stays.pop() else {
            return;
        };
        if stay.leads {
            self.left.push(stay.region);
        }
        match line.stays.last_mut() {
            Some(below) => add(&mut below.useful, stay.useful),
            None => {
                if let (Some(root), Some(place)) = (self.roots.get_mut(&stay.root), line.place) {
                    add(root.useful.entry(place).or_default(), stay.useful);
                }
            }
        }
        if let Some(region) = self.regions.get_mut(&stay.region) {
            let load = ThreadLoad {
                executions: 1,
                useful_ns: stay.useful,
                barrier_ns: stay.barrier,
                start_ns: stay.start.unwrap_or(0),
            };
            region.loads.push((stay.thread_num, load));
        }
    }

    /// The stay of a thread in a region ends, and all inside of it.
    fn leave_region(&mut self, position: usize, id: RegionId, now: u64) {
        let stays = &self.lines[position].stays;
        let Some(at) = stays.iter().rposition(|stay| stay.region == id) else {
            return;
        };
        self.lines[position].settle(now);
        while self.lines[position].stays.len() > at {
            self.leave(position);
        }
    }

    fn end_region(&mut self, id: RegionId, now: u64) {
        self.close(id, now);
        self.end_left(now);
    }

    /// Ends a region; regions that this leaves without their encountering thread go to `left`.
    fn close(&mut self, id: RegionId, now: u64) {
        let Some(region) = self.regions.get_mut(&id) else {
            return;
        };
        let members = std::mem::take(&mut region.members);
        for position in members {
            self.leave_region(position, id, now);
        }
        let Some(region) = self.regions.remove(&id) else {
            return;
        };
        let load = self.report.regions.entry(region.code).or_default();
        load.execution(now.saturating_sub(region.begin), &region.loads);
        if region.root == id {
            let starts = region.loads.iter().map(|(_, load)| load.start_ns);
            self.end_root(id, starts.max().unwrap_or(0), now);
        }
    }

    fn end_root(&mut self, id: RegionId, latest_start: u64, now: u64) {
        let members = self
            .roots
            .get_mut(&id)
            .map(|root| std::mem::take(&mut root.members));
        // Inner regions that lost their end.
        for position in members.unwrap_or_default() {
            if self.lines[position]
                .stays
                .first()
                .is_some_and(|stay| stay.root == id)
            {
                self.lines[position].settle(now);
                while !self.lines[position].stays.is_empty() {
                    self.leave(position);
                }
            }
        }
        let Some(root) = self.roots.remove(&id) else {
            return;
        };
        for (&place, &ns) in &root.useful {
            add(&mut self.places[place].useful, ns);
        }
        let useful: Vec<u64> = root.useful.into_values().collect();
        let elapsed = now.saturating_sub(root.begin);
        let load = self.report.regions.entry(root.code).or_default();
        load.outermost(elapsed, &useful, latest_start);
        let longest = useful.iter().copied().max().unwrap_or(0);
        let sum = useful.iter().copied().fold(0, u64::saturating_add);
        let budget = &mut self.report.budget;
        add(&mut budget.longest_useful_ns, longest);
        budget.mean_useful_ns += sum as f64 / useful.len().max(1) as f64;
        if self.roots.is_empty()
            && let Some(since) = self.parallel_since.take()
        {
            add(&mut budget.parallel_ns, now.saturating_sub(since));
        }
    }

    fn end_line(&mut self, position: usize, now: u64) {
        self.lines[position].settle(now);
        self.leave_until(position, now, |_| false);
        let place = self.take_place(position);
        let line = &mut self.lines[position];
        line.ended = true;
        add(&mut self.places[place].useful, line.serial);
        self.places[place].free = Some(now);
        add(&mut self.report.budget.serial_useful_ns, line.serial);
    }

    /// What was found. Whatever is still open ends with the trace, each thread with its last event.
    pub fn finish(mut self) -> Report {
        for position in 0..self.lines.len() {
            let line = &mut self.lines[position];
            if !line.ended && line.begin.is_some() {
                let last = line.last;
                line.settle(last);
                line.activity = Activity::Other;
            }
        }
        let (first, last) = self.span.unwrap_or((0, 0));
        let mut open: Vec<_> = self.regions.keys().copied().collect();
        open.sort_unstable();
        for region in open {
            self.end_region(region, last);
        }
        for position in 0..self.lines.len() {
            let line = &self.lines[position];
            if !line.ended && line.begin.is_some() {
                self.end_line(position, last);
            }
        }
        let report = &mut self.report;
        let budget = &mut report.budget;
        budget.elapsed_ns = last - first;
        for load in report.regions.values() {
            add(&mut budget.region_useful_ns, load.useful_ns);
            add(&mut budget.allotted_ns, load.allotted_ns);
            add(&mut budget.imbalance_ns, load.imbalance_ns);
            add(&mut budget.scheduling_ns, load.scheduling_ns);
        }
        budget.useful_of_threads = self.places.iter().map(|place| place.useful).collect();
        // Regions of several initial threads that overlap may have been given more than their share.
        let needed = budget.allotted_ns.saturating_add(budget.serial_useful_ns);
        let at_least = needed.checked_div(budget.elapsed_ns).unwrap_or(0)
            + u64::from(budget.elapsed_ns > 0 && !needed.is_multiple_of(budget.elapsed_ns));
        budget.threads = (self.places.len() as u64).max(at_least);
        self.report
    }
}
