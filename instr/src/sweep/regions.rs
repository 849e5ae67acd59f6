//! The regions of one run, from its trace: of all its processes, by name.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use instr_analysis::region_times::{Collector, What};
use instr_trace::model::{At, Mark, Sink, replay};
use instr_trace::names::{CodeRole, code_label};
use instr_trace::{Names, Session};

use super::record::Region;
use crate::cli::SymbolOptions;
use crate::quote::shown;
use crate::symbols::Symbols;

/// What lies between regions, by name.
const OUTSIDE: &str = "(outside)";

/// What a trace says.
#[derive(Debug)]
pub(super) struct Found {
    /// From the first event to the last one of the process that took longest, s.
    pub(super) seconds: f64,
    /// Regions, those around others first.
    pub(super) regions: Vec<Region>,
}

/// Texts behind addresses.
#[derive(Debug, Default)]
struct Texts(BTreeMap<u64, String>);

impl Sink for Texts {
    const TASK_CODES: bool = false;
    const STATES: bool = false;
    const TIMES: bool = false;

    fn mark(&mut self, _at: At, mark: Mark<'_>) {
        if let Mark::Text { address, text } = mark {
            self.0
                .insert(address, String::from_utf8_lossy(text).into_owned());
        }
    }
}

/// Reads the regions of a trace.
///
/// # Errors
///
/// No trace, one that cannot be read, and one that lost events: times would be wrong.
pub(super) fn of(dir: &Path) -> Result<Found> {
    ensure!(
        dir.join("metadata").is_file(),
        "it left no trace: build it with instr-cc, or see `instr run` for why"
    );
    let session = Session::open(&[dir]).with_context(|| format!("cannot read {}", shown(dir)))?;
    let mut all: BTreeMap<Vec<String>, (usize, Region)> = BTreeMap::new();
    let mut seconds = 0.0_f64;
    for trace in session.traces() {
        let symbols = Symbols::of(trace, &SymbolOptions::default());
        let mut sinks = (Collector::new(trace.threads().len()), Texts::default());
        replay(trace, &mut sinks)?;
        ensure!(
            trace.discarded() == 0,
            "it lost {} events: a larger INSTR_BUFFER or a longer run helps",
            trace.discarded()
        );
        let (collector, texts) = sinks;
        let found = collector.finish();
        seconds = seconds.max(found.duration_ns as f64 / 1e9);
        let mut paths: Vec<Vec<String>> = Vec::with_capacity(found.nodes.len());
        for node in &found.nodes {
            let mut path = node
                .parent
                .map(|parent| paths[parent].clone())
                .unwrap_or_default();
            path.push(name(node.what, &symbols, &texts));
            paths.push(path.clone());
            let region = Region {
                path,
                count: node.count,
                seconds: node.total_ns as f64 / 1e9,
                own_seconds: node.own_ns as f64 / 1e9,
            };
            add(&mut all, region);
        }
        if !found.nodes.is_empty() {
            let outside = found.outside_ns as f64 / 1e9;
            add(
                &mut all,
                Region {
                    path: vec![OUTSIDE.to_owned()],
                    count: 1,
                    seconds: outside,
                    own_seconds: outside,
                },
            );
        }
    }
    ensure!(seconds > 0.0, "its trace has no events");
    let mut regions: Vec<(usize, Region)> = all.into_values().collect();
    regions.sort_by_key(|(order, _)| *order);
    Ok(Found {
        seconds,
        regions: regions.into_iter().map(|(_, region)| region).collect(),
    })
}

/// Processes that have the same region add up.
fn add(all: &mut BTreeMap<Vec<String>, (usize, Region)>, region: Region) {
    let order = all.len();
    let known = all.entry(region.path.clone()).or_insert_with(|| {
        (
            order,
            Region {
                count: 0,
                seconds: 0.0,
                own_seconds: 0.0,
                ..region.clone()
            },
        )
    });
    known.1.count += region.count;
    known.1.seconds += region.seconds;
    known.1.own_seconds += region.own_seconds;
}

fn name(what: What, symbols: &dyn Names, texts: &Texts) -> String {
    match what {
        What::Parallel(code) => code_label(symbols, code, CodeRole::Parallel),
        What::User(address) => texts
            .0
            .get(&address)
            .cloned()
            .unwrap_or_else(|| format!("{address:#x}")),
    }
}
