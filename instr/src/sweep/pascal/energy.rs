//! Energy of the runs and regions of a file of PaScal Analyzer.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use instr_trace::energy::{Meter, Quantity, Unions};
use serde_json::Value;

/// What begins with this has energies, or power, of something.
const POWER: [&str; 3] = ["rapl", "ipmi", "scontrol"];

/// A pair of times, s.
pub(super) type Interval = (f64, f64);

/// J of the run (the empty path) and of regions: what the file says, else by the power that it has samples of.
pub(super) fn energies(
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
