//! `instr timeline`: rows of programs that sleep and compute for known times, sums that are those of `instr summary`, missing events.

use std::path::Path;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("timeline::known-times", known_times),
        trial("timeline::sums-are-those-of-the-summary", sums),
        trial("timeline::missing-events-are-marked", losses),
        trial("timeline::characters-and-colours", characters),
        trial("timeline::processors", processors),
    ]
}

/// Two threads: the first works 100 ms and waits 300 ms for the other one, then 200 ms of serial code.
const WORK: &str = "#include <omp.h>\n#include <time.h>\n\
    static void rest(double s)\n{\n    struct timespec t = { 0, (long)(s * 1e9) };\n    nanosleep(&t, 0);\n}\n\
    int main(void)\n{\n#pragma omp parallel num_threads(2)\n    rest(omp_get_thread_num() == 0 ? 0.1 : 0.4);\n    rest(0.2);\n    return 0;\n}\n";

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(source: &str, settings: &[(&str, &str)]) -> Check<Self> {
        let dir = workspace::work_dir("timeline")?;
        let (file, program) = (dir.path().join("app.c"), dir.path().join("app"));
        std::fs::write(&file, source)?;
        let build = Build::openmp(Target::X86_64)
            .flag("-w")
            .flag("-O1")
            .flag("-g");
        build.traced(&[&file], &program)?;
        let run = Run::new(&program).dir(dir.path());
        let run = settings
            .iter()
            .fold(run, |run, (name, value)| run.env(name, value));
        run.succeed()?;
        Ok(Self { dir })
    }

    fn instr(&self, words: &[&str]) -> Check<String> {
        let run = Run::new(&tools()?.instr).args(words).dir(self.dir.path());
        Ok(run.env("COLUMNS", "").succeed()?.text())
    }

    fn json(&self, words: &[&str]) -> Check<Value> {
        let text = self.instr(words)?;
        serde_json::from_str(&text).map_err(|error| Stop::Fail(format!("{error}: {text}")))
    }
}

fn sum(row: &Value, name: &str) -> u64 {
    let column = row[name].as_array();
    column.into_iter().flatten().filter_map(Value::as_u64).sum()
}

/// The cells of a row, by the name before them.
fn cells(text: &str, name: &str) -> Check<Vec<char>> {
    let line = text.lines().find(|line| line.starts_with(name));
    let line = line.ok_or_else(|| format!("no row {name}: {text}"))?;
    let ruler = text
        .lines()
        .find(|line| line.contains('┬') || line.contains('+'));
    let ruler = ruler.ok_or_else(|| format!("no ruler: {text}"))?;
    let before = ruler.chars().take_while(|c| *c == ' ').count();
    let columns = ruler.trim_end().chars().count() - before;
    Ok(line.chars().skip(before).take(columns).collect())
}

fn count(cells: &[char], wanted: char) -> f64 {
    cells.iter().filter(|c| **c == wanted).count() as f64
}

fn known_times() -> Check {
    let place = Place::new(WORK, &[])?;
    // Of 0.6 s in 140 columns, one is some 4.3 ms. A busy machine lets threads sleep longer, never shorter.
    let text = place.instr(&["timeline", "app", "--width", "160"])?;
    let json = place.json(&["timeline", "app", "--width", "160", "--json"])?;
    let end = json["to_ns"].as_u64().unwrap_or(0) as f64 / 1e9;
    let (first, second) = (cells(&text, "main")?, cells(&text, "thread 1")?);
    let column = end / first.len() as f64;
    let near = |found: f64, wanted: f64| {
        ensure(
            found + 3.0 * column >= wanted && found <= wanted + 0.25,
            || format!("{found} s, not {wanted} s: {text}"),
        )
    };
    let time = |cells: &[char], state| count(cells, state) * column;
    near(time(&first, '█'), 0.1 + 0.2)?;
    near(time(&first, '░'), 0.3)?;
    near(time(&second, '█'), 0.4)?;
    near(time(&second, '·'), 0.2)?;
    // What comes first, and last.
    let order: String = first.iter().filter(|c| !"▒ ".contains(**c)).collect();
    ensure(order.starts_with('█') && order.ends_with('█'), || {
        text.clone()
    })?;
    // The region alone.
    let region = place.json(&["timeline", "app", "--region", "main", "--json"])?;
    let length = region["to_ns"].as_u64().unwrap_or(0) - region["from_ns"].as_u64().unwrap_or(0);
    near(length as f64 / 1e9, 0.4)?;
    let regions = place.instr(&["timeline", "app", "--show", "regions", "--width", "160"])?;
    ensure(regions.contains("\na main [omp parallel app.c:10]"), || {
        regions.clone()
    })?;
    near(count(&cells(&regions, "thread 1")?, 'a') * column, 0.4)
}

/// Each state of each thread, over all columns.
fn sums() -> Check {
    let dir = workspace::work_dir("timeline")?;
    for name in ["task_depend", "locks", "taskloop", "fork_inside_region"] {
        let source = workspace::root()?
            .join("tests/sources")
            .join(name)
            .join(format!("{name}.c"));
        let (program, trace) = (
            dir.path().join(name),
            dir.path().join(format!("{name}.instr")),
        );
        Build::openmp(Target::X86_64)
            .flag("-w")
            .traced(&[&source], &program)?;
        Run::new(&program)
            .env("OMP_NUM_THREADS", "3")
            .env("INSTR_TRACE", &trace)
            .dir(dir.path())
            .output()?;
        compare(&trace)?;
    }
    Ok(())
}

fn compare(trace: &Path) -> Check {
    let json = |words: &[&str]| -> Check<Value> {
        let text = Run::new(&tools()?.instr)
            .args(words)
            .arg(trace)
            .succeed()?
            .text();
        serde_json::from_str(&text).map_err(|error| Stop::Fail(format!("{error}: {text}")))
    };
    let timeline = json(&["timeline", "--json"])?;
    let summary = json(&["summary", "--json"])?;
    let mut threads = Vec::new();
    let mut pending = vec![&summary];
    while let Some(process) = pending.pop() {
        let of = process["threads"].as_array().into_iter().flatten();
        threads.extend(of.map(|thread| (process["pid"].as_u64(), thread)));
        pending.extend(process["children"].as_array().into_iter().flatten());
    }
    let rows = timeline["rows"].as_array().ok_or("no rows")?;
    ensure(rows.len() == threads.len() && !rows.is_empty(), || {
        format!("{timeline}")
    })?;
    for row in rows {
        let own = |(pid, thread): &&(Option<u64>, &Value)| {
            *pid == row["pid"].as_u64() && thread["index"] == row["thread"]
        };
        let (_, thread) = threads
            .iter()
            .find(own)
            .ok_or_else(|| format!("no thread of {row}"))?;
        for state in ["useful_ns", "sync_ns", "sched_ns", "idle_ns", "flush_ns"] {
            ensure(Some(sum(row, state)) == thread[state].as_u64(), || {
                format!(
                    "{}: {state} of {row} is not that of {thread}",
                    trace.display()
                )
            })?;
        }
    }
    Ok(())
}

/// A ring that is too small for the first half of the events.
fn losses() -> Check {
    let source = "#include <instr/instr.h>\nint main(void)\n{\n    for (int i = 0; i < 200000; i++)\n        instr_event(1, i);\n#pragma omp parallel num_threads(2)\n    instr_event(2, 0);\n    return 0;\n}\n";
    let place = Place::new(source, &[("INSTR_POLICY", "ring"), ("INSTR_BUFFER", "64K")])?;
    let text = place.instr(&["timeline", "app"])?;
    ensure(
        text.contains("note: ") && text.contains("missing at"),
        || text.clone(),
    )?;
    ensure(cells(&text, "thread 0")?.contains(&'!'), || text.clone())?;
    let json = place.json(&["timeline", "app", "--json"])?;
    let summary = place.json(&["summary", "app", "--json"])?;
    let missing = json["rows"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|row| row["losses"].as_array().into_iter().flatten());
    let events: u64 = missing.filter_map(|loss| loss["events"].as_u64()).sum();
    ensure(Some(events) == summary["discarded"].as_u64(), || {
        format!("{events} of {}", summary["discarded"])
    })
}

/// A terminal gets colours and its own characters, a pipe neither.
fn characters() -> Check {
    need("script")?;
    let place = Place::new(WORK, &[])?;
    let instr = tools()?.instr.display().to_string();
    for (locale, no_colour, wide) in [
        ("C.UTF-8", "", true),
        ("C", "", false),
        ("C.UTF-8", "1", true),
    ] {
        let words = format!("stty rows 40 cols 100; {instr} timeline app");
        let run = Run::words(["script", "-qec", &words, "/dev/null"]).dir(place.dir.path());
        let run = run
            .env("TERM", "xterm")
            .env("LC_ALL", locale)
            .env("NO_COLOR", no_colour);
        let text = run.succeed()?.text();
        ensure(text.is_ascii() != wide, || format!("{locale}: {text}"))?;
        ensure(text.contains("\x1b[38;5;") == no_colour.is_empty(), || {
            text.clone()
        })?;
        let row = text
            .lines()
            .find(|line| line.contains("main "))
            .unwrap_or_default();
        let user = if wide { '█' } else { '#' };
        ensure(row.contains(user), || text.clone())?;
    }
    let piped = place.instr(&["timeline", "app"])?;
    ensure(!piped.contains('\x1b') && piped.contains('█'), || {
        piped.clone()
    })?;
    ensure(piped.lines().all(|line| line.chars().count() <= 80), || {
        piped.clone()
    })
}

/// The time that the programs had processors is that of `instr processors`.
fn processors() -> Check {
    let place = Place::new(WORK, &[])?;
    place.instr(&["run", "-q", "-o", "run.instr", "./app"])?;
    let found = place.json(&["processors", "--json", "run.instr"])?;
    if found["recorded"] == "sums" {
        return Err(Stop::Skip(
            "context switches cannot be recorded here".into(),
        ));
    }
    let json = place.json(&["timeline", "--by", "processor", "--json", "run.instr"])?;
    let rows = json["rows"].as_array().into_iter().flatten();
    let busy: u64 = rows.map(|row| sum(row, "busy_ns")).sum();
    let wanted = found["applications"][0]["on_processor_ns"].as_u64();
    ensure(Some(busy) == wanted && busy > 0, || {
        format!("{busy}, not {wanted:?}")
    })?;
    let text = place.instr(&["timeline", "--by", "processor", "run.instr"])?;
    ensure(text.contains("CPU ") && text.contains("\na app, "), || {
        text.clone()
    })
}
