//! The comparison itself: what each construct took before and after, and whether that is more than noise.
//!
//! `docs/decisions/0042-differences-of-runs.md` says why it is made so. In short: of each run a construct has one number, the time of an execution that nothing disturbed; those of runs
//! are compared by ranks inside of blocks of runs that were made in turn; probabilities of all that is tested are adjusted together.

use instr_analysis::statistics::{Design, holm, limits, location, rank, shift};

use super::matching::{Pair, pairs};
use super::model::{Diff, FORMAT, Measure, Order, Row, Side, Verdict};
use super::run::{Executions, Key, Kind, LOWS, RUN_TIME, Run};

/// Probability of intervals.
const INTERVAL: f64 = 0.95;
/// Constructs that take less of the time are not tested: each test makes the others weaker.
pub(super) const LEAST_SHARE: f64 = 0.005;

/// How to judge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Largest probability that any construct is called different although none is.
    pub(crate) level: f64,
    /// Smaller differences are not called one, as a share.
    pub(crate) noticeable: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            level: 0.01,
            noticeable: 0.01,
        }
    }
}

/// Compares two groups of runs; each has one at least.
pub(crate) fn compare(before: &[Run], after: &[Run], settings: Settings) -> Diff {
    let groups = Groups::of(before, after);
    let mut rows: Vec<Row> = pairs(before, after)
        .iter()
        .map(|pair| groups.row(pair))
        .collect();
    // Nobody waited, before or after.
    rows.retain(|row| {
        let is_none =
            |total: &Measure| total.before_ns.unwrap_or(0.0) + total.after_ns.unwrap_or(0.0) == 0.0;
        row.kind != Kind::Wait || !row.total.as_ref().is_some_and(is_none)
    });
    let tested = judge(&mut rows, settings);
    rows.sort_by(|a, b| {
        order(a)
            .partial_cmp(&order(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let has_repeats = groups.design.has_repeats();
    Diff {
        format: FORMAT,
        before: side(before),
        after: side(after),
        order: groups.order(),
        level: has_repeats.then_some(settings.level),
        decides: super::notes::decide(&groups.design, tested, settings),
        noticeable: settings.noticeable,
        tested,
        notes: super::notes::of(
            before,
            after,
            &groups.design,
            groups.order(),
            tested,
            settings,
        ),
        rows,
        limit: None,
    }
}

fn side(runs: &[Run]) -> Side {
    let first = runs.first();
    let text = |of: fn(&Run) -> &String| first.map(of).cloned().unwrap_or_default();
    let threads: Vec<f64> = runs.iter().map(|run| run.threads as f64).collect();
    Side {
        program: text(|run| &run.program),
        target: text(|run| &run.target),
        threads: location::median(&threads).unwrap_or(0.0) as u64,
        runs: runs
            .iter()
            .map(|run| run.path.display().to_string())
            .collect(),
    }
}

/// The run first, then what changed the whole most.
fn order(row: &Row) -> (bool, bool, f64, &str) {
    let change = row
        .total
        .as_ref()
        .map_or(0.0, |total| total.difference_ns().abs());
    let is_run = row.kind == Kind::Run;
    let is_time = row.label == RUN_TIME;
    (
        !is_run,
        !(is_run && is_time),
        if is_run { 0.0 } else { -change },
        &row.label,
    )
}

/// Runs of both groups, those before first.
struct Groups<'r> {
    runs: Vec<&'r Run>,
    design: Design,
}

impl<'r> Groups<'r> {
    fn of(before: &'r [Run], after: &'r [Run]) -> Self {
        let runs: Vec<&Run> = before.iter().chain(after).collect();
        let is_after = |at: usize| at >= before.len();
        let started: Option<Vec<u64>> = runs.iter().map(|run| run.started_ns).collect();
        let design = match started {
            Some(times) => {
                let runs: Vec<_> = times
                    .into_iter()
                    .enumerate()
                    .map(|(at, time)| (time, is_after(at)))
                    .collect();
                Design::by_time(&runs)
            }
            None => Design::of_groups(&(0..runs.len()).map(is_after).collect::<Vec<_>>()),
        };
        Self { runs, design }
    }

    fn order(&self) -> Order {
        match self.design.is_in_turn() {
            _ if !self.design.has_repeats() => Order::Single,
            true => Order::InTurn,
            false if self.runs.iter().any(|run| run.started_ns.is_none()) => Order::Unknown,
            false => Order::OneBlock,
        }
    }

    fn is_after(&self, run: usize) -> bool {
        self.design.is_second(run)
    }

    fn row(&self, pair: &Pair) -> Row {
        let key = |run: usize| match self.is_after(run) {
            true => pair.after.as_ref(),
            false => pair.before.as_ref(),
        };
        let of: Vec<Option<&Executions>> = (0..self.runs.len())
            .map(|run| self.runs[run].constructs.get(key(run)?))
            .collect();
        let shares = (0..self.runs.len()).filter_map(|run| Some(self.runs[run].share(key(run)?)));
        let own = pair.after.as_ref().or(pair.before.as_ref());
        let label = |key: &Key| key.label.clone();
        let kind = own.map_or(Kind::Run, |key| key.kind);
        let is_cut = self.runs.iter().any(|run| run.is_cut);
        let counts = |after: bool| -> Vec<f64> {
            let runs = of
                .iter()
                .enumerate()
                .filter(|(run, _)| self.is_after(*run) == after);
            runs.filter_map(|(_, found)| Some(found.as_ref()?.count as f64))
                .collect()
        };
        let counts = [counts(false), counts(true)];
        let total = |executions: &Executions| Some(executions.total_ns as f64);
        Row {
            kind,
            label: own.map(label).unwrap_or_default(),
            label_before: pair.before.as_ref().map(label).filter(|before| {
                Some(before) != pair.after.as_ref().map(label).as_ref() && pair.after.is_some()
            }),
            matched: pair.how,
            share: shares.sum::<f64>() / self.runs.len() as f64,
            runs: [counts[0].len(), counts[1].len()],
            count: [0, 1]
                .map(|side| location::median(&counts[side]).map(|count| count.round() as u64)),
            each: match kind {
                Kind::Run | Kind::Wait | Kind::Waiting => None,
                _ => {
                    let low = self.closest(&of);
                    self.measure(&of, |executions| executions.each_ns(low))
                }
            },
            // What a run that was cut off took as a whole says nothing.
            total: match is_cut {
                true => None,
                false => self.measure(&of, total),
            },
            verdict: None,
        }
    }

    /// By which of [`LOWS`] runs differ least inside of their blocks, whichever group they are of. As it does not look at the groups, what is found by it is as exact as by any other.
    fn closest(&self, of: &[Option<&Executions>]) -> usize {
        let distance = |low: usize| -> Option<f64> {
            let each = of
                .iter()
                .map(|found| Some(found.as_ref()?.each_ns(low)?.max(1.0).ln()));
            let values = each.collect::<Option<Vec<f64>>>()?;
            let blocks = self.design.blocks().iter().flat_map(|block| {
                let own: Vec<f64> = block.iter().map(|run| values[*run]).collect();
                let middle = location::median(&own).unwrap_or(0.0);
                own.into_iter().map(move |value| value - middle)
            });
            location::closeness(&blocks.collect::<Vec<f64>>())
        };
        let distances = (0..LOWS.len()).map(|low| distance(low).unwrap_or(f64::INFINITY));
        let closest = distances.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        closest.map_or(0, |(low, _)| low)
    }

    /// A number of each run that has it; [`None`] where none has.
    fn measure(
        &self,
        of: &[Option<&Executions>],
        number: impl Fn(&Executions) -> Option<f64>,
    ) -> Option<Measure> {
        let values: Vec<Option<f64>> = of.iter().map(|found| found.and_then(&number)).collect();
        let side = |after: bool| -> Vec<f64> {
            let runs = values
                .iter()
                .enumerate()
                .filter(|(run, _)| self.is_after(*run) == after);
            runs.filter_map(|(_, value)| *value).collect()
        };
        let (before, after) = (side(false), side(true));
        let (before_ns, after_ns) = (location::median(&before), location::median(&after));
        before_ns.or(after_ns)?;
        // No time is less than none, which few values do not exclude.
        let range = |values: &[f64]| {
            limits::of_median(values, INTERVAL).map(|(low, high)| [low.max(0.0), high])
        };
        let mut measure = Measure {
            before_ns,
            after_ns,
            before_range_ns: range(&before),
            after_range_ns: range(&after),
            change: before_ns
                .zip(after_ns)
                .filter(|both| both.0 > 0.0)
                .map(|(before, after)| after / before - 1.0),
            range: None,
            noise: None,
            p: None,
            p_adjusted: None,
            is_different: false,
        };
        let all: Option<Vec<f64>> = values.into_iter().collect();
        if let Some(all) = all.filter(|_| self.design.has_repeats()) {
            self.test(&mut measure, &all);
        }
        Some(measure)
    }

    /// What repeats tell.
    fn test(&self, measure: &mut Measure, values: &[f64]) {
        // Ratios are what drifts and other work on the machine leave alone.
        let logarithms: Vec<f64> = values.iter().map(|ns| ns.max(1.0).ln()).collect();
        let ratio = |difference: f64| difference.exp_m1();
        measure.p = Some(rank::p_value(&self.design, &logarithms));
        measure.noise = shift::noise(&self.design, &logarithms).map(ratio);
        if measure.change.is_some() {
            measure.change = shift::estimate(&self.design, &logarithms).map(ratio);
            let range = shift::interval(&self.design, &logarithms, INTERVAL);
            measure.range = range.map(|(low, high)| [ratio(low), ratio(high)]);
        }
    }
}

/// Adjusts the probabilities of all that is tested, and gives the verdicts; says how many tests there were.
fn judge(rows: &mut [Row], settings: Settings) -> usize {
    let mut tested: Vec<&mut Measure> = Vec::new();
    for row in rows.iter_mut().filter(|row| row.share >= LEAST_SHARE) {
        // Executed once, both times are the same.
        let is_once = row.count.iter().all(|count| *count == Some(1));
        let each = row.each.as_mut();
        let total = row.total.as_mut().filter(|_| each.is_none() || !is_once);
        tested.extend(
            each.into_iter()
                .chain(total)
                .filter(|measure| measure.p.is_some()),
        );
    }
    let p_values: Vec<f64> = tested.iter().filter_map(|measure| measure.p).collect();
    for (measure, adjusted) in tested.iter_mut().zip(holm::adjusted(&p_values)) {
        let size = measure.change.map_or(f64::INFINITY, f64::abs);
        measure.p_adjusted = Some(adjusted);
        measure.is_different = adjusted <= settings.level && size >= settings.noticeable;
    }
    let tested = tested.len();
    for row in rows {
        row.verdict = row
            .telling()
            .filter(|(measure, _)| measure.p_adjusted.is_some())
            .map(|(measure, _)| match measure.is_different {
                true if measure.is_longer() => Verdict::Slower,
                true => Verdict::Faster,
                false => Verdict::Same,
            });
    }
    tested
}
