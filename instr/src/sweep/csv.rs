//! All runs of a sweep as lines of values separated by commas (RFC 4180): the columns of the frames that PaScal's own tools make, and more.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;

use super::record::{Record, Region, Run};

/// Writes a line for each run, and one for each of its regions.
pub(super) fn write(record: &Record, out: &mut dyn Write) -> Result<()> {
    let counters: BTreeSet<&str> = record
        .runs()
        .iter()
        .flat_map(|run| run.counted.counters.keys())
        .map(String::as_str)
        .collect();
    write!(
        out,
        "repetition,program,input,environment,placement,frequency_khz,smt,cores,region,executions,begin_ns,seconds,own_seconds,processor_seconds,resident_bytes,failure,joules,execution_min,execution_mean,execution_median,execution_p95,execution_max,execution_deviation"
    )?;
    for name in &counters {
        write!(out, ",{}", field(name))?;
    }
    writeln!(out)?;
    for run in record.runs() {
        line(run, None, &counters, out)?;
        run.regions
            .iter()
            .try_for_each(|region| line(run, Some(region), &counters, out))?;
    }
    Ok(())
}

fn line(
    run: &Run,
    region: Option<&Region>,
    counters: &BTreeSet<&str>,
    out: &mut dyn Write,
) -> Result<()> {
    let point = &run.point;
    let environment: Vec<String> = point
        .environment
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let text = |text: &Option<String>| field(text.as_deref().unwrap_or(""));
    let whole = |value: f64| {
        if region.is_none() {
            value.to_string()
        } else {
            String::new()
        }
    };
    let joules = match region {
        None => run.energy.map(|energy| energy.joules),
        Some(region) => region.joules,
    };
    let executions = region.and_then(|region| region.executions);
    let executions = executions.map_or([None; 6], |it| {
        [it.min, it.mean, it.median, it.p95, it.max, it.deviation].map(Some)
    });
    write!(
        out,
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
        run.repeat,
        text(&point.program),
        text(&point.input),
        field(&environment.join(" ")),
        point.placement.map_or("", |placement| placement.word()),
        point
            .frequency_khz
            .map_or_else(String::new, |khz| khz.to_string()),
        point.smt.map_or("", |smt| smt.word()),
        point.threads,
        field(&region.map_or_else(String::new, |region| region.path.join("/"))),
        region.map_or(1, |region| region.count),
        run.begin_ns,
        region.map_or(run.seconds, |region| region.seconds),
        region.map_or_else(String::new, |region| region.own_seconds.to_string()),
        whole(run.user_seconds + run.system_seconds),
        if region.is_none() {
            run.resident_bytes.to_string()
        } else {
            String::new()
        },
        text(&run.failure),
        joules.map_or_else(String::new, |joules| joules.to_string()),
        executions
            .map(|it| it.map_or_else(String::new, |it| it.to_string()))
            .join(","),
    )?;
    let counted = region.map_or(&run.counted.counters, |region| &region.counters);
    for name in counters {
        match counted.get(*name) {
            Some(count) => write!(out, ",{count}")?,
            None => write!(out, ",")?,
        }
    }
    Ok(writeln!(out)?)
}

fn field(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
