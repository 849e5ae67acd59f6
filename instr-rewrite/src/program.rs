//! What an executable says to the kernel and the dynamic linker.

use goblin::container::{Container, Ctx};
use goblin::elf::program_header::PT_INTERP;
use goblin::elf::{Dynamic, Elf, ProgramHeader};
use goblin::strtab::Strtab;

/// The part of an executable's headers that decides which libraries it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program<'a> {
    /// `e_machine` of the ELF header.
    pub machine: u16,
    /// Whether it is of class 64.
    pub is_64: bool,
    /// The dynamic linker; nothing in a program that is linked statically.
    pub interpreter: Option<&'a str>,
    /// The libraries it names (`DT_NEEDED`), in its order.
    pub needed: Vec<&'a str>,
}

impl<'a> Program<'a> {
    /// Reads the headers alone: of a file, its beginning is enough for all but [`Self::needed`], which is empty where its table cannot be read.
    /// Nothing for what is no ELF file, or a damaged one.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let header = Elf::parse_header(bytes).ok()?;
        let container = header.container().ok()?;
        let ctx = Ctx::new(container, header.endianness().ok()?);
        let offset = usize::try_from(header.e_phoff).ok()?;
        let count = usize::from(header.e_phnum);
        let segments = ProgramHeader::parse(bytes, offset, count, ctx).ok()?;
        let text = |segment: &ProgramHeader| {
            let at = usize::try_from(segment.p_offset).ok()?;
            let end = at.checked_add(usize::try_from(segment.p_filesz).ok()?)?;
            let text = std::str::from_utf8(bytes.get(at..end)?).ok()?;
            Some(text.trim_end_matches('\0'))
        };
        let mut interpreters = segments.iter().filter(|s| s.p_type == PT_INTERP);
        Some(Self {
            machine: header.e_machine,
            is_64: container == Container::Big,
            interpreter: interpreters.find_map(text),
            needed: needed(bytes, &segments, ctx).unwrap_or_default(),
        })
    }
}

fn needed<'a>(bytes: &'a [u8], segments: &[ProgramHeader], ctx: Ctx) -> Option<Vec<&'a str>> {
    let dynamic = Dynamic::parse(bytes, segments, ctx).ok()??;
    let info = &dynamic.info;
    let names = Strtab::parse(bytes, info.strtab, info.strsz, 0).ok()?;
    Some(dynamic.get_libraries(&names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_headers() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let whole = Program::parse(&bytes).unwrap();
        assert!(whole.needed.iter().any(|name| name.starts_with("libc.")));
        let begin = Program::parse(&bytes[..4096]).unwrap();
        assert!(whole.interpreter.is_some());
        assert_eq!(begin.interpreter, whole.interpreter);
        assert_eq!((begin.machine, begin.is_64), (whole.machine, whole.is_64));
    }

    #[test]
    fn damaged_files_are_refused_or_read_without_harm() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(Program::parse(b"#!/bin/sh\n"), None);
        for length in 0..256 {
            let _ = Program::parse(&bytes[..length]);
        }
        for at in 0..1024 {
            let mut damaged = bytes[..4096].to_vec();
            damaged[at] = !damaged[at];
            let _ = Program::parse(&damaged);
        }
    }
}
