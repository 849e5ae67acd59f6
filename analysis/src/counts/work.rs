//! Chunks and sections of work-sharing constructs.

use instr_trace::event::{Schedule, schedule_flags};
use instr_trace::model::Work;

use super::WorkCount;
use crate::{Spread, Times};

/// A work-sharing construct that runs on one thread.
#[derive(Debug)]
pub(super) struct OpenWork {
    pub(super) work: Work,
    pieces: u64,
    /// Begin of the chunk or section that runs.
    piece: Option<u64>,
    iterations: Spread,
    piece_times: Times,
}

impl OpenWork {
    pub(super) fn new(work: Work) -> Self {
        Self {
            work,
            pieces: 0,
            piece: None,
            iterations: Spread::default(),
            piece_times: Times::default(),
        }
    }

    /// A chunk or section, begun at `now`.
    pub(super) fn begin_piece(&mut self, now: u64) {
        self.end_piece(now);
        self.pieces += 1;
        self.piece = Some(now);
    }

    /// The running chunk or section, if any, ends at `now`.
    pub(super) fn end_piece(&mut self, now: u64) {
        if let Some(begin) = self.piece.take() {
            self.piece_times.add(now.saturating_sub(begin));
        }
    }

    /// Counts the iterations of the chunk [`begin`, `end`).
    pub(super) fn chunk(&mut self, begin: i64, end: i64) {
        if let Work::Loop { schedule, incr } = self.work {
            self.iterations.add(iterations(schedule, begin, end, incr));
        }
    }

    /// Adds the chunks or sections to those of its place.
    pub(super) fn count(&self, count: &mut WorkCount) {
        count.pieces += self.pieces;
        count.chunk_iterations.merge(&self.iterations);
        count.piece_times.merge(&self.piece_times);
    }
}

/// How many times a loop from `begin` to before `end` runs; unsigned bounds come as the same bits.
fn iterations(schedule: Schedule, begin: i64, end: i64, incr: i64) -> u64 {
    let wide = |bound: i64| match schedule.has(schedule_flags::UNSIGNED) {
        true => i128::from(bound.cast_unsigned()),
        false => i128::from(bound),
    };
    let (length, step) = (wide(end) - wide(begin), i128::from(incr));
    let count = match step {
        1.. => (length.max(0) + step - 1) / step,
        0 => 0,
        _ => ((-length).max(0) - step - 1) / -step,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_have_as_many_iterations_as_the_loop_would_run() {
        let count = |flags, begin: i64, end: i64, incr: i64| {
            let (mut value, mut number) = (begin, 0);
            while (incr > 0 && value < end) || (incr < 0 && value > end) {
                (value, number) = (value + incr, number + 1);
            }
            assert_eq!(iterations(Schedule(flags), begin, end, incr), number);
        };
        for (begin, end, incr) in [
            (0, 10, 1),
            (0, 10, 3),
            (-5, 6, 4),
            (10, 0, -1),
            (10, -1, -3),
            (5, 5, 1),
            (7, 2, 1),
        ] {
            count(2, begin, end, incr);
        }
        assert_eq!(iterations(Schedule(0x802), 0, -1, 1), u64::MAX);
        assert_eq!(iterations(Schedule(2), i64::MIN, i64::MAX, 1), u64::MAX);
        assert_eq!(iterations(Schedule(2), 0, 10, 0), 0, "no step: damage");
    }
}
