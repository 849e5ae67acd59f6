//! Number, sum and extremes.

use serde::ser::SerializeStruct as _;
use serde::{Serialize, Serializer};

/// Number and times of one kind of construct. `count` is 0 only together with all times.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// Sum, ns.
    pub total_ns: u64,
    /// Shortest, ns.
    pub min_ns: u64,
    /// Longest, ns.
    pub max_ns: u64,
}

impl Serialize for Times {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Times", 5)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("total_ns", &self.total_ns)?;
        fields.serialize_field("min_ns", &self.min_ns)?;
        fields.serialize_field("mean_ns", &self.mean_ns())?;
        fields.serialize_field("max_ns", &self.max_ns)?;
        fields.end()
    }
}

impl Times {
    /// Counts one more, of the given length.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.min_ns = if self.count == 0 {
            ns
        } else {
            self.min_ns.min(ns)
        };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        self.total_ns = self.total_ns.saturating_add(ns);
    }

    /// `total_ns / count`, rounded down.
    pub fn mean_ns(&self) -> u64 {
        self.total_ns.checked_div(self.count).unwrap_or(0)
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min_ns = match self.count {
            0 => other.min_ns,
            _ => self.min_ns.min(other.min_ns),
        };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
    }
}

/// Number, sum and extremes of something that is no time.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// Sum.
    pub total: u64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
}

impl Spread {
    /// Counts one more.
    pub fn add(&mut self, value: u64) {
        self.min = match self.count {
            0 => value,
            _ => self.min.min(value),
        };
        self.max = self.max.max(value);
        self.total = self.total.saturating_add(value);
        self.count += 1;
    }

    /// Counts all of `other` too.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.min = match self.count {
            0 => other.min,
            _ => self.min.min(other.min),
        };
        self.max = self.max.max(other.max);
        self.total = self.total.saturating_add(other.total);
        self.count += other.count;
    }
}

impl Spread {
    /// `total / count`, rounded down.
    pub fn mean(&self) -> u64 {
        self.total.checked_div(self.count).unwrap_or(0)
    }
}

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Spread", 5)?;
        fields.serialize_field("count", &self.count)?;
        fields.serialize_field("total", &self.total)?;
        fields.serialize_field("min", &self.min)?;
        fields.serialize_field("mean", &self.mean())?;
        fields.serialize_field("max", &self.max)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_keep_sum_extremes_and_mean() {
        let mut times = Times::default();
        for ns in [7, 3, 5] {
            times.add(ns);
        }
        assert_eq!(
            times,
            Times {
                count: 3,
                total_ns: 15,
                min_ns: 3,
                max_ns: 7
            }
        );
        assert_eq!(times.mean_ns(), 5);
        let json = r#"{"count":3,"total_ns":15,"min_ns":3,"mean_ns":5,"max_ns":7}"#;
        assert_eq!(serde_json::to_string(&times).unwrap(), json);
        times.add(u64::MAX);
        assert_eq!(times.total_ns, u64::MAX, "no overflow");
    }

    #[test]
    fn a_spread_has_the_extremes_of_all_its_values() {
        let of = |values: &[u64]| {
            let mut spread = Spread::default();
            values.iter().for_each(|value| spread.add(*value));
            spread
        };
        let spread = of(&[5, 2, 9]);
        assert_eq!((spread.count, spread.total), (3, 16));
        assert_eq!((spread.min, spread.max), (2, 9));
        for (one, two) in [(&[5, 2][..], &[9][..]), (&[9], &[2, 5]), (&[], &[5, 2, 9])] {
            let mut both = of(one);
            both.merge(&of(two));
            assert_eq!(both, spread);
            both.merge(&Spread::default());
            assert_eq!(both, spread);
        }
    }
}
