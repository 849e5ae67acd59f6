//! The rings into which the program in the kernel writes: one of slots for each processor, shared by memory, and the kernel's ring of what is rare.
//! The other side of every number here is in `switches.bpf.c`.

use std::io;
use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use instr_trace::kernel::{Context, Leave, Record, ThreadId, What};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes of a processor's place, `struct place`: its head, what was lost since the last slot, and, in a line of the cache of its own, the tail.
pub(super) const PLACE: usize = 128;
const HEAD: usize = 0;
const LOST: usize = 8;
const TAIL: usize = 64;
/// Bytes of a slot, `struct slot`.
pub(super) const SLOT: usize = 32;
/// Bytes of what is rare, `struct rare`.
const RARE: usize = 48;

/// Memory of a map of the kernel's.
#[derive(Debug)]
pub(super) struct Shared {
    address: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping is this process's own, and its owner alone uses it.
unsafe impl Send for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping was made with this address and size, and nothing refers to it any more.
        let _ = unsafe { munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

impl Shared {
    /// The values of a map, which has been made to be shared; so many bytes.
    pub(super) fn of(map: impl AsFd, bytes: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        Self::map(map, bytes, protection, MapFlags::SHARED)
    }

    /// A file of the kernel's, which does not change.
    pub(super) fn to_read(file: impl AsFd, bytes: usize) -> io::Result<Self> {
        Self::map(file, bytes, ProtFlags::READ, MapFlags::PRIVATE)
    }

    fn map(
        file: impl AsFd,
        bytes: usize,
        protection: ProtFlags,
        flags: MapFlags,
    ) -> io::Result<Self> {
        let bytes = bytes.next_multiple_of(rustix::param::page_size());
        let none = std::ptr::null_mut();
        // SAFETY: a new mapping where the system likes it, of a descriptor that allows this.
        let address = unsafe { mmap(none, bytes, protection, flags, file, 0) }?;
        let address = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { address, bytes })
    }

    /// All of it; of memory that nobody changes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping is so large, and lasts as long as this.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.bytes) }
    }

    /// A number that the kernel's program or this process changes.
    pub(super) fn number(&self, at: usize) -> &AtomicU64 {
        assert!(
            at.is_multiple_of(8) && at + 8 <= self.bytes,
            "outside of the map"
        );
        // SAFETY: aligned and inside, as has just been checked; both sides use it as a number that the other one may change.
        unsafe { AtomicU64::from_ptr(self.address.as_ptr().add(at).cast()) }
    }
}

/// A slot as it is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) time: u64,
    pub(super) first: ThreadId,
    pub(super) second: ThreadId,
    pub(super) bits: u64,
}

/// The rings of all processors.
#[derive(Debug)]
pub(super) struct Rings {
    pub(super) places: Shared,
    pub(super) slots: Shared,
    pub(super) processors: u32,
    /// Slots of a ring, as a power of two.
    pub(super) bits: u32,
}

impl Rings {
    /// Gives the slots of a processor up to this time to `each`, in order of time, and frees them.
    pub(super) fn drain(&self, processor: u32, up_to: u64, mut each: impl FnMut(Slot)) {
        let place = processor as usize * PLACE;
        let head = self.places.number(place + HEAD).load(Ordering::Acquire);
        let tail = self.places.number(place + TAIL);
        let mut at = tail.load(Ordering::Relaxed);
        while at < head {
            let slot = self.slot(processor, at);
            if slot.time > up_to {
                break;
            }
            each(slot);
            at += 1;
        }
        tail.store(at, Ordering::Release);
    }

    /// What a processor lost since its last slot. The program must have ended.
    pub(super) fn lost(&self, processor: u32) -> u64 {
        let at = processor as usize * PLACE + LOST;
        self.places.number(at).load(Ordering::Acquire)
    }

    fn slot(&self, processor: u32, at: u64) -> Slot {
        let in_ring = (at & ((1 << self.bits) - 1)) as usize;
        let slot = ((processor as usize) << self.bits | in_ring) * SLOT;
        let number = |at: usize| self.slots.number(slot + at).load(Ordering::Relaxed);
        let thread = |number: u64| ThreadId {
            tid: number as u32,
            pid: (number >> 32) as u32,
        };
        Slot {
            time: number(0),
            first: thread(number(8)),
            second: thread(number(16)),
            bits: number(24),
        }
    }
}

/// What a slot of a processor says; a priority comes along with each thread that begins to run.
pub(super) fn told(slot: &Slot, processor: u32, mut each: impl FnMut(Record, Option<u32>)) {
    let mut tell = |thread: ThreadId, what: What, priority: Option<u32>| {
        let record = Record {
            time: slot.time,
            processor,
            thread,
            what,
        };
        each(record, priority);
    };
    let is = |bit: u32| slot.bits >> bit & 1 == 1;
    let detail = slot.bits >> 2 & 3;
    match slot.bits & 3 {
        0 => {
            if is(4) {
                let what = match detail {
                    0 => What::Out(Leave::Blocked),
                    1 => What::Out(Leave::Ready),
                    2 => What::Out(Leave::Yielded),
                    _ => What::Exit,
                };
                tell(slot.first, what, None);
            }
            if is(5) {
                tell(slot.second, What::In, Some((slot.bits >> 16 & 0xff) as u32));
            }
        }
        1 => {
            let what = What::Wake {
                by: slot.first,
                processor,
                context: Context::of(detail as u32),
            };
            tell(slot.second, what, None);
        }
        _ => {
            let count = u64::from(slot.first.tid) | u64::from(slot.first.pid) << 32;
            tell(ThreadId::default(), What::Lost(count), None);
        }
    }
}

/// A begin, a new program or a name; nothing for what only calls the reader.
pub(super) fn rare(bytes: &[u8]) -> Option<Record> {
    let bytes: &[u8; RARE] = bytes.first_chunk()?;
    let number = |at: usize| {
        let field = bytes[at..].first_chunk().copied();
        u32::from_ne_bytes(field.unwrap_or_default())
    };
    let thread = |at: usize| ThreadId {
        tid: number(at),
        pid: number(at + 4),
    };
    let name = bytes[32..].split(|byte| *byte == 0).next();
    let name = || String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
    let what = match number(8) {
        0 => What::Fork(thread(24)),
        1 => What::Exec(name()),
        2 => What::Name(name()),
        _ => return None,
    };
    Some(Record {
        time: u64::from(number(0)) | u64::from(number(4)) << 32,
        processor: number(12),
        thread: thread(16),
        what,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(pid: u32, tid: u32) -> ThreadId {
        ThreadId { pid, tid }
    }

    fn slot(bits: u64) -> Slot {
        let (first, second) = (thread(10, 11), thread(20, 21));
        Slot {
            time: 5,
            first,
            second,
            bits,
        }
    }

    fn read(bits: u64) -> Vec<(ThreadId, What, Option<u32>)> {
        let mut found = Vec::new();
        told(&slot(bits), 3, |record, priority| {
            assert_eq!((record.time, record.processor), (5, 3));
            found.push((record.thread, record.what, priority));
        });
        found
    }

    #[test]
    fn a_switch_tells_of_those_that_are_followed() {
        let (from, to) = (thread(10, 11), thread(20, 21));
        let both = 1 << 4 | 1 << 5 | 120 << 8 | 101 << 16;
        let leaves = |leave| (from, What::Out(leave), None);
        let runs = (to, What::In, Some(101));
        assert_eq!(read(both), [leaves(Leave::Blocked), runs.clone()]);
        assert_eq!(read(both | 1 << 2), [leaves(Leave::Ready), runs.clone()]);
        assert_eq!(read(both | 2 << 2), [leaves(Leave::Yielded), runs.clone()]);
        assert_eq!(read(both | 3 << 2), [(from, What::Exit, None), runs]);
        assert_eq!(read(1 << 4), [leaves(Leave::Blocked)]);
        assert_eq!(read(1 << 5), [(to, What::In, Some(0))]);
    }

    #[test]
    fn a_wake_up_has_who_ran_there_and_whether_it_was_that_one() {
        let contexts = [Context::Thread, Context::Interrupt, Context::Unknown];
        for (number, context) in contexts.into_iter().enumerate() {
            let what = What::Wake {
                by: thread(10, 11),
                processor: 3,
                context,
            };
            let bits = 1 | (number as u64) << 2;
            assert_eq!(read(bits), [(thread(20, 21), what, None)]);
        }
    }

    #[test]
    fn a_loss_is_counted_in_64_bits() {
        let lost = What::Lost(11 | 10 << 32);
        assert_eq!(read(2), [(ThreadId::default(), lost, None)]);
    }

    #[test]
    fn what_is_rare_is_read_by_its_layout() {
        let words = [7u32, 1, 0, 2, 31, 30, 21, 20];
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(*b"a name\0\xff\xff\xff\xff\xff\xff\xff\xff\xff");
        let found = |kind: u8| {
            let mut bytes = bytes.clone();
            bytes[8] = kind;
            rare(&bytes)
        };
        let whats = [
            What::Fork(thread(20, 21)),
            What::Exec("a name".into()),
            What::Name("a name".into()),
        ];
        for (kind, what) in whats.into_iter().enumerate() {
            let record = Record {
                time: 7 + (1 << 32),
                processor: 2,
                thread: thread(30, 31),
                what,
            };
            assert_eq!(found(kind as u8), Some(record));
        }
        assert_eq!(found(3), None);
        for end in 0..bytes.len() {
            assert_eq!(rare(&bytes[..end]), None);
        }
    }
}
