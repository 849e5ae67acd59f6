//! Context switches of threads on Linux: as many as getrusage(2) counts, times as the clocks have them, in every way to begin and to end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("switches::as-many-as-getrusage-counts", as_many),
        trial("switches::two-threads-share-a-processor", shared),
        trial("switches::between-many-events", || counted("chatter", 8000)),
        trial("switches::what-the-kernel-loses-is-counted", flooded),
        trial("switches::thousands-of-short-threads", short_threads),
        trial("switches::all-descriptors-closed", || {
            counted("close", 4000)
        }),
        trial("switches::forked-children-have-their-own", forked),
        trial("switches::nothing-while-recording-is-off", stopped),
        trial("switches::off", off),
        trial("switches::a-filter-that-kills", filtered),
        trial("switches::a-filter-of-the-programs-own", late_filter),
        trial("switches::of-a-killed-program", killed),
        trial("switches::in-a-time-namespace", in_another_time),
    ]
}

struct Program {
    dir: tempfile::TempDir,
    path: PathBuf,
}

fn program() -> Check<Program> {
    let dir = workspace::work_dir("switches")?;
    let path = dir.path().join("switches");
    let source = workspace::root()?.join("tests/switches/switches.c");
    let build = Build::openmp(Target::X86_64).flag("-O1");
    build.traced(&[&source], &path)?;
    Ok(Program { dir, path })
}

impl Program {
    fn command(&self, words: &[&str], case: &str) -> Run {
        let words = words.iter().map(|word| word.to_string());
        let path = self.path.display().to_string();
        let run = Run::words(words.chain([path])).arg(case);
        run.env("INSTR_TRACE", self.dir.path().join("trace"))
            .env("OMP_WAIT_POLICY", "passive")
    }

    fn summary(&self) -> Check<Value> {
        cases::summary(&self.dir.path().join("trace"))
    }

    /// Runs a case, `words` before it: the summary, and what it printed.
    fn run(&self, words: &[&str], case: &str) -> Check<(Value, BTreeMap<String, f64>)> {
        let told = told(&self.command(words, case).succeed()?)?;
        let summary = self.summary()?;
        permitted(&summary)?;
        Ok((summary, told))
    }
}

/// `NAME=NUMBER …`
fn told(outcome: &Outcome) -> Check<BTreeMap<String, f64>> {
    let text = outcome.text();
    let words = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let numbers = words.map(|(name, number)| {
        let number = number.parse::<f64>();
        Ok((name.to_owned(), number.map_err(|error| error.to_string())?))
    });
    numbers.collect()
}

fn permitted(summary: &Value) -> Check {
    match summary["switches"].as_str() {
        Some("perf") => Ok(()),
        Some(why) if why.contains("not permit") || why.contains("seccomp") => {
            Err(Stop::NotAllowed(format!("context switches: {why}")))
        }
        other => Err(format!("context switches: {other:?}").into()),
    }
}

/// Of the region's threads: numbers of the place that has them.
fn region(summary: &Value) -> Check<&Value> {
    let places = summary["scheduling"].as_array().ok_or("no places")?;
    let is_region = |place: &&Value| {
        let label = place["label"].as_str();
        label.is_some_and(|label| label.contains("omp parallel"))
    };
    Ok(places
        .iter()
        .find(is_region)
        .ok_or_else(|| format!("no region: {places:?}"))?)
}

/// At most `most` apart.
fn near(what: &str, found: f64, expected: f64, most: f64) -> Check {
    ensure((found - expected).abs() <= most, || {
        format!("{what}: {found}, expected {expected} ± {most}")
    })
}

fn number(value: &Value, name: &str) -> Check<f64> {
    Ok(value[name]
        .as_f64()
        .ok_or_else(|| format!("no {name}: {value}"))?)
}

/// Between the threads' looks at the counts and the region's borders there may be one switch at each.
const BORDERS: f64 = 4.0;

fn counts(summary: &Value, told: &BTreeMap<String, f64>) -> Check {
    let region = region(summary)?;
    near(
        "blocked",
        number(region, "blocked")?,
        told["voluntary"],
        BORDERS,
    )?;
    near(
        "preempted",
        number(region, "preempted")?,
        told["involuntary"],
        BORDERS,
    )?;
    near("unknown time", number(region, "unknown_ns")?, 0.0, 0.0)
}

fn counted(case: &str, times: u32) -> Check {
    let (summary, told) = program()?.run(&[], case)?;
    // A sleep that is over before it begins is none.
    ensure(told["voluntary"] >= 0.9 * f64::from(2 * times), || {
        format!("{told:?}")
    })?;
    counts(&summary, &told)?;
    ensure(summary["discarded"] == 0, || {
        format!("{} events lost", summary["discarded"])
    })
}

/// Of so many sleeps each is a switch, and they take the time that they took.
fn as_many() -> Check {
    counted("sleep", 200)?;
    let (summary, told) = program()?.run(&[], "sleep")?;
    let region = region(&summary)?;
    let whole = ["running_ns", "ready_ns", "blocked_ns", "unknown_ns"];
    let parts: Check<Vec<f64>> = whole.iter().map(|name| number(region, name)).collect();
    let sum: f64 = parts?.iter().sum();
    near("time in the region", sum, told["wall"], 2e6 + 0.01 * sum)?;
    let asleep = number(region, "blocked_ns")?;
    ensure(asleep >= 2.0 * 200.0 * 500e3, || {
        format!("asleep for {asleep} ns")
    })?;
    let places = summary["verdict"]["region"].as_str().unwrap_or_default();
    ensure(
        summary["verdict"]["kind"] != "sleeping" || places.contains("omp parallel"),
        || summary["verdict"].to_string(),
    )
}

/// Both threads are ready or run for all of the time; never do both run.
fn shared() -> Check {
    need("taskset")?;
    let processor = first_processor()?;
    let (summary, told) = program()?.run(&["taskset", "-c", &processor], "spin")?;
    counts(&summary, &told)?;
    let region = region(&summary)?;
    let (running, ready) = (number(region, "running_ns")?, number(region, "ready_ns")?);
    let (used, wall) = (told["used"], told["wall"]);
    // The kernel counts a switch's own time, up to 2 us, to the thread that it comes to or from; interrupts, and what the machine below a virtual
    // one takes, are not in the thread's time, but it has the processor then.
    let switching = 2e3 * (told["voluntary"] + told["involuntary"]) + 1e6;
    ensure(
        running > 0.99 * used - switching && running < 1.15 * used + switching,
        || format!("running for {running} ns, {used} ns by the clock"),
    )?;
    near("both", running + ready, wall, 0.01 * wall + switching)?;
    ensure(running <= wall / 2.0 * 1.02 && ready >= 0.48 * wall, || {
        format!("{running} ns running and {ready} ns ready of {wall}")
    })?;
    // The kernel's own account of waiting, of each thread; it also has what a new thread waits before its record begins.
    let threads = summary["threads"].as_array().ok_or("no threads")?;
    for thread in threads {
        let waited = number(thread, "processor_wait_ns")?;
        let ready = number(&thread["scheduling"]["whole"], "ready_ns")?;
        ensure(ready <= 1.01 * waited + 2e6, || {
            format!("ready for {ready} ns, the kernel counts {waited}")
        })?;
    }
    ensure(summary["verdict"]["kind"] == "oversubscribed", || {
        summary["verdict"].to_string()
    })
}

fn first_processor() -> Check<String> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let first = list.and_then(|list| list.trim().split([',', '-']).next());
    Ok(first.ok_or("no list of processors")?.to_owned())
}

/// A ring holds 5,461 records, of which a switch has two; no event comes in which they could be taken out.
fn flooded() -> Check {
    let (summary, told) = program()?.run(&[], "flood")?;
    let threads = summary["threads"].as_array().ok_or("no threads")?;
    let (mut lost, mut seen) = (0.0, 0.0);
    for thread in threads {
        let found = &thread["scheduling"];
        lost += number(found, "lost")?;
        seen += number(found, "preempted")? + number(found, "blocked")?;
    }
    let switches = told["voluntary"] + told["involuntary"];
    if switches < 14_000.0 {
        return Ok(()); // two processors that are never idle: most bytes were there before anybody waited
    }
    ensure(lost > 0.0, || format!("{switches} switches, none lost"))?;
    // Of the last records that are lost nothing is told until the next switch, at the region's end.
    let found = seen + lost / 2.0;
    near(
        "switches seen and lost",
        found,
        switches,
        0.01 * switches + 50.0,
    )?;
    let unknown = number(region(&summary)?, "unknown_ns")?;
    ensure(unknown > 0.0, || "no time is unknown".to_owned())
}

/// Each life is shorter than it takes to record its switches.
fn short_threads() -> Check {
    let (summary, _) = program()?.run(&[], "threads")?;
    let threads = summary["threads"].as_array().ok_or("no threads")?;
    let recorded = threads.iter().filter(|t| t["scheduling"].is_object());
    let recorded = recorded.count() as f64;
    // 32, and one for some 30 us of each 1/256 of the time.
    let most = 32.0 + number(&summary, "duration_ns")? / 256.0 / 3e3;
    ensure(recorded >= 32.0 && recorded <= most, || {
        format!("{recorded} of {} threads, at most {most}", threads.len())
    })
}

fn forked() -> Check {
    let (summary, _) = program()?.run(&[], "fork")?;
    let children = summary["children"].as_array().ok_or("no children")?;
    let child = children.first().ok_or("no child")?;
    for (process, least) in [(&summary, 100.0), (child, 140.0)] {
        let blocked = number(region(process)?, "blocked")?;
        ensure(blocked >= least && blocked <= least + 60.0, || {
            format!("{blocked} sleeps, expected {least}")
        })?;
    }
    Ok(())
}

fn stopped() -> Check {
    let (summary, _) = program()?.run(&[], "stop")?;
    let found = &summary["threads"][0]["scheduling"];
    let blocked = number(found, "blocked")?;
    ensure((50.0..90.0).contains(&blocked), || {
        format!("{blocked} sleeps, expected 50")
    })?;
    let unknown = number(&found["whole"], "unknown_ns")?;
    ensure(unknown >= 100.0 * 500e3, || format!("{unknown} ns unknown"))
}

fn none_recorded(program: &Program, state: &str) -> Check {
    let summary = program.summary()?;
    let told = summary["switches"].as_str().unwrap_or_default();
    ensure(told.starts_with(state), || told.to_owned())?;
    let names = std::fs::read_dir(program.dir.path().join("trace"))?;
    for entry in names {
        let name = entry?.file_name();
        ensure(!name.to_string_lossy().starts_with("switches"), || {
            format!("{name:?} is there")
        })?;
    }
    Ok(())
}

fn off() -> Check {
    let program = program()?;
    let run = program.command(&[], "sleep").env("INSTR_SWITCHES", "0");
    run.succeed()?;
    none_recorded(&program, "off")
}

fn filtered() -> Check {
    let program = program()?;
    let run = program.command(&[], "filter");
    let run = run.arg(program.dir.path().join("trace"));
    run.env("INSTR_TRACE", program.dir.path().join("before"))
        .succeed()?;
    none_recorded(&program, "no: a seccomp filter")
}

/// The program's first thread has its record; the second begins when the filter is there.
fn late_filter() -> Check {
    let (summary, _) = program()?.run(&[], "late-filter")?;
    let threads = summary["threads"].as_array().ok_or("no threads")?;
    let recorded: Vec<bool> = threads
        .iter()
        .map(|thread| thread["scheduling"].is_object())
        .collect();
    ensure(recorded == [true, false], || format!("{recorded:?}"))
}

/// What was handed over before is in the trace.
fn killed() -> Check {
    let program = program()?;
    let outcome = program.command(&[], "kill").output()?;
    ensure(outcome.text().is_empty(), || outcome.text())?;
    let summary = program.summary()?;
    permitted(&summary)?;
    ensure(summary["closed"] == false, || "closed".to_owned())?;
    let blocked = number(region(&summary)?, "blocked")?;
    ensure(blocked > 500.0, || format!("{blocked} of 8,000 sleeps"))
}

/// Where a process sees a clock with an offset, the kernel's records have the time without it.
fn in_another_time() -> Check {
    need("unshare")?;
    let words = [
        "unshare",
        "-Ur",
        "--time",
        "--monotonic",
        "864000",
        "--boottime",
        "864000",
    ];
    let tried = Run::words(words).arg("true").output()?;
    if tried.status != Status::Code(0) {
        return Err(Stop::NotAllowed(format!(
            "no time namespace of one's own: {}",
            tried.errors().trim()
        )));
    }
    let (summary, told) = program()?.run(&words, "sleep")?;
    counts(&summary, &told)?;
    let asleep = number(region(&summary)?, "blocked_ns")?;
    ensure(
        asleep >= 2.0 * 200.0 * 500e3 && summary["truncated_streams"] == 0,
        || format!("asleep for {asleep} ns, {}", summary["truncated_streams"]),
    )
}
