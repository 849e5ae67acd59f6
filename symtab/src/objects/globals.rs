//! One ELF file → its global symbols.

use super::{FileKind, Machine, Object, ScanErrorKind};
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

pub(crate) fn scan(bytes: &[u8]) -> Result<(FileKind, Object), ScanErrorKind> {
    if !bytes.starts_with(&elf_constants::ELFMAG) {
        return Err(describe_stranger(bytes));
    }
    match bytes.get(4) {
        Some(1) => scan_class(FileHeader32::<Endianness>::parse(bytes)?, bytes),
        Some(2) => scan_class(FileHeader64::<Endianness>::parse(bytes)?, bytes),
        _ => Err(ScanErrorKind::Malformed(
            "unknown word size in the ELF header".to_owned(),
        )),
    }
}

/// Says what a file that is no ELF file looks like.
fn describe_stranger(bytes: &[u8]) -> ScanErrorKind {
    if bytes.starts_with(b"BC\xc0\xde") || bytes.starts_with(BITCODE_WRAPPER) {
        return ScanErrorKind::Bitcode;
    }
    ScanErrorKind::NotElf(match bytes {
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
) -> Result<Machine, ScanErrorKind> {
    let machine = match header.e_machine(endian) {
        elf_constants::EM_X86_64 => Machine::X86_64,
        elf_constants::EM_SPARC => Machine::Sparc,
        elf_constants::EM_SPARC32PLUS => Machine::Sparc32Plus,
        elf_constants::EM_SPARCV9 => Machine::SparcV9,
        other => return Err(ScanErrorKind::Machine(machine_name(other))),
    };
    let (is_64, big) = (header.is_class_64(), header.is_big_endian());
    if is_64 != machine.is_64_bit() || big != machine.is_big_endian() {
        let (bits, order) = (
            if is_64 { 64 } else { 32 },
            if big { "big" } else { "little" },
        );
        return Err(ScanErrorKind::Flavor {
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
        elf_constants::EM_AARCH64 => "AArch64",
        elf_constants::EM_ARM => "ARM",
        elf_constants::EM_RISCV => "RISC-V",
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
) -> Result<(FileKind, Object), ScanErrorKind> {
    let endian = header.endian()?;
    let machine = machine(header, endian)?;
    let kind = match header.e_type(endian) {
        elf_constants::ET_REL => FileKind::Relocatable,
        elf_constants::ET_EXEC => FileKind::Executable,
        elf_constants::ET_DYN if has_interpreter(header, endian, bytes)? => FileKind::Executable,
        elf_constants::ET_DYN => FileKind::Shared,
        other => {
            return Err(ScanErrorKind::Malformed(format!(
                "ELF file type {} is no code",
                other.0
            )));
        }
    };
    let sections = header.sections(endian, bytes)?;
    check_ranges(&sections, endian, bytes)?;
    let linked = kind != FileKind::Relocatable;
    let object = symbols::<Elf>(&sections, endian, bytes, machine, linked)?;
    if !linked && is_lto_only::<Elf>(&sections, endian, &object) {
        return Err(ScanErrorKind::LtoOnly);
    }
    Ok((kind, object))
}

fn has_interpreter<Elf: FileHeader<Endian = Endianness>>(
    header: &Elf,
    endian: Endianness,
    bytes: &[u8],
) -> Result<bool, ScanErrorKind> {
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
) -> Result<(), ScanErrorKind> {
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
            return Err(ScanErrorKind::Malformed(message));
        }
        total = total.saturating_add(size);
    }
    if total > length.saturating_mul(MAX_OVERLAP) {
        return Err(ScanErrorKind::Malformed("sections overlap".to_owned()));
    }
    Ok(())
}

fn symbols<Elf: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Elf>,
    endian: Endianness,
    bytes: &[u8],
    machine: Machine,
    linked: bool,
) -> Result<Object, ScanErrorKind> {
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
            .ok_or_else(|| ScanErrorKind::Malformed("names of symbols overlap".to_owned()))?;
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
