//! What may be typed behind `instr symbolize`: addr2line's options, and some more.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, ValueEnum};

/// Options of `instr symbolize`, spelled as addr2line's.
#[derive(Debug, Clone, Args)]
pub struct SymbolizeOptions {
    /// Program or shared library that the addresses belong to [default: a.out]
    #[arg(short, long, value_name = "PROGRAM")]
    pub exe: Option<PathBuf>,
    /// Show function names
    #[arg(short, long)]
    pub functions: bool,
    /// Show the functions that a line was inlined into, too
    #[arg(short, long, overrides_with = "no_inlines")]
    pub inlines: bool,
    /// Show the innermost function only (the default, as in addr2line)
    #[arg(long)]
    pub no_inlines: bool,
    /// Print each place on one line
    #[arg(short, long)]
    pub pretty_print: bool,
    /// Show file names without directories
    #[arg(short = 's', long)]
    pub basenames: bool,
    /// Show the address in front of its place
    #[arg(short, long)]
    pub addresses: bool,
    /// Show C++ and Rust names as in the source
    #[arg(short = 'C', long, num_args = 0..=1, require_equals = true, default_missing_value = "auto", value_name = "STYLE")]
    pub demangle: Option<Style>,
    /// Addresses are offsets into section NAME
    #[arg(short = 'j', long, value_name = "NAME")]
    pub section: Option<OsString>,
    /// Ignored, for compatibility with addr2line: the file says which format it has
    #[arg(short = 'b', long, value_name = "BFDNAME")]
    pub target: Option<OsString>,
    /// Ignored, for compatibility with addr2line: demangling is always limited
    #[arg(short = 'R', long, visible_alias = "recursion-limit")]
    pub recurse_limit: bool,
    /// Ignored, for compatibility with addr2line: demangling is always limited
    #[arg(short = 'r', long, visible_alias = "no-recursion-limit")]
    pub no_recurse_limit: bool,
    /// Print one JSON object on a line for each address (docs/symbolize.md)
    #[arg(long)]
    pub json: bool,
    /// Addresses are those of this trace's process; without ADDRESS, all code addresses in the trace
    #[arg(long, value_name = "DIR", conflicts_with_all = ["section", "adjust_vma"])]
    pub trace: Option<PathBuf>,
    /// Look for programs, libraries and .dwo files that were moved in DIR too
    #[arg(long, value_name = "DIR")]
    pub search: Vec<PathBuf>,
    /// Look below DIR for files with absolute paths: a copy of the system where the program ran
    #[arg(long, value_name = "DIR")]
    pub sysroot: Option<PathBuf>,
    /// Read the debug information from FILE
    #[arg(long, value_name = "FILE")]
    pub debug_file: Option<PathBuf>,
    /// Look for debug files below DIR [default: /usr/lib/debug]
    #[arg(long, value_name = "DIR")]
    pub debug_dir: Vec<PathBuf>,
    /// Replace OLD by NEW at the start of the paths of .dwo files
    #[arg(long, value_name = "OLD=NEW", value_parser = path_pair)]
    pub path_map: Vec<(PathBuf, PathBuf)>,
    /// The program is loaded at OFFSET: subtract it from each address
    #[arg(long, visible_alias = "obj-offset", value_name = "OFFSET", value_parser = offset, default_value = "0", hide_default_value = true)]
    pub adjust_vma: u64,
    /// Show this help
    #[arg(short = 'h', short_alias = 'H', long, action = ArgAction::Help)]
    pub help: Option<bool>,
    /// Show the version
    #[arg(short = 'V', short_alias = 'v', long, action = ArgAction::Version)]
    pub version: Option<bool>,
    /// Hexadecimal addresses, or SYMBOL+OFFSET; also MODULE:0xADDRESS and "MODULE" ADDRESS. Read from standard input,
    /// one a line, when there are none. @FILE stands for the words in FILE
    #[arg(value_name = "ADDRESS")]
    pub values: Vec<OsString>,
}

/// How names are taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// As the linker sees them
    None,
    /// By what the name looks like
    Auto,
    /// C++
    GnuV3,
    /// As gnu-v3
    Java,
    /// Ada: as the linker sees them
    Gnat,
    /// D: as the linker sees them
    Dlang,
    /// Rust only
    Rust,
}

/// `OLD=NEW`.
fn path_pair(text: &str) -> Result<(PathBuf, PathBuf), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.into(), new.into())),
        _ => Err(String::from("expected OLD=NEW")),
    }
}

/// A number, hexadecimal with `0x`.
fn offset(text: &str) -> Result<u64, String> {
    let parsed = match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|why| format!("{why}: expected a number, hexadecimal with 0x"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_and_path_pairs() {
        assert_eq!(offset("0x10"), Ok(16));
        assert_eq!(offset("10"), Ok(10));
        assert!(offset("0xg").is_err() && offset("").is_err() && offset("-1").is_err());
        assert_eq!(path_pair("/a=/b"), Ok(("/a".into(), "/b".into())));
        assert!(path_pair("/a").is_err() && path_pair("=/b").is_err());
    }
}
