//! The library that an installation brings for `instr run`: programs that nobody built to be traced are recorded where there is no compiler, and where
//! there is no folder to keep anything in.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Target, need};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

use super::clone::Clone;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("install::preload-without-a-compiler", without_compiler),
        trial("install::preload-of-another-version", another_version),
        trial("install::preload-with-rights-dropped", rights_dropped),
    ]
}

/// So many regions of two threads, as its argument says.
const PROGRAM: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    int sum = 0;\n    for (int i = 0; i < atoi(argv[argc - 1]); i++)\n\
#pragma omp parallel num_threads(2) reduction(+ : sum)\n        sum++;\n    printf(\"%d\\n\", sum);\n    return 5;\n}\n";
/// All that there is in a machine's PATH.
const BARE: [&str; 3] = ["sh", "env", "setpriv"];
/// Another user.
const OTHER: u32 = 65534;

/// An installation, a program, and a machine without a compiler.
struct Machine {
    dir: TempDir,
    prefix: PathBuf,
}

impl Machine {
    fn new(name: &str) -> Check<Self> {
        let dir = workspace::work_dir(name)?;
        let prefix = dir.path().join("prefix");
        Clone::with_tools(dir.path())?.install(&prefix)?;
        let machine = Self { dir, prefix };
        std::fs::write(machine.at("omp.c"), PROGRAM)?;
        let build = Build::openmp(Target::X86_64);
        build.plain(&[&machine.at("omp.c")], &machine.at("omp"))?;
        for folder in ["path", "home", "shared"] {
            std::fs::create_dir(machine.at(folder))?;
        }
        for tool in BARE {
            let script = format!("command -v {tool}");
            let found = Run::words(["sh", "-c", &script]).succeed()?.text();
            symlink(found.trim(), machine.at("path").join(tool))?;
        }
        Ok(machine)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// `instr run WORDS…` of these tools, in the folder `shared`, where there are neither compilers nor anything built before.
    fn run(&self, bin: &Path, words: &[&str]) -> Run {
        let run = Run::new(bin.join("instr")).args(["run", "--"]).args(words);
        self.bare(run)
    }

    fn bare(&self, run: Run) -> Run {
        run.dir(&self.at("shared"))
            .env("PATH", self.at("path"))
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("home"))
    }

    /// The program ran as it does by itself, and so many regions were recorded.
    fn judge(&self, ended: &Outcome, number: i128) -> Check {
        let printed = format!("{}\n", 2 * number);
        ensure(ended.text() == printed, || format!("{ended}"))?;
        let trace = self.at("shared/omp.instr");
        let regions = ctf::count(&ctf::read(&trace)?, "parallel_begin")?;
        ensure(regions == number, || format!("{regions} regions\n{ended}"))
    }

    fn nothing_was_built(&self) -> Check {
        let there = std::fs::read_dir(self.at("home"))?.count();
        ensure(there == 0, || "something was built".to_owned())
    }
}

fn without_compiler() -> Check {
    let machine = Machine::new("preload-without-a-compiler")?;
    let bin = machine.prefix.join("bin");
    let ended = machine.run(&bin, &["../omp", "3"]).output()?;
    machine.judge(&ended, 3)?;
    machine.nothing_was_built()?;
    ensure(ended.errors().lines().count() == 1, || format!("{ended}"))?;
    // What a script starts, in an environment of its own.
    let ended = machine.run(&bin, &["sh", "-c", "exec env A=1 ../omp 4"]);
    machine.judge(&ended.output()?, 4)?;

    // Without the library it runs all the same, and one message says what is missing and what helps.
    std::fs::remove_dir_all(machine.prefix.join("lib/instr"))?;
    // It warns of what is known to call OpenMP.
    for (words, warns) in [
        (vec!["../omp", "6"], true),
        (vec!["sh", "-c", "exec ../omp 6"], false),
    ] {
        let ended = machine.run(&bin, &words).output()?;
        ensure(ended.text() == "12\n", || format!("{ended}"))?;
        let errors = ended.errors();
        for part in [
            "are not recorded, for want of a library to preload: none is installed with this command: there is no C compiler in PATH",
            "help: install gcc or clang with the C library's headers, or instr with its library",
        ] {
            ensure(errors.matches(part).count() == 1, || {
                format!("{part}: {ended}")
            })?;
        }
        ensure(errors.contains("warning:") == warns, || format!("{ended}"))?;
    }
    machine.nothing_was_built()
}

/// What was built from other sources is not loaded; a compiler makes the right one then.
fn another_version() -> Check {
    let machine = Machine::new("preload-of-another-version")?;
    let bin = machine.prefix.join("bin");
    let about = machine.prefix.join("lib/instr/preload.version");
    std::fs::write(&about, "instr 0.0.1 0123456789abcdef01234567\n")?;
    let told = format!(
        "{} is not used: it is of instr 0.0.1, this is {}",
        machine
            .prefix
            .canonicalize()?
            .join("lib/instr/libinstr-preload.so")
            .display(),
        env!("CARGO_PKG_VERSION")
    );
    let says = |ended: &Outcome| {
        ensure(ended.errors().matches(&told).count() == 1, || {
            format!("expected {told}\n{ended}")
        })
    };
    let ended = machine.run(&bin, &["../omp", "3"]).output()?;
    says(&ended)?;
    ensure(ended.text() == "6\n", || format!("{ended}"))?;
    ensure(
        ended.errors().contains("there is no C compiler in PATH"),
        || format!("{ended}"),
    )?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let cache = workspace::home()?.join(".cache/instr");
    let run = machine.run(&bin, &["../omp", "7"]).env("PATH", path);
    let ended = run.env("INSTR_CACHE", cache).output()?;
    says(&ended)?;
    machine.judge(&ended, 7)
}

/// Root runs a program as somebody else, or somebody else with root's environment runs `instr run`: nobody needs a folder of their own.
fn rights_dropped() -> Check {
    need("setpriv")?;
    let machine = Machine::new("preload-with-rights-dropped")?;
    if machine.dir.path().metadata()?.uid() != 0 {
        return Err(Stop::NotAllowed("only root drops rights".into()));
    }
    workspace::open_to_others(machine.dir.path())?;
    let mode = |mode| std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(machine.at("shared"), mode(0o777))?;
    std::fs::set_permissions(machine.at("home"), mode(0o700))?;
    let bin = machine.prefix.join("bin");
    let drop = [
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
        "--clear-groups",
    ];
    let owner = || -> Check<u32> { Ok(machine.at("shared/omp.instr").metadata()?.uid()) };

    let ended = machine.run(&bin, &[&drop[..], &["../omp", "3"]].concat());
    machine.judge(&ended.output()?, 3)?;
    ensure(owner()? == OTHER, || "whose trace is it?".to_owned())?;
    // A started process, not the one that is run.
    let script = format!("{} ../omp 4; exit 5", drop.join(" "));
    let ended = machine.run(&bin, &["sh", "-c", &script]);
    machine.judge(&ended.output()?, 4)?;

    let instr = bin.join("instr").display().to_string();
    let words = [&drop[..], &[&instr, "run", "--", "../omp", "5"]].concat();
    let ended = machine.bare(Run::words(words)).output()?;
    machine.judge(&ended, 5)?;
    machine.nothing_was_built()
}
