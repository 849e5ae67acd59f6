//! Programs that are allowed to fail or to leave constructs open, each with its reason: `exceptions.toml`.

use serde::Deserialize;

use crate::compile::Linkage;

/// The list that is kept in the project.
const TEXT: &str = include_str!("../exceptions.toml");

/// The whole list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exceptions {
    /// Programs that may fail instrumented.
    #[serde(default, rename = "exception")]
    exceptions: Vec<Exception>,
    /// Programs that leave from inside a construct, though with exit status 0.
    #[serde(default, rename = "open")]
    open: Vec<Exception>,
}

/// One entry.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// `libgomp.c/a.c`, all its variants, or one: `libgomp.c-c++-common/a.c@c++`.
    pub program: String,
    /// In this linkage only.
    pub linkage: Option<String>,
    /// Why.
    pub reason: String,
}

impl Exception {
    fn fits(&self, id: &str, linkage: Linkage) -> bool {
        let whole = id.split_once('@').map_or(id, |(name, _)| name);
        let here = self
            .linkage
            .as_deref()
            .is_none_or(|name| name == linkage.name());
        here && (self.program == id || self.program == whole)
    }
}

impl Exceptions {
    /// The list that is kept in the project.
    ///
    /// # Errors
    ///
    /// When it is not well-formed, or an entry has no reason.
    pub fn of_project() -> Result<Self, String> {
        Self::parse(TEXT)
    }

    /// The list as text: each entry with its reason on a line.
    #[must_use]
    pub fn told(&self) -> String {
        let line = |what: &str, entry: &Exception| {
            let linkage = entry.linkage.as_ref().map(|name| format!(", {name}"));
            let linkage = linkage.unwrap_or_default();
            format!("{what}: {}{linkage}: {}\n", entry.program, entry.reason)
        };
        let may_fail = self.exceptions.iter().map(|entry| line("may fail", entry));
        let open = self
            .open
            .iter()
            .map(|entry| line("may end inside constructs", entry));
        let lines: String = may_fail.chain(open).collect();
        if lines.is_empty() {
            "exceptions: none\n".to_owned()
        } else {
            format!("exceptions:\n{lines}")
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let list: Self = toml::from_str(text).map_err(|why| format!("exceptions.toml: {why}"))?;
        for entry in list.exceptions.iter().chain(&list.open) {
            if entry.reason.trim().is_empty() {
                return Err(format!("exceptions.toml: {}: no reason", entry.program));
            }
            if let Some(name) = &entry.linkage
                && !Linkage::ALL.iter().any(|linkage| linkage.name() == name)
            {
                return Err(format!(
                    "exceptions.toml: {}: no linkage `{name}`",
                    entry.program
                ));
            }
        }
        Ok(list)
    }

    /// Why this program may fail.
    #[must_use]
    pub fn reason(&self, id: &str, linkage: Linkage) -> Option<&str> {
        let mut entries = self.exceptions.iter();
        let entry = entries.find(|entry| entry.fits(id, linkage))?;
        Some(&entry.reason)
    }

    /// Whether constructs may be open when this program ends.
    #[must_use]
    pub fn may_be_open(&self, id: &str, linkage: Linkage) -> bool {
        self.open.iter().any(|entry| entry.fits(id, linkage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_fit_a_program_a_variant_a_linkage() {
        let text = "[[exception]]\nprogram = 'f/a.c'\nreason = 'x'\n[[exception]]\nprogram = 'f/b.c@c++'\n\
                    linkage = 'wrap'\nreason = 'y'\n[[open]]\nprogram = 'f/c.c'\nreason = 'exits inside'\n";
        let list = Exceptions::parse(text).expect("well-formed");
        assert_eq!(list.reason("f/a.c@c", Linkage::Redirect), Some("x"));
        assert_eq!(list.reason("f/b.c@c++", Linkage::Wrap), Some("y"));
        assert_eq!(list.reason("f/b.c@c++", Linkage::Redirect), None);
        assert_eq!(list.reason("f/b.c@c", Linkage::Wrap), None);
        assert!(list.may_be_open("f/c.c", Linkage::Wrap));
        assert!(!list.may_be_open("f/a.c", Linkage::Wrap));
        let told = "exceptions:\nmay fail: f/a.c: x\nmay fail: f/b.c@c++, wrap: y\nmay end inside constructs: f/c.c: exits inside\n";
        assert_eq!(list.told(), told);
        assert_eq!(Exceptions::default().told(), "exceptions: none\n");
    }

    #[test]
    fn the_list_of_the_project_is_well_formed_and_gives_reasons() {
        assert!(Exceptions::of_project().is_ok());
        assert!(Exceptions::parse("[[exception]]\nprogram = 'f/a.c'\nreason = ' '\n").is_err());
        assert!(Exceptions::parse("[[exception]]\nprogram = 'f/a.c'\n").is_err());
        let odd = "[[exception]]\nprogram = 'f/a.c'\nlinkage = 'x'\nreason = 'x'\n";
        assert!(Exceptions::parse(odd).is_err());
    }
}
