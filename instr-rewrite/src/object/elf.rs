//! Headers, sections, symbols and relocations of one ELF file, each read when it is asked for.

use goblin::container::{Container, Ctx, Endian};
use goblin::elf::program_header::{PT_INTERP, ProgramHeader};
use goblin::elf::reloc::RelocSection;
use goblin::elf::section_header::{
    SHN_UNDEF, SHN_XINDEX, SHT_NOBITS, SHT_REL, SHT_RELA, SHT_STRTAB, SHT_SYMTAB_SHNDX,
};
use goblin::elf::sym::{Sym, Symtab};
use goblin::elf::{Header, Reloc, SectionHeader, header};
use scroll::Pread;
use scroll::ctx::SizeWith;
use std::ffi::CStr;
use std::ops::Range;

use super::{Machine, ObjectError, ObjectKind, malformed};

/// An ELF file of a supported machine, its header and the extent of its section table checked.
pub(crate) struct Elf<'d> {
    pub(crate) machine: Machine,
    /// Word size and byte order.
    pub(crate) ctx: Ctx,
    header: Header,
    bytes: &'d [u8],
    /// The section headers, whole entries.
    table: &'d [u8],
    /// Number of the section with the names of sections.
    names: usize,
}

/// A symbol table with its names. All of it is empty where the file has none.
pub(crate) struct Symbols<'d> {
    table: Symtab<'d>,
    strings: &'d [u8],
    /// Extended section numbers.
    extended: &'d [u8],
    /// Numbers of the section with the symbols, of that with their names, and of that with extended section numbers (0 where
    /// there is none).
    pub(crate) sections: [usize; 3],
    ctx: Ctx,
}

/// The relocations in one section.
pub(crate) struct Relocations<'d> {
    /// The entries in order.
    pub(crate) entries: RelocSection<'d>,
    /// Size of an entry in the file, in bytes.
    pub(crate) entry: usize,
    /// Whether addends are in the entries.
    pub(crate) with_addends: bool,
}

impl<'d> Elf<'d> {
    /// Reads the header of a file that begins with the magic number of ELF.
    pub(crate) fn parse(bytes: &'d [u8]) -> Result<Self, ObjectError> {
        let short = || malformed("the ELF header ends beyond the file");
        let ident = bytes.get(..header::SIZEOF_IDENT).ok_or_else(short)?;
        let container = match ident[header::EI_CLASS] {
            header::ELFCLASS32 => Container::Little,
            header::ELFCLASS64 => Container::Big,
            _ => return Err(malformed("unknown word size in the ELF header")),
        };
        let order = match ident[header::EI_DATA] {
            header::ELFDATA2LSB => Endian::Little,
            header::ELFDATA2MSB => Endian::Big,
            _ => return Err(malformed("unknown byte order in the ELF header")),
        };
        let ctx = Ctx::new(container, order);
        if bytes.len() < Header::size(ctx) {
            return Err(short());
        }
        let header = bytes.pread_with::<Header>(0, order)?;
        let machine = machine(&header, ctx)?;
        let (table, names) = section_table(bytes, &header, ctx)?;
        Ok(Self {
            machine,
            ctx,
            header,
            bytes,
            table,
            names,
        })
    }

    /// The bytes of the ELF header.
    pub(crate) fn header_bytes(&self) -> &'d [u8] {
        &self.bytes[..Header::size(self.ctx)]
    }

    pub(crate) fn kind(&self) -> Result<ObjectKind, ObjectError> {
        Ok(match self.header.e_type {
            header::ET_REL => ObjectKind::Relocatable,
            header::ET_EXEC => ObjectKind::Executable,
            header::ET_DYN if self.has_interpreter()? => ObjectKind::Executable,
            header::ET_DYN => ObjectKind::Shared,
            other => return Err(malformed(format!("ELF file type {other} is no code"))),
        })
    }

    fn has_interpreter(&self) -> Result<bool, ObjectError> {
        let count = usize::from(self.header.e_phnum);
        let size = ProgramHeader::size(self.ctx);
        if count == 0 {
            return Ok(false);
        }
        if usize::from(self.header.e_phentsize) != size {
            return Err(malformed("size of a program header"));
        }
        let range = range(self.header.e_phoff, (count * size) as u64);
        let table = range.and_then(|range| self.bytes.get(range));
        let table = table.ok_or_else(|| malformed("the program headers end beyond the file"))?;
        for entry in table.chunks_exact(size) {
            if entry.pread_with::<ProgramHeader>(0, self.ctx)?.p_type == PT_INTERP {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Number of sections, the empty one included.
    pub(crate) fn section_count(&self) -> usize {
        self.table.len() / SectionHeader::size(self.ctx)
    }

    /// The section of this number.
    pub(crate) fn section(&self, number: usize) -> Result<SectionHeader, ObjectError> {
        let header = number.checked_mul(SectionHeader::size(self.ctx));
        let header = header.and_then(|at| self.table.pread_with(at, self.ctx).ok());
        header.ok_or_else(|| malformed(format!("there is no section {number}")))
    }

    /// All sections by number.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (usize, SectionHeader)> {
        (0..self.section_count()).filter_map(|number| Some((number, self.section(number).ok()?)))
    }

    /// File offset of the header of the section of this number.
    pub(crate) fn section_place(&self, number: usize) -> usize {
        // The table begins in the file; `parse` checked that it ends there too.
        self.header.e_shoff as usize + number * SectionHeader::size(self.ctx)
    }

    /// A section's contents; empty where it has none in the file.
    pub(crate) fn contents(&self, section: &SectionHeader) -> Result<&'d [u8], ObjectError> {
        if section.sh_type == SHT_NOBITS {
            return Ok(&[]);
        }
        let range = range(section.sh_offset, section.sh_size);
        let contents = range.and_then(|range| self.bytes.get(range));
        contents.ok_or_else(|| {
            malformed(format!(
                "a section of {:#x} bytes at {:#x} ends beyond the file",
                section.sh_size, section.sh_offset
            ))
        })
    }

    /// Whether a section's name begins with `prefix`. The end of a name is not looked for: many names of one damaged file may share
    /// one that never ends.
    pub(crate) fn is_named(&self, section: &SectionHeader, prefix: &[u8]) -> bool {
        let strings = self.section(self.names).and_then(|s| self.contents(&s));
        let name = strings.ok().and_then(|s| s.get(section.sh_name..));
        name.is_some_and(|name| name.starts_with(prefix))
    }

    /// The first symbol table of this type.
    pub(crate) fn symbols(&self, table_type: u32) -> Result<Symbols<'d>, ObjectError> {
        let mut symbols = Symbols {
            table: Symtab::default(),
            strings: &[],
            extended: &[],
            sections: [0; 3],
            ctx: self.ctx,
        };
        let found = self.sections().find(|(_, s)| s.sh_type == table_type);
        let Some((number, section)) = found else {
            return Ok(symbols);
        };
        let contents = self.contents(&section)?;
        let size = Sym::size_with(&self.ctx);
        if contents.len() % size != 0 {
            let what = format!("the symbol table in section {number} has half an entry");
            return Err(malformed(what));
        }
        let link = section.sh_link as usize;
        let strings = self.section(link)?;
        if strings.sh_type != SHT_STRTAB {
            let what = format!("section {link} is no table of names of symbols");
            return Err(malformed(what));
        }
        symbols.strings = self.contents(&strings)?;
        if !contents.is_empty() {
            symbols.table = Symtab::parse(contents, 0, contents.len() / size, self.ctx)?;
        }
        let extended = |(_, other): &(usize, SectionHeader)| {
            other.sh_type == SHT_SYMTAB_SHNDX && other.sh_link as usize == number
        };
        let extended = self.sections().find(extended);
        if let Some((_, section)) = &extended {
            symbols.extended = self.contents(section)?;
        }
        symbols.sections = [number, link, extended.map_or(0, |(number, _)| number)];
        Ok(symbols)
    }

    /// The relocations in the section of this number; `None` if it holds none.
    pub(crate) fn relocations(
        &self,
        number: usize,
        section: &SectionHeader,
    ) -> Result<Option<Relocations<'d>>, ObjectError> {
        let with_addends = match section.sh_type {
            SHT_RELA => true,
            SHT_REL => false,
            _ => return Ok(None),
        };
        let contents = self.contents(section)?;
        let entry = Reloc::size(with_addends, self.ctx);
        if section.sh_entsize != entry as u64 || contents.len() % entry != 0 {
            let what = format!("size of the relocations in section {number}");
            return Err(malformed(what));
        }
        let entries = RelocSection::parse(contents, 0, contents.len(), with_addends, self.ctx)?;
        Ok(Some(Relocations {
            entries,
            entry,
            with_addends,
        }))
    }
}

impl<'d> Symbols<'d> {
    /// Number of symbols, the empty one included.
    pub(crate) fn len(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn get(&self, number: usize) -> Option<Sym> {
        self.table.get(number)
    }

    /// All symbols but the empty one, with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Sym)> + use<'d> {
        self.table.iter().enumerate().skip(1)
    }

    /// A symbol's name.
    pub(crate) fn name(&self, symbol: &Sym) -> Result<&'d [u8], ObjectError> {
        string(self.strings, symbol.st_name)
            .ok_or_else(|| malformed("a symbol's name lies outside of the table of names"))
    }

    /// Number of the section of the symbol of this number, extended numbers included.
    pub(crate) fn section_of(&self, number: usize, symbol: &Sym) -> usize {
        if symbol.st_shndx != SHN_XINDEX as usize {
            return symbol.st_shndx;
        }
        let place = number.checked_mul(4);
        let found = place.and_then(|at| self.extended.pread_with::<u32>(at, self.ctx.le).ok());
        found.map_or(symbol.st_shndx, |number| number as usize)
    }
}

/// Whether a symbol is defined nowhere in its object.
pub(crate) fn is_undefined(symbol: &Sym) -> bool {
    symbol.st_shndx == SHN_UNDEF as usize
}

fn range(offset: u64, size: u64) -> Option<Range<usize>> {
    let end = offset.checked_add(size)?;
    Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

/// The text at `offset` up to the next zero byte.
fn string(strings: &[u8], offset: usize) -> Option<&[u8]> {
    let text = CStr::from_bytes_until_nul(strings.get(offset..)?).ok()?;
    Some(text.to_bytes())
}

/// The bytes of the section headers, and the number of the section with their names. Large numbers of both are in the first header.
fn section_table<'d>(
    bytes: &'d [u8],
    header: &Header,
    ctx: Ctx,
) -> Result<(&'d [u8], usize), ObjectError> {
    if header.e_shoff == 0 {
        return match header.e_shnum {
            0 => Ok((&[], 0)),
            _ => Err(malformed("sections without a table of them")),
        };
    }
    let size = SectionHeader::size(ctx);
    if usize::from(header.e_shentsize) != size {
        return Err(malformed("size of a section header"));
    }
    let slice = |count: u64| {
        let range = range(header.e_shoff, count.checked_mul(size as u64)?)?;
        bytes.get(range)
    };
    let beyond = |count: u64| {
        let start = header.e_shoff;
        malformed(format!(
            "{count} section headers at {start:#x} end beyond the file"
        ))
    };
    let first = slice(1).ok_or_else(|| beyond(1))?;
    let first = first.pread_with::<SectionHeader>(0, ctx)?;
    let count = match header.e_shnum {
        0 => first.sh_size,
        count => count.into(),
    };
    let names = match u32::from(header.e_shstrndx) {
        SHN_XINDEX => first.sh_link,
        names => names,
    };
    Ok((slice(count).ok_or_else(|| beyond(count))?, names as usize))
}

/// The machine of a header, checked against its word size and byte order.
fn machine(header: &Header, ctx: Ctx) -> Result<Machine, ObjectError> {
    let machine = match header.e_machine {
        header::EM_X86_64 => Machine::X86_64,
        header::EM_SPARC => Machine::Sparc,
        header::EM_SPARC32PLUS => Machine::Sparc32Plus,
        header::EM_SPARCV9 => Machine::SparcV9,
        header::EM_AARCH64 => Machine::Aarch64,
        header::EM_RISCV => Machine::RiscV64,
        other => return Err(ObjectError::Machine(machine_name(other))),
    };
    let (is_64, big) = (ctx.is_big(), !ctx.is_little_endian());
    if is_64 != machine.is_64_bit() || big != machine.is_big_endian() {
        let (bits, order) = (
            if is_64 { 64 } else { 32 },
            if big { "big" } else { "little" },
        );
        return Err(ObjectError::Flavor {
            machine,
            bits,
            order,
        });
    }
    Ok(machine)
}

fn machine_name(machine: u16) -> String {
    let known = match machine {
        header::EM_386 => "32-bit x86",
        header::EM_ARM => "ARM",
        header::EM_PPC64 => "PowerPC64",
        header::EM_PPC => "PowerPC",
        header::EM_MIPS => "MIPS",
        header::EM_S390 => "s390",
        _ => return format!("ELF machine {machine}"),
    };
    format!("{known} (ELF machine {machine})")
}
