//! What a thread does with memory, as outputs are given it.

use crate::event::{BlockKind, StackKind};

use super::span::{Code, Span};

/// What a thread does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// A call of the heap's functions begins.
    Begins(HeapBegin),
    /// What a call did: given at its end, of one that only gives back at its begin. A call inside of another one has this alone.
    Heap(HeapCall),
    /// The call is over.
    Ends(HeapFunction),
    /// A call that maps pages, or takes them back.
    Pages(PagesCall),
    /// The C library's own account of its heap, bytes.
    Library {
        /// Got from the system.
        arena: u64,
        /// Handed out to the program.
        used: u64,
        /// Kept for later.
        free: u64,
        /// Blocks mapped one by one: part of the first two.
        mapped: u64,
    },
    /// The thread's stack.
    Stack {
        /// What `mark` is.
        kind: StackKind,
        /// Lowest address.
        low: u64,
        /// Behind the highest address.
        high: u64,
        /// The lowest address in use.
        mark: u64,
    },
}

/// Functions of the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapFunction {
    /// Gets a block.
    Get(BlockKind),
    /// Gives one back.
    Give(BlockKind),
    /// `realloc` and `reallocarray`: may do both.
    Move,
}

/// A call of a function of the heap that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapBegin {
    /// The function.
    pub function: HeapFunction,
    /// The address handed in; 0: none.
    pub old: u64,
    /// Bytes asked for; 0 where nothing is.
    pub bytes: u64,
    /// The return address of a call that gets or moves a block; 0: unknown.
    pub site: u64,
}

/// A call of a function of the heap, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapCall {
    /// The function.
    pub function: HeapFunction,
    /// The address handed in; 0: none.
    pub old: u64,
    /// What was given back. Nothing when the call gives nothing back, or was refused.
    pub gone: Option<Gone>,
    /// Bytes asked for; 0 where nothing is.
    pub bytes: u64,
    /// The address handed out; 0: none.
    pub address: u64,
    /// The block that was got. Nothing when the call gets nothing, or was refused.
    pub got: Option<Got>,
    /// Something was asked for in vain.
    pub refused: bool,
    /// Blocks in use in the process after the call.
    pub blocks_in_use: u64,
    /// Their bytes.
    pub bytes_in_use: u64,
}

/// A block that is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gone {
    /// The one that was got at that address; of several the oldest.
    Block {
        /// Its size.
        bytes: u64,
        /// Number of the call that got it.
        site: u32,
        /// Number of the body that called.
        caller: u32,
    },
    /// Nobody was seen to get it, or it was not followed.
    Unknown,
}

/// A block that is got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Got {
    /// The call that gets it: its return address.
    pub site: Place<u64>,
    /// The body that calls.
    pub caller: Place<Caller>,
    /// Whether the block is followed: it counts in what is in use, and its end will be known.
    pub followed: bool,
}

/// Something that gets blocks. Equal ones have equal numbers, from 0 on, in the order in which they first got one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place<K> {
    /// Its number.
    pub number: u32,
    /// What it is.
    pub key: K,
}

/// A body that calls functions of the heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Caller {
    /// Its code; address 0: the initial task's, or unknown.
    pub code: Code,
    /// It is an explicit task's.
    pub task: bool,
}

impl Caller {
    pub(super) fn new(running: Option<&Span>) -> Self {
        let (code, task) = match running {
            Some(Span::Implicit { code, .. }) => (*code, false),
            Some(Span::Task { code, .. }) => (*code, true),
            _ => (Code::default(), false),
        };
        Self { code, task }
    }
}

/// A call that maps pages or takes them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PagesCall {
    /// The function.
    pub function: PagesFunction,
    /// It got nothing, or was refused by the system.
    pub refused: bool,
    /// What is mapped now: its address, and how many bytes were asked for. 0: nothing.
    pub address: u64,
    /// Those bytes.
    pub bytes: u64,
    /// Bytes of pages that were known to be mapped and no longer are.
    pub gone: u64,
    /// The return address of the call that maps; 0: unknown.
    pub site: u64,
    /// Bytes mapped in the process after the call.
    pub mapped: u64,
}

/// Functions that map pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PagesFunction {
    /// `mmap`.
    Map,
    /// `munmap`.
    Unmap,
    /// `mremap`.
    Remap,
}
