//! What a link needs of us: the described functions that the user's objects call, and the public interface they use.

use std::collections::{BTreeSet, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use instr_rewrite::object::STUB_PREFIX;
use instr_rewrite::resolve::{ArchiveOrder, Closure, LinkItem, closure};
use instr_rewrite::scan::{Inputs, ObjectError, ScanError, ScanErrorKind, Source};
use instr_rewrite::stubs::Linkage;

use crate::parallel::{self, FILES_OF_A_THREAD};

use super::index::{Entry, Index};
use super::line::{Input, Line, Placed};
use super::lto;
use super::openmp::{self, Runtime};

/// The public interface (`instr/instr.h`).
pub const INTERFACE: [&str; 7] = [
    "instr_counter",
    "instr_event",
    "instr_flush",
    "instr_region_begin",
    "instr_region_end",
    "instr_start",
    "instr_stop",
];

/// Libraries of the compiler and the system: called by programs, never instrumented themselves.
const SYSTEM: &[&str] = &[
    "anl",
    "asan",
    "atomic",
    "c",
    "c++",
    "c++abi",
    "crypt",
    "dl",
    "gcc",
    "gcc_eh",
    "gcc_s",
    "gfortran",
    "gomp",
    "gomp-plugin",
    "hwasan",
    "iomp5",
    "itm",
    "lsan",
    "m",
    "mvec",
    "nsl",
    "objc",
    "omp",
    "pthread",
    "quadmath",
    "resolv",
    "rt",
    "ssp",
    "ssp_nonshared",
    "stdc++",
    "stdc++_libbacktrace",
    "stdc++fs",
    "subc++",
    "supc++",
    "tsan",
    "ubsan",
    "unwind",
    "util",
];

/// Descriptions that come along with others, but are no reason to instrument a program.
const COMPANIONS: &[&str] = &["process.rs", "signals.rs"];

/// The description of threads. A program that makes some is a reason to instrument it; locks alone are none.
const THREADS: &str = "pthread.rs";
const MAKES_THREADS: [&str; 3] = [
    "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
    "pthread_create",
    "thrd_create",
];

/// The description of the heap, and its functions that libraries call of each other: in a static program all are wrapped, or none. Else
/// memory that a library got (`getline`) and the program gives back would come from nowhere.
const HEAP: &str = "memory.rs";
const HEAP_FAMILY: [&str; 4] = ["calloc", "free", "malloc", "realloc"];

/// What a link needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Functions to wrap, sorted.
    pub wrap: Vec<String>,
    /// Functions whose stubs are called by objects that went through `instr-rewrite --redirect`, sorted.
    pub redirected: Vec<String>,
    /// Those of them that libomp's tool interface records: their stubs must not.
    pub forwarded: Vec<String>,
    /// Functions of the public interface that are used, sorted.
    pub interface: Vec<&'static str>,
    /// Wrapped functions that the program itself defines, sorted: other modules may look for them.
    pub defined: Vec<String>,
    /// The OpenMP constructs are recorded by libomp's tool interface: our tool must be in the program.
    pub ompt: bool,
    /// The OpenMP library looks for a tool behind itself only: see `runtime/ompt/bridge.c`.
    pub bridge: bool,
    /// The program has an OMPT tool of its own, which libomp takes.
    pub foreign_tool: bool,
    /// An OpenMP library is called.
    pub openmp: bool,
    /// Calls of the heap are wrapped.
    pub heap: bool,
    /// What was left out, for people.
    pub notes: Vec<String>,
}

impl Demand {
    /// Whether there is anything to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wrap.is_empty()
            && self.redirected.is_empty()
            && self.interface.is_empty()
            && !self.ompt
    }

    /// What a shared library tells the runtime that it finds (`INSTR_LIBRARY_…` in `runtime/library/table.h`).
    #[must_use]
    pub fn library_flags(&self) -> u32 {
        u32::from(self.heap) | u32::from(self.ompt) << 1
    }

    /// The functions that need a stub, sorted, and its linkage.
    #[must_use]
    pub fn stubs(&self) -> Vec<(&str, Linkage)> {
        let linkage = |name: &String| {
            let wrapped = self.wrap.contains(name);
            match self.redirected.contains(name) {
                _ if self.forwarded.contains(name) => Linkage::Forward,
                true if wrapped => Linkage::Both,
                true => Linkage::Rename,
                false => Linkage::Wrap,
            }
        };
        let names: BTreeSet<&String> = self.wrap.iter().chain(&self.redirected).collect();
        let stubs = names.into_iter().map(|name| (name.as_str(), linkage(name)));
        stubs.collect()
    }
}

/// Reads the inputs of a link and finds out what it needs.
#[must_use]
pub fn demand(line: &Line, order: ArchiveOrder, index: &Index) -> Demand {
    let files: Vec<(&Placed, PathBuf)> = line
        .inputs
        .iter()
        .filter_map(|placed| Some((placed, path_of(placed, line)?)))
        .collect();
    let sources = parallel::map(&files, FILES_OF_A_THREAD, |(_, path)| Source::open(path));
    let inputs = parallel::map(&sources, FILES_OF_A_THREAD, |source| {
        source.as_ref().ok().map(Source::scan)
    });
    let placed = files.iter().map(|(placed, _)| *placed);
    let mut scanned = Scanned::default();
    for ((placed, source), inputs) in placed.zip(sources.iter()).zip(inputs) {
        match (source, inputs) {
            (Ok(source), Some(inputs)) => scanned.add(placed, source, inputs, index),
            (Err(error), _) => scanned.notes.extend(note(error)),
            (Ok(_), None) => {}
        }
    }
    let items = items(&scanned.files);
    let roots: Vec<&[u8]> = [b"main".as_slice(), b"MAIN__"]
        .into_iter()
        .chain(line.roots.iter().map(Vec::as_slice))
        .collect();
    let mut found = closure(&items, &roots, order);
    let from_lto = scanned.from_lto.iter().map(Vec::as_slice);
    found.undefined.extend(from_lto);
    let calls = Calls::new(line, &found, index);
    let mut demand = calls.demand(scanned.bitcode_openmp);
    demand.bridge = demand.ompt && openmp_library(line).is_some_and(|file| is_bound(&file));
    demand.notes.splice(0..0, scanned.notes.iter().cloned());
    demand
}

/// The symbols that a link's objects refer to, and what decides what becomes of them.
struct Calls<'a> {
    line: &'a Line,
    index: &'a Index,
    found: &'a Closure<'a>,
    /// Constructs are recorded by libomp's tool interface.
    llvm: bool,
    /// Described functions and stubs that the program defines itself.
    defined: BTreeSet<&'a [u8]>,
}

impl<'a> Calls<'a> {
    fn new(line: &'a Line, found: &'a Closure<'a>, index: &'a Index) -> Self {
        let named = found.undefined.union(&found.weak).copied();
        let named = named.map(|name| name.strip_prefix(STUB_PREFIX).unwrap_or(name));
        let described = named.filter(|name| index.get(name).is_some());
        let described = described.chain(HEAP_FAMILY.map(str::as_bytes));
        let names: HashSet<Vec<u8>> = described
            .flat_map(|name| [b"", &b"__wrap_"[..], STUB_PREFIX].map(|p| [p, name].concat()))
            .chain([openmp::TOOL.as_bytes().to_vec()])
            .collect();
        Self {
            line,
            index,
            found,
            llvm: openmp::runtime(line) == Some(Runtime::Llvm),
            defined: found.defined_of(&names),
        }
    }

    fn demand(&self, bitcode_openmp: bool) -> Demand {
        let (found, index, llvm) = (self.found, self.index, self.llvm);
        let is_openmp = |symbol: &&[u8]| {
            let described =
                |e: &Entry| openmp::is_openmp_description(&e.source) && e.refusal.is_none();
            openmp::is_entry(symbol) || index.get(symbol).is_some_and(described)
        };
        let calls_openmp = bitcode_openmp || found.undefined.iter().any(is_openmp);
        let own_tool = self.defined.contains(openmp::TOOL.as_bytes());
        let mut demand = Demand {
            ompt: llvm && calls_openmp && !own_tool,
            foreign_tool: llvm && calls_openmp && own_tool,
            openmp: calls_openmp || found.undefined.iter().any(|s| s.starts_with(b"omp_")),
            redirected: self.redirected(),
            ..Demand::default()
        };
        if demand.foreign_tool {
            let why = "the constructs of OpenMP are not recorded: the program has an OMPT tool of its own, which libomp takes";
            demand.notes.push(why.into());
        }
        let of_openmp = |name: &&String| is_openmp(&name.as_bytes());
        let forwarded = demand.redirected.iter().filter(|_| llvm).filter(of_openmp);
        demand.forwarded = forwarded.cloned().collect();
        let used = |name: &&str| {
            found.undefined.contains(name.as_bytes()) || found.weak.contains(name.as_bytes())
        };
        demand.interface = INTERFACE.into_iter().filter(used).collect();
        let needed = demand.ompt || !demand.interface.is_empty();
        let mut is_reason = needed || !demand.redirected.is_empty();
        for symbol in found.undefined.union(&found.weak) {
            let Some(name) = std::str::from_utf8(symbol).ok() else {
                continue;
            };
            match index.get(symbol) {
                Some(entry) if llvm && openmp::is_openmp_description(&entry.source) => {}
                Some(entry) => match self.refusal(name, entry.refusal.as_deref()) {
                    Some(why) => demand.notes.push(format!("{name} is not wrapped: {why}")),
                    None => {
                        is_reason |= match entry.source.as_str() {
                            THREADS => MAKES_THREADS.contains(&name),
                            source => !COMPANIONS.contains(&source),
                        };
                        demand.wrap.push(name.to_owned());
                    }
                },
                None if name.starts_with("GOMP_") && !llvm => {
                    demand
                        .notes
                        .push(format!("{name} is not wrapped: it is not described"));
                }
                None => {}
            }
        }
        if self.line.fixed {
            self.whole_heap(&mut demand.wrap);
        }
        if !is_reason {
            demand.wrap.clear();
        }
        demand.heap = demand.wrap.iter().any(|name| self.is_heap(name));
        let defined = demand.wrap.iter();
        let defined = defined.filter(|s| self.defined.contains(s.as_bytes()));
        demand.defined = defined.cloned().collect();
        demand
    }

    /// Functions whose stubs are called and missing.
    fn redirected(&self) -> Vec<String> {
        let missing = |stub: &&&[u8]| !self.defined.contains(**stub);
        let stubs = self.found.undefined.iter().filter(missing);
        let names = stubs.filter_map(|stub| stub.strip_prefix(STUB_PREFIX));
        let described = names.filter(|name| self.index.is_wrappable(name));
        let names = described.filter_map(|name| std::str::from_utf8(name).ok());
        names.map(str::to_owned).collect()
    }

    fn is_heap(&self, name: &str) -> bool {
        let entry = self.index.get(name.as_bytes());
        entry.is_some_and(|entry| entry.source == HEAP)
    }

    /// Adds what is missing of the heap's family to `wrap`, if some of the heap is there.
    fn whole_heap(&self, wrap: &mut Vec<String>) {
        if !wrap.iter().any(|name| self.is_heap(name)) {
            return;
        }
        let more = HEAP_FAMILY
            .iter()
            .filter(|name| !wrap.iter().any(|w| w == *name) && self.taken(name).is_none());
        let more: Vec<String> = more.map(|name| (*name).to_owned()).collect();
        wrap.extend(more);
        wrap.sort_unstable();
    }

    /// Why the program's own stubs keep ours away from a symbol, if they do.
    fn taken(&self, name: &str) -> Option<&'static str> {
        let is_defined = |prefix: &[u8]| {
            let stub = [prefix, name.as_bytes()].concat();
            self.defined.contains(stub.as_slice())
        };
        if self.line.wrapped.iter().any(|w| w == name.as_bytes()) || is_defined(b"__wrap_") {
            return Some("the program wraps it itself");
        }
        is_defined(STUB_PREFIX).then_some("the program has a stub for its redirected calls itself")
    }

    /// Why a described symbol is not wrapped, if it is not (as `instr_rewrite::select` has it, and what only a link shows).
    fn refusal(&self, name: &str, described: Option<&str>) -> Option<String> {
        if let Some(why) = described {
            return Some(why.to_owned());
        }
        if !self.found.undefined.contains(name.as_bytes()) {
            return Some("only weak references: the program may test whether it exists".into());
        }
        self.taken(name).map(str::to_owned)
    }
}

/// What the inputs of a link hold.
#[derive(Default)]
struct Scanned<'a> {
    files: Vec<(&'a Placed, Inputs<'a>)>,
    /// Names that matter in objects with intermediate code only.
    from_lto: BTreeSet<Vec<u8>>,
    /// An input of LLVM bitcode calls libomp.
    bitcode_openmp: bool,
    notes: Vec<String>,
}

impl<'a> Scanned<'a> {
    fn add(
        &mut self,
        placed: &'a Placed,
        source: &Source<'_>,
        inputs: Result<Inputs<'a>, ScanError>,
        index: &Index,
    ) {
        let refused = match &inputs {
            Ok(inputs) => inputs.refused.as_slice(),
            Err(error) => std::slice::from_ref(error),
        };
        let is_lto = |e: &ScanError| matches!(e.kind, ScanErrorKind::Object(ObjectError::LtoOnly));
        if refused.iter().any(is_lto) {
            let wanted = |name: &[u8]| {
                index.is_wrappable(name) || INTERFACE.iter().any(|i| i.as_bytes() == name)
            };
            self.from_lto.extend(lto::names(source.bytes(), &wanted));
        }
        self.bitcode_openmp |= refused.iter().any(is_bitcode) && openmp::in_bitcode(source.bytes());
        self.notes.extend(refused.iter().filter_map(note));
        self.files
            .extend(inputs.ok().map(|inputs| (placed, inputs)));
    }
}

fn is_bitcode(error: &ScanError) -> bool {
    matches!(error.kind, ScanErrorKind::Object(ObjectError::Bitcode))
}

fn note(error: &ScanError) -> Option<String> {
    // Linker scripts and the like say nothing about calls.
    (!matches!(
        error.kind,
        ScanErrorKind::Object(ObjectError::NotElf(_)) | ScanErrorKind::Object(ObjectError::LtoOnly)
    ))
    .then(|| error.to_string())
}

/// Puts inputs into their groups.
pub(crate) fn items<'a>(files: &'a [(&Placed, Inputs<'a>)]) -> Vec<LinkItem<'a>> {
    let mut items: Vec<LinkItem<'a>> = Vec::new();
    let mut last_group = 0;
    for (placed, inputs) in files {
        let item = if placed.whole {
            LinkItem::WholeArchive(inputs)
        } else {
            LinkItem::File(inputs)
        };
        if placed.group == 0 {
            items.push(item);
        } else if let (true, Some(LinkItem::Group(group))) =
            (placed.group == last_group, items.last_mut())
        {
            group.push(item);
        } else {
            items.push(LinkItem::Group(vec![item]));
        }
        last_group = placed.group;
    }
    items
}

/// The file of an input of the user's, if it may hold calls that end up in the output.
pub(crate) fn path_of(placed: &Placed, line: &Line) -> Option<PathBuf> {
    match &placed.input {
        Input::File(path) => (!is_start_file(path) && !is_shared(path)).then(|| path.clone()),
        Input::Library {
            name,
            archives_only,
        } => {
            let system = name
                .to_str()
                .is_some_and(|n| SYSTEM.binary_search(&n).is_ok());
            if system {
                None
            } else {
                find_archive(name, *archives_only || line.fixed, line)
            }
        }
    }
}

/// The shared library of the link's OpenMP runtime.
fn openmp_library(line: &Line) -> Option<PathBuf> {
    let (input, _) = openmp::input(line)?;
    match input {
        Input::File(path) => is_shared(path).then(|| path.clone()),
        Input::Library { name, .. } => {
            let file = match name.as_bytes().strip_prefix(b":") {
                Some(exact) => OsStr::from_bytes(exact).to_owned(),
                None => [OsStr::new("lib"), name, OsStr::new(".so")]
                    .into_iter()
                    .collect(),
            };
            let folders = line.folders.iter();
            let files = folders.map(|folder| in_sysroot(folder, &line.sysroot).join(&file));
            files.into_iter().find(|path| path.is_file())
        }
    }
}

fn is_bound(library: &Path) -> bool {
    Source::open(library).is_ok_and(|source| source.binds_itself(openmp::TOOL.as_bytes()))
}

fn is_shared(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    name.ends_with(b".so") || name.windows(4).any(|w| w == b".so.")
}

/// `crt1.o`, `Scrt1.o`, `crtbeginS.o` …: what the compiler puts around every program.
fn is_start_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let stem = [b"".as_slice(), b"S", b"r", b"g", b"gr", b"M"]
        .iter()
        .find_map(|p| name.strip_prefix(*p)?.strip_prefix(b"crt"));
    path.parent()
        .is_some_and(|p| p.as_os_str().as_bytes().contains(&b'/'))
        && stem.is_some_and(|s| s.ends_with(b".o"))
}

/// Looks for `-lNAME` as linkers do: in each folder the shared library first, then the archive. Shared ones are left.
fn find_archive(name: &OsStr, archives_only: bool, line: &Line) -> Option<PathBuf> {
    let exact = name.as_bytes().strip_prefix(b":");
    let file = |end: &str| {
        let mut file = OsString::from("lib");
        file.push(name);
        file.push(end);
        file
    };
    for folder in &line.folders {
        let folder = in_sysroot(folder, &line.sysroot);
        if let Some(exact) = exact {
            let path = folder.join(OsStr::from_bytes(exact));
            if path.is_file() {
                return (!is_shared(&path)).then_some(path);
            }
            continue;
        }
        if !archives_only && folder.join(file(".so")).is_file() {
            return None;
        }
        let path = folder.join(file(".a"));
        if path.is_file() {
            return Some(path);
        }
    }
    None
}

fn in_sysroot(folder: &OsStr, sysroot: &OsStr) -> PathBuf {
    let bytes = folder.as_bytes();
    let inside = bytes
        .strip_prefix(b"=")
        .or_else(|| bytes.strip_prefix(b"$SYSROOT"));
    match inside {
        Some(rest) => PathBuf::from(OsStr::from_bytes(&[sysroot.as_bytes(), rest].concat())),
        None => folder.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn system_libraries_are_sorted() {
        assert!(SYSTEM.is_sorted());
    }

    #[test]
    fn start_files_are_the_compilers() {
        for name in [
            "/l/crt1.o",
            "/l/Scrt1.o",
            "/l/crtbeginS.o",
            "/l/gcrt1.o",
            "/l/crtn.o",
        ] {
            assert!(is_start_file(Path::new(name)), "{name}");
        }
        for name in ["/l/x.o", "crt.o", "/l/scratch.o", "/l/crtx.a"] {
            assert!(!is_start_file(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn libraries_are_looked_for_as_linkers_do() {
        let dir = tempfile::tempdir().unwrap();
        let folders = ["1", "2"].map(|n| dir.path().join(n));
        folders.iter().for_each(|f| fs::create_dir(f).unwrap());
        for (folder, file) in [
            (0, "libb.so"),
            (0, "libb.a"),
            (1, "liba.a"),
            (1, "libb.a"),
            (1, "x.a"),
        ] {
            fs::write(folders[folder].join(file), "").unwrap();
        }
        let line = Line {
            folders: folders.iter().map(OsString::from).collect(),
            ..Line::default()
        };
        let find = |name: &str, fixed| find_archive(name.as_ref(), fixed, &line);
        assert_eq!(find("a", false), Some(folders[1].join("liba.a")));
        assert_eq!(find("b", false), None);
        assert_eq!(find("b", true), Some(folders[0].join("libb.a")));
        assert_eq!(find(":x.a", false), Some(folders[1].join("x.a")));
        assert_eq!(find("c", false), None);
    }

    #[test]
    fn a_static_link_takes_the_archive_beside_a_shared_library() {
        let dir = tempfile::tempdir().unwrap();
        for file in ["libwork.so", "libwork.a"] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        let placed = Placed {
            input: Input::Library {
                name: "work".into(),
                archives_only: false,
            },
            word: 0,
            whole: false,
            group: 0,
        };
        let found = |fixed| {
            let line = Line {
                folders: vec![dir.path().into()],
                fixed,
                ..Line::default()
            };
            path_of(&placed, &line)
        };
        assert_eq!(found(false), None);
        assert_eq!(found(true), Some(dir.path().join("libwork.a")));
    }

    #[test]
    fn the_sysroot_stands_for_its_sign() {
        assert_eq!(
            in_sysroot("=/usr/lib".as_ref(), "/s".as_ref()),
            Path::new("/s/usr/lib")
        );
        assert_eq!(
            in_sysroot("/usr/lib".as_ref(), "/s".as_ref()),
            Path::new("/usr/lib")
        );
    }
}
