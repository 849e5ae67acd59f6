//! The longest execution of each construct, so that a number in a table leads to a place on the time line.

use std::collections::BTreeMap;

use instr_trace::model::Code;

/// What was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    /// A parallel region.
    Region(Code),
    /// An explicit task.
    Task(Code),
    /// A region of the program's own: the address of its name.
    User(u64),
    /// A wait of this kind: a number of the waits.
    Wait(u8),
    /// A wait for the lock of this kind and address.
    Lock(&'static str, u64),
    /// The time between two outermost regions of the process.
    Serial,
    /// A state of a thread, by the kernel's part.
    Kernel(&'static str),
}

/// When and where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Where {
    /// Begin, ns since the session's begin.
    pub(crate) begin: u64,
    /// End, ns since the session's begin.
    pub(crate) end: u64,
    /// Number of the track.
    pub(crate) track: usize,
}

impl Where {
    /// How long it took.
    pub(crate) fn ns(&self) -> u64 {
        self.end.saturating_sub(self.begin)
    }
}

/// The longest execution of each, by process.
#[derive(Debug, Default)]
pub(crate) struct Longest(BTreeMap<(usize, What), Where>);

impl Longest {
    /// One more execution.
    pub(super) fn add(&mut self, process: usize, what: What, at: Where) {
        let longest = self.0.entry((process, what)).or_insert(at);
        if at.ns() > longest.ns() {
            *longest = at;
        }
    }

    /// The longest executions of all that was executed, in order of process and kind.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, What, Where)> {
        self.0
            .iter()
            .map(|((process, what), at)| (*process, *what, *at))
    }

    /// The longest one.
    pub(crate) fn of(&self, process: usize, what: What) -> Option<Where> {
        self.0.get(&(process, what)).copied()
    }

    /// The longest wait for a lock of this kind, or of any.
    pub(crate) fn lock(&self, process: usize, kind: Option<&str>) -> Option<Where> {
        let waits = self.0.iter().filter_map(|((own, what), at)| match what {
            What::Lock(of, _) if *own == process && kind.is_none_or(|kind| kind == *of) => {
                Some(*at)
            }
            _ => None,
        });
        waits.max_by_key(Where::ns)
    }

    /// The longest wait of each kind, but for locks.
    pub(crate) fn waits(&self, process: usize) -> impl Iterator<Item = (u8, Where)> {
        self.0
            .iter()
            .filter_map(move |((own, what), at)| match what {
                What::Wait(kind) if *own == process => Some((*kind, *at)),
                _ => None,
            })
    }
}
