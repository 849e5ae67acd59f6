//! Who ran on which processor, by the kernel's part of traces: time on processors, ready and blocked of every thread and process, switches,
//! migrations, use of processors over time, and who took the processor from whom.

mod collect;
mod load;
pub mod model;
#[cfg(test)]
mod tests;
mod threads;
mod waits;

use instr_trace::Error;
use instr_trace::kernel::{Part, Recorded, Records};

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
    collect(parts, each, &mut |_| {})
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
    collect(parts, &mut |_| {}, each)
}

fn collect(
    parts: &[&Part],
    slices: &mut dyn FnMut(&Slice<'_>),
    stretches: &mut dyn FnMut(&Stretch<'_>),
) -> Result<Allocation, Error> {
    let mut streams: Vec<Records> = Vec::new();
    for part in parts {
        streams.push(part.records()?);
    }
    let infos: Vec<_> = parts.iter().map(|part| part.info()).collect();
    let processors = parts.iter().flat_map(|part| part.processors());
    let mut collector = Collector::new(&infos, processors, (slices, stretches));
    loop {
        let times = streams.iter().map(Records::next_time).enumerate();
        let next = times.filter_map(|(at, time)| Some((time?, at))).min();
        let Some((_, at)) = next else { break };
        if let Some(record) = streams[at].next()? {
            collector.add(at, &record);
        }
    }
    let mut allocation = collector.finish();
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
