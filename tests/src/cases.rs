//! Cases: one test program with directives, built plainly and with `instr-cc`, run, compared and judged.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::conformance::matrix::Program;
use crate::conformance::{Tally, edges, linkages, pairs, pieces, sound};
use crate::ctf;
use crate::directives::{Demands, Directives};
use crate::expect::{Expect, lookup};
use crate::lives::Lives;
use crate::outcome::{Check, Stop, ensure};
use crate::process::{Outcome, Run, Status};
use crate::prv;
use crate::redirect;
use crate::toolchain::{Build, Family, Language, Target, tools};
use crate::workspace;

/// A program, a target and a compiler.
#[derive(Debug, Clone)]
pub struct Case {
    /// `folder/target/compiler`
    pub name: String,
    source: PathBuf,
    directives: Directives,
    language: Language,
    target: Target,
    family: Family,
    suite: Suite,
    linkage: Linkage,
}

/// How the program's calls are led to the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Linkage {
    /// Linked by `instr-cc`.
    Wrap,
    /// Objects that went through `instr-rewrite --redirect`.
    Redirect,
    /// The plain program, run by `instr run`.
    Preload,
}

/// Which folder a case comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Suite {
    /// `tests/sources`
    Sources,
    /// `tests/conformance`: flags and environment have defaults, the trace is held against [`crate::conformance`].
    Conformance,
}

/// Targets of a conformance program that names none.
const CONFORMANCE_TARGETS: [Target; 3] = [Target::X86_64, Target::Sparc32, Target::Sparc64];

/// With `INSTR_TEST_ALL=1` also those of C that run on 64-bit SPARC: the runtime's code for them is the same but for clocks, calls and the order of bytes.
fn further_targets(directives: &Directives, language: Language) -> &'static [Target] {
    match all() && language == Language::C && directives.targets.contains(&Target::Sparc64) {
        true => &Target::FURTHER,
        false => &[],
    }
}

/// Conformance programs that always run on 64-bit SPARC; the others do with `INSTR_TEST_ALL=1` (`make test-all`). The runtime's code is the
/// same as on 32-bit SPARC, which runs all of them, but for the size of words and the layout of what the library is given: these
/// programs have the entry points that take 64-bit values, arrays of addresses, structures, and calls from each language.
const ALWAYS_ON_SPARC64: [&str; 16] = [
    "cancel_for.c",
    "cxx_tasks.cc",
    "depend_iterator.c",
    "depend_kinds.c",
    "do_dynamic_f.f90",
    "doacross.c",
    "entry_forms.c",
    "for_dynamic.c",
    "for_ull.c",
    "locks.c",
    "parallel_nested.c",
    "reduction_task.c",
    "sections.c",
    "single_copyprivate.c",
    "target_tasks.c",
    "taskloop.c",
];

/// Conformance programs that are always built by redirecting references, too; the others are with `INSTR_TEST_ALL=1`. Together they call every group of
/// entry points.
const REDIRECTED: [&str; 10] = [
    "barrier.c",
    "critical.c",
    "cxx_tasks.cc",
    "do_dynamic_f.f90",
    "for_ordered.c",
    "locks.c",
    "sections.c",
    "single_copyprivate.c",
    "taskgroup.c",
    "taskloop.c",
];

/// Whether the tests that `make test-all` adds are asked for (`INSTR_TEST_ALL=1`).
#[must_use]
pub fn all() -> bool {
    std::env::var_os("INSTR_TEST_ALL").is_some_and(|value| value == "1")
}

/// All cases of `tests/conformance`, by name.
///
/// # Errors
///
/// When a directive is wrong.
pub fn conformance() -> Check<Vec<Case>> {
    let mut cases = Vec::new();
    for source in conformance_sources()? {
        let language = Language::of(&source).ok_or("unknown language")?;
        let directives = Directives::read_with(&source, &CONFORMANCE_TARGETS, &Family::ALL)?;
        let name = source.file_name().unwrap_or_default().to_string_lossy();
        let file = name.replace('.', "_");
        let now = |target: &Target| {
            *target != Target::Sparc64 || all() || ALWAYS_ON_SPARC64.contains(&&*name)
        };
        let chosen = |target: &&Target| wanted(**target) && now(target);
        let further = further_targets(&directives, language);
        for &target in directives.targets.iter().chain(further).filter(chosen) {
            let fits = |family: &&Family| {
                family.serves(target)
                    && (**family != Family::Clang || language != Language::Fortran)
            };
            for &family in directives.families.iter().filter(fits) {
                let case = Case {
                    name: format!("conformance::{file}::{}::{}", target.name(), family.name()),
                    source: source.clone(),
                    directives: directives.clone(),
                    language,
                    target,
                    family,
                    suite: Suite::Conformance,
                    linkage: Linkage::Wrap,
                };
                let redirected = directives.redirect || all() || REDIRECTED.contains(&&*name);
                if redirected && (target, family) == (Target::X86_64, Family::Gcc) {
                    cases.push(Case {
                        name: format!("conformance::{file}::redirect"),
                        linkage: Linkage::Redirect,
                        ..case.clone()
                    });
                }
                if target == Target::X86_64 {
                    cases.push(Case {
                        name: format!("conformance::{file}::preload::{}", family.name()),
                        linkage: Linkage::Preload,
                        ..case.clone()
                    });
                }
                cases.push(case);
            }
        }
    }
    Ok(cases)
}

/// What each conformance program's traces on x86-64 must agree about, by the name of a test: those of gcc with libgomp, clang with libomp and gcc with libomp,
/// wherever two of them run.
#[must_use]
pub fn conformance_pairs(cases: &[Case]) -> Vec<(String, Vec<Case>)> {
    let mut programs: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let native = |case: &&Case| case.target == Target::X86_64 && case.linkage != Linkage::Redirect;
    for case in cases.iter().filter(native) {
        let name = case.name.split("::").nth(1).unwrap_or_default();
        let name = format!("conformance::pairs::{name}");
        programs.entry(name).or_default().push(case.clone());
    }
    programs.retain(|_, cases| cases.len() > 1);
    programs.into_iter().collect()
}

/// Compares the regions, tasks and edges of the first case with those of the others.
///
/// # Errors
///
/// When they differ without a `Differs` directive, or a case fails.
pub fn agree(cases: &[Case]) -> Check {
    let (first, others) = cases.split_first().ok_or("no cases")?;
    let one = first.shape()?;
    let mut problems = Vec::new();
    for other in others {
        let excepted = first.directives.differing(other.target, other.family);
        let two = other.shape()?;
        let found = one.differences(&two, &excepted);
        problems.extend(found.map(|what| {
            let (a, b) = (first.family.name(), other.family.name());
            format!("{a}, {b}: {what}")
        }));
    }
    ensure(problems.is_empty(), || problems.join("\n"))
}

/// The cases on x86-64 of each conformance program by gcc, by the name of a test: those that differ in how calls are led to the runtime. By libomp the
/// constructs come from its own tool interface, whichever way the program is linked.
#[must_use]
pub fn conformance_linkages(cases: &[Case]) -> Vec<(String, Vec<Case>)> {
    let mut programs: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    let native = |case: &&Case| (case.target, case.family) == (Target::X86_64, Family::Gcc);
    for case in cases.iter().filter(native) {
        let name = case.name.split("::").nth(1).unwrap_or_default();
        let name = format!("conformance::linkages::{name}");
        programs.entry(name).or_default().push(case.clone());
    }
    programs.retain(|_, cases| cases.len() > 1);
    programs.into_iter().collect()
}

/// Compares how many events of each kind these cases have, whose programs are linked in different ways.
///
/// # Errors
///
/// When they differ without a `Linkages` directive, or a case fails.
pub fn alike(cases: &[Case]) -> Check {
    let first = cases.iter().find(|case| case.linkage == Linkage::Wrap);
    let first = first.ok_or("no case that is linked by instr-cc")?;
    let one = first.counts()?;
    let excepted = first.directives.by_linkage(first.target, first.family);
    let mut problems = Vec::new();
    for other in cases.iter().filter(|case| case.linkage != Linkage::Wrap) {
        let found = one.differences(&other.counts()?, &excepted);
        let linkage = other.linkage;
        problems.extend(
            found
                .iter()
                .map(|what| format!("Wrap, {linkage:?}: {what}")),
        );
    }
    ensure(problems.is_empty(), || problems.join("\n"))
}

/// The programs of `tests/conformance` with their directives, sorted.
///
/// # Errors
///
/// When a directive is wrong.
pub fn conformance_programs() -> Check<Vec<Program>> {
    let read = |source: PathBuf| {
        Ok(Program {
            file: source
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            language: Language::of(&source).ok_or("unknown language")?,
            directives: Directives::read_with(&source, &CONFORMANCE_TARGETS, &Family::ALL)?,
        })
    };
    conformance_sources()?.into_iter().map(read).collect()
}

/// The programs of `tests/conformance`, sorted.
///
/// # Errors
///
/// When the folder cannot be read.
pub fn conformance_sources() -> Check<Vec<PathBuf>> {
    let folder = workspace::root()?.join("tests/conformance");
    let mut sources: Vec<PathBuf> = std::fs::read_dir(&folder)?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| Language::of(path).is_some())
        .collect();
    sources.sort();
    Ok(sources)
}

/// All cases of `tests/sources`, by name.
///
/// # Errors
///
/// When a folder holds no source, or a directive is wrong.
pub fn discover() -> Check<Vec<Case>> {
    let sources = workspace::root()?.join("tests/sources");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&sources)?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    let mut cases = Vec::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        let name = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let candidates =
            ["c", "cc", "f90"].map(|extension| folder.join(&name).with_extension(extension));
        let source = candidates.into_iter().find(|path| path.is_file());
        let source = source.ok_or_else(|| {
            Stop::Fail(format!("no {name}.c, .cc or .f90 in {}", folder.display()))
        })?;
        let directives = Directives::read(&source)?;
        let language = Language::of(&source).ok_or("unknown language")?;
        for &target in directives.targets.iter().filter(|target| wanted(**target)) {
            for &family in &directives.families {
                let name = format!("program::{name}::{}::{}", target.name(), family.name());
                cases.push(Case {
                    name,
                    source: source.clone(),
                    directives: directives.clone(),
                    language,
                    target,
                    family,
                    suite: Suite::Sources,
                    linkage: Linkage::Wrap,
                });
            }
        }
    }
    Ok(cases)
}

/// Whether `INSTR_TEST_TARGETS` (a comma-separated list) lets `target` run.
#[must_use]
pub fn wanted(target: Target) -> bool {
    std::env::var("INSTR_TEST_TARGETS").map_or(true, |list| {
        list.split(',').any(|name| name == target.name())
    })
}

impl Case {
    /// Builds, runs, compares and judges.
    ///
    /// # Errors
    ///
    /// The first thing that does not hold.
    pub fn run(&self) -> Check {
        let demands = self.demands()?;
        let dir = workspace::work_dir(&self.name.replace("program::", ""))?;
        let (plain, traced) = self.build(&demands, dir.path())?;
        let reference = self.reference(&plain, &demands, dir.path())?;
        let outcome = self.execute(&traced, &demands, dir.path(), "trace")?;
        reference.same_as(&outcome)?;
        let no_trace = !dir.path().join("none").exists();
        ensure(no_trace, || "the plain run left a trace".into())?;
        let trace = dir.path().join("trace");
        if demands.no_trace {
            return ensure(!trace.exists(), || format!("a trace appeared\n{outcome}"));
        }
        ensure(trace.join("metadata").is_file(), || {
            format!("no trace\n{outcome}")
        })?;
        self.judge(&trace, &demands, &outcome)
    }

    /// Builds, and runs with each of these libraries in place of the one it was linked with; the same directives hold.
    ///
    /// # Errors
    ///
    /// Everything that does not hold, with the library's name.
    pub fn run_with(&self, libraries: &[(String, PathBuf)]) -> Check {
        let mut demands = self.demands()?;
        let dir = workspace::work_dir(&self.name)?;
        let (plain, traced) = self.build(&demands, dir.path())?;
        let mut problems = Vec::new();
        let before = demands.env.len();
        for (name, folder) in libraries {
            let path = folder.to_str().ok_or("a folder that is not UTF-8")?;
            demands.env.truncate(before);
            demands.env.push(("LD_LIBRARY_PATH".into(), path.into()));
            let found = self.run_one(&plain, &traced, &demands, dir.path(), name);
            problems.extend(found.err().map(|why| format!("{name}: {why}")));
        }
        ensure(problems.is_empty(), || problems.join("\n"))
    }

    fn run_one(
        &self,
        plain: &Path,
        traced: &Path,
        demands: &Demands,
        dir: &Path,
        name: &str,
    ) -> Check {
        let reference = self.reference(plain, demands, dir)?;
        let outcome = self.execute(traced, demands, dir, name)?;
        reference.same_as(&outcome)?;
        self.judge(&dir.join(name), demands, &outcome)
    }

    /// Runs the plain program, which must end as it should. Where it does not because the emulator is wrong, that is no failure.
    fn reference(&self, plain: &Path, demands: &Demands, dir: &Path) -> Check<Outcome> {
        let exit = Status::Code(demands.exit);
        let judged = self.execute(plain, demands, dir, "none").and_then(|run| {
            ensure(run.status == exit, || {
                format!("the plain run must end with {exit:?}\n{run}")
            })?;
            Ok(run)
        });
        match judged {
            Err(Stop::Fail(_)) if self.target.divides_wrongly()? => Err(Stop::Unfit(format!(
                "{} divides negative numbers wrongly (sdiv), and the plain program fails",
                self.target.emulator().unwrap_or_default()
            ))),
            judged => judged,
        }
    }

    /// The program's file name and compiler.
    #[must_use]
    pub fn identity(&self) -> (String, Family, Target) {
        let file = self.source.file_name().unwrap_or_default();
        (
            file.to_string_lossy().into_owned(),
            self.family,
            self.target,
        )
    }

    /// The regions, tasks and edges of the trace, of an earlier run in this process if there was one.
    fn shape(&self) -> Check<pairs::Shape> {
        if let Some(shape) = pairs::KEPT.of(&self.name) {
            return Ok(shape);
        }
        self.run()?;
        pairs::KEPT
            .of(&self.name)
            .ok_or_else(|| Stop::Fail(format!("{}: no trace", self.name)))
    }

    /// How many events of each kind the trace has, of an earlier run in this process if there was one.
    fn counts(&self) -> Check<linkages::Counts> {
        if let Some(counts) = linkages::KEPT.of(&self.name) {
            return Ok(counts);
        }
        self.run()?;
        linkages::KEPT
            .of(&self.name)
            .ok_or_else(|| Stop::Fail(format!("{}: no trace", self.name)))
    }

    /// What the directives demand, behind the defaults of the suite.
    fn demands(&self) -> Check<Demands> {
        let mut demands = self.directives.demands(self.target, self.family)?;
        if self.suite == Suite::Conformance {
            let mut flags = vec!["-O1", "-fopenmp"];
            if self.target == Target::Sparc32 {
                flags.push("-latomic");
            }
            // A static libgfortran calls it through a weak reference, which does not pull it out of the archive.
            if self.language == Language::Fortran && self.target != Target::X86_64 {
                flags.push("-Wl,-u,pthread_mutex_destroy");
            }
            let flags = flags.into_iter().map(str::to_owned);
            demands.flags.splice(0..0, flags);
            let env = [("OMP_NUM_THREADS", "3"), ("OMP_DYNAMIC", "false")];
            let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
            demands.env.splice(0..0, env);
        }
        if self.linkage == Linkage::Preload {
            // As the wrapped programs have it; locks that are free leave nothing by default.
            let all = ("INSTR_PTHREAD".to_owned(), "all".to_owned());
            demands.env.insert(0, all);
        }
        Ok(demands)
    }

    fn build(&self, demands: &Demands, dir: &Path) -> Check<(PathBuf, PathBuf)> {
        let mut flags = vec!["-g".to_owned()];
        flags.extend(demands.flags.iter().cloned());
        let build = Build {
            target: self.target,
            family: self.family,
            language: self.language,
            flags,
        };
        let (plain, traced) = (dir.join("plain/app"), dir.join("traced/app"));
        for path in [&plain, &traced] {
            std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        }
        let said = build.plain(&[&self.source], &plain)?;
        if self.linkage == Linkage::Preload {
            return Ok((plain.clone(), plain));
        }
        if self.linkage == Linkage::Redirect {
            redirect::build(&build, &self.source, &traced)?;
            return Ok((plain, traced));
        }
        let wrapped = build.traced(&[&self.source], &traced)?;
        let same = (said.stdout == wrapped.stdout) && (neutral(&said) == neutral(&wrapped));
        ensure(same, || {
            format!(
                "instr-cc does not say what the compiler says\n--- plain\n{said}\n--- instr-cc\n{wrapped}"
            )
        })?;
        Ok((plain, traced))
    }

    fn execute(
        &self,
        program: &Path,
        demands: &Demands,
        dir: &Path,
        trace: &str,
    ) -> Check<Outcome> {
        let run = match self.linkage {
            Linkage::Preload if trace != "none" => Run::new(&tools()?.instr)
                .args(["run", "-q", "--"])
                .arg(program),
            _ => self.target.run(program),
        };
        let mut run = run
            .args(&demands.args)
            .dir(dir)
            .env("INSTR_TRACE", dir.join(trace));
        for (name, value) in &demands.env {
            run = run.env(name, value);
        }
        run.output()
    }

    /// Judges a trace by the summary, by babeltrace2 and by the Paraver checker, and tells all mistakes at once.
    fn judge(&self, trace: &Path, demands: &Demands, outcome: &Outcome) -> Check {
        let mut problems = Vec::new();
        let mut shown = String::new();
        match summary(trace) {
            Ok(summary) => {
                problems.extend(self.judge_summary(&summary, demands)?);
                problems.extend(Lives::of(trace)?.check(&summary).err());
                shown = format!("{summary:#}");
            }
            Err(stop) => problems.push(format!("summary: {stop}")),
        }
        match ctf::read(trace) {
            Ok(events) => {
                problems.extend(judge_events(&events, demands));
                problems.extend(pieces(&events));
                if self.suite == Suite::Conformance {
                    problems.extend(sound(&events));
                    problems.extend(self.agree(trace, &events).err());
                    pairs::KEPT.keep(&self.name, pairs::Shape::of(&events)?);
                    linkages::KEPT.keep(&self.name, linkages::Counts::of(&events));
                }
                shown += &format!("\n{:?}", ctf::counts(&events));
            }
            Err(Stop::Skip(reason)) => return Err(Stop::Skip(reason)),
            Err(stop) => problems.push(format!("events: {stop}")),
        }
        if self.suite == Suite::Sources {
            problems.extend(judge_paraver(trace, demands));
        }
        ensure(problems.is_empty(), || {
            format!("{}\n{shown}\n{outcome}", problems.join("\n"))
        })
    }

    /// The summary counts what can be counted here.
    fn agree(&self, trace: &Path, events: &[ctf::Event]) -> Result<(), String> {
        let summary = summary(trace).map_err(|stop| stop.to_string())?;
        let told = |path: &str| lookup(&summary, path, &self.directives.marks);
        let told = Tally {
            created: told("tasks.created")?,
            executed: told("tasks.executed")?,
            waits: told("tasks.taskwaits_depend")?,
            edges: told("tasks.edges")?,
        };
        let counted = Tally::of(events)?;
        if told == counted {
            Ok(())
        } else {
            Err(format!(
                "the summary tells {told:?}, the events say {counted:?}"
            ))
        }
    }

    fn judge_summary(&self, summary: &Value, demands: &Demands) -> Check<Vec<String>> {
        let mut problems = Vec::new();
        let mut standing = vec![
            Expect::parse("discarded = 0")?,
            Expect::parse("truncated_streams = 0")?,
        ];
        standing.extend(demands.expects.iter().cloned());
        for expect in standing {
            let actual = lookup(summary, &expect.subject, &self.directives.marks);
            problems.extend(
                actual
                    .and_then(|actual| expect.check(actual))
                    .err()
                    .map(|why| format!("summary: {why}")),
            );
        }
        if summary["target"].as_str() != Some(self.target.in_trace()) {
            problems.push(format!(
                "summary: target is {}, not {}",
                summary["target"],
                self.target.in_trace()
            ));
        }
        Ok(problems)
    }
}

fn judge_events(events: &[ctf::Event], demands: &Demands) -> Vec<String> {
    let mut problems = Vec::new();
    type Count = fn(&[ctf::Event], &str) -> Result<i128, String>;
    let parts: [(&str, &[Expect], Count); 2] = [
        ("events", &demands.events, ctf::count),
        ("entries", &demands.entries, ctf::count_entries),
    ];
    for (part, expects, count) in parts {
        for expect in expects {
            let verdict = count(events, &expect.subject).and_then(|actual| expect.check(actual));
            problems.extend(verdict.err().map(|why| format!("{part}: {why}")));
        }
    }
    if let Some(expected) = demands.edges {
        match edges(events) {
            Ok(actual) if actual == expected => {}
            Ok(actual) => problems.push(format!("edges: expected = {expected}, got {actual}")),
            Err(why) => problems.push(format!("edges: {why}")),
        }
    }
    problems
}

fn judge_paraver(trace: &Path, demands: &Demands) -> Vec<String> {
    match paraver(trace, prv::check::Options { open: demands.open }) {
        Ok(merged) => against(&demands.comms, &comm_counts(&merged))
            .map(|why| format!("comms: {why}"))
            .collect(),
        Err(stop) => vec![format!("paraver: {stop}")],
    }
}

fn against<'a>(
    expects: &'a [Expect],
    counts: &'a BTreeMap<String, i128>,
) -> impl Iterator<Item = String> + 'a {
    expects.iter().filter_map(|expect| {
        expect
            .check(counts.get(&expect.subject).copied().unwrap_or(0))
            .err()
    })
}

fn comm_counts(trace: &prv::Trace) -> BTreeMap<String, i128> {
    let mut counts = BTreeMap::from([("all".to_owned(), trace.comms.len() as i128)]);
    for comm in &trace.comms {
        *counts.entry(comm.tag.to_string()).or_insert(0) += 1;
    }
    counts
}

/// What a compiler said, without the random names of its temporary files.
fn neutral(outcome: &Outcome) -> String {
    let mut text = String::new();
    for (index, part) in outcome.errors().split("/tmp/cc").enumerate() {
        let random = if index == 0 {
            0
        } else {
            part.bytes()
                .take(6)
                .take_while(u8::is_ascii_alphanumeric)
                .count()
        };
        text += &part[random..];
    }
    text
}

/// `instr summary --json` of a trace.
///
/// # Errors
///
/// When it fails or prints something that is no JSON.
pub fn summary(trace: &Path) -> Check<Value> {
    let outcome = Run::new(&tools()?.instr)
        .arg("summary")
        .arg("--json")
        .arg(trace)
        .succeed()?;
    serde_json::from_slice(&outcome.stdout)
        .map_err(|error| Stop::Fail(format!("summary --json: {error}\n{outcome}")))
}

/// Merges a trace to Paraver, reads the result back and proves it right.
///
/// # Errors
///
/// When the merge fails or the result is wrong.
pub fn paraver(trace: &Path, options: prv::check::Options) -> Check<prv::Trace> {
    // Not beside it: the trace of a forked process lies in that of its parent.
    let place = workspace::work_dir("merged")?;
    let name = place.path().join("merged");
    Run::new(&tools()?.instr)
        .arg("merge")
        .arg(trace)
        .arg("-o")
        .arg(&name)
        .succeed()?;
    let mut file = name.into_os_string();
    file.push(".prv");
    let read = prv::read(Path::new(&file))?;
    prv::check::check(&read, options)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_names_of_temporary_files_do_not_matter() {
        let said = |text: &str| Outcome {
            shown: String::new(),
            dir: None,
            status: Status::Code(0),
            stdout: Vec::new(),
            stderr: text.as_bytes().to_vec(),
        };
        assert_eq!(
            neutral(&said("ld: /tmp/ccAbCd12.o: bad")),
            neutral(&said("ld: /tmp/ccZz99xx.o: bad"))
        );
        assert_ne!(
            neutral(&said("ld: /tmp/ccAbCd12.o: bad")),
            neutral(&said("ld: /tmp/ccAbCd12.o: good"))
        );
    }
}
