//! C++ names in the words of binutils, where `cpp_demangle` has its own.
//!
//! All of this works on the finished text: names of C++ contain no braces and no `(long)` of their own.

/// What stands around a special name, here and there.
const SPECIAL: [(&str, &str); 9] = [
    ("{vtable(", "vtable for "),
    ("{vtt(", "VTT for "),
    ("{typeinfo(", "typeinfo for "),
    ("{typeinfo name(", "typeinfo name for "),
    ("{transaction clone(", "transaction clone for "),
    ("{tls init(", "TLS init function for "),
    ("{tls wrapper(", "TLS wrapper function for "),
    ("{static initialization guard for ", "guard variable for "),
    ("{static initialization guard(", "guard variable for "),
];

/// Types of integers before their value, and the letters behind it.
const LITERALS: [(&str, &str); 6] = [
    ("(unsigned long long)", "ull"),
    ("(unsigned long)", "ul"),
    ("(unsigned int)", "u"),
    ("(long long)", "ll"),
    ("(long)", "l"),
    ("(int)", ""),
];

/// Streams of `char`, which have names of their own.
const STREAMS: [(&str, &str); 3] = [
    (
        "std::basic_istream<char, std::char_traits<char> >",
        "std::istream",
    ),
    (
        "std::basic_ostream<char, std::char_traits<char> >",
        "std::ostream",
    ),
    (
        "std::basic_iostream<char, std::char_traits<char> >",
        "std::iostream",
    ),
];

/// The name as `c++filt` and `addr2line -C` spell it.
pub(crate) fn in_words_of_binutils(mut name: String) -> String {
    if name.starts_with('{') {
        name = special(name);
    }
    for (long, short) in STREAMS {
        if name.contains(long) {
            name = without_stream(&name, long, short);
        }
    }
    if ["&::", "*::", " const::"]
        .iter()
        .any(|sign| name.contains(sign))
    {
        name = modifiers_behind(&name);
    }
    if LITERALS.iter().any(|(type_, _)| name.contains(type_)) {
        name = literals(&name);
    }
    name
}

/// `vtable for X` for `{vtable(X)}`, `non-virtual thunk to f()` for `{virtual override thunk({offset(-8)}, f())}`.
fn special(name: String) -> String {
    for (before, word) in SPECIAL {
        let end = if before.ends_with('(') { ")}" } else { "}" };
        if let Some(inner) = name
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(end))
        {
            return format!("{word}{inner}");
        }
    }
    let thunk = name
        .strip_prefix("{virtual override thunk(")
        .and_then(|rest| rest.strip_suffix(")}"));
    if let Some((offset, function)) = thunk.and_then(|thunk| thunk.split_once(")}, ")) {
        if offset.starts_with("{offset(") {
            return format!("non-virtual thunk to {function}");
        }
        if offset.starts_with("{virtual offset(") || offset.starts_with("{v-offset(") {
            return format!("virtual thunk to {function}");
        }
    }
    name
}

/// The stream by its short name, except where it stands before the name of its own constructor or destructor.
fn without_stream(name: &str, long: &str, short: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(long) {
        let (before, after) = (&rest[..at], &rest[at + long.len()..]);
        let own = after
            .strip_prefix("::")
            .map(|own| own.trim_start_matches('~'));
        let is_own = own.is_some_and(|own| own.starts_with("basic_") && own.contains('('));
        out.push_str(before);
        out.push_str(if is_own { long } else { short });
        rest = after;
    }
    out.push_str(rest);
    out
}

/// `A::B const&` for `A const&::B`, which `cpp_demangle` makes of a member of an abbreviated class.
fn modifiers_behind(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find("::") {
        let (before, member) = rest.split_at(at);
        let class = without_modifiers(before);
        // `f() const::{lambda()#1}` is right as it is.
        if class.len() == before.len() || class.is_empty() || class.ends_with(')') {
            out.push_str(&rest[..at + 2]);
            rest = &rest[at + 2..];
            continue;
        }
        let end = end_of_name(member);
        out.push_str(class);
        out.push_str(&member[..end]);
        out.push_str(&before[class.len()..]);
        rest = &member[end..];
    }
    out.push_str(rest);
    out
}

/// A type without `const`, `*` and `&` behind it.
fn without_modifiers(mut text: &str) -> &str {
    while let Some(shorter) = [" const", "*", "&"]
        .iter()
        .find_map(|modifier| text.strip_suffix(modifier))
    {
        text = shorter;
    }
    text
}

/// Where a qualified name with its template arguments ends.
fn end_of_name(text: &str) -> usize {
    let mut depth = 0u32;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth > 0 => depth -= 1,
            b',' | b')' | b'>' | b' ' | b'*' | b'&' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// `1ul` for `(unsigned long)1`.
fn literals(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('(') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let found = LITERALS.iter().find_map(|(type_, letters)| {
            let value = rest.strip_prefix(type_)?;
            let sign = usize::from(value.starts_with('-'));
            let digits = value[sign..].bytes().take_while(u8::is_ascii_digit).count();
            (digits > 0).then(|| (value.split_at(sign + digits), letters))
        });
        match found {
            Some(((value, after), letters)) => {
                out.push_str(value);
                out.push_str(letters);
                rest = after;
            }
            None => {
                out.push('(');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::in_words_of_binutils;

    #[test]
    fn the_finished_text_is_put_in_binutils_words() {
        for (text, expected) in [
            ("{vtable(a::B)}", "vtable for a::B"),
            (
                "{virtual override thunk({offset(-8)}, a::f(int))}",
                "non-virtual thunk to a::f(int)",
            ),
            ("f(A&::B, int)", "f(A::B&, int)"),
            ("f(A&::B<int, C>::D)", "f(A::B<int, C>::D&)"),
            ("f(A const*::B, A*::C)", "f(A::B const*, A::C*)"),
            ("A::f() const::{lambda()#1}", "A::f() const::{lambda()#1}"),
            ("a<(unsigned long)3, (long)-1>", "a<3ul, -1l>"),
            ("f(long)", "f(long)"),
            (
                "{lambda(int)#1}::operator()(int)",
                "{lambda(int)#1}::operator()(int)",
            ),
            (
                "std::basic_istream<char, std::char_traits<char> >::get()",
                "std::istream::get()",
            ),
            (
                "std::basic_istream<char, std::char_traits<char> >::~basic_istream()",
                "std::basic_istream<char, std::char_traits<char> >::~basic_istream()",
            ),
        ] {
            assert_eq!(in_words_of_binutils(text.to_owned()), expected);
        }
    }
}
