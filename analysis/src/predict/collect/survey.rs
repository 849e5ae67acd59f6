//! What is known of a run beside its regions.

use hashbrown::HashMap;

use crate::predict::costs::{COSTS, Measure};

/// Why a part of the run is taken as it was recorded, however many threads there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Why {
    /// It has more tasks or steps than are kept.
    TooLarge,
    /// The trace does not hold its begin, its end, or the creation of a task.
    Cut,
    /// Its threads did not meet the same constructs: a construct was cancelled, or events are missing.
    Different,
    /// A region inside of a region, with several threads.
    Nested,
    /// A league of teams.
    Teams,
    /// The order of locks and waits cannot be kept.
    Stuck,
    /// Loops with `ordered`, whose order is not kept. Their work is modelled.
    Ordered,
    /// Tasks that a `detach` event completes, or that run on a device. What runs on the host is modelled.
    Detached,
    /// Tasks with a priority, which is not recorded. They are modelled, in order of creation.
    Priority,
    /// Locks for reading. They are left out.
    ReadLocks,
    /// Tasks that libomp calls undeferred because the team has one thread. Whether an `if` clause says so too is not recorded: they are modelled as deferred.
    Undeferred,
    /// Sections whose begins are not recorded. They are modelled as if they took the same time; the error has that they are one.
    Sections,
    /// Loops whose chunks are not recorded. They are modelled as divided evenly.
    Chunks,
}

impl Why {
    /// Whether a whole region is not modelled.
    #[must_use]
    pub fn is_region(self) -> bool {
        matches!(
            self,
            Self::TooLarge | Self::Cut | Self::Different | Self::Teams | Self::Stuck
        )
    }
}

/// What is known of the run beside its regions.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// From the first event to the last, ns.
    pub elapsed: u64,
    /// In outermost regions, ns.
    pub in_regions: u64,
    /// Waiting for a processor outside of regions, on the thread that encounters them, and in user code of regions, on all threads, ns.
    pub ready_outside: u64,
    /// See `ready_outside`.
    pub ready_inside: u64,
    /// Whether what the system did with threads was recorded.
    pub has_switches: bool,
    /// Regions that were given.
    pub regions: u64,
    /// Most threads of a region.
    pub team: usize,
    /// What is not modelled, or only in part: how often, and how long the threads that encountered it took, ns.
    pub gaps: Vec<(Why, u64, u64)>,
    /// Regions of several threads at the same time.
    pub overlapping: bool,
    /// User code of threads that belong to no region, at least 1 us each, ns.
    pub elsewhere: u64,
    /// Texts behind addresses: names of the program's own regions.
    pub texts: HashMap<u64, String>,
    /// Threads waited for processors for more than a small part of their time.
    pub is_contended: bool,
    /// Costs by kind, without the time in which others had the thread's processor; where processors were contended, of the time on processors alone.
    pub costs: [Measure; COSTS.len()],
    /// Costs as they were.
    pub recorded_costs: [Measure; COSTS.len()],
}

impl Survey {
    /// Notes a part that is not modelled.
    pub fn note(&mut self, why: Why, ns: u64) {
        match self.gaps.iter_mut().find(|(known, ..)| *known == why) {
            Some((_, count, sum)) => {
                *count += 1;
                *sum += ns;
            }
            None => self.gaps.push((why, 1, ns)),
        }
    }
}
