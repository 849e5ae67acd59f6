//! What became of the time of all threads.

use super::super::costs::{COSTS, Cost};

/// Why a thread has nothing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// One thread creates all tasks, and all that it has created run.
    Creation,
    /// Tasks wait for others, or the last ones are long.
    Dependences,
    /// One thread runs a `single` or `masked` block.
    Single,
    /// Others still have pieces of a loop or of sections: that of this meeting of the region.
    Imbalance(u32),
    /// The same, with fewer pieces than threads.
    FewPieces(u32),
    /// Others still run their own code.
    Own,
}

/// The time of all threads of a region, ns: its threads times its length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// User code.
    pub work: u64,
    /// What the run-time library does, by [`Cost`].
    pub overhead: [u64; COSTS.len()],
    /// Waiting for locks, by their number in the region.
    pub locks: Vec<u64>,
    /// Nothing to do.
    pub idle: Vec<(Cause, u64)>,
    /// A task or a lock of the queue is waited for that another thread has.
    pub queue: u64,
}

impl Losses {
    pub(super) fn spend(&mut self, cost: Cost, ns: u64) {
        self.overhead[cost as usize] += ns;
    }

    pub(super) fn idle(&mut self, cause: Cause, ns: u64) {
        match self.idle.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, sum)) => *sum += ns,
            None => self.idle.push((cause, ns)),
        }
    }

    /// All of it.
    #[must_use]
    pub fn total(&self) -> u64 {
        let idle = self.idle.iter().map(|(_, ns)| ns).sum::<u64>();
        self.work
            + self.overhead.iter().sum::<u64>()
            + self.locks.iter().sum::<u64>()
            + idle
            + self.queue
    }
}
