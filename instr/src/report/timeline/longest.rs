//! The longest execution of each construct, so that a number in a table leads to a place on the time line.

use std::collections::BTreeMap;

use instr_trace::model::Code;

/// What was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) enum What {
    /// A parallel region.
    Region(Code),
    /// An explicit task.
    Task(Code),
    /// A wait of this kind: a number of the waits.
    Wait(u8),
    /// A wait for the lock of this kind and address.
    Lock(&'static str, u64),
    /// The time between two outermost regions of the process.
    Serial,
}

/// When and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Where {
    /// Begin, ns since the session's begin.
    pub(in super::super) begin: u64,
    /// End, ns since the session's begin.
    pub(in super::super) end: u64,
    /// Number of the track.
    pub(in super::super) track: usize,
}

impl Where {
    /// How long it took.
    pub(in super::super) fn ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// The longest execution of each, by process.
#[derive(Debug, Default)]
pub(in super::super) struct Longest(BTreeMap<(usize, What), Where>);

impl Longest {
    /// One more execution.
    pub(super) fn add(&mut self, process: usize, what: What, at: Where) {
        let longest = self.0.entry((process, what)).or_insert(at);
        if at.ns() > longest.ns() {
            *longest = at;
        }
    }

    /// The longest one.
    pub(in super::super) fn of(&self, process: usize, what: What) -> Option<Where> {
        self.0.get(&(process, what)).copied()
    }

    /// The longest wait for a lock of this kind, or of any.
    pub(in super::super) fn lock(&self, process: usize, kind: Option<&str>) -> Option<Where> {
        let waits = self.0.iter().filter_map(|((own, what), at)| match what {
            What::Lock(of, _) if *own == process && kind.is_none_or(|kind| kind == *of) => {
                Some(*at)
            }
            _ => None,
        });
        waits.max_by_key(Where::ns)
    }

    /// The longest wait of each kind, but for locks.
    pub(in super::super) fn waits(&self, process: usize) -> impl Iterator<Item = (u8, Where)> {
        self.0
            .iter()
            .filter_map(move |((own, what), at)| match what {
                What::Wait(kind) if *own == process => Some((*kind, *at)),
                _ => None,
            })
    }
}
