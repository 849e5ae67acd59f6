//! One queue for everything that `make test` checks: the end-to-end tests, the tests of every other test executable, and the scripts.
//!
//! The longest come first, so that no processor waits at the end for a test that began late. How long a test takes is remembered in
//! the target folder; before the first run a short list of estimates stands in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use instr_test_needs::strict;
use libtest_mimic::{Arguments, Trial};
use serde_json::Value;

use crate::cases;
use crate::outcome::{Check, Stop, ensure, stopped, trial};
use crate::workspace;

/// Tests at once, at least: each starts compilers and programs of several threads.
const THREADS: usize = 2;

/// Tests at once beyond the number of processors: browsers, and programs that sleep, leave a tenth of the time to others.
const BESIDE: usize = 1;

/// How many of the longest tests are printed.
const SHOWN: usize = 10;

/// Seconds that tests took on two processors, by the beginning of their names: those worth starting early. The first that fits counts.
const ESTIMATES: [(&str, f64); 12] = [
    ("script::lints", 130.0),
    ("libgomp::sample", 75.0),
    ("runtime::main::units_pass_on_every_target", 50.0),
    ("install::package-has-working-tools", 46.0),
    ("transparency::memory::", 30.0),
    ("script::", 25.0),
    ("robust::killed::", 20.0),
    ("trace::reader::a_stream_cut_at_any_byte", 18.0),
    ("boundary::runtime-compiles-without-warning::", 15.0),
    ("symtab::agreement::", 15.0),
    ("symbols::wrap-flags::", 13.0),
    ("tests::", 8.0), // board, random graphs, closed forms
];

/// The scripts of `make test`, by the names of their trials.
const SCRIPTS: [(&str, &[&str]); 3] = [
    ("script::lints", &["scripts/lints.sh"]),
    ("script::examples", &["scripts/examples.sh"]),
    ("script::cross-examples", &["scripts/cross.sh"]),
];

/// Executables that run as one trial: their tests share what the first of them builds.
const WHOLE: [&str; 1] = ["libgomp::sample"];

/// Executables of `make test-all` alone: a sample of libgomp's own programs, all of which `make test-all` runs.
const ONLY_IN_ALL: [&str; 1] = ["libgomp::sample"];

/// What each test took, in the order in which they ended.
static TIMES: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// Notes how long the test `name` took.
pub(crate) fn took(name: &str, time: Duration) {
    if let Ok(mut times) = TIMES.lock() {
        times.push((name.to_owned(), time));
    }
}

/// Runs the trials that the command line selects, the longest first, prints the ten that took longest, and ends the process with the
/// status of the tests.
pub fn run(mut trials: Vec<Trial>) -> ! {
    let mut arguments = Arguments::from_args();
    let processors = std::thread::available_parallelism().map_or(THREADS, usize::from);
    arguments
        .test_threads
        .get_or_insert(processors.max(THREADS) + BESIDE);
    let known = remembered();
    trials.sort_by(|a, b| expected(&known, b.name()).total_cmp(&expected(&known, a.name())));
    let begin = Instant::now();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        report(known, begin.elapsed());
    }
    crate::outcome::say_named();
    conclusion.exit()
}

/// Seconds that a test takes, as far as that is known.
fn expected(known: &BTreeMap<String, f64>, name: &str) -> f64 {
    let estimate = || ESTIMATES.iter().find(|(start, _)| name.starts_with(start));
    known
        .get(name)
        .copied()
        .or_else(|| estimate().map(|(_, seconds)| *seconds))
        .unwrap_or(0.0)
}

fn memory() -> Check<PathBuf> {
    Ok(workspace::scratch()?.join("times.json"))
}

fn remembered() -> BTreeMap<String, f64> {
    // Without it, or with a damaged one, the order is that of the estimates.
    let read = || -> Option<BTreeMap<String, f64>> {
        serde_json::from_str(&std::fs::read_to_string(memory().ok()?).ok()?).ok()
    };
    read().unwrap_or_default()
}

/// Prints the longest tests and remembers all times.
fn report(mut known: BTreeMap<String, f64>, wall: Duration) {
    let mut times = TIMES
        .lock()
        .map(|mut times| std::mem::take(&mut *times))
        .unwrap_or_default();
    times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    if times.len() > SHOWN {
        let sum: Duration = times.iter().map(|(_, time)| *time).sum();
        println!(
            "the {SHOWN} longest of {} tests, which took {:.0} s of {:.0} s in turn:",
            times.len(),
            wall.as_secs_f64(),
            sum.as_secs_f64()
        );
        for (name, time) in times.iter().take(SHOWN) {
            println!("{:7.1} s  {name}", time.as_secs_f64());
        }
    }
    known.extend(
        times
            .into_iter()
            .map(|(name, time)| (name, time.as_secs_f64())),
    );
    let text = serde_json::to_string_pretty(&known).unwrap_or_default();
    if let Err(error) = memory().and_then(|path| Ok(std::fs::write(path, text)?)) {
        eprintln!("times of tests are not remembered: {error}");
    }
}

/// The tests of the executables that `INSTR_TEST_BINARIES` lists (the messages of `cargo test --no-run --message-format=json`), but for
/// the one that runs. Each test is a process of its own, in the folder of its package, as with cargo.
#[must_use]
pub fn other_executables() -> Vec<Trial> {
    let Some(list) = std::env::var_os("INSTR_TEST_BINARIES") else {
        return Vec::new();
    };
    let trials = executables(Path::new(&list)).and_then(|executables| {
        let mut trials = Vec::new();
        for executable in executables {
            trials.extend(executable.trials()?);
        }
        Ok(trials)
    });
    trials.unwrap_or_else(|stop| vec![stopped("executables::list", stop)])
}

/// The scripts that are part of `make test`; none unless `INSTR_TEST_SCRIPTS=1`.
#[must_use]
pub fn scripts() -> Vec<Trial> {
    if std::env::var_os("INSTR_TEST_SCRIPTS").is_none_or(|value| value != "1") {
        return Vec::new();
    }
    let run = |command: &[&str]| {
        let root = workspace::root()?;
        let mut process = Command::new(root.join(command[0]));
        // One of the queue's places is one processor.
        process
            .args(&command[1..])
            .current_dir(root)
            .env("CARGO_BUILD_JOBS", "1");
        succeeds(process)
    };
    SCRIPTS
        .into_iter()
        .map(|(name, command)| trial(name, move || run(command)))
        .collect()
}

/// A test executable of another target of this workspace.
#[derive(Debug, Clone)]
struct Executable {
    /// `package::target`
    name: String,
    path: PathBuf,
    /// The folder of its package.
    package: PathBuf,
}

fn executables(list: &Path) -> Check<Vec<Executable>> {
    let own = std::env::current_exe()?.canonicalize()?;
    let mut found = Vec::new();
    for line in std::fs::read_to_string(list)?.lines() {
        let Ok(message) = serde_json::from_str::<Value>(line) else {
            continue; // what a build script or the compiler printed
        };
        if message["profile"]["test"] != true {
            continue;
        }
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (Some(path), Some(manifest), Some(target)) = (
            text(&message["executable"]),
            text(&message["manifest_path"]),
            text(&message["target"]["name"]),
        ) else {
            continue;
        };
        let package = Path::new(&manifest)
            .parent()
            .ok_or("a manifest without a folder")?;
        let folder = package.file_name().unwrap_or_default().to_string_lossy();
        if Path::new(&path).canonicalize()? != own {
            found.push(Executable {
                name: format!("{folder}::{target}"),
                path: path.into(),
                package: package.to_owned(),
            });
        }
    }
    ensure(!found.is_empty(), || {
        format!("{} lists no test executable", list.display())
    })?;
    Ok(found)
}

impl Executable {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command
            .current_dir(&self.package)
            .env("CARGO_MANIFEST_DIR", &self.package)
            .env_remove("INSTR_TEST_BINARIES")
            .env_remove("INSTR_TEST_SCRIPTS");
        command
    }

    /// One trial for each of its tests, or for all of them.
    fn trials(&self) -> Check<Vec<Trial>> {
        if ONLY_IN_ALL.contains(&self.name.as_str()) && !cases::all() {
            return Ok(Vec::new());
        }
        if WHOLE.contains(&self.name.as_str()) {
            let executable = self.clone();
            let all = move || succeeds(executable.command());
            return Ok(vec![trial(self.name.clone(), all)]);
        }
        let output = self
            .command()
            .args(["--list", "--format", "terse"])
            .output()?;
        ensure(output.status.success(), || {
            format!("{} does not list its tests", self.path.display())
        })?;
        let listed = String::from_utf8_lossy(&output.stdout).into_owned();
        let tests = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        Ok(tests.map(|test| self.trial(test.to_owned())).collect())
    }

    fn trial(&self, test: String) -> Trial {
        let executable = self.clone();
        trial(format!("{}::{test}", self.name), move || {
            let mut command = executable.command();
            command.args(["--exact", "--test-threads", "1", &test]);
            succeeds(command)
        })
    }
}

/// Runs `command` to its end; what it printed is shown when it fails. A skip it reports in a line of its own counts as ours; in strict
/// mode it has failed by itself, and such a line comes from a test of skips.
fn succeeds(mut command: Command) -> Check {
    let output = command.stdin(Stdio::null()).output()?;
    let shown = || {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    if output.status.success() {
        return match shown()
            .lines()
            .find_map(|line| line.strip_prefix("skipped: "))
        {
            Some(reason) if !strict() => Err(Stop::Skip(reason.to_owned())),
            _ => Ok(()),
        };
    }
    Err(Stop::Fail(format!(
        "{command:?} ended with {}\n{}",
        output.status,
        shown()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_times_stand_before_estimates() {
        let known = BTreeMap::from([("script::lints".to_owned(), 7.0)]);
        assert!((expected(&known, "script::lints") - 7.0).abs() < f64::EPSILON);
        assert!(expected(&known, "script::others") > 7.0);
        assert!(expected(&known, "unknown") < f64::EPSILON);
    }

    #[test]
    fn a_process_that_fails_fails_the_test_and_one_that_skips_skips_it() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            succeeds(command)
        };
        assert!(shell("true").is_ok());
        assert!(matches!(shell("echo why; exit 3"), Err(Stop::Fail(text)) if text.contains("why")));
        let skipped = shell("echo 'skipped: no y'");
        assert!(skipped.is_ok() == strict());
        assert!(strict() || matches!(skipped, Err(Stop::Skip(text)) if text == "no y"));
    }
}
