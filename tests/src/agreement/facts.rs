//! What the event model says of a trace, counted as plainly as possible.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use instr_trace::Trace;
use instr_trace::event::{MutexKind, SyncKind};
use instr_trace::model::{
    At, Begin, End, Found, Interval, Mark, Memory, Ran, Since, Sink, Span, State, replay,
};

/// Number and sum of times, ns.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) count: u64,
    pub(super) ns: u64,
}

impl Count {
    pub(super) fn add(&mut self, ns: u64) {
        self.count += 1;
        self.ns = self.ns.saturating_add(ns);
    }
}

/// A kind of span in its outputs.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    /// Begins that are shown in a time line.
    pub(super) begins: u64,
    /// Ends by an event, with the whole times.
    pub(super) told: Count,
    /// Final ends of any kind.
    pub(super) ended: Count,
    /// Ends that are shown in a time line, with the time since the begin that was shown.
    pub(super) visible: Count,
}

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// How many threads the program has.
    pub(super) threads: usize,
    pub(super) states: BTreeMap<(usize, State), u64>,
    pub(super) regions: Shown,
    pub(super) implicit: Shown,
    pub(super) tasks: Shown,
    /// Begins of tasks that are not resumptions.
    pub(super) executed: u64,
    pub(super) executed_told: u64,
    pub(super) undeferred: u64,
    pub(super) created: u64,
    pub(super) pieces: u64,
    pub(super) empty_tasks: u64,
    /// Names of those that nobody waits for.
    pub(super) nowait: BTreeSet<String>,
    /// Begins of constructs of tasks, or of empty ones, that are resumptions.
    pub(super) constructs_again: u64,
    pub(super) taskloops: u64,
    pub(super) taskgroups: u64,
    pub(super) suspended: u64,
    pub(super) own_ns: u64,
    pub(super) whole_ns: u64,
    pub(super) syncs: BTreeMap<SyncKind, Shown>,
    /// Acquisitions, with and without the event that asks.
    pub(super) locks: BTreeMap<MutexKind, u64>,
    /// Locks that are held, as a time line shows them.
    pub(super) holds: BTreeMap<MutexKind, u64>,
    pub(super) refused: u64,
    pub(super) user_events: BTreeMap<u32, u64>,
    pub(super) user_regions: Shown,
    pub(super) calls: Shown,
    pub(super) functions: Shown,
    pub(super) heap_calls: u64,
    /// Time in calls of the heap, and when each thread's outermost one began.
    pub(super) heap_ns: u64,
    in_heap: BTreeMap<usize, u64>,
    pub(super) in_use: u64,
    pub(super) most_in_use: u64,
    pub(super) blocks: i64,
}

/// Reads the trace.
pub(super) fn of(path: &Path) -> Result<Facts, String> {
    let trace = Trace::open(path).map_err(|error| error.to_string())?;
    let mut facts = Facts {
        threads: trace.threads().len(),
        ..Facts::default()
    };
    replay(&trace, &mut facts).map_err(|error| error.to_string())?;
    Ok(facts)
}

impl Facts {
    /// Useful time of all threads.
    pub(super) fn useful(&self) -> u64 {
        let useful = self
            .states
            .iter()
            .filter(|((_, state), _)| *state == State::Useful);
        useful.map(|(_, ns)| *ns).fold(0, u64::saturating_add)
    }

    /// A call of the heap ends, or one of OpenMP's own, which take no time and are shown in the same row.
    fn leaves_heap(&mut self, at: At) {
        if let Some(begin) = self.in_heap.remove(&at.position) {
            self.heap_ns += at.time - begin;
        }
    }

    fn shown(&mut self, span: &Span) -> Option<&mut Shown> {
        Some(match span {
            Span::Parallel { .. } => &mut self.regions,
            Span::Implicit { .. } => &mut self.implicit,
            Span::Task { .. } => &mut self.tasks,
            Span::Sync(kind) => self.syncs.entry(*kind).or_default(),
            Span::User { .. } => &mut self.user_regions,
            Span::Call { .. } => &mut self.calls,
            Span::Function { .. } => &mut self.functions,
            _ => return None,
        })
    }
}

impl Sink for Facts {
    const MEMORY: bool = true;

    fn begin(&mut self, _at: At, span: &Span, how: Begin) {
        let again = how == Begin::Resumed;
        if let Some(shown) = self.shown(span) {
            shown.begins += 1;
        }
        match *span {
            Span::Task { undeferred, .. } => {
                self.executed += u64::from(!again);
                self.executed_told += u64::from(how == Begin::Told);
                self.undeferred += u64::from(undeferred && how == Begin::Told);
            }
            Span::Create { .. } if again => self.constructs_again += 1,
            Span::Create { .. } => self.created += 1,
            Span::WaitDepend { .. } if again => self.constructs_again += 1,
            Span::WaitDepend { task, nowait } => {
                self.empty_tasks += 1;
                if nowait {
                    self.nowait.insert(format!("{}.{}", task.thread, task.seq));
                }
            }
            Span::Taskloop { .. } => self.taskloops += 1,
            Span::Taskgroup if !again => self.taskgroups += 1,
            Span::Hold { kind, .. } => {
                *self.holds.entry(kind).or_default() += 1;
                if how == Begin::Found {
                    *self.locks.entry(kind).or_default() += 1;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let whole = at.time.saturating_sub(since.first.unwrap_or(since.here));
        if let Some(shown) = self.shown(span) {
            if how == End::Told {
                shown.told.add(whole);
            }
            if how.is_final() {
                shown.ended.add(whole);
            }
            if !matches!(how, End::Unseen { .. }) {
                shown.visible.add(at.time.saturating_sub(since.here));
            }
        }
        match (*span, how) {
            (Span::Task { .. }, End::Suspended) => self.suspended += 1,
            (Span::Acquire { kind, .. }, End::Told) => *self.locks.entry(kind).or_default() += 1,
            (Span::Acquire { .. }, End::Refused) => self.refused += 1,
            _ => {}
        }
    }

    fn task_ran(&mut self, _at: At, _task: &Span, ran: Ran) {
        self.own_ns = self.own_ns.saturating_add(ran.own);
        self.whole_ns = self.whole_ns.saturating_add(ran.whole);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        match mark {
            Mark::Lock {
                found: Found::Refused,
                ..
            } => self.refused += 1,
            Mark::User { kind, .. } => *self.user_events.entry(kind).or_default() += 1,
            Mark::Piece { .. } => self.pieces += 1,
            Mark::Alloc { .. } | Mark::Free { .. } => self.leaves_heap(at),
            _ => {}
        }
    }

    fn interval(&mut self, interval: Interval) {
        let key = (interval.position, interval.state);
        *self.states.entry(key).or_default() += interval.end - interval.begin;
    }

    fn memory(&mut self, at: At, memory: &Memory) {
        match memory {
            Memory::Begins(_) => {
                self.heap_calls += 1;
                self.in_heap.entry(at.position).or_insert(at.time);
            }
            Memory::Ends(_) => self.leaves_heap(at),
            Memory::Heap(call) => {
                self.in_use = call.bytes_in_use;
                self.most_in_use = self.most_in_use.max(call.bytes_in_use);
                self.blocks += i64::from(call.got.is_some());
            }
            _ => {}
        }
    }
}
