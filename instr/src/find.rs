//! Which trace directory a user means: a path, a program, or the folder where it lies.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::console::Refusal;

/// How alike a name must be to be proposed (Jaro-Winkler, 1 = the same).
const ALIKE: f64 = 0.8;
/// What helps where there is none.
const WHERE: &str = "a program that instr-cc linked makes NAME.instr in the folder where it runs, or what INSTR_TRACE names; \
                     INSTR_VERBOSE=1 makes it say where, and why not";
/// Traces that a message lists.
const LISTED: usize = 8;

/// The trace directory that `given` names: itself; of a program, the trace beside it or in the current folder; of another folder, the only trace
/// in it. What exists and is none of these is returned as it is, so that its reader says what is wrong with it.
///
/// # Errors
///
/// Nothing there has such a name, or a folder has several traces.
pub(crate) fn trace(given: &Path) -> Result<PathBuf> {
    if is_trace(given) {
        return Ok(given.to_owned());
    }
    if let Some(name) = given.file_name() {
        let mut beside = name.to_owned();
        beside.push(".instr");
        let beside = given.with_file_name(beside);
        let here = beside.file_name().map(PathBuf::from);
        let candidates = [Some(beside), here.filter(|_| given.is_file())];
        if let Some(found) = candidates.into_iter().flatten().find(|path| is_trace(path)) {
            return Ok(found);
        }
    }
    if given.is_dir() {
        let inside = traces_in(given);
        return match &inside[..] {
            [] if has_streams(given) => Ok(given.to_owned()),
            [] => Err(refusal(
                format!("{} holds no trace", given.display()),
                WHERE.to_owned(),
            )),
            [one] => Ok(one.clone()),
            several => Err(refusal(
                format!("{} holds {} traces", given.display(), several.len()),
                format!("name one of them: {}", list(several)),
            )),
        };
    }
    if given.exists() && !is_program(given) {
        return Ok(given.to_owned());
    }
    Err(missing(given))
}

/// Each of `given`, as [`trace`].
///
/// # Errors
///
/// Those of [`trace`].
pub(crate) fn traces(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    given.iter().map(|given| trace(given)).collect()
}

fn is_trace(path: &Path) -> bool {
    path.join("metadata").symlink_metadata().is_ok()
}

/// Whether a folder has streams: it may be a trace without metadata.
fn has_streams(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.map(|entry| entry.file_name());
    names.any(|name| {
        let name = name.to_string_lossy();
        name.starts_with("thread_") || name.starts_with(".window_")
    })
}

/// An ELF file: nobody gives one to a reader of traces for what it is.
fn is_program(path: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    path.is_file()
        && fs::File::open(path)
            .is_ok_and(|mut file| file.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF")
}

/// The traces in a folder, by name.
fn traces_in(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .map(|entry| entry.path())
        .filter(|path| is_trace(path))
        .collect();
    found.sort();
    found
}

fn list(traces: &[PathBuf]) -> String {
    let shown: Vec<_> = traces
        .iter()
        .take(LISTED)
        .map(|path| path.display().to_string())
        .collect();
    let more = traces.len().saturating_sub(LISTED);
    match more {
        0 => shown.join(", "),
        _ => format!("{} and {more} more", shown.join(", ")),
    }
}

fn missing(given: &Path) -> anyhow::Error {
    let message = match is_program(given) {
        true => format!(
            "{} is a program, and there is no trace of it here",
            given.display()
        ),
        false => format!(
            "cannot read {}: there is no such trace or program",
            given.display()
        ),
    };
    let mut there = traces_in(given.parent().unwrap_or(Path::new("")));
    if there.is_empty() {
        there = traces_in(Path::new(""));
    }
    let alike = |path: &PathBuf| {
        let name = |path: &Path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        strsim::jaro_winkler(&name(path), &name(given))
    };
    let nearest = there.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
    let help = match nearest {
        Some(nearest) if alike(nearest) >= ALIKE => format!("did you mean {}?", nearest.display()),
        Some(_) => format!("traces that are there: {}", list(&there)),
        None => WHERE.to_owned(),
    };
    refusal(message, help)
}

fn refusal(message: String, help: String) -> anyhow::Error {
    let refusal = Refusal {
        message,
        notes: Vec::new(),
        help: Some(help),
    };
    refusal.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(traces: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in traces {
            let trace = dir.path().join(name);
            fs::create_dir_all(&trace).unwrap();
            fs::write(trace.join("metadata"), "/* CTF 1.8 */").unwrap();
        }
        dir
    }

    fn help(given: &Path) -> String {
        let error = trace(given).expect_err("nothing is meant");
        let refusal = error.downcast_ref::<Refusal>().expect("a refusal");
        format!(
            "{} | {}",
            refusal.message,
            refusal.help.clone().unwrap_or_default()
        )
    }

    #[test]
    fn a_program_and_a_folder_lead_to_their_trace() {
        let dir = folder(&["heat.instr"]);
        let (at, wanted) = (dir.path(), dir.path().join("heat.instr"));
        fs::write(at.join("heat"), b"\x7fELF...").unwrap();
        for given in ["heat.instr", "heat", ""] {
            assert_eq!(trace(&at.join(given)).unwrap(), wanted, "{given}");
        }
        fs::remove_file(at.join("heat")).unwrap();
        assert_eq!(
            trace(&at.join("heat")).unwrap(),
            wanted,
            "the program is gone"
        );
    }

    #[test]
    fn names_that_nothing_has_get_a_proposal() {
        let dir = folder(&["heat.instr", "sparselu.instr"]);
        let told = help(&dir.path().join("sparsleu"));
        assert!(
            told.contains("did you mean") && told.ends_with("sparselu.instr?"),
            "{told}"
        );
        let told = help(&dir.path().join("xyz"));
        assert!(
            told.contains("heat.instr, ") && told.contains("sparselu.instr"),
            "{told}"
        );
        let told = help(dir.path());
        assert!(told.contains("holds 2 traces"), "{told}");
        fs::write(dir.path().join("cold"), b"\x7fELF...").unwrap();
        let told = help(&dir.path().join("cold"));
        assert!(
            told.contains("is a program, and there is no trace of it here"),
            "{told}"
        );
        let told = help(&folder(&[]).path().join("nothing"));
        assert!(told.contains("INSTR_VERBOSE=1"), "{told}");
    }

    #[test]
    fn what_is_there_and_no_trace_is_for_its_reader_to_refuse() {
        let dir = folder(&[]);
        fs::write(dir.path().join("file"), "text").unwrap();
        let given = dir.path().join("file");
        assert_eq!(trace(&given).unwrap(), given);
        assert!(help(dir.path()).contains("holds no trace | a program that instr-cc linked"));
        fs::write(dir.path().join("thread_0000"), "").unwrap();
        assert_eq!(
            trace(dir.path()).unwrap(),
            dir.path(),
            "its metadata is missing"
        );
    }
}
