//! What a sample says: where its thread was, and by which calls it came there.

use crate::event::Payload;
use crate::names::Names;

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
                pc, weight, stack, ..
            } => {
                self.pc = pc;
                let certain = stack.take_while(|&address| names.is_return_address(address));
                self.callers.extend(certain);
                Some(weight.max(1))
            }
            Payload::SampleStack {
                pc,
                sp,
                weight,
                registers,
                stack,
            } => {
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
