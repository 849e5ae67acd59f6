//! Where the two tools may differ, and why. Everything else is a failure.

use std::path::Path;

use crate::programs::Program;

/// Answer to one address with `-afi`: function and place of each frame.
pub(crate) type Frames = Vec<(String, String)>;

/// Splits the output of `-afi` (or `-afiC`) into one answer for each address.
pub(crate) fn answers(text: &str) -> Vec<Frames> {
    let mut answers = Vec::new();
    let mut lines = text.lines().peekable();
    while lines.next().is_some() {
        let mut frames = Frames::new();
        while let Some(function) = lines.next_if(|line| !is_address(line)) {
            frames.push((function.to_owned(), lines.next().unwrap_or("").to_owned()));
        }
        answers.push(frames);
    }
    answers
}

fn is_address(line: &str) -> bool {
    line.strip_prefix("0x").is_some_and(|digits| {
        matches!(digits.len(), 8 | 16) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// The reason for which an answer of ours may differ from binutils'.
pub(crate) fn reason(program: &Program, ours: &Frames, theirs: &Frames) -> Option<&'static str> {
    let places_agree =
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(our, their)| our.1 == their.1);
    let (first, last) = (ours.first()?, ours.last()?);
    if theirs.len() == 1 && theirs[0].0 == "??" && first.0.ends_with("@plt") {
        return Some("stubs have names: binutils knows none for .plt");
    }
    if program.is_clang_dwarf5() && ours.len() > theirs.len() {
        return Some("binutils 2.40 does not find the inlined functions of clang's DWARF 5");
    }
    if ours.len() == 1 && (last.0.contains("_omp_fn") || last.0.contains("omp_outlined")) {
        return Some(
            "an outlined function begins at its directive: the first row of the line table, not the last",
        );
    }
    if places_agree && program.is_mangled() {
        return Some(
            "binutils gives the symbol's name to the innermost function that has no linkage name, also an inlined one",
        );
    }
    if places_agree && is_clone_of(&last.0, &theirs.last()?.0) {
        return Some(
            "the symbol tells the clone (.cold, .part, .constprop), the debug information does not",
        );
    }
    if wrong_files(ours, theirs) {
        return Some("binutils names a file that has no such line");
    }
    None
}

/// Whether `ours` is `theirs` with a suffix of the optimizer.
fn is_clone_of(ours: &str, theirs: &str) -> bool {
    ours.strip_prefix(theirs)
        .is_some_and(|suffix| suffix.starts_with('.'))
}

/// Whether all places that differ are of the same line, in files of which only ours is that long.
fn wrong_files(ours: &Frames, theirs: &Frames) -> bool {
    let differing = ours
        .iter()
        .zip(theirs)
        .filter(|(our, their)| our.1 != their.1);
    let mut all = ours.len() == theirs.len();
    for (our, their) in differing {
        let (Some((our_file, our_line)), Some((file, line))) =
            (our.1.rsplit_once(':'), their.1.rsplit_once(':'))
        else {
            return false;
        };
        all &= our_line == line && holds(our_file, our_line) && !holds(file, line);
    }
    all
}

/// Whether a file has the line (`230`, `230 (discriminator 2)`).
fn holds(file: &str, line: &str) -> bool {
    let number = line
        .split(' ')
        .next()
        .and_then(|digits| digits.parse::<usize>().ok());
    let text = std::fs::read_to_string(Path::new(file)).unwrap_or_default();
    number.is_some_and(|number| number <= text.lines().count())
}

/// The reason for which a demangled answer may differ where the linkers' names agree.
pub(crate) fn demangling_reason(ours: &Frames, theirs: &Frames) -> Option<&'static str> {
    let places_agree =
        ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(our, their)| our.1 == their.1);
    places_agree.then_some("the demangler spells the name another way (docs/symbolize.md)")
}
