//! Whether what everybody needs works: a compiler, OpenMP, and recording. Everything else is wanted by some.

use super::{Item, Report};

/// The answer, and what it rests on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// A program with OpenMP can be built, run and traced here.
    pub(super) works: bool,
    /// The same in a sentence.
    pub(super) text: String,
}

/// The verdict on a report.
pub(super) fn of(report: &Report) -> Verdict {
    let working = |items: &[Item]| -> Vec<String> {
        let items = items.iter().filter(|item| item.works == Some(true));
        items.map(|item| item.name.clone()).collect()
    };
    let openmp = working(&report.openmp);
    let mut troubles = Vec::new();
    if !report.compilers.iter().any(is_c_compiler) {
        troubles.push("there is no C compiler".to_owned());
    } else if openmp.is_empty() {
        troubles.push("no compiler makes OpenMP programs".to_owned());
    }
    for item in report.recording.iter().chain(&report.clock) {
        if item.works == Some(false) {
            troubles.push(format!("{}: {}", item.name, item.what));
        }
    }
    if troubles.is_empty() && working(&report.recording).is_empty() {
        troubles.push("it could not be tried whether programs are recorded".to_owned());
    }
    let works = troubles.is_empty();
    let text = match works {
        true => format!(
            "All you need works: programs are built, run and traced here (OpenMP by {}).",
            compilers(&openmp).join(" and ")
        ),
        false => format!("Not all you need works: {}.", troubles.join("; ")),
    };
    Verdict { works, text }
}

fn is_c_compiler(item: &Item) -> bool {
    matches!(item.name.as_str(), "cc" | "gcc" | "clang") && item.works == Some(true)
}

/// `gcc` of `gcc -fopenmp` and `gcc -fopenmp -static`.
fn compilers(openmp: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = openmp
        .iter()
        .filter_map(|name| name.split(' ').next())
        .collect();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn healthy() -> Report {
        Report {
            compilers: vec![
                Item::new("gcc", true, "12"),
                Item::new("clang", true, "14"),
                Item::new("mold", false, "not in PATH"),
            ],
            openmp: vec![
                Item::new("gcc -fopenmp", true, ""),
                Item::new("gcc -fopenmp -static", true, ""),
                Item::new("clang -fopenmp", true, ""),
                Item::new("clang -fopenmp -static", false, "does not link"),
            ],
            recording: vec![Item::new("a small program", true, "")],
            clock: vec![Item::new("time stamps", true, "tsc")],
            sensors: vec![Item::new("rapl", false, "no zone")],
            ..Report::default()
        }
    }

    #[test]
    fn what_only_some_want_is_no_trouble() {
        assert_eq!(
            of(&healthy()),
            Verdict {
                works: true,
                text: "All you need works: programs are built, run and traced here (OpenMP by gcc and clang).".into()
            }
        );
    }

    #[test]
    fn what_everybody_needs_is_named_when_it_is_missing() {
        let trouble = |change: fn(&mut Report)| {
            let mut report = healthy();
            change(&mut report);
            let verdict = of(&report);
            assert!(!verdict.works);
            verdict.text
        };
        assert_eq!(
            trouble(|report| report.compilers.clear()),
            "Not all you need works: there is no C compiler."
        );
        assert_eq!(
            trouble(|report| report.openmp.clear()),
            "Not all you need works: no compiler makes OpenMP programs."
        );
        assert_eq!(
            trouble(
                |report| report.recording = vec![Item::new("a small program", false, "no room")]
            ),
            "Not all you need works: a small program: no room."
        );
        assert!(trouble(|report| report.recording.clear()).contains("could not be tried"));
    }
}
