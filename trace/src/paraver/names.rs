//! Ids of functions, lines, regions, calls and counters, in order of first use.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::model::Code;
use crate::names::{
    CodeName, CodeRole, Names, NoNames, format_label, format_site_label, sampled_function,
};

use crate::words::{Asynchronous, asynchronous, function_label, function_parts};

use super::types::{COUNTERS, TAKEN, TAKEN_TYPES, is_taken};

/// Texts with ids from `first` on. Paraver shows labels without what stands in brackets: also without that they differ.
#[derive(Debug)]
pub(super) struct Table {
    first: u32,
    ids: HashMap<String, u32>,
    /// Texts without their brackets, and how many have been made from each.
    short: HashMap<String, u32>,
    pub(super) texts: Vec<String>,
}

/// Where the part that Paraver does not show may begin.
fn bracket(text: &str) -> usize {
    text.find('[').unwrap_or(text.len())
}

impl Table {
    pub(super) fn new(first: u32) -> Self {
        Self {
            first,
            ids: HashMap::new(),
            short: HashMap::new(),
            texts: Vec::new(),
        }
    }

    /// The text, with a number before its bracket where another is the same up to there.
    fn unique(&mut self, text: &str) -> String {
        let (shown, hidden) = text.split_at(bracket(text));
        let shown = shown.trim_end();
        let mut count = self.short.get(shown).copied().unwrap_or(0);
        let mut short = shown.to_owned();
        while self.short.contains_key(&short) {
            count += 1;
            short = format!("{shown} #{count}");
        }
        self.short.insert(shown.to_owned(), count.max(1));
        if short == shown {
            return text.to_owned();
        }
        let made = format!("{short} {hidden}");
        self.short.insert(short, 1);
        made.trim_end().to_owned()
    }

    pub(super) fn id(&mut self, text: &str) -> u32 {
        if let Some(id) = self.ids.get(text) {
            return *id;
        }
        let id = self.first + u32::try_from(self.texts.len()).unwrap_or(u32::MAX - self.first);
        let shown = self.unique(text);
        self.ids.insert(text.to_owned(), id);
        self.texts.push(shown);
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

/// The label of a function, with what tells its constructs apart in round brackets: Paraver shows nothing that is in square ones.
fn round(label: &str) -> String {
    let inner = label.strip_suffix(']').and_then(|rest| {
        let at = rest.rfind('[')?;
        (at == 0 || rest[..at].ends_with(' ')).then(|| (&rest[..at], &rest[at + 1..]))
    });
    match inner {
        Some((outer, inner)) => format!("{outer}({inner})"),
        None => label.to_owned(),
    }
}

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
    /// Functions of languages, and their first lines.
    pub(super) user_functions: Table,
    pub(super) user_lines: Table,
    /// Their ids by (row, address), until the address gets another text.
    known_functions: HashMap<(u32, u64), CodeId>,
    /// Which of these are tasks of event loops, or what such tasks await, with their ids in the tables of these.
    known_tasks: HashMap<(u32, u64), Option<(Asynchronous, u32)>>,
    pub(super) loop_tasks: Table,
    pub(super) awaited: Table,
    /// Numbers of such tasks by (process, address of the text).
    task_numbers: HashMap<(usize, u64), u64>,
    pub(super) counters: Table,
    /// Types of user events, each with the one that stands for it in the output.
    pub(super) user_types: BTreeMap<u32, u32>,
    /// Some of them that were seen lately, so that the map is asked rarely.
    recent_types: [Option<(u32, u32)>; 64],
    /// User types that are taken.
    taken: u32,
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
            user_functions: Table::new(2),
            user_lines: Table::new(2),
            known_functions: HashMap::new(),
            known_tasks: HashMap::new(),
            loop_tasks: Table::new(1),
            awaited: Table::new(1),
            task_numbers: HashMap::new(),
            counters: Table::new(0),
            user_types: BTreeMap::new(),
            recent_types: [None; 64],
            taken: 0,
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
        let id = (self.functions.id(&round(&function)), line);
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
            function.map_or(UNRESOLVED, |text| self.functions.id(&round(&text))),
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
        let text = String::from_utf8_lossy(text).into_owned();
        if self.texts.get(&(row, address)) != Some(&text) {
            self.known_functions.remove(&(row, address));
            self.known_tasks.remove(&(row, address));
            self.texts.insert((row, address), text);
        }
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

    /// A function of a language: its ids in the tables of these and of their lines.
    pub(super) fn function(&mut self, row: u32, address: u64) -> CodeId {
        if let Some(id) = self.known_functions.get(&(row, address)) {
            return *id;
        }
        let text = self.text(row, address).into_owned();
        let line = match function_parts(&text).1 {
            Some(place) => {
                let short = place.rsplit('/').next().unwrap_or(place);
                self.user_lines.id(&format!("{short} [{place}]"))
            }
            None => UNRESOLVED,
        };
        let id = (self.user_functions.id(&function_label(&text)), line);
        self.known_functions.insert((row, address), id);
        id
    }

    /// Whether a function of a language stands for a task of an event loop, or for what such a task awaits, and its id in the table of these.
    pub(super) fn asynchronous(&mut self, row: u32, address: u64) -> Option<(Asynchronous, u32)> {
        if let Some(known) = self.known_tasks.get(&(row, address)) {
            return *known;
        }
        let text = self.text(row, address).into_owned();
        let found = asynchronous(&text).map(|kind| {
            let table = match kind {
                Asynchronous::Task => &mut self.loop_tasks,
                Asynchronous::Await => &mut self.awaited,
            };
            (kind, table.id(&function_label(&text)))
        });
        self.known_tasks.insert((row, address), found);
        found
    }

    /// The number of a task of an event loop, from 1.
    pub(super) fn task_number(&mut self, process: usize, address: u64) -> u64 {
        let next = self.task_numbers.len() as u64 + 1;
        *self.task_numbers.entry((process, address)).or_insert(next)
    }

    /// Number of a counter; `None` when there are too many.
    pub(super) fn counter(&mut self, row: u32, address: u64) -> Option<u32> {
        let text = self.text(row, address).into_owned();
        Some(self.counters.id(&text)).filter(|id| *id < COUNTERS)
    }

    /// The type that stands for a user type in the output: itself, unless it is [taken](is_taken).
    #[inline]
    pub(super) fn user_type(&mut self, kind: u32) -> u32 {
        let recent = kind as usize % 64;
        if let Some((_, shown)) = self.recent_types[recent].filter(|(known, _)| *known == kind) {
            return shown;
        }
        let shown = *self.user_types.entry(kind).or_insert_with(|| {
            if !is_taken(kind) {
                return kind;
            }
            self.taken = (self.taken + 1).min(TAKEN_TYPES);
            TAKEN + self.taken - 1
        });
        self.recent_types[recent] = Some((kind, shown));
        shown
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_differ_also_without_their_brackets() {
        let mut table = Table::new(2);
        let texts = [
            "a.c:1 [/x/a.c:1, p]",
            "a.c:1 [/y/a.c:1, p]",
            "a.c:1 #2 [/z]",
            "a.c:1 [/z/a.c:1, p]",
            "a.c:1",
            "[heap]",
            "[stack]",
        ];
        let ids: Vec<u32> = texts.iter().map(|text| table.id(text)).collect();
        assert_eq!(ids, [2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(table.id(texts[1]), 3);
        assert_eq!(table.texts[0], texts[0]);
        let cut = |text: &String| text[..bracket(text)].trim_end().to_owned();
        let cuts: std::collections::HashSet<String> = table.texts.iter().map(cut).collect();
        assert_eq!(cuts.len(), texts.len(), "{:?}", table.texts);
    }

    #[test]
    fn what_tells_constructs_apart_is_in_round_brackets() {
        for (label, shown) in [
            ("main [omp task a.c:3]", "main (omp task a.c:3)"),
            ("[libgomp.so.1]", "(libgomp.so.1)"),
            ("a::operator[]", "a::operator[]"),
            ("f", "f"),
        ] {
            assert_eq!(round(label), shown);
        }
    }
}
