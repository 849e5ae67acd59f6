//! Two runs, or two groups of them, side by side: the comparison of `instr diff`, with the way to the longest execution of each construct on the time line.

use std::collections::BTreeMap;

use super::findings;
use super::timeline::Collected;
use super::timeline::longest::{What, Where};
use crate::diff::model::{Diff, Measure, Row as Compared};
use crate::diff::run::Kind;
use crate::diff::table::{change, range, result};
use crate::summary::first;
use crate::summary::model::Summary;
use crate::summary::units::{count, counted, percent, time};

/// Rows of the table.
const ROWS: usize = 200;

/// The differences of the second run to the first.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Programs of the runs, and how many runs there are of each.
    pub(super) names: [String; 2],
    /// There are several runs of each: what they tell stands in two more columns.
    pub(super) has_repeats: bool,
    /// What makes the comparison weaker than it looks.
    pub(super) notes: Vec<String>,
    /// Of the whole runs: name, first, second, difference.
    pub(super) whole: Vec<(String, [String; 3])>,
    /// The largest difference first.
    pub(super) rows: Vec<Row>,
    pub(super) left_out: usize,
}

/// A construct.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Executions, time and time of one of both runs, difference, ratio; with repeats the difference of one execution with its limits, and the result.
    pub(super) cells: Vec<String>,
    /// The longest execution in each run of the time line.
    pub(super) at: [Option<Where>; 2],
}

/// Kind and label of a construct.
type Name = (Kind, String);

/// The comparison, with places in the two runs that the time line shows.
pub(super) fn of(diff: &Diff, shown: [&Summary; 2], collected: &Collected) -> Comparison {
    let mut places = [BTreeMap::new(), BTreeMap::new()];
    add(&mut places[0], shown[0], 0, collected);
    add(&mut places[1], shown[1], processes(shown[0]), collected);
    let constructs = diff.rows.iter().filter(|row| row.kind != Kind::Run);
    let left_out = constructs.clone().count().saturating_sub(ROWS);
    let has_repeats = diff.level.is_some();
    let name = |side: &crate::diff::model::Side| match side.runs.len() {
        1 => side.program.clone(),
        runs => format!("{} ({})", side.program, counted(runs as u64, "run")),
    };
    Comparison {
        names: [name(&diff.before), name(&diff.after)],
        has_repeats,
        notes: match has_repeats {
            true => diff.notes.clone(),
            // That there is one run each, the heading says.
            false => diff.notes.iter().skip(1).cloned().collect(),
        },
        whole: whole(diff, shown),
        rows: constructs
            .take(ROWS)
            .map(|row| self::row(row, has_repeats, &places))
            .collect(),
        left_out,
    }
}

/// The process and those it forked.
fn processes(summary: &Summary) -> usize {
    1 + summary.children.iter().map(processes).sum::<usize>()
}

/// Where the longest execution of each construct is.
fn add(all: &mut BTreeMap<Name, Where>, summary: &Summary, process: usize, of: &Collected) {
    for region in &summary.parallel_regions {
        if let Some(at) = findings::at_region(&region.place, process, &of.longest) {
            all.entry((Kind::Region, region.place.label.clone()))
                .or_insert(at);
        }
    }
    for task in &summary.task_functions {
        let code = findings::code(&task.place);
        if let Some(at) = code.and_then(|code| of.longest.of(process, What::Task(code))) {
            all.entry((Kind::Task, task.place.label.clone()))
                .or_insert(at);
        }
    }
    let mut next = process + 1;
    for child in &summary.children {
        add(all, child, next, of);
        next += processes(child);
    }
}

fn signed(ns: f64) -> String {
    let size = ns_text(ns.abs());
    match ns {
        0.0 => size,
        _ if ns > 0.0 => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

fn ns_text(ns: f64) -> String {
    time(ns.round() as u64)
}

fn row(row: &Compared, has_repeats: bool, places: &[BTreeMap<Name, Where>; 2]) -> Row {
    let ns = |of: Option<&Measure>, side: fn(&Measure) -> Option<f64>| {
        of.and_then(side).map_or(String::new(), ns_text)
    };
    let (each, total) = (row.each.as_ref(), row.total.as_ref());
    let ratio = |total: &Measure| Some(total.after_ns? / total.before_ns.filter(|ns| *ns > 0.0)?);
    let mut cells = vec![
        row.count[0].map_or(String::new(), count),
        row.count[1].map_or(String::new(), count),
        ns(total, |measure| measure.before_ns),
        ns(total, |measure| measure.after_ns),
        ns(each, |measure| measure.before_ns),
        ns(each, |measure| measure.after_ns),
        total.map_or(String::new(), |total| signed(total.difference_ns())),
        match result(row) {
            alone @ ("new" | "gone") => alone.to_owned(),
            _ => total
                .and_then(ratio)
                .map_or(String::new(), |ratio| format!("{ratio:.2}")),
        },
    ];
    if has_repeats {
        let telling = row.telling().map(|telling| telling.0);
        let change = telling.and_then(|measure| measure.change).map(change);
        let limits = telling.and_then(|measure| measure.range).map(range);
        let parts: Vec<String> = change
            .into_iter()
            .chain(limits.map(|limits| format!("({limits})")))
            .collect();
        cells.push(parts.join(" "));
        cells.push(result(row).to_owned());
    }
    let labels = [row.label_before.as_ref().unwrap_or(&row.label), &row.label];
    Row {
        kind: row.kind.name(),
        name: match row.kind {
            kind if kind.has_place() => first::place(&row.label),
            _ => row.label.clone(),
        },
        cells,
        at: [0, 1].map(|side| places[side].get(&(row.kind, labels[side].clone())).copied()),
    }
}

fn whole(diff: &Diff, [first, second]: [&Summary; 2]) -> Vec<(String, [String; 3])> {
    let of_run = |row: &Compared| {
        let total = row.total.as_ref()?;
        let difference = match (total.change, total.range) {
            (Some(share), Some(limits)) => {
                format!("{} ({}) {}", change(share), range(limits), result(row))
            }
            _ => signed(total.difference_ns()),
        };
        let ns = |ns: Option<f64>| ns.map_or(String::new(), ns_text);
        Some((
            row.label.clone(),
            [ns(total.before_ns), ns(total.after_ns), difference],
        ))
    };
    let mut rows: Vec<_> = diff
        .rows
        .iter()
        .filter(|row| row.kind == Kind::Run)
        .filter_map(of_run)
        .collect();
    let threads = [first, second].map(|run| count(run.threads.len() as u64));
    let [a, b] = threads;
    rows.push(("threads".to_owned(), [a, b, String::new()]));
    let (Some(a), Some(b)) = (&first.efficiency, &second.efficiency) else {
        return rows;
    };
    let mut share = |name: &str, a: f64, b: f64| {
        let points = format!("{:+.1} points", (b - a) * 100.0);
        rows.push((name.to_owned(), [percent(a), percent(b), points]));
    };
    share(
        "parallel efficiency",
        a.parallel_efficiency,
        b.parallel_efficiency,
    );
    share(
        "serial region efficiency",
        a.additive.serial_region_efficiency,
        b.additive.serial_region_efficiency,
    );
    share(
        "load balance",
        a.additive.load_balance,
        b.additive.load_balance,
    );
    share("scheduling", a.additive.scheduling, b.additive.scheduling);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::matching::Matched;

    fn measure(before_ns: Option<f64>, after_ns: Option<f64>) -> Option<Measure> {
        Some(Measure {
            before_ns,
            after_ns,
            ..Measure::default()
        })
    }

    fn cells(
        matched: Matched,
        count: [Option<u64>; 2],
        each: [Option<f64>; 2],
        total: [Option<f64>; 2],
    ) -> Vec<String> {
        let compared = Compared {
            kind: Kind::Task,
            label: "f".to_owned(),
            label_before: None,
            matched,
            share: 0.5,
            runs: [1, 1],
            count,
            each: measure(each[0], each[1]),
            total: measure(total[0], total[1]),
            verdict: None,
        };
        row(&compared, false, &Default::default()).cells
    }

    #[test]
    fn a_construct_of_both_runs_has_its_difference_and_ratio() {
        let counts = [Some(4), Some(2)];
        let found = cells(
            Matched::Label,
            counts,
            [Some(2000.0), Some(1000.0)],
            [Some(8000.0), Some(2000.0)],
        );
        let expected = [
            "4", "2", "8.00 us", "2.00 us", "2.00 us", "1.00 us", "-6.00 us", "0.25",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_only_one_run_has_is_new_or_gone() {
        let new = cells(
            Matched::New,
            [None, Some(1)],
            [None, Some(500.0)],
            [None, Some(500.0)],
        );
        assert_eq!(new[6..], ["+500 ns", "new"]);
        assert_eq!((new[0].as_str(), new[2].as_str()), ("", ""));
        let gone = cells(
            Matched::Gone,
            [Some(1), None],
            [Some(500.0), None],
            [Some(500.0), None],
        );
        assert_eq!(gone[6..], ["-500 ns", "gone"]);
    }
}
