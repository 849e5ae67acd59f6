//! The task graph of the sparselu example, computed from the block pattern and the rules of OpenMP, without running it.
//!
//! The pattern is that of the Barcelona OpenMP Tasks Suite: the three middle diagonals and a grid that thins out. Step k of the
//! factorization creates lu0 on block (k, k), fwd on each block right of it, bdiv on each below, and bmod on each block whose row and
//! column both take part; a block that did not exist is filled in by bmod.

use std::collections::{BTreeMap, BTreeSet};

/// How a task uses a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// `depend(in: …)`
    In,
    /// `depend(out: …)` and `depend(inout: …)`
    InOut,
}

/// The kinds of tasks, in the order of [`Graph::kinds`].
pub const KINDS: [&str; 4] = ["lu0", "fwd", "bdiv", "bmod"];

/// A task graph: tasks by their order of creation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    /// Number of tasks of each of [`KINDS`].
    pub kinds: [u64; 4],
    /// Pairs (earlier task, later task), each once.
    pub edges: BTreeSet<(u64, u64)>,
    tasks: u64,
    rules: Rules,
}

/// The OpenMP rules for siblings: what the next user of each address has to wait for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Rules {
    addresses: BTreeMap<(usize, usize), Users>,
}

/// Users of one address since somebody had to wait for all of the earlier ones.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Users {
    access: Access,
    current: Vec<u64>,
    previous: Vec<u64>,
}

impl Rules {
    /// Task `task` uses `address`: the tasks it comes after.
    fn enter(&mut self, task: u64, address: (usize, usize), access: Access) -> Vec<u64> {
        let Some(users) = self.addresses.get_mut(&address) else {
            self.addresses.insert(
                address,
                Users {
                    access,
                    current: vec![task],
                    previous: Vec::new(),
                },
            );
            return Vec::new();
        };
        if access == Access::In && users.access == Access::In {
            users.current.push(task);
        } else {
            users.previous = std::mem::replace(&mut users.current, vec![task]);
            users.access = access;
        }
        users.previous.clone()
    }
}

impl Graph {
    /// The graph of a matrix of `blocks` × `blocks` blocks.
    #[must_use]
    pub fn of(blocks: usize) -> Self {
        let mut graph = Self::default();
        let mut exists: Vec<Vec<bool>> = (0..blocks)
            .map(|row| (0..blocks).map(|column| pattern(row, column)).collect())
            .collect();
        for k in 0..blocks {
            graph.task(0, &[((k, k), Access::InOut)]);
            for column in (k + 1..blocks).filter(|&column| exists[k][column]) {
                graph.task(1, &[((k, k), Access::In), ((k, column), Access::InOut)]);
            }
            for row in (k + 1..blocks).filter(|&row| exists[row][k]) {
                graph.task(2, &[((k, k), Access::In), ((row, k), Access::InOut)]);
            }
            for row in k + 1..blocks {
                for column in k + 1..blocks {
                    if exists[row][k] && exists[k][column] {
                        exists[row][column] = true;
                        graph.task(
                            3,
                            &[
                                ((row, k), Access::In),
                                ((k, column), Access::In),
                                ((row, column), Access::InOut),
                            ],
                        );
                    }
                }
            }
        }
        graph
    }

    /// Number of tasks.
    #[must_use]
    pub fn tasks(&self) -> u64 {
        self.tasks
    }

    /// Tasks on the longest path: a task comes after all that it depends on, and all are created by one task.
    #[must_use]
    pub fn longest_path(&self) -> u64 {
        let mut longest = vec![1; self.tasks as usize];
        // By the later task, so that the earlier one's path is known.
        let mut edges: Vec<_> = self.edges.iter().map(|&(from, to)| (to, from)).collect();
        edges.sort_unstable();
        for (to, from) in edges {
            longest[to as usize] = longest[to as usize].max(longest[from as usize] + 1);
        }
        longest.into_iter().max().unwrap_or(0)
    }

    fn task(&mut self, kind: usize, uses: &[((usize, usize), Access)]) {
        let task = self.tasks;
        self.tasks += 1;
        self.kinds[kind] += 1;
        for &(address, access) in uses {
            let earlier = self.rules.enter(task, address, access);
            self.edges
                .extend(earlier.into_iter().map(|earlier| (earlier, task)));
        }
    }
}

/// Whether block (row, column) exists before the factorization.
fn pattern(row: usize, column: usize) -> bool {
    let near_diagonal = row.abs_diff(column) <= 1;
    let on_grid = row.is_multiple_of(2) && column.is_multiple_of(2);
    let thinned = row.min(column).is_multiple_of(3);
    near_diagonal || (on_grid && thinned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_follows_the_last_update_of_its_diagonal() {
        // lu0, fwd or bdiv, and bmod of each step but the last, which is lu0 alone.
        for blocks in [1, 2, 9, 16, 40] {
            assert_eq!(
                Graph::of(blocks).longest_path(),
                3 * (blocks as u64 - 1) + 1
            );
        }
    }

    #[test]
    fn one_and_two_blocks_by_hand() {
        let one = Graph::of(1);
        assert_eq!(
            (one.kinds, one.tasks(), one.edges.len()),
            ([1, 0, 0, 0], 1, 0)
        );
        // lu0 → fwd, lu0 → bdiv, fwd → bmod, bdiv → bmod, bmod → lu0
        let two = Graph::of(2);
        assert_eq!(two.kinds, [2, 1, 1, 1]);
        assert_eq!(
            two.edges,
            BTreeSet::from([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
        );
    }

    #[test]
    fn readers_come_between_writers() {
        let mut rules = Rules::default();
        let here = (0, 0);
        assert!(rules.enter(0, here, Access::InOut).is_empty());
        assert_eq!(rules.enter(1, here, Access::In), [0]);
        assert_eq!(rules.enter(2, here, Access::In), [0]);
        assert_eq!(rules.enter(3, here, Access::InOut), [1, 2]);
        assert_eq!(rules.enter(4, here, Access::InOut), [3]);
        assert!(rules.enter(5, (9, 9), Access::In).is_empty());
    }

    #[test]
    fn number_of_edges_follows_from_the_tasks() {
        for blocks in [3, 7, 12, 20] {
            let graph = Graph::of(blocks);
            let [_, fwd, bdiv, bmod] = graph.kinds;
            // Every read block has one writer before it; every block is a chain of its writers, of which there is one more than
            // edges between them. Blocks are read only after their last writing.
            let written: u64 = graph.rules.addresses.len() as u64;
            assert_eq!(
                graph.edges.len() as u64,
                fwd + bdiv + 2 * bmod + graph.tasks() - written,
                "{blocks} blocks"
            );
        }
    }
}
