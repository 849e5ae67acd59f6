//! `--fail-if-slower`: what is slower by a share or more.

use super::compare::LEAST_SHARE;
use super::model::{Diff, Limit, Row, Verdict};
use super::run::Kind;
use super::table::change;
use crate::console::Refusal;
use crate::summary::first;
use crate::summary::units::elide;

/// Constructs that the message names.
const NAMED: usize = 5;

/// Looks for what is slower by `share` or more: the run's time, regions, tasks, loops, own regions and calls. With repeats only what is significant counts; without, everything that takes a
/// noticeable part of the time; so it is where the repeats are too few for anything to be significant.
pub(super) fn find(diff: &Diff, share: f64) -> Limit {
    let slower = |row: &Row| -> Option<(String, f64)> {
        let is_meant =
            row.kind.is_code() && (row.kind != Kind::Run || row.label == super::run::RUN_TIME);
        if !is_meant || row.verdict == Some(Verdict::Faster) {
            return None;
        }
        let all = [row.each.as_ref(), row.total.as_ref()];
        // One execution may be a little slower, and all of them much.
        let changes = all
            .into_iter()
            .flatten()
            .filter(|measure| match diff.decides {
                true => measure.is_different,
                false => row.share >= LEAST_SHARE,
            });
        let change = changes.filter_map(|measure| measure.change);
        let change = change.max_by(f64::total_cmp)?;
        (change >= share).then(|| (row.label.clone(), change))
    };
    let mut slower: Vec<_> = diff.rows.iter().filter_map(slower).collect();
    slower.sort_by(|a, b| b.1.total_cmp(&a.1));
    Limit { share, slower }
}

/// The refusal, where something is slower.
pub(super) fn refusal(diff: &Diff, limit: &Limit) -> Option<Refusal> {
    let named = |(label, by): &(String, f64)| {
        format!("{} {}", elide(&first::place(label), 100), change(*by))
    };
    let names: Vec<String> = limit.slower.iter().take(NAMED).map(named).collect();
    if names.is_empty() {
        return None;
    }
    let more = match limit.slower.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let share = change(limit.share);
    let runs = match diff.level {
        None => "one run each",
        Some(_) => "too few runs",
    };
    let noise = format!(
        "{runs}: that this is more than noise cannot be said; more runs of each, made in turn, tell"
    );
    Some(Refusal {
        message: format!(
            "slower by {} or more: {}{more}",
            share.trim_start_matches('+'),
            names.join(", ")
        ),
        notes: (!diff.decides).then_some(noise).into_iter().collect(),
        help: None,
    })
}
