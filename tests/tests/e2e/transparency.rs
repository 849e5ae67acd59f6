//! The programs `tests/sources/transparency_*`, plain and traced, under many settings and under checkers: what they print, how they
//! end and what the checkers say is the same; what a level of recursion costs in stack is bounded.

use std::collections::BTreeMap;
use std::path::PathBuf;

use instr_tests::cases::summary;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Family, Language, Target, need};
use instr_tests::workspace;
use libtest_mimic::Trial;

/// What decides how an OpenMP program runs; the empty one comes first.
const SETTINGS: [&str; 19] = [
    "",
    "OMP_PROC_BIND=true",
    "OMP_PROC_BIND=close OMP_PLACES=cores",
    "OMP_PROC_BIND=spread OMP_PLACES={0},{1}",
    "OMP_PROC_BIND=master OMP_PLACES=threads",
    "OMP_NESTED=true",
    "OMP_MAX_ACTIVE_LEVELS=2",
    "OMP_NUM_THREADS=3,2 OMP_MAX_ACTIVE_LEVELS=3",
    "OMP_WAIT_POLICY=active",
    "OMP_WAIT_POLICY=passive",
    "OMP_CANCELLATION=true",
    "OMP_CANCELLATION=false",
    "OMP_STACKSIZE=256k",
    "OMP_DYNAMIC=true",
    "OMP_THREAD_LIMIT=2",
    "OMP_DISPLAY_ENV=true",
    "OMP_DISPLAY_ENV=verbose",
    "OMP_SCHEDULE=guided,4",
    "OMP_MAX_TASK_PRIORITY=7",
];

/// A program, whether it runs under all settings or, since it takes long, under the first alone, and whether libomp can run gcc's
/// objects of it: libomp 14 gives a task with `if(0)` no data of its own, which ends in a wrong address.
const PROGRAMS: [(&str, Language, bool, bool); 5] = [
    ("values", Language::C, true, true),
    ("data", Language::C, true, false),
    ("flow", Language::Cxx, true, false),
    ("stack", Language::C, true, false),
    ("signals", Language::C, false, true),
];

/// Bytes of stack that tracing may add to a level of recursion with libgomp: docs/transparency.md tells what was measured.
const LEVEL: [(&str, i64); 4] = [
    ("undeferred", 448),
    ("with data", 512),
    ("waited", 256),
    ("regions", 448),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for family in Family::ALL {
        let by = family.name();
        for (name, language, all, mixed) in PROGRAMS {
            let settings = if all { &SETTINGS[..] } else { &SETTINGS[..1] };
            if mixed || family != Family::GccLibomp {
                let title = format!("transparency::settings::{name}::{by}");
                trials.push(trial(title, move || {
                    same_under(name, language, family, settings)
                }));
            }
        }
        if family != Family::GccLibomp {
            let title = format!("transparency::stack::{by}");
            trials.push(trial(title, move || stack(family)));
        }
        let title = format!("transparency::memory::{by}");
        trials.push(trial(title, move || memory(family)));
        let title = format!("transparency::valgrind::{by}");
        trials.push(trial(title, move || valgrind(family)));
    }
    for (name, language, ..) in PROGRAMS {
        let title = format!("transparency::static::{name}");
        trials.push(trial(title, move || linked_statically(name, language)));
    }
    trials.push(trial("transparency::small-stack", small_stack));
    trials.push(trial("transparency::address-sanitizer", address_sanitizer));
    trials.push(trial("transparency::thread-sanitizer", thread_sanitizer));
    trials.push(trial(
        "transparency::thread-sanitizer-reports",
        reports_are_understood,
    ));
    trials
}

/// A program built twice.
struct Pair {
    dir: tempfile::TempDir,
    plain: PathBuf,
    traced: PathBuf,
}

impl Pair {
    fn build(name: &str, language: Language, family: Family, flags: &[&str]) -> Check<Self> {
        let source = source(name, language)?;
        let label = flags.concat().replace(['=', '-'], "_");
        let dir = workspace::work_dir(&format!("transparency::{name}::{}{label}", family.name()))?;
        let mut build = Build::openmp(Target::X86_64);
        build.family = family;
        build.language = language;
        build
            .flags
            .extend(flags.iter().map(|flag| (*flag).to_owned()));
        let at = |folder: &str| dir.path().join(folder).join("app");
        let (plain, traced) = (at("plain"), at("traced"));
        for path in [&plain, &traced] {
            std::fs::create_dir_all(path.parent().ok_or("no folder")?)?;
        }
        build.plain(&[&source], &plain)?;
        build.traced(&[&source], &traced)?;
        Ok(Self { dir, plain, traced })
    }

    /// A run of one of the two, behind `through`.
    fn run(
        &self,
        traced: bool,
        through: &[&str],
        arguments: &[&str],
        setting: &str,
    ) -> Check<Outcome> {
        let program = if traced { &self.traced } else { &self.plain };
        let mut run = match through {
            [] => Run::new(program),
            words => Run::words(words).arg(program),
        };
        run = run
            .args(arguments)
            .dir(self.dir.path())
            .env("INSTR_TRACE", self.trace())
            .env("OMP_NUM_THREADS", "3");
        for (name, value) in setting
            .split_whitespace()
            .filter_map(|word| word.split_once('='))
        {
            run = run.env(name, value);
        }
        run.output()
    }

    /// Both print and end the same under each setting; the trace of a run that ends well is whole.
    fn same_under(&self, settings: &[&str]) -> Check {
        for setting in settings {
            let plain = self.run(false, &[], &[], setting)?;
            let traced = self.run(true, &[], &[], setting)?;
            let same = plain.status == traced.status
                && plain.stdout == traced.stdout
                && plain.stderr == traced.stderr;
            ensure(same, || {
                format!("[{setting}] is not the same\n--- plain\n{plain}\n--- traced\n{traced}")
            })?;
            if traced.status == Status::Code(0) {
                self.sound()?;
            }
        }
        Ok(())
    }

    fn trace(&self) -> PathBuf {
        self.dir.path().join("trace")
    }

    /// The trace of the last run is whole.
    fn sound(&self) -> Check {
        let summary = summary(&self.trace())?;
        let sound = summary["discarded"] == 0 && summary["truncated_streams"] == 0;
        ensure(sound, || format!("the trace is not whole\n{summary:#}"))
    }
}

fn source(name: &str, language: Language) -> Check<PathBuf> {
    let extension = match language {
        Language::C => "c",
        Language::Cxx => "cc",
        Language::Fortran => "f90",
    };
    let folder = format!("tests/sources/transparency_{name}");
    let file = format!("transparency_{name}.{extension}");
    Ok(workspace::root()?.join(folder).join(file))
}

fn same_under(name: &str, language: Language, family: Family, settings: &[&str]) -> Check {
    let pair = Pair::build(name, language, family, &[])?;
    pair.same_under(settings)
}

/// A static program with no more of the runtime in it than its own link asks for; other static tests link all of it.
fn linked_statically(name: &str, language: Language) -> Check {
    let pair = Pair::build(name, language, Family::Gcc, &["-static"])?;
    pair.same_under(&SETTINGS[..1])
}

/// `name bytes` lines of the measuring run.
fn levels(outcome: &Outcome) -> BTreeMap<String, i64> {
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let line = |line: &str| {
        let (name, bytes) = line.rsplit_once(' ')?;
        Some((name.to_owned(), bytes.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

fn stack(family: Family) -> Check {
    let pair = Pair::build("stack", Language::C, family, &[])?;
    let plain = levels(&pair.run(false, &[], &["measure"], "")?);
    let traced = levels(&pair.run(true, &[], &["measure"], "")?);
    for (name, most) in LEVEL {
        let (Some(before), Some(after)) = (plain.get(name), traced.get(name)) else {
            return Err(format!("`{name}` was not measured: {plain:?} {traced:?}").into());
        };
        // A program with libomp is observed, not wrapped.
        let most = if family.openmp() == "libomp" { 0 } else { most };
        ensure(after - before <= most, || {
            format!("{name}: {before} bytes a level, traced {after}: more than {most} added")
        })?;
    }
    Ok(())
}

/// A million tasks leave nothing behind that the program could not do without.
fn memory(family: Family) -> Check {
    let pair = Pair::build("memory", Language::C, family, &[])?;
    // Tasks a round, of ten: by one compiler so many that four bytes for each could not be missed.
    let tasks = if family == Family::Gcc {
        "100000"
    } else {
        "20000"
    };
    // LLVM's library takes a hundred times as long where its threads go to sleep between tasks.
    let settings = "OMP_NUM_THREADS=2 OMP_WAIT_POLICY=active";
    let plain = pair.run(false, &[], &[tasks], settings)?;
    let traced = pair.run(true, &[], &[tasks], settings)?;
    plain.same_as(&traced)?;
    pair.sound()
}

/// What is in use of a stack of 64 KiB is what the levels need: the program with probes runs there too.
fn small_stack() -> Check {
    same_under(
        "stack",
        Language::C,
        Family::Gcc,
        &["OMP_STACKSIZE=64k OMP_MAX_ACTIVE_LEVELS=8"],
    )
}

/// memcheck finds nothing wrong, and nothing that is lost for good, in either.
fn valgrind(family: Family) -> Check {
    need("valgrind")?;
    let through = [
        "valgrind",
        "--quiet",
        "--error-exitcode=9",
        "--leak-check=full",
        "--errors-for-leak-kinds=definite",
        "--show-leak-kinds=definite",
    ];
    let can = |(_, language, all, mixed): &(&str, Language, bool, bool)| {
        *language == Language::C && *all && (*mixed || family != Family::GccLibomp)
    };
    for (name, ..) in PROGRAMS.into_iter().filter(can) {
        // valgrind 3.19 cannot read the debug information that clang 14 writes by default.
        let pair = Pair::build(name, Language::C, family, &["-gdwarf-4"])?;
        for traced in [false, true] {
            let outcome = pair.run(traced, &through, &[], "")?;
            ensure(outcome.status == Status::Code(0), || {
                format!("{name}, traced {traced}:\n{outcome}")
            })?;
        }
        pair.sound()?;
    }
    Ok(())
}

fn address_sanitizer() -> Check {
    for (name, language) in [("data", Language::C), ("flow", Language::Cxx)] {
        let pair = Pair::build(name, language, Family::Gcc, &["-fsanitize=address"])?;
        let plain = pair.run(false, &[], &[], "OMP_CANCELLATION=true")?;
        let traced = pair.run(true, &[], &[], "OMP_CANCELLATION=true")?;
        plain.same_as(&traced)?;
        ensure(plain.status == Status::Code(0), || plain.to_string())?;
        pair.sound()?;
    }
    Ok(())
}

/// libgomp is not built for ThreadSanitizer, so plain programs have false reports, a different number in each run. None of a traced program
/// is of an access that the runtime makes.
fn thread_sanitizer() -> Check {
    for name in ["data", "values"] {
        let pair = Pair::build(name, Language::C, Family::Gcc, &["-fsanitize=thread"])?;
        let setting = "TSAN_OPTIONS=exitcode=0";
        let plain = pair.run(false, &[], &[], setting)?;
        let traced = pair.run(true, &[], &[], setting)?;
        // Each report of GCC 14's sanitizer changes errno, in plain programs too.
        let results = |run: &Outcome| {
            let text = run.text();
            text.split(", errno").next().map(str::to_owned)
        };
        ensure(results(&plain) == results(&traced), || {
            format!("not the same\n--- plain\n{plain}\n--- traced\n{traced}")
        })?;
        let said = traced.errors();
        let ours = accesses(&said);
        ensure(ours.is_empty(), || format!("{ours:?}\n{traced}"))?;
        pair.sound()?;
    }
    Ok(())
}

/// Accesses of the runtime that are reported: it has no debug information, the program (`app`) has. The first function of a stack counts,
/// or the one behind a function that the sanitizer stands in for, which is in the sanitizer's own sources.
fn accesses(report: &str) -> Vec<&str> {
    let ours = |line: &&str, number: &str| {
        line.trim_start().starts_with(number) && line.contains(" <null> (app+")
    };
    let lines: Vec<&str> = report.lines().collect();
    let mut found = Vec::new();
    for pair in lines.windows(2) {
        let (top, below) = (pair[0], pair[1]);
        found.extend(Some(top).filter(|line| ours(line, "#0 ")));
        let behind = top.trim_start().starts_with("#0 ") && top.contains("sanitizer");
        found.extend(Some(below).filter(|line| behind && ours(line, "#1 ")));
    }
    found
}

fn reports_are_understood() -> Check {
    let report = |top: &str, below: &str| {
        format!("  Write of size 8\n    #0 {top}\n    #1 {below}\n    #2 main x.c:1 (app+0x1)\n")
    };
    let cases = [
        (
            "main._omp_fn.3 x.c:67 (app+0xadc7)",
            "run_task <null> (app+0x51f1)",
            0,
        ),
        (
            "run_task <null> (app+0x51f1)",
            "main x.c:67 (app+0xadc7)",
            1,
        ),
        (
            "memcpy ../src/libsanitizer/x.inc:827 (libtsan.so.2+0x1)",
            "instr_string <null> (app+0x1)",
            1,
        ),
        (
            "memcpy ../src/libsanitizer/x.inc:827 (libtsan.so.2+0x1)",
            "main x.c:67 (app+0xadc7)",
            0,
        ),
        (
            "<null> <null> (libgomp.so.1+0x1)",
            "instr_probe_task <null> (app+0x1)",
            0,
        ),
    ];
    for (top, below, count) in cases {
        let text = report(top, below);
        let found = accesses(&text);
        ensure(found.len() == count, || format!("{text}\n{found:?}"))?;
    }
    Ok(())
}
