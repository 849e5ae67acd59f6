//! What `instr run --config` reads of the machine and of processes beside the time line: as much as getrusage(2) counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

/// Pages that the program touches.
const PAGES: u64 = 5000;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("series::as-much-as-getrusage-counts", as_much),
        trial("series::what-is-refused-is-told-once-by-name", refused),
        trial("series::all-mistakes-at-once", mistakes),
        trial("series::of-a-program-that-ends-at-once", at_once),
        trial("series::of-a-thousand-short-children", many_children),
        trial("series::of-a-killed-program", killed),
        trial("series::tables-and-times", tables_and_times),
        trial("series::in-paraver", in_paraver),
        trial(
            "series::of-a-process-whose-stream-is-damaged",
            in_paraver_without_row,
        ),
        trial("perfetto::series", in_perfetto),
        trial("series::without-context-switches", without_switches),
    ]
}

fn program(dir: &Path) -> Check<PathBuf> {
    let path = dir.join("series");
    let source = workspace::root()?.join("tests/series/series.c");
    Build::openmp(Target::X86_64)
        .flag("-O1")
        .plain(&[&source], &path)?;
    Ok(path)
}

fn run(dir: &Path, config: &str, command: &[&str]) -> Check<Run> {
    let file = dir.join("c.toml");
    std::fs::write(&file, config)?;
    let run = Run::new(&tools()?.instr).args(["run", "--config"]);
    let run = run.arg(&file).arg("--").args(command);
    Ok(run.env("INSTR_TRACE", dir.join("trace")))
}

fn total(summary: &Value, name: &str, scope: &str) -> Check<f64> {
    let all = summary["series"]["series"].as_array();
    let found = all
        .into_iter()
        .flatten()
        .find(|series| series["name"] == name && series["scope"] == scope);
    let total = found.and_then(|series| series["total"].as_f64());
    total.ok_or_else(|| Stop::from(format!("no {name} of {scope}: {}", summary["series"])))
}

fn told(text: &str, name: &str) -> Check<f64> {
    let value = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    let value = value.and_then(|value| value.parse().ok());
    value.ok_or_else(|| Stop::from(format!("no {name} in {text}")))
}

/// The program counts itself as it ends, perf and `/proc` to its very end: times agree within 1 % but for what a host stole, faults but for those
/// of its beginning and end.
fn as_much() -> Check {
    let dir = workspace::work_dir("series")?;
    let path = program(dir.path())?.display().to_string();
    let config =
        "[counters]\nevents = [\"task-clock\", \"page-faults\"]\nrate = 50\n[process]\nrate = 50\n";
    let pages = PAGES.to_string();
    let before = crate::processors::interrupted()?;
    let ended = run(dir.path(), config, &[&path, &pages, "500"])?.succeed()?;
    let apart = crate::processors::interrupted()? - before + crate::processors::TICK;
    if ended.errors().contains("series: [counters]") {
        return Err(Stop::NotAllowed(ended.errors()));
    }
    let text = ended.text();
    let summary = cases::summary(&dir.path().join("trace"))?;
    let (faults, cpu) = (told(&text, "FAULTS")?, told(&text, "CPU_NS")?);
    let clock = total(&summary, "task-clock", "tree")?;
    let more = clock - cpu;
    ensure(more >= -cpu / 100.0 && more <= cpu / 100.0 + apart, || {
        format!("task-clock {clock} of {cpu} ns, {apart} ns apart")
    })?;
    for (name, scope) in [("page-faults", "tree"), ("minor faults", "process")] {
        let found = total(&summary, name, scope)?;
        ensure(
            found >= PAGES as f64 && (found - faults).abs() <= 100.0,
            || format!("{name}: {found} of {faults}"),
        )?;
    }
    let thread = total(&summary, "page-faults", "thread")?;
    let tree = total(&summary, "page-faults", "tree")?;
    ensure(thread <= tree && tree - thread <= 100.0, || {
        format!("the only thread has {thread} of {tree} faults")
    })
}

fn refused() -> Check {
    let dir = workspace::work_dir("series")?;
    // A machine without anything: the copy of another one's /sys and /proc is empty.
    let run = run(dir.path(), "[energy]\n[frequency]\n", &["true"])?;
    let ended = run.env("INSTR_SENSORS_ROOT", dir.path()).succeed()?;
    let errors = ended.errors();
    for module in ["energy", "frequency"] {
        let found = errors.matches(&format!("series: [{module}]: ")).count();
        ensure(found == 1, || format!("[{module}] {found} times: {errors}"))?;
    }
    Ok(())
}

fn mistakes() -> Check {
    let dir = workspace::work_dir("series")?;
    let config = "[energi]\nrate = 1\n[process]\nperod = \"1s\"\nrate = 0\n";
    let outcome = run(dir.path(), config, &["true"])?.output()?;
    ensure(outcome.status == Status::Code(1), || {
        format!("status {:?}", outcome.status)
    })?;
    let errors = outcome.errors();
    for part in [
        ":1:2: there is no module `energi`; did you mean `energy`?",
        ":4:1: [process]: there is no key `perod`; did you mean `period`?",
        ":5:8: `rate` is more than 0",
    ] {
        ensure(errors.contains(part), || format!("no {part:?}: {errors}"))?;
    }
    ensure(!dir.path().join("trace").exists(), || {
        "there is a trace".to_owned()
    })
}

/// It may end before anything is read of it; what was read of the machine stands all the same.
fn at_once() -> Check {
    let dir = workspace::work_dir("series")?;
    let config = "[processors]\nperiod = \"60min\"\n";
    run(dir.path(), config, &["true"])?.succeed()?;
    let summary = cases::summary(&dir.path().join("trace"))?;
    let modules = &summary["series"]["modules"];
    ensure(modules[0]["readings"] == 2, || format!("{modules}"))
}

/// Each child touches its pages and ends between two readings: the tree has all of them, in numbers that the program's own count of its children bounds.
fn many_children() -> Check {
    const CHILDREN: u64 = 1000;
    let dir = workspace::work_dir("series")?;
    let path = program(dir.path())?.display().to_string();
    let config = "[counters]\nevents = [\"task-clock\", \"page-faults\"]\nthreads = false\nrate = 10\n[process]\nrate = 10\n";
    let script =
        format!("i=0; while [ $i -lt {CHILDREN} ]; do \"$1\" 50 0; i=$((i+1)); done; times");
    let ended = run(dir.path(), config, &["sh", "-c", &script, "sh", &path])?.succeed()?;
    if ended.errors().contains("series: [counters]") {
        return Err(Stop::NotAllowed(ended.errors()));
    }
    let text = ended.text();
    let told: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("FAULTS="))
        .collect();
    ensure(told.len() as u64 == CHILDREN, || {
        format!("{} children", told.len())
    })?;
    let mut faults = 0.0;
    for line in told {
        faults += self::told(line, "FAULTS")?;
    }
    let summary = cases::summary(&dir.path().join("trace"))?;
    let found = total(&summary, "page-faults", "tree")?;
    // What a child counts of itself lacks its end; the shell's forks copy pages, too: some hundred faults a child at most.
    let most = faults + CHILDREN as f64 * 300.0;
    ensure(found >= faults && found <= most, || {
        format!("{found} faults of {faults} to {most}")
    })?;
    // `times`, in ticks or finer: the shell and its children, but for their ends.
    let used: f64 = text
        .split_whitespace()
        .filter_map(|word| word.strip_suffix('s')?.split_once('m'))
        .filter_map(|(minutes, seconds)| {
            Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
        })
        .sum();
    let clock = total(&summary, "task-clock", "tree")? / 1e9;
    // The system counts ticks of thousand processes, and what each does after its counter was taken: a tenth of a millisecond a child.
    let unseen = 0.1e-3 * CHILDREN as f64;
    ensure(
        clock > used * 0.9 - unseen && clock < used * 1.1 + unseen,
        || format!("task-clock {clock} s of {used} s"),
    )
}

/// A program that is killed has its series up to its end, and babeltrace2 reads them.
fn killed() -> Check {
    instr_tests::toolchain::need("babeltrace2")?;
    let dir = workspace::work_dir("series")?;
    let config = "[process]\nrate = 50\n[processors]\nrate = 50\n";
    let script = "sleep 0.5; kill -9 $$";
    let outcome = run(dir.path(), config, &["sh", "-c", script])?.output()?;
    ensure(outcome.status == Status::Signal(9), || format!("{outcome}"))?;
    let summary = cases::summary(&dir.path().join("trace"))?;
    ensure(summary["series"]["damaged"] == false, || {
        summary["series"].to_string()
    })?;
    let modules = summary["series"]["modules"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    ensure(modules.len() == 2, || format!("{modules:?}"))?;
    for module in &modules {
        let (readings, late) = (&module["readings"], &module["late"]);
        let due = readings.as_u64().unwrap_or(0) + late.as_u64().unwrap_or(0);
        // Half a second at 50 a second, and both ends.
        ensure((20..=200).contains(&due), || format!("{module}"))?;
    }
    let read = Run::words(["babeltrace2"])
        .arg(dir.path().join("trace/kernel"))
        .succeed()?;
    let text = read.text();
    let is_value = |line: &&str| line.contains(" value: {") || line.contains(" estimate: {");
    let values = text.lines().filter(is_value).count() as u64;
    let all = summary["series"]["series"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let counted: u64 = all
        .iter()
        .filter_map(|series| series["values"].as_u64())
        .sum();
    ensure(values == counted && counted > 0, || {
        format!("{values} values by babeltrace2, {counted} in the summary")
    })
}

/// At 80 columns no number is left out; the first readings are not before the run.
fn tables_and_times() -> Check {
    let dir = workspace::work_dir("series")?;
    let path = program(dir.path())?.display().to_string();
    let config = "[process]\nrate = 100\n[processors]\nrate = 100\n[pressure]\nrate = 100\n";
    run(dir.path(), config, &[&path, "500", "300"])?.succeed()?;
    let instr = &tools()?.instr;
    let shown = Run::new(instr).args(["summary", "--series", "--top", "200", "trace"]);
    let shown = shown.dir(dir.path()).env("COLUMNS", "80").succeed()?;
    let text = shown.text();
    let head = text
        .lines()
        .find(|line| line.starts_with("series ") && line.contains(" of "));
    let head = head.ok_or_else(|| format!("no table: {text}"))?;
    for column in ["min", "mean", "max", "total"] {
        ensure(head.contains(column), || format!("no {column}: {text}"))?;
    }
    let long = text.lines().find(|line| line.chars().count() > 80);
    ensure(long.is_none() && !text.contains("no room"), || text.clone())?;
    let csv = Run::new(instr).args(["processors", "--series", "values.csv", "trace"]);
    csv.dir(dir.path()).succeed()?;
    let csv = std::fs::read_to_string(dir.path().join("values.csv"))?;
    let times: Vec<i64> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').next()?.parse().ok())
        .collect();
    let (first, last) = (times.iter().min().copied(), times.iter().max().copied());
    // The run takes 0.3 s of processor time at least.
    ensure(first.is_some_and(|first| first >= 0), || {
        format!("{first:?}")
    })?;
    ensure(last.is_some_and(|last| last > 300_000_000), || {
        format!("{last:?}")
    })?;
    ensure(times.is_sorted(), || "times go back".into())
}

/// A traced program of two threads with its series, and all values as a table.
fn of_a_team(dir: &Path) -> Check<String> {
    let source = workspace::root()?.join("tests/series/team.c");
    let path = dir.join("team");
    Build::openmp(Target::X86_64)
        .flag("-O1")
        .traced(&[&source], &path)?;
    let config = "[counters]\nevents = [\"task-clock\"]\nthreads = false\nrate = 50\n[process]\nrate = 50\n[processors]\nrate = 20\n";
    let path = path.display().to_string();
    run(dir, config, &[&path, "200"])?.succeed()?;
    let csv = Run::new(&tools()?.instr).args(["processors", "--series", "values.csv", "trace"]);
    csv.dir(dir).succeed()?;
    Ok(std::fs::read_to_string(dir.join("values.csv"))?)
}

/// The columns of a line: series, scope, number, unit, value.
fn columns(line: &str) -> Check<(&str, &str, &str, &str, i128)> {
    let words: Vec<_> = line.split(',').collect();
    match words[..] {
        [_, _, name, scope, _, number, unit, value, _] => {
            let value = value.parse().map_err(|_| line.to_owned())?;
            Ok((name, scope, number, unit, value))
        }
        _ => Err(line.to_owned().into()),
    }
}

/// A process whose stream cannot be read has series and no row.
fn in_paraver_without_row() -> Check {
    let dir = workspace::work_dir("series")?;
    of_a_team(dir.path())?;
    std::fs::remove_dir_all(dir.path().join("trace"))?;
    let path = dir.path().join("team").display().to_string();
    let config = "[counters]\nevents = [\"task-clock\"]\nrate = 50\n[process]\nrate = 50\n";
    let script = format!("{path} 100; {path} 100");
    run(dir.path(), config, &["sh", "-c", &script])?.succeed()?;
    let mut started = Vec::new();
    for entry in std::fs::read_dir(dir.path().join("trace"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("exec-") {
            started.push(entry.path());
        }
    }
    started.sort();
    let (Some(last), true) = (started.last(), started.len() == 2) else {
        return Err(format!("started: {started:?}").into());
    };
    for entry in std::fs::read_dir(last)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("thread_") {
            // The head of the packet, with numbers that cannot be, and hardly more.
            let mut bytes = std::fs::read(entry.path())?;
            bytes.truncate(90);
            bytes[50..66].fill(0xff);
            std::fs::write(entry.path(), bytes)?;
        }
    }
    let merge = Run::new(&tools()?.instr).args(["merge", "trace", "-o", "out"]);
    merge.dir(dir.path()).succeed()?;
    Ok(())
}

/// Levels are the readings, totals what they grew by: their sum is the last reading. All are on the row of the first thread.
fn in_paraver() -> Check {
    let dir = workspace::work_dir("series")?;
    let csv = of_a_team(dir.path())?;
    let mut expected = BTreeMap::<String, Vec<i128>>::new();
    for line in csv.lines().skip(1) {
        let (name, scope, number, unit, value) = columns(line)?;
        let number = match number {
            "" => String::new(),
            number => format!(" {number}"),
        };
        let unit = match unit {
            "-" => String::new(),
            unit => format!(" ({unit})"),
        };
        let level = name == "resident memory";
        let since = if level {
            ""
        } else {
            ", since the reading before"
        };
        let all = expected.entry(format!("{name}, {scope}{number}{unit}{since}"));
        let all = all.or_default();
        let grown = if level {
            value
        } else {
            value - all.iter().sum::<i128>()
        };
        all.push(grown);
    }
    let merge = Run::new(&tools()?.instr).args(["merge", "trace", "-o", "out"]);
    merge.dir(dir.path()).succeed()?;
    let text = |name: &str| std::fs::read_to_string(dir.path().join(name));
    let mut names = BTreeMap::new();
    for line in text("out.pcf")?.lines() {
        let mut words = line.split_whitespace();
        let (group, kind) = (words.next(), words.next());
        if let (Some(_), Some(kind)) = (group, kind.and_then(|kind| kind.parse::<u64>().ok())) {
            names.insert(kind, words.collect::<Vec<_>>().join(" "));
        }
    }
    let mut found = BTreeMap::<String, Vec<i128>>::new();
    let mut last = 0;
    for line in text("out.prv")?.lines().skip(1) {
        let fields: Vec<&str> = line.split(':').collect();
        let time: u64 = fields[5].parse().map_err(|_| line.to_owned())?;
        if fields[0] != "2" {
            continue;
        }
        ensure(time >= last, || format!("times go back: {line}"))?;
        last = time;
        for pair in fields[6..].chunks(2) {
            let kind = pair[0].parse::<u64>().map_err(|_| line.to_owned())?;
            let value = pair[1].parse().map_err(|_| line.to_owned())?;
            let Some(name) = names.get(&kind).filter(|name| expected.contains_key(*name)) else {
                continue;
            };
            ensure(fields[3..5] == ["1", "1"], || format!("{name}: {line}"))?;
            found.entry(name.clone()).or_default().push(value);
        }
    }
    ensure(found == expected && found.len() > 9, || {
        format!("{found:?}\n{expected:?}")
    })
}

fn in_perfetto() -> Check {
    let python = crate::perfetto::python()?;
    let dir = workspace::work_dir("series")?;
    of_a_team(dir.path())?;
    let export = Run::new(&tools()?.instr).args(["export", "trace", "-o", "out.perfetto-trace"]);
    export.dir(dir.path()).succeed()?;
    let check = workspace::root()?.join("tests/perfetto/series.py");
    let found = Run::new(&python)
        .arg(check)
        .args(["out.perfetto-trace", "values.csv"]);
    let found = found.dir(dir.path()).succeed()?;
    let series: usize = found
        .text()
        .split(' ')
        .next()
        .and_then(|word| word.parse().ok())
        .unwrap_or(0);
    ensure(series > 9, || found.to_string())
}

/// `INSTR_SWITCHES=0` leaves out the switches, not the series, whether the program records something itself or not.
fn without_switches() -> Check {
    let dir = workspace::work_dir("series")?;
    let path = program(dir.path())?.display().to_string();
    let config = "[process]\nrate = 100\n[processors]\nrate = 100\n";
    let thread = "import threading, time; t = threading.Thread(target=time.sleep, args=(0.1,)); t.start(); t.join()";
    let programs: [(&[&str], bool); 2] = [
        (&[&path, "500", "100"], false),
        (&["python3", "-c", thread], true),
    ];
    for (command, records) in programs {
        let trace = dir.path().join("trace");
        if trace.exists() {
            std::fs::remove_dir_all(&trace)?;
        }
        let run = run(dir.path(), config, command)?;
        let ended = run.env("INSTR_SWITCHES", "0").succeed()?;
        ensure(trace.join("kernel").is_dir(), || ended.to_string())?;
        let summary = cases::summary(&trace)?;
        let all = total(&summary, "minor faults", "process")?;
        ensure(all > 0.0, || format!("{all} faults"))?;
        let own = trace.join("thread_0000").exists();
        ensure(own == records, || {
            format!("{command:?}: a stream of its own: {own}; {ended}")
        })?;
        let shown = Run::new(&tools()?.instr).arg("processors").arg(&trace);
        let shown = shown.succeed()?.text();
        ensure(shown.contains("INSTR_SWITCHES=0"), || shown.clone())?;
        let switches = std::fs::read_dir(trace.join("kernel"))?.flatten();
        let switches = switches.filter(|entry| {
            let name = entry.file_name();
            name.to_string_lossy().starts_with("processor_")
        });
        ensure(switches.count() == 0, || {
            format!("{command:?}: switches were recorded")
        })?;
    }
    Ok(())
}
