//! Ids of functions, lines, regions, calls and counters, in order of first use.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::model::Code;
use crate::names::{
    CodeName, CodeRole, Names, NoNames, format_label, format_site_label, sampled_function,
};

use super::types::COUNTERS;

/// Texts with ids from `first` on.
#[derive(Debug)]
pub(super) struct Table {
    first: u32,
    ids: HashMap<String, u32>,
    pub(super) texts: Vec<String>,
}

impl Table {
    pub(super) fn new(first: u32) -> Self {
        Self {
            first,
            ids: HashMap::new(),
            texts: Vec::new(),
        }
    }

    pub(super) fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.first + u32::try_from(self.texts.len()).unwrap_or(u32::MAX - self.first);
        self.ids.insert(text.to_owned(), id);
        self.texts.push(text.to_owned());
        id
    }

    pub(super) fn first(&self) -> u32 {
        self.first
    }
}

/// Name of the function that a `taskwait` with a `depend` clause is shown as.
const TASKWAIT_DEPEND: &str = "taskwait depend";

/// Id in the function table and in the line table.
pub(super) type CodeId = (u32, u32);

/// Id of code that is not known at all; 0 is the end.
const UNRESOLVED: u32 = 1;

/// All name tables of one output.
pub(super) struct NameTables<'a> {
    names: &'a [Box<dyn Names + 'a>],
    code: HashMap<(usize, Code, CodeRole), CodeId>,
    /// (row, address) → text of a `string` event.
    texts: HashMap<(u32, u64), String>,
    /// Code that was sampled.
    sampled: HashMap<(usize, Code), CodeId>,
    /// Depths at which any was.
    pub(super) sampled_depths: u32,
    pub(super) functions: Table,
    pub(super) lines: Table,
    pub(super) regions: Table,
    pub(super) calls: Table,
    pub(super) counters: Table,
    pub(super) user_types: BTreeSet<u32>,
    /// Types seen lately, so that the set is asked rarely.
    recent_types: [Option<u32>; 64],
}

impl<'a> NameTables<'a> {
    pub(super) fn new(names: &'a [Box<dyn Names + 'a>]) -> Self {
        Self {
            names,
            code: HashMap::new(),
            texts: HashMap::new(),
            sampled: HashMap::new(),
            sampled_depths: 0,
            functions: Table::new(2),
            lines: Table::new(2),
            regions: Table::new(1),
            calls: Table::new(1),
            counters: Table::new(0),
            user_types: BTreeSet::new(),
            recent_types: [None; 64],
        }
    }

    pub(super) fn code(&mut self, process: usize, code: Code, role: CodeRole) -> CodeId {
        let Code { address, site } = code;
        if address == 0 {
            return (UNRESOLVED, UNRESOLVED);
        }
        if let Some(id) = self.code.get(&(process, code, role)) {
            return *id;
        }
        let name = self
            .of(process)
            .resolve(if site { address - 1 } else { address });
        let function = match &name {
            Some(name) if site => format_site_label(name, address, role),
            Some(name) => format_label(name, address, role),
            None => format!("{address:#x}"),
        };
        let line = name.as_ref().and_then(line_text);
        let line = line.map_or(UNRESOLVED, |line| self.lines.id(&line));
        let id = (self.functions.id(&function), line);
        self.code.insert((process, code, role), id);
        id
    }

    /// The names of a process.
    pub(super) fn of(&self, process: usize) -> &'a dyn Names {
        self.names
            .get(process)
            .map_or(&NoNames as &dyn Names, |names| names.as_ref())
    }

    /// Code in which a sample found a thread, at this depth of its calls: the function's own name, also of outlined ones.
    pub(super) fn sampled(&mut self, process: usize, code: Code, depth: u32) -> CodeId {
        self.sampled_depths = self.sampled_depths.max(depth + 1);
        if let Some(id) = self.sampled.get(&(process, code)) {
            return *id;
        }
        let address = code.address.wrapping_sub(u64::from(code.site));
        let function = sampled_function(self.of(process), address);
        let name = self.of(process).resolve(address);
        let line = name.as_ref().and_then(line_text);
        let id = (
            function.map_or(UNRESOLVED, |text| self.functions.id(&text)),
            line.map_or(UNRESOLVED, |text| self.lines.id(&text)),
        );
        self.sampled.insert((process, code), id);
        id
    }

    /// Id in the function table of a `taskwait` with a `depend` clause.
    pub(super) fn taskwait_depend(&mut self) -> u32 {
        self.functions.id(TASKWAIT_DEPEND)
    }

    pub(super) fn string(&mut self, row: u32, address: u64, text: &[u8]) {
        self.texts
            .insert((row, address), String::from_utf8_lossy(text).into_owned());
    }

    fn text(&self, row: u32, address: u64) -> std::borrow::Cow<'_, str> {
        match self.texts.get(&(row, address)) {
            Some(text) => text.as_str().into(),
            None => format!("{address:#x}").into(),
        }
    }

    pub(super) fn region(&mut self, row: u32, address: u64) -> u32 {
        let text = self.text(row, address).into_owned();
        self.regions.id(&text)
    }

    pub(super) fn call(&mut self, row: u32, address: u64) -> u32 {
        let text = self.text(row, address).into_owned();
        self.calls.id(&text)
    }

    /// Number of a counter; `None` when there are too many.
    pub(super) fn counter(&mut self, row: u32, address: u64) -> Option<u32> {
        let text = self.text(row, address).into_owned();
        Some(self.counters.id(&text)).filter(|id| *id < COUNTERS)
    }

    #[inline]
    pub(super) fn user_type(&mut self, kind: u32) {
        let recent = &mut self.recent_types[kind as usize % 64];
        if *recent != Some(kind) {
            *recent = Some(kind);
            self.user_types.insert(kind);
        }
    }
}

/// The text of a name's place in the line table; nothing when the file is not known.
fn line_text(name: &CodeName) -> Option<String> {
    let file = name.file.as_deref()?;
    let (line, module) = (
        name.line.unwrap_or(0),
        name.module.as_deref().unwrap_or("?"),
    );
    let place = crate::names::place(name)?;
    Some(format!(
        "{place} [{file}:{line}, {}]",
        module.rsplit('/').next().unwrap_or(module)
    ))
}
