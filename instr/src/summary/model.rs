//! The summary as data: what `instr summary --json` writes. `docs/summary-json.md` describes every field.
//!
//! Names, units and meaning are stable; fields may be added. Times are whole nanoseconds, addresses hexadecimal text.

pub use instr_analysis::{Spread, Times};
use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Serialize, Serializer};

use super::constructs::model::{
    Allocation, Cancellation, Doacross, Masked, Scope, StaticLoop, Target,
};
use super::load::model::{Efficiency, Graph, RegionLoad};
use super::memory::model::Memory;
use super::sensors::model::{Power, RegionEnergy, Sensor, ThreadCount, Trouble, ZoneEnergy};
use super::threads::model::{Birth, LockCall, WaitCall};
use instr_analysis::executions::{Construct, Durations};
use instr_analysis::processors::Allocation as CoreAllocation;
use instr_analysis::samples::Samples;
use instr_analysis::scheduling::{Split, ThreadScheduling};
use instr_analysis::series::SeriesSection;
use instr_analysis::switches::ContextSwitches;

/// Version of the JSON form; raised when a field changes its meaning or goes away.
pub const FORMAT: u32 = 1;

/// One process: what `instr summary` knows about a trace directory.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// [`FORMAT`].
    pub format: u32,
    /// Trace directory as given (for a forked child: the directory inside its parent's).
    pub directory: String,
    /// The same, whatever bytes it has.
    #[serde(skip)]
    pub path: PathBuf,
    /// Base name of the program.
    pub program: String,
    /// Path of the program as the traced process knew it.
    pub executable: String,
    /// Kind of machine, e.g. `x86_64-linux`.
    pub target: String,
    /// OpenMP run-time library: `libgomp`, `libomp` and its version, `none`; empty when the trace does not tell.
    pub openmp: String,
    /// Process id on that machine; absent when the trace does not tell.
    pub pid: Option<u64>,
    /// Whether this process is a forked child of the one it is listed under.
    pub forked: bool,
    /// Whether this is a program that another one started while `instr run` ran the one it is listed under.
    pub started: bool,
    /// Whether the trace was closed in order; false after a crash or kill.
    pub closed: bool,
    /// The outermost parallel region that ran when the trace ended; null when none did.
    pub open_region: Option<OpenRegion>,
    /// The clock of the time stamps.
    pub clock: Clock,
    /// From the first to the last event of any thread, ns.
    pub duration_ns: u64,
    /// When the trace began, ns since 1970-01-01 UTC; null when the trace does not tell.
    pub started_realtime_ns: Option<u64>,
    /// Processors that the process might use; null when the trace does not tell.
    pub processors: Option<u64>,
    /// How many processors' time it might use (cgroups); null: all of them.
    pub processor_quota: Option<f64>,
    /// Whether context switches of threads were recorded: `perf`, `perf, by instr run`, `ebpf, by instr run`, `off`, or `no: ` and why not; null when the trace does not tell.
    pub switches: Option<String>,
    /// What cost most, and what helps.
    pub verdict: Option<Verdict>,
    /// What else distorts the numbers.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// Threads by index.
    pub threads: Vec<Thread>,
    /// Useful time by place and by what the system did with the threads, longest wait first; empty where no context switches were recorded.
    pub scheduling: Vec<Scheduling>,
    /// Where the threads' time went; null without parallel regions.
    pub efficiency: Option<Efficiency>,
    /// Parallel constructs by body function, longest total first.
    pub parallel_regions: Vec<ParallelRegion>,
    /// Totals over all explicit tasks.
    pub tasks: Tasks,
    /// Explicit tasks by body function, longest total first.
    pub task_functions: Vec<TaskFunction>,
    /// The task graph; null when no parallel region created explicit tasks.
    pub graph: Option<Graph>,
    /// Work-sharing loops with a run-time call of their own.
    pub loops: Vec<Loop>,
    /// Static loops of GCC, inferred, most frequent first.
    pub static_loops: Vec<StaticLoop>,
    /// `sections` constructs.
    pub sections: Vec<Sections>,
    /// `single` blocks executed (one for each time a team met the construct).
    pub singles: u64,
    /// Of the `single` blocks whose end is known.
    pub single_times: Times,
    /// `masked` blocks.
    pub masked: Vec<Masked>,
    /// `scope` constructs.
    pub scopes: Vec<Scope>,
    /// Doacross loops, longest wait first.
    pub doacross: Vec<Doacross>,
    /// Cancellation, by construct.
    pub cancellations: Vec<Cancellation>,
    /// Device constructs.
    pub targets: Vec<Target>,
    /// Memory of OpenMP allocators.
    pub allocations: Vec<Allocation>,
    /// Heap, mappings, stacks; null when nothing was told of them.
    pub memory: Option<Memory>,
    /// Where samples found the threads; null when the program was not sampled.
    pub samples: Option<Samples>,
    /// Waiting by kind: barriers, taskwait, taskgroup …
    pub syncs: Vec<Sync>,
    /// Critical sections, ordered blocks, atomic locks, OpenMP locks, locks of threads.
    pub criticals: Vec<Critical>,
    /// Waits of threads of POSIX, C11 and C++ by object and call, longest total first.
    pub waits: Vec<WaitCall>,
    /// Threads that the program tried to make, in vain.
    pub threads_not_made: u64,
    /// Events of `instr_event`, by type.
    pub user_events: Vec<UserEvent>,
    /// Regions of `instr_region_begin`, by name.
    pub regions: Vec<UserRegion>,
    /// Calls of described library functions, by name.
    pub calls: Vec<UserRegion>,
    /// Functions of languages (Python), most own time first.
    pub functions: Vec<Function>,
    /// Counters of `instr_counter`, by name; then those of threads (`INSTR_COUNTERS`), as they were asked for.
    pub counters: Vec<Counter>,
    /// Sensors, one for each of their values.
    pub sensors: Vec<Sensor>,
    /// Energy of the run by each meter.
    pub energy: Vec<ZoneEnergy>,
    /// Energy of parallel and user regions, most first; empty when no zones add up.
    pub energy_regions: Vec<RegionEnergy>,
    /// Power of the run; null when it was neither measured nor is there a model of the target.
    pub power: Option<Power>,
    /// Which threads ran on which processors; null on systems that do not tell.
    pub context_switches: Option<ContextSwitches>,
    /// Who ran on which processor, of the whole tree of processes; null unless `instr run` recorded it.
    pub core_allocation: Option<CoreAllocation>,
    /// What `instr run --config` read of the machine and of processes; null unless it was asked for.
    pub series: Option<SeriesSection>,
    /// Sensors and counters that were asked for and are not there.
    pub sensor_troubles: Vec<Trouble>,
    /// A setting that was not understood, or could not be followed.
    pub setting_trouble: Option<String>,
    /// Events the traced program could not keep.
    pub discarded: u64,
    /// Of those, events of threads that have no stream.
    #[serde(skip)]
    pub discarded_unattached: u64,
    /// Lines of a board's console that were lost.
    #[serde(skip)]
    pub lost_lines: u64,
    /// Events in them, if that is known; `discarded` has them too.
    #[serde(skip)]
    pub lost_events: Option<u64>,
    /// Streams that end inside an event or packet, or lack one.
    pub truncated_streams: u64,
    /// Events in the trace.
    pub events: u64,
    /// Size of all streams, bytes.
    pub bytes: u64,
    /// `bytes / events`, two decimals.
    pub bytes_per_event: f64,
    /// How long each execution took, where that was wanted: for comparing runs.
    #[serde(skip)]
    pub executions: BTreeMap<Construct, Durations>,
    /// Forked children, by process id.
    pub children: Vec<Summary>,
}

impl Summary {
    /// All of the threads' time, ns: number of threads × time where there are parallel regions, else the sum of the threads' lives.
    pub(crate) fn capacity_ns(&self) -> u64 {
        let lives = self.threads.iter().map(Thread::life_ns);
        match &self.efficiency {
            Some(efficiency) => efficiency.capacity_ns,
            None => lives.fold(0, u64::saturating_add),
        }
    }

    /// Whether the trace has nothing but who ran on which processor: the program recorded nothing itself.
    pub(crate) fn is_only_processors(&self) -> bool {
        self.threads.is_empty() && self.core_allocation.is_some()
    }
}

/// The clock of the time stamps.
#[derive(Debug, Default, Serialize)]
pub struct Clock {
    /// What is read, e.g. `tsc`.
    pub source: String,
    /// Ticks per second, as measured over the run.
    pub frequency_hz: u64,
}

/// A region without an end.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct OpenRegion {
    /// Its name and place.
    pub label: String,
    /// From its begin to the trace's end, ns.
    pub since_ns: u64,
}

/// One sentence about the run.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// Such as `imbalance`: docs/summary-json.md lists them.
    pub kind: &'static str,
    /// Of the threads' time, 0 to 1.
    pub share: f64,
    /// Label of the region with the largest part of it.
    pub region: Option<String>,
    /// The sentence.
    pub text: String,
    /// What people do about it; empty where nothing is to be done.
    pub advice: String,
    /// Heading in `docs/reading.md` that says more; empty where there is none.
    pub reading: &'static str,
}

/// One thread. The five times add up to the thread's life.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// Number of the thread in the trace.
    pub index: u32,
    /// The kernel's number.
    pub os_tid: u32,
    /// `main` for the initial thread, else `thread INDEX`.
    pub name: String,
    /// Time in user code, ns.
    pub useful_ns: u64,
    /// Time waiting in barriers, taskwait, locks …, ns.
    pub sync_ns: u64,
    /// Time creating tasks and teams and fetching work, ns.
    pub sched_ns: u64,
    /// Time of a worker outside of parallel regions, ns.
    pub idle_ns: u64,
    /// Time the tracer itself took to write the trace, ns.
    pub flush_ns: u64,
    /// Time on a processor, as the system counted it, ns; null where it was not asked: other systems than Linux, threads that lived
    /// less than 10 ms or were killed.
    pub processor_ns: Option<u64>,
    /// Time ready to run and waiting for a processor, ns; it is part of the five.
    pub processor_wait_ns: Option<u64>,
    /// What the system did with it; null where its context switches were not recorded.
    pub scheduling: Option<ThreadScheduling>,
    /// Who made it, of threads of POSIX, C11 and C++; null where that was not recorded.
    pub birth: Option<Birth>,
    /// Events in the stream.
    pub events: u64,
    /// Events lost.
    pub discarded: u64,
}

/// What the system did with threads while they were in the code of a region or task: useful time of all threads.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Scheduling {
    /// Region or task.
    #[serde(flatten)]
    pub place: Place,
    /// The time.
    #[serde(flatten)]
    pub useful: Split,
    /// Times that a thread was preempted in it, or gave its processor away.
    pub preempted: u64,
    /// Times that a thread slept or waited in it.
    pub blocked: u64,
}

impl Thread {
    /// From its first to its last event, ns.
    pub fn life_ns(&self) -> u64 {
        self.states().into_iter().fold(0, u64::saturating_add)
    }

    /// The five times in the order of the fields, ns.
    pub fn states(&self) -> [u64; 5] {
        [
            self.useful_ns,
            self.sync_ns,
            self.sched_ns,
            self.idle_ns,
            self.flush_ns,
        ]
    }
}

/// A place in the program.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// Function as the linker knows it, e.g. `main._omp_fn.0`; null when unknown.
    pub function: Option<String>,
    /// Source file; null when unknown.
    pub file: Option<String>,
    /// Line of the directive or function; null when unknown.
    pub line: Option<u32>,
    /// For people: `main [omp task sparselu.c:120]`, the address when nothing is known.
    pub label: String,
    /// Address at run time; null for code outside of any region or task.
    #[serde(serialize_with = "optional_hexadecimal")]
    pub address: Option<u64>,
    /// Whether `address` is a return address into the function that holds the construct; else it is that of the body.
    pub call_site: bool,
}

/// A parallel construct. The time of one is that of the encountering thread, from its begin to its end.
#[derive(Debug, Default, Serialize)]
pub struct ParallelRegion {
    /// Its body.
    #[serde(flatten)]
    pub place: Place,
    /// Executions.
    #[serde(flatten)]
    pub times: Times,
    /// Useful time and barriers by thread; null when no thread was seen inside.
    pub load: Option<RegionLoad>,
}

/// Totals over all explicit tasks.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tasks {
    /// Task constructs met (each task of a taskloop counts).
    pub created: u64,
    /// Bodies begun.
    pub executed: u64,
    /// Bodies run inside the construct that created them.
    pub undeferred: u64,
    /// Dependences between two tasks, each pair once.
    pub edges: u64,
    /// `taskwait` constructs with a `depend` clause: empty tasks, in neither `created` nor `executed`, but with edges.
    pub taskwaits_depend: u64,
    /// Tasks with a `detach` clause.
    pub detached: u64,
    /// Calls of `omp_fulfill_event`.
    pub fulfilled: u64,
    /// Times a task left its thread before its end.
    pub suspended: u64,
    /// Tasks that had not begun and were discarded by cancellation.
    pub discarded: u64,
}

/// Explicit tasks of one body function. The time of a body is its own: without the tasks that ran inside of it.
#[derive(Debug, Default, Serialize)]
pub struct TaskFunction {
    /// The body.
    #[serde(flatten)]
    pub place: Place,
    /// Task constructs met.
    pub created: u64,
    /// Bodies begun.
    pub executed: u64,
    /// The part of `total_ns` in user code, ns.
    pub work_ns: u64,
    /// Own time, ns.
    pub total_ns: u64,
    /// Shortest own time, ns.
    pub min_ns: u64,
    /// Mean own time, ns.
    pub mean_ns: u64,
    /// Longest own time, ns.
    pub max_ns: u64,
    /// Sum of the times from begin to end of the bodies, with the tasks that ran inside, ns.
    pub inclusive_ns: u64,
}

/// A work-sharing loop. The time of one is that of one thread, from its start to its end.
#[derive(Debug, Default, Serialize)]
pub struct Loop {
    /// The body of the enclosing region or task.
    #[serde(flatten)]
    pub place: Place,
    /// `static`, `dynamic`, `guided`, `auto` or `runtime`.
    pub schedule: &'static str,
    /// Executions of the construct, however many threads took part.
    pub instances: u64,
    /// Chunks handed out.
    pub chunks: u64,
    /// Iterations of a chunk.
    pub chunk_iterations: Spread,
    /// Time of a chunk: from its begin to the call for the next one, tasks that ran inside included.
    pub chunk_times: Times,
    /// Part of `total_ns` outside of chunks: fetching them, ns; null when no chunk was told.
    pub fetch_ns: Option<u64>,
    /// One for each thread and execution.
    #[serde(flatten)]
    pub times: Times,
}

/// A `sections` construct. The time of one is that of one thread, from its start to its end.
#[derive(Debug, Default, Serialize)]
pub struct Sections {
    /// The body of the enclosing region or task.
    #[serde(flatten)]
    pub place: Place,
    /// Executions of the construct, however many threads took part.
    pub instances: u64,
    /// Sections executed.
    pub executed: u64,
    /// Time of a section.
    pub section_times: Times,
    /// One for each thread and execution.
    #[serde(flatten)]
    pub times: Times,
}

/// Waiting of one kind. Time spent in tasks that ran meanwhile is included.
#[derive(Debug, Default, Serialize)]
pub struct Sync {
    /// `barrier`, `work-sharing barrier`, `taskwait` …
    pub kind: &'static str,
    /// One for each thread that waited.
    #[serde(flatten)]
    pub times: Times,
}

/// A critical section, lock or the like.
#[derive(Debug, Default, Serialize)]
pub struct Critical {
    /// Name of the critical section, symbol of the lock, or its address.
    pub name: String,
    /// `critical`, `named critical`, `atomic`, `ordered`, `lock` or `nest lock`; of threads: `mutex`, `read lock`, `write lock`, `spin lock`.
    pub kind: &'static str,
    /// Its address.
    #[serde(skip)]
    pub address: Option<u64>,
    /// Acquisitions.
    pub count: u64,
    /// Acquisitions that had to wait for another thread's release.
    pub contended: u64,
    /// Tries that found it taken (`omp_test_lock`), and waits that were given up.
    pub failed: u64,
    /// Time from asking to having, ns.
    pub wait_ns: u64,
    /// The longest of them, ns.
    pub wait_max_ns: u64,
    /// Time from having to giving back, ns.
    pub held_ns: u64,
    /// The longest of them, ns.
    pub held_max_ns: u64,
    /// The calls that took locks of threads, longest wait first.
    pub calls: Vec<LockCall>,
}

impl Critical {
    /// Whether the waits for it are all that is recorded (`INSTR_PTHREAD=waits`): how often it was free is not known, nor how long it was held.
    pub fn has_waits_only(&self) -> bool {
        self.count > 0 && self.contended == self.count && self.held_ns == 0
    }
}

/// User events of one type.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct UserEvent {
    /// First argument of `instr_event`.
    #[serde(rename = "type")]
    pub kind: u32,
    /// How many.
    pub count: u64,
}

/// Named regions or calls. Times are from begin to end, inner ones included.
#[derive(Debug, Default, Serialize)]
pub struct UserRegion {
    /// The name.
    pub name: String,
    /// Number and times.
    #[serde(flatten)]
    pub times: Times,
}

/// A function of a language. Times are on threads: none passes while a generator or coroutine is suspended.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Function {
    /// Its name, with its module.
    pub name: String,
    /// Source file; null for a function of C.
    pub file: Option<String>,
    /// Its first line.
    pub line: Option<u32>,
    /// Calls.
    pub calls: u64,
    /// Times it went on after it was suspended.
    pub resumptions: u64,
    /// With what it calls, ns; where it calls itself, that counts once.
    pub total_ns: u64,
    /// Without other recorded functions, ns.
    pub own_ns: u64,
    /// Shortest stay on a thread, with what it calls, ns.
    pub min_ns: u64,
    /// Longest stay, ns.
    pub max_ns: u64,
    /// Of a task of an event loop (`task NAME`), and of what such tasks await (`await NAME`): from each suspension to where it went on, ns;
    /// null for others.
    pub suspended_ns: Option<u64>,
    /// What the counters of its threads counted in it, where they are read at functions (`INSTR_SENSORS_AT=functions`); else empty.
    pub counters: Vec<FunctionCounter>,
}

/// What a counter of threads counted in a function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionCounter {
    /// As perf spells it.
    pub name: String,
    /// `ns`, or empty for a plain number.
    pub unit: String,
    /// Without other recorded functions.
    pub own: u64,
    /// With what it calls; where it calls itself, that counts once.
    pub total: u64,
}

/// Values of one counter: of the program, in its own unit, or of its threads.
#[derive(Debug, Default, Serialize)]
pub struct Counter {
    /// The name; of a thread's counter as perf spells it.
    pub name: String,
    /// `program` (`instr_counter`) or `thread` (`INSTR_COUNTERS`).
    pub source: &'static str,
    /// `ns`, or empty for a plain number; null for a counter of the program.
    pub unit: Option<String>,
    /// Samples.
    pub count: u64,
    /// Smallest value; of a thread's counter: of the threads' last values.
    pub min: i64,
    /// Largest value, in the same way.
    pub max: i64,
    /// Latest value of any thread; of a thread's counter: `total`.
    pub last: i64,
    /// Sum of the threads' last values; null for a counter of the program, and when no thread counted it.
    pub total: Option<i64>,
    /// The threads' last values; empty for a counter of the program.
    pub per_thread: Vec<ThreadCount>,
    /// Whether values are estimates: the processor counted the events in turn.
    pub scaled: bool,
}

fn optional_hexadecimal<S: Serializer>(address: &Option<u64>, to: S) -> Result<S::Ok, S::Error> {
    match address {
        Some(address) => to.collect_str(&format_args!("{address:#x}")),
        None => to.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_hexadecimal_text() {
        let place = Place {
            label: "f".into(),
            address: Some(0x40_1000),
            ..Place::default()
        };
        let json = serde_json::to_value(&place).unwrap();
        assert_eq!(json["address"], "0x401000");
        assert_eq!(json["function"], serde_json::Value::Null);
    }
}
