//! What the wrapper tells the shim: one environment variable, `INSTR_CC_LINK`, of words `key=value` with every byte
//! that is not plain written as `%XX`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// The variable's name.
pub const VARIABLE: &str = "INSTR_CC_LINK";

/// Everything the shim must know beyond its own command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The compiler's file.
    pub compiler: PathBuf,
    /// The folder of things built once.
    pub cache: PathBuf,
    /// The folder that the shim is called from.
    pub shim: PathBuf,
    /// The user's flags that decide the binary interface.
    pub abi: Vec<OsString>,
    /// Descriptions of the user's, absolute.
    pub apis: Vec<PathBuf>,
    /// The configuration to compile in, absolute.
    pub config: Option<PathBuf>,
    /// The heap too (`--instr-memory`).
    pub memory: bool,
    /// The target that was named, for the trace.
    pub target: Option<String>,
    /// Tell what is done.
    pub verbose: bool,
}

impl Context {
    /// The variable's value.
    #[must_use]
    pub fn encode(&self) -> OsString {
        let mut text = Vec::new();
        let mut put = |key: &str, value: &OsStr| {
            text.extend(key.bytes().chain([b'=']));
            text.extend(escape(value.as_bytes()));
            text.push(b' ');
        };
        put("compiler", self.compiler.as_os_str());
        put("cache", self.cache.as_os_str());
        put("shim", self.shim.as_os_str());
        self.abi.iter().for_each(|word| put("abi", word));
        self.apis
            .iter()
            .for_each(|path| put("api", path.as_os_str()));
        if let Some(path) = &self.config {
            put("config", path.as_os_str());
        }
        for (key, on) in [("memory", self.memory), ("verbose", self.verbose)] {
            if on {
                put(key, OsStr::new("1"));
            }
        }
        if let Some(name) = &self.target {
            put("target", OsStr::new(name));
        }
        OsString::from_vec(text)
    }

    /// Reads the variable's value; nothing if it is not one that [`Context::encode`] wrote.
    #[must_use]
    pub fn decode(text: &OsStr) -> Option<Self> {
        let mut context = Self::default();
        for word in text
            .as_bytes()
            .split(|b| *b == b' ')
            .filter(|w| !w.is_empty())
        {
            let at = word.iter().position(|b| *b == b'=')?;
            let value = OsString::from_vec(unescape(&word[at + 1..])?);
            match &word[..at] {
                b"compiler" => context.compiler = value.into(),
                b"cache" => context.cache = value.into(),
                b"shim" => context.shim = value.into(),
                b"abi" => context.abi.push(value),
                b"api" => context.apis.push(value.into()),
                b"config" => context.config = Some(value.into()),
                b"memory" => context.memory = true,
                b"target" => context.target = Some(value.into_string().ok()?),
                b"verbose" => context.verbose = true,
                _ => return None,
            }
        }
        let complete = [&context.compiler, &context.cache, &context.shim]
            .iter()
            .all(|p| p.is_absolute());
        complete.then_some(context)
    }
}

fn escape(bytes: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"/._-+=,".contains(&byte) {
            text.push(byte);
        } else {
            text.extend(format!("%{byte:02X}").bytes());
        }
    }
    text
}

fn unescape(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_bytes_come_back(words in proptest::collection::vec(proptest::collection::vec(1_u8..=255, 0..9), 0..5), memory: bool, verbose: bool) {
            let abi: Vec<OsString> = words.into_iter().map(OsString::from_vec).collect();
            let context = Context { compiler: "/a b".into(), cache: "/c%".into(), shim: "/s".into(), abi, apis: vec!["/x".into()], config: Some("/y z".into()), memory, target: Some("vax".into()), verbose };
            prop_assert_eq!(Context::decode(&context.encode()), Some(context));
        }

        #[test]
        fn any_text_is_read_without_panic(text in proptest::collection::vec(1_u8..=255, 0..40)) {
            _ = Context::decode(OsStr::from_bytes(&text));
        }
    }

    #[test]
    fn foreign_text_is_no_context() {
        for text in [
            "",
            "x",
            "compiler=gcc cache=/c shim=/s",
            "compiler=/gcc cache=/c shim=/s other=1",
            "compiler=%G",
        ] {
            assert_eq!(Context::decode(OsStr::new(text)), None, "{text}");
        }
    }
}
