//! Who ran on which processor, by the kernel's part of traces: time on processors, ready and blocked of every thread and process, switches,
//! migrations, use of processors over time, and who took the processor from whom.

mod collect;
mod load;
pub mod model;
#[cfg(test)]
mod tests;
mod threads;
mod waits;
mod wakes;

use instr_trace::Error;
pub use instr_trace::kernel::Context;
use instr_trace::kernel::{Info, Part, Recorded, Records};

use collect::Collector;
pub use model::Allocation;

/// A time in which a processor ran a thread.
#[derive(Clone, Copy, Debug)]
pub struct Slice<'a> {
    /// Number of the processor.
    pub processor: u32,
    /// Begin, ns since that of the first recording.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Position of the application; `None`: another program of the system.
    pub application: Option<usize>,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// The thread's name.
    pub name: &'a str,
    /// The name of the process.
    pub process_name: &'a str,
    /// What the thread did then: `blocked`, `ready`, `ended`, or `unknown`.
    pub then: &'static str,
}

/// A time in which a thread was in one state.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// The thread's number: threads are numbered as they appear.
    pub thread: usize,
    /// `running`, `ready`, `blocked`, or `unknown` where events were lost.
    pub state: &'static str,
    /// Begin, ns since that of the first recording.
    pub begin_ns: u64,
    /// End.
    pub end_ns: u64,
    /// Position of the application; `None`: another program of the system.
    pub application: Option<usize>,
    /// The process: its number, as processes appear.
    pub process: usize,
    /// The system's number of it.
    pub pid: u32,
    /// The system's number of the thread.
    pub tid: u32,
    /// The thread's name.
    pub name: &'a str,
    /// The name of the process.
    pub process_name: &'a str,
}

/// A thread that waited was woken.
#[derive(Clone, Copy, Debug)]
pub struct Woken {
    /// When, ns since the begin of the first recording.
    pub time_ns: u64,
    /// Who ran on the processor that woke it.
    pub by_tid: u32,
    /// That one's process.
    pub by_pid: u32,
    /// Which processor that was.
    pub by_processor: u32,
    /// Whether it was that thread's doing.
    pub context: Context,
    /// Position of the woken thread's application; `None`: another program of the system.
    pub application: Option<usize>,
    /// The process of the woken thread.
    pub pid: u32,
    /// The woken thread.
    pub tid: u32,
}

/// What is told of each event, in order of time; by default nothing.
///
/// An output with lanes of processors or threads, or with arrows from who woke to who was woken, implements what it draws, and gives itself to [`each`].
pub trait Each {
    /// A processor ran a thread: in order of the ends.
    fn slice(&mut self, _slice: &Slice<'_>) {}
    /// A thread was in one state; those of a thread in order.
    fn stretch(&mut self, _stretch: &Stretch<'_>) {}
    /// A thread was woken: only where [`Allocation::recorder`] is `ebpf`.
    fn woken(&mut self, _woken: &Woken) {}
}

struct Slices<'a>(&'a mut dyn FnMut(&Slice<'_>));

impl Each for Slices<'_> {
    fn slice(&mut self, slice: &Slice<'_>) {
        (self.0)(slice);
    }
}

struct Stretches<'a>(&'a mut dyn FnMut(&Stretch<'_>));

impl Each for Stretches<'_> {
    fn stretch(&mut self, stretch: &Stretch<'_>) {
        (self.0)(stretch);
    }
}

/// What the parts say, on one time line. They are of one start of one machine ([`comparable`]).
///
/// # Errors
///
/// Streams that cannot be read.
pub fn allocation(parts: &[&Part]) -> Result<Allocation, Error> {
    each_slice(parts, &mut |_| {})
}

/// The same, and `each` gets every time in which a processor ran a thread, in order of their ends.
///
/// # Errors
///
/// Streams that cannot be read.
pub fn each_slice(parts: &[&Part], each: &mut dyn FnMut(&Slice<'_>)) -> Result<Allocation, Error> {
    self::each(parts, &mut Slices(each))
}

/// The same, and `each` gets every time in which a thread was in one state; those of a thread in order.
///
/// # Errors
///
/// Streams that cannot be read.
pub fn each_stretch(
    parts: &[&Part],
    each: &mut dyn FnMut(&Stretch<'_>),
) -> Result<Allocation, Error> {
    self::each(parts, &mut Stretches(each))
}

/// The same, and `told` gets all that happens.
///
/// # Errors
///
/// Streams that cannot be read.
pub fn each(parts: &[&Part], told: &mut dyn Each) -> Result<Allocation, Error> {
    let mut streams: Vec<Records> = Vec::new();
    for part in parts {
        streams.push(part.records()?);
    }
    let infos: Vec<_> = parts.iter().map(|part| part.info()).collect();
    let processors = parts.iter().flat_map(|part| part.processors());
    let mut collector = Collector::new(&infos, processors, told);
    loop {
        let times = streams.iter().map(Records::next_time).enumerate();
        let next = times.filter_map(|(at, time)| Some((time?, at))).min();
        let Some((_, at)) = next else { break };
        if let Some(record) = streams[at].next()? {
            collector.add(at, &record);
        }
    }
    let broken = |((stream, part), info): ((&Records, &&Part), &&Info)| match info.trouble {
        // Events could not be written: of no processor any more.
        Some(_) if part.has_switches() => part.processors().collect(),
        _ => stream.damaged_processors().to_vec(),
    };
    let broken: Vec<Vec<u32>> = streams.iter().zip(parts).zip(&infos).map(broken).collect();
    let mut allocation = collector.finish(&broken);
    allocation.damaged_streams = streams.iter().map(Records::damaged).sum();
    Ok(allocation)
}

/// Why these parts cannot be put on one time line; `None`: they can.
#[must_use]
pub fn comparable(parts: &[&Part]) -> Option<String> {
    let (first, rest) = parts.split_first()?;
    let same = |part: &&&Part| {
        let (a, b) = (part.info(), first.info());
        (&a.hostname, &a.boot_id) == (&b.hostname, &b.boot_id)
    };
    if let Some(other) = rest.iter().find(|part| !same(part)) {
        let (a, b) = (first.info(), other.info());
        return Some(match a.hostname == b.hostname {
            true => format!("{} was started between them", a.hostname),
            false => format!("they ran on {} and {}", a.hostname, b.hostname),
        });
    }
    let is_system = |part: &&Part| part.info().recorded == Recorded::System;
    (!rest.is_empty() && parts.iter().any(is_system)).then(|| {
        "one of them has the whole system, in which the others' threads are, too".to_owned()
    })
}
