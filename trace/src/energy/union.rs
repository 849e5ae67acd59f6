//! Regions as unions of intervals.

/// When each region is open. Regions are numbers from 0 on; several threads may be inside one, several times.
#[derive(Clone, Debug, Default)]
pub struct Unions {
    /// By number.
    regions: Vec<Open>,
    /// Numbers of those that are open.
    open: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Open {
    inside: u32,
    /// Its place among those that are open, while it is.
    place: usize,
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
        if region >= self.regions.len() {
            self.regions.resize(region + 1, Open::default());
        }
        let open = &mut self.regions[region];
        if open.inside == 0 {
            (open.since, open.place) = (time, self.open.len());
            self.open.push(region);
        }
        open.inside = open.inside.saturating_add(1);
    }

    /// Someone leaves; the interval that is over, when it was the last one inside.
    pub fn leave(&mut self, region: usize, time: u64) -> Option<(u64, u64)> {
        let open = self.regions.get_mut(region)?;
        open.inside = open.inside.checked_sub(1)?;
        if open.inside > 0 {
            return None;
        }
        open.total += time.saturating_sub(open.since);
        let (place, since) = (open.place, open.since);
        self.open.swap_remove(place);
        if let Some(moved) = self.open.get(place) {
            self.regions[*moved].place = place;
        }
        Some((since, time))
    }

    /// How many regions are open.
    #[must_use]
    pub fn count(&self) -> usize {
        self.open.len()
    }

    /// Whether someone is inside `region`.
    #[must_use]
    pub fn is_open(&self, region: usize) -> bool {
        self.regions.get(region).is_some_and(|open| open.inside > 0)
    }

    /// The regions that are open, in no order, each with the time since when.
    pub fn open(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let since = |&region: &usize| (region, self.regions[region].since);
        self.open.iter().map(since)
    }

    /// Nanoseconds that `region` was open, intervals that overlap counted once; without an interval that is not over.
    #[must_use]
    pub fn total_ns(&self, region: usize) -> u64 {
        self.regions.get(region).map_or(0, |open| open.total)
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

    #[test]
    fn those_that_are_open_are_known_whatever_the_order_of_their_ends() {
        let mut unions = Unions::new();
        for region in 0..5 {
            unions.enter(region, 10 * region as u64);
        }
        for region in [1, 4, 0] {
            assert!(unions.leave(region, 100).is_some());
        }
        let mut open: Vec<_> = unions.open().collect();
        open.sort_unstable();
        assert_eq!(open, [(2, 20), (3, 30)]);
        assert!(unions.is_open(3) && !unions.is_open(4) && unions.count() == 2);
        unions.enter(4, 110);
        assert_eq!(unions.leave(3, 120), Some((30, 120)));
        assert_eq!(unions.leave(4, 130), Some((110, 130)));
        assert_eq!(unions.open().collect::<Vec<_>>(), [(2, 20)]);
    }
}
