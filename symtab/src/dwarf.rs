//! The debug information of an image: the program's file and whatever further files were handed in.

use std::collections::BTreeMap;
use std::sync::Arc;

use addr2line::{Context, LookupContinuation, LookupResult};
use gimli::{DwarfPackage, EndianSlice, RunTimeEndian, SectionId};
use object::Endianness;

use crate::budget::is_affordable;
use crate::elf::Elf;

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
    /// Main units; none where there is no debug information or it is damaged.
    pub(crate) context: Option<Context<Reader<'d>>>,
    /// The same sections for questions that the context does not answer.
    pub(crate) sections: Arc<gimli::Dwarf<Reader<'d>>>,
    /// Why there is no context although there is debug information.
    pub(crate) error: Option<String>,
    /// Split units by their id.
    dwos: BTreeMap<u64, &'d Elf>,
    package: Option<DwarfPackage<Reader<'d>>>,
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
fn sections<'d>(
    elf: &'d Elf,
    name_of: fn(SectionId) -> Option<&'static str>,
) -> gimli::Dwarf<Reader<'d>> {
    let load = |id| Ok::<_, gimli::Error>(reader(elf, name_of(id)));
    gimli::Dwarf::load(load).unwrap_or_default()
}

fn open(files: &Files) -> Dwarf<'_> {
    let elf = files.dwarf();
    let mut dwarf = sections(elf, |id| Some(id.name()));
    if let Some(supplementary) = &files.supplementary {
        dwarf.set_sup(sections(supplementary, |id| Some(id.name())));
    }
    let mut error = None;
    let mut context = None;
    let mut shared = Arc::new(dwarf);
    if elf.has_debug() {
        if let Some(dwarf) = Arc::get_mut(&mut shared) {
            dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        }
        if !is_affordable(&shared) {
            error = Some(String::from("units refer to the same tables too often"));
        } else {
            match Context::from_arc_dwarf(Arc::clone(&shared)) {
                Ok(built) => context = Some(built),
                Err(why) => error = Some(why.to_string()),
            }
        }
    }
    let dwos = files
        .dwos
        .iter()
        .flat_map(|elf| dwo_ids(elf).into_iter().map(move |id| (id, &**elf)))
        .collect();
    let package = files.package.as_deref().and_then(open_package);
    Dwarf {
        context,
        sections: shared,
        error,
        dwos,
        package,
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
    /// Drives a question of `addr2line` to its end, giving it the split units that are at hand.
    pub(crate) fn finish<L>(&self, mut result: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Reader<'d>>,
    {
        loop {
            match result {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => {
                    result = continuation.resume(self.split_unit(load.dwo_id, &load.parent));
                }
            }
        }
    }

    /// The split unit of this id, if it was handed in.
    fn split_unit(
        &self,
        id: gimli::DwoId,
        parent: &gimli::Dwarf<Reader<'d>>,
    ) -> Option<Arc<gimli::Dwarf<Reader<'d>>>> {
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
