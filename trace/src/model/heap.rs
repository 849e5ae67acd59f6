//! The heap, pages and stacks: which block a call got or gave back, and how much is in use.

use hashbrown::HashMap;

use crate::event::{BlockKind, Payload, StackKind};

use super::blocks::Blocks;
use super::pages::Pages;
use super::sink::{At, Sink};
use super::span::{Code, Span};

/// More blocks at a time are not followed: they count as got, and as unknown when they are given back.
const MAX_BLOCKS: usize = 1 << 24;
/// More places are not told apart: they count as the one that is not known.
const MAX_PLACES: usize = 1 << 20;

/// What a thread does with memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Memory {
    /// A call of the heap's functions that is over.
    Heap(HeapCall),
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

/// The heap of a process.
#[derive(Debug)]
pub(super) struct Heap {
    blocks: Blocks<Block>,
    bytes: u64,
    sites: Places<u64>,
    callers: Places<Caller>,
    pages: Pages,
}

/// A block that is in use, with the numbers of what got it.
#[derive(Clone, Copy, Debug)]
struct Block {
    bytes: u64,
    site: u32,
    caller: u32,
}

impl Default for Heap {
    fn default() -> Self {
        Self {
            blocks: Blocks::new(MAX_BLOCKS),
            bytes: 0,
            sites: Places::default(),
            callers: Places::default(),
            pages: Pages::default(),
        }
    }
}

impl Heap {
    #[inline]
    pub(super) fn event<S: Sink>(
        &mut self,
        at: At,
        payload: &Payload<'_>,
        caller: Caller,
        sink: &mut S,
    ) {
        let memory = match *payload {
            Payload::MemAlloc {
                kind,
                address,
                bytes,
                site,
            } => Memory::Heap(self.get(HeapFunction::Get(kind), address, bytes, (site, caller))),
            Payload::MemFree { kind, address } => {
                let function = HeapFunction::Give(kind);
                let gone = Some(self.give(address));
                Memory::Heap(self.call(function, (address, gone), (0, 0, None)))
            }
            Payload::MemRealloc {
                old,
                address,
                bytes,
                site,
            } => Memory::Heap(self.moves(old, address, bytes, (site, caller))),
            Payload::MemMap { address, bytes, .. } => Memory::Pages(self.pages.map(address, bytes)),
            Payload::MemUnmap { address, bytes } => Memory::Pages(self.pages.unmap(address, bytes)),
            Payload::MemRemap {
                old,
                old_bytes,
                address,
                bytes,
                ..
            } => Memory::Pages(self.pages.remap((old, old_bytes), (address, bytes))),
            Payload::MemHeap {
                arena,
                used,
                free,
                mapped,
            } => Memory::Library {
                arena,
                used,
                free,
                mapped,
            },
            Payload::Stack {
                kind,
                low,
                high,
                mark,
            } => Memory::Stack {
                kind,
                low,
                high,
                mark,
            },
            _ => return,
        };
        sink.memory(at, &memory);
    }

    #[inline]
    fn get(
        &mut self,
        function: HeapFunction,
        address: u64,
        bytes: u64,
        by: (u64, Caller),
    ) -> HeapCall {
        let got = (address != 0).then(|| self.take(address, bytes, by));
        HeapCall {
            refused: got.is_none(),
            ..self.call(function, (0, None), (bytes, address, got))
        }
    }

    /// Never both blocks at a time: the program sees one that changes its size.
    #[inline]
    fn moves(&mut self, old: u64, address: u64, bytes: u64, by: (u64, Caller)) -> HeapCall {
        if old == 0 {
            return self.get(HeapFunction::Move, address, bytes, by);
        }
        let refused = address == 0 && bytes != 0;
        let gone = (!refused).then(|| self.give(old));
        let got = (address != 0).then(|| self.take(address, bytes, by));
        HeapCall {
            refused,
            ..self.call(HeapFunction::Move, (old, gone), (bytes, address, got))
        }
    }

    #[inline]
    fn call(
        &self,
        function: HeapFunction,
        (old, gone): (u64, Option<Gone>),
        (bytes, address, got): (u64, u64, Option<Got>),
    ) -> HeapCall {
        HeapCall {
            function,
            old,
            gone,
            bytes,
            address,
            got,
            refused: false,
            blocks_in_use: self.blocks.len() as u64,
            bytes_in_use: self.bytes,
        }
    }

    #[inline]
    fn take(&mut self, address: u64, bytes: u64, (site, caller): (u64, Caller)) -> Got {
        let (site, caller) = (self.sites.place(site), self.callers.place(caller));
        let block = Block {
            bytes,
            site: site.number,
            caller: caller.number,
        };
        let followed = self.blocks.insert(address, block);
        if followed {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        Got {
            site,
            caller,
            followed,
        }
    }

    #[inline]
    fn give(&mut self, address: u64) -> Gone {
        let Some(block) = self.blocks.remove(address) else {
            return Gone::Unknown;
        };
        self.bytes = self.bytes.saturating_sub(block.bytes);
        Gone::Block {
            bytes: block.bytes,
            site: block.site,
            caller: block.caller,
        }
    }
}

/// Places and their numbers: blocks in use keep four bytes in place of a place.
#[derive(Debug)]
struct Places<K> {
    numbers: HashMap<K, u32>,
    last: Option<Place<K>>,
}

impl<K> Default for Places<K> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            last: None,
        }
    }
}

impl<K: Copy + Default + Eq + std::hash::Hash> Places<K> {
    #[inline]
    fn place(&mut self, key: K) -> Place<K> {
        if let Some(last) = self.last.filter(|last| last.key == key) {
            return last;
        }
        let room = self.numbers.len() < MAX_PLACES || self.numbers.contains_key(&key);
        let key = if room { key } else { K::default() };
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(key).or_insert(next);
        let place = Place { number, key };
        self.last = Some(place);
        place
    }
}
