//! Builds the runtime and the stubs with the user's compiler, once for each version of it and its flags. Drivers that come down to the
//! same commands (`steps`) share one runtime.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use instr_rewrite::stubs::Linkage;
use thiserror::Error;

use crate::cache::{Cache, key};
use crate::compiler::{self, Facts};
use crate::exec::Call;
use crate::steps;

/// How the runtime's code is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// For shared libraries.
    Pic,
    /// For executables, wherever they are loaded.
    Pie,
    /// For executables with fixed addresses.
    Fixed,
}

impl Variant {
    fn flag(self) -> &'static str {
        match self {
            Self::Pic => "-fPIC",
            Self::Pie => "-fPIE",
            Self::Fixed => "-fno-pie",
        }
    }
}

/// Why there is no runtime.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The cache failed.
    #[error("cannot use the cache: {0}")]
    Io(#[from] io::Error),
    /// The compiler refused our source.
    #[error("{compiler} cannot compile {what}: {why}")]
    Compile {
        /// The compiler.
        compiler: String,
        /// The source.
        what: String,
        /// The first error it printed.
        why: String,
    },
    /// No archiver.
    #[error("cannot make the runtime's archive with {0}: {1}")]
    Archive(String, String),
    /// There is no runtime for that system.
    #[error("there is no runtime for the system that {0} compiles for")]
    System(String),
}

/// Options of every source of ours: plain objects, whatever the compiler is configured to do. No section for each function: one
/// archive member holds what is used together, and fewer sections make the link measurably faster.
const FLAGS: &[&str] = &[
    "-std=c11",
    "-O2",
    "-w",
    "-fno-lto",
    "-fvisibility=hidden",
    "-fexceptions", // threads are cancelled through our frames
    "-fno-function-sections",
    "-fno-data-sections",
    "-fno-sanitize=all",
    "-fno-profile-arcs",
    "-fno-test-coverage",
];

/// Options of every source of ours for RTEMS, behind [`FLAGS`]: no thread is cancelled through our frames there, and tables for unwinding
/// would be an eighth of the code. Images for boards are linked with `--gc-sections`, which takes functions one by one.
const SMALL_FLAGS: &[&str] = &[
    "-fno-exceptions",
    "-fno-asynchronous-unwind-tables",
    "-ffunction-sections",
    "-fdata-sections",
];

/// Options of every source of ours for SPARC: some distributions' compilers add code that guards each array on a stack, and each page of a
/// frame, which made the runtime a twentieth larger.
const SPARC_FLAGS: &[&str] = &[
    "-fno-stack-protector",
    "-fno-stack-clash-protection",
    "-U_FORTIFY_SOURCE",
];

/// Options for SPARC of what never calls the program back: no exception and no cancellation of a thread comes by, and tables for unwinding
/// would be a tenth of the runtime.
const INNER_FLAGS: &[&str] = &[
    "-fno-exceptions",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
];

/// Folders of sources that call the program or its libraries.
const OUTER: &[&str] = &["probes/", "ompt/"];

/// Options of stubs. GNU ld also renames the references of shared libraries that are linked with: a hidden stub would be
/// an error then. A protected one is not, and is still the one that its own module calls.
const STUB_FLAGS: &[&str] = &["-fvisibility=protected"];

/// The file of [`Builder::library`].
const LIBRARY: &str = "libinstr.a";

/// The file of [`Builder::whole`].
const WHOLE: &str = "instr.o";

/// The options of what [`Builder::shared`] is made of: it has no configuration of its own, and begins when a library asks for it.
const SHARED_FLAGS: &[&str] = &["-DINSTR_SHARED=1"];

/// The name by which the dynamic linker knows the file of [`Builder::shared`].
#[must_use]
pub fn shared_name() -> String {
    format!("libinstr.so.{}", instr_runtime::table_version())
}

/// The stubs that an output needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stubs {
    /// They call the probes of the program.
    Program,
    /// They call probes of the runtime that the library finds; the flags of `library/table.h`.
    Library(u32),
    /// They have the names of the functions that they stand in front of; with those of the heap.
    Preloaded {
        /// Whether these are among them.
        heap: bool,
    },
}

/// A compiler with the user's flags, ready to build for one kind of output.
#[derive(Debug)]
pub struct Builder<'a> {
    /// Where things are kept.
    pub cache: &'a Cache,
    /// The compiler's file.
    pub compiler: &'a Path,
    /// [`compiler::identity`] of it.
    pub identity: &'a str,
    /// What it is.
    pub facts: &'a Facts,
    /// The user's flags that decide the binary interface.
    pub abi: &'a [OsString],
    /// How code is addressed.
    pub variant: Variant,
}

/// The folder of the public headers: what every compilation of a user's needs.
///
/// # Errors
/// When they cannot be written.
pub fn headers(cache: &Cache) -> io::Result<PathBuf> {
    let entry = write_files(cache, "headers", |name| name.starts_with("include/"))?;
    Ok(entry.join("include"))
}

/// The folder with all of the runtime's sources.
fn sources(cache: &Cache) -> io::Result<PathBuf> {
    write_files(cache, "source", |_| true)
}

fn write_files(cache: &Cache, kind: &str, wanted: fn(&str) -> bool) -> io::Result<PathBuf> {
    cache.entry(&format!("{kind}-{}", instr_runtime::KEY), |dir| {
        let files = instr_runtime::FILES.iter();
        for (name, text) in files.filter(|(name, _)| wanted(name)) {
            let path = dir.join(name);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(path, text)?;
        }
        Ok(())
    })
}

impl Builder<'_> {
    fn small_flags(&self) -> &'static [&'static str] {
        if self.facts.os == "rtems" {
            SMALL_FLAGS
        } else {
            &[]
        }
    }

    fn sparc_flags(&self) -> &'static [&'static str] {
        if self.facts.machine.starts_with("sparc") {
            SPARC_FLAGS
        } else {
            &[]
        }
    }

    fn inner_flags(&self, file: &str) -> &'static [&'static str] {
        let small = self.facts.machine.starts_with("sparc");
        if small && !OUTER.iter().any(|folder| file.starts_with(folder)) {
            INNER_FLAGS
        } else {
            &[]
        }
    }

    /// The runtime for shared libraries is a library itself.
    fn output_flags(&self) -> &'static [&'static str] {
        match self.variant {
            Variant::Pic => SHARED_FLAGS,
            Variant::Pie | Variant::Fixed => &[],
        }
    }

    /// A key of everything but the source that decides what an object holds.
    pub(crate) fn setting_key(&self) -> String {
        let relative = self.abi.iter().any(|w| is_relative(w.as_bytes()));
        let folder = if relative {
            std::env::current_dir().unwrap_or_default()
        } else {
            PathBuf::new()
        };
        let fixed = [
            self.identity,
            &self.facts.version,
            self.variant.flag(),
            env!("CARGO_PKG_VERSION"),
        ];
        let fixed = fixed
            .iter()
            .chain(FLAGS)
            .chain(self.small_flags())
            .chain(self.sparc_flags())
            .chain(INNER_FLAGS)
            .chain(STUB_FLAGS)
            .chain(SHARED_FLAGS)
            .map(|s| s.as_bytes());
        key(fixed
            .chain([folder.as_os_str().as_bytes()])
            .chain(self.abi.iter().map(|w| w.as_bytes())))
    }

    /// The call of the compiler for a source of ours, with what differs from source to source left open.
    fn call(&self) -> Call {
        Call::new(self.compiler)
            .args(self.abi)
            .args(FLAGS)
            .args(self.small_flags())
            .args(self.sparc_flags())
            .args([self.variant.flag()])
    }

    /// The runtime's archive, built if it is not there. Compilers that do the same to our sources share one.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn library(&self) -> Result<PathBuf, BuildError> {
        let setting = self.setting_key();
        let name = format!(
            "lib-{}",
            key([instr_runtime::KEY.as_bytes(), setting.as_bytes()])
        );
        let entry = self.cache.entry(&name, |dir| {
            let Some(steps) = steps::of(self.call()) else {
                return self.build_library(dir);
            };
            let shared = format!("code-{}", self.code_key(&steps));
            let shared = self.cache.entry(&shared, |dir| self.build_library(dir))?;
            let (from, to) = (shared.join(LIBRARY), dir.join(LIBRARY));
            fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop))?;
            Ok::<(), BuildError>(())
        })?;
        Ok(entry.join(LIBRARY))
    }

    /// A key of everything that decides what the archive holds, whatever the compiler is called.
    fn code_key(&self, steps: &str) -> String {
        let fixed = [
            instr_runtime::KEY,
            env!("CARGO_PKG_VERSION"),
            steps,
            &self.facts.os,
            &self.facts.machine,
        ];
        let parts = fixed.iter().chain(INNER_FLAGS).chain(self.output_flags());
        key(parts.map(|part| part.as_bytes()))
    }

    /// The object of the stubs of some symbols, built if it is not there. `descriptions` differs when their descriptions
    /// do; `emit` writes the stubs' text.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn stubs(
        &self,
        kind: Stubs,
        descriptions: &str,
        symbols: &[(&str, Linkage)],
        emit: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<PathBuf> {
        let setting = self.setting_key();
        let kind = match kind {
            Stubs::Program => String::new(),
            Stubs::Library(flags) => format!("library {flags}"),
            Stubs::Preloaded { heap } => format!("preloaded {heap}"),
        };
        let fixed = [descriptions, instr_runtime::KEY, &setting, &kind];
        let linkages = symbols.iter().flat_map(|(symbol, linkage)| {
            let linkage = match linkage {
                Linkage::Wrap => "wrap",
                Linkage::Rename => "rename",
                Linkage::Both => "both",
                Linkage::Forward => "forward",
            };
            [linkage, symbol]
        });
        let parts = fixed.into_iter().chain(linkages).map(str::as_bytes);
        let entry = self.cache.entry(
            &format!("stubs-{}", key(parts)),
            |dir| -> anyhow::Result<()> {
                let file = dir.join("stubs.c");
                fs::write(&file, emit()?)?;
                let source = sources(self.cache)?;
                Ok(self.compile(&source, &file, STUB_FLAGS, &dir.join("stubs.o"))?)
            },
        )?;
        Ok(entry.join("stubs.o"))
    }

    /// One object with some others and all that `parts` bring in of the runtime, made if it is not there. Nothing where the linker cannot
    /// make it.
    ///
    /// # Errors
    /// When the cache fails.
    pub fn whole(
        &self,
        objects: &[PathBuf],
        parts: &[&str],
        library: &Path,
    ) -> io::Result<Option<PathBuf>> {
        let files = objects.iter().map(PathBuf::as_path).chain([library]);
        let setting = self.setting_key();
        let key = key([setting.as_bytes()]
            .into_iter()
            // These files are entries of the cache, whose names differ when their contents do.
            .chain(files.clone().map(|file| file.as_os_str().as_bytes()))
            .chain(parts.iter().map(|part| part.as_bytes())));
        let entry = self
            .cache
            .entry(&format!("whole-{key}"), |dir| -> io::Result<()> {
                let call = Call::new(self.compiler).args(self.abi);
                // The identity of a program is made of all of it, in its own link.
                let call = call.args(["-fno-lto", "-nostdlib", "-r", "-Wl,--build-id=none"]);
                let call = call.args(parts.iter().map(|part| format!("-Wl,-u,{part}")));
                let object = dir.join(WHOLE);
                let call = call.args(["-o".as_ref(), object.as_os_str()]).args(files);
                let output = call.run_privately()?;
                // An entry without the object keeps later links from trying again.
                if !output.status.success() && object.exists() {
                    fs::remove_file(&object)?;
                }
                Ok(())
            })?;
        let object = entry.join(WHOLE);
        Ok(object.is_file().then_some(object))
    }

    /// The runtime as a shared library, built if it is not there: what libraries use that the program gives none. `parts` are those of
    /// [`Builder::whole`].
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn shared(&self, parts: &[&str]) -> Result<PathBuf, BuildError> {
        let library = self.library()?;
        let getters = self.part(instr_runtime::GETTERS, &[])?;
        let setting = self.setting_key();
        let files = [&library, &getters].map(|file| file.as_os_str().as_bytes());
        let key = key([setting.as_bytes()]
            .into_iter()
            .chain(files)
            .chain(parts.iter().map(|part| part.as_bytes())));
        let entry =
            self.cache
                .entry(&format!("shared-{key}"), |dir| -> Result<(), BuildError> {
                    let mut options = vec!["-pthread".to_owned(), "-Wl,-z,nodelete".to_owned()];
                    options.extend(parts.iter().map(|part| format!("-Wl,-u,{part}")));
                    self.link_shared(dir, &shared_name(), &options, &[&getters, &library])
                })?;
        Ok(entry.join(shared_name()))
    }

    /// The library that is loaded behind an OpenMP library which looks for a tool only there, built if it is not there.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn bridge(&self) -> Result<PathBuf, BuildError> {
        let object = self.part(instr_runtime::BRIDGE, &["-fPIC".into()])?;
        let file = format!("libinstr_ompt.so.{}", instr_runtime::table_version());
        // The object is an entry of the cache, whose name differs when its contents do.
        let name = format!("bridge-{}", key([object.as_os_str().as_bytes()]));
        let entry = self
            .cache
            .entry(&name, |dir| self.link_shared(dir, &file, &[], &[&object]))?;
        Ok(entry.join(file))
    }

    /// Links a shared library of ours, `dir/name`, which the dynamic linker knows by that name.
    pub(crate) fn link_shared(
        &self,
        dir: &Path,
        name: &str,
        options: &[String],
        files: &[&PathBuf],
    ) -> Result<(), BuildError> {
        let object = dir.join(name);
        let call = Call::new(self.compiler).args(self.abi);
        let call = call.args(["-fno-lto", "-fno-sanitize=all", "-shared"]);
        let call = call.args([format!("-Wl,-soname,{name}")]).args(options);
        let call = call.args(["-o".as_ref(), object.as_os_str()]).args(files);
        let output = call.run_privately()?;
        if output.status.success() && object.is_file() {
            return Ok(());
        }
        Err(self.refused(name, &output.stderr))
    }

    /// The object of a source of the runtime's that is not in the archive, built with `further` options if it is not there.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn part(&self, file: &str, further: &[OsString]) -> Result<PathBuf, BuildError> {
        let setting = self.setting_key();
        let parts = [file, instr_runtime::KEY, &setting].map(str::as_bytes);
        let words = further.iter().map(|word| word.as_bytes());
        let name = format!("part-{}", key(parts.into_iter().chain(words)));
        let entry = self.cache.entry(&name, |dir| -> Result<(), BuildError> {
            let source = sources(self.cache)?;
            let flags: Vec<&OsStr> = STUB_FLAGS
                .iter()
                .map(OsStr::new)
                .chain(further.iter().map(OsString::as_os_str))
                .collect();
            self.compile(&source, &source.join(file), &flags, &dir.join("part.o"))
        })?;
        Ok(entry.join("part.o"))
    }

    /// The object with a program's configuration, built if it is not there.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn config(&self, text: &str) -> Result<PathBuf, BuildError> {
        let setting = self.setting_key();
        let parts = [text, instr_runtime::KEY, &setting];
        let name = format!("config-{}", key(parts.map(str::as_bytes)));
        let entry = self.cache.entry(&name, |dir| -> Result<(), BuildError> {
            let file = dir.join("instr_config.c");
            fs::write(&file, text)?;
            let source = sources(self.cache)?;
            let flags: [&str; 0] = [];
            self.compile(&source, &file, &flags, &dir.join("instr_config.o"))
        })?;
        Ok(entry.join("instr_config.o"))
    }

    fn build_library(&self, dir: &Path) -> Result<(), BuildError> {
        let files = instr_runtime::sources(&self.facts.os);
        if !files.iter().any(|f| f.starts_with("platform/")) {
            return Err(BuildError::System(self.facts.machine.clone()));
        }
        let source = &sources(self.cache)?;
        let objects: Vec<PathBuf> = files
            .iter()
            .map(|f| dir.join(f.replace('/', "-")).with_extension("o"))
            .collect();
        let jobs: Vec<(&str, &PathBuf)> = files.iter().copied().zip(&objects).collect();
        in_parallel(&jobs, |(file, object)| {
            let flags = [self.inner_flags(file), self.output_flags()].concat();
            self.compile(source, &source.join(file), &flags, object)
        })?;
        self.archive(&dir.join(LIBRARY), &objects)?;
        for object in &objects {
            fs::remove_file(object)?;
        }
        Ok(())
    }

    fn compile(
        &self,
        source: &Path,
        file: &Path,
        flags: &[impl AsRef<OsStr>],
        object: &Path,
    ) -> Result<(), BuildError> {
        let mut include = OsString::from("-I");
        include.push(source.join("include"));
        let mut root = OsString::from("-I");
        root.push(source);
        let call = self
            .call()
            .args(flags)
            .args([include, root])
            .args(["-x", "c", "-c", "-o"])
            .args([object, file]);
        let output = call.run_privately()?;
        if output.status.success() && object.is_file() {
            return Ok(());
        }
        let what = file.strip_prefix(source).unwrap_or(Path::new("the stubs"));
        Err(self.refused(&what.display().to_string(), &output.stderr))
    }

    fn refused(&self, what: &str, stderr: &[u8]) -> BuildError {
        BuildError::Compile {
            compiler: self.compiler.display().to_string(),
            what: what.to_owned(),
            why: first_error(stderr),
        }
    }

    fn archive(&self, library: &Path, objects: &[PathBuf]) -> Result<(), BuildError> {
        let found = Call::new(self.compiler)
            .args(self.abi)
            .args(["-print-prog-name=ar"])
            .run_privately()?
            .stdout;
        let ar = OsStr::from_bytes(found.trim_ascii()).to_owned();
        let ar = if ar.is_empty() {
            OsString::from_vec(b"ar".to_vec())
        } else {
            ar
        };
        let fail = |why: String| BuildError::Archive(ar.to_string_lossy().into_owned(), why);
        let output = Call::new(&ar)
            .args(["rcs"])
            .args([library])
            .args(objects)
            .run_privately();
        let output = output.map_err(|e| fail(e.to_string()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(fail(first_error(&output.stderr)))
        }
    }
}

/// The first line that names an error, else the first line.
fn first_error(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let line = text
        .lines()
        .find(|l| l.contains("error"))
        .or_else(|| text.lines().next());
    line.unwrap_or("it printed no reason").trim().to_owned()
}

/// Does jobs on as many threads as there are processors (four at most); the first error in order wins.
fn in_parallel<T: Sync, E: Send>(
    jobs: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = std::thread::available_parallelism()
        .map_or(1, usize::from)
        .clamp(1, 4);
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let lock = || {
        failed
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.min(jobs.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= jobs.len() || lock().is_some() {
                        break;
                    }
                    if let Err(error) = work(&jobs[at]) {
                        let mut first = lock();
                        if first.as_ref().is_none_or(|(other, _)| at < *other) {
                            *first = Some((at, error));
                        }
                    }
                }
            });
        }
    });
    failed
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
        .map_or(Ok(()), |(_, error)| Err(error))
}

/// Whether an option's word names a place from the current folder on: there is a `/`, and not at the beginning of the place.
fn is_relative(word: &[u8]) -> bool {
    let mut before = word.split(|byte| *byte == b'/');
    let option = before.next().unwrap_or_default();
    before.next().is_some() && !matches!(option, b"" | b"-B") && !option.ends_with(b"=")
}

/// The identity of a compiler, for callers that only have its path.
///
/// # Errors
/// When the file is gone.
pub fn identify(cache: &Cache, compiler: &Path) -> io::Result<(String, Facts)> {
    let identity = compiler::identity(compiler)?;
    let facts = compiler::facts(compiler, &identity, cache)?;
    Ok((identity, facts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_jobs_are_done_and_the_first_error_is_kept() {
        let done = AtomicUsize::new(0);
        let jobs: Vec<usize> = (0..100).collect();
        let ok: Result<(), usize> = in_parallel(&jobs, |_| {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!((ok, done.into_inner()), (Ok(()), 100));
        assert_eq!(
            in_parallel(&jobs, |j| if *j == 0 { Err(*j) } else { Ok(()) }),
            Err(0)
        );
        assert_eq!(in_parallel(&[] as &[usize], |j| Err(*j)), Ok(()));
    }

    #[test]
    fn places_from_the_root_on_are_the_same_in_every_folder() {
        for word in ["-O2", "-B/opt/rtems", "--sysroot=/opt/x", "/opt/x", "-m32"] {
            assert!(!is_relative(word.as_bytes()), "{word}");
        }
        for word in ["-Bkernel/lib", "--sysroot=../x", "a/b", "-specs=x/y"] {
            assert!(is_relative(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn the_line_with_the_error_is_quoted() {
        assert_eq!(
            first_error(b"In file included\nx.c:1: error: no\n"),
            "x.c:1: error: no"
        );
        assert_eq!(first_error(b"Killed\n"), "Killed");
        assert_eq!(first_error(b""), "it printed no reason");
    }
}
