//! The program in front of the linker. The compiler finds it through `-B` under the name of a linker; it sees the true
//! link line, adds the runtime, stubs and `--wrap` options, and runs the real linker.
//!
//! Whatever goes wrong on the way, the link is done plainly: with the words that came.

pub mod context;
pub mod demand;
pub mod index;
pub mod line;
pub mod linker;
pub mod lto;
pub mod openmp;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_rewrite::resolve::ArchiveOrder;
use instr_rewrite::stubs;

use crate::argv::response_file;
use crate::cache::Cache;
use crate::compiler::Machine;
use crate::config::Config;
use crate::exec::{Call, end_like};
use crate::runtime::{self, Builder, Stubs, Variant};
use crate::say;

use context::Context;
use demand::{Demand, demand};
use index::{Groups, Index};
use line::{Input, Line};

/// The names that the shim stands under.
pub const NAMES: [&str; 5] = ["ld", "ld.bfd", "ld.gold", "ld.lld", "ld.mold"];

/// What brings parts of the runtime into a program to which nothing else refers strongly: sensors and counters of threads
/// (`runtime/sensors/optional.h`), sinks (`runtime/sinks/sink.h`), stacks and sampling.
pub const SENSORS: &str = "instr_sensors_begin";
const SINKS: [(&str, &str); 2] = [("console", "instr_sink_console"), ("ram", "instr_sink_ram")];
const MEASURES: [&str; 3] = [
    "instr_stack_begin",
    "instr_sampling_begin",
    "instr_sampling_settings",
];

/// What brings in the table that libraries find a program's runtime by (`runtime/library/table.c`), with the memory of those that were
/// unloaded (`runtime/library/modules.c`); what says that the program's calls of the
/// heap are wrapped (`runtime/probes/memory_wrapped.c`).
const TABLE_PARTS: [&str; 2] = ["instr_table", "instr_modules_tell"];
const HEAP_PART: &str = "instr_memory_wrapped";

/// All parts of libinstr.so, in the order of a shared library's link.
pub(crate) const SHARED_PARTS: [&str; 8] = [
    SENSORS,
    SINKS[0].1,
    SINKS[1].1,
    MEASURES[0],
    MEASURES[1],
    MEASURES[2],
    TABLE_PARTS[0],
    TABLE_PARTS[1],
];

/// Whether the process was started as a linker.
#[must_use]
pub fn is_linker_name(argv0: &OsStr) -> bool {
    Path::new(argv0)
        .file_name()
        .is_some_and(|name| NAMES.iter().any(|n| name == *n))
}

/// The compiler beside a linker that is called by itself: `cc` for `ld` and its like, `sparc64-linux-gnu-gcc` for `sparc64-linux-gnu-ld`;
/// nothing for what is no linker.
#[must_use]
pub fn compiler_of_linker(program: &OsStr) -> Option<OsString> {
    let name = Path::new(program).file_name()?.to_str()?;
    if NAMES.contains(&name) || matches!(name, "lld" | "mold") {
        return Some("cc".into());
    }
    let is_linker = |end: &&str| NAMES.contains(end);
    let (prefix, _) = name.rsplit_once('-').filter(|(_, end)| is_linker(end))?;
    Some(format!("{prefix}-gcc").into())
}

/// Makes the folder of links to the wrapper.
///
/// # Errors
/// When it cannot be made.
pub fn folder(cache: &Cache, own: &Path) -> io::Result<PathBuf> {
    let key = crate::cache::key([own.as_os_str().as_bytes()]);
    cache.entry(&format!("shim-{key}"), |dir| {
        NAMES
            .iter()
            .try_for_each(|name| std::os::unix::fs::symlink(own, dir.join(name)))
    })
}

/// Runs as the linker. Never returns: the process becomes the linker, or ends as it did.
pub fn run(argv0: &OsStr, words: Vec<OsString>) -> i32 {
    let machine = Machine::new();
    let name = Path::new(argv0).file_name().unwrap_or_default().to_owned();
    let context = std::env::var_os(context::VARIABLE).and_then(|text| Context::decode(&text));
    let context = context.unwrap_or_default();
    let Some(real) = linker::find(&name, &context, &machine) else {
        say::error(&format!(
            "cannot find the linker {}: no such executable in PATH",
            name.display()
        ));
        return 1;
    };
    let words = without_shim_folder(words, &context.shim);
    if context.compiler.as_os_str().is_empty() {
        return plain(&real, &words);
    }
    run_linker(&real, &words, &context, machine.own())
}

/// Links with this linker, instrumented where that is possible. Never returns: the process becomes the linker, or ends as it did.
pub fn run_linker(real: &Path, words: &[OsString], context: &Context, own: &Path) -> i32 {
    match instrumented(real, words, context, own) {
        Ok(Outcome::Done(status)) => end_like(status),
        Ok(Outcome::Plain(why)) => say::note(context.verbose, &format!("linked plainly: {why}")),
        Err(error) => {
            say::note(context.verbose, &format!("linked plainly: {error:#}"));
            // The program may ask for something of the runtime, and the linker can only say that it is missing.
            if let Ok(status) = call(real, words).run() {
                if !status.success() && !context.verbose {
                    say::warning(&format!("this link is without the runtime: {error:#}"));
                }
                end_like(status);
            }
        }
    }
    plain(real, words)
}

/// Becomes the real linker.
fn plain(real: &Path, words: &[OsString]) -> i32 {
    let error = call(real, words).replace();
    say::error(&format!(
        "cannot run the linker {}: {error}",
        real.display()
    ));
    1
}

fn call(real: &Path, words: &[OsString]) -> Call {
    let mut call = Call::new(real).args(words);
    call.env.push((context::VARIABLE, None));
    call
}

/// The compiler also takes the folder of `-B` for one with libraries.
fn without_shim_folder(words: Vec<OsString>, shim: &Path) -> Vec<OsString> {
    let is_ours = |word: &OsString| {
        let folder = word.as_bytes().strip_prefix(b"-L");
        folder.is_some_and(|f| {
            !f.is_empty() && linker::is_shim(Path::new(OsStr::from_bytes(f)), shim)
        })
    };
    words.into_iter().filter(|word| !is_ours(word)).collect()
}

enum Outcome {
    /// The instrumented link succeeded, or was ended by a signal.
    Done(std::process::ExitStatus),
    /// There is nothing to instrument, or the instrumented link failed.
    Plain(String),
}

fn instrumented(real: &Path, words: &[OsString], context: &Context, own: &Path) -> Result<Outcome> {
    let expanded = without_shim_folder(response_file::expand(words)?, &context.shim);
    let mut line = line::parse(&expanded);
    if let Some(reason) = plain_reason(&line) {
        return Ok(Outcome::Plain(reason.into()));
    }
    let cache = Cache::at(context.cache.clone());
    let (identity, facts) =
        runtime::identify(&cache, &context.compiler).context("cannot identify the compiler")?;
    // Images of RTEMS have fixed addresses, without an option that says so.
    line.fixed |= facts.os == "rtems" && !line.shared;
    let groups = Groups {
        memory: context.memory,
        threads: facts.os == "linux",
    };
    let index = Index::open(&cache, own, &context.apis, groups)?;
    let order = if linker::looks_back(real) {
        ArchiveOrder::Any
    } else {
        ArchiveOrder::Sequential
    };
    let demand = demand(&line, order, &index);
    demand
        .notes
        .iter()
        .for_each(|note| say::note(context.verbose, note));
    if demand.is_empty() {
        return Ok(Outcome::Plain(
            "nothing to instrument: no described function is called".into(),
        ));
    }
    let builder = Builder {
        cache: &cache,
        compiler: &context.compiler,
        identity: &identity,
        facts: &facts,
        abi: &context.abi,
        variant: variant(&line),
    };
    let wanted = demand.stubs();
    let kind = match line.shared {
        true => Stubs::Library(demand.library_flags()),
        false => Stubs::Program,
    };
    let stubs = (line.shared || !wanted.is_empty()).then(|| {
        let emit = || {
            let api = index::parse(&context.apis, groups)?;
            let symbols = wanted.iter().copied();
            Ok(match kind {
                Stubs::Library(flags) => stubs::emit_for_library(symbols, &api, flags),
                Stubs::Program | Stubs::Preloaded { .. } => stubs::emit_each(symbols, &api),
            })
        };
        builder.stubs(kind, &index.key, &wanted, emit)
    });
    let config = config(context, &facts.os)?;
    let parts = optional_parts(&line, config.as_ref());
    let config = config.map(|config| config_object(&config, &builder, context, &facts.os, &line));
    let objects = stubs.transpose()?.into_iter().chain(config.transpose()?);
    let ours = match line.shared {
        true => Ours::of_library(&demand, &builder, objects.collect(), parts)?,
        false => Ours::of_program(&line, &demand, &builder, objects.collect(), parts)?,
    };
    let words = insert(&expanded, &line, &demand, &ours);
    link(real, &words, &demand, &ours, context)
}

/// What a link gets of us.
struct Ours {
    /// Objects and archives, in the order of the line.
    files: Vec<PathBuf>,
    /// Symbols that bring parts of the runtime in.
    parts: Vec<&'static str>,
    /// What a shared library finds the runtime in where the program has none.
    shared: Option<PathBuf>,
}

impl Ours {
    /// A shared library has stubs, and finds the one runtime of its process when it is loaded.
    fn of_library(
        demand: &Demand,
        builder: &Builder<'_>,
        objects: Vec<PathBuf>,
        mut parts: Vec<&'static str>,
    ) -> Result<Self> {
        parts.extend(TABLE_PARTS);
        let shared = builder.shared(&parts)?;
        let library = builder.part(
            instr_runtime::LIBRARY,
            &[path_option("INSTR_LIBRARY_PATH", &shared)],
        )?;
        let tool = demand.ompt.then(|| builder.part(instr_runtime::TOOL, &[]));
        let bound = bound(demand, builder, true)?;
        let files = objects
            .into_iter()
            .chain([library])
            .chain(tool.transpose()?)
            .chain(bound);
        Ok(Self {
            files: files.collect(),
            parts: Vec::new(),
            shared: Some(shared),
        })
    }

    /// A program that gets all parts of the runtime gets them as one object, which linkers read much faster than the members of an
    /// archive. What a program may define itself, and so keep out, still comes from the archive.
    ///
    /// A program that is not static also offers its runtime to the libraries that it loads.
    fn of_program(
        line: &Line,
        demand: &Demand,
        builder: &Builder<'_>,
        mut objects: Vec<PathBuf>,
        mut parts: Vec<&'static str>,
    ) -> Result<Self> {
        let library = builder.library()?;
        let small = builder.facts.os == "rtems";
        parts.extend((demand.heap && !small).then_some(HEAP_PART));
        objects.extend(bound(demand, builder, false)?);
        if demand.foreign_tool {
            objects.push(builder.part(instr_runtime::FOREIGN_TOOL, &[])?);
        }
        if !line.fixed {
            parts.extend(TABLE_PARTS);
            if !demand.openmp {
                objects.push(builder.part(instr_runtime::GETTERS, &[])?);
            }
        }
        let whole = match line.fixed {
            true => None,
            false => builder.whole(&objects, &parts, &library)?,
        };
        let needs_library = demand.ompt || !demand.interface.is_empty();
        Ok(match whole {
            Some(whole) => Self {
                files: [Some(whole), needs_library.then_some(library)]
                    .into_iter()
                    .flatten()
                    .collect(),
                parts: Vec::new(),
                shared: None,
            },
            None => Self {
                files: objects.into_iter().chain([library]).collect(),
                parts,
                shared: None,
            },
        })
    }
}

/// What leads an OpenMP library to our tool that looks for one behind itself only.
fn bound(demand: &Demand, builder: &Builder<'_>, shared: bool) -> Result<Option<PathBuf>> {
    if !demand.bridge {
        return Ok(None);
    }
    let bridge = builder.bridge()?;
    let mut defines = vec![path_option("INSTR_BRIDGE_PATH", &bridge)];
    defines.extend(shared.then(|| "-DINSTR_BOUND_LIBRARY=1".into()));
    Ok(Some(builder.part(instr_runtime::BOUND, &defines)?))
}

/// The option that tells a source of ours where a file is.
fn path_option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(format!("-D{name}="));
    option.push(crate::config::literal(path.as_os_str()));
    option
}

/// The program's configuration: what the user's file says; the defaults when a target was named, or on systems without an environment.
fn config(context: &Context, os: &str) -> Result<Option<Config>> {
    Ok(match &context.config {
        Some(path) => Some(crate::driver::read_config(path)?),
        None if os == "linux" && context.target.is_none() => None,
        None => Some(Config::default()),
    })
}

/// The object with the program's configuration, its path on systems without an environment, and its target.
fn config_object(
    config: &Config,
    builder: &Builder<'_>,
    context: &Context,
    os: &str,
    line: &Line,
) -> Result<PathBuf> {
    let program = line.output.as_ref().map(std::path::absolute).transpose()?;
    let program = program.filter(|_| os != "linux");
    let target = context.target.as_deref();
    Ok(builder.config(&config.source(os, program.as_deref(), target))?)
}

/// The parts that a program gets: all of them, but a static one, which stays small, only those that its configuration uses.
fn optional_parts(line: &Line, config: Option<&Config>) -> Vec<&'static str> {
    let all = !line.fixed;
    let sensors = all || config.is_some_and(Config::reads_sensors);
    let used = |name: &str| all || config.is_some_and(|config| config.sink() == Some(name));
    let mut parts: Vec<&str> = sensors.then_some(SENSORS).into_iter().collect();
    let sinks = SINKS.iter().filter(|(name, _)| used(name));
    parts.extend(sinks.map(|(_, symbol)| *symbol));
    match config {
        _ if all => parts.extend(MEASURES),
        Some(config) => parts.extend(config.parts()),
        None => {}
    }
    parts
}

fn plain_reason(line: &Line) -> Option<&'static str> {
    if line.informs {
        Some("the linker is only asked for information")
    } else if line.relocatable {
        Some("an object file is made; the link that uses it is instrumented")
    } else if line.inputs.is_empty() {
        Some("there is no input file")
    } else {
        None
    }
}

fn variant(line: &Line) -> Variant {
    if line.shared {
        Variant::Pic
    } else if line.fixed && !line.pie {
        Variant::Fixed
    } else {
        Variant::Pie
    }
}

/// The link line with ours in it: options in front, objects at the place that the line offers.
fn insert(words: &[OsString], line: &Line, demand: &Demand, ours: &Ours) -> Vec<OsString> {
    let (before, after) = words.split_at(line.place);
    let mut all: Vec<OsString> = Vec::with_capacity(words.len() + demand.wrap.len() + 8);
    all.extend(demand.wrap.iter().map(|s| format!("--wrap={s}").into()));
    if !line.shared {
        let interface = demand.interface.iter();
        all.extend(interface.flat_map(|s| ["-u".into(), OsString::from(*s)]));
        if demand.ompt {
            all.extend(["-u".into(), openmp::TOOL.into()]);
        }
    }
    let parts = ours.parts.iter();
    all.extend(parts.flat_map(|s| ["-u".into(), OsString::from(*s)]));
    if !line.shared && !line.fixed {
        // Wrapped symbols are no longer exported by themselves, but libraries may look for them.
        all.extend(
            demand
                .defined
                .iter()
                .map(|s| format!("--export-dynamic-symbol={s}").into()),
        );
    }
    all.extend(
        thread_functions(line)
            .iter()
            .flat_map(|s| ["-u".into(), OsString::from(*s)]),
    );
    all.extend_from_slice(before);
    all.extend(ours.files.iter().map(OsString::from));
    all.extend_from_slice(after);
    all
}

/// Functions to be taken into a static program.
///
/// Older `libgfortran.a`, `libstdc++.a` and `libgcc_eh.a` refer weakly to the functions of threads, and call all of them
/// as soon as `__pthread_key_create` is there. The runtime brings that one, so the others must not be missing.
fn thread_functions(line: &Line) -> &'static [&'static str] {
    const ALL: &[&str] = &[
        "pthread_cond_broadcast",
        "pthread_cond_destroy",
        "pthread_cond_init",
        "pthread_cond_wait",
        "pthread_create",
        "pthread_getspecific",
        "pthread_join",
        "pthread_key_create",
        "pthread_key_delete",
        "pthread_mutex_destroy",
        "pthread_mutex_init",
        "pthread_mutex_lock",
        "pthread_mutex_trylock",
        "pthread_mutex_unlock",
        "pthread_once",
        "pthread_self",
        "pthread_setspecific",
    ];
    let is_user = |input: &Input| matches!(input, Input::Library { name, .. } if name == "gfortran" || name == "stdc++");
    if line.fixed && line.inputs.iter().any(|i| is_user(&i.input)) {
        ALL
    } else {
        &[]
    }
}

/// How long a command line may be before it goes into a response file, in bytes. Systems allow 2 MiB and more in all.
const MAX_COMMAND_LINE: usize = 64 << 10;

/// Links with our words. The linker's output is held back until it is known that this link counts.
fn link(
    real: &Path,
    words: &[OsString],
    demand: &Demand,
    ours: &Ours,
    context: &Context,
) -> Result<Outcome> {
    let length: usize = words.iter().map(|w| w.len() + 1).sum();
    let mut response = None;
    if length > MAX_COMMAND_LINE {
        let mut file = tempfile::Builder::new()
            .prefix("instr-cc-")
            .suffix(".rsp")
            .tempfile()?;
        file.write_all(&response_file::join(words))?;
        response = Some(file.into_temp_path());
    }
    let words = match &response {
        Some(path) => {
            let mut word = OsString::from("@");
            word.push(path);
            vec![word]
        }
        None => words.to_vec(),
    };
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let status = call(real, &words).run_into(stdout.try_clone()?, stderr.try_clone()?)?;
    if status.success() || status.code().is_none() {
        // The output file is there; that nobody reads the messages does not undo it.
        _ = replay(&mut stdout, &mut io::stdout());
        _ = replay(&mut stderr, &mut io::stderr());
        for note in done_notes(demand, ours) {
            say::note(context.verbose, &note);
        }
        return Ok(Outcome::Done(status));
    }
    Ok(Outcome::Plain(format!(
        "the instrumented link failed: {}",
        first_line(&mut stderr)
    )))
}

fn replay(from: &mut File, to: &mut impl Write) -> io::Result<()> {
    from.rewind()?;
    io::copy(from, to)?;
    to.flush()
}

fn first_line(file: &mut File) -> String {
    let mut bytes = Vec::new();
    if file.rewind().is_err() || file.take(4096).read_to_end(&mut bytes).is_err() {
        return "its output cannot be read".into();
    }
    String::from_utf8_lossy(&bytes)
        .lines()
        .next()
        .unwrap_or("it printed no reason")
        .to_owned()
}

fn done_notes(demand: &Demand, ours: &Ours) -> Vec<String> {
    let mut notes = Vec::new();
    if !demand.wrap.is_empty() {
        notes.push(format!("instrumented: {}", demand.wrap.join(" ")));
    }
    if !demand.redirected.is_empty() {
        let names = demand.redirected.join(" ");
        notes.push(format!("redirected objects call the stubs of: {names}"));
    }
    if demand.ompt {
        notes.push("linked with the OMPT tool: libomp tells what it does".into());
    }
    if !demand.interface.is_empty() {
        notes.push(format!(
            "linked with the runtime for: {}",
            demand.interface.join(" ")
        ));
    }
    if let Some(shared) = &ours.shared {
        notes.push(format!(
            "where the program has no runtime, the library uses {}, or {} where the dynamic linker looks",
            shared.display(),
            runtime::shared_name()
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn inserted(text: &str) -> String {
        let words = words(text);
        let demand = Demand {
            wrap: vec!["f".into(), "g".into()],
            redirected: Vec::new(),
            forwarded: Vec::new(),
            interface: vec!["instr_event"],
            defined: vec!["g".into()],
            ..Demand::default()
        };
        let all = insert(
            &words,
            &line::parse(&words),
            &demand,
            &Ours {
                files: vec!["S".into(), "L".into()],
                parts: optional_parts(&line::parse(&words), None),
                shared: None,
            },
        );
        all.join(OsStr::new(" ")).into_string().unwrap()
    }

    #[test]
    fn ours_is_put_into_the_line() {
        assert_eq!(
            inserted("-pie -o out crt1.o x.o -lgomp"),
            "--wrap=f --wrap=g -u instr_event -u instr_sensors_begin -u instr_sink_console -u instr_sink_ram -u instr_stack_begin -u instr_sampling_begin -u instr_sampling_settings --export-dynamic-symbol=g -pie -o out crt1.o x.o S L -lgomp"
        );
        assert_eq!(
            inserted("-static -o out crt1.o x.o -lgomp"),
            "--wrap=f --wrap=g -u instr_event -static -o out crt1.o x.o S L -lgomp"
        );
    }

    #[test]
    fn the_shims_folder_is_no_place_for_libraries() {
        let left = without_shim_folder(
            words("-L/a/shim -L/b -L x.o -L/a/shim/ -L"),
            Path::new("/a/shim"),
        );
        assert_eq!(left, words("-L/b -L x.o -L"));
    }

    #[test]
    fn only_linkers_names_start_the_shim() {
        assert!(is_linker_name("/x/ld.gold".as_ref()) && is_linker_name("ld".as_ref()));
        assert!(!is_linker_name("instr-cc".as_ref()) && !is_linker_name("ldd".as_ref()));
    }

    #[test]
    fn a_linker_has_a_compiler_beside_it() {
        for (linker, compiler) in [
            ("ld", Some("cc")),
            ("/usr/bin/ld.gold", Some("cc")),
            ("mold", Some("cc")),
            ("sparc64-linux-gnu-ld", Some("sparc64-linux-gnu-gcc")),
            ("/x/a-b-ld.bfd", Some("a-b-gcc")),
            ("ldd", None),
            ("gcc", None),
            ("build-ldx", None),
        ] {
            let found = compiler_of_linker(linker.as_ref());
            assert_eq!(found.as_deref(), compiler.map(OsStr::new), "{linker}");
        }
    }

    #[test]
    fn the_runtimes_code_fits_the_output() {
        let of = |text: &str| variant(&line::parse(&words(text)));
        assert_eq!(of("-shared x.o"), Variant::Pic);
        assert_eq!(of("-static x.o"), Variant::Fixed);
        assert_eq!(of("-static -pie --no-dynamic-linker x.o"), Variant::Pie);
        assert_eq!(of("-pie x.o"), Variant::Pie);
        assert_eq!(of("x.o"), Variant::Pie);
    }
}
