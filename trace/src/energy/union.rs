//! Regions as unions of intervals.

/// When each region is open. Regions are numbers from 0 on; several threads may be inside one, several times.
#[derive(Clone, Debug, Default)]
pub struct Unions {
    open: Vec<Open>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    inside: u32,
    since: u64,
    total: u64,
}

impl Unions {
    /// No region is open.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Someone enters `region` at `time` (ns).
    pub fn enter(&mut self, region: usize, time: u64) {
        if region >= self.open.len() {
            self.open.resize(region + 1, Open::default());
        }
        let open = &mut self.open[region];
        if open.inside == 0 {
            open.since = time;
        }
        open.inside = open.inside.saturating_add(1);
    }

    /// Someone leaves; the interval that is over, when it was the last one inside.
    pub fn leave(&mut self, region: usize, time: u64) -> Option<(u64, u64)> {
        let open = self.open.get_mut(region)?;
        open.inside = open.inside.checked_sub(1)?;
        if open.inside > 0 {
            return None;
        }
        open.total += time.saturating_sub(open.since);
        Some((open.since, time))
    }

    /// The regions that are open, each with the time since when.
    pub fn open(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.open
            .iter()
            .enumerate()
            .filter(|(_, open)| open.inside > 0)
            .map(|(region, open)| (region, open.since))
    }

    /// Nanoseconds that `region` was open, intervals that overlap counted once; without an interval that is not over.
    #[must_use]
    pub fn total_ns(&self, region: usize) -> u64 {
        self.open.get(region).map_or(0, |open| open.total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_overlap_count_once() {
        let mut unions = Unions::new();
        unions.enter(3, 10);
        unions.enter(3, 20);
        assert_eq!(unions.leave(3, 30), None);
        assert_eq!(unions.open().collect::<Vec<_>>(), [(3, 10)]);
        assert_eq!(unions.leave(3, 40), Some((10, 40)));
        unions.enter(3, 50);
        assert_eq!(unions.leave(3, 55), Some((50, 55)));
        assert_eq!(unions.total_ns(3), 35);
        assert_eq!(unions.leave(3, 60), None, "an end too many");
        assert_eq!(unions.leave(9, 60), None, "a region that never began");
    }
}
