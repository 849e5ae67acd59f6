//! Task graphs known in closed form (`tests/random_graphs/closed_forms.c`), and what a reported graph amounts to.

use std::collections::{BTreeMap, BTreeSet};

use super::paths::{Arc, Paths};
use super::report::{self, Report, TraceId};
use crate::outcome::{Check, Stop, ensure};

/// The numbers of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Number of tasks.
    pub tasks: u64,
    /// Number of dependence edges.
    pub edges: u64,
    /// Tasks on the longest path, by dependences and nesting.
    pub span: u64,
    /// The most tasks of one level.
    pub width: u64,
}

/// The graphs of the program.
pub const GRAPHS: [&str; 6] = ["chain", "forkjoin", "wavefront", "cholesky", "lu", "divide"];

/// The closed forms of a graph of size `n` ≥ 1.
///
/// Every task of the two factorizations writes one tile, and a tile is read only after its last writing; so edges are the tasks less the
/// tiles (each tile's writers form a chain), and one for each tile that a task reads. Step k of a factorization has levels 3k, 3k + 1 and
/// 3k + 2.
///
/// # Errors
///
/// When there is no such graph.
pub fn form(graph: &str, n: u64) -> Check<Form> {
    let pairs = n * (n - 1) / 2;
    let squares_below = n * (n - 1) * (2 * n - 1) / 6;
    let form = |tasks, edges, span, width| Form {
        tasks,
        edges,
        span,
        width,
    };
    Ok(match graph {
        "chain" => form(n, n - 1, n, 1),
        "forkjoin" => form(n + 2, 2 * n, 3, n),
        "wavefront" => form(n * n, 2 * n * (n - 1), 2 * n - 1, n),
        "cholesky" => {
            let tasks = n * (n + 1) * (n + 2) / 6;
            // trsm and syrk read one tile, gemm two.
            let reads = 2 * pairs + 2 * (tasks - n - 2 * pairs);
            let edges = tasks - n * (n + 1) / 2 + reads;
            form(tasks, edges, 3 * n - 2, pairs.max(n - 1).max(1))
        }
        "lu" => {
            let tasks = n * (n + 1) * (2 * n + 1) / 6;
            let edges = tasks - n * n + 2 * pairs + 2 * squares_below;
            let width = ((n - 1) * (n - 1)).max(2 * (n - 1)).max(1);
            form(tasks, edges, 3 * n - 2, width)
        }
        "divide" => form((1 << (n + 1)) - 2, 0, n, 1 << n),
        _ => return Err(Stop::Fail(format!("no graph {graph}"))),
    })
}

/// The numbers of a reported graph, counted from its nodes, their parents and the edges.
///
/// # Errors
///
/// When an edge is listed twice or leads nowhere, or there is a circle.
pub fn counted(report: &Report) -> Check<Form> {
    let edges: BTreeSet<(TraceId, TraceId)> = report.edges.iter().copied().collect();
    ensure(edges.len() == report.edges.len(), || {
        "an edge is listed twice".into()
    })?;
    let mut paths = Paths::<TraceId>::default();
    let points: BTreeMap<TraceId, (usize, usize)> = report
        .nodes
        .keys()
        .map(|&id| (id, (paths.point(), paths.point())))
        .collect();
    let of = |id: &TraceId| {
        let points = points.get(id).copied();
        points.ok_or_else(|| Stop::Fail(format!("task {id:?} is no node")))
    };
    for (id, node) in &report.nodes {
        let (begin, body) = of(id)?;
        let arc = Arc {
            from: begin,
            work: 0,
            hops: 1,
            owner: Some(*id),
        };
        paths.arc(body, arc);
        if !node["parent"].is_null() {
            paths.order(of(&report::id(&node["parent"])?)?.1, begin);
        }
    }
    for (from, to) in &edges {
        paths.order(of(from)?.1, of(to)?.0);
    }
    let levels = paths.heaviest_to(|arc| arc.hops).ok_or("a circle")?;
    let mut widths: BTreeMap<u64, u64> = BTreeMap::new();
    for (begin, _) in points.values() {
        *widths.entry(levels[*begin]).or_default() += 1;
    }
    Ok(Form {
        tasks: points.len() as u64,
        edges: edges.len() as u64,
        span: widths.len() as u64,
        width: widths.into_values().max().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules;
    use super::super::script::{Child, Depend, Form as Passed, Kind};
    use super::*;

    /// A factorization's tasks: locations read, location written.
    type Uses = Vec<(Vec<u64>, u64)>;

    fn cholesky(n: u64) -> Uses {
        let at = |i: u64, j: u64| i * n + j;
        let mut uses = Vec::new();
        for k in 0..n {
            uses.push((vec![], at(k, k)));
            uses.extend((k + 1..n).map(|i| (vec![at(k, k)], at(i, k))));
            for i in k + 1..n {
                uses.extend((k + 1..i).map(|j| (vec![at(i, k), at(j, k)], at(i, j))));
                uses.push((vec![at(i, k)], at(i, i)));
            }
        }
        uses
    }

    fn lu(n: u64) -> Uses {
        let at = |i: u64, j: u64| i * n + j;
        let mut uses = Vec::new();
        for k in 0..n {
            uses.push((vec![], at(k, k)));
            for i in k + 1..n {
                uses.push((vec![at(k, k)], at(k, i)));
                uses.push((vec![at(k, k)], at(i, k)));
            }
            for i in k + 1..n {
                uses.extend((k + 1..n).map(|j| (vec![at(i, k), at(k, j)], at(i, j))));
            }
        }
        uses
    }

    #[test]
    fn formulas_count_what_the_rules_give() {
        for n in 1..8 {
            for (graph, uses) in [("cholesky", cholesky(n)), ("lu", lu(n))] {
                let entry = |kind, address: u64| Depend {
                    kind,
                    address: address as u32,
                    form: Passed::Direct,
                };
                let lists: Vec<Vec<Depend>> = uses
                    .iter()
                    .map(|(reads, write)| {
                        let reads = reads.iter().map(|&at| entry(Kind::In, at));
                        reads.chain([entry(Kind::Out, *write)]).collect()
                    })
                    .collect();
                let children: Vec<Child<'_>> = (0..)
                    .zip(&lists)
                    .map(|(id, depends)| Child {
                        id,
                        depends,
                        task: None,
                    })
                    .collect();
                let edges = rules::family_edges(&children).len() as u64;
                let expected = form(graph, n).expect("a graph");
                assert_eq!(
                    (expected.tasks, expected.edges),
                    (lists.len() as u64, edges),
                    "{graph} {n}"
                );
            }
        }
    }
}
