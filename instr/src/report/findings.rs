//! What cost most, as a list: the verdict of the summary, and the other losses that it has numbers for, the largest first.

use std::cmp::Reverse;

use instr_trace::model::Code;

use super::kernel_findings;
use super::timeline::Collected;
use super::timeline::longest::{Longest, What, Where};
use super::timeline::model::TaskGraph;
use crate::summary::load::model::RegionLoad;
use crate::summary::model::{Critical, ParallelRegion, Place, Summary};
use crate::summary::units::{count, counted, percent, size, time};
use crate::summary::{advice, first, notes};

/// A smaller share of the threads' time is not worth a sentence.
const LEAST: f64 = 0.01;
/// Findings of a process.
const MOST: usize = 12;

/// A sentence, what it is based on, and where to look.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Finding {
    /// As in the verdict.
    pub(super) kind: &'static str,
    /// It is the verdict.
    pub(super) first: bool,
    /// Of the threads' time, 0 to 1.
    pub(super) share: Option<f64>,
    pub(super) text: String,
    /// The region or task.
    pub(super) place: Option<String>,
    /// Names and values.
    pub(super) evidence: Vec<(&'static str, String)>,
    /// What people do about it; empty where nothing is to be done.
    pub(super) advice: String,
    /// Heading of `docs/reading.md`; empty where there is none.
    pub(super) reading: &'static str,
    /// The longest execution of what it is about.
    pub(super) at: Option<Where>,
    /// The task graph with the critical path that it is about.
    pub(super) graph: Option<usize>,
}

impl Finding {
    /// The share, for people; nothing where there is none.
    pub(super) fn shown(&self) -> Option<String> {
        let share = self.share.filter(|_| self.kind != "healthy");
        share.map(percent)
    }
}

/// The findings of one process, whose number in the session is `process`.
pub(super) fn of(summary: &Summary, process: usize, collected: &Collected) -> Vec<Finding> {
    if summary.is_only_processors() {
        return kernel_findings::of(summary, process, &collected.longest);
    }
    let context = Context {
        summary,
        process,
        longest: &collected.longest,
        capacity: summary.capacity_ns().max(1) as f64,
    };
    let verdict = context.verdict();
    let mut others: Vec<Finding> = Vec::new();
    others.extend(context.serial());
    others.extend(summary.parallel_regions.iter().flat_map(|region| {
        let load = region.load.as_ref();
        load.into_iter()
            .flat_map(|load| context.region(region, load))
    }));
    others.extend(
        summary
            .criticals
            .iter()
            .filter_map(|lock| context.lock(lock)),
    );
    others.retain(|other| {
        let repeats = |verdict: &Finding| {
            verdict.kind == other.kind && (verdict.place.is_none() || verdict.place == other.place)
        };
        !verdict.as_ref().is_some_and(repeats)
    });
    let per_million = |finding: &Finding| (finding.share.unwrap_or(0.0) * 1e6) as u64;
    others.sort_by_key(|finding| Reverse(per_million(finding)));
    let mut all: Vec<_> = verdict.into_iter().chain(others).take(MOST).collect();
    all.extend(summary.remarks.iter().map(|text| context.remark(text)));
    all.extend(context.leak());
    for finding in &mut all {
        finding.graph = match finding.kind {
            "dependences" | "late tasks" => graph(process, finding, &collected.timeline.graphs),
            _ => None,
        };
    }
    all
}

/// The longest region of a process, or of the finding's place, whose critical path is in the page.
fn graph(process: usize, finding: &Finding, graphs: &[TaskGraph]) -> Option<usize> {
    let shown = |graph: &&TaskGraph| {
        graph.process == process && graph.path.is_some() && graph.tasks.is_some()
    };
    let own = |graph: &TaskGraph| {
        Some(first::place(&graph.region.label)) == finding.place || finding.place.is_none()
    };
    let found = graphs.iter().position(|graph| shown(&graph) && own(graph));
    found.or_else(|| graphs.iter().position(|graph| shown(&graph)))
}

/// The longest execution of a region.
pub(super) fn at_region(place: &Place, process: usize, longest: &Longest) -> Option<Where> {
    longest.of(process, What::Region(code(place)?))
}

/// What is missing from the trace, in the words of the summary.
pub(super) fn losses(summary: &Summary) -> Vec<String> {
    notes::losses(summary)
}

struct Context<'s> {
    summary: &'s Summary,
    process: usize,
    longest: &'s Longest,
    /// All of the threads' time, ns.
    capacity: f64,
}

pub(super) fn code(place: &Place) -> Option<Code> {
    Some(Code::new(place.address?, place.call_site))
}

impl Context<'_> {
    fn at(&self, what: What) -> Option<Where> {
        self.longest.of(self.process, what)
    }

    fn at_region(&self, place: &Place) -> Option<Where> {
        at_region(place, self.process, self.longest)
    }

    /// Where a label leads to.
    fn at_label(&self, label: &str) -> Option<Where> {
        let regions = self.summary.parallel_regions.iter();
        let region = regions
            .map(|region| &region.place)
            .find(|place| place.label == label);
        if let Some(place) = region {
            return self.at_region(place);
        }
        let tasks = self.summary.task_functions.iter();
        let mut tasks = tasks.map(|task| &task.place);
        let task = tasks.find(|place| place.label == label)?;
        self.at(What::Task(code(task)?))
    }

    /// Where a verdict without a place leads to.
    fn at_kind(&self, kind: &str) -> Option<Where> {
        let longest_region = || {
            let regions = self.summary.parallel_regions.iter();
            regions
                .filter_map(|region| self.at_region(&region.place))
                .max_by_key(Where::ns)
        };
        match kind {
            "serial" => self.at(What::Serial),
            "locks" => self.longest.lock(self.process, None),
            "barriers" | "waiting for tasks" => {
                let waits = self.longest.waits(self.process);
                waits.map(|(_, at)| at).max_by_key(Where::ns)
            }
            "healthy" | "sequential" => None,
            _ => longest_region(),
        }
    }

    fn finding(&self, kind: &'static str, ns: f64, text: String) -> Finding {
        let (advice, reading) = advice::of(kind, self.summary);
        Finding {
            kind,
            first: false,
            share: Some(ns / self.capacity),
            text,
            place: None,
            evidence: vec![("thread time lost", time(ns.round() as u64))],
            advice,
            reading,
            at: None,
            graph: None,
        }
    }

    fn verdict(&self) -> Option<Finding> {
        let verdict = self.summary.verdict.as_ref()?;
        let at = match &verdict.region {
            Some(label) => self.at_label(label),
            None => self.at_kind(verdict.kind),
        };
        let lost = (verdict.share * self.capacity).round() as u64;
        let mut evidence = Vec::new();
        if verdict.share > 0.0 && verdict.kind != "healthy" {
            evidence.push(("thread time lost", time(lost)));
        }
        if let Some(efficiency) = &self.summary.efficiency {
            let whole = percent(efficiency.parallel_efficiency);
            evidence.push(("parallel efficiency", whole));
        }
        Some(Finding {
            kind: verdict.kind,
            first: true,
            share: (verdict.share > 0.0).then_some(verdict.share),
            text: capitalized(&verdict.text),
            place: verdict.region.as_deref().map(first::place),
            evidence,
            advice: verdict.advice.clone(),
            reading: verdict.reading,
            at,
            graph: None,
        })
    }

    fn serial(&self) -> Option<Finding> {
        let efficiency = self.summary.efficiency.as_ref()?;
        let lost = (1.0 - efficiency.additive.serial_region_efficiency) * self.capacity;
        if lost < LEAST * self.capacity {
            return None;
        }
        let text = "Outside of parallel regions one thread works and the others wait".to_owned();
        let mut finding = self.finding("serial", lost, text);
        let outside = time(efficiency.elapsed_ns.saturating_sub(efficiency.parallel_ns));
        finding.evidence.push(("time outside of regions", outside));
        finding.at = self.at(What::Serial);
        Some(finding)
    }

    /// Imbalance of a region, and threads that begin it late.
    fn region(&self, region: &ParallelRegion, load: &RegionLoad) -> Vec<Finding> {
        let threads = load.threads as f64;
        let unbalanced = load.imbalance_loss_ns as f64 * threads;
        let late = load.starting_ns as f64;
        let mut found = Vec::new();
        let mut add = |kind, lost: f64, text: &str, evidence: [(&'static str, String); 3]| {
            if lost >= LEAST * self.capacity {
                let mut finding = self.finding(kind, lost, text.to_owned());
                finding.evidence.extend(evidence);
                finding.place = Some(first::place(&region.place.label));
                finding.at = self.at_region(&region.place);
                found.push(finding);
            }
        };
        let ratio = load
            .imbalance
            .map_or(String::new(), |ratio| format!("{ratio:.2}"));
        add(
            "imbalance",
            unbalanced,
            "Threads of a region wait for the one with the most work",
            [
                ("executions", count(region.times.count)),
                ("useful: longest / mean of its threads", ratio),
                ("threads", count(load.threads)),
            ],
        );
        add(
            "starting",
            late,
            "Threads begin their part of a region late",
            [
                ("executions", count(region.times.count)),
                ("one execution", time(region.times.mean_ns())),
                ("threads", count(load.threads)),
            ],
        );
        found
    }

    fn lock(&self, lock: &Critical) -> Option<Finding> {
        if (lock.wait_ns as f64) < LEAST * self.capacity {
            return None;
        }
        let name = match lock.name == lock.kind {
            true => lock.kind.to_owned(),
            false => format!("{} {}", lock.kind, lock.name),
        };
        let text = format!("Threads wait for each other: {name}");
        let mut finding = self.finding("locks", lock.wait_ns as f64, text);
        let longest = ("longest wait", time(lock.wait_max_ns));
        match lock.has_waits_only() {
            true => finding.evidence.extend([
                ("waits", count(lock.count)),
                longest,
                ("taken while free, held", "not recorded".to_owned()),
            ]),
            false => finding.evidence.extend([
                ("taken", counted(lock.count, "time")),
                ("of these, had to wait", count(lock.contended)),
                longest,
                ("held", time(lock.held_ns)),
            ]),
        }
        finding.at = self.longest.lock(self.process, Some(lock.kind));
        Some(finding)
    }

    fn remark(&self, text: &str) -> Finding {
        Finding {
            kind: "note",
            first: false,
            share: None,
            text: capitalized(text),
            place: None,
            evidence: Vec::new(),
            advice: String::new(),
            reading: "",
            at: None,
            graph: None,
        }
    }

    fn leak(&self) -> Option<Finding> {
        let memory = self.summary.memory.as_ref()?;
        if memory.live_blocks == 0 {
            return None;
        }
        let text = format!(
            "{} of memory were not freed at the end",
            counted(memory.live_blocks, "block")
        );
        Some(Finding {
            kind: "memory",
            evidence: vec![
                ("left", size(memory.live_bytes)),
                ("most in use", size(memory.live_high_water_bytes)),
            ],
            advice: "instr summary --leaks lists the calls that allocated them".to_owned(),
            ..self.remark(&text)
        })
    }
}

/// The text with a capital letter in front.
fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next();
    first.map_or(String::new(), |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
