//! Tells what came out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use comfy_table::{CellAlignment, ContentArrangement, Table, TableStyle};

use crate::catalog::GROUPS;
use crate::compile::Linkage;
use crate::trial::{Outcome, Plain, Step, Trial};

/// One line of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Row {
    programs: usize,
    plain: usize,
    passed: usize,
    silent: usize,
    events: u64,
    invalid: usize,
    failed: usize,
    unstable: usize,
    excepted: usize,
}

impl Row {
    fn of<'a>(trials: impl Iterator<Item = &'a Trial>, linkage: Linkage) -> Self {
        let mut row = Self::default();
        for trial in trials {
            row.programs += usize::from(matches!(trial.plain, Plain::Passed | Plain::Failed(..)));
            row.plain += usize::from(trial.plain == Plain::Passed);
            let outcomes = trial.outcomes.iter().filter(|(of, _)| *of == linkage);
            outcomes.for_each(|(_, outcome)| row.count(outcome));
        }
        row
    }

    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Passed(content) => {
                self.passed += 1;
                self.events += content.events;
            }
            Outcome::NothingToRecord => {
                self.passed += 1;
                self.silent += 1;
            }
            Outcome::Failed(Step::Trace, _) => self.invalid += 1,
            Outcome::Failed(..) => self.failed += 1,
            Outcome::Unstable(_) => self.unstable += 1,
            Outcome::Excepted(..) => self.excepted += 1,
        }
    }

    fn cells(&self, name: &str, linkage: &str) -> Vec<String> {
        let numbers = [self.programs, self.plain, self.passed, self.silent].map(|n| n.to_string());
        let more = [self.invalid, self.failed, self.unstable, self.excepted].map(|n| n.to_string());
        let mut cells = vec![name.to_owned(), linkage.to_owned()];
        cells.extend(numbers);
        cells.push(self.events.to_string());
        cells.extend(more);
        cells
    }
}

/// The table: a line for each folder and linkage.
#[must_use]
pub fn table(trials: &[Trial], linkages: &[Linkage]) -> String {
    let mut table = Table::new();
    table
        .set_content_arrangement(ContentArrangement::Disabled)
        .load_style(TableStyle::new())
        .set_header([
            "folder",
            "linkage",
            "programs",
            "pass plainly",
            "pass traced",
            "(no calls)",
            "events",
            "bad traces",
            "failed",
            "unstable",
            "excepted",
        ]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for &linkage in linkages {
        for (index, group) in GROUPS.iter().enumerate() {
            let row = Row::of(trials.iter().filter(|trial| trial.group == index), linkage);
            if row.programs > 0 {
                table.add_row(row.cells(&group.name(), linkage.name()));
            }
        }
        table.add_row(Row::of(trials.iter(), linkage).cells("all", linkage.name()));
    }
    table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect()
}

/// What was not run and why, what fails by itself, what was excepted.
#[must_use]
pub fn notes(trials: &[Trial]) -> String {
    let mut text = String::new();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for trial in trials {
        if let Plain::NotRun(why) | Plain::Unsupported(why) = &trial.plain {
            *reasons.entry(why).or_default() += 1;
        }
    }
    let reasons: Vec<String> = reasons
        .iter()
        .map(|(why, count)| format!("{count} {why}"))
        .collect();
    if !reasons.is_empty() {
        let _ = writeln!(text, "not run: {}", reasons.join(", "));
    }
    for trial in trials {
        if let Plain::Failed(step, why) = &trial.plain {
            let _ = writeln!(
                text,
                "fails plainly: {}: {}: {}",
                trial.id,
                step.name(),
                brief(why)
            );
        }
        for (linkage, outcome) in &trial.outcomes {
            let (id, linkage) = (&trial.id, linkage.name());
            let _ = match outcome {
                Outcome::Unstable(why) => {
                    writeln!(text, "unstable plainly: {id}, {linkage}: {}", brief(why))
                }
                Outcome::Excepted(step, why) => {
                    writeln!(text, "excepted: {id}, {linkage}, {}: {why}", step.name())
                }
                Outcome::Passed(content) if !content.whole => {
                    writeln!(
                        text,
                        "only opened by instr summary: {id}, {linkage}: a trace of {} events",
                        content.events
                    )
                }
                _ => Ok(()),
            };
        }
    }
    text
}

/// The first lines of a reason on one line.
fn brief(why: &str) -> String {
    let lines: Vec<&str> = why
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(2)
        .collect();
    lines.join(" | ")
}

/// The failures of one program: where, why, and how to run it alone. Empty when there are none.
#[must_use]
pub fn failures(trial: &Trial, command: &str) -> String {
    let mut text = String::new();
    if let Plain::NotUnderstood(why) = &trial.plain {
        let _ = writeln!(text, "FAILED {}: directives: {why}", trial.id);
    }
    for (linkage, outcome) in &trial.outcomes {
        if let Outcome::Failed(step, why) = outcome {
            let (id, step) = (&trial.id, step.name());
            let _ = writeln!(text, "FAILED {id}, {linkage}, {step}: {}", why.trim_end());
            let _ = writeln!(
                text,
                "  rerun: {command} --filter '={id}' --linkage {linkage} --keep"
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Content;

    fn trial(group: usize, plain: Plain, outcomes: Vec<(Linkage, Outcome)>) -> Trial {
        Trial {
            id: "libgomp.c/a.c".into(),
            group,
            plain,
            outcomes,
        }
    }

    fn trials() -> Vec<Trial> {
        let content = Content {
            events: 7,
            whole: true,
        };
        let bad = Outcome::Failed(Step::Trace, "discarded is 3\nmore".into());
        vec![
            trial(
                0,
                Plain::Passed,
                vec![
                    (Linkage::Wrap, Outcome::Passed(content)),
                    (Linkage::Redirect, bad),
                ],
            ),
            trial(
                0,
                Plain::Passed,
                vec![(Linkage::Wrap, Outcome::NothingToRecord)],
            ),
            trial(
                0,
                Plain::Failed(Step::Build, "compile: exit status 1\nno such thing".into()),
                vec![],
            ),
            trial(0, Plain::Unsupported("needs lto".into()), vec![]),
        ]
    }

    #[test]
    fn rows_count_what_happened() {
        let trials = trials();
        let wrap = Row::of(trials.iter(), Linkage::Wrap);
        let expected = Row {
            programs: 3,
            plain: 2,
            passed: 2,
            silent: 1,
            events: 7,
            ..Row::default()
        };
        assert_eq!(wrap, expected);
        let redirect = Row::of(trials.iter(), Linkage::Redirect);
        assert_eq!(
            (redirect.passed, redirect.invalid, redirect.failed),
            (0, 1, 0)
        );
        assert!(table(&trials, &Linkage::ALL).contains("libgomp.c"));
    }

    #[test]
    fn failures_say_where_why_and_how_to_run_again() {
        let trials = trials();
        let text = failures(&trials[0], "scripts/conformance.sh");
        assert!(text.starts_with("FAILED libgomp.c/a.c, redirect, trace: discarded is 3\n"));
        assert!(text.contains(
            "rerun: scripts/conformance.sh --filter '=libgomp.c/a.c' --linkage redirect --keep"
        ));
        assert!(trials[0].failed() && !trials[1].failed());
        assert_eq!(failures(&trials[1], ""), "");
        let notes = notes(&trials);
        assert!(notes.contains("not run: 1 needs lto\n"));
        assert!(notes.contains(
            "fails plainly: libgomp.c/a.c: build: compile: exit status 1 | no such thing\n"
        ));
    }
}
