//! Which runs a user means by before and after.
//!
//! Each of two words may be a trace, a program (its newest run), a run by its number (`app.3`), several by theirs (`app.1-5`), or a folder with runs of one program; lists of any length stand
//! behind `--before` and `--after`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Result;
use instr_trace::Metadata;

use super::options::DiffOptions;
use crate::console::{Refusal, WrongUsage};
use crate::find;
use crate::output::holds_trace;
use crate::quote::shown;
use crate::runs::is_trace;
use crate::summary::units::elide;

/// More runs of a group are refused: their pairs are counted.
const MOST: usize = 1000;

/// Traces before and after.
pub(super) fn of(options: &DiffOptions) -> Result<[Vec<PathBuf>; 2]> {
    let sides = match (&options.runs[..], &options.before[..], &options.after[..]) {
        ([before, after], [], []) => [vec![before.clone()], vec![after.clone()]],
        ([], before, after) if !before.is_empty() && !after.is_empty() => {
            [before.to_vec(), after.to_vec()]
        }
        ([], [], []) => return Err(usage("nothing to compare")),
        ([_], [], []) => return Err(usage("one word is not two runs")),
        (_, [], []) => return Err(usage("more than two words: which of them are before?")),
        ([], ..) => return Err(usage("`--before` and `--after` go together")),
        _ => return Err(usage("words beside `--before` and `--after`")),
    };
    let [before, after] = sides;
    let sides = [all(&before)?, all(&after)?];
    once(&sides)?;
    Ok(sides)
}

fn usage(what: &str) -> anyhow::Error {
    let help = "instr diff BEFORE AFTER, or instr diff --before RUN… --after RUN…";
    WrongUsage(format!("{what}: {help}")).into()
}

/// The traces that words stand for.
fn all(words: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for word in words {
        all.extend(expanded(word)?);
        if all.len() > MOST {
            return Err(refusal(
                format!("more than {MOST} runs of one group"),
                "name fewer of them",
            ));
        }
    }
    Ok(all)
}

/// The runs that one word stands for, as a command takes it that compares several.
///
/// # Errors
///
/// There are none, or runs of several programs.
pub(crate) fn expanded(word: &Path) -> Result<Vec<PathBuf>> {
    if let Some((first, last)) = range(word).filter(|_| !word.exists()) {
        let numbered = |number: u64| word.with_extension(number.to_string());
        if first > last || last - first >= MOST as u64 {
            let help = "write app.FIRST-LAST, such as app.1-10";
            return Err(refusal(
                format!("{} is no range of runs", shown(word)),
                help,
            ));
        }
        return (first..=last)
            .map(|number| find::trace(&numbered(number)))
            .collect();
    }
    let inside = match word.is_dir() && !is_trace(word) {
        true => find::all_in(word),
        false => Vec::new(),
    };
    if inside.len() < 2 {
        return Ok(vec![find::trace(word)?]);
    }
    of_folder(word, inside)
}

/// `1-10` at the end of `app.1-10`.
fn range(word: &Path) -> Option<(u64, u64)> {
    let (first, last) = word.extension()?.to_str()?.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// The runs in a folder, which are of one program.
///
/// # Errors
///
/// One of them cannot be read: that it is left out would look as if there were fewer runs.
fn of_folder(folder: &Path, inside: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let known = |path: PathBuf| Ok((Metadata::read(&path.join("metadata"))?, path));
    // Others have files of this name, too.
    let ours = inside.into_iter().filter(|path| holds_trace(path));
    let runs = ours.map(known);
    let mut runs = runs.collect::<Result<Vec<(Metadata, PathBuf)>>>()?;
    runs.retain(|run| !run.0.empty);
    let programs: BTreeSet<&str> = runs.iter().map(|run| run.0.program.as_str()).collect();
    if programs.len() > 1 {
        let names: Vec<String> = programs
            .iter()
            .take(5)
            .map(|name| elide(name, 40))
            .collect();
        return Err(refusal(
            format!(
                "{} has runs of {} programs: {}",
                shown(folder),
                programs.len(),
                names.join(", ")
            ),
            "name the runs of one, such as app.1-5, or --before app.instr app.instr.1 --after …",
        ));
    }
    runs.sort_by(|a, b| (a.0.start_realtime_ns, &a.1).cmp(&(b.0.start_realtime_ns, &b.1)));
    match runs.is_empty() {
        true => Ok(vec![find::trace(folder)?]),
        false => Ok(runs.into_iter().map(|run| run.1).collect()),
    }
}

/// No run is there twice.
///
/// # Errors
///
/// One is.
pub(crate) fn once(sides: &[Vec<PathBuf>; 2]) -> Result<()> {
    find::once(sides.iter().flatten())
}

fn refusal(message: String, help: &str) -> anyhow::Error {
    let refusal = Refusal {
        message,
        notes: Vec::new(),
        help: Some(help.to_owned()),
    };
    refusal.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::tests::folder;

    fn names(word: &Path) -> Vec<String> {
        let found = expanded(word).unwrap();
        found
            .iter()
            .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn folders_and_ranges_are_several_runs() {
        let dir = folder(&[
            ("heat.instr", 12),
            ("heat.instr.11", 11),
            ("heat.instr.9", 9),
            ("heat.instr.10", 10),
        ]);
        let at = |name: &str| dir.path().join(name);
        assert_eq!(
            names(dir.path()),
            [
                "heat.instr.9",
                "heat.instr.10",
                "heat.instr.11",
                "heat.instr"
            ]
        );
        assert_eq!(
            names(&at("heat.9-11")),
            ["heat.instr.9", "heat.instr.10", "heat.instr.11"]
        );
        assert_eq!(names(&at("heat.11-12")), ["heat.instr.11", "heat.instr"]);
        assert_eq!(names(&at("heat")), ["heat.instr"]);
        let error = expanded(&at("heat.8-9")).unwrap_err().to_string();
        assert!(error.contains("heat.8"), "{error}");
        let error = expanded(&at("heat.9-8")).unwrap_err().to_string();
        assert!(error.contains("is no range of runs"), "{error}");
    }

    #[test]
    fn a_run_is_not_compared_with_itself() {
        let dir = folder(&[("heat.instr", 1)]);
        let twice = [
            vec![dir.path().join("heat.instr")],
            vec![dir.path().join("./heat.instr")],
        ];
        assert!(
            once(&twice)
                .unwrap_err()
                .to_string()
                .ends_with("is there twice")
        );
    }
}
