//! The names of all described functions, remembered in the cache: reading them takes a fraction of the time that parsing
//! the descriptions takes, and a link whose stubs exist needs no more than the names.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_rewrite::Api;

use crate::cache::{Cache, key};
use crate::compiler::identity;

/// What is known of a described function without its prototype.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The description file.
    pub source: String,
    /// Why it is not to be wrapped.
    pub refusal: Option<String>,
}

/// All described functions by name, and a key of all their descriptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Differs when a description differs.
    pub key: String,
    functions: BTreeMap<String, Entry>,
}

/// Descriptions of our own beside those that are always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    /// The heap.
    pub memory: bool,
    /// Threads of POSIX, C11 and C++.
    pub threads: bool,
}

/// Parses the descriptions: our own, with those of these groups, then the user's.
///
/// # Errors
/// When one of the user's cannot be read or is wrong.
pub fn parse(apis: &[PathBuf], groups: Groups) -> Result<Api> {
    let mut api = Api::builtin();
    if groups.memory {
        api.add_memory();
    }
    if groups.threads {
        api.add_threads();
    }
    for path in apis {
        api.add_file(path)?;
    }
    Ok(api)
}

impl Index {
    /// The index of the descriptions as [`parse`] has them, from the cache if it is there. `own` is this program's file: with
    /// another program, other descriptions are embedded.
    ///
    /// # Errors
    /// As [`parse`].
    pub fn open(cache: &Cache, own: &Path, apis: &[PathBuf], groups: Groups) -> Result<Self> {
        let mut parts = vec![
            identity(own)
                .context("cannot find this program's file")?
                .into_bytes(),
        ];
        parts.push(vec![u8::from(groups.memory), u8::from(groups.threads)]);
        for path in apis {
            parts.push(path.as_os_str().as_bytes().to_vec());
            parts.push(instr_rewrite::api::read_text(path)?.into_bytes());
        }
        let key = key(parts.iter().map(Vec::as_slice));
        let entry = cache.entry(&format!("index-{key}"), |dir| -> Result<()> {
            Ok(fs::write(
                dir.join("names"),
                Self::of(&parse(apis, groups)?, String::new()).to_text(),
            )?)
        })?;
        let text = fs::read_to_string(entry.join("names"))?;
        Self::from_text(&text, key)
            .ok_or_else(|| io::Error::other("the cached index is damaged").into())
    }

    /// The index of descriptions.
    #[must_use]
    pub fn of(api: &Api, key: String) -> Self {
        let entry = |f: &instr_rewrite::Function| Entry {
            source: f.source.clone(),
            refusal: f.refusal.clone(),
        };
        Self {
            key,
            functions: api
                .functions()
                .map(|f| (f.symbol.clone(), entry(f)))
                .collect(),
        }
    }

    /// What is known of a symbol.
    #[must_use]
    pub fn get(&self, symbol: &[u8]) -> Option<&Entry> {
        self.functions.get(std::str::from_utf8(symbol).ok()?)
    }

    /// Whether a symbol is described and may be wrapped.
    #[must_use]
    pub fn is_wrappable(&self, symbol: &[u8]) -> bool {
        self.get(symbol).is_some_and(|f| f.refusal.is_none())
    }

    /// Fields end with a zero byte, which is in no symbol and no path.
    fn to_text(&self) -> String {
        let field = |f: &str| f.replace('\0', " ");
        let line = |(symbol, entry): (&String, &Entry)| {
            let refusal = entry
                .refusal
                .as_deref()
                .map_or(String::from("-"), |r| format!("+{}", field(r)));
            format!("{}\0{}\0{refusal}\0", field(symbol), field(&entry.source))
        };
        self.functions.iter().map(line).collect()
    }

    fn from_text(text: &str, key: String) -> Option<Self> {
        let mut fields = text.split_terminator('\0');
        let mut functions = BTreeMap::new();
        while let Some(symbol) = fields.next() {
            let (source, refusal) = (fields.next()?.to_owned(), fields.next()?);
            let refusal = if refusal == "-" {
                None
            } else {
                Some(refusal.strip_prefix('+')?.to_owned())
            };
            functions.insert(symbol.to_owned(), Entry { source, refusal });
        }
        Some(Self { key, functions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_read_back_as_it_was() {
        let index = Index::of(&Api::builtin(), "k".into());
        assert_eq!(
            Index::from_text(&index.to_text(), "k".into()),
            Some(index.clone())
        );
        assert!(index.is_wrappable(b"GOMP_parallel") && !index.is_wrappable(b"printf"));
        assert_eq!(Index::from_text("a\0b\0", String::new()), None);
    }

    #[test]
    fn a_changed_description_is_noticed() {
        let dir = tempfile::tempdir().unwrap();
        let (cache, api) = (Cache::at(dir.path().to_owned()), dir.path().join("api.rs"));
        let own = std::env::current_exe().unwrap();
        let open = |text: &str| {
            fs::write(&api, text).unwrap();
            Index::open(&cache, &own, std::slice::from_ref(&api), Groups::default())
        };
        let first = open("extern \"C\" { fn one(); }").unwrap();
        let second = open("extern \"C\" { fn two(); }").unwrap();
        assert!(
            first.is_wrappable(b"one")
                && !second.is_wrappable(b"one")
                && second.is_wrappable(b"two")
        );
        assert_ne!(first.key, second.key);
        assert!(open("nonsense(").is_err());
    }
}
