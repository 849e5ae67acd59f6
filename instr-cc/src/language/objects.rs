//! What the objects of a link need beyond the libraries of C: by the sources they are made of, and by the symbols they leave undefined.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use instr_rewrite::object::{Archive, Contents, source_files};
use instr_rewrite::resolve::{ArchiveOrder, LinkItem, closure};
use instr_rewrite::scan::{FileKind, Inputs, ObjectError, ScanError, ScanErrorKind, Source};

use super::sources::{is_object, language_of_source};
use super::{Language, Needs};
use crate::argv::Arg;
use crate::argv::table::Kind;
use crate::parallel::{self, FILES_OF_A_THREAD};
use crate::shim::demand::{items, path_of};
use crate::shim::line::{self, Input, Line};

/// Functions of C++'s interface for its compilers that C libraries have too.
const OF_C: [&[u8]; 4] = [
    b"__cxa_at_quick_exit",
    b"__cxa_atexit",
    b"__cxa_finalize",
    b"__cxa_thread_atexit_impl",
];

/// What g++ links more than gcc; only where it turns out to be needed.
pub(super) const CPP_LIBRARY: [&str; 4] = [
    "-Wl,--push-state,--as-needed",
    "-lstdc++",
    "-lm",
    "-Wl,--pop-state",
];

/// What the objects and archives of a compiler's line need; what a library named on the line gives is not counted. Files that cannot
/// be read need nothing: the linker is who says so. With sources on the line nobody can say yet which members of archives are taken:
/// `all` of them count then.
pub(super) fn needs(args: &[Arg], all: bool) -> Needs {
    let line = line::parse(&linker_words(args));
    let files: Vec<_> = line
        .inputs
        .iter()
        .filter_map(|placed| Some((placed, path_of(placed, &line)?)))
        .collect();
    let sources = parallel::map(&files, FILES_OF_A_THREAD, |(_, path)| Source::open(path));
    let mut needs = Needs::default();
    let mut scanned = Vec::new();
    for ((placed, _), source) in files.iter().zip(&sources) {
        let Ok(source) = source else { continue };
        let scan = source.scan();
        needs.add(by_sources(source, &scan));
        if let Ok(inputs) = scan {
            scanned.push((*placed, inputs));
        }
    }
    let items = match all {
        true => scanned
            .iter()
            .map(|(_, inputs)| LinkItem::WholeArchive(inputs))
            .collect(),
        false => items(&scanned),
    };
    let roots: [&[u8]; 2] = [b"main", b"MAIN__"];
    for symbol in closure(&items, &roots, ArchiveOrder::Sequential).undefined {
        needs.cpp |= is_cpp(symbol);
        needs.fortran |= symbol.starts_with(b"_gfortran");
    }
    Needs {
        cpp: needs.cpp && !names_library(&line, &["stdc++", "c++"]),
        fortran: needs.fortran && !names_library(&line, &["gfortran"]),
    }
}

/// Whether the C++ library must be added to a line that needs it: it is not named, and libraries are not switched off.
pub(super) fn lacks_cpp_library(args: &[Arg]) -> bool {
    let off = ["-nostdlib", "-nodefaultlibs", "-nostdlib++"];
    let is_off = |arg: &Arg| matches!(arg, Arg::Unknown(word) if off.iter().any(|o| word == *o));
    !args.iter().any(is_off)
        && !names_library(&line::parse(&linker_words(args)), &["stdc++", "c++"])
}

impl Needs {
    fn add(&mut self, other: Self) {
        self.cpp |= other.cpp;
        self.fortran |= other.fortran;
    }
}

/// The words of the line that decide which objects are linked, as a linker has them.
fn linker_words(args: &[Arg]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut language = None;
    for arg in args {
        match arg {
            Arg::Input(name) if is_object(name, language) && name != "-" => {
                words.push(name.clone());
            }
            Arg::Unknown(word) if word == "-static" || word == "-static-pie" => {
                words.push("-static".into());
            }
            _ if arg.kind() == Kind::Language => language = arg.value(),
            _ if arg.kind() == Kind::ToLinker => {
                let value = arg.value().unwrap_or_default().as_bytes();
                let parts = value.split(|b| *b == b',');
                words.extend(parts.map(|part| OsString::from_vec(part.to_vec())));
            }
            _ if arg.kind() == Kind::Library || arg.flag().is_some_and(|f| f.name == "-L") => {
                arg.emit(&mut words);
            }
            _ => {}
        }
    }
    words
}

/// By the names of the sources that objects carry: a C++ program may leave nothing undefined by which to know it. Intermediate code of
/// link-time optimizers leaves nothing undefined either, in Fortran too.
fn by_sources(source: &Source<'_>, scan: &Result<Inputs<'_>, ScanError>) -> Needs {
    let refused = match scan {
        Ok(inputs) => inputs.refused.as_slice(),
        Err(error) => std::slice::from_ref(error),
    };
    let is = |wanted: fn(&ObjectError) -> bool| {
        let kind = |e: &ScanError| matches!(&e.kind, ScanErrorKind::Object(o) if wanted(o));
        refused.iter().any(kind)
    };
    let mut needs = Needs::default();
    let bytes = source.bytes();
    if is(|error| matches!(error, ObjectError::Bitcode)) {
        // Its table of strings holds the names as they are.
        let has = |word: &[u8]| bytes.windows(word.len()).any(|w| w == word);
        needs.cpp = has(b"__gxx_personality_v0") || has(b"_ZNSt") || has(b"_ZSt");
    }
    let is_lto = is(|error| matches!(error, ObjectError::LtoOnly));
    let mut add = |object: &[u8]| {
        for name in source_files(object) {
            match language_of_source(name) {
                Some(Language::Cpp) => needs.cpp = true,
                Some(Language::Fortran) if is_lto => needs.fortran = true,
                _ => {}
            }
        }
    };
    match Archive::parse(bytes) {
        // Of an archive's other members only those count that the link takes.
        Ok(archive) if is_lto => {
            for member in archive.members().map_while(Result::ok) {
                if let Contents::Inside(object) = member.contents {
                    add(object);
                }
            }
        }
        Ok(_) => {}
        Err(_) if is_lto => add(bytes),
        Err(_) => {
            if scan.as_ref().is_ok_and(|i| i.kind == FileKind::Relocatable) {
                add(bytes);
            }
        }
    }
    needs
}

/// Whether a symbol is of the C++ run-time library: of the namespaces `std`, `__cxxabiv1` and `__gnu_cxx`, an allocation, or of the
/// interface between compilers and library.
fn is_cpp(symbol: &[u8]) -> bool {
    if symbol.starts_with(b"__cxa_") {
        return !OF_C.contains(&symbol);
    }
    if symbol.starts_with(b"__gxx_personality_") || symbol == b"__dynamic_cast" {
        return true;
    }
    let Some(name) = symbol.strip_prefix(b"_Z") else {
        return false;
    };
    let special = [&b"TV"[..], b"TI", b"TS", b"TT", b"GV"];
    let name = special
        .iter()
        .find_map(|prefix| name.strip_prefix(*prefix))
        .unwrap_or(name);
    let name = name.strip_prefix(b"N").unwrap_or(name);
    let name = name.strip_prefix(b"K").unwrap_or(name);
    match name {
        [b'S', letter, ..] => b"tabsiod".contains(letter),
        _ => [
            &b"10__cxxabiv1"[..],
            b"9__gnu_cxx",
            b"nw",
            b"na",
            b"dl",
            b"da",
        ]
        .iter()
        .any(|prefix| name.starts_with(prefix)),
    }
}

/// Whether one of these libraries is named, by `-l` or by its file.
fn names_library(line: &Line, names: &[&str]) -> bool {
    let is_file = |file: &[u8]| {
        let of = |name: &&str| {
            file.strip_prefix(b"lib")
                .and_then(|rest| rest.strip_prefix(name.as_bytes()))
                .is_some_and(|rest| rest.starts_with(b".a") || rest.starts_with(b".so"))
        };
        names.iter().any(of)
    };
    line.inputs.iter().any(|placed| match &placed.input {
        Input::Library { name, .. } => match name.as_bytes().strip_prefix(b":") {
            Some(file) => is_file(file),
            None => names.iter().any(|known| name == *known),
        },
        Input::File(path) => is_file(path.file_name().unwrap_or_default().as_bytes()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argv;

    #[test]
    fn symbols_of_the_cpp_library_are_known() {
        for symbol in [
            "_ZSt4cout",
            "_ZNSt8ios_base4InitC1Ev",
            "_ZNKSt9type_infoeqERKS_",
            "_ZNSolsEi",
            "_ZNSsC1Ev",
            "_ZTVN10__cxxabiv117__class_type_infoE",
            "_ZTISt9exception",
            "_ZTVNSt7__cxx1118basic_stringstreamIcSt11char_traitsIcESaIcEEE",
            "_Znwm",
            "_ZdaPv",
            "__cxa_throw",
            "__cxa_guard_acquire",
            "__gxx_personality_v0",
            "__gxx_personality_sj0",
            "__dynamic_cast",
        ] {
            assert!(is_cpp(symbol.as_bytes()), "{symbol}");
        }
        for symbol in [
            "main",
            "__cxa_atexit",
            "__cxa_finalize",
            "_Z3foov",
            "_ZN3FooC1Ev",
            "_ZNK5nwell3runEv",
            "_Unwind_Resume",
            "_gfortran_st_write",
            "_Z",
            "_ZS_",
        ] {
            assert!(!is_cpp(symbol.as_bytes()), "{symbol}");
        }
    }

    #[test]
    fn objects_of_the_line_reach_the_scan_in_order() {
        let words: Vec<OsString> =
            "-O2 x.cpp a.o -x c y.o -x none -Lsub -L /b -lfoo -Wl,--start-group,l.a,--end-group -Xlinker z.o -static -o out.o"
                .split_whitespace()
                .map(OsString::from)
                .collect();
        let words = linker_words(&argv::parse(&words));
        let words: Vec<_> = words.iter().map(|w| w.to_str().unwrap()).collect();
        assert_eq!(
            words.join(" "),
            "a.o -Lsub -L /b -lfoo --start-group l.a --end-group z.o -static"
        );
    }

    #[test]
    fn a_named_library_is_enough() {
        let named = |text: &str| {
            let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
            !lacks_cpp_library(&argv::parse(&words))
        };
        for line in [
            "a.o -lstdc++",
            "a.o -lc++",
            "a.o /l/libstdc++.a",
            "-l:libstdc++.so.6",
            "a.o -nodefaultlibs",
        ] {
            assert!(named(line), "{line}");
        }
        for line in ["a.o", "-lc", "-lstdc++fs", "stdc++.o"] {
            assert!(!named(line), "{line}");
        }
    }
}
