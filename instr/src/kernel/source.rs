//! What records switches: perf's rings, or a program in the kernel ([`super::ebpf`]).

use std::fmt::Debug;
use std::os::fd::BorrowedFd;

use instr_trace::kernel::Record;

use super::perf::Ring;
use super::records::{self, Running};

/// Something that has records of processors.
pub(super) trait Source: Debug + Send {
    /// The processors that have streams from the begin on.
    fn processors(&self) -> Vec<u32>;
    /// What to wait for; it may be nothing.
    fn descriptors(&self) -> Vec<BorrowedFd<'_>>;
    /// It is looked at as often as this, however little there is: a process that has just begun can still be asked for its arguments.
    fn period_ns(&self) -> i64;
    /// Gives all records that are there to `each`, those of a processor in order of time.
    fn drain(&mut self, each: &mut dyn FnMut(Record));
    /// Ends to record, and gives what is left.
    fn finish(&mut self, each: &mut dyn FnMut(Record));
}

/// perf's rings.
#[derive(Debug)]
pub(super) struct Rings {
    rings: Vec<(Ring, Running)>,
    buffer: Vec<u8>,
}

/// How often rings are looked at that are not half full.
const PERIOD_NS: i64 = 20_000_000;

impl Rings {
    pub(super) fn new(rings: Vec<Ring>) -> Self {
        let rings = rings.into_iter().map(|ring| (ring, Running::default()));
        Self {
            rings: rings.collect(),
            buffer: Vec::new(),
        }
    }
}

impl Source for Rings {
    fn processors(&self) -> Vec<u32> {
        self.rings.iter().map(|(ring, _)| ring.processor).collect()
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        self.rings
            .iter()
            .map(|(ring, _)| ring.descriptor())
            .collect()
    }

    fn period_ns(&self) -> i64 {
        PERIOD_NS
    }

    fn drain(&mut self, each: &mut dyn FnMut(Record)) {
        for (ring, running) in &mut self.rings {
            let processor = ring.processor;
            ring.drain(&mut self.buffer, |bytes| {
                let record = records::event(bytes, processor);
                if let Some(record) = record.and_then(|record| running.complete(record)) {
                    each(record);
                }
            });
        }
    }

    fn finish(&mut self, each: &mut dyn FnMut(Record)) {
        // What is refused here has ended by itself.
        let _ = self.rings.iter().try_for_each(|(ring, _)| ring.disable());
        self.drain(each);
    }
}
