//! Paths through the fork-join graph: running values, and the graph itself when it is kept.

use smallvec::SmallVec;

/// Owner of the segments outside of explicit tasks.
pub const OUTSIDE: u32 = u32::MAX;
/// Not a segment: nothing is kept.
const NONE: u32 = u32::MAX;

/// Adds a time. Those of a damaged trace may be anything.
#[inline]
pub(super) fn add(sum: &mut u64, ns: u64) {
    *sum = sum.saturating_add(ns);
}

/// The end of the path so far: longest in time, longest in tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub(super) ns: u64,
    pub(super) hops: u32,
    pub(super) segment: u32,
}

impl Point {
    pub(super) const START: Self = Self {
        ns: 0,
        hops: 0,
        segment: NONE,
    };
}

/// Ends of paths that something waits for.
#[derive(Clone, Debug, Default)]
pub(super) struct Joins {
    pub(super) ns: u64,
    pub(super) hops: u32,
    segments: SmallVec<[u32; 4]>,
}

impl Joins {
    pub(super) fn of(point: Point) -> Self {
        let mut joins = Self::default();
        joins.add(point);
        joins
    }

    #[inline]
    pub(super) fn add(&mut self, point: Point) {
        self.ns = self.ns.max(point.ns);
        self.hops = self.hops.max(point.hops);
        if point.segment != NONE {
            self.segments.push(point.segment);
        }
    }

    pub(super) fn clear(&mut self) {
        (self.ns, self.hops) = (0, 0);
        self.segments.clear();
    }

    pub(super) fn append(&mut self, other: &mut Self) {
        self.ns = self.ns.max(other.ns);
        self.hops = self.hops.max(other.hops);
        self.segments.append(&mut other.segments);
    }
}

/// The fork-join graph of a region: segments of tasks, each with the segments it directly follows, which come before it.
#[derive(Clone, Debug)]
pub struct Segments {
    /// Index of the explicit task in [`Segments::tasks`], or [`OUTSIDE`].
    owners: Vec<u32>,
    weights: Vec<u64>,
    /// Where the predecessors of each segment end in `list`.
    ends: Vec<u32>,
    list: Vec<u32>,
    tasks: Vec<crate::event::TaskId>,
    /// More are not kept: then there are none.
    most: usize,
    full: bool,
}

impl Default for Segments {
    fn default() -> Self {
        Self::up_to(u32::MAX as usize - 1)
    }
}

impl Segments {
    /// None yet, and no more than `most`.
    pub(super) fn up_to(most: usize) -> Self {
        Self {
            owners: Vec::new(),
            weights: Vec::new(),
            ends: Vec::new(),
            list: Vec::new(),
            tasks: Vec::new(),
            most: most.min(u32::MAX as usize - 1),
            full: false,
        }
    }

    /// The tasks that own segments, in the order they began.
    pub fn tasks(&self) -> &[crate::event::TaskId] {
        &self.tasks
    }

    /// Owner, weight in ns, and predecessors of each segment; the owner is an index into [`Segments::tasks`], or [`OUTSIDE`].
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64, &[u32])> {
        (0..self.owners.len()).map(|at| (self.owners[at], self.weights[at], self.predecessors(at)))
    }

    /// Whether there were too many segments: none is kept.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Bytes in use.
    pub fn bytes(&self) -> usize {
        self.owners.len() * 16 + self.list.len() * 4 + self.tasks.len() * 8
    }

    fn predecessors(&self, at: usize) -> &[u32] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.list[begin as usize..self.ends[at] as usize]
    }

    pub(super) fn add_task(&mut self, task: crate::event::TaskId) -> u32 {
        if self.full {
            return OUTSIDE;
        }
        self.tasks.push(task);
        (self.tasks.len() - 1) as u32
    }

    /// A new segment behind `from`.
    pub(super) fn open(&mut self, owner: u32, from: &Joins) -> Point {
        let mut point = Point {
            ns: from.ns,
            hops: from.hops,
            segment: NONE,
        };
        let room = u32::MAX as usize - 1;
        if self.owners.len() >= self.most || self.list.len() + from.segments.len() >= room {
            // Their room is given back.
            *self = Self::up_to(self.most);
            self.full = true;
        }
        if !self.full {
            point.segment = self.owners.len() as u32;
            self.owners.push(owner);
            self.weights.push(0);
            // In a damaged trace a path may seem to come from another region.
            let before = from.segments.iter().filter(|at| **at < point.segment);
            self.list.extend(before);
            self.ends.push(self.list.len() as u32);
        }
        point
    }

    #[inline]
    pub(super) fn work(&mut self, segment: u32, ns: u64) {
        if let Some(weight) = self.weights.get_mut(segment as usize) {
            add(weight, ns);
        }
    }

    /// The longest path and everybody's distance from it. Takes 24 more bytes for each segment meanwhile.
    pub fn critical_path(&self) -> CriticalPath {
        let count = self.owners.len();
        let mut starts = vec![0u64; count];
        for at in 0..count {
            let end = |before: &u32| {
                starts[*before as usize].saturating_add(self.weights[*before as usize])
            };
            starts[at] = self.predecessors(at).iter().map(end).max().unwrap_or(0);
        }
        let end = |at: usize| starts[at].saturating_add(self.weights[at]);
        let span = (0..count).map(end).max().unwrap_or(0);
        // Longest path behind each segment.
        let mut tails = vec![0u64; count];
        let mut slack = vec![u64::MAX; self.tasks.len()];
        for at in (0..count).rev() {
            let tail = tails[at].saturating_add(self.weights[at]);
            for before in self.predecessors(at) {
                let other = &mut tails[*before as usize];
                *other = tail.max(*other);
            }
            if let Some(slack) = slack.get_mut(self.owners[at] as usize) {
                let through = starts[at].saturating_add(tail);
                *slack = span.saturating_sub(through).min(*slack);
            }
        }
        let mut critical = vec![None; self.tasks.len()];
        let mut outside_ns = 0;
        let first_largest = |a: usize, b: usize| if end(b) > end(a) { b } else { a };
        let mut at = (0..count).reduce(first_largest);
        while let Some(segment) = at {
            match critical.get_mut(self.owners[segment] as usize) {
                Some(ns) => add(ns.get_or_insert(0), self.weights[segment]),
                None => add(&mut outside_ns, self.weights[segment]),
            }
            let before = self.predecessors(segment).iter().map(|at| *at as usize);
            // Predecessors come in no order: at equal ends the one that was opened first.
            at = before.reduce(|a, b| first_largest(a.min(b), a.max(b)));
        }
        CriticalPath {
            span,
            slack,
            critical,
            outside_ns,
        }
    }
}

/// One longest path of a region; what belongs to tasks is in the order of [`Segments::tasks`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriticalPath {
    /// T∞, ns.
    pub span: u64,
    /// How much longer each task could take without making the span longer, ns.
    pub slack: Vec<u64>,
    /// What each task on the path contributes, ns; [`None`] for the others.
    pub critical: Vec<Option<u64>>,
    /// What implicit tasks contribute, ns.
    pub outside_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::TaskId;

    /// All paths of a small graph, one by one.
    fn longest(segments: &Segments, at: usize) -> u64 {
        let before = segments.predecessors(at).iter();
        let before = before.map(|other| longest(segments, *other as usize)).max();
        segments.weights[at] + before.unwrap_or(0)
    }

    #[test]
    fn too_many_segments_are_none() {
        let mut segments = Segments::up_to(3);
        let task = segments.add_task(TaskId { thread: 0, seq: 1 });
        let mut last = Point::START;
        for number in 0..5 {
            last = segments.open(task, &Joins::of(last));
            segments.work(last.segment, 7);
            assert_eq!(segments.is_full(), number >= 3, "{number}");
        }
        assert_eq!(last.segment, NONE);
        assert_eq!((segments.iter().count(), segments.bytes()), (0, 0));
    }

    #[test]
    fn slack_and_span_equal_those_of_all_paths() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut below = |limit: u64| random.u64(..limit);
        for _ in 0..200 {
            let mut segments = Segments::default();
            let count = 1 + below(12);
            for at in 0..count {
                let mut joins = Joins::default();
                for before in 0..at {
                    if below(4) == 0 {
                        joins.add(Point {
                            segment: before as u32,
                            ..Point::START
                        });
                    }
                }
                // A task has several segments when it forks or waits.
                let owner = match segments.tasks.len() as u64 {
                    tasks if tasks > 0 && below(3) == 0 => below(tasks) as u32,
                    tasks => segments.add_task(TaskId {
                        thread: 0,
                        seq: tasks as u32,
                    }),
                };
                let point = segments.open(owner, &joins);
                segments.work(point.segment, below(5));
            }
            let path = segments.critical_path();
            let span = (0..count as usize)
                .map(|at| longest(&segments, at))
                .max()
                .unwrap();
            assert_eq!(path.span, span);
            let on_path: u64 = path.critical.iter().flatten().sum();
            assert_eq!(on_path + path.outside_ns, span);
            for task in 0..segments.tasks.len() {
                let own: Vec<usize> = (0..count as usize)
                    .filter(|at| segments.owners[*at] as usize == task)
                    .collect();
                let span_with = |at: usize, more: u64| {
                    let mut longer = segments.clone();
                    longer.weights[at] += more;
                    longer.critical_path().span
                };
                // Any of its segments may take that much longer, one of them no more.
                let slack = path.slack[task];
                assert!(own.iter().all(|at| span_with(*at, slack) == span));
                assert!(own.iter().any(|at| span_with(*at, slack + 1) == span + 1));
                if path.critical[task].is_some() {
                    assert_eq!(slack, 0);
                }
            }
        }
    }
}
