//! What a link needs of us: the described functions that the user's objects call, and the public interface they use.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use instr_rewrite::resolve::{ArchiveOrder, Closure, LinkItem, closure};
use instr_rewrite::scan::{Inputs, ObjectError, ScanError, ScanErrorKind, scan_file};

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

/// The description of the heap, and its functions that libraries call of each other: in a static program all are wrapped, or none. Else
/// memory that a library got (`getline`) and the program gives back would come from nowhere.
const HEAP: &str = "memory.rs";
const HEAP_FAMILY: [&str; 4] = ["calloc", "free", "malloc", "realloc"];

/// What a link needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Functions to wrap, sorted.
    pub wrap: Vec<String>,
    /// Functions of the public interface that are used, sorted.
    pub interface: Vec<&'static str>,
    /// Wrapped functions that the program itself defines, sorted: other modules may look for them.
    pub defined: Vec<String>,
    /// The OpenMP constructs are recorded by libomp's tool interface: our tool must be in the program.
    pub ompt: bool,
    /// What was left out, for people.
    pub notes: Vec<String>,
}

impl Demand {
    /// Whether there is anything to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wrap.is_empty() && self.interface.is_empty() && !self.ompt
    }
}

/// Reads the inputs of a link and finds out what it needs.
#[must_use]
pub fn demand(line: &Line, order: ArchiveOrder, index: &Index) -> Demand {
    let scanned = scan(line, index);
    let items = items(&scanned.files);
    let roots: Vec<&[u8]> = [b"main".as_slice(), b"MAIN__"]
        .into_iter()
        .chain(line.roots.iter().map(Vec::as_slice))
        .collect();
    let mut found = closure(&items, &roots, order);
    found.undefined.extend(scanned.from_lto);
    let llvm = openmp::runtime(line) == Some(Runtime::Llvm);
    let is_openmp = |symbol: &Vec<u8>| {
        let described = |e: &Entry| openmp::is_openmp_description(&e.source) && e.refusal.is_none();
        openmp::is_entry(symbol) || index.get(symbol).is_some_and(described)
    };
    let mut demand = Demand {
        ompt: llvm && (scanned.bitcode_openmp || found.undefined.iter().any(is_openmp)),
        notes: scanned.notes,
        ..Demand::default()
    };
    let used = |name: &&str| {
        found.undefined.contains(name.as_bytes()) || found.weak.contains(name.as_bytes())
    };
    demand.interface = INTERFACE.into_iter().filter(used).collect();
    let mut is_reason = demand.ompt || !demand.interface.is_empty();
    for symbol in found.undefined.union(&found.weak) {
        let Some(name) = std::str::from_utf8(symbol).ok() else {
            continue;
        };
        match index.get(symbol) {
            Some(entry) if llvm && openmp::is_openmp_description(&entry.source) => {}
            Some(entry) => match refusal(name, entry.refusal.as_deref(), line, &found) {
                Some(why) => demand.notes.push(format!("{name} is not wrapped: {why}")),
                None => {
                    is_reason |= !COMPANIONS.contains(&entry.source.as_str());
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
    if line.fixed {
        whole_heap(&mut demand.wrap, line, &found, index);
    }
    if !is_reason {
        demand.wrap.clear();
    }
    demand.defined = demand
        .wrap
        .iter()
        .filter(|s| found.defined.contains(s.as_bytes()))
        .cloned()
        .collect();
    demand
}

/// Adds what is missing of the heap's family to `wrap`, if some of the heap is there.
fn whole_heap(wrap: &mut Vec<String>, line: &Line, found: &Closure, index: &Index) {
    let is_heap = |name: &String| {
        let entry = index.get(name.as_bytes());
        entry.is_some_and(|entry| entry.source == HEAP)
    };
    if !wrap.iter().any(is_heap) {
        return;
    }
    let more = HEAP_FAMILY
        .iter()
        .filter(|name| !wrap.iter().any(|w| w == *name) && !is_taken(name, line, found));
    let more: Vec<String> = more.map(|name| (*name).to_owned()).collect();
    wrap.extend(more);
    wrap.sort_unstable();
}

/// Whether the program wraps a symbol itself.
fn is_taken(name: &str, line: &Line, found: &Closure) -> bool {
    let stub = [b"__wrap_", name.as_bytes()].concat();
    line.wrapped.iter().any(|w| w == name.as_bytes()) || found.defined.contains(&stub)
}

/// Why a described symbol is not wrapped, if it is not (as `instr_rewrite::select` has it, and what only a link shows).
fn refusal(name: &str, described: Option<&str>, line: &Line, found: &Closure) -> Option<String> {
    if let Some(why) = described {
        return Some(why.to_owned());
    }
    if !found.undefined.contains(name.as_bytes()) {
        return Some("only weak references: the program may test whether it exists".into());
    }
    is_taken(name, line, found).then(|| "the program wraps it itself".into())
}

struct Scanned<'a> {
    files: Vec<(&'a Placed, Inputs)>,
    /// Names that matter in objects with intermediate code only.
    from_lto: BTreeSet<Vec<u8>>,
    /// An input of LLVM bitcode calls libomp.
    bitcode_openmp: bool,
    notes: Vec<String>,
}

fn scan<'a>(line: &'a Line, index: &Index) -> Scanned<'a> {
    let mut scanned = Scanned {
        files: Vec::new(),
        from_lto: BTreeSet::new(),
        bitcode_openmp: false,
        notes: Vec::new(),
    };
    let wanted =
        |name: &[u8]| index.is_wrappable(name) || INTERFACE.iter().any(|i| i.as_bytes() == name);
    for placed in &line.inputs {
        let Some(path) = path_of(placed, line) else {
            continue;
        };
        match scan_file(&path) {
            Ok(inputs) => {
                if inputs
                    .refused
                    .iter()
                    .any(|e| matches!(e.kind, ScanErrorKind::Object(ObjectError::LtoOnly)))
                {
                    scanned.from_lto.extend(lto_names(&path, &wanted));
                }
                scanned.bitcode_openmp |=
                    inputs.refused.iter().any(is_bitcode) && bitcode_calls_libomp(&path);
                scanned.notes.extend(inputs.refused.iter().filter_map(note));
                scanned.files.push((placed, inputs));
            }
            Err(ScanError {
                kind: ScanErrorKind::Object(ObjectError::LtoOnly),
                ..
            }) => scanned.from_lto.extend(lto_names(&path, &wanted)),
            Err(error) => {
                scanned.bitcode_openmp |= is_bitcode(&error) && bitcode_calls_libomp(&path);
                scanned.notes.extend(note(&error));
            }
        }
    }
    scanned
}

fn is_bitcode(error: &ScanError) -> bool {
    matches!(error.kind, ScanErrorKind::Object(ObjectError::Bitcode))
}

fn bitcode_calls_libomp(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| openmp::in_bitcode(&bytes))
}

fn note(error: &ScanError) -> Option<String> {
    // Linker scripts and the like say nothing about calls.
    (!matches!(
        error.kind,
        ScanErrorKind::Object(ObjectError::NotElf(_)) | ScanErrorKind::Object(ObjectError::LtoOnly)
    ))
    .then(|| error.to_string())
}

fn lto_names(path: &Path, wanted: &dyn Fn(&[u8]) -> bool) -> BTreeSet<Vec<u8>> {
    fs::read(path)
        .map(|bytes| lto::names(&bytes, wanted))
        .unwrap_or_default()
}

/// Puts inputs into their groups.
fn items<'a>(files: &'a [(&Placed, Inputs)]) -> Vec<LinkItem<'a>> {
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
fn path_of(placed: &Placed, line: &Line) -> Option<PathBuf> {
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
