//! Values over time below the threads: tasks, bytes of the heap, sensors, counters of the program.

use super::super::columns::{Block, LANE, Stored};

/// Intervals of a lane.
pub(super) const INTERVALS: usize = 4096;
/// Lanes of a session. More are not shown.
const MOST: usize = 64;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// It holds until the next one.
    Step,
    /// It was read at a moment.
    Reading,
}

/// One lane: the smallest and the largest value of each interval.
#[derive(Debug)]
pub(super) struct Lane {
    pub(super) process: usize,
    pub(super) name: String,
    pub(super) unit: String,
    shape: Shape,
    width: u64,
    least: Vec<f64>,
    most: Vec<f64>,
    /// The value now.
    pub(super) value: f64,
    /// The last interval that has a value.
    at: Option<usize>,
}

impl Lane {
    fn new(process: usize, name: &str, unit: &str, shape: Shape, end: u64) -> Self {
        Self {
            process,
            name: name.to_owned(),
            unit: unit.to_owned(),
            shape,
            width: end.div_ceil(INTERVALS as u64).max(1),
            least: vec![f64::NAN; INTERVALS],
            most: vec![f64::NAN; INTERVALS],
            value: f64::NAN,
            at: None,
        }
    }

    /// The value at a time, ns; times must not go back.
    pub(super) fn set(&mut self, time: u64, value: f64) {
        let at = usize::try_from(time / self.width).unwrap_or(INTERVALS);
        let at = at.min(INTERVALS - 1);
        self.hold(at);
        // `min` and `max` pass over what is no number.
        self.least[at] = self.least[at].min(value);
        self.most[at] = self.most[at].max(value);
        self.value = value;
        self.at = Some(at);
    }

    /// Adds to the value at a time, ns.
    pub(super) fn add(&mut self, time: u64, more: f64) {
        let now = if self.value.is_nan() { 0.0 } else { self.value };
        self.set(time, now + more);
    }

    /// A value that holds is that of all intervals up to `to`, and what that one begins with.
    fn hold(&mut self, to: usize) {
        let Some(from) = self.at.filter(|_| self.shape == Shape::Step) else {
            return;
        };
        for at in from + 1..=to {
            (self.least[at], self.most[at]) = (self.value, self.value);
        }
    }

    /// Completes the lane at the end of its process, ns.
    pub(super) fn finish(&mut self, end: u64) {
        let last = usize::try_from(end.saturating_sub(1) / self.width).unwrap_or(INTERVALS);
        self.hold(last.min(INTERVALS - 1));
        self.at = None;
    }

    /// Smallest and largest value of all.
    pub(super) fn range(&self) -> (f64, f64) {
        let least = self.least.iter().copied().fold(f64::NAN, f64::min);
        (least, self.most.iter().copied().fold(f64::NAN, f64::max))
    }

    pub(super) fn width(&self) -> u64 {
        self.width
    }

    pub(super) fn is_step(&self) -> bool {
        self.shape == Shape::Step
    }

    pub(super) fn store(&self, block: &mut Block) -> Stored {
        let table = block.table(&LANE, INTERVALS);
        let table = table.f64(self.least.iter().copied());
        table.f64(self.most.iter().copied()).finish()
    }
}

/// The lanes of all processes.
#[derive(Debug)]
pub(super) struct Lanes {
    end: u64,
    pub(super) all: Vec<Lane>,
    /// Lanes that were not made.
    pub(super) left_out: usize,
}

impl Lanes {
    /// For a session that ends at `end`, ns.
    pub(super) fn new(end: u64) -> Self {
        Self {
            end,
            all: Vec::new(),
            left_out: 0,
        }
    }

    /// A new lane.
    pub(super) fn open(
        &mut self,
        process: usize,
        name: &str,
        unit: &str,
        shape: Shape,
    ) -> Option<usize> {
        if self.all.len() == MOST {
            self.left_out += 1;
            return None;
        }
        self.all
            .push(Lane::new(process, name, unit, shape, self.end));
        Some(self.all.len() - 1)
    }

    /// The lane of this number, if there is one.
    pub(super) fn get(&mut self, lane: Option<usize>) -> Option<&mut Lane> {
        self.all.get_mut(lane?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_holds_until_the_next_value() {
        let end = 10 * INTERVALS as u64;
        let mut lane = Lane::new(0, "a", "", Shape::Step, end);
        lane.set(25, 3.0);
        lane.set(28, 5.0);
        lane.add(61, -4.0);
        lane.finish(85);
        let shown = |column: &[f64]| column[..10].to_vec();
        let (least, most) = (shown(&lane.least), shown(&lane.most));
        assert!(least[0].is_nan() && least[1].is_nan());
        assert_eq!(least[2..9], [3.0, 5.0, 5.0, 5.0, 1.0, 1.0, 1.0]);
        assert_eq!(most[2..9], [5.0, 5.0, 5.0, 5.0, 5.0, 1.0, 1.0]);
        assert!(least[9].is_nan());
        assert_eq!(lane.range(), (1.0, 5.0));
    }

    #[test]
    fn readings_stand_where_they_were_made() {
        let mut lane = Lane::new(0, "a", "W", Shape::Reading, INTERVALS as u64);
        lane.set(3, 7.0);
        lane.set(5, 9.0);
        lane.finish(100);
        assert!(lane.least[4].is_nan() && lane.least[6].is_nan());
        assert_eq!((lane.least[3], lane.most[5]), (7.0, 9.0));
    }

    #[test]
    fn more_lanes_than_can_be_shown_are_counted() {
        let mut lanes = Lanes::new(1);
        for _ in 0..MOST + 2 {
            let lane = lanes.open(0, "", "", Shape::Step);
            if let Some(lane) = lanes.get(lane) {
                lane.set(0, 1.0);
            }
        }
        assert_eq!((lanes.all.len(), lanes.left_out), (MOST, 2));
    }
}
