//! Finds the program that `instr run` is to start, starts it as a shell would, and says why that is not possible.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use anyhow::Result;
use instr_cc::compiler::Machine;
use instr_cc::exec::{Call, Measured};
use instr_cc::preload;

use crate::console::Refusal;
use crate::quote::{shown, typed};

/// What runs an executable file that names no interpreter: `execvp` of POSIX, and so env, nohup and shells, do it.
const SHELL: &str = "/bin/sh";
/// So much of a file says what it is: Linux reads no more of it for its interpreter.
const HEAD: u64 = 256;

/// A path as it is, a name in `PATH`.
///
/// # Errors
///
/// There is no such program, or it is a folder.
pub(crate) fn find(name: &OsStr) -> Result<PathBuf> {
    let path = Path::new(name);
    let refusal = |why: &str, help: Option<String>| -> anyhow::Error {
        let message = format!("cannot run {}: {why}", shown(path));
        let notes = Vec::new();
        Refusal {
            message,
            notes,
            help,
        }
        .into()
    };
    let is_path = name.as_encoded_bytes().contains(&b'/');
    if is_path {
        return match path.metadata() {
            Ok(status) if status.is_file() => Ok(path.to_owned()),
            Ok(status) if status.is_dir() => Err(refusal("it is a folder", None)),
            Ok(_) => Err(refusal("it is not a file", None)),
            Err(_) => Err(refusal("there is no such program", None)),
        };
    }
    if let Some(found) = Machine::new().find_any(name) {
        return Ok(found);
    }
    let here = Path::new(".").join(path);
    Err(match here.metadata() {
        Ok(status) if status.is_file() => {
            let help = format!("did you mean {}?", typed(&here));
            refusal("there is no such program in PATH", Some(help))
        }
        Ok(status) if status.is_dir() && !name.is_empty() => refusal(
            "there is no such program in PATH, and here it is a folder",
            None,
        ),
        _ => refusal("there is no such program", None),
    })
}

/// Runs the program as if this process were it ([`Call::run_instead`]); an executable file that is neither a binary nor names its interpreter is run
/// by the shell. `started` gets the process id.
///
/// # Errors
///
/// It cannot be started; the error says what of it is missing or wrong.
pub(crate) fn run_instead(call: &Call, mut started: impl FnMut(u32)) -> Result<ExitStatus> {
    let error = match call.run_instead(&mut started) {
        Ok(status) => return Ok(status),
        Err(error) => error,
    };
    let error = match by_shell(call, &error).map(|shell| shell.run_instead(started)) {
        Some(Ok(status)) => return Ok(status),
        Some(Err(error)) => error,
        None => error,
    };
    Err(refusal(&call.program, &error))
}

/// The call of the shell for a program that could not be started, if a shell could run it.
fn by_shell(call: &Call, error: &io::Error) -> Option<Call> {
    if error.raw_os_error() != Some(ENOEXEC) || !is_text(&call.program) {
        return None;
    }
    let mut shell = call.clone();
    shell.program = SHELL.into();
    shell.arg0 = None;
    shell.args.insert(0, call.program.clone().into());
    Some(shell)
}

/// Runs and measures the program ([`Call::measure`]) with the shell where [`run_instead`] does so.
///
/// # Errors
///
/// As there.
pub(crate) fn measure(
    call: &Call,
    output: Option<File>,
    limit: Option<Duration>,
    mut began: impl FnMut(i32),
) -> Result<Measured> {
    let again = output.as_ref().map(File::try_clone).transpose()?;
    let error = match call.measure(output, limit, &mut began) {
        Ok(measured) => return Ok(measured),
        Err(error) => error,
    };
    let error = match by_shell(call, &error).map(|shell| shell.measure(again, limit, began)) {
        Some(Ok(measured)) => return Ok(measured),
        Some(Err(error)) => error,
        None => error,
    };
    Err(refusal(&call.program, &error))
}

/// Why it cannot be started.
fn refusal(program: &Path, error: &io::Error) -> anyhow::Error {
    let (why, help) = reason(program, error);
    Refusal {
        message: format!("cannot run {}: {why}", shown(program)),
        notes: Vec::new(),
        help,
    }
    .into()
}

/// "Exec format error": the kernel knows no way to run such a file. The same number on all systems.
const ENOEXEC: i32 = 8;

/// The begin of a file.
fn head(program: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if let Ok(file) = File::open(program) {
        // What cannot be read is nothing.
        let _ = file.take(HEAD).read_to_end(&mut head);
    }
    head
}

/// Whether a shell could run a file: its first line has no NUL, which shells take for a binary's.
fn is_text(program: &Path) -> bool {
    let head = head(program);
    let line = head.split(|&byte| byte == b'\n').next();
    !line.is_some_and(|line| line.contains(&0))
}

/// What the first line of a script names.
fn interpreter_of_script(head: &[u8]) -> Option<PathBuf> {
    let line = head.strip_prefix(b"#!")?;
    let line = line.split(|&byte| byte == b'\n').next()?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut words = line.split(is_blank).filter(|word| !word.is_empty());
    Some(OsString::from_vec(words.next()?.to_vec()).into())
}

/// Why a program that is there cannot be started, and what helps.
fn reason(program: &Path, error: &io::Error) -> (String, Option<String>) {
    let head = head(program);
    let is_executable = |path: &Path| {
        path.metadata()
            .is_ok_and(|status| status.is_file() && status.permissions().mode() & 0o111 != 0)
    };
    let script = interpreter_of_script(&head);
    let linker = || preload::interpreter(program);
    match error.kind() {
        io::ErrorKind::NotFound if script.is_some() => {
            let named = script.unwrap_or_default();
            if named.as_os_str().as_encoded_bytes().ends_with(b"\r") {
                let help = format!("tr -d '\\r' <{} removes them", typed(program));
                let why = "its first line ends with a carriage return, as lines of Windows do, and so its interpreter is not found";
                return (why.to_owned(), Some(help));
            }
            let why = format!("its first line names {}, which is not there", shown(&named));
            (why, None)
        }
        io::ErrorKind::NotFound => match linker().filter(|linker| !linker.exists()) {
            Some(linker) => {
                let why = format!("its dynamic linker {} is not there", shown(&linker));
                (why, None)
            }
            None => (error.to_string(), None),
        },
        io::ErrorKind::PermissionDenied if !is_executable(program) => {
            let help = format!("chmod +x {}", typed(program));
            let why = "it is not executable".to_owned();
            (why, Some(help).filter(|_| program.is_file()))
        }
        io::ErrorKind::PermissionDenied => match script.filter(|named| !is_executable(named)) {
            Some(named) => (
                format!(
                    "its first line names {}, which is not executable",
                    shown(&named)
                ),
                None,
            ),
            None => (error.to_string(), None),
        },
        _ if error.raw_os_error() == Some(ENOEXEC) => {
            let what = match head.starts_with(b"\x7fELF") {
                true => "it is a program for another processor or system, or a damaged one",
                false => "it is neither a program nor a script",
            };
            (what.to_owned(), None)
        }
        _ => (error.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dir: &Path, name: &str, text: &[u8], mode: u32) -> PathBuf {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    /// What starting it is refused with, and the help.
    fn refused(program: &Path) -> String {
        let error = run_instead(&Call::new(program), |_| {}).expect_err("it cannot be started");
        let refusal = error.downcast_ref::<Refusal>().expect("a refusal");
        let help = refusal.help.clone().unwrap_or_default();
        format!("{} | {help}", refusal.message)
    }

    #[test]
    fn a_text_without_an_interpreter_is_run_by_the_shell() {
        let dir = tempfile::tempdir().unwrap();
        let text = b"test \"$1-$#-${0##*/}\" = 'a b-1-script' && exit 7\n";
        let script = file(dir.path(), "script", text, 0o755);
        let mut call = Call::new(&script).args(["a b"]);
        call.arg0 = Some("other".into());
        assert_eq!(run_instead(&call, |_| {}).unwrap().code(), Some(7));
        let empty = file(dir.path(), "empty", b"", 0o755);
        assert_eq!(
            run_instead(&Call::new(empty), |_| {}).unwrap().code(),
            Some(0)
        );
    }

    #[test]
    fn what_cannot_be_started_is_told_for_what_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path();
        for (name, text, mode, told) in [
            (
                "gone",
                &b"#!/no/such/sh -e\n"[..],
                0o755,
                "its first line names /no/such/sh, which is not there",
            ),
            (
                "windows",
                b"#!/bin/sh\r\nexit 0\r\n",
                0o755,
                "its first line ends with a carriage return",
            ),
            (
                "plain",
                b"#!/bin/sh\n",
                0o644,
                "it is not executable | chmod +x ",
            ),
            ("elf", b"\x7fELF\0\0\0\0 no more", 0o755, "or a damaged one"),
            (
                "binary",
                b"ab\0c\n",
                0o755,
                "it is neither a program nor a script",
            ),
            (
                "data",
                b"#!/etc/passwd\n",
                0o755,
                "its first line names /etc/passwd, which is not executable",
            ),
        ] {
            let program = file(at, name, text, mode);
            let message = refused(&program);
            assert!(message.contains(told), "{message}");
            assert!(message.starts_with("cannot run /"), "{message}");
        }
        // A binary whose dynamic linker is not there: this one, with another name in its headers.
        let mut bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let linker = preload::interpreter(&std::env::current_exe().unwrap()).unwrap();
        let linker = linker.into_os_string().into_vec();
        let at_byte = bytes.windows(linker.len()).position(|text| text == linker);
        bytes[at_byte.unwrap() + linker.len() - 1] = b'#';
        let message = refused(&file(at, "unlinked", &bytes, 0o755));
        assert!(
            message.contains("its dynamic linker /") && message.contains("# is not there"),
            "{message}"
        );
    }

    #[test]
    fn names_that_lead_to_no_program_are_told_what_they_are() {
        let dir = tempfile::tempdir().unwrap();
        let message = find(dir.path().as_os_str()).unwrap_err().to_string();
        assert!(message.ends_with(": it is a folder"), "{message}");
        let message = find(dir.path().join("no\u{1b}[31m").as_os_str()).unwrap_err();
        let message = message.to_string();
        assert!(
            message.ends_with("/no?[31m: there is no such program"),
            "{message}"
        );
        assert_eq!(
            find("sh".as_ref()).unwrap().file_name(),
            Some("sh".as_ref())
        );
    }
}
