//! The fixed sample of programs that `make test` runs: `sample.txt`.

use std::collections::BTreeSet;

use crate::catalog::Program;

const TEXT: &str = include_str!("../sample.txt");

/// The names of the sample's programs in the order of the file.
#[must_use]
pub fn names() -> Vec<&'static str> {
    let lines = TEXT
        .lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect()
}

/// Keeps the programs of the sample.
///
/// # Errors
///
/// When one of them is not there.
pub fn select(programs: Vec<Program>) -> Result<Vec<Program>, String> {
    let mut wanted: BTreeSet<&str> = names().into_iter().collect();
    let chosen = programs
        .into_iter()
        .filter(|program| wanted.remove(program.id.as_str()));
    let chosen: Vec<Program> = chosen.collect();
    match wanted.first() {
        Some(name) => Err(format!("sample.txt: there is no program {name}")),
        None => Ok(chosen),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_is_named_twice() {
        let names = names();
        let unique: BTreeSet<_> = names.iter().collect();
        assert_eq!(unique.len(), names.len());
        assert!(!names.is_empty());
    }
}
