//! What is asked: addresses, symbols with offsets, and the file they belong to.

use std::path::PathBuf;

/// One question: a word of the command line or a line of standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    /// The file, where the question names one.
    pub(super) module: Option<PathBuf>,
    pub(super) what: What,
    /// Whether the address is one that a call returns to: the call itself lies before it.
    pub(super) call_site: bool,
}

/// An address or a place of the symbol table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum What {
    Address(u64),
    /// A symbol and the bytes behind its start.
    Symbol(String, u64),
}

impl Question {
    /// An address of the traced process.
    pub(super) fn traced(address: u64, call_site: bool) -> Self {
        Question {
            module: None,
            what: What::Address(address),
            call_site,
        }
    }

    /// Takes a question apart as addr2line does: everything is a question, nonsense is address 0. Also
    /// `MODULE:0xADDRESS`, `"MODULE" ADDRESS` and, where it has a slash, `MODULE 0xADDRESS`.
    pub(super) fn parse(text: &[u8]) -> Self {
        let text = text.trim_ascii();
        match with_module(text) {
            Some((module, rest)) => Question {
                module: Some(path(module)),
                what: what(rest),
                call_site: false,
            },
            None => Question {
                module: None,
                what: what(text),
                call_site: false,
            },
        }
    }
}

/// The module's name and the rest of the question.
fn with_module(text: &[u8]) -> Option<(&[u8], &[u8])> {
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let end = quoted.iter().position(|&byte| byte == b'"')?;
        return Some((&quoted[..end], &quoted[end + 1..]));
    }
    let is_address =
        |rest: &[u8]| matches!(rest, [b'0', b'x' | b'X', digit, ..] if digit.is_ascii_hexdigit());
    let colon = text.iter().rposition(|&byte| byte == b':');
    if let Some(at) = colon.filter(|&at| at > 0 && is_address(&text[at + 1..])) {
        return Some((&text[..at], &text[at + 1..]));
    }
    let blank = text.iter().position(u8::is_ascii_whitespace)?;
    let (module, rest) = (&text[..blank], text[blank..].trim_ascii());
    (module.contains(&b'/') && is_address(rest)).then_some((module, rest))
}

/// `is_symbol` and `bfd_scan_vma` of binutils.
fn what(text: &[u8]) -> What {
    let text = text.trim_ascii();
    let is_number = match text.first() {
        None | Some(b'0'..=b'9') => true,
        Some(b'a'..=b'f' | b'A'..=b'F') => !text.contains(&b'+'),
        _ => false,
    };
    if is_number {
        return What::Address(hexadecimal(text));
    }
    let end = text
        .iter()
        .position(|&byte| byte == b'+' || byte.is_ascii_whitespace())
        .unwrap_or(text.len());
    let rest = text[end..].trim_ascii();
    let offset = rest.strip_prefix(b"+").map_or(0, c_number);
    What::Symbol(String::from_utf8_lossy(&text[..end]).into_owned(), offset)
}

/// The hexadecimal number at the start, with or without `0x`; 0 without digits, the largest one where it is too large.
fn hexadecimal(text: &[u8]) -> u64 {
    let digits = match text {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        _ => text,
    };
    number(digits, 16)
}

/// A number as C writes it: hexadecimal with `0x`, octal with `0`.
fn c_number(text: &[u8]) -> u64 {
    match text.trim_ascii() {
        [b'0', b'x' | b'X', rest @ ..] => number(rest, 16),
        [b'0', rest @ ..] => number(rest, 8),
        rest => number(rest, 10),
    }
}

fn number(digits: &[u8], base: u32) -> u64 {
    digits
        .iter()
        .map_while(|&byte| char::from(byte).to_digit(base))
        .try_fold(0u64, |sum, digit| {
            sum.checked_mul(base.into())?.checked_add(digit.into())
        })
        .unwrap_or(u64::MAX)
}

#[cfg(unix)]
fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(text: &str) -> (Option<String>, What) {
        let question = Question::parse(text.as_bytes());
        let module = question.module.map(|module| module.display().to_string());
        (module, question.what)
    }

    #[test]
    fn addresses_are_hexadecimal_with_or_without_prefix() {
        for (text, address) in [
            ("10", 16),
            (" 0x10 20", 16),
            ("0X1f\r", 31),
            ("ffffffffffffffff", u64::MAX),
            ("10000000000000000", u64::MAX),
            ("12zz", 0x12),
            ("add", 0xadd),
            ("", 0),
            ("0x", 0),
        ] {
            assert_eq!(asked(text), (None, What::Address(address)), "{text:?}");
        }
    }

    #[test]
    fn what_begins_like_no_number_or_has_a_plus_is_a_symbol() {
        let symbol = |name: &str, offset| (None, What::Symbol(name.into(), offset));
        assert_eq!(asked("main"), symbol("main", 0));
        assert_eq!(asked(" main+0x10"), symbol("main", 16));
        assert_eq!(asked("add + 8 9"), symbol("add", 8));
        assert_eq!(asked("work+010"), symbol("work", 8));
        assert_eq!(asked("-1"), symbol("-1", 0));
    }

    #[test]
    fn questions_may_name_their_file() {
        let of = |module: &str, address| (Some(module.to_owned()), What::Address(address));
        assert_eq!(asked("lib.so:0x10"), of("lib.so", 16));
        assert_eq!(asked("a:b:0x10"), of("a:b", 16));
        assert_eq!(asked("\"a file\" 0x10"), of("a file", 16));
        assert_eq!(asked("\"a\" 10"), of("a", 16));
        assert_eq!(asked("/lib/x.so 0x10"), of("/lib/x.so", 16));
        assert_eq!(asked("ns::f"), (None, What::Symbol("ns::f".into(), 0)));
        assert_eq!(asked("main 0x10"), (None, What::Symbol("main".into(), 0)));
    }
}
