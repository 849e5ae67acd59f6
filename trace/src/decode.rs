//! Bytes of one event to its payload.

use crate::clock::Clock;
use crate::event::{Addresses, Args, Deps, Payload, RegionId, TaskId};
use crate::layout::{Layout, WordSize};

/// Bytes of the header word.
pub(crate) const EVENT_HEADER: usize = 8;
/// Low bits of the clock in an event header.
const TIME_BITS: u32 = 56;
/// Id of `flush`.
pub(crate) const FLUSH: u8 = 4;
/// An event longer than this is taken for damage.
pub(crate) const MAX_EVENT: usize = 16 << 20;

/// How far the bytes at hand reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    /// The event takes this many bytes, header included.
    Known(usize),
    /// At least this many bytes are needed to tell.
    AtLeast(usize),
    /// No event begins here.
    Bad,
}

/// Bit of `parallel_begin.kind`: the function is a return address.
const CALL_SITE: u32 = 0x100;

/// Ids are smaller than this.
const IDS: usize = 128;
const VARIABLE: u8 = 0xff;
const NONE: u8 = 0xfe;

/// Payload bytes of each id, without those that vary.
const fn sizes(word: usize) -> [u8; IDS] {
    let w = word as u8;
    let mut table = [NONE; IDS];
    let rows = [
        (1, 8),
        (2, 0),
        (3, 24),
        (4, 12),
        (5, 0),
        (6, 0),
        (7, VARIABLE),
        (8, 12),
        (9, w),
        (10, 0),
        (11, w + 8),
        (12, VARIABLE),
        (13, 8),
        (16, 12 + w),
        (17, 4),
        (18, 16),
        (19, 0),
        (20, 36),
        (21, 4),
        (22, 4),
        (23, 16),
        (24, 4),
        (25, 0),
        (26, 4),
        (27, w),
        (28, 0),
        (29, 0),
        (30, 0),
        (31, 0),
        (32, 4),
        (33, 4),
        (34, 4 + w),
        (35, 4 + w),
        (36, 4 + w),
        (37, 4 + w),
        (38, 8),
        (39, VARIABLE),
        (40, VARIABLE),
        (41, 0),
        (42, 8),
        (43, 0),
        (44, VARIABLE),
        (45, VARIABLE),
        (46, 40 + w),
        (47, 0),
        (48, 0),
        (49, 28),
        (50, 0),
        (51, 8),
        (52, 8 + w),
        (53, 8 + w),
        (54, 12 + w),
        (55, 4),
        (56, 12 + 2 * w),
        (57, 4 + w),
        (64, VARIABLE),
        (65, 8),
        (66, VARIABLE),
        (72, 12 + 2 * w),
        (73, 4 + w),
        (74, 8 + 3 * w),
        (75, 8 + 2 * w),
        (76, 8 + w),
        (77, 16 + 3 * w),
        (78, 32),
        (79, 4 + 3 * w),
        (80, 16),
        (81, VARIABLE),
        (82, VARIABLE),
        (83, 4),
        (88, 12),
        (89, 4),
    ];
    let mut row = 0;
    while row < rows.len() {
        table[rows[row].0] = rows[row].1;
        row += 1;
    }
    table
}

static SIZES: [[u8; IDS]; 2] = [sizes(4), sizes(8)];

/// Id and low 56 bits of the clock.
#[inline]
pub(crate) fn header(bytes: &[u8], layout: Layout) -> (u8, u64) {
    let word = layout.u64(bytes, 0);
    match layout.order {
        crate::layout::ByteOrder::Little => ((word & 0xff) as u8, word >> 8),
        crate::layout::ByteOrder::Big => ((word >> TIME_BITS) as u8, word & ((1 << TIME_BITS) - 1)),
    }
}

/// Full clock value of an event whose header carries `low`, not earlier than `last`.
#[inline]
pub(crate) fn extend(last: u64, low: u64) -> Option<u64> {
    const MASK: u64 = (1 << TIME_BITS) - 1;
    let time = (last & !MASK) | low;
    if time >= last {
        Some(time)
    } else {
        time.checked_add(1 << TIME_BITS)
    }
}

/// Size of the event at the start of `bytes` (at least 8 of them).
#[inline]
pub(crate) fn size(bytes: &[u8], layout: Layout) -> Size {
    let id = header(bytes, layout).0;
    let fixed = SIZES[usize::from(layout.word == WordSize::Eight)]
        .get(usize::from(id))
        .copied()
        .unwrap_or(NONE);
    match fixed {
        VARIABLE => variable_size(id, bytes, layout),
        NONE => Size::Bad,
        fixed => Size::Known(EVENT_HEADER + usize::from(fixed)),
    }
}

fn variable_size(id: u8, bytes: &[u8], layout: Layout) -> Size {
    let word = layout.word_bytes();
    // Offset of the count, and bytes of one entry.
    let (count_at, entry) = match id {
        7 => return string_size(bytes, EVENT_HEADER, word),
        12 => (EVENT_HEADER + word, 8),
        40 => (EVENT_HEADER + 4 + word + 4, word + 4),
        39 | 64 | 66 => (EVENT_HEADER + 4, 8),
        44 => (EVENT_HEADER + 4, word + 4),
        81 => (EVENT_HEADER + 2 * word + 4, word),
        82 => (EVENT_HEADER + 2 * word + 8, word),
        _ => (EVENT_HEADER + 8, word + 4),
    };
    if bytes.len() < count_at + 4 {
        return Size::AtLeast(count_at + 4);
    }
    let count = layout.u32(bytes, count_at) as usize;
    match count
        .checked_mul(entry)
        .and_then(|tail| tail.checked_add(count_at + 4))
    {
        Some(size) if size <= MAX_EVENT => Size::Known(size),
        _ => Size::Bad,
    }
}

/// A text at `at`, up to its zero byte, then an address at the next multiple of 4.
fn string_size(bytes: &[u8], at: usize, word: usize) -> Size {
    let Some(text) = bytes.get(at..) else {
        return Size::AtLeast(at + 4);
    };
    match text.iter().position(|byte| *byte == 0) {
        Some(end) => Size::Known((at + end + 1).next_multiple_of(4) + word),
        None if bytes.len() >= MAX_EVENT => Size::Bad,
        None => Size::AtLeast(bytes.len() + 1),
    }
}

/// The payload of the complete event at the start of `bytes`. Unknown ids give `None`.
#[inline]
pub(crate) fn payload<'a>(bytes: &'a [u8], layout: Layout, clock: &Clock) -> Option<Payload<'a>> {
    let id = header(bytes, layout).0;
    let fields = bytes.get(EVENT_HEADER..)?;
    let word = layout.word_bytes();
    let u32 = |at| layout.u32(fields, at);
    let u64 = |at| layout.u64(fields, at);
    let i64 = |at| layout.u64(fields, at) as i64;
    let addr = |at| layout.addr(fields, at);
    let task = |at| TaskId {
        thread: layout.u32(fields, at),
        seq: layout.u32(fields, at + 4),
    };
    let tail = |at: usize| fields.get(at..).unwrap_or_default();
    Some(match id {
        1 => Payload::ThreadBegin {
            os_tid: u32(0),
            flags: u32(4),
        },
        2 => Payload::ThreadEnd,
        3 => Payload::ClockSync {
            ticks: u64(0),
            monotonic_ns: u64(8),
            realtime_ns: u64(16),
        },
        4 => Payload::Flush {
            begin: clock.to_ns(u64(0)),
            bytes: u32(8),
        },
        5 => Payload::TracingOff,
        6 => Payload::TracingOn,
        7 => {
            let end = fields.iter().position(|byte| *byte == 0)?;
            let address = (end + 1).next_multiple_of(4);
            fields.get(address..address + word)?;
            Payload::String {
                address: addr(address),
                text: &fields[..end],
            }
        }
        8 => Payload::UserEvent {
            kind: u32(0),
            value: u64(4),
        },
        9 => Payload::RegionBegin { name: addr(0) },
        10 => Payload::RegionEnd,
        11 => Payload::Counter {
            name: addr(0),
            value: i64(word),
        },
        12 => Payload::CallBegin {
            name: addr(0),
            args: Args::new(tail(word + 4), layout),
        },
        13 => Payload::CallEnd { result: u64(0) },
        16 => {
            let kind = u32(word + 8);
            Payload::ParallelBegin {
                seq: u32(0),
                function: addr(4),
                requested: u32(word + 4),
                kind: kind.into(),
                call_site: kind & CALL_SITE != 0,
            }
        }
        17 => Payload::ParallelEnd { seq: u32(0) },
        18 => {
            let region = RegionId {
                thread: u32(0),
                seq: u32(4),
            };
            Payload::ImplicitBegin {
                region,
                thread_num: u32(8),
                team_size: u32(12),
            }
        }
        19 => Payload::ImplicitEnd,
        20..=31 => return work_payload(id, fields, layout),
        32 => Payload::SyncBegin {
            kind: u32(0).into(),
        },
        33 => Payload::SyncEnd {
            kind: u32(0).into(),
        },
        34 => Payload::MutexAcquire {
            kind: u32(0).into(),
            object: addr(4),
        },
        35 => Payload::MutexAcquired {
            kind: u32(0).into(),
            object: addr(4),
        },
        36 => Payload::MutexReleased {
            kind: u32(0).into(),
            object: addr(4),
        },
        37 => Payload::MutexFailed {
            kind: u32(0).into(),
            object: addr(4),
        },
        38 => Payload::Cancel {
            kind: u32(0),
            flags: u32(4),
        },
        39 => Payload::Doacross {
            source: u32(0) == 1,
            vector: Args::new(tail(8), layout),
        },
        40 => Payload::TaskCreate {
            seq: u32(0),
            function: addr(4),
            flags: u32(4 + word),
            deps: Deps::new(tail(12 + word), layout),
        },
        41 => Payload::TaskCreated,
        42 => Payload::TaskBegin { task: task(0) },
        43 => Payload::TaskEnd,
        44 => Payload::TaskDepend {
            seq: u32(0),
            deps: Deps::new(tail(8), layout),
        },
        45 => Payload::TaskwaitDepend {
            seq: u32(0),
            nowait: u32(4) & 1 != 0,
            deps: Deps::new(tail(12), layout),
        },
        46 => Payload::TaskloopBegin {
            seq: u32(0),
            function: addr(4),
            flags: u32(4 + word),
            num_tasks: u64(8 + word),
            start: i64(16 + word),
            end: i64(24 + word),
            step: i64(32 + word),
        },
        47 => Payload::TaskloopEnd,
        48 => Payload::TaskgroupBegin,
        49 => Payload::TaskloopTask {
            taskloop: task(0),
            seq: u32(8),
            start: i64(12),
            end: i64(20),
        },
        50 => Payload::TaskSuspend,
        51 => Payload::TaskResume { task: task(0) },
        52 => Payload::TaskEvent {
            task: task(0),
            handle: addr(8),
        },
        53 => Payload::TaskFulfill {
            task: (u32(0) != u32::MAX).then(|| task(0)),
            handle: addr(8),
        },
        54 => Payload::TargetBegin {
            kind: u32(0),
            function: addr(4),
            device: u32(4 + word) as i32,
            flags: u32(8 + word),
        },
        55 => Payload::TargetEnd { kind: u32(0) },
        56 => Payload::OmpAlloc {
            kind: u32(0),
            address: addr(4),
            bytes: u64(4 + word),
            allocator: addr(12 + word),
        },
        57 => Payload::OmpFree {
            kind: u32(0),
            address: addr(4),
        },
        64 => Payload::Sensor {
            sensor: u32(0),
            values: Args::new(tail(8), layout),
        },
        65 => Payload::SensorLost {
            sensor: u32(0),
            error: u32(4),
        },
        66 => Payload::ThreadCounters {
            flags: u32(0),
            values: Args::new(tail(8), layout),
        },
        88 => Payload::ThreadSwitch {
            processor: u32(0),
            from: u32(4),
            to: u32(8),
        },
        89 => Payload::Processor { processor: u32(0) },
        72..=79 => return memory_payload(id, fields, layout),
        80..=83 => return sample_payload(id, fields, layout),
        _ => return None,
    })
}

fn memory_payload<'a>(id: u8, fields: &'a [u8], layout: Layout) -> Option<Payload<'a>> {
    let word = layout.word_bytes();
    let u32 = |at| layout.u32(fields, at);
    let u64 = |at| layout.u64(fields, at);
    let addr = |at| layout.addr(fields, at);
    Some(match id {
        72 => Payload::MemAlloc {
            kind: u32(0),
            address: addr(4),
            bytes: u64(4 + word),
            site: addr(12 + word),
        },
        73 => Payload::MemFree {
            kind: u32(0),
            address: addr(4),
        },
        74 => Payload::MemRealloc {
            old: addr(0),
            address: addr(word),
            bytes: u64(2 * word),
            site: addr(8 + 2 * word),
        },
        75 => Payload::MemMap {
            address: addr(0),
            bytes: u64(word),
            site: addr(8 + word),
        },
        76 => Payload::MemUnmap {
            address: addr(0),
            bytes: u64(word),
        },
        77 => Payload::MemRemap {
            old: addr(0),
            old_bytes: u64(word),
            address: addr(8 + word),
            bytes: u64(8 + 2 * word),
            site: addr(16 + 2 * word),
        },
        78 => Payload::MemHeap {
            arena: u64(0),
            used: u64(8),
            free: u64(16),
            mapped: u64(24),
        },
        79 => Payload::Stack {
            kind: u32(0),
            low: addr(4),
            high: addr(4 + word),
            mark: addr(4 + 2 * word),
        },
        _ => return None,
    })
}

fn sample_payload<'a>(id: u8, fields: &'a [u8], layout: Layout) -> Option<Payload<'a>> {
    let word = layout.word_bytes();
    let u32 = |at| layout.u32(fields, at);
    let list = |at: usize| Addresses::new(fields.get(at..).unwrap_or_default(), layout);
    let (pc, sp) = match id {
        81 | 82 => (layout.addr(fields, 0), layout.addr(fields, word)),
        _ => (0, 0),
    };
    Some(match id {
        80 => Payload::Sampling {
            clock: u32(0),
            signal: u32(4),
            period_ns: layout.u64(fields, 8),
        },
        81 => Payload::Sample {
            pc,
            sp,
            weight: u32(2 * word),
            stack: list(8 + 2 * word),
        },
        82 => {
            let (registers, stack) = list(12 + 2 * word).split_at(u32(4 + 2 * word) as usize);
            Payload::SampleStack {
                pc,
                sp,
                weight: u32(2 * word),
                registers,
                stack,
            }
        }
        83 => Payload::SampleLost { count: u32(0) },
        _ => return None,
    })
}

fn work_payload<'a>(id: u8, fields: &'a [u8], layout: Layout) -> Option<Payload<'a>> {
    let u32 = |at| layout.u32(fields, at);
    let i64 = |at| layout.u64(fields, at) as i64;
    Some(match id {
        20 => Payload::LoopBegin {
            schedule: crate::event::Schedule(u32(0)),
            start: i64(4),
            end: i64(12),
            incr: i64(20),
            chunk: i64(28),
        },
        21 => Payload::SectionsBegin { count: u32(0) },
        22 => Payload::Single {
            executor: u32(0) != 0,
        },
        23 => Payload::ChunkBegin {
            begin: i64(0),
            end: i64(8),
        },
        24 => Payload::SectionBegin { number: u32(0) },
        25 => Payload::Dispatch,
        26 => Payload::WorkEnd {
            nowait: u32(0) != 0,
        },
        27 => Payload::StaticLoop {
            site: layout.addr(fields, 0),
        },
        28 => Payload::MaskedBegin,
        29 => Payload::MaskedEnd,
        30 => Payload::ScopeBegin,
        31 => Payload::SingleEnd,
        _ => return None,
    })
}
