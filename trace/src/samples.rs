//! What a sample says: where its thread was, and by which calls it came there.

use crate::event::Payload;
use crate::names::Names;

/// Mark behind the return addresses of a sample: 0, or this when the first of them is a guess.
const GUESSED: u64 = 1;

/// The chain of calls of one sample after another; keeps its memory.
///
/// ```
/// use instr_trace::{Payload, names::NoNames, samples::Chain};
///
/// let mut chain = Chain::default();
/// // Other events are no samples.
/// assert_eq!(chain.read(&NoNames, &Payload::SampleLost { count: 3 }), None);
/// assert_eq!((chain.pc(), chain.callers().len()), (0, 0));
/// ```
#[derive(Debug, Default)]
pub struct Chain {
    pc: u64,
    callers: Vec<u64>,
    registers: Vec<u64>,
    words: Vec<u64>,
}

impl Chain {
    /// Reads a sample and gives the number of periods it stands for, at least 1; `None` when the event is none.
    ///
    /// Return addresses that frame pointers or register windows led to count up to the first that no call returns to:
    /// behind it nothing is certain. A copied stack is unwound.
    pub fn read(&mut self, names: &dyn Names, payload: &Payload<'_>) -> Option<u32> {
        self.pc = 0;
        self.callers.clear();
        match *payload {
            Payload::Sample {
                pc,
                sp,
                weight,
                stack,
            } => {
                self.pc = pc;
                self.words.clear();
                self.words.extend(stack);
                self.frames(names, sp);
                Some(weight.max(1))
            }
            Payload::SampleStack {
                pc,
                sp,
                weight,
                registers,
                words,
            } => {
                let (registers, stack) = words.split_at(registers as usize);
                self.pc = pc;
                self.registers.clear();
                self.registers.extend(registers);
                self.words.clear();
                self.words.extend(stack);
                self.callers = names.callers(pc, sp, &self.registers, &self.words);
                Some(weight.max(1))
            }
            _ => None,
        }
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

    #[test]
    fn a_sample_stands_for_its_periods_and_for_one_at_least() {
        let layout = Layout {
            order: ByteOrder::Little,
            word: WordSize::Eight,
        };
        let stack = Addresses::new(&[], layout);
        let mut chain = Chain::default();
        for (weight, periods) in [(0, 1), (1, 1), (7, 7)] {
            let by_frames = Payload::Sample {
                pc: 0x40,
                sp: 0x80,
                weight,
                stack,
            };
            let copied = Payload::SampleStack {
                pc: 0x40,
                sp: 0x80,
                weight,
                registers: 0,
                words: stack,
            };
            for sample in [by_frames, copied] {
                assert_eq!(chain.read(&crate::names::NoNames, &sample), Some(periods));
                assert_eq!(chain.pc(), 0x40);
            }
        }
    }
}
