//! Random addresses of a program's code, and what its own tables say of them, read without the library under test.

use std::fs;
use std::ops::Range;
use std::path::Path;

use crate::peers::normalized;
use gimli::{EndianSlice, RunTimeEndian};
use object::{File, Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind};

/// A unit of the debug information.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) version: u16,
    /// Path of its source.
    pub(crate) file: String,
}

/// Addresses of a program and its symbols.
pub(crate) struct Program {
    /// Sections with code.
    code: Vec<(String, Range<u64>)>,
    /// Ranges of the units of the debug information.
    units: Vec<(Range<u64>, Unit)>,
    /// Whether the file itself has no symbols but those of dynamic linking.
    pub(crate) stripped: bool,
    /// Function symbols: address, size, name; sorted.
    symbols: Vec<(u64, u64, String)>,
    /// Names taken from shared libraries.
    pub(crate) imports: Vec<String>,
    /// Names of source files (`STT_FILE`).
    pub(crate) files: Vec<String>,
}

impl Program {
    /// Reads `path`; `plain` is the same program with debug information in the plain way.
    pub(crate) fn read(path: &Path, plain: &Path) -> Self {
        let own = fs::read(path).expect("the program");
        let stripped = File::parse(&*own).expect("ELF").symbol_table().is_none();
        let bytes = fs::read(plain).expect("the program");
        let file = File::parse(&*bytes).expect("ELF");
        let code = file.sections().filter(is_code).map(|section| {
            let start = section.address();
            let name = section.name().unwrap_or_default().to_owned();
            (name, start..start + section.size())
        });
        let mut symbols = Vec::new();
        let (mut files, mut imports) = (Vec::new(), Vec::new());
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let name = symbol.name().unwrap_or_default();
            let name = name.split('@').next().unwrap_or_default().to_owned();
            match symbol.kind() {
                SymbolKind::File => files.push(name),
                _ if symbol.is_undefined() => imports.push(name),
                SymbolKind::Section => {}
                _ => symbols.push((symbol.address(), symbol.size(), name)),
            }
        }
        symbols.retain(|(_, _, name)| !name.is_empty());
        symbols.sort();
        symbols.dedup();
        Program {
            code: code.collect(),
            units: units(&file),
            stripped,
            imports,
            symbols,
            files,
        }
    }

    /// Up to `count` addresses: half from all code, half from code with debug information; every address where
    /// there are no more than `count`.
    pub(crate) fn sample(&self, count: usize, seed: u64) -> Vec<u64> {
        let code: Vec<Range<u64>> = self.code.iter().map(|(_, range)| range.clone()).collect();
        if length(&code) <= count as u64 {
            return code.into_iter().flatten().collect();
        }
        let mut random = Random(seed | 1);
        let units: Vec<Range<u64>> = self
            .units
            .iter()
            .map(|(range, _)| range.clone())
            .filter(|range| self.section(range.start).is_some())
            .collect();
        let mut drawn: Vec<u64> = Vec::new();
        if length(&units) <= count as u64 / 2 {
            drawn.extend(units.into_iter().flatten());
        } else {
            drawn.extend((0..count / 2).map(|_| pick(&units, &mut random)));
        }
        while drawn.len() < count {
            drawn.push(pick(&code, &mut random));
        }
        drawn
    }

    /// Name of the section of code around an address.
    pub(crate) fn section(&self, address: u64) -> Option<&str> {
        let found = self.code.iter().find(|(_, range)| range.contains(&address));
        found.map(|(name, _)| &**name)
    }

    /// The unit that claims the address.
    pub(crate) fn unit(&self, address: u64) -> Option<&Unit> {
        self.units
            .iter()
            .find(|(range, _)| range.contains(&address))
            .map(|(_, unit)| unit)
    }

    /// Address and size of the symbols of this name.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = (u64, u64)> {
        let found = self.symbols.iter().filter(move |(.., known)| known == name);
        found.map(|(address, size, _)| (*address, *size))
    }

    /// All names of functions that are mangled, without versions.
    pub(crate) fn mangled_names(&self) -> impl Iterator<Item = String> {
        let code = self
            .symbols
            .iter()
            .filter(|(address, ..)| self.section(*address).is_some());
        let mangled = |name: &&String| name.starts_with("_Z") || name.starts_with("_R");
        code.map(|(.., name)| name).filter(mangled).cloned()
    }

    /// Whether any symbol of known size covers the address.
    pub(crate) fn is_covered(&self, address: u64) -> bool {
        let before = self
            .symbols
            .iter()
            .take_while(|(start, ..)| *start <= address);
        before
            .clone()
            .any(|(start, size, _)| address < start.saturating_add(*size))
    }

    /// Whether this is the name of the last symbol before the address.
    pub(crate) fn is_nearest(&self, name: &str, address: u64) -> bool {
        let mut before = self
            .symbols
            .iter()
            .take_while(|(start, ..)| *start <= address);
        let last = before.clone().map(|(start, ..)| *start).last();
        before.any(|(start, _, known)| Some(*start) == last && known == name)
    }

    /// Whether symbols of both names lie at one address.
    pub(crate) fn same_place(&self, one: &str, other: &str) -> bool {
        self.named(one)
            .any(|(start, _)| self.named(other).any(|(also, _)| start == also))
    }

    /// Whether a symbol of this name covers the address.
    pub(crate) fn covers(&self, name: &str, address: u64) -> bool {
        self.named(name)
            .any(|(start, size)| (start..start.saturating_add(size)).contains(&address))
    }
}

fn is_code(section: &object::Section<'_, '_>) -> bool {
    let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
        return false;
    };
    sh_flags.contains(object::elf::SHF_EXECINSTR) && section.size() > 0
}

fn length(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

fn pick(ranges: &[Range<u64>], random: &mut Random) -> u64 {
    let mut at = random.next() % length(ranges);
    for range in ranges {
        let size = range.end - range.start;
        if at < size {
            return range.start + at;
        }
        at -= size;
    }
    unreachable!("the lengths add up")
}

/// What the units' first entries claim.
fn units(file: &File<'_>) -> Vec<(Range<u64>, Unit)> {
    let endian = if file.is_little_endian() {
        RunTimeEndian::Little
    } else {
        RunTimeEndian::Big
    };
    let mut sections: Vec<(String, Vec<u8>)> = Vec::new();
    for section in file.sections() {
        if let (Ok(name), Ok(data)) = (section.name(), section.uncompressed_data()) {
            sections.push((name.to_owned(), data.into_owned()));
        }
    }
    let load = |id: gimli::SectionId| {
        let bytes = sections
            .iter()
            .find(|(name, _)| name == id.name())
            .map_or(&[][..], |(_, bytes)| bytes);
        Ok::<_, gimli::Error>(EndianSlice::new(bytes, endian))
    };
    let dwarf = gimli::Dwarf::load(load).unwrap_or_default();
    let mut all = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else {
            continue;
        };
        let Ok(mut ranges) = dwarf.unit_ranges(&unit) else {
            continue;
        };
        let text = |text: Option<EndianSlice<'_, RunTimeEndian>>| {
            text.map_or_else(String::new, |text| text.to_string_lossy().into_owned())
        };
        let file = Path::new(&text(unit.comp_dir)).join(text(unit.name));
        let unit = Unit {
            version: header.version(),
            file: normalized(&file.to_string_lossy()),
        };
        while let Ok(Some(range)) = ranges.next() {
            if range.begin < range.end && range.begin != 0 {
                all.push((range.begin..range.end, unit.clone()));
            }
        }
    }
    all
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }
}
