//! A run of a sweep with its regions, and the file with a line for each run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::num::NonZero;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use instr_analysis::executions::Durations;
use instr_cc::parallel;
use serde::{Deserialize, Serialize};

use super::axes::{Placement, Smt};
use super::plan::Point;
use super::region_path::RegionPath;
use crate::quote::shown;

/// No run takes longer than thirty years, s.
const MOST_SECONDS: f64 = 1e9;
/// No clock sees less, s.
const LEAST_SECONDS: f64 = 1e-9;
/// Longer lines are damage.
const MAX_LINE: u64 = 64 << 20;
/// Bytes of a file from which on a further thread helps to read it.
const PART: u64 = 4 << 20;

/// A run that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "Line")]
pub(super) struct Run {
    /// What was run.
    #[serde(flatten)]
    pub(super) point: Point,
    /// Number among the runs of the point, from 0.
    pub(super) repeat: u32,
    /// When it began, ns since 1970.
    pub(super) begin_ns: u64,
    /// From start to end, s.
    pub(super) seconds: f64,
    /// Processor time in user code, s.
    pub(super) user_seconds: f64,
    /// Processor time in the system, s.
    pub(super) system_seconds: f64,
    /// The largest resident set of a process, bytes; [`None`]: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) resident_bytes: Option<u64>,
    /// What the whole machine took meanwhile, where that is measured or modelled.
    #[serde(default, flatten)]
    pub(super) energy: Option<Energy>,
    /// What was counted in it.
    #[serde(default, flatten)]
    pub(super) counted: Counted,
    /// Why it does not count; [`None`]: it counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) failure: Option<String>,
    /// Its regions, where they are measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) regions: Vec<Region>,
}

/// Time of a region in one run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Region {
    /// Names from the outermost region to this one.
    pub(super) path: RegionPath,
    /// Executions.
    pub(super) count: u64,
    /// In which at least one thread was in it, s.
    pub(super) seconds: f64,
    /// The part of it outside of regions inside of it, s.
    pub(super) own_seconds: f64,
    /// How long single executions took, where their begins and ends are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) executions: Option<Box<Executions>>,
    /// What the machine took while a thread was in it, J.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) joules: Option<f64>,
    /// What its threads counted in it, by the event's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<String, u64>,
}

/// What was counted in a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Counted {
    /// All threads of all processes together, by the event's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) counters: BTreeMap<String, u64>,
    /// The processor counted some of them for a part of the time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) counters_are_estimates: bool,
    /// Events that were asked for and not counted, or not wholly, and why.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) not_counted: BTreeMap<String, String>,
}

/// Energy of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Energy {
    /// All of it, J.
    pub(super) joules: f64,
    /// By the power model of a chip, for want of meters.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) joules_are_modelled: bool,
}

/// Executions of a region in one run, s: exact but for 0.1 %.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Executions {
    pub(super) sum: f64,
    pub(super) min: f64,
    pub(super) mean: f64,
    pub(super) median: f64,
    /// The quantile 0.95: 95 of 100 are not longer.
    pub(super) p95: f64,
    pub(super) max: f64,
    /// Standard deviation, of the population.
    pub(super) deviation: f64,
}

impl Executions {
    /// Those of some durations; [`None`] of none.
    pub(super) fn of(durations: &Durations) -> Option<Self> {
        let quantile = |share| Some(durations.quantile_ns(share)? * 1e-9);
        let sum = durations.total_ns() as f64 * 1e-9;
        Some(Self {
            sum,
            min: quantile(0.0)?,
            mean: sum / durations.count() as f64,
            median: quantile(0.5)?,
            p95: quantile(0.95)?,
            max: quantile(1.0)?,
            deviation: durations.deviation_ns()? * 1e-9,
        })
    }
}

/// All fields of a line: what [`Run`] has in parts stands side by side there. (Serde would hold each value of a flattened structure twice.)
#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    program: Option<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    placement: Option<Placement>,
    #[serde(default)]
    frequency_khz: Option<u64>,
    #[serde(default)]
    smt: Option<Smt>,
    threads: u32,
    repeat: u32,
    begin_ns: u64,
    seconds: f64,
    user_seconds: f64,
    system_seconds: f64,
    /// Records of before have 0 for what is not known.
    #[serde(default)]
    resident_bytes: Option<u64>,
    #[serde(default)]
    joules: Option<f64>,
    #[serde(default)]
    joules_are_modelled: bool,
    #[serde(default)]
    counters: BTreeMap<String, u64>,
    #[serde(default)]
    counters_are_estimates: bool,
    #[serde(default)]
    not_counted: BTreeMap<String, String>,
    #[serde(default)]
    failure: Option<String>,
    #[serde(default)]
    regions: Vec<Region>,
}

impl From<Line> for Run {
    fn from(line: Line) -> Self {
        Self {
            point: Point {
                program: line.program,
                input: line.input,
                environment: line.environment,
                placement: line.placement,
                frequency_khz: line.frequency_khz,
                smt: line.smt,
                threads: line.threads,
            },
            repeat: line.repeat,
            begin_ns: line.begin_ns,
            seconds: line.seconds,
            user_seconds: line.user_seconds,
            system_seconds: line.system_seconds,
            resident_bytes: line.resident_bytes.filter(|bytes| *bytes > 0),
            energy: line.joules.map(|joules| Energy {
                joules,
                joules_are_modelled: line.joules_are_modelled,
            }),
            counted: Counted {
                counters: line.counters,
                counters_are_estimates: line.counters_are_estimates,
                not_counted: line.not_counted,
            },
            failure: line.failure,
            regions: line.regions,
        }
    }
}

/// What a file of runs has.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines {
    /// In the order of the lines.
    pub(super) runs: Vec<Run>,
    /// Lines that are no runs.
    pub(super) damaged: usize,
    /// Where its last complete line ends, bytes.
    pub(super) complete: u64,
}

/// Reads a file of runs, on as many threads as there are processors; one that is not there has none.
///
/// # Errors
///
/// What the system refuses.
pub(super) fn read(path: &Path) -> Result<Lines> {
    let cannot = || format!("cannot read {}", shown(path));
    let length = match std::fs::metadata(path) {
        Ok(file) if !file.is_file() => bail!("{}: it is not a file", cannot()),
        Ok(file) => file.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Lines::default()),
        Err(error) => return Err(error).with_context(cannot),
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get) as u64;
    in_parts(path, length, (length / PART).clamp(1, threads)).with_context(cannot)
}

/// The same in so many parts, on several threads: each has the lines that begin in it.
fn in_parts(path: &Path, length: u64, parts: u64) -> std::io::Result<Lines> {
    let border = |part: u64| match part == parts {
        true => u64::MAX,
        false => length / parts * part,
    };
    let borders: Vec<(u64, u64)> = (0..parts)
        .map(|part| (border(part), border(part + 1)))
        .collect();
    let found = parallel::map(&borders, 1, |(from, to)| lines(path, *from, *to));
    let mut all = Lines::default();
    for part in found {
        let part = part?;
        all.runs.extend(part.runs);
        all.damaged += part.damaged;
        all.complete = all.complete.max(part.complete);
    }
    Ok(all)
}

/// The lines of a file that begin at `from` or behind it, and before `to`.
fn lines(path: &Path, from: u64, to: u64) -> std::io::Result<Lines> {
    let mut file = BufReader::with_capacity(1 << 16, File::open(path)?);
    let mut at = from;
    if from > 0 {
        // The line that has the byte before belongs to the part before.
        file.seek(SeekFrom::Start(from - 1))?;
        at = from - 1 + file.skip_until(b'\n')? as u64;
    }
    let mut found = Lines::default();
    let mut line = Vec::new();
    while at < to {
        line.clear();
        let bytes = (&mut file).take(MAX_LINE).read_until(b'\n', &mut line)?;
        at += bytes as u64;
        if line.pop() != Some(b'\n') {
            found.damaged += usize::from(bytes as u64 == MAX_LINE);
            break;
        }
        found.complete = at;
        match serde_json::from_slice::<Run>(&line) {
            Ok(run) if is_possible(&run) => found.runs.push(run),
            _ => found.damaged += 1,
        }
    }
    Ok(found)
}

fn is_possible(run: &Run) -> bool {
    let is_time = |seconds: f64| (0.0..=MOST_SECONDS).contains(&seconds);
    let is_energy = |joules: Option<f64>| joules.is_none_or(|it| it.is_finite() && it >= 0.0);
    run.point.threads > 0
        && is_time(run.seconds)
        && run.seconds >= LEAST_SECONDS
        && is_time(run.user_seconds)
        && is_time(run.system_seconds)
        && is_energy(run.energy.map(|energy| energy.joules))
        && run.regions.iter().all(|region| {
            is_time(region.seconds) && is_time(region.own_seconds) && is_energy(region.joules)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However a file is cut into parts, each line is read once, in order.
    #[test]
    fn parts_of_a_file_have_its_lines() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runs.jsonl");
        let mut text = String::new();
        for at in 0..40 {
            let name = "x".repeat(at * 7 % 50);
            text += &format!(
                "{{\"threads\":1,\"repeat\":{at},\"begin_ns\":0,\"seconds\":1,\"user_seconds\":0,\"system_seconds\":0,\"resident_bytes\":0,\"input\":\"{name}\"}}\n"
            );
            if at % 9 == 0 {
                text += "damage\n\n";
            }
        }
        let complete = text.len() as u64;
        for end in ["", "{\"threads\":1"] {
            std::fs::write(&path, format!("{text}{end}")).unwrap();
            let length = complete + end.len() as u64;
            for parts in 1..60 {
                let found = in_parts(&path, length, parts).unwrap();
                let repeats: Vec<u32> = found.runs.iter().map(|run| run.repeat).collect();
                assert_eq!(repeats, (0..40).collect::<Vec<_>>(), "{parts} parts");
                assert_eq!((found.damaged, found.complete), (10, complete), "{parts}");
            }
        }
        assert_eq!(read(&dir.path().join("none")).unwrap(), Lines::default());
    }
}
