//! Time of parallel regions and of the program's own regions as a tree: where several threads are in a region at once, that time counts once; what lies between the regions of a level counts as a region too.
//!
//! The time of a region is the measure of the union of its intervals over all threads (rule of PaScal Analyzer: Anderson da Silva et al. 2022, section 3.2). A region inside of another one is a node below it:
//! regions of the same name in different places are different nodes.

mod counted;
mod energy;

use hashbrown::HashMap;
use instr_trace::RegionId;
use instr_trace::model::{At, Begin, Code, End, Reading, Since, Sink, Span};

use crate::executions::Durations;

use counted::Counted;

pub use counted::Counts;
pub use energy::{Energies, Metered};

/// Deepest nesting of regions that is told apart; deeper ones count for the last.
const DEEPEST: usize = 64;

/// What a region is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// A parallel region, by its body.
    Parallel(Code),
    /// A region of the program's own, by the address of its name.
    User(u64),
}

/// Times in which something was open, ns: in order, and apart from each other.
pub type Intervals = Vec<(u64, u64)>;

/// A region at one place of the tree.
#[derive(Debug, Clone)]
pub struct Node {
    /// The region around it: a position in the list, before its own.
    pub parent: Option<usize>,
    /// What it is.
    pub what: What,
    /// Executions that began, on all threads.
    pub count: u64,
    /// Measure of the union of its intervals, ns.
    pub total_ns: u64,
    /// The part of it in which no region below it was open, ns.
    pub own_ns: u64,
    /// How long the executions took whose begin and end are known, each on its own thread.
    pub executions: Durations,
    /// When it was open; empty unless these are kept ([`Collector::keep_intervals`]).
    pub open: Intervals,
    /// When a region below it was, likewise.
    pub open_below: Intervals,
}

/// All regions of a process.
#[derive(Debug, Clone, Default)]
pub struct Regions {
    /// Parents before their children, in the order of their first begin.
    pub nodes: Vec<Node>,
    /// The part of the span outside of all regions, ns.
    pub outside_ns: u64,
    /// The times of the first event and of the last one, ns.
    pub span: (u64, u64),
    /// When any region was open; empty unless these are kept.
    pub open: Intervals,
    /// What the counters of its threads counted, where they were read.
    pub counts: Counts,
}

impl Regions {
    /// From the first event to the last one, ns.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.span.1 - self.span.0
    }
}

/// The union of intervals.
#[must_use]
pub fn united(mut all: Intervals) -> Intervals {
    all.sort_unstable();
    all.dedup_by(|next, before| {
        let meets = next.0 <= before.1;
        if meets {
            before.1 = before.1.max(next.1);
        }
        meets
    });
    all
}

/// How long they are together, ns.
#[must_use]
pub fn measure(intervals: &Intervals) -> u64 {
    intervals.iter().map(|(begin, end)| end - begin).sum()
}

/// Time in which at least one of several intervals was open.
#[derive(Debug, Clone, Default)]
struct Union {
    open: u32,
    since: u64,
    total: u64,
    /// [`None`]: they are not kept.
    intervals: Option<Intervals>,
}

impl Union {
    fn begin(&mut self, time: u64) {
        if self.open == 0 {
            self.since = time;
        }
        self.open += 1;
    }

    fn end(&mut self, time: u64) {
        self.open = self.open.saturating_sub(1);
        if self.open == 0 {
            self.close(time);
        }
    }

    fn close(&mut self, time: u64) {
        self.total += time.saturating_sub(self.since);
        if let Some(intervals) = &mut self.intervals {
            match intervals.last_mut() {
                // A region that is entered again at once.
                Some(last) if last.1 == self.since => last.1 = time.max(last.1),
                _ => intervals.push((self.since, time.max(self.since))),
            }
        }
    }

    /// Its total and its intervals if the trace ends at `time`.
    fn at_end(mut self, time: u64) -> (u64, Intervals) {
        if self.open > 0 {
            self.close(time);
        }
        (self.total, self.intervals.unwrap_or_default())
    }

    fn keeping(keeps: bool) -> Self {
        Self {
            intervals: keeps.then(Vec::new),
            ..Self::default()
        }
    }
}

/// What a thread is in.
#[derive(Debug, Clone, Copy)]
struct Open {
    node: usize,
    /// Only in an implicit task of the region, whose time is that of the thread that encountered it.
    member_of: Option<RegionId>,
}

#[derive(Debug)]
struct Place {
    parent: Option<usize>,
    what: What,
    count: u64,
    whole: Union,
    below: Union,
    executions: Durations,
}

/// A place is entered, or left.
#[derive(Debug, Clone, Copy)]
struct Change {
    time: u64,
    /// [`None`]: any place at all.
    place: Option<usize>,
    entered: bool,
}

/// Collects [`Regions`].
#[derive(Debug)]
pub struct Collector {
    places: Vec<Place>,
    by_key: HashMap<(Option<usize>, What), usize>,
    /// Open regions of each thread, and the implicit tasks around them, the innermost last.
    open: Vec<Vec<Open>>,
    /// The node of each region that runs, for its other threads.
    teams: HashMap<RegionId, usize>,
    top: Union,
    span: Option<(u64, u64)>,
    /// What [`Metered`] has not seen yet; [`None`]: nobody looks.
    changes: Option<Vec<Change>>,
    counted: Counted,
}

impl Collector {
    /// For so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self {
            places: Vec::new(),
            by_key: HashMap::new(),
            open: vec![Vec::new(); threads],
            teams: HashMap::new(),
            top: Union::default(),
            span: None,
            changes: None,
            counted: Counted::new(threads),
        }
    }

    /// Regions get the times in which they were open: those of several processes are not to be added, but united. To be called before the first event.
    pub fn keep_intervals(&mut self) {
        self.top = Union::keeping(true);
    }

    fn seen(&mut self, time: u64) {
        let span = self.span.get_or_insert((time, time));
        span.1 = span.1.max(time);
    }

    fn place(&mut self, parent: Option<usize>, what: What) -> usize {
        let (places, keeps) = (&mut self.places, self.top.intervals.is_some());
        *self.by_key.entry((parent, what)).or_insert_with(|| {
            places.push(Place {
                parent,
                what,
                count: 0,
                whole: Union::keeping(keeps),
                below: Union::keeping(keeps),
                executions: Durations::default(),
            });
            places.len() - 1
        })
    }

    fn begin_region(&mut self, at: At, what: What, count: bool) -> Option<usize> {
        let stack = self.open.get(at.position)?;
        if stack.len() >= DEEPEST {
            return None;
        }
        let parent = stack.last().map(|open| open.node);
        let node = self.place(parent, what);
        self.enter(at, node, count);
        Some(node)
    }

    fn enter(&mut self, at: At, node: usize, count: bool) {
        let parent = self.places[node].parent;
        match parent {
            Some(parent) => self.places[parent].below.begin(at.time),
            None => {
                self.top.begin(at.time);
                self.changed(at.time, None, true);
            }
        }
        self.changed(at.time, Some(node), true);
        let place = &mut self.places[node];
        place.whole.begin(at.time);
        place.count += u64::from(count);
        self.open[at.position].push(Open {
            node,
            member_of: None,
        });
    }

    /// `since`: when the execution began, if it is over now.
    fn end_region(&mut self, at: At, since: Option<u64>, is_it: impl Fn(&Place) -> bool) {
        let Some(stack) = self.open.get_mut(at.position) else {
            return;
        };
        let is_it = |open: &Open| open.member_of.is_none() && is_it(&self.places[open.node]);
        let Some(found) = stack.iter().rposition(is_it) else {
            return;
        };
        let open = stack.remove(found);
        self.counted.left(at.position, stack.len());
        if let Some(since) = since {
            let executions = &mut self.places[open.node].executions;
            executions.add(at.time.saturating_sub(since));
        }
        self.leave(at.time, open);
    }

    fn leave(&mut self, time: u64, Open { node, member_of }: Open) {
        if member_of.is_some() {
            return;
        }
        self.places[node].whole.end(time);
        match self.places[node].parent {
            Some(parent) => self.places[parent].below.end(time),
            None => {
                self.top.end(time);
                self.changed(time, None, false);
            }
        }
        self.changed(time, Some(node), false);
    }

    fn changed(&mut self, time: u64, place: Option<usize>, entered: bool) {
        if let Some(changes) = &mut self.changes {
            changes.push(Change {
                time,
                place,
                entered,
            });
        }
    }

    /// What was collected.
    #[must_use]
    pub fn finish(self) -> Regions {
        let (first, last) = self.span.unwrap_or_default();
        let node = |place: Place| {
            let (total_ns, open) = place.whole.at_end(last);
            let (below_ns, open_below) = place.below.at_end(last);
            Node {
                parent: place.parent,
                what: place.what,
                count: place.count,
                total_ns,
                own_ns: total_ns.saturating_sub(below_ns),
                executions: place.executions,
                open,
                open_below,
            }
        };
        let parents: Vec<Option<usize>> = self.places.iter().map(|place| place.parent).collect();
        let (inside_ns, open) = self.top.at_end(last);
        Regions {
            span: (first, last),
            open,
            counts: self.counted.finish(&parents),
            outside_ns: (last - first).saturating_sub(inside_ns),
            nodes: self.places.into_iter().map(node).collect(),
        }
    }
}

impl Sink for Collector {
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;
    const READINGS: bool = true;

    fn reading(&mut self, at: At, reading: &Reading<'_>) {
        if let (Reading::Counters { scaled, values }, Some(stack)) =
            (reading, self.open.get(at.position))
        {
            let open = stack.iter().map(|open| open.node);
            self.counted.read(at.position, open, *scaled, values);
        }
    }

    fn thread_begin(&mut self, at: At) {
        self.seen(at.time);
    }

    fn thread_end(&mut self, at: At) {
        self.seen(at.time);
        let open = self
            .open
            .get_mut(at.position)
            .map(std::mem::take)
            .unwrap_or_default();
        self.counted.left(at.position, 0);
        open.into_iter()
            .rev()
            .for_each(|open| self.leave(at.time, open));
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.seen(at.time);
        // What a task left open and takes up again is the same execution.
        let count = how != Begin::Resumed;
        match *span {
            Span::Parallel { region, code, .. } => {
                if let Some(node) = self.begin_region(at, What::Parallel(code), count) {
                    self.teams.insert(region, node);
                }
            }
            // Regions of the program's own that a thread of the team begins belong to the region.
            Span::Implicit { region, .. } => {
                let stack = self
                    .open
                    .get_mut(at.position)
                    .filter(|stack| stack.len() < DEEPEST);
                if let (Some(node), Some(stack)) = (self.teams.get(&region), stack) {
                    stack.push(Open {
                        node: *node,
                        member_of: Some(region),
                    });
                }
            }
            Span::User { name } => {
                self.begin_region(at, What::User(name), count);
            }
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.seen(at.time);
        let since = since.first.filter(|_| how == End::Told);
        match *span {
            Span::Parallel { region, code, .. } => {
                self.end_region(at, since, |place| place.what == What::Parallel(code));
                if how.is_final() {
                    self.teams.remove(&region);
                }
            }
            Span::Implicit { region, .. } => {
                let Some(stack) = self.open.get_mut(at.position) else {
                    return;
                };
                if let Some(found) = stack
                    .iter()
                    .rposition(|open| open.member_of == Some(region))
                {
                    // What the task left open ends with it.
                    let inner = stack.split_off(found);
                    self.counted.left(at.position, found);
                    inner
                        .into_iter()
                        .rev()
                        .for_each(|open| self.leave(at.time, open));
                }
            }
            Span::User { name } => {
                self.end_region(at, since, |place| place.what == What::User(name))
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use instr_trace::model::replay;
    use instr_trace::{Trace, synth};

    use super::*;

    #[test]
    fn intervals_are_united() {
        let all = vec![(5, 7), (0, 3), (2, 4), (7, 9), (20, 20)];
        let found = united(all);
        assert_eq!(found, [(0, 4), (5, 9), (20, 20)]);
        assert_eq!(measure(&found), 8);
    }

    /// Thread 0 has a region of its own from 0 to 100, in it a parallel region from 10 to 50, in which both threads have a region `w`: 15 to 35 and 20 to 45. Then two regions of the name again, which
    /// overlap: 110 to 140 on thread 0, 120 to 160 on thread 1.
    fn example(dir: &std::path::Path) -> Trace {
        let layout = synth::layouts()[0];
        synth::begin(dir, layout, 1_000_000_000).unwrap();
        let start = synth::START_TICKS;
        let mut first = synth::StreamWriter::create(dir, layout, 0, 1 << 16).unwrap();
        let mut second = synth::StreamWriter::create(dir, layout, 1, 1 << 16).unwrap();
        first.thread_begin(start, 1, 0).unwrap();
        second.thread_begin(start, 2, 0).unwrap();
        first.region_begin(start, 0xa).unwrap();
        first
            .parallel_begin(start + 10, 1, synth::CODE_BASE + 8, 2, 0_u32)
            .unwrap();
        first.implicit_begin(start + 11, (0, 1), 0, 2).unwrap();
        second.implicit_begin(start + 12, (0, 1), 1, 2).unwrap();
        first.region_begin(start + 15, 0xb).unwrap();
        second.region_begin(start + 20, 0xb).unwrap();
        first.region_end(start + 35).unwrap();
        second.region_end(start + 45).unwrap();
        first.implicit_end(start + 47).unwrap();
        first.parallel_end(start + 50, 1).unwrap();
        second.implicit_end(start + 60).unwrap();
        first.region_end(start + 100).unwrap();
        first.region_begin(start + 110, 0xb).unwrap();
        second.region_begin(start + 120, 0xb).unwrap();
        first.region_end(start + 140).unwrap();
        second.region_end(start + 160).unwrap();
        first.thread_end(start + 200).unwrap();
        second.thread_end(start + 200).unwrap();
        first.finish().unwrap();
        second.finish().unwrap();
        Trace::open(dir).unwrap()
    }

    #[test]
    fn overlapping_threads_count_once_and_gaps_are_what_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let trace = example(dir.path());
        let mut collector = Collector::new(trace.threads().len());
        replay(&trace, &mut collector).unwrap();
        let found = collector.finish();
        let node = |at: usize| {
            let node = &found.nodes[at];
            (node.parent, node.count, node.total_ns, node.own_ns)
        };
        assert_eq!(found.nodes.len(), 4);
        assert_eq!(
            node(0),
            (None, 1, 100, 60),
            "the outer region: 100 without the 40 of the parallel region"
        );
        assert_eq!(
            node(1),
            (Some(0), 1, 40, 10),
            "10 to 50; w is open from 15 to 45"
        );
        assert_eq!(
            node(2),
            (Some(1), 2, 30, 30),
            "the union of 15 to 35 and 20 to 45"
        );
        assert_eq!(
            node(3),
            (None, 2, 50, 50),
            "the union of 110 to 140 and 120 to 160"
        );
        assert_eq!((found.duration_ns(), found.outside_ns), (200, 50));
        assert!(found.open.is_empty() && found.nodes[0].open.is_empty());
        // The same with the times themselves.
        let mut keeping = Collector::new(trace.threads().len());
        keeping.keep_intervals();
        replay(&trace, &mut keeping).unwrap();
        let kept = keeping.finish();
        for (node, same) in kept.nodes.iter().zip(&found.nodes) {
            let (open, below) = (measure(&node.open), measure(&node.open_below));
            assert_eq!((open, open - below), (same.total_ns, same.own_ns));
        }
        let (from, to) = kept.nodes[3].open[0];
        assert_eq!((to - from, kept.nodes[3].open.len()), (50, 1));
        assert_eq!(measure(&kept.open), 150);
        assert_eq!(
            found.counts,
            Counts::default(),
            "nothing of it was in regions"
        );
    }

    const COUNTERS: &str =
        "\nenv {\n    counter_0 = \"task-clock ns\";\n    counter_1 = \"cycles -\";";

    /// Two counters. Thread 0: 5 before the region `a`, 10 in it, 20 in the parallel region in it, 7 between the readings at its end and at that of `a`, 3 behind it. Thread 1: 100 in the parallel region, 40
    /// behind it, of which the second counter saw nothing.
    #[test]
    fn counts_belong_to_the_regions_that_were_open_all_the_while() {
        let dir = tempfile::tempdir().unwrap();
        let layout = synth::layouts()[0];
        synth::begin(dir.path(), layout, 1_000_000_000).unwrap();
        let start = synth::START_TICKS;
        let mut first = synth::StreamWriter::create(dir.path(), layout, 0, 1 << 16).unwrap();
        let mut second = synth::StreamWriter::create(dir.path(), layout, 1, 1 << 16).unwrap();
        first.thread_begin(start, 1, 0).unwrap();
        second.thread_begin(start, 2, 0).unwrap();
        fn read<W: Write>(at: u64, stream: &mut synth::StreamWriter<W>, values: [i64; 2]) {
            let at = synth::START_TICKS + at;
            stream.thread_counters(at, 0, &values).unwrap();
        }
        first.region_begin(start + 10, 0xa).unwrap();
        read(10, &mut first, [5, 50]);
        first
            .parallel_begin(start + 20, 1, synth::CODE_BASE + 8, 2, 0_u32)
            .unwrap();
        read(20, &mut first, [15, 150]);
        first.implicit_begin(start + 21, (0, 1), 0, 2).unwrap();
        read(21, &mut first, [15, 150]);
        second.implicit_begin(start + 22, (0, 1), 1, 2).unwrap();
        read(22, &mut second, [0, 0]);
        read(40, &mut first, [35, 350]);
        first.implicit_end(start + 40).unwrap();
        read(45, &mut second, [100, 1000]);
        second.implicit_end(start + 45).unwrap();
        read(50, &mut first, [35, 350]);
        first.parallel_end(start + 50, 1).unwrap();
        read(60, &mut first, [42, 420]);
        first.region_end(start + 60).unwrap();
        read(70, &mut first, [45, 450]);
        read(70, &mut second, [140, i64::MIN]);
        first.thread_end(start + 70).unwrap();
        second.thread_end(start + 70).unwrap();
        first.finish().unwrap();
        second.finish().unwrap();
        let path = dir.path().join("metadata");
        let text = std::fs::read_to_string(&path).unwrap();
        let named = text.replacen("\nenv {", COUNTERS, 1);
        assert_ne!(named, text);
        std::fs::write(&path, named).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let mut collector = Collector::new(trace.threads().len());
        replay(&trace, &mut collector).unwrap();
        let counts = collector.finish().counts;
        assert_eq!(counts.nodes, [[137, 1370], [120, 1200]]);
        assert_eq!(
            (counts.outside, counts.run),
            (vec![48, 80], vec![185, 1450])
        );
    }
}
