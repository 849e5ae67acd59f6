//! `instr live`: programs that are watched while they run. What is counted at the end is what `instr summary` counts.

use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("live::known-state", known_state),
        trial("live::a-running-program", running),
        trial("live::the-screen-counts-as-the-summary", screen),
        trial("live::a-killed-program", killed),
        trial("live::children", children),
        trial("live::a-trace-that-is-removed", removed),
        trial("live::nothing-to-watch", nothing),
    ]
}

/// For so many tenths of a second: regions with tasks of some 20 us; small buffers, so that packets move to the stream all the time.
const WORK: &str = "#include <stdlib.h>\n#include <time.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
    static double now(void)\n{\n    struct timespec t;\n    clock_gettime(CLOCK_MONOTONIC, &t);\n    return t.tv_sec + t.tv_nsec / 1e9;\n}\n\
    static void burn(double s)\n{\n    double end = now() + s;\n    while (now() < end)\n        ;\n}\n\
    static void work(double s)\n{\n    double end = now() + s;\n    while (now() < end) {\n#pragma omp parallel num_threads(3)\n#pragma omp single\n\
    \tfor (int i = 0; i < 50; i++) {\n#pragma omp task\n\t    burn(2e-5);\n\t}\n    }\n}\n\
    int main(int n, char **words)\n{\n    double s = atoi(words[1]) / 10.0;\n    if (n > 2 && fork() == 0) {\n\twork(s);\n\texit(0);\n    }\n    work(s);\n    if (n > 2)\n\twait(0);\n    return 0;\n}\n";

/// Two threads: one sleeps in user code, the other waits for it.
const SLEEP: &str = "#include <omp.h>\n#include <unistd.h>\nint main(void)\n{\n#pragma omp parallel num_threads(2)\n    if (omp_get_thread_num() == 1)\n\tsleep(30);\n    return 0;\n}\n";

/// A program that runs beside the test, and ends with it.
struct Place {
    dir: TempDir,
    child: Option<Child>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Place {
    fn new(source: &str, arguments: &[&str]) -> Check<Self> {
        let dir = workspace::work_dir("live")?;
        let (file, program) = (dir.path().join("app.c"), dir.path().join("app"));
        std::fs::write(&file, source)?;
        let build = Build::openmp(Target::X86_64)
            .flag("-w")
            .flag("-O1")
            .flag("-g");
        build.traced(&[&file], &program)?;
        let run = Run::new(&program).args(arguments).dir(dir.path());
        let child = run
            .env("INSTR_BUFFER", "16K")
            .env("OMP_WAIT_POLICY", "passive")
            .spawn()?;
        let place = Self {
            dir,
            child: Some(child),
        };
        place.until("the trace", |_| {
            place.trace().join("metadata").exists().then_some(())
        })?;
        Ok(place)
    }

    fn trace(&self) -> PathBuf {
        self.dir.path().join("app.instr")
    }

    fn pid(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Asks until there is an answer.
    fn until<T>(&self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> Check<T> {
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_secs(60) {
            if let Some(answer) = ask(self) {
                return Ok(answer);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(Stop::Fail(format!("{what} did not come")))
    }

    fn json(&self, words: &[&str]) -> Check<Value> {
        let run = Run::new(&tools()?.instr).args(words).dir(self.dir.path());
        let text = run.succeed()?.text();
        serde_json::from_str(&text).map_err(|error| Stop::Fail(format!("{error}: {text}")))
    }

    fn live(&self, target: &str) -> Check<Value> {
        self.json(&["live", "--json", "--interval", "0.2", target])
    }

    fn end(&mut self) -> Check {
        if let Some(mut child) = self.child.take() {
            child.wait()?;
        }
        Ok(())
    }
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap_or(u64::MAX)
}

/// A process of a picture against that of a summary.
fn same(line: &Value, summary: &Value) -> Check {
    let regions = summary["parallel_regions"].as_array().into_iter().flatten();
    let regions: u64 = regions.map(|region| number(region, "count")).sum();
    let mut pairs = vec![
        ("events", number(line, "events"), number(summary, "events")),
        ("regions", number(line, "regions"), regions),
        (
            "created",
            number(line, "tasks_created"),
            number(&summary["tasks"], "created"),
        ),
        (
            "executed",
            number(line, "tasks_executed"),
            number(&summary["tasks"], "executed"),
        ),
    ];
    let threads = line["threads"].as_array().ok_or("no threads")?;
    for thread in summary["threads"].as_array().into_iter().flatten() {
        let own = threads.iter().find(|own| own["thread"] == thread["index"]);
        let own = own.ok_or_else(|| format!("no thread {}", thread["index"]))?;
        for name in [
            "events",
            "useful_ns",
            "sync_ns",
            "sched_ns",
            "idle_ns",
            "flush_ns",
        ] {
            pairs.push((name, number(own, name), number(thread, name)));
        }
    }
    for (name, found, wanted) in pairs {
        ensure(found == wanted && found != u64::MAX, || {
            format!("{name}: {found}, but the summary has {wanted}\n{line}")
        })?;
    }
    Ok(())
}

fn known_state() -> Check {
    let place = Place::new(SLEEP, &[])?;
    let states = |line: &Value| -> Vec<String> {
        let threads = line["threads"].as_array().into_iter().flatten();
        threads
            .map(|thread| thread["state"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let line = place.until("the region", |place| {
        let line = place.live("app").ok()?["processes"][0].clone();
        (states(&line) == ["synchronization", "useful"]).then_some(line)
    })?;
    ensure(
        line["state"] == "running" && number(&line, "pid") == u64::from(place.pid()),
        || line.to_string(),
    )?;
    ensure(
        number(&line, "regions_running") == 1 && number(&line, "regions") == 0,
        || line.to_string(),
    )?;
    let sleeper = &line["threads"][1];
    ensure(sleeper["running"] == "main [omp parallel app.c:5]", || {
        line.to_string()
    })?;
    ensure(sleeper["processor"].is_u64(), || line.to_string())?;
    // One picture as text, in a pipe.
    let text = Run::new(&tools()?.instr)
        .args(["live", "app"])
        .dir(place.dir.path())
        .succeed()?
        .text();
    let has = |words: &[&str]| {
        text.lines()
            .any(|line| words.iter().all(|word| line.contains(word)))
    };
    ensure(
        has(&["main", "synchronization"]) && has(&["thread 1", "useful", "app.c:5"]),
        || text.clone(),
    )?;
    ensure(has(&["running", "2 threads"]), || text.clone())
}

fn running() -> Check {
    let mut place = Place::new(WORK, &["40"])?;
    let pid = place.pid().to_string();
    // A busy machine may need all of the time for this: what comes later goes by the name.
    let by_pid = place.until("the first window", |place| place.live(&pid).ok())?;
    let directory = by_pid["processes"][0]["directory"].as_str();
    ensure(
        directory.is_some_and(|found| found.ends_with("app.instr")),
        || by_pid.to_string(),
    )?;
    let mut before = 0;
    for _ in 0..4 {
        let line = place.live("app")?["processes"][0].clone();
        let events = number(&line, "events");
        // No task begins before it was created, and every body has a name: events of all threads come in order.
        let order = number(&line, "tasks_created") >= number(&line, "tasks_executed");
        ensure(
            order && !line["bodies"].to_string().contains("unknown"),
            || line.to_string(),
        )?;
        ensure(events >= before && events != u64::MAX, || {
            format!("{events} behind {before}")
        })?;
        before = events;
    }
    ensure(before > 1000, || format!("only {before} events"))?;
    place.end()?;
    let line = place.live("app")?["processes"][0].clone();
    ensure(line["state"] == "ended", || line.to_string())?;
    same(&line, &place.json(&["summary", "--json", "app"])?)
}

/// A terminal of tmux, which ends with the test.
struct Screen {
    socket: String,
}

impl Screen {
    fn start(name: &str, command: &str) -> Check<Self> {
        need("tmux")?;
        let screen = Self {
            socket: format!("instr-{name}-{}", std::process::id()),
        };
        screen.tmux(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            "110",
            "-y",
            "30",
            command,
        ])?;
        Ok(screen)
    }

    fn tmux(&self, words: &[&str]) -> Check<String> {
        let run = Run::words(["tmux", "-L", &self.socket]).args(words);
        Ok(run
            .env("TERM", "xterm-256color")
            .env("LC_ALL", "C.UTF-8")
            .succeed()?
            .text())
    }

    fn keys(&self, keys: &[&str]) -> Check {
        self.tmux(&[&["send-keys"], keys].concat()).map(|_| ())
    }

    /// The screen, once it shows all of these.
    fn shows(&self, wanted: &[&str]) -> Check<String> {
        let begin = Instant::now();
        let mut text = String::new();
        while begin.elapsed() < Duration::from_secs(60) {
            text = self.tmux(&["capture-pane", "-p"])?;
            if wanted.iter().all(|wanted| text.contains(wanted)) {
                return Ok(text);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Err(Stop::Fail(format!(
            "the screen does not show {wanted:?}:\n{text}"
        )))
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.tmux(&["kill-server"]);
    }
}

/// The number between two words of the screen, whose groups of digits are apart.
fn shown(text: &str, before: &str, after: &str) -> Check<u64> {
    let rest = text.split_once(before).map(|(_, rest)| rest);
    let found = rest.and_then(|rest| rest.split_once(after));
    let digits = found.map(|(number, _)| number.replace(' ', ""));
    digits
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| Stop::Fail(format!("no number between {before} and {after}:\n{text}")))
}

/// One watcher from the begin to the end of a program, with keys; its counts come from many looks.
fn screen() -> Check {
    need("tmux")?;
    let mut place = Place::new(WORK, &["30"])?;
    let instr = tools()?.instr.display().to_string();
    let command = format!(
        "cd {} && {instr} live --interval 0.1 app; echo status $?; sleep 60",
        place.dir.path().display()
    );
    let screen = Screen::start("live", &command)?;
    let first = screen.shows(&["app · process", "running", "thread 1", "h help"])?;
    ensure(first.contains("sort: thread"), || first.clone())?;
    screen.keys(&["s"])?;
    screen.shows(&["sort: state"])?;
    screen.keys(&["h"])?;
    screen.shows(&["pause and go on"])?;
    screen.keys(&["h"])?;
    screen.shows(&["events/s"])?;
    screen.keys(&["p"])?;
    let paused = screen.shows(&["· paused"])?;
    std::thread::sleep(Duration::from_millis(400));
    let still = screen.shows(&["· paused"])?;
    let events = |text: &str| shown(text, "events ", " (");
    ensure(events(&paused)? == events(&still)?, || still.clone())?;
    screen.keys(&["p"])?;
    let begin = events(&still)?;
    place.end()?;
    let last = screen.shows(&["has ended", "nothing comes any more"])?;
    let summary = place.json(&["summary", "--json", "app"])?;
    ensure(begin < events(&last)?, || last.clone())?;
    let regions = summary["parallel_regions"].as_array().into_iter().flatten();
    let regions: u64 = regions.map(|region| number(region, "count")).sum();
    for (before, after, wanted) in [
        ("events ", " (", number(&summary, "events")),
        ("regions ", " (", regions),
        ("tasks ", " created", number(&summary["tasks"], "created")),
    ] {
        let found = shown(&last, before, after)?;
        ensure(found == wanted, || {
            format!("{before}{found}, but the summary has {wanted}\n{last}")
        })?;
    }
    ensure(last.contains(" 0 not begun, 0 running"), || last.clone())?;
    screen.keys(&["q"])?;
    // The terminal is as it was.
    screen.shows(&["status 0"]).map(|_| ())
}

fn killed() -> Check {
    let mut place = Place::new(WORK, &["100"])?;
    place.until("tasks", |place| {
        (number(&place.live("app").ok()?["processes"][0], "tasks_executed") > 100).then_some(())
    })?;
    if let Some(child) = &mut place.child {
        child.kill()?;
    }
    place.end()?;
    let line = place.live("app")?["processes"][0].clone();
    ensure(line["state"] == "killed", || line.to_string())?;
    same(&line, &place.json(&["summary", "--json", "app"])?)
}

fn children() -> Check {
    let mut place = Place::new(WORK, &["15", "fork"])?;
    let both = place.until("the child", |place| {
        let picture = place.live("app").ok()?;
        (picture["processes"].as_array()?.len() == 2).then_some(picture)
    })?;
    ensure(both["processes"][1]["state"] == "running", || {
        both.to_string()
    })?;
    place.end()?;
    let picture = place.live("app")?;
    let summary = place.json(&["summary", "--json", "app"])?;
    same(&picture["processes"][0], &summary)?;
    same(&picture["processes"][1], &summary["children"][0])
}

fn removed() -> Check {
    need("tmux")?;
    let place = Place::new(WORK, &["100"])?;
    let instr = tools()?.instr.display().to_string();
    let command = format!(
        "cd {} && {instr} live --interval 0.1 app; echo status $?; sleep 60",
        place.dir.path().display()
    );
    let screen = Screen::start("removed", &command)?;
    screen.shows(&["running", "h help"])?;
    std::fs::remove_dir_all(place.trace())?;
    let last = screen.shows(&["its trace was removed or replaced"])?;
    ensure(shown(&last, "events ", " (")? > 0, || last.clone())?;
    screen.keys(&["q"])?;
    screen.shows(&["status 0"]).map(|_| ())
}

fn nothing() -> Check {
    let run = |target: &str| {
        Run::new(tools()?.instr.clone())
            .args(["live", target])
            .output()
    };
    let own = std::process::id().to_string();
    for (target, told) in [
        (own.as_str(), "writes no trace"),
        ("4294967295", "there is no process 4294967295"),
        ("/nonexistent/app", "no such trace or program"),
    ] {
        let outcome = run(target)?;
        ensure(
            outcome.errors().contains(told) && outcome.text().is_empty(),
            || format!("{outcome}"),
        )?;
    }
    Ok(())
}
