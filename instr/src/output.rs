//! Output files: they appear complete or not at all. What is no file (a device, a pipe) is written to, and what a symbolic link leads to is
//! replaced, not the link.

use std::fs::OpenOptions;
use std::io::{BufWriter, Read as _, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use instr_export::NewFolder;
use instr_trace::new_file::{NewFile, behind_links};

use crate::console::{Console, NO_OUTPUT, Refusal};
use crate::quote::shown;
use crate::runs::folder_of;

const BUFFER_BYTES: usize = 1 << 18;

/// Whether an output is a folder, or was meant to be one.
pub fn is_folder(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// Refuses a place in the folder of a trace: what is written there might take the place of one of its files, and the next run of the program would
/// not take the folder any more.
///
/// # Errors
///
/// The place lies there.
pub fn check_outside(path: &Path) -> Result<()> {
    // What a link leads to is written, not the link. The file need not be there.
    let path = &behind_links(path);
    let whole = path.canonicalize().or_else(|_| {
        let around = folder_of(path).canonicalize()?;
        Ok::<_, std::io::Error>(around.join(path.file_name().unwrap_or_default()))
    });
    let Ok(whole) = whole else {
        return Ok(()); // it cannot be written, which is said elsewhere
    };
    let around = whole.ancestors().skip(1).find(|dir| holds_trace(dir));
    match around {
        None => Ok(()),
        Some(trace) => Err(Refusal {
            message: format!("cannot write {}: {} is a trace", shown(path), shown(trace)),
            notes: Vec::new(),
            help: Some("name a place outside of it: -o NAME".to_owned()),
        }
        .into()),
    }
}

/// Whether a folder is a trace, damaged or not: others have files of the name `metadata`, too.
pub(crate) fn holds_trace(dir: &Path) -> bool {
    let begin = |path: PathBuf| {
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).ok()?;
        file.take(6).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let metadata = dir.join("metadata");
    metadata.is_file()
        && (begin(metadata).is_some_and(|bytes| bytes == b"/* CTF")
            || ["thread_0000", "processor_0000"]
                .iter()
                .any(|name| dir.join(name).is_file()))
}

/// Refuses to replace an executable, an object or a library: `-o app` is easily typed, and a trace's names are read from its program.
fn is_no_program(path: &Path) -> Result<()> {
    let mut begin = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(4).read_to_end(&mut begin));
    if read.is_err() || begin != b"\x7fELF" {
        return Ok(());
    }
    Err(Refusal {
        message: format!("cannot write {}: it is a program", shown(path)),
        notes: Vec::new(),
        help: Some("name another file: -o NAME".to_owned()),
    }
    .into())
}

/// Calls `write` with the place that `path` names: standard output for `-`, else a file that appears only when
/// everything is written.
///
/// # Errors
///
/// What `write` returns, and failures to make, write or rename the file, with its path.
pub fn write_to(
    path: &Path,
    console: &mut Console<'_>,
    write: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    if is_standard_output(path) {
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, &mut *console.out);
        write(&mut out).context(NO_OUTPUT)?;
        return out.flush().context(NO_OUTPUT);
    }
    let cannot = || format!("cannot write {}", path.display());
    if is_special(path) {
        let file = OpenOptions::new()
            .write(true)
            .open(path)
            .with_context(cannot)?;
        let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
        write(&mut out).with_context(cannot)?;
        return out.flush().with_context(cannot);
    }
    check_outside(path)?;
    is_no_program(path)?;
    crate::interrupted::removes_outputs();
    let file = NewFile::create(path).with_context(cannot)?;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file.file());
    write(&mut out).with_context(cannot)?;
    out.flush().with_context(cannot)?;
    drop(out);
    file.publish().with_context(cannot)
}

/// Calls `fill` with an empty folder, which appears at `path` only when everything is in it. `format` is what it is an export of: an earlier export
/// is replaced, anything else that is there stays.
///
/// # Errors
///
/// What `fill` returns, something at `path` that must stay, and failures to make or rename the folder.
pub fn write_folder(
    path: &Path,
    format: &str,
    fill: impl FnOnce(&Path) -> Result<()>,
) -> Result<()> {
    let help = "name a folder that is not there, is empty, or is an export itself: -o NAME";
    let refused = |why: String| -> anyhow::Error {
        Refusal {
            message: why,
            notes: Vec::new(),
            help: Some(help.to_owned()),
        }
        .into()
    };
    if is_standard_output(path) {
        return Err(refused(format!(
            "cannot write {format} to standard output: it is a folder of files"
        )));
    }
    check_outside(path)?;
    crate::interrupted::removes_outputs();
    let with_help = |error| match error {
        taken @ instr_export::Error::Taken { .. } => refused(taken.to_string()),
        other => other.into(),
    };
    let folder = NewFolder::create(path).map_err(with_help)?;
    fill(folder.path()).with_context(|| format!("cannot write {}", path.display()))?;
    folder.publish(format).map_err(with_help)
}

/// Whether a path names the standard output, as `-` does.
pub fn is_standard_output(path: &Path) -> bool {
    const NAMES: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    NAMES.iter().any(|name| path == Path::new(name))
}

/// Whether something is there that is neither a file nor a folder: a file must not take its place.
pub fn is_special(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|status| !status.is_file() && !status.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_console(body: impl FnOnce(&mut Console<'_>)) -> Vec<u8> {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        body(&mut Console {
            out: &mut out,
            err: &mut err,
            colour: false,
            progress: false,
            width: 80,
            height: None,
        });
        out
    }

    #[test]
    fn dash_is_standard_output() {
        let out = with_console(|console| {
            write_to(Path::new("-"), console, |out| Ok(out.write_all(b"text")?)).unwrap()
        });
        assert_eq!(out, b"text");
    }

    #[test]
    fn a_device_stays_one_and_a_link_too() {
        let folder = tempfile::tempdir().unwrap();
        let [link, chain, target] =
            ["link", "chain", "target"].map(|name| folder.path().join(name));
        std::os::unix::fs::symlink("chain", &link).unwrap();
        std::os::unix::fs::symlink(&target, &chain).unwrap();
        for text in ["first", "again"] {
            with_console(|console| {
                write_to(&link, console, |out| Ok(out.write_all(text.as_bytes())?)).unwrap()
            });
            assert_eq!(std::fs::read_to_string(&target).unwrap(), text);
            assert!(link.is_symlink() && chain.is_symlink() && !target.is_symlink());
        }
        // Through a link, so that a fault here costs the link and no device.
        let null = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &null).unwrap();
        with_console(|console| write_to(&null, console, |out| Ok(out.write_all(b"x")?)).unwrap());
        assert!(null.is_symlink() && !null.metadata().unwrap().is_file());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 4);
    }

    #[test]
    fn no_file_of_a_trace_is_replaced_and_none_comes_into_its_folder() {
        let around = tempfile::tempdir().unwrap();
        let trace = around.path().join("a.instr");
        std::fs::create_dir_all(trace.join("own")).unwrap();
        std::fs::write(trace.join("metadata"), "/* CTF 1.8 */").unwrap();
        let link = around.path().join("link");
        std::os::unix::fs::symlink(trace.join("metadata"), &link).unwrap();
        let write = |path: &Path| {
            let mut result = Ok(());
            with_console(|console| {
                result = write_to(path, console, |out| Ok(out.write_all(b"x")?));
            });
            result
        };
        for name in ["metadata", "thread_0000", "new", "own/new"] {
            let error = write(&trace.join(name)).unwrap_err().to_string();
            assert!(error.contains("is a trace"), "{error}");
            let folder = write_folder(&trace.join(name), "csv", |_| Ok(()));
            assert!(folder.unwrap_err().to_string().contains("is a trace"));
        }
        write(&link).unwrap_err();
        let dangling = around.path().join("dangling");
        std::os::unix::fs::symlink(trace.join("not-there"), &dangling).unwrap();
        write(&dangling).unwrap_err();
        // What has lost the begin of its metadata is one.
        std::fs::write(trace.join("metadata"), "").unwrap();
        std::fs::write(trace.join("thread_0000"), "").unwrap();
        write(&trace.join("new")).unwrap_err();
        assert_eq!(std::fs::read_dir(&trace).unwrap().count(), 3);
        // Others have a file of this name.
        let others = around.path().join("others");
        std::fs::create_dir(&others).unwrap();
        std::fs::write(others.join("metadata"), "of a book").unwrap();
        write(&others.join("new")).unwrap();
        write(&others.join("metadata")).unwrap();
    }

    #[test]
    fn failure_leaves_the_old_file_and_no_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        with_console(|console| {
            write_to(&path, console, |out| {
                out.write_all(b"half")?;
                anyhow::bail!("no more")
            })
            .unwrap_err();
        });
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        with_console(|console| write_to(&path, console, |out| Ok(out.write_all(b"new")?)).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
