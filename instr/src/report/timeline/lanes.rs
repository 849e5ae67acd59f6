//! Values over time below the threads: tasks, bytes of the heap, sensors, counters of the program.

use super::super::columns::{Block, LANE, POINTS, Stored};

/// Intervals of a lane.
pub(super) const INTERVALS: usize = 4096;
/// Values of a lane, and of all lanes of a page, that are kept one by one.
const POINTS_OF_LANE: usize = 1 << 14;
const POINTS_OF_PAGE: usize = 1 << 18;
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
pub(crate) struct Lane {
    pub(crate) process: usize,
    pub(crate) name: String,
    pub(crate) unit: String,
    shape: Shape,
    /// The time that is kept begins and ends here.
    from: u64,
    to: u64,
    width: u64,
    least: Vec<f64>,
    most: Vec<f64>,
    /// The value now.
    pub(super) value: f64,
    /// The last interval that has a value.
    at: Option<usize>,
    /// Every value with its time; none where there were too many.
    points: Option<Vec<(u64, f64)>>,
    /// When a value ceases to hold.
    end: u64,
}

impl Lane {
    pub(super) fn new(
        process: usize,
        name: &str,
        unit: &str,
        shape: Shape,
        (from, to): (u64, u64),
    ) -> Self {
        Self {
            process,
            name: name.to_owned(),
            unit: unit.to_owned(),
            shape,
            from,
            to,
            width: to.saturating_sub(from).div_ceil(INTERVALS as u64).max(1),
            least: vec![f64::NAN; INTERVALS],
            most: vec![f64::NAN; INTERVALS],
            value: f64::NAN,
            at: None,
            points: Some(Vec::new()),
            end: to,
        }
    }

    /// The value at a time, ns; times must not go back.
    pub(super) fn set(&mut self, time: u64, value: f64) {
        if time > self.to {
            return;
        }
        let Some(time) = time.checked_sub(self.from) else {
            self.value = value;
            if self.shape == Shape::Step {
                (self.least[0], self.most[0], self.at) = (value, value, Some(0));
            }
            return;
        };
        let at = usize::try_from(time / self.width).unwrap_or(INTERVALS);
        let at = at.min(INTERVALS - 1);
        self.hold(at);
        // `min` and `max` pass over what is no number.
        self.least[at] = self.least[at].min(value);
        self.most[at] = self.most[at].max(value);
        self.value = value;
        self.at = Some(at);
        if let Some(points) = &mut self.points {
            // Of one moment the last value holds; the others are in the interval.
            if self.shape == Shape::Step && points.last().is_some_and(|last| last.0 == time) {
                points.pop();
            }
            points.push((time, value));
            if points.len() > POINTS_OF_LANE {
                self.points = None;
            }
        }
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
        let end = end.min(self.to).saturating_sub(self.from);
        let last = usize::try_from(end.saturating_sub(1) / self.width).unwrap_or(INTERVALS);
        self.hold(last.min(INTERVALS - 1));
        self.at = None;
        self.end = end;
    }

    /// Smallest and largest value of all.
    pub(crate) fn range(&self) -> (f64, f64) {
        let least = self.least.iter().copied().fold(f64::NAN, f64::min);
        (least, self.most.iter().copied().fold(f64::NAN, f64::max))
    }

    pub(crate) fn width(&self) -> u64 {
        self.width
    }

    /// When its last value ceases to hold, ns.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// The smallest and the largest value of each interval that has one, with its number.
    pub(crate) fn values(&self) -> impl Iterator<Item = (usize, f64, f64)> {
        let pairs = self.least.iter().zip(&self.most).enumerate();
        pairs
            .filter(|(_, (least, _))| !least.is_nan())
            .map(|(at, (least, most))| (at, *least, *most))
    }

    pub(crate) fn is_step(&self) -> bool {
        self.shape == Shape::Step
    }

    pub(super) fn store(&self, block: &mut Block) -> Stored {
        let table = block.table(&LANE, INTERVALS);
        let table = table.f64(self.least.iter().copied());
        table.f64(self.most.iter().copied()).finish()
    }

    /// Stores every value, if they are there and `room` is not less than they are.
    pub(super) fn store_points(&self, room: &mut usize, block: &mut Block) -> Option<Stored> {
        let points = self
            .points
            .as_ref()
            .filter(|points| points.len() <= *room)?;
        *room -= points.len();
        let mut last = 0;
        let gaps = points.iter().map(|(time, _)| {
            let gap = time.saturating_sub(last);
            last = last.max(*time);
            gap
        });
        let gaps: Vec<u64> = gaps.collect();
        let table = block.table(&POINTS, points.len());
        let table = table.varint(gaps.into_iter());
        Some(table.f64(points.iter().map(|(_, value)| *value)).finish())
    }
}

/// Values of all lanes that a page has room for.
pub(super) fn room() -> usize {
    POINTS_OF_PAGE
}

/// The lanes of all processes.
#[derive(Debug)]
pub(super) struct Lanes {
    time: (u64, u64),
    pub(super) all: Vec<Lane>,
    /// Lanes that were not made.
    pub(super) left_out: usize,
}

impl Lanes {
    /// For the time from the first to the second, ns.
    pub(super) fn new(time: (u64, u64)) -> Self {
        Self {
            time,
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
            .push(Lane::new(process, name, unit, shape, self.time));
        Some(self.all.len() - 1)
    }

    /// A lane that was made elsewhere comes behind those of tasks of its process.
    pub(super) fn insert(&mut self, lane: Lane) {
        if self.all.len() == MOST {
            self.left_out += 1;
            return;
        }
        let before = |other: &Lane| {
            other.process < lane.process
                || (other.process == lane.process && other.name.starts_with("tasks "))
        };
        let at = self.all.iter().rposition(before);
        self.all.insert(at.map_or(0, |at| at + 1), lane);
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
        let mut lane = Lane::new(0, "a", "", Shape::Step, (0, end));
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
    fn every_value_is_kept_while_they_are_few() {
        let mut lane = Lane::new(0, "a", "", Shape::Step, (0, 1 << 20));
        for time in [5, 9, 9, 30] {
            lane.add(time, 1.0);
        }
        assert_eq!(lane.points, Some(vec![(5, 1.0), (9, 3.0), (30, 4.0)]));
        let mut block = Block::default();
        assert!(lane.store_points(&mut 2, &mut block).is_none());
        let mut room = 7;
        let stored = lane.store_points(&mut room, &mut block).unwrap();
        assert_eq!((stored.rows, room), (3, 4));
        let gaps = &stored.columns[0];
        assert_eq!(block.bytes()[gaps.at..gaps.at + gaps.bytes], [5, 4, 21]);
        for time in 0..=POINTS_OF_LANE as u64 {
            lane.set(100 + time, 0.0);
        }
        assert!(lane.store_points(&mut room, &mut block).is_none());
        assert_eq!(room, 4);
    }

    #[test]
    fn a_part_of_the_time_begins_with_the_value_that_holds_then() {
        let end = 10 * INTERVALS as u64;
        let mut lane = Lane::new(0, "a", "", Shape::Step, (1000, 1000 + end));
        for (time, value) in [(5, 1.0), (7, 2.0), (1025, 3.0), (1000 + end + 1, 9.0)] {
            lane.set(time, value);
        }
        lane.finish(u64::MAX);
        let first: Vec<_> = lane.values().take(4).collect();
        let of = |at, value| (at, value, value);
        assert_eq!(first, [of(0, 2.0), of(1, 2.0), (2, 2.0, 3.0), of(3, 3.0)]);
        assert_eq!(
            (lane.values().count(), lane.range()),
            (INTERVALS, (2.0, 3.0))
        );
    }

    #[test]
    fn readings_stand_where_they_were_made() {
        let mut lane = Lane::new(0, "a", "W", Shape::Reading, (0, INTERVALS as u64));
        lane.set(3, 7.0);
        lane.set(5, 9.0);
        lane.finish(100);
        assert!(lane.least[4].is_nan() && lane.least[6].is_nan());
        assert_eq!((lane.least[3], lane.most[5]), (7.0, 9.0));
    }

    #[test]
    fn more_lanes_than_can_be_shown_are_counted() {
        let mut lanes = Lanes::new((0, 1));
        for _ in 0..MOST + 2 {
            let lane = lanes.open(0, "", "", Shape::Step);
            if let Some(lane) = lanes.get(lane) {
                lane.set(0, 1.0);
            }
        }
        assert_eq!((lanes.all.len(), lanes.left_out), (MOST, 2));
    }
}
