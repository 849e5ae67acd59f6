//! `instr attach`: who runs where of a process that runs already, against the kernel's own accounts, and processes that cannot be recorded.

use std::path::PathBuf;
use std::process::Child;
use std::time::Duration;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("attach::times-and-switches-of-threads", times),
        trial("attach::who-computes-all-the-time", busy),
        trial("attach::ends-by-a-signal", signal),
        trial("attach::series-of-all-threads", series_of_threads),
        trial("attach::series-begin-with-the-recording", series_begin),
        trial("attach::a-stopped-process-stays-stopped", stopped),
        trial("attach::processes-that-cannot-be-recorded", refused),
    ]
}

struct Place {
    dir: TempDir,
}

/// A process that runs beside the test, and is killed with it.
struct Running {
    child: Option<Child>,
}

impl Running {
    fn start(run: &Run) -> Check<Self> {
        let child = Some(run.spawn()?);
        Ok(Self { child })
    }

    fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Its status, and what it printed to both streams.
    fn end(mut self) -> Check<(Option<i32>, String, String)> {
        let child = self.child.take().ok_or("it has ended")?;
        let ended = child.wait_with_output()?;
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        Ok((
            ended.status.code(),
            text(&ended.stdout),
            text(&ended.stderr),
        ))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Place {
    fn new() -> Check<Self> {
        let dir = workspace::work_dir("attach")?;
        let source = workspace::root()?.join("tests/api/attached.c");
        let build = Build::openmp(Target::X86_64).flag("-O1").flag("-pthread");
        build.plain(&[&source], &dir.path().join("attached"))?;
        Ok(Self { dir })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn attach(&self, pid: u32, more: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).arg("attach").arg(pid.to_string());
        Ok(run.args(more).dir(self.dir.path()))
    }

    /// What was recorded.
    fn shown(&self, trace: &str) -> Check<Value> {
        let run = Run::new(&tools()?.instr).args(["processors", "--json", trace]);
        let outcome = run.dir(self.dir.path()).succeed()?;
        let found: Value =
            serde_json::from_str(&outcome.text()).map_err(|error| error.to_string())?;
        ensure(found["trouble"].is_null(), || found["trouble"].to_string())?;
        Ok(found)
    }
}

/// Whether the system lets processes be observed.
fn allowed(outcome: Outcome) -> Check<Outcome> {
    permitted(&outcome.errors())?;
    Ok(outcome)
}

fn permitted(errors: &str) -> Check {
    match errors.contains("perf is not permitted") {
        true => Err(Stop::NotAllowed("context switches by perf".to_owned())),
        false => Ok(()),
    }
}

fn threads(found: &Value) -> Vec<&Value> {
    let processes = found["applications"][0]["processes"].as_array();
    let lists = processes.into_iter().flatten();
    lists
        .filter_map(|process| process["threads"].as_array())
        .flatten()
        .collect()
}

fn number(value: &Value, name: &str) -> Check<f64> {
    Ok(value[name]
        .as_f64()
        .ok_or_else(|| format!("no {name} in {value}"))?)
}

/// The target's own words on its threads: number, ns, voluntary and other switches; and the number of its child.
fn told(text: &str) -> Check<(Vec<[f64; 4]>, f64)> {
    let mut threads = Vec::new();
    let mut child = None;
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let numbers: Vec<f64> = words.iter().filter_map(|word| word.parse().ok()).collect();
        match (words[0], &numbers[..]) {
            ("child", [number]) => child = Some(*number),
            (_, [tid, run, voluntary, other]) => threads.push([*tid, *run, *voluntary, *other]),
            _ => return Err(text.to_owned().into()),
        }
    }
    let child = child.ok_or_else(|| text.to_owned())?;
    Ok((threads, child))
}

/// Of threads that were there, one that comes later, and a child. Before its work each thread only naps: some microseconds at a time.
fn times() -> Check {
    let place = Place::new()?;
    let before = crate::processors::interrupted()?;
    let target = Running::start(&Run::new(place.at("attached")).arg("1500"))?;
    let pid = target.id();
    let outcome = allowed(place.attach(pid, &["-o", "out.instr"])?.output()?)?;
    let (told, child) = told(&target.end()?.1)?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    ensure(outcome.errors().contains("trace: out.instr"), || {
        outcome.to_string()
    })?;
    // The kernel's account leaves out what a host stole, perf's times do not.
    let apart = crate::processors::interrupted()? - before + crate::processors::TICK;
    let found = place.shown("out.instr")?;
    let all = threads(&found);
    ensure(told.len() == 3, || format!("{told:?}"))?;
    for [tid, run, voluntary, other] in told {
        let thread = all
            .iter()
            .find(|thread| thread["tid"].as_f64() == Some(tid));
        let thread = thread.ok_or_else(|| format!("no thread {tid}: {found}"))?;
        let is_late = number(thread, "begin_ns")? > 5e8;
        let on = number(thread, "on_processor_ns")?;
        // Beside its work: up to 1,500 naps, which take a few microseconds each.
        let naps = if is_late { 1e6 } else { 1500.0 * 2e4 };
        ensure(
            on > run * 0.99 - 2e6 && on < run * 1.01 + naps + apart,
            || format!("{tid}: {on} ns, of the kernel {run}"),
        )?;
        // A thread that is made now has a switch or two before it first looks.
        let voluntarily = number(thread, "voluntary")?;
        let most = if is_late { 3.0 } else { 1600.0 };
        ensure(
            voluntarily >= voluntary && voluntarily <= voluntary + most,
            || format!("{tid}: {voluntarily} switches, of the kernel {voluntary}"),
        )?;
        let others = number(thread, "involuntary")?;
        ensure(others >= other && others <= other + 30.0, || {
            format!("{tid}: {others} preemptions, of the kernel {other}")
        })?;
    }
    let of_child = all
        .iter()
        .find(|thread| thread["tid"].as_f64() == Some(child));
    let of_child = of_child.ok_or_else(|| format!("no child {child}: {found}"))?;
    let on = number(of_child, "on_processor_ns")?;
    ensure(on > 1e8 * 0.99 && on < 1e8 * 1.01 + 5e6 + apart, || {
        format!("the child: {on} ns")
    })
}

/// A shell that computes without a pause before, while and after it is recorded: it is on a processor or ready all the time.
fn busy() -> Check {
    let place = Place::new()?;
    let target = Running::start(&Run::words(["sh", "-c", "while :; do :; done"]))?;
    let pid = target.id();
    let of_kernel = || -> Check<f64> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat"))?;
        let first = text.split(' ').next().and_then(|word| word.parse().ok());
        Ok(first.ok_or(text)?)
    };
    std::thread::sleep(Duration::from_millis(200));
    let before = of_kernel()?;
    let run = place.attach(pid, &["--for", "1", "-q", "-o", "busy.instr"])?;
    let outcome = run.output();
    let after = of_kernel()?;
    drop(target);
    let outcome = allowed(outcome?)?;
    ensure(
        outcome.status == Status::Code(0) && outcome.errors().is_empty(),
        || outcome.to_string(),
    )?;
    let found = place.shown("busy.instr")?;
    let duration = number(&found, "duration_ns")?;
    ensure((1e9..1.5e9).contains(&duration), || {
        format!("{duration} ns")
    })?;
    let thread = threads(&found)
        .into_iter()
        .find(|thread| thread["tid"].as_u64() == Some(pid.into()));
    let thread = thread.ok_or_else(|| format!("no thread: {found}"))?;
    let on = number(thread, "on_processor_ns")?;
    let known = on + number(thread, "ready_ns")?;
    ensure(known > duration * 0.97, || {
        format!("{known} of {duration} ns")
    })?;
    ensure(on > 0.0 && on <= after - before, || {
        format!("{on} ns, of the kernel {}", after - before)
    })
}

/// Runs `instr attach --config` with `config`.
fn with_series(place: &Place, pid: u32, config: &str, more: &[&str]) -> Check<(String, Value)> {
    std::fs::write(place.at("c.toml"), config)?;
    let words = [&["--config", "c.toml", "-o", "series.instr"], more].concat();
    let outcome = allowed(place.attach(pid, &words)?.output()?)?;
    ensure(outcome.status == Status::Code(0), || outcome.to_string())?;
    let run = Run::new(&tools()?.instr).args(["summary", "--json", "series.instr"]);
    let text = run.dir(place.dir.path()).succeed()?.text();
    let found = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok((outcome.errors(), found))
}

fn total(summary: &Value, name: &str, pid: u32) -> Check<f64> {
    let all = summary["series"]["series"].as_array().into_iter().flatten();
    let mut found = all.filter(|series| series["name"] == name);
    let found = found.find(|series| pid == 0 || series["pid"].as_u64() == Some(pid.into()));
    let total = found.and_then(|series| series["total"].as_f64());
    Ok(total.ok_or_else(|| format!("no {name}: {}", summary["series"]))?)
}

/// Two threads that were there compute 600 ms, a later one 300 ms, a child 100 ms; naps take some microseconds each.
fn series_of_threads() -> Check {
    let place = Place::new()?;
    let target = Running::start(&Run::new(place.at("attached")).arg("1500"))?;
    let config = "buffer = \"4M\"\n[counters]\nevents = [\"task-clock\", \"context-switches\"]\nrate = 20\n[processors]\nrate = 20\n";
    let before = crate::processors::interrupted()?;
    let (errors, summary) = with_series(&place, target.id(), config, &[])?;
    let apart = crate::processors::interrupted()? - before + crate::processors::TICK;
    let (told, _) = told(&target.end()?.1)?;
    for expected in [
        "INSTR_BUFFER and other settings in the configuration are for programs that begin",
        "series: [counters]: threads one by one: not of a process that runs already",
    ] {
        ensure(errors.contains(expected), || errors.clone())?;
    }
    let clock = total(&summary, "task-clock", 0)?;
    let most = 1e9 * 1.01 + 1500.0 * 3.0 * 2e4 + apart;
    ensure(clock > 1e9 * 0.99 && clock < most, || {
        format!("{clock} ns of processor time, at most {most}")
    })?;
    let switches = total(&summary, "context-switches", 0)?;
    let least: f64 = told
        .iter()
        .map(|[_, _, voluntary, other]| voluntary + other)
        .sum();
    ensure(switches >= least && switches <= least + 6000.0, || {
        format!("{switches} switches, of the kernel {least}")
    })
}

/// What a process used before, and what runs below it already, is not recorded.
fn series_begin() -> Check {
    let place = Place::new()?;
    let script = "sleep 9 & while :; do :; done";
    let target = Running::start(&Run::words(["sh", "-c", script]))?;
    std::thread::sleep(Duration::from_millis(1500));
    let config = "[process]\nrate = 20\n";
    let (_, summary) = with_series(&place, target.id(), config, &["--for", "0.5"])?;
    let used =
        total(&summary, "user time", target.id())? + total(&summary, "system time", target.id())?;
    drop(target);
    ensure((1e8..=8e8).contains(&used), || format!("{used} ns"))?;
    let all = summary["series"]["series"].as_array().into_iter().flatten();
    let processes: std::collections::BTreeSet<_> =
        all.map(|series| series["pid"].as_u64()).collect();
    ensure(processes.len() == 1, || format!("{processes:?}"))
}

fn signal() -> Check {
    let place = Place::new()?;
    let target = Running::start(&Run::words(["sleep", "60"]))?;
    for (name, trace) in [("TERM", "term.instr"), ("INT", "int.instr")] {
        let attached = Running::start(&place.attach(target.id(), &["-o", trace])?)?;
        std::thread::sleep(Duration::from_millis(700));
        let kill = Run::words(["kill", &format!("-{name}"), &attached.id().to_string()]);
        kill.succeed()?;
        let (status, _, errors) = attached.end()?;
        permitted(&errors)?;
        ensure(status == Some(0), || format!("{status:?}: {errors}"))?;
        let found = place.shown(trace)?;
        let ends = &found["applications"][0]["processes"][0];
        ensure(ends["pid"].as_u64() == Some(target.id().into()), || {
            found.to_string()
        })?;
    }
    let left = std::fs::read_dir(place.dir.path())?.flatten();
    let left: Vec<_> = left
        .map(|entry| entry.file_name())
        .filter(|name| name.to_string_lossy().starts_with('.'))
        .collect();
    ensure(left.is_empty(), || format!("{left:?} are left"))
}

/// Who attaches neither stops nor wakes: the state of a stopped process is the same before, meanwhile and after.
fn stopped() -> Check {
    let place = Place::new()?;
    let target = Running::start(&Run::words(["sleep", "60"]))?;
    let pid = target.id();
    let state = || -> Check<String> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/status"))?;
        let lines = text.lines();
        let told = [
            "State:",
            "TracerPid:",
            "SigCgt:",
            "Threads:",
            "voluntary_ctxt",
        ];
        let wanted = |line: &&str| told.iter().any(|name| line.starts_with(name));
        Ok(lines.filter(wanted).collect::<Vec<_>>().join("\n"))
    };
    std::thread::sleep(Duration::from_millis(100));
    Run::words(["kill", "-STOP", &pid.to_string()]).succeed()?;
    std::thread::sleep(Duration::from_millis(100));
    let before = state()?;
    let run = place.attach(pid, &["--for", "0.3"])?;
    let outcome = allowed(run.output()?)?;
    let after = state()?;
    ensure(before.contains("(stopped)") && before == after, || {
        format!("{before}\n---\n{after}\n{outcome}")
    })?;
    ensure(outcome.errors().contains("trace: sleep.instr"), || {
        outcome.to_string()
    })
}

fn refused() -> Check {
    let place = Place::new()?;
    let dead = {
        let ended = Running::start(&Run::words(["true"]))?;
        let pid = ended.id();
        ended.end()?;
        pid
    };
    let target = Running::start(&Run::new(place.at("attached")).arg("60000"))?;
    std::thread::sleep(Duration::from_millis(200));
    let tasks = std::fs::read_dir(format!("/proc/{}/task", target.id()))?.flatten();
    let mut tids: Vec<u32> = tasks
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    tids.sort_unstable();
    let thread = *tids.last().ok_or("no threads")?;
    let zombie = Running::start(&Run::words(["sh", "-c", "true & exec sleep 60"]))?;
    std::thread::sleep(Duration::from_millis(200));
    let children = format!("/proc/{0}/task/{0}/children", zombie.id());
    let ended: Option<u32> = std::fs::read_to_string(children)?.trim().parse().ok();
    let cases = [
        (Some(dead), "there is no such process".to_owned()),
        (
            Some(thread),
            format!(
                "it is a thread of process {0}\n  help: instr attach {0}",
                target.id()
            ),
        ),
        (ended, "it has ended".to_owned()),
        (kernel_thread(), "it is a thread of the kernel".to_owned()),
    ];
    for (pid, why) in cases {
        let Some(pid) = pid else {
            continue; // there are none where processes have numbers of their own
        };
        let outcome = place.attach(pid, &["--for", "0.1"])?.output()?;
        let expected = format!("instr: error: cannot attach to {pid}: {why}\n");
        ensure(
            outcome.status == Status::Code(1) && outcome.errors() == expected,
            || format!("expected {expected}{outcome}"),
        )?;
    }
    let outcome = place
        .attach(target.id(), &["--for", "0.1", "-o", "attached"])?
        .output()?;
    ensure(outcome.status == Status::Code(1), || outcome.to_string())?;
    for arguments in [["attach", "0"], ["attach", "x"], ["attach", "-1"]] {
        let outcome = Run::new(&tools()?.instr).args(arguments).output()?;
        ensure(outcome.status == Status::Code(2), || outcome.to_string())?;
    }
    let left = std::fs::read_dir(place.dir.path())?.flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    ensure(left == ["attached"], || format!("{left:?}"))
}

/// A process without memory of its own that the kernel made: kthreadd, or any other.
fn kernel_thread() -> Option<u32> {
    let name = std::fs::read_to_string("/proc/2/comm").ok()?;
    (name.trim() == "kthreadd").then_some(2)
}
