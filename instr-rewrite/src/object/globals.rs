//! One ELF file → its global symbols.

use goblin::elf::header::ELFMAG;
use goblin::elf::section_header::{SHF_EXECINSTR, SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB};
use goblin::elf::sym::{STB_LOCAL, STB_WEAK, STT_FILE};

use super::elf::is_undefined;
use super::{Elf, Machine, ObjectError, ObjectKind, malformed};

/// What the symbols of stubs for redirected objects begin with; the function's name follows.
pub const STUB_PREFIX: &[u8] = b"instr_wrap_";

/// `STT_SPARC_REGISTER`: a note about a register, not a symbol.
const STT_SPARC_REGISTER: u8 = 13;
/// How often the bytes of a file may be counted: as part of sections, as part of names. Tables of strings share tails.
const MAX_OVERLAP: u64 = 16;
/// Magic number of LLVM's bitcode wrapper, little-endian.
const BITCODE_WRAPPER: &[u8] = &[0xde, 0xc0, 0x17, 0x0b];

/// The global symbols of one ELF file, as in its symbol table; those of linked files without the suffix of their version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object<'d> {
    /// Name inside the archive, if it came from one.
    pub member: Option<String>,
    /// Processor; it implies word size and byte order.
    pub machine: Machine,
    /// Symbols referred to but not defined, at least one reference being strong; sorted, each once.
    pub undefined: Vec<&'d [u8]>,
    /// Symbols with weak references only; sorted, each once.
    pub weak: Vec<&'d [u8]>,
    /// Global and weak definitions, common symbols included, in the order of the table.
    pub defined: Vec<&'d [u8]>,
}

/// Reads the global symbols of one ELF file: undefined, weak, defined; of a linked file those of its dynamic symbols.
///
/// # Errors
///
/// The bytes are no ELF file of a supported machine, are damaged, or hold no code yet.
pub fn read_globals(bytes: &[u8]) -> Result<(ObjectKind, Object<'_>), ObjectError> {
    if !bytes.starts_with(ELFMAG) {
        return Err(describe_stranger(bytes));
    }
    let elf = Elf::parse(bytes)?;
    let kind = elf.kind()?;
    check_ranges(&elf, bytes)?;
    let linked = kind != ObjectKind::Relocatable;
    let object = symbols(&elf, bytes, linked)?;
    if !linked && is_lto_only(&elf, &object) {
        return Err(ObjectError::LtoOnly);
    }
    Ok((kind, object))
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
        _ if ELFMAG.starts_with(bytes) => "truncated after its first bytes",
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

/// A section that reaches beyond the end of the file means that the file was cut; sections that lie on top of each
/// other again and again are made to keep a reader busy.
fn check_ranges(elf: &Elf<'_>, bytes: &[u8]) -> Result<(), ObjectError> {
    let length = bytes.len() as u64;
    let mut total = 0u64;
    for (number, section) in elf.sections() {
        if section.sh_type == SHT_NOBITS {
            continue;
        }
        let end = section.sh_offset.saturating_add(section.sh_size);
        if end > length {
            let message = format!("section {number} ends at {end:#x}, the file at {length:#x}");
            return Err(malformed(message));
        }
        total = total.saturating_add(section.sh_size);
    }
    if total > length.saturating_mul(MAX_OVERLAP) {
        return Err(malformed("sections overlap"));
    }
    Ok(())
}

fn symbols<'d>(elf: &Elf<'d>, bytes: &[u8], linked: bool) -> Result<Object<'d>, ObjectError> {
    let mut table = elf.symbols(if linked { SHT_DYNSYM } else { SHT_SYMTAB })?;
    if linked && table.len() == 0 {
        table = elf.symbols(SHT_SYMTAB)?;
    }
    let machine = elf.machine;
    let mut object = Object {
        member: None,
        machine,
        undefined: Vec::new(),
        weak: Vec::new(),
        defined: Vec::new(),
    };
    let mut budget = (bytes.len() as u64).saturating_mul(MAX_OVERLAP);
    for (_, symbol) in table.iter() {
        let register = machine.is_big_endian() && symbol.st_type() == STT_SPARC_REGISTER;
        if symbol.st_bind() == STB_LOCAL || register {
            continue;
        }
        let mut name = table.name(&symbol)?;
        budget = budget
            .checked_sub(name.len() as u64)
            .ok_or_else(|| malformed("names of symbols overlap"))?;
        if linked {
            // The static symbol table of a linked file writes `name@VERSION`.
            name = name.split(|&byte| byte == b'@').next().unwrap_or(name);
        }
        if name.is_empty() {
            continue;
        }
        let list = match (is_undefined(&symbol), symbol.st_bind() == STB_WEAK) {
            (false, _) => &mut object.defined,
            (true, false) => &mut object.undefined,
            (true, true) => &mut object.weak,
        };
        list.push(name);
    }
    for list in [&mut object.undefined, &mut object.weak] {
        list.sort_unstable();
        list.dedup();
    }
    let strong = &object.undefined;
    object
        .weak
        .retain(|name| strong.binary_search(name).is_err());
    Ok(object)
}

/// GCC without -ffat-lto-objects: sections `.gnu.lto_*`, and no code of its own.
fn is_lto_only(elf: &Elf<'_>, object: &Object<'_>) -> bool {
    let slim = [&b"__gnu_lto_slim"[..], b"__gnu_slim_lto"];
    let slim = slim.iter().any(|name| object.defined.contains(name));
    let flag = u64::from(SHF_EXECINSTR);
    let is_code = |(_, section): (_, goblin::elf::SectionHeader)| {
        section.sh_flags & flag != 0 && section.sh_size > 0
    };
    if !slim && elf.sections().any(is_code) {
        return false;
    }
    elf.sections()
        .any(|(_, section)| elf.is_named(&section, b".gnu.lto_"))
}

/// Contents of the sections of an ELF file whose names begin with `prefix`; none where the file cannot be read.
#[must_use]
pub fn sections_with_prefix<'d>(bytes: &'d [u8], prefix: &[u8]) -> Vec<&'d [u8]> {
    let Ok(elf) = Elf::parse(bytes) else {
        return Vec::new();
    };
    if !bytes.starts_with(ELFMAG) || check_ranges(&elf, bytes).is_err() {
        return Vec::new();
    }
    let wanted = elf.sections().filter(|(_, s)| elf.is_named(s, prefix));
    wanted.filter_map(|(_, s)| elf.contents(&s).ok()).collect()
}

/// Names of the sources that an object is made of, as its symbols of type `STT_FILE` have them; none where it cannot be read, or was
/// stripped of them.
#[must_use]
pub fn source_files(bytes: &[u8]) -> Vec<&[u8]> {
    if !bytes.starts_with(ELFMAG) {
        return Vec::new();
    }
    let table = Elf::parse(bytes).and_then(|elf| elf.symbols(SHT_SYMTAB));
    let Ok(table) = table else { return Vec::new() };
    let mut budget = bytes.len().saturating_mul(MAX_OVERLAP as usize);
    let mut names = Vec::new();
    // Local symbols come first.
    let locals = table
        .iter()
        .take_while(|(_, symbol)| symbol.st_bind() == STB_LOCAL);
    for (_, symbol) in locals.filter(|(_, symbol)| symbol.st_type() == STT_FILE) {
        let Ok(name) = table.name(&symbol) else { break };
        match budget.checked_sub(name.len()) {
            Some(left) => budget = left,
            None => break,
        }
        names.push(name);
    }
    names
}
