//! What a compiler would do with a source of ours: the commands that its driver prints for `-###`.
//!
//! `cc`, `gcc`, `g++`, `gfortran` and the wrappers of MPI libraries mostly come down to the same compiler proper with the same options.
//! The commands show that, and also the options that a wrapper script adds; the driver's name shows neither.

use std::path::Path;

use crate::cache::key;
use crate::compiler::{Machine, identity};
use crate::exec::Call;

/// Where a compiler notes the folder it runs in. It is in debug information alone, which our objects do not have.
const FOLDER: &str = "-compilation-dir=";

/// A key of all that a compiler, called as `call` says, does to a C source: its commands, and the files that they run. Nothing where
/// the compiler does not print its commands.
#[must_use]
pub fn of(call: Call) -> Option<String> {
    // With a pipe there are no temporary files, whose names differ from run to run.
    let call = call.args(["-pipe", "-###", "-x", "c", "-c", "-o", "out.o", "/dev/null"]);
    let output = call.run_privately().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8(output.stderr).ok()?;
    let lines: Vec<Vec<&str>> = text.lines().filter_map(words).collect();
    let compiles = |words: &Vec<&str>| {
        words[0].rsplit('/').next() == Some("cc1") || words.get(1) == Some(&"-cc1")
    };
    if !lines.iter().any(compiles) {
        return None;
    }
    let machine = Machine::new();
    let mut parts = Vec::new();
    for words in lines {
        parts.push(program(words[0], &machine)?);
        let options = words[1..].iter().filter(|word| !word.contains(FOLDER));
        parts.extend(options.map(|word| (*word).to_owned()));
        parts.push(String::new());
    }
    Some(key(parts.iter().map(String::as_bytes)))
}

/// The words of a command; nothing for other lines. Quotes around words are left out; a quote within a word stays, escaped as it is.
fn words(line: &str) -> Option<Vec<&str>> {
    let command = line.strip_prefix(' ')?;
    if command.trim_start().starts_with('(') {
        return None; // clang's " (in-process)"
    }
    let words: Vec<&str> = command
        .split(' ')
        .filter(|word| !word.is_empty() && *word != "|")
        .map(|word| word.trim_matches('"'))
        .collect();
    (!words.is_empty()).then_some(words)
}

/// The identity of a program that a command runs, found as the driver finds it.
fn program(name: &str, machine: &Machine) -> Option<String> {
    if name.contains('/') {
        return identity(Path::new(name)).ok();
    }
    identity(&machine.find(name.as_ref())?.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn steps(compiler: &Path, flags: &[&str]) -> Option<String> {
        of(Call::new(compiler).args(flags))
    }

    fn gcc() -> std::path::PathBuf {
        let found = Machine::new().find("gcc".as_ref());
        found.expect("these tests need gcc").0
    }

    #[test]
    fn names_of_one_compiler_are_one_and_options_are_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("cc");
        std::os::unix::fs::symlink(gcc(), &other).unwrap();
        let plain = steps(&gcc(), &["-O2"]).unwrap();
        assert_eq!(steps(&other, &["-O2"]).as_ref(), Some(&plain));
        assert_ne!(steps(&gcc(), &["-O1"]).as_ref(), Some(&plain));
        assert_ne!(
            steps(&gcc(), &["-O2", "-fno-pie"]),
            steps(&gcc(), &["-O2", "-fPIE"])
        );
    }

    #[test]
    fn options_of_a_wrapper_script_count() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("gcc");
        let text = format!(
            "#!/bin/sh\nexec {} -funsigned-char \"$@\"\n",
            gcc().display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let wrapped = steps(&script, &["-O2"]).unwrap();
        assert_ne!(Some(&wrapped), steps(&gcc(), &["-O2"]).as_ref());
        assert_eq!(Some(wrapped), steps(&gcc(), &["-funsigned-char", "-O2"]));
    }

    #[test]
    fn what_prints_no_commands_has_no_steps() {
        assert_eq!(steps(Path::new("/bin/true"), &[]), None);
        assert_eq!(steps(Path::new("/bin/false"), &[]), None);
        assert_eq!(steps(Path::new("/nowhere/gcc"), &[]), None);
    }

    #[test]
    fn lines_that_are_no_commands_are_passed_over() {
        assert_eq!(words("Target: x86_64-linux-gnu"), None);
        assert_eq!(words(" (in-process)"), None);
        assert_eq!(
            words(" \"/usr/lib/llvm/bin/clang\" \"-cc1\" |"),
            Some(vec!["/usr/lib/llvm/bin/clang", "-cc1"])
        );
    }
}
