//! The linker's command line: inputs in order, what kind of file is made, and where ours can be put in.
//!
//! Option names are those of GNU ld, which gold, lld and mold follow.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Options of one letter that take a value, joined or in the next word.
const SHORT_WITH_VALUE: &[u8] = b"AFGIRTYabcefhmouyz";

/// Long options whose value may be the next word, sorted. One or two dashes stand in front.
const LONG_WITH_VALUE: &[&str] = &[
    "Map",
    "Tbss",
    "Tdata",
    "Tldata-segment",
    "Trodata-segment",
    "Ttext",
    "Ttext-segment",
    "architecture",
    "assert",
    "audit",
    "auxiliary",
    "build-id-link-dir",
    "dT",
    "default-script",
    "default-symver-file",
    "defsym",
    "depaudit",
    "dependency-file",
    "dynamic-linker",
    "dynamic-list",
    "entry",
    "exclude-libs",
    "export-dynamic-symbol",
    "export-dynamic-symbol-list",
    "filter",
    "fini",
    "format",
    "fuse-ld",
    "hash-size",
    "init",
    "just-symbols",
    "library",
    "library-path",
    "mri-script",
    "oformat",
    "out-implib",
    "output",
    "plugin",
    "plugin-opt",
    "remap-inputs",
    "remap-inputs-file",
    "require-defined",
    "retain-symbols-file",
    "rpath",
    "rpath-link",
    "script",
    "section-ordering-file",
    "section-start",
    "soname",
    "sort-section",
    "sysroot",
    "trace-symbol",
    "undefined",
    "undefined-version",
    "unresolved-symbols",
    "version-exports-section",
    "version-script",
    "wrap",
];

/// An input of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// A file given by its path.
    File(PathBuf),
    /// `-lNAME` (or `-l:FILE`), and whether only archives are looked for.
    Library {
        /// What follows `-l`.
        name: OsString,
        /// `-static` or `-Bstatic` is in force.
        archives_only: bool,
    },
}

/// An input with its place and surroundings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The input.
    pub input: Input,
    /// Index of its first word.
    pub word: usize,
    /// Between `--whole-archive` and `--no-whole-archive`.
    pub whole: bool,
    /// Number of the group it is in; 0 outside any.
    pub group: usize,
}

/// A parsed command line of a linker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Inputs in order.
    pub inputs: Vec<Placed>,
    /// Folders to look for libraries in, in order.
    pub folders: Vec<OsString>,
    /// `--sysroot`.
    pub sysroot: OsString,
    /// A relocatable object is made.
    pub relocatable: bool,
    /// A shared library is made.
    pub shared: bool,
    /// A position-independent executable is made.
    pub pie: bool,
    /// No shared libraries are linked.
    pub fixed: bool,
    /// The linker only tells about itself.
    pub informs: bool,
    /// Symbols undefined from the start (`-u`, `-e`).
    pub roots: Vec<Vec<u8>>,
    /// Symbols that the user wraps.
    pub wrapped: Vec<Vec<u8>>,
    /// The file that is made, if it is named.
    pub output: Option<std::path::PathBuf>,
    /// Where ours goes: index of a word.
    pub place: usize,
}

#[derive(Clone, Copy, Default)]
struct State {
    whole: bool,
    archives_only: bool,
    foreign_format: bool,
}

#[derive(Default)]
struct Parser {
    line: Line,
    state: State,
    saved: Vec<State>,
    group: usize,
    groups: usize,
    lib_depth: usize,
    /// The place after the last object before any library.
    after_object: Option<usize>,
    library_seen: bool,
    /// `-Bstatic` came before any input, and `-Bdynamic` has not come since.
    begins_static: bool,
}

/// Parses the words of a linker's command line (response files expanded, the program's name left out).
#[must_use]
pub fn parse(words: &[OsString]) -> Line {
    let mut parser = Parser::default();
    let mut at = 0;
    while at < words.len() {
        let start = at;
        let word = words[at].as_bytes();
        at += 1;
        match split(word) {
            Word::File => parser.file(start, &words[start]),
            Word::Option(name) => parser.option(name),
            Word::Value(name, value) => parser.value(start, name, value),
            Word::NeedsValue(name) => {
                let value = words
                    .get(at)
                    .map(|w| w.as_bytes().to_vec())
                    .unwrap_or_default();
                at += 1;
                parser.value(start, name, &value);
            }
        }
    }
    let first = parser.line.inputs.first().map_or(words.len(), |i| i.word);
    parser.line.fixed |= parser.begins_static && !parser.line.shared;
    parser.line.place = parser.after_object.unwrap_or(first);
    parser.line
}

enum Word<'a> {
    File,
    Option(&'a [u8]),
    Value(&'a [u8], &'a [u8]),
    NeedsValue(&'a [u8]),
}

fn split(word: &[u8]) -> Word<'_> {
    let Some(rest) = word.strip_prefix(b"-").filter(|r| !r.is_empty()) else {
        return Word::File;
    };
    let long = rest.strip_prefix(b"-").unwrap_or(rest);
    let (name, value) = match long.iter().position(|b| *b == b'=') {
        Some(at) => (&long[..at], Some(&long[at + 1..])),
        None => (long, None),
    };
    let known = std::str::from_utf8(name).is_ok_and(|n| LONG_WITH_VALUE.binary_search(&n).is_ok());
    // With one dash, `-oformat` would be `-o format`: GNU ld wants two dashes for long options that begin with o.
    if known && (rest.len() > long.len() || name.first() != Some(&b'o')) {
        return value.map_or(Word::NeedsValue(name), |v| Word::Value(name, v));
    }
    if rest.len() > long.len() {
        return Word::Option(long);
    }
    short(rest)
}

fn short(rest: &[u8]) -> Word<'_> {
    let (letter, tail) = rest.split_at(1);
    match letter[0] {
        b'l' | b'L' if tail.is_empty() => Word::NeedsValue(letter),
        b'l' | b'L' => Word::Value(letter, tail),
        c if SHORT_WITH_VALUE.contains(&c) && tail.is_empty() => Word::NeedsValue(letter),
        b'u' | b'e' if !is_word_option(rest) => Word::Value(letter, tail),
        _ => Word::Option(rest),
    }
}

/// Options of several letters and one dash that look like a letter with its value.
fn is_word_option(rest: &[u8]) -> bool {
    [
        b"export-dynamic".as_slice(),
        b"emit-relocs",
        b"eh-frame-hdr",
        b"enable-new-dtags",
        b"end-group",
        b"end-lib",
        b"unique",
        b"ur",
    ]
    .iter()
    .any(|name| rest.starts_with(name))
}

impl Parser {
    fn file(&mut self, at: usize, word: &OsStr) {
        if self.state.foreign_format {
            return;
        }
        let bytes = word.as_bytes();
        let is_library = bytes.ends_with(b".a")
            || bytes.ends_with(b".so")
            || bytes.windows(4).any(|w| w == b".so.");
        self.push(at, Input::File(word.into()));
        self.library_seen |= is_library;
        let neutral = !self.state.whole && self.group == 0 && self.lib_depth == 0;
        if !self.library_seen && neutral {
            self.after_object = Some(at + 1);
        }
    }

    fn push(&mut self, word: usize, input: Input) {
        self.line.inputs.push(Placed {
            input,
            word,
            whole: self.state.whole,
            group: self.group,
        });
    }

    fn option(&mut self, name: &[u8]) {
        match name {
            b"r" | b"i" | b"relocatable" | b"Ur" => self.line.relocatable = true,
            b"shared" | b"Bshareable" => self.line.shared = true,
            b"pie" | b"pic-executable" | b"static-pie" => self.line.pie = true,
            b"no-pie" | b"no-pic-executable" => self.line.pie = false,
            b"v" | b"V" | b"version" | b"help" | b"target-help" | b"print-output-format" => {
                self.line.informs = true
            }
            b"static" => {
                self.line.fixed = true;
                self.state.archives_only = true;
            }
            b"Bstatic" | b"dn" | b"non_shared" => {
                // GCC's word for -static on some machines, in front of everything.
                self.begins_static |= self.line.inputs.is_empty();
                self.state.archives_only = true;
            }
            b"Bdynamic" | b"dy" | b"call_shared" => {
                self.begins_static = false;
                self.state.archives_only = false;
            }
            b"whole-archive" => self.state.whole = true,
            b"no-whole-archive" => self.state.whole = false,
            b"push-state" => self.saved.push(self.state),
            b"pop-state" => self.state = self.saved.pop().unwrap_or_default(),
            b"(" | b"start-group" => {
                self.groups += 1;
                self.group = self.groups;
            }
            b")" | b"end-group" => self.group = 0,
            b"start-lib" => self.lib_depth += 1,
            b"end-lib" => self.lib_depth = self.lib_depth.saturating_sub(1),
            _ => {}
        }
    }

    fn value(&mut self, at: usize, name: &[u8], value: &[u8]) {
        match name {
            b"l" | b"library" => {
                let name = OsString::from_vec(value.to_vec());
                self.push(
                    at,
                    Input::Library {
                        name,
                        archives_only: self.state.archives_only,
                    },
                );
                self.library_seen = true;
            }
            b"o" | b"output" => self.line.output = Some(OsString::from_vec(value.to_vec()).into()),
            b"L" | b"library-path" => self.line.folders.push(OsString::from_vec(value.to_vec())),
            b"sysroot" => self.line.sysroot = OsString::from_vec(value.to_vec()),
            b"u" | b"undefined" | b"e" | b"entry" | b"require-defined" => {
                self.line.roots.push(value.to_vec())
            }
            b"wrap" => self.line.wrapped.push(value.to_vec()),
            b"b" | b"format" => {
                self.state.foreign_format = value != b"default" && !value.starts_with(b"elf")
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn files(line: &Line) -> Vec<String> {
        let name = |i: &Placed| match &i.input {
            Input::File(path) => path.display().to_string(),
            Input::Library {
                name,
                archives_only,
            } => {
                format!(
                    "-l{}{}",
                    name.display(),
                    if *archives_only { "!" } else { "" }
                )
            }
        };
        line.inputs.iter().map(name).collect()
    }

    proptest! {
        #[test]
        fn any_line_is_parsed_and_offers_a_place(
            line in proptest::collection::vec(
                prop_oneof![
                    proptest::sample::select(vec!["-l", "-o", "--wrap", "-(", "-)", "--push-state", "--pop-state", "x.o", "y.a", "-u", "--format=binary"])
                        .prop_map(OsString::from),
                    proptest::collection::vec(1_u8..=255, 0..9).prop_map(OsString::from_vec),
                ],
                0..30,
            )
        ) {
            let parsed = parse(&line);
            prop_assert!(parsed.place <= line.len());
            prop_assert!(parsed.inputs.iter().all(|i| i.word < line.len()));
        }
    }

    #[test]
    fn long_names_are_sorted() {
        assert!(LONG_WITH_VALUE.is_sorted());
    }

    #[test]
    fn a_line_of_gcc_is_understood() {
        let line = parse(&words(
            "-plugin /p.so -plugin-opt=-pass-through=-lgcc --sysroot=/ --build-id --eh-frame-hdr -m elf_x86_64 \
             --hash-style=gnu --as-needed -export-dynamic -dynamic-linker /lib/ld.so -pie -z now -o out Scrt1.o crti.o \
             -L/a -L /b x.o y.o -lgomp -lm --push-state --as-needed -lgcc_s --pop-state -lc crtendS.o",
        ));
        assert_eq!(
            files(&line),
            [
                "Scrt1.o",
                "crti.o",
                "x.o",
                "y.o",
                "-lgomp",
                "-lm",
                "-lgcc_s",
                "-lc",
                "crtendS.o"
            ]
        );
        assert_eq!(line.folders, ["/a", "/b"]);
        assert!(line.pie && !line.shared && !line.relocatable && !line.fixed);
    }

    #[test]
    fn ours_goes_behind_the_last_object_before_any_library() {
        for (text, before) in [
            ("-o out crt1.o x.o y.o -lgomp z.o -lc", "-lgomp"),
            ("-o out crt1.o x.o libx.a z.o -lc", "libx.a"),
            (
                "-o out crt1.o -L/x --whole-archive libx.a --no-whole-archive z.o",
                "-L/x",
            ),
            ("-o out --start-group x.o liby.a --end-group", "x.o"),
            ("-o out x.o", ""),
            ("-o out crt1.o --start-lib x.o --end-lib y.o -lc", "-lc"),
            ("-o out crt1.o x.o /lib/libc.so.6 y.o", "/lib/libc.so.6"),
            ("-o out", ""),
        ] {
            let words = words(text);
            let place = parse(&words).place;
            assert_eq!(
                words.get(place).map_or("", |w| w.to_str().unwrap()),
                before,
                "{text}"
            );
        }
    }

    #[test]
    fn kinds_of_output_are_told_apart() {
        assert!(parse(&words("-r x.o")).relocatable);
        assert!(parse(&words("-shared x.o")).shared);
        assert!(parse(&words("-static x.o")).fixed);
        assert!(parse(&words("-Bstatic -X -EL -o out crt1.o x.o")).fixed);
        assert!(!parse(&words("-o out crt1.o -Bstatic -la -Bdynamic -lc")).fixed);
        assert!(!parse(&words("-Bstatic -Bdynamic x.o")).fixed);
        let line = parse(&words("-static -pie --no-dynamic-linker x.o"));
        assert!(line.fixed && line.pie);
        assert!(parse(&words("--version")).informs && parse(&words("-v")).informs);
        assert!(!parse(&words("-Map x -rpath /r -soname -r a.o")).relocatable);
    }

    #[test]
    fn state_is_followed() {
        let line = parse(&words(
            "-Bstatic -la --push-state -Bdynamic -lb --pop-state -lc -( d.o -)  e.o --whole-archive f.a",
        ));
        assert_eq!(files(&line), ["-la!", "-lb", "-lc!", "d.o", "e.o", "f.a"]);
        assert_eq!(
            line.inputs.iter().map(|i| i.group).collect::<Vec<_>>(),
            [0, 0, 0, 1, 0, 0]
        );
        assert!(line.inputs[5].whole);
        assert_eq!(
            files(&parse(&words("-b binary data.bin -b default x.o"))),
            ["x.o"]
        );
    }

    #[test]
    fn symbols_on_the_line_are_collected() {
        let line = parse(&words(
            "-u a -ub --undefined=c -e start --wrap=w -wrap v --export-dynamic -emit-relocs",
        ));
        let text = |list: &[Vec<u8>]| String::from_utf8(list.join(&b' ')).unwrap();
        assert_eq!(text(&line.roots), "a b c start");
        assert_eq!(text(&line.wrapped), "w v");
    }
}
