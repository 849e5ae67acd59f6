//! What a sample says: where its thread was, and by which calls it came there.

use crate::model::Frames;
use crate::names::Names;

/// Mark behind the return addresses of a sample: 0, or this when the first of them is a guess.
const GUESSED: u64 = 1;

/// The chain of calls of one sample after another; keeps its memory.
#[derive(Debug, Default)]
pub struct Chain {
    pc: u64,
    callers: Vec<u64>,
    registers: Vec<u64>,
    words: Vec<u64>,
}

impl Chain {
    /// Finds the calls of a sample.
    ///
    /// Return addresses that frame pointers or register windows led to count up to the first that no call returns to:
    /// behind it nothing is certain. A copied stack is unwound.
    pub fn read(&mut self, names: &dyn Names, frames: &Frames<'_>) {
        self.pc = frames.pc;
        self.words.clear();
        let Some(registers) = frames.registers else {
            self.words.extend(frames.words);
            return self.frames(names, frames.sp);
        };
        let (registers, stack) = frames.words.split_at(registers as usize);
        self.registers.clear();
        self.registers.extend(registers);
        self.words.extend(stack);
        self.callers = names.callers(self.pc, frames.sp, &self.registers, &self.words);
    }

    /// Return addresses by frame pointers or register windows, and behind them perhaps a mark, the frame pointer and words of the
    /// stack, with which the host knows better where a function begins or ends.
    fn frames(&mut self, names: &dyn Names, sp: u64) {
        let certain = |all: &[u64]| {
            let returns = all
                .iter()
                .take_while(|&&address| names.is_return_address(address));
            returns.copied().collect::<Vec<u64>>()
        };
        let mark = self.words.iter().position(|&word| word <= GUESSED);
        let (all, behind) = self.words.split_at(mark.unwrap_or(self.words.len()));
        if let [mark, frame, words @ ..] = behind {
            let led = all.get(usize::from(*mark == GUESSED)..).unwrap_or_default();
            let by_frames = certain(led);
            let known = names.callers_with_frames(self.pc, sp, *frame, words, &by_frames);
            if let Some(callers) = known {
                self.callers = callers;
                return;
            }
        }
        self.callers = certain(all);
    }

    /// Where the thread was.
    #[must_use]
    pub fn pc(&self) -> u64 {
        self.pc
    }

    /// Return addresses, innermost first. The address before each is in the call.
    #[must_use]
    pub fn callers(&self) -> &[u64] {
        &self.callers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Addresses;
    use crate::layout::{ByteOrder, Layout, WordSize};
    use crate::names::CodeName;

    /// Calls return to addresses that end in 4.
    struct Fours;

    impl Names for Fours {
        fn resolve(&self, _address: u64) -> Option<CodeName> {
            None
        }

        fn is_return_address(&self, address: u64) -> bool {
            address % 16 == 4
        }
    }

    #[test]
    fn return_addresses_count_up_to_the_first_that_no_call_returns_to() {
        let layout = Layout {
            order: ByteOrder::Little,
            word: WordSize::Eight,
            ..Layout::default()
        };
        let words: [u64; 4] = [0x14, 0x24, 0x33, 0x44];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let mut chain = Chain::default();
        for count in [4, 0, 2] {
            let frames = Frames {
                pc: 0x40 + count,
                sp: 0x80,
                registers: None,
                words: Addresses::new(&bytes[..count as usize * 8], layout),
            };
            chain.read(&Fours, &frames);
            assert_eq!(chain.pc(), 0x40 + count);
            let certain = (count as usize).min(2);
            assert_eq!(chain.callers(), &words[..certain]);
        }
    }
}
