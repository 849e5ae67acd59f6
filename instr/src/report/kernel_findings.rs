//! Findings about a program that recorded nothing itself: what the kernel's part says of its threads. Waits for processors come first: to be blocked may be
//! what a program is there for.

use instr_analysis::processors::Allocation;
use instr_analysis::processors::model::{Times, Who};

use super::findings::Finding;
use super::timeline::longest::{Longest, What};
use crate::processors::table::thread_count;
use crate::summary::model::Summary;
use crate::summary::units::{count, counted, percent, time};

/// A smaller share of the threads' time is not worth a sentence.
const LEAST: f64 = 0.01;
/// One processor at most was in use for this share of the time: programs could have run at the same time.
const ALONE: f64 = 0.5;

/// All times of all threads.
fn sum(found: &Allocation) -> Times {
    let mut sum = Times::default();
    found
        .applications
        .iter()
        .for_each(|one| sum.add(&one.times));
    sum
}

/// How long the threads lived together, ns.
fn lives(times: &Times) -> u64 {
    let parts = [
        times.on_processor_ns,
        times.ready_ns,
        times.blocked_ns,
        times.unknown_ns,
    ];
    parts.into_iter().fold(0, u64::saturating_add)
}

/// The bar of what the threads did; `None` where the program recorded more than that.
pub(super) fn shares(summary: &Summary) -> Option<(String, Vec<(&'static str, f64)>)> {
    let found = summary.core_allocation.as_ref()?;
    let times = sum(found);
    let whole = lives(&times);
    if !summary.is_only_processors() || whole == 0 {
        return None;
    }
    let share = |ns: u64| ns as f64 / whole as f64;
    let rows = vec![
        ("running", share(times.on_processor_ns)),
        ("ready", share(times.ready_ns)),
        ("blocked", share(times.blocked_ns)),
        ("unknown", share(times.unknown_ns)),
    ];
    let threads = counted(thread_count(found), "thread");
    Some((format!("the time of {threads}"), rows))
}

/// The findings of one process, whose number in the session is `process`.
pub(super) fn of(summary: &Summary, process: usize, longest: &Longest) -> Vec<Finding> {
    let Some(found) = &summary.core_allocation else {
        return Vec::new();
    };
    let times = sum(found);
    let whole = lives(&times).max(1) as f64;
    let mut all = Vec::new();
    let mut add = |kind, state, ns: u64, finding: Finding| {
        if ns as f64 >= LEAST * whole {
            let at = longest.of(process, What::Kernel(state));
            let mut finding = Finding {
                kind,
                share: Some(ns as f64 / whole),
                at,
                ..finding
            };
            finding.evidence.insert(0, ("threads' time", time(ns)));
            if let Some(at) = at {
                finding.evidence.push(("longest", time(at.ns())));
            }
            all.push(finding);
        }
    };
    add("ready", "ready", times.ready_ns, ready(found, &times));
    add("blocked", "blocked", times.blocked_ns, blocked(&times));
    if let Some(finding) = all.first_mut() {
        finding.first = true;
    }
    all.extend(in_use(found));
    all.extend((found.recorded != "sums").then(|| finding(
        "note",
        "The program recorded nothing itself: regions, tasks and waits are known of programs that instr-cc built, or that use POSIX threads",
    )));
    all
}

fn finding(kind: &'static str, text: &str) -> Finding {
    Finding {
        kind,
        first: false,
        share: None,
        text: text.to_owned(),
        place: None,
        evidence: Vec::new(),
        advice: String::new(),
        reading: "",
        at: None,
        graph: None,
    }
}

fn who(who: &Who) -> String {
    format!("{} {}", who.name, who.tid)
}

fn ready(found: &Allocation, times: &Times) -> Finding {
    let mut finding = finding(
        "ready",
        "Threads were ready to run, and no processor was free for them",
    );
    finding
        .evidence
        .push(("preempted", counted(times.involuntary, "time")));
    if let Some(pair) = found.interference.first() {
        let ran = pair.ran.as_ref();
        let ran = ran.map_or("others, or the kernel".to_owned(), who);
        let text = format!("{} while {ran} ran, {}", who(&pair.waited), time(pair.ns));
        finding.evidence.push(("most", text));
    }
    "run less at the same time, or where there are more processors; the table of processors says who took them from whom".clone_into(&mut finding.advice);
    finding.reading = "Other programs on the processors";
    finding
}

fn blocked(times: &Times) -> Finding {
    let mut finding = finding(
        "blocked",
        "Threads were blocked: they slept, or waited for input and output, for each other, or for programs that they started",
    );
    finding.evidence.push((
        "left the processor by themselves",
        counted(times.voluntary, "time"),
    ));
    "of a process that waits for its children nothing is lost; of others, find what they wait for, and do something else meanwhile".clone_into(&mut finding.advice);
    finding
}

/// Whether most of the time one processor at most was in use, though there are more.
fn in_use(found: &Allocation) -> Option<Finding> {
    let whole: u64 = found.in_use_ns.iter().sum();
    let alone: u64 = found.in_use_ns.iter().take(2).sum();
    let processors = found.processors.len() as u64;
    let share = alone as f64 / whole.max(1) as f64;
    if processors < 2 || whole == 0 || share < ALONE {
        return None;
    }
    let mut finding = finding(
        "one processor",
        "Most of the time one processor at most was in use",
    );
    let used = found.in_use_ns.iter().zip(0u64..);
    let mean = used
        .map(|(ns, number)| *ns as f64 * number as f64)
        .sum::<f64>()
        / whole as f64;
    finding.evidence = vec![
        ("of the time", percent(share)),
        (
            "in use on average",
            format!("{mean:.1} of {}", count(processors)),
        ),
    ];
    "run programs, or parts of one, at the same time".clone_into(&mut finding.advice);
    Some(finding)
}
