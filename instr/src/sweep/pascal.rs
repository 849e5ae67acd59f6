//! The file of PaScal Analyzer (da Silva et al. 2022, section 3.4 and listing 3): written, for its viewer and scripts, and read.
//!
//! ```json
//! {"config": {"pkg": "./app", "arguments": ["100", "200"], "data_descriptor": {"keys": ["cores", "input", "repetitions"], "values": ["start_time", "stop_time"],
//!    "extras": {"regions": {"values": ["start_time", "stop_time", "start_line", "stop_line", "thread_id", "filename"]}, "rapl": {"values": ["region_energy"]}}}},
//!  "data": {"4;0;1": {"start_time": 0.0, "stop_time": 2.5, "regions": {"1": [[0.5, 1.5, 0, 0, 0, "solve"]], "1.1": []}, "rapl": {"0": 50.0, "1": 20.0}}}}
//! ```
//!
//! A key is the number of cores, the number of the input from 0 (missing where there is one input), and the repetition from 1. Regions that are nested have numbers such as `1.2.3`.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, bail, ensure};
use instr_analysis::executions::Durations;
use instr_trace::energy::{Meter, Quantity, Unions};
use serde_json::{Map, Value, json};

use super::config::Config;
use super::plan::Point;
use super::record::Record;
use super::run::{Counted, Energy, Executions, Region, Run};
use crate::quote::shown;

/// Larger files are refused.
const MAX_BYTES: u64 = 1 << 30;
/// What begins with this has energies, or power, of something.
const POWER: [&str; 3] = ["rapl", "ipmi", "scontrol"];
/// More levels than this are damage.
const DEEPEST: usize = 64;

/// Whether a file's name says that it is one.
pub(super) fn is(file: &Path) -> bool {
    file.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// Writes the runs that count.
///
/// # Errors
///
/// Sweeps over something that the form has no place for, and failures to write.
pub(super) fn write(record: &Record, out: &mut dyn Write) -> Result<()> {
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

/// Reads a file of PaScal Analyzer.
///
/// # Errors
///
/// A file that cannot be read or is none, with the key of the run that is wrong.
pub(super) fn read(file: &Path) -> Result<Record> {
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

fn of_document(document: &Value) -> Result<(Config, Vec<Run>)> {
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
        .map(|name| super::axes::Input::of_text(name))
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

/// A pair of times, s.
type Interval = (f64, f64);

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
        let path = path.with_context(|| format!("the region \"{id}\" is no number such as 1.2"))?;
        let all = all.as_array().into_iter().flatten();
        let all: Result<Vec<Interval>> = all.map(interval).collect();
        intervals.insert(path, all.with_context(|| format!("the region \"{id}\""))?);
    }
    let energies = energies(run, &intervals, (begin, end))?;
    let regions = intervals.iter().map(|(path, own)| {
        let inside = intervals
            .iter()
            .filter(|(other, _)| other.len() == path.len() + 1 && other.starts_with(path));
        let inside: Vec<Interval> = inside
            .flat_map(|(_, intervals)| intervals.iter().copied())
            .collect();
        let (seconds, below) = (union(own), union(&inside));
        let mut durations = Durations::default();
        own.iter()
            .for_each(|(begin, end)| durations.add(((end - begin) * 1e9) as u64));
        Region {
            path: (1..=path.len()).map(|depth| id(&path[..depth])).collect(),
            count: own.len() as u64,
            seconds,
            own_seconds: (seconds - below).max(0.0),
            executions: Executions::of(&durations),
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
        resident_bytes: 0,
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

/// J of the run (the empty path) and of regions: what the file says, else by the power that it has samples of.
fn energies(
    run: &Value,
    regions: &BTreeMap<Vec<u32>, Vec<Interval>>,
    whole: Interval,
) -> Result<BTreeMap<Vec<u32>, f64>> {
    let is_power = |name: &str| POWER.iter().any(|prefix| name.starts_with(prefix));
    let mut found = BTreeMap::new();
    for (_, value) in run
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_power(name))
    {
        if let Some(joules) = value.as_f64() {
            found.entry(Vec::new()).or_insert(joules);
        }
        for (id, joules) in value.as_object().into_iter().flatten() {
            let path: Option<Vec<u32>> = id.split('.').map(|part| part.parse().ok()).collect();
            let path = match path {
                Some(path) if path == [0] && !regions.contains_key(&path) => Vec::new(),
                Some(path) => path,
                None => continue,
            };
            if let Some(joules) = joules.as_f64() {
                found.entry(path).or_insert(joules);
            }
        }
    }
    let samples = run["sensors"].as_object().into_iter().flatten();
    let Some((name, samples)) = samples
        .filter(|(name, _)| is_power(name))
        .find_map(|(name, value)| Some((name, value.as_array()?)))
    else {
        return Ok(found);
    };
    let read = samples
        .iter()
        .map(|pair| match (pair[0].as_f64(), pair[1].as_f64()) {
            (Some(watts), Some(time)) if watts.is_finite() && time.is_finite() => Ok((time, watts)),
            _ => bail!("a sample of {name} is no pair of power and time: {pair}"),
        });
    let readings: Vec<(f64, f64)> = read.collect::<Result<_>>()?;
    let mut paths = vec![Vec::new()];
    paths.extend(regions.keys().cloned());
    let of_run = [whole];
    let all = std::iter::once(&of_run[..]).chain(regions.values().map(Vec::as_slice));
    for (path, joules) in paths.into_iter().zip(sampled(&readings, all, whole.0)) {
        found.entry(path).or_insert(joules);
    }
    Ok(found)
}

/// Energy of regions by samples of power: times from `start` on.
fn sampled<'i>(
    readings: &[(f64, f64)],
    regions: impl Iterator<Item = &'i [Interval]>,
    start: f64,
) -> Vec<f64> {
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    enum What {
        Enter(usize),
        Read(usize),
        Leave(usize),
    }
    let ns = |time: f64| ((time - start).max(0.0) * 1e9) as u64;
    let mut events: Vec<(u64, What)> = (0..)
        .zip(readings)
        .map(|(at, (time, _))| (ns(*time), What::Read(at)))
        .collect();
    let mut count = 0;
    for (region, intervals) in regions.enumerate() {
        count = region + 1;
        for (begin, end) in intervals {
            events.push((ns(*begin), What::Enter(region)));
            events.push((ns(*end), What::Leave(region)));
        }
    }
    events.sort_unstable();
    // Power is held at the edges for as long as samples are apart.
    let gaps = readings
        .windows(2)
        .map(|pair| ns(pair[1].0).saturating_sub(ns(pair[0].0)));
    let (mut meter, mut unions) = (
        Meter::new(Quantity::Power, gaps.max().unwrap_or(0)),
        Unions::new(),
    );
    for (time, what) in events {
        match what {
            What::Enter(region) => unions.enter(region, time),
            What::Read(at) => meter.reading(time, readings[at].1, &unions),
            What::Leave(region) => {
                if let Some((begin, end)) = unions.leave(region, time) {
                    meter.piece(region, begin, end);
                }
            }
        }
    }
    let mut found: Vec<f64> = meter
        .finish()
        .into_iter()
        .map(|energy| energy.joules)
        .collect();
    found.resize(count, 0.0);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two inputs on one and two cores. Region 1 is on two threads, which overlap: 0.5 to 1.5 and 1 to 2; region 1.1 is inside of it. Power is 50 W, and 100 W from 1 s on, by samples before and behind the step.
    fn document() -> Value {
        let run = |seconds: f64| {
            json!({
                "start_time": 10.0,
                "stop_time": 10.0 + seconds,
                "regions": {
                    "1": [[10.5, 11.5, 3, 9, 0, "a.c"], [11.0, 12.0, 3, 9, 1, "a.c"]],
                    "1.1": [[10.5, 10.75, 5, 6, 0, "a.c"]],
                },
                "sensors": { "rapl_sample-sysfs": [[50.0, 10.0], [50.0, 10.999_999], [100.0, 11.0], [100.0, 12.0], [100.0, 14.0]] },
            })
        };
        let keys = ["cores", "input", "repetitions"];
        json!({
            "config": { "pkg": "./app", "arguments": ["small", "large"], "data_descriptor": { "keys": keys } },
            "data": { "1;0;1": run(4.0), "1;0;2": run(4.0), "2;0;1": run(2.0), "1;1;1": run(4.0) },
        })
    }

    #[test]
    fn regions_and_energy_of_a_file_are_known() {
        let (config, runs) = of_document(&document()).unwrap();
        assert_eq!(
            (config.command[0].as_str(), &config.threads[..]),
            ("./app", &[1, 2][..])
        );
        let names: Vec<&str> = config
            .inputs
            .iter()
            .map(|input| input.name.as_str())
            .collect();
        assert_eq!(names, ["small", "large"]);
        assert_eq!(runs.len(), 4);
        let run = runs.iter().find(|run| run.point.threads == 2).unwrap();
        assert_eq!(
            (run.point.input.as_deref(), run.repeat, run.seconds),
            (Some("small"), 0, 2.0)
        );
        let [outer, inner] = &run.regions[..] else {
            panic!("{:?}", run.regions)
        };
        assert_eq!((&outer.path[..], outer.count), (&["1".to_owned()][..], 2));
        assert!((outer.seconds - 1.5).abs() < 1e-9 && (outer.own_seconds - 1.25).abs() < 1e-9);
        assert_eq!(inner.path, ["1", "1.1"]);
        // A second at 50 W and one at 100; half a second and one of the region; a quarter.
        let close = |found: Option<f64>, expected: f64| {
            let found = found.unwrap();
            assert!(
                (found / expected - 1.0).abs() < 1e-4,
                "{found} J, not {expected}"
            );
        };
        close(run.energy.map(|energy| energy.joules), 150.0);
        close(outer.joules, 125.0);
        close(inner.joules, 12.5);
    }

    #[test]
    fn energies_that_a_file_says_are_taken() {
        let mut document = document();
        let run = &mut document["data"]["2;0;1"];
        run["rapl-sysfs"] = 160.0.into();
        run["rapl-package"] = json!({ "1": 77.0 });
        let (_, runs) = of_document(&document).unwrap();
        let run = runs.iter().find(|run| run.point.threads == 2).unwrap();
        assert_eq!(run.energy.map(|energy| energy.joules), Some(160.0));
        assert_eq!(run.regions[0].joules, Some(77.0));
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (config, runs) = of_document(&document()).unwrap();
        let record = Record::imported(Path::new("x.json"), config, runs);
        let mut out = Vec::new();
        write(&record, &mut out).unwrap();
        let written: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!(
            written["config"]["data_descriptor"]["extras"]["rapl"]["values"][0],
            "region_energy"
        );
        let (config, runs) = of_document(&written).unwrap();
        assert_eq!(config.inputs, record.config().inputs);
        for (run, before) in runs.iter().zip(record.runs()) {
            assert_eq!((&run.point, run.repeat), (&before.point, before.repeat));
            assert!((run.seconds - before.seconds).abs() < 1e-9);
            assert_eq!(run.energy, before.energy);
            assert_eq!(run.regions.len(), 2);
            assert!((run.regions[0].seconds - before.regions[0].seconds).abs() < 1e-9);
            assert_eq!(run.regions[1].joules, before.regions[1].joules);
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_run() {
        let cases: [(&str, Value, &str); 7] = [
            ("stop_time", json!(9.0), "stops before it starts"),
            ("stop_time", json!("x"), "no start or no stop"),
            ("start_time", json!(14.0), "takes no time"),
            ("regions", json!({ "a.b": [] }), "is no number such as 1.2"),
            (
                "regions",
                json!({ "1": [[2.0, 1.0]] }),
                "stops before it starts",
            ),
            ("regions", json!({ "1": [[2.0]] }), "no start or no stop"),
            (
                "sensors",
                json!({ "rapl": [[1.0]] }),
                "no pair of power and time",
            ),
        ];
        for (field, value, expected) in cases {
            let mut document = document();
            document["data"]["1;1;1"][field] = value;
            let error = format!("{:#}", of_document(&document).unwrap_err());
            assert!(
                error.contains("\"1;1;1\"") && error.contains(expected),
                "{error}"
            );
        }
        for key in ["1;0", "x;0;1", "0;0;1", "1;0;y", ""] {
            let mut document = document();
            let run = document["data"]["1;1;1"].clone();
            document["data"][key] = run;
            let error = format!("{:#}", of_document(&document).unwrap_err());
            assert!(error.contains(&format!("{key:?}")), "{key}: {error}");
        }
        assert!(of_document(&json!([])).is_err() && of_document(&json!({ "data": {} })).is_err());
    }
}
