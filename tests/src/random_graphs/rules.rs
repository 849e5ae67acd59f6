//! The edges between tasks that the rules of OpenMP define, found by looking at every pair and everything between it.
//!
//! An edge is a pair (predecessor, successor) of siblings in which, for some storage location, the predecessor belongs to the set that
//! the successor directly follows. Told without bookkeeping: the siblings that use a location, in the order of their creation, fall
//! into runs. Two of them are in the same run when they and all users between them ask for the same kind, and that kind is one whose
//! members do not wait for each other (`in`, `mutexinoutset`, `inoutset`). A successor directly follows the run just before its own.
//!
//! One task that names a location twice with different kinds uses it as `out`: the union of the rules for both kinds orders it after
//! and before every other user. `omp_all_memory` uses every location as `out`, also those that nobody names.

use std::collections::BTreeSet;

use super::script::{Child, Depend, Graph, Kind};

/// Edges between ids, each once.
pub type Edges = BTreeSet<(u32, u32)>;

/// How a task with these entries uses `address` (none: a location that no sibling names).
fn usage(depends: &[Depend], address: Option<u32>) -> Option<Kind> {
    if depends.iter().any(|depend| depend.kind == Kind::All) {
        return Some(Kind::Out);
    }
    let kinds: BTreeSet<Kind> = depends
        .iter()
        .filter(|depend| Some(depend.address) == address)
        .map(|depend| depend.kind)
        .collect();
    match kinds.len() {
        0 => None,
        1 => kinds.first().copied(),
        _ => Some(Kind::Out),
    }
}

/// Whether users `from` and `to` are in one run.
fn same_run(kinds: &[Kind], from: usize, to: usize) -> bool {
    let all_alike = kinds[from..=to].iter().all(|kind| *kind == kinds[from]);
    from == to || (all_alike && kinds[from] != Kind::Out)
}

/// Whether the later user `to` directly follows the run of `from`: what lies between belongs to one of the two runs.
fn directly_follows(kinds: &[Kind], from: usize, to: usize) -> bool {
    let between_is_theirs =
        (from + 1..to).all(|middle| same_run(kinds, from, middle) || same_run(kinds, middle, to));
    !same_run(kinds, from, to) && between_is_theirs
}

/// The locations to look at: all that are named, and one that is not.
fn locations(family: &[Child<'_>]) -> BTreeSet<Option<u32>> {
    let named = family
        .iter()
        .flat_map(|child| child.depends)
        .filter(|depend| depend.kind != Kind::All);
    named
        .map(|depend| Some(depend.address))
        .chain([None])
        .collect()
}

/// The edges among siblings, given in the order of their creation.
#[must_use]
pub fn family_edges(family: &[Child<'_>]) -> Edges {
    let mut edges = Edges::new();
    for address in locations(family) {
        let (ids, kinds): (Vec<u32>, Vec<Kind>) = family
            .iter()
            .filter_map(|child| Some((child.id, usage(child.depends, address)?)))
            .unzip();
        for to in 0..ids.len() {
            let before = (0..to).filter(|&from| directly_follows(&kinds, from, to));
            edges.extend(before.map(|from| (ids[from], ids[to])));
        }
    }
    edges
}

/// The edges of a graph.
#[must_use]
pub fn edges(graph: &Graph) -> Edges {
    let mut edges = Edges::new();
    graph.families(|_, family| edges.extend(family_edges(family)));
    edges
}

/// Pairs of siblings whose bodies must not overlap though no order is asked for: both use a location as `mutexinoutset`.
#[must_use]
pub fn exclusions(graph: &Graph) -> Edges {
    let mut pairs = Edges::new();
    graph.families(|_, family| {
        for address in locations(family) {
            let uses = |child: &&Child<'_>| usage(child.depends, address) == Some(Kind::Mutex);
            let users: Vec<u32> = family.iter().filter(uses).map(|child| child.id).collect();
            for (index, &first) in users.iter().enumerate() {
                pairs.extend(users[index + 1..].iter().map(|&second| (first, second)));
            }
        }
    });
    pairs
}

/// Pairs of siblings that the text of the specification orders, entry against entry, straight from its table; transitive already.
#[must_use]
pub fn ordered_pairs(graph: &Graph) -> Edges {
    let mut pairs = Edges::new();
    graph.families(|_, family| {
        for (index, first) in family.iter().enumerate() {
            for second in &family[index + 1..] {
                let ordered = first
                    .depends
                    .iter()
                    .any(|a| second.depends.iter().any(|b| entry_waits(*a, *b)));
                if ordered {
                    pairs.insert((first.id, second.id));
                }
            }
        }
    });
    pairs
}

/// OpenMP 5.2, 15.9.5: whether an entry `later` makes its task a dependent task of an earlier sibling with the entry `earlier`.
fn entry_waits(earlier: Depend, later: Depend) -> bool {
    use Kind::{All, In, InoutSet, Mutex, Out};
    let same_place = earlier.address == later.address || earlier.kind == All || later.kind == All;
    let waits = match later.kind {
        In => matches!(earlier.kind, Out | All | Mutex | InoutSet),
        Out | All => true,
        Mutex => matches!(earlier.kind, In | Out | All | InoutSet),
        InoutSet => matches!(earlier.kind, In | Out | All | Mutex),
    };
    same_place && waits
}

#[cfg(test)]
mod tests {
    use super::super::generate::{Profile, graph};
    use super::super::script::{Form, Op, children};
    use super::*;

    fn entry(kind: Kind, address: u32) -> Depend {
        Depend {
            kind,
            address,
            form: Form::Direct,
        }
    }

    /// Edges among siblings whose entries are given in order; ids count from 0.
    fn of(lists: &[&[(Kind, u32)]]) -> Vec<(u32, u32)> {
        let body: Vec<Op> = (0..)
            .zip(lists)
            .map(|(id, list)| Op::TaskwaitDepend {
                id,
                depends: list.iter().map(|&(kind, at)| entry(kind, at)).collect(),
                nowait: true,
            })
            .collect();
        family_edges(&children(&body)).into_iter().collect()
    }

    use Kind::{All, In, InoutSet, Mutex, Out};

    #[test]
    fn readers_lie_between_writers() {
        let edges = of(&[
            &[(Out, 0)],
            &[(In, 0)],
            &[(In, 0)],
            &[(Out, 0)],
            &[(Out, 0)],
        ]);
        assert_eq!(edges, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]);
    }

    #[test]
    fn sets_follow_sets_and_their_members_are_free() {
        let edges = of(&[
            &[(Mutex, 0)],
            &[(Mutex, 0)],
            &[(InoutSet, 0)],
            &[(InoutSet, 0)],
            &[(In, 0)],
        ]);
        assert_eq!(edges, [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4)]);
    }

    #[test]
    fn two_kinds_on_one_location_are_out() {
        let both: &[(Kind, u32)] = &[(In, 0), (Mutex, 0)];
        assert_eq!(of(&[&[(Mutex, 0)], both, &[(Mutex, 0)]]), [(0, 1), (1, 2)]);
        assert_eq!(of(&[&[(In, 0), (In, 0)], &[(In, 0)]]), []);
        assert_eq!(of(&[&[(Out, 0), (In, 0)], &[(In, 0)]]), [(0, 1)]);
    }

    #[test]
    fn all_memory_follows_and_precedes_everything() {
        let edges = of(&[
            &[(Out, 0)],
            &[(All, 0)],
            &[(Out, 1)],
            &[(All, 0)],
            &[],
            &[(In, 7)],
        ]);
        assert_eq!(edges, [(0, 1), (1, 2), (1, 3), (2, 3), (3, 5)]);
    }

    /// The two readings of the rules agree: edges and the specification's pairs have the same transitive closure.
    #[test]
    fn closure_of_edges_is_what_the_specification_orders() {
        let mut pairs_seen = 0;
        for seed in 0..400 {
            let graph = graph(seed, &Profile::synthetic(3));
            let closure = closure(&edges(&graph));
            let table = ordered_pairs(&graph);
            assert_eq!(closure, self::closure(&table), "seed {seed}");
            assert!(edges(&graph).is_subset(&table), "seed {seed}");
            pairs_seen += table.len();
        }
        assert!(pairs_seen > 10_000, "{pairs_seen} pairs only");
    }

    fn closure(edges: &Edges) -> Edges {
        let mut closure = edges.clone();
        loop {
            let more: Vec<(u32, u32)> = closure
                .iter()
                .flat_map(|&(from, middle)| {
                    let next = edges.range((middle, 0)..=(middle, u32::MAX));
                    next.map(move |&(_, to)| (from, to))
                })
                .filter(|pair| !closure.contains(pair))
                .collect();
            if more.is_empty() {
                return closure;
            }
            closure.extend(more);
        }
    }
}
