//! Which OpenMP runtime a link uses, and so how its constructs are recorded: GCC's libgomp by wrapping the calls of the
//! program, LLVM's libomp by the tool that it asks for (OMPT). Never both.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::line::{Input, Line};

/// What libomp looks for in a program.
pub const TOOL: &str = "ompt_start_tool";

/// An OpenMP runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runtime {
    /// libgomp
    Gnu,
    /// libomp, libiomp5
    Llvm,
}

/// The runtime that a link uses: the first one on its line, whose symbols come first when the program runs.
#[must_use]
pub fn runtime(line: &Line) -> Option<Runtime> {
    input(line).map(|(_, runtime)| runtime)
}

/// Its place on the line, too.
#[must_use]
pub fn input(line: &Line) -> Option<(&Input, Runtime)> {
    let of = |input: &Input| match input {
        Input::File(path) => of_file(path.file_name().unwrap_or_default()),
        Input::Library { name, .. } => match name.as_bytes().strip_prefix(b":") {
            Some(file) => of_file(OsStr::from_bytes(file)),
            None => of_name(name.as_bytes()),
        },
    };
    let mut inputs = line.inputs.iter();
    inputs.find_map(|placed| Some((&placed.input, of(&placed.input)?)))
}

/// `libomp.so`, `libomp-14.so.5`, `libiomp5.a` …
fn of_file(file: &OsStr) -> Option<Runtime> {
    let name = file.as_bytes().strip_prefix(b"lib")?;
    let end = name.windows(2).position(|w| w == b".s" || w == b".a")?;
    of_name(&name[..end])
}

fn of_name(name: &[u8]) -> Option<Runtime> {
    // Debian's file names carry the version: `libomp-14.so.5`.
    let version = |rest: &[u8]| rest.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let plain = match name.iter().position(|b| *b == b'-') {
        Some(at) if version(&name[at + 1..]) => &name[..at],
        _ => name,
    };
    match plain {
        b"gomp" => Some(Runtime::Gnu),
        b"omp" | b"omp5" | b"iomp5" => Some(Runtime::Llvm),
        _ => None,
    }
}

/// Whether a description file of ours is about OpenMP's own functions.
#[must_use]
pub fn is_openmp_description(source: &str) -> bool {
    (source.starts_with("gomp") || source.starts_with("omp")) && !source.contains('/')
}

/// Whether a symbol is an entry point of an OpenMP runtime that compilers call.
#[must_use]
pub fn is_entry(symbol: &[u8]) -> bool {
    symbol.starts_with(b"__kmpc_") || symbol.starts_with(b"GOMP_")
}

/// Whether LLVM bitcode calls libomp. Its string table holds the names as they are.
#[must_use]
pub fn in_bitcode(bytes: &[u8]) -> bool {
    bytes.windows(7).any(|w| w == b"__kmpc_")
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::shim::line;

    fn of(text: &str) -> Option<Runtime> {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        runtime(&line::parse(&words))
    }

    #[test]
    fn the_first_runtime_on_the_line_counts() {
        for (text, want) in [
            ("x.o -lgomp -lc", Some(Runtime::Gnu)),
            ("x.o -lomp -lgomp", Some(Runtime::Llvm)),
            ("x.o -lgomp -lomp", Some(Runtime::Gnu)),
            ("x.o -liomp5", Some(Runtime::Llvm)),
            ("x.o -l:libomp.so.5", Some(Runtime::Llvm)),
            (
                "x.o /usr/lib/llvm-14/lib/libomp-14.so.5",
                Some(Runtime::Llvm),
            ),
            ("x.o /l/libomp.a", Some(Runtime::Llvm)),
            ("x.o /l/libgomp.so.1", Some(Runtime::Gnu)),
            ("x.o -lompi -lomptarget -lgomp-plugin -lc", None),
            ("omp.o libomp.o", None),
        ] {
            assert_eq!(of(text), want, "{text}");
        }
    }

    #[test]
    fn bitcode_is_searched_for_calls() {
        assert!(in_bitcode(b"BC\xc0\xde..main__kmpc_fork_callprintf"));
        assert!(!in_bitcode(b"BC\xc0\xde..main__kmp") && !in_bitcode(b""));
    }
}
