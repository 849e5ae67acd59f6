//! Names of code addresses, and how they are shown.

use crate::model::Code;

/// What an address stands for, as far as the symbol tables tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeName {
    /// Function as the linker knows it (demangled where the language mangles), e.g. `main._omp_fn.0`.
    pub function: Option<String>,
    /// Source file of the function's first line.
    pub file: Option<String>,
    /// Source line, from 1.
    pub line: Option<u32>,
    /// Path of the module that holds the address.
    pub module: Option<String>,
    /// File and line as they are shown, where base name and line would not tell this directive from another one:
    /// `sub/lu.c:12`, `lu.c:12 #1`, `lu.c #1`.
    pub place: Option<String>,
}

/// A source of names: the symbol tables of one traced process. Addresses are those of the process.
pub trait Names {
    /// The name of the code at `address`; `None` when nothing is known about it.
    fn resolve(&self, address: u64) -> Option<CodeName>;

    /// Base name of the file that the code at `address` was loaded from, also when its functions have no names: libraries
    /// are delivered without those of their static functions. `None` outside of every file.
    fn object(&self, _address: u64) -> Option<String> {
        None
    }

    /// Whether the call that returns to `site` and the call before it stand at one place of the source, file, line and
    /// column: such calls the compiler made of a directive. `None` when the debug information does not tell.
    fn is_pair_of_directive(&self, _site: u64) -> Option<bool> {
        None
    }

    /// Whether the code at `address` is the runtime's that records the trace.
    fn is_of_tracer(&self, _address: u64) -> bool {
        false
    }

    /// Return addresses above a function that was interrupted at `pc`, innermost first: `registers` and the words of `stack`
    /// from `sp` on are those of an event `sample_stack`. Empty when nothing is known of the code.
    fn callers(&self, _pc: u64, _sp: u64, _registers: &[u64], _stack: &[u64]) -> Vec<u64> {
        Vec::new()
    }

    /// Return addresses above a function that was interrupted at `pc` with its stack pointer at `sp` and `frame` in the register
    /// of the frame pointer, innermost first: `words` are those of the stack from `sp` on, few of them, and `by_frames` the return
    /// addresses that the frame pointer led to. In a function's first and last instructions its own is not among the latter.
    /// `None` when nothing is known of the code at `pc`.
    fn callers_with_frames(
        &self,
        _pc: u64,
        _sp: u64,
        _frame: u64,
        _words: &[u64],
        _by_frames: &[u64],
    ) -> Option<Vec<u64>> {
        None
    }

    /// Whether a call can return to `address`. Words that frame pointers lead to are none where code keeps no frame pointer.
    fn is_return_address(&self, _address: u64) -> bool {
        true
    }
}

impl<N: Names + ?Sized> Names for &N {
    fn resolve(&self, address: u64) -> Option<CodeName> {
        (**self).resolve(address)
    }

    fn object(&self, address: u64) -> Option<String> {
        (**self).object(address)
    }

    fn is_pair_of_directive(&self, site: u64) -> Option<bool> {
        (**self).is_pair_of_directive(site)
    }

    fn is_of_tracer(&self, address: u64) -> bool {
        (**self).is_of_tracer(address)
    }

    fn callers(&self, pc: u64, sp: u64, registers: &[u64], stack: &[u64]) -> Vec<u64> {
        (**self).callers(pc, sp, registers, stack)
    }

    fn callers_with_frames(
        &self,
        pc: u64,
        sp: u64,
        frame: u64,
        words: &[u64],
        by_frames: &[u64],
    ) -> Option<Vec<u64>> {
        (**self).callers_with_frames(pc, sp, frame, words, by_frames)
    }

    fn is_return_address(&self, address: u64) -> bool {
        (**self).is_return_address(address)
    }
}

/// Knows no name at all: every label is a hexadecimal address.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoNames;

impl Names for NoNames {
    fn resolve(&self, _address: u64) -> Option<CodeName> {
        None
    }
}

/// What an outlined function is the body of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeRole {
    /// A parallel region.
    Parallel,
    /// An explicit task.
    Task,
    /// A work-sharing loop.
    Loop,
    /// A `target` region.
    Target,
    /// An ordinary function.
    Function,
}

impl CodeRole {
    fn word(self) -> &'static str {
        match self {
            Self::Parallel => "omp parallel",
            Self::Task => "omp task",
            Self::Loop => "omp for",
            Self::Target => "omp target",
            Self::Function => "",
        }
    }
}

/// The function that a sample found a thread in, or the file that holds it, `[libgomp.so.1.0.0]`; [`TRACER`] for the tracing itself; `None` when
/// neither is known.
pub fn sampled_function(names: &dyn Names, address: u64) -> Option<String> {
    if names.is_of_tracer(address) {
        return Some(TRACER.to_owned());
    }
    let function = names.resolve(address).and_then(|name| name.function);
    function.or_else(|| names.object(address).map(|object| format!("[{object}]")))
}

/// What samples in the runtime that records the trace are called.
pub const TRACER: &str = "[instr]";

/// The label of the code at `address`: `main [omp task sparselu.c:120]`, or `0x401136` when nothing is known.
pub fn label(names: &dyn Names, address: u64, role: CodeRole) -> String {
    match names.resolve(address) {
        Some(name) => format_label(&name, address, role),
        None => format!("{address:#x}"),
    }
}

/// The label of a construct's body, or of the construct before a return address.
pub fn code_label(names: &dyn Names, code: Code, role: CodeRole) -> String {
    let Code { address, site } = code;
    match names.resolve(address.wrapping_sub(u64::from(site))) {
        Some(name) if site => format_site_label(&name, address, role),
        Some(name) => format_label(&name, address, role),
        None => format!("{address:#x}"),
    }
}

/// [`label`] for a name that was already looked up.
pub fn format_label(name: &CodeName, address: u64, role: CodeRole) -> String {
    let place = place(name);
    let Some(function) = name.function.as_deref().filter(|text| !text.is_empty()) else {
        return match place {
            Some(place) => format!("{address:#x} [{}]", bracket(role, Some(&place))),
            None => format!("{address:#x}"),
        };
    };
    let (outer, outlined) = outer_function(function);
    let role = if outlined || role == CodeRole::Function {
        role
    } else {
        CodeRole::Function
    };
    let inner = bracket(role, place.as_deref());
    if inner.is_empty() {
        outer.to_owned()
    } else {
        format!("{outer} [{inner}]")
    }
}

/// The label of a construct that is known by a return address into the function that holds it: `name` is that of the
/// address before, `main [omp task sparselu.c:120]` its label.
pub fn format_site_label(name: &CodeName, address: u64, role: CodeRole) -> String {
    let outer = match name.function.as_deref().filter(|text| !text.is_empty()) {
        Some(function) => outer_function(function).0.to_owned(),
        None => format!("{address:#x}"),
    };
    match bracket(role, place(name).as_deref()) {
        inner if inner.is_empty() || (name.function.is_none() && name.file.is_none()) => outer,
        inner => format!("{outer} [{inner}]"),
    }
}

/// The place of a name as `file.c:12` (base name of the file), `file.c`, or nothing; see [`CodeName::place`].
pub fn place(name: &CodeName) -> Option<String> {
    if name.place.is_some() {
        return name.place.clone();
    }
    let file = name.file.as_deref()?;
    let base = file
        .rsplit(['/', '\\'])
        .next()
        .filter(|base| !base.is_empty())?;
    match name.line {
        Some(line) if line > 0 => Some(format!("{base}:{line}")),
        _ => Some(base.to_owned()),
    }
}

/// The user's function an outlined body was taken from, and whether `function` is such a body: GCC's `f._omp_fn.N`
/// (also behind clone suffixes such as `.constprop.0`) and LLVM's `.omp_outlined.N`, `f.omp_outlined`.
pub fn outer_function(function: &str) -> (&str, bool) {
    for mark in [
        "._omp_fn.",
        "._omp_fn",
        ".omp_outlined",
        ".omp_task_entry",
        ".omp_microtask",
    ] {
        if let Some(at) = function.find(mark) {
            let outer = function[..at].trim_end_matches(" [clone ");
            return (if outer.is_empty() { function } else { outer }, true);
        }
    }
    (function, false)
}

fn bracket(role: CodeRole, place: Option<&str>) -> String {
    match (role.word(), place) {
        ("", place) => place.unwrap_or_default().to_owned(),
        (word, Some(place)) => format!("{word} {place}"),
        (word, None) => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(function: &str, file: Option<&str>, line: Option<u32>) -> CodeName {
        CodeName {
            function: Some(function.into()),
            file: file.map(Into::into),
            line,
            module: None,
            place: None,
        }
    }

    #[test]
    fn outlined_bodies_are_shown_by_their_construct_and_place() {
        let task = name("main._omp_fn.0", Some("/home/u/sparselu.c"), Some(120));
        assert_eq!(
            format_label(&task, 1, CodeRole::Task),
            "main [omp task sparselu.c:120]"
        );
        let region = name("main._omp_fn.0.constprop.0", Some("file.c"), Some(12));
        assert_eq!(
            format_label(&region, 1, CodeRole::Parallel),
            "main [omp parallel file.c:12]"
        );
        assert_eq!(
            format_label(&name("f._omp_fn.3", None, None), 1, CodeRole::Task),
            "f [omp task]"
        );
    }

    #[test]
    fn directives_that_look_alike_are_shown_by_what_tells_them_apart() {
        let mut task = name("main._omp_fn.1", Some("/home/u/lu.c"), Some(120));
        task.place = Some("lu.c:120 #1".into());
        let label = format_label(&task, 1, CodeRole::Task);
        assert_eq!(label, "main [omp task lu.c:120 #1]");
    }

    #[test]
    fn call_sites_are_shown_by_the_function_that_holds_them() {
        let site = name("main", Some("/home/u/sparselu.c"), Some(120));
        let label = |name: &CodeName| format_site_label(name, 0xabc, CodeRole::Task);
        assert_eq!(label(&site), "main [omp task sparselu.c:120]");
        let nested = name("f._omp_fn.0", Some("a.c"), Some(7));
        assert_eq!(label(&nested), "f [omp task a.c:7]");
        assert_eq!(label(&name("main", None, None)), "main [omp task]");
        assert_eq!(label(&CodeName::default()), "0xabc");
    }

    #[test]
    fn unknown_addresses_are_hexadecimal() {
        assert_eq!(label(&NoNames, 0x40_1136, CodeRole::Task), "0x401136");
        assert_eq!(
            format_label(&CodeName::default(), 0xabc, CodeRole::Parallel),
            "0xabc"
        );
    }
}
