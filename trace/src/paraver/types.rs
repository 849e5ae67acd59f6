//! Event types and values, and what each means.
//!
//! The numbers of OpenMP and of the tracer itself are those Extrae writes, so that existing configurations open our traces.
//! Ours are 20000000 and above, a range nobody else uses:
//!
//! | type | meaning |
//! |---|---|
//! | 20000000 | user region (`instr_region_begin`), value = its name, 0 = end |
//! | 20000001 | call of a described function without a probe of its own, value = its name, 0 = end |
//! | 20000002 | begin of a static loop, inferred: value = the place of the calls (a line id); its end is not known |
//! | 20000003, 20000004 | cancellation: its construct; what happened |
//! | 20000005 | doacross loop: post of an iteration, wait for one |
//! | 20000006 | waits that Extrae has no type for |
//! | 20000007, 20000008 | handle of a task with a `detach` clause when told; when fulfilled |
//! | 20000009 | function of a `target` region |
//! | 20000010 | bytes of the heap in use in the process, whenever that changes |
//! | 20000011 | bytes of the thread's stack that were in use, at the least |
//! | 20000012 | locks of POSIX, C11 and C++ threads, with the values of those of OpenMP |
//! | 20000030 | processor on which the thread runs, from 1; 0: it does not run |
//! | 20000040, 20000041 | task of an event loop (Python's asyncio) while a thread runs it: its name; its number, each task its own |
//! | 20000042 | what such a task awaits, as it is suspended; 0 at the same time |
//! | 20000100 + n | the n-th counter (`instr_counter`) by first use; the value is the counter's |
//! | 22000000 + n | the n-th value of a sensor, or counter of threads that PAPI has no preset for: as read, or since the reading before |
//! | 22100000 + n | the same for temperatures |
//! | 22200000 + n | the same for power; for meters of energy their mean power since the reading before, mW |
//! | 23000000 + n | the n-th type of the program's own events (`instr_event`) that is taken: 0, one from 2³¹ on, one of ours or of those of Extrae that we write |

pub(super) const APPLICATION: u32 = 40_000_001;
pub(super) const FLUSH: u32 = 40_000_003;
pub(super) const TRACING: u32 = 40_000_012;
pub(super) const PARALLEL: u32 = 60_000_001;
pub(super) const WORKSHARING: u32 = 60_000_002;
pub(super) const BARRIER: u32 = 60_000_005;
pub(super) const NAMED_LOCK: u32 = 60_000_006;
pub(super) const LOCK: u32 = 60_000_007;
pub(super) const DISPATCH: u32 = 60_000_011;
pub(super) const JOIN: u32 = 60_000_016;
pub(super) const PARALLEL_FUNCTION: u32 = 60_000_018;
pub(super) const PARALLEL_LINE: u32 = 60_000_118;
pub(super) const TASKWAIT: u32 = 60_000_022;
pub(super) const TASK_FUNCTION: u32 = 60_000_023;
pub(super) const TASK_LINE: u32 = 60_000_123;
pub(super) const CREATED_FUNCTION: u32 = 60_000_024;
pub(super) const CREATED_LINE: u32 = 60_000_124;
pub(super) const TASKGROUP: u32 = 60_000_025;
pub(super) const IN_TASKGROUP: u32 = 60_000_027;
pub(super) const TASK_ID: u32 = 60_000_028;
pub(super) const TASKLOOP: u32 = 60_000_029;
pub(super) const TASKLOOP_ID: u32 = 60_010_029;
pub(super) const LOCK_NAME: u32 = 60_000_032;
pub(super) const ORDERED: u32 = 60_000_033;
pub(super) const TASKYIELD: u32 = 60_000_035;
pub(super) const TASKS_CREATED: u32 = 65_000_000;
pub(super) const TASKS_EXECUTED: u32 = 65_000_001;
/// User regions.
pub(super) const REGION: u32 = 20_000_000;
/// Calls of described functions.
pub(super) const CALL: u32 = 20_000_001;
/// Functions of languages with their first lines, as Extrae numbers user functions, and once more as its Python module does.
pub(super) const USER_FUNCTION: u32 = 60_000_019;
pub(super) const USER_LINE: u32 = 60_000_119;
pub(super) const LISTED_FUNCTION: u32 = 60_000_100;
/// Begin of a static loop, inferred.
pub(super) const STATIC_LOOP: u32 = 20_000_002;
/// Construct that is cancelled or asked about.
pub(super) const CANCEL: u32 = 20_000_003;
/// What happened there.
pub(super) const CANCEL_ACTION: u32 = 20_000_004;
/// Doacross loops.
pub(super) const DOACROSS: u32 = 20_000_005;
/// Waits of other kinds.
pub(super) const WAIT: u32 = 20_000_006;
/// Handle of a detachable task.
pub(super) const DETACH: u32 = 20_000_007;
/// Handle that is fulfilled.
pub(super) const FULFILL: u32 = 20_000_008;
/// Function of a `target` region.
pub(super) const TARGET_FUNCTION: u32 = 20_000_009;
/// Processor on which the thread runs, from 1; 0: none.
pub(super) const PROCESSOR: u32 = 20_000_030;
/// What the system does with the thread: [`SCHEDULED_VALUES`]; 0: it has ended, or nothing is known.
pub(super) const SCHEDULED: u32 = 20_000_031;
pub(super) const SCHEDULED_VALUES: &[(u32, &str)] = &[
    (0, "unknown"),
    (1, "running"),
    (2, "ready, without a processor"),
    (3, "sleeping or waiting"),
];
/// Task of an event loop: its name, its number, and what it awaits.
pub(super) const LOOP_TASK: u32 = 20_000_040;
pub(super) const LOOP_TASK_NUMBER: u32 = 20_000_041;
pub(super) const LOOP_TASK_AWAITS: u32 = 20_000_042;
/// [`PROCESSOR`] as Extrae has it: from 0, written when the thread goes on elsewhere.
pub(super) const EXECUTING_CPU: u32 = 40_000_033;
/// Dynamic memory as Extrae has it: call, size, address given back, address given out.
pub(super) const MEMORY: u32 = 40_000_040;
pub(super) const MEMORY_SIZE: u32 = 40_000_041;
pub(super) const MEMORY_IN: u32 = 40_000_042;
pub(super) const MEMORY_OUT: u32 = 40_000_043;
/// The function and line that called, as Extrae has them.
pub(super) const CALLER_FUNCTION: u32 = 70_000_001;
pub(super) const CALLER_LINE: u32 = 80_000_001;
/// Bytes that a call got, that it gave back: Extrae's numbers; ours are the sizes asked for. The sum of their differences is in use.
pub(super) const MEMORY_GOT: u32 = 40_000_069;
pub(super) const MEMORY_GIVEN: u32 = 40_000_070;
/// Bytes in use in the process after the call.
pub(super) const MEMORY_IN_USE: u32 = 20_000_010;
/// Device constructs.
pub(super) const TARGET: u32 = 60_000_034;
/// The first counter.
pub(super) const COUNTER: u32 = 20_000_100;
/// How deep the thread's stack was used.
pub(super) const STACK: u32 = 20_000_011;
/// Locks of POSIX, C11 and C++ threads.
pub(super) const THREAD_LOCK: u32 = 20_000_012;
/// The first sensor, the first of temperature and of power, and the most of each.
pub(super) const READING: u32 = 22_000_000;
pub(super) const TEMPERATURE: u32 = 22_100_000;
pub(super) const POWER: u32 = 22_200_000;
pub(super) const READINGS: u32 = 100_000;
/// The first type that stands for a user type that is taken, and how many there are.
pub(super) const TAKEN: u32 = 23_000_000;
pub(super) const TAKEN_TYPES: u32 = 1_000_000;
/// Ours, also those that have no meaning yet.
const OURS: std::ops::Range<u32> = 20_000_000..30_000_000;
/// PAPI's presets, as Extrae numbers them.
pub(super) const HARDWARE: u32 = 42_000_000;
pub(super) const HARDWARE_TYPES: u32 = 1000;
/// Samples: function and line, innermost first, and how many depths there are.
pub(super) const SAMPLED_FUNCTION: u32 = 30_000_000;
pub(super) const SAMPLED_LINE: u32 = 30_000_100;
pub(super) const SAMPLED_DEPTHS: u32 = 100;
/// Most counters.
pub(super) const COUNTERS: u32 = 1_000_000;

/// Tag of a communication from the creation of a task to its execution, as Extrae writes it; the size is the task's number.
pub const TAG_CREATE: u32 = 60_000_000;
/// Tag of a communication from the end of a task to the begin of one that depends on it; the size is the latter's number.
pub const TAG_DEPEND: u32 = 60_000_001;

/// Values of the lock types.
pub(super) const LOCK_WAIT: u64 = 3;
pub(super) const LOCK_LEAVE: u64 = 5;
pub(super) const LOCK_HELD: u64 = 6;

/// Labels of values.
type Values = &'static [(u32, &'static str)];

/// Types with fixed labels: type, label, labels of the values (none: any number).
pub(super) const FIXED: &[(u32, &str, Values)] = &[
    (APPLICATION, "Application", &[(0, "End"), (1, "Begin")]),
    (FLUSH, "Flushing Traces", &[(0, "End"), (1, "Begin")]),
    (TRACING, "Tracing", &[(0, "Disabled"), (1, "Enabled")]),
    (
        PARALLEL,
        "Parallel (OMP)",
        &[
            (0, "close"),
            (1, "DO (open)"),
            (2, "SECTIONS (open)"),
            (3, "REGION (open)"),
        ],
    ),
    (
        WORKSHARING,
        "Worksharing (OMP)",
        &[
            (0, "End"),
            (4, "DO"),
            (5, "SECTIONS"),
            (6, "SINGLE"),
            (7, "MASTER"),
            (8, "SCOPE"),
        ],
    ),
    (BARRIER, "OpenMP barrier", &[(0, "End"), (1, "Begin")]),
    (NAMED_LOCK, "OpenMP named-Lock", LOCK_VALUES),
    (LOCK, "OpenMP unnamed-Lock", LOCK_VALUES),
    (LOCK_NAME, "OpenMP named-Lock address name", &[]),
    (THREAD_LOCK, "Lock of threads", LOCK_VALUES),
    (
        DISPATCH,
        "OpenMP Worksharing work dispatcher",
        &[(0, "End"), (1, "Begin")],
    ),
    (
        JOIN,
        "OpenMP Worksharing join",
        &[(0, "End"), (1, "Join (w wait)"), (2, "Join (w/o wait)")],
    ),
    (
        TASKWAIT,
        "OMP taskwait",
        &[(0, "End"), (1, "Begin"), (2, "Begin (depend)")],
    ),
    (
        TASKGROUP,
        "OpenMP taskgroup calls",
        &[(0, "Outside"), (1, "Start"), (2, "End")],
    ),
    (
        IN_TASKGROUP,
        "Within OpenMP taskgroup region",
        &[(0, "Outside"), (1, "Inside")],
    ),
    (TASK_ID, "Task Identifier", &[]),
    (
        TASKLOOP,
        "OMP taskloop",
        &[(0, "Outside taskloop"), (1, "Inside taskloop")],
    ),
    (TASKLOOP_ID, "Taskloop Identifier", &[]),
    (ORDERED, "OpenMP ordered section", ORDERED_VALUES),
    (TASKYIELD, "OMP taskyield", &[(0, "End"), (1, "Begin")]),
    (TASKS_CREATED, "Number of instantiated tasks", &[]),
    (TASKS_EXECUTED, "Number of executed tasks", &[]),
    (
        TARGET,
        "OpenMP target",
        &[
            (0, "Outside target"),
            (1, "target"),
            (2, "target data"),
            (3, "end of target data"),
            (4, "target update"),
            (5, "target enter data"),
            (6, "target exit data"),
            (7, "other device construct"),
        ],
    ),
    (
        MEMORY,
        "Dynamic memory calls",
        &[
            (0, "End"),
            (1, "malloc()"),
            (2, "free()"),
            (3, "realloc()"),
            (4, "calloc()"),
            (5, "posix_memalign()"),
            (16, "omp_alloc"),
            (17, "omp_free"),
            (18, "allocate clause"),
            (19, "end of allocate clause"),
            (20, "valloc()"),
            (21, "new"),
            (22, "new of an array"),
            (23, "delete"),
            (24, "delete of an array"),
        ],
    ),
    (MEMORY_SIZE, "Requested size in memory calls", &[]),
    (MEMORY_IN, "In pointer (free, realloc)", &[]),
    (MEMORY_OUT, "Out pointer (malloc, calloc, realloc)", &[]),
    (MEMORY_GOT, "Bytes got from the heap", &[]),
    (MEMORY_GIVEN, "Bytes given back to the heap", &[]),
    (MEMORY_IN_USE, "Bytes of the heap in use", &[]),
    (STACK, "Bytes of the stack in use", &[]),
    (
        CANCEL,
        "OpenMP cancellation of",
        &[
            (1, "parallel"),
            (2, "for"),
            (4, "sections"),
            (8, "taskgroup"),
            (9, "other construct"),
        ],
    ),
    (
        CANCEL_ACTION,
        "OpenMP cancellation",
        &[
            (1, "cancellation point, goes on"),
            (2, "cancellation point, leaves"),
            (3, "cancel, goes on"),
            (4, "cancel, leaves"),
            (5, "task discarded"),
        ],
    ),
    (
        DOACROSS,
        "OpenMP doacross",
        &[(0, "End"), (1, "Post"), (2, "Wait")],
    ),
    (
        WAIT,
        "Wait",
        &[
            (0, "End"),
            (1, "copyprivate"),
            (2, "reduction"),
            (3, "end of teams"),
            (4, "other"),
            (5, "condition variable"),
            (6, "thread barrier"),
            (7, "semaphore"),
            (8, "join"),
            (9, "once"),
            (10, "future"),
            (11, "interpreter lock"),
        ],
    ),
    (DETACH, "OpenMP detach event handle", &[]),
    (FULFILL, "OpenMP fulfilled event handle", &[]),
];

/// Whether a type of the program's own would be read as one of ours, as one of Extrae's that we write, or not at all.
pub(super) fn is_taken(kind: u32) -> bool {
    let fixed = FIXED.iter().any(|(own, ..)| *own == kind);
    let code = FUNCTION_TYPES.iter().chain(LINE_TYPES);
    let code = code.chain(USER_FUNCTION_TYPES).chain(USER_LINE_TYPES);
    kind == 0
        || kind > i32::MAX as u32
        || OURS.contains(&kind)
        || (SAMPLED_FUNCTION..SAMPLED_LINE + SAMPLED_DEPTHS).contains(&kind)
        || (HARDWARE..HARDWARE + HARDWARE_TYPES).contains(&kind)
        || kind == EXECUTING_CPU
        || fixed
        || code.into_iter().any(|(own, _)| *own == kind)
}

/// Gradient of a type's colours in the `.pcf`, as Extrae has them: OpenMP and code, the tracer itself, hardware counters, and ours.
pub(super) fn gradient_group(kind: u32) -> u32 {
    match kind {
        HARDWARE.. if kind < HARDWARE + HARDWARE_TYPES => 7,
        READING.. if kind < POWER + READINGS => 7,
        40_000_000..42_000_000 => 6,
        _ if OURS.contains(&kind) => 9,
        _ => 0,
    }
}

const LOCK_VALUES: Values = &[
    (0, "Unlocked status"),
    (3, "Lock"),
    (5, "Unlock"),
    (6, "Locked status"),
];
const ORDERED_VALUES: Values = &[
    (0, "Outside ordered"),
    (3, "Waiting to enter"),
    (5, "Signaling the exit"),
    (6, "Inside ordered"),
];

/// Types whose values are ids of the function table, and those of the line table.
pub(super) const FUNCTION_TYPES: &[(u32, &str)] = &[
    (PARALLEL_FUNCTION, "Executed OpenMP parallel function"),
    (TASK_FUNCTION, "Executed OpenMP task function"),
    (CREATED_FUNCTION, "Instantiated OpenMP task function"),
    (TARGET_FUNCTION, "Executed OpenMP target function"),
    (CALLER_FUNCTION, "Caller at level 1"),
];
/// Types whose values are ids of the tables of languages' functions and of their lines.
pub(super) const USER_FUNCTION_TYPES: &[(u32, &str)] = &[
    (USER_FUNCTION, "User function"),
    (LISTED_FUNCTION, "User functions"),
];
pub(super) const USER_LINE_TYPES: &[(u32, &str)] = &[(USER_LINE, "User function line")];
pub(super) const LINE_TYPES: &[(u32, &str)] = &[
    (
        PARALLEL_LINE,
        "Executed OpenMP parallel function line and file",
    ),
    (TASK_LINE, "Executed OpenMP task function line and file"),
    (
        CREATED_LINE,
        "Instantiated OpenMP task function line and file",
    ),
    (STATIC_LOOP, "Begin of a static loop (inferred)"),
    (CALLER_LINE, "Caller line at level 1"),
];

/// State numbers: [`crate::model::State`] in their order, and a thread that does not exist.
pub(super) const NOT_CREATED: u8 = 2;

/// State number of a state.
pub(super) fn state_number(state: crate::model::State) -> u8 {
    use crate::model::State;
    match state {
        State::Idle => 0,
        State::Useful => 1,
        State::Synchronization => 5,
        State::Scheduling => 7,
        State::Flush => 24,
    }
}

/// Number, label and colour of each state, all that Extrae declares.
pub(super) const STATES: &[(u8, &str, [u8; 3])] = &[
    (0, "Idle", [117, 195, 255]),
    (1, "Running", [0, 0, 255]),
    (2, "Not created", [255, 255, 255]),
    (3, "Waiting a message", [255, 0, 0]),
    (4, "Blocking Send", [255, 0, 174]),
    (5, "Synchronization", [179, 0, 0]),
    (6, "Test/Probe", [0, 255, 0]),
    (7, "Scheduling and Fork/Join", [255, 255, 0]),
    (8, "Wait/WaitAll", [235, 0, 0]),
    (9, "Blocked", [0, 162, 0]),
    (10, "Immediate Send", [255, 0, 255]),
    (11, "Immediate Receive", [100, 100, 177]),
    (12, "I/O", [172, 174, 41]),
    (13, "Group Communication", [255, 144, 26]),
    (14, "Tracing Disabled", [2, 255, 177]),
    (15, "Others", [192, 224, 0]),
    (16, "Send Receive", [66, 66, 66]),
    (17, "Memory transfer", [255, 0, 96]),
    (18, "Profiling", [169, 169, 169]),
    (19, "On-line analysis", [169, 0, 0]),
    (20, "Remote memory access", [0, 109, 255]),
    (21, "Atomic memory operation", [200, 61, 68]),
    (22, "Memory ordering operation", [200, 66, 0]),
    (23, "Distributed locking", [0, 41, 0]),
    (24, "Overhead", [139, 121, 177]),
];
