//! Events of perf for the program and all that it starts: one inherited event for each processor, so that nothing is missed. What all together counted is
//! read from the events; what each thread counted comes as a record when it ends. A program that runs already has one inherited event for each of its threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::path::Path;

use instr_trace::kernel::series::{Definition, Module, Nature, Scope, Unit, scaled};
use perf_event_open_sys as sys;
use sys::bindings::{
    PERF_COUNT_SW_DUMMY, PERF_FLAG_FD_CLOEXEC, PERF_FORMAT_ID, PERF_FORMAT_TOTAL_TIME_ENABLED,
    PERF_FORMAT_TOTAL_TIME_RUNNING, PERF_RECORD_LOST, PERF_RECORD_READ, PERF_SAMPLE_TID,
    PERF_SAMPLE_TIME, PERF_TYPE_SOFTWARE, perf_event_attr,
};

use super::config::Config;
use super::events::{Encoded, Named};
use super::out::{Out, Source};
use super::processes::numbers;
use super::{Roots, Whose};
use crate::kernel::perf::{self, Ring};

/// Pages of the ring in which ends of threads come: the first that the system allows.
const PAGES: [usize; 4] = [32, 16, 8, 4];
/// Events of processors that are counted together.
const IN_A_GROUP: usize = 4;
/// Bytes of a record of an ending thread: header, thread, four numbers, thread and time.
const RECORD: usize = 64;
/// Events which happen in the kernel: counted nowhere else, they are never seen.
const OF_KERNEL: [&str; 2] = ["context-switches", "cpu-migrations"];

/// What an event counted, and in how much time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    value: u64,
    enabled: u64,
    running: u64,
}

impl Count {
    fn of(numbers: [u64; 3]) -> Self {
        let [value, enabled, running] = numbers;
        Self {
            value,
            enabled,
            running,
        }
    }

    /// With what another processor counted of the same threads: an event of a processor is enabled also while its thread runs on others.
    fn with(self, other: Self) -> Self {
        Self {
            value: self.value.saturating_add(other.value),
            enabled: self.enabled.max(other.enabled),
            running: self.running.saturating_add(other.running),
        }
    }

    /// With what was counted of other threads.
    fn and(self, other: Self) -> Self {
        Self {
            value: self.value.saturating_add(other.value),
            enabled: self.enabled.saturating_add(other.enabled),
            running: self.running.saturating_add(other.running),
        }
    }

    /// The part of the time in which it was not counted is more than what clocks differ.
    fn is_estimate(self) -> bool {
        let missing = self.enabled.saturating_sub(self.running);
        missing > self.enabled / 100 && missing > 100_000
    }
}

/// An event, opened.
struct Counter {
    name: String,
    unit: Unit,
    scale: f64,
    software: bool,
    /// One for each processor, or thread, with its id in the kernel; `None`: the thread had ended.
    files: Vec<Option<(File, u64)>>,
    series: Option<u32>,
}

impl Counter {
    fn put(&self, out: &mut Out, series: u32, count: Count) {
        let scale = |value: u64| match self.scale == 1.0 {
            true => value,
            false => (value as f64 * self.scale).round() as u64,
        };
        if self.software || !count.is_estimate() {
            return out.value(series, scale(count.value));
        }
        if let Some(value) = scaled(count.value, count.enabled, count.running) {
            let counted = (scale(value), scale(count.value));
            out.estimate(series, counted, count.enabled, count.running);
        }
    }
}

/// A thread that has ended.
#[derive(Default)]
struct Ended {
    pid: u32,
    /// By the event's id in the kernel.
    counts: BTreeMap<u64, Count>,
    /// Readings since its last record.
    age: u32,
}

/// The counters.
pub(super) struct Counters {
    counters: Vec<Counter>,
    rings: Vec<Ring>,
    buffer: Vec<u8>,
    ended: BTreeMap<u32, Ended>,
    /// Position of the counter by the event's id.
    ids: BTreeMap<u64, usize>,
    lost: u64,
    /// An event has one file for each thread that ran already, else one for each processor.
    of_threads: bool,
    /// An event that children do not inherit. Without it the kernel may give the first child the events of this thread in place of copies of its own, and of
    /// the end of such a child there is no record.
    _own: Option<OwnedFd>,
}

/// What an event is for.
#[derive(Clone, Copy)]
enum Target {
    /// What this thread starts, while it is on the processor.
    Processor(u32),
    /// A thread that runs already, and what it starts, on every processor.
    Thread(u32),
    /// What this thread starts, on every processor.
    Children,
}

/// Where and with what an event is opened.
struct Place {
    target: Target,
    leader: Option<i32>,
    threads: bool,
    user_only: bool,
}

fn open(event: &Encoded, place: &Place) -> io::Result<OwnedFd> {
    let mut attr = attribute(event);
    attr.set_inherit(1);
    attr.set_inherit_stat(u64::from(place.threads));
    let waits = place.leader.is_none() && !matches!(place.target, Target::Thread(_));
    attr.set_disabled(u64::from(waits));
    attr.set_enable_on_exec(u64::from(waits));
    attr.set_exclude_kernel(u64::from(place.user_only));
    attr.set_exclude_hv(u64::from(place.user_only));
    attr.sample_type = u64::from(PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
    attr.set_sample_id_all(1);
    attr.clockid = libc::CLOCK_MONOTONIC;
    attr.set_use_clockid(1);
    attr.set_watermark(1);
    attr.__bindgen_anon_2.wakeup_watermark = 4096;
    let number = |number: u32| i32::try_from(number).unwrap_or(-1);
    let (pid, processor) = match place.target {
        Target::Processor(processor) => (0, number(processor)),
        Target::Thread(tid) => (number(tid), -1),
        Target::Children => (0, -1),
    };
    opened(&mut attr, pid, processor, place.leader.unwrap_or(-1))
}

fn attribute(event: &Encoded) -> perf_event_attr {
    let mut attr = perf_event_attr {
        type_: event.kind,
        size: size_of::<perf_event_attr>() as u32,
        config: event.config[0],
        ..Default::default()
    };
    attr.__bindgen_anon_3.config1 = event.config[1];
    attr.__bindgen_anon_4.config2 = event.config[2];
    attr.read_format =
        u64::from(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID);
    attr
}

/// An event of this thread alone, which counts nothing.
fn own_event() -> io::Result<OwnedFd> {
    let mut attr = attribute(&Encoded {
        kind: PERF_TYPE_SOFTWARE,
        config: [u64::from(PERF_COUNT_SW_DUMMY), 0, 0],
        scale: 1.0,
        unit: String::new(),
    });
    attr.set_disabled(1);
    attr.set_exclude_kernel(1);
    opened(&mut attr, 0, -1, -1)
}

/// An event of all that runs on a processor.
pub(super) fn open_device(event: &Encoded, processor: u32) -> io::Result<File> {
    let mut attr = attribute(event);
    let processor = i32::try_from(processor).unwrap_or(-1);
    opened(&mut attr, -1, processor, -1).map(File::from)
}

fn opened(attr: &mut perf_event_attr, pid: i32, cpu: i32, group: i32) -> io::Result<OwnedFd> {
    // SAFETY: `attr` is a whole structure with its size in it, which outlives the call.
    let fd =
        unsafe { sys::perf_event_open(attr, pid, cpu, group, u64::from(PERF_FLAG_FD_CLOEXEC)) };
    match fd < 0 {
        true => Err(io::Error::last_os_error()),
        // SAFETY: the descriptor is new, and nobody else has it.
        false => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
    }
}

/// What an event counted so far, and its id.
pub(super) fn read(mut file: &File) -> io::Result<([u64; 3], u64)> {
    let mut bytes = [0; 32];
    file.read_exact(&mut bytes)?;
    let number =
        |at: usize| u64::from_ne_bytes(bytes[at * 8..].first_chunk().copied().unwrap_or_default());
    Ok(([number(0), number(1), number(2)], number(3)))
}

/// Why perf does not have an event, for people.
pub(super) fn refusal(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine has no such event, or does not show it".to_owned()
        }
        Some(libc::EINVAL) => "the kernel does not count it for threads".to_owned(),
        _ => perf::refusal(error),
    }
}

impl Counters {
    /// Opens the events for the program. What is refused is told to `out`.
    pub(super) fn open(config: &Config, roots: &Roots, out: &mut Out) -> Self {
        let sys = roots.sys();
        let (targets, threads) = match roots.whose {
            Whose::Descendants(_) => {
                let processors = perf::allowed().into_iter();
                (processors.map(Target::Processor).collect(), config.threads)
            }
            Whose::Running(pid) => {
                if config.threads {
                    let why = "threads one by one: not of a process that runs already";
                    out.refuse(Module::Counters, why);
                }
                let threads = numbers(roots.proc().join(format!("{pid}/task")));
                (threads.map(Target::Thread).collect::<Vec<_>>(), false)
            }
        };
        let mut all = Self {
            counters: Vec::new(),
            rings: Vec::new(),
            buffer: Vec::new(),
            ended: BTreeMap::new(),
            ids: BTreeMap::new(),
            lost: 0,
            of_threads: matches!(roots.whose, Whose::Running(_)),
            _own: own_event().ok(),
        };
        let mut ring_wanted = threads;
        let (software, hardware): (Vec<_>, Vec<_>) =
            config.events.iter().partition(|event| event.is_software());
        let groups = software
            .chunks(software.len().max(1))
            .chain(hardware.chunks(IN_A_GROUP));
        for group in groups {
            let mut leaders: Vec<Option<i32>> = vec![None; targets.len()];
            for event in group {
                match Self::one(event, (&targets, &leaders), threads, &sys) {
                    Ok((counter, trouble)) => {
                        for (leader, file) in leaders.iter_mut().zip(&counter.files) {
                            let file = file.as_ref().map(|(file, _)| file.as_raw_fd());
                            *leader = leader.or(file);
                        }
                        if let Some(why) = trouble {
                            out.refuse(Module::Counters, &why);
                        }
                        if let Err(error) = all.add(counter, &targets, &mut ring_wanted) {
                            let why = format!("threads one by one: {}", perf::refusal(&error));
                            out.refuse(Module::Counters, &why);
                        }
                    }
                    Err(why) => out.refuse(Module::Counters, &format!("{}: {why}", event.name())),
                }
            }
        }
        all
    }

    /// Opens an event for each processor, or thread; also tells what it does not count.
    fn one(
        event: &Named,
        (targets, leaders): (&[Target], &[Option<i32>]),
        threads: bool,
        sys: &Path,
    ) -> Result<(Counter, Option<String>), String> {
        let encoded = event.encoded(sys)?;
        let at = |user_only: bool| {
            let places = targets.iter().zip(leaders);
            let files = places.map(|(target, leader)| {
                let place = Place {
                    target: *target,
                    leader: *leader,
                    threads,
                    user_only,
                };
                let file = match open(&encoded, &place) {
                    Ok(file) => File::from(file),
                    Err(error)
                        if error.raw_os_error() == Some(libc::ESRCH)
                            && matches!(target, Target::Thread(_)) =>
                    {
                        return Ok(None);
                    }
                    Err(error) => return Err(error),
                };
                let (_, id) = read(&file)?;
                Ok(Some((file, id)))
            });
            files.collect::<io::Result<Vec<_>>>()
        };
        let mut name = event.name().to_owned();
        let mut trouble = None;
        let files = match at(false) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => {
                if OF_KERNEL.contains(&event.name()) {
                    return Err(refusal(&error));
                }
                // Clocks run in the kernel, too, whatever is asked for.
                if !name.ends_with("-clock") {
                    trouble = Some(format!(
                        "{name}: counted in user code only: {}",
                        refusal(&error)
                    ));
                    name.push_str(":u");
                }
                at(true)
            }
            other => other,
        };
        let files = files.map_err(|error| refusal(&error))?;
        let (unit, scale) = match (event.name(), encoded.unit.as_str()) {
            ("task-clock" | "cpu-clock", _) => (Unit::Ns, 1.0),
            (_, unit) => scale_of(unit, encoded.scale),
        };
        let counter = Counter {
            name,
            unit,
            scale,
            software: event.is_software(),
            files,
            series: None,
        };
        Ok((counter, trouble))
    }

    /// Takes a counter, and the records of ending threads into the rings.
    fn add(&mut self, counter: Counter, targets: &[Target], wanted: &mut bool) -> io::Result<()> {
        let position = self.counters.len();
        let files = counter.files.iter().flatten();
        self.ids.extend(files.map(|(_, id)| (*id, position)));
        let mapped = match *wanted {
            true => self.records(&counter, targets),
            false => Ok(()),
        };
        if mapped.is_err() {
            *wanted = false;
            self.rings.clear();
        }
        self.counters.push(counter);
        mapped
    }

    fn records(&mut self, counter: &Counter, targets: &[Target]) -> io::Result<()> {
        let first = self.rings.is_empty();
        let processors = targets.iter().filter_map(|target| match target {
            Target::Processor(processor) => Some(*processor),
            Target::Thread(_) | Target::Children => None,
        });
        let files = counter.files.iter().flatten();
        for (at, ((file, _), processor)) in files.zip(processors).enumerate() {
            if first {
                let page = rustix::param::page_size();
                let mut mapped = Err(io::ErrorKind::OutOfMemory.into());
                for pages in PAGES {
                    let event = OwnedFd::from(file.try_clone()?);
                    mapped = Ring::map(processor, event, pages * page);
                    if mapped.is_ok() {
                        break;
                    }
                }
                self.rings.push(mapped?);
                continue;
            }
            let ring = self.rings[at].descriptor().as_raw_fd();
            // SAFETY: both descriptors are events of one processor.
            let set = unsafe { sys::ioctls::SET_OUTPUT(file.as_raw_fd(), ring) };
            if set != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Takes the records of threads that have ended.
    fn drain(&mut self) {
        let (ended, lost) = (&mut self.ended, &mut self.lost);
        for ring in &mut self.rings {
            ring.drain(&mut self.buffer, |bytes| {
                if let Some((pid, tid, id, count)) = ending(bytes) {
                    let thread = ended.entry(tid).or_default();
                    thread.pid = pid;
                    thread.age = 0;
                    thread.counts.insert(id, count);
                } else if let Some(count) = missed(bytes) {
                    *lost = lost.saturating_add(count);
                }
            });
        }
    }

    /// Writes threads that ended before the last reading.
    fn put_ended(&mut self, out: &mut Out, all: bool) {
        let mut ripe = Vec::new();
        for (tid, thread) in &mut self.ended {
            thread.age += 1;
            if all || thread.age > 1 {
                ripe.push(*tid);
            }
        }
        for tid in ripe {
            let Some(thread) = self.ended.remove(&tid) else {
                continue;
            };
            let mut sums: BTreeMap<usize, Count> = BTreeMap::new();
            for (id, count) in &thread.counts {
                if let Some(position) = self.ids.get(id) {
                    let sum = sums.entry(*position).or_default();
                    *sum = sum.with(*count);
                }
            }
            for (position, count) in sums {
                let counter = &self.counters[position];
                let series = out.define(definition(counter, Scope::Thread, thread.pid, tid));
                counter.put(out, series, count);
            }
        }
    }
}

/// Counters of the programs that this thread starts next, and of all that these start.
pub(crate) struct OfChildren {
    counters: Vec<Counter>,
    /// See [`Counters`].
    _own: Option<OwnedFd>,
}

/// What one of them counted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Counted {
    /// The event, as far as it may be counted: `cycles:u` where that is user code alone.
    pub(crate) name: String,
    /// Events, ns, bytes or µJ.
    pub(crate) value: u64,
    /// The processor counted it for a part of the time.
    pub(crate) is_estimate: bool,
}

impl OfChildren {
    /// Opens the events; `sys`: the folder `/sys`. `refuse` gets the name of each event that is not counted, or not wholly, and why.
    pub(crate) fn open(events: &[Named], sys: &Path, refuse: &mut dyn FnMut(&str, &str)) -> Self {
        let mut counters = Vec::new();
        let (software, hardware): (Vec<_>, Vec<_>) =
            events.iter().partition(|event| event.is_software());
        let groups = software
            .chunks(software.len().max(1))
            .chain(hardware.chunks(IN_A_GROUP));
        for group in groups {
            let mut leader = [None];
            for event in group {
                match Counters::one(event, (&[Target::Children], &leader), false, sys) {
                    Ok((counter, trouble)) => {
                        let first = counter.files.first().and_then(Option::as_ref);
                        leader[0] = leader[0].or(first.map(|(file, _)| file.as_raw_fd()));
                        if let Some(why) = trouble {
                            refuse(event.name(), &why);
                        }
                        counters.push(counter);
                    }
                    Err(why) => refuse(event.name(), &why),
                }
            }
        }
        Self {
            counters,
            _own: own_event().ok(),
        }
    }

    /// What they have counted. An event that the processor never counted is left out.
    pub(crate) fn read(&self) -> Vec<Counted> {
        let one = |counter: &Counter| {
            let (file, _) = counter.files.first()?.as_ref()?;
            let count = Count::of(read(file).ok()?.0);
            let is_estimate = !counter.software && count.is_estimate();
            let value = match is_estimate {
                true => scaled(count.value, count.enabled, count.running)?,
                false => count.value,
            };
            Some(Counted {
                name: counter.name.clone(),
                value: (value as f64 * counter.scale).round() as u64,
                is_estimate,
            })
        };
        self.counters.iter().filter_map(one).collect()
    }
}

fn definition(counter: &Counter, scope: Scope, pid: u32, number: u32) -> Definition {
    Definition {
        module: Module::Counters,
        scope,
        pid,
        number,
        nature: Nature::Total,
        unit: counter.unit,
        name: counter.name.clone(),
    }
}

/// The unit of a device's event, and what one count is of it.
pub(super) fn scale_of(unit: &str, scale: f64) -> (Unit, f64) {
    match unit {
        "MiB" => (Unit::Bytes, scale * f64::from(1 << 20)),
        "Bytes" | "bytes" => (Unit::Bytes, scale),
        "Joules" => (Unit::Microjoules, scale * 1e6),
        "ns" => (Unit::Ns, scale),
        _ => (Unit::Count, scale),
    }
}

/// Process, thread, event and count of a record of an ending thread.
fn ending(bytes: &[u8]) -> Option<(u32, u32, u64, Count)> {
    let small = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    let wide = |at: usize| Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    if bytes.len() != RECORD || small(0)? != PERF_RECORD_READ {
        return None;
    }
    let count = Count::of([wide(16)?, wide(24)?, wide(32)?]);
    Some((small(8)?, small(12)?, wide(40)?, count))
}

/// How many records the ring had no room for.
fn missed(bytes: &[u8]) -> Option<u64> {
    let kind = u32::from_ne_bytes(*bytes.first_chunk()?);
    let count = u64::from_ne_bytes(*bytes.get(16..)?.first_chunk()?);
    (kind == PERF_RECORD_LOST).then_some(count)
}

impl Source for Counters {
    fn read(&mut self, out: &mut Out) {
        self.drain();
        self.put_ended(out, false);
        for counter in &mut self.counters {
            let files = counter.files.iter().flatten();
            let counts = files.filter_map(|(file, _)| read(file).ok());
            let counts = counts.map(|(numbers, _)| Count::of(numbers));
            let count = match self.of_threads {
                true => counts.fold(Count::default(), Count::and),
                false => counts.fold(Count::default(), Count::with),
            };
            let series = match counter.series {
                Some(series) => series,
                None => out.define(definition(counter, Scope::Tree, 0, 0)),
            };
            counter.series = Some(series);
            counter.put(out, series, count);
        }
    }

    fn wake_ups(&self) -> Vec<BorrowedFd<'_>> {
        self.rings.iter().map(Ring::descriptor).collect()
    }

    fn woken(&mut self) {
        self.drain();
    }

    fn finish(&mut self, out: &mut Out) {
        self.read(out);
        self.put_ended(out, true);
        if self.lost > 0 {
            let why = format!("the ends of threads: {} counts were lost", self.lost);
            out.refuse(Module::Counters, &why);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_processors_are_one_threads() {
        // A thread of 10 ms, 6 on one processor and 4 on another: counted all the time.
        let ms = 1_000_000;
        let one = Count::of([60, 10 * ms, 6 * ms]);
        let sum = one.with(Count::of([40, 10 * ms, 4 * ms]));
        assert_eq!(sum, Count::of([100, 10 * ms, 10 * ms]));
        assert!(!sum.is_estimate());
        // Half of the time on each: the group had the processor for half of it.
        let half = Count::of([30, 10 * ms, 3 * ms]).with(Count::of([20, 10 * ms, 2 * ms]));
        assert!(half.is_estimate());
        assert_eq!(scaled(half.value, half.enabled, half.running), Some(100));
    }

    #[test]
    fn an_ending_thread_is_read_as_perf_event_open_describes_it() {
        let words: [u32; 16] = [
            PERF_RECORD_READ,
            64 << 16,
            20,
            22,
            5,
            0,
            7,
            0,
            6,
            0,
            99,
            0,
            20,
            22,
            1,
            0,
        ];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        assert_eq!(ending(&bytes), Some((20, 22, 99, Count::of([5, 7, 6]))));
        for end in 0..bytes.len() {
            assert_eq!(ending(&bytes[..end]), None);
        }
        assert_eq!(missed(&bytes), None);
    }

    #[test]
    fn units_of_devices_are_whole() {
        assert_eq!(scale_of("MiB", 1.0 / 16384.0), (Unit::Bytes, 64.0));
        assert_eq!(
            scale_of("Joules", 2.0f64.powi(-32)),
            (Unit::Microjoules, 1e6 / 4294967296.0)
        );
    }
}
