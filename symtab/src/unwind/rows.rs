//! The table of a file's functions, and what is said of the registers at one address.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, EndianSlice, Register, RegisterRule,
    RunTimeEndian, UnwindContext, UnwindExpression, UnwindSection,
};

/// Rows that are kept: one for each address that was asked for.
const MOST_KEPT: usize = 1 << 16;

type Reader<'d> = EndianSlice<'d, RunTimeEndian>;

/// How the frame's address is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Cfa {
    Register(u16, i64),
    Expression(Vec<u8>),
}

/// `DW_OP_breg6`: rbp and a distance.
const RELATIVE_TO_RBP: u8 = 0x76;

impl Cfa {
    /// Whether it is computed from rbp.
    pub(super) fn is_by_frame_pointer(&self) -> bool {
        match self {
            Cfa::Register(register, _) => *register == 6,
            Cfa::Expression(code) => code.first() == Some(&RELATIVE_TO_RBP),
        }
    }
}

/// Where a register of the caller is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rule {
    Undefined,
    Same,
    /// In memory, at this distance from the frame's address.
    At(i64),
    /// The frame's address and this.
    Is(i64),
    Register(u16),
    AtExpression(Vec<u8>),
    IsExpression(Vec<u8>),
}

/// What is said of the registers at one address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) cfa: Cfa,
    pub(super) rules: Vec<(u16, Rule)>,
    /// Whether the function returns from a signal.
    pub(super) signal: bool,
}

/// A section with call frame information.
#[derive(Debug, Default)]
struct Table {
    bytes: Vec<u8>,
    base: u64,
    is_eh: bool,
    /// First address, address behind, offset of the description; by first address.
    functions: Vec<(u64, u64, usize)>,
}

/// The call frame information of one file.
#[derive(Debug, Default)]
pub(super) struct Rows {
    tables: Vec<Table>,
}

impl Rows {
    /// Takes the address and bytes of `.eh_frame`, and `.debug_frame`.
    pub(super) fn new(eh: Option<(u64, &[u8])>, debug: &[u8]) -> Self {
        let eh = eh.map(|(base, bytes)| Table::new(bytes, base, true));
        let debug = (!debug.is_empty()).then(|| Table::new(debug, 0, false));
        Rows {
            tables: eh.into_iter().chain(debug).collect(),
        }
    }

    pub(super) fn functions(&self) -> usize {
        self.tables.iter().map(|table| table.functions.len()).sum()
    }

    /// What is said of the registers at a link address.
    pub(super) fn at(&self, address: u64) -> Option<Row> {
        self.tables.iter().find_map(|table| table.at(address))
    }
}

impl Table {
    fn new(bytes: &[u8], base: u64, is_eh: bool) -> Self {
        let mut table = Table {
            bytes: bytes.to_vec(),
            base,
            is_eh,
            functions: Vec::new(),
        };
        let mut functions = if is_eh {
            list(&table.eh(), &table.bases())
        } else {
            list(&table.debug(), &table.bases())
        };
        functions.sort_unstable();
        table.functions = functions;
        table
    }

    fn bases(&self) -> BaseAddresses {
        BaseAddresses::default().set_eh_frame(self.base)
    }

    fn eh(&self) -> EhFrame<Reader<'_>> {
        let mut section = EhFrame::new(&self.bytes, RunTimeEndian::Little);
        section.set_address_size(8);
        section
    }

    fn debug(&self) -> DebugFrame<Reader<'_>> {
        let mut section = DebugFrame::new(&self.bytes, RunTimeEndian::Little);
        section.set_address_size(8);
        section
    }

    fn at(&self, address: u64) -> Option<Row> {
        let after = self
            .functions
            .partition_point(|&(begin, ..)| begin <= address);
        let &(_, end, offset) = self.functions.get(after.checked_sub(1)?)?;
        if address >= end {
            return None;
        }
        if self.is_eh {
            row(&self.eh(), &self.bases(), offset, address)
        } else {
            row(&self.debug(), &self.bases(), offset, address)
        }
    }
}

/// All functions of a section, up to where it is damaged.
fn list<'d, S>(section: &S, bases: &BaseAddresses) -> Vec<(u64, u64, usize)>
where
    S: UnwindSection<Reader<'d>>,
    S::Offset: gimli::UnwindOffset<usize>,
{
    let mut found = Vec::new();
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let offset = partial.offset();
        let Ok(function) = partial.parse(S::cie_from_offset) else {
            continue;
        };
        let begin = function.initial_address();
        // What the linker dropped is described at address 0.
        if begin != 0 && function.len() != 0 {
            found.push((begin, function.end_address(), offset));
        }
    }
    found
}

fn row<'d, S>(section: &S, bases: &BaseAddresses, offset: usize, address: u64) -> Option<Row>
where
    S: UnwindSection<Reader<'d>>,
    S::Offset: gimli::UnwindOffset<usize>,
{
    let function = section
        .fde_from_offset(bases, S::Offset::from(offset), S::cie_from_offset)
        .ok()?;
    if function.cie().return_address_register() != Register(super::RETURN as u16) {
        return None;
    }
    let mut context = UnwindContext::new();
    let row = function
        .unwind_info_for_address(section, bases, &mut context, address)
        .ok()?;
    let code = |expression: &UnwindExpression<usize>| {
        let expression = expression.get(section).ok()?;
        Some(expression.0.slice().to_vec())
    };
    let cfa = match row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => Cfa::Register(register.0, *offset),
        CfaRule::Expression(expression) => Cfa::Expression(code(expression)?),
    };
    let mut rules = Vec::new();
    for (register, rule) in row.registers() {
        let rule = match rule {
            RegisterRule::SameValue => Rule::Same,
            RegisterRule::Offset(offset) => Rule::At(*offset),
            RegisterRule::ValOffset(offset) => Rule::Is(*offset),
            RegisterRule::Register(other) => Rule::Register(other.0),
            RegisterRule::Expression(expression) => Rule::AtExpression(code(expression)?),
            RegisterRule::ValExpression(expression) => Rule::IsExpression(code(expression)?),
            _ => Rule::Undefined,
        };
        rules.push((register.0, rule));
    }
    Some(Row {
        cfa,
        rules,
        signal: function.is_signal_trampoline(),
    })
}

/// Rows by address.
#[derive(Debug, Default)]
pub(super) struct Latest(HashMap<u64, Option<Arc<Row>>>);

impl Latest {
    pub(super) fn get(
        &mut self,
        address: u64,
        find: impl FnOnce() -> Option<Row>,
    ) -> Option<Arc<Row>> {
        if let Some(known) = self.0.get(&address) {
            return known.clone();
        }
        if self.0.len() >= MOST_KEPT {
            self.0.clear();
        }
        let row = find().map(Arc::new);
        self.0.insert(address, row.clone());
        row
    }
}
