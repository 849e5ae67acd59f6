//! The heap, pages and stacks: which block a call got or gave back, and how much is in use.

use hashbrown::HashMap;

use crate::event::Payload;

use super::blocks::Blocks;
use super::memory::{Caller, Gone, Got, HeapBegin, HeapCall, HeapFunction, Memory, Place};
use super::pages::Pages;
use super::sink::{At, Sink};

/// More blocks at a time are not followed: they count as got, and as unknown when they are given back.
const MAX_BLOCKS: usize = 1 << 24;
/// More places are not told apart: they count as the one that is not known.
const MAX_PLACES: usize = 1 << 20;

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

/// The calls of the heap's functions that a thread is in.
#[derive(Debug, Default)]
pub(super) struct HeapCalls {
    /// Gets or moves a block.
    getting: Option<HeapBegin>,
    /// Gives one back, maybe inside of the other: a handler of `new` does.
    giving: Option<HeapFunction>,
}

impl HeapCalls {
    /// A call begins; one of the same sort that is still open was left by a jump, or its end was lost.
    #[inline]
    fn begin<S: Sink>(&mut self, at: At, call: HeapBegin, sink: &mut S) {
        let left = match call.function {
            HeapFunction::Give(_) => self.giving.replace(call.function),
            _ => self.getting.replace(call).map(|left| left.function),
        };
        if let Some(left) = left {
            sink.memory(at, &Memory::Ends(left));
        }
        sink.memory(at, &Memory::Begins(call));
    }

    #[inline]
    fn gave<S: Sink>(&mut self, at: At, sink: &mut S) {
        if let Some(function) = self.giving.take() {
            sink.memory(at, &Memory::Ends(function));
        }
    }

    /// All that are open are over.
    pub(super) fn end<S: Sink>(&mut self, at: At, sink: &mut S) {
        self.gave(at, sink);
        if let Some(call) = self.getting.take() {
            sink.memory(at, &Memory::Ends(call.function));
        }
    }
}

impl Heap {
    /// `calls` are those of the thread.
    #[inline]
    pub(super) fn event<S: Sink>(
        &mut self,
        at: At,
        payload: &Payload<'_>,
        caller: Caller,
        calls: &mut HeapCalls,
        sink: &mut S,
    ) {
        let memory = match *payload {
            Payload::MemGet { kind, bytes, site } => {
                let function = HeapFunction::Get(kind);
                return calls.begin(at, begin(function, 0, bytes, site), sink);
            }
            Payload::MemMove { old, bytes, site } => {
                return calls.begin(at, begin(HeapFunction::Move, old, bytes, site), sink);
            }
            Payload::MemGot { address } => {
                // Without its begin the size of the block is not known.
                let Some(call) = calls.getting.take() else {
                    return;
                };
                let told = Memory::Heap(self.got(&call, address, caller));
                sink.memory(at, &told);
                Memory::Ends(call.function)
            }
            Payload::MemGive { kind, address } => {
                let call = begin(HeapFunction::Give(kind), address, 0, 0);
                calls.begin(at, call, sink);
                Memory::Heap(self.gives(call.function, address))
            }
            Payload::MemGiven => return calls.gave(at, sink),
            Payload::MemAlloc {
                kind,
                address,
                bytes,
                site,
            } => {
                let call = begin(HeapFunction::Get(kind), 0, bytes, site);
                let told = self.got(&call, address, caller);
                return at_once(at, call, told, calls, sink);
            }
            Payload::MemFree { kind, address } => {
                let call = begin(HeapFunction::Give(kind), address, 0, 0);
                let told = self.gives(call.function, address);
                return at_once(at, call, told, calls, sink);
            }
            Payload::MemRealloc {
                old,
                address,
                bytes,
                site,
            } => {
                let call = begin(HeapFunction::Move, old, bytes, site);
                let told = self.got(&call, address, caller);
                return at_once(at, call, told, calls, sink);
            }
            Payload::MemMap {
                address,
                bytes,
                site,
            } => Memory::Pages(self.pages.map(address, bytes, site)),
            Payload::MemUnmap { address, bytes } => Memory::Pages(self.pages.unmap(address, bytes)),
            Payload::MemRemap {
                old,
                old_bytes,
                address,
                bytes,
                site,
            } => Memory::Pages(self.pages.remap((old, old_bytes), (address, bytes), site)),
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

    /// What a call that gets or moves a block did.
    #[inline]
    fn got(&mut self, call: &HeapBegin, address: u64, caller: Caller) -> HeapCall {
        let by = (call.site, caller);
        match call.function {
            HeapFunction::Move => self.moves(call.old, address, call.bytes, by),
            function => self.get(function, address, call.bytes, by),
        }
    }

    #[inline]
    fn gives(&mut self, function: HeapFunction, address: u64) -> HeapCall {
        let gone = Some(self.give(address));
        self.call(function, (address, gone), (0, 0, None))
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

fn begin(function: HeapFunction, old: u64, bytes: u64, site: u64) -> HeapBegin {
    HeapBegin {
        function,
        old,
        bytes,
        site,
    }
}

/// A call whose begin and end are one event, unless it is a part of the open call.
fn at_once<S: Sink>(at: At, call: HeapBegin, told: HeapCall, calls: &HeapCalls, sink: &mut S) {
    let inner = calls.getting.is_some() || calls.giving.is_some();
    if !inner {
        sink.memory(at, &Memory::Begins(call));
    }
    sink.memory(at, &Memory::Heap(told));
    if !inner {
        sink.memory(at, &Memory::Ends(call.function));
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
