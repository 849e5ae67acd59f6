//! Who ran on which processor, as `instr run` records it of any program and all that it starts: as many switches as `getrusage` counts, times as the
//! clocks of threads have them, waits that two programs made for each other, and programs that are not disturbed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("processors::times-and-switches-of-threads", || coarse(None)),
        trial("processors::switches-of-many-processes", || forks(None)),
        trial("processors::two-threads-share-a-processor", || {
            threads(None)
        }),
        trial("processors::two-programs-share-a-processor", programs),
        trial("processors::the-whole-system", || system(None)),
        trial("processors::texts-end-packets", texts_last),
        trial("processors::names-of-a-tree", || tree(None)),
        trial("processors::times-and-switches-by-perf", || {
            coarse(Some("perf"))
        }),
        trial("processors::many-processes-by-perf", || forks(Some("perf"))),
        trial("processors::two-threads-by-perf", || threads(Some("perf"))),
        trial("processors::the-whole-system-by-perf", || {
            system(Some("perf"))
        }),
        trial("processors::names-of-a-tree-by-perf", || tree(Some("perf"))),
        trial("processors::ways-to-end", ends),
        trial("processors::a-daemon-lives-on", daemon),
        trial("processors::what-is-ignored-stays-ignored", ignored),
        trial("processors::folders-of-others-are-refused", open_folders),
        trial("processors::a-system-that-cannot-be-recorded", unheard),
        trial("processors::limits-and-descriptors", limits),
        trial(
            "processors::output-and-status-are-the-programs",
            same_output,
        ),
        trial("processors::runs-have-numbers", runs),
        trial("processors::beside-the-programs-own-trace", beside),
        trial("processors::in-place-of-the-threads-own", by_region),
        trial("processors::where-perf-is-refused", refused),
        trial("processors::other-outputs", outputs),
    ]
}

/// babeltrace2 reads texts of any length also where one is the last event of its packet, or of the stream.
fn texts_last() -> Check {
    use instr_trace::kernel::{Info, Record, ThreadId, What, Writer, write_info};
    const UUID: [u8; 16] = [1; 16];
    let dir = workspace::work_dir("processors-texts")?;
    let mut writer = Writer::new(dir.path(), UUID, 0)?;
    for length in 0..9_u32 {
        let text = Record {
            time: 1_000 + u64::from(length),
            processor: 0,
            thread: ThreadId { pid: 7, tid: 7 },
            what: What::Arguments("a".repeat(length as usize)),
        };
        writer.add(&text)?;
        writer.flush()?;
    }
    write_info(dir.path(), UUID, &Info::default())?;
    let found = ctf::read(dir.path())?;
    let is_text = |event: &ctf::Event| event.name == "arguments" && event.get("tid") == Some(7);
    let all = found.len() == 9 && found.iter().all(is_text);
    ensure(all, || format!("{found:?}"))
}

struct Place {
    dir: TempDir,
    /// `INSTR_SWITCHES`; `None`: what tells most and is permitted.
    by: Option<&'static str>,
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("processors")?;
        let source = workspace::root()?.join("tests/processors/work.c");
        let build = Build::openmp(Target::X86_64).flag("-O1").flag("-pthread");
        build.plain(&[&source], &dir.path().join("work"))?;
        Ok(Self { dir, by: None })
    }

    fn by(by: Option<&'static str>) -> Check<Self> {
        Ok(Self { by, ..Self::new()? })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn instr(&self, words: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(words);
        let run = run.dir(self.dir.path());
        Ok(match self.by {
            Some(by) => run.env("INSTR_SWITCHES", by),
            None => run,
        })
    }

    /// Runs words under `instr run`.
    fn traced(&self, words: &[&str]) -> Check<Outcome> {
        self.instr(&["run", "--"])?.args(words).output()
    }

    /// What `instr processors` says of traces.
    fn shown(&self, traces: &[&str]) -> Check<Value> {
        let outcome = self
            .instr(&["processors", "--json"])?
            .args(traces)
            .succeed()?;
        let found: Value =
            serde_json::from_str(&outcome.text()).map_err(|error| error.to_string())?;
        permitted(&found)?;
        Ok(found)
    }

    /// Runs a case of the program: what it printed, and what was recorded.
    fn run(&self, case: &str) -> Check<(BTreeMap<String, f64>, Value)> {
        let outcome = self.traced(&["./work", case])?;
        ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
        let told = told(&outcome)?;
        Ok((told, self.shown(&["work.instr"])?))
    }

    fn names(&self) -> Check<Vec<String>> {
        let entries = std::fs::read_dir(self.dir.path())?.flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<_> = names.filter(|name| name.contains("instr")).collect();
        names.sort();
        Ok(names)
    }
}

fn permitted(found: &Value) -> Check {
    match found["trouble"].as_str() {
        Some(why) if why.contains("not permitted") || why.contains("seccomp") => {
            Err(Stop::NotAllowed(format!("context switches: {why}")))
        }
        Some(why) => Err(why.to_owned().into()),
        None => Ok(()),
    }
}

fn told(outcome: &Outcome) -> Check<BTreeMap<String, f64>> {
    let text = outcome.text();
    let words = text
        .split_whitespace()
        .filter_map(|word| word.split_once('='));
    let numbers = words.map(|(name, number)| {
        let number = number.parse::<f64>().map_err(|error| error.to_string())?;
        Ok((name.to_owned(), number))
    });
    numbers.collect()
}

fn list<'a>(value: &'a Value, name: &str) -> Check<&'a Vec<Value>> {
    Ok(value[name]
        .as_array()
        .ok_or_else(|| format!("no {name} in {value}"))?)
}

fn number(value: &Value, name: &str) -> Check<f64> {
    Ok(value[name]
        .as_f64()
        .ok_or_else(|| format!("no {name} in {value}"))?)
}

/// All processes.
fn processes(found: &Value) -> Check<Vec<Value>> {
    let mut all = Vec::new();
    for application in list(found, "applications")? {
        all.extend(list(application, "processes")?.iter().cloned());
    }
    Ok(all)
}

fn thread(found: &Value, tid: f64) -> Check<Value> {
    for process in processes(found)? {
        for thread in list(&process, "threads")? {
            if number(thread, "tid")? == tid {
                return Ok(thread.clone());
            }
        }
    }
    Err(format!("no thread {tid} in {found:#}").into())
}

fn between(what: &str, found: f64, least: f64, most: f64) -> Check {
    ensure((least..=most).contains(&found), || {
        format!("{what}: {found}, expected {least} to {most}")
    })
}

/// Behind its look at the counts a thread has a few switches more: the lock of the output, the join, its end.
const BEHIND: f64 = 4.0;

/// The figures of [`interrupted`] are rounded down, ns.
pub(crate) const TICK: f64 = 2e7;

/// Time in which interrupts, or other virtual machines, had the processors while their threads stayed on them, ns: the clocks of threads leave it out.
pub(crate) fn interrupted() -> Check<f64> {
    let stat = std::fs::read_to_string("/proc/stat")?;
    let first = stat.lines().next().unwrap_or_default();
    let ticks = first.split_whitespace().skip(6).take(3);
    Ok(ticks
        .filter_map(|word| word.parse::<f64>().ok())
        .sum::<f64>()
        * 1e7)
}

fn coarse(by: Option<&'static str>) -> Check {
    let place = Place::by(by)?;
    let before = interrupted()?;
    let (told, found) = place.run("coarse")?;
    let apart = interrupted()? - before + TICK;
    between("lost", number(&found, "lost")?, 0.0, 0.0)?;
    for at in ["0", "1"] {
        let of = |name: &str| told[&format!("{name}{at}")];
        let thread = thread(&found, of("tid"))?;
        let on = number(&thread, "on_processor_ns")?;
        let known = of("cpu");
        between("on a processor", on, known * 0.99, known * 1.01 + apart)?;
        for name in ["voluntary", "involuntary"] {
            // The first thread ran before its exec, in the launcher's program.
            between(
                name,
                number(&thread, name)?,
                of(name) - 4.0,
                of(name) + BEHIND,
            )?;
        }
        let parts = ["on_processor_ns", "ready_ns", "blocked_ns", "unknown_ns"];
        let mut sum = 0.0;
        for part in parts {
            sum += number(&thread, part)?;
        }
        let life = number(&thread, "end_ns")? - number(&thread, "begin_ns")?;
        between("the parts of its life", sum, life, life)?;
    }
    Ok(())
}

/// A process that ends waits a last time, for ever, when its events are gone; and it wakes its parent before, which may take its processor.
fn forks(by: Option<&'static str>) -> Check {
    let (told, found) = Place::by(by)?.run("forks")?;
    let all = processes(&found)?;
    ensure(all.len() == 201, || format!("{} processes", all.len()))?;
    let times = &list(&found, "applications")?[0];
    let voluntary = number(times, "voluntary")?;
    let known = told["seen_voluntary"];
    between("voluntary", voluntary, known - BEHIND, known + BEHIND)?;
    let involuntary = number(times, "involuntary")?;
    let known = told["seen_involuntary"];
    between(
        "involuntary",
        involuntary,
        known - BEHIND,
        known + 200.0 + BEHIND,
    )?;
    let ended = all.iter().filter(|process| process["end_ns"].is_u64());
    ensure(ended.count() == 201, || "some have no end".to_owned())
}

/// The time that `waited` waited while `ran` ran, and how often that took the processor.
fn interference(found: &Value, waited: f64, ran: f64) -> Check<(f64, f64)> {
    for pair in list(found, "interference")? {
        let is = |who: &Value, tid: f64| who["tid"].as_f64() == Some(tid);
        if is(&pair["waited"], waited) && is(&pair["ran"], ran) {
            return Ok((number(pair, "ns")?, number(pair, "times")?));
        }
    }
    Err(format!(
        "{waited} did not wait for {ran}: {:#}",
        found["interference"]
    )
    .into())
}

fn threads(by: Option<&'static str>) -> Check {
    let place = Place::by(by)?;
    let before = interrupted()?;
    let (told, found) = place.run("threads")?;
    let apart = interrupted()? - before + TICK;
    for (one, other) in [("0", "1"), ("1", "0")] {
        let tid = |at: &str| told[&format!("tid{at}")];
        let (ns, times) = interference(&found, tid(one), tid(other))?;
        let known = told[&format!("other{one}")];
        between(
            "waited while the other ran",
            ns,
            known * 0.98,
            known * 1.02 + apart,
        )?;
        between("taken", times, 1.0, 1e5)?;
    }
    Ok(())
}

/// Runs two programs at the same time.
fn at_once(
    first: impl FnOnce() -> Check<Outcome> + Send,
    second: impl FnOnce() -> Check<Outcome>,
) -> Check<(Outcome, Outcome)> {
    std::thread::scope(|scope| {
        let first = scope.spawn(first);
        let second = second()?;
        let first = first.join().map_err(|_| "the first one panicked")?;
        Ok((first?, second))
    })
}

fn programs() -> Check {
    let place = Place::new()?;
    let run = |at: &str| {
        let trace = format!("{at}.instr");
        let run = place.instr(&["run", "-o", &trace, "./work", "process", at, "shared"]);
        run?.output()
    };
    let before = interrupted()?;
    let (first, second) = at_once(|| run("0"), || run("1"))?;
    let apart = interrupted()? - before + TICK;
    let mut known = Vec::new();
    for outcome in [first, second] {
        ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
        known.push(told(&outcome)?["other"]);
    }
    let found = place.shown(&["0.instr", "1.instr"])?;
    let applications = list(&found, "applications")?;
    let pid = |at: usize| number(&applications[at], "pid");
    for (one, other) in [(0, 1), (1, 0)] {
        let (ns, _) = interference(&found, pid(one)?, pid(other)?)?;
        between("waited", ns, known[one] * 0.98, known[one] * 1.02 + apart)?;
    }
    let alone = place.shown(&["0.instr"])?;
    let others = list(&alone, "interference")?.iter();
    let others = others.filter(|pair| pair["ran"].is_null());
    let mut ns = 0.0;
    for pair in others {
        ns += number(pair, "ns")?;
    }
    // Alone, the trace does not have who ran there.
    between("others", ns, known[0] * 0.95, f64::INFINITY)
}

/// Another program that shares the processor has a name where the whole system is recorded.
fn system(by: Option<&'static str>) -> Check {
    let place = Place::by(by)?;
    let words = ["run", "--system", "-o", "t", "./work"];
    let asked = place.instr(&words)?.output()?;
    if asked.errors().contains("cannot record the whole system") {
        return Err(Stop::NotAllowed(asked.errors()));
    }
    let other = Run::words(["./work", "process", "1", "shared"]).dir(place.dir.path());
    let run = place.instr(&words)?.args(["process", "0", "shared"]);
    let before = interrupted()?;
    let (outcome, other) = at_once(|| run.output(), || other.output())?;
    let apart = interrupted()? - before + TICK;
    for outcome in [&outcome, &other] {
        ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    }
    let known = told(&outcome)?["other"];
    let pid = told(&other)?["pid"];
    let found = place.shown(&["t"])?;
    ensure(found["recorded"] == "system", || {
        found["recorded"].to_string()
    })?;
    let pairs = list(&found, "interference")?.iter();
    let mut ns = 0.0;
    for pair in pairs.filter(|pair| pair["ran"]["pid"].as_f64() == Some(pid)) {
        ensure(pair["ran"]["application"].is_null(), || pair.to_string())?;
        ns += number(pair, "ns")?;
    }
    between("waited", ns, known * 0.98, known * 1.02 + apart)?;
    let all = processes(&found)?;
    ensure(all.len() == 1, || format!("{all:#?}"))?;
    let busy = list(&found, "processors")?;
    ensure(busy.iter().all(|at| at["others_ns"].is_u64()), || {
        "no time of others".to_owned()
    })?;
    who_leaves_has_come(&place.at("t/kernel"))
}

/// A thread leaves only a processor to which it came last; the first one that leaves was there before. By perf a thread ends before it leaves.
fn who_leaves_has_come(part: &Path) -> Check {
    let mut runs: BTreeMap<i128, Option<i128>> = BTreeMap::new();
    for event in ctf::read(part)? {
        let processor = event.get("cpu_id").unwrap_or(-1);
        let thread = event.get("tid");
        let is_told = match (event.name.as_str(), runs.get(&processor).copied()) {
            ("switch_in", before) => {
                runs.insert(processor, thread);
                matches!(before, None | Some(None))
            }
            ("switch_out", before) => {
                runs.insert(processor, None);
                before.is_none_or(|before| before == thread)
            }
            ("exit", before) => {
                runs.remove(&processor);
                before.is_none_or(|before| before == thread)
            }
            _ => true,
        };
        ensure(is_told, || {
            format!("another thread was there before: {event:?}")
        })?;
    }
    Ok(())
}

fn tree(by: Option<&'static str>) -> Check {
    let place = Place::by(by)?;
    let script = "sleep 0.1 & exec sh -c './work forks > /dev/null; wait; exec sleep 0.06'";
    let outcome = place.traced(&["sh", "-c", script])?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    let trace = place.names()?;
    let found = place.shown(&[&trace[0]])?;
    let all = processes(&found)?;
    let first = &all[0];
    ensure(
        first["name"] == "sleep" && first["arguments"] == "sleep 0.06" && first["parent"].is_null(),
        || format!("{first:#}"),
    )?;
    let child = |arguments: &str| {
        let is = |process: &&Value| process["arguments"] == arguments;
        let found = all.iter().find(is);
        found.ok_or_else(|| format!("no {arguments} in {all:#?}"))
    };
    for arguments in ["sleep 0.1", "./work forks"] {
        let process = child(arguments)?;
        ensure(process["parent"] == first["pid"], || process.to_string())?;
    }
    let work = child("./work forks")?;
    let children = all.iter().filter(|one| one["parent"] == work["pid"]);
    ensure(children.count() == 200, || "not 200 children".to_owned())
}

fn ends() -> Check {
    let place = Place::new()?;
    for (words, status) in [
        (&["sh", "-c", "exit 3"][..], Status::Code(3)),
        (&["sh", "-c", "kill -SEGV $$"], Status::Signal(11)),
        // This process blocks it for its own files.
        (&["sh", "-c", "kill -XFSZ $$"], Status::Signal(25)),
        (&["./work", "kill"], Status::Signal(9)),
    ] {
        let outcome = place.traced(words)?;
        ensure(outcome.status == status, || outcome.to_string())?;
    }
    let found = place.shown(&["work.instr"])?;
    let times = &list(&found, "applications")?[0];
    between("waits", number(times, "voluntary")?, 100.0, 120.0)?;
    let missing = place.traced(&["./none"])?;
    ensure(missing.status == Status::Code(1), || missing.to_string())?;
    let names = place.names()?;
    ensure(names.iter().all(|name| !name.starts_with('.')), || {
        format!("something was left: {names:?}")
    })
}

/// Rust's start-up changes SIGPIPE; where SIGCHLD is ignored, nobody can wait for a child.
fn ignored() -> Check {
    need("python3")?;
    let place = Place::new()?;
    let instr = tools()?.instr.display().to_string();
    let start = "import os, signal, sys\n\
        for name in 'PIPE', 'CHLD', 'HUP', 'USR1', 'XFSZ':\n\
        \x20   ignored = name in sys.argv[1].split()\n\
        \x20   signal.signal(getattr(signal, 'SIG' + name), signal.SIG_IGN if ignored else signal.SIG_DFL)\n\
        os.execvp(sys.argv[2], sys.argv[2:])\n";
    for (signals, mask) in [
        ("PIPE", 1 << 12),
        ("CHLD", 1 << 16),
        ("PIPE CHLD HUP", 1 << 12 | 1 << 16 | 1),
        ("USR1", 1 << 9),
        ("", 0u64),
    ] {
        let words = [
            "python3", "-c", start, signals, &instr, "run", "-o", "t", "--",
        ];
        let run = Run::words(words).args(["grep", "SigIgn", "/proc/self/status"]);
        let outcome = run.dir(place.dir.path()).output()?;
        let text = outcome.text();
        let found = text.trim().strip_prefix("SigIgn:\t");
        let found = found.and_then(|mask| u64::from_str_radix(mask, 16).ok());
        // Whoever started the tests may ignore others.
        let found = found.map(|found| found & (1 << 12 | 1 << 16 | 1 | 1 << 9 | 1 << 24));
        ensure(
            found == Some(mask) && outcome.status == Status::Code(0),
            || format!("{signals}: {outcome}"),
        )?;
        // The recording is there.
        place.shown(&["t"])?;
    }
    Ok(())
}

/// A folder into which others may write is refused before the program runs: no trace could be put there.
fn open_folders() -> Check {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new()?;
    let folder = place.at("open");
    std::fs::create_dir(&folder)?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o775))?;
    let run = place.instr(&["run", "-o", "open", "--", "echo", "ran"])?;
    let outcome = run.output()?;
    ensure(outcome.status == Status::Code(1), || outcome.to_string())?;
    ensure(
        outcome.errors().contains("others may write") && !outcome.text().contains("ran"),
        || outcome.to_string(),
    )?;
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755))?;
    place
        .instr(&["run", "-o", "open", "--", "./work", "threads"])?
        .succeed()?;
    place.shown(&["open"])?;
    Ok(())
}

/// Where the whole system is asked for and cannot be recorded, nothing runs.
fn unheard() -> Check {
    let place = Place::new()?;
    for (name, value) in [("INSTR_ENABLED", "0"), ("INSTR_SINK", "ram")] {
        let run = place.instr(&["run", "--system", "--", "echo", "ran"])?;
        let outcome = run.env(name, value).output()?;
        ensure(
            outcome.status == Status::Code(1) && !outcome.text().contains("ran"),
            || format!("{name}: {outcome}"),
        )?;
        ensure(outcome.errors().contains("whole system"), || {
            outcome.to_string()
        })?;
    }
    Ok(())
}

fn daemon() -> Check {
    let place = Place::new()?;
    let begin = std::time::Instant::now();
    let (_, found) = place.run("daemon")?;
    ensure(begin.elapsed().as_secs_f64() < 2.5, || {
        format!("it waited for the daemon: {:?}", begin.elapsed())
    })?;
    let all = processes(&found)?;
    let ends: Vec<bool> = all
        .iter()
        .map(|process| process["end_ns"].is_null())
        .collect();
    ensure(ends == [false, true], || format!("{all:#?}"))
}

fn limits() -> Check {
    let place = Place::new()?;
    let outcome = place.traced(&["./work", "close"])?;
    ensure(outcome.text() == "closed\n", || outcome.to_string())?;
    let found = place.shown(&["work.instr"])?;
    let times = &list(&found, "applications")?[0];
    between("waits", number(times, "voluntary")?, 100.0, 120.0)?;
    let instr = tools()?.instr.display().to_string();
    for limit in ["-n 4", "-f 0", "-l 0", "-v 2000000"] {
        let script = format!("ulimit {limit}; exec {instr} run -- sh -c 'ulimit -n; exit 5'");
        let run = Run::words(["sh", "-c", &script]).dir(place.dir.path());
        let outcome = run.output()?;
        ensure(
            outcome.status == Status::Code(5) && !outcome.text().is_empty(),
            || format!("{limit}: {outcome}"),
        )?;
    }
    // Of the launcher nothing is in the program: its descriptors are the three that it was given, and the folder that is read.
    let list = |run: Run| Ok::<_, Stop>(run.dir(place.dir.path()).succeed()?.text());
    let shell = [
        "sh",
        "-c",
        "ls /proc/self/fd | wc -l; grep -c perf /proc/self/maps; true",
    ];
    let plain = list(Run::words(shell))?;
    let traced = list(place.instr(&["run", "-q", "--"])?.args(shell))?;
    ensure(plain == traced, || format!("{plain} {traced}"))
}

fn same_output() -> Check {
    let place = Place::new()?;
    let makefile = "all: a b c\n%: \n\t@echo $@ > $@; sleep 0.02; cat $@\n";
    std::fs::write(place.at("Makefile"), makefile)?;
    std::fs::write(place.at("data"), "much of the same\n".repeat(200_000))?;
    let ways: [&[&str]; 4] = [
        &["xz", "-T2", "-c", "data"],
        &["make", "-s", "-j2"],
        &[
            "python3",
            "-c",
            "import subprocess; print(subprocess.check_output(['echo', 'x']))",
        ],
        &["sh", "-c", "cat; echo error >&2; exit 3"],
    ];
    for words in ways {
        if need(words[0]).is_err() {
            continue; // what is there is enough
        }
        let output = |run: Run| -> Check<Outcome> {
            for name in ["a", "b", "c"] {
                let _ = std::fs::remove_file(place.at(name));
            }
            run.dir(place.dir.path()).output()
        };
        let plain = output(Run::words(words))?;
        let traced = output(place.instr(&["run", "-q", "--"])?.args(words))?;
        ensure(
            plain.status == traced.status
                && sorted(&plain.text()) == sorted(&traced.text())
                && plain.errors() == traced.errors(),
            || format!("{words:?}: {plain}\n{traced}"),
        )?;
    }
    Ok(())
}

/// Parallel jobs print in any order.
fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn runs() -> Check {
    let place = Place::new()?;
    for _ in 0..3 {
        place.traced(&["./work"])?;
    }
    let keep = place.instr(&["run", "--", "./work"])?;
    keep.env("INSTR_KEEP", "1").succeed()?;
    let names = place.names()?;
    ensure(names == ["work.instr", "work.instr.3"], || {
        format!("{names:?}")
    })?;
    let listed = place.instr(&["list", "--json"])?.succeed()?.text();
    let listed: Value = serde_json::from_str(&listed).map_err(|error| error.to_string())?;
    ensure(listed[0]["run"] == 4 && listed[1]["run"] == 3, || {
        listed.to_string()
    })?;
    place
        .instr(&["run", "--", "./work"])?
        .env("INSTR_SWITCHES", "0")
        .succeed()?;
    ensure(place.names()?.len() == 2, || "it was recorded".to_owned())
}

const OPENMP: &str = "#include <stdio.h>\nint main(int argc, char **argv)\n{\n    int sum = 0;\n    (void)argv;\n    if (argc < 2)\n        return 0;\n#pragma omp parallel num_threads(2) reduction(+ : sum)\n    sum += 1;\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n";

/// The recording is in the trace that the program left, and the runtime takes it for a part of a trace: a later run renames it, and replaces it.
fn beside() -> Check {
    let place = Place::new()?;
    std::fs::write(place.at("omp.c"), OPENMP)?;
    let build = Build::openmp(Target::X86_64);
    build.traced(&[&place.at("omp.c")], &place.at("omp"))?;
    place.traced(&["sh", "-c", "exec ./omp 1"])?;
    let names = place.names()?;
    ensure(names == ["omp.instr"], || format!("{names:?}"))?;
    let found = place.shown(&["omp.instr"])?;
    let pid = list(&found, "applications")?[0]["pid"].clone();
    let summary = instr_tests::cases::summary(&place.at("omp.instr"))?;
    ensure(
        summary["pid"] == pid && summary["core_allocation"].is_object(),
        || format!("{pid} {}", summary["pid"]),
    )?;
    let bare = |keep: &str| {
        let run = Run::words(["./omp", "1"]).dir(place.dir.path());
        run.env("INSTR_KEEP", keep).succeed()
    };
    bare("8")?;
    ensure(place.at("omp.instr.1/kernel/metadata").exists(), || {
        "the run before is not there as a whole".to_owned()
    })?;
    place.traced(&["./omp", "1"])?;
    bare("1")?;
    let names = place.names()?;
    ensure(names == ["omp.instr", "omp.instr.3"], || {
        format!("{names:?}")
    })?;
    bare("0")?;
    ensure(!place.at("omp.instr/kernel").exists(), || {
        "what was recorded of another run stayed".to_owned()
    })?;
    // A trace that only the launcher wrote is an earlier run of the program, too.
    build.plain(&[&place.at("omp.c")], &place.at("plain"))?;
    place.traced(&["./plain", "1"])?;
    let outcome = place.traced(&["./plain"])?;
    ensure(
        outcome
            .errors()
            .contains("the trace before it stays plain.instr")
            && outcome.errors().contains("plain recorded nothing itself"),
        || outcome.to_string(),
    )?;
    let shown = place.shown(&["plain.empty"])?;
    ensure(list(&shown, "applications")?[0]["arguments"] == "", || {
        shown.to_string()
    })?;
    place.traced(&["./omp"])?;
    bare("8")?;
    let names = place.names()?;
    ensure(names.iter().all(|name| !name.contains("-2")), || {
        format!("{names:?}")
    })
}

/// What regions waited for comes from the launcher's records: the threads have none of their own beside them.
fn by_region() -> Check {
    let place = Place::new()?;
    let source = workspace::root()?.join("tests/switches/switches.c");
    let build = Build::openmp(Target::X86_64).flag("-O1");
    build.traced(&[&source], &place.at("switches"))?;
    let run = |policy: &str| -> Check<(BTreeMap<String, f64>, Value)> {
        let run = place.instr(&["run", "-o", policy, "./switches", "sleep"])?;
        let run = run
            .env("INSTR_POLICY", policy)
            .env("OMP_WAIT_POLICY", "passive");
        let told = told(&run.succeed()?)?;
        Ok((told, instr_tests::cases::summary(&place.at(policy))?))
    };
    for policy in ["stream", "end"] {
        let (told, summary) = run(policy)?;
        permitted(&summary["core_allocation"])?;
        let recorder = summary["core_allocation"]["recorder"].as_str();
        let source = format!("{}, by instr run", recorder.unwrap_or("nothing"));
        let own = std::fs::read_dir(place.at(policy))?.flatten();
        let own = own.filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("switches_")
        });
        ensure(own.count() == 0, || {
            "the threads record switches, too".into()
        })?;
        ensure(summary["switches"] == source, || {
            summary["switches"].to_string()
        })?;
        let mut places = list(&summary, "scheduling")?.iter();
        let is_region = |place: &&Value| {
            let label = place["label"].as_str();
            label.is_some_and(|label| label.contains("omp parallel"))
        };
        let region = places.find(is_region).ok_or("no region")?;
        let known = told["voluntary"];
        between(
            "blocked",
            number(region, "blocked")?,
            known - BEHIND,
            known + BEHIND,
        )?;
        let known = told["involuntary"];
        between(
            "preempted",
            number(region, "preempted")?,
            known - BEHIND,
            known + BEHIND,
        )?;
        between("unknown", number(region, "unknown_ns")?, 0.0, 0.0)?;
        let mut sum = 0.0;
        for part in ["running_ns", "ready_ns", "blocked_ns"] {
            sum += number(region, part)?;
        }
        between(
            "time in the region",
            sum,
            told["wall"] * 0.98 - 2e6,
            told["wall"] * 1.02 + 2e6,
        )?;
    }
    Ok(())
}

/// A filter of system calls: what is asked all the same gets no permission.
const FILTER: &str = "#include <linux/filter.h>\n#include <linux/seccomp.h>\n#include <stddef.h>\n#include <sys/prctl.h>\n#include <sys/syscall.h>\n#include <unistd.h>\nint main(int argc, char **argv)\n{\n    struct sock_filter code[] = {\n        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),\n        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),\n        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),\n        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),\n    };\n    struct sock_fprog filter = {sizeof code / sizeof code[0], code};\n    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);\n    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);\n    (void)argc;\n    execv(argv[1], argv + 1);\n    return 9;\n}\n";

fn refused() -> Check {
    let place = Place::new()?;
    std::fs::write(place.at("filter.c"), FILTER)?;
    let build = Build::openmp(Target::X86_64);
    build.plain(&[&place.at("filter.c")], &place.at("filter"))?;
    let run = |more: &[(&str, &str)], option: &[&str]| {
        let instr = tools()?.instr.display().to_string();
        let words = ["./filter", &instr, "run"].into_iter();
        let words = words
            .chain(option.iter().copied())
            .chain(["./work", "forks"]);
        let run = Run::words(words).dir(place.dir.path());
        let run = more
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value));
        run.output()
    };
    for (set, why) in [
        (&[][..], "a seccomp filter is in place"),
        (&[("INSTR_SWITCHES", "perf")][..], "perf is not permitted"),
    ] {
        let outcome = run(set, &[])?;
        ensure(
            outcome.status == Status::Code(0)
                && outcome.errors().contains(why)
                && outcome.errors().contains("not who ran where"),
            || outcome.to_string(),
        )?;
        let told = told(&outcome)?;
        let told = told["voluntary"] + told["involuntary"];
        let json = place.instr(&["processors", "--json", "work.instr"])?;
        let found: Value =
            serde_json::from_str(&json.succeed()?.text()).map_err(|error| error.to_string())?;
        ensure(found["recorded"] == "sums", || found.to_string())?;
        let counted = &list(&found, "applications")?[0]["counted"];
        let sum = number(counted, "voluntary")? + number(counted, "involuntary")?;
        between("counted", sum, told, told + BEHIND)?;
        let shown = place.instr(&["summary", "work.instr"])?.succeed()?.text();
        ensure(shown.contains("context switches were not recorded"), || {
            shown.clone()
        })?;
    }
    let outcome = run(&[("INSTR_SWITCHES", "perf")], &["--system"])?;
    ensure(
        outcome.status == Status::Code(1) && outcome.text().is_empty(),
        || outcome.to_string(),
    )
}

fn outputs() -> Check {
    let place = Place::new()?;
    let (_, found) = place.run("coarse")?;
    let events = ctf::read(&place.at("work.instr/kernel"))?;
    let counts = ctf::counts(&events);
    let times = &list(&found, "applications")?[0];
    let switches = number(times, "voluntary")? + number(times, "involuntary")?;
    let out = counts.get("switch_out").copied().unwrap_or(0);
    ensure(out as f64 == switches, || format!("{out} {switches}"))?;
    let csv = place.instr(&["processors", "work.instr", "--csv", "-"])?;
    let csv = csv.succeed()?.text();
    let mut on = 0.0;
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let field = |at: usize| fields[at].parse::<f64>().map_err(|error| error.to_string());
        ensure(fields.len() == 8, || line.to_owned())?;
        on += field(2)? - field(1)?;
    }
    let expected = number(times, "on_processor_ns")?;
    between("sum of the slices", on, expected, expected)?;
    let svg = place.instr(&["processors", "work.instr", "--svg", "-"])?;
    let svg = svg.succeed()?.text();
    ensure(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        || svg.chars().take(200).collect(),
    )?;
    for words in [
        &["summary", "work.instr", "--processors"][..],
        &["processors", "work.instr"],
    ] {
        let page = place.instr(words)?.succeed()?.text();
        ensure(
            page.contains("in use at once") && page.contains("while there ran"),
            || page.clone(),
        )?;
        let wide = page.lines().find(|line| line.chars().count() > 80);
        ensure(wide.is_none(), || format!("too wide: {wide:?}"))?;
    }
    let plain = place.instr(&["processors", "none.instr"])?.output()?;
    ensure(plain.status == Status::Code(1), || plain.to_string())
}
