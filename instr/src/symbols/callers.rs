//! From samples to callers: copied stacks are unwound by the call frame information of the files that ran, and words that
//! frame pointers led to count only where a call returns to.

use instr_symtab::{CallFrames, Registers, return_addresses};

use super::Symbols;

/// DWARF's numbers of the registers in an event `sample_stack`: rbx, rbp, r12 to r15.
const KEPT: [u16; 6] = [3, 6, 12, 13, 14, 15];

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
        let module = |address: u64| {
            let (number, linked) = self.map.find(address)?;
            let loaded = self.modules.get(number)?;
            let image = self.image(loaded)?;
            let frames = loaded.frames.get_or_init(|| CallFrames::of(image));
            Some((frames, linked))
        };
        let word = |address: u64| {
            let bytes = address.checked_sub(sp)?;
            if !bytes.is_multiple_of(WORD) {
                return None;
            }
            stack.get(usize::try_from(bytes / WORD).ok()?).copied()
        };
        return_addresses(&start, module, word, MOST_CALLERS)
    }

    /// See [`instr_trace::Names::is_return_address`].
    pub(super) fn returns_here(&self, address: u64) -> bool {
        if let Some(&known) = self.returns.borrow().get(&address) {
            return known;
        }
        let found = self.map.find(address).and_then(|(number, linked)| {
            let image = self.image(self.modules.get(number)?)?;
            Some(image.follows_call(linked).unwrap_or(true))
        });
        let known = found.unwrap_or(false);
        self.returns.borrow_mut().insert(address, known);
        known
    }
}
