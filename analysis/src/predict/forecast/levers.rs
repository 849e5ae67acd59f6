//! What may become faster.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use instr_trace::model::Code;

use super::Question;
use crate::predict::collect::Survey;
use crate::predict::costs::Cost;
use crate::predict::model::{Lock, Spot};
use crate::predict::totals::Totals;

/// What may become faster is tried if it has at least this share of the work.
const SMALL: f64 = 0.002;

/// Something that may become faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lever {
    /// User code of a spot.
    Spot(Spot),
    /// A lock.
    Lock(Lock),
    /// Creating tasks and beginning them.
    Tasks,
}

/// The spot that stands for it: all loops of a region, number 0, if they are not told apart.
pub(super) fn merge(spot: Spot, merged: &BTreeSet<Code>) -> Spot {
    match spot {
        Spot::Loop(code, _) if merged.contains(&code) => Spot::Loop(code, 0),
        _ => spot,
    }
}

/// What may be worth to be made faster, the largest first.
pub(super) fn levers(
    totals: &Totals,
    survey: &Survey,
    question: &Question,
    merged: &BTreeSet<Code>,
) -> Vec<Lever> {
    let serial = survey.elapsed.saturating_sub(survey.in_regions);
    let all = (totals.work() + serial) as f64;
    let mut spots: BTreeMap<Lever, u64> = BTreeMap::new();
    for (spot, total) in &totals.spots {
        *spots.entry(Lever::Spot(merge(*spot, merged))).or_default() += total.ns;
    }
    let locks = totals
        .locks
        .iter()
        .map(|(lock, ns)| (Lever::Lock(*lock), *ns));
    let locks = locks.filter(|(lever, _)| question.without.map(Lever::Lock) != Some(*lever));
    let tasks = [Cost::Create, Cost::Dispatch].map(|cost| {
        let measure = survey.costs[cost as usize];
        (measure.mean_ns * totals.tasks as f64) as u64
    });
    let mut levers: Vec<(Lever, u64)> = spots.into_iter().chain(locks).collect();
    levers.push((Lever::Spot(Spot::Serial), serial));
    levers.push((Lever::Tasks, tasks.iter().sum()));
    levers.retain(|(_, ns)| *ns as f64 > SMALL * all);
    levers.sort_by_key(|(lever, ns)| (Reverse(*ns), *lever));
    levers.truncate(10);
    levers.into_iter().map(|(lever, _)| lever).collect()
}
