//! Threads of POSIX, C11 and C++, by each linkage: what is printed is what the plain program prints, counts are closed forms (`every.c` and the others in
//! `tests/pthread` say how often they call what), times are those that the programs measure themselves.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Family, Language, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

/// How a program comes to be traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Wrap(Family, Target),
    /// `instr run` of the plain program.
    Preload(Family),
}

use Way::{Preload, Wrap};

const WAYS: [(&str, Way); 5] = [
    ("gcc", Wrap(Family::Gcc, Target::X86_64)),
    ("clang", Wrap(Family::Clang, Target::X86_64)),
    ("static", Wrap(Family::Gcc, Target::X86_64Static)),
    ("preload", Preload(Family::Gcc)),
    ("preload-clang", Preload(Family::Clang)),
];

/// What is to be seen in a program, however it is linked.
type Case = fn(Way) -> Check;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("pthread::levels", levels),
        trial("pthread::before-the-first-thread", before_the_first),
        trial("pthread::instructions-of-a-pair", instructions),
    ];
    let programs: [(&str, Case); 7] = [
        ("every-function", every_function),
        ("known-times", known_times),
        ("waits-that-their-threads-end", unended),
        ("mutexes-that-cannot-be-tried", untried),
        ("c11", c11),
        ("cxx", cxx),
        ("with-openmp", with_openmp),
    ];
    for (name, program) in programs {
        for (way_name, way) in WAYS {
            let name = format!("pthread::{name}::{way_name}");
            trials.push(trial(name, move || program(way)));
        }
    }
    for (name, way) in [
        ("gcc", Wrap(Family::Gcc, Target::X86_64)),
        ("preload", Preload(Family::Gcc)),
    ] {
        trials.push(trial(format!("pthread::tbb::{name}"), move || tbb(way)));
    }
    for target in [Target::Sparc32, Target::Sparc64] {
        let name = format!("pthread::threads::{}", target.name());
        trials.push(trial(name, move || simple(Wrap(Family::Gcc, target))));
    }
    trials
}

struct Program {
    dir: TempDir,
    way: Way,
    plain: PathBuf,
    traced: PathBuf,
}

/// A program of `tests/pthread`, built.
fn program(name: &str, way: Way, openmp: bool) -> Check<Program> {
    let dir = workspace::work_dir("pthread")?;
    let source = workspace::root()?.join("tests/pthread").join(name);
    let (family, target) = match way {
        Wrap(family, target) => (family, target),
        Preload(family) => (family, Target::X86_64),
    };
    let mut build = Build::openmp(target).flag("-pthread");
    build.family = family;
    if name.ends_with(".cc") {
        build.language = Language::Cxx;
    }
    if !openmp {
        build.flags.retain(|flag| flag != "-fopenmp");
    }
    if name == "tbb.cc" {
        build = build.flag("-ltbb");
    }
    let [plain, traced] = ["plain", "app"].map(|name| dir.path().join(name));
    build.plain(&[&source], &plain)?;
    if let Wrap(..) = way {
        build.traced(&[&source], &traced)?;
    }
    Ok(Program {
        dir,
        way,
        plain,
        traced,
    })
}

impl Program {
    fn trace(&self) -> PathBuf {
        self.dir.path().join("trace")
    }

    /// The traced program.
    fn run(&self, level: &str) -> Check<Run> {
        let run = match self.way {
            Wrap(_, target) => target.run(&self.traced),
            Preload(_) => Run::new(&tools()?.instr)
                .args(["run", "--"])
                .arg(&self.plain),
        };
        let run = run.env("INSTR_TRACE", self.trace());
        Ok(run.env("INSTR_PTHREAD", level).dir(self.dir.path()))
    }

    fn run_plain(&self) -> Run {
        match self.way {
            Wrap(_, target) => target.run(&self.plain),
            Preload(_) => Run::new(&self.plain),
        }
    }

    /// Runs it, sees that it prints what the plain one does, and that nothing is lost; the summary.
    fn summary(&self) -> Check<Value> {
        let plain = self.run_plain().succeed()?;
        let traced = self.run("all")?.succeed()?;
        ensure(plain.text() == traced.text(), || {
            format!("{:?}:\n{plain}\n{traced}", self.way)
        })?;
        sound(&self.trace())
    }
}

/// The summary of a trace in which nothing is missing.
fn sound(trace: &Path) -> Check<Value> {
    let summary = cases::summary(trace)?;
    let lost = [&summary["discarded"], &summary["truncated_streams"]];
    ensure(lost == [0, 0] && summary["closed"] == true, || {
        format!("events are missing: {lost:?}")
    })?;
    Ok(summary)
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// Acquisitions and failures of a lock.
fn lock(summary: &Value, name: &str, kind: &str) -> (u64, u64) {
    let mut locks = list(summary, "criticals").iter();
    let found = locks.find(|lock| lock["name"] == name && lock["kind"] == kind);
    let number = |field: &str| found.and_then(|lock| lock[field].as_u64()).unwrap_or(0);
    (number("count"), number("failed"))
}

/// How often an object was waited for.
fn waits(summary: &Value, kind: &str, object: &str) -> u64 {
    let all = list(summary, "waits").iter();
    let of = all.filter(|wait| wait["kind"] == kind && wait["object"].as_str() == Some(object));
    of.filter_map(|wait| wait["count"].as_u64()).sum()
}

/// The same for all objects of a kind.
fn waits_of(summary: &Value, kind: &str) -> u64 {
    let mut all = list(summary, "syncs").iter();
    let found = all.find(|sync| sync["kind"] == kind);
    found.and_then(|sync| sync["count"].as_u64()).unwrap_or(0)
}

/// Threads that others made.
fn born(summary: &Value) -> Vec<&Value> {
    let threads = list(summary, "threads").iter();
    threads
        .filter(|thread| !thread["birth"].is_null())
        .collect()
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: T, wanted: T) -> Check {
    ensure(found == wanted, || {
        format!("{what}: {found:?}, expected {wanted:?}")
    })
}

fn every_function(way: Way) -> Check {
    let program = program("every.c", way, false)?;
    let summary = program.summary()?;
    for (name, kind, count, failed) in [
        ("plain", "mutex", 3 + 2 + 1 + 1, 2 + 1),
        ("recursive", "mutex", 3, 0),
        ("check", "mutex", 1, 1),
        ("robust", "mutex", 2 + 1 + 1, 1),
        ("rw", "read lock", 5, 0),
        ("rw", "write lock", 4, 2),
        ("spin", "spin lock", 3, 1),
        // Each wait for a condition takes its mutex again.
        ("guard", "mutex", 2 + 3, 0),
        ("slept", "mutex", 2 + 1, 0),
        ("forked", "mutex", 1, 0),
    ] {
        let what = format!("{kind} {name}");
        equal(&what, lock(&summary, name, kind), (count, failed))?;
    }
    for (kind, object, count) in [
        ("condition variable", "cond", 3),
        ("condition variable", "never", 1),
        ("thread barrier", "barrier", 2),
        ("semaphore", "sem", 6),
        ("semaphore", "ready", 1),
        ("once", "once", 1),
    ] {
        equal(object, waits(&summary, kind, object), count)?;
    }
    equal("joins", waits_of(&summary, "join"), 9)?;
    equal("threads", list(&summary, "threads").len(), 9)?;
    equal("births", born(&summary).len(), 8)?;
    equal("not made", &summary["threads_not_made"], &Value::from(1))?;
    let named = list(&summary, "threads").iter();
    let named = named.filter(|thread| thread["name"] == "busy one");
    let named: Vec<_> = named.map(|t| &t["birth"]["function"]["function"]).collect();
    equal("the thread with a name", named, vec![&Value::from("busy")])?;
    let children = list(&summary, "children");
    equal("children", children.len(), 1)?;
    // Of the lock that was held at the fork the child knows its own acquisition.
    equal("child", lock(&children[0], "forked", "mutex"), (1, 0))?;
    cases::paraver(&program.trace(), Default::default())?;
    Ok(())
}

/// Within two parts in a hundred.
fn near(what: &str, found: &Value, wanted: f64) -> Check {
    let found = found.as_f64().unwrap_or(-1.0);
    ensure((found - wanted).abs() <= 0.02 * wanted, || {
        format!("{what}: {found} ns, the program says {wanted}")
    })
}

/// What a program prints.
fn numbers(outcome: &Outcome) -> Vec<f64> {
    let text = outcome.text();
    let numbers = text.split_whitespace().filter_map(|n| n.parse().ok());
    numbers.collect()
}

fn known_times(way: Way) -> Check {
    let program = program("known.c", way, false)?;
    let outcome = program.run("all")?.succeed()?;
    let own = numbers(&outcome);
    let [a_holds, b_waits, b_holds, c_waits, joins] = own[..] else {
        return Err(format!("not five numbers: {own:?}").into());
    };
    let summary = sound(&program.trace())?;
    let locks = list(&summary, "criticals");
    let lock = locks.iter().find(|lock| lock["name"] == "lock");
    let lock = lock.ok_or("no lock")?;
    equal("contended", &lock["contended"], &Value::from(1))?;
    near("wait", &lock["wait_ns"], b_waits)?;
    near("holds", &lock["held_ns"], a_holds + b_holds)?;
    for (function, field, wanted) in [
        ("a", "held_ns", a_holds),
        ("b", "held_ns", b_holds),
        ("b", "wait_ns", b_waits),
    ] {
        let mut calls = list(lock, "calls").iter();
        let call = calls.find(|call| call["function"] == function);
        let call = call.ok_or("no such call")?;
        near(function, &call[field], wanted)?;
        let file = call["file"].as_str().unwrap_or_default();
        ensure(file.ends_with("known.c") && call["line"].is_u64(), || {
            format!("no place: {call}")
        })?;
    }
    let waits = list(&summary, "waits");
    let condition = waits.iter().find(|wait| wait["object"] == "cond");
    near(
        "condition",
        &condition.ok_or("no condition")?["total_ns"],
        c_waits,
    )?;
    let syncs = list(&summary, "syncs");
    let join = syncs.iter().find(|sync| sync["kind"] == "join");
    near("joins", &join.ok_or("no joins")?["total_ns"], joins)?;
    for name in ["a", "b", "c"] {
        let of = |thread: &&&Value| thread["birth"]["function"]["function"] == name;
        let threads = born(&summary);
        let thread = threads.iter().find(of).ok_or("a thread is missing")?;
        equal("creator", &thread["birth"]["creator"], &Value::from(0))?;
        let call = &thread["birth"]["call"]["function"];
        equal("made by", call, &Value::from("main"))?;
    }
    cases::paraver(&program.trace(), Default::default())?;
    Ok(())
}

/// Threads are cancelled, or the process ends, while they wait.
fn unended(way: Way) -> Check {
    let program = program("unended.c", way, false)?;
    let outcome = program.run("all")?.succeed()?;
    let own = numbers(&outcome);
    let [condition, semaphore, lock] = own[..] else {
        return Err(format!("not three numbers: {own:?}").into());
    };
    let summary = sound(&program.trace())?;
    for (object, wanted) in [("cond", condition), ("sem", semaphore)] {
        let mut waits = list(&summary, "waits").iter();
        let wait = waits.find(|wait| wait["object"] == object);
        let wait = wait.ok_or_else(|| format!("nobody waits for {object}: {summary:#}"))?;
        equal(object, &wait["count"], &Value::from(1))?;
        near(object, &wait["total_ns"], wanted)?;
    }
    let mut locks = list(&summary, "criticals").iter();
    let found = locks.find(|found| found["name"] == "lock");
    near("lock", &found.ok_or("no lock")?["wait_ns"], lock)
}

/// Of each mutex that the kernel has a part in, one of three acquisitions has to wait.
fn untried(way: Way) -> Check {
    let program = program("untried.c", way, false)?;
    for level in ["waits", "all"] {
        let outcome = program.run(level)?.succeed()?;
        let own = numbers(&outcome);
        let summary = sound(&program.trace())?;
        let names = ["robust", "inherits", "both"];
        equal("numbers", own.len(), names.len())?;
        for (name, waited) in names.into_iter().zip(own) {
            let mut locks = list(&summary, "criticals").iter();
            let lock = locks.find(|lock| lock["name"] == name);
            let lock = lock.ok_or_else(|| format!("no {name}: {summary:#}"))?;
            equal(name, &lock["count"], &Value::from(3))?;
            equal(name, &lock["contended"], &Value::from(1))?;
            near(name, &lock["wait_max_ns"], waited)?;
        }
        std::fs::remove_dir_all(program.trace())?;
    }
    Ok(())
}

fn c11(way: Way) -> Check {
    let program = program("c11.c", way, false)?;
    let summary = program.summary()?;
    // Existing programs are recorded from their first thread on: then main has taken the lock, and waited once.
    let before = u64::from(matches!(way, Preload(_)));
    let conditions = waits(&summary, "condition variable", "cond");
    let (count, failed) = lock(&summary, "lock", "mutex");
    equal("failed", failed, 0)?;
    // A wait for the condition takes the lock again.
    equal("lock", count + before, 4 * 51 + 1 + conditions)?;
    ensure((1..=5).contains(&(conditions + before)), || {
        format!("{conditions} waits for a condition")
    })?;
    equal("timed", lock(&summary, "timed", "mutex"), (1, 2))?;
    equal("joins", waits_of(&summary, "join"), 4)?;
    equal("births", born(&summary).len(), 4)
}

fn cxx(way: Way) -> Check {
    let program = program("cxx.cc", way, false)?;
    let summary = program.summary()?;
    let name = "lock";
    let locks = list(&summary, "criticals").iter();
    let of = locks.filter(|lock| lock["name"].as_str().is_some_and(|n| n.ends_with(name)));
    let count: u64 = of.filter_map(|lock| lock["count"].as_u64()).sum();
    let all = list(&summary, "waits").iter();
    let conditions = all.filter(|wait| wait["kind"] == "condition variable");
    let conditions: u64 = conditions.filter_map(|wait| wait["count"].as_u64()).sum();
    equal("births", born(&summary).len(), 3 + 1 + 2)?;
    equal("lock", count, 300 + 1 + 1 + conditions)?;
    // Three of them, the one that waits, and those that std::async made.
    let threads = list(&summary, "waits").iter();
    let joined = |wait: &&Value| {
        let object = wait["object"].as_str().unwrap_or_default();
        wait["kind"] == "join" && object.starts_with("thread ")
    };
    let joins: u64 = threads
        .filter(joined)
        .filter_map(|wait| wait["count"].as_u64())
        .sum();
    equal("joins", joins, 6)?;
    equal("waits with an end", waits_of(&summary, "future"), 4)
}

/// Three workers of TBB, main and a thread of the program's own: what they lock is the program's, whichever way it is traced; where the workers come from is
/// seen by interposition alone, as the library that makes them is linked by somebody else.
fn tbb(way: Way) -> Check {
    if !Path::new("/usr/include/tbb/task_arena.h").is_file() {
        return Err(Stop::Skip("libtbb-dev is not installed".into()));
    }
    let program = program("tbb.cc", way, false)?;
    let plain = program.run_plain().succeed()?.text();
    let sum = (0..400).sum::<i32>() + 3 * 1000;
    equal("the program", plain.trim(), &*format!("4 {sum}"))?;
    let summary = program.summary()?;
    let locks = list(&summary, "criticals").iter();
    let named = |lock: &&Value| {
        let name = lock["name"].as_str().unwrap_or_default();
        name == "lock" && lock["kind"] == "mutex"
    };
    let count: Vec<_> = locks.filter(named).map(|lock| &lock["count"]).collect();
    equal("lock", count, vec![&Value::from(400 + 3)])?;
    equal("threads", list(&summary, "threads").len(), 5)?;
    equal("joins", waits_of(&summary, "join"), 1)?;
    let workers = match way {
        Preload(_) => 3,
        Wrap(..) => 0,
    };
    equal("threads with a birth", born(&summary).len(), workers + 1)?;
    if workers == 0 {
        return Ok(());
    }
    // Each worker waited for work, and was on a processor; by the kernel's own part.
    let instr = Run::new(&tools()?.instr).args(["processors", "--json"]);
    let found = instr.arg(program.trace()).succeed()?;
    let found: Value = serde_json::from_str(&found.text()).map_err(|e| e.to_string())?;
    if found["recorded"] != "tree" {
        return Err(Stop::NotAllowed("context switches of others".into()));
    }
    let process = &list(&found["applications"][0], "processes")[0];
    let threads = list(process, "threads");
    equal("threads by the kernel", threads.len(), 5)?;
    for thread in threads {
        let ran = thread["on_processor_ns"].as_u64().unwrap_or(0);
        ensure(ran > 0, || format!("it never ran: {thread}"))?;
    }
    // Who does not come last waits for the others.
    let waited = threads.iter().filter(|thread| thread["voluntary"] != 0);
    ensure(waited.count() >= 3, || format!("{threads:#?}"))?;
    Ok(())
}

fn with_openmp(way: Way) -> Check {
    let program = program("both.c", way, true)?;
    let summary = program.summary()?;
    equal("lock", lock(&summary, "lock", "mutex"), (40, 0))?;
    // Threads that the OpenMP library makes are told by its constructs.
    equal("births", born(&summary).len(), 2)?;
    let mutexes = list(&summary, "criticals").iter();
    let mutexes = mutexes.filter(|lock| lock["kind"] == "mutex" && lock["name"] != "object_mutex");
    equal("other mutexes", mutexes.count(), 1)?;
    let regions = list(&summary, "parallel_regions").iter();
    let regions: u64 = regions.filter_map(|region| region["count"].as_u64()).sum();
    equal("regions", regions, 2)?;
    equal("joins", waits_of(&summary, "join"), 2)
}

fn simple(way: Way) -> Check {
    let program = program("simple.c", way, false)?;
    let summary = program.summary()?;
    let conditions = waits(&summary, "condition variable", "cond");
    let (count, _) = lock(&summary, "lock", "mutex");
    equal("lock", count, 3 * 21 + 1 + conditions)?;
    equal("births", born(&summary).len(), 3)?;
    equal("joins", waits_of(&summary, "join"), 3)
}

/// Each level has what it says, and nothing else.
fn levels() -> Check {
    for (_, way) in WAYS {
        let program = program("known.c", way, false)?;
        for (level, births, contended, free) in [
            ("off", 0, 0, 0),
            ("threads", 3, 0, 0),
            ("waits", 3, 1, 0),
            ("all", 3, 1, 1),
        ] {
            let what = format!("{way:?}, {level}");
            program.run(level)?.succeed()?;
            let Ok(summary) = sound(&program.trace()) else {
                equal(&what, level, "off")?; // nothing is recorded: there is no trace
                continue;
            };
            equal(&what, born(&summary).len(), births)?;
            let locks = list(&summary, "criticals");
            let lock = locks.iter().find(|lock| lock["name"] == "lock");
            let number = |field: &str| lock.and_then(|l| l[field].as_u64()).unwrap_or(0);
            let found = (number("contended"), number("count") - number("contended"));
            equal(&what, found, (contended, free))?;
            let joins = waits_of(&summary, "join");
            equal(&what, joins, if contended > 0 { 3 } else { 0 })?;
            equal(&what, number("held_ns") > 0, level == "all")?;
            std::fs::remove_dir_all(program.trace())?;
        }
    }
    Ok(())
}

/// Of an existing program without threads no lock is recorded, whatever else `instr run` records of it.
fn before_the_first() -> Check {
    let dir = workspace::work_dir("pthread-none")?;
    let source = dir.path().join("none.c");
    std::fs::write(
        &source,
        "#include <pthread.h>\nint main(void)\n{\n    static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n    return pthread_mutex_lock(&m) + pthread_mutex_unlock(&m);\n}\n",
    )?;
    let app = dir.path().join("none");
    let mut build = Build::openmp(Target::X86_64);
    build.flags.retain(|flag| flag != "-fopenmp");
    build.plain(&[&source], &app)?;
    let run = Run::new(&tools()?.instr).args(["run", "--"]).arg(&app);
    let run = run.env("INSTR_PTHREAD", "all").dir(dir.path());
    run.succeed()?;
    for entry in std::fs::read_dir(dir.path())? {
        let path = entry?.path();
        if path.is_dir() {
            let summary = cases::summary(&path)?;
            equal("locks", list(&summary, "criticals").len(), 0)?;
        }
    }
    Ok(())
}

/// `lock` and `unlock` of a mutex that nobody else wants: what tracing adds, and what is left of it where only waits are recorded.
const PAIRS: &str = "#include <pthread.h>\n#include <stdlib.h>\nstatic pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic void *none(void *a) { return a; }\nint main(int c, char **v)\n{\n    pthread_t t;\n    pthread_create(&t, NULL, none, NULL);\n    pthread_join(t, NULL);\n    for (long i = atol(v[c - 1]); i > 0; i--) {\n        pthread_mutex_lock(&m);\n        pthread_mutex_unlock(&m);\n    }\n    return 0;\n}\n";

/// The most instructions that a pair takes more than a plain one, by level: what GCC 12 makes, and an eighth more.
const MOST: [(&str, f64); 3] = [("all", 325.0), ("waits", 153.0), ("threads", 66.0)];

fn instructions() -> Check {
    need("valgrind")?;
    let dir = workspace::work_dir("pthread-cost")?;
    let source = dir.path().join("pairs.c");
    std::fs::write(&source, PAIRS)?;
    let mut build = Build::openmp(Target::X86_64).flag("-pthread");
    build.flags.retain(|flag| flag != "-fopenmp");
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
        let most = if is_fast { most } else { 6.0 * most };
        println!("a pair, {level}: +{added:.0} instructions, at most {most}");
        if !(0.0..=most).contains(&added) {
            found.push(format!("{level}: +{added:.0}, not up to {most}"));
        }
    }
    ensure(found.is_empty(), || found.join("\n"))
}
