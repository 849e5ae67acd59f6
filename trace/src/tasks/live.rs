//! What is known of a task that can still change.

use smallvec::SmallVec;

use super::TaskRecord;
use super::path::{Joins, Point};
use super::region::UnitKey;
use super::slab::Key;
use crate::event::TaskId;
use crate::task_map::{self, Value};

/// Longer lists of successors are not kept to be used again.
const MAX_KEPT: usize = 1 << 4;

/// What is kept of a task with dependences as long as it can become a predecessor, which may be long after its end.
#[derive(Debug, Default)]
pub(super) struct Predecessor {
    /// What is kept of it as a task, while it is.
    pub(super) task: Option<task_map::Key>,
    pub(super) done: Option<Done>,
}

/// A complete task, for its successors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) time: u64,
    pub(super) end: Point,
    pub(super) chain: (u64, u32),
}

impl Value for Predecessor {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What is kept of a task that can still change.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) record: TaskRecord,
    /// Its record was given.
    pub(super) given: bool,
    pub(super) creator: Option<Key>,
    pub(super) group: Option<Key>,
    pub(super) unit: UnitKey,
    /// Its place among the open tasks of the unit.
    pub(super) open_at: u32,
    pub(super) team: Option<Key>,
    /// What its path begins behind; then where it ends.
    pub(super) start: Joins,
    pub(super) end: Point,
    /// Heaviest and longest chain of edges that ends before it, then with it.
    pub(super) chain: (u64, u32),
    /// Creation or the latest completion of a predecessor so far.
    pub(super) latest: u64,
    /// Predecessors that are not complete, and who waits for this one.
    pub(super) waiting: u32,
    pub(super) successors: SmallVec<[task_map::Key; 2]>,
    pub(super) context: Option<Key>,
    /// Itself as a predecessor.
    pub(super) node: Option<task_map::Key>,
    /// It counts among the ready tasks of its region.
    pub(super) counted: bool,
    pub(super) nowait: bool,
    /// The program, not only the library's load, has the creator wait for its end: `if(0)`, or a child of a final task.
    pub(super) suspends_creator: bool,
    /// It and its descendants are final.
    pub(super) is_final: bool,
    /// It is complete only when its event is fulfilled; and whether that was.
    pub(super) detached: bool,
    pub(super) fulfilled: Option<u64>,
    /// Addresses of `mutexinoutset` entries.
    pub(super) exclusive: SmallVec<[u64; 1]>,
}

impl Default for Live {
    fn default() -> Self {
        let nobody = TaskId { thread: 0, seq: 0 };
        Self {
            record: TaskRecord::new(nobody, 0),
            given: false,
            creator: None,
            group: None,
            unit: None,
            open_at: 0,
            team: None,
            start: Joins::default(),
            end: Point::START,
            chain: (0, 0),
            latest: 0,
            waiting: 0,
            successors: SmallVec::new(),
            context: None,
            node: None,
            counted: false,
            nowait: false,
            suspends_creator: false,
            is_final: false,
            detached: false,
            fulfilled: None,
            exclusive: SmallVec::new(),
        }
    }
}

impl Value for Live {
    fn clear(&mut self) {
        let mut successors = std::mem::take(&mut self.successors);
        successors.clear();
        if successors.capacity() > MAX_KEPT {
            successors = SmallVec::new();
        }
        *self = Self {
            successors,
            ..Self::default()
        };
    }
}

impl Live {
    pub(super) fn follow(&mut self, chain: (u64, u32), time: u64) {
        self.chain = (self.chain.0.max(chain.0), self.chain.1.max(chain.1));
        self.latest = self.latest.max(time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_takes_little_room() {
        let bytes = (size_of::<Live>(), size_of::<Predecessor>());
        assert!(bytes.0 <= 400 && bytes.1 <= 64, "{bytes:?}");
    }
}
