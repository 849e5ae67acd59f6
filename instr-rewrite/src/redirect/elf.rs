//! One relocatable object: what to change, and the changed copy.

use super::raw::{Layout, RelocationKind};
use super::{RedirectErrorKind, Redirected, verify};
use crate::api::Api;
use crate::scan::{Object, ScanErrorKind};
use crate::stubs::Linkage;
use object::Endianness;
use object::elf::{self as constants, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, SectionTable, Sym, SymbolTable};
use std::collections::BTreeMap;

/// Alignment of what is appended, in bytes.
const ALIGNMENT: usize = 8;

/// A 4- or 8-byte word to be changed in place.
struct Edit {
    offset: usize,
    value: u64,
}

/// Everything that changes in one object.
struct Plan {
    layout: Layout,
    edits: Vec<Edit>,
    /// New symbols in order, after the existing ones.
    added: Vec<String>,
    symtab: Table,
    strtab: Table,
    /// Extended section indices of symbols, if the object has them.
    shndx: Option<Table>,
}

/// A section that moves to the end of the file and grows.
#[derive(Clone, Copy)]
struct Table {
    /// File offset of its section header.
    header: usize,
    offset: usize,
    size: usize,
}

pub(super) fn redirect(
    bytes: &[u8],
    object: &Object,
    api: &Api,
) -> Result<Redirected, RedirectErrorKind> {
    let layout = Layout::of(object.machine);
    let plan = if layout.is_64 {
        plan::<FileHeader64<Endianness>>(bytes, object, api, layout)?
    } else {
        plan::<FileHeader32<Endianness>>(bytes, object, api, layout)?
    };
    let Some((plan, renamed)) = plan else {
        return Ok(Redirected {
            bytes: bytes.to_vec(),
            renamed: Vec::new(),
        });
    };
    let new = apply(bytes, &plan)?;
    verify::verify(bytes, &new, &renamed, layout.is_64)?;
    Ok(Redirected {
        bytes: new,
        renamed,
    })
}

fn malformed(message: impl Into<String>) -> RedirectErrorKind {
    RedirectErrorKind::Scan(ScanErrorKind::Malformed(message.into()))
}

fn unsupported(message: &str) -> RedirectErrorKind {
    RedirectErrorKind::Unsupported(message.to_owned())
}

/// Whether `symbol` is a reference that goes to its stub.
pub(super) fn is_redirected(symbol: &[u8], object: &Object, api: &Api) -> bool {
    let stub = [Linkage::Rename.stub_prefix().as_bytes(), symbol].concat();
    object.undefined.contains(symbol)
        && !object.defined.contains(&stub)
        && api
            .get(symbol)
            .is_some_and(|function| function.refusal.is_none())
}

fn plan<Elf: FileHeader<Endian = Endianness>>(
    bytes: &[u8],
    object: &Object,
    api: &Api,
    layout: Layout,
) -> Result<Option<(Plan, Vec<String>)>, RedirectErrorKind> {
    let header = Elf::parse(bytes)?;
    let endian = header.endian()?;
    let sections = header.sections(endian, bytes)?;
    let symbols = sections.symbols(endian, bytes, constants::SHT_SYMTAB)?;
    let (candidates, mut existing) = candidates(&symbols, endian, object, api)?;
    if candidates.is_empty() {
        return Ok(None);
    }
    let tables = Tables::find::<Elf>(header, endian, &sections, &symbols)?;
    let mut plan = Plan {
        layout,
        edits: Vec::new(),
        added: Vec::new(),
        symtab: tables.symtab,
        strtab: tables.strtab,
        shndx: tables.shndx,
    };
    let mut renamed = BTreeMap::new();
    for (index, section) in sections.enumerate() {
        let kind = match section.sh_type(endian) {
            constants::SHT_RELA => RelocationKind::Rela,
            constants::SHT_REL => RelocationKind::Rel,
            constants::SHT_CREL => return Err(unsupported("compressed relocations (SHT_CREL)")),
            _ => continue,
        };
        if section.link(endian) != symbols.section()
            || !holds_code_or_data(&sections, endian, section)?
        {
            continue;
        }
        let (offset, size) = section.file_range(endian).unwrap_or_default();
        let entry = layout.relocation_size(kind);
        let (Ok(offset), Ok(size)) = (usize::try_from(offset), usize::try_from(size)) else {
            return Err(malformed("relocations beyond the address space"));
        };
        if section.sh_entsize(endian).into() != entry as u64 || size % entry != 0 {
            return Err(malformed(format!(
                "size of the relocations in section {}",
                index.0
            )));
        }
        for place in (offset..offset + size)
            .step_by(entry)
            .map(|start| start + layout.info_field())
        {
            let info = layout
                .get(bytes, place)
                .ok_or_else(|| malformed("relocation outside the file"))?;
            let Some(&name) = candidates.get(&layout.relocation_symbol(info)) else {
                continue;
            };
            let target = *existing.entry(name).or_insert_with(|| {
                plan.added
                    .push(format!("{}{name}", Linkage::Rename.stub_prefix()));
                symbols.len() as u64 + plan.added.len() as u64 - 1
            });
            renamed.insert(name.to_owned(), ());
            plan.edits.push(Edit {
                offset: place,
                value: layout.with_symbol(info, target),
            });
        }
    }
    if symbols.len() as u64 + plan.added.len() as u64 > layout.max_symbol() {
        return Err(unsupported(
            "too many symbols for the relocations of this format",
        ));
    }
    Ok((!plan.edits.is_empty()).then(|| (plan, renamed.into_keys().collect())))
}

/// Symbols to replace by index, and the stubs' symbols that the object has already by function.
type Candidates<'a> = (BTreeMap<u64, &'a str>, BTreeMap<&'a str, u64>);

fn candidates<'a, Elf: FileHeader<Endian = Endianness>>(
    symbols: &SymbolTable<'_, Elf>,
    endian: Endianness,
    object: &Object,
    api: &'a Api,
) -> Result<Candidates<'a>, RedirectErrorKind> {
    let (mut replace, mut existing) = (BTreeMap::new(), BTreeMap::new());
    for (index, symbol) in symbols.enumerate().skip(1) {
        if symbol.is_local() || !symbol.is_undefined(endian) {
            continue;
        }
        let name = symbols.symbol_name(endian, symbol)?;
        if let Some(function) = name
            .strip_prefix(Linkage::Rename.stub_prefix().as_bytes())
            .and_then(|name| api.get(name))
        {
            existing
                .entry(function.symbol.as_str())
                .or_insert(index.0 as u64);
        }
        if let Some(function) = api.get(name)
            && is_redirected(name, object, api)
        {
            replace.insert(index.0 as u64, function.symbol.as_str());
        }
    }
    Ok((replace, existing))
}

/// Whether relocations in `section` change what the program loads: debug information, unwind tables and other
/// notes go on naming the function itself.
fn holds_code_or_data<Elf: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'_, Elf>,
    endian: Endianness,
    section: &Elf::SectionHeader,
) -> Result<bool, RedirectErrorKind> {
    let target = sections.section(section.info_link(endian))?;
    let name = sections.section_name(endian, target)?;
    let unwinding = name.starts_with(b".eh_frame") || name.starts_with(b".gcc_except_table");
    Ok(target.sh_flags(endian).contains(constants::SHF_ALLOC) && !unwinding)
}

struct Tables {
    symtab: Table,
    strtab: Table,
    shndx: Option<Table>,
}

impl Tables {
    fn find<Elf: FileHeader<Endian = Endianness>>(
        header: &Elf,
        endian: Endianness,
        sections: &SectionTable<'_, Elf>,
        symbols: &SymbolTable<'_, Elf>,
    ) -> Result<Self, RedirectErrorKind> {
        let count = sections
            .iter()
            .filter(|section| section.sh_type(endian) == constants::SHT_SYMTAB)
            .count();
        if count != 1 {
            return Err(unsupported("more than one symbol table"));
        }
        let table = |index: object::SectionIndex| -> Result<Table, RedirectErrorKind> {
            let section = sections.section(index)?;
            let start: u64 = header.e_shoff(endian).into();
            let header_at = (index.0 as u64)
                .checked_mul(u64::from(header.e_shentsize(endian)))
                .and_then(|offset| offset.checked_add(start));
            let (offset, size) = section
                .file_range(endian)
                .ok_or_else(|| malformed("a symbol table without contents"))?;
            match (
                header_at.map(usize::try_from),
                usize::try_from(offset),
                usize::try_from(size),
            ) {
                (Some(Ok(header)), Ok(offset), Ok(size)) => Ok(Table {
                    header,
                    offset,
                    size,
                }),
                _ => Err(malformed("a symbol table beyond the address space")),
            }
        };
        let shndx = symbols.shndx_section();
        Ok(Self {
            symtab: table(symbols.section())?,
            strtab: table(symbols.string_section())?,
            shndx: (shndx.0 != 0).then(|| table(shndx)).transpose()?,
        })
    }
}

/// The patched copy of `bytes`.
fn apply(bytes: &[u8], plan: &Plan) -> Result<Vec<u8>, RedirectErrorKind> {
    let layout = plan.layout;
    let too_large = || unsupported("the object would become too large for its format");
    let mut new = bytes.to_vec();
    for edit in &plan.edits {
        layout
            .put(&mut new, edit.offset, edit.value)
            .ok_or_else(too_large)?;
    }
    if plan.added.is_empty() {
        return Ok(new);
    }
    let mut strings = Vec::new();
    let mut entries = Vec::new();
    for name in &plan.added {
        let at = u32::try_from(plan.strtab.size + strings.len()).map_err(|_| too_large())?;
        entries.extend(layout.undefined_symbol(at));
        strings.extend_from_slice(name.as_bytes());
        strings.push(0);
    }
    append(&mut new, layout, plan.symtab, &entries).ok_or_else(too_large)?;
    append(&mut new, layout, plan.strtab, &strings).ok_or_else(too_large)?;
    if let Some(shndx) = plan.shndx {
        append(&mut new, layout, shndx, &vec![0; 4 * plan.added.len()]).ok_or_else(too_large)?;
    }
    Ok(new)
}

/// Copies a table to the end of the file, adds `more` to it and points its section header there.
fn append(bytes: &mut Vec<u8>, layout: Layout, table: Table, more: &[u8]) -> Option<()> {
    let end = table.offset.checked_add(table.size)?;
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    let start = bytes.len();
    bytes.get(table.offset..end)?;
    bytes.extend_from_within(table.offset..end);
    bytes.extend_from_slice(more);
    let field = table.header.checked_add(layout.section_offset_field())?;
    let size = (table.size + more.len()) as u64;
    layout.put(bytes, field, start as u64)?;
    layout.put(bytes, field + layout.word(), size)
}
