//! Answers as addr2line prints them.

use instr_symtab::FunctionName;

use super::answer::Answer;
use super::options::{Style, SymbolizeOptions};

/// Appends one answer to `out`.
pub(super) fn print(answer: &Answer<'_>, options: &SymbolizeOptions, out: &mut Vec<u8>) {
    if options.addresses || options.trace.is_some() && options.values.is_empty() {
        let digits = if answer.wide { 16 } else { 8 };
        out.extend_from_slice(format!("0x{:0digits$x}", answer.address).as_bytes());
        out.extend_from_slice(if options.pretty_print { b": " } else { b"\n" });
    }
    let Some(shown) = answer.shown() else {
        return unknown(options, out);
    };
    let depth = if options.inlines { usize::MAX } else { 1 };
    for (at, (name, file, line)) in shown.frames().take(depth).enumerate() {
        if at > 0 && options.pretty_print {
            out.extend_from_slice(b" (inlined by) ");
        }
        function(name, options, out);
        let file = match file {
            Some(path) if options.basenames => path.rsplit('/').next().unwrap_or(path),
            Some(path) => path,
            None => "??",
        };
        out.extend_from_slice(file.as_bytes());
        match line.unwrap_or(0) {
            0 => out.extend_from_slice(b":?"),
            line => {
                out.push(b':');
                number(line, out);
                if shown.discriminator != 0 {
                    // addr2line repeats it for the callers, too.
                    out.extend_from_slice(b" (discriminator ");
                    number(shown.discriminator, out);
                    out.push(b')');
                }
            }
        }
        out.push(b'\n');
    }
}

fn number(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn unknown(options: &SymbolizeOptions, out: &mut Vec<u8>) {
    out.extend_from_slice(match (options.functions, options.pretty_print) {
        (true, true) => b"?? ??:0\n",
        (true, false) => b"??\n??:0\n",
        (false, _) => b"??:0\n",
    });
}

fn function(name: Option<&FunctionName>, options: &SymbolizeOptions, out: &mut Vec<u8>) {
    if !options.functions {
        return;
    }
    let name = name.map_or("??", |name| spelled(name, options.demangle));
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(if options.pretty_print { b" at " } else { b"\n" });
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
