//! One relocatable object: what to change, and the changed copy.

use super::{RedirectErrorKind, Redirected, verify};
use crate::api::{Api, Function};
use crate::scan::{Object, ObjectError, ScanErrorKind};
use crate::stubs::Linkage;
use instr_symtab::objects::{Layout, RawSection, Relocatable, RelocationFormat, SectionType};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

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
    tables: Tables,
}

/// A section that moves to the end of the file and grows.
struct Table {
    /// File offset of its section header.
    header: usize,
    /// Where its contents are in the file.
    range: Range<usize>,
}

pub(super) fn redirect(
    bytes: &[u8],
    object: &Object,
    api: &Api,
) -> Result<Redirected, RedirectErrorKind> {
    let Some((plan, renamed)) = plan(bytes, object, api)? else {
        return Ok(Redirected {
            bytes: bytes.to_vec(),
            renamed: Vec::new(),
        });
    };
    let new = apply(bytes, &plan)?;
    verify::verify(bytes, &new, &renamed, object.machine)?;
    Ok(Redirected {
        bytes: new,
        renamed,
    })
}

fn malformed(message: impl Into<String>) -> RedirectErrorKind {
    RedirectErrorKind::Scan(ScanErrorKind::Object(ObjectError::Malformed(
        message.into(),
    )))
}

fn unsupported(message: &str) -> RedirectErrorKind {
    RedirectErrorKind::Unsupported(message.to_owned())
}

fn plan(
    bytes: &[u8],
    object: &Object,
    api: &Api,
) -> Result<Option<(Plan, Vec<String>)>, RedirectErrorKind> {
    let file = Relocatable::parse(bytes, object.machine)?;
    let layout = file.layout;
    let mut renaming = Renaming::of(&file, object, api)?;
    if renaming.replaced.is_empty() {
        return Ok(None);
    }
    let tables = Tables::find(&file)?;
    let [symtab, ..] = file.tables;
    let mut edits = Vec::new();
    for (number, section) in file.sections.iter().enumerate() {
        let kind = match section.section_type {
            SectionType::Rela => RelocationFormat::Rela,
            SectionType::Rel => RelocationFormat::Rel,
            SectionType::Crel => return Err(unsupported("compressed relocations (SHT_CREL)")),
            _ => continue,
        };
        if section.link as usize != symtab || !is_loaded(&file, section)? {
            continue;
        }
        let entry = layout.relocation_size(kind);
        let wrong_size = || malformed(format!("size of the relocations in section {number}"));
        let range = section.range.clone().ok_or_else(wrong_size)?;
        if section.entry_size != entry as u64 || range.len() % entry != 0 {
            return Err(wrong_size());
        }
        for start in range.step_by(entry) {
            edits.extend(renaming.edit(bytes, layout, start + layout.info_field())?);
        }
    }
    if renaming.symbols + renaming.added.len() as u64 > layout.max_symbol() {
        return Err(unsupported(
            "too many symbols for the relocations of this format",
        ));
    }
    let renamed: Vec<String> = renaming.renamed.into_iter().map(str::to_owned).collect();
    let plan = Plan {
        layout,
        edits,
        added: renaming.added,
        tables,
    };
    Ok((!renamed.is_empty()).then_some((plan, renamed)))
}

/// Which symbols are replaced by which.
struct Renaming<'a> {
    /// Functions to replace, by index of their symbol.
    replaced: BTreeMap<u64, &'a str>,
    /// Index of a stub's symbol, by function.
    stubs: BTreeMap<&'a str, u64>,
    /// Number of symbols there were.
    symbols: u64,
    /// Names of the symbols to add after them.
    added: Vec<String>,
    /// Functions that a relocation was found for.
    renamed: BTreeSet<&'a str>,
}

impl<'a> Renaming<'a> {
    fn of(
        file: &Relocatable<'_>,
        object: &Object,
        api: &'a Api,
    ) -> Result<Self, RedirectErrorKind> {
        let (mut replaced, mut stubs) = (BTreeMap::new(), BTreeMap::new());
        for (index, symbol) in (0u64..).zip(&file.symbols).skip(1) {
            if symbol.local || !symbol.undefined {
                continue;
            }
            let name = file.name(symbol)?;
            let stub_of = name.strip_prefix(Linkage::Rename.stub_prefix().as_bytes());
            if let Some(function) = stub_of.and_then(|name| api.get(name)) {
                stubs.entry(function.symbol.as_str()).or_insert(index);
            }
            if let Some(function) = api.get(name)
                && is_redirected(function, object)
            {
                replaced.insert(index, function.symbol.as_str());
            }
        }
        let symbols = file.symbols.len() as u64;
        Ok(Self {
            replaced,
            stubs,
            symbols,
            added: Vec::new(),
            renamed: BTreeSet::new(),
        })
    }

    /// The change to the relocation whose `r_info` is at `offset`, if it names a replaced symbol.
    fn edit(
        &mut self,
        bytes: &[u8],
        layout: Layout,
        offset: usize,
    ) -> Result<Option<Edit>, RedirectErrorKind> {
        let info = layout
            .get(bytes, offset)
            .ok_or_else(|| malformed("a relocation outside the file"))?;
        let Some(&name) = self.replaced.get(&layout.relocation_symbol(info)) else {
            return Ok(None);
        };
        self.renamed.insert(name);
        let stub = *self.stubs.entry(name).or_insert_with(|| {
            self.added
                .push(format!("{}{name}", Linkage::Rename.stub_prefix()));
            self.symbols + self.added.len() as u64 - 1
        });
        Ok(Some(Edit {
            offset,
            value: layout.with_symbol(info, stub),
        }))
    }
}

/// Whether references to `function` go to its stub: strong ones do, unless the object defines the stub itself.
fn is_redirected(function: &Function, object: &Object) -> bool {
    let symbol = function.symbol.as_bytes();
    let stub = [Linkage::Rename.stub_prefix().as_bytes(), symbol].concat();
    function.refusal.is_none()
        && object.undefined.contains(symbol)
        && !object.defined.contains(&stub)
}

/// Whether relocations in `section` change what the program loads: debug information, unwind tables and other
/// notes go on naming the function itself.
fn is_loaded(file: &Relocatable<'_>, section: &RawSection<'_>) -> Result<bool, RedirectErrorKind> {
    let target = file.section(section.info as usize)?;
    let name = target
        .name
        .ok_or_else(|| malformed("Invalid ELF section name offset"))?;
    let unwinding = name.starts_with(b".eh_frame") || name.starts_with(b".gcc_except_table");
    Ok(target.loaded && !unwinding)
}

/// The sections that grow.
struct Tables {
    symtab: Table,
    strtab: Table,
    /// Extended section indices of symbols, if the object has them.
    shndx: Option<Table>,
}

impl Tables {
    fn find(file: &Relocatable<'_>) -> Result<Self, RedirectErrorKind> {
        let is_table = |section: &&RawSection<'_>| section.section_type == SectionType::Symbols;
        if file.sections.iter().filter(is_table).count() != 1 {
            return Err(unsupported("more than one symbol table"));
        }
        let table = |number: usize| {
            let section = file.sections.get(number)?;
            Some(Table {
                header: section.header_offset?,
                range: section.range.clone()?,
            })
        };
        let table =
            |number| table(number).ok_or_else(|| malformed("a symbol table without contents"));
        let [symbols, strings, shndx] = file.tables;
        Ok(Self {
            symtab: table(symbols)?,
            strtab: table(strings)?,
            shndx: (shndx != 0).then(|| table(shndx)).transpose()?,
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
        let at = u32::try_from(plan.tables.strtab.range.len() + strings.len())
            .map_err(|_| too_large())?;
        entries.extend(layout.undefined_symbol(at));
        strings.extend_from_slice(name.as_bytes());
        strings.push(0);
    }
    append(&mut new, layout, &plan.tables.symtab, &entries).ok_or_else(too_large)?;
    append(&mut new, layout, &plan.tables.strtab, &strings).ok_or_else(too_large)?;
    if let Some(shndx) = &plan.tables.shndx {
        append(&mut new, layout, shndx, &vec![0; 4 * plan.added.len()]).ok_or_else(too_large)?;
    }
    Ok(new)
}

/// Copies a table to the end of the file, adds `more` to it and points its section header there.
fn append(bytes: &mut Vec<u8>, layout: Layout, table: &Table, more: &[u8]) -> Option<()> {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    let start = bytes.len();
    bytes.get(table.range.clone())?;
    bytes.extend_from_within(table.range.clone());
    bytes.extend_from_slice(more);
    let field = table.header.checked_add(layout.section_offset_field())?;
    let size = (bytes.len() - start) as u64;
    layout.put(bytes, field, start as u64)?;
    layout.put(bytes, field + layout.word(), size)
}
