//! Descriptions of interceptable libraries.
//!
//! A description is a Rust file of ordinary `unsafe extern "C" { … }` blocks, parsed with `syn`, never compiled:
//!
//! ```text
//! unsafe extern "C" {
//!     /// Worth a probe of the runtime: the stub calls `instr_probe_loop_start(real, INSTR_LOOP_DYNAMIC, …)`.
//!     #[probe(loop_start, INSTR_LOOP_DYNAMIC)]
//!     pub fn GOMP_loop_dynamic_start(start: c_long, end: c_long, …) -> bool;
//!     /// The stub hands on another function as well, behind the real one: `instr_probe_lock_take(real, with, …)`. It may be NULL.
//!     #[probe(lock_take, INSTR_MUTEX_LOCK, INSTR_CALLER)]
//!     #[with(omp_test_lock)]
//!     pub fn omp_set_lock(lock: *mut c_void);
//!     /// No attribute: enter, exit and the arguments are recorded.
//!     pub fn omp_set_num_threads(count: c_int);
//!     /// Variable arguments need a probe: it gets them as a `va_list`. Without one the function is refused.
//!     #[probe(doacross_wait)]
//!     pub fn GOMP_doacross_wait(first: c_long, ...);
//!     /// Described, but never wrapped.
//!     #[no_wrap = "the reason, for people"]
//!     pub fn omp_get_wtime() -> c_double;
//! }
//! ```
//!
//! `#[link_name = "…"]` names a symbol that is no identifier, `#[since(9, 1)]` the library version that brought it.
//! Structs declared in the file are opaque: pointers to them become `void *`; passed by value, they make a
//! function refused.

mod parse;

use crate::ctype::CType;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Largest description file read, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// The descriptions that come with the tool: file name, text.
const BUILTIN: &[(&str, &str)] = &[
    ("gomp.rs", include_str!("../api/gomp.rs")),
    ("omp.rs", include_str!("../api/omp.rs")),
    ("process.rs", include_str!("../api/process.rs")),
    ("signals.rs", include_str!("../api/signals.rs")),
];

/// Descriptions of the tool's own that are there only when asked for: file name, text.
const MEMORY: (&str, &str) = ("memory.rs", include_str!("../api/memory.rs"));
const THREADS: (&str, &str) = ("pthread.rs", include_str!("../api/pthread.rs"));

/// The texts of all descriptions of the tool's own: where they are the same, so are the stubs.
pub fn own_texts() -> impl Iterator<Item = &'static str> {
    let all = BUILTIN.iter().chain([&MEMORY, &THREADS]);
    all.map(|(_, text)| *text)
}

/// Why a description was refused.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// The file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The file is larger than any description can be.
    #[error("cannot read {}: {size} bytes, at most {MAX_FILE_SIZE} are allowed", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
    },
    /// The text is not a valid description.
    #[error("{file}:{line}:{column}: {message}")]
    Invalid {
        /// Name of the description as given.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong and what is expected.
        message: String,
    },
}

/// A probe of the runtime, called by the stub of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// Name without the prefix: `loop_start` stands for `instr_probe_loop_start`.
    pub name: String,
    /// C constants passed between the real function and its arguments.
    pub constants: Vec<String>,
}

/// One described function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Symbol, as the linker sees it.
    pub symbol: String,
    /// Description file that has the last word about it.
    pub source: String,
    /// C type of the result.
    pub result: CType,
    /// C types of the parameters, in order.
    pub params: Vec<CType>,
    /// More arguments may follow (`...`).
    pub variadic: bool,
    /// Never returns (`-> !`).
    pub noreturn: bool,
    /// Another function that its probe gets behind the real one; the same file describes it.
    pub with: Option<String>,
    /// Its probe; none: a generic stub records enter, exit and the arguments.
    pub probe: Option<Probe>,
    /// Described, but not to be wrapped: why.
    pub refusal: Option<String>,
    /// Version (major, minor) of the library or compiler that brought it.
    pub since: Option<(u32, u32)>,
}

impl Function {
    /// Whether it is one of threads (see [`Api::add_threads`]).
    pub fn is_of_threads(&self) -> bool {
        self.source == THREADS.0
    }

    /// Whether it is one of the heap, or of the system's pages (see [`Api::add_memory`]).
    pub fn is_of_memory(&self) -> bool {
        self.source == MEMORY.0
    }

    /// The prototype in C with `name` as function name, without semicolon.
    pub fn c_prototype(&self, name: &str) -> String {
        let params = crate::ctype::parameter_list(&self.params, self.variadic);
        self.result.declare(&format!("{name}({params})"))
    }
}

/// All known descriptions, by symbol.
#[derive(Debug, Clone, Default)]
pub struct Api {
    functions: BTreeMap<String, Function>,
}

/// The text of a file that people write: a description, a configuration. Of a device that never ends no more is read than such files have.
///
/// # Errors
///
/// The file cannot be read, is too large, or is no UTF-8.
pub fn read_text(path: &Path) -> Result<String, ApiError> {
    let read = |error| ApiError::Read {
        path: path.to_owned(),
        error,
    };
    let file = File::open(path).map_err(read)?;
    let size = file.metadata().map_err(read)?.len();
    let mut text = String::new();
    let got = file.take(MAX_FILE_SIZE + 1).read_to_string(&mut text);
    if size.max(text.len() as u64) > MAX_FILE_SIZE {
        return Err(ApiError::TooLarge {
            path: path.to_owned(),
            size: size.max(text.len() as u64),
        });
    }
    got.map_err(read)?;
    Ok(text)
}

impl Api {
    /// No descriptions at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The descriptions that come with the tool: libgomp, the `omp_*` locks, the end of the process, handlers of signals.
    ///
    /// # Panics
    ///
    /// Never in a tested build: the embedded text is parsed by a unit test.
    pub fn builtin() -> Self {
        let mut api = Self::empty();
        for (name, text) in BUILTIN {
            if let Err(error) = api.add_source(name, text) {
                panic!("embedded description: {error}");
            }
        }
        api
    }

    /// Adds the functions of the heap: `malloc` and its family, C++'s `new` and `delete`, `mmap`.
    ///
    /// They are not among the [built-in](Self::builtin) ones, since wrapping them costs some time even while nothing is recorded.
    ///
    /// # Panics
    ///
    /// Never in a tested build: the embedded text is parsed by a unit test.
    pub fn add_memory(&mut self) {
        self.add_own(MEMORY);
    }

    /// Adds the threads of POSIX, C11 and C++, with their locks and waits, as they are on Linux.
    ///
    /// They are not among the [built-in](Self::builtin) ones, since their probes are not there on RTEMS.
    ///
    /// # Panics
    ///
    /// Never in a tested build: the embedded text is parsed by a unit test.
    pub fn add_threads(&mut self) {
        self.add_own(THREADS);
    }

    fn add_own(&mut self, (name, text): (&str, &str)) {
        if let Err(error) = self.add_source(name, text) {
            panic!("embedded description: {error}");
        }
    }

    /// Adds the description in the file `path`; it overrides earlier descriptions of the same symbols.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a description; nothing is added then.
    pub fn add_file(&mut self, path: &Path) -> Result<(), ApiError> {
        let text = read_text(path)?;
        self.add_source(&path.display().to_string(), &text)
    }

    /// Adds the description `text`; `name` is used in messages and as [`Function::source`].
    ///
    /// # Errors
    ///
    /// The text is not a description; nothing is added then.
    pub fn add_source(&mut self, name: &str, text: &str) -> Result<(), ApiError> {
        self.functions.extend(parse::parse(name, text)?);
        Ok(())
    }

    /// The description of a symbol, given as in the symbol table but without version suffix.
    pub fn get(&self, symbol: impl AsRef<[u8]>) -> Option<&Function> {
        self.functions
            .get(std::str::from_utf8(symbol.as_ref()).ok()?)
    }

    /// All described functions, sorted by symbol.
    pub fn functions(&self) -> impl Iterator<Item = &Function> {
        self.functions.values()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtin_descriptions_parse() {
        let api = Api::builtin();
        let function = api.get("GOMP_parallel").expect("described");
        assert_eq!(
            function.c_prototype("f"),
            "void f(void (*)(void *), void *, unsigned, unsigned)"
        );
        assert_eq!(function.source, "gomp.rs");
    }

    #[test]
    fn the_heap_is_described_when_asked_for() {
        let mut api = Api::builtin();
        assert!(api.get("malloc").is_none());
        api.add_memory();
        let new = api.get("_Znwj").expect("described");
        assert_eq!(new.c_prototype("f"), "void *f(size_t)");
        assert_eq!(api.get("mremap").map(|f| f.refusal.is_none()), Some(true));
    }

    #[test]
    fn threads_are_described_when_asked_for() {
        let mut api = Api::builtin();
        assert!(api.get("pthread_mutex_lock").is_none());
        api.add_threads();
        let create = api.get("pthread_create").expect("described");
        assert_eq!(
            create.c_prototype("f"),
            "int f(unsigned long *, const void *, void *(*)(void *), void *)"
        );
        let of_threads = |f: &&Function| f.source == "pthread.rs";
        assert!(
            api.functions()
                .filter(of_threads)
                .all(|f| f.refusal.is_none() && f.probe.is_some())
        );
    }

    #[test]
    fn user_files_override_and_duplicates_are_errors() {
        let mut api = Api::builtin();
        api.add_source(
            "mine.rs",
            "unsafe extern \"C\" { fn GOMP_barrier(); fn mine(x: f64) -> c_int; }",
        )
        .unwrap();
        assert_eq!(api.get("GOMP_barrier").unwrap().source, "mine.rs");
        assert_eq!(api.get("GOMP_barrier").unwrap().probe, None);
        assert_eq!(
            api.get("mine").unwrap().c_prototype("mine"),
            "int mine(double)"
        );
        let twice = api
            .add_source("two.rs", "extern \"C\" {\n    fn a();\n    fn a();\n}")
            .unwrap_err();
        assert_eq!(
            twice.to_string(),
            "two.rs:3:8: `a` is described twice in this file, first in line 2"
        );
        assert!(api.get("a").is_none());
    }
}
