//! Undefined symbols ∩ descriptions: what is wrapped, and why the rest is not.

use crate::api::{Api, Function};
use crate::object::STUB_PREFIX;
use crate::stubs::Linkage;
use std::collections::BTreeSet;

/// What to do about the undefined symbols of some files.
#[derive(Debug, Clone, Default)]
pub struct Selection<'a> {
    /// Functions to wrap, sorted by symbol.
    pub wrapped: Vec<&'a Function>,
    /// Described functions that are not wrapped, and why, sorted by symbol.
    pub refused: Vec<(&'a Function, String)>,
    /// Symbols that look like entry points of libgomp but are not described, sorted: to be reported, never guessed.
    pub unknown: Vec<String>,
    /// Functions whose stubs are called by objects that went through [`crate::redirect`], sorted by symbol.
    pub redirected: Vec<&'a Function>,
}

impl<'a> Selection<'a> {
    /// The symbols to wrap, sorted.
    pub fn symbols(&self) -> impl Iterator<Item = &'a str> {
        self.wrapped.iter().map(|function| function.symbol.as_str())
    }

    /// Whether the stub of a function is called by its name, `instr_wrap_F`.
    #[must_use]
    pub fn is_redirected(&self, symbol: &str) -> bool {
        self.redirected.iter().any(|f| f.symbol == symbol)
    }

    /// The redirected functions that are not wrapped, because nothing refers to them by their own name.
    pub fn only_redirected(&self) -> impl Iterator<Item = &'a Function> {
        let wrapped: BTreeSet<&str> = self.symbols().collect();
        let others = self.redirected.iter().copied();
        others.filter(move |function| !wrapped.contains(function.symbol.as_str()))
    }

    /// The symbols that need a stub, and its linkage in a program whose linker knows `--wrap`.
    pub fn stubs(&self) -> impl Iterator<Item = (&'a str, Linkage)> {
        let wrapped = self
            .symbols()
            .map(|symbol| match self.is_redirected(symbol) {
                true => (symbol, Linkage::Both),
                false => (symbol, Linkage::Wrap),
            });
        let others = self.only_redirected();
        wrapped.chain(others.map(|f| (f.symbol.as_str(), Linkage::Rename)))
    }
}

/// Splits the undefined symbols of some files by what is known about them.
///
/// `weak` are symbols to which only weak references exist: wrapping one would make the reference non-null even where the
/// function does not exist, and would change the program. Symbols that nobody describes are dropped, `GOMP_*` excepted.
pub fn select<'a>(
    undefined: &BTreeSet<&[u8]>,
    weak: &BTreeSet<&[u8]>,
    api: &'a Api,
) -> Selection<'a> {
    let mut selection = Selection::default();
    for symbol in undefined {
        let function = symbol.strip_prefix(STUB_PREFIX).and_then(|f| api.get(f));
        let function = function.filter(|function| function.refusal.is_none());
        selection.redirected.extend(function);
    }
    for symbol in undefined.union(weak) {
        match api.get(symbol) {
            Some(function) => match refusal(function, symbol, undefined) {
                Some(reason) => selection.refused.push((function, reason)),
                None => selection.wrapped.push(function),
            },
            None if symbol.starts_with(b"GOMP_") => selection
                .unknown
                .push(String::from_utf8_lossy(symbol).into_owned()),
            None => {}
        }
    }
    selection
}

fn refusal(function: &Function, symbol: &[u8], strong: &BTreeSet<&[u8]>) -> Option<String> {
    let weak = || "only weak references: the program may test whether it exists".to_owned();
    function
        .refusal
        .clone()
        .or_else(|| (!strong.contains(symbol)).then(weak))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(names: &[&'a str]) -> BTreeSet<&'a [u8]> {
        names.iter().map(|name| name.as_bytes()).collect()
    }

    #[test]
    fn every_symbol_lands_where_it_belongs() {
        let api = Api::builtin();
        let strong = set(&[
            "GOMP_parallel",
            "GOMP_error",
            "GOMP_from_the_future",
            "printf",
            "GOMP_is_alloc",
        ]);
        let selection = select(&strong, &set(&["GOMP_barrier", "printf"]), &api);
        assert_eq!(selection.symbols().collect::<Vec<_>>(), ["GOMP_parallel"]);
        let refused: Vec<&str> = selection
            .refused
            .iter()
            .map(|(function, _)| function.symbol.as_str())
            .collect();
        assert_eq!(refused, ["GOMP_barrier", "GOMP_error", "GOMP_is_alloc"]);
        assert_eq!(
            selection.refused[0].1,
            "only weak references: the program may test whether it exists"
        );
        assert_eq!(selection.unknown, ["GOMP_from_the_future"]);
        assert!(selection.redirected.is_empty());
    }

    #[test]
    fn stubs_of_redirected_objects_are_seen() {
        let api = Api::builtin();
        let strong = set(&[
            "GOMP_parallel",
            "GOMP_task",
            "instr_wrap_GOMP_critical_start",
            "instr_wrap_GOMP_error",
            "instr_wrap_GOMP_task",
            "instr_wrap_nonsense",
        ]);
        let selection = select(&strong, &set(&["GOMP_critical_start"]), &api);
        let stubs: Vec<_> = selection.stubs().collect();
        assert_eq!(
            stubs,
            [
                ("GOMP_parallel", Linkage::Wrap),
                ("GOMP_task", Linkage::Both),
                ("GOMP_critical_start", Linkage::Rename)
            ]
        );
    }
}
