//! OpenMP's locks at each level of `INSTR_PTHREAD`, by each linkage: what is free and what is not, by closed forms of `tests/locks/known.c`; waits are held against
//! the times that the program measures itself.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("locks::levels::wrapped", || levels(Way::Wrapped)),
        trial("locks::levels::static", || levels(Way::Static)),
        trial("locks::levels::library", || levels(Way::Library)),
        trial("locks::levels::preload", || levels(Way::Preload)),
        trial("locks::free-ones-leave-nothing", free),
        trial("locks::another-library-inside", another),
        trial("locks::instructions-of-a-pair", instructions),
    ]
}

/// How a program comes to be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Wrapped,
    Static,
    /// A plain program's library that instr-cc linked.
    Library,
    /// `instr run` of the plain program.
    Preload,
}

struct Program {
    dir: TempDir,
    way: Way,
    app: PathBuf,
}

/// `tests/locks/known.c`, built.
fn program(way: Way) -> Check<Program> {
    let dir = workspace::work_dir("locks")?;
    let source = workspace::root()?.join("tests/locks/known.c");
    let app = dir.path().join("app");
    let of = |target| Build::openmp(target);
    match way {
        Way::Wrapped => of(Target::X86_64).traced(&[&source], &app)?,
        Way::Static => of(Target::X86_64Static).traced(&[&source], &app)?,
        Way::Preload => of(Target::X86_64).plain(&[&source], &app)?,
        Way::Library => {
            let library = dir.path().join("libknown.so");
            let build = of(Target::X86_64).flag("-shared").flag("-fPIC");
            let build = build.flag("-Dmain=known");
            build.traced(&[&source], &library)?;
            let main = dir.path().join("main.c");
            let text = "int known(int, char **);\nint main(int c, char **v)\n{\n    return known(c, v);\n}\n";
            std::fs::write(&main, text)?;
            let path = library.to_str().ok_or("a folder that is not UTF-8")?;
            let build = of(Target::X86_64).flag(path);
            build.plain(&[&main], &app)?
        }
    };
    Ok(Program { dir, way, app })
}

impl Program {
    fn trace(&self) -> PathBuf {
        self.dir.path().join("trace")
    }

    /// Runs it at a level (none: the default); what it says it waited, ns, and the summary, if anything was recorded.
    fn run(&self, level: Option<&str>, count: u64) -> Check<(u64, Option<Value>)> {
        let run = match self.way {
            Way::Preload => Run::new(&tools()?.instr)
                .args(["run", "-q", "--"])
                .arg(&self.app),
            _ => Run::new(&self.app),
        };
        let mut run = run
            .arg(count.to_string())
            .env("INSTR_TRACE", self.trace())
            .dir(self.dir.path());
        if let Some(level) = level {
            run = run.env("INSTR_PTHREAD", level);
        }
        let text = run.succeed()?.text().to_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        let [taken, "1", "0", waited] = words[..] else {
            return Err(format!("it says {text}").into());
        };
        equal("taken", taken, &(3 * count).to_string())?;
        let waited = waited.parse()?;
        if !self.trace().exists() {
            return Ok((waited, None));
        }
        let summary = cases::summary(&self.trace())?;
        let lost = [&summary["discarded"], &summary["truncated_streams"]];
        ensure(lost == [0, 0] && summary["closed"] == true, || {
            format!("events are missing: {lost:?}")
        })?;
        std::fs::remove_dir_all(self.trace())?;
        Ok((waited, Some(summary)))
    }
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Check {
    ensure(found == wanted, || {
        format!("{what}: {found:?}, expected {wanted:?}")
    })
}

fn of<'a>(summary: &'a Value, name: &str) -> Option<&'a Value> {
    let mut all = summary["criticals"].as_array()?.iter();
    all.find(|lock| lock["name"] == name)
}

/// Acquisitions, those of them that waited, tries in vain.
fn numbers(summary: &Value, name: &str) -> [u64; 3] {
    let number = |field| of(summary, name).and_then(|lock| lock[field].as_u64());
    ["count", "contended", "failed"].map(|field| number(field).unwrap_or(0))
}

fn sum(summary: &Value, field: &str) -> u64 {
    let of = |name| of(summary, name).and_then(|lock| lock[field].as_u64());
    of("lock").unwrap_or(0) + of("nest").unwrap_or(0)
}

/// The default is `all` where instr-cc linked, and `waits` under `instr run`.
fn levels(way: Way) -> Check {
    const FREE: u64 = 50;
    let program = program(way)?;
    // Thread 0 finds each of the three free before thread 1 waits for it; a test finds `lock` free, and one does not.
    let all = ([2 * FREE + 4 + 1, 2, 1], [2 * FREE + 2, 1, 0]);
    let waits = ([2, 2, 0], [1, 1, 0]);
    let none = ([0, 0, 0], [0, 0, 0]);
    let default = if way == Way::Preload { waits } else { all };
    for (level, expected) in [
        (None, default),
        (Some("all"), all),
        (Some("waits"), waits),
        (Some("threads"), none),
        (Some("off"), none),
    ] {
        let what = format!("{way:?}, {level:?}");
        let (waited, summary) = program.run(level, FREE)?;
        let summary = summary.ok_or_else(|| format!("{what}: no trace"))?;
        let found = (numbers(&summary, "lock"), numbers(&summary, "nest"));
        equal(&what, found, expected)?;
        equal(&what, sum(&summary, "held_ns") > 0, expected == all)?;
        if expected == waits {
            let recorded = sum(&summary, "wait_ns");
            // The program looks at the clock outside of what is recorded.
            let fits = recorded <= waited && recorded + waited / 20 >= waited;
            ensure(fits, || {
                format!("{what}: {recorded} ns recorded, {waited} waited")
            })?;
        }
    }
    Ok(())
}

/// Under `instr run`, ten thousand pairs more are no event more; each of them has its three where all is asked for.
fn free() -> Check {
    let program = program(Way::Preload)?;
    let events = |level, count| -> Check<u64> {
        let (_, summary) = program.run(level, count)?;
        let events = summary.and_then(|summary| summary["events"].as_u64());
        events.ok_or_else(|| "no number of events".into())
    };
    let [few, many] = [events(None, 1)?, events(None, 10_001)?];
    ensure(many < few + 100, || format!("{few} events, {many} events"))?;
    let [few, many] = [events(Some("all"), 1)?, events(Some("all"), 10_001)?];
    let more = 4 * 3 * 10_000;
    ensure(
        (more..more + 100).contains(&many.saturating_sub(few)),
        || format!("all: {few} events, {many} events, {more} more expected"),
    )
}

/// Two OpenMP libraries in one process, each seen by one plugin alone: each lock is tried by the library whose it is.
fn another() -> Check {
    const PLUGIN: &str = "#include <omp.h>\nint pairs(int n)\n{\n    omp_nest_lock_t lock;\n    omp_init_nest_lock(&lock);\n    for (int i = 0; i < n; i++) {\n        omp_set_nest_lock(&lock);\n        omp_set_nest_lock(&lock);\n        omp_unset_nest_lock(&lock);\n        omp_unset_nest_lock(&lock);\n    }\n    const int depth = omp_test_nest_lock(&lock);\n    omp_destroy_nest_lock(&lock);\n    return depth;\n}\n";
    const MAIN: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int c, char **v)\n{\n    for (int i = 1; i < c; i++) {\n        void *const plugin = dlopen(v[i], RTLD_NOW | RTLD_LOCAL);\n        int (*const pairs)(int) = plugin ? (int (*)(int))dlsym(plugin, \"pairs\") : NULL;\n        printf(\"%d\\n\", pairs ? pairs(100) : -1);\n    }\n    return 0;\n}\n";
    need("clang")?;
    let dir = workspace::work_dir("locks-two")?;
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("plugin.c"), PLUGIN)?;
    std::fs::write(path("main.c"), MAIN)?;
    let library = || {
        let build = Build::openmp(Target::X86_64);
        build.flag("-shared").flag("-fPIC")
    };
    library().plain(&[&path("plugin.c")], &path("gnu.so"))?;
    let mut llvm = library();
    llvm.family = instr_tests::toolchain::Family::Clang;
    llvm.plain(&[&path("plugin.c")], &path("llvm.so"))?;
    let mut main = Build::openmp(Target::X86_64);
    main.flags.retain(|flag| flag != "-fopenmp");
    main.plain(&[&path("main.c")], &path("main"))?;
    for order in [["gnu.so", "llvm.so"], ["llvm.so", "gnu.so"]] {
        let run = Run::new(&tools()?.instr).args(["run", "-q", "--"]);
        let run = run.arg(path("main")).args(order.map(&path));
        let run = run.env("INSTR_TRACE", path("trace")).dir(dir.path());
        equal("depths", run.succeed()?.text().trim(), "1\n1")?;
        let summary = cases::summary(&path("trace"))?;
        equal("order", &summary["closed"], &Value::Bool(true))?;
        std::fs::remove_dir_all(path("trace"))?;
    }
    Ok(())
}

/// A pair that nobody else wants.
const PAIRS: &str = "#include <omp.h>\n#include <stdlib.h>\nint main(int c, char **v)\n{\n    omp_lock_t lock;\n    omp_init_lock(&lock);\n    for (long i = atol(v[c - 1]); i > 0; i--) {\n        omp_set_lock(&lock);\n        omp_unset_lock(&lock);\n    }\n    omp_destroy_lock(&lock);\n    return 0;\n}\n";

/// The most instructions that a pair takes more than a plain one, by level: what GCC 12 makes, and an eighth more.
const MOST: [(&str, f64); 3] = [("all", 280.0), ("waits", 68.0), ("off", 59.0)];

fn instructions() -> Check {
    need("valgrind")?;
    let dir = workspace::work_dir("locks-cost")?;
    let source = dir.path().join("pairs.c");
    std::fs::write(&source, PAIRS)?;
    let build = Build::openmp(Target::X86_64);
    let [plain, traced] = ["plain", "traced"].map(|name| dir.path().join(name));
    build.plain(&[&source], &plain)?;
    build.traced(&[&source], &traced)?;
    let executed = |program: &Path, level: &str, count: u64| -> Check<f64> {
        let out = dir.path().join("out");
        let run = Run::words(["valgrind", "--tool=callgrind"]);
        let run = run.arg(format!("--callgrind-out-file={}", out.display()));
        let run = run.arg(program).arg(count.to_string());
        let run = run.env("INSTR_TRACE", dir.path().join("trace"));
        let run = run.env("INSTR_SWITCHES", "0").env("INSTR_PTHREAD", level);
        let text = run.env("INSTR_BUFFER", "4M").succeed()?.errors();
        let collected = text
            .lines()
            .find_map(|line| line.split_once("Collected : "));
        let number = collected.and_then(|(_, number)| number.trim().parse().ok());
        number.ok_or_else(|| format!("no count of instructions: {text}").into())
    };
    let each = |program: &Path, level: &str| -> Check<f64> {
        let less = executed(program, level, 1000)?;
        Ok((executed(program, level, 3000)? - less) / 2000.0)
    };
    let own = each(&plain, "all")?;
    executed(&traced, "all", 1)?;
    let metadata = std::fs::read(dir.path().join("trace/metadata"))?;
    let is_fast = String::from_utf8_lossy(&metadata).contains("clock_source = \"tsc\"");
    let mut found = Vec::new();
    for (level, most) in MOST {
        let added = each(&traced, level)? - own;
        // Where the processor's counter is no clock, each look at the system's takes more.
        let most = if is_fast || level != "all" {
            most
        } else {
            6.0 * most
        };
        println!("a pair, {level}: +{added:.0} instructions, at most {most}");
        if !(0.0..=most).contains(&added) {
            found.push(format!("{level}: +{added:.0}, not up to {most}"));
        }
    }
    ensure(found.is_empty(), || found.join("\n"))
}
