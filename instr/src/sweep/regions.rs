//! The regions of one run, from its trace: of all its processes, by name.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use instr_analysis::executions::Durations;
use instr_analysis::region_times::{Counts, Intervals, Metered, What, measure, united};
use instr_trace::energy::PowerModel;
use instr_trace::model::{At, Mark, Sink, replay};
use instr_trace::names::{CodeRole, code_label};
use instr_trace::sensors::Definitions;
use instr_trace::{Names, Session};

use super::region_path::RegionPath;
use super::run::{Counted, Energy, Executions, Region};
use crate::cli::SymbolOptions;
use crate::quote::shown;
use crate::symbols::Symbols;

/// What lies between regions, by name.
const OUTSIDE: &str = "(outside)";

/// What a trace says.
#[derive(Debug)]
pub(super) struct Found {
    /// In which at least one of its processes ran, each from its first event to its last one, s.
    pub(super) seconds: f64,
    /// What the machine took in that time.
    pub(super) energy: Option<Energy>,
    /// What the threads of all processes counted.
    pub(super) counted: Counted,
    /// Regions, those around others first.
    pub(super) regions: Vec<Region>,
}

/// A region of all processes.
#[derive(Debug)]
struct Sum {
    order: usize,
    region: Region,
    times: Times,
    executions: Durations,
}

/// When processes were in a region, ns since the begin of the session; empty where there is one process.
#[derive(Debug, Default)]
struct Times {
    open: Intervals,
    /// In a region inside of it.
    below: Intervals,
}

impl Sum {
    /// Time in which several processes were in the region counts once, as that of several threads.
    fn unite(&mut self) {
        let open = measure(&united(std::mem::take(&mut self.times.open)));
        let below = measure(&united(std::mem::take(&mut self.times.below)));
        let own = open.saturating_sub(below) as f64 / 1e9;
        self.region.own_seconds = own;
        // What lies between regions is there while no process is in any.
        self.region.seconds = match self.region.path[..] == [OUTSIDE.to_owned()] {
            true => own,
            false => open as f64 / 1e9,
        };
    }
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

/// Reads the regions of a trace; `model`: of the chip that it is from, for want of meters.
///
/// # Errors
///
/// No trace, one that cannot be read, and one that lost events: times would be wrong.
pub(super) fn of(dir: &Path, model: Option<&PowerModel>) -> Result<Found> {
    ensure!(
        dir.join("metadata").is_file(),
        "it left no trace: build it with instr-cc, or see `instr run` for why"
    );
    let session = Session::open(&[dir]).with_context(|| format!("cannot read {}", shown(dir)))?;
    let mut all = BTreeMap::new();
    // Of the process that took longest: the others ran beside it.
    let (mut longest, mut energy) = (0, None);
    let mut counted = Counted::default();
    let has_several = session.traces().len() > 1;
    let mut spans = Vec::new();
    for (process, trace) in session.traces().iter().enumerate() {
        let symbols = Symbols::of(trace, &SymbolOptions::default());
        let mut sinks = (Metered::new(trace, model.cloned())?, Texts::default());
        if has_several {
            sinks.0.keep_intervals();
        }
        replay(trace, &mut sinks)?;
        ensure!(
            trace.discarded() == 0,
            "it lost {} events: a larger INSTR_BUFFER or a longer run helps",
            trace.discarded()
        );
        let (metered, texts) = sinks;
        let (found, energies) = metered.finish();
        let shift =
            |(begin, end): (u64, u64)| (session.time(process, begin), session.time(process, end));
        let shifted = |open: &Intervals| open.iter().copied().map(shift).collect::<Intervals>();
        spans.push(shift(found.span));
        if found.duration_ns() > longest {
            longest = found.duration_ns();
            energy = energies.as_ref().map(|energies| Energy {
                joules: energies.run.joules,
                joules_are_modelled: energies.is_modelled,
            });
        }
        let counters = Counters::of(Definitions::of(trace.metadata()), &found.counts);
        counters.add_to(&mut counted, &found.counts);
        let mut paths: Vec<Vec<String>> = Vec::with_capacity(found.nodes.len());
        for (at, node) in found.nodes.iter().enumerate() {
            let mut path = node
                .parent
                .map(|parent| paths[parent].clone())
                .unwrap_or_default();
            path.push(name(node.what, &symbols, &texts));
            paths.push(path.clone());
            let region = Region {
                path: path.into(),
                count: node.count,
                seconds: node.total_ns as f64 / 1e9,
                own_seconds: node.own_ns as f64 / 1e9,
                executions: None,
                joules: energies.as_ref().map(|it| it.nodes[at].joules),
                counters: counters.named(found.counts.nodes.get(at)),
            };
            let times = Times {
                open: shifted(&node.open),
                below: shifted(&node.open_below),
            };
            add(&mut all, region, times, &node.executions);
        }
        if !found.nodes.is_empty() {
            let outside = found.outside_ns as f64 / 1e9;
            let region = Region {
                path: vec![OUTSIDE.to_owned()].into(),
                count: 1,
                seconds: outside,
                own_seconds: outside,
                executions: None,
                joules: energies.as_ref().map(|it| it.outside.joules),
                counters: counters.named(Some(&found.counts.outside)),
            };
            let times = Times {
                open: vec![shift(found.span)],
                below: shifted(&found.open),
            };
            add(&mut all, region, times, &Durations::default());
        }
    }
    let seconds = measure(&united(spans)) as f64 / 1e9;
    ensure!(seconds > 0.0, "its trace has no events");
    let mut regions: Vec<Sum> = all.into_values().collect();
    if has_several {
        regions.iter_mut().for_each(Sum::unite);
    }
    regions.sort_by_key(|sum| sum.order);
    let finished = |sum: Sum| Region {
        executions: Executions::of(&sum.executions).map(Box::new),
        ..sum.region
    };
    Ok(Found {
        seconds,
        energy,
        counted,
        regions: regions.into_iter().map(finished).collect(),
    })
}

/// The counters of a trace that counted something.
struct Counters {
    /// Position and name.
    names: Vec<(usize, String)>,
    /// Name and reason of the others.
    missing: Vec<(String, String)>,
}

impl Counters {
    fn of(definitions: Definitions, counts: &Counts) -> Self {
        let named = definitions.counters.into_iter().map(|it| it.name);
        let (seen, unseen): (Vec<_>, Vec<_>) = named
            .enumerate()
            .partition(|(at, _)| counts.seen.get(*at) == Some(&true));
        let never = "the processor never counted it".to_owned();
        let unseen = unseen.into_iter().map(|(_, name)| (name, never.clone()));
        // Troubles are those of sensors too.
        let troubles = definitions.troubles.into_iter();
        let troubles = troubles.map(|trouble| (trouble.name, trouble.why));
        Self {
            names: seen,
            missing: unseen.chain(troubles).collect(),
        }
    }

    fn named(&self, values: Option<&Vec<u64>>) -> BTreeMap<String, u64> {
        let value = |(at, name): &(usize, String)| Some((name.clone(), *values?.get(*at)?));
        self.names.iter().filter_map(value).collect()
    }

    fn add_to(&self, counted: &mut Counted, counts: &Counts) {
        add_counts(&mut counted.counters, self.named(Some(&counts.run)));
        counted.counters_are_estimates |= counts.scaled;
        counted.not_counted.extend(self.missing.iter().cloned());
    }
}

fn add_counts(to: &mut BTreeMap<String, u64>, counts: BTreeMap<String, u64>) {
    for (name, count) in counts {
        let sum = to.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
}

/// Executions of processes that have the same region add up, and times are collected. What the machine took meanwhile does not: each has seen all of it.
fn add(all: &mut BTreeMap<RegionPath, Sum>, region: Region, times: Times, executions: &Durations) {
    let order = all.len();
    match all.entry(region.path.clone()) {
        Entry::Vacant(free) => {
            _ = free.insert(Sum {
                order,
                region,
                times,
                executions: executions.clone(),
            })
        }
        Entry::Occupied(mut known) => {
            let known = known.get_mut();
            known.executions.merge(executions);
            known.times.open.extend(times.open);
            known.times.below.extend(times.below);
            let sum = &mut known.region;
            sum.joules = match (sum.joules, region.joules) {
                (Some(a), Some(b)) => Some(a.max(b)),
                (one, other) => one.or(other),
            };
            add_counts(&mut sum.counters, region.counters);
            sum.count += region.count;
            // Two regions of one process that have the same name; those of several processes are united at the end.
            sum.seconds += region.seconds;
            sum.own_seconds += region.own_seconds;
        }
    }
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
