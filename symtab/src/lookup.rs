//! Answers to a look-up.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use crate::demangle::demangle;

/// A function's name in both spellings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionName {
    /// As the linker sees it: `_Z3foov`; the plain name where the debug information has no other.
    pub raw: Arc<str>,
    /// As the programmer wrote it: `foo()`.
    pub demangled: Demangled,
}

impl FunctionName {
    /// The name of which this is the linker's spelling.
    #[must_use]
    pub fn new(raw: &str) -> Self {
        let raw: Arc<str> = raw.into();
        let demangled = Demangled(Arc::new(Spelled {
            raw: Arc::clone(&raw),
            text: OnceLock::new(),
        }));
        FunctionName { raw, demangled }
    }
}

/// A name as the programmer wrote it, worked out when it is first read; a `str` for all purposes.
///
/// Taking a C++ name apart costs more than finding it. All clones share the result.
#[derive(Clone)]
pub struct Demangled(Arc<Spelled>);

struct Spelled {
    raw: Arc<str>,
    /// `None` inside: as `raw`.
    text: OnceLock<Option<Box<str>>>,
}

impl Deref for Demangled {
    type Target = str;

    fn deref(&self) -> &str {
        let spelled = &*self.0;
        let text = spelled.text.get_or_init(|| {
            let demangled = demangle(spelled.raw.as_bytes());
            (*demangled != *spelled.raw).then(|| demangled.into())
        });
        text.as_deref().unwrap_or(&spelled.raw)
    }
}

impl AsRef<str> for Demangled {
    fn as_ref(&self) -> &str {
        self
    }
}

impl From<&str> for Demangled {
    /// Takes a name that is demangled already.
    fn from(name: &str) -> Self {
        Demangled(Arc::new(Spelled {
            raw: name.into(),
            text: OnceLock::from(None),
        }))
    }
}

impl From<String> for Demangled {
    /// Takes a name that is demangled already.
    fn from(name: String) -> Self {
        name.as_str().into()
    }
}

impl PartialEq for Demangled {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for Demangled {}

impl fmt::Debug for Demangled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl fmt::Display for Demangled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&**self, f)
    }
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
    /// Which of several pieces of code of one line this is, as some compilers tell; 0 where they do not.
    pub discriminator: u32,
    /// All functions at the address, innermost first; the last one is `function`. Empty if nothing is known.
    pub frames: Vec<Frame>,
}
