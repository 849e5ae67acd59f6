//! `instr symbolize`: addr2line's options and output.

use std::ffi::OsString;
use std::io::{self, BufRead, Write};

use anyhow::{Context, Result};
use instr_symtab::{FunctionName, Image, Lookup};

use crate::cli::SymbolizeOptions;
use crate::console::{Console, NO_OUTPUT, WrongUsage};
use crate::images;

/// Longest line of standard input that is looked at, bytes.
const MAX_LINE: u64 = 4096;

/// Runs the command: addresses of the command line, else those on standard input, answered one by one so that the
/// command can serve another program through pipes.
///
/// # Errors
///
/// Files that are no program, and failures to read or write.
pub fn run(options: &SymbolizeOptions, console: &mut Console<'_>) -> Result<()> {
    let addresses = parse_all(&options.values)?;
    let path = options.exe.display();
    let image = images::open(&options.exe)?;
    if let Some(why) = image.debug_error() {
        console.warn(&format!(
            "{path}: part of the debug information is not used: {why}"
        ));
    }
    let printer = Printer {
        options,
        image: &image,
        digits: digits(&image),
    };
    if addresses.is_empty() {
        return from_input(&mut io::stdin().lock(), &printer, console);
    }
    addresses
        .into_iter()
        .try_for_each(|address| printer.print(address, console.out))
        .context(NO_OUTPUT)
}

/// The addresses of the command line; all of them, before the first is answered.
fn parse_all(values: &[OsString]) -> Result<Vec<u64>> {
    let address = |value: &OsString| {
        parse_address(value.as_encoded_bytes()).ok_or_else(|| {
            WrongUsage(format!(
                "`{}` is not an address: expected hexadecimal digits, with or without 0x",
                value.to_string_lossy()
            ))
            .into()
        })
    };
    values.iter().map(address).collect()
}

fn from_input(
    input: &mut dyn BufRead,
    printer: &Printer<'_>,
    console: &mut Console<'_>,
) -> Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = io::Read::take(&mut *input, MAX_LINE)
            .read_until(b'\n', &mut line)
            .context("cannot read standard input")?;
        if read == 0 {
            return Ok(());
        }
        // Like addr2line: what is no number is answered as address 0, so that answers stay in step with questions.
        printer
            .print(parse_address(&line).unwrap_or(0), console.out)
            .context(NO_OUTPUT)?;
        console.out.flush().context(NO_OUTPUT)?;
    }
}

/// Hexadecimal digits with or without `0x`, blanks around them.
fn parse_address(text: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(text.trim_ascii()).ok()?;
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u64::from_str_radix(digits, 16).ok()
}

/// Digits of an address of the image's machine.
fn digits(image: &Image) -> usize {
    // EM_386, EM_SPARC, EM_SPARC32PLUS, EM_ARM, …: 64-bit machines are the ones listed.
    match image.machine() {
        62 | 43 | 183 | 21 | 243 => 16,
        _ => 8,
    }
}

struct Printer<'a> {
    options: &'a SymbolizeOptions,
    image: &'a Image,
    digits: usize,
}

impl Printer<'_> {
    fn print(&self, address: u64, out: &mut dyn Write) -> io::Result<()> {
        let answer = self.image.lookup(address);
        if self.options.addresses {
            let end = if self.options.pretty_print {
                ": "
            } else {
                "\n"
            };
            write!(out, "0x{address:0width$x}{end}", width = self.digits)?;
        }
        self.places(&answer, out)
    }

    fn places(&self, answer: &Lookup, out: &mut dyn Write) -> io::Result<()> {
        if answer.frames.is_empty() {
            return self.unknown(out);
        }
        for (depth, frame) in answer.frames.iter().enumerate() {
            if depth > 0 && !self.options.inlines {
                break;
            }
            if depth > 0 && self.options.pretty_print {
                write!(out, " (inlined by) ")?;
            }
            self.function(frame.function.as_ref(), out)?;
            self.line(frame.file.as_deref(), frame.line, out)?;
        }
        Ok(())
    }

    fn unknown(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.options.functions {
            write!(
                out,
                "{}",
                if self.options.pretty_print {
                    "?? "
                } else {
                    "??\n"
                }
            )?;
        }
        writeln!(out, "??:0")
    }

    fn function(&self, name: Option<&FunctionName>, out: &mut dyn Write) -> io::Result<()> {
        if !self.options.functions {
            return Ok(());
        }
        let name = match (name, &self.options.demangle) {
            (None, _) => "??",
            (Some(name), None) => &*name.raw,
            (Some(name), Some(style)) if style == "none" => &*name.raw,
            (Some(name), Some(_)) => &*name.demangled,
        };
        write!(
            out,
            "{name}{}",
            if self.options.pretty_print {
                " at "
            } else {
                "\n"
            }
        )
    }

    fn line(&self, file: Option<&str>, line: Option<u32>, out: &mut dyn Write) -> io::Result<()> {
        let file = match file {
            Some(path) if self.options.basenames => path.rsplit('/').next().unwrap_or(path),
            Some(path) => path,
            None => "??",
        };
        match line {
            Some(line) if line > 0 => writeln!(out, "{file}:{line}"),
            _ => writeln!(out, "{file}:?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::Status;
    use crate::console::tests::instr;

    #[test]
    fn addresses_are_hexadecimal_with_or_without_prefix() {
        let parsed = [
            "10",
            "0x10",
            "0X1f ",
            "ffffffffffffffff",
            "1g",
            "10000000000000000",
            "-1",
        ]
        .map(|text| parse_address(text.as_bytes()));
        assert_eq!(
            parsed,
            [
                Some(16),
                Some(16),
                Some(31),
                Some(u64::MAX),
                None,
                None,
                None
            ]
        );
    }

    #[test]
    fn files_that_are_no_program_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for path in ["/nonexistent/a.out", "/", file.path().to_str().unwrap()] {
            let (status, out, err) = instr(&["symbolize", "-e", path, "0"]);
            assert_eq!((status, out.as_str()), (Status::Refused, ""), "{path}");
            assert!(
                err.starts_with(&format!("instr: error: cannot read {path}: ")),
                "{err}"
            );
        }
    }

    #[test]
    fn words_that_are_no_addresses_are_wrong_usage() {
        let exe = std::env::current_exe().unwrap().into_os_string();
        let (status, out, err) = instr(&[
            "symbolize".into(),
            "-e".into(),
            exe,
            "10".into(),
            "main".into(),
        ]);
        assert_eq!((status, out.as_str()), (Status::Usage, ""));
        assert!(
            err.starts_with("instr: error: `main` is not an address"),
            "{err}"
        );
    }

    #[test]
    fn unknown_addresses_are_answered_as_addr2line_does() {
        let exe = std::env::current_exe().unwrap().into_os_string();
        let answer = |flags: &str| {
            let (status, out, _) = instr(&[
                "symbolize".into(),
                "-e".into(),
                exe.clone(),
                flags.into(),
                "fffffffffffffff0".into(),
            ]);
            assert_eq!(status, Status::Done);
            out
        };
        assert_eq!(answer("-s"), "??:0\n");
        assert_eq!(answer("-f"), "??\n??:0\n");
        assert_eq!(answer("-fp"), "?? ??:0\n");
        assert_eq!(answer("-a"), "0xfffffffffffffff0\n??:0\n");
        assert_eq!(answer("-afp"), "0xfffffffffffffff0: ?? ??:0\n");
    }
}
