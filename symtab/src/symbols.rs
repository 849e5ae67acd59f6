//! The symbol table, sorted by address.

use std::collections::BTreeSet;
use std::ops::Range;

use object::elf;
use object::read::elf::{FileHeader, Sym, SymbolTable};
use object::{Endianness, SectionIndex};

use crate::plt::{Stub, Target};
use crate::sections::SectionPlace;

/// How many enclosing symbols a look-up goes through: honest tables nest two or three deep.
const MAX_NESTING: usize = 64;

/// What a symbol names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SymbolKind {
    /// Code.
    Function,
    /// Data: an object, a common block, a label in a data section.
    Data,
}

/// A defined symbol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name as the linker sees it, without a version (`@GLIBC_2.34`).
    pub raw: String,
    /// The name as the programmer wrote it.
    pub name: String,
    /// Link address; in a relocatable file see [`Image::section_base`](crate::Image::section_base).
    pub address: u64,
    /// Size in bytes; 0 where the table does not tell.
    pub size: u64,
    /// Code or data.
    pub kind: SymbolKind,
    /// Source file of a local symbol as the symbol table tells it, a name without folder: what tells two functions
    /// apart that are both `static` and of one name. `None` for global symbols.
    pub source: Option<String>,
}

/// One symbol as stored: the name stays in the file until it is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Link address.
    pub(crate) address: u64,
    /// Size in bytes as the table tells it, or 0.
    pub(crate) size: u64,
    /// First address that is no longer this symbol's; where the size is unknown, the next symbol's.
    end: u64,
    /// Place of the name in the string table, or behind it in the names of our own.
    name: u32,
    /// Place of the name of the source file that a local symbol stands in; [`NONE`] unknown.
    source: u32,
    /// The symbol around this one, as an index.
    outer: u32,
    /// Which of several at one address is told first; less is better.
    rank: u8,
}

/// Index that stands for no symbol.
const NONE: u32 = u32::MAX;

/// The functions or the data of one file, by address.
#[derive(Debug, Default)]
struct Sorted(Vec<Entry>);

/// All defined symbols of a file.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    functions: Sorted,
    data: Sorted,
    /// Where the string table lies in the file.
    strings: Range<usize>,
    /// Names that do not stand in the file: those of stubs and those that were packed.
    own: Vec<u8>,
}

impl Symbols {
    /// Reads `table`; `places` is indexed by section number, `relocatable` says that values count from a section's start.
    pub(crate) fn read<Elf: FileHeader<Endian = Endianness>>(
        table: &SymbolTable<'_, Elf>,
        endian: Endianness,
        places: &[SectionPlace],
        relocatable: bool,
        strings: Range<usize>,
    ) -> Self {
        let (mut functions, mut data) = (Vec::new(), Vec::new());
        let mut source = NONE;
        for (index, symbol) in table.enumerate() {
            if symbol.st_type() == elf::STT_FILE {
                source = match symbol.st_name(endian) {
                    0 => NONE, // what follows comes from the linker
                    name => name,
                };
                continue;
            }
            let Ok(Some(section)) = table.symbol_section(endian, symbol, index) else {
                continue;
            };
            let Some(place) = places
                .get(section.0)
                .filter(|place| place.loaded && !place.thread_local)
            else {
                continue;
            };
            let Some(mut entry) = entry(symbol, endian, place, relocatable) else {
                continue;
            };
            if symbol.st_bind() == elf::STB_LOCAL {
                entry.source = source;
            }
            let is_code = match symbol.st_type() {
                elf::STT_FUNC | elf::STT_GNU_IFUNC => true,
                elf::STT_NOTYPE => place.code,
                _ => false,
            };
            if is_code {
                functions.push(entry)
            } else {
                data.push(entry)
            }
        }
        Symbols {
            functions: Sorted::new(functions),
            data: Sorted::new(data),
            strings,
            own: Vec::new(),
        }
    }

    /// These symbols and those of `packed`, a table whose names lie in `file`; what both have is kept once.
    #[must_use]
    pub(crate) fn merge(mut self, own_file: &[u8], packed: &Symbols, file: &[u8]) -> Self {
        let mut own = std::mem::take(&mut self.own);
        for kind in [SymbolKind::Function, SymbolKind::Data] {
            let known: BTreeSet<(u64, &[u8])> = self
                .of_kind(kind)
                .iter()
                .map(|entry| (entry.address, self.name(entry, own_file)))
                .collect();
            let mut added = Vec::new();
            for entry in packed.of_kind(kind) {
                let name = packed.name(entry, file);
                if known.contains(&(entry.address, name)) {
                    continue;
                }
                let source = packed.source(entry, file).unwrap_or_default();
                let places = [
                    add_name(&mut own, self.strings.len(), &[name]),
                    add_name(&mut own, self.strings.len(), &[source]),
                ];
                if let [Some(name), source] = places {
                    added.push(Entry {
                        name,
                        source: source.unwrap_or(NONE),
                        ..entry.clone()
                    });
                }
            }
            self.extend(kind, added);
        }
        self.own = own;
        self
    }

    /// Adds the stubs that lead to functions of other files, each named `FUNCTION@plt`. Of a stub that leads to a
    /// function chosen at the start, the name of what chooses is told; without one, as binutils does,
    /// `*ABS*+0xADDRESS@plt`. Names together take at most `limit` bytes.
    pub(crate) fn add_stubs(&mut self, stubs: &[Stub<'_>], file: &[u8], limit: usize) {
        let mut added = Vec::new();
        let mut own = std::mem::take(&mut self.own);
        for stub in stubs {
            let address;
            let name = match stub.target {
                Target::Function(name) => name,
                Target::ChosenBy(at) => match self.chooser(at) {
                    Some(entry) => self.name(entry, file),
                    None => {
                        address = format!("*ABS*+{at:#x}");
                        address.as_bytes()
                    }
                },
            };
            if name.is_empty() || own.len().saturating_add(name.len()) > limit {
                continue;
            }
            if let Some(name) = add_name(&mut own, self.strings.len(), &[name, b"@plt"]) {
                added.push(Entry {
                    address: stub.address,
                    size: stub.size,
                    end: stub.address.saturating_add(stub.size),
                    name,
                    source: NONE,
                    outer: NONE,
                    rank: 0,
                });
            }
        }
        self.own = own;
        self.extend(SymbolKind::Function, added);
    }

    /// The function that chooses at program start, by its address: best by the name that others call.
    fn chooser(&self, address: u64) -> Option<&Entry> {
        self.functions_at(address).min_by_key(|entry| entry.rank)
    }

    fn of_kind(&self, kind: SymbolKind) -> &[Entry] {
        match kind {
            SymbolKind::Function => &self.functions.0,
            SymbolKind::Data => &self.data.0,
        }
    }

    fn extend(&mut self, kind: SymbolKind, added: Vec<Entry>) {
        if added.is_empty() {
            return;
        }
        let sorted = match kind {
            SymbolKind::Function => &mut self.functions,
            SymbolKind::Data => &mut self.data,
        };
        let mut all = std::mem::take(&mut sorted.0);
        all.extend(added);
        *sorted = Sorted::new(all);
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.functions.0.is_empty() && self.data.0.is_empty()
    }

    /// The function that holds `address`.
    pub(crate) fn function(&self, address: u64) -> Option<&Entry> {
        self.functions.containing(address)
    }

    /// The object that holds `address`.
    pub(crate) fn data(&self, address: u64) -> Option<&Entry> {
        self.data.containing(address)
    }

    /// All functions at exactly `address`, best first.
    pub(crate) fn functions_at(&self, address: u64) -> impl Iterator<Item = &Entry> {
        let start = self
            .functions
            .0
            .partition_point(|entry| entry.address < address);
        self.functions.0[start..]
            .iter()
            .take_while(move |entry| entry.address == address)
            .filter(|entry| entry.end > entry.address)
    }

    /// Every symbol with its kind, functions first, by address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SymbolKind, &Entry)> {
        let functions = self
            .functions
            .0
            .iter()
            .map(|entry| (SymbolKind::Function, entry));
        functions.chain(self.data.0.iter().map(|entry| (SymbolKind::Data, entry)))
    }

    /// The name of `entry` without its version; `file` is the file this table was read from.
    pub(crate) fn name<'f>(&'f self, entry: &Entry, file: &'f [u8]) -> &'f [u8] {
        let name = self.text(entry.name, file);
        if entry.name as usize >= self.strings.len() {
            return name;
        }
        match name.iter().position(|&byte| byte == b'@') {
            Some(at) if at > 0 => &name[..at],
            _ => name,
        }
    }

    /// The source file that a local symbol stands in, as the symbol table tells it: a name without folder.
    pub(crate) fn source<'f>(&'f self, entry: &Entry, file: &'f [u8]) -> Option<&'f [u8]> {
        Some(self.text(entry.source, file)).filter(|name| !name.is_empty())
    }

    /// The text at a place of the string table, or behind it in the names of our own.
    fn text<'f>(&'f self, place: u32, file: &'f [u8]) -> &'f [u8] {
        let strings = file.get(self.strings.clone()).unwrap_or_default();
        let rest = match (place as usize).checked_sub(self.strings.len()) {
            None => strings.get(place as usize..),
            Some(own) => self.own.get(own..),
        };
        let rest = rest.unwrap_or_default();
        &rest[..rest.iter().position(|&byte| byte == 0).unwrap_or(0)]
    }
}

/// Appends a text to the names of our own and gives its place; `strings` is the length of the file's string table.
fn add_name(own: &mut Vec<u8>, strings: usize, parts: &[&[u8]]) -> Option<u32> {
    let place = u32::try_from(strings.checked_add(own.len())?).ok()?;
    if parts.iter().all(|part| part.is_empty()) || place == NONE {
        return None;
    }
    parts.iter().for_each(|part| own.extend_from_slice(part));
    own.push(0);
    Some(place)
}

/// Turns a symbol of the file into an entry, unless it names nothing of the program.
fn entry<S: Sym<Endian = Endianness>>(
    symbol: &S,
    endian: Endianness,
    place: &SectionPlace,
    relocatable: bool,
) -> Option<Entry> {
    let common = symbol.st_type() == elf::STT_COMMON;
    let kind_rank = match symbol.st_type() {
        elf::STT_FUNC | elf::STT_GNU_IFUNC | elf::STT_OBJECT => 0,
        _ if common => 0,
        elf::STT_NOTYPE => 4,
        _ => return None, // sections, files, thread-local data, SPARC's register symbols
    };
    let name = symbol.st_name(endian);
    if name == 0 {
        return None;
    }
    let value: u64 = symbol.st_value(endian).into();
    let address = if relocatable {
        place.base.wrapping_add(value)
    } else {
        value
    };
    let size: u64 = symbol.st_size(endian).into();
    let section_end = place.base.saturating_add(place.size);
    let bind_rank = match symbol.st_bind() {
        elf::STB_GLOBAL | elf::STB_GNU_UNIQUE => 0,
        elf::STB_WEAK => 1,
        _ => 2,
    };
    // A symbol of unknown size ends at the latest with its section; `Sorted::new` shortens it to the next symbol.
    let end = if size > 0 {
        address.saturating_add(size)
    } else {
        section_end.max(address.saturating_add(1))
    };
    Some(Entry {
        address,
        size,
        end,
        name,
        source: NONE,
        outer: NONE,
        rank: kind_rank + bind_rank,
    })
}

impl Sorted {
    /// Sorts and links every entry to the one around it.
    fn new(mut entries: Vec<Entry>) -> Self {
        entries.truncate(NONE as usize - 1);
        for entry in &mut entries {
            entry.outer = NONE;
        }
        // Larger first at one address, so that the inner one comes last and is found first.
        entries.sort_by(|a, b| {
            a.address
                .cmp(&b.address)
                .then(b.size.cmp(&a.size))
                .then(a.rank.cmp(&b.rank))
        });
        let mut next = u64::MAX;
        for i in (0..entries.len()).rev() {
            if entries[i].size == 0 && entries[i].end > next {
                entries[i].end = next;
            }
            if i > 0 && entries[i - 1].address < entries[i].address {
                next = entries[i].address;
            }
        }
        let mut open: Vec<u32> = Vec::new();
        for i in 0..entries.len() {
            while open
                .last()
                .is_some_and(|&o| entries[o as usize].end <= entries[i].address)
            {
                open.pop();
            }
            let outer = open.last().copied().unwrap_or(NONE);
            // A label inside of a function of known size does not split it.
            if entries[i].size == 0 && outer != NONE && entries[outer as usize].size > 0 {
                entries[i].end = entries[i].address;
            } else {
                open.push(i as u32);
            }
            entries[i].outer = outer;
        }
        Sorted(entries)
    }

    /// The innermost entry around `address`; of several at one address, the best ranked.
    fn containing(&self, address: u64) -> Option<&Entry> {
        let after = self.0.partition_point(|entry| entry.address <= address);
        let mut at = after.checked_sub(1)?;
        for _ in 0..MAX_NESTING {
            let entry = &self.0[at];
            if address < entry.end {
                return Some(self.best_twin(at));
            }
            if entry.outer == NONE {
                return None;
            }
            at = entry.outer as usize;
        }
        None
    }

    /// Among the entries of the same address and size as `at`, the one of the lowest rank.
    fn best_twin(&self, at: usize) -> &Entry {
        let entry = &self.0[at];
        let first = self.0[..at]
            .iter()
            .rev()
            .take_while(|twin| twin.address == entry.address && twin.size == entry.size)
            .take(MAX_NESTING)
            .last();
        first.unwrap_or(entry)
    }
}

/// Where the string table that belongs to `table` lies in the file.
pub(crate) fn string_range<Elf: FileHeader<Endian = Endianness>>(
    table: &SymbolTable<'_, Elf>,
    section_range: impl Fn(SectionIndex) -> Option<(u64, u64)>,
    file_len: usize,
) -> Range<usize> {
    let Some((offset, size)) = section_range(table.string_section()) else {
        return 0..0;
    };
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(file_len);
    let end = start
        .saturating_add(usize::try_from(size).unwrap_or(usize::MAX))
        .min(file_len);
    start..end
}
