//! What makes a comparison weaker than it looks, in sentences.

use std::collections::BTreeSet;

use instr_analysis::statistics::Design;

use super::compare::Settings;
use super::matching::{Unmatched, unmatched};
use super::model::Order;
use super::run::{Kind, Run};
use crate::summary::units::{counted, elide, percent};

/// Characters of arguments that are shown.
const ARGUMENTS: usize = 40;
/// Threads that waited for a processor for more of their time say that the machine was busy.
const BUSY: f64 = 0.05;
/// No more runs are proposed.
const MOST_RUNS: usize = 100;

/// All of them, the weightiest first.
pub(super) fn of(
    before: &[Run],
    after: &[Run],
    design: &Design,
    order: Order,
    tested: usize,
    settings: Settings,
) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(too_few(before, after, design, order, tested, settings));
    notes.extend(order_note(order));
    notes.extend(different_programs(before, after));
    notes.extend(nothing_in_common(before, after));
    notes.extend(unmatched(before, after).iter().map(not_matched));
    notes.extend(different_circumstances(before, after));
    notes.extend(cut(before, after));
    notes.extend(busy(before, after));
    notes
}

/// Whether so many runs can show that a difference is more than noise, among so many comparisons.
pub(super) fn decide(design: &Design, tested: usize, settings: Settings) -> bool {
    design.has_repeats() && design.least_p() * tested.max(1) as f64 <= settings.level
}

fn too_few(
    before: &[Run],
    after: &[Run],
    design: &Design,
    order: Order,
    tested: usize,
    settings: Settings,
) -> Option<String> {
    if !design.has_repeats() {
        let runs = match before.len().max(after.len()) {
            1 => "one run each",
            _ => "one run on one side",
        };
        return Some(format!(
            "{runs}: whether a difference is more than noise cannot be said; several runs of each, made in turn, tell (docs/diff.md)"
        ));
    }
    if decide(design, tested, settings) {
        return None;
    }
    let would_do = |runs: &usize| {
        let letter = |at: usize| match order {
            Order::InTurn => matches!(at % 4, 1 | 2),
            _ => at >= *runs,
        };
        let runs: Vec<(u64, bool)> = (0..2 * runs).map(|at| (at as u64, letter(at))).collect();
        decide(&Design::by_time(&runs), tested, settings)
    };
    let enough = (2..MOST_RUNS).find(would_do);
    let help = enough.map_or(String::new(), |runs| format!("; {runs} of each would do"));
    Some(format!(
        "too few runs: among {} no difference can be more than noise at {}{help}",
        counted(tested as u64, "comparison"),
        settings.level
    ))
}

fn order_note(order: Order) -> Option<String> {
    let text = match order {
        Order::OneBlock => {
            "the runs before and after were not made in turn: if the machine changed meanwhile, that looks like a change of the program"
        }
        Order::Unknown => {
            "traces do not tell when their runs began: if they were not made in turn, a change of the machine looks like a change of the program"
        }
        Order::Single | Order::InTurn => return None,
    };
    Some(text.to_owned())
}

fn different_programs(before: &[Run], after: &[Run]) -> Option<String> {
    let (first, second) = (before.first()?, after.first()?);
    (first.program != second.program).then(|| {
        format!(
            "before is {}, after is {}: constructs are the same where their names are",
            elide(&first.program, ARGUMENTS),
            elide(&second.program, ARGUMENTS)
        )
    })
}

fn nothing_in_common(before: &[Run], after: &[Run]) -> Option<String> {
    let named = |runs: &[Run]| -> Vec<(Kind, String)> {
        let keys = runs.iter().flat_map(|run| run.constructs.keys());
        let own = keys.filter(|key| key.kind.is_code() && key.kind != Kind::Run);
        own.map(|key| (key.kind, key.name.clone())).collect()
    };
    let (first, second) = (named(before), named(after));
    let is_apart =
        !first.is_empty() && !second.is_empty() && !first.iter().any(|name| second.contains(name));
    is_apart.then(|| "no region, task or loop has the same name before and after: only the runs as a whole are compared".to_owned())
}

fn not_matched(of: &Unmatched) -> String {
    let range = |numbers: &BTreeSet<u32>| match (numbers.first(), numbers.last()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most}"),
        (least, _) => least.map_or(String::new(), u32::to_string),
    };
    format!(
        "{}s without a name are not compared, since their numbers differ from run to run (before {}, after {}): a build with symbols has names",
        of.kind.name(),
        range(&of.before),
        range(&of.after)
    )
}

/// A circumstance of a run in words.
type Of<'f> = &'f dyn Fn(&Run) -> String;

/// What differs between the groups, or inside of one of them, beside the program.
fn different_circumstances(before: &[Run], after: &[Run]) -> Vec<String> {
    let all = |runs: &[Run], of: Of<'_>| -> Vec<String> {
        let mut texts: Vec<String> = runs.iter().map(of).collect();
        texts.sort();
        texts.dedup();
        texts
    };
    let arguments = |run: &Run| match &run.arguments {
        Some(text) => format!("`{}`", elide(text, ARGUMENTS)),
        None => "none".to_owned(),
    };
    let of: [(&str, Of<'_>); 3] = [
        ("machines", &|run| elide(&run.target, ARGUMENTS)),
        ("numbers of threads", &|run| run.threads.to_string()),
        ("arguments", &arguments),
    ];
    let note = |(what, of): (&str, Of<'_>)| {
        let (first, second) = (all(before, of), all(after, of));
        let lists = |texts: &[String]| match texts {
            [.., last] if texts.len() > 3 => format!("{} … {last}", texts[..2].join(", ")),
            _ => texts.join(", "),
        };
        let is_one = first == second && first.len() == 1;
        (!is_one).then(|| {
            format!(
                "different {what}: before {}, after {}",
                lists(&first),
                lists(&second)
            )
        })
    };
    of.into_iter().filter_map(note).collect()
}

fn cut(before: &[Run], after: &[Run]) -> Option<String> {
    let is_cut = before.iter().chain(after).any(|run| run.is_cut);
    is_cut.then(|| {
        "runs that were killed, or lost events, are compared by the time of single executions alone: what they took as a whole is not known".to_owned()
    })
}

fn busy(before: &[Run], after: &[Run]) -> Option<String> {
    let share = |runs: &[Run]| {
        let sum = |of: fn(&Run) -> u64| runs.iter().map(of).fold(0, u64::saturating_add);
        sum(|run| run.unserved_ns) as f64 / sum(|run| run.capacity_ns).max(1) as f64
    };
    let (first, second) = (share(before), share(after));
    (first.max(second) > BUSY).then(|| {
        format!(
            "the machine was busy: threads waited for a processor for {} of their time before, {} after",
            percent(first),
            percent(second)
        )
    })
}
