//! The wrapper's own part of the command line: options that begin with `--instr-`, and which compiler is meant.
//!
//! The compiler is, in this order:
//! 1. what the wrapper's own name says: `instr-gcc` runs `gcc`, and so does a link of the name `gcc` to the wrapper
//!    (`instr-cc` says nothing);
//! 2. the first argument, if it is an executable compiler: a path to an executable file, or a name that is found in
//!    `PATH`, without the ending of a source, object or library file; a name that also is a file in the current folder
//!    counts only if it looks like a compiler's (`gcc`, `g++-12`, `sparc64-linux-gnu-gfortran`, `clang`, `cc` …);
//! 3. the compiler of `--instr-target=NAME`;
//! 4. `$INSTR_CC`, which may hold arguments too;
//! 5. `cc`, or `c++` and `gfortran` by the language of sources and objects ([`crate::language`]).
//!
//! A compiler launcher (`ccache`, `distcc`, `icecc`, `sccache`) in place of the compiler takes the next word along.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::error::{self, UsageError};
use crate::help;

/// Names of programs that run a compiler given as their first argument.
const LAUNCHERS: &[&str] = &["ccache", "distcc", "icecc", "sccache"];

/// Endings of names that are inputs of a compiler, never a compiler.
const INPUT_ENDINGS: &[&str] = &[
    ".a", ".ads", ".adb", ".c", ".c++", ".cc", ".cp", ".cpp", ".cppm", ".cu", ".cxx", ".d", ".f",
    ".f03", ".f08", ".f77", ".f90", ".f95", ".for", ".fpp", ".ftn", ".go", ".h", ".hh", ".hpp",
    ".hxx", ".i", ".ii", ".ld", ".ll", ".lo", ".m", ".map", ".mi", ".mii", ".mm", ".o", ".obj",
    ".s", ".so", ".sx", ".t", ".bc", ".x",
];

/// What the wrapper may ask about the machine while it reads its command line.
pub trait Files {
    /// Finds an executable of this name in `PATH` that is not the wrapper itself.
    fn in_path(&self, name: &OsStr) -> Option<PathBuf>;
    /// Whether the path is an executable regular file that is not the wrapper itself.
    fn is_executable(&self, path: &Path) -> bool;
    /// Whether anything has this path.
    fn exists(&self, path: &Path) -> bool;
    /// Where a path leads; the path itself where that cannot be found out.
    fn real(&self, path: &Path) -> PathBuf;
}

/// The wrapper's own options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `--instr-dry-run`: print what would be run.
    pub dry_run: bool,
    /// `--instr-verbose`: tell why something is not instrumented.
    pub verbose: bool,
    /// `--instr-off`: be the plain compiler.
    pub off: bool,
    /// `--instr-help`.
    pub help: bool,
    /// `--instr-version`.
    pub version: bool,
    /// `--instr-target=NAME`.
    pub target: Option<String>,
    /// `--instr-config=FILE`.
    pub config: Option<PathBuf>,
    /// `--instr-memory`: the heap too.
    pub memory: bool,
    /// `--instr-preload=DIR`: build what `instr run` preloads.
    pub preload: Option<PathBuf>,
    /// `--instr-api=FILE`, in order.
    pub apis: Vec<PathBuf>,
}

/// A command line taken apart, nothing looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The wrapper's own options.
    pub options: Options,
    /// Everything else, in order.
    pub rest: Vec<OsString>,
}

/// The compiler that is meant, and what is left for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Launchers first, the compiler last, each as the user wrote it. Never empty.
    pub command: Vec<OsString>,
    /// Arguments that come with the compiler (from `$INSTR_CC`).
    pub extra: Vec<OsString>,
    /// The arguments for the compiler.
    pub args: Vec<OsString>,
    /// The user named it: in the wrapper's name, as first argument or in `$INSTR_CC`. Else the line's language may change it.
    pub named: bool,
}

impl Choice {
    /// The compiler itself.
    #[must_use]
    pub fn compiler(&self) -> &OsStr {
        self.command
            .last()
            .map_or(OsStr::new(""), OsString::as_os_str)
    }
}

/// Takes the wrapper's own options out of `argv` (without `argv[0]`).
///
/// # Errors
/// For an option of ours that does not exist, lacks its value, or is not available yet.
pub fn split(argv: impl IntoIterator<Item = OsString>) -> Result<Words, UsageError> {
    let mut words = Words {
        options: Options::default(),
        rest: Vec::new(),
    };
    for word in argv {
        match word.as_bytes().strip_prefix(b"--instr-") {
            Some(own) => own_option(&mut words.options, own, &word)?,
            None if is_misspelt(&word) => {
                let word = word.to_string_lossy().into_owned();
                return Err(UsageError::UnknownOption(word));
            }
            None => words.rest.push(word),
        }
    }
    Ok(words)
}

/// Whether a word is one of our options with the wrong dashes: `-instr-verbose`, `--instr_verbose`. No compiler has such options.
fn is_misspelt(word: &OsStr) -> bool {
    let Some(word) = word.to_str().and_then(|word| word.strip_prefix('-')) else {
        return false;
    };
    let name = word.split('=').next().unwrap_or_default();
    let name = name.trim_start_matches('-').replace('_', "-");
    help::OPTIONS.iter().any(|option| option.name == name)
}

fn own_option(options: &mut Options, own: &[u8], word: &OsStr) -> Result<(), UsageError> {
    let (name, value) = match own.iter().position(|b| *b == b'=') {
        Some(at) => (&own[..at], Some(&own[at + 1..])),
        None => (own, None),
    };
    let shown = || word.to_string_lossy().into_owned();
    match (name, value) {
        (b"dry-run", None) => options.dry_run = true,
        (b"verbose", None) => options.verbose = true,
        (b"off", None) => options.off = true,
        (b"memory", None) => options.memory = true,
        (b"help", None) => options.help = true,
        (b"version", None) => options.version = true,
        (b"target", Some(value)) if !value.is_empty() => {
            let name =
                std::str::from_utf8(value).map_err(|_| UsageError::UnknownTarget(shown()))?;
            options.target = Some(name.to_owned());
        }
        (b"api", Some(value)) if !value.is_empty() => {
            options.apis.push(OsString::from_vec(value.to_vec()).into())
        }
        (b"preload", Some(value)) if !value.is_empty() => {
            options.preload = Some(OsString::from_vec(value.to_vec()).into());
        }
        (b"config", Some(value)) if !value.is_empty() => {
            options.config = Some(OsString::from_vec(value.to_vec()).into());
        }
        (b"target" | b"api" | b"config" | b"preload", _) => {
            return Err(UsageError::NeedsValue(shown()));
        }
        (b"dry-run" | b"verbose" | b"off" | b"memory" | b"help" | b"version", Some(_)) => {
            return Err(UsageError::TakesNoValue(shown()));
        }
        _ => return Err(UsageError::UnknownOption(shown())),
    }
    Ok(())
}

/// The compiler that the wrapper's own name stands for: `instr-gcc` → `gcc`; nothing for `instr-cc`.
#[must_use]
pub fn compiler_of_name(argv0: &OsStr) -> Option<OsString> {
    let base = Path::new(argv0).file_name()?.as_bytes();
    let name = match base.strip_prefix(b"instr-") {
        Some(b"cc" | b"") => return None,
        Some(name) => name,
        None if looks_like_compiler(base) => base,
        None => return None,
    };
    Some(OsString::from_vec(name.to_vec()))
}

/// Decides which compiler is meant.
///
/// `target` is the compiler of `--instr-target`, `variable` the value of `$INSTR_CC`.
#[must_use]
pub fn choose(
    argv0: &OsStr,
    rest: Vec<OsString>,
    target: Option<&str>,
    variable: Option<&OsStr>,
    files: &dyn Files,
) -> Choice {
    if let Some(name) = compiler_of_name(argv0) {
        return Choice {
            command: vec![name],
            extra: Vec::new(),
            args: rest,
            named: true,
        };
    }
    let named = leading_compilers(&rest, files);
    if named > 0 {
        let mut command = rest;
        let args = command.split_off(named);
        return Choice {
            command,
            extra: Vec::new(),
            args,
            named: true,
        };
    }
    if let Some(name) = target {
        return Choice {
            command: vec![name.into()],
            extra: Vec::new(),
            args: rest,
            named: false,
        };
    }
    let mut words = variable_words(variable);
    let named = !words.is_empty();
    if !named {
        words.push("cc".into());
    }
    let count = leading_compilers(&words, files).max(1);
    let extra = words.split_off(count);
    Choice {
        command: words,
        extra,
        args: rest,
        named,
    }
}

/// Refuses a first word that is nearly a compiler's name, and no file: the default compiler would look for an input of this name.
///
/// # Errors
/// When it is.
pub fn check_first(choice: &Choice, files: &dyn Files) -> Result<(), UsageError> {
    let first = choice.args.first().and_then(|word| word.to_str());
    let Some(first) = first.filter(|_| !choice.named) else {
        return Ok(());
    };
    let is_name = |word: &str| !word.starts_with(['-', '@']) && !word.contains(['.', '/']);
    match error::compiler_meant(first) {
        Some(name) if is_name(first) && !files.exists(Path::new(first)) => {
            Err(UsageError::LikeCompiler(first.to_owned(), name))
        }
        _ => Ok(()),
    }
}

/// Splits `$INSTR_CC` at white space; `off` and an empty value name no compiler.
fn variable_words(variable: Option<&OsStr>) -> Vec<OsString> {
    let bytes = variable.map(OsStr::as_bytes).unwrap_or_default();
    let words = bytes
        .split(u8::is_ascii_whitespace)
        .filter(|w| !w.is_empty());
    let words: Vec<OsString> = words.map(|w| OsString::from_vec(w.to_vec())).collect();
    if is_off(variable) { Vec::new() } else { words }
}

/// Whether `$INSTR_CC` switches instrumentation off.
#[must_use]
pub fn is_off(variable: Option<&OsStr>) -> bool {
    variable == Some(OsStr::new("off"))
}

/// How many leading words are the compiler with its launchers.
fn leading_compilers(words: &[OsString], files: &dyn Files) -> usize {
    let mut count = 0;
    while words
        .get(count)
        .is_some_and(|word| is_compiler(word, files))
    {
        count += 1;
        if !is_launcher(&words[count - 1]) {
            break;
        }
    }
    count
}

fn is_launcher(word: &OsStr) -> bool {
    Path::new(word)
        .file_name()
        .is_some_and(|name| LAUNCHERS.iter().any(|l| name == *l))
}

fn is_compiler(word: &OsStr, files: &dyn Files) -> bool {
    let bytes = word.as_bytes();
    if matches!(bytes.first(), None | Some(b'-' | b'@')) || looks_like_input(bytes) {
        return false;
    }
    let path = Path::new(word);
    if bytes.contains(&b'/') {
        return files.is_executable(path);
    }
    (looks_like_compiler(bytes) || is_launcher(word) || !files.exists(path))
        && files.in_path(word).is_some()
}

fn looks_like_input(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    INPUT_ENDINGS.iter().any(|e| lower.ends_with(e.as_bytes()))
        || word.windows(4).any(|w| w == b".so.")
}

/// `gcc`, `gcc-12`, `sparc64-linux-gnu-g++-12.2`, `clang++-14` …: the last part but for version numbers is known.
pub(crate) fn looks_like_compiler(name: &[u8]) -> bool {
    let known: [&[u8]; 9] = [
        b"cc",
        b"c++",
        b"gcc",
        b"g++",
        b"gfortran",
        b"clang",
        b"clang++",
        b"c99",
        b"c89",
    ];
    let is_version = |part: &&[u8]| part.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    name.split(|b| *b == b'-')
        .rev()
        .find(|part| !is_version(part))
        .is_some_and(|part| known.contains(&part))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine with some executables in `PATH` and some files in the current folder.
    struct Fake {
        path: &'static [&'static str],
        here: &'static [&'static str],
    }

    impl Files for Fake {
        fn in_path(&self, name: &OsStr) -> Option<PathBuf> {
            self.path
                .iter()
                .any(|p| name == *p)
                .then(|| Path::new("/usr/bin").join(name))
        }
        fn is_executable(&self, path: &Path) -> bool {
            path.starts_with("/opt/bin")
        }
        fn exists(&self, path: &Path) -> bool {
            self.here.iter().any(|h| path == Path::new(h))
        }
        fn real(&self, path: &Path) -> PathBuf {
            path.to_owned()
        }
    }

    const MACHINE: Fake = Fake {
        path: &["cc", "gcc", "test", "mycc", "ccache", "gcc-12"],
        here: &["test", "gcc"],
    };

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn chosen(argv0: &str, rest: &str, variable: Option<&str>) -> (String, String) {
        let choice = choose(
            argv0.as_ref(),
            words(rest),
            None,
            variable.map(OsStr::new),
            &MACHINE,
        );
        let join = |w: &[OsString]| w.join(OsStr::new(" ")).into_string().unwrap();
        (
            join(&choice.command),
            join(&[choice.extra, choice.args].concat()),
        )
    }

    #[test]
    fn the_compiler_is_found_in_name_argument_variable_or_default() {
        for (argv0, rest, variable, command, args) in [
            ("instr-cc", "gcc -c x.c", None, "gcc", "-c x.c"),
            ("/x/instr-gcc", "-c x.c", None, "gcc", "-c x.c"),
            (
                "instr-sparc64-linux-gnu-gcc",
                "mycc",
                None,
                "sparc64-linux-gnu-gcc",
                "mycc",
            ),
            ("/masks/gcc-12", "-c x.c", None, "gcc-12", "-c x.c"),
            ("/x/other", "gcc -c x.c", None, "gcc", "-c x.c"),
            ("instr-cc", "-c x.c", None, "cc", "-c x.c"),
            ("instr-cc", "x.c", None, "cc", "x.c"),
            ("instr-cc", "-o gcc x.c", None, "cc", "-o gcc x.c"),
            ("instr-cc", "@gcc", None, "cc", "@gcc"),
            ("instr-cc", "mycc x.c", None, "mycc", "x.c"),
            ("instr-cc", "test", None, "cc", "test"),
            ("instr-cc", "nothing", None, "cc", "nothing"),
            ("instr-cc", "/opt/bin/icc x.c", None, "/opt/bin/icc", "x.c"),
            (
                "instr-cc",
                "/opt/bin/lib.so.1 x.c",
                None,
                "cc",
                "/opt/bin/lib.so.1 x.c",
            ),
            (
                "instr-cc",
                "ccache gcc-12 x.c",
                None,
                "ccache gcc-12",
                "x.c",
            ),
            ("instr-cc", "-c x.c", Some("mycc"), "mycc", "-c x.c"),
            (
                "instr-cc",
                "-c x.c",
                Some(" ccache  gcc -m32 "),
                "ccache gcc",
                "-m32 -c x.c",
            ),
            ("instr-cc", "gcc -c x.c", Some("mycc"), "gcc", "-c x.c"),
            ("instr-cc", "-c x.c", Some("off"), "cc", "-c x.c"),
            ("instr-cc", "", Some(""), "cc", ""),
        ] {
            assert_eq!(
                chosen(argv0, rest, variable),
                (command.into(), args.into()),
                "{argv0} {rest} {variable:?}"
            );
        }
    }

    #[test]
    fn the_targets_compiler_stands_in_for_the_default_only() {
        let choice = |rest| {
            choose(
                "instr-cc".as_ref(),
                words(rest),
                Some("sparc-gcc"),
                None,
                &MACHINE,
            )
            .command
        };
        assert_eq!(choice("x.c"), ["sparc-gcc"]);
        assert_eq!(choice("gcc x.c"), ["gcc"]);
    }

    #[test]
    fn own_options_are_removed_wherever_they_stand() {
        let split = split(words(
            "--instr-verbose gcc --instr-api=a.rs -c --instr-api=b.rs x.c --instr-target=sparc",
        ))
        .unwrap();
        assert_eq!(split.rest, words("gcc -c x.c"));
        assert!(split.options.verbose && !split.options.dry_run);
        assert_eq!(
            split.options.apis,
            [PathBuf::from("a.rs"), PathBuf::from("b.rs")]
        );
        assert_eq!(split.options.target.as_deref(), Some("sparc"));
    }

    #[test]
    fn a_mistyped_compiler_is_refused_unless_it_may_be_a_file() {
        let refused = |line: &str| {
            let choice = choose("instr-cc".as_ref(), words(line), None, None, &MACHINE);
            check_first(&choice, &MACHINE).err().map(|e| e.to_string())
        };
        for (line, meant) in [
            ("gc -c x.c", "gcc"),
            ("g+ x.cc", "g++"),
            ("gfrotran x.f90", "gfortran"),
            ("clnag x.c", "clang"),
            ("gcc-99 x.c", "gcc"),
        ] {
            let message = refused(line).unwrap_or_default();
            let help = format!("\n  help: did you mean {meant}?");
            assert!(message.ends_with(&help), "{line}: {message}");
        }
        for line in ["gcc x.c", "x.c", "-c gc", "nothing", "./gc", "gc.o", "test"] {
            assert_eq!(refused(line), None, "{line}");
        }
    }

    #[test]
    fn wrong_own_options_are_refused() {
        for (word, part) in [
            (
                "--instr-nonsense",
                "unknown option --instr-nonsense\n  help: instr-cc --instr-help",
            ),
            (
                "--instr-api",
                "--instr-api needs a value\n  help: write --instr-api=VALUE",
            ),
            (
                "--instr-api=",
                "--instr-api= needs a value\n  help: write --instr-api=VALUE",
            ),
            (
                "--instr-verbose=1",
                "--instr-verbose=1 takes no value\n  help: write --instr-verbose",
            ),
            ("--instr-config=", "--instr-config= needs a value"),
            ("--instr-verbos", "did you mean --instr-verbose?"),
            ("--instr-confg=x", "did you mean --instr-config=FILE?"),
            (
                "--instr_verbose",
                "unknown option --instr_verbose\n  help: did you mean --instr-verbose?",
            ),
            ("-instr-api=x.rs", "did you mean --instr-api=FILE?"),
        ] {
            let error = split(words(word)).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
