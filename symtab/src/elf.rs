//! An ELF file taken apart: places of its sections, symbols, identification, debug sections ready to read.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use object::elf::{self as constants, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader, SectionHeader};
use object::{CompressionFormat, Endianness, File, FileKind, Object, ObjectSection};

use crate::bytes::Bytes;
use crate::error::{Error, Result};
use crate::mini::unpack;
use crate::plt::stubs;
use crate::relocate::relocate;
use crate::sections::{CodeRanges, SectionPlace};
use crate::symbols::{Symbols, string_range};

/// Zlib cannot pack more than this many bytes into one (RFC 1951: 258 bytes in two bits).
const MAX_ZLIB_RATIO: u64 = 1032;

/// Debug information that decompresses to more than this many times its file's size is taken for an attack …
const MAX_FILE_RATIO: u64 = 32;

/// … unless it stays below this many bytes.
const SMALL_ENOUGH: u64 = 64 << 20;

/// Contents of a debug section.
#[derive(Debug)]
enum Contents {
    /// As it stands in the file.
    InFile(Range<usize>),
    /// Decompressed or relocated.
    Own(Vec<u8>),
}

/// One ELF file.
#[derive(Debug)]
pub(crate) struct Elf {
    bytes: Bytes,
    pub(crate) endian: Endianness,
    pub(crate) machine: u16,
    pub(crate) relocatable: bool,
    /// A program that is loaded where it was linked, so that code holds addresses as numbers.
    pub(crate) fixed: bool,
    /// Read when first asked for.
    symbols: OnceLock<Symbols>,
    /// Places of all sections, by number.
    places: Vec<SectionPlace>,
    code: CodeRanges,
    pub(crate) build_id: Option<Vec<u8>>,
    /// Name of the file with the debug information and its CRC-32.
    pub(crate) debug_link: Option<(Vec<u8>, u32)>,
    /// Name of the supplementary file (`dwz`) and its build id.
    pub(crate) alt_link: Option<(Vec<u8>, Vec<u8>)>,
    /// Name and first address of every section, by number.
    pub(crate) sections: Vec<(Vec<u8>, u64)>,
    debug: Vec<(String, Contents)>,
    /// Why some debug section could not be read.
    pub(crate) debug_error: Option<Error>,
}

impl Elf {
    /// Takes a file apart.
    pub(crate) fn parse(bytes: Bytes) -> Result<Self> {
        let data = bytes.as_slice();
        match FileKind::parse(data) {
            Ok(FileKind::Elf32 | FileKind::Elf64) => {}
            _ => return Err(Error::NotElf),
        }
        let file = File::parse(data)?;
        let mut elf = match &file {
            File::Elf32(elf) => parse_class(elf)?,
            File::Elf64(elf) => parse_class(elf)?,
            _ => return Err(Error::NotElf),
        };
        elf.build_id = file.build_id().ok().flatten().map(<[u8]>::to_vec);
        elf.debug_link = file
            .gnu_debuglink()
            .ok()
            .flatten()
            .map(|(name, crc)| (name.to_vec(), crc));
        elf.alt_link = file
            .gnu_debugaltlink()
            .ok()
            .flatten()
            .map(|(name, id)| (name.to_vec(), id.to_vec()));
        elf.read_debug_sections(&file, data);
        elf.bytes = bytes;
        Ok(elf)
    }

    /// The file's bytes.
    pub(crate) fn data(&self) -> &[u8] {
        self.bytes.as_slice()
    }

    /// Gives back the memory of the file's pages, if it is mapped; they are read again when they are needed.
    pub(crate) fn release(&self) {
        self.bytes.release();
    }

    /// Contents of a debug section, decompressed and relocated; empty where the file has none.
    pub(crate) fn section(&self, name: &str) -> &[u8] {
        match self.debug.iter().find(|(known, _)| known == name) {
            Some((_, Contents::InFile(range))) => {
                self.data().get(range.clone()).unwrap_or_default()
            }
            Some((_, Contents::Own(bytes))) => bytes,
            None => &[],
        }
    }

    /// The symbol tables, sorted when this is first called.
    pub(crate) fn symbols(&self) -> &Symbols {
        self.symbols.get_or_init(|| {
            let data = self.data();
            match File::parse(data) {
                Ok(File::Elf32(elf)) => read_symbols(&elf, data, &self.places, self.relocatable),
                Ok(File::Elf64(elf)) => read_symbols(&elf, data, &self.places, self.relocatable),
                _ => Symbols::default(),
            }
        })
    }

    /// Whether `address` lies in a section (without sections: in a segment) of instructions.
    pub(crate) fn holds_code(&self, address: u64) -> bool {
        self.code.contain(address)
    }

    /// First address and bytes of each section of instructions.
    pub(crate) fn code(&self) -> Vec<(u64, &[u8])> {
        let Ok(file) = File::parse(self.data()) else {
            return Vec::new();
        };
        let numbered = file.sections().filter_map(|section| {
            let place = self.places.get(section.index().0)?;
            let (offset, size) = section.file_range()?;
            let bytes = self.data().get(in_file(offset, size, self.data().len()))?;
            (place.loaded && place.code).then_some((place.base, bytes))
        });
        numbered.collect()
    }

    /// Address and bytes of a section of the running program by its name; `None` where the file has no bytes for it.
    pub(crate) fn loaded_section(&self, name: &str) -> Option<(u64, &[u8])> {
        let file = File::parse(self.data()).ok()?;
        let section = file.section_by_name(name)?;
        let place = self.places.get(section.index().0)?;
        let (offset, size) = section.file_range()?;
        let bytes = self.data().get(in_file(offset, size, self.data().len()))?;
        place.loaded.then_some((place.base, bytes))
    }

    /// Whether the file has any section of DWARF units.
    pub(crate) fn has_debug(&self) -> bool {
        !self.section(".debug_info").is_empty()
    }

    fn read_debug_sections(&mut self, file: &File<'_>, data: &[u8]) {
        let mut budget = decompressed_limit(data);
        for section in file.sections() {
            let Ok(name) = section.name() else { continue };
            let Some(plain) = debug_name(name) else {
                continue;
            };
            if self.debug.iter().any(|(known, _)| *known == plain) {
                continue; // several sections of one name: comdat debug types; the first counts
            }
            match contents(self, file, &section, &plain, data, &mut budget) {
                Ok(contents) => self.debug.push((plain, contents)),
                Err(error) => self.debug_error = self.debug_error.take().or(Some(error)),
            }
        }
    }
}

/// Name of a debug section without the legacy mark of compression; `None` for other sections.
fn debug_name(name: &str) -> Option<String> {
    if name.starts_with(".debug_") && name != ".debug_gdb_scripts" {
        Some(name.to_owned())
    } else {
        name.strip_prefix(".zdebug_")
            .map(|rest| format!(".debug_{rest}"))
    }
}

/// Sections and symbols of a file of either class.
fn parse_class<Class: FileHeader<Endian = Endianness>>(elf: &ElfFile<'_, Class>) -> Result<Elf> {
    let endian = elf.endian();
    let header = elf.elf_header();
    let relocatable = header.e_type(endian) == constants::ET_REL;
    let fixed = header.e_type(endian) == constants::ET_EXEC;
    let table = elf.elf_section_table();
    let mut places = Vec::with_capacity(table.len());
    let mut sections = Vec::with_capacity(table.len());
    for section in table.iter() {
        let flags = section.sh_flags(endian);
        places.push(SectionPlace {
            base: section.sh_addr(endian).into(),
            size: section.sh_size(endian).into(),
            loaded: flags.contains(SHF_ALLOC),
            code: flags.contains(SHF_EXECINSTR),
            thread_local: flags.contains(SHF_TLS),
        });
        let name = table.section_name(endian, section).unwrap_or_default();
        sections.push((
            name.get(..name.len().min(4096))
                .unwrap_or_default()
                .to_vec(),
            0,
        ));
    }
    if relocatable {
        lay_out(&mut places);
    }
    for ((_, base), place) in sections.iter_mut().zip(&places) {
        *base = place.base;
    }
    let code = places.iter().filter(|place| place.loaded && place.code);
    let mut code = CodeRanges::new(code.map(|place| (place.base, place.size)));
    if code.is_empty() {
        let segments = elf.elf_program_headers().iter().filter(|segment| {
            segment.p_type(endian) == constants::PT_LOAD
                && segment.p_flags(endian).contains(constants::PF_X)
        });
        code = CodeRanges::new(segments.map(|segment| {
            (
                segment.p_vaddr(endian).into(),
                segment.p_memsz(endian).into(),
            )
        }));
    }
    Ok(Elf {
        bytes: Bytes::from_owner([]),
        endian,
        machine: header.e_machine(endian).0,
        relocatable,
        fixed,
        symbols: OnceLock::new(),
        places,
        code,
        build_id: None,
        debug_link: None,
        alt_link: None,
        sections,
        debug: Vec::new(),
        debug_error: None,
    })
}

/// The symbols of a file: its own table, or where it was stripped, its dynamic and its packed symbols; and its stubs.
fn read_symbols<Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'_, Class>,
    data: &[u8],
    places: &[SectionPlace],
    relocatable: bool,
) -> Symbols {
    let mut symbols = read_tables(elf, data, places, relocatable);
    if elf.elf_symbol_table().is_empty()
        && let Some(packed) = packed_file(elf, data)
    {
        let (places, inner) = (&packed.places, packed.data());
        let packed = match File::parse(inner) {
            Ok(File::Elf32(elf)) => read_tables(&elf, inner, places, false),
            Ok(File::Elf64(elf)) => read_tables(&elf, inner, places, false),
            _ => Symbols::default(),
        };
        symbols = symbols.merge(data, &packed, inner);
    }
    symbols.add_stubs(&stubs(elf, data), data, data.len());
    symbols
}

/// The symbol table, or that of the dynamic symbols where it is missing.
fn read_tables<Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'_, Class>,
    data: &[u8],
    places: &[SectionPlace],
    relocatable: bool,
) -> Symbols {
    let endian = elf.endian();
    let section_range = |index| {
        let section = elf.elf_section_table().section(index).ok()?;
        Some((
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        ))
    };
    let mut symbols = Symbols::default();
    for table in [elf.elf_symbol_table(), elf.elf_dynamic_symbol_table()] {
        if symbols.is_empty() && !table.is_empty() {
            let strings = string_range(table, section_range, data.len());
            symbols = Symbols::read(table, endian, places, relocatable, strings);
        }
    }
    symbols
}

/// The file of symbols that is packed into a stripped one.
fn packed_file<Class: FileHeader<Endian = Endianness>>(
    elf: &ElfFile<'_, Class>,
    data: &[u8],
) -> Option<Elf> {
    let endian = elf.endian();
    let (_, section) = elf
        .elf_section_table()
        .section_by_name(endian, b".gnu_debugdata")?;
    unpack(section.data(endian, data).ok()?, decompressed_limit(data))
}

/// How many bytes a file's contents are believed to have when they are decompressed.
fn decompressed_limit(data: &[u8]) -> u64 {
    (data.len() as u64)
        .saturating_mul(MAX_FILE_RATIO)
        .max(SMALL_ENOUGH)
}

/// Gives the sections of a relocatable file addresses that do not overlap: code first, from 0, then data, each
/// section aligned to 64 KiB boundaries of its own only where it has to be. `.text` of a plain object stays at 0.
fn lay_out(places: &mut [SectionPlace]) {
    let mut next = 0u64;
    for code in [true, false] {
        for place in places
            .iter_mut()
            .filter(|place| place.loaded && place.code == code && place.size > 0)
        {
            place.base = next;
            next = next.saturating_add(place.size).saturating_add(15) & !15;
        }
    }
}

/// Contents of one debug section.
fn contents(
    elf: &Elf,
    file: &File<'_>,
    section: &object::Section<'_, '_>,
    name: &str,
    data: &[u8],
    budget: &mut u64,
) -> Result<Contents> {
    let compressed = section.compressed_data()?;
    if compressed.format != CompressionFormat::None {
        let packed = compressed.data.len() as u64;
        let limit = match compressed.format {
            CompressionFormat::Zlib => packed.saturating_mul(MAX_ZLIB_RATIO).min(*budget),
            _ => *budget,
        };
        if compressed.uncompressed_size > limit {
            return Err(Error::ImplausibleSize {
                name: name.to_owned(),
                claimed: compressed.uncompressed_size,
                limit,
            });
        }
        *budget -= compressed.uncompressed_size;
    }
    let bytes = compressed.decompress()?;
    if elf.relocatable {
        return Ok(Contents::Own(relocate(
            elf,
            file,
            section,
            bytes.into_owned(),
        )));
    }
    Ok(match bytes {
        Cow::Owned(bytes) => Contents::Own(bytes),
        Cow::Borrowed(bytes) => match section.file_range() {
            Some((offset, size)) if !bytes.is_empty() => {
                Contents::InFile(in_file(offset, size, data.len()))
            }
            _ => Contents::Own(Vec::new()),
        },
    })
}

/// A range of the file, clipped to it.
fn in_file(offset: u64, size: u64, len: usize) -> Range<usize> {
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(len);
    let end = start
        .saturating_add(usize::try_from(size).unwrap_or(usize::MAX))
        .min(len);
    start..end
}
