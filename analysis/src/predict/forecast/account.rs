//! Where the time of all threads goes in a case.

use std::collections::{BTreeMap, BTreeSet};

use instr_trace::model::Code;

use super::levers::merge;
use crate::predict::costs::{COSTS, Cost};
use crate::predict::model::{Lock, Meeting, Region, Spot};
use crate::predict::simulate::{Cause, Outcome};

/// What threads lose their time to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// One thread works outside of regions.
    Serial,
    /// A region that is not modelled.
    Unmodelled,
    /// One thread creates the tasks.
    Creation(Code),
    /// Tasks wait for each other, or the last ones are long.
    Dependences(Code),
    /// `single` and `masked` blocks.
    Single(Code),
    /// The loop's pieces are of different length.
    Imbalance(Spot),
    /// The loop has fewer pieces than threads.
    FewPieces(Spot),
    /// What threads of a region do by themselves is of different length.
    Own(Code),
    /// A lock is held by others.
    Lock(Lock),
    /// The queue of tasks is used by others.
    Queue,
    /// The run-time library works.
    Overhead(Cost),
}

/// Times of all threads of a case, ns.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// From the begin of the run to its end.
    pub elapsed: u64,
    /// User code.
    pub work: u64,
    /// What is lost.
    pub losses: BTreeMap<Loss, u64>,
}

impl Account {
    pub(super) fn add(
        &mut self,
        region: &Region,
        spots: &[Spot],
        merged: &BTreeSet<Code>,
        outcome: &Outcome,
        all: usize,
    ) {
        self.elapsed += outcome.elapsed;
        self.work += outcome.losses.work;
        let lost = &outcome.losses;
        for (cause, ns) in &lost.idle {
            let spot = |meeting: &u32| match region.meetings.get(*meeting as usize) {
                Some(Meeting::Share { spot, .. }) => merge(spots[*spot as usize], merged),
                _ => Spot::Region(region.code),
            };
            let loss = match cause {
                Cause::Creation => Loss::Creation(region.code),
                Cause::Dependences => Loss::Dependences(region.code),
                Cause::Single => Loss::Single(region.code),
                Cause::Imbalance(meeting) => Loss::Imbalance(spot(meeting)),
                Cause::FewPieces(meeting) => Loss::FewPieces(spot(meeting)),
                Cause::Own => Loss::Own(region.code),
            };
            self.lose(loss, *ns);
        }
        for (lock, ns) in region.locks.iter().zip(&lost.locks) {
            self.lose(Loss::Lock(*lock), *ns);
        }
        for (cost, ns) in COSTS.iter().zip(&lost.overhead) {
            self.lose(Loss::Overhead(*cost), *ns);
        }
        self.lose(Loss::Queue, lost.queue);
        // A region that always has fewer threads.
        let others = all.saturating_sub(outcome.threads) as u64;
        self.lose(Loss::Own(region.code), others * outcome.elapsed);
    }

    pub(super) fn lose(&mut self, loss: Loss, ns: u64) {
        if ns > 0 {
            *self.losses.entry(loss).or_default() += ns;
        }
    }

    /// A time in which one thread works, and the others do not.
    pub(super) fn alone(&mut self, loss: Loss, ns: u64, threads: usize) {
        self.elapsed += ns;
        self.work += ns;
        self.lose(loss, ns * (threads as u64).saturating_sub(1));
    }

    /// The largest loss.
    #[must_use]
    pub fn largest(&self) -> Option<(Loss, u64)> {
        let all = self.losses.iter().map(|(loss, ns)| (*loss, *ns));
        all.reduce(|a, b| if b.1 > a.1 { b } else { a })
    }
}
