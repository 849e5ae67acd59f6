//! Runs of a file of PaScal Analyzer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use instr_analysis::executions::Durations;
use serde_json::{Value, json};

use super::super::axes::Input;
use super::super::config::Config;
use super::super::plan::Point;
use super::super::record::Record;
use super::super::run::{Counted, Energy, Executions, Region, Run};
use super::energy::{Interval, energies};
use crate::quote::shown;
use crate::summary::units::elide;

/// Larger files are refused.
const MAX_BYTES: u64 = 1 << 30;
/// More levels than this are damage.
const DEEPEST: usize = 64;

/// Reads a file of PaScal Analyzer.
///
/// # Errors
///
/// A file that cannot be read or is none, with the key of the run that is wrong.
pub(in super::super) fn read(file: &Path) -> Result<Record> {
    let refused = || format!("cannot read {} as a file of PaScal Analyzer", shown(file));
    let opened = std::fs::File::open(file).with_context(refused)?;
    let bytes = opened.metadata().with_context(refused)?.len();
    ensure!(bytes <= MAX_BYTES, "{}: it is larger than 1 GiB", refused());
    let document: Value =
        serde_json::from_reader(std::io::BufReader::new(opened)).with_context(refused)?;
    of_document(&document)
        .with_context(refused)
        .map(|(config, runs)| Record::imported(file, config, runs))
}

pub(super) fn of_document(document: &Value) -> Result<(Config, Vec<Run>)> {
    let about = &document["config"];
    let Some(data) = document["data"].as_object() else {
        bail!("it has no `data`");
    };
    let texts = |value: &Value| -> Vec<String> {
        let words = value.as_array().into_iter().flatten();
        words
            .map(|word| {
                word.as_str()
                    .map_or_else(|| word.to_string(), str::to_owned)
            })
            .collect()
    };
    let mut keys = texts(&about["data_descriptor"]["keys"]);
    if keys.is_empty() {
        // Those of most files.
        keys = ["cores", "input", "repetitions"]
            .map(str::to_owned)
            .to_vec();
    }
    let arguments = texts(&about["arguments"]);
    let command = about["pkg"].as_str().or(about["command"].as_str());
    let mut config = Config {
        command: vec![command.unwrap_or("(unknown)").to_owned()],
        ..Config::default()
    };
    let mut runs = Vec::new();
    for (key, run) in data {
        let found =
            of_key(key, &keys, &arguments).and_then(|(point, repeat)| of_json(run, point, repeat));
        runs.push(found.with_context(|| format!("the run \"{key}\""))?);
    }
    ensure!(!runs.is_empty(), "it has no run");
    runs.sort_by(|a, b| (&a.point, a.repeat).cmp(&(&b.point, b.repeat)));
    let used: BTreeSet<&String> = runs
        .iter()
        .filter_map(|run| run.point.input.as_ref())
        .collect();
    config.threads = runs
        .iter()
        .map(|run| run.point.threads)
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    // In the file's order, which is that of their size.
    let known = arguments.iter().filter(|name| used.contains(name));
    let others = used
        .iter()
        .copied()
        .filter(|name| !arguments.contains(name));
    config.inputs = known
        .chain(others)
        .map(|name| Input::of_text(name))
        .collect();
    Ok((config, runs))
}

/// What a key says.
fn of_key(key: &str, names: &[String], arguments: &[String]) -> Result<(Point, u32)> {
    let parts: Vec<&str> = key.split(';').collect();
    ensure!(
        parts.len() == names.len(),
        "its key has {} parts, not {}: {}",
        parts.len(),
        names.len(),
        names.join(";")
    );
    let mut point = Point {
        program: None,
        input: None,
        environment: BTreeMap::new(),
        placement: None,
        frequency_khz: None,
        smt: None,
        threads: 0,
    };
    let mut repeat = 0;
    for (name, part) in names.iter().zip(parts) {
        let number = || part.trim().parse::<u32>().ok();
        match name.as_str() {
            "cores" | "threads" => {
                point.threads = number()
                    .filter(|number| *number > 0)
                    .context("its number of cores is none")?;
            }
            "repetitions" | "repetition" => {
                repeat = number()
                    .context("its repetition is no number")?
                    .saturating_sub(1);
            }
            "input" | "inputs" => {
                let named = number().and_then(|at| arguments.get(at as usize));
                point.input = Some(named.map_or(part, String::as_str).trim().to_owned());
            }
            "frequency" | "frequencies" | "freq" => {
                point.frequency_khz =
                    Some(part.trim().parse().context("its frequency is no number")?);
            }
            // Other actuators.
            _ => _ = point.environment.insert(name.clone(), part.to_owned()),
        }
    }
    ensure!(point.threads > 0, "its key has no number of cores");
    Ok((point, repeat))
}

fn interval(value: &Value) -> Result<Interval> {
    let time = |at: usize| {
        value[at]
            .as_f64()
            .filter(|time| time.is_finite() && time.abs() < 1e9)
    };
    let (Some(begin), Some(end)) = (time(0), time(1)) else {
        bail!("an interval has no start or no stop: {value}");
    };
    ensure!(end >= begin, "an interval stops before it starts: {value}");
    Ok((begin, end))
}

fn of_json(run: &Value, point: Point, repeat: u32) -> Result<Run> {
    let times = json!([run["start_time"], run["stop_time"]]);
    let (begin, end) = interval(&times)?;
    ensure!(end > begin, "it takes no time");
    let mut intervals: BTreeMap<Vec<u32>, Vec<Interval>> = BTreeMap::new();
    for (id, all) in run["regions"].as_object().into_iter().flatten() {
        let path: Option<Vec<u32>> = id.split('.').map(|part| part.parse().ok()).collect();
        let path = path.filter(|path| path.len() <= DEEPEST);
        let path = path.with_context(|| {
            format!(
                "the region \"{}\" is no number such as 1.2, or more than {DEEPEST} deep",
                elide(id, 40)
            )
        })?;
        let all = all.as_array().into_iter().flatten();
        let all: Result<Vec<Interval>> = all.map(interval).collect();
        intervals.insert(path, all.with_context(|| format!("the region \"{id}\""))?);
    }
    let energies = energies(run, &intervals, (begin, end))?;
    let regions = intervals.iter().map(|(path, own)| {
        // Those inside of it come behind it at once.
        let behind = intervals.range::<Vec<u32>, _>(path..);
        let inside = behind.take_while(|(other, _)| other.starts_with(path));
        let inside = inside.filter(|(other, _)| other.len() == path.len() + 1);
        let inside: Vec<Interval> = inside
            .flat_map(|(_, intervals)| intervals.iter().copied())
            .collect();
        let (seconds, below) = (union(own), union(&inside));
        let mut durations = Durations::default();
        own.iter()
            .for_each(|(begin, end)| durations.add(((end - begin) * 1e9) as u64));
        Region {
            path: (1..=path.len())
                .map(|depth| id(&path[..depth]))
                .collect::<Vec<_>>()
                .into(),
            count: own.len() as u64,
            seconds,
            own_seconds: (seconds - below).max(0.0),
            executions: Executions::of(&durations).map(Box::new),
            joules: energies.get(path).copied(),
            counters: BTreeMap::new(),
        }
    });
    Ok(Run {
        point,
        repeat,
        begin_ns: 0,
        seconds: end - begin,
        user_seconds: 0.0,
        system_seconds: 0.0,
        resident_bytes: None,
        energy: energies.get(&Vec::new()).map(|joules| Energy {
            joules: *joules,
            joules_are_modelled: false,
        }),
        failure: None,
        counted: Counted::default(),
        regions: regions.collect(),
    })
}

fn id(path: &[u32]) -> String {
    let parts: Vec<String> = path.iter().map(u32::to_string).collect();
    parts.join(".")
}

/// Time in at least one of the intervals, s.
fn union(intervals: &[Interval]) -> f64 {
    let mut sorted = intervals.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut total, mut until) = (0.0, f64::NEG_INFINITY);
    for (begin, end) in sorted {
        total += (end - begin.max(until)).max(0.0);
        until = end.max(until);
    }
    total
}
