//! Packs of arguments that are references: `f<A, B>(A&&, B&&)`.
//!
//! `cpp_demangle` 0.5 writes what stands around an expanded pack, `const` and `&&`, behind the last type only. Where the pack
//! is what the mangled name ends in, and nearly all are, its types are asked for alone and the signs are put behind each.

use crate::demangle::spelled;

/// The name as `cpp_demangle` writes it, with the signs of its last pack behind each type of the pack.
pub(crate) fn spelled_with_packs(mangled: &str) -> Option<String> {
    let Some((start, signs, parameter)) = last_pack(mangled) else {
        return spelled(mangled);
    };
    expanded(start, &signs, parameter).or_else(|| spelled(mangled))
}

/// What is around the types of a pack, in the order of the text: `" const"`, `"&"`.
type Signs = Vec<&'static str>;

/// Takes `_Z…DpRKT0_` apart: what is before `Dp`, the signs, and the parameter `T0_`.
fn last_pack(mangled: &str) -> Option<(&str, Signs, &str)> {
    let (start, pattern) = mangled.rsplit_once("Dp")?;
    let parameter = pattern.trim_start_matches(['R', 'O', 'P', 'K', 'V']);
    let number = parameter.strip_prefix('T')?.strip_suffix('_')?;
    let codes = &pattern[..pattern.len() - parameter.len()];
    let plain = codes.is_empty() || codes.len() > 4;
    if plain
        || !number
            .bytes()
            .all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
    {
        return None;
    }
    let signs = codes.bytes().rev().map(|code| match code {
        b'R' => "&",
        b'O' => "&&",
        b'P' => "*",
        b'V' => " volatile",
        _ => " const",
    });
    Some((start, signs.collect(), parameter))
}

fn expanded(start: &str, signs: &Signs, parameter: &str) -> Option<String> {
    let without = spelled(start).filter(|text| text.contains('('));
    // A pack that is all there is: the name without arguments.
    let without = without.or_else(|| spelled(&format!("{start}v")))?;
    let bare = spelled(&format!("{start}Dp{parameter}"))?;
    let closing = bare.len() - bare.rfind(')')?;
    let (open, end) = without.split_at(without.len().checked_sub(closing)?);
    let types = bare.strip_prefix(open)?.strip_suffix(end)?;
    let (comma, types) = match types.strip_prefix(", ") {
        Some(types) => (", ", types),
        None => ("", types),
    };
    let types: Vec<String> = elements(types)
        .into_iter()
        .map(|element| with_signs(element, signs))
        .collect::<Option<_>>()?;
    let comma = if types.is_empty() { "" } else { comma };
    Some(format!("{open}{comma}{}{end}", types.join(", ")))
}

/// The types between the commas that no bracket holds.
fn elements(types: &str) -> Vec<&str> {
    let (mut depth, mut from) = (0_i32, 0);
    let mut found = Vec::new();
    for (at, byte) in types.bytes().enumerate() {
        match byte {
            b'<' | b'(' | b'{' | b'[' => depth += 1,
            b'>' | b')' | b'}' | b']' => depth -= 1,
            b',' if depth == 0 => {
                found.push(types[from..at].trim_start());
                from = at + 1;
            }
            _ => {}
        }
    }
    found.push(types[from..].trim_start());
    found.retain(|element| !element.is_empty());
    found
}

/// `A const&` of `A`; references fold as the language folds them (C++17, 11.3.2 [dcl.ref] paragraph 6).
///
/// `None` for what is wrapped around its signs in yet another way.
fn with_signs(element: &str, signs: &Signs) -> Option<String> {
    // What the signs are put behind, and what follows them.
    let (mut text, behind) = match around_signs(element) {
        Some(at) => element.split_at(at),
        None if element.ends_with(')') => return None,
        None => (element, ""),
    };
    let array = match behind.is_empty() {
        true => text.rfind(" [").filter(|_| text.ends_with(']')).map(|at| {
            let bounds = &text[at..];
            text = &text[..at];
            bounds
        }),
        false => None,
    };
    let (mut text, mut inner) = (text.to_owned(), String::new());
    for &sign in signs {
        let signed = if inner.is_empty() {
            &mut text
        } else {
            &mut inner
        };
        let reference = signed.ends_with('&');
        match sign {
            // Constness of a reference is dropped, that of a constant is not doubled.
            " const" | " volatile" if reference || signed.ends_with(sign) => {}
            "&" if signed.ends_with("&&") => {
                signed.pop();
            }
            "&" | "&&" if reference => {}
            "*" if reference => return None,
            "&" | "&&" | "*" if array.is_some() => inner.push_str(sign),
            _ => signed.push_str(sign),
        }
    }
    Some(match array {
        Some(bounds) if inner.is_empty() => text + bounds,
        Some(bounds) => format!("{text} ({inner}){bounds}"),
        None => text + behind,
    })
}

/// Where signs go in `void (*)(int)` and `char (&) [3]`: before the parenthesis that closes behind the last of them.
fn around_signs(element: &str) -> Option<usize> {
    element.ends_with([')', ']']).then_some(())?;
    let found = ["*)(", "&)(", "*) [", "&) ["]
        .iter()
        .filter_map(|signs| element.find(signs));
    found.min().map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::{spelled_with_packs, with_signs};

    #[test]
    fn each_type_of_a_pack_has_its_signs() {
        for (name, expected) in [
            ("_Z1fIJicEEvDpOT_", "void f<int, char>(int&&, char&&)"),
            ("_Z1fIJRicEEvDpOT_", "void f<int&, char>(int&, char&&)"),
            (
                "_Z1fIJicEEvDpRKT_",
                "void f<int, char>(int const&, char const&)",
            ),
            (
                "_Z1fIiJA3_cdEEvT_DpRKT0_",
                "void f<int, char [3], double>(int, char const (&) [3], double const&)",
            ),
            (
                "_Z1fIJicEEvDpPKT_",
                "void f<int, char>(int const*, char const*)",
            ),
            ("_Z1fIJiEEvDpOT_", "void f<int>(int&&)"),
            (
                "_ZNK1A1fIJicEEEvDpOT_",
                "void A::f<int, char>(int&&, char&&) const",
            ),
            (
                "_Z1fIJSt4pairIicES1_EEvDpOT_",
                "void f<std::pair<int, char>, std::pair<int, char> >(std::pair<int, char>&&, std::pair<int, char>&&)",
            ),
        ] {
            assert_eq!(
                spelled_with_packs(name).as_deref(),
                Some(expected),
                "{name}"
            );
        }
    }

    #[test]
    fn signs_go_into_what_is_wrapped_around_them() {
        for (element, signs, expected) in [
            ("void (*)(int)", vec!["&&"], Some("void (*&&)(int)")),
            (
                "char const (&) [3]",
                vec![" const", "&"],
                Some("char const (&) [3]"),
            ),
            ("char [3]", vec![" const"], Some("char const [3]")),
            ("void (int)", vec!["&"], None),
        ] {
            assert_eq!(with_signs(element, &signs).as_deref(), expected);
        }
    }
}
