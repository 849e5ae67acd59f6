//! The states of `instr summary` against the events themselves: those of a thread fill its life without a gap or an overlap.

use std::collections::BTreeMap;
use std::path::Path;

use instr_trace::{Payload, Trace};
use serde_json::Value;

use crate::outcome::Check;

/// First and last event of each thread, ns; nothing counts behind a thread's `thread_end`.
#[derive(Debug, Default)]
pub struct Lives {
    spans: BTreeMap<u64, (u64, u64)>,
    ended: BTreeMap<u64, bool>,
}

impl Lives {
    /// Of all threads of a trace.
    ///
    /// # Errors
    ///
    /// When the trace cannot be read.
    pub fn of(trace: &Path) -> Check<Self> {
        let trace = Trace::open(trace)?;
        let mut lives = Self::default();
        let mut merge = trace.merge();
        while let Some(event) = merge.next()? {
            let ends = matches!(event.payload, Payload::ThreadEnd);
            lives.event(event.thread.into(), event.time, ends);
        }
        Ok(lives)
    }

    fn event(&mut self, thread: u64, time: u64, ends: bool) {
        let ended = self.ended.entry(thread).or_insert(false);
        if !*ended {
            let span = self.spans.entry(thread).or_insert((time, time));
            span.1 = span.1.max(time);
            *ended = ends;
        }
    }

    /// Says where the times of a summary are not those of the events: the five states of a thread are its life, and the run
    /// lasts from the first event of any thread to the last one.
    ///
    /// # Errors
    ///
    /// The first thing that differs.
    pub fn check(&self, summary: &Value) -> Result<(), String> {
        let threads = summary["threads"]
            .as_array()
            .ok_or("summary: threads is no array")?;
        if threads.len() < self.spans.len() {
            return Err(format!(
                "summary: {} threads, {} have events",
                threads.len(),
                self.spans.len()
            ));
        }
        for thread in threads {
            let number = |name: &str| {
                thread[name]
                    .as_u64()
                    .ok_or_else(|| format!("summary: thread's {name} is no unsigned integer"))
            };
            let states = ["useful_ns", "sync_ns", "sched_ns", "idle_ns", "flush_ns"].map(number);
            let mut total = 0;
            for state in states {
                total += state?;
            }
            let (first, last) = self
                .spans
                .get(&number("index")?)
                .copied()
                .unwrap_or_default();
            if total != last - first {
                let life = last - first;
                return Err(format!(
                    "summary: the states add up to {total} ns in a life of {life} ns: {thread}"
                ));
            }
        }
        let first = self.spans.values().map(|span| span.0).min();
        let last = self.spans.values().map(|span| span.1).max();
        let run = last.unwrap_or(0) - first.unwrap_or(0);
        if summary["duration_ns"] == run {
            Ok(())
        } else {
            let said = &summary["duration_ns"];
            Err(format!("summary: duration_ns is {said}, not {run}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_that_do_not_fill_a_life_are_noticed() {
        let mut lives = Lives::default();
        for (thread, time, ends) in [(0, 5, false), (0, 15, true), (0, 40, false), (1, 7, false)] {
            lives.event(thread, time, ends);
        }
        let summary = |useful: u64, duration: u64| {
            let thread = |index: u64, useful: u64| serde_json::json!({"index": index, "useful_ns": useful, "sync_ns": 1, "sched_ns": 0, "idle_ns": 0, "flush_ns": 0});
            let mut other = thread(1, 0);
            other["sync_ns"] = 0.into();
            serde_json::json!({"duration_ns": duration, "threads": [thread(0, useful), other]})
        };
        assert_eq!(lives.check(&summary(9, 10)), Ok(()));
        for (useful, duration) in [(8, 10), (10, 10), (9, 9), (9, 11)] {
            assert!(lives.check(&summary(useful, duration)).is_err());
        }
        let negative = serde_json::json!({"duration_ns": 10, "threads": [{"useful_ns": -1}, {}]});
        assert!(lives.check(&negative).is_err());
        let missing = serde_json::json!({"duration_ns": 10, "threads": []});
        assert!(lives.check(&missing).is_err());
    }
}
