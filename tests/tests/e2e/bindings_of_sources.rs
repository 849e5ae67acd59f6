//! The public interface from languages whose binding is a source to copy: a crate of Rust, a module of Python, a class of Java with its library.

use std::path::{Path, PathBuf};
use std::process::Command;

use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

use crate::bindings::judge;

/// What `pairs 4 10 7` has between start and stop.
const ARGUMENTS: [&str; 3] = ["4", "10", "7"];
const REGIONS: [(&str, i128); 2] = [("inside", 10), ("outside", 0)];

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("bindings::rust", rust),
        trial("bindings::rust::its-example", rust_example),
        trial("bindings::python", python),
        trial("bindings::python::more-names-than-are-kept", python_names),
        trial("bindings::java", java),
    ]
}

struct Place {
    dir: TempDir,
    root: &'static Path,
}

impl Place {
    fn new(language: &str) -> Check<Self> {
        let dir = workspace::work_dir(&format!("bindings-{language}"))?;
        let root = workspace::root()?;
        Ok(Self { dir, root })
    }

    fn run(&self, words: &[&str]) -> Run {
        Run::words(words).dir(self.dir.path())
    }

    fn source(&self, name: &str) -> String {
        self.root.join(name).display().to_string()
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Alone the program records nothing; under `instr run` what lies between start and stop, and with the settings that it gives.
    fn judge(&self, words: &[&str], with: impl Fn(Run) -> Run) -> Check {
        let whole = [words, &ARGUMENTS].concat();
        let alone = with(self.run(&whole)).succeed()?;
        said(&alone, "started -8 stopped 0\n")?;
        let instr = tools()?.instr.display().to_string();
        let under = |words: &[&str]| {
            let run = self.run(&[&[&instr, "run", "-q", "--"], words].concat());
            with(run).env("INSTR_PAUSED", "1")
        };
        let traced = under(&whole).env("INSTR_TRACE", self.at("run.instr"));
        said(&traced.succeed()?, "started 0 stopped 0\n")?;
        judge(&self.at("run.instr"), &REGIONS)?;
        let config = "INSTR_TRACE=mine.instr; INSTR_BUFFER=8K";
        let traced = under(&[words, &["2", "10", "7", config]].concat());
        said(&traced.succeed()?, "started 0 stopped 0\n")?;
        let text = std::fs::read_to_string(self.at("mine.instr/metadata"))?;
        ensure(text.contains("buffer_bytes = 8192;"), || text)?;
        let refused = under(&[words, &["1", "2", "5", "INSTR_NO=1"]].concat());
        said(&refused.succeed()?, "started -2 stopped 0\n")
    }
}

fn said(outcome: &Outcome, text: &str) -> Check {
    ensure(outcome.text() == text, || {
        format!("expected {text:?} of\n{outcome}")
    })
}

/// The compiler of the toolchain that runs the tests, and not the command that chooses one: that looks for its settings in the home folder.
fn rustc(place: &Place, words: &[&str]) -> Check<Run> {
    need("rustc")?;
    let found = Command::new("rustc")
        .args(["--print", "sysroot"])
        .output()?;
    ensure(found.status.success(), || {
        format!("rustc: {}", String::from_utf8_lossy(&found.stderr))
    })?;
    let root = PathBuf::from(String::from_utf8_lossy(&found.stdout).trim());
    let rustc = root.join("bin/rustc").display().to_string();
    let run = place.run(&[&rustc, "--edition", "2021", "-Dwarnings"]);
    Ok(run.args(words))
}

fn crate_of_rust(place: &Place) -> Check {
    let source = place.source("bindings/rust/src/lib.rs");
    let words = [
        "-O",
        "--crate-type",
        "rlib",
        "--crate-name",
        "instr_api",
        &source,
    ];
    rustc(place, &words)?.succeed().map(drop)
}

fn rust() -> Check {
    let place = Place::new("rust")?;
    crate_of_rust(&place)?;
    let source = place.source("tests/api/pairs.rs");
    let program = [
        "--extern",
        "instr_api=libinstr_api.rlib",
        "-L.",
        &source,
        "-o",
    ];
    for optimized in ["-Copt-level=0", "-Copt-level=3"] {
        rustc(&place, &[&[optimized], &program[..], &["pairs"]].concat())?.succeed()?;
        place.judge(&["./pairs"], |run| run)?;
    }
    // The linker's driver finds the weak references, of a static program too.
    let linker = format!("-Clinker={}", tools()?.instr_cc.display());
    for further in [
        "-Ctarget-feature=-crt-static",
        "-Ctarget-feature=+crt-static",
    ] {
        let words = [&[&linker, further], &program[..], &["linked"]].concat();
        rustc(&place, &words)?.succeed()?;
        let words = [&["./linked"], &ARGUMENTS[..]].concat();
        let run = place.run(&words).env("INSTR_PAUSED", "1");
        let run = run.env("INSTR_TRACE", place.at("linked.instr"));
        said(&run.succeed()?, "started 0 stopped 0\n")?;
        judge(&place.at("linked.instr"), &REGIONS)?;
    }
    Ok(())
}

/// What the crate's first page shows.
fn rust_example() -> Check {
    let place = Place::new("rust-example")?;
    crate_of_rust(&place)?;
    let text = std::fs::read_to_string(place.source("bindings/rust/src/lib.rs"))?;
    let inside = text.split("//! ```\n").nth(1).ok_or("no example")?;
    let lines: Vec<_> = inside
        .lines()
        .map(|line| line.trim_start_matches("//!"))
        .collect();
    std::fs::write(
        place.at("example.rs"),
        format!("fn main() {{\n{}\n}}\n", lines.join("\n")),
    )?;
    let words = [
        "--extern",
        "instr_api=libinstr_api.rlib",
        "-L.",
        "example.rs",
    ];
    rustc(&place, &words)?.succeed()?;
    place.run(&["./example"]).succeed().map(drop)
}

fn python() -> Check {
    let python = "/usr/bin/python3";
    if !Path::new(python).exists() {
        return Err(Stop::Skip("python3 is not installed".into()));
    }
    let place = Place::new("python")?;
    let source = place.source("tests/api/pairs.py");
    let module = place.source("python/src");
    place.judge(&[python, &source], |run| {
        run.env("PYTHONPATH", &module)
            .env("PYTHONDONTWRITEBYTECODE", "1")
    })
}

/// 5,000 names on four threads, and a decorated function: every region is there, 904 of the names under a common one.
fn python_names() -> Check {
    const PROGRAM: &str = "import instr, threading\n@instr.region('decorated')\ndef f(n): return n + 1\n\
def names():\n    for i in range(5000):\n        with instr.region(f'n{i}'): pass\n\
threads = [threading.Thread(target=names) for _ in range(4)]\n\
for t in threads: t.start()\nfor t in threads: t.join()\nprint(f(2), f(n=6), f.__name__)\n";
    let place = Place::new("python-names")?;
    let module = place.source("python/src");
    std::fs::write(place.at("names.py"), PROGRAM)?;
    let run = Run::new(&tools()?.instr).args(["run", "-q", "-o", "names.instr", "--"]);
    let run = run
        .args(["/usr/bin/python3", "names.py"])
        .dir(place.dir.path());
    let ended = run
        .env("PYTHONPATH", &module)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    said(&ended.succeed()?, "3 7 f\n")?;
    let json = crate::bindings::summary(&place.at("names.instr"))?;
    let of = |name: &str| crate::bindings::regions(&json, name);
    let kept = of("n17");
    ensure(kept == 4, || format!("n17: {kept}"))?;
    let list = json["regions"].as_array().cloned().unwrap_or_default();
    let whole: i64 = list
        .iter()
        .filter_map(|region| region["count"].as_i64())
        .sum();
    ensure(whole == 4 * 5000 + 2, || format!("{whole} regions"))?;
    // 4,096 names, of which the last threads' may be one or two fewer, and the common one. `decorated` came too late.
    let surplus = of("(more than 4096 names)");
    ensure((904 * 4 + 2..=907 * 4 + 2).contains(&surplus), || {
        format!("surplus: {surplus}")
    })
}

fn java() -> Check {
    need("javac")?;
    let place = Place::new("java")?;
    let class = place.source("bindings/java/instr/Instr.java");
    let program = place.source("tests/api/Pairs.java");
    place
        .run(&[
            "javac",
            "-Xlint:all,-try",
            "-Werror",
            "-d",
            ".",
            &class,
            &program,
        ])
        .succeed()?;
    let javac = Run::words(["sh", "-c", "readlink -f \"$(command -v javac)\""]).succeed()?;
    let javac = javac.text();
    let home = Path::new(javac.trim()).ancestors().nth(2).ok_or("no JDK")?;
    let include = |name: &str| format!("-I{}", home.join(name).display());
    let source = place.source("bindings/java/instr_java.c");
    let header = format!("-I{}", place.source("runtime/include"));
    let flags = [
        "gcc",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        &include("include"),
        &include("include/linux"),
        &header,
        &source,
        "-o",
    ];
    let words = ["java", "-Djava.library.path=.", "-cp", ".", "Pairs"];
    // Without the library first.
    let whole = [&words[..], &ARGUMENTS].concat();
    said(&place.run(&whole).succeed()?, "started -8 stopped 0\n")?;
    place
        .run(&[&flags[..], &["libinstr_java.so"]].concat())
        .succeed()?;
    place.judge(&words, |run| run)?;
    // Made by instr-cc, the library brings the runtime along.
    let wrapper = tools()?.instr_cc.display().to_string();
    let made = place.run(&[&[&*wrapper], &flags[..], &["libinstr_java.so"]].concat());
    made.succeed()?;
    let run = place.run(&whole).env("INSTR_PAUSED", "1");
    let run = run.env("INSTR_TRACE", place.at("own.instr"));
    said(&run.succeed()?, "started 0 stopped 0\n")?;
    judge(&place.at("own.instr"), &REGIONS)
}
