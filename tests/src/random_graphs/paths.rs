//! Longest paths through a graph of points, by looking at every arc.

/// A way from an earlier point to a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arc<T> {
    /// Where it begins.
    pub from: usize,
    /// What walking it adds.
    pub work: u64,
    /// How many tasks begin on it.
    pub hops: u64,
    /// Whose work it is.
    pub owner: Option<T>,
}

/// Points with the arcs that lead to each.
#[derive(Debug, Clone)]
pub struct Paths<T> {
    arcs: Vec<Vec<Arc<T>>>,
}

impl<T> Default for Paths<T> {
    fn default() -> Self {
        Self { arcs: Vec::new() }
    }
}

impl<T: Copy> Paths<T> {
    /// A new point.
    pub fn point(&mut self) -> usize {
        self.arcs.push(Vec::new());
        self.arcs.len() - 1
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.arcs.len()
    }

    /// Whether there is no point.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.arcs.is_empty()
    }

    /// The arcs that lead to a point.
    #[must_use]
    pub fn arcs(&self, to: usize) -> &[Arc<T>] {
        &self.arcs[to]
    }

    /// Adds an arc that carries work.
    pub fn arc(&mut self, to: usize, arc: Arc<T>) {
        self.arcs[to].push(arc);
    }

    /// Adds an arc that only orders.
    pub fn order(&mut self, from: usize, to: usize) {
        self.arc(
            to,
            Arc {
                from,
                work: 0,
                hops: 0,
                owner: None,
            },
        );
    }

    /// The points, each behind all that lead to it; none when there is a circle.
    fn sorted(&self) -> Option<Vec<usize>> {
        let mut next: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        let mut missing: Vec<usize> = self.arcs.iter().map(Vec::len).collect();
        for (to, arcs) in self.arcs.iter().enumerate() {
            for arc in arcs {
                next[arc.from].push(to);
            }
        }
        let mut sorted: Vec<usize> = (0..self.len()).filter(|&at| missing[at] == 0).collect();
        let mut done = 0;
        while let Some(&from) = sorted.get(done) {
            done += 1;
            for &to in &next[from] {
                missing[to] -= 1;
                if missing[to] == 0 {
                    sorted.push(to);
                }
            }
        }
        (done == self.len()).then_some(sorted)
    }

    /// The heaviest path to each point, by `weight`; none when there is a circle.
    pub fn heaviest_to(&self, weight: impl Fn(&Arc<T>) -> u64) -> Option<Vec<u64>> {
        let mut best = vec![0; self.len()];
        for to in self.sorted()? {
            let ways = self.arcs[to].iter();
            best[to] = ways
                .map(|arc| best[arc.from] + weight(arc))
                .max()
                .unwrap_or(0);
        }
        Some(best)
    }

    /// The heaviest path from each point, by `weight`; none when there is a circle.
    pub fn heaviest_from(&self, weight: impl Fn(&Arc<T>) -> u64) -> Option<Vec<u64>> {
        let mut best = vec![0; self.len()];
        for to in self.sorted()?.into_iter().rev() {
            for arc in &self.arcs[to] {
                best[arc.from] = best[arc.from].max(best[to] + weight(arc));
            }
        }
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_way_is_found_from_both_sides() {
        let mut paths = Paths::<u8>::default();
        let points: Vec<usize> = (0..4).map(|_| paths.point()).collect();
        let mut add = |from: usize, to: usize, work| {
            paths.arc(
                points[to],
                Arc {
                    from: points[from],
                    work,
                    hops: 1,
                    owner: None,
                },
            );
        };
        add(0, 3, 4);
        add(3, 1, 1);
        add(0, 1, 2);
        add(1, 2, 7);
        assert_eq!(paths.heaviest_to(|arc| arc.work), Some(vec![0, 5, 12, 4]));
        assert_eq!(paths.heaviest_from(|arc| arc.work), Some(vec![12, 7, 0, 8]));
        assert_eq!(paths.heaviest_to(|arc| arc.hops), Some(vec![0, 2, 3, 1]));
        paths.order(2, 0);
        assert_eq!(paths.heaviest_to(|arc| arc.work), None);
    }
}
