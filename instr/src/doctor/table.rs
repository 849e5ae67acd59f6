//! For people: the verdict, what works, and at last what is not here, what it would give and how to get it.

use std::io::{self, Write};

use crate::summary::units::elide;

use super::advice;
use super::{Item, Report};

const NAME_WIDTH: usize = 36;
const TEXT_WIDTH: usize = 220;
/// Where lines of the last part are broken.
const LINE_WIDTH: usize = 100;

/// Title, items, and what something of this kind is good for.
type Section<'r> = (&'static str, &'r [Item], fn(&str) -> &'static str);

/// Writes the report.
///
/// # Errors
///
/// Those of `out`.
pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}\n", elide(&report.verdict, TEXT_WIDTH))?;
    let sections: [Section<'_>; 9] = [
        ("recording", &report.recording, |_| "every trace"),
        ("clock", &report.clock, |_| "the times of events"),
        ("compilers and linkers", &report.compilers, advice::of_tool),
        (
            "OpenMP libraries",
            &report.openmp,
            |_| "OpenMP programs linked this way",
        ),
        (
            "targets",
            &report.targets,
            |_| "programs for another machine, by --instr-target",
        ),
        (
            "permissions",
            &report.permissions,
            |_| "counters of the processor and samples by it",
        ),
        (
            "sensors (INSTR_SENSORS)",
            &report.sensors,
            advice::of_sensor,
        ),
        (
            "counters of threads (INSTR_COUNTERS)",
            &report.counters,
            |_| "counts at regions and tasks",
        ),
        (
            "series (instr run --config)",
            &report.series,
            |_| "what the machine and processes did beside the time line",
        ),
    ];
    for (title, items, _) in &sections {
        works(title, items, out)?;
    }
    missing(&sections, out)
}

fn works(title: &str, items: &[Item], out: &mut dyn Write) -> io::Result<()> {
    let items: Vec<&Item> = items
        .iter()
        .filter(|item| item.works == Some(true))
        .collect();
    if items.is_empty() {
        return Ok(());
    }
    writeln!(out, "{title}")?;
    let names = items.iter().map(|item| item.name.chars().count());
    let width = names.max().unwrap_or(0).min(NAME_WIDTH);
    for item in items {
        let name = elide(&item.name, NAME_WIDTH);
        let what = elide(&item.what, TEXT_WIDTH);
        writeln!(out, "  {name:width$}  {what}")?;
        if let Some(help) = &item.help {
            writeln!(out, "  {:width$}  help: {help}", "")?;
        }
    }
    writeln!(out)
}

/// What is missing for the same reason, and gives the same, stands together.
struct Missing<'r> {
    names: Vec<&'r str>,
    gives: &'static str,
    item: &'r Item,
}

fn missing(sections: &[Section<'_>], out: &mut dyn Write) -> io::Result<()> {
    let mut groups: Vec<Missing<'_>> = Vec::new();
    for (_, items, gives) in sections {
        for item in items.iter().filter(|item| item.works != Some(true)) {
            let gives = gives(&item.name);
            let same = |group: &&mut Missing<'_>| {
                let other = group.item;
                let reasons = (&other.what, &other.help, other.works);
                group.gives == gives && reasons == (&item.what, &item.help, item.works)
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.names.push(&item.name),
                None => groups.push(Missing {
                    names: vec![&item.name],
                    gives,
                    item,
                }),
            }
        }
    }
    if groups.is_empty() {
        return Ok(());
    }
    writeln!(out, "not here, and only needed for what is in brackets")?;
    for group in groups {
        let unknown = match group.item.works {
            None => "not known: ",
            Some(_) => "",
        };
        let text = format!(
            "{} ({}): {unknown}{}",
            group.names.join(", "),
            group.gives,
            elide(&group.item.what, TEXT_WIDTH)
        );
        paragraph(&text, 2, out)?;
        if let Some(help) = &group.item.help {
            paragraph(&format!("help: {help}"), 4, out)?;
        }
    }
    Ok(())
}

/// Lines that fit on a terminal, the first one indented by `indent`, the others by 4 more.
fn paragraph(text: &str, indent: usize, out: &mut dyn Write) -> io::Result<()> {
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = elide(word, TEXT_WIDTH);
        if !empty && line.chars().count() + 1 + word.chars().count() > LINE_WIDTH {
            writeln!(out, "{line}")?;
            line = " ".repeat(indent + 4);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(&word);
        empty = false;
    }
    writeln!(out, "{line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(report: &Report) -> String {
        let mut text = Vec::new();
        write(report, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn what_works_comes_first_and_what_is_missing_last() {
        let report = Report {
            verdict: "All you need works.".into(),
            compilers: vec![
                Item::new("gcc", true, "gcc 12"),
                Item::new("mold", false, "not in PATH"),
                Item::new("ld.lld", false, "not in PATH"),
                Item::new("gfortran", false, "not in PATH").help(Some("install it")),
            ],
            sensors: vec![Item::unknown("thermal", "no program could be run")],
            ..Report::default()
        };
        assert_eq!(
            shown(&report),
            "All you need works.\n\n\
             compilers and linkers\n  gcc  gcc 12\n\n\
             not here, and only needed for what is in brackets\n  \
             mold, ld.lld (links with -fuse-ld): not in PATH\n  \
             gfortran (Fortran programs): not in PATH\n    help: install it\n  \
             thermal (temperatures): not known: no program could be run\n"
        );
    }

    #[test]
    fn lines_fit_on_a_terminal() {
        let long = "word ".repeat(60);
        let report = Report {
            verdict: "Not all you need works.".into(),
            sensors: vec![Item::new("rapl", false, long.trim()).help(Some(long.trim()))],
            ..Report::default()
        };
        let text = shown(&report);
        assert!(text.lines().all(|line| line.chars().count() <= LINE_WIDTH));
        assert!(text.lines().count() > 8, "{text}");
    }
}
