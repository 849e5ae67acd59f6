//! Locks: who asks first has them first.

use std::collections::VecDeque;

use super::super::costs::Cost;
use super::{NONE, Next, Simulation, Wait};

#[derive(Clone, Debug)]
pub(super) struct LockState {
    /// The thread that has it.
    owner: u32,
    /// How often, for nested ones.
    depth: u32,
    waiting: VecDeque<u32>,
}

impl Default for LockState {
    fn default() -> Self {
        Self {
            owner: NONE,
            depth: 0,
            waiting: VecDeque::new(),
        }
    }
}

impl Simulation<'_> {
    fn exists(&self, lock: u32) -> bool {
        let own = Some(self.region.locks[lock as usize]);
        !self.case.without.contains(&own)
    }

    /// Whether the thread has to wait, or has an event.
    pub(super) fn acquire(&mut self, thread: usize, lock: u32) -> bool {
        if !self.exists(lock) {
            return false;
        }
        let state = &mut self.locks[lock as usize];
        let own = state.owner == thread as u32;
        if state.owner == NONE || own {
            state.owner = thread as u32;
            state.depth += 1;
            self.spend(thread, Cost::Lock, Next::Go);
            return true;
        }
        state.waiting.push_back(thread as u32);
        self.threads[thread].since = self.now;
        self.top(thread).wait = Some(Wait::Lock);
        true
    }

    /// The lock is given back, and the next thread has it.
    pub(super) fn release(&mut self, lock: u32) {
        if !self.exists(lock) {
            return;
        }
        let state = &mut self.locks[lock as usize];
        state.depth = state.depth.saturating_sub(1);
        if state.depth > 0 {
            return;
        }
        let Some(next) = state.waiting.pop_front() else {
            state.owner = NONE;
            return;
        };
        (state.owner, state.depth) = (next, 1);
        let next = next as usize;
        self.losses.locks[lock as usize] += self.now - self.threads[next].since;
        self.top(next).wait = None;
        self.spend(next, Cost::HandOver, Next::Go);
    }
}
