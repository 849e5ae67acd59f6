//! The constructs that `constructs/*.c` can do.

/// One construct.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its name in the C program.
    pub(crate) name: &'static str,
    /// What one operation is.
    pub(crate) what: &'static str,
    /// Sizes of the team with which it makes sense.
    pub(crate) threads: &'static [u32],
}

const fn team(name: &'static str, what: &'static str) -> Case {
    Case {
        name,
        what,
        threads: &[1, 2],
    }
}

const fn alone(name: &'static str, what: &'static str) -> Case {
    Case {
        name,
        what,
        threads: &[1],
    }
}

/// All of them, in the order of the tables.
pub(crate) const CASES: [Case; 27] = [
    team("parallel", "`parallel`, empty"),
    team("barrier", "`barrier`"),
    team(
        "for_static",
        "`for schedule(static)`, one iteration a thread",
    ),
    team(
        "for_dynamic",
        "`for schedule(dynamic)`, one iteration a thread",
    ),
    team("for_dynamic_chunk", "a chunk of `for schedule(dynamic)`"),
    team(
        "for_guided",
        "`for schedule(guided)`, one iteration a thread",
    ),
    team(
        "ordered",
        "an iteration of `for ordered schedule(static, 1)`",
    ),
    team(
        "doacross",
        "an iteration of `for ordered(1)`, sink and source",
    ),
    team("sections", "`sections`, two of them"),
    team("single", "`single`"),
    alone("critical", "`critical`"),
    alone("critical_name", "`critical(name)`"),
    alone("atomic", "`atomic` on a `long double`"),
    alone("lock", "`omp_set_lock`, `omp_unset_lock`"),
    alone("nest_lock", "`omp_set_nest_lock`, `omp_unset_nest_lock`"),
    team("task", "`task`"),
    alone("task_depend", "`task depend`, one entry, a chain"),
    alone("task_depend3", "`task depend`, three entries, a chain"),
    alone("task_undeferred", "`task if(false)`"),
    team("taskloop", "a task of `taskloop`"),
    alone("taskwait", "`taskwait`, nothing to wait for"),
    alone("taskgroup", "`taskgroup`, empty"),
    alone("taskyield", "`taskyield`"),
    alone("cancellation_point", "`cancellation point`"),
    alone("thread_num", "`omp_get_thread_num`"),
    alone("user_event", "`instr_event`"),
    alone("user_region", "`instr_region_begin`, `instr_region_end`"),
];
