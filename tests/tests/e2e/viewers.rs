//! `instr export` in the formats of other viewers: readers that are not ours open the files, and what those hold is what `instr summary` counts.
//! `perfetto` has tests of its own.

use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::small_disk::SmallDisk;

/// Programs of `tests/sources` that between them have every kind of span, and a target for each.
const SOURCES: [(&str, Target); 8] = [
    ("cancel", Target::X86_64),
    ("fork_inside_region", Target::X86_64),
    ("locks", Target::Sparc64),
    ("memory", Target::X86_64),
    ("task_depend", Target::Sparc32),
    ("task_nested", Target::X86_64),
    ("taskloop", Target::X86_64),
    ("user_events", Target::X86_64),
];

pub(crate) fn trials() -> Vec<Trial> {
    let of = |(name, target): (&'static str, Target)| {
        trial(format!("viewers::{name}::{}", target.name()), move || {
            program(name, target)
        })
    };
    let mut trials: Vec<Trial> = SOURCES.into_iter().map(of).collect();
    trials.push(trial("viewers::sampled", sampled));
    trials.push(trial("viewers::of-a-killed-program", killed));
    trials.push(trial("viewers::folders-of-others-stay", folders));
    trials.push(trial("viewers::archives-on-a-full-disk", full_disk));
    trials.push(trial("viewers::standard-output-by-its-names", by_names));
    trials.push(trial("viewers::a-trace-of-no-thread", no_thread));
    trials
}

/// Where exports of a trace are read.
struct Place {
    dir: tempfile::TempDir,
    python: PathBuf,
    schema: PathBuf,
}

impl Place {
    fn new() -> Check<Self> {
        let python = crate::perfetto::python()?;
        let profile = workspace::profile_dir()?;
        let target = profile.parent().unwrap_or(&profile);
        let schema = "viewers/node_modules/speedscope/dist/release/file-format-schema.json";
        let schema = target.join(schema);
        if !schema.is_file() {
            let why = "npm's package speedscope is not installed (scripts/setup.sh)";
            return Err(Stop::Skip(why.into()));
        }
        need("otf2-print")?;
        let dir = workspace::work_dir("viewers")?;
        Ok(Self {
            dir,
            python,
            schema,
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn instr(&self, arguments: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(arguments);
        Ok(run.dir(self.dir.path()))
    }
}

fn program(name: &str, target: Target) -> Check {
    let place = Place::new()?;
    let source = format!("tests/sources/{name}/{name}.c");
    let mut build = Build::openmp(target);
    if name == "memory" {
        build = build.flag("--instr-memory");
    }
    let program = place.at("program");
    build.traced(&[&workspace::root()?.join(source)], &program)?;
    let run = target.run(&program).env("INSTR_TRACE", place.at("trace"));
    run.env("OMP_NUM_THREADS", "3")
        .env("OMP_CANCELLATION", "true")
        .succeed()?;
    all_formats(&place)
}

/// Exports the trace in all formats, and has each read by others.
fn all_formats(place: &Place) -> Check {
    let json = place.instr(&["summary", "--json", "trace"])?.succeed()?;
    std::fs::write(place.at("summary.json"), json.stdout)?;
    let checks = workspace::root()?.join("tests/viewers");
    let check = |python: &Path, script: &str, arguments: &[&str]| -> Check<Outcome> {
        // No compiled modules beside the sources.
        let run = Run::new(python).arg("-B").arg(checks.join(script));
        run.args(arguments).dir(place.dir.path()).succeed()
    };
    let schema = place.schema.to_string_lossy();
    for format in ["chrome", "folded", "pprof", "speedscope"] {
        let export = ["export", "trace", "--format", format, "-o", format];
        place.instr(&export)?.succeed()?;
        let mut arguments = vec![format, format, "summary.json"];
        if format == "speedscope" {
            arguments.push(&schema);
        }
        let found = check(&place.python, "check.py", &arguments)?;
        ensure(found.text().starts_with(format), || format!("{found}"))?;
    }
    place
        .instr(&["export", "trace", "--format", "otf2", "-o", "archive"])?
        .succeed()?;
    // Debian's module is that of the system's own Python.
    let arguments = ["archive/traces.otf2", "summary.json"];
    let found = check("/usr/bin/python3".as_ref(), "otf2_check.py", &arguments)?;
    ensure(found.text().starts_with("otf2"), || format!("{found}"))?;
    let printed = Run::new("otf2-print").arg(place.at("archive/traces.otf2"));
    let printed = printed.succeed()?;
    ensure(printed.text().contains("=== Events ==="), || {
        format!("{printed}")
    })
}

/// Builds a program of one file, and runs it with settings; whether it ends well is the caller's.
fn run(place: &Place, source: &str, settings: &[(&str, &str)]) -> Check<Outcome> {
    let file = place.at("app.c");
    std::fs::write(&file, source)?;
    let program = place.at("program");
    Build::openmp(Target::X86_64).traced(&[&file], &program)?;
    let mut run = Target::X86_64
        .run(&program)
        .env("INSTR_TRACE", place.at("trace"));
    for (name, value) in settings {
        run = run.env(name, value);
    }
    run.output()
}

/// Profiles are of samples where there are some: as much time as the samples stand for.
fn sampled() -> Check {
    let place = Place::new()?;
    let source = "static volatile unsigned sum;\n\
                  __attribute__((noinline)) static void work(void) { for (unsigned i = 0; i < 30000000; i++) sum += i; }\n\
                  int main(void) {\n#pragma omp parallel num_threads(2)\n    work();\n    return 0;\n}\n";
    run(&place, source, &[("INSTR_SAMPLING_PERIOD", "1ms")])?;
    all_formats(&place)?;
    let folded = std::fs::read_to_string(place.at("folded"))?;
    // Nearly all of it is in that function, below the region's body or main itself.
    let all = |line: &str| {
        line.rsplit_once(' ')
            .and_then(|(_, ns)| ns.parse::<u64>().ok())
    };
    let total: u64 = folded.lines().filter_map(all).sum();
    let inside = folded.lines().filter(|line| line.contains(";work "));
    let inside: u64 = inside.filter_map(all).sum();
    ensure(total > 0 && inside * 10 > total * 8, || folded.clone())
}

/// What is open when the program is killed is closed in every format.
fn killed() -> Check {
    let place = Place::new()?;
    let source = "#include <omp.h>\n#include <signal.h>\n#include <instr/instr.h>\n\
                  int main(void) {\n    omp_lock_t lock;\n    omp_init_lock(&lock);\n    instr_region_begin(\"all\");\n\
                  #pragma omp parallel num_threads(2)\n#pragma omp single\n    {\n#pragma omp task if(0)\n        {\n\
                  omp_set_lock(&lock);\n            instr_region_begin(\"inside\");\n            raise(SIGKILL);\n        }\n    }\n}\n";
    let outcome = run(&place, source, &[])?;
    ensure(outcome.status != Status::Code(0), || format!("{outcome}"))?;
    all_formats(&place)
}

const TASKS: &str = "int main(void) {\n    int sum = 0;\n#pragma omp parallel num_threads(2)\n#pragma omp single\n    for (int i = 0; i < 100000; i++) {\n\
                     #pragma omp task shared(sum)\n#pragma omp atomic\n        sum++;\n    }\n    return sum != 100000;\n}\n";

/// Whichever write fails, OTF2's library is left alone from then on: it dies of the next one.
fn full_disk() -> Check {
    let place = Place::new()?;
    run(&place, TASKS, &[])?;
    let instr = tools()?.instr.display().to_string();
    for kib in [64, 256, 512, 1024, 1500] {
        let disk = SmallDisk::new(place.dir.path(), &format!("{kib}k"))?;
        let export = format!("'{instr}' export trace -f otf2 -o disk/archive; echo $?; ls -A disk");
        let outcome = disk.run(&export).output()?;
        let told = outcome.errors().contains("No space left on device");
        ensure(outcome.text() == "1\n" && told, || {
            format!("{kib} KiB: {outcome}")
        })?;
    }
    Ok(())
}

/// What the kernel recorded of a program without threads is a trace: formats that have nothing of it name those that do.
fn no_thread() -> Check {
    let place = Place::new()?;
    place
        .instr(&["run", "-q", "-o", "trace", "true"])?
        .succeed()?;
    if !place.at("trace/kernel").is_dir() {
        return Err(Stop::NotAllowed("to record context switches".into()));
    }
    let export = |format: &str| place.instr(&["export", "trace", "-f", format, "-o", format]);
    export("perfetto")?.succeed()?;
    for format in ["chrome", "otf2", "folded", "pprof", "speedscope"] {
        let refused = export(format)?.output()?;
        let told = refused.errors().contains("trace has no events of threads");
        let is_left = place.at(format).exists();
        ensure(
            refused.status == Status::Code(1) && told && !is_left,
            || format!("{refused}"),
        )?;
    }
    Ok(())
}

/// What names the standard output gets nothing but the export.
fn by_names() -> Check {
    let place = Place::new()?;
    run(&place, TASKS, &[])?;
    let export = |to: &str| {
        let run = place.instr(&["export", "trace", "-f", "folded", "-o", to])?;
        Ok::<_, Stop>(run.succeed()?.text())
    };
    let wanted = export("-")?;
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let found = export(name)?;
        ensure(found == wanted, || format!("{name}: {found}"))?;
    }
    Ok(())
}

/// A folder is replaced by an export if it is one, and by nothing else; a folder is no standard output.
fn folders() -> Check {
    let place = Place::new()?;
    run(
        &place,
        "#include <stdio.h>\nint main(void) {\n#pragma omp parallel\n    puts(\"\");\n}\n",
        &[],
    )?;
    let export = |to: &str| place.instr(&["export", "trace", "-f", "otf2", "-o", to]);
    for _ in 0..2 {
        export("archive")?.succeed()?;
        export("archive/")?.succeed()?;
    }
    std::fs::create_dir(place.at("home"))?;
    std::fs::write(place.at("home/thesis"), "years")?;
    std::os::unix::fs::symlink("nowhere", place.at("link"))?;
    for (to, why) in [
        ("home", "the folder holds other files"),
        ("home/thesis", "it is there, and no folder"),
        ("link", "it is a symbolic link"),
        ("-", "standard output"),
    ] {
        let refused = export(to)?.output()?;
        let errors = refused.errors();
        ensure(
            errors.contains(why) && errors.contains("help: name a folder"),
            || format!("{refused}"),
        )?;
    }
    let left = std::fs::read_dir(place.dir.path())?.flatten();
    let hidden = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with('.');
    let left: Vec<_> = left.filter(hidden).collect();
    ensure(left.is_empty(), || format!("left behind: {left:?}"))?;
    ensure(
        std::fs::read_to_string(place.at("home/thesis"))? == "years",
        || "the thesis is gone".into(),
    )
}
