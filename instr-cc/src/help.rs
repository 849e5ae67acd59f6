//! The wrapper's own options and variables in words: one table for `--instr-help` and the manual page.

use std::fmt::Write as _;

use crate::documents;

/// An option of the wrapper's own.
#[derive(Clone, Copy, Debug)]
pub struct OwnOption {
    /// Without the two dashes.
    pub name: &'static str,
    /// What stands behind `=`; empty when nothing does.
    pub value: &'static str,
    /// What it is for.
    pub help: &'static str,
}

const fn own(name: &'static str, value: &'static str, help: &'static str) -> OwnOption {
    OwnOption { name, value, help }
}

/// All of them.
pub const OPTIONS: [OwnOption; 10] = [
    own("instr-dry-run", "", "print the command and do not run it"),
    own(
        "instr-verbose",
        "",
        "say what will be recorded, and why something will not",
    ),
    own(
        "instr-memory",
        "",
        "record the heap too: malloc and its family, new and delete, mmap",
    ),
    own(
        "instr-target",
        "NAME",
        "use the compiler and options of a known target (instr doctor lists them)",
    ),
    own(
        "instr-api",
        "FILE",
        "record the functions that FILE describes too (may be repeated)",
    ),
    own(
        "instr-config",
        "FILE",
        "build the settings in FILE into the program (TOML, docs/environment.md)",
    ),
    own(
        "instr-off",
        "",
        "run the plain compiler (also: INSTR_CC=off in the environment)",
    ),
    own(
        "instr-preload",
        "DIR",
        "build the library that instr run preloads into DIR, and nothing else (for packages)",
    ),
    own("instr-help", "", "print this help"),
    own("instr-version", "", "print the version"),
];

/// Variables of the environment, and what they are for.
pub const ENVIRONMENT: [(&str, &str); 2] = [
    (
        "INSTR_CC",
        "the compiler to run, or off: run the plain compiler",
    ),
    (
        "INSTR_CACHE",
        "folder for what is built once for each compiler (docs/environment.md)\n\
         (default: $XDG_CACHE_HOME/instr, else ~/.cache/instr, else instr-cache-UID in $TMPDIR)",
    ),
];

/// How it is called.
pub const USAGE: &str = "instr-cc [COMPILER] ARGUMENTS...";

/// What it is, in a line.
pub const NAME: &str = "Compiler wrapper: the programs it links record what they do";

/// What it does.
pub const ABOUT: &str = "\
Runs COMPILER with ARGUMENTS; the programs that it links record what they do. In a build: make CC=instr-cc
CXX=instr-cc FC=instr-cc. Without COMPILER it runs $INSTR_CC, or else the compiler for the sources and objects:
cc, c++ or gfortran. Called as instr-NAME (instr-gcc, instr-g++, instr-gfortran, instr-clang ...) it runs NAME.
The compiler's output, exit status and files stay as they are. What cannot be traced is built plainly.";

/// The text of `--instr-help`.
#[must_use]
pub fn text() -> String {
    let mut text =
        format!("Usage: {USAGE}\n\n{ABOUT}\n\nIts own options, which the compiler does not see:\n");
    for option in OPTIONS {
        let equals = if option.value.is_empty() { "" } else { "=" };
        let spelled = format!("--{}{equals}{}", option.name, option.value);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {spelled:<21}{}", option.help);
    }
    text.push_str("\nEnvironment:\n");
    for (name, help) in ENVIRONMENT {
        let _ = writeln!(
            text,
            "  {name:<13}{}",
            help.replace('\n', "\n               ")
        );
    }
    let note = documents::note();
    if !note.is_empty() {
        let _ = writeln!(text, "\n{note}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::split;
    use crate::error::UsageError;

    #[test]
    fn every_option_of_the_table_is_understood_as_it_is_shown() {
        for option in OPTIONS {
            let bare = format!("--{}", option.name);
            let valued = format!("{bare}=sparc-linux");
            let (right, wrong) = match option.value {
                "" => (bare, valued),
                _ => (valued, bare),
            };
            assert!(split([right.into()]).unwrap().rest.is_empty());
            let refused = split([wrong.into()]).unwrap_err();
            assert!(
                matches!(
                    refused,
                    UsageError::NeedsValue(_) | UsageError::TakesNoValue(_)
                ),
                "{refused}"
            );
            assert!(text().contains(option.help));
        }
    }

    #[test]
    fn lines_fit_on_a_terminal() {
        for line in text().lines().filter(|line| !line.starts_with("Files")) {
            assert!(line.len() <= 120, "{line}");
        }
    }
}
