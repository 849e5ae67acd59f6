//! DWARF expressions in call frame information: PLT entries, signal frames.

use gimli::{
    Encoding, EndianSlice, Evaluation, EvaluationResult, Format, Location, RunTimeEndian, Value,
};

use super::Registers;

/// Operations and further values of one expression: real ones have a dozen.
const MOST_STEPS: u32 = 256;

/// What an expression may ask for.
pub(super) struct Known<'r>(
    pub(super) &'r Registers,
    pub(super) &'r mut dyn FnMut(u64) -> Option<u64>,
);

/// The value of an expression, `initial` on its stack; `None` when it asks for what is not known, or is wrong.
pub(super) fn evaluate(code: &[u8], initial: Option<u64>, known: &mut Known<'_>) -> Option<u64> {
    let encoding = Encoding {
        address_size: 8,
        format: Format::Dwarf32,
        version: 5,
    };
    let bytes = EndianSlice::new(code, RunTimeEndian::Little);
    let mut evaluation = Evaluation::new(bytes, encoding);
    evaluation.set_max_iterations(MOST_STEPS);
    if let Some(value) = initial {
        evaluation.set_initial_value(value);
    }
    let mut result = evaluation.evaluate().ok()?;
    for _ in 0..MOST_STEPS {
        result = match result {
            EvaluationResult::Complete => return address(&evaluation.result()),
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let word = (known.1)(address & !7)?;
                let shift = (address & 7) * 8;
                let bits = u64::from(size) * 8;
                if bits == 0 || shift + bits > 64 {
                    return None;
                }
                let value = (word >> shift) & (u64::MAX >> (64 - bits));
                evaluation.resume_with_memory(Value::Generic(value)).ok()?
            }
            EvaluationResult::RequiresRegister { register, .. } => {
                let value = known.0.get(register.0)?;
                evaluation
                    .resume_with_register(Value::Generic(value))
                    .ok()?
            }
            _ => return None,
        };
    }
    None
}

fn address(pieces: &[gimli::Piece<EndianSlice<'_, RunTimeEndian>>]) -> Option<u64> {
    match pieces {
        [piece] => match piece.location {
            Location::Address { address } => Some(address),
            _ => None,
        },
        _ => None,
    }
}
