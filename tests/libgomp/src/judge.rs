//! Looks at a trace: our reader opens it, nothing is lost or cut, babeltrace2 reads it without a warning, and the Paraver files made
//! of it pass the checker that shares nothing with the code that writes them (all constructs closed and nested).

use std::path::Path;
use std::time::Duration;

use instr_tests::cases;
use instr_tests::prv;
use instr_tests::toolchain::need;
use serde_json::Value;

use crate::process::{Call, End};

/// Traces larger than this many bytes are opened by `instr summary` only. The checker of Paraver files holds all records, and a
/// program whose 2²⁴ tasks make 2 GB would take the other readers minutes.
const LIMIT_OF_OTHERS: u64 = 48 << 20;

/// Time for one reader.
const LIMIT: Duration = Duration::from_secs(300);

/// How a run ended, as far as its trace is concerned.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// It left in the regular way; if not, constructs may be open and the trace is not closed.
    pub regular: bool,
    /// Constructs may be open at the end all the same.
    pub open: bool,
}

/// What a sound trace holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Content {
    /// Events of all threads and processes.
    pub events: u64,
    /// Whether all readers looked at it; a very large trace is opened by `instr summary` only.
    pub whole: bool,
}

/// Proves a trace right.
///
/// # Errors
///
/// What is wrong with it.
pub fn judge(trace: &Path, ending: Ending) -> Result<Content, String> {
    if !trace.join("metadata").is_file() {
        return Err("there is no trace".into());
    }
    let summary = cases::summary(trace).map_err(|why| why.to_string())?;
    process(&summary, ending)?;
    let small = size(trace) <= LIMIT_OF_OTHERS;
    if small {
        babeltrace(trace)?;
        let open = ending.open || !ending.regular;
        cases::paraver(trace, prv::check::Options { open }).map_err(|why| why.to_string())?;
    }
    Ok(Content {
        events: events(&summary),
        whole: small,
    })
}

/// What must hold of the summary of a process and of its forked children.
fn process(summary: &Value, ending: Ending) -> Result<(), String> {
    let what = summary["directory"].as_str().unwrap_or("?");
    for field in ["discarded", "truncated_streams"] {
        if summary[field].as_u64() != Some(0) {
            return Err(format!("summary of {what}: {field} is {}", summary[field]));
        }
    }
    let forked = summary["forked"].as_bool() == Some(true);
    if ending.regular && !forked && summary["closed"].as_bool() != Some(true) {
        return Err(format!("summary of {what}: the trace was not closed"));
    }
    let duration = summary["duration_ns"]
        .as_u64()
        .ok_or("summary: no duration_ns")?;
    for thread in array(&summary["threads"]) {
        let parts = ["useful_ns", "sync_ns", "sched_ns", "idle_ns", "flush_ns"];
        let parts: Option<Vec<u64>> = parts.iter().map(|part| thread[part].as_u64()).collect();
        let total: u64 = parts
            .ok_or("summary: a thread's times are no integers")?
            .iter()
            .sum();
        if total > duration {
            return Err(format!(
                "summary of {what}: {total} ns of a thread in {duration} ns: {thread}"
            ));
        }
    }
    array(&summary["children"])
        .iter()
        .try_for_each(|child| process(child, ending))
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn events(summary: &Value) -> u64 {
    let own = summary["events"].as_u64().unwrap_or(0);
    array(&summary["children"]).iter().map(events).sum::<u64>() + own
}

/// Size of all files in bytes.
fn size(dir: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return 0;
    };
    let sizes = entries.flatten().map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    });
    sizes.sum()
}

/// babeltrace2 reads every event and says nothing.
fn babeltrace(trace: &Path) -> Result<(), String> {
    if need("babeltrace2").is_err() {
        return Ok(());
    }
    let dir = trace.parent().unwrap_or(trace);
    let call = Call::new("babeltrace2", dir, LIMIT)
        .args(["--component", "sink.utils.dummy"])
        .arg(trace);
    let ended = call.run("babeltrace2").map_err(|why| why.to_string())?;
    if ended.end == End::SUCCESS && ended.output.is_empty() {
        return Ok(());
    }
    Err(format!("babeltrace2: {}\n{}", ended.end, ended.text()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn summary(discarded: u64, closed: bool, useful: u64) -> Value {
        let thread =
            json!({"useful_ns": useful, "sync_ns": 1, "sched_ns": 0, "idle_ns": 0, "flush_ns": 0});
        json!({"directory": "t", "discarded": discarded, "truncated_streams": 0, "closed": closed, "forked": false,
               "duration_ns": 10, "threads": [thread], "events": 4, "children": []})
    }

    const REGULAR: Ending = Ending {
        regular: true,
        open: false,
    };

    #[test]
    fn loss_and_impossible_times_are_noticed() {
        assert_eq!(process(&summary(0, true, 9), REGULAR), Ok(()));
        assert!(process(&summary(1, true, 9), REGULAR).is_err());
        assert!(process(&summary(0, true, 10), REGULAR).is_err());
        assert!(process(&summary(0, false, 9), REGULAR).is_err());
        let killed = Ending {
            regular: false,
            open: false,
        };
        assert_eq!(process(&summary(0, false, 9), killed), Ok(()));
        assert!(process(&json!({}), REGULAR).is_err());
    }

    #[test]
    fn children_are_looked_at_too() {
        let mut parent = summary(0, true, 1);
        parent["children"] = json!([summary(0, true, 1)]);
        assert_eq!((process(&parent, REGULAR), events(&parent)), (Ok(()), 8));
        parent["children"] = json!([summary(2, true, 1)]);
        assert!(process(&parent, REGULAR).is_err());
    }
}
