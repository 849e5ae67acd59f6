//! What the run-time library's work took, from when things happened.

use hashbrown::HashMap;

use super::super::costs::{Cost, Off, Samples};
use super::super::model::Lock;

/// A task that may not have begun.
#[derive(Clone, Copy, Debug, Default)]
struct Task {
    /// Predecessors that have not ended.
    left: u32,
    /// When it was created, and when the last predecessor ended.
    ready: u64,
    has_ended: bool,
    has_successors: bool,
}

/// Of the region that runs.
#[derive(Debug, Default)]
pub(super) struct Times {
    tasks: Vec<Task>,
    successors: HashMap<u32, Vec<u32>>,
    /// The last arrival at each barrier.
    barriers: Vec<u64>,
    last_end: u64,
    last_arrival: u64,
    /// Since when a body waits for a lock, and when each lock was given back last.
    asks: HashMap<u32, (u64, Off)>,
    given: HashMap<Lock, u64>,
    /// When threads were made for the region.
    made: Vec<u64>,
    /// When the threads of the team began, since the begin of the region: the one that encounters it, and the others.
    enters: Option<(u64, Off)>,
    others: Vec<(u64, Off)>,
}

impl Times {
    /// A task is created, behind these.
    pub(super) fn create(&mut self, number: u32, now: u64, before: &[(u32, u32)]) {
        let at = number as usize;
        if at >= self.tasks.len() {
            self.tasks.resize(at + 1, Task::default());
        }
        self.tasks[at].ready = now;
        for (from, to) in before.iter().filter(|edge| edge.1 == number) {
            if let Some(task) = self.tasks.get_mut(*from as usize)
                && !task.has_ended
            {
                task.has_successors = true;
                self.tasks[at].left += 1;
                self.successors.entry(*from).or_default().push(*to);
            }
        }
    }

    /// The call that created it is over: how long it took, and the part of that without a processor.
    pub(super) fn created(
        &mut self,
        number: u32,
        took: (u64, Off),
        now: u64,
        samples: &mut Samples,
    ) {
        let Some(task) = self.tasks.get_mut(number as usize) else {
            return;
        };
        if !task.has_ended {
            samples.add(Cost::Create, took.0, took.1);
        }
        task.ready = task.ready.max(now);
    }

    /// It begins `now` on a thread that has looked for one since `free`, and had no processor for so long meanwhile.
    pub(super) fn begins(
        &mut self,
        number: u32,
        free: u64,
        (now, off): (u64, Off),
        samples: &mut Samples,
    ) {
        let Some(task) = self.tasks.get(number as usize) else {
            return;
        };
        if task.left > 0 || free == 0 {
            return;
        }
        let since = task.ready.max(free);
        let took = now.saturating_sub(since);
        match task.ready <= free {
            true => samples.add(Cost::Dispatch, took, off),
            false => samples.add(Cost::Wake, took, off),
        }
    }

    /// It has ended.
    pub(super) fn ends(&mut self, number: u32, now: u64) {
        self.last_end = self.last_end.max(now);
        let Some(task) = self.tasks.get_mut(number as usize) else {
            return;
        };
        task.has_ended = true;
        if !task.has_successors {
            return;
        }
        for after in self.successors.remove(&number).unwrap_or_default() {
            if let Some(task) = self.tasks.get_mut(after as usize) {
                task.left = task.left.saturating_sub(1);
                task.ready = task.ready.max(now);
            }
        }
    }

    /// A thread comes to a barrier; `u32::MAX`: that of the region's end.
    pub(super) fn arrive(&mut self, number: u32, now: u64) {
        if number == u32::MAX {
            self.last_arrival = self.last_arrival.max(now);
            return;
        }
        let at = number as usize;
        if at >= self.barriers.len() {
            self.barriers.resize(at + 1, 0);
        }
        self.barriers[at] = self.barriers[at].max(now);
    }

    /// It leaves it, and had no processor for so long in it.
    pub(super) fn leave(&mut self, number: u32, now: u64, off: Off, samples: &mut Samples) {
        let Some(arrival) = self.barriers.get(number as usize) else {
            return;
        };
        let since = (*arrival).max(self.last_end.min(now));
        samples.add(Cost::Barrier, now.saturating_sub(since), off);
    }

    /// The region ends; its thread had no processor for so long since its own end.
    pub(super) fn join(&self, now: u64, off: Off, samples: &mut Samples) {
        let since = self.last_arrival.max(self.last_end);
        if since > 0 {
            samples.add(Cost::Join, now.saturating_sub(since), off);
        }
    }

    /// A thread begins inside of the region.
    pub(super) fn is_made(&mut self, now: u64) {
        self.made.push(now);
    }

    /// A thread of the team begins its implicit task, so long after the region's begin, of which it had no processor for a part.
    pub(super) fn joins_team(&mut self, number: u32, took: u64, off: Off) {
        match number {
            0 => self.enters = Some((took, off)),
            _ => self.others.push((took, off)),
        }
    }

    /// The region has ended: all its threads are known. New ones are made one after the other, and all threads begin when the last one is there.
    pub(super) fn team(&self, samples: &mut Samples) {
        let first = self.made.iter().min().copied().unwrap_or(0);
        let further = self.made.iter().max().copied().unwrap_or(0) - first;
        let members = self.enters.iter().map(|enter| (Cost::Enter, enter));
        let members = members.chain(self.others.iter().map(|other| (Cost::Fork, other)));
        if self.made.is_empty() {
            return members.for_each(|(cost, (took, off))| samples.add(cost, *took, *off));
        }
        if let Some(each) = further.checked_div(self.made.len() as u64 - 1) {
            samples.add(Cost::Make, each, Off::default());
        }
        // From those that lost their processor on the way, the time is longer. What a new thread did before its first event is not known.
        let starts = members.map(|(_, (took, off))| took.saturating_sub(off.ready + further));
        if let Some(least) = starts.min() {
            samples.add(Cost::Start, least, Off::default());
        }
    }

    pub(super) fn asks(&mut self, body: u32, now: u64, off: Off) {
        self.asks.insert(body, (now, off));
    }

    /// It has the lock; its thread has had no processor for so long by now.
    pub(super) fn has(
        &mut self,
        body: u32,
        lock: Lock,
        (now, off): (u64, Off),
        samples: &mut Samples,
    ) {
        let Some((since, before)) = self.asks.remove(&body) else {
            return;
        };
        let off = off.since(before);
        match self.given.get(&lock) {
            Some(given) if *given > since => {
                samples.add(Cost::HandOver, now.saturating_sub(*given), off);
            }
            _ => samples.add(Cost::Lock, now.saturating_sub(since), off),
        }
    }

    pub(super) fn gives(&mut self, lock: Lock, now: u64) {
        self.given.insert(lock, now);
    }
}
