//! The debug information of an image: the program's file and whatever further files were handed in.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gimli::{DwarfPackage, EndianSlice, RunTimeEndian, Section as _, SectionId, UnitType};
use object::Endianness;

use crate::elf::Elf;
use crate::frames::Finder;
use crate::functions::View;
use crate::units::{Open, Sections, Units};

/// How many bytes the open units may take together, if nobody says.
pub(crate) const DEFAULT_LIMIT: usize = 128 << 20;

/// The same for the units of a supplementary file, of which only names are read.
const SUPPLEMENTARY_LIMIT: usize = 32 << 20;

/// Bytes of units after which a batch gives the files' pages back.
const MAX_READ: usize = 32 << 20;

/// How many finders wait for the next question.
const MAX_FINDERS: usize = 4;

/// How DWARF is read: straight from the file, byte order known at run time.
pub(crate) type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// The files an image is made of.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    /// The program itself.
    pub(crate) main: Arc<Elf>,
    /// The file its debug information was moved to.
    pub(crate) debug: Option<Arc<Elf>>,
    /// Supplementary file shared by several programs (`dwz -m`).
    pub(crate) supplementary: Option<Arc<Elf>>,
    /// Split DWARF, one file a unit.
    pub(crate) dwos: Vec<Arc<Elf>>,
    /// Split DWARF, packed.
    pub(crate) package: Option<Arc<Elf>>,
}

impl Files {
    /// The file to read DWARF from.
    pub(crate) fn dwarf(&self) -> &Elf {
        match &self.debug {
            Some(debug) if !self.main.has_debug() || debug.has_debug() => debug,
            _ => &self.main,
        }
    }
}

/// DWARF that borrows from [`Files`].
pub(crate) struct Dwarf<'d> {
    /// The program itself, which tells where code is.
    pub(crate) program: &'d Elf,
    /// The sections of the main units.
    pub(crate) sections: Arc<Sections<'d>>,
    /// Main units; none where there is no debug information.
    pub(crate) units: Units<'d>,
    /// Units of the supplementary file.
    supplementary: Option<Units<'d>>,
    /// Split units by their id.
    dwos: BTreeMap<u64, &'d Elf>,
    package: Option<DwarfPackage<Reader<'d>>>,
    files: Vec<&'d Elf>,
    /// Bytes of units read since the files' pages were last given back.
    read: AtomicUsize,
    /// Left by look-ups for the next ones.
    finders: Mutex<Vec<Finder<'d>>>,
}

self_cell::self_cell! {
    /// The files together with the DWARF that borrows from them.
    pub(crate) struct Store {
        owner: Files,
        #[not_covariant]
        dependent: Dwarf,
    }
}

impl Store {
    /// Indexes the units of the files.
    pub(crate) fn build(files: Files) -> Self {
        Store::new(files, open)
    }
}

/// One debug section of a file as a reader.
fn reader<'d>(elf: &'d Elf, name: Option<&'static str>) -> Reader<'d> {
    let endian = match elf.endian {
        Endianness::Little => RunTimeEndian::Little,
        Endianness::Big => RunTimeEndian::Big,
    };
    EndianSlice::new(name.map_or(&[][..], |name| elf.section(name)), endian)
}

/// The DWARF sections of a file under the names that `name_of` gives them.
fn sections<'d>(elf: &'d Elf, name_of: fn(SectionId) -> Option<&'static str>) -> Sections<'d> {
    let load = |id| Ok::<_, gimli::Error>(reader(elf, name_of(id)));
    gimli::Dwarf::load(load).unwrap_or_default()
}

fn open(files: &Files) -> Dwarf<'_> {
    let mut dwarf = sections(files.dwarf(), |id| Some(id.name()));
    let mut supplementary = None;
    if let Some(elf) = &files.supplementary {
        let sections = sections(elf, |id| Some(id.name()));
        supplementary = Some(Units::new(&sections, SUPPLEMENTARY_LIMIT));
        dwarf.set_sup(sections);
    }
    let dwos = files
        .dwos
        .iter()
        .flat_map(|elf| dwo_ids(elf).into_iter().map(move |id| (id, &**elf)))
        .collect();
    Dwarf {
        program: &files.main,
        units: Units::new(&dwarf, DEFAULT_LIMIT),
        supplementary,
        sections: Arc::new(dwarf),
        dwos,
        package: files.package.as_deref().and_then(open_package),
        files: [
            Some(&files.main),
            files.debug.as_ref(),
            files.package.as_ref(),
        ]
        .into_iter()
        .flatten()
        .map(|elf| &**elf)
        .collect(),
        read: AtomicUsize::new(0),
        finders: Mutex::default(),
    }
}

fn open_package(elf: &Elf) -> Option<DwarfPackage<Reader<'_>>> {
    let load = |id: SectionId| Ok::<_, gimli::Error>(reader(elf, id.dwo_name()));
    DwarfPackage::load(load, reader(elf, None)).ok()
}

/// Ids of the split units in a `.dwo` file.
pub(crate) fn dwo_ids(elf: &Elf) -> Vec<u64> {
    let dwarf = sections(elf, SectionId::dwo_name);
    let mut ids = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if let Some(id) = dwarf.unit(header).ok().and_then(|unit| unit.dwo_id) {
            ids.push(id.0);
        }
    }
    ids
}

impl<'d> Dwarf<'d> {
    /// Opens a unit.
    pub(crate) fn open(&self, number: usize) -> gimli::Result<Arc<Open<'d>>> {
        self.units.open(&self.sections, number)
    }

    /// Hands a finder to a question: one that knows where the last one was answered, if it is free.
    pub(crate) fn with_finder<T>(&self, ask: impl FnOnce(&mut Finder<'d>) -> T) -> T {
        let take = || self.finders.try_lock().ok()?.pop();
        let mut finder = take().unwrap_or_else(Finder::new);
        let answer = ask(&mut finder);
        if let Ok(mut finders) = self.finders.try_lock()
            && finders.len() < MAX_FINDERS
        {
            finders.push(finder);
        }
        answer
    }

    /// Counts a unit as read by a batch; after some MiB of them, gives the files' pages back.
    ///
    /// The kernel would take them when it needs them, but until then they look like memory that we use.
    pub(crate) fn give_back(&self, number: Option<usize>) {
        let bytes = number.map_or(0, |number| self.units.length(number));
        if self.read.fetch_add(bytes, Ordering::Relaxed) > MAX_READ {
            self.read.store(0, Ordering::Relaxed);
            self.files.iter().for_each(|elf| elf.release());
        }
    }

    /// What to read the functions of a unit from.
    pub(crate) fn view<'u>(&'u self, open: &'u Open<'d>) -> View<'u, 'd> {
        open.view(&self.sections, |id| self.split_unit(id, &self.sections))
    }

    /// The sections of the supplementary file with its units.
    pub(crate) fn supplementary(&self) -> Option<(&Sections<'d>, &Units<'d>)> {
        Some((self.sections.sup()?, self.supplementary.as_ref()?))
    }

    /// What was found wrong with the units so far.
    pub(crate) fn error(&self) -> Option<String> {
        match self.units.error.get()? {
            gimli::Error::TooManyIterations => {
                Some(String::from("units refer to the same tables too often"))
            }
            why => Some(why.to_string()),
        }
    }

    /// Units that may have a half in another file.
    pub(crate) fn skeletons(&self) -> impl Iterator<Item = gimli::Unit<Reader<'d>>> {
        // Such a unit leaves its addresses in the program, in a section of their own.
        let any = !self.sections.debug_addr.reader().slice().is_empty();
        let headers = self.units.headers().filter(move |header| {
            any && (header.version() < 5 || matches!(header.type_(), UnitType::Skeleton(_)))
        });
        headers.filter_map(|header| self.sections.unit(*header).ok())
    }

    /// The split unit of this id, if it was handed in.
    fn split_unit(&self, id: gimli::DwoId, parent: &Sections<'d>) -> Option<Arc<Sections<'d>>> {
        if let Some(package) = &self.package
            && let Ok(Some(unit)) = package.find_cu(id, parent)
        {
            return Some(Arc::new(unit));
        }
        let mut unit = sections(self.dwos.get(&id.0)?, SectionId::dwo_name);
        unit.make_dwo(parent);
        Some(Arc::new(unit))
    }

    /// Whether the split unit of this id was handed in.
    pub(crate) fn has_split_unit(&self, id: gimli::DwoId) -> bool {
        self.dwos.contains_key(&id.0)
            || self
                .package
                .as_ref()
                .is_some_and(|package| matches!(package.find_cu(id, &self.sections), Ok(Some(_))))
    }
}
