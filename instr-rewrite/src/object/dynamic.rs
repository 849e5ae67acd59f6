//! What the dynamic linker is asked about a shared object's own symbols.

use goblin::elf::section_header::SHT_DYNSYM;

use super::elf::is_undefined;
use super::{Elf, ObjectError};

/// Whether a linked file defines `name` for others.
///
/// # Errors
///
/// As [`binds_itself`].
pub fn defines(bytes: &[u8], name: &[u8]) -> Result<bool, ObjectError> {
    let elf = Elf::parse(bytes)?;
    let symbols = elf.symbols(SHT_DYNSYM)?;
    for (_, symbol) in symbols.iter() {
        if !is_undefined(&symbol) && symbols.name(&symbol)? == name {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a linked file defines `name` for others, but calls it without asking the dynamic linker whose it is: no other
/// definition comes before its own. That is what `-Bsymbolic-functions` does.
///
/// # Errors
///
/// The bytes are no ELF file of a supported machine, or are damaged.
pub fn binds_itself(bytes: &[u8], name: &[u8]) -> Result<bool, ObjectError> {
    let elf = Elf::parse(bytes)?;
    let symbols = elf.symbols(SHT_DYNSYM)?;
    let mut own = None;
    for (number, symbol) in symbols.iter() {
        if !is_undefined(&symbol) && symbols.name(&symbol)? == name {
            own = Some(number);
        }
    }
    let Some(own) = own else { return Ok(false) };
    for (number, section) in elf.sections() {
        if section.sh_link as usize != symbols.sections[0] {
            continue;
        }
        let Some(relocations) = elf.relocations(number, &section)? else {
            continue;
        };
        if relocations.entries.iter().any(|entry| entry.r_sym == own) {
            return Ok(false);
        }
    }
    Ok(true)
}
