//! OpenMP directives as the programmer knows them: the function they stand in, file and line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::construct::Construct;
use crate::image::Image;
use crate::lookup::FunctionName;
use crate::outlined::{
    Outlined, OutlinedKind, is_debug_body, parse_outlined, source_function, take_apart,
    without_clones,
};
use crate::references::references;
use crate::symbols::Symbol;

/// How many outlined functions are followed outwards.
const MAX_NESTING: usize = 32;

/// How many outlined functions of one image are told apart; the numbers of further ones are told always.
const MAX_OUTLINED: usize = 1 << 16;

/// The directive that an outlined function was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directive {
    /// Function of the source that holds the directive, inlined or not; `None` where neither names nor code tell.
    pub function: Option<FunctionName>,
    /// How many outlined functions stand around this one, inside of `function`: 0 for a directive that is not nested.
    /// GCC does not tell, so it is 0.
    pub nesting: usize,
    /// The outlined function, without what the optimizer appended.
    pub raw: String,
    /// The compiler's number of the construct.
    pub index: u32,
    /// What the outlined function's name tells.
    pub kind: OutlinedKind,
    /// First address of the outlined function.
    pub entry: u64,
    /// Source file of the directive; without debug information, the name that the symbol table has for it.
    pub file: Option<String>,
    /// Line of the directive in `file`, from 1.
    pub line: Option<u32>,
    /// Column in the line, from 1, where the compiler tells.
    pub column: Option<u32>,
    /// File and line as short as can be, and different from those of any other directive in a function of this name:
    /// `lu.c:12`; `lu.c:12:9` or `lu.c:12 #1` for one of several in a line; `sub/lu.c:12` where two files are called
    /// `lu.c`; `lu.c:12 #1 @0x401136` as the last resort. Without lines `lu.c #1` or `#1` (the compiler's number), or
    /// `lu.c #1 @0x401136` for one of several of this number and kind.
    pub place: String,
    /// Entry of the outermost outlined function that is known.
    outermost: u64,
}

impl Directive {
    /// `main [omp task lu.c:12]`. Without `construct` none is guessed: `main [omp lu.c:12]`.
    ///
    /// ```
    /// # fn show(image: &instr_symtab::Image, function: u64) {
    /// use instr_symtab::Construct;
    /// // `function` was handed to GOMP_task
    /// if let Some(directive) = image.directive(function) {
    ///     println!("{}", directive.label(Construct::of_entry_point("GOMP_task")));
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn label(&self, construct: Option<Construct>) -> String {
        let function = self
            .function
            .as_ref()
            .map_or(&*self.raw, |name| &name.demangled);
        let words = construct.map_or("", |construct| construct.words(self.is_fortran()));
        let space = if words.is_empty() { "" } else { " " };
        format!("{function} [omp{space}{words} {}]", self.place)
    }

    /// Whether the directive is Fortran's, by its file's name or its function's.
    #[must_use]
    pub fn is_fortran(&self) -> bool {
        let extension = self.file.as_deref().and_then(|file| file.rsplit_once('.'));
        let extension = extension.map(|(_, extension)| extension.to_ascii_lowercase());
        let by_name = |name: &FunctionName| name.raw.contains("_MOD_") || &*name.raw == "MAIN__";
        matches!(
            extension.as_deref(),
            Some("f" | "for" | "ftn" | "f77" | "f90" | "f95" | "f03" | "f08" | "fpp")
        ) || self.function.as_ref().is_some_and(by_name)
    }
}

/// The outlined functions of an image.
#[derive(Default)]
pub(crate) struct OutlinedFunctions {
    /// By the name of the function of the source that they stand in; those whose names do not tell it, as those of
    /// clang's tasks, under the empty name.
    groups: BTreeMap<String, Group>,
    /// The instructions that refer to those whose name does not tell the function around them.
    references: OnceLock<BTreeMap<u64, Vec<u64>>>,
}

#[derive(Default)]
struct Group {
    /// By first address.
    functions: Vec<Symbol>,
    /// Those that are bodies of directives, once they were compared with each other.
    directives: OnceLock<Vec<Directive>>,
}

impl OutlinedFunctions {
    fn new(image: &Image) -> Self {
        let is_outlined =
            |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| take_apart(name).is_some());
        let mut groups: BTreeMap<String, Group> = BTreeMap::new();
        for symbol in image
            .symbols_where(is_outlined)
            .into_iter()
            .take(MAX_OUTLINED)
        {
            let parent = source_function(&symbol.raw).to_owned();
            groups.entry(parent).or_default().functions.push(symbol);
        }
        OutlinedFunctions {
            groups,
            references: OnceLock::new(),
        }
    }

    /// The functions whose names start with the same function of the source as this name.
    fn group(&self, raw: &str) -> Option<&Group> {
        self.groups.get(source_function(raw))
    }

    fn references(&self, image: &Image, target: u64) -> &[u64] {
        let found = self.references.get_or_init(|| {
            let unknown = self.groups.iter().flat_map(|(parent, group)| {
                let functions = group.functions.iter();
                functions.filter(|symbol| parent.is_empty() || is_debug_body(&symbol.raw))
            });
            let mut targets: Vec<u64> = unknown.map(|symbol| symbol.address).collect();
            targets.sort_unstable();
            targets.dedup();
            references(&image.store.borrow_owner().main, &targets)
        });
        found.get(&target).map_or(&[], Vec::as_slice)
    }
}

/// What stands around a directive.
#[derive(PartialEq, Eq)]
enum Outer {
    Source(FunctionName),
    Outlined(Symbol),
}

impl Image {
    /// The directive of the outlined function around a link address; `None` for any other function.
    ///
    /// The first call for an image lists its outlined functions; where clang before 17 made them, it also searches
    /// the code for what refers to them, at about 1 GB a second.
    #[must_use]
    pub fn directive(&self, address: u64) -> Option<Directive> {
        let mut directive = self.directive_itself(address)?;
        directive.place = self.place_of(&directive);
        Some(directive)
    }

    /// The directive, without its place as a text.
    fn directive_itself(&self, address: u64) -> Option<Directive> {
        let symbol = self.symbol(address)?;
        let outlined = parse_outlined(&symbol.raw)?;
        let symbol = self.original(symbol);
        let answer = self.lookup(symbol.address);
        let own = |file: &std::sync::Arc<str>| file.to_string();
        let mut directive = Directive {
            function: None,
            nesting: 0,
            raw: without_clones(&symbol.raw).to_owned(),
            index: outlined.index,
            kind: outlined.kind,
            entry: symbol.address,
            file: answer.file.as_ref().map(own).or(symbol.source),
            line: answer.line,
            column: answer.column.filter(|&column| column > 0),
            place: String::new(),
            outermost: symbol.address,
        };
        if is_debug_body(&directive.raw)
            && let Some(Outer::Outlined(symbol)) = self.outer(directive.entry)
        {
            // `.omp_outlined.` hands on to `.omp_outlined._debug__`; they are of one directive.
            self.use_place_of(&mut directive, &symbol);
        }
        match outlined.parent_raw.is_some() {
            true => name_parent(&mut directive, outlined),
            false => self.find_parent(&mut directive),
        }
        Some(directive)
    }

    /// The function that a clone or a part of it (`main._omp_fn.0.cold`) was made of, if it is still there.
    fn original(&self, symbol: Symbol) -> Symbol {
        let raw = without_clones(&symbol.raw);
        if raw.len() == symbol.raw.len() {
            return symbol;
        }
        let group = self.outlined().group(&symbol.raw);
        let mut named = group
            .map_or(&[][..], |group| &group.functions)
            .iter()
            .filter(|other| other.raw == raw && other.source == symbol.source);
        named.next().cloned().unwrap_or(symbol)
    }

    fn outlined(&self) -> &OutlinedFunctions {
        self.outlined.get_or_init(|| OutlinedFunctions::new(self))
    }

    /// Follows what refers to the outlined function outwards, to a function of the source.
    fn find_parent(&self, directive: &mut Directive) {
        for _ in 0..MAX_NESTING {
            match self.outer(directive.outermost) {
                Some(Outer::Source(function)) => {
                    directive.function = Some(function);
                    return;
                }
                Some(Outer::Outlined(symbol)) => {
                    directive.outermost = symbol.address;
                    let outer = parse_outlined(&symbol.raw).filter(|o| o.parent_raw.is_some());
                    // A debugger's body is followed on to its outlined function, which counts; a name ends the search.
                    if outer.is_some() || !is_debug_body(&symbol.raw) {
                        directive.nesting += 1;
                    }
                    if let Some(outer) = outer {
                        name_parent(directive, outer);
                        return;
                    }
                }
                None => return,
            }
        }
    }

    fn use_place_of(&self, directive: &mut Directive, symbol: &Symbol) {
        let answer = self.lookup(symbol.address);
        directive.entry = symbol.address;
        directive.outermost = symbol.address;
        directive.raw.clone_from(&symbol.raw);
        directive.index = take_apart(&symbol.raw).map_or(0, |parts| parts.index);
        directive.line = answer.line.or(directive.line);
        directive.column = answer.column.filter(|&column| column > 0);
    }

    /// What refers to the outlined function at `entry`; nothing if that is not one function.
    fn outer(&self, entry: u64) -> Option<Outer> {
        let mut only = None;
        for &site in self.outlined().references(self, entry) {
            let Some(symbol) = self.symbol(site).filter(|symbol| symbol.address != entry) else {
                continue;
            };
            // The function of the source may have been inlined into others, once or several times.
            let answer = self.lookup(site);
            let frames = answer
                .frames
                .iter()
                .filter_map(|frame| frame.function.as_ref());
            let mut named = frames.filter(|name| take_apart(&name.raw).is_none());
            let outer = match named.next() {
                Some(function) => Outer::Source(function.clone()),
                None => Outer::Outlined(symbol),
            };
            match &only {
                Some(known) if *known != outer => return None,
                _ => only = Some(outer),
            }
        }
        only
    }

    /// See [`Directive::place`].
    fn place_of(&self, directive: &Directive) -> String {
        let number = format!("#{}", directive.index);
        let (Some(file), Some(line)) = (directive.file.as_deref(), directive.line) else {
            return self.place_without_line(directive, number);
        };
        let mut rivals = match directive.kind {
            OutlinedKind::Copy => Vec::new(), // stands beside the construct whose data it copies
            _ => self.rivals(directive),
        };
        let has = |wanted: &dyn Fn(&Directive) -> bool| rivals.iter().any(|rival| wanted(rival));
        let parts = (1..4).find(|&parts| {
            let own = last_parts(file, parts);
            !has(&|rival| {
                let other = rival.file.as_deref().unwrap_or_default();
                other != file && last_parts(other, parts) == own
            })
        });
        let mut place = format!("{}:{line}", last_parts(file, parts.unwrap_or(usize::MAX)));
        rivals.retain(|rival| rival.file == directive.file);
        if let Some(column) = directive.column
            && rivals
                .iter()
                .any(|rival| rival.column.is_some_and(|other| other != column))
        {
            let _ = write!(place, ":{column}");
            rivals.retain(|rival| rival.column == directive.column);
        }
        if !rivals.is_empty() {
            let _ = write!(place, " {number}");
            rivals.retain(|rival| rival.index == directive.index);
        }
        if !rivals.is_empty() {
            let _ = write!(place, " @{:#x}", directive.entry);
        }
        place
    }

    /// The compiler's number, and the entry where that is not enough: clang since 17 numbers the names it makes, so two
    /// regions of which one is nested in the other are both #0.
    fn place_without_line(&self, directive: &Directive, number: String) -> String {
        let mut place = match directive.file.as_deref() {
            Some(file) => format!("{} {number}", last_parts(file, 1)),
            None => number,
        };
        let same =
            |rival: &&Directive| rival.index == directive.index && rival.kind == directive.kind;
        if directive.kind != OutlinedKind::Copy && self.rivals(directive).iter().any(same) {
            let _ = write!(place, " @{:#x}", directive.entry);
        }
        place
    }

    /// Other directives in a function of the same name and a line of the same number in a file of the same name.
    fn rivals(&self, directive: &Directive) -> Vec<&Directive> {
        let outlined = self.outlined();
        let named = directive.function.as_ref().map_or("", |name| &name.raw);
        // Of one function, the names of some may tell it and the code that of others.
        let mut groups = vec![named, ""];
        groups.dedup();
        let own_base = base(directive);
        let is_rival = |other: &&Directive| {
            other.entry != directive.entry
                && other.line == directive.line
                && other.function == directive.function
                && base(other) == own_base
        };
        let groups = groups.iter().filter_map(|name| outlined.groups.get(*name));
        groups
            .flat_map(|group| self.bodies(group))
            .filter(is_rival)
            .collect()
    }

    /// The directives of a group.
    fn bodies<'g>(&self, group: &'g Group) -> &'g [Directive] {
        group.directives.get_or_init(|| {
            let bodies = group.functions.iter().filter(|symbol| {
                without_clones(&symbol.raw) == symbol.raw
                    && !is_debug_body(&symbol.raw)
                    && take_apart(&symbol.raw).is_some_and(|parts| parts.kind != OutlinedKind::Copy)
            });
            bodies
                .filter_map(|symbol| self.directive_itself(symbol.address))
                .collect()
        })
    }
}

/// The directive's file without its folder.
fn base(directive: &Directive) -> Option<&str> {
    directive.file.as_deref().map(|file| last_parts(file, 1))
}

/// The outermost function of the source, where each outlined function's name starts with that of the one around it.
fn name_parent(directive: &mut Directive, outlined: Outlined) {
    let mut outlined = outlined;
    for _ in 0..MAX_NESTING {
        let Some(raw) = outlined.parent_raw else {
            return;
        };
        match parse_outlined(&raw) {
            Some(outer) => {
                directive.nesting += 1;
                outlined = outer;
            }
            None => {
                let demangled = outlined.parent.unwrap_or_else(|| raw.clone()).into();
                directive.function = Some(FunctionName {
                    raw: raw.into(),
                    demangled,
                });
                return;
            }
        }
    }
}

/// The last parts of a path.
fn last_parts(path: &str, parts: usize) -> &str {
    let mut cuts = path.rmatch_indices('/').map(|(at, _)| at + 1);
    match cuts.nth(parts.saturating_sub(1)) {
        Some(at) => &path[at..],
        None => path,
    }
}
