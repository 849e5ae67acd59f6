//! Work, span, levels and the rest of `docs/graph.md`, computed from a replayed trace by the definitions, point by point.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::judge::{Case, Problems};
use super::paths::{Arc, Paths};
use super::replay::{Region, Who};
use super::report::{self, TraceId};
use crate::outcome::{Check, Stop};

/// What the definitions give for one region.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Fields that count something.
    pub counts: BTreeMap<&'static str, u64>,
    /// Fields that are times, ns.
    pub times: BTreeMap<&'static str, u64>,
    /// Tasks of each level and their work.
    pub levels: Vec<(u64, u64)>,
}

/// Judges the numbers of every region, of `total`, and the places of the tasks in them.
///
/// # Errors
///
/// The mistakes, or what the report lacks.
pub fn judge(case: &mut Case, title: &str) -> Check {
    let edges = case.edges.clone();
    case.replay.connect(&edges);
    let circle = || Stop::Fail("the fork-join graph has a circle".into());
    let paths = &case.replay.paths;
    let to = paths.heaviest_to(|arc| arc.work).ok_or_else(circle)?;
    let from = paths.heaviest_from(|arc| arc.work).ok_or_else(circle)?;
    let hops = paths.heaviest_to(|arc| arc.hops).ok_or_else(circle)?;
    let mut problems = Problems::default();
    let mut all = Vec::new();
    for (&id, region) in &case.replay.regions {
        let tasks: Vec<TraceId> = tasks_of(case, id);
        if tasks.is_empty() {
            continue;
        }
        let numbers = numbers(case, id, region, &tasks, &to, &hops)?;
        let name = format!("{}.{}", id.0, id.1);
        match report::list(&case.report.json, "regions")?
            .iter()
            .find(|it| it["id"] == name)
        {
            Some(told) => judge_region(case, &numbers, told, &name, &mut problems)?,
            None => problems.unless(false, || format!("region {name} is not in the report")),
        }
        places(case, &tasks, &numbers, (&to, &from, &hops), &mut problems);
        all.push(numbers);
    }
    let told = report::list(&case.report.json, "regions")?.len();
    problems.equal("regions", all.len(), told);
    judge_total(case, &all, &mut problems);
    judge_functions(case, &mut problems)?;
    problems.verdict(title)
}

fn tasks_of(case: &Case, region: TraceId) -> Vec<TraceId> {
    let tasks = case.replay.tasks.iter();
    tasks
        .filter(|(_, seen)| seen.region == Some(region))
        .map(|(&id, _)| id)
        .collect()
}

fn numbers(
    case: &Case,
    id: TraceId,
    region: &Region,
    tasks: &[TraceId],
    to: &[u64],
    hops: &[u64],
) -> Check<Numbers> {
    let clock = &case.clock;
    let in_region = |point: &usize| case.replay.point_regions[*point] == Some(id);
    let span = (0..to.len())
        .filter(in_region)
        .map(|point| to[point])
        .max()
        .unwrap_or(0);
    let mut levels: Vec<(u64, u64)> = Vec::new();
    for task in tasks {
        let level = hops[case.replay.begins[task].0] as usize;
        levels.resize(levels.len().max(level + 1), (0, 0));
        levels[level].0 += 1;
        levels[level].1 += case.replay.tasks[task].work;
    }
    let (chain, chain_hops) = chains(case, tasks)?;
    let threads = region.threads.len() as u64;
    let (begin, end) = (clock.ns(region.begin), clock.ns(region.end));
    let (delay, no_work) = lost(case, region, tasks, begin, end);
    let members: BTreeSet<&TraceId> = tasks.iter().collect();
    let inner = case
        .edges
        .iter()
        .filter(|(from, _)| members.contains(from))
        .count();
    let task_work: u64 = tasks.iter().map(|task| case.replay.tasks[task].work).sum();
    let share = region.work.div_ceil(threads.max(1));
    let upper = (region.work + threads * span).div_ceil(threads.max(1));
    Ok(Numbers {
        counts: BTreeMap::from([
            ("threads", threads),
            ("tasks", tasks.len() as u64),
            ("edges", inner as u64),
            ("span_hops", levels.len() as u64),
            ("chain_hops", chain_hops),
            (
                "width",
                levels.iter().map(|level| level.0).max().unwrap_or(0),
            ),
        ]),
        times: BTreeMap::from([
            ("begin_ns", begin),
            ("elapsed_ns", end - begin),
            ("work_ns", region.work),
            ("task_work_ns", task_work),
            ("span_ns", span),
            ("chain_ns", chain),
            ("lower_bound_ns", share.max(span)),
            ("upper_bound_ns", upper),
            ("delay_ns", delay),
            ("no_work_ns", no_work),
        ]),
        levels,
    })
}

/// The heaviest and the longest path along dependences alone.
fn chains(case: &Case, tasks: &[TraceId]) -> Check<(u64, u64)> {
    let mut paths = Paths::<Who>::default();
    let points: BTreeMap<TraceId, (usize, usize)> = tasks
        .iter()
        .map(|&id| (id, (paths.point(), paths.point())))
        .collect();
    for (id, &(begin, end)) in &points {
        let arc = Arc {
            from: begin,
            work: case.replay.tasks[id].work,
            hops: 1,
            owner: None,
        };
        paths.arc(end, arc);
    }
    for (from, to) in &case.edges {
        if let (Some((_, end)), Some((begin, _))) = (points.get(from), points.get(to)) {
            paths.order(*end, *begin);
        }
    }
    let most = |best: Option<Vec<u64>>| best.and_then(|best| best.into_iter().max());
    most(paths.heaviest_to(|arc| arc.work))
        .zip(most(paths.heaviest_to(|arc| arc.hops)))
        .ok_or_else(|| Stop::Fail("the dependences have a circle".into()))
}

/// Time of the region's threads outside of user code: while some task is ready and has not begun, and while none is.
fn lost(case: &Case, region: &Region, tasks: &[TraceId], begin: u64, end: u64) -> (u64, u64) {
    let clock = &case.clock;
    let mut ready = Vec::new();
    for &id in tasks {
        let seen = &case.replay.tasks[&id];
        let from = case.replay.ready(id, &case.edges);
        if seen.wait.is_none()
            && let (Some(from), Some(to)) = (from, seen.begin)
        {
            ready.push((clock.ns(from), clock.ns(to)));
        }
    }
    let mut bounds: BTreeSet<u64> = [begin, end].into();
    bounds.extend(region.useful.iter().flat_map(|&(_, from, to)| [from, to]));
    bounds.extend(ready.iter().flat_map(|&(from, to)| [from, to]));
    let bounds: Vec<u64> = bounds.range(begin..=end).copied().collect();
    let (mut delay, mut no_work) = (0, 0);
    for pair in bounds.windows(2) {
        let holds = |from: u64, to: u64| from <= pair[0] && pair[1] <= to;
        let busy = region
            .useful
            .iter()
            .filter(|&&(_, from, to)| holds(from, to))
            .count();
        let free = (region.threads.len() - busy) as u64 * (pair[1] - pair[0]);
        if ready.iter().any(|&(from, to)| holds(from, to)) {
            delay += free;
        } else {
            no_work += free;
        }
    }
    (delay, no_work)
}

fn judge_region(
    case: &Case,
    numbers: &Numbers,
    told: &Value,
    name: &str,
    problems: &mut Problems,
) -> Check {
    let steps = case.tolerance(numbers.counts["tasks"]);
    for (field, &expected) in &numbers.counts {
        problems.equal(
            &format!("region {name}: {field}"),
            &Value::from(expected),
            &told[field],
        );
    }
    for (field, &expected) in &numbers.times {
        let near = told[field]
            .as_u64()
            .is_some_and(|told| told.abs_diff(expected) <= steps);
        problems.unless(near, || {
            format!("region {name}: {field} is {}, not {expected}", told[field])
        });
    }
    let mut levels = Vec::new();
    for level in report::list(told, "levels")? {
        levels.push((
            level["tasks"].as_u64().unwrap_or(0),
            level["work_ns"].as_u64().unwrap_or(0),
        ));
    }
    let tasks =
        |levels: &[(u64, u64)]| -> Vec<u64> { levels.iter().map(|level| level.0).collect() };
    problems.equal(
        &format!("region {name}: tasks of levels"),
        tasks(&numbers.levels),
        tasks(&levels),
    );
    let near = levels
        .iter()
        .zip(&numbers.levels)
        .all(|(a, b)| a.1.abs_diff(b.1) <= steps);
    problems.unless(near, || {
        format!(
            "region {name}: work of levels {levels:?}, not {:?}",
            numbers.levels
        )
    });
    let number = |field: &str| told[field].as_u64().unwrap_or(0);
    let capacity = number("threads") * number("elapsed_ns");
    let parts = number("work_ns") + number("delay_ns") + number("no_work_ns");
    problems.equal(
        &format!("region {name}: work + delay + no work"),
        capacity,
        parts,
    );
    for (field, above, below) in [
        ("average_parallelism", "work_ns", "span_ns"),
        ("mean", "work_ns", "elapsed_ns"),
    ] {
        let told = told[field]
            .as_f64()
            .or_else(|| told["parallelism"][field].as_f64());
        let ratio = number(above) as f64 / number(below) as f64;
        let same = told.map_or(!ratio.is_finite(), |told| {
            (told - ratio).abs() <= 1e-6 * ratio
        });
        problems.unless(same, || {
            format!("region {name}: {field} is {told:?}, not {ratio}")
        });
    }
    Ok(())
}

/// Level, slack and critical mark of the tasks of a region.
fn places(
    case: &Case,
    tasks: &[TraceId],
    numbers: &Numbers,
    (to, from, hops): (&[u64], &[u64], &[u64]),
    problems: &mut Problems,
) {
    let span = numbers.times["span_ns"];
    let steps = case.tolerance(numbers.counts["tasks"]);
    let mut through: BTreeMap<TraceId, u64> = BTreeMap::new();
    for (point, onward) in from.iter().enumerate() {
        for arc in case.replay.paths.arcs(point) {
            if let Some(Who::Explicit(id)) = arc.owner {
                let longest = to[arc.from] + arc.work + onward;
                let best = through.entry(id).or_default();
                *best = (*best).max(longest);
            }
        }
    }
    for id in tasks {
        let (Some(node), script) = (case.report.nodes.get(id), case.replay.tasks[id].script) else {
            continue;
        };
        let level = Value::from(hops[case.replay.begins[id].0]);
        problems.equal(&format!("task {script}: level"), &level, &node["level"]);
        let slack = span.saturating_sub(through.get(id).copied().unwrap_or(0));
        let near = node["slack_ns"]
            .as_u64()
            .is_some_and(|told| told.abs_diff(slack) <= steps);
        problems.unless(near, || {
            format!(
                "task {script}: slack_ns is {}, not {slack}",
                node["slack_ns"]
            )
        });
        let sound = node["critical"] == false || node["slack_ns"] == 0;
        problems.unless(sound, || {
            format!("task {script}: critical with slack {}", node["slack_ns"])
        });
    }
}

fn judge_total(case: &Case, all: &[Numbers], problems: &mut Problems) {
    let told = &case.report.json["total"];
    let tasks = all.iter().map(|numbers| numbers.counts["tasks"]).sum();
    let steps = case.tolerance(tasks);
    for field in ["tasks", "edges", "threads", "span_hops", "width"] {
        let values = all.iter().map(|numbers| numbers.counts[field]);
        let expected: u64 = match field {
            "tasks" | "edges" => values.sum(),
            _ => values.max().unwrap_or(0),
        };
        problems.equal(
            &format!("total: {field}"),
            &Value::from(expected),
            &told[field],
        );
    }
    for field in [
        "elapsed_ns",
        "work_ns",
        "task_work_ns",
        "span_ns",
        "delay_ns",
        "no_work_ns",
        "lower_bound_ns",
        "upper_bound_ns",
    ] {
        let expected: u64 = all.iter().map(|numbers| numbers.times[field]).sum();
        let near = told[field]
            .as_u64()
            .is_some_and(|told| told.abs_diff(expected) <= steps);
        problems.unless(near, || {
            format!("total: {field} is {}, not {expected}", told[field])
        });
    }
}

/// The shares of the functions add up to the whole.
fn judge_functions(case: &Case, problems: &mut Problems) -> Check {
    let total = &case.report.json["total"];
    let (mut span, mut tasks, mut share) = (0, 0, 0.0);
    for function in report::list(&case.report.json, "functions")? {
        span += function["span_ns"].as_u64().unwrap_or(0);
        tasks += function["tasks"].as_u64().unwrap_or(0);
        share += function["span_share"].as_f64().unwrap_or(0.0);
    }
    problems.equal("functions: span", total["span_ns"].as_u64(), Some(span));
    let whole = span == 0 || (share - 1.0).abs() < 1e-6;
    problems.unless(whole, || format!("functions: shares add up to {share}"));
    let bodies = case
        .replay
        .tasks
        .values()
        .filter(|seen| seen.wait.is_none())
        .count();
    let counted = tasks as usize >= bodies && tasks as usize <= case.replay.tasks.len();
    problems.unless(counted, || {
        format!("functions: {tasks} tasks, {bodies} bodies")
    });
    Ok(())
}
