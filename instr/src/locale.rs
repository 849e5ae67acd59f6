//! What a terminal can show: where the locale is not of UTF-8, text for people is ASCII.

use std::borrow::Cow;
use std::ffi::OsString;

/// The characters of ours that are not ASCII, and what stands for them.
const ASCII: [(char, &str); 6] = [
    ('█', "#"),
    ('▇', "#"),
    ('·', "-"),
    ('–', "-"),
    ('…', "~"),
    ('∞', "inf"),
];

/// Whether a terminal takes UTF-8, as the locale says: the first of `LC_ALL`, `LC_CTYPE` and `LANG` that is set and not empty. Without
/// any, POSIX's own locale holds, which is ASCII.
pub(crate) fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    let locale = locale.unwrap_or_default().to_string_lossy().to_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// `text` with ASCII for our own characters. Names of the program stay as they are.
pub(crate) fn ascii(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(text) = std::str::from_utf8(text)
        .ok()
        .filter(|text| !text.is_ascii())
    else {
        return text.into();
    };
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        match ASCII.iter().find(|(ours, _)| *ours == c) {
            Some((_, instead)) => plain.push_str(instead),
            None => plain.push(c),
        }
    }
    plain.into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_is_that_of_posix() {
        let of = |all: &'static str, ctype: &'static str, lang: &'static str| {
            is_utf8(|name| match name {
                "LC_ALL" => Some(all.into()),
                "LC_CTYPE" => Some(ctype.into()),
                "LANG" => Some(lang.into()),
                _ => None,
            })
        };
        assert!(of("", "", "en_US.UTF-8") && of("C.utf8", "", "C") && of("", "de_DE.utf8", ""));
        assert!(!of("C", "", "en_US.UTF-8") && !of("", "POSIX", "C.UTF-8"));
        assert!(!of("", "", "de_DE.ISO-8859-1") && !of("", "", ""));
        assert!(!is_utf8(|_| None));
    }

    #[test]
    fn our_own_characters_become_ascii_and_names_stay() {
        let text = "a · b …\nT∞ ████ größer";
        assert_eq!(
            ascii(text.as_bytes()),
            "a - b ~\nTinf #### größer".as_bytes()
        );
        assert_eq!(ascii(b"\xff"), &b"\xff"[..]);
        assert_eq!(ascii(b"plain"), &b"plain"[..]);
    }
}
