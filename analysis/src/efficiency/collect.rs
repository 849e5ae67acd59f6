//! Spans in, useful and waiting time by region and thread out: a sink of the interpreter.

use hashbrown::HashMap;

use instr_trace::RegionId;
use instr_trace::ThreadInfo;
use instr_trace::model::{Activity, At, Begin, Code, End, Since, Sink, Span};

use super::Report;
use super::open::{Line, MAX_DEPTH, MAX_LOOK, Place, Region, Root, Stay, add};
use super::region::ThreadLoad;

/// Receives what an interpreter finds in one trace.
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

impl Sink for Collector {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;

    fn thread_begin(&mut self, at: At) {
        let line = &mut self.lines[at.position];
        (line.begin, line.since) = (Some(at.time), at.time);
        self.span.get_or_insert((at.time, at.time));
        // Of the other threads we do not know yet whether they are the run-time library's.
        if line.initial {
            self.take_place(at.position);
        }
    }

    fn thread_end(&mut self, at: At) {
        self.end_line(at.position, at.time);
    }

    #[inline]
    fn activity(&mut self, at: At, activity: Activity) {
        let line = &mut self.lines[at.position];
        line.settle(at.time);
        line.activity = activity;
    }

    #[inline]
    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        match *span {
            Span::Parallel { region, code, .. } if how == Begin::Told => {
                self.lines[at.position].settle(at.time);
                self.encounter(at, region, code);
                self.inside(at.position, region, |stay| stay.construct = true);
            }
            Span::Implicit {
                region,
                code,
                thread_num,
            } => {
                self.lines[at.position].settle(at.time);
                self.enter(at, region, code, thread_num, how);
            }
            _ => {}
        }
    }

    #[inline]
    fn end(&mut self, at: At, span: &Span, how: End, _since: Since) {
        let (Span::Implicit { region, .. }
        | Span::Closing { region }
        | Span::Parallel { region, .. }) = *span
        else {
            return;
        };
        let ends: fn(&mut Stay) = match (span, how) {
            // The closing barrier follows.
            (Span::Implicit { .. }, End::Told) => return,
            (Span::Implicit { .. }, End::Kept) => |stay| stay.unseen += 1,
            (Span::Implicit { .. }, End::Unseen { .. }) => |stay| {
                stay.inside = stay.inside.saturating_sub(1);
                stay.unseen = stay.unseen.saturating_sub(1);
            },
            (Span::Implicit { .. } | Span::Closing { .. }, _) => {
                |stay| stay.inside = stay.inside.saturating_sub(1)
            }
            (Span::Parallel { .. }, _) => |stay| stay.construct = false,
            _ => return,
        };
        if self.inside(at.position, region, ends) == Some(false) {
            self.leave_region(at.position, region, at.time);
            self.end_left(at.time);
        }
    }

    fn region_end(&mut self, at: At, region: RegionId, _members: &[usize]) {
        self.end_region(region, at.time);
    }

    /// Regions end with the trace. So each thread is in its region up to its last event, also when the one that leads it ended before.
    fn trace_end(&mut self) {
        let Some((_, mut end)) = self.span else {
            return;
        };
        for line in &mut self.lines {
            if !line.ended && line.begin.is_some() {
                line.settle(line.last);
                line.activity = Activity::Other;
                end = end.max(line.last);
            }
        }
        let roots = self.roots.values().map(|root| (root.code, root.begin));
        self.report.open = roots.min_by_key(|(code, begin)| (*begin, *code));
        let mut open: Vec<_> = self.regions.keys().copied().collect();
        open.sort_unstable();
        for region in open {
            self.end_region(region, end);
        }
        for position in 0..self.lines.len() {
            if self.lines[position].begin.is_some() {
                self.end_line(position, end);
            }
        }
    }
}

impl Collector {
    /// For the threads of one trace, as [`instr_trace::Trace::threads`] gives them.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let line = |thread: &ThreadInfo| Line {
            index: thread.index,
            initial: thread.initial,
            place: None,
            stays: Vec::new(),
            serial: 0,
            activity: Activity::Other,
            since: 0,
            begin: None,
            last: thread.last_time,
            ended: false,
        };
        Self {
            lines: threads.iter().map(line).collect(),
            ..Self::default()
        }
    }

    /// Changes the thread's innermost stay in the region; whether it is then still inside.
    fn inside(
        &mut self,
        position: usize,
        id: RegionId,
        change: impl FnOnce(&mut Stay),
    ) -> Option<bool> {
        let stays = &mut self.lines[position].stays;
        let mut innermost = stays.iter_mut().rev().take(MAX_LOOK);
        let stay = innermost.find(|stay| stay.region == id)?;
        change(stay);
        Some(stay.construct || stay.inside > 0)
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

    fn encounter(&mut self, at: At, id: RegionId, code: Code) {
        self.take_place(at.position);
        let line = &self.lines[at.position];
        if line.stays.len() >= MAX_DEPTH {
            return;
        }
        let root = line.stays.first().map_or(id, |stay| stay.root);
        self.open_region(id, root, code, at.time);
        self.stay(at.position, id, root, 0, None);
    }

    fn open_region(&mut self, id: RegionId, root: RegionId, code: Code, now: u64) {
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
            self.report.budget.overlapping |= !self.roots.is_empty();
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
            construct: false,
            inside: 0,
            unseen: 0,
        });
        if let Some(region) = self.regions.get_mut(&id) {
            region.members.push(position);
        }
        if let Some(root) = self.roots.get_mut(&root) {
            root.members.insert(position);
        }
    }

    /// The thread's implicit task begins.
    fn enter(&mut self, at: At, id: RegionId, code: Code, thread_num: u32, how: Begin) {
        let At { time, position, .. } = at;
        let begin = self.regions.get(&id).map(|region| region.begin);
        let start = begin.map(|begin| time.saturating_sub(begin));
        let line = &self.lines[position];
        let leads = id.thread == line.index;
        let mut known = line.stays.iter().rev().take(MAX_LOOK);
        let known = known.find(|stay| stay.region == id);
        match known {
            // It goes on behind a gap.
            Some(stay) if how == Begin::Found && stay.unseen > 0 => {
                self.inside(position, id, |stay| stay.unseen -= 1);
                return;
            }
            // Teams run one after the other on this thread.
            Some(_) if leads => {
                _ = self.inside(position, id, |stay| stay.start = stay.start.or(start))
            }
            None if leads => self.encounter(at, id, code),
            _ => self.join(at, id, code, thread_num, start),
        }
        self.inside(position, id, |stay| stay.inside += 1);
    }

    /// A thread comes to a region that another one encountered.
    fn join(&mut self, at: At, id: RegionId, code: Code, thread_num: u32, start: Option<u64>) {
        let line = &mut self.lines[at.position];
        if line.stays.len() >= MAX_DEPTH {
            return;
        }
        self.take_place(at.position);
        if !self.regions.contains_key(&id) {
            self.open_region(id, id, code, at.time);
        }
        let root = self.regions.get(&id).map_or(id, |region| region.root);
        self.stay(at.position, id, root, thread_num, start);
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
        let line = &mut self.lines[position];
        if line.ended {
            return;
        }
        line.settle(now);
        line.activity = Activity::Other;
        while !self.lines[position].stays.is_empty() {
            self.leave(position);
        }
        self.end_left(now);
        let place = self.take_place(position);
        let line = &mut self.lines[position];
        line.ended = true;
        add(&mut self.places[place].useful, line.serial);
        self.places[place].free = Some(now);
        add(&mut self.report.budget.serial_useful_ns, line.serial);
        if let Some(span) = &mut self.span {
            span.1 = span.1.max(now);
        }
    }

    /// What was found, once the interpreter has [finished](instr_trace::model::Interpreter::finish).
    pub fn finish(mut self) -> Report {
        let (first, last) = self.span.unwrap_or((0, 0));
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
