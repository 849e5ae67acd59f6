//! K-way merge of the streams of a trace in time order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use crate::error::Error;
use crate::event::Event;
use crate::stream::StreamReader;

/// All events of a trace by time; at equal times by thread index, within a thread in recorded order.
#[derive(Debug)]
pub struct Merge<'t> {
    streams: Vec<StreamReader<'t>>,
    /// (time, position of the stream); the stream may not be open yet, its time is then a lower bound.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    opened: Vec<bool>,
    /// The stream whose event was given out last.
    current: Option<usize>,
}

impl<'t> Merge<'t> {
    /// `streams` in order of their thread index.
    pub(crate) fn new(streams: Vec<StreamReader<'t>>) -> Self {
        let heap = streams
            .iter()
            .enumerate()
            .filter_map(|(at, stream)| Some(Reverse((stream.earliest()?, at))))
            .collect();
        Self {
            opened: vec![false; streams.len()],
            streams,
            heap,
            current: None,
        }
    }

    /// The next event of all; `None` at the end. The event borrows this merge, so it is gone with the next call.
    #[allow(clippy::should_implement_trait, reason = "a lending iterator")]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Event<'_>>, Error> {
        Ok(match self.step()? {
            Some(position) => self.streams[position].current(),
            None => None,
        })
    }

    /// The same with [`Merge::position`]. Threads of the runtime's own have positions behind those of the program.
    #[inline]
    pub fn next_at(&mut self) -> Result<Option<(usize, Event<'_>)>, Error> {
        Ok(match self.step()? {
            Some(position) => self.streams[position]
                .current()
                .map(|event| (position, event)),
            None => None,
        })
    }

    /// Position (in order of [`crate::Trace::threads`]) of the thread whose event [`Merge::next`] gave last.
    pub fn position(&self) -> Option<usize> {
        self.current
    }

    /// Packets so far that ended in damage.
    pub fn damaged(&self) -> u64 {
        self.streams.iter().map(StreamReader::damaged).sum()
    }

    /// Bytes of the packets opened so far, of [`crate::Trace::bytes`] in all.
    pub fn read_bytes(&self) -> u64 {
        self.streams.iter().map(StreamReader::read_bytes).sum()
    }

    /// Moves to the next event and gives its time; [`Merge::current`] is then that event.
    #[inline]
    pub(crate) fn advance(&mut self) -> Result<Option<u64>, Error> {
        Ok(self.step()?.map(|position| self.streams[position].time()))
    }

    /// The event that [`Merge::advance`] found.
    #[inline]
    pub(crate) fn current(&self) -> Option<Event<'_>> {
        self.streams[self.current?].current()
    }

    #[inline]
    fn step(&mut self) -> Result<Option<usize>, Error> {
        if let Some(position) = self.current {
            if self.streams[position].advance()? {
                let mut key = (self.streams[position].time(), position);
                let overtaken = match self.heap.peek_mut() {
                    Some(mut top) if top.0 < key => {
                        std::mem::swap(&mut top.0, &mut key);
                        true
                    }
                    // Most often one thread has a run of events: no need to touch the heap.
                    _ => false,
                };
                if !overtaken {
                    return Ok(self.current);
                }
                if self.opened[key.1] {
                    self.current = Some(key.1);
                    return Ok(self.current);
                }
                self.heap.push(Reverse(key));
            }
            self.current = None;
        }
        loop {
            let Some(mut top) = self.heap.peek_mut() else {
                self.current = None;
                return Ok(None);
            };
            let position = top.0.1;
            if self.opened[position] {
                PeekMut::pop(top);
                self.current = Some(position);
                return Ok(Some(position));
            }
            self.opened[position] = true;
            if self.streams[position].advance()? {
                top.0.0 = self.streams[position].time();
            } else {
                PeekMut::pop(top);
            }
        }
    }
}
