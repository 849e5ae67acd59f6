//! The heap: calls as Extrae writes them, what each got and gave back.

use std::io::Write;

use crate::event::BlockKind;
use crate::model::{Gone, HeapBegin, HeapCall, HeapFunction};

use super::events::At;
use super::types::*;

/// A call begins.
pub(super) fn begin<W: Write>(to: &mut At<'_, '_, W>, call: &HeapBegin) {
    to.put(MEMORY, number(call.function));
    if !matches!(call.function, HeapFunction::Give(_)) {
        to.put(MEMORY_SIZE, call.bytes);
    }
    if !matches!(call.function, HeapFunction::Get(_)) {
        to.put(MEMORY_IN, call.old);
    }
}

/// What it did.
pub(super) fn call<W: Write>(to: &mut At<'_, '_, W>, call: &HeapCall) {
    if !matches!(call.function, HeapFunction::Give(_)) {
        to.put(MEMORY_OUT, call.address);
    }
    if let Some(Gone::Block { bytes, .. }) = call.gone {
        to.put(MEMORY_GIVEN, bytes);
    }
    if call.got.is_some() {
        to.put(MEMORY_GOT, call.bytes);
    }
}

/// Calls 1 to 5 are Extrae's; `aligned_alloc` and `memalign` count as `posix_memalign`.
fn number(function: HeapFunction) -> u64 {
    match function {
        HeapFunction::Get(BlockKind::Calloc) => 4,
        HeapFunction::Get(BlockKind::Aligned) => 5,
        HeapFunction::Get(BlockKind::Pages) => 20,
        HeapFunction::Get(BlockKind::New) => 21,
        HeapFunction::Get(BlockKind::NewArray) => 22,
        HeapFunction::Get(_) => 1,
        HeapFunction::Give(BlockKind::New) => 23,
        HeapFunction::Give(BlockKind::NewArray) => 24,
        HeapFunction::Give(_) => 2,
        HeapFunction::Move => 3,
    }
}
