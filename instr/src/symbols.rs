//! Run-time addresses to names: the metadata's module list says which file an address belongs to, the file's symbol
//! tables say the rest. A file is mapped when the first of its addresses is asked for; each address is looked up once.

mod callers;
mod files;
mod tracer;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Result;
use instr_symtab::{CallFrames, Directive, Image, ModuleMap, is_vdso, parse_outlined};

use instr_trace::{CodeName, Metadata, Module, Names, Session, Trace, Warning};

use self::files::Opened;
use crate::cli::SymbolOptions;
use crate::console::Console;
use crate::find;
use crate::kept::Kept;
use crate::runs;
use crate::summary::units::counted;

/// ELF's number of x86-64.
const EM_X86_64: u16 = 62;

/// Warnings about a trace's streams that are printed; more are counted.
const MAX_WARNINGS: usize = 5;

/// The names of one traced process.
pub struct Symbols {
    map: ModuleMap,
    modules: Vec<Loaded>,
    cache: RefCell<HashMap<u64, Option<CodeName>>>,
    /// Whether a call returns to an address.
    returns: RefCell<HashMap<u64, bool>>,
    warnings: RefCell<Vec<String>>,
    /// The files that the trace keeps; nothing where only the metadata is known.
    kept: Option<Kept>,
}

struct Loaded {
    module: Module,
    path: PathBuf,
    is_program: bool,
    /// The file that was opened.
    opened: OnceCell<Opened>,
    /// Whether the user named this file, so that it must be right.
    asked_for: bool,
    image: OnceCell<Option<Image>>,
    frames: OnceCell<CallFrames>,
    /// Link addresses of the runtime's code in it.
    tracer: OnceCell<Vec<std::ops::Range<u64>>>,
}

/// Load bias and end of each module. A file that was loaded to the same place again is there once: later ones are empty.
pub(crate) fn places(modules: &[Module]) -> Vec<(u64, u64)> {
    let mut seen = HashSet::new();
    let place = |module: &Module| {
        // One of the two tells the file.
        let path = module.build_id.is_none().then(|| module.path.clone());
        let place = (module.base, module.end);
        match seen.insert((place, module.build_id.clone(), path)) {
            true => place,
            false => (0, 0),
        }
    };
    modules.iter().map(place).collect()
}

/// What to say about modules that had the same addresses, one after the other.
fn replaced(map: &ModuleMap, modules: &[Module]) -> Option<String> {
    let (first, second) = map.overlapping()?;
    let (first, second) = (modules.get(first)?, modules.get(second)?);
    Some(format!(
        "{} was loaded where {} had been before: functions at addresses that several libraries had are not named",
        second.path, first.path
    ))
}

impl Symbols {
    /// Finds the files of a process's modules as `options` say; opens none yet.
    pub fn new(metadata: &Metadata, options: &SymbolOptions) -> Self {
        let program = metadata
            .modules
            .iter()
            .position(|module| module.path == metadata.executable)
            .unwrap_or(0);
        let loaded = |(at, module): (usize, &Module)| {
            let own = options.exe.as_ref().filter(|_| at == program);
            let path = match (own, &options.sysroot) {
                (Some(path), _) => path.clone(),
                (None, Some(root)) => root.join(module.path.trim_start_matches('/')),
                (None, None) => PathBuf::from(&module.path),
            };
            Loaded {
                module: module.clone(),
                path,
                is_program: at == program,
                opened: OnceCell::new(),
                asked_for: own.is_some(),
                image: OnceCell::new(),
                frames: OnceCell::new(),
                tracer: OnceCell::new(),
            }
        };
        let modules = metadata.modules.iter().enumerate().map(loaded).collect();
        let map = ModuleMap::new(places(&metadata.modules));
        let warnings = replaced(&map, &metadata.modules).into_iter().collect();
        Self {
            map,
            modules,
            cache: RefCell::default(),
            returns: RefCell::default(),
            warnings: RefCell::new(warnings),
            kept: None,
        }
    }

    /// The same for a trace, which may keep files itself: they are used where those of its program were built again or are gone.
    pub fn of(trace: &Trace, options: &SymbolOptions) -> Self {
        Self {
            kept: Some(Kept::of(trace.dir())),
            ..Self::new(trace.metadata(), options)
        }
    }

    /// Prints what was found wrong so far: files that are missing or are not those that ran. Those that were right stay in the trace.
    pub fn report(&self, console: &mut Console<'_>) {
        self.keep();
        for warning in self.warnings.take() {
            console.warn(&warning);
        }
    }

    /// The module that a run-time address belongs to, and the address that the linker gave it.
    fn at(&self, address: u64) -> Option<(&Loaded, u64)> {
        let (number, linked) = self.map.find(address)?;
        Some((self.modules.get(number)?, linked))
    }

    fn image<'s>(&'s self, loaded: &'s Loaded) -> Option<&'s Image> {
        loaded.image.get_or_init(|| self.open(loaded)).as_ref()
    }

    /// See [`Names::is_pair_of_directive`]. The calls stand right behind each other, with nothing but a move of the first
    /// one's result between them; so the bytes of both must have one place. Those of a program's own calls have at least
    /// columns of their own.
    fn is_pair(&self, site: u64) -> Option<bool> {
        let (loaded, linked) = self.at(site.checked_sub(1)?)?;
        let image = self.image(loaded)?;
        let bytes = match image.machine() {
            // Two calls of 5 bytes and a move of 2 or 3.
            EM_X86_64 => 12,
            // Two calls of 4 bytes, each with its delay slot.
            _ => 16,
        };
        let place = |address: u64| {
            let answer = image.lookup(address);
            Some((answer.file.clone()?, answer.line?, answer.column))
        };
        let last = place(linked)?;
        let mut before = (1..bytes).map(|back| place(linked.checked_sub(back)?));
        Some(before.all(|other| other.as_ref() == Some(&last)))
    }

    /// See [`Names::object`].
    fn object_of(&self, address: u64) -> Option<String> {
        let (loaded, _) = self.at(address)?;
        let path = Path::new(&loaded.module.path);
        Some(path.file_name()?.to_string_lossy().into_owned())
    }

    fn look_up(&self, address: u64) -> Option<CodeName> {
        let (loaded, linked) = self.at(address)?;
        let module = Some(loaded.module.path.clone());
        let Some(image) = self.image(loaded) else {
            return is_vdso(&loaded.module.path).then(|| CodeName {
                function: Some("[vdso]".to_owned()),
                module,
                ..CodeName::default()
            });
        };
        let answer = image.lookup(linked);
        if let Some(function) = &answer.function {
            let directive = image.directive(linked);
            let function = match &directive {
                Some(directive) => outlined_name(directive),
                None => function.demangled.to_string(),
            };
            let mut name = CodeName {
                function: Some(function),
                file: answer.file.as_deref().map(str::to_owned),
                line: answer.line,
                module,
                place: None,
            };
            // The body's first address stands for the directive, any other for a place inside of it.
            if let Some(directive) = directive.filter(|_| answer.offset == Some(0)) {
                name.file = directive.file;
                name.line = directive.line;
                name.place = Some(directive.place);
            }
            return Some(name);
        }
        let symbol = image.data_symbol(linked)?;
        let name = match linked - symbol.address.min(linked) {
            0 => symbol.name,
            offset => format!("{}+{offset:#x}", symbol.name),
        };
        Some(CodeName {
            function: Some(name),
            file: None,
            line: None,
            module,
            place: None,
        })
    }
}

impl Names for Symbols {
    fn resolve(&self, address: u64) -> Option<CodeName> {
        if let Some(known) = self.cache.borrow().get(&address) {
            return known.clone();
        }
        let name = self.look_up(address);
        self.cache.borrow_mut().insert(address, name.clone());
        name
    }

    fn object(&self, address: u64) -> Option<String> {
        self.object_of(address)
    }

    fn is_pair_of_directive(&self, site: u64) -> Option<bool> {
        self.is_pair(site)
    }

    fn is_of_tracer(&self, address: u64) -> bool {
        let Some((loaded, linked)) = self.at(address) else {
            return false;
        };
        let Some(image) = self.image(loaded) else {
            return false;
        };
        let runtime = loaded.tracer.get_or_init(|| tracer::addresses(image));
        let answer = image.lookup(linked);
        let name = answer
            .function
            .as_ref()
            .map_or("", |function| &*function.raw);
        tracer::is_own(name, linked, runtime, answer.line.is_some())
    }

    fn callers(&self, pc: u64, sp: u64, registers: &[u64], stack: &[u64]) -> Vec<u64> {
        self.unwind(pc, sp, registers, stack)
    }

    fn callers_with_frames(
        &self,
        pc: u64,
        sp: u64,
        frame: u64,
        words: &[u64],
        by_frames: &[u64],
    ) -> Option<Vec<u64>> {
        self.unwind_to_frame(pc, sp, frame, words, by_frames)
    }

    fn is_return_address(&self, address: u64) -> bool {
        self.returns_here(address)
    }
}

/// The function around a directive with the marks the compiler gave the body: `foo()._omp_fn.0`, `main.omp_outlined..3`
/// also where the compiler leaves the function away, `main.omp_outlined.omp_outlined` for a region inside of another.
fn outlined_name(directive: &Directive) -> String {
    let outer = |name: &str| Some(parse_outlined(name)?.parent_raw.unwrap_or_default());
    let mut source = directive.raw.clone();
    while let Some(parent) = outer(&source) {
        source = parent;
    }
    let mark = &directive.raw[source.len()..];
    match &directive.function {
        Some(function) => format!("{}{mark}", function.demangled),
        None => directive.raw.clone(),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Opens a trace and warns about its damaged parts.
///
/// # Errors
///
/// Directories that hold no readable trace.
pub fn open_trace(dir: &Path, console: &mut Console<'_>) -> Result<Trace> {
    let found = find::trace(dir)?;
    runs::later_empty(&found)
        .into_iter()
        .for_each(|text| console.note(&text));
    let trace = Trace::open(&found)?;
    warn_of_damage(&trace, console);
    Ok(trace)
}

/// Opens traces and those of the forked children inside, parents first, and warns about damaged parts.
///
/// # Errors
///
/// Directories that hold no readable trace.
pub fn open_session(dirs: &[PathBuf], console: &mut Console<'_>) -> Result<Session> {
    let found = find::traces(dirs)?;
    found
        .iter()
        .filter_map(|dir| runs::later_empty(dir))
        .for_each(|text| console.note(&text));
    let session = Session::open(&found)?;
    let traces = session.traces().iter();
    traces.for_each(|trace| warn_of_damage(trace, console));
    Ok(session)
}

/// The same of those that can be read, and why another one cannot.
///
/// # Errors
///
/// None of them can be read.
pub fn open_readable(
    dirs: &[PathBuf],
    console: &mut Console<'_>,
) -> Result<(Session, Option<anyhow::Error>)> {
    let first = match open_session(dirs, console) {
        Ok(session) => return Ok((session, None)),
        Err(why) => why,
    };
    let is_readable =
        |dir: &&PathBuf| find::trace(dir).is_ok_and(|dir| Session::open(&[dir]).is_ok());
    let readable: Vec<PathBuf> = dirs.iter().filter(is_readable).cloned().collect();
    if readable.is_empty() {
        return Err(first);
    }
    Ok((open_session(&readable, console)?, Some(first)))
}

/// The names of each process.
pub fn of_session(session: &Session, options: &SymbolOptions) -> Vec<Symbols> {
    let symbols = |trace: &Trace| Symbols::of(trace, options);
    session.traces().iter().map(symbols).collect()
}

/// The same, as outputs take them.
pub fn as_names(symbols: &[Symbols]) -> Vec<Box<dyn Names + '_>> {
    let boxed = |symbols| Box::new(symbols) as Box<dyn Names + '_>;
    symbols.iter().map(boxed).collect()
}

/// The first program's name, for files that are not given another. What a trace holds is not trusted: this is a name, not a path.
pub fn program_name(session: &Session) -> &OsStr {
    let program = session
        .traces()
        .first()
        .map(|trace| &trace.metadata().program);
    let name = program.and_then(|program| Path::new(program).file_name());
    name.unwrap_or("trace".as_ref())
}

fn warn_of_damage(trace: &Trace, console: &mut Console<'_>) {
    warn_of(trace, trace.warnings(), trace.warning_count(), console);
}

/// Warns about what could not be read, when the events of a trace have been read.
pub fn warn_of_unreadable(trace: &Trace, console: &mut Console<'_>) {
    let (places, count) = trace.unreadable();
    warn_of(trace, &places, count, console);
}

fn warn_of(trace: &Trace, warnings: &[Warning], count: u64, console: &mut Console<'_>) {
    for warning in warnings.iter().take(MAX_WARNINGS) {
        console.warn(&warning.to_string());
    }
    let more = count.saturating_sub(MAX_WARNINGS as u64);
    if more > 0 {
        console.warn(&format!(
            "{}: {more} more places are damaged",
            trace.dir().display()
        ));
    }
}

/// Warns when the traced program could not keep all events.
pub fn warn_of_losses(trace: &Trace, console: &mut Console<'_>) {
    if trace.discarded() > 0 {
        let events = counted(trace.discarded(), "event");
        console.warn(&format!(
            "{}: {events} discarded while tracing",
            trace.dir().display()
        ));
    }
    // Traces of one run share the part: it is in the folder of the first one.
    let part = trace
        .kernel_part()
        .filter(|_| trace.dir().join("kernel").is_dir());
    if let Some(lost) = part.map(|part| part.info().lost).filter(|lost| *lost > 0) {
        console.warn(&format!(
            "{}: {} of context switches lost while recording",
            trace.dir().display(),
            counted(lost, "event")
        ));
    }
}

/// What is said of streams of the kernel's part that are damaged.
pub fn damaged_kernel_streams(count: u64) -> String {
    format!(
        "{} of context switches damaged: what is behind the damage is missing",
        counted(count, "stream")
    )
}

#[cfg(test)]
mod tests {
    use instr_symtab::Loader;

    use super::*;

    fn module(base: u64, end: u64, path: &str, build_id: Option<&str>) -> Module {
        Module {
            base,
            end,
            build_id: build_id.map(Into::into),
            path: path.into(),
        }
    }

    fn metadata(modules: Vec<Module>) -> Metadata {
        Metadata {
            executable: modules[0].path.clone(),
            modules,
            ..Metadata::default()
        }
    }

    #[test]
    fn libraries_that_had_one_place_are_told_and_not_named() {
        let again = module(0x1000, 0x2000, "/a.so", Some("aa"));
        let same = vec![
            again.clone(),
            module(0x3000, 0x4000, "/b.so", None),
            again.clone(),
            module(0x1000, 0x2000, "/copy-of-a.so", Some("aa")),
            module(0x3000, 0x4000, "/b.so", None),
        ];
        assert_eq!(
            places(&same),
            [(0x1000, 0x2000), (0x3000, 0x4000), (0, 0), (0, 0), (0, 0)]
        );
        let mut symbols = Symbols::new(&metadata(same), &SymbolOptions::default());
        assert!(symbols.warnings.get_mut().is_empty());
        let other = vec![again, module(0x1800, 0x2800, "/c.so", None)];
        let mut symbols = Symbols::new(&metadata(other), &SymbolOptions::default());
        let [warning] = symbols.warnings.get_mut().as_slice() else {
            panic!("one warning");
        };
        assert!(warning.starts_with("/c.so was loaded where /a.so had been before"));
        assert!(symbols.at(0x1900).is_none());
        assert_eq!(symbols.at(0x1100).map(|(_, linked)| linked), Some(0x100));
    }

    /// A function of this program and the address the linker gave it.
    fn own_function(image: &Image) -> (u64, String) {
        let symbols = image.symbols_where(|name| {
            name.ends_with(b"own_function") || name.windows(13).any(|part| part == b"own_functions")
        });
        let symbol = symbols
            .first()
            .cloned()
            .unwrap_or_else(|| image.symbols_named("main")[0].clone());
        (symbol.address, symbol.name)
    }

    #[test]
    fn addresses_are_translated_by_the_load_bias() {
        let path = std::env::current_exe().unwrap();
        let image = Loader::new().open(&path).unwrap();
        let (linked, name) = own_function(&image);
        let bias = 0x5555_0000_0000;
        let symbols = Symbols::new(
            &metadata(vec![module(
                bias,
                bias + (1 << 32),
                path.to_str().unwrap(),
                None,
            )]),
            &SymbolOptions::default(),
        );
        assert_eq!(symbols.resolve(bias + linked).unwrap().function, Some(name));
        assert_eq!(symbols.resolve(bias - 1), None);
        assert_eq!(symbols.resolve(bias + (1 << 32)), None);
    }

    #[test]
    fn another_build_is_refused_with_one_warning() {
        let path = std::env::current_exe().unwrap();
        let other = metadata(vec![module(
            0,
            u64::MAX,
            path.to_str().unwrap(),
            Some("00ff"),
        )]);
        let symbols = Symbols::new(&other, &SymbolOptions::default());
        assert_eq!(symbols.resolve(0x1000), None);
        assert_eq!(symbols.resolve(0x2000), None);
        let warnings = symbols.warnings.take();
        assert_eq!(warnings.len(), 1);
        assert!(
            warnings[0].contains("not the file that ran"),
            "{}",
            warnings[0]
        );
    }

    #[test]
    fn the_kernels_library_is_named_when_it_is_the_same() {
        let Some(bytes) = instr_symtab::own_vdso() else {
            return eprintln!("skipped: this process has no vdso");
        };
        let image = Image::from_bytes(bytes).unwrap();
        let symbol = image
            .symbols_where(|name| name.ends_with(b"clock_gettime"))
            .remove(0);
        let id = image.build_id().map(hexadecimal);
        let resolve = |id: Option<&str>| {
            let vdso = module(0x7fff_0000, 0x7fff_8000, "linux-vdso.so.1", id);
            let symbols = Symbols::new(&metadata(vec![vdso]), &SymbolOptions::default());
            let name = symbols.resolve(0x7fff_0000 + symbol.address).unwrap();
            assert_eq!(symbols.warnings.take().len(), 0);
            name.function.unwrap()
        };
        if id.is_some() {
            assert!(resolve(id.as_deref()).ends_with("clock_gettime"));
        }
        assert_eq!(resolve(Some("00ff")), "[vdso]");
        assert_eq!(resolve(None), "[vdso]");
    }

    #[test]
    fn missing_files_are_told_once_with_advice() {
        let gone = metadata(vec![module(0, 100, "/nonexistent/app", None)]);
        let symbols = Symbols::new(&gone, &SymbolOptions::default());
        assert_eq!(
            (symbols.resolve(1), symbols.resolve(2), symbols.resolve(3)),
            (None, None, None)
        );
        let warnings = symbols.warnings.take();
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].contains("/nonexistent/app") && warnings[0].contains("--exe"));
    }

    #[test]
    fn program_and_libraries_can_be_elsewhere() {
        let modules = metadata(vec![
            module(0, 100, "/opt/app", None),
            module(1000, 1100, "/lib/libm.so", None),
        ]);
        let options = SymbolOptions {
            exe: Some("build/app".into()),
            sysroot: Some("/sys".into()),
        };
        let symbols = Symbols::new(&modules, &options);
        let paths: Vec<_> = symbols
            .modules
            .iter()
            .map(|loaded| loaded.path.clone())
            .collect();
        assert_eq!(
            paths,
            [
                PathBuf::from("build/app"),
                PathBuf::from("/sys/lib/libm.so")
            ]
        );
    }

    /// Compiles a C program and gives its functions' names by address, as a trace's.
    fn names_of(compiler: &str, source: &str) -> Option<(Symbols, Vec<u64>, tempfile::TempDir)> {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("app");
        std::fs::write(folder.path().join("app.cc"), source).unwrap();
        let mut command = std::process::Command::new(compiler);
        command
            .args(["-g", "-O1", "-fopenmp", "app.cc", "-o", "app"])
            .current_dir(folder.path());
        let Ok(out) = command.output() else {
            eprintln!("skipped: {compiler} is not installed");
            return None;
        };
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let image = Loader::new().open(&program).unwrap();
        let bodies =
            image.symbols_where(|name| parse_outlined(&String::from_utf8_lossy(name)).is_some());
        let bodies = bodies.into_iter().map(|symbol| symbol.address).collect();
        let modules = vec![module(0, 1 << 32, program.to_str().unwrap(), None)];
        Some((
            Symbols::new(&metadata(modules), &SymbolOptions::default()),
            bodies,
            folder,
        ))
    }

    #[test]
    fn nested_regions_have_names_of_their_own() {
        let source = "int f(int n) {\n#pragma omp parallel\n  {\n    __atomic_fetch_add(&n, 1, 0);\n#pragma omp parallel\n    __atomic_fetch_add(&n, 2, 0);\n  }\n  return n;\n}\nint main(int n, char **) { return f(n); }\n";
        for compiler in ["g++", "clang++"] {
            let Some((symbols, bodies, _folder)) = names_of(compiler, source) else {
                continue;
            };
            let name = |&address: &u64| symbols.resolve(address).unwrap().function.unwrap();
            let names: std::collections::BTreeSet<String> = bodies.iter().map(name).collect();
            assert_eq!(names.len(), 2, "{compiler}: {names:?}");
            let inside = |name: &String| name.starts_with("f(int).");
            assert!(names.iter().all(inside), "{compiler}: {names:?}");
        }
    }

    #[test]
    fn outlined_bodies_are_labelled_by_function_and_directive() {
        let source = "int f(int n) {\n#pragma omp parallel\n  __atomic_fetch_add(&n, 1, 0);\n#pragma omp task shared(n)\n  n++;\n  return n;\n}\nint main(int n, char **) { return f(n); }\n";
        for compiler in ["g++", "clang++"] {
            let Some((symbols, bodies, _folder)) = names_of(compiler, source) else {
                continue;
            };
            let label = |&address: &u64| {
                instr_trace::names::label(&symbols, address, instr_trace::names::CodeRole::Task)
            };
            let labels: std::collections::BTreeSet<String> = bodies.iter().map(label).collect();
            let expected = [2, 4].map(|line| format!("f(int) [omp task app.cc:{line}]"));
            assert_eq!(labels, expected.into(), "{compiler}");
            let name = symbols.resolve(bodies[0]).unwrap().function.unwrap();
            assert!(
                name.starts_with("f(int)._omp_fn.") || name.starts_with("f(int).omp_"),
                "{name}"
            );
        }
    }
}
