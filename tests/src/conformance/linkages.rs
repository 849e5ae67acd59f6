//! The same program linked by `instr-cc`, with its calls renamed by `instr-rewrite --redirect`, and as it is under `instr run` has as many events of each
//! kind: nothing is seen by one way alone.

use std::collections::BTreeMap;

use super::kept::Kept;
use crate::ctf::{self, Event};

/// Events whose number is another one in each run, and why.
const VARYING: [(&str, &str); 12] = [
    ("task_suspend", "who waits takes up another task, or none"),
    ("task_resume", "as task_suspend"),
    ("task_created", "told where the task did not run at once"),
    ("mutex_failed", "depends on who was first"),
    ("flush", "how much was written, and when"),
    ("clock_sync", "how long it took"),
    (
        "string",
        "texts that others refer to, once each in each stream",
    ),
    ("scheduled", "what the system did"),
    ("thread_time", "what the system did"),
    (
        "mem_heap",
        "of the size of the heap: programs that are linked by hand have the part that reads it",
    ),
    ("thread_switch", "what the system did"),
    ("processor", "what the system did"),
];

/// How many events there are of each kind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<String, i128>);

impl Counts {
    /// Counts `events`, without those that vary.
    #[must_use]
    pub fn of(events: &[Event]) -> Self {
        let mut counts: BTreeMap<String, i128> = BTreeMap::new();
        for (name, count) in ctf::counts(events) {
            if VARYING.iter().all(|(varying, _)| *varying != name) {
                counts.insert(name, count);
            }
        }
        // How often a thread asks before another one has cancelled is the machine's.
        let asked = events.iter().filter(|event| {
            event.name == "cancel"
                && event
                    .fields
                    .get("flags")
                    .is_some_and(|flags| flags & 2 == 0)
        });
        if let Some(all) = counts.get_mut("cancel") {
            *all -= asked.count() as i128;
        }
        // Locks and waits of POSIX inside of shared libraries, such as Fortran's, are seen by `instr run` alone.
        let mut without = |own: &str, of_all: &str| {
            let own = counts.remove(own).unwrap_or(0);
            if let Some(all) = counts.get_mut(of_all) {
                *all -= own;
            }
        };
        without("lock_taken", "mutex_released");
        without("wait", "sync_end");
        counts.retain(|_, count| *count != 0);
        Self(counts)
    }

    /// The kinds of events that differ but for those in `excepted`, a line each.
    #[must_use]
    pub fn differences(&self, other: &Self, excepted: &[&str]) -> Vec<String> {
        let names: std::collections::BTreeSet<_> = self.0.keys().chain(other.0.keys()).collect();
        let of = |counts: &Self, name: &String| counts.0.get(name).copied().unwrap_or(0);
        let told = names.into_iter().filter_map(|name| {
            let (one, two) = (of(self, name), of(other, name));
            let differs = one != two && !excepted.contains(&name.as_str());
            differs.then(|| format!("{name}: {one} and {two}"))
        });
        told.collect()
    }
}

/// [`Counts`] of the cases that ran.
pub static KEPT: Kept<Counts> = Kept::new();

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(names: &[&str]) -> Counts {
        let event = |name: &&str| Event {
            name: (*name).into(),
            stream: 0,
            fields: BTreeMap::new(),
            entries: Vec::new(),
        };
        Counts::of(&names.iter().map(event).collect::<Vec<_>>())
    }

    #[test]
    fn every_kind_is_compared_unless_it_varies_or_is_excepted() {
        let one = counts(&["single", "loop_begin", "flush"]);
        let two = counts(&["single", "single", "scope_begin"]);
        let told = one.differences(&two, &[]);
        assert_eq!(
            told,
            [
                "loop_begin: 1 and 0",
                "scope_begin: 0 and 1",
                "single: 1 and 2"
            ]
        );
        assert_eq!(
            two.differences(&one, &["single", "loop_begin"]),
            ["scope_begin: 1 and 0"]
        );
        assert!(one.differences(&one, &[]).is_empty());
    }
}
