//! Debug sections of a relocatable file, as a linker that places each section at its base would have filled them in.

use object::{
    Endianness, File, Object, ObjectSection, ObjectSymbol, Relocation, RelocationKind,
    RelocationTarget, SymbolIndex,
};

use crate::elf::Elf;

/// Applies the relocations of `section` to its contents; those of unknown kinds leave the bytes as they are.
pub(crate) fn relocate(
    elf: &Elf,
    file: &File<'_>,
    section: &object::Section<'_, '_>,
    mut bytes: Vec<u8>,
) -> Vec<u8> {
    for (offset, relocation) in section.relocations() {
        let Some(value) = value(elf, file, &relocation) else {
            continue;
        };
        let Ok(offset) = usize::try_from(offset) else {
            continue;
        };
        let width = usize::from(relocation.size() / 8);
        let Some(place) = offset
            .checked_add(width)
            .and_then(|end| bytes.get_mut(offset..end))
        else {
            continue;
        };
        let implicit = if relocation.has_implicit_addend() {
            load(place, elf.endian)
        } else {
            0
        };
        store(place, value.wrapping_add(implicit), elf.endian);
    }
    bytes
}

/// What the relocation stands for: symbol plus addend.
fn value(elf: &Elf, file: &File<'_>, relocation: &Relocation) -> Option<u64> {
    if relocation.kind() != RelocationKind::Absolute || !matches!(relocation.size(), 32 | 64) {
        return None;
    }
    let target = match relocation.target() {
        RelocationTarget::Symbol(index) => symbol_address(elf, file, index)?,
        RelocationTarget::Absolute => 0,
        _ => return None,
    };
    Some(target.wrapping_add_signed(relocation.addend()))
}

/// Address of a symbol; in a debug section, its offset there.
fn symbol_address(elf: &Elf, file: &File<'_>, index: SymbolIndex) -> Option<u64> {
    let symbol = file.symbol_by_index(index).ok()?;
    let base = symbol
        .section_index()
        .and_then(|section| elf.sections.get(section.0))
        .map_or(0, |(_, base)| *base);
    Some(base.wrapping_add(symbol.address()))
}

fn load(place: &[u8], endian: Endianness) -> u64 {
    let mut wide = [0; 8];
    match endian {
        Endianness::Little => {
            wide[..place.len()].copy_from_slice(place);
            u64::from_le_bytes(wide)
        }
        Endianness::Big => {
            wide[8 - place.len()..].copy_from_slice(place);
            u64::from_be_bytes(wide)
        }
    }
}

fn store(place: &mut [u8], value: u64, endian: Endianness) {
    let width = place.len();
    match endian {
        Endianness::Little => place.copy_from_slice(&value.to_le_bytes()[..width]),
        Endianness::Big => place.copy_from_slice(&value.to_be_bytes()[8 - width..]),
    }
}
