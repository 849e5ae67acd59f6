//! The library that `instr run` preloads into programs nobody built to be traced (`runtime/library/preload.c`), and which programs take none.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use instr_rewrite::api::Function;
use instr_rewrite::object;
use instr_rewrite::program::Program;
use instr_rewrite::stubs;

use crate::cache::{Cache, key};
use crate::compiler::{self, Machine};
use crate::prebuilt::{self, Found};
use crate::runtime::{self, Builder, Stubs, Variant, shared_name};
use crate::shim::{SHARED_PARTS, index, openmp};

/// The variable by which the dynamic linker is told of it.
pub const VARIABLE: &str = "LD_PRELOAD";
/// How the library is linked: every process of a run loads it, so that it has few segments.
const LINK_OPTIONS: [&str; 3] = ["-pthread", "-Wl,-z,nodelete", "-Wl,-z,noseparate-code"];
/// Mode bits of a program that runs with rights its user has not.
const PRIVILEGED: u32 = 0o6000;
/// So much of a program is looked through.
const MAX_PROGRAM: u64 = 1 << 30;
/// So much of a program has its headers.
const HEADERS: u64 = 1 << 16;
/// Libraries that must be the first ones of a process: of compilers' checks.
const FIRST: [&str; 3] = ["libasan.so", "libtsan.so", "libhwasan.so"];

/// What of a program a preloaded library records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// OpenMP and threads.
    Usual,
    /// The heap as well.
    Heap,
}

impl Recorded {
    const ALL: [Self; 2] = [Self::Usual, Self::Heap];

    /// The library's file. libinstr.so lies beside it.
    fn file(self) -> &'static str {
        match self {
            Self::Usual => "libinstr-preload.so",
            Self::Heap => "libinstr-preload-memory.so",
        }
    }

    /// Descriptions beside those that are always there.
    fn groups(self) -> index::Groups {
        index::Groups {
            memory: self == Self::Heap,
            threads: true,
        }
    }

    /// OpenMP's functions, threads with what they wait for, the ends of a process that run no handlers, and the heap where it is wanted. Handlers of
    /// signals stay the program's.
    fn has(self, function: &Function) -> bool {
        let is_exit = |probe: &instr_rewrite::Probe| probe.name == "process_exit";
        openmp::is_openmp_description(&function.source)
            || function.is_of_threads()
            || function.probe.as_ref().is_some_and(is_exit)
            || self == Self::Heap && function.is_of_memory()
    }
}

/// The library, ready to be preloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    /// Where it is.
    pub path: PathBuf,
    /// Why it is not the one of the installation, where that has one.
    pub note: Option<String>,
}

/// Where the library is: the installation's, if that is what this version would build; else the cache's, built if it is not there.
///
/// # Errors
///
/// There is none, and no compiler, no folder for what it makes, or no path that the dynamic linker understands.
pub fn library(recorded: Recorded) -> Result<Library> {
    let machine = Machine::new();
    let note = match prebuilt::find(machine.own(), recorded.file()) {
        Found::Usable(path) if is_nameable(&path) => return Ok(Library { path, note: None }),
        Found::Usable(_) | Found::Nothing => None,
        Found::Refused(why) => Some(why),
    };
    let path = built(&machine, recorded).with_context(|| match &note {
        Some(why) => why.clone(),
        None => "none is installed with this command".to_owned(),
    })?;
    match is_nameable(&path) {
        true => Ok(Library { path, note }),
        false => Err(anyhow!(
            "{} has a blank, `:` or `$` in its name, which {VARIABLE} cannot hold; set INSTR_CACHE to another folder",
            path.display()
        )),
    }
}

/// Builds the libraries into `folder`, for an installation's `lib/instr`.
///
/// # Errors
///
/// As [`library`], and a folder that cannot be written.
pub fn put(folder: &Path) -> Result<()> {
    let libraries: Result<Vec<PathBuf>> = Recorded::ALL
        .into_iter()
        .map(|recorded| built(&Machine::new(), recorded))
        .collect();
    prebuilt::put(&libraries?, folder).with_context(|| format!("cannot write {}", folder.display()))
}

/// The dynamic linker takes these for the end of a path, and the first for its own variables.
fn is_nameable(library: &Path) -> bool {
    let cut = |byte: &u8| b"$: \t\n".contains(byte);
    !library.as_os_str().as_bytes().iter().any(cut)
}

/// The cache's library, built if it is not there.
fn built(machine: &Machine, recorded: Recorded) -> Result<PathBuf> {
    let compiler = machine
        .compiler()
        .context("there is no C compiler in PATH, which would build one")?;
    let cache = Cache::open(|name| std::env::var_os(name)).context("there is no folder for one")?;
    if cache.is_private() {
        return Err(anyhow!(
            "there is no folder to keep one in; set INSTR_CACHE to one that can be written"
        ));
    }
    let (identity, facts) =
        runtime::identify(&cache, &compiler).context("cannot identify the compiler")?;
    let builder = Builder {
        cache: &cache,
        compiler: &compiler,
        identity: &identity,
        facts: &facts,
        abi: &[],
        variant: Variant::Pic,
    };
    build(&builder, machine.own(), recorded)
}

/// The library and libinstr.so in one folder. `own` is this program's file: another one has other descriptions.
fn build(builder: &Builder<'_>, own: &Path, recorded: Recorded) -> Result<PathBuf> {
    let descriptions = compiler::identity(own).context("cannot find this program's file")?;
    let setting = builder.setting_key();
    let file = recorded.file();
    let parts = [&descriptions, instr_runtime::KEY, &setting, file].map(str::as_bytes);
    let name = format!("preload-{}", key(parts));
    let entry = builder.cache.entry(&name, |dir| -> Result<()> {
        let shared = builder.shared(&SHARED_PARTS)?;
        let beside = dir.join(shared_name());
        fs::copy(&shared, &beside)?;
        let emit = || {
            Ok(stubs::emit_for_preload(
                &index::parse(&[], recorded.groups())?,
                |function| recorded.has(function),
            ))
        };
        let kind = Stubs::Preloaded {
            heap: recorded == Recorded::Heap,
        };
        let stubs = builder.stubs(kind, &descriptions, &[], emit)?;
        let parts: Result<Vec<PathBuf>, _> = instr_runtime::PRELOAD
            .into_iter()
            .map(|part| builder.part(part, &[]))
            .collect();
        let parts = parts?;
        let mut objects = vec![&stubs];
        objects.extend(&parts);
        // The heap is recorded from the start; else most processes need no runtime, and the library loads it for those that do.
        let mut options = LINK_OPTIONS.map(str::to_owned).to_vec();
        if recorded == Recorded::Heap {
            objects.push(&beside);
            options.push("-Wl,-rpath,$ORIGIN".to_owned());
        }
        builder.link_shared(dir, file, &options, &objects)?;
        Ok(())
    })?;
    Ok(entry.join(file))
}

/// What [`VARIABLE`] is to be: the user's own libraries stay the first ones. But for a library that records the heap: an allocator of the user's is what
/// it calls. One of a sanitizer has to be the first, and is left alone.
#[must_use]
pub fn variable(before: Option<&OsStr>, library: &Path, recorded: Recorded) -> OsString {
    let before = before.unwrap_or_default();
    let mut value = before.to_owned();
    if value.is_empty() {
        value.push(library);
    } else if recorded == Recorded::Heap && !has_sanitizer(before) {
        value = library.into();
        value.push(":");
        value.push(before);
    } else {
        value.push(":");
        value.push(library);
    }
    value
}

/// Whether a list of libraries has a sanitizer's.
fn has_sanitizer(list: &OsStr) -> bool {
    let is_separator = |byte: &u8| b": \t\n".contains(byte);
    let mut paths = list.as_bytes().split(is_separator);
    paths.any(|path| {
        let name = Path::new(OsStr::from_bytes(path)).file_name();
        let name = name.unwrap_or_default().as_bytes();
        let is_first = |first: &&str| name.starts_with(first.as_bytes());
        FIRST.iter().any(is_first)
    })
}

/// Why nothing can be preloaded into a program, and what helps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// What the program is.
    pub what: String,
    /// What to do instead.
    pub help: String,
}

/// What keeps a program from taking a preloaded library. Nothing for what is no ELF file (a script: what it starts may take one), and for what
/// cannot be read.
#[must_use]
pub fn obstacle(program: &Path) -> Option<Obstacle> {
    let read = |path: &Path, most: u64| {
        let mut bytes = Vec::new();
        let file = File::open(path).ok()?;
        file.take(most).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    };
    let bytes = read(program, MAX_PROGRAM)?;
    let of = Program::parse(&bytes)?;
    let own = read(Machine::new().own(), HEADERS)?;
    let own = Program::parse(&own)?;
    let link = "link it with instr-cc: `make CC=instr-cc`, or `instr-cc gcc -fopenmp …`";
    let obstacle = |what: &str, help: &str| {
        let (what, help) = (what.to_owned(), help.to_owned());
        Some(Obstacle { what, help })
    };
    if (of.machine, of.is_64) != (own.machine, own.is_64) {
        return obstacle(
            "is a program for another processor, or of another word size, than this one's",
            "build it with instr-cc and the compiler that built it",
        );
    }
    let Some(linker) = of.interpreter else {
        return obstacle("is linked statically", link);
    };
    if own.interpreter.is_some_and(|own| base(own) != base(linker)) {
        return obstacle("uses another C library than this command", link);
    }
    let mode = fs::metadata(program).map_or(0, |status| status.permissions().mode());
    if mode & PRIVILEGED != 0 {
        return obstacle(
            "runs with rights that its user has not (set-user-id or set-group-id)",
            "run a copy of it without these bits",
        );
    }
    let is_first = |name: &&str| FIRST.iter().any(|first| name.starts_with(first));
    if of.needed.iter().any(is_first) {
        return obstacle(
            "has a sanitizer's library, which must be the first one of a process",
            link,
        );
    }
    None
}

/// Whether a program has a `malloc` of its own inside, which the dynamic linker prefers to a preloaded one. Nothing of the kind is known of what cannot be
/// read.
#[must_use]
pub fn brings_malloc(program: &Path) -> bool {
    let mut bytes = Vec::new();
    let read = File::open(program).and_then(|file| file.take(MAX_PROGRAM).read_to_end(&mut bytes));
    read.is_ok() && object::defines(&bytes, b"malloc").unwrap_or(false)
}

/// The dynamic linker that a program names; nothing for what is linked statically, or is no ELF file.
#[must_use]
pub fn interpreter(program: &Path) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    let file = File::open(program).ok()?;
    file.take(HEADERS).read_to_end(&mut bytes).ok()?;
    Program::parse(&bytes)?.interpreter.map(PathBuf::from)
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_libraries_stay_the_first() {
        let ours = Path::new("/c/ours.so");
        for recorded in Recorded::ALL {
            assert_eq!(variable(None, ours, recorded), "/c/ours.so");
            assert_eq!(variable(Some("".as_ref()), ours, recorded), "/c/ours.so");
        }
        for (before, usual, heap) in [
            (
                "/a.so /b.so",
                "/a.so /b.so:/c/ours.so",
                "/c/ours.so:/a.so /b.so",
            ),
            (
                "/b.so:/x/libasan.so.8",
                "/b.so:/x/libasan.so.8:/c/ours.so",
                "/b.so:/x/libasan.so.8:/c/ours.so",
            ),
        ] {
            let before = Some(OsStr::new(before));
            assert_eq!(variable(before, ours, Recorded::Usual), usual);
            assert_eq!(variable(before, ours, Recorded::Heap), heap);
        }
    }

    #[test]
    fn scripts_and_this_program_take_it() {
        let dir = tempfile::tempdir().unwrap();
        let script = dir.path().join("script");
        fs::write(&script, "#!/bin/sh\n").unwrap();
        assert_eq!(obstacle(&script), None);
        assert_eq!(obstacle(&dir.path().join("missing")), None);
        let own = std::env::current_exe().unwrap();
        assert_eq!(obstacle(&own), None);
        let copy = dir.path().join("copy");
        fs::copy(&own, &copy).unwrap();
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
        assert!(obstacle(&copy).unwrap().what.contains("set-user-id"));
        // The machine of another processor, in the ELF header.
        let mut bytes = fs::read(&own).unwrap();
        bytes[18] = 2;
        fs::write(&copy, bytes).unwrap();
        assert!(obstacle(&copy).unwrap().what.contains("another processor"));
    }
}
