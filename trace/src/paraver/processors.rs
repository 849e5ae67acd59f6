//! Context switches of all processes in order of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::error::Error;
use crate::model::{Interpreter, Scheduler, Sink};
use crate::session::Shift;
use crate::trace::Trace;

use super::rows::Rows;

/// The processors of all processes.
pub(super) struct Processors<'t> {
    processes: Vec<Scheduler<'t>>,
    /// (time in the output, process) of the next event of each process that has one.
    heap: BinaryHeap<Reverse<(u64, usize)>>,
    shift: Vec<Shift>,
    /// Time of the next event of all; `u64::MAX`: there is none.
    pub(super) next: u64,
}

impl<'t> Processors<'t> {
    pub(super) fn new(traces: &'t [Trace], rows: &Rows) -> Result<Self, Error> {
        let mut all = Self {
            processes: traces.iter().map(Scheduler::of).collect::<Result<_, _>>()?,
            heap: BinaryHeap::new(),
            shift: rows.shift.clone(),
            next: u64::MAX,
        };
        for process in 0..traces.len() {
            all.push(process);
        }
        Ok(all)
    }

    fn push(&mut self, process: usize) {
        let time = self.processes[process].next_time();
        if time != u64::MAX {
            let time = self.shift[process].output(time);
            self.heap.push(Reverse((time, process)));
        }
        self.next = self.heap.peek().map_or(u64::MAX, |next| next.0.0);
    }

    /// The process whose event is the next of all.
    pub(super) fn process(&self) -> Option<usize> {
        self.heap.peek().map(|next| next.0.1)
    }

    /// Takes the next event of all. `model` and `sink` are those of [`Processors::process`].
    pub(super) fn step<S: Sink>(
        &mut self,
        model: &mut Interpreter,
        sink: &mut S,
    ) -> Result<(), Error> {
        if let Some(Reverse((_, process))) = self.heap.pop() {
            self.processes[process].step(model, sink)?;
            self.push(process);
        }
        Ok(())
    }
}
