//! Placements: which processors a run may use.

use anyhow::{Context as _, Result};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::Actuator;
use crate::sweep::axes::Placement;
use crate::sweep::plan::Point;

/// Which processors this process, and so its children, may use. That is its own: it needs no guard.
pub(super) struct Affinity {
    before: CpuSet,
    allowed: Vec<usize>,
}

impl Affinity {
    pub(super) fn new() -> Result<Self> {
        let before = sched_getaffinity(None).context("cannot read which processors may be used")?;
        let allowed = (0..CpuSet::MAX_CPU)
            .filter(|cpu| before.is_set(*cpu))
            .collect();
        Ok(Self { before, allowed })
    }

    fn chosen(&self, placement: Placement, threads: usize) -> Vec<usize> {
        let count = threads.clamp(1, self.allowed.len());
        match placement {
            Placement::Any => self.allowed.clone(),
            Placement::Compact => self.allowed[..count].to_vec(),
            Placement::Spread => (0..count)
                .map(|at| self.allowed[at * self.allowed.len() / count])
                .collect(),
        }
    }
}

impl Actuator for Affinity {
    fn set(&mut self, point: &Point) -> Result<()> {
        let mut set = CpuSet::new();
        let placement = point.placement.unwrap_or(Placement::Any);
        self.chosen(placement, point.threads as usize)
            .into_iter()
            .for_each(|cpu| set.set(cpu));
        sched_setaffinity(None, &set).context("cannot choose processors")
    }

    fn restore(&mut self) -> Result<()> {
        sched_setaffinity(None, &self.before).context("cannot give all processors back")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placements_choose_processors_that_may_be_used() {
        let affinity = Affinity {
            before: CpuSet::new(),
            allowed: vec![0, 2, 4, 6],
        };
        assert_eq!(affinity.chosen(Placement::Compact, 2), [0, 2]);
        assert_eq!(affinity.chosen(Placement::Spread, 2), [0, 4]);
        assert_eq!(affinity.chosen(Placement::Spread, 9), [0, 2, 4, 6]);
        assert_eq!(affinity.chosen(Placement::Any, 1), [0, 2, 4, 6]);
    }
}
