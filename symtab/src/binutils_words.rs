//! C++ names in the words of binutils, where `cpp_demangle` has its own.
//!
//! All of this works on the finished text: names of C++ contain no braces and no `(long)` of their own.

/// What stands around a special name, here and there.
const SPECIAL: [(&str, &str); 7] = [
    ("{vtable(", "vtable for "),
    ("{vtt(", "VTT for "),
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

/// Streams of `char`, which have names of their own where they are abbreviated in the mangled name.
const STREAMS: [(&str, &str, &str); 3] = [
    (
        "Si",
        "std::basic_istream<char, std::char_traits<char> >",
        "std::istream",
    ),
    (
        "So",
        "std::basic_ostream<char, std::char_traits<char> >",
        "std::ostream",
    ),
    (
        "Sd",
        "std::basic_iostream<char, std::char_traits<char> >",
        "std::iostream",
    ),
];

/// Abbreviated classes before their constructors and destructors, which are written with the whole name.
const OWN_NAMES: [(&str, &str, &str); 4] = [
    (
        "std::string::",
        "string",
        "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::",
    ),
    (
        "std::istream::",
        "istream",
        "std::basic_istream<char, std::char_traits<char> >::",
    ),
    (
        "std::ostream::",
        "ostream",
        "std::basic_ostream<char, std::char_traits<char> >::",
    ),
    (
        "std::iostream::",
        "iostream",
        "std::basic_iostream<char, std::char_traits<char> >::",
    ),
];

/// The name as `c++filt` and `addr2line -C` spell it.
pub(crate) fn in_words_of_binutils(mangled: &str, mut name: String) -> String {
    if name.starts_with('{') {
        name = special(name);
    }
    for (code, long, short) in STREAMS {
        if mangled.contains(code) && name.contains(long) {
            name = without_stream(&name, long, short);
        }
    }
    for (class, own, long) in OWN_NAMES {
        if name.contains(class) {
            name = with_whole_class(&name, class, own, long);
        }
    }
    if name.contains("decltype ((") {
        name = plain_calls(&name);
    }
    if name.contains(")>") || name.contains("), ") || name.contains(") >") {
        name = functions_as_arguments(&name);
    }
    if name.starts_with("typeinfo ") && name.ends_with(')') {
        // The type of a function.
        if let Some((result, arguments)) = name.split_once('(')
            && ends_type(result.as_bytes())
        {
            name = format!("{result} ({arguments}");
        }
    }
    if name.contains("std::nullptr_t") {
        name = name.replace("std::nullptr_t", "decltype(nullptr)");
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
    if mangled.contains("Xsp") && name.contains(")...") {
        name = packs_of_values(&name);
    }
    name
}

/// `f<0ul, 1ul>` for `f<(0ul, 1ul)...>`: a pack of values that is expanded. One that is not has a name in the parentheses.
fn packs_of_values(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(end) = rest.find(")...") {
        let (before, behind) = (&rest[..end], &rest[end + 4..]);
        let open = before.rfind('(').filter(|&open| {
            let mut values = before[open + 1..].split(", ");
            before.len() == open + 1
                || values.all(|value| {
                    let digits = value.strip_prefix('-').unwrap_or(value);
                    digits.starts_with(|c: char| c.is_ascii_digit())
                        && digits.bytes().all(|b| b.is_ascii_alphanumeric())
                })
        });
        match open {
            Some(open) => {
                out.push_str(&before[..open]);
                out.push_str(&before[open + 1..]);
            }
            None => out.push_str(&rest[..end + 4]),
        }
        rest = behind;
    }
    out + rest
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

/// `std::basic_string<…>::basic_string(` for `std::string::string(`.
fn with_whole_class(name: &str, class: &str, own: &str, long: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find(class) {
        let (before, member) = (&rest[..at], &rest[at + class.len()..]);
        let tilde = if member.starts_with('~') { "~" } else { "" };
        let behind = member[tilde.len()..].strip_prefix(own);
        out.push_str(before);
        match behind.filter(|behind| behind.starts_with(['(', '<'])) {
            Some(behind) => {
                out.extend([long, tilde, "basic_", own]);
                rest = behind;
            }
            None => {
                out.push_str(class);
                rest = member;
            }
        }
    }
    out.push_str(rest);
    out
}

/// `f(x)` for `(f)(x)`, in `decltype`, where `f` is a name without template arguments.
fn plain_calls(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('(') {
        let (before, behind) = (&rest[..at], &rest[at + 1..]);
        out.push_str(before);
        let end = behind
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
            .unwrap_or(behind.len());
        let (callee, after) = behind.split_at(end);
        if !callee.is_empty() && after.starts_with(")(") && !is_builtin(callee) {
            out.extend([callee, "("]);
            rest = &after[2..];
        } else {
            out.push('(');
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// A type, so that `(bool)(x)` is no call.
fn is_builtin(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "void"
            | "unsigned"
            | "wchar_t"
    )
}

/// `function<R (A)>` for `function<R(A)>`, `A<&(f(int))>` for `A<&f(int)>` and `A<&f>` for `A<&f()>`.
fn functions_as_arguments(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut open = Vec::new();
    // Places, what is left out there and what is put there.
    let mut edits: Vec<(usize, usize, &str)> = Vec::new();
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'(' => open.push(at),
            b')' => {
                let Some(start) = open.pop() else { continue };
                if !ends_type(&bytes[..start]) || !ends_argument(&bytes[at + 1..]) {
                    continue;
                }
                match argument_start(&bytes[..start]) {
                    Some(from) if bytes[from] != b'&' => edits.push((start, 0, " ")),
                    Some(_) if start + 1 == at => edits.push((start, 2, "")),
                    Some(from) => edits.extend([(from + 1, 0, "("), (at + 1, 0, ")")]),
                    None => {}
                }
            }
            _ => {}
        }
    }
    edits.sort_by_key(|&(at, ..)| at);
    let mut out = String::with_capacity(name.len() + edits.len());
    let mut from = 0;
    for (at, left_out, text) in edits {
        out.extend([&name[from..at], text]);
        from = at + left_out;
    }
    out.push_str(&name[from..]);
    out
}

/// Whether a type may end here, before the parenthesis of a function's arguments.
fn ends_type(text: &[u8]) -> bool {
    text.last().is_some_and(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'>' | b'*' | b'&')
    })
}

/// Whether a template's argument ends before this text.
fn ends_argument(text: &[u8]) -> bool {
    text.starts_with(b">") || text.starts_with(b", ") || text.starts_with(b" >")
}

/// How far one looks back for the beginning of an argument, in bytes: hostile names are long.
const MAX_ARGUMENT: usize = 4096;

/// Where the template argument begins whose type or name, without function in it, ends here.
fn argument_start(text: &[u8]) -> Option<usize> {
    let mut depth = 0u32;
    for (at, &byte) in text.iter().enumerate().rev().take(MAX_ARGUMENT) {
        match byte {
            b'>' => depth += 1,
            b'<' if depth > 0 => depth -= 1,
            b'<' => return Some(at + 1),
            b',' if depth == 0 => {
                return (in_template(&text[..at]) && text.len() > at + 2).then_some(at + 2);
            }
            b'(' | b')' | b'{' | b'}' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Whether the innermost bracket that is open here is a template's.
fn in_template(text: &[u8]) -> bool {
    let mut depth = 0u32;
    for &byte in text.iter().rev().take(MAX_ARGUMENT) {
        match byte {
            b'>' | b')' | b'}' => depth += 1,
            b'<' | b'(' | b'{' if depth > 0 => depth -= 1,
            b'<' => return true,
            b'(' | b'{' => return false,
            _ => {}
        }
    }
    false
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
            (
                "std::string::string(char)",
                "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string(char)",
            ),
            (
                "std::ostream::~ostream()",
                "std::basic_ostream<char, std::char_traits<char> >::~basic_ostream()",
            ),
            ("f(std::string::size_type)", "f(std::string::size_type)"),
            (
                "decltype ((f)((g)((h<int>)(1)))) a()",
                "decltype (f(g((h<int>)(1)))) a()",
            ),
            ("decltype ((bool)(x)) a()", "decltype ((bool)(x)) a()"),
            (
                "f(a<b::R(b::A, int)>, a<int, R(A)>)",
                "f(a<b::R (b::A, int)>, a<int, R (A)>)",
            ),
            ("a<f(int)::{lambda(int)#1}>", "a<f(int)::{lambda(int)#1}>"),
            ("a<&f(int), &g()>", "a<&(f(int)), &g>"),
            ("typeinfo for a::R(a::A)", "typeinfo for a::R (a::A)"),
            ("f<std::nullptr_t>()", "f<decltype(nullptr)>()"),
        ] {
            let mangled = "_ZSi";
            assert_eq!(in_words_of_binutils(mangled, text.to_owned()), expected);
        }
    }
}
