//! Directives: what the top comment of a test program says about building, running and judging it.
//!
//! A line that begins with `//#` (C, C++) or `!#` (Fortran) is one directive, `Key: value`. A key may be limited to some targets or
//! compilers: `Events@sparc-linux,sparc64-linux: chunk_begin = 3`; `libgomp` and `libomp` stand for the compilers whose programs use
//! that run-time library.
//!
//! | key | value |
//! |---|---|
//! | `Targets` | target names (default: [`Target::ALL`]) |
//! | `Also` | targets beside these: those of [`Target::FURTHER`] run some programs only |
//! | `Compilers` | `gcc`, `clang`, `gcc-libomp` (objects of gcc with LLVM's libomp; default gcc); the language comes from the file's extension |
//! | `Flags` | compiler arguments behind `-g` |
//! | `Env` | `NAME=VALUE …` for the run |
//! | `Args` | the program's arguments |
//! | `Exit` | its exit status (default 0) |
//! | `Expect` | a condition on `instr summary --json`, see [`crate::expect`] |
//! | `Events` | a condition on the number of events of that name as babeltrace2 reads them |
//! | `Entries` | the same for entries of `depend` clauses, `task_create{kind=2}` |
//! | `Edges` | the number of edges of the task graph, worked out here from the events (see [`crate::conformance`]) |
//! | `Comms` | a condition on the number of Paraver communications with that tag, or `all` |
//! | `Open` | constructs may stay open at the end (the program leaves from inside one) |
//! | `NoTrace` | the program must leave no trace |
//! | `SkipTarget` | `NAME reason`: not on that target |
//! | `SkipCompiler` | `NAME reason`: not with that compiler or run-time library |
//! | `Construct` | the rows of the support matrix that a conformance program stands for, `task; final` |
//! | `Unseen` | what this compiler or library cannot show of them, for the support matrix; `[row; row] text` when only these rows are meant |
//! | `Differs` | `NUMBER, NUMBER: reason`: these numbers of [`crate::conformance::pairs`] are not those of gcc with libgomp |
//! | `Linkages` | `EVENT, EVENT: reason`: as many of these are not in each trace of one compiler, linked by `instr-cc`, redirected, and preloaded |
//! | `Redirect` | also built by `instr-rewrite --redirect` in place of `--wrap` |

use std::collections::BTreeMap;
use std::path::Path;

use crate::conformance::pairs::NUMBERS;
use crate::expect::Expect;
use crate::toolchain::{Family, Target};

/// The directives of one program.
#[derive(Debug, Clone, Default)]
pub struct Directives {
    /// Where to run it.
    pub targets: Vec<Target>,
    /// Who compiles it.
    pub families: Vec<Family>,
    /// Lines `@mark`: name → line number.
    pub marks: BTreeMap<String, u64>,
    /// Also to be built by redirecting references.
    pub redirect: bool,
    /// Rows of the support matrix.
    pub constructs: Vec<String>,
    /// Targets that are left out, with the reason.
    pub not_on: Vec<(Target, String)>,
    /// Compilers that are left out, with the reason.
    pub not_by: Vec<(Family, String)>,
    unseen: Vec<Unseen>,
    differs: Vec<(Vec<String>, Vec<String>)>,
    linkages: Vec<(Vec<String>, Vec<String>)>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone)]
struct Entry {
    key: Key,
    only: Vec<String>,
    value: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Flags,
    Env,
    Args,
    Exit,
    Expect,
    Events,
    Entries,
    Edges,
    Comms,
    Open,
    NoTrace,
}

/// What one build and run of a program has to satisfy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demands {
    /// Compiler arguments.
    pub flags: Vec<String>,
    /// Environment of the run.
    pub env: Vec<(String, String)>,
    /// Arguments of the run.
    pub args: Vec<String>,
    /// Exit status.
    pub exit: i32,
    /// Conditions on the summary.
    pub expects: Vec<Expect>,
    /// Conditions on event counts.
    pub events: Vec<Expect>,
    /// Conditions on entries of `depend` clauses.
    pub entries: Vec<Expect>,
    /// The number of edges.
    pub edges: Option<i128>,
    /// Conditions on counts of Paraver communications by tag.
    pub comms: Vec<Expect>,
    /// Constructs may be open at the end.
    pub open: bool,
    /// No trace must appear.
    pub no_trace: bool,
}

impl Directives {
    /// Reads the directives of the source at `path`.
    ///
    /// # Errors
    ///
    /// `file:line: message` for an unreadable file or a directive that is not understood.
    pub fn read(path: &Path) -> Result<Self, String> {
        Self::read_with(path, &Target::ALL, &[Family::Gcc])
    }

    /// The same with other defaults for the targets and compilers.
    ///
    /// # Errors
    ///
    /// As [`Directives::read`].
    pub fn read_with(path: &Path, targets: &[Target], families: &[Family]) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse_with(&text, targets, families)
            .map_err(|message| format!("{}:{message}", path.display()))
    }

    /// Parses the directives of a source text.
    ///
    /// # Errors
    ///
    /// `line: message` for a directive that is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::parse_with(text, &Target::ALL, &[Family::Gcc])
    }

    fn parse_with(text: &str, targets: &[Target], families: &[Family]) -> Result<Self, String> {
        let mut parsed = Self::default();
        let mut also = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let at = |message: String| format!("{number}: {message}");
            parsed.note_marks(line, number);
            let Some(directive) = line.strip_prefix("//#").or_else(|| line.strip_prefix("!#"))
            else {
                continue;
            };
            let (key, value) = directive.split_once(':').unwrap_or((directive, ""));
            let (key, only) = key.split_once('@').unwrap_or((key, ""));
            let value = value.trim();
            match key.trim() {
                "Also" => also.extend(names(value, Target::from_name).map_err(at)?),
                "Targets" => parsed.targets = names(value, Target::from_name).map_err(at)?,
                "Compilers" => parsed.families = names(value, family).map_err(at)?,
                "SkipTarget" => parsed.not_on.push(skip(value).map_err(at)?),
                "SkipCompiler" => parsed.not_by.extend(skip_compiler(value).map_err(at)?),
                "Construct" => parsed.constructs.extend(list(value, ';')),
                "Unseen" => {
                    let only = limits(only).map_err(at)?;
                    parsed.unseen.push(Unseen::parse(only, value).map_err(at)?);
                }
                "Redirect" => parsed.redirect = true,
                "Differs" => {
                    let only = limits(only).map_err(at)?;
                    parsed.differs.push((only, differs(value).map_err(at)?));
                }
                "Linkages" => {
                    let only = limits(only).map_err(at)?;
                    let found = reasoned("Linkages", value).map_err(at)?;
                    parsed.linkages.push((only, found));
                }
                key => parsed.entry(key, only, value).map_err(at)?,
            }
        }
        if parsed.targets.is_empty() {
            parsed.targets = targets.to_vec();
        }
        parsed.targets.extend(also);
        let skipped = |target: &Target| parsed.not_on.iter().any(|(skip, _)| skip == target);
        parsed.targets.retain(|target| !skipped(target));
        if parsed.families.is_empty() {
            parsed.families = families.to_vec();
        }
        let without = |family: &Family| parsed.not_by.iter().any(|(skip, _)| skip == family);
        parsed.families.retain(|family| !without(family));
        Ok(parsed)
    }

    fn note_marks(&mut self, line: &str, number: u64) {
        for comment in line.split("@").skip(1) {
            let end = comment
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(comment.len());
            if end > 0 && !line.starts_with("//#") && !line.starts_with("!#") {
                self.marks.insert(comment[..end].to_owned(), number);
            }
        }
    }

    fn entry(&mut self, key: &str, only: &str, value: &str) -> Result<(), String> {
        let key = match key {
            "Flags" => Key::Flags,
            "Env" => Key::Env,
            "Args" => Key::Args,
            "Exit" => Key::Exit,
            "Expect" => Key::Expect,
            "Events" => Key::Events,
            "Entries" => Key::Entries,
            "Edges" => Key::Edges,
            "Comms" => Key::Comms,
            "Open" => Key::Open,
            "NoTrace" => Key::NoTrace,
            other => return Err(format!("unknown directive `{other}`")),
        };
        let only = limits(only)?;
        let entry = Entry {
            key,
            only,
            value: value.to_owned(),
        };
        entry.apply(&mut Demands::default())?;
        self.entries.push(entry);
        Ok(())
    }

    /// What holds for `target` and `family`.
    ///
    /// # Errors
    ///
    /// None for directives that were parsed; the type is shared with parsing.
    pub fn demands(&self, target: Target, family: Family) -> Result<Demands, String> {
        let mut demands = Demands::default();
        for entry in &self.entries {
            if applies(&entry.only, target, family) {
                entry.apply(&mut demands)?;
            }
        }
        Ok(demands)
    }

    /// The numbers that may differ between `family` and gcc with libgomp.
    #[must_use]
    pub fn differing(&self, target: Target, family: Family) -> Vec<&str> {
        let here = self.differs.iter();
        let here = here.filter(|(only, _)| applies(only, target, family));
        here.flat_map(|(_, names)| names.iter().map(String::as_str))
            .collect()
    }

    /// The events of which traces of `family` have other numbers by other linkages.
    #[must_use]
    pub fn by_linkage(&self, target: Target, family: Family) -> Vec<&str> {
        let here = self.linkages.iter();
        let here = here.filter(|(only, _)| applies(only, target, family));
        here.flat_map(|(_, names)| names.iter().map(String::as_str))
            .collect()
    }

    /// What `family` cannot show on `target`.
    pub fn unseen(&self, target: Target, family: Family) -> impl Iterator<Item = &Unseen> {
        let here = self.unseen.iter();
        here.filter(move |unseen| applies(&unseen.only, target, family))
    }
}

/// What a compiler or library cannot show.
#[derive(Debug, Clone)]
pub struct Unseen {
    only: Vec<String>,
    rows: Vec<String>,
    /// What, and why.
    pub text: String,
}

impl Unseen {
    fn parse(only: Vec<String>, value: &str) -> Result<Self, String> {
        let (rows, text) = match value.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or("Unseen: no `]`")?,
            None => ("", value),
        };
        Ok(Self {
            only,
            rows: list(rows, ';').collect(),
            text: text.trim().to_owned(),
        })
    }

    /// Whether a row of the support matrix is meant.
    #[must_use]
    pub fn concerns(&self, construct: &str) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row == construct)
    }

    /// The rows that it names.
    #[must_use]
    pub fn rows(&self) -> &[String] {
        &self.rows
    }
}

fn differs(value: &str) -> Result<Vec<String>, String> {
    let names = reasoned("Differs", value)?;
    let stranger = names.iter().find(|name| !NUMBERS.contains(&name.as_str()));
    match stranger {
        Some(name) => Err(format!("Differs: no number `{name}`")),
        None => Ok(names),
    }
}

/// `NAME, NAME: reason`.
fn reasoned(key: &str, value: &str) -> Result<Vec<String>, String> {
    let (names, reason) = value.split_once(':').unwrap_or((value, ""));
    match reason.trim() {
        "" => Err(format!("{key} needs a reason")),
        _ => Ok(list(names, ',').collect()),
    }
}

/// The words between separators.
fn list(text: &str, separator: char) -> impl Iterator<Item = String> {
    let words = text.split(separator).map(|name| name.trim().to_owned());
    words.filter(|name| !name.is_empty())
}

/// The names behind a key's `@`.
fn limits(text: &str) -> Result<Vec<String>, String> {
    let names: Vec<String> = list(text, ',').collect();
    let unknown =
        |name: &&String| Target::from_name(name).is_none() && named_families(name).is_empty();
    match names.iter().find(unknown) {
        Some(name) => Err(format!("`{name}` is neither a target nor a compiler")),
        None => Ok(names),
    }
}

/// Whether a directive limited to `only` holds there.
fn applies(only: &[String], target: Target, family: Family) -> bool {
    let (targets, families): (Vec<_>, Vec<_>) = only
        .iter()
        .map(String::as_str)
        .partition(|name| Target::from_name(name).is_some());
    let here = targets.is_empty() || targets.contains(&target.name());
    let by = |name: &&str| named_families(name).contains(&family);
    here && (families.is_empty() || families.iter().any(by))
}

impl Entry {
    fn apply(&self, demands: &mut Demands) -> Result<(), String> {
        let words = || self.value.split_whitespace().map(str::to_owned);
        match self.key {
            Key::Flags => demands.flags.extend(words()),
            Key::Args => demands.args.extend(words()),
            Key::Env => {
                for word in words() {
                    let (name, value) = word
                        .split_once('=')
                        .ok_or_else(|| format!("`{word}` is not NAME=VALUE"))?;
                    demands.env.push((name.to_owned(), value.to_owned()));
                }
            }
            Key::Exit => {
                demands.exit = self
                    .value
                    .parse()
                    .map_err(|error| format!("exit status: {error}"))?
            }
            Key::Expect => demands.expects.push(Expect::parse(&self.value)?),
            Key::Events => demands.events.push(Expect::parse(&self.value)?),
            Key::Entries => demands.entries.push(Expect::parse(&self.value)?),
            Key::Edges => {
                demands.edges = Some(Expect::parse(&format!("edges = {}", self.value))?.value)
            }
            Key::Comms => demands.comms.push(Expect::parse(&self.value)?),
            Key::Open => demands.open = true,
            Key::NoTrace => demands.no_trace = true,
        }
        Ok(())
    }
}

fn names<T>(text: &str, find: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    text.split_whitespace()
        .map(|name| find(name).ok_or_else(|| format!("unknown name `{name}`")))
        .collect()
}

fn family(name: &str) -> Option<Family> {
    Family::ALL.into_iter().find(|family| family.name() == name)
}

/// The compilers that a compiler's or a run-time library's name stands for.
fn named_families(name: &str) -> Vec<Family> {
    let mut families = Family::ALL.to_vec();
    families.retain(|family| family.name() == name || family.openmp() == name);
    families
}

fn skip_compiler(value: &str) -> Result<Vec<(Family, String)>, String> {
    let (name, reason) = value.split_once(' ').unwrap_or((value, ""));
    let families = named_families(name);
    if families.is_empty() {
        Err(format!("unknown compiler `{name}`"))
    } else if reason.trim().is_empty() {
        Err("SkipCompiler needs a reason".into())
    } else {
        let reason = reason.trim().to_owned();
        Ok(families
            .into_iter()
            .map(|family| (family, reason.clone()))
            .collect())
    }
}

fn skip(value: &str) -> Result<(Target, String), String> {
    let (name, reason) = value.split_once(' ').unwrap_or((value, ""));
    let target = Target::from_name(name).ok_or_else(|| format!("unknown target `{name}`"))?;
    if reason.trim().is_empty() {
        Err("SkipTarget needs a reason".into())
    } else {
        Ok((target, reason.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_with_their_limits() {
        let text = "//# Targets: x86_64-linux sparc-linux\n//# Compilers: gcc clang\n//# Flags: -O2 -fopenmp\n//# Env: A=1 B=2\n\
                    //# Exit: 3\n//# Expect: tasks.created = 10\n//# Events@sparc-linux: mutex_acquire = 4\n\
                    //# Events@clang: chunk_begin = 0\nint main(void) { /* @here */ }\n";
        let parsed = Directives::parse(text).expect("well-formed");
        assert_eq!(parsed.targets, [Target::X86_64, Target::Sparc32]);
        assert_eq!(parsed.families, [Family::Gcc, Family::Clang]);
        assert_eq!(parsed.marks.get("here"), Some(&9));
        let native = parsed
            .demands(Target::X86_64, Family::Gcc)
            .expect("well-formed");
        assert_eq!(native.flags, ["-O2", "-fopenmp"]);
        assert_eq!(
            native.env,
            [("A".into(), "1".into()), ("B".into(), "2".into())]
        );
        assert_eq!(
            (native.exit, native.expects.len(), native.events.len()),
            (3, 1, 0)
        );
        let sparc = parsed
            .demands(Target::Sparc32, Family::Gcc)
            .expect("well-formed");
        assert_eq!(sparc.events.len(), 1);
        let clang = parsed
            .demands(Target::X86_64, Family::Clang)
            .expect("well-formed");
        assert_eq!(clang.events[0].subject, "chunk_begin");
    }

    #[test]
    fn run_time_libraries_stand_for_compilers() {
        let text = "//# Compilers: gcc clang gcc-libomp\n//# SkipCompiler: clang because\n//# Events@libomp: a = 1\n\
                    //# Events@libgomp,sparc-linux: b = 1\n//# Entries: task_create{kind=1} = 2\n//# Edges: 2*3\n//# Redirect\n";
        let parsed = Directives::parse(text).expect("well-formed");
        assert_eq!(parsed.families, [Family::Gcc, Family::GccLibomp]);
        assert!(parsed.redirect);
        let names = |target, family| {
            let demands: Demands = parsed.demands(target, family).expect("well-formed");
            assert_eq!((demands.edges, demands.entries.len()), (Some(6), 1));
            let names = demands.events.into_iter().map(|event| event.subject);
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(Target::X86_64, Family::GccLibomp), ["a"]);
        assert_eq!(names(Target::Sparc32, Family::Gcc), ["b"]);
        assert!(names(Target::X86_64, Family::Gcc).is_empty());
        let error = Directives::parse("//# SkipCompiler: libomp\n").expect_err("malformed");
        assert_eq!(error, "1: SkipCompiler needs a reason");
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| Directives::parse(text).expect_err("malformed");
        assert_eq!(
            error("//# Flags: -O2\n//# Flag: -O2\n"),
            "2: unknown directive `Flag`"
        );
        assert_eq!(error("//# Targets: vax\n"), "1: unknown name `vax`");
        assert_eq!(
            error("//# Events@vax: a = 1\n"),
            "1: `vax` is neither a target nor a compiler"
        );
        assert_eq!(error("//# Env: A\n"), "1: `A` is not NAME=VALUE");
        assert_eq!(
            error("//# SkipTarget: sparc-linux\n"),
            "1: SkipTarget needs a reason"
        );
        assert!(error("//# Expect: tasks.created\n").starts_with("1: no `=`"));
    }

    #[test]
    fn default_is_every_target_with_gcc() {
        let parsed =
            Directives::parse("//# SkipTarget: sparc-linux no thanks\n").expect("well-formed");
        assert_eq!(
            parsed.targets,
            [Target::X86_64, Target::X86_64Static, Target::Sparc64]
        );
        assert_eq!(parsed.families, [Family::Gcc]);
    }
}
