//! `instr report`: Chromium opens the page and uses it. What it shows is what `instr summary --json` says ([check.mjs](../../../report/test/check.mjs)).

use std::path::{Path, PathBuf};

use instr_test_needs::{installed, say};
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use instr_trace::kernel::Part;
use instr_trace::{Trace, synth};
use libtest_mimic::Trial;

/// Programs of `tests/sources`: regions, loops, tasks, waits, counters and regions of their own, the heap, children.
const SOURCES: [&str; 6] = [
    "fork_inside_region",
    "locks",
    "memory",
    "task_depend",
    "taskloop",
    "user_events",
];
const SPARSELU: [&str; 2] = ["sparselu_for", "sparselu_task"];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("report::bundle-is-current", bundle),
        trial("report::sparc", sparc),
        trial("report::samples", samples),
        trial("report::killed", killed),
        trial("report::empty", empty),
        trial("report::hostile-names", hostile),
        trial("report::losses", losses),
        trial("report::energy", energy),
        trial("report::files", files),
        trial("report::processors-and-series", || processors(check)),
        trial("report::only-the-kernels-part", || kernel_alone(&[])),
        trial("report::the-whole-system", || kernel_alone(&["--system"])),
        trial("report::two-runs-side-by-side", compared),
        trial("report::one-program-of-several", several),
        trial("report::compare-takes-two-runs", compare_refused),
        trial("report::firefox", firefox),
        trial("report::firefox-hostile-names", firefox_hostile),
    ];
    trials.extend(SOURCES.map(|name| trial(format!("report::{name}"), move || source(name))));
    trials.extend(SPARSELU.map(|name| trial(format!("report::{name}"), move || sparselu(name))));
    trials
}

/// The folder of scripts/report.sh with its packages.
fn packages() -> Check<PathBuf> {
    need("node")?;
    let profile = workspace::profile_dir()?;
    let work = profile.parent().unwrap_or(&profile).join("report");
    if !work.join("node_modules/playwright-core").is_dir() {
        let why = "the packages of report/package-lock.json are not installed (scripts/report.sh --install)";
        return Err(Stop::Skip(why.into()));
    }
    Ok(work)
}

/// The committed script and style are what the sources give, and the sources have no wrong types.
fn bundle() -> Check {
    let work = packages()?;
    let root = workspace::root()?.join("report");
    let dir = workspace::work_dir("report")?;
    let copy = dir.path().join("report");
    let words = [Path::new("cp"), Path::new("-R"), &root, &copy];
    Run::words(words).succeed()?;
    std::os::unix::fs::symlink(work.join("node_modules"), copy.join("node_modules"))?;
    let made = dir.path().join("made");
    let types = work.join("node_modules/typescript/bin/tsc");
    let checked = Run::new("node").arg(types).arg("--noEmit");
    checked.dir(&copy).succeed()?;
    Run::new("node")
        .arg("build.mjs")
        .arg(&made)
        .dir(&copy)
        .succeed()?;
    for name in ["report.js", "report.css"] {
        let same = std::fs::read(made.join(name))? == std::fs::read(root.join("dist").join(name))?;
        ensure(same, || {
            format!("report/dist/{name} is not what report/src gives: scripts/report.sh")
        })?;
    }
    Ok(())
}

/// The page has the summary in it, and markup from no name.
fn carries(page: &Path, summary: &[u8]) -> Check {
    let text = std::fs::read_to_string(page)?;
    let carried = text.split_once("id=\"summary\">");
    let carried = carried.and_then(|(_, rest)| rest.split_once("</script>"));
    let (carried, _) = carried.ok_or("the page has no summary")?;
    let json = |text: &[u8]| -> Check<serde_json::Value> {
        serde_json::from_slice(text).map_err(|error| Stop::Fail(format!("no JSON: {error}")))
    };
    let same = json(carried.as_bytes())? == json(summary)?;
    ensure(same, || "the page does not carry the summary".into())?;
    let scripts = text.matches("</script>").count();
    ensure(scripts == 4 && !text.contains("<img"), || {
        format!("{scripts} scripts, or an image, in the page")
    })
}

/// Whether the system is one that has no package of Chromium.
fn is_ubuntu() -> bool {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    release.lines().any(|line| line == "ID=ubuntu")
}

/// Writes the report of a trace and lets the browser use it.
fn check(trace: &Path, dir: &Path) -> Check {
    let [page, summary] = ["page.html", "summary.json"].map(|name| dir.join(name));
    let instr = |arguments: &[&Path]| Run::new(&tools()?.instr).args(arguments).succeed();
    instr(&["report".as_ref(), trace, "-o".as_ref(), &page])?;
    let json = instr(&["summary".as_ref(), "--json".as_ref(), trace])?;
    carries(&page, &json.stdout)?;
    std::fs::write(&summary, json.stdout)?;
    let mut arguments = vec![summary];
    arguments.extend(graph(trace, dir)?);
    if arguments.len() > 1 {
        arguments.extend(kernel(trace, dir)?);
    }
    let arguments: Vec<&Path> = arguments.iter().map(PathBuf::as_path).collect();
    in_chromium(&page, dir, &arguments)
}

/// Lets Chromium use a page; `arguments` are what the other tools say of its traces.
fn in_chromium(page: &Path, dir: &Path, arguments: &[&Path]) -> Check {
    if !installed("chromium") && is_ubuntu() {
        say("the report was not opened in a browser: Ubuntu has Chromium as a snap alone");
        return Ok(());
    }
    let work = packages()?;
    need("chromium")?;
    // Modules are looked for beside the script.
    let script = dir.join("check.mjs");
    for entry in std::fs::read_dir(workspace::root()?.join("report/test"))? {
        let entry = entry?;
        std::fs::copy(entry.path(), dir.join(entry.file_name()))?;
    }
    std::os::unix::fs::symlink(work.join("node_modules"), dir.join("node_modules"))?;
    let used = Run::new("node").arg(&script).arg(page).args(arguments);
    let used = used.succeed()?;
    ensure(used.text().ends_with(" threads checked\n"), || {
        format!("{used}")
    })
}

/// What `instr graph` says of the tasks of a trace of one process.
fn graph(trace: &Path, dir: &Path) -> Check<Option<PathBuf>> {
    let forked =
        |entry: &std::fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(b"fork-");
    if std::fs::read_dir(trace)?
        .flatten()
        .any(|entry| forked(&entry))
    {
        return Ok(None);
    }
    let file = dir.join("graph.json");
    let instr = Run::new(&tools()?.instr).arg("graph").arg(trace);
    instr.arg("-o").arg(&file).succeed()?;
    Ok(Some(file))
}

/// What `instr processors` writes of a trace with a part of the kernel: every slice, every value of the series, and how much earlier than the time line
/// they begin, ns.
fn kernel(trace: &Path, dir: &Path) -> Check<Option<PathBuf>> {
    let text = |error: instr_trace::Error| Stop::Fail(format!("{error}"));
    let Some(part) = Part::of_trace(trace).map_err(text)? else {
        return Ok(None);
    };
    let read = Trace::open(trace).map_err(text)?;
    let first = read.threads().iter().map(|thread| thread.first_time).min();
    if first.is_none() {
        return Ok(None); // the summary has what there is to compare
    }
    let begin = read.metadata().start_monotonic_ns + first.unwrap_or(0);
    let before = begin - part.info().start_monotonic_ns;
    let csv = |option: &str| -> Check<String> {
        let file = dir.join(format!("{}.csv", option.trim_start_matches('-')));
        let instr = Run::new(&tools()?.instr).arg("processors").arg(option);
        instr.arg(&file).arg(trace).succeed()?;
        Ok(std::fs::read_to_string(file)?)
    };
    let told = serde_json::json!({
        "before": before,
        "slices": csv("--csv")?,
        "series": csv("--series")?,
    });
    let file = dir.join("kernel.json");
    std::fs::write(&file, told.to_string())?;
    Ok(Some(file))
}

const SERIES: &str = "[process]\nperiod = \"2ms\"\n[pressure]\nperiod = \"2ms\"\n";

/// Rows by processor have the slices that `instr processors` counts, lanes the values of the series.
fn processors(check: fn(&Path, &Path) -> Check) -> Check {
    let dir = workspace::work_dir("report")?;
    let [program, config] = ["program", "c.toml"].map(|name| dir.path().join(name));
    let files = crate::sparselu::sources("sparselu_task")?;
    let sources: Vec<_> = files.iter().map(PathBuf::as_path).collect();
    let build = Build::openmp(Target::X86_64).flag("-g").flag("-lm");
    build.traced(&sources, &program)?;
    std::fs::write(&config, SERIES)?;
    let trace = dir.path().join("trace");
    let run = Run::new(&tools()?.instr).args(["run", "--config"]);
    let run = run.arg(&config).arg("--").arg(&program).args(["12", "24"]);
    let run = run.env("INSTR_TRACE", &trace).env("OMP_NUM_THREADS", "3");
    run.succeed()?;
    check(&trace, dir.path())
}

/// Programs that record nothing themselves: a shell and what it starts.
const SHELL: &str =
    "#!/bin/sh\nfor i in 1 2; do\n    sleep 0.02\n    seq 20000 | sort -R | md5sum\ndone\n";

/// A trace with nothing but who ran on which processor: rows are the threads that the kernel saw.
fn kernel_alone(options: &[&str]) -> Check {
    let dir = workspace::work_dir("report")?;
    let [program, trace] = ["shell.sh", "trace"].map(|name| dir.path().join(name));
    std::fs::write(&program, SHELL)?;
    std::fs::set_permissions(
        &program,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )?;
    let run = Run::new(&tools()?.instr).arg("run").args(options);
    let run = run.arg("-o").arg(&trace).arg("--").arg(&program);
    run.succeed()?;
    check(&trace, dir.path())
}

/// Two runs of a program, by 2 and 3 threads and of different sizes.
fn two_runs(dir: &Path) -> Check<[PathBuf; 2]> {
    let program = dir.join("program");
    let files = crate::sparselu::sources("sparselu_task")?;
    let sources: Vec<_> = files.iter().map(PathBuf::as_path).collect();
    let build = Build::openmp(Target::X86_64).flag("-g").flag("-lm");
    build.traced(&sources, &program)?;
    let traces = ["a", "b"].map(|name| dir.join(name));
    for (trace, (threads, blocks)) in traces.iter().zip([("2", "6"), ("3", "9")]) {
        let run = Target::X86_64.run(&program).args([blocks, "8"]);
        let run = run.env("INSTR_TRACE", trace);
        run.env("OMP_NUM_THREADS", threads).succeed()?;
    }
    Ok(traces)
}

/// The table has what both summaries say; both runs begin at 0; the page works in the browser.
fn compared() -> Check {
    let dir = workspace::work_dir("report")?;
    let [a, b] = two_runs(dir.path())?;
    let page = dir.path().join("page.html");
    let instr = |arguments: &[&Path]| Run::new(&tools()?.instr).args(arguments).succeed();
    instr(&[
        "report".as_ref(),
        "--compare".as_ref(),
        &a,
        &b,
        "-o".as_ref(),
        &page,
    ])?;
    let text = std::fs::read_to_string(&page)?;
    let summary = |trace: &Path| -> Check<serde_json::Value> {
        let json = instr(&["summary".as_ref(), "--json".as_ref(), trace])?.stdout;
        serde_json::from_slice(&json).map_err(|error| Stop::Fail(format!("no JSON: {error}")))
    };
    let (first, second) = (summary(&a)?, summary(&b)?);
    let table = text
        .split_once("<table class=\"compared\">")
        .ok_or("there is no table")?
        .1;
    let table = table
        .split_once("</table>")
        .ok_or("the table does not end")?
        .0;
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("</td>").filter_map(|cell| cell.rsplit_once('>'));
        cells
            .map(|(_, text)| text.replace(['\u{202f}', ' '], ""))
            .collect()
    };
    let rows: Vec<_> = table
        .lines()
        .filter(|line| line.contains("<td>task</td>"))
        .map(cells)
        .collect();
    let executed = |summary: &serde_json::Value| -> Vec<(u64, u64)> {
        let tasks = summary["task_functions"].as_array().into_iter().flatten();
        let both =
            |task: &serde_json::Value| Some((task["line"].as_u64()?, task["executed"].as_u64()?));
        tasks.filter_map(both).collect()
    };
    let (first_tasks, second_tasks) = (executed(&first), executed(&second));
    ensure(rows.len() == 4 && first_tasks.len() == 4, || {
        format!("{} task functions", rows.len())
    })?;
    for (line, count) in &first_tasks {
        let other = second_tasks.iter().find(|(own, _)| own == line);
        let (_, other) = other.ok_or("a function has no task in the second run")?;
        let counts = [count.to_string(), other.to_string()];
        let found = rows.iter().any(|row| row.get(1..3) == Some(&counts[..]));
        ensure(found, || {
            format!("line {line} has {counts:?} tasks, in none of {rows:?}")
        })?;
    }
    let data = text.split_once("id=\"timeline-data\">").ok_or("no data")?.1;
    let data = data.split_once("</script>").ok_or("no end")?.0;
    let data: serde_json::Value =
        serde_json::from_str(data).map_err(|error| Stop::Fail(format!("no JSON: {error}")))?;
    for process in 0..2 {
        let tracks = data["tracks"].as_array().into_iter().flatten();
        let own = tracks.filter(|track| track["process"] == process);
        let begin = own.filter_map(|track| track["begin_ns"].as_u64()).min();
        ensure(begin == Some(0), || {
            format!("run {process} begins at {begin:?}")
        })?;
    }
    let both = instr(&["summary".as_ref(), "--json".as_ref(), &a, &b])?.stdout;
    carries(&page, &both)?;
    let json = dir.path().join("summary.json");
    std::fs::write(&json, both)?;
    in_chromium(&page, dir.path(), &[&json])
}

/// Two traces on one time line: each program by itself has its own rows, findings and tables.
fn several() -> Check {
    let dir = workspace::work_dir("report")?;
    let [a, b] = two_runs(dir.path())?;
    let [page, json] = ["page.html", "summary.json"].map(|name| dir.path().join(name));
    let instr = |arguments: &[&Path]| Run::new(&tools()?.instr).args(arguments).succeed();
    instr(&["report".as_ref(), &a, &b, "-o".as_ref(), &page])?;
    let both = instr(&["summary".as_ref(), "--json".as_ref(), &a, &b])?.stdout;
    carries(&page, &both)?;
    std::fs::write(&json, both)?;
    in_chromium(&page, dir.path(), &[&json])
}

fn compare_refused() -> Check {
    let dir = workspace::work_dir("report")?;
    let trace = dir.path().join("trace");
    std::fs::create_dir(&trace)?;
    synth::tasks(&trace, synth::layouts()[0], 2, 200).map_err(|error| format!("{error}"))?;
    let page = dir.path().join("page.html");
    let instr = Run::new(&tools()?.instr).args(["report", "--compare", "-o"]);
    let refused = instr.arg(&page).arg(&trace).output()?;
    let said = refused.errors();
    ensure(
        said.starts_with("instr: error: `--compare` takes two runs, not 1") && !page.exists(),
        || format!("{refused}"),
    )
}

/// Builds, runs and checks a program, which may end as it likes; `settings` are of its environment.
fn traced(
    build: Build,
    target: Target,
    sources: &[&Path],
    arguments: &[&str],
    settings: &[(&str, &str)],
) -> Check {
    let dir = workspace::work_dir("report")?;
    let [program, trace] = ["program", "trace"].map(|name| dir.path().join(name));
    build.traced(sources, &program)?;
    let run = target.run(&program).args(arguments);
    let mut run = run.env("INSTR_TRACE", &trace);
    for (name, value) in settings {
        run = run.env(name, value);
    }
    run.output()?;
    check(&trace, dir.path())
}

const THREE: (&str, &str) = ("OMP_NUM_THREADS", "3");

fn source(name: &str) -> Check {
    let sources = workspace::root()?.join("tests/sources");
    let mut build = Build::openmp(Target::X86_64);
    if name == "memory" {
        build = build.flag("--instr-memory");
    }
    let file = sources.join(name).join(format!("{name}.c"));
    traced(build, Target::X86_64, &[&file], &[], &[THREE])
}

fn sparselu(name: &str) -> Check {
    sparselu_on(name, Target::X86_64, &[THREE])
}

fn sparselu_on(name: &str, target: Target, settings: &[(&str, &str)]) -> Check {
    let files = crate::sparselu::sources(name)?;
    let sources: Vec<_> = files.iter().map(PathBuf::as_path).collect();
    let build = Build::openmp(target).flag("-g").flag("-lm");
    // Few and small blocks: emulators are slow.
    traced(build, target, &sources, &["12", "8"], settings)
}

fn sparc() -> Check {
    need("qemu-sparc32plus")?;
    sparselu_on("sparselu_task", Target::Sparc32, &[THREE])
}

fn samples() -> Check {
    let settings = [THREE, ("INSTR_SAMPLING_PERIOD", "1ms")];
    sparselu_on("sparselu_task", Target::X86_64, &settings)
}

/// Opens the report of a trace in Firefox, where there is one: it takes 300 MB, more than tests may install.
fn in_firefox(trace: &Path, dir: &Path) -> Check {
    let firefox = std::env::var("FIREFOX").unwrap_or_else(|_| "/usr/bin/firefox-esr".to_owned());
    if !Path::new(&firefox).is_file() {
        say("the report was not opened in Firefox: firefox-esr is not installed");
        return Ok(());
    }
    let work = packages()?;
    let page = dir.join("page.html");
    let instr = Run::new(&tools()?.instr).arg("report").arg(trace);
    instr.arg("-o").arg(&page).succeed()?;
    let script = dir.join("firefox.mjs");
    std::fs::copy(workspace::root()?.join("report/test/firefox.mjs"), &script)?;
    std::os::unix::fs::symlink(work.join("node_modules"), dir.join("node_modules"))?;
    let used = Run::new("node").arg(&script).arg(&page);
    let used = used.env("FIREFOX", &firefox).succeed()?;
    ensure(used.text().ends_with(" threads checked\n"), || {
        format!("{used}")
    })
}

fn firefox() -> Check {
    processors(in_firefox)
}

fn firefox_hostile() -> Check {
    written_for(HOSTILE, HOSTILE_NAME, in_firefox)
}

/// Writes a program, builds it under the name `name`, runs it and checks its report.
fn written(text: &str, name: &str) -> Check {
    written_for(text, name, check)
}

fn written_for(text: &str, name: &str, check: fn(&Path, &Path) -> Check) -> Check {
    let dir = workspace::work_dir("report")?;
    let source = dir.path().join("source.c");
    std::fs::write(&source, text)?;
    let [program, trace] = [name, "trace"].map(|name| dir.path().join(name));
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    let run = Target::X86_64.run(&program).env("INSTR_TRACE", &trace);
    run.env("OMP_NUM_THREADS", "3").output()?;
    check(&trace, dir.path())
}

/// Meters that a script moves: lanes of power, energy by region.
fn energy() -> Check {
    let dir = workspace::work_dir("report")?;
    let [root, steps, trace] = ["root", "script", "trace"].map(|name| dir.path().join(name));
    crate::sensors::plant(&root)?;
    let meter = "sys/class/powercap/intel-rapl:1/energy_uj";
    let script = [2_500_100, 4_000_100, 9_000_100].map(|value| format!("{meter} {value}\n!\n"));
    std::fs::write(&steps, script.concat())?;
    let program = crate::sensors::program(dir.path(), "steps", Target::X86_64)?;
    let settings = [
        ("INSTR_SENSORS", "rapl"),
        ("INSTR_SENSORS_AT", "regions"),
        ("INSTR_SENSORS_ROOT", root.to_str().unwrap_or("")),
    ];
    let run = Target::X86_64.run(&program).arg(&steps).arg(&root);
    crate::sensors::ran(run, &trace, &settings)?;
    let json = Run::new(&tools()?.instr).args(["summary", "--json"]);
    let json = json.arg(&trace).succeed()?.text();
    ensure(json.contains("\"source\": \"measured\""), || json.clone())?;
    check(&trace, dir.path())
}

/// A small ring: most events are lost, and a lane says when.
fn losses() -> Check {
    let source = workspace::root()?.join("tests/sources/many_packets/many_packets.c");
    let dir = workspace::work_dir("report")?;
    let [program, trace] = ["program", "trace"].map(|name| dir.path().join(name));
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    let run = Target::X86_64.run(&program).env("INSTR_TRACE", &trace);
    let run = run.env("INSTR_BUFFER", "16K").env("INSTR_POLICY", "ring");
    run.output()?;
    let read = Trace::open(&trace).map_err(|error| Stop::Fail(format!("{error}")))?;
    ensure(read.discarded() > 0, || "no event was lost".into())?;
    check(&trace, dir.path())
}

const KILLED: &str = "#include <omp.h>\n#include <signal.h>\nint main(void) {\n#pragma omp parallel\n{\n#pragma omp barrier\n#pragma omp for \
                      schedule(dynamic)\nfor (int i = 0; i < 100; i++)\nif (i == 70) raise(SIGKILL);\n}\nreturn 0;\n}\n";

fn killed() -> Check {
    written(KILLED, "killed")
}

const HOSTILE: &str = "#include <instr/instr.h>\nint main(void) {\n#define NAME \"</script><img src=x onerror=hacked=1><!--'&quot;\"\n#pragma omp \
                       parallel\n{\ninstr_region_begin(NAME);\ninstr_counter(NAME, 7);\ninstr_region_end();\n}\nreturn 0;\n}\n";

const HOSTILE_NAME: &str = "<img src=x onerror=hacked=1>\"'&";

fn hostile() -> Check {
    written(HOSTILE, HOSTILE_NAME)
}

/// A trace without a thread.
fn empty() -> Check {
    let dir = workspace::work_dir("report")?;
    let trace = dir.path().join("trace");
    std::fs::create_dir(&trace)?;
    synth::begin(&trace, synth::layouts()[0], 1_000_000_000).map_err(|error| format!("{error}"))?;
    check(&trace, dir.path())
}

/// The file is where it was asked for, complete, and the same each time; what cannot be written leaves nothing.
fn files() -> Check {
    let dir = workspace::work_dir("report")?;
    let trace = dir.path().join("trace");
    std::fs::create_dir(&trace)?;
    synth::tasks(&trace, synth::layouts()[0], 2, 2000).map_err(|error| format!("{error}"))?;
    let instr = || -> Check<Run> { Ok(Run::new(&tools()?.instr).arg("report").arg(&trace)) };
    let file = dir.path().join("a.html");
    let said = instr()?.arg("-o").arg(&file).succeed()?.text();
    ensure(said.contains("a.html: 2 threads of 1 process, "), || said)?;
    let text = std::fs::read(&file)?;
    let written = instr()?.arg("-o").arg("-").succeed()?.stdout;
    ensure(text == written && text.ends_with(b"</html>\n"), || {
        "two reports of a trace differ".into()
    })?;
    let refused = instr()?.arg("-o").arg("/nonexistent/a.html").output()?;
    ensure(refused.errors().contains("/nonexistent/a.html"), || {
        format!("{refused}")
    })?;
    let refused = instr()?.arg("-o").arg("-").arg("--open").output()?;
    ensure(
        refused.errors().starts_with("instr: error: `--open`"),
        || format!("{refused}"),
    )
}
