//! `instr sweep`: folders that go on with something else or are damaged, processes that would outlive a run, and what is said of incomplete sweeps.

use std::path::Path;
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("sweep::inputs-are-added-and-stay-what-they-are", inputs),
        trial("sweep::failed-runs-are-run-again", again),
        trial("sweep::impossible-and-double-lines-are-damage", damage),
        trial("sweep::its-own-files-are-not-written-over", own_files),
        trial("sweep::nothing-outlives-a-run", orphans),
        trial("sweep::stopped-runs-do-not-count", stopped),
        trial("sweep::programs-have-no-terminal", terminal),
        trial("sweep::interrupted-sweeps-end-by-the-signal", interrupted),
        trial("sweep::regions-of-processes-are-united", processes),
        trial("sweep::no-speedup-without-the-fewest-threads", baselines),
        trial("sweep::names-and-placeholders", names),
    ]
}

fn sweep(dir: &Path, words: &[&str]) -> Check<Run> {
    let run = Run::new(&tools()?.instr).arg("sweep").args(words);
    Ok(run.dir(dir))
}

fn json(outcome: &Outcome) -> Check<Value> {
    serde_json::from_str(&outcome.text())
        .map_err(|error| Stop::Fail(format!("{error}: {}", outcome.text())))
}

/// It ends with a status and says something.
fn told(dir: &Path, words: &[&str], status: i32, message: &str) -> Check {
    let outcome = sweep(dir, words)?.output()?;
    ensure(
        outcome.status == Status::Code(status) && outcome.errors().contains(message),
        || format!("{words:?}: {:?}: {}", outcome.status, outcome.errors()),
    )
}

/// Polls, as processes end when they are scheduled.
fn soon(what: &str, is_so: impl Fn() -> bool) -> Check {
    let begin = Instant::now();
    while !is_so() {
        ensure(begin.elapsed() < Duration::from_secs(20), || {
            what.to_owned()
        })?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

/// Whether a process has this among its words.
fn lives(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            line.split(|byte| *byte == 0)
                .any(|it| it == word.as_bytes())
        })
}

fn inputs() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let of = |words: &str| {
        format!(
            "command = ['true', '{{input}}']\nrepeat = 1\ninputs = [{{ name = 'a', arguments = ['{words}'], size = 4 }}]\n"
        )
    };
    std::fs::write(dir.join("one.toml"), of("1"))?;
    std::fs::write(dir.join("two.toml"), of("2"))?;
    sweep(dir, &["one.toml", "-o", "all"])?.succeed()?;
    told(
        dir,
        &["two.toml", "-o", "all"],
        1,
        "the input `a` stood for other words or another size before",
    )?;
    told(
        dir,
        &["two.toml", "-o", "all", "--dry-run"],
        1,
        "the input `a`",
    )?;
    for inputs in ["100;200", "400"] {
        let words = ["--inputs", inputs, "--repeat", "1", "-o", "sizes"];
        sweep(dir, &[&words[..], &["--", "true", "{input}"]].concat())?.succeed()?;
    }
    let found = json(&sweep(dir, &["sizes", "--json"])?.succeed()?)?;
    let series = found["subjects"][0]["series"].as_array();
    let sizes: Vec<&Value> = series.into_iter().flatten().map(|it| &it["size"]).collect();
    ensure(sizes == [100.0, 200.0, 400.0], || format!("{sizes:?}"))
}

fn again() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let words = ["--repeat", "2", "-o", "it", "--", "sh", "-c", "test -e ok"];
    told(dir, &words, 1, "no run of it counts")?;
    std::fs::write(dir.join("ok"), "")?;
    let outcome = sweep(dir, &words)?.succeed()?;
    ensure(
        outcome.text().contains("2 runs") && !outcome.text().contains("did not count"),
        || outcome.text(),
    )?;
    let lines = || std::fs::read_to_string(dir.join("it/runs.jsonl"));
    let count = lines()?.lines().count();
    sweep(dir, &words)?.succeed()?;
    ensure((count, lines()?.lines().count()) == (4, 4), || {
        format!("{count} lines, then {:?}", lines())
    })
}

fn damage() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let words = ["--threads", "1,2", "--repeat", "3", "-o", "it"];
    sweep(dir, &[&words[..], &["--", "true"]].concat())?.succeed()?;
    let path = dir.join("it/runs.jsonl");
    let whole = std::fs::read_to_string(&path)?;
    let first = whole.lines().next().unwrap_or_default();
    let mut object: Value = serde_json::from_str(first).map_err(|error| error.to_string())?;
    object["repeat"] = 7.into();
    for (key, value) in [
        ("threads", Value::from(0)),
        ("seconds", Value::from(1e308)),
        ("seconds", Value::from(5e-324)),
        ("user_seconds", Value::from(-1)),
        ("joules", Value::from(-1)),
    ] {
        let mut line = object.clone();
        line[key] = value;
        std::fs::write(&path, format!("{whole}{line}\n{first}\n"))?;
        let found = json(&sweep(dir, &["it", "--json"])?.succeed()?)?;
        ensure(found["runs"] == 6 && found["damaged"] == 2, || {
            format!("{line}: {found}")
        })?;
    }
    std::fs::write(&path, "no run\n")?;
    told(dir, &["it"], 1, "1 line of it/runs.jsonl cannot be read")?;
    std::fs::write(dir.join("it/sweep.toml"), "")?;
    told(dir, &["it"], 1, "cannot use the sweep it/sweep.toml")
}

fn own_files() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    sweep(dir, &["--repeat", "1", "-o", "it", "--", "true"])?.succeed()?;
    let before = std::fs::read(dir.join("it/runs.jsonl"))?;
    told(
        dir,
        &["it", "--csv", "it/runs.jsonl"],
        1,
        "it/runs.jsonl is a file of a sweep",
    )?;
    told(dir, &["it", "--threads", "4"], 2, "--threads is of runs")?;
    told(dir, &["it", "--model", "0"], 2, "has a 0")?;
    // What cannot be started leaves no folder.
    std::fs::write(dir.join("text"), "x")?;
    told(
        dir,
        &["-o", "new", "--", "./text"],
        1,
        "it is not executable",
    )?;
    told(
        dir,
        &["-o", "new", "--repeat", "3", "--", "sh", "-c", "rm -r new"],
        1,
        "somebody has removed it",
    )?;
    // A disk that was full when the sweep began leaves this.
    std::fs::create_dir(dir.join("begun"))?;
    std::fs::write(dir.join("begun/runs.jsonl"), "")?;
    sweep(dir, &["--repeat", "1", "-o", "begun", "--", "true"])?.succeed()?;
    ensure(
        std::fs::read(dir.join("it/runs.jsonl"))? == before && !dir.join("new").exists(),
        || "files were changed, or left".to_owned(),
    )
}

fn orphans() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let own = std::process::id();
    let (apart, killed, stays) = (format!("{own}.1"), format!("{own}.2"), format!("2.{own}"));
    let script = format!("setsid sleep {apart} & sleep {apart}; true");
    let words = ["--repeat", "1", "--timeout", "0.5", "-o", "a", "--"];
    told(
        dir,
        &[&words[..], &["sh", "-c", &script]].concat(),
        1,
        "no run of a counts",
    )?;
    ensure(!lives(&apart), || {
        "a child in a session of its own lives on".to_owned()
    })?;

    let script = format!("sleep {killed}; true");
    let mut child = sweep(dir, &["-o", "b", "--", "sh", "-c", &script])?.spawn()?;
    soon("it begins", || lives(&killed))?;
    child.kill()?;
    child.wait()?;
    soon("the program of a killed sweep lives on", || !lives(&killed))?;

    let script = format!("sleep {stays} & exit 0");
    let outcome = sweep(
        dir,
        &["--repeat", "2", "-o", "c", "--", "sh", "-c", &script],
    )?
    .succeed()?;
    let said = outcome.errors();
    ensure(said.contains("went on when it had ended"), || said)
}

fn stopped() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let words = ["--repeat", "1", "-o", "it", "--", "sleep", "0.5"];
    let mut child = sweep(dir, &words)?.spawn()?;
    let runs = dir.join("it/runs.jsonl");
    soon("it begins", || runs.exists())?;
    let signal = |name: &str| -> Check {
        Run::words(["kill", name, &child.id().to_string()]).succeed()?;
        Ok(())
    };
    std::thread::sleep(Duration::from_millis(100));
    signal("-STOP")?;
    std::thread::sleep(Duration::from_millis(1000));
    signal("-CONT")?;
    ensure(child.wait()?.code() == Some(1), || "it counts".to_owned())?;
    let text = std::fs::read_to_string(&runs)?;
    ensure(text.contains("the sweep was stopped meanwhile"), || text)?;
    sweep(dir, &words)?.succeed()?;
    Ok(())
}

/// In the background of a terminal, a read from that would stop the program for ever.
fn terminal() -> Check {
    need("script")?;
    let dir = workspace::work_dir("sweep")?;
    let instr = &tools()?.instr;
    let command = format!(
        "{} sweep --repeat 1 -o it -- sh -c 'read x </dev/tty; true'",
        instr.display()
    );
    let run = Run::words(["timeout", "20", "script", "-qec", &command, "/dev/null"]);
    let outcome = run.dir(dir.path()).output()?;
    ensure(outcome.status == Status::Code(0), || {
        format!("{:?}: {}", outcome.status, outcome.text())
    })
}

fn interrupted() -> Check {
    use std::os::unix::process::ExitStatusExt as _;
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let words = ["--repeat", "50", "-o", "it", "--", "sleep", "0.1"];
    let mut child = sweep(dir, &words)?.spawn()?;
    let runs = dir.join("it/runs.jsonl");
    soon("a run ends", || {
        std::fs::metadata(&runs).is_ok_and(|file| file.len() > 0)
    })?;
    Run::words(["kill", "-TERM", &child.id().to_string()]).succeed()?;
    let status = child.wait()?;
    ensure(status.signal() == Some(15), || format!("{status}"))
}

/// Four processes are in a region for the same 50 ms.
fn processes() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let source = workspace::root()?.join("tests/sweep/forks.c");
    let program = dir.path().join("program");
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    let words = [
        "--threads",
        "4",
        "--repeat",
        "3",
        "--measure",
        "regions",
        "--json",
    ];
    let outcome = sweep(dir.path(), &[&words[..], &["--", "./program"]].concat())?.succeed()?;
    let found = json(&outcome)?;
    let of = |name: &str| -> Check<f64> {
        let subjects = found["subjects"].as_array().into_iter().flatten();
        let mut own = subjects.filter(|it| {
            it["path"]
                .as_array()
                .is_some_and(|path| path.last().is_some_and(|last| last == name))
        });
        let point = own
            .next()
            .map(|it| &it["series"][0]["points"][0]["seconds"]["value"]);
        let seconds = point.and_then(Value::as_f64);
        Ok(seconds.ok_or_else(|| format!("no region {name}: {found}"))?)
    };
    let (all, work, outside) = (of("all")?, of("work")?, of("(outside)")?);
    ensure(
        (0.05..0.085).contains(&work) && (0.1..0.16).contains(&all) && outside < 0.03,
        || format!("all {all} s, work {work} s, outside {outside} s"),
    )
}

fn baselines() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    let words = ["--threads", "1,2,4", "--inputs", "a;b;c", "--plan", "latin"];
    let rest = ["--repeat", "1", "-o", "it", "--", "true"];
    let outcome = sweep(dir, &[&words[..], &rest].concat())?.succeed()?;
    ensure(
        outcome
            .text()
            .contains("each input was run on one number of threads"),
        || outcome.text(),
    )?;
    let found = json(&sweep(dir, &["it", "--json"])?.succeed()?)?;
    let series = found["subjects"][0]["series"].as_array();
    for point in series.into_iter().flatten().map(|it| &it["points"][0]) {
        let has_one = point["threads"] == 1;
        ensure(point["speedup"].is_null() != has_one, || point.to_string())?;
    }
    Ok(())
}

fn names() -> Check {
    let dir = workspace::work_dir("sweep")?;
    let dir = dir.path();
    std::fs::write(
        dir.join("names.toml"),
        "command = ['true', 'p={input}', '{size}']\nrepeat = 1\ninputs = [{ name = \"a\\u001b[31m\\nb\", arguments = ['{threads}'] }]\n",
    )?;
    let outcome = sweep(dir, &["names.toml", "-o", "it"])?.succeed()?;
    ensure(!outcome.text().contains('\u{1b}'), || outcome.text())?;
    ensure(outcome.errors().contains("{size} stays as it is"), || {
        outcome.errors()
    })?;
    let plan = sweep(dir, &["names.toml", "--dry-run", "-o", "new"])?.succeed()?;
    ensure(plan.text().contains("true 'p=1' '{size}'"), || plan.text())?;
    told(
        dir,
        &[
            "--threads",
            "1,2",
            "--env",
            "OMP_NUM_THREADS=7",
            "--",
            "true",
        ],
        1,
        "OMP_NUM_THREADS is what `threads` sets",
    )?;
    let many: Vec<String> = (0..2000).map(|at| at.to_string()).collect();
    let many = ["A", "B", "C"].map(|name| format!("{name}={}", many.join(";")));
    let words = ["--env", &many[0], "--env", &many[1], "--env", &many[2]];
    told(
        dir,
        &[&words[..], &["--dry-run", "--", "true"]].concat(),
        1,
        "more than 1000000 points",
    )
}
