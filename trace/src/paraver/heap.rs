//! The heap: calls as Extrae writes them, what each got and gave back, and what is in use in the process.

use std::io::Write;

use crate::blocks::Blocks;
use crate::event::{BlockKind, Payload};

use super::events::At;
use super::types::*;

/// More blocks at a time are not followed.
const MAX_BLOCKS: usize = 1 << 24;

/// Blocks in use in a process.
#[derive(Debug)]
pub(super) struct Heap {
    blocks: Blocks<u64>,
    bytes: u64,
}

impl Default for Heap {
    fn default() -> Self {
        Self {
            blocks: Blocks::new(MAX_BLOCKS),
            bytes: 0,
        }
    }
}

impl Heap {
    /// An event of the heap; others are ignored. Calls 1 to 5 are Extrae's; `aligned_alloc` and `memalign` count as `posix_memalign`.
    pub(super) fn event<W: Write>(&mut self, to: &mut At<'_, '_, W>, payload: &Payload<'_>) {
        match *payload {
            Payload::MemAlloc {
                kind,
                address,
                bytes,
                ..
            } => {
                let call = match kind {
                    BlockKind::Calloc => 4,
                    BlockKind::Aligned => 5,
                    BlockKind::Pages => 20,
                    BlockKind::New => 21,
                    BlockKind::NewArray => 22,
                    _ => 1,
                };
                to.put(MEMORY, call);
                to.put(MEMORY_SIZE, bytes);
                to.put(MEMORY_OUT, address);
                if address != 0 {
                    self.got(to, address, bytes);
                }
                self.end(to);
            }
            Payload::MemFree { kind, address } => {
                let call = match kind {
                    BlockKind::New => 23,
                    BlockKind::NewArray => 24,
                    _ => 2,
                };
                to.put(MEMORY, call);
                to.put(MEMORY_IN, address);
                self.gone(to, address);
                self.end(to);
            }
            Payload::MemRealloc {
                old,
                address,
                bytes,
                ..
            } => {
                to.put(MEMORY, 3);
                to.put(MEMORY_SIZE, bytes);
                to.put(MEMORY_IN, old);
                to.put(MEMORY_OUT, address);
                let refused = address == 0 && bytes != 0;
                if old != 0 && !refused {
                    self.gone(to, old);
                }
                if address != 0 {
                    self.got(to, address, bytes);
                }
                self.end(to);
            }
            _ => {}
        }
    }

    fn got<W: Write>(&mut self, to: &mut At<'_, '_, W>, address: u64, bytes: u64) {
        if self.blocks.insert(address, bytes) {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        to.put(MEMORY_GOT, bytes);
    }

    /// Nothing is told of a block that nobody was seen to get.
    fn gone<W: Write>(&mut self, to: &mut At<'_, '_, W>, address: u64) {
        if let Some(bytes) = self.blocks.remove(address) {
            self.bytes = self.bytes.saturating_sub(bytes);
            to.put(MEMORY_GIVEN, bytes);
        }
    }

    fn end<W: Write>(&self, to: &mut At<'_, '_, W>) {
        to.put(MEMORY_IN_USE, self.bytes);
        to.put(MEMORY, 0);
    }
}
