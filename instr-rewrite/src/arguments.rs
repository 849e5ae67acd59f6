//! The command line of `instr-rewrite`: what may be typed. The command itself is in the binary; the manual page is made from this.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

/// Show which functions of an object would be recorded, and make the linker options, stubs and objects for that.
#[derive(Debug, Parser)]
#[command(name = "instr-rewrite", version)]
pub struct Arguments {
    /// What to do.
    #[command(flatten)]
    pub action: Action,
    /// Objects, archives (thin too), shared objects or executables
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Output file [default: standard output, which is also -]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Use this description of a library too; it overrides the built-in ones
    #[arg(long, value_name = "FILE")]
    pub api: Vec<PathBuf>,
    /// Include the heap: malloc and its family, new and delete, mmap
    #[arg(long)]
    pub memory: bool,
    /// Include threads of POSIX, C11 and C++ on Linux, their locks and waits
    #[arg(long)]
    pub threads: bool,
    /// Form of the options: for the compiler, for the linker, or quoted for an @file
    #[arg(long, value_enum, default_value = "gcc")]
    pub style: Style,
    /// Names of the stubs: for --wrap, or for objects that went through --redirect
    #[arg(long, value_enum, default_value = "wrap")]
    pub linkage: LinkageName,
    /// With --list: print JSON, not a table
    #[arg(long)]
    pub json: bool,
}

/// What to do with the files: one of these.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Action {
    /// Print a --wrap option for each known function that the files call, one on a line
    #[arg(long)]
    pub emit_wrap_flags: bool,
    /// Print the C source of the stubs for these functions
    #[arg(long)]
    pub emit_stubs: bool,
    /// List the functions that would be recorded, and those that would not, with the reason
    #[arg(long)]
    pub list: bool,
    /// Rename the calls in one object or archive, for linkers without --wrap
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
