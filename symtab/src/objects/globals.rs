//! One ELF file → its global symbols.

use super::{Machine, Object, ObjectError, ObjectKind};
use object::Endianness;
use object::elf::{self as elf_constants, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym};
use std::collections::BTreeSet;

/// `STT_SPARC_REGISTER`: a note about a register, not a symbol.
const STT_SPARC_REGISTER: u8 = 13;
/// How often the bytes of a file may be counted: as part of sections, as part of names. Tables of strings share tails.
const MAX_OVERLAP: u64 = 16;
/// Magic number of LLVM's bitcode wrapper, little-endian.
const BITCODE_WRAPPER: &[u8] = &[0xde, 0xc0, 0x17, 0x0b];

/// Reads the global symbols of one ELF file: undefined, weak, defined; of a linked file those of its dynamic symbols.
///
/// # Errors
///
/// The bytes are no ELF file of a supported machine, are damaged, or hold no code yet.
pub fn read_globals(bytes: &[u8]) -> Result<(ObjectKind, Object), ObjectError> {
    if !bytes.starts_with(&elf_constants::ELFMAG) {
        return Err(describe_stranger(bytes));
    }
    match bytes.get(4) {
        Some(1) => scan_class(FileHeader32::<Endianness>::parse(bytes)?, bytes),
        Some(2) => scan_class(FileHeader64::<Endianness>::parse(bytes)?, bytes),
        _ => Err(ObjectError::Malformed(
            "unknown word size in the ELF header".to_owned(),
        )),
    }
}

/// Says what a file that is no ELF file looks like.
fn describe_stranger(bytes: &[u8]) -> ObjectError {
    if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(BITCODE_WRAPPER) {
        return ObjectError::Bitcode;
    }
    ObjectError::NotElf(match bytes {
        [] => "the file is empty",
        [b'M', b'Z', ..] => "it looks like a Windows program",
        [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] | [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] => {
            "it looks like a Mach-O file"
        }
        _ if elf_constants::ELFMAG.starts_with(bytes) => "truncated after its first bytes",
        _ if bytes
            .iter()
            .take(512)
            .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace()) =>
        {
            "it looks like text"
        }
        _ => "unknown magic number",
    })
}

/// The machine of a header, checked against its word size and byte order.
fn machine<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
) -> Result<Machine, ObjectError> {
    let machine = match header.e_machine(endian) {
        elf_constants::EM_X86_64 => Machine::X86_64,
        elf_constants::EM_SPARC => Machine::Sparc,
        elf_constants::EM_SPARC32PLUS => Machine::Sparc32Plus,
        elf_constants::EM_SPARCV9 => Machine::SparcV9,
        elf_constants::EM_AARCH64 => Machine::Aarch64,
        elf_constants::EM_RISCV => Machine::RiscV64,
        other => return Err(ObjectError::Machine(machine_name(other))),
    };
    let (is_64, big) = (header.is_class_64(), header.is_big_endian());
    if is_64 != machine.is_64_bit() || big != machine.is_big_endian() {
        let (bits, order) = (
            if is_64 { 64 } else { 32 },
            if big { "big" } else { "little" },
        );
        return Err(ObjectError::Flavor {
            machine,
            bits,
            order,
        });
    }
    Ok(machine)
}

fn machine_name(machine: elf_constants::Machine) -> String {
    let known = match machine {
        elf_constants::EM_386 => "32-bit x86",
        elf_constants::EM_ARM => "ARM",
        elf_constants::EM_PPC64 => "PowerPC64",
        elf_constants::EM_PPC => "PowerPC",
        elf_constants::EM_MIPS => "MIPS",
        elf_constants::EM_S390 => "s390",
        _ => return format!("ELF machine {}", machine.0),
    };
    format!("{known} (ELF machine {})", machine.0)
}

fn scan_class<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    bytes: &[u8],
) -> Result<(ObjectKind, Object), ObjectError> {
    let endian = header.endian()?;
    let machine = machine(header, endian)?;
    let kind = match header.e_type(endian) {
        elf_constants::ET_REL => ObjectKind::Relocatable,
        elf_constants::ET_EXEC => ObjectKind::Executable,
        elf_constants::ET_DYN if has_interpreter(header, endian, bytes)? => ObjectKind::Executable,
        elf_constants::ET_DYN => ObjectKind::Shared,
        other => {
            return Err(ObjectError::Malformed(format!(
                "ELF file type {} is no code",
                other.0
            )));
        }
    };
    let sections = header.sections(endian, bytes)?;
    check_ranges(&sections, endian, bytes)?;
    let linked = kind != ObjectKind::Relocatable;
    let object = symbols::<Elf>(&sections, endian, bytes, machine, linked)?;
    if !linked && is_lto_only::<Elf>(&sections, endian, &object) {
        return Err(ObjectError::LtoOnly);
    }
    Ok((kind, object))
}

fn has_interpreter<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
    bytes: &[u8],
) -> Result<bool, ObjectError> {
    use object::read::elf::ProgramHeader;
    let segments = header.program_headers(endian, bytes)?;
    Ok(segments
        .iter()
        .any(|segment| segment.p_type(endian) == elf_constants::PT_INTERP))
}

/// A section that reaches beyond the end of the file means that the file was cut; sections that lie on top of each
/// other again and again are made to keep a reader busy.
fn check_ranges<Elf: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Elf>,
    endian: Endianness,
    bytes: &[u8],
) -> Result<(), ObjectError> {
    let length = bytes.len() as u64;
    let mut total = 0u64;
    for (index, section) in sections.enumerate() {
        let Some((offset, size)) = section.file_range(endian) else {
            continue;
        };
        let end = offset.saturating_add(size);
        if end > length {
            let message = format!(
                "section {} ends at {end:#x}, the file at {length:#x}",
                index.0
            );
            return Err(ObjectError::Malformed(message));
        }
        total = total.saturating_add(size);
    }
    if total > length.saturating_mul(MAX_OVERLAP) {
        return Err(ObjectError::Malformed("sections overlap".to_owned()));
    }
    Ok(())
}

fn symbols<Elf: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Elf>,
    endian: Endianness,
    bytes: &[u8],
    machine: Machine,
    linked: bool,
) -> Result<Object, ObjectError> {
    let mut table = sections.symbols(
        endian,
        bytes,
        if linked {
            elf_constants::SHT_DYNSYM
        } else {
            elf_constants::SHT_SYMTAB
        },
    )?;
    if linked && table.is_empty() {
        table = sections.symbols(endian, bytes, elf_constants::SHT_SYMTAB)?;
    }
    let (mut undefined, mut weak, mut defined) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut budget = (bytes.len() as u64).saturating_mul(MAX_OVERLAP);
    for symbol in table.iter().skip(1) {
        if symbol.is_local()
            || (machine.is_big_endian() && symbol.st_type().0 == STT_SPARC_REGISTER)
        {
            continue;
        }
        let mut name = table.symbol_name(endian, symbol)?;
        budget = budget
            .checked_sub(name.len() as u64)
            .ok_or_else(|| ObjectError::Malformed("names of symbols overlap".to_owned()))?;
        if linked {
            // The static symbol table of a linked file writes `name@VERSION`.
            name = name.split(|&byte| byte == b'@').next().unwrap_or(name);
        }
        if name.is_empty() {
            continue;
        }
        let set = match (symbol.is_undefined(endian), symbol.is_weak()) {
            (false, _) => &mut defined,
            (true, false) => &mut undefined,
            (true, true) => &mut weak,
        };
        set.insert(name.to_vec());
    }
    weak.retain(|name| !undefined.contains(name));
    Ok(Object {
        member: None,
        machine,
        undefined,
        weak,
        defined,
    })
}

/// GCC without -ffat-lto-objects: sections `.gnu.lto_*`, and no code of its own.
fn is_lto_only<Elf: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Elf>,
    endian: Endianness,
    object: &Object,
) -> bool {
    let mut intermediate = false;
    let mut code = false;
    for section in sections.iter() {
        let name = sections.section_name(endian, section).unwrap_or_default();
        intermediate |= name.starts_with(b".gnu.lto_");
        let executable = section
            .sh_flags(endian)
            .contains(elf_constants::SHF_EXECINSTR);
        code |= executable && section.sh_size(endian).into() > 0;
    }
    let slim = [&b"__gnu_lto_slim"[..], b"__gnu_slim_lto"]
        .iter()
        .any(|name| object.defined.contains(*name));
    intermediate && (slim || !code)
}

/// Contents of the sections of an ELF file whose names begin with `prefix`; none where the file cannot be read.
#[must_use]
pub fn sections_with_prefix<'d>(bytes: &'d [u8], prefix: &[u8]) -> Vec<&'d [u8]> {
    use object::{Object as _, ObjectSection as _};
    let Ok(file) = object::File::parse(bytes) else {
        return Vec::new();
    };
    file.sections()
        .filter(|section| {
            section
                .name_bytes()
                .is_ok_and(|name| name.starts_with(prefix))
        })
        .filter_map(|section| section.data().ok())
        .collect()
}
