//! Runs as PaScal Analyzer writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use anyhow::{Result, ensure};
use serde_json::{Map, Value, json};

use super::super::plan::Point;
use super::super::record::Record;
use super::super::run::Run;

/// Writes the runs that count.
///
/// # Errors
///
/// Sweeps over something that the form has no place for, and failures to write.
pub(in super::super) fn write(record: &Record, out: &mut dyn Write) -> Result<()> {
    let runs: Vec<&Run> = record
        .runs()
        .iter()
        .filter(|run| run.failure.is_none())
        .collect();
    let others: BTreeSet<Point> = runs
        .iter()
        .map(|run| Point {
            input: None,
            ..run.point.with_threads(0)
        })
        .collect();
    ensure!(
        others.len() <= 1,
        "the form of PaScal Analyzer has threads and inputs alone, and this sweep also varies {}: --csv has all of it",
        varied(&others)
    );
    let config = record.config();
    let mut inputs: Vec<String> = config
        .inputs
        .iter()
        .map(|input| input.name.clone())
        .collect();
    if inputs.is_empty() {
        let used: BTreeSet<String> = runs
            .iter()
            .filter_map(|run| run.point.input.clone())
            .collect();
        inputs.extend(used);
    }
    let mut ids = Ids::default();
    let mut data = Map::new();
    for run in &runs {
        let at = |input: &String| inputs.iter().position(|known| known == input);
        let input = run.point.input.as_ref().and_then(at).unwrap_or(0);
        let key = format!("{};{input};{}", run.point.threads, run.repeat + 1);
        data.insert(key, of_run(run, &mut ids));
    }
    let with_energy = runs.iter().any(|run| run.energy.is_some());
    let with_regions = runs.iter().any(|run| !run.regions.is_empty());
    let mut extras = Map::new();
    if with_regions {
        let values = [
            "start_time",
            "stop_time",
            "start_line",
            "stop_line",
            "thread_id",
            "filename",
        ];
        extras.insert("regions".to_owned(), json!({ "values": values }));
    }
    if with_energy {
        extras.insert("rapl".to_owned(), json!({ "values": ["region_energy"] }));
    }
    let first = runs.iter().map(|run| run.begin_ns).min().unwrap_or(0);
    let document = json!({
        "config": {
            "pkg": config.command.first(),
            "command": config.command.join(" "),
            "execdate": date(first),
            "auto_instrumentation": with_regions,
            "idle_time": config.idle,
            "arguments": inputs,
            "data_descriptor": { "keys": ["cores", "input", "repetitions"], "values": ["start_time", "stop_time"], "extras": extras },
        },
        "data": data,
    });
    serde_json::to_writer(&mut *out, &document)?;
    Ok(writeln!(out)?)
}

/// Which axes differ.
fn varied(points: &BTreeSet<Point>) -> String {
    let differ =
        |of: fn(&Point) -> String| points.iter().map(of).collect::<BTreeSet<_>>().len() > 1;
    let axis = |name: &'static str, of: fn(&Point) -> String| differ(of).then_some(name);
    let names = [
        axis("programs", |point| format!("{:?}", point.program)),
        axis("variables", |point| format!("{:?}", point.environment)),
        axis("placements", |point| format!("{:?}", point.placement)),
        axis("frequencies", |point| format!("{:?}", point.frequency_khz)),
        axis("smt", |point| format!("{:?}", point.smt)),
    ];
    let names = names.into_iter().flatten();
    names.collect::<Vec<_>>().join(" and ")
}

/// As in PaScal's files: day, month, year, and the time of day (UTC).
fn date(ns: u64) -> String {
    let time = jiff::Timestamp::from_nanosecond(i128::from(ns)).unwrap_or_default();
    time.strftime("%d-%m-%Y_%H:%M:%S").to_string()
}

/// Numbers of regions.
#[derive(Default)]
struct Ids {
    by_path: BTreeMap<Vec<String>, String>,
    /// How many regions are directly below this one.
    below: BTreeMap<Vec<String>, usize>,
}

impl Ids {
    fn of(&mut self, path: &[String]) -> String {
        if let Some(known) = self.by_path.get(path) {
            return known.clone();
        }
        let (outer, prefix) = match path.split_last() {
            None => return "0".to_owned(),
            Some((_, [])) => (Vec::new(), String::new()),
            Some((_, outer)) => (outer.to_vec(), self.of(outer) + "."),
        };
        let number = self.below.entry(outer).or_default();
        *number += 1;
        let id = format!("{prefix}{number}");
        self.by_path.insert(path.to_vec(), id.clone());
        id
    }
}

/// A region is one interval as long as all that it was open: the sweep keeps no more of it.
fn of_run(run: &Run, ids: &mut Ids) -> Value {
    let (mut regions, mut energies) = (Map::new(), Map::new());
    if let Some(energy) = run.energy {
        energies.insert("0".to_owned(), energy.joules.into());
    }
    for region in &run.regions {
        let id = ids.of(&region.path);
        let name = region.path.join("/");
        regions.insert(id.clone(), json!([[0.0, region.seconds, 0, 0, 0, name]]));
        if let Some(joules) = region.joules {
            energies.insert(id, joules.into());
        }
    }
    let mut found = json!({ "start_time": 0.0, "stop_time": run.seconds });
    if !regions.is_empty() {
        found["regions"] = regions.into();
    }
    if !energies.is_empty() {
        found["rapl"] = energies.into();
    }
    found
}
