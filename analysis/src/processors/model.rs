//! The records, as JSON has them. All times are nanoseconds; those of day begin with the first recording.

use serde::Serialize;

/// Parts of equal length into which a time line is divided.
pub const BINS: usize = 60;

/// Who ran where.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Allocation {
    /// `tree`, `system` or `sums`.
    pub recorded: &'static str,
    /// `perf` or `ebpf`; nothing where there are only sums. Wake-ups, priorities and what gave its processor away are known by `ebpf` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorder: Option<&'static str>,
    /// Why there is less than there might be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
    /// From the begin of the first recording to the end of the last one.
    pub duration_ns: u64,
    /// Events that were lost, so that times are missing.
    pub lost: u64,
    /// Streams of which a part cannot be read.
    pub damaged_streams: u64,
    /// One for each recording.
    pub applications: Vec<Application>,
    /// The recorded processors.
    pub processors: Vec<Processor>,
    /// How long so many processors were in use at once, from none.
    pub in_use_ns: Vec<u64>,
    /// Processors in use on average, in equal parts of the time.
    pub in_use: Vec<f64>,
    /// Who took the processor from whom; the longest waits first.
    pub interference: Vec<Interference>,
    /// Who woke whom; the most often first.
    pub woken: Vec<Wake>,
    /// Wake-ups of pairs that are not in the list: there were too many.
    pub more_wakes: u64,
    /// Waits for one processor for which nobody is made answerable: there were too many at once.
    pub unattributed_ns: u64,
}

/// A program with all that it started.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Application {
    /// Name of the program's file.
    pub program: String,
    /// Its arguments.
    pub arguments: String,
    /// Its process.
    pub pid: u32,
    /// Begin of its recording.
    pub begin_ns: u64,
    /// Its end.
    pub end_ns: u64,
    /// Sums over all threads.
    #[serde(flatten)]
    pub times: Times,
    /// What the system counted of the program and the children that it waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    /// In order of their begin.
    pub processes: Vec<Process>,
}

/// What `wait4` told.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Counted {
    /// Time in user code.
    pub user_ns: u64,
    /// Time in the kernel.
    pub system_ns: u64,
    /// Switches in which a thread waited.
    pub voluntary: u64,
    /// Switches in which it could have gone on.
    pub involuntary: u64,
}

/// Where time went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// On a processor.
    pub on_processor_ns: u64,
    /// Able to run, without a processor: preempted, new, or woken where that is known.
    pub ready_ns: u64,
    /// Of it, from a wake-up on until it ran; 0 where wake-ups are not known.
    pub woken_ns: u64,
    /// Waiting for anything else: until it was woken, or, where that is not known, until it ran again.
    pub blocked_ns: u64,
    /// Behind lost events.
    pub unknown_ns: u64,
    /// Switches in which it waited.
    pub voluntary: u64,
    /// Switches in which it could have gone on.
    pub involuntary: u64,
    /// Of them, those in which it gave the processor away; 0 where that is not known.
    pub yielded: u64,
    /// How often it ran on another processor than before.
    pub migrations: u64,
}

impl Times {
    /// Adds those of another thread.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.on_processor_ns, other.on_processor_ns),
            (&mut self.ready_ns, other.ready_ns),
            (&mut self.woken_ns, other.woken_ns),
            (&mut self.blocked_ns, other.blocked_ns),
            (&mut self.unknown_ns, other.unknown_ns),
            (&mut self.voluntary, other.voluntary),
            (&mut self.involuntary, other.involuntary),
            (&mut self.yielded, other.yielded),
            (&mut self.migrations, other.migrations),
        ];
        for (sum, more) in pairs {
            *sum = sum.saturating_add(more);
        }
    }
}

/// A process.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Who made it; `None`: the launcher.
    pub parent: Option<u32>,
    /// The program's name, at most 15 bytes.
    pub name: String,
    /// The program with its arguments; empty where it was not there long enough.
    pub arguments: String,
    /// Its begin.
    pub begin_ns: u64,
    /// Its end; `None`: it lived on.
    pub end_ns: Option<u64>,
    /// Sums over its threads.
    #[serde(flatten)]
    pub times: Times,
    /// In order of their begin.
    pub threads: Vec<Thread>,
}

/// A thread.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its begin.
    pub begin_ns: u64,
    /// Its end; `None`: it lived on.
    pub end_ns: Option<u64>,
    /// Where its time went.
    #[serde(flatten)]
    pub times: Times,
    /// The kernel's priority that it ran with last: 120 is nice 0, less than 100 is real time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u32>,
    /// Its time on each processor that it used.
    pub processors: Vec<OnProcessor>,
}

/// A thread's time on a processor.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct OnProcessor {
    /// The processor.
    pub processor: u32,
    /// The time.
    pub ns: u64,
}

/// A processor.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Processor {
    /// Its number.
    pub processor: u32,
    /// How long it ran each application, in their order.
    pub busy_ns: Vec<u64>,
    /// How long it ran other programs; `None`: not recorded.
    pub others_ns: Option<u64>,
    /// How often it began to run a thread that was recorded.
    pub switches: u64,
    /// Its busy share by applications, in equal parts of the time.
    pub busy: Vec<f64>,
}

/// A thread that could have gone on, and whose processor was another one's.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Interference {
    /// Who waited.
    pub waited: Who,
    /// Who ran there; `None`: programs that were not recorded, the kernel, or nobody yet.
    pub ran: Option<Who>,
    /// How often it took the processor.
    pub times: u64,
    /// How long the other one waited while it ran.
    pub ns: u64,
}

/// A thread that waited, and who let it go on.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Wake {
    /// Who waited.
    pub woken: Who,
    /// `thread`, `interrupt`, or `unknown`: the thread `by`, or an interrupt above it.
    pub context: &'static str,
    /// Who woke it; `None`: an interrupt.
    pub by: Option<Who>,
    /// How often.
    pub times: u64,
    /// From these wake-ups on until it ran, together.
    pub delay_ns: u64,
    /// The longest of them.
    pub longest_ns: u64,
}

/// A thread and where it belongs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Who {
    /// Position of the application; `None`: another program of the system.
    pub application: Option<usize>,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The thread's name.
    pub name: String,
}
