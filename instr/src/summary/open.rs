//! What is open on one thread.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::event::{MutexKind, Schedule, SyncKind, TargetKind, schedule_flags};
use instr_trace::{RegionId, TaskId};

use super::counts::{Code, Spread};
use super::model::Times;

/// A running body.
#[derive(Debug, Clone, Copy)]
pub(super) enum Body {
    Implicit {
        region: RegionId,
        function: Option<Code>,
        leads: bool,
    },
    Task {
        task: TaskId,
        function: Option<Code>,
        begin: Option<u64>,
        /// What ran inside of it.
        inner_ns: u64,
        /// What it ran before it was suspended, `inner_ns` not taken off.
        before_ns: u64,
        /// Number of waits that were open on the thread when it began.
        syncs: usize,
        /// Number of locks that were held on the thread when it began.
        holding: usize,
    },
}

impl Body {
    pub(super) fn function(&self) -> Option<Code> {
        match *self {
            Self::Implicit { function, .. } | Self::Task { function, .. } => function,
        }
    }
}

/// A task that left its thread before its end, and what was open in it.
#[derive(Debug)]
pub(super) struct Suspended {
    pub(super) body: Body,
    pub(super) syncs: Vec<(SyncKind, u64)>,
    pub(super) holding: Vec<(MutexKind, u64, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    Loop { schedule: Schedule, incr: i64 },
    Sections,
    Scope,
}

#[derive(Debug)]
pub(super) struct OpenWork {
    pub(super) work: Work,
    pub(super) function: Option<Code>,
    pub(super) instances: u64,
    pub(super) pieces: u64,
    pub(super) begin: u64,
    /// Begin of the chunk or section that runs.
    pub(super) piece: Option<u64>,
    pub(super) iterations: Spread,
    pub(super) piece_times: Times,
}

impl OpenWork {
    /// A chunk or section, begun at `now`.
    pub(super) fn begin_piece(&mut self, now: u64) {
        self.end_piece(now);
        self.pieces += 1;
        self.piece = Some(now);
    }

    /// The running chunk or section, if any, ends at `now`.
    pub(super) fn end_piece(&mut self, now: u64) {
        if let Some(begin) = self.piece.take() {
            self.piece_times.add(now.saturating_sub(begin));
        }
    }

    /// Counts the iterations of the chunk [`begin`, `end`).
    pub(super) fn chunk(&mut self, begin: i64, end: i64) {
        if let Work::Loop { schedule, incr } = self.work {
            self.iterations.add(iterations(schedule, begin, end, incr));
        }
    }
}

/// How many times a loop from `begin` to before `end` runs; unsigned bounds come as the same bits.
fn iterations(schedule: Schedule, begin: i64, end: i64, incr: i64) -> u64 {
    let wide = |bound: i64| match schedule.has(schedule_flags::UNSIGNED) {
        true => i128::from(bound.cast_unsigned()),
        false => i128::from(bound),
    };
    let (length, step) = (wide(end) - wide(begin), i128::from(incr));
    let count = match step {
        1.. => (length.max(0) + step - 1) / step,
        0 => 0,
        _ => ((-length).max(0) - step - 1) / -step,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[derive(Debug, Default)]
pub(super) struct ThreadState {
    pub(super) events: u64,
    pub(super) last: u64,
    pub(super) bodies: Vec<Body>,
    /// Places of the implicit tasks among them.
    implicit: Vec<(usize, RegionId)>,
    pub(super) regions: Vec<(u32, Code, u64)>,
    pub(super) creating: Vec<u32>,
    pub(super) work: Vec<OpenWork>,
    pub(super) syncs: Vec<(SyncKind, u64)>,
    pub(super) asking: Vec<(MutexKind, u64, u64)>,
    pub(super) holding: Vec<(MutexKind, u64, u64)>,
    pub(super) masked: Vec<(Option<Code>, u64)>,
    pub(super) single: Option<u64>,
    pub(super) targets: Vec<(TargetKind, u64, u64)>,
    pub(super) user: Vec<(u64, u64)>,
    pub(super) calls: Vec<(u64, u64)>,
    pub(super) strings: HashMap<u64, String>,
}

impl ThreadState {
    /// The body that runs here, and whether what a team does together counts here: once, on its first thread.
    pub(super) fn around(&self) -> (Option<Code>, bool) {
        let body = self.bodies.last();
        let counts = !matches!(body, Some(Body::Implicit { leads: false, .. }));
        (body.and_then(Body::function), counts)
    }

    pub(super) fn push(&mut self, body: Body) {
        if let Body::Implicit { region, .. } = body {
            self.implicit.push((self.bodies.len(), region));
        }
        self.bodies.push(body);
    }

    pub(super) fn truncate(&mut self, keep: usize) {
        self.bodies.truncate(keep);
        while self.implicit.pop_if(|(place, _)| *place >= keep).is_some() {}
    }

    /// Ends the innermost implicit task, or that of `region`, and all on top of it: those have lost their ends, so that they are not
    /// timed.
    pub(super) fn close_implicit(&mut self, region: Option<RegionId>) {
        let is = |open: &(usize, RegionId)| region.is_none_or(|region| region == open.1);
        if let Some(at) = find_last(&self.implicit, is) {
            self.truncate(self.implicit[at].0);
        }
    }

    pub(super) fn open_work(&mut self, work: Work, begin: u64) {
        let (function, counts) = self.around();
        self.work.push(OpenWork {
            work,
            function,
            instances: u64::from(counts),
            pieces: 0,
            begin,
            piece: None,
            iterations: Spread::default(),
            piece_times: Times::default(),
        });
    }

    /// The innermost explicit task below did not itself do what took `ns` on top of it.
    pub(super) fn not_of_below(&mut self, ns: u64) {
        let below = self.bodies.iter_mut().rev().find_map(|body| match body {
            Body::Task { inner_ns, .. } => Some(inner_ns),
            Body::Implicit { .. } => None,
        });
        if let Some(inner) = below {
            *inner = inner.saturating_add(ns);
        }
    }

    /// A task that begins or goes on here at `now`.
    pub(super) fn task_body(&self, task: TaskId, function: Option<Code>, now: Option<u64>) -> Body {
        Body::Task {
            task,
            function,
            begin: now,
            inner_ns: 0,
            before_ns: 0,
            syncs: self.syncs.len(),
            holding: self.holding.len(),
        }
    }
}

/// What lost its end may lie around what is looked for, but further out nothing is looked for.
const MAX_LOOK: usize = 1 << 10;

/// The place of the last one that matches.
pub(super) fn find_last<T>(open: &[T], matches: impl Fn(&T) -> bool) -> Option<usize> {
    let from = open.len().saturating_sub(MAX_LOOK);
    let found = open[from..].iter().rposition(matches);
    found.map(|at| from + at)
}

pub(super) fn take_last<T>(open: &mut Vec<T>, matches: impl Fn(&T) -> bool) -> Option<T> {
    find_last(open, matches).map(|at| open.remove(at))
}

pub(super) fn text(thread: &ThreadState, address: u64) -> String {
    thread
        .strings
        .get(&address)
        .cloned()
        .unwrap_or_else(|| format!("{address:#x}"))
}

pub(super) fn add_named(
    to: &mut BTreeMap<String, Times>,
    thread: &ThreadState,
    name: u64,
    ns: u64,
) {
    match thread.strings.get(&name).and_then(|text| to.get_mut(text)) {
        Some(times) => times.add(ns),
        None => to.entry(text(thread, name)).or_default().add(ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_as_many_iterations_as_the_loop_would_run() {
        let count = |flags, begin: i64, end: i64, incr: i64| {
            let (mut value, mut number) = (begin, 0);
            while (incr > 0 && value < end) || (incr < 0 && value > end) {
                (value, number) = (value + incr, number + 1);
            }
            assert_eq!(iterations(Schedule(flags), begin, end, incr), number);
        };
        for (begin, end, incr) in [
            (0, 10, 1),
            (0, 10, 3),
            (-5, 6, 4),
            (10, 0, -1),
            (10, -1, -3),
            (5, 5, 1),
            (7, 2, 1),
        ] {
            count(2, begin, end, incr);
        }
        assert_eq!(iterations(Schedule(0x802), 0, -1, 1), u64::MAX);
        assert_eq!(iterations(Schedule(2), i64::MIN, i64::MAX, 1), u64::MAX);
        assert_eq!(iterations(Schedule(2), 0, 10, 0), 0, "no step: damage");
    }
}
