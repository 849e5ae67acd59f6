//! Two runs side by side: what each region, task function and loop took in one and in the other. Constructs are the same where their labels are.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::findings;
use super::timeline::Collected;
use super::timeline::longest::{What, Where};
use crate::summary::first;
use crate::summary::model::Summary;
use crate::summary::units::{count, percent, time};

/// Rows of the table.
const ROWS: usize = 200;

/// The differences of the second run to the first.
#[derive(Debug)]
pub(super) struct Comparison {
    /// Programs of the runs.
    pub(super) names: [String; 2],
    /// Of the whole runs: name, first, second, difference.
    pub(super) whole: Vec<(&'static str, [String; 3])>,
    /// The largest difference first.
    pub(super) rows: Vec<Row>,
    pub(super) left_out: usize,
}

/// A construct.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) kind: &'static str,
    pub(super) name: String,
    /// Executions, time and time of one of both runs, difference, ratio.
    pub(super) cells: [String; 8],
    /// The longest execution in each run.
    pub(super) at: [Option<Where>; 2],
}

/// A construct in one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Side {
    count: u64,
    total_ns: u64,
    at: Option<Where>,
}

type Constructs = BTreeMap<(&'static str, String), [Option<Side>; 2]>;

/// The comparison of two runs; none where there are not two.
pub(super) fn of(summaries: &[Summary], collected: &Collected) -> Option<Comparison> {
    let [first, second] = summaries else {
        return None;
    };
    let mut all = Constructs::new();
    add(&mut all, 0, first, 0, collected);
    add(&mut all, 1, second, processes(first), collected);
    let mut all: Vec<_> = all.into_iter().collect();
    all.sort_by_key(|(_, sides)| Reverse(difference(sides).unsigned_abs()));
    let left_out = all.len().saturating_sub(ROWS);
    Some(Comparison {
        names: [first, second].map(|run| run.program.clone()),
        whole: whole(first, second),
        rows: all.into_iter().take(ROWS).map(row).collect(),
        left_out,
    })
}

/// The process and those it forked.
fn processes(summary: &Summary) -> usize {
    1 + summary.children.iter().map(processes).sum::<usize>()
}

fn add(all: &mut Constructs, run: usize, summary: &Summary, process: usize, of: &Collected) {
    let mut add = |kind, label: &str, side: Side| {
        let sides = all.entry((kind, label.to_owned())).or_default();
        let known = sides[run].get_or_insert_default();
        known.count += side.count;
        known.total_ns = known.total_ns.saturating_add(side.total_ns);
        known.at = known.at.or(side.at);
    };
    for region in &summary.parallel_regions {
        let side = Side {
            count: region.times.count,
            total_ns: region.times.total_ns,
            at: findings::at_region(&region.place, process, &of.longest),
        };
        add("region", &region.place.label, side);
    }
    for task in &summary.task_functions {
        let code = findings::code(&task.place);
        let side = Side {
            count: task.executed,
            total_ns: task.total_ns,
            at: code.and_then(|code| of.longest.of(process, What::Task(code))),
        };
        add("task", &task.place.label, side);
    }
    for of_loop in &summary.loops {
        let side = Side {
            count: of_loop.instances,
            total_ns: of_loop.times.total_ns,
            at: None,
        };
        add("loop", &of_loop.place.label, side);
    }
    let mut next = process + 1;
    for child in &summary.children {
        self::add(all, run, child, next, of);
        next += processes(child);
    }
}

/// What the second run took more, ns.
fn difference(sides: &[Option<Side>; 2]) -> i128 {
    let total = |side: Option<Side>| i128::from(side.unwrap_or_default().total_ns);
    total(sides[1]) - total(sides[0])
}

fn signed(ns: i128) -> String {
    let size = time(u64::try_from(ns.unsigned_abs()).unwrap_or(u64::MAX));
    match ns.signum() {
        0 => size,
        1 => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

fn row(((kind, label), sides): ((&'static str, String), [Option<Side>; 2])) -> Row {
    let cell = |side: Option<Side>, of: fn(Side) -> String| side.map_or(String::new(), of);
    let each = |side: Side| time(side.total_ns.checked_div(side.count).unwrap_or(0));
    let ratio = match sides {
        [Some(first), Some(second)] if first.total_ns > 0 => {
            format!("{:.2}", second.total_ns as f64 / first.total_ns as f64)
        }
        [None, _] => "new".to_owned(),
        [_, None] => "gone".to_owned(),
        _ => String::new(),
    };
    Row {
        kind,
        name: first::place(&label),
        cells: [
            cell(sides[0], |side| count(side.count)),
            cell(sides[1], |side| count(side.count)),
            cell(sides[0], |side| time(side.total_ns)),
            cell(sides[1], |side| time(side.total_ns)),
            cell(sides[0], each),
            cell(sides[1], each),
            signed(difference(&sides)),
            ratio,
        ],
        at: sides.map(|side| side.and_then(|side| side.at)),
    }
}

fn whole(first: &Summary, second: &Summary) -> Vec<(&'static str, [String; 3])> {
    let ns = |name, a: u64, b: u64| {
        let difference = signed(i128::from(b) - i128::from(a));
        (name, [time(a), time(b), difference])
    };
    let mut rows = vec![
        ns("time", first.duration_ns, second.duration_ns),
        (
            "threads",
            [
                count(first.threads.len() as u64),
                count(second.threads.len() as u64),
                String::new(),
            ],
        ),
    ];
    let (Some(a), Some(b)) = (&first.efficiency, &second.efficiency) else {
        return rows;
    };
    rows.push(ns("time in regions", a.parallel_ns, b.parallel_ns));
    rows.push(ns("user code of all threads", a.useful_ns, b.useful_ns));
    let mut share = |name, a: f64, b: f64| {
        let points = format!("{:+.1} points", (b - a) * 100.0);
        rows.push((name, [percent(a), percent(b), points]));
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

    fn side(count: u64, total_ns: u64) -> Option<Side> {
        let at = None;
        Some(Side {
            count,
            total_ns,
            at,
        })
    }

    #[test]
    fn a_construct_of_both_runs_has_its_difference_and_ratio() {
        let row = row((("task", "f".to_owned()), [side(4, 8000), side(2, 2000)]));
        let expected = [
            "4", "2", "8.00 us", "2.00 us", "2.00 us", "1.00 us", "-6.00 us", "0.25",
        ];
        assert_eq!(row.cells, expected);
    }

    #[test]
    fn what_only_one_run_has_is_new_or_gone() {
        let new = row((("loop", "f".to_owned()), [None, side(1, 500)]));
        assert_eq!(new.cells[6..], ["+500 ns", "new"]);
        assert_eq!((new.cells[0].as_str(), new.cells[2].as_str()), ("", ""));
        let gone = row((("loop", "f".to_owned()), [side(1, 500), None]));
        assert_eq!(gone.cells[6..], ["-500 ns", "gone"]);
    }
}
