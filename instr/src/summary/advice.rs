//! What people do about each kind of loss.

use super::model::Summary;

/// The kinds of [`super::model::Verdict`], with the heading of `docs/reading.md` that says more and what people do. `{processors}` stands for
/// as many threads as the process may use processors.
pub(super) const KINDS: &[(&str, &str, &str)] = &[
    ("healthy", "A healthy run", ""),
    (
        "oversubscribed",
        "More threads than processors",
        "run with at most {processors}, or where there are more processors",
    ),
    (
        "preempted",
        "Other programs on the processors",
        "run again where nothing else runs, or on processors of its own (taskset, a batch system)",
    ),
    (
        "sleeping",
        "Sleep in user code",
        "find the call that sleeps: INSTR_SAMPLING_PERIOD=1ms INSTR_SAMPLING_CLOCK=real, then instr summary --samples; read and write while others \
         compute",
    ),
    (
        "sequential",
        "One thread",
        "find where the time goes (INSTR_SAMPLING_PERIOD=1ms, then instr summary --samples), and make that parallel",
    ),
    (
        "serial",
        "Serial code",
        "find what runs there (INSTR_SAMPLING_PERIOD=1ms, then instr summary --samples), and make it parallel or shorter",
    ),
    (
        "imbalance",
        "Imbalance",
        "hand out smaller pieces: schedule(dynamic) or schedule(guided), tasks or taskloop",
    ),
    (
        "locks",
        "Critical sections and locks",
        "hold it for less time, use reduction or atomic instead, or several locks for parts of the data",
    ),
    (
        "waiting",
        "Waiting for other threads",
        "see which calls wait (instr summary --waiting), and hand work over earlier or in larger pieces",
    ),
    (
        "interpreter lock",
        "The interpreter's lock",
        "compute in processes (multiprocessing, concurrent.futures), or in code that gives the lock back meanwhile (numpy, extensions in C)",
    ),
    (
        "fine tasks",
        "Tasks that are too small",
        "make fewer and larger tasks: a cut-off (if or final clause), taskloop with grainsize, blocks of work",
    ),
    (
        "late tasks",
        "Tasks that are created too late",
        "let several threads create tasks (taskloop, tasks that create tasks), or create them before the long work",
    ),
    (
        "dependences",
        "A long chain of dependences",
        "shorten the longest chain: instr graph lists its tasks; split the ones that take long",
    ),
    (
        "starting",
        "Regions that begin late",
        "have fewer and longer regions, and keep the threads awake between them (OMP_WAIT_POLICY=active)",
    ),
    (
        "barriers",
        "Barriers inside of regions",
        "leave out barriers that are not needed (nowait), or join the loops between them",
    ),
    (
        "library",
        "Small chunks",
        "hand out larger chunks: schedule(dynamic, N) or schedule(guided); create fewer tasks",
    ),
    (
        "waiting for tasks",
        "Waiting for tasks",
        "create more tasks before the wait, or wait for less: depend clauses instead of taskwait",
    ),
    (
        "team size",
        "Regions with few threads",
        "look for num_threads clauses, OMP_THREAD_LIMIT, and nested regions (OMP_MAX_ACTIVE_LEVELS)",
    ),
    (
        "cut off",
        "A run that was cut off",
        "let it come to its end, or record where it is meanwhile: INSTR_SAMPLING_PERIOD=10ms, or events of your own (<instr/instr.h>)",
    ),
    ("scheduling", "Other losses", ""),
];

/// What people do about a kind, and the heading that says more.
pub(crate) fn of(kind: &str, summary: &Summary) -> (String, &'static str) {
    let found = KINDS.iter().find(|(name, ..)| *name == kind);
    let Some(&(_, reading, advice)) = found else {
        return (String::new(), "");
    };
    let usable = super::verdict::usable_processors(summary);
    let processors = match (usable, summary.efficiency.is_some()) {
        (Some(usable), true) => format!("OMP_NUM_THREADS={usable}"),
        (Some(usable), false) => super::units::counted(usable, "thread"),
        (None, _) => "as many threads as processors".to_owned(),
    };
    (advice.replace("{processors}", &processors), reading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_section_in_the_document() {
        let document = include_str!("../../../docs/reading.md");
        for (kind, heading, _) in KINDS {
            let section = format!("\n### {heading}\n");
            assert!(document.contains(&section), "{kind}: {heading}");
        }
        let sections = document.matches("\n### ").count();
        assert_eq!(sections, KINDS.len(), "a section without a kind");
    }
}
