//! The events of several processes as one sequence.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Error;
use crate::event::Event;
use crate::merge::Merge;
use crate::trace::Trace;

use super::Shift;

/// The events of all processes of a session in order of time; at equal times by process, within a process as [`Merge`] gives them.
#[derive(Debug)]
pub struct SessionMerge<'t> {
    merges: Vec<(Merge<'t>, Shift)>,
    /// Times and processes of the next events but those of the current process.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    current: Option<usize>,
    events: u64,
}

impl<'t> SessionMerge<'t> {
    pub(super) fn new(traces: &'t [Trace], shifts: &[Shift]) -> Result<Self, Error> {
        let merges = traces
            .iter()
            .zip(shifts)
            .map(|(trace, shift)| (trace.merge(), *shift))
            .collect();
        let mut merged = Self {
            merges,
            heap: BinaryHeap::new(),
            current: None,
            events: 0,
        };
        for process in 0..merged.merges.len() {
            if let Some(time) = merged.move_on(process)? {
                merged.heap.push(Reverse((time, process)));
            }
        }
        Ok(merged)
    }

    #[inline]
    fn move_on(&mut self, process: usize) -> Result<Option<u64>, Error> {
        let (merge, shift) = &mut self.merges[process];
        Ok(merge.advance()?.map(|time| shift.output(time)))
    }

    /// Moves to the next event and gives its process and its time, ns since the session's begin. [`SessionMerge::current`] is then that event.
    ///
    /// # Errors
    ///
    /// Stream files that cannot be read any more.
    #[inline]
    pub fn advance(&mut self) -> Result<Option<(usize, u64)>, Error> {
        let mut found = None;
        if let Some(process) = self.current
            && let Some(time) = self.move_on(process)?
        {
            match self.heap.peek() {
                Some(Reverse(top)) if *top < (time, process) => {
                    self.heap.push(Reverse((time, process)));
                }
                _ => found = Some((time, process)),
            }
        }
        let next = match found {
            Some(found) => Some(found),
            None => self.heap.pop().map(|Reverse(next)| next),
        };
        let Some((time, process)) = next else {
            return Ok(None);
        };
        self.current = Some(process);
        self.events += 1;
        Ok(Some((process, time)))
    }

    /// Position of the current event's thread among those of its process, as of [`Merge::position`].
    #[inline]
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        self.merges[self.current?].0.position()
    }

    /// The event that [`SessionMerge::advance`] found. Its time is that of its own trace.
    #[inline]
    #[must_use]
    pub fn current(&self) -> Option<Event<'_>> {
        self.merges[self.current?].0.current()
    }

    /// Events so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Packets so far that ended in damage.
    #[must_use]
    pub fn damaged(&self) -> u64 {
        self.merges.iter().map(|(merge, _)| merge.damaged()).sum()
    }

    /// Bytes of the packets opened so far, of [`Trace::bytes`] in all.
    #[must_use]
    pub fn read_bytes(&self) -> u64 {
        self.merges
            .iter()
            .map(|(merge, _)| merge.read_bytes())
            .sum()
    }
}
