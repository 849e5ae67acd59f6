//! The callers of a function that was interrupted, from its registers, a copy of its stack and the call frame information
//! of the files it runs in (`.eh_frame`, `.debug_frame`; DWARF 5, 6.4; System V ABI for x86-64, 3.7).
//!
//! Nothing is guessed: a caller is told when the call frame information says where its address was saved and the word
//! there is known. Where either is missing, the list ends.

mod calls;
mod expression;
mod frames;
mod rows;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex};

use crate::image::Image;
use expression::{Known, evaluate};
pub use frames::return_addresses_with_frames;
use rows::{Cfa, Row, Rows, Rule};

/// ELF's number of x86-64.
const EM_X86_64: u16 = 62;

/// Registers by DWARF's numbers: the general ones, and the return address.
const COUNT: usize = 17;
/// `rbp`
const FRAME_POINTER: usize = 6;
/// `rsp`
const STACK_POINTER: usize = 7;
/// The return address.
const RETURN: usize = 16;
/// Registers that a function leaves as they were where nothing is said of them: rbx, rbp, r12 to r15.
const KEPT: [usize; 6] = [3, 6, 12, 13, 14, 15];

/// The registers of an x86-64 function, by DWARF's numbers (System V ABI, figure 3.36), as far as they are known.
///
/// ```
/// use instr_symtab::Registers;
///
/// let mut registers = Registers::new(0x40_1136, 0x7ffc_0010);
/// registers.set(6, 0x7ffc_0080); // rbp
/// assert_eq!((registers.get(6), registers.get(3)), (Some(0x7ffc_0080), None));
/// assert_eq!(registers.pc(), Some(0x40_1136));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Registers([Option<u64>; COUNT]);

impl Registers {
    /// Program counter and stack pointer are known, nothing else.
    #[must_use]
    pub fn new(pc: u64, sp: u64) -> Self {
        let mut registers = Self::default();
        registers.set(RETURN as u16, pc);
        registers.set(STACK_POINTER as u16, sp);
        registers
    }

    /// Sets the register with DWARF's number `number`; what is no general register is not kept.
    pub fn set(&mut self, number: u16, value: u64) {
        if let Some(register) = self.0.get_mut(usize::from(number)) {
            *register = Some(value);
        }
    }

    /// Its value, if it is known.
    #[must_use]
    pub fn get(&self, number: u16) -> Option<u64> {
        self.0.get(usize::from(number)).copied().flatten()
    }

    /// The program counter.
    #[must_use]
    pub fn pc(&self) -> Option<u64> {
        self.0[RETURN]
    }

    /// The stack pointer.
    #[must_use]
    pub fn sp(&self) -> Option<u64> {
        self.0[STACK_POINTER]
    }
}

/// The call frame information of one file.
///
/// Made of an [`Image`] once; holds copies of the two sections, an index of their functions, and the rows of the latest
/// addresses. May be shared by threads.
pub struct CallFrames {
    rows: Rows,
    latest: Mutex<rows::Latest>,
}

impl CallFrames {
    /// Reads the call frame information of a file. Empty when it has none, or is not for x86-64: SPARC's register windows say
    /// the same without.
    #[must_use]
    pub fn of(image: &Image) -> Self {
        let files = image.store.borrow_owner();
        let rows = if image.machine() == EM_X86_64 && !image.is_relocatable() {
            let other = files.dwarf().section(".debug_frame");
            Rows::new(files.main.loaded_section(".eh_frame"), other)
        } else {
            Rows::default()
        };
        CallFrames {
            rows,
            latest: Mutex::default(),
        }
    }

    /// Number of functions that are described.
    #[must_use]
    pub fn functions(&self) -> usize {
        self.rows.functions()
    }

    fn row(&self, address: u64) -> Option<Arc<Row>> {
        let mut latest = match self.latest.lock() {
            Ok(latest) => latest,
            Err(poisoned) => poisoned.into_inner(),
        };
        latest.get(address, || self.rows.at(address))
    }

    /// The registers of the caller of the function at link address `address`, and whether that function is the one by
    /// which signal handlers return: then the "caller" was interrupted, and made no call.
    ///
    /// `read_word` gives the 8-byte word at a run-time address of the stack, if it is known. `None`: there is no caller,
    /// or not enough is known.
    pub fn step(
        &self,
        address: u64,
        registers: &Registers,
        read_word: &mut dyn FnMut(u64) -> Option<u64>,
    ) -> Option<(Registers, bool)> {
        let row = self.row(address)?;
        let cfa = match &row.cfa {
            Cfa::Register(register, offset) => {
                registers.get(*register)?.wrapping_add_signed(*offset)
            }
            Cfa::Expression(code) => evaluate(code, None, &mut Known(registers, read_word))?,
        };
        let mut caller = Registers::default();
        caller.0[STACK_POINTER] = Some(cfa);
        for number in KEPT {
            caller.0[number] = registers.0[number];
        }
        for (number, rule) in &row.rules {
            let value = match rule {
                Rule::Undefined => None,
                Rule::Same => registers.get(*number),
                // Compilers do not say that an epilogue has taken it from the stack: what lies below the stack pointer is back
                // in the register.
                Rule::At(offset) => match cfa.wrapping_add_signed(*offset) {
                    at if registers.sp().is_some_and(|sp| at < sp) => registers.get(*number),
                    at => read_word(at),
                },
                Rule::Is(offset) => Some(cfa.wrapping_add_signed(*offset)),
                Rule::Register(other) => registers.get(*other),
                Rule::AtExpression(code) => {
                    evaluate(code, Some(cfa), &mut Known(registers, read_word))
                        .and_then(&mut *read_word)
                }
                Rule::IsExpression(code) => {
                    evaluate(code, Some(cfa), &mut Known(registers, read_word))
                }
            };
            if let Some(register) = caller.0.get_mut(usize::from(*number)) {
                *register = value;
            }
        }
        caller.pc()?;
        Some((caller, row.signal))
    }
}

/// Return addresses of a function that was interrupted with `start` in its registers, innermost first, at most `most`.
///
/// `module` gives the call frame information of the file around a run-time address and the link address in it; `read_word`
/// the 8-byte word at a run-time address, where it is known. Where a signal handler interrupted a function, there is no
/// call: the address behind the first byte of the interrupted instruction stands for it, so that "the address minus 1"
/// names the right function in both cases.
///
/// ```
/// # fn example(image: &instr_symtab::Image) {
/// use instr_symtab::{CallFrames, Registers, return_addresses};
///
/// let frames = CallFrames::of(image); // a program linked to fixed addresses
/// let (sp, words) = (0x7ffc_0000_u64, [0_u64; 16]); // the copy of the stack
/// let start = Registers::new(0x40_1136, sp);
/// let callers = return_addresses(
///     &start,
///     |address| Some((&frames, address)),
///     |address| {
///         let at = address.checked_sub(sp)?;
///         words.get(usize::try_from(at / 8).ok()?).copied().filter(|_| at % 8 == 0)
///     },
///     64,
/// );
/// assert!(callers.len() <= 64);
/// # }
/// ```
pub fn return_addresses<'t>(
    start: &Registers,
    mut module: impl FnMut(u64) -> Option<(&'t CallFrames, u64)>,
    mut read_word: impl FnMut(u64) -> Option<u64>,
    most: usize,
) -> Vec<u64> {
    let mut found = Vec::new();
    let mut registers = start.clone();
    let mut address = start.pc();
    while found.len() < most {
        let Some((frames, linked)) = address.and_then(&mut module) else {
            break;
        };
        let Some((caller, signal)) = frames.step(linked, &registers, &mut read_word) else {
            break;
        };
        let Some(pc) = caller.pc().filter(|&pc| pc != 0) else {
            break;
        };
        // A caller's frame lies above; only a signal handler may have had a stack of its own.
        if caller.sp() <= registers.sp() && !signal {
            break;
        }
        found.push(if signal { pc.wrapping_add(1) } else { pc });
        address = Some(if signal { pc } else { pc - 1 });
        registers = caller;
    }
    found
}
