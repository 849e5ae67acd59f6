//! `instr report`: Chromium opens the page and uses it. What it shows is what `instr summary --json` says ([check.mjs](../../../report/test/check.mjs)).

use std::path::{Path, PathBuf};

use instr_test_needs::{installed, say};
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use instr_trace::synth;
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
        trial("report::files", files),
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
    if !installed("chromium") && is_ubuntu() {
        say("the report was not opened in a browser: Ubuntu has Chromium as a snap alone");
        return Ok(());
    }
    let work = packages()?;
    need("chromium")?;
    // Modules are looked for beside the script.
    let script = dir.join("check.mjs");
    std::fs::copy(workspace::root()?.join("report/test/check.mjs"), &script)?;
    std::os::unix::fs::symlink(work.join("node_modules"), dir.join("node_modules"))?;
    let used = Run::new("node").arg(&script).arg(&page).arg(&summary);
    let used = used.succeed()?;
    ensure(used.text().ends_with(" threads checked\n"), || {
        format!("{used}")
    })
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

/// Writes a program, builds it under the name `name`, runs it and checks its report.
fn written(text: &str, name: &str) -> Check {
    let dir = workspace::work_dir("report")?;
    let source = dir.path().join("source.c");
    std::fs::write(&source, text)?;
    let [program, trace] = [name, "trace"].map(|name| dir.path().join(name));
    Build::openmp(Target::X86_64).traced(&[&source], &program)?;
    let run = Target::X86_64.run(&program).env("INSTR_TRACE", &trace);
    run.env("OMP_NUM_THREADS", "3").output()?;
    check(&trace, dir.path())
}

const KILLED: &str = "#include <omp.h>\n#include <signal.h>\nint main(void) {\n#pragma omp parallel\n{\n#pragma omp barrier\n#pragma omp for \
                      schedule(dynamic)\nfor (int i = 0; i < 100; i++)\nif (i == 70) raise(SIGKILL);\n}\nreturn 0;\n}\n";

fn killed() -> Check {
    written(KILLED, "killed")
}

const HOSTILE: &str = "#include <instr/instr.h>\nint main(void) {\n#define NAME \"</script><img src=x onerror=hacked=1><!--'&quot;\"\n#pragma omp \
                       parallel\n{\ninstr_region_begin(NAME);\ninstr_counter(NAME, 7);\ninstr_region_end();\n}\nreturn 0;\n}\n";

fn hostile() -> Check {
    written(HOSTILE, "<img src=x onerror=hacked=1>\"'&")
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
