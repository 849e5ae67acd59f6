//! The symbol table as BFD searches it for the function nearest to an address.

use std::ops::Range;

use object::elf;
use object::read::elf::{ElfFile, FileHeader, Sym, SymbolTable};
use object::{Endianness, File, Object};

use crate::elf::Elf;
use crate::symbols::string_range;

/// A symbol that may name a function.
#[derive(Debug)]
pub(super) struct Candidate {
    section: u32,
    address: u64,
    /// At least 1.
    size: u64,
    name: u32,
    /// Place of the source file's name in the string table.
    file: Option<u32>,
    typed: Typed,
}

/// What the table says a symbol is. BFD takes functions before labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Typed {
    Label,
    Function,
}

/// All candidates by section and address, those of one address in the table's order.
#[derive(Debug, Default)]
pub(super) struct Functions {
    sorted: Vec<Candidate>,
    strings: Range<usize>,
}

/// Whether a file has a symbol table of its own (not only dynamic symbols).
pub(super) fn has_symbols(data: &[u8]) -> bool {
    File::parse(data)
        .is_ok_and(|file| file.symbol_table().is_some() && file.symbols().next().is_some())
}

impl Functions {
    /// Reads the symbol table of a file, or that of its dynamic symbols where it has no other.
    pub(super) fn read(file: &Elf) -> Self {
        match File::parse(file.data()) {
            Ok(File::Elf32(elf)) => read(file, &elf),
            Ok(File::Elf64(elf)) => read(file, &elf),
            _ => Functions::default(),
        }
    }

    /// The best candidate for an address in a section, and whether it reaches up to it.
    pub(super) fn nearest(&self, section: usize, link: u64) -> Option<(&Candidate, bool)> {
        let section = u32::try_from(section).ok()?;
        let key = |candidate: &Candidate| (candidate.section, candidate.address);
        let after = self
            .sorted
            .partition_point(|candidate| key(candidate) <= (section, link));
        let before = self.sorted.get(..after)?;
        let last = before.last().filter(|last| last.section == section)?;
        let twins = before.partition_point(|candidate| key(candidate) < (section, last.address));
        let mut best = &before[twins];
        for candidate in &before[twins + 1..] {
            if candidate.is_better_than(best, link) {
                best = candidate;
            }
        }
        Some((best, best.reaches(link)))
    }

    /// The candidate's name without its version.
    pub(super) fn name<'f>(&self, candidate: &Candidate, data: &'f [u8]) -> &'f [u8] {
        let name = self.text(candidate.name, data);
        match name.iter().position(|&byte| byte == b'@') {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        }
    }

    /// The source file the table tells for the candidate; empty where a file without a name stands before it.
    pub(super) fn file<'f>(&self, candidate: &Candidate, data: &'f [u8]) -> Option<&'f [u8]> {
        Some(self.text(candidate.file?, data))
    }

    fn text<'f>(&self, at: u32, data: &'f [u8]) -> &'f [u8] {
        let strings = data.get(self.strings.clone()).unwrap_or_default();
        let rest = strings.get(at as usize..).unwrap_or_default();
        &rest[..rest.iter().position(|&byte| byte == 0).unwrap_or(0)]
    }
}

impl Candidate {
    fn reaches(&self, link: u64) -> bool {
        link - self.address.min(link) < self.size
    }

    /// BFD's `better_fit` for two candidates of one address.
    fn is_better_than(&self, best: &Candidate, link: u64) -> bool {
        match (best.reaches(link), self.reaches(link)) {
            (false, _) => self.size > best.size,
            (true, false) => false,
            (true, true) if self.typed != best.typed => self.typed > best.typed,
            (true, true) => self.size < best.size,
        }
    }
}

fn read<Class: FileHeader<Endian = Endianness>>(file: &Elf, elf: &ElfFile<'_, Class>) -> Functions {
    let endian = elf.endian();
    let tables = [elf.elf_symbol_table(), elf.elf_dynamic_symbol_table()];
    let Some(table) = tables.into_iter().find(|table| table.len() > 1) else {
        return Functions::default();
    };
    let section_range = |index| {
        use object::read::elf::SectionHeader as _;
        let section = elf.elf_section_table().section(index).ok()?;
        Some((
            section.sh_offset(endian).into(),
            section.sh_size(endian).into(),
        ))
    };
    let strings = string_range(table, section_range, file.data().len());
    let mut sorted = candidates(file, table, endian);
    sorted.sort_by_key(|candidate| (candidate.section, candidate.address));
    Functions { sorted, strings }
}

/// The candidates in the table's order.
fn candidates<Class: FileHeader<Endian = Endianness>>(
    file: &Elf,
    table: &SymbolTable<'_, Class>,
    endian: Endianness,
) -> Vec<Candidate> {
    let mut found = Vec::new();
    // A global symbol's file is only known while no other file was named behind the first symbol.
    let (mut source, mut symbol_seen, mut ambiguous) = (None, false, false);
    for (index, symbol) in table.enumerate().skip(1) {
        if symbol.st_type() == elf::STT_FILE {
            source = Some(symbol.st_name(endian));
            ambiguous |= symbol_seen;
            continue;
        }
        symbol_seen = true;
        let Some(size) = function_size(symbol, endian) else {
            continue;
        };
        let Ok(Some(section)) = table.symbol_section(endian, symbol, index) else {
            continue;
        };
        let value: u64 = symbol.st_value(endian).into();
        let base = match file.relocatable {
            true => file.sections.get(section.0).map_or(0, |(_, base)| *base),
            false => 0,
        };
        let local = symbol.st_bind() == elf::STB_LOCAL;
        found.push(Candidate {
            section: u32::try_from(section.0).unwrap_or(u32::MAX),
            address: base.wrapping_add(value),
            size,
            name: symbol.st_name(endian),
            file: source.filter(|_| local || !ambiguous),
            typed: match symbol.st_type() {
                elf::STT_FUNC => Typed::Function,
                _ => Typed::Label,
            },
        });
    }
    found
}

/// BFD's `_bfd_elf_maybe_function_sym`: the size of what may be a function, at least 1.
fn function_size<S: Sym<Endian = Endianness>>(symbol: &S, endian: Endianness) -> Option<u64> {
    if !matches!(
        symbol.st_type(),
        elf::STT_NOTYPE | elf::STT_FUNC | elf::STT_GNU_IFUNC
    ) || symbol.st_name(endian) == 0
    {
        return None;
    }
    let size: u64 = symbol.st_size(endian).into();
    let marker = size == 0
        && symbol.st_bind() == elf::STB_LOCAL
        && symbol.st_type() == elf::STT_NOTYPE
        && symbol.st_visibility() == elf::STV_HIDDEN;
    (!marker).then_some(size.max(1))
}
