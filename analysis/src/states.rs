//! Time of each thread in each state.

use instr_trace::model::{Interval, Sink, State};

/// Adds up the intervals of the threads of one trace.
#[derive(Clone, Debug)]
pub struct States {
    by_position: Vec<[u64; 5]>,
}

impl States {
    /// For so many threads.
    pub fn new(threads: usize) -> Self {
        Self {
            by_position: vec![[0; 5]; threads],
        }
    }

    /// How long the thread at `position` was in `state`, ns.
    pub fn ns(&self, position: usize, state: State) -> u64 {
        let times = self.by_position.get(position);
        times.map_or(0, |times| times[column(state)])
    }
}

fn column(state: State) -> usize {
    match state {
        State::Useful => 0,
        State::Synchronization => 1,
        State::Scheduling => 2,
        State::Idle => 3,
        State::Flush => 4,
    }
}

impl Sink for States {
    const MARKS: bool = false;
    const TASK_CODES: bool = false;

    #[inline]
    fn interval(&mut self, interval: Interval) {
        if let Some(times) = self.by_position.get_mut(interval.position) {
            let time = &mut times[column(interval.state)];
            *time = time.saturating_add(interval.end - interval.begin);
        }
    }
}
