//! The constructs of OpenMP that the conformance programs stand for, in the order of the support matrix.

/// A part of the matrix: its heading and its rows.
pub type Part = (&'static str, &'static [&'static str]);

/// Every row has a program that names it in its `Construct` directive, or stands in [`WITHOUT`].
pub const CONSTRUCTS: [Part; 7] = [
    (
        "Parallel regions",
        &[
            "parallel",
            "proc_bind, num_threads",
            "nested regions",
            "parallel regions of the program's own threads",
            "combined constructs",
            "GCC before 4.9: `_start`, `_end`",
            "other entry points of GCC 4 to 16",
            "host teams",
            "distribute",
            "masked, master",
            "threadprivate, copyin",
            "getters called by the program",
            "C++ exceptions",
        ],
    ),
    (
        "Work sharing",
        &[
            "loop, static",
            "loop, dynamic",
            "loop, guided",
            "loop, runtime",
            "loop, monotonic, nonmonotonic",
            "loop, collapse",
            "loop, unsigned 64 bits",
            "loop, ordered",
            "loop, doacross",
            "loop, simd",
            "loop construct",
            "loops over C++ iterators",
            "sections",
            "single",
            "single copyprivate",
            "scope",
            "workshare",
            "lastprivate(conditional)",
        ],
    ),
    (
        "Reductions",
        &[
            "reduction",
            "reduction(inscan)",
            "reduction(task)",
            "task_reduction of a taskgroup",
            "reduction of a taskloop",
            "declare reduction",
        ],
    ),
    (
        "Synchronization",
        &[
            "barrier",
            "critical",
            "atomic",
            "locks",
            "nest locks",
            "locks with hints",
            "taskwait",
            "taskwait depend",
            "taskwait depend nowait",
            "taskgroup",
            "taskyield",
        ],
    ),
    (
        "Tasks",
        &[
            "task",
            "if(0)",
            "final",
            "untied",
            "mergeable",
            "priority",
            "detach, omp_fulfill_event",
            "data of tasks",
            "taskloop",
            "taskloop, unsigned 64 bits",
            "taskloop, strict",
            "depend(in, out, inout)",
            "depend(mutexinoutset)",
            "depend(inoutset)",
            "depend(iterator)",
            "depend(depobj)",
            "depend with if(0)",
            "omp_all_memory",
        ],
    ),
    (
        "Cancellation",
        &[
            "cancel parallel",
            "cancel for",
            "cancel sections",
            "cancel taskgroup",
            "cancellation switched off",
        ],
    ),
    (
        "Devices, memory, others",
        &[
            "target",
            "target data, update, enter and exit data",
            "target nowait, depend",
            "threads that libomp keeps for itself",
            "omp_alloc family",
            "allocate clause",
            "error directive",
        ],
    ),
];

/// Rows without a program here, and why.
pub const WITHOUT: [(&str, &str); 2] = [
    (
        "depend(inoutset)",
        "recorded and analysed (the random task graphs hold it), but neither libgomp 12 nor clang 14 has it",
    ),
    (
        "taskwait depend nowait",
        "described ahead (GCC 14); libgomp 12 has no such entry point, clang 14 refuses the clause",
    ),
];
