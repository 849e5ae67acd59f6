//! The check of a patched object: read again, it must differ from the original in what was intended and nothing else.

use super::RedirectErrorKind;
use crate::stubs::Linkage;
use instr_symtab::objects::{Machine, RawRelocation, RawSection, Relocatable, SectionType};

/// Compares `new` with `old`; `renamed` are the functions whose references may have changed.
pub(super) fn verify(
    old: &[u8],
    new: &[u8],
    renamed: &[String],
    machine: Machine,
) -> Result<(), RedirectErrorKind> {
    let pair = Pair {
        old: Relocatable::parse(old, machine)?,
        new: Relocatable::parse(new, machine)?,
    };
    pair.verify(renamed)
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), RedirectErrorKind> {
    if holds {
        Ok(())
    } else {
        Err(RedirectErrorKind::Check(what()))
    }
}

struct Pair<'a> {
    old: Relocatable<'a>,
    new: Relocatable<'a>,
}

impl Pair<'_> {
    fn verify(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        check(self.old.header == self.new.header, || {
            "the ELF header changed".to_owned()
        })?;
        let count = self.old.sections.len();
        check(count == self.new.sections.len(), || {
            "the number of sections changed".to_owned()
        })?;
        self.symbols(renamed)?;
        (1..count).try_for_each(|number| self.section(number, renamed))
    }

    /// Old symbols are the same, byte for byte and by name; the new ones are undefined stubs of `renamed`.
    fn symbols(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (&self.old, &self.new);
        check(new.symbols.len() >= old.symbols.len(), || {
            "symbols were lost".to_owned()
        })?;
        for (index, symbol) in new.symbols.iter().enumerate().skip(1) {
            let name = new.name(symbol)?;
            let Some(before) = old.symbols.get(index) else {
                let known = function_of(name)
                    .is_some_and(|name| renamed.iter().any(|known| known.as_bytes() == name));
                check(symbol.undefined && symbol.global && known, || {
                    format!("new symbol {index} is not an undefined stub")
                })?;
                continue;
            };
            let same = before.entry == symbol.entry && old.name(before)? == name;
            check(same && before.section == symbol.section, || {
                format!("symbol {index} changed")
            })?;
        }
        Ok(())
    }

    fn section(&self, number: usize, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (before, after) = (self.old.section(number)?, self.new.section(number)?);
        let (contents, copy) = (self.old.contents(before)?, self.new.contents(after)?);
        let what = || format!("section {number} changed");
        if self.old.tables.contains(&number) {
            let same = same_header(before, after, false);
            return check(same && copy.starts_with(contents), what);
        }
        check(same_header(before, after, true), what)?;
        match before.section_type {
            _ if contents == copy => Ok(()),
            SectionType::Rela | SectionType::Rel => self.relocations(number, renamed),
            _ => check(false, what),
        }
    }

    /// Each relocation is the same, or goes from `F` to the stub of `F`.
    fn relocations(&self, number: usize, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (read(&self.old, number)?, read(&self.new, number)?);
        check(old.len() == new.len(), || {
            "relocations were lost".to_owned()
        })?;
        for (before, after) in old.iter().zip(&new) {
            let what = || format!("relocation at {:#x} changed", before.offset);
            let (name, target) = (
                name(&self.old, before.symbol)?,
                name(&self.new, after.symbol)?,
            );
            let redirected = function_of(target) == Some(name)
                && renamed.iter().any(|known| known.as_bytes() == name);
            check(before.symbol == after.symbol || redirected, what)?;
            let rest = |one: &RawRelocation| (one.offset, one.kind, one.addend);
            check(rest(before) == rest(after), what)?;
        }
        Ok(())
    }
}

fn same_header(before: &RawSection<'_>, after: &RawSection<'_>, place: bool) -> bool {
    let facts = |section: &RawSection<'_>| {
        let numbers = (section.name_offset, section.link, section.info);
        let words = (section.address, section.alignment, section.entry_size);
        (numbers, words, section.section_type, section.flags)
    };
    let extent = |section: &RawSection<'_>| (section.offset, section.size);
    facts(before) == facts(after) && (!place || extent(before) == extent(after))
}

/// The relocations of a section that holds some.
fn read(file: &Relocatable<'_>, number: usize) -> Result<Vec<RawRelocation>, RedirectErrorKind> {
    let found = file.relocations(number)?;
    found.ok_or_else(|| RedirectErrorKind::Check("relocations unreadable".to_owned()))
}

/// Name of the symbol `number` of a relocation; empty for none.
fn name<'a>(file: &Relocatable<'a>, number: u32) -> Result<&'a [u8], RedirectErrorKind> {
    if number == 0 {
        return Ok(b"");
    }
    let symbol = file.symbols.get(number as usize);
    let symbol = symbol.ok_or_else(|| RedirectErrorKind::Check("no such symbol".to_owned()))?;
    Ok(file.name(symbol)?)
}

/// The function that a stub's symbol belongs to.
fn function_of(stub: &[u8]) -> Option<&[u8]> {
    stub.strip_prefix(Linkage::Rename.stub_prefix().as_bytes())
}
