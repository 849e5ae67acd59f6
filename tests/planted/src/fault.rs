//! Faults as `faults.toml` describes them.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

/// A small wrong change of one file, and the tests that must notice it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// What is wrong with the tree that holds it.
    pub(crate) name: String,
    /// The part of the project it stands for.
    pub(crate) area: String,
    /// The file that is changed, from the root of the project.
    pub(crate) file: String,
    /// Text that occurs once in the file.
    pub(crate) find: String,
    /// What stands there instead.
    pub(crate) replace: String,
    /// `PACKAGE TARGET [FILTER]`: the target is the name of an integration test, or `lib`; all its tests without a filter.
    pub(crate) tests: Vec<String>,
}

/// The tests of one binary that have FILTER in their name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Selection {
    /// The cargo package.
    pub(crate) package: String,
    /// The name of an integration test, or `lib`.
    pub(crate) target: String,
    /// Part of the tests' names, or all of one behind `=`; empty: all tests.
    pub(crate) filter: String,
}

impl FromStr for Selection {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_whitespace().collect::<Vec<_>>()[..] {
            [package, target, ref rest @ ..] if rest.len() < 2 => Ok(Self {
                package: package.to_owned(),
                target: target.to_owned(),
                filter: rest.concat(),
            }),
            _ => bail!("`{text}` is not PACKAGE TARGET [FILTER]"),
        }
    }
}

impl Fault {
    /// The tests that must notice it.
    ///
    /// # Errors
    ///
    /// When there are none, or one is not of the form that is wanted.
    pub(crate) fn selections(&self) -> Result<Vec<Selection>> {
        ensure!(!self.tests.is_empty(), "{}: no tests", self.name);
        let parse = |text: &String| text.parse().with_context(|| self.name.clone());
        self.tests.iter().map(parse).collect()
    }

    /// The changed text of its file.
    ///
    /// # Errors
    ///
    /// When `find` does not occur exactly once, or nothing would change.
    pub(crate) fn plant(&self, text: &str) -> Result<String> {
        let count = text.matches(&self.find).count();
        ensure!(
            count == 1,
            "{}: {}: the text to replace occurs {count} times, not once",
            self.name,
            self.file
        );
        ensure!(
            self.find != self.replace,
            "{}: nothing is changed",
            self.name
        );
        Ok(text.replacen(&self.find, &self.replace, 1))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Faults {
    fault: Vec<Fault>,
}

/// All faults of a file.
///
/// # Errors
///
/// When the file cannot be read, is not of the form that is wanted, or uses a name twice.
pub(crate) fn read(path: &Path) -> Result<Vec<Fault>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let faults: Faults =
        toml::from_str(&text).with_context(|| format!("{} is not as wanted", path.display()))?;
    let mut names = std::collections::BTreeSet::new();
    for fault in &faults.fault {
        ensure!(
            names.insert(&fault.name),
            "two faults are called {}",
            fault.name
        );
        fault.selections()?;
    }
    Ok(faults.fault)
}

/// Says of every fault that does not apply to the tree why not.
#[must_use]
pub(crate) fn stale(faults: &[Fault], root: &Path) -> Vec<String> {
    let check = |fault: &Fault| {
        let path = root.join(&fault.file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("{}: cannot read {}", fault.name, path.display()))?;
        fault.plant(&text).map(drop)
    };
    faults
        .iter()
        .filter_map(|fault| check(fault).err())
        .map(|error| format!("{error:#}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(find: &str, replace: &str) -> Fault {
        Fault {
            name: "one".into(),
            area: "all".into(),
            file: "a.c".into(),
            find: find.into(),
            replace: replace.into(),
            tests: vec!["package target filter".into()],
        }
    }

    #[test]
    fn a_fault_applies_once_or_not_at_all() {
        let planted = fault("a + 1", "a").plant("b = a + 1;");
        assert_eq!(planted.ok().as_deref(), Some("b = a;"));
        for text in ["b = a;", "a + 1; a + 1"] {
            assert!(fault("a + 1", "a").plant(text).is_err(), "{text}");
        }
        assert!(fault("a", "a").plant("a").is_err());
    }

    #[test]
    fn the_faults_of_the_tree_are_well_formed_and_apply() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let faults = read(&root.join("tests/planted/faults.toml")).expect("well-formed");
        assert_eq!(stale(&faults, &root), Vec::<String>::new());
        let areas: std::collections::BTreeSet<_> = faults.iter().map(|fault| &fault.area).collect();
        assert!(
            faults.len() >= 30 && areas.len() >= 15,
            "{} in {areas:?}",
            faults.len()
        );
    }
}
