//! A trace carries its names: what it shows is the same after its program was built again, stripped, changed or removed.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("names::rebuilt-before-the-trace-was-read", || {
            rebuilt(false)
        }),
        trial("names::rebuilt-after-it-was-read", || rebuilt(true)),
        trial("names::a-trace-that-is-moved-takes-them-along", moved),
        trial("names::without-a-build-id", without_build_id),
        trial("names::libraries-of-the-program", libraries),
        trial("names::a-trace-that-cannot-be-written", read_only),
        trial("names::what-others-put-there-is-not-believed", not_believed),
        trial("names::of-forked-children", children),
    ];
    for (name, command) in [
        ("removed", "rm app"),
        ("stripped", "strip app"),
        ("overwritten", "cp /bin/true app"),
        ("moved-away", "mv app elsewhere"),
    ] {
        trials.push(trial(
            format!("names::program-is-{name}-after-the-trace-was-read"),
            move || changed(command, true),
        ));
        // What changes the file itself, not its name, changes the link as well: see docs/decisions/0021.
        if !["stripped", "overwritten"].contains(&name) {
            trials.push(trial(
                format!("names::program-is-{name}-before"),
                move || changed(command, false),
            ));
        }
    }
    trials
}

/// A program with a parallel region in `work` on line `line`.
fn source(name: &str, line: usize) -> String {
    let before = "\n".repeat(line - 3);
    format!(
        "{before}static void {name}(int *n)\n{{\n#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    ++*n;\n}}\n\
         int main(void)\n{{\n    int n = 0;\n    {name}(&n);\n    return n != 2;\n}}\n"
    )
}

struct Place {
    dir: TempDir,
    flags: Vec<&'static str>,
}

impl Place {
    fn new(name: &str, flags: &[&'static str]) -> Check<Self> {
        Ok(Self {
            dir: workspace::work_dir(name)?,
            flags: flags.to_vec(),
        })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Builds `app` with the region of `function` on this line.
    fn build(&self, function: &str, line: usize) -> Check {
        std::fs::write(self.at("app.c"), source(function, line))?;
        let build = Build::openmp(Target::X86_64).flag("-fno-inline");
        let build = self
            .flags
            .iter()
            .fold(build, |build, flag| build.flag(*flag));
        build.traced(&[&self.at("app.c")], &self.at("app"))?;
        Ok(())
    }

    fn run(&self) -> Check {
        Run::new(self.at("app")).dir(self.dir.path()).succeed()?;
        Ok(())
    }

    fn sh(&self, script: &str) -> Check {
        Run::words(["sh", "-c", script])
            .dir(self.dir.path())
            .succeed()?;
        Ok(())
    }
}

/// The summary without the name of the trace's folder, and the place of its region.
fn shown(trace: &Path) -> Check<(Value, String)> {
    let mut summary = cases::summary(trace)?;
    let region = &summary["parallel_regions"][0];
    let place = format!(
        "{} {}:{}",
        region["function"].as_str().unwrap_or("?"),
        Path::new(region["file"].as_str().unwrap_or("?")).display(),
        region["line"]
    );
    if let Some(fields) = summary.as_object_mut() {
        fields.remove("directory");
    }
    Ok((summary, place))
}

fn is(trace: &Path, function: &str, line: usize) -> Check<Value> {
    let (summary, place) = shown(trace)?;
    let right = place.contains(function) && place.ends_with(&format!("app.c:{line}"));
    ensure(right, || {
        format!(
            "{}: {place}, expected {function} on line {line}",
            trace.display()
        )
    })?;
    Ok(summary)
}

fn rebuilt(read: bool) -> Check {
    let place = Place::new("names-rebuilt", &[])?;
    place.build("before", 20)?;
    place.run()?;
    let first = if read {
        Some(is(&place.at("app.instr"), "before", 20)?)
    } else {
        None
    };
    place.build("afterwards", 40)?;
    let again = is(&place.at("app.instr"), "before", 20)?;
    ensure(first.is_none_or(|first| first == again), || {
        "the summary is another one".into()
    })?;
    place.run()?;
    is(&place.at("app.instr"), "afterwards", 40)?;
    place.sh("rm app")?;
    let again_later = is(&place.at("app.instr.1"), "before", 20)?;
    ensure(again == again_later, || "the summary is another one".into())?;
    is(&place.at("app"), "afterwards", 40)?;
    // Other commands have the names, too.
    let graph = Run::new(&tools()?.instr)
        .args(["merge", "app.1", "-o", "out"])
        .dir(place.dir.path());
    graph.succeed()?;
    let labels = std::fs::read_to_string(place.at("out.pcf"))?;
    ensure(labels.contains("app.c:20"), || labels)?;
    let run = Run::new(&tools()?.instr).args(["symbolize", "--trace", "app.1", "-f"]);
    let answers = run.dir(place.dir.path()).succeed()?;
    ensure(answers.text().contains("before._omp_fn.0"), || {
        format!("{answers}")
    })
}

fn changed(command: &str, read: bool) -> Check {
    need("strip")?;
    let place = Place::new("names-changed", &[])?;
    place.build("work", 20)?;
    place.run()?;
    if read {
        is(&place.at("app.instr"), "work", 20)?;
    }
    place.sh(command)?;
    is(&place.at("app.instr"), "work", 20).map(|_| ())
}

fn moved() -> Check {
    let place = Place::new("names-moved", &[])?;
    place.build("work", 20)?;
    place.run()?;
    place.sh("mkdir away && tar cf - app.instr | (cd away && tar xf -) && rm -r app app.instr app.c && mv away/app.instr away/x")?;
    is(&place.at("away/x"), "work", 20).map(|_| ())
}

/// Then nothing but the link itself says which file ran.
fn without_build_id() -> Check {
    let place = Place::new("names-no-id", &["-Wl,--build-id=none"])?;
    place.build("before", 20)?;
    place.run()?;
    place.build("afterwards", 40)?;
    is(&place.at("app.instr"), "before", 20).map(|_| ())
}

/// A library whose region is asked for stays with the trace once it was read.
fn libraries() -> Check {
    let place = Place::new("names-library", &[])?;
    let library = "void work(int *n)\n{\n#pragma omp parallel num_threads(2)\n#pragma omp atomic\n    ++*n;\n}\n";
    std::fs::write(place.at("lib.c"), library)?;
    std::fs::write(
        place.at("app.c"),
        "void work(int *);\nint main(void)\n{\n    int n = 0;\n    work(&n);\n    return n != 2;\n}\n",
    )?;
    let build = |flags: &[&str], source: &str, output: &str| -> Check {
        let build = Build::openmp(Target::X86_64);
        let build = flags.iter().fold(build, |build, flag| build.flag(*flag));
        build
            .traced(&[&place.at(source)], &place.at(output))
            .map(|_| ())
    };
    let here = format!("-L{}", place.dir.path().display());
    let found = format!("-Wl,-rpath,{}", place.dir.path().display());
    build(&["-shared", "-fPIC"], "lib.c", "libwork.so")?;
    build(
        &[&here, "-Wl,--no-as-needed", "-lwork", &found],
        "app.c",
        "app",
    )?;
    place.run()?;
    let (first, region) = shown(&place.at("app.instr"))?;
    ensure(region.ends_with("lib.c:3"), || region)?;
    place.sh("rm libwork.so app")?;
    let (again, _) = shown(&place.at("app.instr"))?;
    ensure(first == again, || "the summary is another one".into())
}

/// Nothing fails where nothing can be kept, as in a copy that others own.
fn read_only() -> Check {
    let place = Place::new("names-read-only", &[])?;
    place.build("work", 20)?;
    place.run()?;
    place.sh("rm -f app.instr/.binary_0 && chmod 500 app.instr")?;
    let outcome = Run::new(&tools()?.instr)
        .args(["summary", "app.instr"])
        .dir(place.dir.path());
    let outcome = outcome.succeed()?;
    let clean = outcome.errors().is_empty();
    place.sh("chmod 700 app.instr")?;
    ensure(clean && outcome.text().contains("app.c:20"), || {
        format!("{outcome}")
    })?;
    place.sh("rm -f app.instr/.binary_0 && chmod 770 app.instr")?;
    is(&place.at("app.instr"), "work", 20)?;
    ensure(!place.at("app.instr/.binary_0").exists(), || {
        "something was put into a folder that others may write to".into()
    })
}

fn not_believed() -> Check {
    let place = Place::new("names-not-believed", &[])?;
    place.build("work", 20)?;
    place.run()?;
    for plant in [
        "rm .binary_0; cp /bin/true .binary_0",
        "rm .binary_0; mkfifo .binary_0",
        "rm .binary_0; ln -s /dev/zero .binary_0; ln -s /dev/zero .binary_1",
        "rm .binary_*; head -c 100 ../app > .binary_0; head -c 5000 ../app > .binary_1",
        "rm .binary_*; mkdir .binary_0",
    ] {
        place.sh(&format!("cd app.instr && {plant}"))?;
        is(&place.at("app.instr"), "work", 20)?;
    }
    // Where the only file is another one, there are no names, and a word why.
    place.sh("rm -r app app.instr/.binary_0; cp /bin/true app.instr/.binary_0")?;
    let outcome = Run::new(&tools()?.instr)
        .args(["summary", "app.instr"])
        .dir(place.dir.path());
    let outcome = outcome.succeed()?;
    ensure(
        outcome.errors().contains("no names from") && !outcome.text().contains("app.c"),
        || format!("{outcome}"),
    )
}

fn children() -> Check {
    let place = Place::new("names-children", &[])?;
    std::fs::write(
        place.at("app.c"),
        "#include <sys/wait.h>\n#include <unistd.h>\n\nint main(void)\n{\n    int n = 0;\n    if (fork() == 0) {\n\
         #pragma omp parallel num_threads(2)\n#pragma omp atomic\n        ++n;\n        return n != 2;\n    }\n    wait(&n);\n    return n;\n}\n",
    )?;
    Build::openmp(Target::X86_64).traced(&[&place.at("app.c")], &place.at("app"))?;
    place.run()?;
    place.sh("rm app")?;
    let summary = cases::summary(&place.at("app.instr"))?;
    let line = &summary["children"][0]["parallel_regions"][0]["line"];
    ensure(*line == 8, || format!("line {line}, expected 8"))
}
