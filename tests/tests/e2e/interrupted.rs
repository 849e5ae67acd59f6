//! Commands that a signal ends while they write leave nothing behind, and end as by the signal alone.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::robust::source;

/// Commands behind which the trace stands, and their outputs.
const COMMANDS: [&[&str]; 5] = [
    &["export", "-f", "chrome", "-o", "out"],
    &["export", "-f", "csv", "-o", "out"],
    &["export", "-f", "parquet", "-o", "out"],
    &["merge", "-o", "out"],
    &["query", "-o", "out", "select * from events"],
];
const SIGNALS: [(&str, i32); 3] = [("INT", 2), ("TERM", 15), ("HUP", 1)];
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("interrupted::outputs", outputs)]
}

fn names(folder: &Path) -> Check<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

fn outputs() -> Check {
    let dir = workspace::work_dir("interrupted")?;
    let (program, trace) = (dir.path().join("events"), dir.path().join("trace"));
    Build::openmp(Target::X86_64).traced(&[&source("events")?], &program)?;
    let run = Run::new(&program).arg("300000").env("INSTR_TRACE", &trace);
    run.succeed()?;
    for words in COMMANDS {
        let mut ended = 0;
        for (name, number) in SIGNALS {
            ended += u32::from(one(words, &trace, name, number, "")?);
        }
        // A signal may come too late, but not each time.
        ensure(ended > 0, || format!("{words:?}: no signal ended it"))?;
        // Who ignores a signal goes on.
        ensure(!one(words, &trace, "HUP", 1, "trap '' HUP; ")?, || {
            format!("{words:?}: ended by a signal that was ignored")
        })?;
    }
    Ok(())
}

/// Starts a command, sends it the signal when it has begun to write, and looks at what is left. Whether the signal ended it.
fn one(words: &[&str], trace: &Path, name: &str, number: i32, before: &str) -> Check<bool> {
    let place = workspace::work_dir("interrupted")?;
    let script = format!("{before}exec \"$@\"");
    let run = Run::words(["sh", "-c", &script, "sh"]).arg(&tools()?.instr);
    let (first, rest) = words.split_first().ok_or("no command")?;
    let run = match *first {
        // The trace goes before the statement.
        "query" => run.arg(first).args(&rest[..2]).arg(trace).args(&rest[2..]),
        _ => run.arg(first).args(rest).arg(trace),
    };
    let mut child = run.dir(place.path()).spawn()?;
    let begin = Instant::now();
    while child.try_wait()?.is_none()
        && !names(place.path())?
            .iter()
            .any(|name| name.starts_with(".instr-"))
    {
        ensure(begin.elapsed() < LONGEST, || format!("{words:?} hangs"))?;
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = child.id().to_string();
    // It may have ended meanwhile.
    let _ = Run::words(["kill", "-s", name, &pid]).output()?;
    let status = child.wait_with_output()?.status;
    let names = names(place.path())?;
    ensure(
        names.iter().all(|name| !name.starts_with(".instr-")),
        || format!("{words:?}, SIG{name}: left {names:?}"),
    )?;
    let by_signal = status.signal() == Some(number);
    ensure(by_signal || status.success(), || {
        format!("{words:?}, SIG{name}: {status:?}")
    })?;
    // A signal may come when all is written, and before the process ends.
    ensure(by_signal || !names.is_empty(), || {
        format!("{words:?}, SIG{name}: {status:?}, but {names:?}")
    })?;
    Ok(by_signal)
}
