//! Power of a chip without a meter.

/// Power by the number of busy cores, linear between and beyond the given ones. After Royuela et al. (ICPP 2020, doi
/// 10.1145/3404397.3404440), §5.2.2: the GR740 takes 502.72, 683.57, 864.42 and 1045.28 mW with one to four cores busy.
#[derive(Clone, Debug, PartialEq)]
pub struct PowerModel {
    /// Power with 0, 1, 2 … cores busy, mW; at least two.
    levels: Vec<f64>,
}

impl PowerModel {
    /// The model with `busy_mw` at one, two … busy cores and `idle_mw` at none; without the latter the line through the first two
    /// is continued. Nothing when there are too few numbers, or one that no power can be.
    #[must_use]
    pub fn new(idle_mw: Option<f64>, busy_mw: &[f64]) -> Option<Self> {
        let idle = match (idle_mw, busy_mw) {
            (Some(idle), [_, ..]) => idle,
            (None, [one, two, ..]) => (2.0 * one - two).max(0.0),
            _ => return None,
        };
        let levels: Vec<f64> = std::iter::once(idle)
            .chain(busy_mw.iter().copied())
            .collect();
        levels
            .iter()
            .all(|power| power.is_finite() && *power >= 0.0)
            .then_some(Self { levels })
    }

    /// Cores that it knows.
    #[must_use]
    pub fn cores(&self) -> usize {
        self.levels.len() - 1
    }

    /// Power with `busy` cores busy on average, mW; more cores than there are count as all.
    #[must_use]
    pub fn power_mw(&self, busy: f64) -> f64 {
        let busy = if busy.is_finite() {
            busy.clamp(0.0, self.cores() as f64)
        } else {
            0.0
        };
        let below = (busy as usize).min(self.cores() - 1);
        let (low, high) = (self.levels[below], self.levels[below + 1]);
        low + (high - low) * (busy - below as f64)
    }

    /// Average power of a run from its efficiency profile: the share of the time each core is busy, 0 to 1 each.
    #[must_use]
    pub fn average_mw(&self, shares: impl IntoIterator<Item = f64>) -> f64 {
        self.power_mw(shares.into_iter().sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GR740: [f64; 4] = [502.72, 683.57, 864.42, 1045.28];

    #[test]
    fn the_papers_levels_are_reproduced() {
        let model = PowerModel::new(None, &GR740).unwrap();
        for (busy, power) in (1..).zip(GR740) {
            assert!((model.power_mw(f64::from(busy)) - power).abs() < 1e-9);
        }
        assert!(
            (model.power_mw(0.0) - 321.87).abs() < 1e-9,
            "the line goes on to no core"
        );
        assert_eq!(model.power_mw(9.0), GR740[3], "there are four cores");
    }

    #[test]
    fn the_papers_average_follows_from_its_efficiency_profile() {
        // Table 1: busy shares of the four cores; the paper's text says 944.5 mW.
        let model = PowerModel::new(None, &GR740).unwrap();
        let average = model.average_mw([0.8847, 0.8592, 0.8856, 0.8133]);
        assert!((average - 944.5).abs() < 0.05, "{average}");
    }

    #[test]
    fn what_no_power_can_be_is_refused() {
        assert_eq!(PowerModel::new(None, &[1.0]), None);
        assert_eq!(PowerModel::new(Some(1.0), &[]), None);
        assert_eq!(PowerModel::new(None, &[1.0, f64::NAN]), None);
        assert_eq!(PowerModel::new(Some(-1.0), &[1.0]), None);
        assert!(PowerModel::new(Some(0.5), &[1.0]).is_some());
    }
}
