//! Counters of runs without a trace: events of perf of the program and all that it starts. In traced runs the runtime counts, by thread and region.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::config::Measure;
use super::run::Counted;
use crate::series::counters::OfChildren;
use crate::series::events::Named;

/// As many as the runtime counts.
const MOST: usize = 16;
/// Counted by the system's own account of a thread, which only the runtime reads.
const SCHEDSTAT: [&str; 3] = ["schedstat-run", "schedstat-wait", "schedstat-slices"];

/// The names of a list; a comma between slashes is a part of a name.
fn names(list: &str) -> Vec<&str> {
    let mut is_inside = false;
    let parts = list.split(|c: char| {
        is_inside ^= c == '/';
        !is_inside && matches!(c, ',' | ' ')
    });
    parts.filter(|name| !name.is_empty()).collect()
}

/// Whether all names are ones that such runs can count; whether this machine does is seen when it runs.
///
/// # Errors
///
/// A name that is none, or is counted in traced runs alone.
pub(super) fn check(list: &str, measure: Measure) -> Result<()> {
    let names = names(list);
    ensure!(
        (1..=MOST).contains(&names.len()),
        "`counters` has {} names: it needs 1 to {MOST}",
        names.len()
    );
    for name in names {
        let (event, modifiers) = name.rsplit_once(':').unwrap_or((name, ""));
        let is_modified = !modifiers.is_empty() && modifiers.chars().all(|c| "uk".contains(c));
        let is_tracepoint = !modifiers.is_empty() && !is_modified;
        if let Err(known) = Named::of(if is_modified { event } else { name }) {
            ensure!(
                is_tracepoint || SCHEDSTAT.contains(&name),
                "no event is called `{name}`: there are {}",
                known.join(", ")
            );
        } else if !is_modified {
            continue;
        }
        if measure == Measure::Plain {
            bail!(
                "`{name}` is counted in traced runs alone: it needs `measure` to be regions or traces (--measure regions)"
            );
        }
    }
    Ok(())
}

/// What is counted.
#[derive(Debug)]
pub(super) struct Counters {
    events: Vec<Named>,
    sys: PathBuf,
}

impl Counters {
    /// The events of a list that [`check`] has seen; `sys`: the folder `/sys`.
    pub(super) fn new(list: &str, sys: &Path) -> Self {
        let events = names(list).into_iter();
        Self {
            events: events.filter_map(|name| Named::of(name).ok()).collect(),
            sys: sys.to_owned(),
        }
    }
}

/// Calls `run`; what the programs counted that this thread started meanwhile and that have ended.
pub(super) fn around<T>(counters: Option<&Counters>, run: impl FnOnce() -> T) -> (T, Counted) {
    let mut counted = Counted::default();
    let Some(counters) = counters else {
        return (run(), counted);
    };
    let mut refuse = |name: &str, why: &str| {
        counted.not_counted.insert(name.to_owned(), why.to_owned());
    };
    let open = OfChildren::open(&counters.events, &counters.sys, &mut refuse);
    let result = run();
    for count in open.read() {
        counted.counters_are_estimates |= count.is_estimate;
        counted.counters.insert(count.name, count.value);
    }
    (result, counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_and_names_checked() {
        assert_eq!(
            names("cycles, cpu/event=0x3c,umask=0/ r1a8"),
            ["cycles", "cpu/event=0x3c,umask=0/", "r1a8"]
        );
        let refused = |list: &str, measure| check(list, measure).unwrap_err().to_string();
        check("task-clock,page-faults,r01a8", Measure::Plain).unwrap();
        check(
            "cycles:u,schedstat-run,sched:sched_switch",
            Measure::Regions,
        )
        .unwrap();
        assert!(refused("cycels", Measure::Regions).contains("no event is called `cycels`"));
        assert!(refused("cycels:u", Measure::Regions).contains("no event is called"));
        assert!(refused("cycles:u", Measure::Plain).contains("traced runs alone"));
        assert!(refused(" , ", Measure::Plain).contains("0 names"));
        let many = vec!["cycles"; 17].join(",");
        assert!(refused(&many, Measure::Plain).contains("17 names"));
    }

    /// A child that sleeps has next to no processor time, one that works has what the clock says; both have page faults.
    #[test]
    fn children_are_counted_and_nothing_else() {
        let counters = Counters::new("task-clock,page-faults", Path::new("/sys"));
        let run = |script: &str| {
            let call = instr_cc::exec::Call::new("/bin/sh").args(["-c", script]);
            let (measured, counted) = around(Some(&counters), || call.measure(None, None, |_| {}));
            (measured.unwrap(), counted)
        };
        let (_, asleep) = run("sleep 0.2");
        if !asleep.not_counted.is_empty() {
            // The kernel may forbid it: then it says so for each.
            assert_eq!(asleep.not_counted.len(), 2);
            return;
        }
        let (measured, busy) = run("i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
        let own = (measured.user + measured.system).as_secs_f64();
        let clock = busy.counters["task-clock"] as f64 * 1e-9;
        assert!((clock / own - 1.0).abs() < 0.25, "{clock} s of {own} s");
        assert!(asleep.counters["task-clock"] < 100_000_000);
        assert!((20..100_000).contains(&busy.counters["page-faults"]));
    }
}
