//! Long text on a terminal goes through a pager, as git does it.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};

use instr_cc::exec::Call;

/// The pager where nothing names one.
const PAGER: &str = "less";
/// Its options where `LESS` is not set: end at once where all fits, keep colours, leave the text on the screen.
const LESS: &str = "FRX";

/// Writes `text` through a pager if it has more lines than the terminal is high; `height` is [`None`] for what is no terminal.
///
/// # Errors
///
/// Those of `out`. A pager that cannot be started is none.
pub(crate) fn write(text: &[u8], height: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let lines = text.iter().filter(|&&byte| byte == b'\n').count();
    if height.is_some_and(|height| lines >= height)
        && let Some(pager) = chosen(|name| std::env::var_os(name))
        && show(&pager, text).is_ok()
    {
        return Ok(());
    }
    out.write_all(text)
}

/// The command that `INSTR_PAGER` or `PAGER` names; nothing where that is empty or `cat`, or where the terminal cannot go back a line.
fn chosen(variable: impl Fn(&str) -> Option<OsString>) -> Option<OsString> {
    if variable("TERM").is_none_or(|term| term.is_empty() || term == "dumb") {
        return None;
    }
    let named = variable("INSTR_PAGER").or_else(|| variable("PAGER"));
    let pager = named.unwrap_or_else(|| PAGER.into());
    (!pager.is_empty() && pager != "cat").then_some(pager)
}

/// Fails only where the pager has shown nothing.
fn show(pager: &OsString, text: &[u8]) -> io::Result<()> {
    let mut call = Call::new("/bin/sh").args([OsStr::new("-c"), pager]);
    if std::env::var_os("LESS").is_none() {
        call.env.push(("LESS", Some(LESS.into())));
    }
    // 127: the shell found no such program; 126: it may not be run.
    match call.run_with_input(text)?.code() {
        Some(126 | 127) => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pager_is_that_of_the_environment() {
        let on = |term: Option<&str>, own: Option<&str>, all: Option<&str>| {
            chosen(|name| match name {
                "TERM" => term.map(OsString::from),
                "INSTR_PAGER" => own.map(OsString::from),
                _ => all.map(OsString::from),
            })
        };
        let of = |own, all| on(Some("xterm"), own, all);
        assert_eq!(of(None, None), Some("less".into()));
        assert_eq!(of(None, Some("more")), Some("more".into()));
        assert_eq!(of(Some("less -S"), Some("more")), Some("less -S".into()));
        assert_eq!(of(Some(""), Some("more")), None);
        assert_eq!(of(None, Some("cat")), None);
        for term in [None, Some(""), Some("dumb")] {
            assert_eq!(on(term, None, Some("less")), None, "{term:?}");
        }
    }

    #[test]
    fn short_text_and_text_without_a_terminal_is_written_as_it_is() {
        let mut out = Vec::new();
        write(b"a\nb\n", Some(3), &mut out).unwrap();
        write(b"c\nd\n", None, &mut out).unwrap();
        assert_eq!(out, b"a\nb\nc\nd\n");
    }

    #[test]
    fn a_pager_that_is_not_there_is_an_error_and_one_that_fails_is_none() {
        assert!(show(&"/nonexistent/pager".into(), b"text").is_err());
        assert!(show(&"exit 3".into(), b"text").is_ok());
    }
}
