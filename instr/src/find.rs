//! Which trace directory a user means: a path, a program, a run of it by its number, or the folder where it lies.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::console::Refusal;
use crate::quote::{shown, typed};
use crate::runs::{self, is_trace};
use crate::why::{Question, Reason};

/// How alike a name must be to be proposed (Jaro-Winkler, 1 = the same).
const ALIKE: f64 = 0.8;
/// What helps where there is none.
const WHERE: &str = "a program that instr-cc linked makes NAME.instr in the folder where it runs, or what INSTR_TRACE names; \
                     INSTR_VERBOSE=1 or instr run says where, and why not";
/// Traces that a message lists.
const LISTED: usize = 8;

/// The trace directory that `given` names: itself; of a program, the newest trace beside it or in the current folder, or with `.3` behind its name
/// run 3; of another folder, the only trace in it that is no earlier run. What exists and is none of these is returned as it is, so that its
/// reader says what is wrong with it.
///
/// # Errors
///
/// Nothing there has such a name, or a folder has several traces.
pub(crate) fn trace(given: &Path) -> Result<PathBuf> {
    if is_trace(given) {
        return Ok(given.to_owned());
    }
    if let Some(found) = of_program(given) {
        return Ok(found);
    }
    if given.is_dir() {
        let inside = traces_in(given);
        return match &inside[..] {
            [] if has_streams(given) => Ok(given.to_owned()),
            [] if !runs::earlier(given).is_empty() => Ok(runs::newest(given).unwrap_or_default()),
            [] => Err(refusal(
                format!("{} holds no trace", shown(given)),
                WHERE.to_owned(),
            )),
            [one] => Ok(one.clone()),
            several => Err(refusal(
                format!("{} holds {} traces", shown(given), several.len()),
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
/// Those of [`trace`], and two words that name one trace: it is not two processes.
pub(crate) fn traces(given: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let found: Vec<PathBuf> = given
        .iter()
        .map(|given| trace(given))
        .collect::<Result<_>>()?;
    once(&found)?;
    Ok(found)
}

/// No trace is there twice.
///
/// # Errors
///
/// One is.
pub(crate) fn once<'p>(traces: impl IntoIterator<Item = &'p PathBuf>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for path in traces {
        let own = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        if !seen.insert(own) {
            return Err(refusal(
                format!("{} is there twice", shown(path)),
                "name each run once; a program's name is its newest run, app.3 is run 3 (instr list)".to_owned(),
            ));
        }
    }
    Ok(())
}

/// The trace of a program, or of a run of it.
fn of_program(given: &Path) -> Option<PathBuf> {
    let with_ending = |path: &Path| {
        let mut name = path.file_name()?.to_owned();
        name.push(".instr");
        Some(path.with_file_name(name))
    };
    let beside = with_ending(given);
    let here = beside.as_ref().and_then(|path| path.file_name());
    let here = here.map(PathBuf::from).filter(|_| given.is_file());
    let mut candidates = [beside, here].into_iter().flatten();
    if let Some(found) = candidates.find_map(|base| runs::newest(&base)) {
        return Some(found);
    }
    if given.is_dir() {
        return None;
    }
    let base = runs::base(given);
    let bases = [with_ending(&base), Some(base)];
    let mut bases = bases.into_iter().flatten();
    if let Some(number) = runs::number(given) {
        return bases.find_map(|base| runs::numbered(&base, number));
    }
    if given.extension().is_some_and(|last| last == "empty") {
        return bases.find_map(|base| runs::empty(&base));
    }
    (!given.exists()).then(|| runs::newest(given))?
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

/// All traces in a folder, by name.
pub(crate) fn all_in(folder: &Path) -> Vec<PathBuf> {
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

/// The newest trace of each program in a folder, by name.
fn traces_in(folder: &Path) -> Vec<PathBuf> {
    let all = all_in(folder);
    let newest = |path: &PathBuf| match runs::is_earlier(path) {
        false => Some(path.clone()),
        // Of a run that was killed before it had a trace, the one before is left.
        true if !is_trace(&runs::base(path)) => runs::newest(&runs::base(path)),
        true => None,
    };
    let mut found: Vec<_> = all.iter().filter_map(newest).collect();
    found.dedup();
    found
}

/// A path as one would type it.
fn named(path: &Path) -> String {
    typed(path.strip_prefix("./").unwrap_or(path))
}

fn list(traces: &[PathBuf]) -> String {
    let shown: Vec<_> = traces.iter().take(LISTED).map(|path| named(path)).collect();
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
            shown(given)
        ),
        false => format!(
            "cannot read {}: there is no such trace or program",
            shown(given)
        ),
    };
    if let Some(help) = other_runs(given) {
        return refusal(message, help);
    }
    let reasons = reasons(given);
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
        Some(nearest) if alike(nearest) >= ALIKE => format!("did you mean {}?", named(nearest)),
        _ if !reasons.is_empty() => reasons[0].help.clone().unwrap_or_else(|| WHERE.to_owned()),
        Some(_) => format!("traces that are there: {}", list(&there)),
        None => WHERE.to_owned(),
    };
    Refusal {
        message,
        notes: reasons.into_iter().map(|reason| reason.note).collect(),
        help: Some(help),
    }
    .into()
}

/// Why the program has no trace here, as far as it can be seen.
fn reasons(program: &Path) -> Vec<Reason> {
    if !is_program(program) {
        return Vec::new();
    }
    let variables: Vec<_> = std::env::vars_os().collect();
    let question = Question {
        program,
        folder: Path::new(""),
        variables: &variables,
        preloaded: false,
        obstacle: None,
    };
    question.reasons()
}

/// The runs that there are, where `given` names another one.
fn other_runs(given: &Path) -> Option<String> {
    runs::number(given)?;
    let program = runs::base(given);
    let base = match program.extension() {
        Some(ending) if ending == "instr" => program.clone(),
        _ => program.with_file_name(format!("{}.instr", program.file_name()?.to_string_lossy())),
    };
    let mut numbers: Vec<u64> = runs::earlier(&base)
        .iter()
        .map(|(number, _)| *number)
        .collect();
    numbers.extend(runs::run_of(&base));
    numbers.sort_unstable();
    numbers.dedup();
    let program = base.with_extension("");
    let names: Vec<_> = numbers
        .iter()
        .rev()
        .take(LISTED)
        .rev()
        .map(|number| {
            let mut name = program.clone().into_os_string();
            name.push(format!(".{number}"));
            typed(name)
        })
        .collect();
    (!names.is_empty()).then(|| format!("runs that are there: {}", names.join(", ")))
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
        let runs: Vec<_> = traces.iter().map(|name| (*name, 0)).collect();
        runs::tests::folder(&runs)
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
    fn a_trace_is_not_two_processes() {
        let dir = folder(&["heat.instr"]);
        let named = |name: &str| dir.path().join(name);
        let why = |names: [&str; 2]| traces(&names.map(named)).unwrap_err().to_string();
        for twice in [["heat.instr", "./heat.instr"], ["heat.instr", "heat"]] {
            assert!(why(twice).ends_with("is there twice"), "{twice:?}");
        }
    }

    #[test]
    fn a_run_is_named_by_its_number_and_the_newest_by_none() {
        let dir = runs::tests::folder(&[
            ("heat.instr", 8),
            ("heat.instr.7", 7),
            ("heat.instr.10", 6),
            ("heat.instr.empty", 9),
        ]);
        let at = |name: &str| dir.path().join(name);
        for (given, wanted) in [
            ("", "heat.instr"),
            ("heat", "heat.instr"),
            ("heat.7", "heat.instr.7"),
            ("heat.8", "heat.instr"),
            ("heat.instr.8", "heat.instr"),
            ("heat.10", "heat.instr.10"),
            ("heat.empty", "heat.instr.empty"),
        ] {
            assert_eq!(trace(&at(given)).unwrap(), at(wanted), "{given}");
        }
        let told = help(&at("heat.3"));
        assert!(
            told.contains("runs that are there: ") && told.ends_with("heat.10"),
            "{told}"
        );
        // A run that was killed before it had a trace.
        fs::remove_file(at("heat.instr/metadata")).unwrap();
        for given in ["", "heat", "heat.instr"] {
            assert_eq!(trace(&at(given)).unwrap(), at("heat.instr.10"), "{given}");
        }
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
