//! All outputs of a trace agree: `instr summary`, `instr merge` and `instr graph` say of it what the event model says of it.
//!
//! What must be equal, and by which rules numbers differ:
//!
//! * A time line shows each begin of a span; the summary counts waits and tasks whose end was recorded, and regions whatever their end.
//! * A task that goes on elsewhere is shown once more in the time line, with all that is open in it, and is not executed once more.
//! * The graph gives a task when its outermost region ends. One that begins behind that, because events have changed places, was given
//!   as a task that did not run: a record that was given is not kept. The time line, which forgets as little of what comes, shows it.
//!   Arrows are not compared then.
//! * A region, or a region of the program's own, that is open in a task which is suspended and never resumed is shown and not counted.

mod facts;
mod graph;
mod outputs;
mod summary;
mod time_line;

use std::fmt::Debug;
use std::path::Path;

use instr_trace::model::State;
use serde_json::Value;

use crate::prv::check;

pub use outputs::Run;

/// Collects what is not equal.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn equal<T: PartialEq + Debug>(&mut self, what: &str, left: T, right: T) {
        if left != right {
            self.0.push(format!("{what}: {left:?} and {right:?}"));
        }
    }
}

/// Compares all outputs of a trace, which `run` writes; `sound`: nothing is missing in it.
///
/// # Errors
///
/// What differs, a line each.
pub fn compare(path: &Path, sound: bool, run: &Run<'_>) -> Result<(), String> {
    if instr_trace::Trace::open(path).is_err() {
        // Every command refuses it.
        let accepted = outputs::of(path, run).is_ok();
        return match accepted {
            true => Err("a refused trace is accepted".into()),
            false => Ok(()),
        };
    }
    let (facts, outputs) = (facts::of(path)?, outputs::of(path, run)?);
    let mut all = Differences::default();
    summary::summary(&mut all, &facts, &outputs.summary);
    summary::states(&mut all, &facts, &outputs.summary);
    graph::totals(&mut all, &outputs.summary, &outputs.graph);
    if let Some(prv) = &outputs.prv {
        time_line::times(&mut all, &facts, &outputs.summary, prv);
        time_line::scheduling(&mut all, &outputs.summary, prv);
        time_line::time_line(&mut all, &facts, prv);
        time_line::memory(&mut all, &facts, &outputs.summary, prv);
        graph::arrows(&mut all, &facts, &outputs.graph, prv);
        if let Err(why) = check::check(prv, check::Options::default()) {
            all.0.push(why);
        }
        if sound {
            time_line::in_order(&mut all, &facts, &outputs.graph, prv);
        }
    }
    match all.0.is_empty() {
        true => Ok(()),
        false => Err(all.0.join("\n  ")),
    }
}

fn int(value: &Value) -> u64 {
    value.as_u64().unwrap_or(0)
}

/// Sum of a field over a list.
fn sum(list: &Value, field: &str) -> u64 {
    let items = list.as_array().into_iter().flatten();
    items
        .map(|item| int(&item[field]))
        .fold(0, u64::saturating_add)
}

/// States of threads, their fields in the summary and numbers in the time line.
const STATES: [(State, &str, u32); 5] = [
    (State::Useful, "useful_ns", 1),
    (State::Synchronization, "sync_ns", 5),
    (State::Scheduling, "sched_ns", 7),
    (State::Idle, "idle_ns", 0),
    (State::Flush, "flush_ns", 24),
];
