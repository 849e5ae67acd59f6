//! The type most callers need: one program or library and the answers about its addresses.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::bytes::Bytes;
use crate::demangle::demangle;
use crate::dropped::was_dropped;
use crate::dwarf::{Dwarf, Files, Store};
use crate::elf::Elf;
use crate::entry_line::first_row;
use crate::error::Result;
use crate::lookup::{Frame, FunctionName, Lookup};
use crate::outlined::parse_outlined;
use crate::symbols::{Entry, Symbol, SymbolKind};

/// How many answers are kept; a trace has a few thousand distinct addresses.
const MAX_CACHED: usize = 1 << 18;

/// From how many distinct addresses on [`Image::lookup_all`] uses several threads.
const PARALLEL_FROM: usize = 4096;

/// How many threads at most: each of them indexes the units anew.
const MAX_THREADS: usize = 8;

/// A program, shared object or relocatable file, read for names.
///
/// Building one indexes the units of the debug information (about 15 ms for 129 MB of DWARF); a unit's lines and
/// functions are read when an address first falls into it. Answers are cached by address, so the same address
/// costs a hash look-up from then on. Build one image per file and keep it.
///
/// No file is opened here: the caller hands in bytes, and [`Image::wants`] tells which further files would help.
///
/// An image may move to another thread, but is used by one thread at a time.
pub struct Image {
    pub(crate) store: Store,
    cache: RefCell<Cache>,
}

/// Answers given so far, and the texts they share.
#[derive(Default)]
struct Cache {
    answers: HashMap<u64, Arc<Lookup>>,
    /// By place and length in memory: the files' bytes stay where they are for as long as the image lives.
    names: HashMap<(usize, usize), FunctionName>,
    files: HashMap<Box<str>, Arc<str>>,
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
            cache: RefCell::default(),
        }
    }

    /// Everything known of a link address: function, file, line, inlined frames.
    ///
    /// For the address of a call use the return address minus 1. An address outside of the program gives an empty
    /// answer.
    pub fn lookup(&self, address: u64) -> Arc<Lookup> {
        let cache = &mut *self.cache.borrow_mut();
        if let Some(answer) = cache.answers.get(&address) {
            return Arc::clone(answer);
        }
        if cache.answers.len() >= MAX_CACHED {
            cache.answers.clear();
        }
        let answer = Arc::new(self.look_up(address, cache));
        cache.answers.insert(address, Arc::clone(&answer));
        answer
    }

    /// Answers for many addresses at once, in their order.
    ///
    /// From a few thousand distinct addresses on, the work is shared by the machine's cores, each of which reads the
    /// units its part of the addresses falls into.
    pub fn lookup_all(&self, addresses: &[u64]) -> Vec<Arc<Lookup>> {
        let mut distinct = addresses.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let cores = std::thread::available_parallelism()
            .map_or(1, usize::from)
            .min(MAX_THREADS);
        if cores == 1 || distinct.len() < PARALLEL_FROM {
            return addresses
                .iter()
                .map(|&address| self.lookup(address))
                .collect();
        }
        let answers = look_up_in_parallel(self.store.borrow_owner(), &distinct, cores);
        let find = |address| {
            distinct
                .binary_search(address)
                .ok()
                .and_then(|at| answers.get(at).cloned())
        };
        addresses
            .iter()
            .map(|address| find(address).unwrap_or_else(|| self.lookup(*address)))
            .collect()
    }

    fn look_up(&self, address: u64, cache: &mut Cache) -> Lookup {
        // Functions that the linker dropped are still described, at addresses that hold no code …
        let (mut frames, mut die) = (Vec::new(), None);
        if self.store.borrow_owner().main.holds_code(address) {
            (frames, die) = self
                .store
                .with_dependent(|_, dwarf| crate::image::frames(dwarf, address, cache));
        }
        let mut dwarf_name = frames.last().and_then(|frame| frame.function.clone());
        let symbol = self.function_entry(address, dwarf_name.as_ref());
        // … or, if they are long, that hold the code of others.
        if let (Some(name), Some(die)) = (&dwarf_name, die)
            && !symbol.is_some_and(|(elf, entry)| is_named(elf, entry, name))
            && self
                .store
                .with_dependent(|files, dwarf| was_dropped(dwarf, &files.main, address, die))
        {
            frames.clear();
            dwarf_name = None;
        }
        let offset = symbol.map(|(_, entry)| address - entry.address);
        // A symbol of unknown size only reaches up to here; the debug information knows better.
        let trusted = symbol.filter(|(_, entry)| entry.size > 0 || dwarf_name.is_none());
        if let Some((elf, entry)) = trusted {
            let name = cache.name(elf.symbols().name(entry, elf.data()));
            match frames.last_mut() {
                Some(outermost) => outermost.function = Some(name),
                None => frames.push(Frame {
                    function: Some(name),
                    file: elf
                        .symbols()
                        .source(entry, elf.data())
                        .map(|file| cache.file(&String::from_utf8_lossy(file))),
                    line: None,
                    column: None,
                    inlined: false,
                }),
            }
        }
        let function = frames.last().and_then(|frame| frame.function.clone());
        if offset == Some(0)
            && function
                .as_ref()
                .is_some_and(|name| parse_outlined(&name.raw).is_some())
        {
            self.use_directive_line(address, &mut frames, cache);
        }
        let innermost = frames.first();
        Lookup {
            file: innermost.and_then(|frame| frame.file.clone()),
            line: innermost.and_then(|frame| frame.line),
            column: innermost.and_then(|frame| frame.column),
            function,
            offset,
            frames,
        }
    }

    /// The first of several lines at a function's start is the directive's; optimized code has more of them.
    fn use_directive_line(&self, address: u64, frames: &mut Vec<Frame>, cache: &mut Cache) {
        let Some(row) = self
            .store
            .with_dependent(|_, dwarf| first_row(dwarf, address))
        else {
            return;
        };
        let file = row.file.map(|file| cache.file(&file));
        let Some(outermost) = frames.pop() else {
            return;
        };
        frames.clear();
        frames.push(Frame {
            file: file.or(outermost.file),
            line: Some(row.line),
            column: row.column,
            ..outermost
        });
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
    #[must_use]
    pub fn debug_error(&self) -> Option<String> {
        let files = self.store.borrow_owner();
        let section = files.dwarf().debug_error.as_ref().map(ToString::to_string);
        section.or_else(|| self.store.with_dependent(|_, dwarf| dwarf.error.clone()))
    }
}

/// Answers for sorted addresses; each thread takes a stretch of them, so that no two read the same units.
fn look_up_in_parallel(files: &Files, addresses: &[u64], threads: usize) -> Vec<Arc<Lookup>> {
    let answer_part = |part: &[u64]| -> Vec<Arc<Lookup>> {
        let image = Image::from_files(files.clone());
        part.iter().map(|&address| image.lookup(address)).collect()
    };
    std::thread::scope(|scope| {
        let parts = addresses.chunks(addresses.len().div_ceil(threads));
        let running: Vec<_> = parts
            .map(|part| (part, scope.spawn(|| answer_part(part))))
            .collect();
        let parts = running
            .into_iter()
            .map(|(part, thread)| thread.join().unwrap_or_else(|_| answer_part(part)));
        parts.flatten().collect()
    })
}

/// Whether the symbol has the linker name that the debug information gives.
fn is_named(elf: &Elf, entry: &Entry, name: &FunctionName) -> bool {
    elf.symbols().name(entry, elf.data()) == name.raw.as_bytes()
}

/// The frames that the debug information knows, and the entry of the outermost one's function.
fn frames(
    dwarf: &Dwarf<'_>,
    address: u64,
    cache: &mut Cache,
) -> (Vec<Frame>, Option<gimli::UnitOffset>) {
    let (mut frames, mut die) = (Vec::new(), None);
    let Some(context) = &dwarf.context else {
        return (frames, die);
    };
    let Ok(mut found) = dwarf.finish(context.find_frames(address)) else {
        return (frames, die);
    };
    while let Ok(Some(frame)) = found.next() {
        die = frame.dw_die_offset;
        if let Some(outer) = frames.last_mut() {
            let outer: &mut Frame = outer;
            outer.inlined = true;
        }
        let location = frame.location;
        frames.push(Frame {
            function: frame
                .function
                .map(|function| cache.name(function.name.slice())),
            file: location
                .as_ref()
                .and_then(|l| l.file)
                .map(|file| cache.file(file)),
            line: location.as_ref().and_then(|l| l.line),
            column: location.as_ref().and_then(|l| l.column),
            inlined: false,
        });
    }
    (frames, die)
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

impl Cache {
    /// The name in both spellings, demangled once. `raw` lies in one of the image's files.
    fn name(&mut self, raw: &[u8]) -> FunctionName {
        let place = (raw.as_ptr() as usize, raw.len());
        if let Some(name) = self.names.get(&place) {
            return name.clone();
        }
        let text: Arc<str> = String::from_utf8_lossy(raw).into();
        let demangled = demangle(raw);
        let demangled = if *demangled == *text {
            Arc::clone(&text)
        } else {
            demangled.into()
        };
        let name = FunctionName {
            raw: text,
            demangled,
        };
        self.names.insert(place, name.clone());
        name
    }

    /// The file's name, stored once.
    fn file(&mut self, file: &str) -> Arc<str> {
        if let Some(known) = self.files.get(file) {
            return Arc::clone(known);
        }
        let shared: Arc<str> = file.into();
        self.files.insert(file.into(), Arc::clone(&shared));
        shared
    }
}
