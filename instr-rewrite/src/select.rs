//! Undefined symbols ∩ descriptions: what is wrapped, and why the rest is not.

use crate::api::{Api, Function};
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
}

impl Selection<'_> {
    /// The symbols to wrap, sorted.
    pub fn symbols(&self) -> impl Iterator<Item = &str> {
        self.wrapped.iter().map(|function| function.symbol.as_str())
    }
}

/// Splits the undefined symbols of some files by what is known about them.
///
/// `weak` are symbols to which only weak references exist: wrapping one would make the reference non-null even where the
/// function does not exist, and would change the program. Symbols that nobody describes are dropped, `GOMP_*` excepted.
pub fn select<'a>(
    undefined: &BTreeSet<Vec<u8>>,
    weak: &BTreeSet<Vec<u8>>,
    api: &'a Api,
) -> Selection<'a> {
    let mut selection = Selection::default();
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

fn refusal(function: &Function, symbol: &[u8], strong: &BTreeSet<Vec<u8>>) -> Option<String> {
    let weak = || "only weak references: the program may test whether it exists".to_owned();
    function
        .refusal
        .clone()
        .or_else(|| (!strong.contains(symbol)).then(weak))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<Vec<u8>> {
        names.iter().map(|name| name.as_bytes().to_vec()).collect()
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
    }
}
