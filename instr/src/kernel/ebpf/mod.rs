//! Context switches and wake-ups by a program in the kernel, `switches.bpf.c` (docs/decisions/0045): less for each switch than perf's records take, and who
//! woke whom. It needs rights that users do not have; where it is refused, perf's rings are used, and the trace says why.

mod rings;
mod types;

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use aya::maps::{HashMap, Map, MapData, RingBuf};
use aya::programs::{BtfTracePoint, ProgramError};
use aya::{Btf, BtfError, Ebpf, EbpfError, EbpfLoader, Endianness, Pod};
use instr_trace::kernel::{Record, ThreadId, What};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::ClockId;

use self::rings::{PLACE, Rings, SLOT, Shared};
use super::perf::{self, Whose};
use super::source::Source;
use super::{line, now};

/// What `scripts/bpf.sh` made of `switches.bpf.c`.
const OBJECT: &[u8] = include_bytes!("switches.bpf.o");
/// The kernel's types.
const TYPES: &str = "/sys/kernel/btf/vmlinux";
/// The functions of the program, and the tracepoints that call them. Who begins and who becomes a program is followed first.
const FUNCTIONS: [(&str, &str); 5] = [
    ("on_fork", "sched_process_fork"),
    ("on_exec", "sched_process_exec"),
    ("on_name", "task_rename"),
    ("on_waking", "sched_waking"),
    ("on_switch", "sched_switch"),
];
/// Slots of a processor's ring, as a power of two: 512 KiB; fewer on machines of many processors.
const RING_BITS: u32 = 14;
/// Bytes of all rings.
const MOST_BYTES: usize = 64 << 20;
/// How often rings are looked at while programs begin, which are asked for their arguments then.
const PERIOD_NS: i64 = 10_000_000;
/// The same while none does: the next one, and a ring that fills, call. Each look takes a processor from somebody.
const CALM_PERIOD_NS: i64 = 100_000_000;
/// Who ends while the recording does is waited for so often, a millisecond each.
const MOST_WAITS: u32 = 50;
/// Bits of `CapEff`: capabilities(7).
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;
/// The name space of processes in which the machine's own numbers hold.
const FIRST_NAME_SPACE: &str = "pid:[4026531836]";

/// A followed thread, `struct thread`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Thread {
    task: u64,
    is_active: u64,
}

// SAFETY: any bytes are a value.
unsafe impl Pod for Thread {}

/// The program in the kernel, as long as this is there.
#[derive(Debug)]
pub(super) struct Tracer {
    /// Its end ends the program.
    _program: Ebpf,
    rings: Rings,
    rares: RareRing,
    losses: Shared,
    threads: HashMap<MapData, u32, Thread>,
    processors: Vec<u32>,
    /// Priorities as they were told last.
    priorities: hashbrown::HashMap<u32, u32>,
    /// No program has begun before the last look.
    is_calm: bool,
}

struct RareRing(RingBuf<MapData>);

impl std::fmt::Debug for RareRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RareRing")
    }
}

impl Tracer {
    /// Begins to record what this thread starts from now on, or all threads.
    ///
    /// # Errors
    ///
    /// Why that cannot be, for people.
    pub(super) fn start(whose: Whose) -> Result<Self, String> {
        possible()?;
        let types = types().map_err(|error| format!("the kernel's types: {error}"))?;
        load(whose, &types)
    }
}

/// What is missing for it; nothing that is asked here could end the process.
///
/// # Errors
///
/// The first thing that is missing.
pub(crate) fn possible() -> Result<(), String> {
    if !Path::new(TYPES).exists() {
        return Err(format!(
            "eBPF: the kernel does not have its types ({TYPES})"
        ));
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    let has = |bit: u32| mask.is_some_and(|mask| mask >> bit & 1 == 1);
    let may = has(CAP_SYS_ADMIN) || has(CAP_BPF) && has(CAP_PERFMON);
    if !may {
        return Err("eBPF is not permitted (it needs CAP_BPF and CAP_PERFMON, or root)".to_owned());
    }
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    if space != Path::new(FIRST_NAME_SPACE) {
        return Err("eBPF has other numbers of processes than this container".to_owned());
    }
    Ok(())
}

/// The kernel's types that are needed. The file is read 4 KiB at a time, thousands of times; from Linux 6.16 on it can be mapped.
fn types() -> Result<Btf, BtfError> {
    let bytes = std::fs::metadata(TYPES).map_or(0, |status| status.len() as usize);
    let mapped = std::fs::File::open(TYPES).and_then(|file| Shared::to_read(file, bytes));
    let few = |whole: &[u8]| {
        let tracepoints = FUNCTIONS.map(|(_, tracepoint)| tracepoint);
        let reduced = types::reduced(whole, &tracepoints);
        Btf::parse(reduced.as_deref().unwrap_or(whole), Endianness::default())
    };
    if let Ok(mapped) = mapped {
        return few(&mapped.bytes()[..bytes]);
    }
    match std::fs::read(TYPES) {
        Ok(whole) => few(&whole),
        Err(_) => Btf::from_sys_fs(), // says what is wrong
    }
}

/// aya's loader reads all of the kernel's types as soon as it is made, even where it is given some then (0.14): half of the launch. It does without if it cannot
/// open them, so that no file can be opened meanwhile; only in a process of one thread, which nothing else does meanwhile.
fn loader() -> EbpfLoader<'static> {
    let limit = getrlimit(Resource::Nofile);
    let alone = std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1);
    let none = Rlimit {
        current: Some(0),
        maximum: limit.maximum,
    };
    let is_closed = alone && setrlimit(Resource::Nofile, none).is_ok();
    let loader = EbpfLoader::new();
    if is_closed {
        // What was allowed before is allowed again.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    loader
}

fn load(whose: Whose, types: &Btf) -> Result<Tracer, String> {
    let processors = possible_processors();
    let bits = ring_bits(processors);
    let slots = processors << bits;
    // The loader reads it as if it were aligned.
    let object = OBJECT.to_vec();
    let system = u32::from(whose == Whose::All);
    let in_order = u32::from(cfg!(target_arch = "x86_64"));
    let launcher = rustix::thread::gettid().as_raw_nonzero().get();
    let launcher = u32::try_from(launcher).unwrap_or(0);
    let mut loader = loader();
    let loader = loader
        .btf(Some(types))
        .override_global("whole_system", &system, true)
        .override_global("launcher", &launcher, true)
        .override_global("ring_bits", &bits, true)
        .override_global("in_order", &in_order, true)
        .map_max_entries("places", processors)
        .map_max_entries("slots", slots);
    let mut program = loader.load(&object).map_err(|error| refusal(&error))?;
    let rings = Rings {
        places: shared(&mut program, "places", processors as usize * PLACE)?,
        slots: shared(&mut program, "slots", slots as usize * SLOT)?,
        processors,
        bits,
    };
    let losses = shared(&mut program, "losses", 16)?;
    let rares = take(&mut program, "rares")?;
    let rares = RingBuf::try_from(rares).map_err(|error| error.to_string())?;
    let threads = take(&mut program, "threads")?;
    let threads = HashMap::try_from(threads).map_err(|error| error.to_string())?;
    for (function, _) in FUNCTIONS {
        self::function(&mut program, function)?;
    }
    for (name, tracepoint) in FUNCTIONS {
        let function = function(&mut program, name)?;
        let loaded = function.load(tracepoint, types);
        let attached = loaded.and_then(|()| function.attach());
        attached.map_err(|error| refused(tracepoint, &error))?;
    }
    let allowed = match whose {
        Whose::All => perf::online(),
        _ => perf::allowed(),
    };
    Ok(Tracer {
        _program: program,
        rings,
        rares: RareRing(rares),
        losses,
        threads,
        processors: allowed,
        priorities: hashbrown::HashMap::new(),
        is_calm: true,
    })
}

fn function<'a>(program: &'a mut Ebpf, name: &str) -> Result<&'a mut BtfTracePoint, String> {
    let function = program.program_mut(name);
    let function = function.ok_or_else(|| format!("eBPF: no function {name}"))?;
    function
        .try_into()
        .map_err(|error: ProgramError| error.to_string())
}

fn take(program: &mut Ebpf, name: &str) -> Result<Map, String> {
    let map = program.take_map(name);
    map.ok_or_else(|| format!("eBPF: no map {name}"))
}

/// The values of an array of the program's.
fn shared(program: &mut Ebpf, name: &str, bytes: usize) -> Result<Shared, String> {
    let Some(Map::Array(map)) = program.map(name) else {
        return Err(format!("eBPF: no array {name}"));
    };
    Shared::of(map.fd(), bytes).map_err(|error| format!("eBPF: {name}: {error}"))
}

/// The innermost reason is the system's.
fn reason(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    let text = error.to_string();
    text.lines().next().unwrap_or_default().to_owned()
}

fn refusal(error: &EbpfError) -> String {
    format!("eBPF is refused: {}", reason(error))
}

fn refused(tracepoint: &str, error: &ProgramError) -> String {
    format!("eBPF is refused at {tracepoint}: {}", reason(error))
}

/// One more than the largest number of a processor.
fn possible_processors() -> u32 {
    let text = line("/sys/devices/system/cpu/possible");
    let last = text.rsplit([',', '-']).next();
    let last = last.and_then(|number| number.parse::<u32>().ok());
    last.unwrap_or(0).min(8191) + 1
}

fn ring_bits(processors: u32) -> u32 {
    let fits = |bits: &u32| ((processors as usize) << bits) * SLOT <= MOST_BYTES;
    (8..=RING_BITS).rev().find(fits).unwrap_or(8)
}

impl Source for Tracer {
    fn processors(&self) -> Vec<u32> {
        self.processors.clone()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        match self.is_calm {
            true => vec![self.rares.0.as_fd()],
            false => Vec::new(),
        }
    }

    fn period_ns(&self) -> i64 {
        match self.is_calm {
            true => CALM_PERIOD_NS,
            false => PERIOD_NS,
        }
    }

    fn drain(&mut self, each: &mut dyn FnMut(Record)) {
        // What happened up to now is in the rings: of two rings, neither gives what is behind something that the other one does not give yet.
        let up_to = now(ClockId::Monotonic);
        let mut rare = Vec::new();
        while let Some(bytes) = self.rares.0.next() {
            rare.extend(rings::rare(&bytes));
        }
        // Another processor may have been faster.
        rare.sort_by_key(|record| record.time);
        self.is_calm = !rare
            .iter()
            .any(|record| matches!(record.what, What::Exec(_)));
        let mut found = Vec::new();
        let known = self.rings.processors;
        let mut by_processor: Vec<Vec<Record>> = vec![Vec::new(); known as usize];
        for record in rare {
            if let Some(list) = by_processor.get_mut(record.processor as usize) {
                list.push(record);
            }
        }
        for (processor, rare) in (0..known).zip(by_processor) {
            let priorities = &mut self.priorities;
            let mut rare = rare.into_iter().peekable();
            self.rings.drain(processor, up_to, |slot| {
                while let Some(record) = rare.next_if(|record| record.time <= slot.time) {
                    found.push(record);
                }
                rings::told(&slot, processor, |record, priority| {
                    add(&mut found, priorities, record, priority);
                });
            });
            found.extend(rare);
            found.drain(..).for_each(&mut *each);
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Record)) {
        self.drain(each);
        for _ in 0..MOST_WAITS {
            if !self.is_ending() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
            self.drain(each);
        }
        let mut lose = |processor: u32, count: u64| {
            if count > 0 {
                each(Record {
                    time: now(ClockId::Monotonic),
                    processor,
                    thread: ThreadId::default(),
                    what: What::Lost(count),
                });
            }
        };
        for processor in 0..self.rings.processors {
            lose(processor, self.rings.lost(processor));
        }
        let lost = |at: usize| {
            let number = self.losses.number(at);
            number.load(std::sync::atomic::Ordering::Acquire)
        };
        lose(0, lost(0).saturating_add(lost(8)));
    }
}

impl Tracer {
    /// Whether a thread that is followed has told its parent that it ends, and has not left its processor yet.
    fn is_ending(&self) -> bool {
        self.threads.keys().flatten().any(|tid| {
            let stat = line(&format!("/proc/{tid}/stat"));
            let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
            state.is_none_or(|state| state.starts_with(['Z', 'X']))
        })
    }
}

/// Adds an event, and before it the thread's priority, where that is another one than before.
fn add(
    found: &mut Vec<Record>,
    priorities: &mut hashbrown::HashMap<u32, u32>,
    record: Record,
    priority: Option<u32>,
) {
    let tid = record.thread.tid;
    if record.what == What::Exit {
        priorities.remove(&tid);
    }
    if let Some(priority) = priority
        && priorities.insert(tid, priority) != Some(priority)
    {
        found.push(Record {
            what: What::Priority(priority),
            ..record.clone()
        });
    }
    found.push(record);
}

#[cfg(test)]
mod tests {
    use super::*;
    use sha2::Digest as _;

    /// `scripts/bpf.sh` puts the hash of the source into the object.
    #[test]
    fn the_object_is_that_of_its_source() {
        let source = include_bytes!("switches.bpf.c");
        let hash: String = sha2::Sha256::digest(source)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let is_there = OBJECT
            .windows(hash.len())
            .any(|part| part == hash.as_bytes());
        assert!(is_there, "run scripts/bpf.sh");
    }

    #[test]
    fn rings_are_smaller_where_there_are_many_processors() {
        assert_eq!(ring_bits(2), RING_BITS);
        for processors in [1, 64, 128, 300, 8192] {
            let bytes = (processors as usize * SLOT) << ring_bits(processors);
            assert!(bytes <= MOST_BYTES, "{processors}: {bytes}");
        }
    }

    #[test]
    fn a_priority_is_told_when_it_is_another_one() {
        let mut priorities = hashbrown::HashMap::new();
        let mut found = Vec::new();
        let thread = ThreadId { pid: 1, tid: 2 };
        let record = |what| Record {
            time: 5,
            processor: 0,
            thread,
            what,
        };
        for (what, priority) in [
            (What::In, Some(120)),
            (What::In, Some(120)),
            (What::In, Some(139)),
            (What::Exit, None),
            (What::In, Some(139)),
        ] {
            add(&mut found, &mut priorities, record(what), priority);
        }
        let whats: Vec<What> = found.into_iter().map(|record| record.what).collect();
        assert_eq!(
            whats,
            [
                What::Priority(120),
                What::In,
                What::In,
                What::Priority(139),
                What::In,
                What::Exit,
                What::Priority(139),
                What::In,
            ]
        );
    }
}
