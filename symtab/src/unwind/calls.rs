//! Whether an address can be one that a call returns to: whether the instruction before it is a call.

use crate::image::Image;

/// ELF's numbers of machines.
const SPARC: [u16; 3] = [2, 18, 43];
const X86_64: u16 = 62;
const AARCH64: u16 = 183;

/// The longest call, and its delay slot.
const LONGEST: usize = 8;

impl Image {
    /// Whether the instruction in front of a link address is a call, so that the address may be a return address; `None` for
    /// machines whose calls are not known here. Words that are found on a stack and are none of a call's are no frames.
    ///
    /// ```
    /// # fn example(image: &instr_symtab::Image, word: u64) {
    /// if image.follows_call(word) == Some(false) {
    ///     println!("{word:#x} is not where a function returns to");
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn follows_call(&self, address: u64) -> Option<bool> {
        let machine = self.machine();
        if machine != X86_64 && machine != AARCH64 && !SPARC.contains(&machine) {
            return None;
        }
        let files = self.store.borrow_owner();
        let code = files.main.code();
        let around = code.iter().find_map(|(base, bytes)| {
            let at = usize::try_from(address.checked_sub(*base)?).ok()?;
            (at <= bytes.len()).then(|| &bytes[at.saturating_sub(LONGEST)..at])
        });
        let before = around.unwrap_or_default();
        Some(match machine {
            X86_64 => x86_64(before),
            AARCH64 => word(before, 4).map(u32::swap_bytes).is_some_and(|word| {
                word & 0xfc00_0000 == 0x9400_0000 || word & 0xffff_fc1f == 0xd63f_0000
            }),
            // The delay slot lies between: `call`, or `jmpl` that leaves its address in %o7.
            _ => word(before, 8)
                .is_some_and(|word| word >> 30 == 1 || word & 0xfff8_0000 == 0x9fc0_0000),
        })
    }
}

/// The big-endian word that begins `back` bytes before the end.
fn word(bytes: &[u8], back: usize) -> Option<u32> {
    let at = bytes.len().checked_sub(back)?;
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

/// `call` with a distance, and all forms of `call` through a register or memory (opcode FF /2).
fn x86_64(before: &[u8]) -> bool {
    let back = |count: usize| {
        let at = before.len().checked_sub(count)?;
        before.get(at).copied()
    };
    if back(5) == Some(0xe8) {
        return true;
    }
    [2, 3, 4, 6, 7].into_iter().any(|length| {
        let (Some(0xff), Some(mode)) = (back(length), back(length - 1)) else {
            return false;
        };
        // A mode byte, perhaps a scale byte, and 0, 1 or 4 bytes of distance.
        let (kind, through) = (mode >> 6, mode & 7);
        let scale = usize::from(kind != 3 && through == 4);
        let distance = match kind {
            0 if through == 5 => 4,
            0 if scale == 1 && length > 3 && back(length - 2).is_some_and(|byte| byte & 7 == 5) => {
                4
            }
            1 => 1,
            2 => 4,
            _ => 0,
        };
        mode >> 3 & 7 == 2 && length == 2 + scale + distance
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the assembler writes them.
    #[test]
    fn calls_of_x86_64_are_known_by_their_bytes() {
        let calls: [&[u8]; 9] = [
            &[0xe8, 1, 2, 3, 4],                // call f
            &[0xff, 0xd0],                      // call *%rax
            &[0x41, 0xff, 0xd4],                // call *%r12
            &[0xff, 0x10],                      // call *(%rax)
            &[0xff, 0x14, 0xc8],                // call *(%rax,%rcx,8)
            &[0xff, 0x50, 0x18],                // call *0x18(%rax)
            &[0xff, 0x54, 0x24, 0x08],          // call *8(%rsp)
            &[0xff, 0x15, 0, 0x10, 0, 0],       // call *f@GOTPCREL(%rip)
            &[0xff, 0x14, 0xc5, 0, 0x10, 0, 0], // call *table(,%rax,8)
        ];
        for call in calls {
            let mut bytes = vec![0x90; 8 - call.len()];
            bytes.extend(call);
            assert!(x86_64(&bytes) && x86_64(call), "{call:x?}");
        }
        let others: [&[u8]; 6] = [
            &[],
            &[0xff],
            &[0xe9, 1, 2, 3, 4],          // jmp
            &[0xff, 0xe0],                // jmp *%rax
            &[0xff, 0x25, 0, 0x10, 0, 0], // jmp *f@GOTPCREL(%rip)
            &[0xc3, 0x0f, 0x1f, 0, 0x66, 0x90, 0x90, 0x90],
        ];
        for other in others {
            assert!(!x86_64(other), "{other:x?}");
        }
    }

    #[test]
    fn words_are_taken_from_the_end() {
        assert_eq!(word(&[1, 2, 3, 4, 5], 4), Some(0x0203_0405));
        assert_eq!((word(&[1, 2], 4), word(&[1, 2, 3], 8)), (None, None));
    }
}
