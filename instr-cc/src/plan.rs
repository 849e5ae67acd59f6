//! Decides what to add to a compiler's command line. Pure: arguments in, decision out; no file is looked at.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::argv::table::Kind;
use crate::argv::{self, Arg};

/// Why a command line is not instrumented, wholly or in its link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `--instr-off` or `INSTR_CC=off`.
    Off,
    /// The driver only prints something (`--version`, `-v`, `-###`, `-print-…`).
    Informs(String),
    /// There is no input.
    NoInput,
    /// A language that we do not know.
    Language(String),
    /// A relocatable object is made; its final link is instrumented.
    Relocatable,
    /// The linker is named by its path, so that a shim cannot stand before it.
    LinkerByPath(String),
    /// A response file cannot be looked at.
    Response(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => write!(f, "switched off"),
            Self::Informs(flag) => write!(f, "{flag} only asks the compiler for information"),
            Self::NoInput => write!(f, "there is no input file"),
            Self::Language(name) => write!(f, "language {name} is not known to instr-cc"),
            Self::Relocatable => write!(
                f,
                "-r makes an object file; the link that uses it is instrumented"
            ),
            Self::LinkerByPath(flag) => write!(f, "{flag} names the linker by its path"),
            Self::Response(why) => write!(f, "{why}"),
        }
    }
}

/// What is done with a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The compiler is run with exactly the user's arguments.
    Untouched(Reason),
    /// The compiler is run with additions.
    Run(Additions),
}

/// What is added to a command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// C or C++ is compiled or preprocessed: our headers can be found.
    pub headers: bool,
    /// Something is linked: the shim stands before the linker.
    pub link: bool,
    /// Why a link is left alone, if it is.
    pub plain_link: Option<Reason>,
    /// The user's options that decide the target's binary interface, for compiling the runtime.
    pub abi: Vec<OsString>,
    /// The user's options that say where headers of the system may be.
    pub system: Vec<OsString>,
}

/// How an input is treated by the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    /// C, C++, Objective-C and their headers: the preprocessor knows `-isystem` and `-D`.
    C,
    /// The same, precompiled; not linked.
    Header,
    /// Compiled without our headers: Fortran, assembler, preprocessed text, LTO.
    Other,
    /// Handed to the linker.
    Object,
}

/// Plans a command line (response files expanded).
#[must_use]
pub fn plan(words: &[OsString]) -> Plan {
    let args = argv::parse(words);
    if let Some(arg) = args.iter().find(|a| informs(a)) {
        return Plan::Untouched(Reason::Informs(shown(arg)));
    }
    match inputs(&args) {
        Err(reason) => Plan::Untouched(reason),
        Ok(inputs) if inputs.is_empty() => Plan::Untouched(Reason::NoInput),
        Ok(inputs) => Plan::Run(additions(&args, &inputs)),
    }
}

/// Whether the driver, or the linker behind it, is asked about itself. What it prints names the programs that are run.
fn informs(arg: &Arg) -> bool {
    let questions: [&[u8]; 8] = [
        b"-v",
        b"-V",
        b"--version",
        b"-version",
        b"--help",
        b"-help",
        b"--target-help",
        b"--verbose",
    ];
    match (arg.kind(), arg.value()) {
        (Kind::Inform, _) => true,
        (Kind::ToLinker, Some(value)) => value
            .as_bytes()
            .split(|b| *b == b',')
            .any(|word| questions.contains(&word)),
        _ => false,
    }
}

fn additions(args: &[Arg], inputs: &[Language]) -> Additions {
    let has = |kind| args.iter().any(|a| a.kind() == kind);
    let links = !has(Kind::NoLink)
        && !has(Kind::Preprocess)
        && !has(Kind::DumpMacros)
        && inputs.iter().any(|l| *l != Language::Header);
    let plain_link = links.then(|| plain_link(args)).flatten();
    let words = |kind| {
        let mut words = Vec::new();
        args.iter()
            .filter(|a| a.kind() == kind)
            .for_each(|a| a.emit(&mut words));
        words
    };
    Additions {
        headers: !has(Kind::DumpMacros)
            && inputs
                .iter()
                .any(|l| matches!(l, Language::C | Language::Header)),
        link: links && plain_link.is_none(),
        plain_link,
        abi: words(Kind::Abi),
        system: words(Kind::System),
    }
}

fn plain_link(args: &[Arg]) -> Option<Reason> {
    args.iter().find_map(|arg| match arg.kind() {
        Kind::Relocatable => Some(Reason::Relocatable),
        Kind::LinkerPath => Some(Reason::LinkerByPath(shown(arg))),
        Kind::LinkerName if arg.value().is_some_and(|v| v.as_bytes().contains(&b'/')) => {
            Some(Reason::LinkerByPath(shown(arg)))
        }
        _ => None,
    })
}

fn shown(arg: &Arg) -> String {
    let mut words = Vec::new();
    arg.emit(&mut words);
    words.join(OsStr::new(" ")).to_string_lossy().into_owned()
}

/// The inputs' languages, in order; libraries count as objects.
fn inputs(args: &[Arg]) -> Result<Vec<Language>, Reason> {
    let mut language = None;
    let mut found = Vec::new();
    for arg in args {
        match arg {
            Arg::Input(name) => found.push(language.unwrap_or_else(|| language_of_name(name))),
            _ if arg.kind() == Kind::Language => {
                language = language_of_flag(arg.value().unwrap_or_default())?
            }
            Arg::Joined(_, value) | Arg::Separate(_, value)
                if arg.kind() == Kind::ToLinker && !value.as_bytes().starts_with(b"-") =>
            {
                found.push(Language::Object);
            }
            _ if arg.kind() == Kind::Library => found.push(Language::Object),
            _ => {}
        }
    }
    Ok(found)
}

fn language_of_flag(name: &OsStr) -> Result<Option<Language>, Reason> {
    Ok(Some(match name.as_bytes() {
        b"none" => return Ok(None),
        b"c" | b"c++" | b"objective-c" | b"objective-c++" => Language::C,
        b"c-header" | b"c++-header" | b"objective-c-header" | b"objective-c++-header" => {
            Language::Header
        }
        b"cpp-output"
        | b"c++-cpp-output"
        | b"objective-c-cpp-output"
        | b"objective-c++-cpp-output"
        | b"assembler"
        | b"assembler-with-cpp"
        | b"f77"
        | b"f77-cpp-input"
        | b"f95"
        | b"f95-cpp-input"
        | b"lto"
        | b"ir" => Language::Other,
        _ => return Err(Reason::Language(name.to_string_lossy().into_owned())),
    }))
}

fn language_of_name(name: &OsStr) -> Language {
    let ending = Path::new(name)
        .extension()
        .map(OsStr::as_bytes)
        .unwrap_or_default();
    match ending {
        b"c" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"m" | b"mm" | b"M" => {
            Language::C
        }
        b"h" | b"hh" | b"H" | b"hp" | b"hxx" | b"hpp" | b"HPP" | b"h++" | b"tcc" => {
            Language::Header
        }
        b"i" | b"ii" | b"mi" | b"mii" | b"s" | b"S" | b"sx" | b"f" | b"for" | b"ftn" | b"F"
        | b"FOR" | b"fpp" | b"FPP" | b"FTN" | b"f90" | b"f95" | b"f03" | b"f08" | b"F90"
        | b"F95" | b"F03" | b"F08" | b"ll" | b"bc" => Language::Other,
        _ => Language::Object,
    }
}

/// The command line with its additions: headers and shim go in front, so that everything of the user's comes later.
#[must_use]
pub fn arguments(user: &[OsString], headers: Option<&Path>, shim: Option<&Path>) -> Vec<OsString> {
    let mut words = Vec::with_capacity(user.len() + 5);
    if let Some(dir) = headers {
        words.extend(["-isystem".into(), dir.into(), "-D__INSTR__=1".into()]);
    }
    if let Some(dir) = shim {
        let mut word = b"-B".to_vec();
        word.extend_from_slice(dir.as_os_str().as_bytes());
        word.push(b'/');
        words.push(OsString::from_vec(word));
    }
    words.extend_from_slice(user);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(line: &str) -> Plan {
        plan(
            &line
                .split_whitespace()
                .map(OsString::from)
                .collect::<Vec<_>>(),
        )
    }

    /// `h` headers, `l` link, `p` a link that stays plain, `-` nothing added, `u` untouched.
    fn summary(line: &str) -> String {
        match planned(line) {
            Plan::Untouched(_) => "u".into(),
            Plan::Run(a) => {
                let mut text = String::new();
                text.extend(a.headers.then_some('h'));
                text.extend(a.link.then_some('l'));
                text.extend(a.plain_link.is_some().then_some('p'));
                if text.is_empty() { "-".into() } else { text }
            }
        }
    }

    #[test]
    fn every_kind_of_step_is_recognised() {
        for (line, want) in [
            ("-c x.c", "h"),
            ("-S x.c", "h"),
            ("-E x.c", "h"),
            ("-E -dM x.c", "-"),
            ("-dM -E -x c /dev/null", "-"),
            ("-M x.c", "h"),
            ("-MM x.c", "h"),
            ("-MD -MF x.d -c x.c", "h"),
            ("-MMD x.c", "hl"),
            ("-fsyntax-only x.c", "h"),
            ("x.c -o x", "hl"),
            ("x.c y.cpp z.o -lm", "hl"),
            ("x.o -o x", "l"),
            ("-o x x.o libx.a", "l"),
            ("x.f90", "l"),
            ("x.s", "l"),
            ("-c x.s", "-"),
            ("-c x.F90", "-"),
            ("-c x.i", "-"),
            ("-x c -", "hl"),
            ("-x c -c -", "h"),
            ("-xc++ -c weird", "h"),
            ("-x c a -x none b.o", "hl"),
            ("-x assembler -c a.c", "-"),
            ("-x cuda a.c", "u"),
            ("-x c", "u"),
            ("x.h", "h"),
            ("-x c++-header x.h", "h"),
            ("-shared x.o -o libx.so", "l"),
            ("-static x.o", "l"),
            ("-r x.o -o y.o", "p"),
            ("-r x.c -o y.o", "hp"),
            ("-fuse-ld=gold x.o", "l"),
            ("-fuse-ld=/opt/ld x.o", "p"),
            ("--ld-path=/opt/ld x.o", "p"),
            ("-### x.c", "u"),
            ("-v x.c", "u"),
            ("-v", "u"),
            ("--version", "u"),
            ("-dumpmachine", "u"),
            ("-dumpspecs", "u"),
            ("-dumpversion", "u"),
            ("-print-prog-name=ld", "u"),
            ("--print-file-name=libc.a", "u"),
            ("-print-multi-lib", "u"),
            ("--help", "u"),
            ("--help=target", "u"),
            ("-dumpbase x.c -c x.c", "h"),
            ("", "u"),
            ("-O2 -Wall", "u"),
            ("-Wl,x.o", "l"),
            ("-Wl,-s", "u"),
            ("-o x.c", "u"),
            ("-lfoo", "l"),
            ("x.c -Wl,--version", "u"),
            ("x.c -Wl,-z,now,-v", "u"),
            ("x.c -Xlinker --version", "u"),
            ("x.c -Wl,-version-script", "hl"),
        ] {
            assert_eq!(summary(line), want, "{line}");
        }
    }

    #[test]
    fn options_of_the_binary_interface_are_collected_with_their_values() {
        let line =
            "-O3 -m32 -mcpu=leon3 -mfix-gr712rc --sysroot /s -mtune=v8 -g -target sparc x.c -mavx2";
        let Plan::Run(additions) = planned(line) else {
            panic!("not planned")
        };
        assert_eq!(
            additions.abi,
            [
                "-m32",
                "-mcpu=leon3",
                "-mfix-gr712rc",
                "--sysroot",
                "/s",
                "-mtune=v8",
                "-target",
                "sparc"
            ]
        );
    }

    #[test]
    fn folders_with_headers_of_the_system_are_collected() {
        let line = "-B/opt/rtems/6/sparc-rtems6/leon3/lib -qrtems -isystem /k -I/mine -O2 x.c";
        let Plan::Run(additions) = planned(line) else {
            panic!("not planned")
        };
        assert_eq!(
            additions.system,
            ["-B/opt/rtems/6/sparc-rtems6/leon3/lib", "-isystem", "/k"]
        );
        assert_eq!(additions.abi, ["-qrtems"]);
    }

    #[test]
    fn additions_stand_in_front_and_the_users_words_are_kept() {
        let user = [
            OsString::from_vec(b"\xff.c".to_vec()),
            "-o".into(),
            "/dev/null".into(),
        ];
        let all = arguments(&user, Some(Path::new("/h x")), Some(Path::new("/s")));
        assert_eq!(all[..4], ["-isystem", "/h x", "-D__INSTR__=1", "-B/s/"]);
        assert_eq!(all[4..], user);
    }
}
