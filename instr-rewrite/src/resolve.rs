//! Which objects a linker takes from its command line, and what those refer to.

use crate::scan::{FileKind, Inputs, Object};
use std::collections::{BTreeSet, HashMap, HashSet};

/// One item of a link line, in order.
#[derive(Debug)]
pub enum LinkItem<'a> {
    /// An object, shared object, or archive whose members are taken when needed.
    File(&'a Inputs<'a>),
    /// An archive between `--whole-archive` and `--no-whole-archive`.
    WholeArchive(&'a Inputs<'a>),
    /// The items between `--start-group` and `--end-group`.
    Group(Vec<LinkItem<'a>>),
}

/// When a linker looks into an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArchiveOrder {
    /// Where it stands on the line, for what is undefined by then (bfd, gold).
    Sequential,
    /// Whenever something is undefined, wherever it stands (lld, mold).
    Any,
}

/// The objects that are really linked, and what they refer to.
#[derive(Debug, Default)]
pub struct Closure<'a> {
    /// Objects taken, in the order in which they were: file, object.
    pub objects: Vec<(&'a Inputs<'a>, &'a Object<'a>)>,
    /// Symbols that these objects leave undefined, at least one reference being strong, defined elsewhere or not.
    pub undefined: BTreeSet<&'a [u8]>,
    /// Symbols with weak references only.
    pub weak: BTreeSet<&'a [u8]>,
}

impl<'a> Closure<'a> {
    /// Those of `names` that the objects define. Most programs define many symbols, and few of them matter.
    #[must_use]
    pub fn defined_of(&self, names: &HashSet<Vec<u8>>) -> BTreeSet<&'a [u8]> {
        let all = self.objects.iter().flat_map(|(_, object)| &object.defined);
        all.copied().filter(|name| names.contains(*name)).collect()
    }
}

/// Follows the symbols of a link line as a linker does: objects are taken as they are, members of archives when they
/// define something still undefined. `roots` are undefined from the start (`-u SYMBOL`, the entry point). Shared
/// objects define and need symbols, but are not part of the result.
pub fn closure<'a>(items: &[LinkItem<'a>], roots: &[&'a [u8]], order: ArchiveOrder) -> Closure<'a> {
    let mut state = State::default();
    state.offer(items);
    for root in roots {
        state.need(root);
    }
    match order {
        ArchiveOrder::Sequential => {
            for item in items {
                state.sequential(item);
            }
        }
        ArchiveOrder::Any => {
            let mut archives = Vec::new();
            state.eager(items, &mut archives);
            state.exhaust(&archives);
        }
    }
    let State { mut closure, .. } = state;
    let strong = &closure.undefined;
    closure.weak.retain(|name| !strong.contains(name));
    closure
}

#[derive(Default)]
struct State<'a> {
    closure: Closure<'a>,
    /// Every symbol that a member of an archive defines, and what became of it. No other symbol decides what is taken. Only
    /// looked up, never iterated.
    offered: HashMap<&'a [u8], Offered>,
    /// Offered symbols needed, in the order in which they were first.
    needed: Vec<&'a [u8]>,
    /// Objects taken, by address. Only looked up.
    taken: BTreeSet<*const Object<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Offered {
    Unknown,
    Needed,
    Defined,
}

impl<'a> State<'a> {
    fn offer(&mut self, items: &[LinkItem<'a>]) {
        for item in items {
            match item {
                LinkItem::File(file) if is_archive(file) => {
                    let symbols = file.objects.iter().flat_map(|object| &object.defined);
                    let symbols = symbols.map(|symbol| (*symbol, Offered::Unknown));
                    self.offered.extend(symbols);
                }
                LinkItem::File(_) | LinkItem::WholeArchive(_) => {}
                LinkItem::Group(items) => self.offer(items),
            }
        }
    }

    fn need(&mut self, symbol: &'a [u8]) {
        if let Some(offered @ Offered::Unknown) = self.offered.get_mut(symbol) {
            *offered = Offered::Needed;
            self.needed.push(symbol);
        }
    }

    fn take(&mut self, file: &'a Inputs<'a>, object: &'a Object<'a>) {
        if !self.taken.insert(object) {
            return;
        }
        if !self.offered.is_empty() {
            for symbol in &object.defined {
                if let Some(offered) = self.offered.get_mut(symbol) {
                    *offered = Offered::Defined;
                }
            }
            for symbol in &object.undefined {
                self.need(symbol);
            }
        }
        if file.kind == FileKind::Shared {
            return;
        }
        self.closure.undefined.extend(&object.undefined);
        self.closure.weak.extend(&object.weak);
        self.closure.objects.push((file, object));
    }

    fn sequential(&mut self, item: &LinkItem<'a>) {
        match item {
            LinkItem::File(file) if is_archive(file) => self.exhaust(&[*file]),
            LinkItem::File(file) | LinkItem::WholeArchive(file) => {
                for object in &file.objects {
                    self.take(file, object);
                }
            }
            LinkItem::Group(items) => {
                // Objects come in on the first pass; later passes only look into the archives.
                for item in items {
                    self.sequential(item);
                }
                let mut archives = Vec::new();
                self.eager(items, &mut archives);
                self.exhaust(&archives);
            }
        }
    }

    /// Takes everything but the members of archives, which are collected.
    fn eager(&mut self, items: &[LinkItem<'a>], archives: &mut Vec<&'a Inputs<'a>>) {
        for item in items {
            match item {
                LinkItem::File(file) if is_archive(file) => archives.push(file),
                LinkItem::File(file) | LinkItem::WholeArchive(file) => {
                    for object in &file.objects {
                        self.take(file, object);
                    }
                }
                LinkItem::Group(items) => self.eager(items, archives),
            }
        }
    }

    /// Takes members of `archives` until none defines anything undefined.
    fn exhaust(&mut self, archives: &[&'a Inputs<'a>]) {
        let mut definers: HashMap<&[u8], (&'a Inputs<'a>, &'a Object<'a>)> = HashMap::new();
        for file in archives {
            for object in &file.objects {
                for symbol in &object.defined {
                    definers.entry(symbol).or_insert((file, object));
                }
            }
        }
        let mut next = 0;
        while let Some(&symbol) = self.needed.get(next) {
            next += 1;
            if self.offered[symbol] == Offered::Needed
                && let Some(&(file, object)) = definers.get(symbol)
            {
                self.take(file, object);
            }
        }
        let offered = &self.offered;
        self.needed
            .retain(|symbol| offered[symbol] == Offered::Needed);
    }
}

fn is_archive(file: &Inputs<'_>) -> bool {
    matches!(file.kind, FileKind::Archive { .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::Machine;

    fn set(names: &str) -> BTreeSet<&[u8]> {
        names.split_whitespace().map(str::as_bytes).collect()
    }

    /// `objects`: pairs of defined and undefined symbols.
    fn file<'s>(name: &'s str, kind: FileKind, objects: &[(&'s str, &'s str)]) -> Inputs<'s> {
        let objects = objects.iter().map(|&(defined, undefined)| Object {
            member: None,
            machine: Machine::X86_64,
            undefined: set(undefined).into_iter().collect(),
            weak: Vec::new(),
            defined: set(defined).into_iter().collect(),
        });
        Inputs {
            path: name.as_ref(),
            kind,
            objects: objects.collect(),
            refused: Vec::new(),
        }
    }

    const ARCHIVE: FileKind = FileKind::Archive { thin: false };

    #[test]
    fn only_needed_members_count() {
        let main = file("main.o", FileKind::Relocatable, &[("main", "a")]);
        let library = file(
            "l.a",
            ARCHIVE,
            &[("c", "GOMP_c"), ("a", "b GOMP_a"), ("b", "GOMP_b")],
        );
        let items = [LinkItem::File(&main), LinkItem::File(&library)];
        let result = closure(&items, &[], ArchiveOrder::Sequential);
        assert_eq!(result.undefined, set("a b GOMP_a GOMP_b"));
        let whole = [LinkItem::File(&main), LinkItem::WholeArchive(&library)];
        assert_eq!(
            closure(&whole, &[], ArchiveOrder::Sequential).undefined,
            set("a b GOMP_a GOMP_b GOMP_c")
        );
        assert_eq!(
            closure(&items, &[b"c"], ArchiveOrder::Sequential)
                .objects
                .len(),
            4
        );
    }

    #[test]
    fn order_matters_to_sequential_linkers_only() {
        let main = file("main.o", FileKind::Relocatable, &[("main", "a")]);
        let first = file("1.a", ARCHIVE, &[("a", "b"), ("c", "GOMP_c")]);
        let second = file("2.a", ARCHIVE, &[("b", "c")]);
        let line = || {
            vec![
                LinkItem::File(&main),
                LinkItem::File(&first),
                LinkItem::File(&second),
            ]
        };
        assert_eq!(
            closure(&line(), &[], ArchiveOrder::Sequential).undefined,
            set("a b c")
        );
        assert_eq!(
            closure(&line(), &[], ArchiveOrder::Any).undefined,
            set("a b c GOMP_c")
        );
        assert_eq!(
            closure(&[LinkItem::Group(line())], &[], ArchiveOrder::Sequential).undefined,
            set("a b c GOMP_c")
        );
        let reversed = [LinkItem::File(&first), LinkItem::File(&main)];
        assert_eq!(
            closure(&reversed, &[], ArchiveOrder::Sequential).undefined,
            set("a")
        );
    }

    #[test]
    fn a_shared_object_defines_and_needs_but_is_not_linked_in() {
        let main = file("main.o", FileKind::Relocatable, &[("main", "a")]);
        let shared = file("l.so", FileKind::Shared, &[("a", "b")]);
        let archive = file("l.a", ARCHIVE, &[("a", "GOMP_a"), ("b", "GOMP_b")]);
        let items = [
            LinkItem::File(&main),
            LinkItem::File(&shared),
            LinkItem::File(&archive),
        ];
        assert_eq!(
            closure(&items, &[], ArchiveOrder::Sequential).undefined,
            set("a GOMP_b")
        );
    }
}
