//! Names of the functions that compilers make of OpenMP constructs.
//!
//! GCC names the body of a parallel region or task after the function it stands in: `main._omp_fn.0`; the function
//! that copies a task's data is `main._omp_cpyfn.1`. Clang before 17 writes `.omp_outlined.`, `.omp_outlined..3`; later
//! ones write `main.omp_outlined`, and `main.omp_outlined.omp_outlined` for a region inside of that one. All name the
//! entry of a task `.omp_task_entry.`, `.omp_task_entry..5`.

use crate::demangle::demangle;

/// What an outlined function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutlinedKind {
    /// Body of a parallel region or a task by GCC (`_omp_fn`); the name does not tell which.
    Body,
    /// Copies the data of a task (`_omp_cpyfn`).
    Copy,
    /// Body of a parallel region, or of a task inside its entry, by clang (`.omp_outlined.`).
    Region,
    /// Entry of a task by clang (`.omp_task_entry.`).
    Task,
}

/// An outlined function's name, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlined {
    /// Demangled name of the function that holds the construct: `main`, `foo()` for `_Z3foov._omp_fn.0`; `None`
    /// where the compiler does not tell (clang before 17).
    pub parent: Option<String>,
    /// Name of the parent as the linker sees it: `main`, `_Z3foov`, `__m_MOD_work`.
    pub parent_raw: Option<String>,
    /// The compiler's number of the construct, unique in a translation unit, not in a program.
    pub index: u32,
    /// What the function does.
    pub kind: OutlinedKind,
}

/// The marks compilers put between the parent's name and the number, and what they mean.
const MARKS: [(&str, OutlinedKind); 6] = [
    ("._omp_fn.", OutlinedKind::Body),
    ("._omp_cpyfn.", OutlinedKind::Copy),
    (".omp_outlined", OutlinedKind::Region),
    (".omp_task_entry.", OutlinedKind::Task),
    (".omp_task_privates_map.", OutlinedKind::Copy),
    (".omp_task_dup.", OutlinedKind::Copy),
];

/// Index of the mark of clang's regions.
const CLANG_REGION: usize = 2;

/// Takes the name of an outlined function apart, or says that it is none.
///
/// Clones that the optimizer made of it (`main._omp_fn.0.constprop.0`, `main._omp_fn.0.cold`) count as the same
/// function.
///
/// ```
/// let body = instr_symtab::parse_outlined("main._omp_fn.3").unwrap();
/// assert_eq!((body.parent.as_deref(), body.index), (Some("main"), 3));
/// assert!(instr_symtab::parse_outlined("main").is_none());
/// ```
#[must_use]
pub fn parse_outlined(name: &str) -> Option<Outlined> {
    let parts = take_apart(name)?;
    let parent = (!parts.parent.is_empty()).then_some(parts.parent);
    Some(Outlined {
        parent: parent.map(|parent| demangle(parent.as_bytes()).into_owned()),
        parent_raw: parent.map(str::to_owned),
        index: parts.index,
        kind: parts.kind,
    })
}

/// An outlined function's name as [`parse_outlined`] finds it, without copies.
pub(crate) struct Parts<'n> {
    /// Empty where the name does not tell.
    pub(crate) parent: &'n str,
    pub(crate) index: u32,
    pub(crate) kind: OutlinedKind,
}

/// See [`parse_outlined`].
pub(crate) fn take_apart(name: &str) -> Option<Parts<'_>> {
    let (at, mark, kind) = MARKS
        .iter()
        .filter_map(|&(mark, kind)| Some((name.rfind(mark)?, mark, kind)))
        .max_by_key(|&(at, ..)| at)?;
    let rest = &name[at + mark.len()..];
    let index = match mark {
        "._omp_fn." | "._omp_cpyfn." => leading_number(rest)?,
        _ => clang_number(rest)?,
    };
    let parent = &name[..at];
    Some(Parts {
        parent,
        index,
        kind,
    })
}

/// The name without what the optimizer appended: `main._omp_fn.0` for `main._omp_fn.0.constprop.0.cold`.
pub(crate) fn without_clones(name: &str) -> &str {
    let mark = MARKS
        .iter()
        .filter_map(|(mark, _)| Some(name.rfind(mark)? + mark.len()))
        .max();
    let rest = &name[mark.unwrap_or(name.len())..];
    let letters = rest.char_indices().zip(rest.chars().skip(1));
    let suffix = letters
        .filter(|&((_, dot), letter)| dot == '.' && letter.is_ascii_alphabetic())
        .map(|((at, _), _)| at)
        .next();
    &name[..name.len() - rest.len() + suffix.unwrap_or(rest.len())]
}

/// Whether clang made the function for a debugger's sake (`.omp_outlined._debug__`): the body that the outlined
/// function calls or inlines.
pub(crate) fn is_debug_body(name: &str) -> bool {
    let (mark, _) = MARKS[CLANG_REGION];
    let rest = name.rfind(mark).map(|at| &name[at + mark.len()..]);
    rest.is_some_and(|rest| rest.trim_start_matches('.').starts_with("_debug__"))
}

/// The function of the source that a name starts with: `main` for `main.omp_outlined.omp_outlined`, empty where the
/// name does not tell.
pub(crate) fn source_function(name: &str) -> &str {
    let mut function = name;
    while let Some(parts) = take_apart(function) {
        function = parts.parent;
    }
    function
}

/// The number at the start of a text, followed by nothing or by a clone's suffix (`.constprop.0`).
fn leading_number(rest: &str) -> Option<u32> {
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(digits);
    if !suffix.is_empty() && !suffix.starts_with('.') {
        return None;
    }
    number.parse().ok()
}

/// The number after clang's mark: nothing or `.` for the first, then `.1`, `..1`. None for helpers that belong to the
/// outlined function: `main.omp_outlined.omp.reduction.reduction_func`.
fn clang_number(rest: &str) -> Option<u32> {
    if rest.contains(".omp.") {
        return None;
    }
    let digits = rest.trim_start_matches('.');
    if digits.is_empty() {
        return Some(0);
    }
    let (number, suffix) = digits.split_at(
        digits
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(digits.len()),
    );
    match number.parse() {
        Ok(number) if rest.starts_with('.') || suffix.is_empty() => Some(number),
        // `_debug__` and other suffixes: the function is still the outlined one.
        _ if rest.starts_with(['.', '_']) => Some(0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(name: &str) -> Option<(Option<String>, u32, OutlinedKind)> {
        parse_outlined(name).map(|o| (o.parent, o.index, o.kind))
    }

    fn is(name: &str, parent: Option<&str>, index: u32, kind: OutlinedKind) {
        assert_eq!(
            parts(name),
            Some((parent.map(str::to_owned), index, kind)),
            "{name}"
        );
    }

    #[test]
    fn gcc_bodies_and_copy_functions() {
        is("main._omp_fn.0", Some("main"), 0, OutlinedKind::Body);
        is("main._omp_fn.12", Some("main"), 12, OutlinedKind::Body);
        is("main._omp_cpyfn.1", Some("main"), 1, OutlinedKind::Copy);
        is(
            "main._omp_fn.0.constprop.0",
            Some("main"),
            0,
            OutlinedKind::Body,
        );
        is("main._omp_fn.4.cold", Some("main"), 4, OutlinedKind::Body);
        // A construct inside of an outlined function belongs to that one.
        is(
            "main._omp_fn.0._omp_fn.1",
            Some("main._omp_fn.0"),
            1,
            OutlinedKind::Body,
        );
    }

    #[test]
    fn fortran_and_cpp_parents() {
        is("foo_._omp_fn.1", Some("foo_"), 1, OutlinedKind::Body);
        is(
            "__m_MOD_work._omp_fn.2",
            Some("m::work"),
            2,
            OutlinedKind::Body,
        );
        is("MAIN__._omp_fn.0", Some("MAIN__"), 0, OutlinedKind::Body);
        is("_Z3foov._omp_fn.0", Some("foo()"), 0, OutlinedKind::Body);
        is(
            "_ZN1a1BIiE3runEv._omp_fn.7",
            Some("a::B<int>::run()"),
            7,
            OutlinedKind::Body,
        );
    }

    #[test]
    fn clang_spellings_old_and_new() {
        is(".omp_outlined.", None, 0, OutlinedKind::Region);
        is(".omp_outlined..3", None, 3, OutlinedKind::Region);
        is(".omp_task_entry.", None, 0, OutlinedKind::Task);
        is(".omp_task_entry..5", None, 5, OutlinedKind::Task);
        is("main.omp_outlined", Some("main"), 0, OutlinedKind::Region);
        is("main.omp_outlined.1", Some("main"), 1, OutlinedKind::Region);
        is(".omp_outlined._debug__", None, 0, OutlinedKind::Region);
        is(
            "main.omp_outlined_debug__.omp_outlined",
            Some("main.omp_outlined_debug__"),
            0,
            OutlinedKind::Region,
        );
    }

    #[test]
    fn only_the_innermost_region_says_whether_a_body_is_a_debuggers() {
        for (name, expected) in [
            (".omp_outlined._debug__", true),
            (".omp_outlined._debug__.7", true),
            ("main.omp_outlined_debug__", true),
            ("main.omp_outlined_debug__.omp_outlined", false),
            ("main.omp_outlined_debug__.omp_outlined_debug__.1", true),
            ("main.omp_outlined", false),
            ("my_debug__.omp_outlined", false),
            ("main._omp_fn.0", false),
        ] {
            assert_eq!(is_debug_body(name), expected, "{name}");
        }
    }

    #[test]
    fn names_start_with_the_function_of_the_source() {
        for (name, expected) in [
            ("main.omp_outlined_debug__.omp_outlined.3", "main"),
            ("_Z1fi._omp_fn.0._omp_fn.1", "_Z1fi"),
            (".omp_task_entry..2", ""),
            ("main", "main"),
        ] {
            assert_eq!(source_function(name), expected, "{name}");
        }
    }

    #[test]
    fn other_names_are_not_outlined() {
        for name in [
            "main",
            "",
            "._omp_fn.",
            "main._omp_fn.x",
            "main._omp_fn.1x",
            "omp_fn.0",
            "main._omp_fn.99999999999",
            ".omp.reduction.reduction_func",
            "main.omp_outlined.omp.reduction.reduction_func",
            "main.omp_outlined_debug__.omp.reduction.reduction_func.1",
        ] {
            assert_eq!(parse_outlined(name), None, "{name}");
        }
    }
}
