//! Threads of POSIX, C11 and C++: who made them, where they wait, and for which of their objects, by call.

use std::collections::BTreeMap;

use hashbrown::HashMap;
use instr_trace::ThreadInfo;
use instr_trace::event::{MutexKind, SyncKind};
use instr_trace::model::{At, Begin, End, Found, Mark, Since, Sink, Span};

use crate::Times;

/// More locks that a thread holds at a time are not followed.
const MAX_HELD: usize = 1 << 10;

/// A call that takes locks: kind and address of the lock, return address of the call.
pub type LockCall = (MutexKind, u64, u64);

/// A call that waits: what for, and its return address.
pub type WaitCall = (SyncKind, Object, u64);

/// What is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {
    /// The thread with this index.
    Thread(u32),
    /// What lies at this address; of a thread that was not seen: its `pthread_t`, or the system's number of that which has an interpreter's lock.
    Address(u64),
}

/// What one call did with one lock. Times in ns.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct LockCount {
    /// Acquisitions.
    pub count: u64,
    /// Of them, those that had to wait.
    pub contended: u64,
    /// Tries that found it held, and waits that were given up.
    pub failed: u64,
    /// From request to acquisition, or to the end of a wait that was given up.
    pub wait_ns: u64,
    /// The longest of them.
    pub wait_max_ns: u64,
    /// From acquisition to release, where that is recorded.
    pub held_ns: u64,
    /// The longest of them.
    pub held_max_ns: u64,
}

/// How a thread came to be.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Birth {
    /// Index of the thread that made it.
    pub creator: u32,
    /// What it began with.
    pub function: u64,
    /// Return address of the call that made it; `None`: that was not recorded.
    pub site: Option<u64>,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    /// Locks by call.
    pub locks: BTreeMap<LockCall, LockCount>,
    /// Waits by call.
    pub waits: BTreeMap<WaitCall, Times>,
    /// By position of the thread; `None`: nobody is known to have made it.
    pub births: Vec<Option<Birth>>,
    /// Threads that could not be made.
    pub not_made: u64,
}

/// Counts them.
#[derive(Debug)]
pub struct Collector {
    out: Report,
    locks: HashMap<LockCall, LockCount>,
    threads: Vec<Thread>,
    /// Return addresses of calls that make threads, by index of the thread and number among those that it makes.
    creations: HashMap<(u32, u32), u64>,
    /// Indices of the last threads with these `pthread_t`.
    handles: HashMap<u64, u32>,
    /// Indices of threads by the system's numbers; the last one where a number came again.
    os_tids: HashMap<u64, u32>,
}

#[derive(Debug)]
struct Thread {
    index: u32,
    /// Its number among the threads that its creator made.
    creation: u32,
    /// The last call for a lock, whose span is to come or is open.
    asks: Option<(LockCall, Found)>,
    /// Calls of the locks that it holds.
    held: Vec<LockCall>,
    /// The last call that waits.
    waits: Option<(SyncKind, u64, u64)>,
}

impl Collector {
    /// For the threads of one trace.
    pub fn new(threads: &[ThreadInfo]) -> Self {
        let thread = |info: &ThreadInfo| Thread {
            index: info.index,
            creation: 0,
            asks: None,
            held: Vec::new(),
            waits: None,
        };
        Self {
            out: Report {
                births: vec![None; threads.len()],
                ..Report::default()
            },
            locks: HashMap::new(),
            threads: threads.iter().map(thread).collect(),
            creations: HashMap::new(),
            handles: HashMap::new(),
            os_tids: threads
                .iter()
                .map(|info| (u64::from(info.os_tid), info.index))
                .collect(),
        }
    }

    /// What was counted.
    pub fn finish(mut self) -> Report {
        self.out.locks = self.locks.into_iter().collect();
        for (birth, thread) in self.out.births.iter_mut().zip(&self.threads) {
            if let Some(birth) = birth {
                let creation = (birth.creator, thread.creation);
                birth.site = self.creations.get(&creation).copied();
            }
        }
        self.out
    }

    /// The thread's last call for a lock, if it was for this one. Not all locks have calls: OpenMP's critical sections have none.
    fn asks_for(&self, at: At, lock: (MutexKind, u64)) -> Option<(LockCall, Found)> {
        self.threads[at.position]
            .asks
            .filter(|((kind, object, _), _)| (*kind, *object) == lock)
    }

    /// The wait for a lock is over.
    fn asked(&mut self, at: At, lock: (MutexKind, u64), how: End, ns: u64) {
        let Some((call, Found::Held)) = self.asks_for(at, lock) else {
            return;
        };
        let count = self.locks.entry(call).or_default();
        match how {
            End::Told => {
                count.count += 1;
                count.contended += 1;
            }
            End::Refused => count.failed += 1,
            _ => return,
        }
        count.wait_ns = count.wait_ns.saturating_add(ns);
        count.wait_max_ns = count.wait_max_ns.max(ns);
    }

    /// A lock is given back that was held for that long.
    fn gave_back(&mut self, at: At, lock: (MutexKind, u64), ns: u64) {
        let held = &mut self.threads[at.position].held;
        let place = held
            .iter()
            .rposition(|(kind, object, _)| (*kind, *object) == lock);
        if let Some(place) = place {
            let count = self.locks.entry(held.remove(place)).or_default();
            count.held_ns = count.held_ns.saturating_add(ns);
            count.held_max_ns = count.held_max_ns.max(ns);
        }
    }

    fn waited(&mut self, at: At, kind: SyncKind, ns: u64) {
        let thread = &mut self.threads[at.position];
        let Some((_, object, site)) = thread.waits.take_if(|wait| wait.0 == kind) else {
            return;
        };
        let thread = match kind {
            SyncKind::Join => self.handles.get(&object),
            SyncKind::Interpreter => self.os_tids.get(&object),
            _ => None,
        };
        let object = thread
            .copied()
            .map_or(Object::Address(object), Object::Thread);
        let times = self.out.waits.entry((kind, object, site)).or_default();
        times.add(ns);
    }
}

impl Sink for Collector {
    const TASK_CODES: bool = false;
    const STATES: bool = false;

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        let thread = &mut self.threads[at.position];
        match mark {
            Mark::Lock {
                kind,
                object,
                site,
                found,
            } => {
                let call = (kind, object, site);
                thread.asks = Some((call, found));
                match found {
                    Found::Free => self.locks.entry(call).or_default().count += 1,
                    Found::Refused => self.locks.entry(call).or_default().failed += 1,
                    Found::Held => {}
                }
            }
            Mark::Wait { kind, object, site } => thread.waits = Some((kind, object, site)),
            Mark::CreateThread { seq, site, .. } => {
                self.creations.insert((thread.index, seq), site);
            }
            Mark::CreatedThread { error } => self.out.not_made += u64::from(error != 0),
            Mark::StartThread {
                creator,
                seq,
                function,
                handle,
            } => {
                self.handles.insert(handle, thread.index);
                thread.creation = seq;
                self.out.births[at.position] = Some(Birth {
                    creator,
                    function,
                    site: None,
                });
            }
            _ => {}
        }
    }

    fn begin(&mut self, at: At, span: &Span, _how: Begin) {
        if let Span::Hold { kind, object } = *span {
            let asked = self.asks_for(at, (kind, object));
            let held = &mut self.threads[at.position].held;
            if let Some((call, _)) = asked
                && held.len() < MAX_HELD
            {
                held.push(call);
            }
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        let ns = at.time.saturating_sub(since.first.unwrap_or(since.here));
        match *span {
            Span::Acquire { kind, object } => self.asked(at, (kind, object), how, ns),
            Span::Hold { kind, object } if how.is_final() => {
                self.gave_back(at, (kind, object), ns);
            }
            Span::Sync(kind) if how == End::Told => self.waited(at, kind, ns),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
