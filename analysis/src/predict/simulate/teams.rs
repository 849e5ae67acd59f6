//! The begin of a team, and its barriers: all threads have arrived, and all tasks are complete.

use super::super::costs::Cost;
use super::{Next, Simulation, Wait};

impl Simulation<'_> {
    /// All threads get to know of the region. New ones are made one after the other, and where there are some, all begin when the last one is there.
    pub(super) fn begin_team(&mut self) {
        let made = self.case.made.min(self.threads.len() - 1) as u64;
        let further = made.saturating_sub(1) * self.case.costs.ns(Cost::Make);
        for thread in 0..self.threads.len() {
            let cost = match thread {
                _ if made > 0 => Cost::Start,
                0 => Cost::Enter,
                _ => Cost::Fork,
            };
            let ns = self.case.costs.ns(cost);
            self.losses.spend(Cost::Make, further);
            self.losses.spend(cost, ns);
            self.at(thread, further + ns, Next::Go);
        }
    }

    /// The thread comes to a barrier, or to the end of the region. Whether it goes on at once.
    pub(super) fn arrive(&mut self, thread: usize) -> bool {
        self.arrived += 1;
        self.top(thread).wait = Some(Wait::Barrier);
        if !self.open_barrier() {
            self.look(thread);
        }
        false
    }

    /// Lets all threads go on if nothing is waited for any more.
    pub(super) fn open_barrier(&mut self) -> bool {
        if self.arrived < self.threads.len() || self.outstanding > 0 {
            return false;
        }
        self.arrived = 0;
        self.idle_at_barrier.clear();
        let last = self.threads[0].stage.number >= self.plan.meetings.len();
        let cost = if last { Cost::Join } else { Cost::Barrier };
        for thread in 0..self.threads.len() {
            self.stop_resting(thread);
            self.top(thread).wait = None;
            if !last {
                self.leave(thread);
            }
            self.spend(thread, cost, Next::Go);
        }
        if last {
            self.over = Some(self.now + self.case.costs.ns(cost));
        }
        true
    }
}
