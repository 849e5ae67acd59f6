//! One relocatable object with the place of everything in the file, for those who change it.

use std::ops::Range;

use object::elf::{self as constants, FileHeader32, FileHeader64};
use object::read::StringTable;
use object::read::elf::{FileHeader, Rel, Rela, SectionHeader, SectionTable, Sym};
use object::{Endianness, Pod, SectionIndex};

use super::{Layout, Machine, ObjectError};

/// A relocatable object, its section headers and symbols read.
#[derive(Debug)]
pub struct Relocatable<'d> {
    /// Word size and byte order.
    pub layout: Layout,
    /// The bytes of the ELF header.
    pub header: &'d [u8],
    /// All sections by number, the empty one first.
    pub sections: Vec<RawSection<'d>>,
    /// The symbol table's entries by number, the empty one first.
    pub symbols: Vec<RawSymbol<'d>>,
    /// Numbers of the section with the symbols, of that with their names, and of that with extended section numbers (0
    /// where there is none).
    pub tables: [usize; 3],
    bytes: &'d [u8],
    strings: StringTable<'d>,
}

/// A section header.
#[derive(Debug, Clone)]
pub struct RawSection<'d> {
    /// File offset of the header; `None` where it does not fit into the address space.
    pub header_offset: Option<usize>,
    /// Its name; `None` where the table of names is damaged.
    pub name: Option<&'d [u8]>,
    /// Its place in the table of names.
    pub name_offset: u32,
    /// What it holds, as far as that matters here.
    pub section_type: SectionType,
    /// `sh_flags`.
    pub flags: u64,
    /// Whether it is part of the running program.
    pub loaded: bool,
    /// `sh_link`.
    pub link: u32,
    /// `sh_info`.
    pub info: u32,
    /// `sh_addr`.
    pub address: u64,
    /// `sh_addralign`.
    pub alignment: u64,
    /// `sh_entsize`, bytes.
    pub entry_size: u64,
    /// `sh_offset`.
    pub offset: u64,
    /// `sh_size`, bytes.
    pub size: u64,
    /// Where its contents are in the file; `None` for a section without (`SHT_NOBITS`).
    pub range: Option<Range<usize>>,
}

/// `sh_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectionType {
    /// The symbol table.
    Symbols,
    /// Relocations without addends.
    Rel,
    /// Relocations with addends.
    Rela,
    /// Compressed relocations.
    Crel,
    /// Anything else, by its number.
    Other(u32),
}

/// An entry of the symbol table.
#[derive(Debug, Clone, Copy)]
pub struct RawSymbol<'d> {
    /// The entry's bytes.
    pub entry: &'d [u8],
    /// `STB_LOCAL`.
    pub local: bool,
    /// `STB_GLOBAL`.
    pub global: bool,
    /// Defined nowhere in the object.
    pub undefined: bool,
    /// Number of its section, extended numbers included.
    pub section: u32,
    name: u32,
}

/// A relocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawRelocation {
    /// Offset in the section that is relocated.
    pub offset: u64,
    /// Number of its symbol; 0 is none.
    pub symbol: u32,
    /// Its type.
    pub kind: u32,
    /// Its addend; 0 where it is elsewhere.
    pub addend: i64,
}

impl<'d> Relocatable<'d> {
    /// Reads the headers and symbols of an object for `machine`.
    ///
    /// # Errors
    ///
    /// Headers or tables are damaged.
    pub fn parse(bytes: &'d [u8], machine: Machine) -> Result<Self, ObjectError> {
        if machine.is_64_bit() {
            parse::<FileHeader64<Endianness>>(bytes, machine)
        } else {
            parse::<FileHeader32<Endianness>>(bytes, machine)
        }
    }

    /// A symbol's name.
    ///
    /// # Errors
    ///
    /// The name lies outside of the table of names.
    pub fn name(&self, symbol: &RawSymbol<'d>) -> Result<&'d [u8], ObjectError> {
        let name = self.strings.get(symbol.name);
        name.map_err(|()| ObjectError::Malformed("Invalid ELF symbol name offset".to_owned()))
    }

    /// The section of this number.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn section(&self, number: usize) -> Result<&RawSection<'d>, ObjectError> {
        let section = self.sections.get(number);
        section.ok_or_else(|| ObjectError::Malformed("Invalid ELF section index".to_owned()))
    }

    /// A section's contents; empty where it has none in the file.
    ///
    /// # Errors
    ///
    /// They lie outside of the file.
    pub fn contents(&self, section: &RawSection<'d>) -> Result<&'d [u8], ObjectError> {
        let Some(range) = section.range.clone() else {
            return Ok(&[]);
        };
        let contents = self.bytes.get(range);
        contents
            .ok_or_else(|| ObjectError::Malformed("Invalid ELF section size or offset".to_owned()))
    }

    /// The relocations in the section of this number; `None` if it holds none.
    ///
    /// # Errors
    ///
    /// The section lies outside of the file or does not hold whole entries.
    pub fn relocations(&self, section: usize) -> Result<Option<Vec<RawRelocation>>, ObjectError> {
        if self.layout.is_64 {
            relocations::<FileHeader64<Endianness>>(self.bytes, section)
        } else {
            relocations::<FileHeader32<Endianness>>(self.bytes, section)
        }
    }
}

fn parse<'d, Elf: FileHeader<Endian = Endianness>>(
    bytes: &'d [u8],
    machine: Machine,
) -> Result<Relocatable<'d>, ObjectError>
where
    Elf::Sym: Pod,
{
    let header = Elf::parse(bytes)?;
    let endian = header.endian()?;
    let table = header.sections(endian, bytes)?;
    let symbols = table.symbols(endian, bytes, constants::SHT_SYMTAB)?;
    let entries = symbols.enumerate().map(|(index, symbol)| RawSymbol {
        entry: object::bytes_of(symbol),
        local: symbol.is_local(),
        global: symbol.st_bind() == constants::STB_GLOBAL,
        undefined: symbol.is_undefined(endian),
        section: symbols
            .shndx(endian, index)
            .unwrap_or_else(|| symbol.st_shndx(endian).0.into()),
        name: symbol.st_name(endian),
    });
    let tables = [
        symbols.section(),
        symbols.string_section(),
        symbols.shndx_section(),
    ];
    Ok(Relocatable {
        layout: Layout::of(machine),
        header: bytes.get(..size_of::<Elf>()).unwrap_or_default(),
        sections: raw_sections(header, endian, &table),
        symbols: entries.collect(),
        tables: tables.map(|index| index.0),
        bytes,
        strings: symbols.strings(),
    })
}

fn raw_sections<'d, Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
    table: &SectionTable<'d, Elf>,
) -> Vec<RawSection<'d>> {
    let header_offset = |index: SectionIndex| {
        let start = usize::try_from(header.e_shoff(endian).into()).ok()?;
        index
            .0
            .checked_mul(header.e_shentsize(endian).into())?
            .checked_add(start)
    };
    let range = |section: &Elf::SectionHeader| {
        let (offset, size) = section.file_range(endian)?;
        Some(usize::try_from(offset).ok()?..usize::try_from(offset.checked_add(size)?).ok()?)
    };
    let raw = |(index, section): (SectionIndex, &Elf::SectionHeader)| RawSection {
        header_offset: header_offset(index),
        name: table.section_name(endian, section).ok(),
        name_offset: section.sh_name(endian),
        section_type: match section.sh_type(endian) {
            constants::SHT_SYMTAB => SectionType::Symbols,
            constants::SHT_REL => SectionType::Rel,
            constants::SHT_RELA => SectionType::Rela,
            constants::SHT_CREL => SectionType::Crel,
            other => SectionType::Other(other.0),
        },
        flags: section.sh_flags(endian).0,
        loaded: section.sh_flags(endian).contains(constants::SHF_ALLOC),
        link: section.sh_link(endian),
        info: section.sh_info(endian),
        address: section.sh_addr(endian).into(),
        alignment: section.sh_addralign(endian).into(),
        entry_size: section.sh_entsize(endian).into(),
        offset: section.sh_offset(endian).into(),
        size: section.sh_size(endian).into(),
        range: range(section),
    };
    table.enumerate().map(raw).collect()
}

fn relocations<Elf: FileHeader<Endian = Endianness>>(
    bytes: &[u8],
    section: usize,
) -> Result<Option<Vec<RawRelocation>>, ObjectError> {
    let header = Elf::parse(bytes)?;
    let endian = header.endian()?;
    let table = header.sections(endian, bytes)?;
    let section = table.section(SectionIndex(section))?;
    if let Some((list, _)) = section.rela(endian, bytes)? {
        let one = |entry: &Elf::Rela| RawRelocation {
            offset: entry.r_offset(endian).into(),
            symbol: entry.r_sym(endian, false),
            kind: entry.r_type(endian, false).0,
            addend: entry.r_addend(endian).into(),
        };
        return Ok(Some(list.iter().map(one).collect()));
    }
    let Some((list, _)) = section.rel(endian, bytes)? else {
        return Ok(None);
    };
    let one = |entry: &Elf::Rel| RawRelocation {
        offset: entry.r_offset(endian).into(),
        symbol: entry.r_sym(endian),
        kind: entry.r_type(endian).0,
        addend: 0,
    };
    Ok(Some(list.iter().map(one).collect()))
}
