//! Records of memory that need no names. `docs/summary-json.md` describes every field.

use serde::Serialize;

/// `mmap` and relatives.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Mapped {
    /// Successful `mmap` calls.
    pub maps: u64,
    /// `munmap` calls.
    pub unmaps: u64,
    /// Successful `mremap` calls.
    pub remaps: u64,
    /// Requests that got nothing.
    pub refused: u64,
    /// The largest sum of mapped bytes at any time.
    pub high_water_bytes: u64,
    /// Mapped at the end.
    pub bytes: u64,
}

/// `mallinfo2`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Heap {
    /// When, from the first event, ns.
    pub time_ns: u64,
    /// Got from the system.
    pub arena_bytes: u64,
    /// Handed out to the program.
    pub used_bytes: u64,
    /// Kept for later.
    pub free_bytes: u64,
    /// Blocks mapped one by one: part of the first two.
    pub mapped_bytes: u64,
}

/// An interval of the time line.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct LivePoint {
    /// Its begin, from the first event, ns.
    pub time_ns: u64,
    /// The most in use in it.
    pub max_bytes: u64,
}

/// The stack of a thread.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Stack {
    /// Index of the thread.
    pub thread: u32,
    /// From the stack's upper end to the lowest address in use, bytes.
    pub bytes: u64,
    /// Whether that is what was used; false: at least that much, by the stack pointers of events.
    pub exact: bool,
    /// Size of the stack, bytes.
    pub size_bytes: u64,
}
