//! How much there is of everything in all regions, before any of them is run again.

use std::collections::BTreeMap;

use instr_trace::model::Code;

use super::collect::Receiver;
use super::model::{Lock, Meeting, Part, Piece, Region, Sharing, Spot, SpotId, Spots, Step};
use super::spread::Spread;

/// Of a spot: tasks, pieces of a loop, or threads' own parts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Total {
    /// How many.
    pub count: u64,
    /// User code, ns.
    pub ns: u64,
    squares: f64,
    spread: Spread,
}

impl Total {
    fn add(&mut self, ns: u64) {
        self.count += 1;
        self.ns += ns;
        self.squares += (ns as f64).powi(2);
        self.spread.add(ns as f64);
    }

    /// The variance of the mean beyond that of independent values, because neighbours are slow together, as a share of the mean's square; `None`: too few values.
    #[must_use]
    pub fn excess(&self) -> Option<f64> {
        let error = self.error()?;
        Some((self.spread.variance()? - error * error).max(0.0))
    }

    /// Standard error of the mean of independent values, as a share of it; `None` of a single one, whose spread nobody knows.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        if self.count < 2 || self.ns == 0 {
            return None;
        }
        let count = self.count as f64;
        let mean = self.ns as f64 / count;
        let variance = (self.squares / count - mean * mean).max(0.0) * count / (count - 1.0);
        Some((variance / count).sqrt() / mean)
    }
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// By spot.
    pub spots: BTreeMap<Spot, Total>,
    /// How long each lock was held, ns.
    pub locks: BTreeMap<Lock, u64>,
    /// What threads did by themselves, of which nobody knows whether each does it or all divide it, ns.
    pub undetermined: u64,
    /// What they divided by their numbers, so that loops begin and do not end, ns.
    pub divided: u64,
    /// What they did in sections whose begins are not known, ns.
    pub unseen: u64,
    /// Explicit tasks, and steps of all bodies.
    pub tasks: u64,
    /// See `tasks`.
    pub steps: u64,
    /// Regions by their code: how many, and how long they took, ns.
    pub regions: BTreeMap<Code, (u64, u64)>,
    /// The most iterations of a loop.
    pub iterations: u64,
}

impl Totals {
    /// User code of all regions, ns.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.spots.values().map(|total| total.ns).sum()
    }

    /// By how much the run as a whole is slower than others, because of stretches in which all is slow: a standard deviation, as a share. The mean of all spots
    /// that show it, by their work.
    #[must_use]
    pub fn slowness(&self) -> f64 {
        let known = self.spots.values();
        let known = known.filter_map(|total| Some((total.excess()?.sqrt(), total.ns as f64)));
        let (sum, weight) = known.fold((0.0, 0.0), |(sum, weight), (error, ns)| {
            (sum + error * ns, weight + ns)
        });
        if weight > 0.0 { sum / weight } else { 0.0 }
    }

    /// One body, or one piece of it.
    fn instance(&mut self, steps: &[Step], spots: &[Spot], locks: &[Lock]) {
        let mut by_spot: Vec<(SpotId, u64)> = Vec::new();
        let mut held: Vec<u32> = Vec::new();
        for step in steps {
            match *step {
                _ if step.is_waiting() => {}
                Step::Work { spot, ns } => {
                    match by_spot.iter_mut().find(|(known, _)| *known == spot) {
                        Some((_, sum)) => *sum += ns,
                        None => by_spot.push((spot, ns)),
                    }
                    for lock in &held {
                        *self.locks.entry(locks[*lock as usize]).or_default() += ns;
                    }
                }
                Step::Acquire(lock) => {
                    held.push(lock);
                    self.locks.entry(locks[lock as usize]).or_default();
                }
                Step::Release(lock) => held.retain(|own| *own != lock),
                _ => {}
            }
        }
        for (spot, ns) in by_spot {
            self.spots.entry(spots[spot as usize]).or_default().add(ns);
        }
    }
}

impl Receiver for Totals {
    fn region(&mut self, region: Region, spots: &Spots) {
        let (spots, locks) = (spots.all(), region.locks.as_slice());
        self.tasks += region.tasks.len() as u64;
        self.steps += region.steps.len() as u64;
        let alike = self.regions.entry(region.code).or_default();
        *alike = (alike.0 + 1, alike.1 + region.elapsed);
        for task in &region.tasks {
            self.instance(region.at(&task.steps), spots, locks);
        }
        for parts in region.gaps.iter().flatten() {
            for part in parts {
                let (Part::Own(steps)
                | Part::Divided(steps)
                | Part::Once(steps)
                | Part::Masked(steps)) = part;
                let steps = region.at(steps);
                self.instance(steps, spots, locks);
                let work = Region::work(steps);
                match part {
                    Part::Own(_) if !steps.iter().any(super::plan::is_creation) => {
                        self.undetermined += work;
                    }
                    Part::Divided(_) => self.divided += work,
                    _ => {}
                }
            }
        }
        for meeting in &region.meetings {
            let Meeting::Share {
                sharing, pieces, ..
            } = meeting
            else {
                continue;
            };
            let iterations = pieces.iter().map(|piece| piece.iterations);
            if *sharing == Sharing::Unseen {
                let of = |piece: &Piece| Region::work(region.at(&piece.steps));
                self.unseen += pieces.iter().map(of).sum::<u64>();
            } else if *sharing != Sharing::Blocks {
                let all = iterations.fold(0, u64::saturating_add);
                self.iterations = self.iterations.max(all);
            }
            for piece in pieces {
                self.instance(region.at(&piece.steps), spots, locks);
            }
        }
    }
}
