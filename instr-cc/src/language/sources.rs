//! The languages of a command line's inputs, by `-x` and by their endings, as GCC's and Clang's drivers have them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::argv::Arg;
use crate::argv::table::Kind;

/// What the inputs of a line are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources<'a> {
    /// Some are C by their ending.
    pub(super) c: bool,
    /// Some are C++.
    pub(super) cpp: bool,
    /// The first one in Fortran.
    pub(super) fortran: Option<&'a OsStr>,
    /// Some are sources in another language: assembler, C by `-x`.
    pub(super) others: bool,
    /// Some are objects or libraries.
    pub(super) objects: bool,
    /// The line links, if it does anything.
    pub(super) links: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// C by its ending: a C++ driver takes it for C++.
    C,
    Cpp,
    Fortran,
    Other,
    Object,
}

impl<'a> Sources<'a> {
    pub(super) fn of(args: &'a [Arg]) -> Self {
        let stops = |arg: &Arg| {
            matches!(
                arg.kind(),
                Kind::NoLink | Kind::Preprocess | Kind::DumpMacros
            )
        };
        let mut found = Self {
            links: !args.iter().any(stops),
            ..Self::default()
        };
        let mut language = None;
        for arg in args {
            match arg {
                Arg::Input(name) => match language.unwrap_or_else(|| of_name(name)) {
                    Input::C => found.c = true,
                    Input::Cpp => found.cpp = true,
                    Input::Fortran => found.fortran = found.fortran.or(Some(name)),
                    Input::Other => found.others = true,
                    Input::Object => found.objects = true,
                },
                _ if arg.kind() == Kind::Language => {
                    language = of_flag(arg.value().unwrap_or_default());
                }
                _ if matches!(arg.kind(), Kind::Library | Kind::ToLinker) => found.objects = true,
                _ => {}
            }
        }
        found
    }
}

/// Whether an input is handed to the linker as it is; `language` is that of the last `-x`.
pub(super) fn is_object(name: &OsStr, language: Option<&OsStr>) -> bool {
    language.and_then(of_flag).is_none() && of_name(name) == Input::Object
}

fn of_flag(name: &OsStr) -> Option<Input> {
    Some(match name.as_bytes() {
        b"none" => return None,
        b"c++"
        | b"c++-header"
        | b"c++-system-header"
        | b"c++-user-header"
        | b"c++-cpp-output"
        | b"objective-c++"
        | b"objective-c++-header"
        | b"objective-c++-cpp-output" => Input::Cpp,
        b"f77" | b"f77-cpp-input" | b"f95" | b"f95-cpp-input" => Input::Fortran,
        _ => Input::Other,
    })
}

fn of_name(name: &OsStr) -> Input {
    let ending = Path::new(name)
        .extension()
        .map(OsStr::as_bytes)
        .unwrap_or_default();
    match ending {
        b"c" | b"i" | b"h" => Input::C,
        b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"ii" | b"mm" | b"M"
        | b"mii" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => Input::Cpp,
        b"f" | b"for" | b"ftn" | b"F" | b"FOR" | b"fpp" | b"FPP" | b"FTN" | b"f90" | b"f95"
        | b"f03" | b"f08" | b"F90" | b"F95" | b"F03" | b"F08" => Input::Fortran,
        b"m" | b"mi" | b"s" | b"S" | b"sx" | b"ll" | b"bc" => Input::Other,
        _ => Input::Object,
    }
}

/// The language of a source by its name, where its objects are linked by a compiler of their own.
pub(super) fn language_of_source(name: &[u8]) -> Option<super::Language> {
    match of_name(OsStr::from_bytes(name)) {
        Input::Cpp => Some(super::Language::Cpp),
        Input::Fortran => Some(super::Language::Fortran),
        Input::C | Input::Other | Input::Object => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_those_of_the_plan() {
        use crate::plan::{Plan, plan};
        use std::ffi::OsString;
        let links = |name: &str| match plan(&[OsString::from(name)]) {
            Plan::Run(additions) => additions.link,
            Plan::Untouched(_) => false,
        };
        for ending in ["c", "i", "cc", "C", "ii", "mm", "f", "F90", "fpp", "s", "S"] {
            let name = format!("x.{ending}");
            assert!(!is_object(name.as_ref(), None) && links(&name), "{name}");
            assert!(!is_object("x.o".as_ref(), Some("c++".as_ref())));
        }
        for name in ["x.o", "libx.a", "libx.so.1", "x", "-", "x.lo"] {
            assert!(is_object(name.as_ref(), None), "{name}");
            assert!(is_object(name.as_ref(), Some("none".as_ref())), "{name}");
        }
    }
}
