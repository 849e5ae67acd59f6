//! Kinds and flags of events.

use crate::{Kind, Value};

const fn kind(
    rust: &'static str,
    c: &'static str,
    doc: &'static str,
    values: &'static [Value],
) -> Kind {
    Kind {
        rust,
        c,
        bits: false,
        doc,
        values,
    }
}

const fn flags(
    rust: &'static str,
    c: &'static str,
    doc: &'static str,
    values: &'static [Value],
) -> Kind {
    Kind {
        bits: true,
        ..kind(rust, c, doc, values)
    }
}

const fn value(number: u32, c: &'static str, rust: &'static str, doc: &'static str) -> Value {
    Value {
        number,
        c,
        rust,
        doc,
    }
}

/// All of them, in the order of the documents.
pub const KINDS: &[&Kind] = &[
    &THREAD_FLAGS,
    &PARALLEL_KIND,
    &SCHEDULE_KIND,
    &SCHEDULE_FLAGS,
    &SYNC_KIND,
    &MUTEX_KIND,
    &CANCEL_KIND,
    &CANCEL_FLAGS,
    &DOACROSS_KIND,
    &TASK_FLAGS,
    &DEPEND_KIND,
    &TARGET_KIND,
    &TARGET_FLAGS,
    &ALLOCATOR_KIND,
    &COUNTER_FLAGS,
    &BLOCK_KIND,
    &STACK_KIND,
    &SAMPLING_CLOCK,
    &SCHEDULED_KIND,
];

pub(crate) const THREAD_FLAGS: Kind = flags(
    "thread_flags",
    "INSTR_THREAD_",
    "What kind of thread a stream is of.",
    &[
        value(1, "INITIAL", "INITIAL", "The thread that runs `main`."),
        value(
            2,
            "OWN",
            "OWN",
            "A thread of the runtime's own, none of the program's.",
        ),
        value(
            4,
            "PROCESSOR",
            "PROCESSOR",
            "No thread but a processor, whose number stands for the thread id.",
        ),
    ],
);

/// The call site bit that stands in the same word is a bit of the field (`and_bit`).
pub(crate) const PARALLEL_KIND: Kind = kind(
    "ParallelKind",
    "INSTR_PARALLEL_",
    "What a parallel construct combines.",
    &[
        value(0, "REGION", "Region", "A plain `parallel`."),
        value(
            1,
            "LOOP",
            "Loop",
            "`parallel for` with a runtime call of its own.",
        ),
        value(2, "SECTIONS", "Sections", "`parallel sections`."),
        value(
            3,
            "TEAMS",
            "Teams",
            "`teams`: a league, with one implicit task for each initial thread.",
        ),
    ],
);

pub(crate) const SCHEDULE_KIND: Kind = kind(
    "ScheduleKind",
    "INSTR_LOOP_",
    "Schedule of a loop: the low byte of `schedule`.",
    &[
        value(0, "RUNTIME", "Runtime", "`runtime`."),
        value(1, "STATIC", "Static", "`static`."),
        value(2, "DYNAMIC", "Dynamic", "`dynamic`."),
        value(3, "GUIDED", "Guided", "`guided`."),
        value(4, "AUTO", "Auto", "`auto`."),
    ],
);

pub(crate) const SCHEDULE_FLAGS: Kind = flags(
    "schedule_flags",
    "INSTR_LOOP_",
    "Other bits of `schedule`.",
    &[
        value(
            0x100,
            "ORDERED",
            "ORDERED",
            "The loop has an `ordered` clause.",
        ),
        value(0x200, "MONOTONIC", "MONOTONIC", "The `monotonic` modifier."),
        value(
            0x400,
            "NONMONOTONIC",
            "NONMONOTONIC",
            "The `nonmonotonic` modifier.",
        ),
        value(
            0x800,
            "ULL",
            "UNSIGNED",
            "The bounds are unsigned 64-bit numbers.",
        ),
        value(
            0x1000,
            "DOACROSS",
            "DOACROSS",
            "`ordered(n)` with doacross dependences.",
        ),
        value(
            0x2000,
            "COMBINED",
            "COMBINED",
            "Combined with the parallel construct.",
        ),
        value(
            0x4000,
            "COUNTED",
            "COUNTED",
            "The bounds are not known: `end` is the number of iterations (`start` 0, `incr` 1, `chunk` 0).",
        ),
        value(
            0x8000,
            "DISTRIBUTE",
            "DISTRIBUTE",
            "A `distribute` construct.",
        ),
    ],
);

pub(crate) const SYNC_KIND: Kind = kind(
    "SyncKind",
    "INSTR_SYNC_",
    "What a thread waits for between `sync_begin` and `sync_end`.",
    &[
        value(1, "BARRIER", "ExplicitBarrier", "`#pragma omp barrier`."),
        value(
            2,
            "WORK_BARRIER",
            "ImplicitBarrier",
            "The barrier that ends a work-sharing construct.",
        ),
        value(3, "TASKWAIT", "Taskwait", "`taskwait`."),
        value(4, "TASKWAIT_DEPEND", "TaskwaitDepend", "`taskwait depend`."),
        value(5, "TASKGROUP", "TaskgroupEnd", "The end of a `taskgroup`."),
        value(6, "TASKYIELD", "Taskyield", "`taskyield`."),
        value(
            7,
            "COPYPRIVATE",
            "Copyprivate",
            "The wait of `copyprivate`.",
        ),
        value(
            8,
            "DOACROSS",
            "DoacrossSink",
            "`ordered depend(sink)` of a doacross loop.",
        ),
        value(9, "REDUCTION", "Reduction", "A reduction."),
        value(10, "TEAMS", "TeamsEnd", "The end of a league of teams."),
        value(11, "CONDITION", "Condition", "A condition variable."),
        value(
            12,
            "PTHREAD_BARRIER",
            "ThreadBarrier",
            "`pthread_barrier_wait`.",
        ),
        value(13, "SEMAPHORE", "Semaphore", "A semaphore."),
        value(14, "JOIN", "Join", "The end of another thread."),
        value(
            15,
            "ONCE",
            "Once",
            "`pthread_once`, where another thread runs the function, or up to its begin.",
        ),
        value(16, "FUTURE", "Future", "A value of C++'s `std::future`."),
        value(
            17,
            "INTERPRETER",
            "Interpreter",
            "The lock of a language's interpreter: the object is the system's number of the thread that has it, 0 where that is not known.",
        ),
    ],
);

pub(crate) const MUTEX_KIND: Kind = kind(
    "MutexKind",
    "INSTR_MUTEX_",
    "Kind of mutual exclusion.",
    &[
        value(1, "CRITICAL", "Critical", "The unnamed `critical`."),
        value(2, "CRITICAL_NAME", "NamedCritical", "A named `critical`."),
        value(3, "ATOMIC", "Atomic", "An atomic update that takes a lock."),
        value(4, "ORDERED", "Ordered", "An `ordered` block."),
        value(5, "LOCK", "Lock", "`omp_lock_t`."),
        value(6, "NEST_LOCK", "NestLock", "`omp_nest_lock_t`."),
        value(
            7,
            "PTHREAD",
            "Mutex",
            "`pthread_mutex_t`, `mtx_t`, `std::mutex`.",
        ),
        value(
            8,
            "READ",
            "ReadLock",
            "`pthread_rwlock_t` for reading. Given back: or for writing, which the call does not tell.",
        ),
        value(9, "WRITE", "WriteLock", "`pthread_rwlock_t` for writing."),
        value(10, "SPIN", "SpinLock", "`pthread_spinlock_t`."),
    ],
);

pub(crate) const CANCEL_KIND: Kind = kind(
    "CancelKind",
    "INSTR_CANCEL_",
    "The construct that is cancelled, in libgomp's numbers.",
    &[
        value(1, "PARALLEL", "Parallel", "`parallel`."),
        value(2, "LOOP", "Loop", "A loop."),
        value(4, "SECTIONS", "Sections", "`sections`."),
        value(8, "TASKGROUP", "Taskgroup", "`taskgroup`."),
    ],
);

pub(crate) const CANCEL_FLAGS: Kind = flags(
    "cancel_flags",
    "INSTR_CANCEL_",
    "What happened at a `cancel` construct or a `cancellation point`.",
    &[
        value(
            1,
            "ACTIVATED",
            "ACTIVATED",
            "A `cancel` construct whose if clause holds; else a `cancellation point`.",
        ),
        value(
            2,
            "DETECTED",
            "DETECTED",
            "Cancellation is active: the thread goes on at the end of the construct.",
        ),
        value(
            4,
            "DISCARDED_TASK",
            "DISCARDED_TASK",
            "A task that had not begun was discarded.",
        ),
    ],
);

pub(crate) const DOACROSS_KIND: Kind = kind(
    "DoacrossKind",
    "INSTR_DOACROSS_",
    "What is done to an iteration of a doacross loop.",
    &[
        value(
            1,
            "SOURCE",
            "Source",
            "It is posted: `ordered depend(source)`.",
        ),
        value(
            2,
            "SINK",
            "Sink",
            "It is waited for: `ordered depend(sink)`.",
        ),
    ],
);

pub(crate) const TASK_FLAGS: Kind = flags(
    "task_flags",
    "INSTR_TASK_FLAG_",
    "Bits of a task construct: those of libgomp's `GOMP_task`, and some of ours.",
    &[
        value(1, "UNTIED", "UNTIED", "`untied`."),
        value(2, "FINAL", "FINAL", "`final` holds."),
        value(4, "MERGEABLE", "MERGEABLE", "`mergeable`."),
        value(
            8,
            "DEPEND",
            "DEPEND",
            "The construct has a `depend` clause.",
        ),
        value(
            0x10,
            "PRIORITY",
            "PRIORITY",
            "The construct has a `priority` clause.",
        ),
        value(
            0x2000,
            "DETACH",
            "DETACH",
            "The construct has a `detach` clause.",
        ),
        value(
            0x8000,
            "IF_FALSE",
            "IF_FALSE",
            "The `if` clause was false: the task is undeferred.",
        ),
        value(0x10000, "TARGET", "TARGET", "A target task."),
        value(
            0x40000,
            "CALL_SITE",
            "CALL_SITE",
            "`function` is a return address into the creating function, not the outlined body.",
        ),
        value(
            0x80000,
            "UNDEFERRED",
            "UNDEFERRED",
            "The run-time library reports that the task is undeferred.",
        ),
    ],
);

pub(crate) const DEPEND_KIND: Kind = kind(
    "DependKind",
    "INSTR_DEPEND_",
    "Kind of one `depend` entry.",
    &[
        value(1, "IN", "In", "`in`."),
        value(
            2,
            "OUT",
            "Out",
            "`out` or `inout`, which libgomp does not tell apart.",
        ),
        value(4, "MUTEXINOUTSET", "MutexInOutSet", "`mutexinoutset`."),
        value(5, "INOUTSET", "InOutSet", "`inoutset`."),
        value(
            6,
            "ALL_MEMORY",
            "AllMemory",
            "`omp_all_memory`; the address means nothing.",
        ),
    ],
);

pub(crate) const TARGET_KIND: Kind = kind(
    "TargetKind",
    "INSTR_TARGET_",
    "Kind of a device construct.",
    &[
        value(0, "REGION", "Target", "`target`."),
        value(1, "DATA", "Data", "`target data`."),
        value(2, "DATA_END", "DataEnd", "The end of `target data`."),
        value(3, "UPDATE", "Update", "`target update`."),
        value(
            4,
            "ENTER_EXIT_DATA",
            "EnterExitData",
            "`target enter data` or `target exit data`.",
        ),
    ],
);

pub(crate) const TARGET_FLAGS: Kind = flags(
    "target_flags",
    "INSTR_TARGET_",
    "Bits of a device construct.",
    &[
        value(1, "NOWAIT", "NOWAIT", "`nowait`."),
        value(2, "EXIT_DATA", "EXIT_DATA", "`target exit data`."),
    ],
);

pub(crate) const ALLOCATOR_KIND: Kind = kind(
    "AllocatorKind",
    "INSTR_ALLOC_",
    "How memory of an OpenMP allocator is asked for.",
    &[
        value(1, "OMP", "Call", "The `omp_alloc` and `omp_free` family."),
        value(2, "CLAUSE", "Clause", "The `allocate` clause."),
    ],
);

pub(crate) const COUNTER_FLAGS: Kind = flags(
    "counter_flags",
    "INSTR_COUNTERS_",
    "What a reading of the counters of a thread is.",
    &[
        value(
            1,
            "SCALED",
            "SCALED",
            "Some event was counted part of the time, and its value scaled by enabled/running.",
        ),
        value(2, "LAST", "LAST", "The last reading of its thread."),
    ],
);

pub(crate) const BLOCK_KIND: Kind = kind(
    "BlockKind",
    "INSTR_MEM_",
    "The call that gets a block of the heap, or gives one back.",
    &[
        value(1, "MALLOC", "Malloc", "`malloc`, `free`."),
        value(2, "CALLOC", "Calloc", "`calloc`."),
        value(
            3,
            "REALLOC",
            "Realloc",
            "`realloc`, where it is known by its kind alone.",
        ),
        value(
            4,
            "ALIGNED",
            "Aligned",
            "`posix_memalign`, `aligned_alloc`, `memalign`.",
        ),
        value(5, "PAGES", "Pages", "`valloc`, `pvalloc`: whole pages."),
        value(6, "NEW", "New", "`new`, `delete`."),
        value(7, "NEW_ARRAY", "NewArray", "`new[]`, `delete[]`."),
    ],
);

pub(crate) const STACK_KIND: Kind = kind(
    "StackKind",
    "INSTR_STACK_",
    "What `mark` is.",
    &[
        value(
            1,
            "BOUNDS",
            "Bounds",
            "The stack pointer, at the thread's begin.",
        ),
        value(
            2,
            "TOUCHED",
            "Touched",
            "The lowest address that was used, at the thread's end.",
        ),
        value(
            3,
            "SEEN",
            "Seen",
            "The stack was used at least down to here: deeper than what is painted, or nothing but the stack pointers of events is known.",
        ),
    ],
);

pub(crate) const SAMPLING_CLOCK: Kind = kind(
    "SamplingClock",
    "INSTR_SAMPLING_",
    "The time that a period of samples is of.",
    &[
        value(
            1,
            "CPU",
            "Ticks",
            "Processor time of the thread, ended at the kernel's ticks.",
        ),
        value(2, "REAL", "Real", "Real time."),
        value(
            3,
            "TASK",
            "Exact",
            "Processor time of the thread, ended exactly.",
        ),
    ],
);

pub(crate) const SCHEDULED_KIND: Kind = kind(
    "ScheduledKind",
    "INSTR_SCHEDULED_",
    "What the system does with a thread.",
    &[
        value(
            1,
            "BLOCKED",
            "Blocked",
            "It left its processor: it sleeps, or waits for something. Some of the time it may have been ready, and waited for a processor.",
        ),
        value(
            2,
            "READY",
            "Ready",
            "It left its processor and could go on: it was preempted, or gave the processor away.",
        ),
        value(3, "RUNNING", "Running", "It is on a processor."),
        value(4, "UNKNOWN", "Unknown", "Records are missing."),
    ],
);
