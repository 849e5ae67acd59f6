//! The command line of `instr-rewrite`: what may be typed. The command itself is in the binary; the manual page is made from this.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

/// Reads ELF symbol tables, decides what to wrap, emits linker flags, stubs and rewritten objects.
#[derive(Debug, Parser)]
#[command(name = "instr-rewrite", version)]
pub struct Arguments {
    /// What to do.
    #[command(flatten)]
    pub action: Action,
    /// Objects, archives (thin too), shared objects or executables
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Where to write instead of the standard output ("-")
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One more description of a library; overrides the built-in ones
    #[arg(long, value_name = "FILE")]
    pub api: Vec<PathBuf>,
    /// Also the heap: malloc and its family, new and delete, mmap
    #[arg(long)]
    pub memory: bool,
    /// Form of the flags: for the compiler driver, for the linker, or quoted for an @file
    #[arg(long, value_enum, default_value = "gcc")]
    pub style: Style,
    /// What stubs are called: by --wrap, or by objects that went through --redirect
    #[arg(long, value_enum, default_value = "wrap")]
    pub linkage: LinkageName,
    /// With --list: JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What to do with the files: one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Action {
    /// Print a --wrap flag for every known function that the files call, one a line
    #[arg(long)]
    pub emit_wrap_flags: bool,
    /// Print the C source of the stubs of these functions
    #[arg(long)]
    pub emit_stubs: bool,
    /// Tell what would be wrapped, by which description, and what would not and why
    #[arg(long)]
    pub list: bool,
    /// Rename undefined references of one object or archive, in place of --wrap
    #[arg(long)]
    pub redirect: bool,
}

/// Who reads the flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// -Wl,--wrap=SYMBOL
    Gcc,
    /// --wrap=SYMBOL
    Ld,
    /// "--wrap=SYMBOL", quoted for an @file
    Response,
}

/// What stubs are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LinkageName {
    /// __wrap_F calls __real_F; for objects that went through --redirect, it is instr_wrap_F too
    Wrap,
    /// instr_wrap_F calls F
    Rename,
}
