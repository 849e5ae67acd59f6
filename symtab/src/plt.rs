//! Names of the stubs a linker makes for calls into shared objects: `puts@plt`.
//!
//! No symbol names them. On x86-64 a stub jumps through a word of the global offset table, and the relocation that
//! fills that word names the function (psABI 1.0, §5.2); so lazily bound, `-z now` and IBT layouts of ld, gold, lld and
//! mold are read alike, by what their instructions do. On SPARC the relocation names the stub itself; of V9's
//! tables of more than 32,764 stubs see the ABI's section on the procedure linkage table.

use std::collections::BTreeMap;

use object::elf::{
    EM_SPARC, EM_SPARC32PLUS, EM_SPARCV9, EM_X86_64, R_SPARC_JMP_IREL, R_SPARC_JMP_SLOT,
    R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_JUMP_SLOT, SHF_ALLOC,
};
use object::read::elf::{ElfFile, FileHeader, Rela, SectionHeader, Sym};
use object::{Endianness, SymbolIndex};

/// Stubs on x86-64 start at multiples of so many bytes …
const X86_STEP: usize = 8;

/// … and are no longer than this.
const X86_STUB: usize = 16;

/// Bytes of a V8 stub: `sethi; ba,a; nop`.
const V8_STUB: u64 = 12;

/// Bytes of a V9 stub.
const V9_STUB: u64 = 32;

/// Stubs before the first that has a function, in all of V9's tables.
const V9_RESERVED: u64 = 4;

/// The V9 stub from which on six instructions and a pointer are used, …
const V9_LARGE: u64 = 32768;

/// … in blocks of so many.
const V9_BLOCK: u64 = 160;

/// What a stub leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target<'d> {
    /// The function of this linker name; empty where the file does not tell.
    Function(&'d [u8]),
    /// What the function at this address chooses when the program starts (an IFUNC of the program itself).
    ChosenBy(u64),
}

/// One stub.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stub<'d> {
    /// Link address.
    pub(crate) address: u64,
    /// Size in bytes.
    pub(crate) size: u64,
    /// Where it leads.
    pub(crate) target: Target<'d>,
}

/// A relocation that fills a word for stubs.
struct Slot<'d> {
    offset: u64,
    target: Target<'d>,
}

/// All stubs of a file, in the order of its sections; none for other machines.
pub(crate) fn stubs<'d, Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'d, Class>,
    data: &'d [u8],
) -> Vec<Stub<'d>> {
    match elf.elf_header().e_machine(elf.endian()) {
        EM_X86_64 => x86_stubs(elf, data),
        EM_SPARC | EM_SPARC32PLUS => {
            let slots = slots(elf, data);
            let stub = |slot: &Slot<'d>| Stub {
                address: slot.offset,
                size: V8_STUB,
                target: slot.target,
            };
            slots.iter().map(stub).collect()
        }
        EM_SPARCV9 => v9_stubs(elf, data),
        _ => Vec::new(),
    }
}

/// The relocations that the dynamic linker (or the start code of a static program) applies for stubs, in order.
fn slots<'d, Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'d, Class>,
    data: &'d [u8],
) -> Vec<Slot<'d>> {
    let endian = elf.endian();
    let machine = elf.elf_header().e_machine(endian);
    let symbols = elf.elf_dynamic_symbol_table();
    let mut slots = Vec::new();
    for section in elf.elf_section_table().iter() {
        if !section.sh_flags(endian).contains(SHF_ALLOC) {
            continue;
        }
        let Ok(Some((relocations, _))) = section.rela(endian, data) else {
            continue;
        };
        for relocation in relocations {
            let kind = relocation.r_type(endian, false);
            let (names, chooses) = match machine {
                EM_X86_64 => (
                    kind == R_X86_64_JUMP_SLOT || kind == R_X86_64_GLOB_DAT,
                    kind == R_X86_64_IRELATIVE,
                ),
                _ => (kind == R_SPARC_JMP_SLOT, kind == R_SPARC_JMP_IREL),
            };
            let target = if names {
                let index = SymbolIndex(relocation.r_sym(endian, false) as usize);
                let name = symbols
                    .symbol(index)
                    .and_then(|symbol| symbol.name(endian, symbols.strings()));
                // One without a name still counts, where stubs are counted.
                Some(Target::Function(name.unwrap_or_default()))
            } else {
                let addend: i64 = relocation.r_addend(endian).into();
                chooses.then_some(Target::ChosenBy(addend as u64))
            };
            let offset = relocation.r_offset(endian).into();
            slots.extend(target.map(|target| Slot { offset, target }));
        }
    }
    slots
}

fn x86_stubs<'d, Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'d, Class>,
    data: &'d [u8],
) -> Vec<Stub<'d>> {
    let slots = slots(elf, data);
    let by_place: BTreeMap<u64, Target<'d>> = slots
        .iter()
        .map(|slot| (slot.offset, slot.target))
        .collect();
    let endian = elf.endian();
    let table = elf.elf_section_table();
    let mut stubs = Vec::new();
    for section in table.iter() {
        let name = table.section_name(endian, section).unwrap_or_default();
        if name != b".iplt" && name != b".plt" && !name.starts_with(b".plt.") {
            continue;
        }
        let base: u64 = section.sh_addr(endian).into();
        let code = section.data(endian, data).unwrap_or_default();
        for at in (0..code.len()).step_by(X86_STEP) {
            let stub = &code[at..code.len().min(at + X86_STUB)];
            let address = base.wrapping_add(at as u64);
            let target = word_of(stub, address).and_then(|word| by_place.get(&word));
            stubs.extend(target.map(|&target| Stub {
                address,
                size: stub.len() as u64,
                target,
            }));
        }
    }
    stubs.sort_by_key(|stub| stub.address);
    for at in 1..stubs.len() {
        let room = stubs[at].address - stubs[at - 1].address;
        stubs[at - 1].size = stubs[at - 1].size.min(room);
    }
    stubs
}

/// The word an x86-64 stub jumps through: `jmp *disp(%rip)`, behind whatever the layout puts before it (`endbr64`, a
/// `bnd` prefix, mold's `mov $n, %r11d`).
fn word_of(stub: &[u8], address: u64) -> Option<u64> {
    let rest = stub.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(stub);
    let rest = match rest {
        [0x41, 0xbb, _, _, _, _, after @ ..] => after,
        [0xf2, after @ ..] => after,
        _ => rest,
    };
    let [0xff, 0x25, a, b, c, d, after @ ..] = rest else {
        return None;
    };
    let behind = address.wrapping_add((stub.len() - after.len()) as u64);
    Some(behind.wrapping_add_signed(i64::from(i32::from_le_bytes([*a, *b, *c, *d]))))
}

/// V9: the relocation names the stub, up to the many-th, from which on it names the stub's pointer; then the n-th
/// relocation belongs to the n-th stub behind the reserved ones.
fn v9_stubs<'d, Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'d, Class>,
    data: &'d [u8],
) -> Vec<Stub<'d>> {
    let endian = elf.endian();
    let table = elf.elf_section_table();
    let plt = table.section_by_name(endian, b".plt");
    let base: u64 = plt.map_or(0, |(_, plt)| plt.sh_addr(endian).into());
    let mut stubs = Vec::new();
    for (number, slot) in (V9_RESERVED..).zip(slots(elf, data)) {
        let (address, size) = match number.checked_sub(V9_LARGE) {
            None => (slot.offset, V9_STUB),
            Some(large) => {
                let in_block = large % V9_BLOCK;
                let block = base.saturating_add((number - in_block) * V9_STUB);
                (block.saturating_add(in_block * 24), 24)
            }
        };
        stubs.push(Stub {
            address,
            size,
            target: slot.target,
        });
    }
    stubs
}

#[cfg(test)]
mod tests {
    use super::word_of;

    #[test]
    fn stubs_of_all_layouts_lead_to_their_word() {
        let jump = [0xff, 0x25, 0x10, 0x20, 0, 0];
        let lazy = [&jump[..], &[0x68, 0, 0, 0, 0, 0xe9, 0, 0, 0, 0]].concat();
        let ibt = [&[0xf3, 0x0f, 0x1e, 0xfa][..], &jump, &[0x66, 0x0f]].concat();
        let bnd = [&[0xf3, 0x0f, 0x1e, 0xfa, 0xf2][..], &jump].concat();
        let mold = [&[0xf3, 0x0f, 0x1e, 0xfa, 0x41, 0xbb, 7, 0, 0, 0][..], &jump].concat();
        assert_eq!(word_of(&lazy, 0x1000), Some(0x1000 + 6 + 0x2010));
        assert_eq!(word_of(&ibt, 0x1000), Some(0x1000 + 10 + 0x2010));
        assert_eq!(word_of(&bnd, 0x1000), Some(0x1000 + 11 + 0x2010));
        assert_eq!(word_of(&mold, 0x1000), Some(0x1000 + 16 + 0x2010));
        let back = [0xff, 0x25, 0xfa, 0xff, 0xff, 0xff];
        assert_eq!(word_of(&back, 0), Some(0));
        assert_eq!(word_of(&back, u64::MAX), Some(u64::MAX));
        assert_eq!(word_of(&jump[..5], 0), None);
        assert_eq!(word_of(&[0xff, 0x35, 0, 0, 0, 0], 0), None);
        assert_eq!(word_of(&[], 0), None);
    }
}
