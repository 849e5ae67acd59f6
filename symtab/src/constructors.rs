//! The arguments of constructors that are templates.
//!
//! `cpp_demangle` 0.5 takes the first type behind the name of every function template for its result, and leaves it
//! out. Constructors have none (Itanium C++ ABI, 5.1.5.3 and 5.1.4.1: "constructors, destructors and conversion
//! operator functions do not have return types encoded"), so it is their first argument that gets lost. Here they get
//! a result, `v`, to lose: no substitution is made of it, so everything behind it keeps its number.

use std::borrow::Cow;

/// Functions in functions that are looked at.
const MAX_DEPTH: usize = 8;

/// How often a name is tried: a bound for hostile names.
const MAX_TRIES: u32 = 64;

/// The mangled name with a result for each constructor template whose name ends inside.
pub(crate) fn with_results(mangled: &str) -> Cow<'_, str> {
    let Some(encoding) = mangled.strip_prefix("_Z").filter(|_| has_pattern(mangled)) else {
        return Cow::Borrowed(mangled);
    };
    let mut search = Search {
        tries: MAX_TRIES,
        prefix: String::with_capacity(mangled.len() + 8),
    };
    let mut ends = Vec::new();
    // A local name, `Z <encoding> E <entity>`, has one encoding in another.
    let depth = encoding.len() - encoding.trim_start_matches('Z').len();
    for inner in (0..=depth.min(MAX_DEPTH)).rev() {
        search.ends(&encoding[inner..], |end| ends.push(inner + end));
    }
    if ends.is_empty() {
        return Cow::Borrowed(mangled);
    }
    ends.sort_unstable();
    ends.dedup();
    let mut out = mangled.to_owned();
    for end in ends.iter().rev() {
        out.insert("_Z".len() + end, 'v');
    }
    Cow::Owned(out)
}

/// Whether a constructor's template arguments, or an inherited one, could stand here. Nearly all names end here.
fn has_pattern(mangled: &str) -> bool {
    candidates(mangled).next().is_some()
}

/// Places of `C1`, `C2` … that may be constructors of templates, and of inherited `CI1`, `CI2`.
fn candidates(text: &str) -> impl Iterator<Item = usize> + '_ {
    let bytes = text.as_bytes();
    bytes.windows(3).enumerate().filter_map(|(at, word)| {
        let found = matches!(
            word,
            [b'C', b'1'..=b'5', b'I' | b'B'] | [b'C', b'I', b'1' | b'2']
        );
        found.then_some(at)
    })
}

struct Search {
    tries: u32,
    /// Room for what is tried.
    prefix: String,
}

impl Search {
    /// Tells where in `encoding` the name of a constructor template ends and arguments follow.
    fn ends(&mut self, encoding: &str, mut tell: impl FnMut(usize)) {
        for at in candidates(encoding) {
            // A constructor of this very function, not one in an argument: the name may end behind it.
            if !self.is_name(&encoding[..at], "C1Ev") {
                continue;
            }
            let letters = encoding[at..].bytes().enumerate();
            let closing = letters
                .filter(|&(_, byte)| byte == b'E')
                .map(|(to, _)| at + to + 1);
            for end in closing {
                if self.tries == 0 {
                    return;
                }
                if self.is_name(&encoding[..end], "v") {
                    // Template arguments end in `E`, the name in another; of an inherited constructor, its class may too.
                    if end < encoding.len() && self.is_template(&encoding[..end]) {
                        tell(end);
                    }
                    return;
                }
            }
        }
    }

    /// Whether this is a function without arguments.
    fn is_name(&mut self, start: &str, end: &str) -> bool {
        self.parsed(start, end).is_some()
    }

    fn is_template(&mut self, name: &str) -> bool {
        self.parsed(name, "v")
            .is_some_and(|text| text.ends_with(">()"))
    }

    /// How it is written, if it is a name.
    fn parsed(&mut self, start: &str, end: &str) -> Option<String> {
        self.tries = self.tries.checked_sub(1)?;
        self.prefix.clear();
        self.prefix.extend(["_Z", start, end]);
        crate::demangle::spelled(&self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::with_results;

    #[test]
    fn a_constructor_template_gets_a_result() {
        for (name, expected) in [
            ("_ZN1AC2IiEEiT_", "_ZN1AC2IiEEviT_"),
            ("_ZN1AIiEC1IiEEiT_", "_ZN1AIiEC1IiEEviT_"),
            (
                "_ZNSt6threadC1IRFviEJRiEvEEOT_DpOT0_",
                "_ZNSt6threadC1IRFviEJRiEvEEvOT_DpOT0_",
            ),
            // In a constructor: a lambda, and a class with a constructor of its own.
            ("_ZZN1AC1IiEET_ENKUlvE_clEv", "_ZZN1AC1IiEEvT_ENKUlvE_clEv"),
            (
                "_ZZN1AC1IiEET_EN1LC2IcEES1_",
                "_ZZN1AC1IiEEvT_EN1LC2IcEEvS1_",
            ),
            // No template, another template, an argument that is one, a name that looks like one.
            ("_ZN1AIiEC1Ei", "_ZN1AIiEC1Ei"),
            ("_ZN1A1fIiEEvT_", "_ZN1A1fIiEEvT_"),
            ("_Z1fIXcvbC1IiEEEvv", "_Z1fIXcvbC1IiEEEvv"),
            ("_ZN4xC1I1fIiEEvT_", "_ZN4xC1I1fIiEEvT_"),
        ] {
            assert_eq!(with_results(name), expected);
        }
    }

    #[test]
    fn hostile_names_end() {
        let long = format!("_Z{}", "NC1I".repeat(4000));
        assert_eq!(with_results(&long), long);
        let long = format!("_ZN1AC1I{}", "E".repeat(16_000));
        assert_eq!(with_results(&long), long);
        let long = "_Z".to_owned() + &"Z".repeat(16_000) + "C1I";
        assert_eq!(with_results(&long), long);
    }
}
