//! The table of `docs/support-matrix.md` that says which construct is seen with which compiler, run-time library and target: written from
//! the directives of the programs.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::constructs::{CONSTRUCTS, WITHOUT};
use crate::directives::Directives;
use crate::toolchain::{Family, Language, Target};

/// A program of `tests/conformance`.
#[derive(Debug, Clone)]
pub struct Program {
    /// Its file name.
    pub file: String,
    /// What it is written in.
    pub language: Language,
    /// What its top comment says.
    pub directives: Directives,
}

/// A pair of compiler and library on a target.
struct Column {
    heading: &'static str,
    languages: &'static [Language],
    family: Family,
    target: Target,
}

const fn column(
    heading: &'static str,
    languages: &'static [Language],
    family: Family,
    target: Target,
) -> Column {
    Column {
        heading,
        languages,
        family,
        target,
    }
}

const C: &[Language] = &[Language::C, Language::Cxx];
const FORTRAN: &[Language] = &[Language::Fortran];
const ALL: &[Language] = &[Language::C, Language::Cxx, Language::Fortran];

const COLUMNS: [Column; 8] = [
    column("gcc, g++: x86-64", C, Family::Gcc, Target::X86_64),
    column("SPARC 32", C, Family::Gcc, Target::Sparc32),
    column("SPARC 64", C, Family::Gcc, Target::Sparc64),
    column("gfortran: x86-64", FORTRAN, Family::Gcc, Target::X86_64),
    column("SPARC 32", FORTRAN, Family::Gcc, Target::Sparc32),
    column("SPARC 64", FORTRAN, Family::Gcc, Target::Sparc64),
    column("clang: x86-64", C, Family::Clang, Target::X86_64),
    column(
        "gcc objects, libomp: x86-64",
        ALL,
        Family::GccLibomp,
        Target::X86_64,
    ),
];

/// Lines between which the table stands in the document.
const BEGIN: &str = "<!-- written from tests/conformance by `make golden`: begin -->\n";
const END: &str = "<!-- end -->\n";

/// The table with its notes, in Markdown.
#[must_use]
pub fn render(programs: &[Program]) -> String {
    let mut notes = Notes::default();
    let mut text = String::from("| construct |");
    for column in &COLUMNS {
        let _ = write!(text, " {} |", column.heading);
    }
    text += " programs |\n|---|";
    text += &"---|".repeat(COLUMNS.len() + 1);
    text.push('\n');
    for (part, constructs) in CONSTRUCTS {
        let _ = writeln!(text, "| **{part}** |{}", " |".repeat(COLUMNS.len() + 1));
        for construct in constructs {
            text += &row(construct, programs, &mut notes);
        }
    }
    text.push('\n');
    for (number, note) in (1..).zip(&notes.0) {
        let _ = writeln!(text, "{number}. {note}");
    }
    text
}

fn row(construct: &str, programs: &[Program], notes: &mut Notes) -> String {
    let named = |program: &&Program| program.directives.constructs.iter().any(|c| c == construct);
    let programs: Vec<&Program> = programs.iter().filter(named).collect();
    let mut text = format!("| {construct} |");
    let without = WITHOUT.iter().find(|(name, _)| *name == construct);
    for column in &COLUMNS {
        let cell = match without {
            Some((_, reason)) => format!("no {}", notes.mark(reason)),
            None => cell(construct, &programs, column, notes),
        };
        let _ = write!(text, " {cell} |");
    }
    let files: Vec<String> = programs.iter().map(|p| format!("`{}`", p.file)).collect();
    let _ = writeln!(text, " {} |", files.join(" "));
    text
}

/// `yes`: every program runs there and shows all of it; `no`: none runs; `part`: anything between; `·`: there is no such program.
fn cell(construct: &str, programs: &[&Program], column: &Column, notes: &mut Notes) -> String {
    let (mut full, mut partly, mut not) = (0, 0, 0);
    let mut marks = BTreeSet::new();
    for program in programs {
        if !column.languages.contains(&program.language) {
            continue;
        }
        let reasons = why_not(&program.directives, column);
        let unseen = program.directives.unseen(column.target, column.family);
        let unseen = unseen.filter(|unseen| unseen.concerns(construct));
        let unseen: Vec<&str> = unseen.map(|unseen| unseen.text.as_str()).collect();
        match (reasons.is_empty(), unseen.is_empty()) {
            (false, _) => not += 1,
            (true, false) => partly += 1,
            (true, true) => full += 1,
        }
        let said = if reasons.is_empty() { unseen } else { reasons };
        marks.extend(said.into_iter().map(|reason| notes.number(reason)));
    }
    let word = match (full, partly, not) {
        (0, 0, 0) => return "·".into(),
        (_, 0, 0) => return "yes".into(),
        (0, 0, _) => "no",
        _ => "part",
    };
    format!("{word} {}", show(&marks))
}

fn why_not<'a>(directives: &'a Directives, column: &Column) -> Vec<&'a str> {
    let by = directives
        .not_by
        .iter()
        .filter(|(family, _)| *family == column.family);
    let on = directives
        .not_on
        .iter()
        .filter(|(target, _)| *target == column.target);
    by.map(|(_, reason)| reason.as_str())
        .chain(on.map(|(_, reason)| reason.as_str()))
        .collect()
}

/// Notes in the order in which they are first needed.
#[derive(Default)]
struct Notes(Vec<String>);

impl Notes {
    fn number(&mut self, text: &str) -> usize {
        let known = self.0.iter().position(|note| note == text);
        known.unwrap_or_else(|| {
            self.0.push(text.to_owned());
            self.0.len() - 1
        }) + 1
    }

    fn mark(&mut self, text: &str) -> String {
        show(&BTreeSet::from([self.number(text)]))
    }
}

fn show(marks: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = marks.iter().map(usize::to_string).collect();
    format!("({})", numbers.join(", "))
}

/// `document` with `table` in its place.
///
/// # Errors
///
/// When the lines that mark the place are not there.
pub fn insert(document: &str, table: &str) -> Result<String, String> {
    let missing = || format!("no lines {} … {}", BEGIN.trim(), END.trim());
    let (before, rest) = document.split_once(BEGIN).ok_or_else(missing)?;
    let (_, after) = rest.split_once(END).ok_or_else(missing)?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}

/// What the directives do not say though they must, a line each.
#[must_use]
pub fn gaps(programs: &[Program]) -> Vec<String> {
    let rows = || CONSTRUCTS.iter().flat_map(|(_, rows)| rows.iter().copied());
    let mut problems = Vec::new();
    for program in programs {
        let constructs = &program.directives.constructs;
        if constructs.is_empty() {
            problems.push(format!("{}: no Construct", program.file));
        }
        let unseen = [Target::X86_64, Target::Sparc32, Target::Sparc64]
            .into_iter()
            .flat_map(|target| Family::ALL.map(|family| (target, family)))
            .flat_map(|(target, family)| program.directives.unseen(target, family))
            .flat_map(|unseen| unseen.rows());
        let strangers: BTreeSet<&String> = unseen.filter(|row| !constructs.contains(row)).collect();
        problems.extend(strangers.into_iter().map(|row| {
            format!(
                "{}: Unseen of `{row}`, which is not its Construct",
                program.file
            )
        }));
        let unknown = constructs.iter().filter(|c| !rows().any(|row| row == *c));
        problems.extend(unknown.map(|c| format!("{}: no row for `{c}`", program.file)));
        problems.extend(silent(program));
    }
    for row in rows() {
        let shown = programs
            .iter()
            .any(|p| p.directives.constructs.iter().any(|c| c == row));
        let excused = WITHOUT.iter().any(|(name, _)| *name == row);
        if shown == excused {
            problems.push(format!("`{row}` has no program, or a needless excuse"));
        }
    }
    problems
}

/// Events that some pair must show and another one says nothing about, neither by a count nor by `Unseen`; pairs left out without a reason.
fn silent(program: &Program) -> Vec<String> {
    let directives = &program.directives;
    let target = Target::X86_64;
    let mut problems = Vec::new();
    let mut told = Vec::new();
    for family in Family::ALL {
        if program.language == Language::Fortran && family == Family::Clang {
            continue;
        }
        if directives.families.contains(&family) {
            let demands = directives.demands(target, family).unwrap_or_default();
            let subjects = demands.events.iter().flat_map(|e| names(&e.subject));
            told.push((family, subjects.collect::<BTreeSet<_>>()));
        } else if !directives.not_by.iter().any(|(skip, _)| *skip == family) {
            let name = family.name();
            problems.push(format!(
                "{}: {name} left out without a reason",
                program.file
            ));
        }
    }
    let all: BTreeSet<String> = told.iter().flat_map(|(_, names)| names).cloned().collect();
    for (family, names) in &told {
        let missing: Vec<&str> = all.difference(names).map(String::as_str).collect();
        if !missing.is_empty() && directives.unseen(target, *family).next().is_none() {
            let (file, pair) = (&program.file, family.name());
            problems.push(format!(
                "{file}: {pair}: nothing about {}",
                missing.join(", ")
            ));
        }
    }
    problems
}

/// The events that `a{x=1} + b` counts.
fn names(subject: &str) -> impl Iterator<Item = String> {
    let terms = subject
        .split('+')
        .filter(|term| !term.trim().starts_with(|c: char| c.is_ascii_digit()));
    terms.map(|term| {
        let name = term.split('{').next().unwrap_or_default();
        name.trim().to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(file: &str, text: &str) -> Program {
        let path = std::path::Path::new(file);
        Program {
            file: file.into(),
            language: Language::of(path).expect("an extension"),
            directives: Directives::parse(text).expect("well-formed"),
        }
    }

    #[test]
    fn a_row_says_what_runs_where_and_why_not() {
        let a = program(
            "a.c",
            "//# Construct: parallel\n//# Compilers: gcc clang gcc-libomp\n//# Unseen@clang: half of it\n",
        );
        let b = program(
            "b.c",
            "//# Construct: parallel\n//# Compilers: gcc clang gcc-libomp\n//# SkipCompiler: gcc-libomp it ends\n//# SkipTarget: sparc-linux no int\n",
        );
        let mut notes = Notes::default();
        let text = row("parallel", &[a.clone(), b.clone()], &mut notes);
        assert_eq!(
            text,
            "| parallel | yes | part (1) | yes | · | · | · | part (2) | part (3) | `a.c` `b.c` |\n"
        );
        assert_eq!(notes.0, ["no int", "half of it", "it ends"]);
        let text = row("parallel", &[b], &mut notes);
        assert!(text.ends_with("| yes | no (3) | `b.c` |\n"), "{text}");
        let text = row("depend(inoutset)", &[a], &mut notes);
        assert_eq!(text.matches("no (4)").count(), COLUMNS.len(), "{text}");
    }

    #[test]
    fn what_a_pair_keeps_silent_about_is_told() {
        let silent_clang = "//# Construct: task\n//# Compilers: gcc clang\n//# SkipCompiler: gcc-libomp why\n//# Events@gcc: a{x=1} + b = 2\n//# Events: b = 1\n";
        let told = gaps(&[program("a.c", silent_clang)]);
        assert_eq!(told[0], "a.c: clang: nothing about a");
        let said = format!("{silent_clang}//# Unseen@clang: a\n");
        assert!(!gaps(&[program("a.c", &said)])[0].contains("a.c"));
        let without = program("b.c", "//# Construct: tusk\n//# Compilers: gcc\n");
        let told = gaps(&[without]);
        assert_eq!(
            told[..3],
            [
                "b.c: no row for `tusk`",
                "b.c: clang left out without a reason",
                "b.c: gcc-libomp left out without a reason"
            ]
        );
    }

    #[test]
    fn the_table_takes_its_place() {
        let document = format!("a\n{BEGIN}old\n{END}b\n");
        let new = insert(&document, "new\n").expect("marked");
        assert_eq!(new, format!("a\n{BEGIN}\nnew\n\n{END}b\n"));
        assert_eq!(insert(&new, "new\n").as_deref(), Ok(new.as_str()));
        assert!(insert("nothing", "new").is_err());
    }
}
