//! Answers as addr2line prints them.

use std::io::{self, Write};

use instr_symtab::FunctionName;

use super::answer::Answer;
use super::options::{Style, SymbolizeOptions};

/// Prints one answer.
pub(super) fn print(
    answer: &Answer<'_>,
    options: &SymbolizeOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if options.addresses || options.trace.is_some() && options.values.is_empty() {
        let end = if options.pretty_print { ": " } else { "\n" };
        let digits = if answer.wide { 16 } else { 8 };
        write!(out, "0x{:0digits$x}{end}", answer.address)?;
    }
    let Some(shown) = answer.shown() else {
        return unknown(options, out);
    };
    let depth = if options.inlines {
        shown.frames.len()
    } else {
        1
    };
    for (at, (name, file, line)) in shown.frames.iter().take(depth).enumerate() {
        if at > 0 && options.pretty_print {
            write!(out, " (inlined by) ")?;
        }
        function(name.as_ref(), options, out)?;
        let file = match file.as_deref() {
            Some(path) if options.basenames => path.rsplit('/').next().unwrap_or(path),
            Some(path) => path,
            None => "??",
        };
        match (line.unwrap_or(0), shown.discriminator) {
            (0, _) => writeln!(out, "{file}:?")?,
            (line, 0) => writeln!(out, "{file}:{line}")?,
            // addr2line repeats it for the callers, too.
            (line, piece) => writeln!(out, "{file}:{line} (discriminator {piece})")?,
        }
    }
    Ok(())
}

fn unknown(options: &SymbolizeOptions, out: &mut dyn Write) -> io::Result<()> {
    match (options.functions, options.pretty_print) {
        (true, true) => writeln!(out, "?? ??:0"),
        (true, false) => writeln!(out, "??\n??:0"),
        (false, _) => writeln!(out, "??:0"),
    }
}

fn function(
    name: Option<&FunctionName>,
    options: &SymbolizeOptions,
    out: &mut dyn Write,
) -> io::Result<()> {
    if !options.functions {
        return Ok(());
    }
    let name = name.map_or("??", |name| spelled(name, options.demangle));
    let end = if options.pretty_print { " at " } else { "\n" };
    write!(out, "{name}{end}")
}

/// The name in the style that was asked for.
fn spelled(name: &FunctionName, style: Option<Style>) -> &str {
    match style {
        None | Some(Style::None | Style::Gnat | Style::Dlang) => &name.raw,
        Some(Style::GnuV3 | Style::Java) if !name.raw.starts_with("_Z") => &name.raw,
        Some(Style::Rust) if !is_rust(&name.raw) => &name.raw,
        Some(_) => &name.demangled,
    }
}

/// Whether a linker's name is one of Rust's: `_R…`, or `_ZN…17h` with a hash of 16 digits and `E`.
fn is_rust(raw: &str) -> bool {
    let legacy = || {
        let hash = raw.strip_prefix("_ZN")?.strip_suffix('E')?;
        let (rest, hash) = hash.split_at_checked(hash.len().checked_sub(16)?)?;
        Some(rest.ends_with("17h") && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    raw.starts_with("_R") || legacy() == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_choose_the_spelling() {
        let cpp = FunctionName::new("_Z3foov");
        let rust = FunctionName::new("_ZN1a1b17h0123456789abcdefE");
        let fortran = FunctionName::new("__m_MOD_work");
        assert_eq!(spelled(&cpp, None), "_Z3foov");
        assert_eq!(spelled(&cpp, Some(Style::Auto)), "foo()");
        assert_eq!(spelled(&cpp, Some(Style::Rust)), "_Z3foov");
        assert_eq!(spelled(&rust, Some(Style::Rust)), "a::b");
        assert_eq!(spelled(&rust, Some(Style::Dlang)), &*rust.raw);
        assert_eq!(spelled(&fortran, Some(Style::Auto)), "m::work");
        assert_eq!(spelled(&fortran, Some(Style::GnuV3)), "__m_MOD_work");
    }
}
