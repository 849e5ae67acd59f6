//! What can be wrong with the wrapper's own command line.

use thiserror::Error;

/// Wrong usage: exit status 2.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    /// No such option of ours.
    #[error("unknown option {0}\n  help: instr-cc --instr-help lists the options")]
    UnknownOption(String),
    /// The value is missing.
    #[error("{0} needs a value\n  help: write --instr-NAME=VALUE")]
    NeedsValue(String),
    /// A value where none is allowed.
    #[error("{0} takes no value")]
    TakesNoValue(String),
    /// `--instr-target` with a name we do not know.
    #[error("{0} names no known target\n  help: known targets: {targets}", targets = crate::targets::names().join(", "))]
    UnknownTarget(String),
    /// The compiler is not there.
    #[error("cannot find the compiler {0}: no such executable in PATH")]
    NoCompiler(String),
    /// There is no Fortran compiler, and none was named.
    #[error(
        "cannot compile {0}: it is Fortran, and there is no gfortran in PATH\n  help: install gfortran, or name a Fortran compiler, as in: instr-cc gfortran-12 ..."
    )]
    NoFortran(String),
    /// The compiler is the wrapper.
    #[error(
        "the compiler {0} is instr-cc itself\n  help: name another compiler, as in: instr-cc gcc ..."
    )]
    OwnCompiler(String),
    /// A compiler that runs the wrapper that runs the compiler …
    #[error(
        "the compiler {0} runs instr-cc again, {1} times over\n  help: name another compiler, as in: instr-cc gcc ..."
    )]
    Circle(String, u32),
}
