//! The check of a patched object: read again, it must differ from the original in what was intended and nothing else.

use super::RedirectErrorKind;
use crate::object::{Elf, STUB_PREFIX, Symbols, is_undefined};
use goblin::elf::section_header::SHT_SYMTAB;
use goblin::elf::sym::STB_GLOBAL;
use goblin::elf::{Reloc, SectionHeader};

/// Compares `new` with `old`; `renamed` are the functions whose references may have changed.
pub(super) fn verify(old: &[u8], new: &[u8], renamed: &[String]) -> Result<(), RedirectErrorKind> {
    let pair = Pair {
        old: Side::parse(old)?,
        new: Side::parse(new)?,
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

struct Side<'a> {
    elf: Elf<'a>,
    symbols: Symbols<'a>,
}

impl<'a> Side<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, RedirectErrorKind> {
        let elf = Elf::parse(bytes)?;
        let symbols = elf.symbols(SHT_SYMTAB)?;
        Ok(Self { elf, symbols })
    }
}

struct Pair<'a> {
    old: Side<'a>,
    new: Side<'a>,
}

impl Pair<'_> {
    fn verify(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (&self.old.elf, &self.new.elf);
        check(old.header_bytes() == new.header_bytes(), || {
            "the ELF header changed".to_owned()
        })?;
        let count = old.section_count();
        check(count == new.section_count(), || {
            "the number of sections changed".to_owned()
        })?;
        self.symbols(renamed)?;
        (1..count).try_for_each(|number| self.section(number, renamed))
    }

    /// Old symbols are the same, byte for byte and by name; the new ones are undefined stubs of `renamed`.
    fn symbols(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (&self.old.symbols, &self.new.symbols);
        check(new.len() >= old.len(), || "symbols were lost".to_owned())?;
        for (number, symbol) in new.iter() {
            let name = new.name(&symbol)?;
            let Some(before) = old.get(number) else {
                let known = function_of(name)
                    .is_some_and(|name| renamed.iter().any(|known| known.as_bytes() == name));
                let global = symbol.st_bind() == STB_GLOBAL;
                check(is_undefined(&symbol) && global && known, || {
                    format!("new symbol {number} is not an undefined stub")
                })?;
                continue;
            };
            let same = before == symbol && old.name(&before)? == name;
            let section = old.section_of(number, &before) == new.section_of(number, &symbol);
            check(same && section, || format!("symbol {number} changed"))?;
        }
        Ok(())
    }

    fn section(&self, number: usize, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (&self.old.elf, &self.new.elf);
        let (before, after) = (old.section(number)?, new.section(number)?);
        let (contents, copy) = (old.contents(&before)?, new.contents(&after)?);
        let what = || format!("section {number} changed");
        if self.old.symbols.sections.contains(&number) {
            let moved = SectionHeader {
                sh_offset: before.sh_offset,
                sh_size: before.sh_size,
                ..after
            };
            return check(before == moved && copy.starts_with(contents), what);
        }
        check(before == after, what)?;
        if contents == copy {
            return Ok(());
        }
        let lists = (
            old.relocations(number, &before)?,
            new.relocations(number, &after)?,
        );
        let (Some(before), Some(after)) = lists else {
            return check(false, what);
        };
        // Each relocation is the same, or goes from `F` to the stub of `F`.
        for (before, after) in before.entries.iter().zip(after.entries.iter()) {
            self.relocation(before, after, renamed)?;
        }
        Ok(())
    }

    fn relocation(
        &self,
        before: Reloc,
        after: Reloc,
        renamed: &[String],
    ) -> Result<(), RedirectErrorKind> {
        let (name, target) = (
            name(&self.old.symbols, before.r_sym)?,
            name(&self.new.symbols, after.r_sym)?,
        );
        let redirected = function_of(target) == Some(name)
            && renamed.iter().any(|known| known.as_bytes() == name);
        let rest = |one: Reloc| (one.r_offset, one.r_type, one.r_addend);
        let same = before.r_sym == after.r_sym || redirected;
        check(same && rest(before) == rest(after), || {
            format!("relocation at {:#x} changed", before.r_offset)
        })
    }
}

/// Name of the symbol `number` of a relocation; empty for none.
fn name<'a>(symbols: &Symbols<'a>, number: usize) -> Result<&'a [u8], RedirectErrorKind> {
    if number == 0 {
        return Ok(b"");
    }
    let symbol = symbols.get(number);
    let symbol = symbol.ok_or_else(|| RedirectErrorKind::Check("no such symbol".to_owned()))?;
    Ok(symbols.name(&symbol)?)
}

/// The function that a stub's symbol belongs to.
fn function_of(stub: &[u8]) -> Option<&[u8]> {
    stub.strip_prefix(STUB_PREFIX)
}
