//! Who had how much of the heap, and of the energy: a bar beside each number.

use crate::summary::first;
use crate::summary::model::Summary;
use crate::summary::units::{count, size, time};

/// Rows of a panel.
const ROWS: usize = 40;

/// A panel of bars.
pub(in super::super) struct Bars {
    /// What it is called in the page: `heap` or `energy`.
    pub(in super::super) kind: &'static str,
    pub(in super::super) title: String,
    /// What a row is of.
    pub(in super::super) of: &'static str,
    pub(in super::super) note: String,
    /// What the bars and the marks on them are.
    pub(in super::super) legend: [&'static str; 2],
    /// Names of the columns behind the bar.
    pub(in super::super) columns: Vec<&'static str>,
    pub(in super::super) rows: Vec<Bar>,
    /// Rows for which there is no room.
    pub(in super::super) more: usize,
}

/// A row.
pub(in super::super) struct Bar {
    pub(in super::super) name: String,
    /// What kind it is, where there are several.
    pub(in super::super) tag: String,
    /// Length, in percent of the longest of the panel.
    pub(in super::super) width: f64,
    /// A part that is marked: from and width, in percent.
    pub(in super::super) mark: (f64, f64),
    /// The number as the summary has it.
    pub(in super::super) exact: String,
    pub(in super::super) cells: Vec<String>,
}

/// The panels of a process that have something in them.
pub(super) fn bars(summary: &Summary) -> Vec<Bars> {
    heap(summary).into_iter().chain(energy(summary)).collect()
}

/// A part of a whole, in percent.
fn part(value: f64, whole: f64) -> f64 {
    if whole > 0.0 {
        (value * 100.0 / whole).clamp(0.0, 100.0)
    } else {
        0.0
    }
}

/// By the call that got blocks: the most of them in use at any time, and what was left at the end.
fn heap(summary: &Summary) -> Option<Bars> {
    let memory = summary.memory.as_ref()?;
    let mut sites: Vec<_> = memory.sites.iter().collect();
    sites.sort_by_key(|site| std::cmp::Reverse(site.live_high_water_bytes));
    let most = sites.first()?.live_high_water_bytes as f64;
    let row = |site: &&crate::summary::memory::model::Site| Bar {
        name: first::place(&site.place.label),
        tag: String::new(),
        width: part(site.live_high_water_bytes as f64, most),
        mark: (0.0, part(site.live_bytes as f64, most)),
        exact: site.live_high_water_bytes.to_string(),
        cells: vec![
            size(site.live_high_water_bytes),
            size(site.live_bytes),
            size(site.allocated_bytes),
            count(site.allocations),
        ],
    };
    Some(Bars {
        kind: "heap",
        title: "Heap by function".to_owned(),
        of: "call",
        note: format!(
            "{} of all calls were in use at most, {} after the begin. The high-water marks of single calls are of different times.",
            size(memory.live_high_water_bytes),
            time(memory.live_high_water_ns)
        ),
        legend: ["most in use at any time", "not freed at the end"],
        columns: vec!["most in use", "left", "allocated", "blocks"],
        rows: sites.iter().take(ROWS).map(row).collect(),
        more: sites.len().saturating_sub(ROWS),
    })
}

/// By region: the energy while it was open, and what the readings leave uncertain.
fn energy(summary: &Summary) -> Option<Bars> {
    let mut regions: Vec<_> = summary.energy_regions.iter().collect();
    regions.sort_by(|a, b| b.joules.total_cmp(&a.joules));
    let longest = regions
        .iter()
        .map(|region| region.joules + region.error_joules.unwrap_or(0.0));
    let most = longest.fold(0.0, f64::max);
    let row = |region: &&crate::summary::sensors::model::RegionEnergy| {
        let error = region.error_joules.unwrap_or(0.0);
        let from = part(region.joules - error, most);
        Bar {
            name: first::place(&region.name),
            tag: format!("{}, {}", region.kind, region.source),
            width: part(region.joules, most),
            mark: (from, part(region.joules + error, most) - from),
            exact: region.joules.to_string(),
            cells: vec![
                format!("{:.3} J", region.joules),
                match region.error_joules {
                    Some(error) => format!("{error:.3} J"),
                    None => "unknown".to_owned(),
                },
                time(region.open_ns),
            ],
        }
    };
    if regions.is_empty() {
        return None;
    }
    let whole = summary.power.as_ref();
    Some(Bars {
        kind: "energy",
        title: "Energy by region".to_owned(),
        of: "region",
        note: format!(
            "{}Regions that are open at the same time have the same energy: they do not add up.",
            whole.map_or(String::new(), |power| format!(
                "The run took {:.3} J. ",
                power.joules
            ))
        ),
        legend: ["while the region was open", "uncertain"],
        columns: vec!["energy", "+/-", "open"],
        rows: regions.iter().take(ROWS).map(row).collect(),
        more: regions.len().saturating_sub(ROWS),
    })
}
