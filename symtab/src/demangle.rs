//! Names as the programmer wrote them.

use std::borrow::Cow;
use std::fmt::{self, Write};

use crate::binutils_words::in_words_of_binutils;
use crate::constructors::with_results;
use crate::packs::spelled_with_packs;

/// Longest mangled name that is taken apart, in bytes; longer ones are shown as they are.
const MAX_MANGLED: usize = 16 * 1024;

/// Longest demangled name, in bytes: substitutions let a name of a few hundred bytes grow without end.
const MAX_DEMANGLED: usize = 64 * 1024;

/// Turns a linker's name into the source's: Rust (both manglings), C++ (Itanium) and procedures of gfortran's modules
/// (`__m_MOD_work` becomes `m::work`, of submodules `m::s::work`), everything else as it is.
///
/// Other names of gfortran stay: `foo_` (an external procedure; C may have that name too), `MAIN__` (the program),
/// `inner.1` (an internal procedure); what it makes for types keeps its name in the module: `m::__copy_m_T`,
/// `m::__vtab_m_T`.
///
/// C++ is spelled as binutils does, but for about one name in a thousand of large libraries. D's names stay as they are: no
/// maintained library takes them apart.
///
/// What the optimizer appended stays visible in the way binutils shows it: `_Z3foov.constprop.0` becomes
/// `foo() [clone .constprop.0]`. Bytes that are not UTF-8 are replaced.
#[must_use]
pub fn demangle(raw: &[u8]) -> Cow<'_, str> {
    let plain = || String::from_utf8_lossy(raw);
    if raw.len() > MAX_MANGLED || !raw.starts_with(b"_") {
        return plain();
    }
    let Ok(text) = std::str::from_utf8(raw) else {
        return plain();
    };
    if let Ok(name) = rustc_demangle::try_demangle(text) {
        return bounded(format_args!("{name:#}")).map_or_else(plain, Cow::Owned);
    }
    // A version or the mark of a stub: `_Z3foov@@VERS_1`, `_Z3foov@plt`.
    let (text, mark) = text.split_at(text.find('@').unwrap_or(text.len()));
    let (name, clone) = if raw.starts_with(b"_Z") || raw.starts_with(b"__Z") {
        let (mangled, clone) = text.split_at(text.find('.').unwrap_or(text.len()));
        (demangle_cpp(mangled), clone)
    } else {
        demangle_fortran(text)
    };
    match name {
        Some(name) => Cow::Owned(format!("{name}{}{mark}", CloneSuffix(clone))),
        None => plain(),
    }
}

/// A procedure or variable of a gfortran module, and the clone suffix: `__m_MOD_work` is `m::work`, `__m.s_MOD_work` of
/// a submodule `m::s::work`. gfortran makes lower case of all names, so `_MOD_` stands where modules end.
fn demangle_fortran(text: &str) -> (Option<String>, &str) {
    let parts = text
        .strip_prefix("__")
        .and_then(|rest| rest.split_once("_MOD_"));
    let Some((modules, rest)) = parts else {
        return (None, "");
    };
    let (procedure, clone) = rest.split_at(rest.find('.').unwrap_or(rest.len()));
    let is_module = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name
                .bytes()
                .all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'$'))
    };
    if procedure.is_empty() || !modules.split('.').all(is_module) {
        return (None, "");
    }
    (
        Some(format!("{}::{procedure}", modules.replace('.', "::"))),
        clone,
    )
}

/// Demangles one C++ name without clone suffix.
fn demangle_cpp(mangled: &str) -> Option<String> {
    let completed = with_results(mangled);
    let name = without_results(mangled, &completed).or_else(|| spelled_with_packs(&completed))?;
    Some(in_words_of_binutils(mangled, without_empty_packs(name)))
}

/// A variable, class or function inside a function template, without the result of the latter, as binutils has it.
fn without_results(mangled: &str, completed: &str) -> Option<String> {
    let behind = mangled.strip_prefix("_Z")?;
    let special = ["TV", "TT", "TI", "TS", "GV"]
        .iter()
        .find_map(|code| behind.strip_prefix(code));
    if !special.unwrap_or(behind).starts_with('Z') {
        return None;
    }
    let name = spelled_by(
        completed,
        cpp_demangle::DemangleOptions::new().no_return_type(),
    )?;
    // A template inside has a result of its own, which is told.
    (special.is_some() || !is_template_function(&name)).then_some(name)
}

/// Whether the last part of a function's qualified name has template arguments.
fn is_template_function(name: &str) -> bool {
    let (mut depth, mut template) = (0_i32, false);
    for (at, byte) in name.bytes().enumerate() {
        match byte {
            b':' if depth == 0 => template = false,
            b'<' if depth == 0 && !name[..at].ends_with("operator") => {
                (depth, template) = (1, true)
            }
            b'(' | b'{' | b'<' => depth += 1,
            b')' | b'}' | b'>' => depth -= 1,
            _ => {}
        }
    }
    template
}

/// The name in `cpp_demangle`'s words.
pub(crate) fn spelled(mangled: &str) -> Option<String> {
    spelled_by(mangled, cpp_demangle::DemangleOptions::new())
}

fn spelled_by(mangled: &str, options: cpp_demangle::DemangleOptions) -> Option<String> {
    let parsing = cpp_demangle::ParseOptions::default().recursion_limit(96);
    let symbol = cpp_demangle::Symbol::new_with_options(mangled.as_bytes(), &parsing).ok()?;
    let mut out = Bounded::default();
    symbol
        .structured_demangle(&mut out, &options.recursion_limit(128))
        .ok()?;
    Some(out.0)
}

/// Removes what an empty parameter pack leaves behind: `f<int, >(int*, &&)` is written `f<int>(int*)`.
///
/// No type is empty, so a separator with nothing, or nothing but a reference, behind it can only come from that.
fn without_empty_packs(mut name: String) -> String {
    const LEFTOVERS: [(&str, &str); 6] = [
        (", &&)", ")"),
        (", &&,", ","),
        (", &)", ")"),
        (", )", ")"),
        (", >", ">"),
        ("<, ", "<"),
    ];
    for (leftover, clean) in LEFTOVERS {
        // Several packs may be empty, one behind the other.
        while name.contains(leftover) {
            name = name.replace(leftover, clean);
        }
    }
    // `f<>(&&)`; but `bool (&&)(int)` is a reference to a function.
    if name.contains(">(&&)") {
        name = name.replace(">(&&)", ">()");
    }
    name
}

/// Prints into a text of bounded length.
fn bounded(text: fmt::Arguments) -> Option<String> {
    let mut out = Bounded::default();
    out.write_fmt(text).ok()?;
    Some(out.0)
}

/// A text that refuses to grow over [`MAX_DEMANGLED`].
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > MAX_DEMANGLED {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// `.constprop.0.isra.1` shown as ` [clone .constprop.0] [clone .isra.1]`, as binutils does.
struct CloneSuffix<'a>(&'a str);

impl fmt::Display for CloneSuffix<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut open = false;
        for part in self.0.split('.').skip(1) {
            let number = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            if open && !number {
                f.write_char(']')?;
                open = false;
            }
            if !open {
                f.write_str(" [clone ")?;
                open = true;
            }
            write!(f, ".{part}")?;
        }
        if open { f.write_char(']') } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_and_clones() {
        for (raw, expected) in [
            ("main", "main"),
            ("_start", "_start"),
            ("_Z3foov", "foo()"),
            ("_Z3foov.constprop.0", "foo() [clone .constprop.0]"),
            (
                "_Z3foov.constprop.0.isra.1",
                "foo() [clone .constprop.0] [clone .isra.1]",
            ),
            ("_Z3foov._omp_fn.0", "foo() [clone ._omp_fn.0]"),
            ("_Z3foov.cold", "foo() [clone .cold]"),
            ("foo.constprop.0", "foo.constprop.0"),
            ("_Z3foov@plt", "foo()@plt"),
            ("_Z3foov@@V_1.2", "foo()@@V_1.2"),
            ("puts@plt", "puts@plt"),
            ("__m_MOD_work", "m::work"),
            ("__m_MOD_work.constprop.0", "m::work [clone .constprop.0]"),
            ("__m_MOD_work@plt", "m::work@plt"),
            ("__m.s_MOD_local", "m::s::local"),
            ("__m_MOD___copy_m_T", "m::__copy_m_T"),
            ("__M_MOD_x", "__M_MOD_x"),
            ("__m_MOD_", "__m_MOD_"),
            ("___MOD_x", "___MOD_x"),
            ("MAIN__", "MAIN__"),
            ("foo_", "foo_"),
            (
                "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
                "core::fmt::Formatter::pad",
            ),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            (
                "_ZSt10_ConstructIiJEEvPT_DpOT0_",
                "void std::_Construct<int>(int*)",
            ),
            ("_Z1fIJEEvDpOT_", "void f<>()"),
            // Packs of values, and several empty packs, as libstdc++'s std::pair has them.
            (
                "_Z1gIiJLm0ELm1EEEiT_2IxIJXspT0_EEE",
                "int g<int, 0ul, 1ul>(int, Ix<0ul, 1ul>)",
            ),
            ("_Z1gIiJEEiT_2IxIJXspT0_EEE", "int g<int>(int, Ix<>)"),
            (
                "_ZNSt4pairIKilEC1IJRS0_EJLm0EEJEJEEERSt5tupleIJDpT_EERS4_IJDpT1_EESt12_Index_tupleIJXspT0_EEESD_IJXspT2_EEE",
                "std::pair<int const, long>::pair<int const&, 0ul>(std::tuple<int const&>&, std::tuple<>&, std::_Index_tuple<0ul>, std::_Index_tuple<>)",
            ),
            ("_Z1fOFbiE", "f(bool (&&)(int))"),
            ("_Zbroken", "_Zbroken"),
        ] {
            assert_eq!(demangle(raw.as_bytes()), expected, "{raw}");
        }
        assert_eq!(demangle(b"_Z\xff"), "_Z\u{fffd}");
    }

    #[test]
    fn growth_is_bounded() {
        // Each S_ doubles: a tuple of tuples of tuples.
        let mut name = String::from("_Z1f1TIiiE");
        for level in 0..60 {
            let id = if level == 0 {
                String::from("S_")
            } else {
                format!("S{}_", radix36(level - 1))
            };
            name.push_str(&format!("1TI{id}{id}E"));
        }
        assert!(demangle(name.as_bytes()).len() <= MAX_DEMANGLED.max(name.len()));
        let deep = format!("_Z1f{}i", "P".repeat(15_000));
        assert!(!demangle(deep.as_bytes()).is_empty());
    }

    fn radix36(mut n: u32) -> String {
        let mut digits = Vec::new();
        loop {
            digits.push(char::from_digit(n % 36, 36).unwrap().to_ascii_uppercase());
            n /= 36;
            if n == 0 {
                return digits.iter().rev().collect();
            }
        }
    }
}
