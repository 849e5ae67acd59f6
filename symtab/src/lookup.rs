//! Answers to a look-up.

use std::sync::Arc;

/// A function's name in both spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionName {
    /// As the linker sees it: `_Z3foov`; the plain name where the debug information has no other.
    pub raw: Arc<str>,
    /// As the programmer wrote it: `foo()`.
    pub demangled: Arc<str>,
}

/// One function of the stack of inlined calls at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The function; `None` where neither symbols nor debug information name one.
    pub function: Option<FunctionName>,
    /// Source file as the compiler was told, joined to the compilation folder where it is relative.
    pub file: Option<Arc<str>>,
    /// Line in `file`, from 1: of the address in the innermost frame, of the inlined call in the others.
    pub line: Option<u32>,
    /// Column in the line, from 1; 0 means the line's left edge, `None` unknown.
    pub column: Option<u32>,
    /// Whether this function was inlined into that of the next frame.
    pub inlined: bool,
}

/// What is known of an address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookup {
    /// The function whose code this is, after inlining; the ELF symbol where there is one.
    pub function: Option<FunctionName>,
    /// Bytes from the start of the symbol around the address; `None` without a symbol.
    pub offset: Option<u64>,
    /// Source file of the address (that of the innermost frame).
    pub file: Option<Arc<str>>,
    /// Line of the address in `file`, from 1. At the start of an outlined OpenMP function, the line of the directive.
    pub line: Option<u32>,
    /// Column of the address in the line; see [`Frame::column`].
    pub column: Option<u32>,
    /// All functions at the address, innermost first; the last one is `function`. Empty if nothing is known.
    pub frames: Vec<Frame>,
}
