//! The edges of the task graph by brute force.
//!
//! Among siblings that use an address, in the order of their creation, those of one kind in a row form a run (`out` always a run
//! of one); a sibling follows every member of the run just before its own. An edge is a pair, whatever number of addresses orders it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ctf::Event;

const OUT: i128 = 2;
const ALL_MEMORY: i128 = 6;

/// A task region: of an explicit task, of an implicit or initial task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    Explicit(i128, i128),
    /// The n-th implicit task of a thread; 0 is what the thread does outside.
    Implicit(i128, u64),
}

/// A sibling: its entries, address → kind (`None`: every address).
type Uses = BTreeMap<Option<i128>, i128>;

#[derive(Default)]
struct Thread {
    running: Vec<Task>,
    implicit: u64,
    pending: Vec<(i128, i128)>,
}

/// The number of edges.
///
/// # Errors
///
/// When an event lacks a field.
pub fn edges(events: &[Event]) -> Result<i128, String> {
    let mut threads: BTreeMap<i128, Thread> = BTreeMap::new();
    let mut children: BTreeMap<Task, Vec<Uses>> = BTreeMap::new();
    for event in events {
        let stream = event.stream;
        let thread = threads.entry(stream).or_default();
        let field = |name: &str| {
            let missing = || format!("{} without {name}", event.name);
            event.get(name).ok_or_else(missing)
        };
        match event.name.as_str() {
            "task_depend" => thread.pending.extend(&event.entries),
            "task_create" | "taskwait_depend" => {
                let mut entries = std::mem::take(&mut thread.pending);
                entries.extend(&event.entries);
                let parent = thread.running.last().copied();
                let parent = parent.unwrap_or(Task::Implicit(stream, 0));
                children.entry(parent).or_default().push(uses(&entries));
            }
            "task_begin" | "task_resume" => {
                let task = Task::Explicit(field("thread")?, field("seq")?);
                thread.running.push(task);
            }
            "implicit_begin" => {
                thread.implicit += 1;
                let task = Task::Implicit(stream, thread.implicit);
                thread.running.push(task);
            }
            "task_end" | "task_suspend" | "implicit_end" => {
                thread.running.pop();
            }
            _ => {}
        }
    }
    let sum = children.values().map(|siblings| count(siblings)).sum();
    Ok(sum)
}

/// One kind for each address; different kinds for one address order like `out`.
fn uses(entries: &[(i128, i128)]) -> Uses {
    let mut uses = Uses::new();
    for &(address, kind) in entries {
        let (address, kind) = match kind {
            ALL_MEMORY => (None, OUT),
            _ => (Some(address), kind),
        };
        uses.entry(address)
            .and_modify(|known| {
                if *known != kind {
                    *known = OUT;
                }
            })
            .or_insert(kind);
    }
    uses
}

fn count(siblings: &[Uses]) -> i128 {
    let addresses: BTreeSet<Option<i128>> = siblings.iter().flat_map(Uses::keys).copied().collect();
    let mut pairs = BTreeSet::new();
    for address in addresses {
        let mut runs: Vec<(i128, Vec<usize>)> = Vec::new();
        for (index, uses) in siblings.iter().enumerate() {
            let everything = uses.get(&None);
            let Some(&kind) = everything.or_else(|| uses.get(&address)) else {
                continue;
            };
            match runs.last_mut() {
                Some((last, members)) if *last == kind && kind != OUT => members.push(index),
                _ => runs.push((kind, vec![index])),
            }
        }
        for neighbours in runs.windows(2) {
            for &earlier in &neighbours[0].1 {
                pairs.extend(neighbours[1].1.iter().map(|&later| (earlier, later)));
            }
        }
    }
    pairs.len() as i128
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(siblings: &[&[(i128, i128)]]) -> i128 {
        let siblings: Vec<Uses> = siblings.iter().map(|entries| uses(entries)).collect();
        count(&siblings)
    }

    #[test]
    fn small_graphs_by_hand() {
        const X: i128 = 8;
        const Y: i128 = 16;
        // out, two readers, out: 2 + 2
        assert_eq!(graph(&[&[(X, 2)], &[(X, 1)], &[(X, 1)], &[(X, 2)]]), 4);
        // Exclusion does not order: 2 + 2
        assert_eq!(graph(&[&[(X, 2)], &[(X, 4)], &[(X, 4)], &[(X, 1)]]), 4);
        // Two addresses, one pair; in and out of the same address is out
        assert_eq!(graph(&[&[(X, 2), (Y, 2)], &[(X, 1), (Y, 1)]]), 1);
        assert_eq!(graph(&[&[(X, 1)], &[(X, 1), (X, 2)], &[(X, 1)]]), 2);
        // all memory follows both, is followed by what names any address; other addresses are strangers
        assert_eq!(
            graph(&[&[(X, 1)], &[(Y, 2)], &[(0, 6)], &[(X, 1)], &[(24, 1)]]),
            4
        );
        assert_eq!(graph(&[&[(0, 6)], &[(0, 6)], &[(0, 6)]]), 2);
        assert_eq!(graph(&[&[(X, 2)], &[(Y, 2)], &[]]), 0);
        // inoutset joins its own kind only
        assert_eq!(graph(&[&[(X, 5)], &[(X, 5)], &[(X, 4)], &[(X, 1)]]), 3);
    }
}
