//! The options of GCC's and Clang's drivers that matter here: how a value is written, and what the option is for.
//!
//! One sorted table. An option that is not in it is passed on untouched and taken to have no separate value, which is
//! what both drivers' own unknown options look like.

/// How an option's value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// No value: the word is the option's name.
    Alone,
    /// The value follows in the same word: `-std=c11`, `-fuse-ld=gold`.
    Joined,
    /// The value is the next word: `-Xlinker -z`.
    Separate,
    /// Either way: `-o x`, `-ox`.
    JoinedOrSeparate,
}

/// What an option is for, as far as a wrapper must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only skipped with its value.
    Other,
    /// Compile and assemble, do not link.
    NoLink,
    /// Preprocess only (also dependency listing).
    Preprocess,
    /// Dumps macros as well, so that a definition of ours would show.
    DumpMacros,
    /// The driver only prints something, or what it prints names every program it runs.
    Inform,
    /// A relocatable object is linked.
    Relocatable,
    /// The language of the inputs that follow.
    Language,
    /// Part of the target's binary interface: the runtime is compiled with it too.
    Abi,
    /// Where headers of the system may be: those of a board's kernel, for compiling the runtime.
    System,
    /// Which linker is used, by a name that the shim has too.
    LinkerName,
    /// Which linker is used, by path.
    LinkerPath,
    /// A value that is handed to the linker and may be an input of it.
    ToLinker,
    /// A library: `-l`.
    Library,
    /// Where the output goes.
    Output,
}

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The option as written, without its value.
    pub name: &'static str,
    /// How its value is written.
    pub form: Form,
    /// What it is for.
    pub kind: Kind,
}

const fn flag(name: &'static str, form: Form, kind: Kind) -> Flag {
    Flag { name, form, kind }
}

use Form::{Alone, Joined, JoinedOrSeparate, Separate};
use Kind::{
    Abi, DumpMacros, Inform, Language, Library, LinkerName, LinkerPath, NoLink, Other, Output,
    Preprocess, Relocatable, System, ToLinker,
};

/// All options with a meaning here, sorted by name.
pub static FLAGS: &[Flag] = &[
    flag("-###", Alone, Inform),
    flag("--analyze", Alone, NoLink),
    flag("--assemble", Alone, NoLink),
    flag("--compile", Alone, NoLink),
    flag("--config", Separate, Other),
    flag("--dependencies", Alone, Preprocess),
    flag("--dump", Joined, Inform),
    flag("--help", Joined, Inform),
    flag("--include-directory", Separate, Other),
    flag("--language", Separate, Language),
    flag("--language=", Joined, Language),
    flag("--ld-path=", Joined, LinkerPath),
    flag("--library-directory", Separate, Other),
    flag("--output", Separate, Output),
    flag("--output=", Joined, Output),
    flag("--param", Separate, Other),
    flag("--precompile", Alone, NoLink),
    flag("--prefix", Separate, Other),
    flag("--preprocess", Alone, Preprocess),
    flag("--print", Joined, Inform),
    flag("--serialize-diagnostics", Separate, Other),
    flag("--sysroot", Separate, Abi),
    flag("--sysroot=", Joined, Abi),
    flag("--target-help", Alone, Inform),
    flag("--target=", Joined, Abi),
    flag("--user-dependencies", Alone, Preprocess),
    flag("--verbose", Alone, Inform),
    flag("--version", Alone, Inform),
    flag("-A", JoinedOrSeparate, Other),
    flag("-B", JoinedOrSeparate, System),
    flag("-D", JoinedOrSeparate, Other),
    flag("-E", Alone, Preprocess),
    flag("-EB", Alone, Abi),
    flag("-EL", Alone, Abi),
    flag("-F", JoinedOrSeparate, Other),
    flag("-G", JoinedOrSeparate, Other),
    flag("-I", JoinedOrSeparate, Other),
    flag("-J", JoinedOrSeparate, Other),
    flag("-L", JoinedOrSeparate, Other),
    flag("-M", Alone, Preprocess),
    flag("-MD", Alone, Other),
    flag("-MF", JoinedOrSeparate, Other),
    flag("-MG", Alone, Other),
    flag("-MJ", Separate, Other),
    flag("-MM", Alone, Preprocess),
    flag("-MMD", Alone, Other),
    flag("-MP", Alone, Other),
    flag("-MQ", JoinedOrSeparate, Other),
    flag("-MT", JoinedOrSeparate, Other),
    flag("-R", Separate, Other),
    flag("-S", Alone, NoLink),
    flag("-T", JoinedOrSeparate, Other),
    flag("-Tbss", Separate, Other),
    flag("-Tdata", Separate, Other),
    flag("-Ttext", Separate, Other),
    flag("-U", JoinedOrSeparate, Other),
    flag("-V", Separate, Inform),
    flag("-Wa,", Joined, Other),
    flag("-Wl,", Joined, ToLinker),
    flag("-Wp,", Joined, Other),
    flag("-Xarch_device", Separate, Other),
    flag("-Xarch_host", Separate, Other),
    flag("-Xassembler", Separate, Other),
    flag("-Xclang", Separate, Other),
    flag("-Xlinker", Separate, ToLinker),
    flag("-Xopenmp-target", Separate, Other),
    flag("-Xpreprocessor", Separate, Other),
    flag("-arch", Separate, Abi),
    flag("-aux-info", Separate, Other),
    flag("-b", Separate, Inform),
    flag("-c", Alone, NoLink),
    flag("-cxx-isystem", Separate, Other),
    flag("-dD", Alone, DumpMacros),
    flag("-dI", Alone, Other),
    flag("-dM", Alone, DumpMacros),
    flag("-dN", Alone, DumpMacros),
    flag("-dU", Alone, DumpMacros),
    flag("-dump", Joined, Inform),
    flag("-dumpbase", Separate, Other),
    flag("-dumpbase-ext", Separate, Other),
    flag("-dumpdir", Separate, Other),
    flag("-e", JoinedOrSeparate, Other),
    flag("-emit-ast", Alone, NoLink),
    flag("-fsyntax-only", Alone, NoLink),
    flag("-fuse-ld=", Joined, LinkerName),
    flag("-gcc-toolchain", Separate, Abi),
    flag("-h", JoinedOrSeparate, Other),
    flag("-idirafter", JoinedOrSeparate, Other),
    flag("-imacros", JoinedOrSeparate, Other),
    flag("-imultiarch", Separate, Other),
    flag("-imultilib", Separate, Other),
    flag("-include", JoinedOrSeparate, Other),
    flag("-include-pch", Separate, Other),
    flag("-iplugindir=", Joined, Other),
    flag("-iprefix", JoinedOrSeparate, Other),
    flag("-iquote", JoinedOrSeparate, Other),
    flag("-isysroot", JoinedOrSeparate, Other),
    flag("-isystem", JoinedOrSeparate, System),
    flag("-isystem-after", JoinedOrSeparate, Other),
    flag("-ivfsoverlay", JoinedOrSeparate, Other),
    flag("-iwithprefix", JoinedOrSeparate, Other),
    flag("-iwithprefixbefore", JoinedOrSeparate, Other),
    flag("-l", JoinedOrSeparate, Library),
    flag("-m16", Alone, Abi),
    flag("-m31", Alone, Abi),
    flag("-m32", Alone, Abi),
    flag("-m4byte-functions", Alone, Abi),
    flag("-m64", Alone, Abi),
    flag("-mabi=", Joined, Abi),
    flag("-mapp-regs", Alone, Abi),
    flag("-march=", Joined, Abi),
    flag("-mbig-endian", Alone, Abi),
    flag("-mcmodel=", Joined, Abi),
    flag("-mcpu=", Joined, Abi),
    flag("-mfix-at697f", Alone, Abi),
    flag("-mfix-b2bst", Alone, Abi),
    flag("-mfix-gr712rc", Alone, Abi),
    flag("-mfix-tn0012", Alone, Abi),
    flag("-mfix-tn0013", Alone, Abi),
    flag("-mfix-ut699", Alone, Abi),
    flag("-mfix-ut700", Alone, Abi),
    flag("-mfloat-abi=", Joined, Abi),
    flag("-mfpu", Alone, Abi),
    flag("-mfpu=", Joined, Abi),
    flag("-mhard-float", Alone, Abi),
    flag("-mlittle-endian", Alone, Abi),
    flag("-mllvm", Separate, Other),
    flag("-mmlir", Separate, Other),
    flag("-mno-app-regs", Alone, Abi),
    flag("-mno-fpu", Alone, Abi),
    flag("-mno-relax", Alone, Abi),
    flag("-mno-user-mode", Alone, Abi),
    flag("-mno-v8plus", Alone, Abi),
    flag("-module-file-info", Alone, NoLink),
    flag("-mqrtems", Alone, Abi),
    flag("-mrelax", Alone, Abi),
    flag("-msoft-float", Alone, Abi),
    flag("-mtune-ctrl=", Joined, Other),
    flag("-mtune=", Joined, Abi),
    flag("-muser-mode", Alone, Abi),
    flag("-mv8plus", Alone, Abi),
    flag("-mx32", Alone, Abi),
    flag("-o", JoinedOrSeparate, Output),
    flag("-print", Joined, Inform),
    flag("-qrtems", Alone, Abi),
    flag("-r", Alone, Relocatable),
    flag("-resource-dir", Separate, Other),
    flag("-rpath", Separate, Other),
    flag("-serialize-diagnostics", Separate, Other),
    flag("-specs=", Joined, Abi),
    flag("-target", Separate, Abi),
    flag("-u", JoinedOrSeparate, Other),
    flag("-undefined", Separate, Other),
    flag("-v", Alone, Inform),
    flag("-verify-pch", Alone, NoLink),
    flag("-working-directory", Separate, Other),
    flag("-wrapper", Separate, Other),
    flag("-x", JoinedOrSeparate, Language),
    flag("-z", JoinedOrSeparate, Other),
];

/// Finds the row for a word: the exact name, or the longest name that a joined value may follow.
#[must_use]
pub fn lookup(word: &[u8]) -> Option<&'static Flag> {
    if let Ok(at) = FLAGS.binary_search_by(|f| f.name.as_bytes().cmp(word)) {
        return Some(&FLAGS[at]);
    }
    (1..word.len()).rev().find_map(|len| {
        let at = FLAGS
            .binary_search_by(|f| f.name.as_bytes().cmp(&word[..len]))
            .ok()?;
        matches!(FLAGS[at].form, Joined | JoinedOrSeparate).then(|| &FLAGS[at])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_and_unique() {
        for pair in FLAGS.windows(2) {
            assert!(
                pair[0].name < pair[1].name,
                "{} before {}",
                pair[0].name,
                pair[1].name
            );
        }
    }

    #[test]
    fn the_longest_name_wins() {
        for (word, name) in [
            ("-ofoo", "-o"),
            ("-o", "-o"),
            ("-isystem/usr", "-isystem"),
            ("-include", "-include"),
            ("-dumpbase", "-dumpbase"),
            ("-dumpmachine", "-dump"),
            ("-mtune=v8", "-mtune="),
            ("-print-prog-name=ld", "-print"),
            ("-Wl,-r", "-Wl,"),
            ("-lm", "-l"),
            ("-Tdata", "-Tdata"),
            ("-Tx.ld", "-T"),
        ] {
            assert_eq!(
                lookup(word.as_bytes()).map(|f| f.name),
                Some(name),
                "{word}"
            );
        }
    }

    #[test]
    fn an_option_without_a_row_is_unknown() {
        for word in [
            "-O2",
            "-fopenmp",
            "-Wall",
            "-cfoo",
            "-static",
            "-pthread",
            "-mavx2",
            "-",
            "--param=x",
        ] {
            assert_eq!(lookup(word.as_bytes()), None, "{word}");
        }
    }
}
