//! Builds a program: plainly, by `instr-cc`, and with redirected objects.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use clap::ValueEnum;
use instr_tests::toolchain::Tools;

use crate::catalog::Program;
use crate::directives::Demands;
use crate::process::{Call, End, Ended};
use crate::unpack::Suite;

/// Time for one compiler command: a busy machine is slow, an endless loop is endless.
const LIMIT: Duration = Duration::from_secs(300);

/// How the runtime gets between the program and libgomp.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Linkage {
    /// By `instr-cc`, that is by the linker's `--wrap`.
    Wrap,
    /// By `instr-rewrite --redirect` on each object, for linkers without `--wrap`.
    Redirect,
    /// By `instr run`: the plain program, with a library before libgomp's.
    Preload,
}

impl Linkage {
    /// All.
    pub const ALL: [Self; 3] = [Self::Wrap, Self::Redirect, Self::Preload];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrap => "wrap",
            Self::Redirect => "redirect",
            Self::Preload => "preload",
        }
    }
}

impl fmt::Display for Linkage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A program that was built.
#[derive(Debug, Clone)]
pub struct Built {
    /// The executable.
    pub executable: PathBuf,
    /// What starts it, with its arguments; nothing for a program that is started as it is.
    pub launcher: Vec<PathBuf>,
    /// Whether it calls anything that is recorded; if not there is no runtime in it.
    pub records: bool,
}

/// What is the same for all programs.
#[derive(Debug)]
pub struct Builder {
    /// The unpacked tests.
    pub suite: Suite,
    /// The tools under test.
    pub tools: Tools,
    /// The runtime's folder with sources and headers, and its objects for redirected programs, compiled when they are needed.
    runtime: PathBuf,
    objects: OnceLock<Result<Vec<PathBuf>, String>>,
    /// Where stubs are kept, and which there are: wrap flags → object.
    work: PathBuf,
    stubs: Mutex<BTreeMap<Vec<u8>, PathBuf>>,
}

impl Builder {
    /// Prepares; `work` is for the runtime's sources and objects.
    ///
    /// # Errors
    ///
    /// When `work` cannot be written.
    pub fn new(suite: Suite, tools: Tools, work: &Path) -> std::io::Result<Self> {
        let runtime = work.join("runtime");
        for (name, text) in instr_runtime::FILES {
            let path = runtime.join(name);
            std::fs::create_dir_all(path.parent().unwrap_or(&runtime))?;
            std::fs::write(&path, text)?;
        }
        Ok(Self {
            suite,
            tools,
            runtime,
            objects: OnceLock::new(),
            work: work.to_owned(),
            stubs: Mutex::default(),
        })
    }

    /// The objects of the runtime for redirected programs.
    fn runtime_objects(&self) -> Result<&[PathBuf], String> {
        let compile = || {
            self.same_runtime()?;
            let mut objects = Vec::new();
            for name in instr_runtime::sources("linux") {
                let object = self.work.join(name.replace('/', "-")).with_extension("o");
                let call = self.runtime_compiler(&self.work).arg("-c");
                let call = call.arg(self.runtime.join(name)).arg("-o").arg(&object);
                done("runtime", &call)?;
                objects.push(object);
            }
            Ok(objects)
        };
        let objects = self.objects.get_or_init(compile).as_ref();
        objects.map(Vec::as_slice).map_err(Clone::clone)
    }

    /// Redirected programs get the runtime that is compiled into this program. If `instr-cc` was built from other sources, so was `instr`,
    /// which may not read what that runtime writes: a sound program would seem to leave a damaged trace.
    fn same_runtime(&self) -> Result<(), String> {
        let call = Call::new(&self.tools.instr_cc, &self.work, LIMIT);
        let call = call.args(["--instr-dry-run", "gcc", "-fopenmp", "-c", "x.c"]);
        let shown = done("instr-cc", &call)?.output;
        if String::from_utf8_lossy(&shown).contains(instr_runtime::KEY) {
            return Ok(());
        }
        Err(format!(
            "{} was built from other sources than this program: build both again",
            self.tools.instr_cc.display()
        ))
    }

    /// The C compiler with what sources of the runtime need (`-fexceptions`: C++ exceptions and cancelled threads pass through).
    fn runtime_compiler(&self, dir: &Path) -> Call {
        Call::new("gcc", dir, LIMIT)
            .args([
                "-std=c11",
                "-O2",
                "-w",
                "-fPIE",
                "-fvisibility=hidden",
                "-fexceptions",
            ])
            .args(["-D_GNU_SOURCE", "-I"])
            .arg(self.runtime.join("include"))
            .arg("-I")
            .arg(&self.runtime)
    }

    /// Options of every command for a program. Libraries among them stand behind the sources, where they belong.
    fn options(&self, program: &Program, demands: &Demands) -> Vec<String> {
        let mut options = program.always.clone();
        for dir in self.suite.includes() {
            options.push(format!("-I{}", dir.display()));
        }
        options.extend(
            demands
                .options
                .iter()
                .filter(|o| !o.starts_with("-fdump-"))
                .cloned(),
        );
        options
    }

    /// Builds plainly, in two steps: the objects are used again by [`Linkage::Redirect`].
    ///
    /// # Errors
    ///
    /// What the compiler says.
    pub fn plain(
        &self,
        program: &Program,
        demands: &Demands,
        dir: &Path,
    ) -> Result<PathBuf, String> {
        let (compiler, options) = (program.language.compiler(), self.options(program, demands));
        // In their order: modules of Fortran first. Sources of two languages may have one name, so objects are numbered.
        for (source, object) in sources(program, demands).zip(objects(program, demands, dir)) {
            let compile = Call::new(compiler, dir, LIMIT).arg("-c").arg(source);
            done("compile", &compile.args(&options).arg("-o").arg(object))?;
        }
        let executable = dir.join("program");
        let link = Call::new(compiler, dir, LIMIT).args(objects(program, demands, dir));
        done(
            "link",
            &link.args(&options).args(["-lm", "-o"]).arg(&executable),
        )?;
        Ok(executable)
    }

    /// Builds for a linkage. `plain` is the folder of the plain build.
    ///
    /// # Errors
    ///
    /// What the first tool that fails says.
    pub fn instrumented(
        &self,
        linkage: Linkage,
        program: &Program,
        demands: &Demands,
        plain: &Path,
        dir: &Path,
    ) -> Result<Built, String> {
        match linkage {
            Linkage::Wrap => self.wrap(program, demands, dir),
            Linkage::Redirect => self.redirect(program, demands, plain, dir),
            Linkage::Preload => self.preload(program, demands, plain, dir),
        }
    }

    /// As a user does: the same command with `instr-cc` in front.
    fn wrap(&self, program: &Program, demands: &Demands, dir: &Path) -> Result<Built, String> {
        let executable = dir.join("program");
        let call = Call::new(&self.tools.instr_cc, dir, LIMIT)
            .args(["--instr-verbose", program.language.compiler()])
            .arg(&program.source)
            .args(&demands.sources)
            .args(self.options(program, demands))
            .args(["-lm", "-o"])
            .arg(&executable);
        let ended = done("instr-cc", &call)?;
        let said = String::from_utf8_lossy(&ended.output);
        let nothing = said.contains("linked plainly: nothing to instrument");
        if said.contains("linked plainly") && !nothing {
            return Err(format!("instr-cc linked plainly\n{}", ended.text()));
        }
        Ok(Built {
            executable,
            launcher: Vec::new(),
            records: !nothing,
        })
    }

    /// As with a linker without `--wrap`: renamed references, stubs for them, the runtime's objects.
    fn redirect(
        &self,
        program: &Program,
        demands: &Demands,
        plain: &Path,
        dir: &Path,
    ) -> Result<Built, String> {
        let rewrite = || Call::new(&self.tools.instr_rewrite, dir, LIMIT);
        let executable = dir.join("program");
        let options = self.options(program, demands);
        let objects = self.machine_code(program, demands, plain, dir)?;
        let flags = done(
            "instr-rewrite",
            &rewrite().arg("--emit-wrap-flags").args(&objects),
        )?;
        let mut redirected = Vec::new();
        for (number, object) in objects.iter().enumerate() {
            let output = dir.join(format!("redirected-{number}.o"));
            let call = rewrite()
                .arg("--redirect")
                .arg(object)
                .arg("-o")
                .arg(&output);
            done("instr-rewrite", &call)?;
            redirected.push(output);
        }
        let records = !flags.output.is_empty();
        let mut added = Vec::new();
        if records {
            added.push(self.stubs(&flags.output, &objects, dir)?);
            added.extend_from_slice(self.runtime_objects()?);
        }
        let link = Call::new(program.language.compiler(), dir, LIMIT)
            .args(&redirected)
            .args(&added)
            .args(&options)
            .args(["-lm", "-o"])
            .arg(&executable);
        done("link", &link)?;
        Ok(Built {
            executable,
            launcher: Vec::new(),
            records,
        })
    }

    /// The plain program itself, started by `instr run`.
    fn preload(
        &self,
        program: &Program,
        demands: &Demands,
        plain: &Path,
        dir: &Path,
    ) -> Result<Built, String> {
        let objects = self.machine_code(program, demands, plain, dir)?;
        let flags = Call::new(&self.tools.instr_rewrite, dir, LIMIT).arg("--emit-wrap-flags");
        let flags = done("instr-rewrite", &flags.args(&objects))?;
        Ok(Built {
            executable: plain.join("program"),
            launcher: [
                &*self.tools.instr,
                "run".as_ref(),
                "-q".as_ref(),
                "--".as_ref(),
            ]
            .map(Path::to_owned)
            .to_vec(),
            records: !flags.output.is_empty(),
        })
    }

    /// The stubs for redirected objects that call the functions in `flags`, compiled once for each set of functions.
    fn stubs(&self, flags: &[u8], objects: &[PathBuf], dir: &Path) -> Result<PathBuf, String> {
        let mut known = self.stubs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stubs) = known.get(flags) {
            return Ok(stubs.clone());
        }
        let source = dir.join("stubs.c");
        let stubs = self.work.join(format!("stubs-{}.o", known.len()));
        let emit = Call::new(&self.tools.instr_rewrite, dir, LIMIT)
            .args(["--emit-stubs", "--linkage", "rename"])
            .args(objects);
        done("instr-rewrite", &emit.arg("-o").arg(&source))?;
        let compile = self.runtime_compiler(dir).arg("-c").arg(&source);
        done("stubs", &compile.arg("-o").arg(&stubs))?;
        known.insert(flags.to_owned(), stubs.clone());
        Ok(stubs)
    }

    /// The plain objects; those of `-flto` turned into machine code first, there are no references in them to rename.
    fn machine_code(
        &self,
        program: &Program,
        demands: &Demands,
        plain: &Path,
        dir: &Path,
    ) -> Result<Vec<PathBuf>, String> {
        let objects = objects(program, demands, plain);
        let options = self.options(program, demands);
        if !options.iter().any(|option| option.starts_with("-flto")) {
            return Ok(objects);
        }
        let whole = dir.join("whole.o");
        let call = Call::new(program.language.compiler(), dir, LIMIT)
            .args(["-r", "-flinker-output=nolto-rel"])
            .args(&objects)
            .args(&options);
        done("link of intermediate code", &call.arg("-o").arg(&whole))?;
        Ok(vec![whole])
    }
}

/// The main source and the others.
fn sources<'a>(program: &'a Program, demands: &'a Demands) -> impl Iterator<Item = &'a PathBuf> {
    std::iter::once(&program.source).chain(&demands.sources)
}

/// The objects of a plain build in `dir`, one for each source.
fn objects(program: &Program, demands: &Demands, dir: &Path) -> Vec<PathBuf> {
    let numbered = sources(program, demands).enumerate();
    numbered
        .map(|(number, _)| dir.join(format!("object-{number}.o")))
        .collect()
}

/// Runs a tool and demands exit status 0.
fn done(step: &str, call: &Call) -> Result<Ended, String> {
    let ended = call
        .run(step)
        .map_err(|why| format!("{step}: cannot start `{}`: {why}", call.shown()))?;
    if ended.end == End::SUCCESS {
        return Ok(ended);
    }
    Err(format!(
        "{step}: {}\n{}\n$ {}",
        ended.end,
        ended.text(),
        call.shown()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_other_sources_are_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let builder = |instr_cc: &str| {
            let tools = Tools {
                instr: "false".into(),
                instr_cc: instr_cc.into(),
                instr_rewrite: "false".into(),
            };
            Builder::new(Suite::at(dir.path()), tools, dir.path()).expect("sources written")
        };
        // It repeats its arguments, in which no key is.
        let error = builder("echo").runtime_objects().map(<[PathBuf]>::len);
        assert!(error.expect_err("refused").contains("other sources"));
        let script = dir.path().join("instr-cc");
        let text = format!("#!/bin/sh\necho /cache/source-{}\n", instr_runtime::KEY);
        std::fs::write(&script, text).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&script, mode).expect("executable");
        let same = builder(&script.to_string_lossy());
        assert_eq!(same.same_runtime(), Ok(()));
    }
}
