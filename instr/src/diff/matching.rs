//! Which construct of one build of a program is which of another one.
//!
//! Constructs of one kind, function and file belong together. Where both builds have as many of them, the first is the first and so on, wherever the lines moved to. Where they have not, those at
//! the same line are the same; what remains is new, or gone. Code without a name has a number only, which is the same code as long as all runs have as much of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::run::{Key, Kind, Run};

/// How a construct was found in both builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Matched {
    /// By its name and line.
    Label,
    /// By its function and its number in it: its line moved.
    Order,
    /// Only the runs after have it.
    New,
    /// Only the runs before have it.
    Gone,
}

/// A construct before and after; one of them at least.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) before: Option<Key>,
    pub(crate) after: Option<Key>,
    pub(crate) how: Matched,
}

/// Code without a name that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmatched {
    pub(crate) kind: Kind,
    /// How much of it runs have.
    pub(crate) before: BTreeSet<u32>,
    pub(crate) after: BTreeSet<u32>,
}

/// All constructs of both groups of runs that can be compared, by kind and name.
pub(crate) fn pairs(before: &[Run], after: &[Run]) -> Vec<Pair> {
    let unmatched = unmatched(before, after);
    let is_matched = |key: &Key| {
        let kind = match key.kind {
            Kind::ImplicitTask => Kind::Region,
            kind => kind,
        };
        key.unnamed.is_none() || unmatched.iter().all(|of| of.kind != kind)
    };
    let mut groups: BTreeMap<(Kind, String, Option<String>), [BTreeSet<Key>; 2]> = BTreeMap::new();
    for (side, runs) in [before, after].into_iter().enumerate() {
        let keys = runs.iter().flat_map(|run| run.constructs.keys());
        for key in keys.filter(|key| is_matched(key)) {
            let group = (key.kind, key.name.clone(), key.file.clone());
            groups.entry(group).or_default()[side].insert(key.clone());
        }
    }
    groups.into_values().flat_map(of_group).collect()
}

/// Kinds of code that runs have more or less of without a name than others: which of it is which is not known. What only one side has is new, or gone.
pub(crate) fn unmatched(before: &[Run], after: &[Run]) -> Vec<Unmatched> {
    let of = |kind| {
        let [before, after] = [before, after].map(|runs| {
            let numbers = runs.iter().map(|run| run.unnamed(kind));
            numbers.collect::<BTreeSet<u32>>()
        });
        let is_none = |numbers: &BTreeSet<u32>| numbers.iter().all(|&number| number == 0);
        let is_known =
            is_none(&before) || is_none(&after) || (before.len() == 1 && before == after);
        (!is_known).then_some(Unmatched {
            kind,
            before,
            after,
        })
    };
    [Kind::Region, Kind::Task, Kind::Loop]
        .into_iter()
        .filter_map(of)
        .collect()
}

/// Keys are in order of their lines.
fn of_group([before, after]: [BTreeSet<Key>; 2]) -> Vec<Pair> {
    if before.len() == after.len() {
        return in_order(before, after).collect();
    }
    let (same, before): (Vec<Key>, Vec<Key>) =
        before.into_iter().partition(|key| after.contains(key));
    let after = after.into_iter().filter(|key| !same.contains(key));
    let pair = |before, after, how| Pair { before, after, how };
    let same_there = same
        .iter()
        .map(|key| pair(Some(key.clone()), Some(key.clone()), Matched::Label));
    let gone = before
        .into_iter()
        .map(|key| pair(Some(key), None, Matched::Gone));
    let new = after.map(|key| pair(None, Some(key), Matched::New));
    same_there.chain(gone).chain(new).collect()
}

fn in_order(before: BTreeSet<Key>, after: BTreeSet<Key>) -> impl Iterator<Item = Pair> {
    before.into_iter().zip(after).map(|(before, after)| Pair {
        how: match before == after {
            true => Matched::Label,
            false => Matched::Order,
        },
        before: Some(before),
        after: Some(after),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::run::Executions;

    fn run(constructs: &[(&str, u32)]) -> Run {
        let key = |(name, line): &(&str, u32)| Key {
            kind: Kind::Region,
            name: (*name).to_owned(),
            file: Some("a.c".to_owned()),
            line: Some(*line),
            label: format!("{name} [omp parallel a.c:{line}]"),
            unnamed: None,
        };
        Run {
            constructs: constructs
                .iter()
                .map(|at| (key(at), Executions::default()))
                .collect(),
            ..Run::default()
        }
    }

    fn lines(
        before: &[(&str, u32)],
        after: &[(&str, u32)],
    ) -> Vec<(Option<u32>, Option<u32>, Matched)> {
        let line = |key: Option<Key>| key.and_then(|key| key.line);
        let pairs = pairs(&[run(before)], &[run(after)]);
        pairs
            .into_iter()
            .map(|pair| (line(pair.before), line(pair.after), pair.how))
            .collect()
    }

    #[test]
    fn lines_that_moved_are_followed_by_function_and_order() {
        // A line was added above: each construct stands where the next one stood, or nearly so.
        let found = lines(
            &[("f", 10), ("f", 12), ("g", 20)],
            &[("f", 12), ("f", 14), ("g", 22)],
        );
        let expected = [(10, 12), (12, 14), (20, 22)];
        assert_eq!(
            found,
            expected.map(|(before, after)| (Some(before), Some(after), Matched::Order))
        );
        let same = lines(&[("f", 10)], &[("f", 10)]);
        assert_eq!(same, [(Some(10), Some(10), Matched::Label)]);
    }

    #[test]
    fn what_only_one_build_has_is_new_or_gone() {
        let found = lines(
            &[("f", 10), ("f", 12), ("h", 9)],
            &[("f", 10), ("f", 12), ("f", 30), ("k", 9)],
        );
        let expected = [
            (Some(10), Some(10), Matched::Label),
            (Some(12), Some(12), Matched::Label),
            (None, Some(30), Matched::New),
            (Some(9), None, Matched::Gone),
            (None, Some(9), Matched::New),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn constructs_of_all_runs_count() {
        let found = pairs(
            &[run(&[("f", 1)]), run(&[("f", 1), ("g", 2)])],
            &[run(&[("g", 2)])],
        );
        let how: Vec<_> = found.iter().map(|pair| pair.how).collect();
        assert_eq!(how, [Matched::Gone, Matched::Label]);
    }
}
