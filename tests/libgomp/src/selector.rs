//! Target selectors: `*-*-linux*`, `lp64`, `{ { i?86-*-* x86_64-*-* } && lp64 }`, `{ ! avx_runtime }`.
//!
//! Source: GCC Internals, "Specifying requirements on where a test is run" (selectors), and `selector_expression` of GCC's
//! `target-supports-dg.exp`.

use crate::tcl::{self, TclError};

/// Why a selector cannot be decided.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum SelectorError {
    /// It is no list.
    #[error(transparent)]
    Syntax(#[from] TclError),
    /// Operators and operands do not fit.
    #[error("`{0}` is not a selector")]
    Shape(String),
    /// A keyword whose meaning here is not known.
    #[error("unknown effective target `{0}`")]
    Unknown(String),
}

/// What a selector is decided by.
pub trait Target {
    /// The target's name: `x86_64-pc-linux-gnu`.
    fn triplet(&self) -> &str;
    /// Whether the effective target of this name holds; `None` when the name is unknown.
    fn holds(&self, keyword: &str) -> Option<bool>;
}

/// Decides a selector.
///
/// # Errors
///
/// When it is malformed, or its answer depends on something unknown.
pub fn evaluate(text: &str, target: &dyn Target) -> Result<bool, SelectorError> {
    let words = tcl::words(text)?;
    let part = |word: &String| evaluate(word, target);
    match words.as_slice() {
        [] => Err(SelectorError::Shape(text.to_owned())),
        // A word that is itself a list in braces.
        [only] if only.trim() != text.trim() => part(only),
        [only] => leaf(only, target),
        [not, operand] if not == "!" => Ok(!part(operand)?),
        [left, and, rest @ ..] if and == "&&" => Ok(part(left)? && evaluate(&join(rest), target)?),
        [left, or, rest @ ..] if or == "||" => Ok(part(left)? || evaluate(&join(rest), target)?),
        list if list.iter().any(|word| is_operator(word)) => {
            Err(SelectorError::Shape(text.to_owned()))
        }
        list => {
            for word in list {
                if part(word)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}

fn is_operator(word: &str) -> bool {
    matches!(word, "!" | "&&" | "||")
}

/// Puts words back into a list; each in braces, so that none falls apart.
fn join(words: &[String]) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| match is_operator(word) {
            true => word.clone(),
            false => format!("{{{word}}}"),
        })
        .collect();
    words.join(" ")
}

/// A pattern of target names, or the name of an effective target.
fn leaf(word: &str, target: &dyn Target) -> Result<bool, SelectorError> {
    if word.contains('*') || word.matches('-').count() >= 2 {
        return Ok(glob(word, target.triplet()));
    }
    target
        .holds(word)
        .ok_or_else(|| SelectorError::Unknown(word.to_owned()))
}

/// Whether `text` fits `pattern`, in which `*` stands for any text and `?` for one character.
#[must_use]
pub fn glob(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    // `reached[n]`: what was read of the pattern fits the first n characters of the text.
    let mut reached = vec![false; text.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; text.len() + 1];
        for at in 0..=text.len() {
            next[at] = match part {
                '*' => reached[at] || (at > 0 && next[at - 1]),
                '?' => at > 0 && reached[at - 1],
                c => at > 0 && reached[at - 1] && text[at - 1] == c,
            };
        }
        reached = next;
    }
    reached[text.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Target for Fixed {
        fn triplet(&self) -> &str {
            "x86_64-pc-linux-gnu"
        }

        fn holds(&self, keyword: &str) -> Option<bool> {
            match keyword {
                "yes" | "lp64" => Some(true),
                "no" | "ia32" => Some(false),
                _ => None,
            }
        }
    }

    #[test]
    fn selectors_are_decided() {
        for (text, expected) in [
            ("yes", true),
            (" no ", false),
            ("*-*-*", true),
            ("*-*-linux* *-*-gnu*", true),
            ("alpha*-*-*", false),
            ("i?86-*-* x86_64-*-*", true),
            (" { i?86-*-* x86_64-*-* } && lp64 ", true),
            (" { { i?86-*-* x86_64-*-* } && ia32 } ", false),
            ("! *-*-*", false),
            (" lp64 && { ! lp64 } ", false),
            ("! no", true),
            ("no || yes", true),
            ("yes && no || yes", true),
            ("{ yes && lp64 } && { ! no }", true),
        ] {
            assert_eq!(evaluate(text, &Fixed), Ok(expected), "{text}");
        }
    }

    #[test]
    fn unknown_words_and_broken_shapes_are_refused() {
        assert_eq!(
            evaluate("whatever", &Fixed),
            Err(SelectorError::Unknown("whatever".into()))
        );
        assert!(evaluate("", &Fixed).is_err());
        assert!(evaluate("{ yes", &Fixed).is_err());
        assert!(evaluate("yes ! no", &Fixed).is_err());
    }

    #[test]
    fn patterns_match_whole_names() {
        assert!(glob("x86_64-*-linux*", "x86_64-pc-linux-gnu"));
        assert!(glob("i?86-*-*", "i686-pc-linux-gnu"));
        assert!(!glob("i?86-*-*", "x86_64-pc-linux-gnu"));
        assert!(!glob("x86_64", "x86_64-pc-linux-gnu"));
        assert!(glob("*", ""));
        assert!(!glob("?", ""));
    }
}
