//! As much of Tcl's syntax as DejaGnu directives use: words in braces, in quotes, and bare.
//!
//! Source: Tcl's manual page `Tcl(n)`, rules 4, 6 and 9. Variables and commands are not substituted; directives use neither.

/// Why a text is no list of words.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum TclError {
    /// A brace without its counterpart.
    #[error("no closing brace in `{0}`")]
    OpenBrace(String),
    /// A quote without its counterpart.
    #[error("no closing quote in `{0}`")]
    OpenQuote(String),
}

/// Splits a text into words; braces and quotes are taken off, backslashes are replaced outside of braces.
///
/// # Errors
///
/// When a brace or a quote is not closed.
pub fn words(text: &str) -> Result<Vec<String>, TclError> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '{' => braced(rest)?,
            '"' => quoted(rest)?,
            _ => bare(rest),
        };
        words.push(word);
        rest = after.trim_start();
    }
    Ok(words)
}

/// A word in braces: everything up to the matching one, as it stands.
fn braced(text: &str) -> Result<(String, &str), TclError> {
    let mut depth = 0_usize;
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Ok((text[1..at].to_owned(), &text[at + 1..]));
        }
    }
    Err(TclError::OpenBrace(text.to_owned()))
}

/// A word in quotes, with backslashes replaced.
fn quoted(text: &str) -> Result<(String, &str), TclError> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok((unescape(&text[1..at]), &text[at + 1..])),
            _ => {}
        }
    }
    Err(TclError::OpenQuote(text.to_owned()))
}

/// A word up to the next white space.
fn bare(text: &str) -> (String, &str) {
    let mut escaped = false;
    let end = text.char_indices().find(|(_, c)| {
        let ends = c.is_whitespace() && !escaped;
        escaped = *c == '\\' && !escaped;
        ends
    });
    let end = end.map_or(text.len(), |(at, _)| at);
    (unescape(&text[..end]), &text[end..])
}

/// `\n` and its like become the character they stand for, any other `\x` becomes `x`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        words(text).expect("well-formed")
    }

    #[test]
    fn braces_quotes_and_bare_words_are_words() {
        assert_eq!(
            split(r#"run { target { a && b } } "x y" z"#),
            ["run", " target { a && b } ", "x y", "z"]
        );
        assert_eq!(split("  "), Vec::<String>::new());
        assert_eq!(split(r#""" {}"#), ["", ""]);
        assert_eq!(split("{target c }"), ["target c "]);
    }

    #[test]
    fn backslashes_are_replaced_outside_of_braces_only() {
        // As in struct-elem-5.c: the regular expression \[[0-9]+\] written for Tcl.
        assert_eq!(split(r#""\\\[\[0-9\]+\\\]""#), [r"\[[0-9]+\]"]);
        assert_eq!(split(r#""(\n|\r\n|\r)+""#), ["(\n|\r\n|\r)+"]);
        assert_eq!(split(r"{a\n\}b}"), [r"a\n\}b"]);
        assert_eq!(split(r#""a\"b" c\ d"#), ["a\"b", "c d"]);
    }

    #[test]
    fn what_is_not_closed_is_refused() {
        assert!(matches!(words("{ a"), Err(TclError::OpenBrace(_))));
        assert!(matches!(words("\"a"), Err(TclError::OpenQuote(_))));
        assert!(matches!(words("a {b \\}"), Err(TclError::OpenBrace(_))));
    }
}
