//! What a thread does by itself: the way of its implicit task through gaps and meetings.

use super::super::costs::Cost;
use super::super::model::{Step, Steps};
use super::super::plan::{MeetingPlan, is_creation};
use super::{Next, Simulation};

/// Where a thread is in its implicit task.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stage {
    /// Of the gap, and the meeting behind it.
    pub(super) number: usize,
    at: Within,
    /// It did something in the gap that others do not.
    special: bool,
    /// It runs such a thing now, and creates tasks there up to this step.
    runs_special: bool,
    creates_up_to: usize,
    in_share: bool,
}

#[derive(Clone, Copy, Debug, Default)]
enum Within {
    /// The next of the fixed things.
    #[default]
    Begin,
    Fixed(usize),
    Claims,
    Plain,
    Divided,
    Meeting,
    /// The next own piece.
    Pieces(usize),
}

impl Simulation<'_> {
    /// Pieces of a meeting.
    pub(super) fn pieces(&self, meeting: u32) -> usize {
        match self.plan.meetings.get(meeting as usize) {
            Some(MeetingPlan::Static(of)) => of.iter().map(Vec::len).sum(),
            Some(MeetingPlan::Queue(pieces)) => pieces.len(),
            _ => 0,
        }
    }

    fn set(&mut self, thread: usize, steps: &Steps, special: bool) {
        let plan = self.plan;
        let steps = plan.at(steps);
        let frame = self.top(thread);
        (frame.steps, frame.at) = (steps, 0);
        let creates = match special {
            true => steps.iter().rposition(is_creation).map_or(0, |at| at + 1),
            false => 0,
        };
        self.in_special += u64::from(special);
        self.creators += u64::from(creates > 0);
        let stage = &mut self.threads[thread].stage;
        stage.special |= special;
        (stage.runs_special, stage.creates_up_to) = (special, creates);
    }

    /// A step of the thread is done: it may have been the last that creates a task.
    pub(super) fn passed_step(&mut self, thread: usize, step: &Step) {
        let state = &mut self.threads[thread];
        if is_creation(step)
            && let [frame] = state.frames.as_slice()
            && frame.at == state.stage.creates_up_to
        {
            state.stage.creates_up_to = 0;
            self.creators -= 1;
        }
    }

    /// What comes behind the steps that are done. False: the thread has an event, or rests.
    pub(super) fn next_stage(&mut self, thread: usize) -> bool {
        let stage = &mut self.threads[thread].stage;
        if std::mem::take(&mut stage.runs_special) {
            self.in_special -= 1;
        }
        let plan = self.plan;
        loop {
            let stage = &mut self.threads[thread].stage;
            let number = stage.number;
            let Some(gap) = plan.gaps.get(number) else {
                return self.arrive(thread);
            };
            match stage.at {
                Within::Begin => {
                    stage.special = false;
                    stage.at = Within::Fixed(0);
                }
                Within::Fixed(from) => {
                    let mut rest = gap.fixed.iter().enumerate().skip(from);
                    match rest.find(|(_, (owner, _))| *owner == thread) {
                        Some((at, (_, steps))) => {
                            stage.at = Within::Fixed(at + 1);
                            self.set(thread, steps, true);
                            return true;
                        }
                        None => stage.at = Within::Claims,
                    }
                }
                Within::Claims => match gap.claims.get(self.claimed[number]) {
                    Some(steps) => {
                        self.claimed[number] += 1;
                        self.set(thread, steps, true);
                        return true;
                    }
                    None => stage.at = Within::Plain,
                },
                Within::Plain => {
                    stage.at = Within::Divided;
                    if !stage.special && !gap.plain.is_empty() {
                        self.set(thread, &gap.plain[thread % gap.plain.len()], false);
                        return true;
                    }
                }
                Within::Divided => {
                    stage.at = Within::Meeting;
                    if let Some(steps) = gap.divided.get(thread) {
                        self.set(thread, steps, false);
                        return true;
                    }
                }
                Within::Meeting => match plan.meetings.get(number) {
                    None | Some(MeetingPlan::Barrier) => return self.arrive(thread),
                    Some(_) => {
                        (stage.at, stage.in_share) = (Within::Pieces(0), true);
                        self.in_share += 1;
                        self.share = number as u32;
                    }
                },
                Within::Pieces(at) => match &plan.meetings[number] {
                    MeetingPlan::Static(of) => match of[thread].get(at) {
                        Some(steps) => {
                            stage.at = Within::Pieces(at + 1);
                            self.set(thread, steps, false);
                            return true;
                        }
                        None => self.leave(thread),
                    },
                    _ => {
                        self.spend(thread, Cost::Ask, Next::Asked);
                        return false;
                    }
                },
            }
        }
    }

    /// The next piece of a queue, or none is left.
    pub(super) fn take_piece(&mut self, thread: usize) {
        let plan = self.plan;
        let number = self.threads[thread].stage.number;
        if let MeetingPlan::Queue(pieces) = &plan.meetings[number] {
            match pieces.get(self.taken[number]) {
                Some(steps) => {
                    self.taken[number] += 1;
                    self.set(thread, steps, false);
                }
                None => self.leave(thread),
            }
        }
        self.steps(thread);
    }

    /// The thread goes to the next gap.
    pub(super) fn leave(&mut self, thread: usize) {
        let stage = &mut self.threads[thread].stage;
        stage.number += 1;
        stage.at = Within::Begin;
        if std::mem::take(&mut stage.in_share) {
            self.in_share -= 1;
        }
        let frame = self.top(thread);
        (frame.steps, frame.at) = (&[], 0);
    }
}
