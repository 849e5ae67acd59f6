//! One relocatable object: what to change, and the changed copy.

use super::{RedirectErrorKind, Redirected, verify};
use crate::api::{Api, Function};
use crate::object::{Elf, STUB_PREFIX, Symbols, is_undefined};
use crate::scan::{Object, ObjectError, ScanErrorKind};
use crate::stubs::Linkage;
use goblin::container::Ctx;
use goblin::elf::section_header::{SHT_NOBITS, SHT_SYMTAB};
use goblin::elf::sym::{STB_GLOBAL, STB_LOCAL, STT_NOTYPE, Sym};
use goblin::elf::{Reloc, SectionHeader};
use scroll::Pwrite;
use scroll::ctx::SizeWith;
use std::collections::{BTreeMap, BTreeSet};

/// `SHT_CREL`, which goblin does not know: compressed relocations.
const SHT_CREL: u32 = 0x4000_0014;
/// Alignment of what is appended, in bytes.
const ALIGNMENT: usize = 8;

/// Largest number of a symbol in the relocations of 32-bit objects.
const MAX_SYMBOL_32: usize = 0xff_ffff;

/// A relocation to be changed in place.
struct Edit {
    offset: usize,
    relocation: Reloc,
    with_addends: bool,
}

/// Everything that changes in one object.
struct Plan<'d> {
    ctx: Ctx,
    edits: Vec<Edit>,
    /// New symbols in order, after the existing ones.
    added: Vec<String>,
    tables: Tables<'d>,
}

/// A section that moves to the end of the file and grows.
struct Table<'d> {
    /// File offset of its section header.
    place: usize,
    header: SectionHeader,
    contents: &'d [u8],
}

pub(super) fn redirect(
    bytes: &[u8],
    object: &Object<'_>,
    api: &Api,
) -> Result<Redirected, RedirectErrorKind> {
    let Some((plan, renamed)) = plan(bytes, object, api)? else {
        return Ok(Redirected {
            bytes: bytes.to_vec(),
            renamed: Vec::new(),
        });
    };
    let new = apply(bytes, &plan)?;
    verify::verify(bytes, &new, &renamed)?;
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

fn plan<'d>(
    bytes: &'d [u8],
    object: &Object<'_>,
    api: &Api,
) -> Result<Option<(Plan<'d>, Vec<String>)>, RedirectErrorKind> {
    let elf = Elf::parse(bytes)?;
    let symbols = elf.symbols(SHT_SYMTAB)?;
    let mut renaming = Renaming::of(&symbols, object, api)?;
    if renaming.replaced.is_empty() {
        return Ok(None);
    }
    let tables = Tables::find(&elf, &symbols)?;
    let [symtab, ..] = symbols.sections;
    let mut edits = Vec::new();
    for (number, section) in elf.sections() {
        if section.sh_type == SHT_CREL {
            return Err(unsupported("compressed relocations (SHT_CREL)"));
        }
        if section.sh_link as usize != symtab {
            continue;
        }
        let Some(list) = elf.relocations(number, &section)? else {
            continue;
        };
        if !is_loaded(&elf, &section)? {
            continue;
        }
        // The contents were read, so their place is in the file.
        let places = (section.sh_offset as usize..).step_by(list.entry);
        for (offset, relocation) in places.zip(list.entries.iter()) {
            edits.extend(renaming.edit(relocation).map(|relocation| Edit {
                offset,
                relocation,
                with_addends: list.with_addends,
            }));
        }
    }
    if !elf.ctx.is_big() && renaming.symbols + renaming.added.len() > MAX_SYMBOL_32 {
        return Err(unsupported(
            "too many symbols for the relocations of this format",
        ));
    }
    let renamed: Vec<String> = renaming.renamed.into_iter().map(str::to_owned).collect();
    let plan = Plan {
        ctx: elf.ctx,
        edits,
        added: renaming.added,
        tables,
    };
    Ok((!renamed.is_empty()).then_some((plan, renamed)))
}

/// Which symbols are replaced by which.
struct Renaming<'a> {
    /// Functions to replace, by number of their symbol.
    replaced: BTreeMap<usize, &'a str>,
    /// Number of a stub's symbol, by function.
    stubs: BTreeMap<&'a str, usize>,
    /// How many symbols there were.
    symbols: usize,
    /// Names of the symbols to add after them.
    added: Vec<String>,
    /// Functions that a relocation was found for.
    renamed: BTreeSet<&'a str>,
}

impl<'a> Renaming<'a> {
    fn of(
        table: &Symbols<'_>,
        object: &Object<'_>,
        api: &'a Api,
    ) -> Result<Self, RedirectErrorKind> {
        let (mut replaced, mut stubs) = (BTreeMap::new(), BTreeMap::new());
        for (number, symbol) in table.iter() {
            if symbol.st_bind() == STB_LOCAL || !is_undefined(&symbol) {
                continue;
            }
            let name = table.name(&symbol)?;
            let stub_of = name.strip_prefix(STUB_PREFIX);
            if let Some(function) = stub_of.and_then(|name| api.get(name)) {
                stubs.entry(function.symbol.as_str()).or_insert(number);
            }
            if let Some(function) = api.get(name)
                && is_redirected(function, object)
            {
                replaced.insert(number, function.symbol.as_str());
            }
        }
        Ok(Self {
            replaced,
            stubs,
            symbols: table.len(),
            added: Vec::new(),
            renamed: BTreeSet::new(),
        })
    }

    /// What becomes of a relocation, if it names a replaced symbol. All bits of its type stay: on SPARCV9 its upper 24 bits hold
    /// the second addend of `R_SPARC_OLO10`.
    fn edit(&mut self, relocation: Reloc) -> Option<Reloc> {
        let &name = self.replaced.get(&relocation.r_sym)?;
        self.renamed.insert(name);
        let r_sym = *self.stubs.entry(name).or_insert_with(|| {
            self.added
                .push(format!("{}{name}", Linkage::Rename.stub_prefix()));
            self.symbols + self.added.len() - 1
        });
        Some(Reloc {
            r_sym,
            ..relocation
        })
    }
}

/// Whether references to `function` go to its stub: strong ones do, unless the object defines the stub itself.
fn is_redirected(function: &Function, object: &Object<'_>) -> bool {
    let symbol = function.symbol.as_bytes();
    let is_stub = |name: &&[u8]| name.strip_prefix(STUB_PREFIX) == Some(symbol);
    function.refusal.is_none()
        && object.undefined.binary_search(&symbol).is_ok()
        && !object.defined.iter().any(is_stub)
}

/// Whether relocations in `section` change what the program loads: debug information, unwind tables and other
/// notes go on naming the function itself.
fn is_loaded(elf: &Elf<'_>, section: &SectionHeader) -> Result<bool, RedirectErrorKind> {
    let target = elf.section(section.sh_info as usize)?;
    let unwinding = [&b".eh_frame"[..], b".gcc_except_table"];
    let unwinding = unwinding.iter().any(|name| elf.is_named(&target, name));
    Ok(target.is_alloc() && !unwinding)
}

/// The sections that grow.
struct Tables<'d> {
    symtab: Table<'d>,
    strtab: Table<'d>,
    /// Extended section indices of symbols, if the object has them.
    shndx: Option<Table<'d>>,
}

impl<'d> Tables<'d> {
    fn find(elf: &Elf<'d>, symbols: &Symbols<'d>) -> Result<Self, RedirectErrorKind> {
        let is_table = |(_, section): &(usize, SectionHeader)| section.sh_type == SHT_SYMTAB;
        if elf.sections().filter(is_table).count() != 1 {
            return Err(unsupported("more than one symbol table"));
        }
        let table = |number: usize| {
            let header = elf.section(number)?;
            if header.sh_type == SHT_NOBITS {
                return Err(malformed("a symbol table without contents"));
            }
            let contents = elf.contents(&header)?;
            Ok(Table {
                place: elf.section_place(number),
                header,
                contents,
            })
        };
        let [symtab, strtab, shndx] = symbols.sections;
        Ok(Self {
            symtab: table(symtab)?,
            strtab: table(strtab)?,
            shndx: (shndx != 0).then(|| table(shndx)).transpose()?,
        })
    }
}

/// The patched copy of `bytes`.
fn apply(bytes: &[u8], plan: &Plan<'_>) -> Result<Vec<u8>, RedirectErrorKind> {
    let ctx = plan.ctx;
    let wrong = |error: goblin::error::Error| malformed(error.to_string());
    let mut new = bytes.to_vec();
    for edit in &plan.edits {
        new.pwrite_with(edit.relocation, edit.offset, (edit.with_addends, ctx))
            .map_err(wrong)?;
    }
    if plan.added.is_empty() {
        return Ok(new);
    }
    let mut strings = Vec::new();
    let size = Sym::size_with(&ctx);
    let mut entries = vec![0; size * plan.added.len()];
    for (number, name) in plan.added.iter().enumerate() {
        let symbol = Sym {
            st_name: plan.tables.strtab.contents.len() + strings.len(),
            st_info: STB_GLOBAL << 4 | STT_NOTYPE,
            ..Sym::default()
        };
        if u32::try_from(symbol.st_name).is_err() {
            return Err(too_large());
        }
        entries
            .pwrite_with(symbol, number * size, ctx)
            .map_err(wrong)?;
        strings.extend_from_slice(name.as_bytes());
        strings.push(0);
    }
    append(&mut new, ctx, &plan.tables.symtab, &entries)?;
    append(&mut new, ctx, &plan.tables.strtab, &strings)?;
    if let Some(shndx) = &plan.tables.shndx {
        append(&mut new, ctx, shndx, &vec![0; 4 * plan.added.len()])?;
    }
    Ok(new)
}

/// Copies a table to the end of the file, adds `more` to it and points its section header there.
fn append(
    bytes: &mut Vec<u8>,
    ctx: Ctx,
    table: &Table<'_>,
    more: &[u8],
) -> Result<(), RedirectErrorKind> {
    bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
    let start = bytes.len();
    bytes.extend_from_slice(table.contents);
    bytes.extend_from_slice(more);
    if !ctx.is_big() && u32::try_from(bytes.len()).is_err() {
        return Err(too_large());
    }
    let header = SectionHeader {
        sh_offset: start as u64,
        sh_size: (bytes.len() - start) as u64,
        ..table.header.clone()
    };
    bytes
        .pwrite_with(header, table.place, ctx)
        .map_err(|error| malformed(error.to_string()))?;
    Ok(())
}

fn too_large() -> RedirectErrorKind {
    unsupported("the object would become too large for its format")
}
