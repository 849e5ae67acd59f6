//! Response files (`@file`) with GNU quoting: white space separates, quotes group, a backslash takes the next byte as
//! it is. A file that cannot be read leaves the word as it stands, which is what the GNU tools do.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use thiserror::Error;

/// How deep response files may name each other.
pub const MAX_DEPTH: usize = 32;
/// How many response files one command line may read in all (libiberty's limit).
pub const MAX_FILES: usize = 2000;
/// How many bytes they may hold in all.
pub const MAX_BYTES: u64 = 256 << 20;

/// Why response files were not expanded.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ResponseError {
    /// Files name each other too deep, or in a circle.
    #[error("cannot expand @{0}: response files are nested more than {MAX_DEPTH} deep")]
    TooDeep(String),
    /// Too many files.
    #[error("cannot expand @{0}: more than {MAX_FILES} response files")]
    TooMany(String),
    /// A pipe or a folder: reading it would take it from the compiler.
    #[error("cannot expand @{0}: not a regular file")]
    NotRegular(String),
    /// Too much text.
    #[error("cannot expand @{0}: response files hold more than 256 MiB")]
    TooLarge(String),
}

struct Expander {
    out: Vec<OsString>,
    files: usize,
    bytes: u64,
}

/// Replaces every readable `@file` by the words in the file, nested ones too.
///
/// # Errors
/// When the limits of depth, number and size are exceeded.
pub fn expand(words: &[OsString]) -> Result<Vec<OsString>, ResponseError> {
    let mut state = Expander {
        out: Vec::with_capacity(words.len()),
        files: 0,
        bytes: 0,
    };
    state.words(words, 0)?;
    Ok(state.out)
}

/// Whether any word may name a response file.
#[must_use]
pub fn present(words: &[OsString]) -> bool {
    words.iter().any(|w| w.as_bytes().first() == Some(&b'@'))
}

impl Expander {
    fn words(&mut self, words: &[OsString], depth: usize) -> Result<(), ResponseError> {
        for word in words {
            match word.as_bytes().strip_prefix(b"@") {
                Some(name) => self.file(word, name, depth)?,
                None => self.out.push(word.clone()),
            }
        }
        Ok(())
    }

    fn file(&mut self, word: &OsString, name: &[u8], depth: usize) -> Result<(), ResponseError> {
        let path = Path::new(OsStr::from_bytes(name));
        let Ok(meta) = fs::metadata(path) else {
            self.out.push(word.clone());
            return Ok(());
        };
        let shown = || path.display().to_string();
        if !meta.is_file() {
            return Err(ResponseError::NotRegular(shown()));
        }
        if depth >= MAX_DEPTH {
            return Err(ResponseError::TooDeep(shown()));
        }
        self.files += 1;
        if self.files > MAX_FILES {
            return Err(ResponseError::TooMany(shown()));
        }
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_BYTES {
            return Err(ResponseError::TooLarge(shown()));
        }
        match fs::read(path) {
            Ok(text) => self.words(&split(&text), depth + 1),
            Err(_) => {
                self.out.push(word.clone());
                Ok(())
            }
        }
    }
}

/// Splits text into words as libiberty's `buildargv` does.
#[must_use]
pub fn split(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => word.get_or_insert_default().extend(bytes.next()),
            (_, Some(q)) if byte == q => quote = None,
            (_, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c, None) => words.extend(word.take()),
            (_, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// Writes words so that [`split`] and the GNU and LLVM tools read them back.
#[must_use]
pub fn join(words: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for word in words {
        if word.is_empty() {
            text.extend(b"\"\"");
        }
        for &byte in word.as_bytes() {
            if byte.is_ascii_whitespace() || matches!(byte, 0x0b | b'\\' | b'\'' | b'"') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.push(b'\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(path: &Path) -> OsString {
        let mut word = OsString::from("@");
        word.push(path);
        word
    }

    #[test]
    fn quotes_and_backslashes_follow_libiberty() {
        let text = br#"a 'b c' "d 'e" f\ g h\\i "j\"k" '' "" 'l'"m" 'n\'o'"#;
        let want = [
            "a", "b c", "d 'e", "f g", "h\\i", "j\"k", "", "", "lm", "n'o",
        ];
        assert_eq!(split(text), want.map(OsString::from));
    }

    #[test]
    fn an_unreadable_file_stays_a_word() {
        let words = [
            OsString::from("@/nowhere/x"),
            OsString::from("@"),
            OsString::from("a@b"),
        ];
        assert_eq!(expand(&words).unwrap(), words);
    }

    #[test]
    fn a_device_is_not_read() {
        assert_eq!(
            expand(&["@/dev/null".into()]),
            Err(ResponseError::NotRegular("/dev/null".into()))
        );
    }

    #[test]
    fn files_nest_and_keep_order() {
        let dir = tempfile::tempdir().unwrap();
        let (outer, inner) = (dir.path().join("outer"), dir.path().join("inn er"));
        fs::write(&inner, "2 3").unwrap();
        fs::write(&outer, format!("1 '@{}' 4", inner.display())).unwrap();
        let got = expand(&[OsString::from("0"), at(&outer), OsString::from("5")]).unwrap();
        assert_eq!(got, ["0", "1", "2", "3", "4", "5"].map(OsString::from));
    }

    #[test]
    fn a_file_that_names_itself_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("loop");
        fs::write(&path, format!("a @{}", path.display())).unwrap();
        assert_eq!(
            expand(&[at(&path)]),
            Err(ResponseError::TooDeep(path.display().to_string()))
        );
    }

    #[test]
    fn files_that_fan_out_are_capped() {
        let dir = tempfile::tempdir().unwrap();
        let (wide, leaf) = (dir.path().join("wide"), dir.path().join("leaf"));
        fs::write(&leaf, "x").unwrap();
        fs::write(&wide, format!("@{} ", leaf.display()).repeat(MAX_FILES)).unwrap();
        assert_eq!(
            expand(&[at(&wide)]),
            Err(ResponseError::TooMany(leaf.display().to_string()))
        );
    }

    proptest! {
        #[test]
        fn joined_words_split_again(words in proptest::collection::vec(proptest::collection::vec(1_u8..=255, 0..9), 0..9)) {
            let words: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            prop_assert_eq!(split(&join(&words)), words);
        }
    }
}
