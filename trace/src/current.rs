//! Which task a thread runs: the rule "current task" of `docs/trace-format.md`.

use crate::event::{Payload, RegionId, TaskId};

/// A task of any kind, as the generator of explicit tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Parent {
    /// The initial task of a thread: outside all regions.
    Initial {
        /// Index of the thread.
        thread: u32,
    },
    /// The implicit task of a region on a thread.
    Implicit {
        /// Index of the thread.
        thread: u32,
        /// The region.
        region: RegionId,
    },
    /// An explicit task.
    Explicit(TaskId),
}

/// The tasks begun and not ended on one thread, innermost last. Feed it every event of the thread in order.
#[derive(Clone, Debug, Default)]
pub struct CurrentTask {
    frames: Vec<Frame>,
    /// Places of the implicit tasks among them.
    implicit: Vec<(usize, RegionId)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frame {
    Implicit(RegionId),
    Explicit(TaskId),
}

/// Deeper nesting is damage: it is not followed.
const MAX_DEPTH: usize = 1 << 16;
/// The end of a region is not looked for below so many implicit tasks that lost their own.
pub(crate) const MAX_LOST: usize = 64;

impl CurrentTask {
    /// The running task of `thread` (the thread this value was fed with).
    #[inline]
    pub fn parent(&self, thread: u32) -> Parent {
        match self.frames.last() {
            None => Parent::Initial { thread },
            Some(Frame::Implicit(region)) => Parent::Implicit {
                thread,
                region: *region,
            },
            Some(Frame::Explicit(task)) => Parent::Explicit(*task),
        }
    }

    /// Takes an event of this thread into account. Calls `ended` for each task that ends by it, innermost first.
    #[inline]
    pub fn event(&mut self, thread: u32, payload: &Payload<'_>, mut ended: impl FnMut(Parent)) {
        match *payload {
            Payload::ImplicitBegin { region, .. } => self.push(Frame::Implicit(region)),
            Payload::TaskBegin { task } => self.push(Frame::Explicit(task)),
            Payload::TaskEnd => {
                if let Some(Frame::Explicit(task)) = self.frames.last() {
                    ended(Parent::Explicit(*task));
                    self.frames.pop();
                }
            }
            Payload::ImplicitEnd => {
                let last = self.implicit.last().map(|(place, _)| *place);
                self.close_from(last, thread, ended);
            }
            // An implicit task that lost its end.
            Payload::ParallelEnd { seq } => {
                let region = RegionId { thread, seq };
                let mut within = self.implicit.iter().rev().take(MAX_LOST);
                let found = within.find(|(_, of)| *of == region);
                self.close_from(found.map(|(place, _)| *place), thread, ended);
            }
            Payload::TaskSuspend => {
                if let Some(Frame::Explicit(_)) = self.frames.last() {
                    self.frames.pop();
                }
            }
            Payload::TaskResume { task } => self.push(Frame::Explicit(task)),
            Payload::ThreadEnd => self.close_from(Some(0), thread, ended),
            Payload::Lost { task, region, .. } => self.lost(
                region.map(Frame::Implicit),
                task.map(Frame::Explicit),
                thread,
                ended,
            ),
            _ => {}
        }
    }

    /// Behind a gap: the innermost region and explicit task are known. What lies below either of them goes on.
    fn lost(
        &mut self,
        region: Option<Frame>,
        task: Option<Frame>,
        thread: u32,
        ended: impl FnMut(Parent),
    ) {
        let goes_on = |frame: &Frame| Some(*frame) == region || Some(*frame) == task;
        let keep = self.frames.iter().rposition(goes_on).map_or(0, |at| at + 1);
        self.close_from(Some(keep), thread, ended);
        for frame in region.into_iter().chain(task) {
            if !self.frames.contains(&frame) {
                self.push(frame);
            }
        }
    }

    fn push(&mut self, frame: Frame) {
        if self.frames.len() < MAX_DEPTH {
            if let Frame::Implicit(region) = frame {
                self.implicit.push((self.frames.len(), region));
            }
            self.frames.push(frame);
        }
    }

    fn close_from(&mut self, at: Option<usize>, thread: u32, mut ended: impl FnMut(Parent)) {
        let Some(at) = at else { return };
        while self.frames.len() > at {
            ended(self.parent(thread));
            self.frames.pop();
            let len = self.frames.len();
            self.implicit.pop_if(|(place, _)| *place >= len);
        }
    }
}
