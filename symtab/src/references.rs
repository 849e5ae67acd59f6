//! Which instructions refer to a function: for compilers that do not name the function a construct stands in.

use std::collections::BTreeMap;

use object::elf::EM_X86_64;

use crate::elf::Elf;

/// Bytes of code that are searched at most; about a tenth of a second.
const MAX_SEARCHED: usize = 256 << 20;

/// The operands of instructions that refer to each of `targets`, by target; both ascend. x86-64 only: there, an
/// address is four bytes that count from behind them (`lea f(%rip), %rdi`, `call f`), or four bytes of its own in
/// programs of fixed addresses (`mov $f, %edi`).
///
/// Four bytes that only look like this are as likely as one of 2³² numbers in a code of a few million bytes. In programs that are loaded anywhere, whose
/// addresses begin at 0, small numbers in code would be such: there no number is an address.
pub(crate) fn references(elf: &Elf, targets: &[u64]) -> BTreeMap<u64, Vec<u64>> {
    let mut found: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    let (Some(&first), Some(&last)) = (targets.first(), targets.last()) else {
        return found;
    };
    if elf.machine != EM_X86_64.0 || elf.relocatable {
        return found;
    }
    let mut left = MAX_SEARCHED;
    for (base, code) in elf.code() {
        let code = &code[..code.len().min(left)];
        left -= code.len();
        for (at, bytes) in code.windows(4).enumerate() {
            let operand = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            let place = base.wrapping_add(at as u64);
            let relative = place
                .wrapping_add(4)
                .wrapping_add_signed(i64::from(operand as i32));
            let own = elf.fixed.then(|| u64::from(operand));
            for target in std::iter::once(relative).chain(own) {
                if (first..=last).contains(&target) && targets.binary_search(&target).is_ok() {
                    found.entry(target).or_default().push(place);
                }
            }
        }
    }
    found
}
