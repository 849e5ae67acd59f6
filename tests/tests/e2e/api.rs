//! When a program is recorded, as it says itself by `instr_start` and `instr_stop`: exactly what lies between them, however the program is linked.

use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("api::dynamic-program", || linked(&[])),
        trial("api::static-program", || linked(&["-static"])),
        trial("api::shared-library", library),
        trial("api::under-instr-run", under_run),
        trial("api::without-a-tool", without),
        trial("api::settings-at-the-start", settings),
        trial("api::settings-that-are-refused", refused),
        trial("api::from-many-threads", hammer),
        trial("api::nothing-in-a-pause", pause),
        trial("api::children-begin-for-themselves", children),
    ]
}

/// What `pairs 4 10 7` has between start and stop: 4 pairs of 10 events on 2 threads.
const ARGUMENTS: [&str; 3] = ["4", "10", "7"];
const INSIDE: i128 = 4 * 10 * 2;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(name: &str) -> Check<Self> {
        let dir = workspace::work_dir(&format!("api-{name}"))?;
        Ok(Self { dir })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A program of tests/api, built by `instr-cc`.
    fn traced(&self, name: &str, flags: &[&str]) -> Check<PathBuf> {
        let program = self.at(name);
        build(flags).traced(&[&source(name)?], &program)?;
        Ok(program)
    }

    /// The same by the compiler alone.
    fn plain(&self, name: &str, flags: &[&str]) -> Check<PathBuf> {
        let program = self.at(name);
        let include = format!("-I{}", workspace::root()?.join("runtime/include").display());
        let build = build(flags).flag(include);
        build.plain(&[&source(name)?], &program)?;
        Ok(program)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Run {
        Run::new(program).args(arguments).dir(self.dir.path())
    }

    fn under_run(&self, program: &Path, arguments: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(["run", "--"]).arg(program);
        Ok(run.args(arguments).dir(self.dir.path()))
    }

    /// Nothing but what lies inside was recorded, without losses.
    fn judge(&self, trace: &str) -> Check {
        let events = ctf::read(&self.at(trace))?;
        for (subject, expected) in [
            ("user_event", INSIDE),
            ("user_event{type=5}", INSIDE),
            ("user_event{type=5,value=10}", INSIDE / 10),
            ("region_begin", INSIDE),
            ("region_end", INSIDE),
            ("tracing_on", 3),
        ] {
            equal(subject, &ctf::count(&events, subject)?, &expected)?;
        }
        Ok(())
    }
}

fn source(name: &str) -> Check<PathBuf> {
    Ok(workspace::root()?
        .join("tests/api")
        .join(name)
        .with_extension("c"))
}

fn build(flags: &[&str]) -> Build {
    let build = Build::openmp(Target::X86_64).flag("-O1");
    flags.iter().fold(build, |build, flag| build.flag(*flag))
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Check {
    ensure(found == expected, || {
        format!("{what}: {found:?}, expected {expected:?}")
    })
}

fn said(outcome: &Outcome, text: &str) -> Check {
    ensure(outcome.text() == text, || {
        format!("expected {text:?} of\n{outcome}")
    })
}

fn linked(flags: &[&str]) -> Check {
    let place = Place::new("linked")?;
    let program = place.traced("pairs", flags)?;
    let run = place.run(&program, &ARGUMENTS).env("INSTR_PAUSED", "1");
    said(&run.succeed()?, "started 0 stopped 0\n")?;
    place.judge("pairs.instr")?;
    // A program that never starts leaves nothing, and nothing changes without the setting but that the first events are seen.
    std::fs::remove_dir_all(place.at("pairs.instr"))?;
    let never = place.run(&program, &["0", "1", "5"]);
    never.env("INSTR_PAUSED", "1").succeed()?;
    ensure(!place.at("pairs.instr").exists(), || "a trace".into())?;
    place.run(&program, &ARGUMENTS).succeed()?;
    let events = ctf::read(&place.at("pairs.instr"))?;
    equal(
        "before the first start",
        &ctf::count(&events, "user_event{type=6}")?,
        &7,
    )?;
    equal(
        "inside",
        &ctf::count(&events, "user_event{type=5}")?,
        &INSIDE,
    )
}

/// The calls are in a library that `instr-cc` linked; the program is plain, so that the runtime comes with the library.
fn library() -> Check {
    let place = Place::new("library")?;
    let flags = ["-fPIC", "-shared", "-Dmain=pairs"];
    let build = build(&flags);
    build.traced(&[&source("pairs")?], &place.at("libpairs.so"))?;
    let host =
        "int pairs(int, char **);\nint main(int argc, char **argv) { return pairs(argc, argv); }\n";
    std::fs::write(place.at("host.c"), host)?;
    let folder = place.dir.path().display();
    let link = format!("gcc host.c -o host -L{folder} -lpairs -Wl,-rpath,{folder}");
    Run::words(link.split(' '))
        .dir(place.dir.path())
        .succeed()?;
    let run = place.run(&place.at("host"), &ARGUMENTS);
    let outcome = run.env("INSTR_PAUSED", "1").succeed()?;
    said(&outcome, "started 0 stopped 0\n")?;
    place.judge("host.instr")
}

/// A plain program whose calls look for the runtime, and one whose objects are of `instr-cc` and whose link is not: weak references.
fn under_run() -> Check {
    let place = Place::new("under-run")?;
    let program = place.plain("pairs", &["-DINSTR_DYNAMIC"])?;
    let run = place.under_run(&program, &ARGUMENTS)?;
    let outcome = run.env("INSTR_PAUSED", "1").succeed()?;
    said(&outcome, "started 0 stopped 0\n")?;
    place.judge("pairs.instr")?;
    std::fs::remove_dir_all(place.at("pairs.instr"))?;
    place.plain("pairs", &["-D__INSTR__=1", "-fPIC"])?;
    let run = place.under_run(&program, &ARGUMENTS)?;
    let outcome = run.env("INSTR_PAUSED", "1").succeed()?;
    said(&outcome, "started 0 stopped 0\n")?;
    place.judge("pairs.instr")
}

/// Without a runtime, and where recording is switched off, calls do nothing, and say so: 8 calls of `instr_start` returned -1.
fn without() -> Check {
    let place = Place::new("without")?;
    for flags in [
        &[][..],
        &["-DINSTR_DYNAMIC"],
        &["-DINSTR_DYNAMIC", "-static"],
        &["-D__INSTR__=1"],
    ] {
        let program = place.plain("pairs", flags)?;
        said(
            &place.run(&program, &ARGUMENTS).succeed()?,
            "started -8 stopped 0\n",
        )?;
    }
    let program = place.traced("pairs", &[])?;
    for paused in ["0", "1"] {
        let run = place
            .run(&program, &ARGUMENTS)
            .env("INSTR_ENABLED", "0")
            .env("INSTR_PAUSED", paused);
        said(&run.succeed()?, "started -8 stopped 0\n")?;
    }
    ensure(!place.at("pairs.instr").exists(), || "a trace".into())
}

fn metadata(trace: &Path) -> Check<String> {
    Ok(std::fs::read_to_string(trace.join("metadata"))?)
}

/// The start that begins the trace may set anything that the environment has not set.
fn settings() -> Check {
    let place = Place::new("settings")?;
    let program = place.traced("pairs", &[])?;
    let config = " INSTR_BUFFER=8K;INSTR_POLICY=end \n\tINSTR_TRACE=other.instr;;";
    let arguments = ["1", "3", "0", config];
    let run = place.run(&program, &arguments).env("INSTR_PAUSED", "1");
    said(&run.succeed()?, "started 0 stopped 0\n")?;
    let text = metadata(&place.at("other.instr"))?;
    for part in ["buffer_bytes = 8192;", "policy = \"end\";"] {
        ensure(text.contains(part), || format!("{part}: {text}"))?;
    }
    ensure(!text.contains("setting_trouble"), || text)?;
    equal(
        "events",
        &ctf::count(&ctf::read(&place.at("other.instr"))?, "user_event")?,
        &6,
    )?;
    let run = place
        .run(&program, &arguments)
        .env("INSTR_PAUSED", "1")
        .env("INSTR_TRACE", "mine.instr");
    run.succeed()?;
    let text = metadata(&place.at("mine.instr"))?;
    ensure(text.contains("buffer_bytes = 8192;"), || text)
}

/// One setting that is refused leaves all as it was; the trace says which, and why.
fn refused() -> Check {
    let place = Place::new("refused")?;
    let program = place.traced("pairs", &[])?;
    for (config, started, why) in [
        (
            "INSTR_VERBOSE=0;INSTR_BUFFER=8K",
            -2,
            Some("instr_start: INSTR_BUFFER cannot change any more: the trace has begun"),
        ),
        (
            "INSTR_BUFER=8K",
            -2,
            Some("instr_start: INSTR_BUFER is no setting"),
        ),
        ("IN\"ST\u{1}R;", -2, Some("instr_start: IN?ST?R has no =")),
        ("INSTR_PTHREAD=off; INSTR_MEMORY=0", 0, None),
        (
            "INSTR_PTHREAD=of",
            0,
            Some("INSTR_PTHREAD is not off, threads, waits or all; the default is used"),
        ),
    ] {
        let run = place.run(&program, &["1", "2", "0", config]);
        said(&run.succeed()?, &format!("started {started} stopped 0\n"))?;
        let text = metadata(&place.at("pairs.instr"))?;
        let found = text.lines().find(|line| line.contains("setting_trouble"));
        let expected = why.map(|why| format!("    setting_trouble = \"{why}\";"));
        equal(config, &found.map(str::to_owned), &expected)?;
    }
    // Before the trace has begun: it does not begin by a start that is refused, but by the next one.
    let run = place.run(&program, &["1", "2", "5", "INSTR_NO=1"]);
    said(
        &run.env("INSTR_PAUSED", "1").succeed()?,
        "started -2 stopped 0\n",
    )?;
    let events = ctf::read(&place.at("pairs.instr"))?;
    equal("events", &ctf::count(&events, "user_event")?, &4)
}

/// Starts and stops of four threads at once, while four others record: a trace without losses, and each thread's events in their order.
fn hammer() -> Check {
    let place = Place::new("hammer")?;
    let program = place.traced("hammer", &[])?;
    for paused in ["0", "1"] {
        let run = place.run(&program, &["3000"]).env("INSTR_PAUSED", paused);
        said(&run.succeed()?, "0\n")?;
        let events = ctf::read(&place.at("hammer.instr"))?;
        equal(
            "last event",
            &ctf::count(&events, "user_event{type=7}")?,
            &1,
        )?;
        let mut last = std::collections::BTreeMap::new();
        let recorded = events
            .iter()
            .filter(|event| event.name == "user_event" && event.get("type") == Some(5));
        for event in recorded {
            let value = event.get("value").unwrap_or(0);
            let before = last.insert(event.stream, value).unwrap_or(0);
            ensure(before < value && value <= 3000, || {
                format!("{value} behind {before} on thread {}", event.stream)
            })?;
        }
    }
    Ok(())
}

/// Times of all events of a trace by babeltrace2, in ms, and their names.
fn times(trace: &Path) -> Check<Vec<(f64, String)>> {
    need("babeltrace2")?;
    let run = Run::words(["babeltrace2", "--clock-seconds", "--no-delta"]);
    let text = run.arg(trace).succeed()?.text();
    let event = |line: &str| {
        let (time, rest) = line.strip_prefix('[')?.split_once(']')?;
        let name = rest
            .split_whitespace()
            .find_map(|word| word.strip_suffix(':'))?;
        Some((time.trim().parse::<f64>().ok()? * 1e3, name.to_owned()))
    };
    let found: Vec<_> = text.lines().filter_map(event).collect();
    ensure(found.len() > 5, || text)?;
    Ok(found)
}

/// Neither events nor samples, readings of sensors or switches have times in a pause; outside there are some of each.
fn pause() -> Check {
    let place = Place::new("pause")?;
    let program = place.traced("pause", &[])?;
    let run = place
        .run(&program, &["60"])
        .env("INSTR_SAMPLING_PERIOD", "1ms")
        .env("INSTR_SENSORS", "schedstat")
        .env("INSTR_SENSORS_PERIOD", "1ms");
    let told: f64 = run
        .succeed()?
        .text()
        .trim()
        .parse()
        .map_err(|error| format!("{error}"))?;
    let events = times(&place.at("pause.instr"))?;
    let at = |name: &str| {
        let found = events.iter().find(|(_, found)| found == name);
        found
            .map(|(time, _)| *time)
            .ok_or_else(|| format!("no {name}"))
    };
    let (off, on) = (at("tracing_off")?, at("tracing_on")?);
    // Both clocks are read right beside the calls.
    ensure(on - off <= told && on - off > told * 0.9, || {
        format!("a pause of {told} ms has {} ms", on - off)
    })?;
    for name in ["sample", "sensor", "user_event"] {
        let count = |from: f64, to: f64| {
            let inside = |time: &f64| *time > from && *time < to;
            events
                .iter()
                .filter(|(time, found)| found == name && inside(time))
                .count()
        };
        equal(name, &count(off, on), &0)?;
        ensure(count(f64::MIN, off) > 0 && count(on, f64::MAX) > 0, || {
            format!("no {name} outside of the pause")
        })?;
    }
    // At its very edges stands what the system did with the thread up to there, and from there on: not known.
    let edge = 5.0;
    let all: Vec<_> = events
        .iter()
        .filter(|(time, name)| match name == "scheduled" {
            true => *time > off + edge && *time < on - edge,
            false => *time > off && *time < on,
        })
        .collect();
    ensure(all.is_empty(), || format!("in a pause: {all:?}"))
}

/// A child that was forked before the start has a trace of its own when it starts itself, and none when it does not.
fn children() -> Check {
    let place = Place::new("children")?;
    std::fs::write(place.at("fork.c"), FORK)?;
    let program = place.at("fork");
    build(&[]).traced(&[&place.at("fork.c")], &program)?;
    for (who, traces) in [("p", 1), ("c", 1), ("pc", 2), ("n", 0)] {
        let run = place.run(&program, &[who]).env("INSTR_PAUSED", "1");
        run.succeed()?;
        let mut found = 0;
        for entry in std::fs::read_dir(place.dir.path())?.flatten() {
            if entry.file_name().to_string_lossy().contains(".instr") {
                let events = ctf::read(&entry.path())?;
                equal(who, &ctf::count(&events, "user_event{type=5}")?, &1)?;
                equal(who, &ctf::count(&events, "user_event{type=6}")?, &0)?;
                std::fs::remove_dir_all(entry.path())?;
                found += 1;
            }
        }
        equal(who, &found, &traces)?;
    }
    Ok(())
}

/// The parent (`p`) or the child (`c`) starts.
const FORK: &str = "#include <instr/instr.h>\n#include <string.h>\n#include <sys/wait.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n    const char *who = argc > 1 ? argv[1] : \"\";\n\
\x20   instr_event(6, 1);\n    pid_t child = fork();\n    if (strchr(who, child == 0 ? 'c' : 'p') != NULL) {\n        if (instr_start(NULL) != 0)\n            return 1;\n        instr_event(5, 1);\n    }\n\
\x20   int status = 0;\n    if (child != 0)\n        waitpid(child, &status, 0);\n    return status != 0;\n}\n";
