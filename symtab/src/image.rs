//! The type most callers need: one program or library and the answers about its addresses.

use std::sync::{Arc, OnceLock};

use crate::answers::Answers;
use crate::bytes::Bytes;
use crate::demangle::demangle;
use crate::directive::OutlinedFunctions;
use crate::dwarf::{Dwarf, Files, Store};
use crate::elf::Elf;
use crate::entry_line::{EntryRows, Row};
use crate::error::Result;
use crate::frames::Finder;
use crate::lookup::{Frame, FunctionName, Lookup};
use crate::names::Names;
use crate::outlined::parse_outlined;
use crate::symbols::{Entry, Symbol, SymbolKind};

/// A program, shared object or relocatable file, read for names.
///
/// Building one reads the headers of its units; a unit's lines and functions are read when an address first falls into
/// it. Answers are kept by address, the latest 131,072 of them, so the same address costs a hash look-up from then on.
/// Build one image per file and keep it. Ask for many addresses at once where they are known: see
/// [`Image::lookup_all`].
///
/// No file is opened here: the caller hands in bytes, and [`Image::wants`] tells which further files would help.
///
/// An image may be shared: several threads that ask it at the same time get the same answers as one, and share what was
/// read.
///
/// Memory beside the files' own bytes is bounded: by [`Image::set_unit_limit`] for what is read of units, about 64 MiB for
/// answers and 64 MiB for names.
pub struct Image {
    pub(crate) store: Store,
    pub(crate) answers: Answers,
    names: Names,
    /// Listed when first asked for.
    pub(crate) outlined: OnceLock<OutlinedFunctions>,
}

impl Image {
    /// Reads an ELF file; the bytes are copied. See [`Image::from_bytes`] for large files.
    ///
    /// # Errors
    ///
    /// If the bytes are no ELF file or its headers are damaged. Damaged debug information is no error.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Self::from_bytes(Bytes::from(bytes))
    }

    /// Reads an ELF file without copying it.
    ///
    /// # Errors
    ///
    /// As [`Image::parse`].
    pub fn from_bytes(bytes: Bytes) -> Result<Self> {
        let main = Arc::new(Elf::parse(bytes)?);
        let files = Files {
            main,
            debug: None,
            supplementary: None,
            dwos: Vec::new(),
            package: None,
        };
        Ok(Self::from_files(files))
    }

    pub(crate) fn from_files(files: Files) -> Self {
        Image {
            store: Store::build(files),
            answers: Answers::default(),
            names: Names::default(),
            outlined: OnceLock::new(),
        }
    }

    /// Everything known of a link address: function, file, line, inlined frames.
    ///
    /// For the address of a call use the return address minus 1. An address outside of the program gives an empty
    /// answer.
    pub fn lookup(&self, address: u64) -> Arc<Lookup> {
        if let Some(answer) = self.answers.get(address) {
            return answer;
        }
        let answer = self.store.with_dependent(|_, dwarf| {
            let answer = dwarf.with_finder(|finder| self.look_up(dwarf, finder, address));
            dwarf.units.close_idle();
            Arc::new(answer)
        });
        self.answers.put(address, &answer);
        answer
    }

    /// Sets how many bytes the units that are open may take together, 128 MiB at first.
    ///
    /// A unit is read when an address falls into it. When the limit is passed, those unused for the longest time are
    /// closed; they will be read again when they are needed, which takes some milliseconds each. The unit in use stays
    /// open, so a single one that is larger than the limit works too.
    pub fn set_unit_limit(&self, bytes: usize) {
        self.store.with_dependent(|_, dwarf| {
            dwarf.units.set_limit(bytes);
            dwarf.units.close_idle();
        });
    }

    /// Bytes that the open units take: about what was read of them, without the file itself.
    #[must_use]
    pub fn unit_bytes(&self) -> usize {
        self.store.with_dependent(|_, dwarf| dwarf.units.resident())
    }

    /// Works an answer out.
    pub(crate) fn look_up<'d>(
        &self,
        dwarf: &Dwarf<'d>,
        finder: &mut Finder<'d>,
        address: u64,
    ) -> Lookup {
        let (mut frames, mut discriminator) = (Vec::new(), 0);
        // Functions that the linker dropped are still described, at addresses that hold no code.
        if dwarf.program.holds_code(address) {
            frames = finder.frames(dwarf, &self.names, address);
            discriminator = finder.discriminator;
        }
        let described = !frames.is_empty();
        let dwarf_name = frames.last().and_then(|frame| frame.function.as_ref());
        let symbol = self.function_entry(address, dwarf_name);
        let offset = symbol.map(|(_, entry)| address - entry.address);
        // A symbol of unknown size only reaches up to here; the debug information knows better.
        let trusted = symbol.filter(|(_, entry)| entry.size > 0 || dwarf_name.is_none());
        if let Some((elf, entry)) = trusted
            && !dwarf_name.is_some_and(|name| is_named(elf, entry, name))
        {
            let name = self.names.function(elf.symbols().name(entry, elf.data()));
            match frames.last_mut() {
                Some(outermost) => outermost.function = Some(name),
                None => frames.push(Frame {
                    function: Some(name),
                    file: elf
                        .symbols()
                        .source(entry, elf.data())
                        .map(|file| self.names.file(&String::from_utf8_lossy(file))),
                    line: None,
                    column: None,
                    inlined: false,
                }),
            }
        }
        let function = frames.last().and_then(|frame| frame.function.clone());
        if described
            && offset == Some(0)
            && function
                .as_ref()
                .is_some_and(|name| begins_outlined(&name.raw))
        {
            if begins_in_body(&frames) {
                frames.drain(..frames.len() - 1);
            } else {
                let row = self.directive_row(dwarf, finder, address, function.as_ref());
                use_line(row, &mut frames);
            }
        }
        let innermost = frames.first();
        Lookup {
            file: innermost.and_then(|frame| frame.file.clone()),
            line: innermost.and_then(|frame| frame.line),
            column: innermost.and_then(|frame| frame.column),
            function,
            offset,
            discriminator,
            frames,
        }
    }

    /// The line of the directive whose outlined function begins at `address`; `finder` has just found that function.
    fn directive_row<'d>(
        &self,
        dwarf: &Dwarf<'d>,
        finder: &mut Finder<'d>,
        address: u64,
        function: Option<&FunctionName>,
    ) -> Option<Row> {
        let unit = finder.unit()?;
        let (number, rows) = (unit.number, EntryRows::at(unit, address));
        if rows.higher().is_none() {
            return rows.first();
        }
        // Two lines could be it; the function that the directive stands in tells.
        let parent = parse_outlined(&function?.raw)?.parent_raw;
        let around = parent.map_or_else(Vec::new, |parent| self.symbols_named(&parent));
        for symbol in around {
            let _ = finder.frames(dwarf, &self.names, symbol.address);
            let unit = finder.unit().filter(|unit| unit.number == number);
            let begin = unit.map(|unit| EntryRows::at(unit, symbol.address));
            if let Some(row) = begin.and_then(|begin| rows.directive(&begin)) {
                return Some(row);
            }
        }
        rows.first()
    }

    /// The symbol around a code address; of several at one place, the one the debug information means.
    fn function_entry(
        &self,
        address: u64,
        dwarf_name: Option<&FunctionName>,
    ) -> Option<(&Elf, &Entry)> {
        let (elf, best) = self.in_files(|elf| elf.symbols().function(address))?;
        if let Some(wanted) = dwarf_name {
            let same = |entry: &&Entry| is_named(elf, entry, wanted);
            if let Some(twin) = elf.symbols().functions_at(best.address).take(64).find(same) {
                return Some((elf, twin));
            }
        }
        Some((elf, best))
    }

    /// Asks the program's own symbols, then those of its debug file, which has them all.
    fn in_files<'i>(
        &'i self,
        ask: impl Fn(&'i Elf) -> Option<&'i Entry>,
    ) -> Option<(&'i Elf, &'i Entry)> {
        let files = self.store.borrow_owner();
        let all = [files.debug.as_deref(), Some(&*files.main)];
        all.into_iter()
            .flatten()
            .find_map(|elf| Some((elf, ask(elf)?)))
    }

    /// The function symbol around a link address.
    #[must_use]
    pub fn symbol(&self, address: u64) -> Option<Symbol> {
        let (elf, entry) = self.in_files(|elf| elf.symbols().function(address))?;
        Some(symbol(elf, SymbolKind::Function, entry))
    }

    /// The data symbol around a link address: a lock, the word of a named critical section
    /// (`.gomp_critical_user_NAME`, see [`critical_name`](crate::critical_name)).
    #[must_use]
    pub fn data_symbol(&self, address: u64) -> Option<Symbol> {
        let (elf, entry) = self.in_files(|elf| elf.symbols().data(address))?;
        Some(symbol(elf, SymbolKind::Data, entry))
    }

    /// All symbols of this linker name, functions first, by address.
    #[must_use]
    pub fn symbols_named(&self, raw: &str) -> Vec<Symbol> {
        self.symbols_where(|name| name == raw.as_bytes())
    }

    /// All symbols whose linker name `wanted` accepts, functions first, by address.
    pub fn symbols_where(&self, mut wanted: impl FnMut(&[u8]) -> bool) -> Vec<Symbol> {
        let files = self.store.borrow_owner();
        let elf = match files.debug.as_deref() {
            Some(debug) if !debug.symbols().is_empty() => debug,
            _ => &*files.main,
        };
        let matching = elf
            .symbols()
            .iter()
            .filter(|(_, entry)| wanted(elf.symbols().name(entry, elf.data())));
        matching
            .map(|(kind, entry)| symbol(elf, kind, entry))
            .collect()
    }

    /// The build id, as the linker made it.
    #[must_use]
    pub fn build_id(&self) -> Option<&[u8]> {
        self.store.borrow_owner().main.build_id.as_deref()
    }

    /// Name of the file with the debug information (`.gnu_debuglink`) and its CRC-32.
    #[must_use]
    pub fn debug_link(&self) -> Option<(&[u8], u32)> {
        self.store
            .borrow_owner()
            .main
            .debug_link
            .as_ref()
            .map(|(name, crc)| (&name[..], *crc))
    }

    /// The machine by its ELF number: 62 x86-64, 2 SPARC, 18 SPARC32PLUS, 43 SPARCV9.
    #[must_use]
    pub fn machine(&self) -> u16 {
        self.store.borrow_owner().main.machine
    }

    /// Whether the file has yet to be linked. Its sections then lie behind each other as [`Image::section_base`] says.
    #[must_use]
    pub fn is_relocatable(&self) -> bool {
        self.store.borrow_owner().main.relocatable
    }

    /// Link address of a section's first byte, by the section's number. In a relocatable file, where sections have
    /// no addresses yet, code is laid from 0 on (so the only `.text` begins at 0) and data behind it.
    #[must_use]
    pub fn section_base(&self, section: usize) -> Option<u64> {
        self.store
            .borrow_owner()
            .main
            .sections
            .get(section)
            .map(|(_, base)| *base)
    }

    /// Why the debug information, or part of it, is not used; `None` if all is well or there is none.
    ///
    /// What is wrong with a single unit shows when an address first falls into it.
    #[must_use]
    pub fn debug_error(&self) -> Option<String> {
        let files = self.store.borrow_owner();
        let section = files.dwarf().debug_error.as_ref().map(ToString::to_string);
        section.or_else(|| self.store.with_dependent(|_, dwarf| dwarf.error()))
    }
}

/// Whether code of this name begins with its directive: not the parts that the optimizer took out of an outlined function.
fn begins_outlined(name: &str) -> bool {
    parse_outlined(name).is_some() && !name.contains(".cold") && !name.contains(".part.")
}

/// Whether the outermost function starts with a body that was inlined into it, as clang makes of most directives. That
/// call's line is the directive's; clang since 17 has no other row for it at the first instruction.
fn begins_in_body(frames: &[Frame]) -> bool {
    let [.., body, outermost] = frames else {
        return false;
    };
    let name = body.function.as_ref();
    outermost.line.is_some() && name.is_some_and(|name| parse_outlined(&name.raw).is_some())
}

/// Leaves only the outermost function, at this line.
fn use_line(row: Option<Row>, frames: &mut Vec<Frame>) {
    let Some(row) = row else { return };
    let Some(outermost) = frames.pop() else {
        return;
    };
    frames.clear();
    frames.push(Frame {
        line: Some(row.line),
        column: Some(row.column),
        ..outermost
    });
}

/// Whether the symbol has the linker name that the debug information gives.
fn is_named(elf: &Elf, entry: &Entry, name: &FunctionName) -> bool {
    elf.symbols().name(entry, elf.data()) == name.raw.as_bytes()
}

/// A stored symbol as the caller sees it.
fn symbol(elf: &Elf, kind: SymbolKind, entry: &Entry) -> Symbol {
    let raw = elf.symbols().name(entry, elf.data());
    Symbol {
        raw: String::from_utf8_lossy(raw).into_owned(),
        name: demangle(raw).into_owned(),
        address: entry.address,
        size: entry.size,
        kind,
        source: elf
            .symbols()
            .source(entry, elf.data())
            .map(|file| String::from_utf8_lossy(file).into_owned()),
    }
}
