//! Counts to sections.

use std::cmp::Reverse;

use instr_trace::Names;
use instr_trace::names::CodeRole;

use super::super::counts::{Code, Collected, allocation_name, cancel_name, target_name};
use super::super::model::{Place, Summary};
use super::model::{Allocation, Cancellation, Doacross, Masked, Scope, StaticLoop, Target};

/// Fills the sections of `summary`.
pub fn fill(summary: &mut Summary, collected: &Collected, names: &dyn Names) {
    summary.static_loops = static_loops(collected, names);
    summary.single_times = collected.single_times;
    summary.scopes = collected
        .scopes
        .iter()
        .map(|(&function, count)| Scope {
            place: Place::around(names, function),
            instances: count.instances,
            times: count.times,
        })
        .collect();
    summary
        .scopes
        .sort_by_key(|item| (Reverse(item.times.total_ns), item.place.address));
    summary.masked = collected
        .masked
        .iter()
        .map(|(&function, &times)| Masked {
            place: Place::around(names, function),
            times,
        })
        .collect();
    summary
        .masked
        .sort_by_key(|item| (Reverse(item.times.total_ns), item.place.address));
    summary.cancellations = collected
        .cancellations
        .iter()
        .map(|(&kind, count)| Cancellation {
            construct: cancel_name(kind),
            cancels: count.cancels,
            points: count.points,
            left: count.left,
            discarded_tasks: count.discarded,
        })
        .collect();
    summary.doacross = collected
        .doacross
        .iter()
        .map(|(&function, count)| Doacross {
            place: Place::around(names, function),
            posts: count.posts,
            waits: count.waits,
            times: count.times,
        })
        .collect();
    summary
        .doacross
        .sort_by_key(|item| (Reverse(item.times.total_ns), item.place.address));
    summary.targets = targets(collected, names);
    summary.allocations = collected
        .allocations
        .iter()
        .map(|(&kind, count)| Allocation {
            kind: allocation_name(kind),
            count: count.count,
            bytes: count.bytes,
            refused: count.refused,
            freed: count.freed,
            peak_bytes: count.peak_bytes,
            live_bytes: count.live_bytes,
        })
        .collect();
}

fn static_loops(collected: &Collected, names: &dyn Names) -> Vec<StaticLoop> {
    let mut loops: Vec<_> = collected
        .static_loops
        .iter()
        .map(|(&(site, function), count)| StaticLoop {
            place: Place::of(names, Some(Code::new(site, true)), CodeRole::Loop),
            inside: Place::around(names, function).label,
            inferred: true,
            evidence: match names.is_pair_of_directive(site) {
                Some(true) => "same place",
                Some(false) => "different places",
                None => "none",
            },
            instances: count.instances,
            count: count.count,
        })
        .collect();
    loops.sort_by_key(|item| (Reverse(item.count), item.place.address));
    loops
}

fn targets(collected: &Collected, names: &dyn Names) -> Vec<Target> {
    let mut targets: Vec<_> = collected
        .targets
        .iter()
        .map(|(&(kind, function), &times)| Target {
            kind: target_name(kind),
            place: match function {
                0 => Place {
                    label: target_name(kind).to_owned(),
                    ..Place::default()
                },
                _ => Place::of(names, Some(Code::new(function, false)), CodeRole::Target),
            },
            times,
        })
        .collect();
    targets.sort_by_key(|item| (Reverse(item.times.total_ns), item.kind, item.place.address));
    targets
}
