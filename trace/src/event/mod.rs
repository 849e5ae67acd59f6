//! The event model. [`Payload`] and its kinds are generated from the tables of the crate `instr-schema`, as the event table in
//! `docs/trace-format.md` is.
//!
//! Nothing here allocates: strings, arguments and dependence lists borrow the stream's buffer.

#[rustfmt::skip]
mod kinds;
#[rustfmt::skip]
mod payload;

use crate::layout::{ByteOrder, Format, Layout, WordSize};

pub use kinds::*;
pub use payload::Payload;

/// Identity of an explicit task: the thread that created it and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    /// Index of the creating thread.
    pub thread: u32,
    /// Number of the task on that thread.
    pub seq: u32,
}

/// Identity of a parallel region: the thread that encountered it and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RegionId {
    /// Index of the encountering thread.
    pub thread: u32,
    /// Number of the region on that thread.
    pub seq: u32,
}

/// One entry of a `depend` list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dep {
    /// Start address of the storage.
    pub address: u64,
    /// How the task uses it.
    pub kind: DependKind,
}

/// A `depend` list: an iterator over the raw bytes of the event, copied at will.
#[derive(Clone, Copy, Debug)]
pub struct Deps<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Deps<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// The bytes of the entries, and how they are laid out: what [`Deps::new`] takes.
    pub(crate) fn raw(self) -> (&'a [u8], Layout) {
        (self.bytes, self.layout)
    }

    /// A list without entries.
    pub fn empty() -> Self {
        Self {
            bytes: &[],
            layout: Layout::default(),
        }
    }
}

/// An address, of which 56 bits say all as its others are like the last of these, and a kind.
fn one_word(word: u64, order: ByteOrder) -> Dep {
    let (address, kind) = match order {
        ByteOrder::Little => ((word << 8).cast_signed() >> 8, word >> 56),
        ByteOrder::Big => (word.cast_signed() >> 8, word & 0xff),
    };
    Dep {
        address: address.cast_unsigned(),
        kind: (kind as u32).into(),
    }
}

impl Iterator for Deps<'_> {
    type Item = Dep;

    #[inline]
    fn next(&mut self) -> Option<Dep> {
        let (layout, size) = (self.layout, self.layout.depend_bytes());
        if self.bytes.len() < size {
            return None;
        }
        let dep = match (layout.format, layout.word) {
            (Format::Two, WordSize::Eight) => one_word(layout.u64(self.bytes, 0), layout.order),
            _ => Dep {
                address: layout.addr(self.bytes, 0),
                kind: layout.u32(self.bytes, layout.word_bytes()).into(),
            },
        };
        self.bytes = &self.bytes[size..];
        Some(dep)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len() / self.layout.depend_bytes();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Deps<'_> {}

/// The 64-bit arguments of a `call_begin`: an iterator over the raw bytes.
#[derive(Clone, Copy, Debug)]
pub struct Args<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Args<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }
}

impl Iterator for Args<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.bytes.len() < 8 {
            return None;
        }
        let value = self.layout.u64(self.bytes, 0);
        self.bytes = &self.bytes[8..];
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.bytes.len() / 8, Some(self.bytes.len() / 8))
    }
}

impl ExactSizeIterator for Args<'_> {}

/// A list of addresses of the target's width: an iterator over the raw bytes.
#[derive(Clone, Copy, Debug)]
pub struct Addresses<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> Addresses<'a> {
    pub(crate) fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// The bytes of the addresses, and how they are laid out: what [`Addresses::new`] takes.
    pub(crate) fn raw(self) -> (&'a [u8], Layout) {
        (self.bytes, self.layout)
    }

    /// The first `count` (or all, if there are not as many), and the rest.
    #[must_use]
    pub fn split_at(self, count: usize) -> (Self, Self) {
        let at = count.saturating_mul(self.layout.word_bytes());
        let (first, rest) = self.bytes.split_at(at.min(self.bytes.len()));
        let part = |bytes| Self { bytes, ..self };
        (part(first), part(rest))
    }
}

impl Iterator for Addresses<'_> {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        let word = self.layout.word_bytes();
        if self.bytes.len() < word {
            return None;
        }
        let value = self.layout.addr(self.bytes, 0);
        self.bytes = &self.bytes[word..];
        Some(value)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.bytes.len() / self.layout.word_bytes();
        (left, Some(left))
    }
}

impl ExactSizeIterator for Addresses<'_> {}

/// Schedule of a work-sharing loop as recorded: a [`ScheduleKind`] and [`schedule_flags`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Schedule(pub u32);

impl Schedule {
    /// The `schedule` clause.
    pub fn kind(self) -> ScheduleKind {
        (self.0 & 0xff).into()
    }

    /// The schedule's name as in the `schedule` clause.
    pub fn name(self) -> &'static str {
        match self.kind() {
            ScheduleKind::Runtime => "runtime",
            ScheduleKind::Static => "static",
            ScheduleKind::Dynamic => "dynamic",
            ScheduleKind::Guided => "guided",
            ScheduleKind::Auto => "auto",
            ScheduleKind::Other(_) => "unknown",
        }
    }

    /// Whether one of [`schedule_flags`] is set.
    pub fn has(self, flag: u32) -> bool {
        self.0 & flag != 0
    }
}

/// One event of one thread.
#[derive(Clone, Copy, Debug)]
pub struct Event<'a> {
    /// Nanoseconds since the trace's start; never decreases within a stream nor within a merge.
    pub time: u64,
    /// The raw 64-bit clock value.
    pub ticks: u64,
    /// Index of the thread in [`crate::Trace::threads`] order's `index` field (the number in the stream file's name).
    pub thread: u32,
    /// What happened.
    pub payload: Payload<'a>,
}
