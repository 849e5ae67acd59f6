//! From samples to callers: copied stacks are unwound by the call frame information of the files that ran, and words that
//! frame pointers led to count only where a call returns to.

use instr_symtab::{CallFrames, Registers, return_addresses, return_addresses_with_frames};

use super::Symbols;

/// DWARF's numbers of the registers in an event `sample_stack`: rbx, rbp, r12 to r15.
const KEPT: [u16; 6] = [3, 6, 12, 13, 14, 15];

/// rbp.
const FRAME_POINTER: u16 = 6;

/// Deeper chains are cut.
const MOST_CALLERS: usize = 256;

/// Bytes of a word on the stack: only x86-64 copies it.
const WORD: u64 = 8;

impl Symbols {
    /// See [`instr_trace::Names::callers`].
    pub(super) fn unwind(&self, pc: u64, sp: u64, kept: &[u64], stack: &[u64]) -> Vec<u64> {
        let mut start = Registers::new(pc, sp);
        for (number, value) in KEPT.into_iter().zip(kept) {
            start.set(number, *value);
        }
        let module = |address| self.call_frames(address);
        return_addresses(&start, module, word_of(sp, stack), MOST_CALLERS)
    }

    /// See [`instr_trace::Names::callers_with_frames`].
    pub(super) fn unwind_to_frame(
        &self,
        pc: u64,
        sp: u64,
        frame: u64,
        words: &[u64],
        by_frames: &[u64],
    ) -> Option<Vec<u64>> {
        let mut start = Registers::new(pc, sp);
        start.set(FRAME_POINTER, frame);
        let module = |address| self.call_frames(address);
        let words = word_of(sp, words);
        return_addresses_with_frames(&start, by_frames, module, words, MOST_CALLERS)
    }

    /// The call frame information for a run-time address, and its link address.
    fn call_frames(&self, address: u64) -> Option<(&CallFrames, u64)> {
        let (loaded, linked) = self.at(address)?;
        let image = self.image(loaded)?;
        let frames = loaded.frames.get_or_init(|| CallFrames::of(image));
        Some((frames, linked))
    }

    /// See [`instr_trace::Names::is_return_address`].
    pub(super) fn returns_here(&self, address: u64) -> bool {
        if let Some(&known) = self.returns.borrow().get(&address) {
            return known;
        }
        let found = self.at(address).and_then(|(loaded, linked)| {
            let image = self.image(loaded)?;
            Some(image.follows_call(linked).unwrap_or(true))
        });
        let known = found.unwrap_or(false);
        self.returns.borrow_mut().insert(address, known);
        known
    }
}

/// Words by their addresses, from `sp` on.
fn word_of(sp: u64, words: &[u64]) -> impl FnMut(u64) -> Option<u64> {
    move |address| {
        let bytes = address.checked_sub(sp)?;
        if !bytes.is_multiple_of(WORD) {
            return None;
        }
        words.get(usize::try_from(bytes / WORD).ok()?).copied()
    }
}
