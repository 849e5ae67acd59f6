//! The check of a patched object: read again, it must differ from the original in what was intended and nothing else.

use super::RedirectErrorKind;
use crate::stubs::Linkage;
use object::elf::{self as constants, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{Endianness, Pod, SymbolIndex};

/// Compares `new` with `old`; `renamed` are the functions whose references may have changed.
pub(super) fn verify(
    old: &[u8],
    new: &[u8],
    renamed: &[String],
    is_64: bool,
) -> Result<(), RedirectErrorKind> {
    if is_64 {
        Pair::<FileHeader64<Endianness>>::read(old, new)?.verify(renamed)
    } else {
        Pair::<FileHeader32<Endianness>>::read(old, new)?.verify(renamed)
    }
}

fn check(holds: bool, what: impl FnOnce() -> String) -> Result<(), RedirectErrorKind> {
    if holds {
        Ok(())
    } else {
        Err(RedirectErrorKind::Check(what()))
    }
}

struct View<'a, Elf: FileHeader<Endian = Endianness>> {
    bytes: &'a [u8],
    header: &'a Elf,
    sections: SectionTable<'a, Elf>,
    symbols: SymbolTable<'a, Elf>,
}

impl<'a, Elf: FileHeader<Endian = Endianness>> View<'a, Elf> {
    fn read(bytes: &'a [u8]) -> Result<Self, RedirectErrorKind> {
        let header = Elf::parse(bytes)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, bytes)?;
        let symbols = sections.symbols(endian, bytes, constants::SHT_SYMTAB)?;
        Ok(Self {
            bytes,
            header,
            sections,
            symbols,
        })
    }

    /// Name of the symbol `index` of a relocation; empty for none.
    fn name(&self, endian: Endianness, index: u32) -> Result<&'a [u8], RedirectErrorKind> {
        if index == 0 {
            return Ok(b"");
        }
        let symbol = self.symbols.symbol(SymbolIndex(index as usize))?;
        Ok(self.symbols.symbol_name(endian, symbol)?)
    }
}

struct Pair<'a, Elf: FileHeader<Endian = Endianness>> {
    endian: Endianness,
    old: View<'a, Elf>,
    new: View<'a, Elf>,
}

impl<'a, Elf: FileHeader<Endian = Endianness>> Pair<'a, Elf>
where
    Elf::Sym: Pod,
{
    fn read(old: &'a [u8], new: &'a [u8]) -> Result<Self, RedirectErrorKind> {
        let (old, new) = (View::<Elf>::read(old)?, View::<Elf>::read(new)?);
        Ok(Self {
            endian: old.header.endian()?,
            old,
            new,
        })
    }

    fn verify(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let size = size_of::<Elf>();
        check(
            self.old.bytes.get(..size) == self.new.bytes.get(..size),
            || "the ELF header changed".to_owned(),
        )?;
        check(self.old.sections.len() == self.new.sections.len(), || {
            "the number of sections changed".to_owned()
        })?;
        self.symbols(renamed)?;
        for (index, _) in self.old.sections.enumerate().skip(1) {
            self.section(index, renamed)?;
        }
        Ok(())
    }

    /// Old symbols are the same, byte for byte and by name; the new ones are undefined stubs of `renamed`.
    fn symbols(&self, renamed: &[String]) -> Result<(), RedirectErrorKind> {
        let (old, new) = (&self.old.symbols, &self.new.symbols);
        check(new.len() >= old.len(), || "symbols were lost".to_owned())?;
        for (index, symbol) in new.enumerate().skip(1) {
            let name = new.symbol_name(self.endian, symbol)?;
            let Some(before) = old.symbols().get(index.0) else {
                let fresh =
                    symbol.is_undefined(self.endian) && symbol.st_bind() == constants::STB_GLOBAL;
                let known = function_of(name)
                    .is_some_and(|name| renamed.iter().any(|known| known.as_bytes() == name));
                check(fresh && known, || {
                    format!("new symbol {} is not an undefined stub", index.0)
                })?;
                continue;
            };
            let same = object::bytes_of(before) == object::bytes_of(symbol)
                && old.symbol_name(self.endian, before)? == name;
            check(
                same && old.shndx(self.endian, index) == new.shndx(self.endian, index),
                || format!("symbol {} changed", index.0),
            )?;
        }
        Ok(())
    }

    fn section(
        &self,
        index: object::SectionIndex,
        renamed: &[String],
    ) -> Result<(), RedirectErrorKind> {
        let (before, after) = (
            self.old.sections.section(index)?,
            self.new.sections.section(index)?,
        );
        let grown = [
            self.old.symbols.section(),
            self.old.symbols.string_section(),
            self.old.symbols.shndx_section(),
        ];
        let (contents, copy) = (
            before.data(self.endian, self.old.bytes)?,
            after.data(self.endian, self.new.bytes)?,
        );
        let what = || format!("section {} changed", index.0);
        if grown.contains(&index) {
            return check(
                self.same_header(before, after, false) && copy.starts_with(contents),
                what,
            );
        }
        check(self.same_header(before, after, true), what)?;
        match before.sh_type(self.endian) {
            _ if contents == copy => Ok(()),
            constants::SHT_RELA => self.relocations(
                rela::<Elf>(before, self.endian, self.old.bytes)?,
                rela::<Elf>(after, self.endian, self.new.bytes)?,
                renamed,
            ),
            constants::SHT_REL => self.relocations(
                rel::<Elf>(before, self.endian, self.old.bytes)?,
                rel::<Elf>(after, self.endian, self.new.bytes)?,
                renamed,
            ),
            _ => check(false, what),
        }
    }

    fn same_header(
        &self,
        before: &Elf::SectionHeader,
        after: &Elf::SectionHeader,
        place: bool,
    ) -> bool {
        let facts = |section: &Elf::SectionHeader| {
            let endian = self.endian;
            let numbers = (
                section.sh_name(endian),
                section.sh_link(endian),
                section.sh_info(endian),
                section.sh_type(endian),
            );
            let words: [u64; 3] = [
                section.sh_addr(endian).into(),
                section.sh_addralign(endian).into(),
                section.sh_entsize(endian).into(),
            ];
            (numbers, words, section.sh_flags(endian))
        };
        let extent = |section: &Elf::SectionHeader| -> [u64; 2] {
            [
                section.sh_offset(self.endian).into(),
                section.sh_size(self.endian).into(),
            ]
        };
        facts(before) == facts(after) && (!place || extent(before) == extent(after))
    }

    /// Each relocation is the same, or goes from `F` to the stub of `F`.
    fn relocations(
        &self,
        old: Vec<Relocation>,
        new: Vec<Relocation>,
        renamed: &[String],
    ) -> Result<(), RedirectErrorKind> {
        check(old.len() == new.len(), || {
            "relocations were lost".to_owned()
        })?;
        for (before, after) in old.iter().zip(&new) {
            let what = || format!("relocation at {:#x} changed", before.offset);
            let (name, target) = (
                self.old.name(self.endian, before.symbol)?,
                self.new.name(self.endian, after.symbol)?,
            );
            let redirected = function_of(target) == Some(name)
                && renamed.iter().any(|known| known.as_bytes() == name);
            check(before.symbol == after.symbol || redirected, what)?;
            let rest = |one: &Relocation| (one.offset, one.kind, one.addend);
            check(rest(before) == rest(after), what)?;
        }
        Ok(())
    }
}

/// The function that a stub's symbol belongs to.
fn function_of(stub: &[u8]) -> Option<&[u8]> {
    stub.strip_prefix(Linkage::Rename.stub_prefix().as_bytes())
}

struct Relocation {
    offset: u64,
    symbol: u32,
    kind: u32,
    addend: i64,
}

fn rela<Elf: FileHeader<Endian = Endianness>>(
    section: &Elf::SectionHeader,
    endian: Endianness,
    bytes: &[u8],
) -> Result<Vec<Relocation>, RedirectErrorKind> {
    let (list, _) = section
        .rela(endian, bytes)?
        .ok_or_else(|| RedirectErrorKind::Check("relocations unreadable".to_owned()))?;
    let one = |entry: &Elf::Rela| Relocation {
        offset: entry.r_offset(endian).into(),
        symbol: entry.r_sym(endian, false),
        kind: entry.r_type(endian, false).0,
        addend: entry.r_addend(endian).into(),
    };
    Ok(list.iter().map(one).collect())
}

fn rel<Elf: FileHeader<Endian = Endianness>>(
    section: &Elf::SectionHeader,
    endian: Endianness,
    bytes: &[u8],
) -> Result<Vec<Relocation>, RedirectErrorKind> {
    let (list, _) = section
        .rel(endian, bytes)?
        .ok_or_else(|| RedirectErrorKind::Check("relocations unreadable".to_owned()))?;
    let one = |entry: &Elf::Rel| Relocation {
        offset: entry.r_offset(endian).into(),
        symbol: entry.r_sym(endian),
        kind: entry.r_type(endian).0,
        addend: 0,
    };
    Ok(list.iter().map(one).collect())
}
