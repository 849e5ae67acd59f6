//! What can be wrong with the wrapper's own command line.

use thiserror::Error;

use crate::help;

/// Wrong usage: exit status 2.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum UsageError {
    /// No such option of ours.
    #[error("unknown option {0}\n  help: {proposal}instr-cc --instr-help lists the options", proposal = option_like(.0))]
    UnknownOption(String),
    /// The value is missing.
    #[error("{0} needs a value\n  help: write {name}=VALUE, without a blank", name = .0.trim_end_matches('='))]
    NeedsValue(String),
    /// A value where none is allowed.
    #[error("{0} takes no value\n  help: write {name}", name = .0.split('=').next().unwrap_or_default())]
    TakesNoValue(String),
    /// `--instr-target` with a name we do not know.
    #[error("{0} names no known target\n  help: {proposal}known targets: {targets}", proposal = target_like(.0), targets = crate::targets::names().join(", "))]
    UnknownTarget(String),
    /// The compiler is not there.
    #[error("cannot find the compiler {0}: no such executable in PATH")]
    NoCompiler(String),
    /// The first word is neither a compiler nor a file.
    #[error(
        "cannot find {0}: it is neither a compiler in PATH nor a file here\n  help: did you mean {1}?"
    )]
    LikeCompiler(String, &'static str),
    /// There is no Fortran compiler, and none was named.
    #[error(
        "cannot compile {0}: it is Fortran, and there is no gfortran in PATH\n  help: install gfortran, or name a Fortran compiler, as in: instr-cc gfortran-12 ..."
    )]
    NoFortran(String),
    /// The compiler is the wrapper.
    #[error(
        "the compiler {0} is instr-cc itself\n  help: name another compiler, as in: instr-cc gcc ..."
    )]
    OwnCompiler(String),
    /// A compiler that runs the wrapper that runs the compiler …
    #[error(
        "the compiler {0} runs instr-cc again, {1} times over\n  help: name another compiler, as in: instr-cc gcc ..."
    )]
    Circle(String, u32),
}

/// How alike names must be, by Jaro and Winkler from 0 to 1, for one to be proposed.
const ALIKE: f64 = 0.85;

/// The name that is most like `word`, if one is like it.
fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |name: &&str| strsim::jaro_winkler(word, name);
    let best = names.into_iter().map(|name| (likeness(&name), name));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    best.filter(|(likeness, _)| *likeness >= ALIKE)
        .map(|(_, name)| name)
}

/// The option of ours that is meant by a word: `--instr-verbos`, `--instr_verbose`, `-instr-verbose`.
pub(crate) fn option_meant(word: &str) -> Option<String> {
    let word = word.split('=').next()?.trim_start_matches('-');
    let word = word.replace('_', "-");
    // What all of them begin with says nothing.
    let own = |name: &'static str| name.strip_prefix("instr-").unwrap_or(name);
    let names = help::OPTIONS.iter().map(|option| own(option.name));
    let name = nearest(word.strip_prefix("instr-")?, names)?;
    let option = help::OPTIONS
        .iter()
        .find(|option| own(option.name) == name)?;
    let name = option.name;
    let value = match option.value {
        "" => String::new(),
        value => format!("={value}"),
    };
    Some(format!("--{name}{value}"))
}

/// The compiler that is meant by a word.
pub(crate) fn compiler_meant(word: &str) -> Option<&'static str> {
    let names = ["gcc", "g++", "gfortran", "clang", "clang++"];
    let by_distance = names
        .iter()
        .map(|name| (strsim::osa_distance(word, name), *name));
    let (distance, name) = by_distance.min_by_key(|(distance, _)| *distance)?;
    (distance == 1 || nearest(word, names) == Some(name)).then_some(name)
}

fn option_like(word: &str) -> String {
    option_meant(word).map_or_else(String::new, |name| format!("did you mean {name}? "))
}

fn target_like(word: &str) -> String {
    let word = word.rsplit('=').next().unwrap_or_default();
    let name = nearest(word, crate::targets::names());
    name.map_or_else(String::new, |name| format!("did you mean {name}? "))
}
