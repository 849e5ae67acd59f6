//! How GNU addr2line sees a program: sections, the nearest function, discriminators.
//!
//! [`Image::lookup`](crate::Image::lookup) says what is right. Scripts that parse addr2line's output also expect what
//! is merely customary: the nearest function before an address that belongs to none, the source file that the symbol
//! table tells, discriminators behind line numbers, offsets into sections. The rules are those of BFD 2.40
//! (`bfd/elf.c`: `_bfd_elf_find_function`, `better_fit`; `binutils/addr2line.c`).

mod functions;

use std::sync::OnceLock;

use object::read::elf::{FileHeader, SectionHeader};
use object::{Endianness, File};

use crate::demangle::demangle;
use crate::elf::Elf;
use crate::image::Image;
use crate::lookup::FunctionName;
use functions::Functions;

/// A section of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its name, such as `.text`.
    pub name: String,
    /// Link address of its first byte; in a relocatable file see [`Image::section_base`].
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether it is part of the running program.
    pub loaded: bool,
}

/// The function that the symbol table tells for an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Its name.
    pub function: FunctionName,
    /// Source file without folder, where the table tells one; some linkers leave it empty.
    pub file: Option<String>,
    /// Whether the address lies inside; otherwise the function merely comes before it in the same section.
    pub covers: bool,
}

/// An [`Image`] as GNU addr2line sees it. Each table is read when it is first asked for.
pub struct GnuView {
    image: Image,
    sections: Vec<Section>,
    functions: OnceLock<Functions>,
}

impl GnuView {
    /// Takes over `image` and reads its section headers.
    #[must_use]
    pub fn new(image: Image) -> Self {
        GnuView {
            sections: sections(&image),
            image,
            functions: OnceLock::new(),
        }
    }

    /// The image, for everything else.
    #[must_use]
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// All sections by number; the first is the empty one.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The number of the first section of this name.
    #[must_use]
    pub fn section_named(&self, name: &[u8]) -> Option<usize> {
        self.sections
            .iter()
            .position(|section| section.name.as_bytes() == name && !name.is_empty())
    }

    /// The loaded section around a link address.
    #[must_use]
    pub fn section_at(&self, link: u64) -> Option<&Section> {
        self.section_number_at(link).map(|at| &self.sections[at])
    }

    fn section_number_at(&self, link: u64) -> Option<usize> {
        self.sections
            .iter()
            .position(|section| section.loaded && section.contains(link))
    }

    /// The link addresses a question may mean, to be tried in order: an address of the program, or an offset into
    /// `section`. In a relocatable file an address is an offset into any of the sections. Empty if it is outside of all.
    #[must_use]
    pub fn link_addresses(&self, value: u64, section: Option<usize>) -> Vec<u64> {
        let relocatable = self.image.is_relocatable();
        let inside = |section: &Section| -> Option<u64> {
            let within = section.loaded && value < section.size;
            within.then(|| section.address.wrapping_add(value))
        };
        match section {
            Some(number) => self
                .sections
                .get(number)
                .and_then(inside)
                .into_iter()
                .collect(),
            None if relocatable => self.sections.iter().filter_map(inside).collect(),
            None => self.section_at(value).map(|_| value).into_iter().collect(),
        }
    }

    /// The function whose symbol is nearest before a link address in the same section.
    ///
    /// Of several at one address the smallest that reaches up to the address counts, else the largest.
    #[must_use]
    pub fn nearest(&self, link: u64) -> Option<Nearest> {
        let section = self.section_number_at(link)?;
        let elf = self.symbol_file();
        let functions = self.functions.get_or_init(|| Functions::read(elf));
        let (found, covers) = functions.nearest(section, link)?;
        let raw = functions.name(found, elf.data());
        let file = functions.file(found, elf.data());
        Some(Nearest {
            function: FunctionName::new(&String::from_utf8_lossy(raw)),
            file: file.map(|file| String::from_utf8_lossy(file).into_owned()),
            covers,
        })
    }

    /// Whether the functions come from a full symbol table, not only from the dynamic linker's.
    #[must_use]
    pub fn has_symbol_table(&self) -> bool {
        functions::has_symbols(self.symbol_file().data())
    }

    /// Which of several pieces of code of one line this is, as the line table tells; 0 where it does not.
    #[must_use]
    pub fn discriminator(&self, link: u64) -> u32 {
        self.image.lookup(link).discriminator
    }

    /// The value of a symbol: its address, in a relocatable file its offset into its section; first by the linker's
    /// name, then by the source's.
    #[must_use]
    pub fn symbol_value(&self, name: &str) -> Option<u64> {
        let raw = self.image.symbols_named(name);
        let found = raw.into_iter().next().or_else(|| {
            let same = |raw: &[u8]| raw.starts_with(b"_") && demangle(raw) == name;
            self.image.symbols_where(same).into_iter().next()
        });
        let address = found?.address;
        if !self.image.is_relocatable() {
            return Some(address);
        }
        let section = self.section_at(address);
        Some(address - section.map_or(0, |section| section.address))
    }

    /// Whether addresses of the program have 64 bits.
    #[must_use]
    pub fn is_64(&self) -> bool {
        // `e_ident[EI_CLASS]`: 1 is ELFCLASS32.
        self.image.store.borrow_owner().main.data().get(4) != Some(&1)
    }

    /// The file whose symbols count: that of the debug information where the program was stripped.
    fn symbol_file(&self) -> &Elf {
        let files = self.image.store.borrow_owner();
        match &files.debug {
            Some(debug) if functions::has_symbols(debug.data()) => debug,
            _ => &files.main,
        }
    }
}

impl Section {
    fn contains(&self, link: u64) -> bool {
        link.checked_sub(self.address)
            .is_some_and(|offset| offset < self.size)
    }
}

/// Names, places and sizes of the sections of the image's own file.
fn sections(image: &Image) -> Vec<Section> {
    let main = &image.store.borrow_owner().main;
    match File::parse(main.data()) {
        Ok(File::Elf32(elf)) => read_sections(main, elf.elf_section_table(), elf.endian()),
        Ok(File::Elf64(elf)) => read_sections(main, elf.elf_section_table(), elf.endian()),
        _ => Vec::new(),
    }
}

fn read_sections<Class: FileHeader<Endian = Endianness>>(
    elf: &Elf,
    table: &object::read::elf::SectionTable<'_, Class>,
    endian: Endianness,
) -> Vec<Section> {
    let flags_and_sizes = table.iter().map(|section| {
        (
            section.sh_flags(endian).contains(object::elf::SHF_ALLOC),
            section.sh_size(endian).into(),
        )
    });
    elf.sections
        .iter()
        .zip(flags_and_sizes)
        .map(|((name, address), (loaded, size))| Section {
            name: String::from_utf8_lossy(name).into_owned(),
            address: *address,
            size,
            loaded,
        })
        .collect()
}
