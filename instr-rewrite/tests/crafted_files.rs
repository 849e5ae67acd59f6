//! Files made to mislead the reader, byte by byte: each is refused with one message that names the file and the place, or read as it is,
//! in little time and memory.

mod common;

use common::{GCC, V8, run, scratch, source, tool};
use instr_rewrite::scan::{FileKind, Source};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Offset, size in bytes and word of a field of a 64-bit or 32-bit header.
type Field = (usize, usize);

/// An object to be changed, with its word size and byte order.
struct Crafted {
    bytes: Vec<u8>,
    is_64: bool,
    big: bool,
}

impl Crafted {
    fn all() -> [Self; 2] {
        let directory = scratch();
        [(GCC, true, false), (V8, false, true)].map(|(toolchain, is_64, big)| {
            let object = toolchain.compile(&source("direct.c"), directory.path());
            let bytes = std::fs::read(object).unwrap();
            Self { bytes, is_64, big }
        })
    }

    fn pick<T>(&self, large: T, small: T) -> T {
        if self.is_64 { large } else { small }
    }

    fn get(&self, (at, size): Field) -> u64 {
        let field = &self.bytes[at..at + size];
        let add = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
        match self.big {
            true => field.iter().fold(0, add),
            false => field.iter().rev().fold(0, add),
        }
    }

    fn put(&mut self, (at, size): Field, value: u64) {
        let bytes = match self.big {
            true => value.to_be_bytes()[8 - size..].to_vec(),
            false => value.to_le_bytes()[..size].to_vec(),
        };
        self.bytes[at..at + size].copy_from_slice(&bytes);
    }

    /// `e_shoff`, `e_shentsize`, `e_shnum`, `e_shstrndx`.
    fn header(&self) -> [Field; 4] {
        self.pick(
            [(40, 8), (58, 2), (60, 2), (62, 2)],
            [(32, 4), (46, 2), (48, 2), (50, 2)],
        )
    }

    /// A field of the header of section `number`: `sh_name`, `sh_type`, `sh_offset`, `sh_size`, `sh_link`, `sh_entsize`.
    fn section(&self, number: u64, name: &str) -> Field {
        let size = self.pick(64, 40);
        let start = (self.get(self.header()[0]) + number * size) as usize;
        let (at, size) = match name {
            "name" => (0, 4),
            "type" => (4, 4),
            "offset" => self.pick((24, 8), (16, 4)),
            "size" => self.pick((32, 8), (20, 4)),
            "link" => self.pick((40, 4), (24, 4)),
            "entsize" => self.pick((56, 8), (36, 4)),
            other => panic!("no field {other}"),
        };
        (start + at, size)
    }

    /// The number of the first section of this type.
    fn first(&self, kind: u64) -> u64 {
        let count = self.get(self.header()[2]);
        let mut numbers = 0..count;
        let found = numbers.find(|number| self.get(self.section(*number, "type")) == kind);
        found.unwrap()
    }

    /// What the reader says of the bytes.
    fn error(&self) -> String {
        let start = Instant::now();
        let source = Source::of(Path::new("crafted.o"), &self.bytes);
        let error = source.scan().unwrap_err().to_string();
        assert!(start.elapsed() < Duration::from_secs(5), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        let text = error.strip_prefix("crafted.o: truncated or malformed: ");
        text.unwrap_or_else(|| panic!("{error}")).to_owned()
    }
}

const SYMTAB: u64 = 2;
const STRTAB: u64 = 3;
const RELA: u64 = 4;

#[test]
fn counts_of_sections_are_not_believed() {
    for object in Crafted::all() {
        let [start, size, count, names] = object.header();
        let change = |field: Field, value: u64| {
            let mut changed = Crafted {
                bytes: object.bytes.clone(),
                ..object
            };
            changed.put(field, value);
            changed
        };
        let error = change(count, 0xfeff).error();
        let place = format!(
            "65279 section headers at {:#x} end beyond",
            object.get(start)
        );
        assert!(error.starts_with(&place), "{error}");
        // With no count in the header, the first section has it: 4 GiB of sections, and the most that fits.
        for claim in [1 << 26, u64::from(u32::MAX), object.pick(u64::MAX, 1 << 31)] {
            let mut changed = change(count, 0);
            let field = changed.section(0, "size");
            changed.put(field, claim);
            let error = changed.error();
            assert!(
                error.starts_with(&format!("{claim} section headers")),
                "{error}"
            );
        }
        assert_eq!(change(size, 1).error(), "size of a section header");
        assert_eq!(change(start, 0).error(), "sections without a table of them");
        let beyond = change(start, object.pick(u64::MAX - 8, 0xffff_fff0));
        assert!(beyond.error().starts_with("1 section headers at 0xffff"));
        // Names of sections are of no use to a list of symbols: one that is wrong does no harm.
        let unnamed = change(names, 0xfff0);
        let source = Source::of(Path::new("crafted.o"), &unnamed.bytes);
        assert_eq!(source.scan().unwrap().kind, FileKind::Relocatable);
    }
}

#[test]
fn tables_of_symbols_stay_within_the_file() {
    for object in Crafted::all() {
        let length = object.bytes.len() as u64;
        let symbols = object.first(SYMTAB);
        let change = |name: &str, value: u64| {
            let mut changed = Crafted {
                bytes: object.bytes.clone(),
                ..object
            };
            let field = changed.section(symbols, name);
            changed.put(field, value);
            changed.error()
        };
        let most = object.pick(u64::MAX, u64::from(u32::MAX));
        for (name, value) in [("size", length), ("size", most), ("offset", most)] {
            let error = change(name, value);
            let place = format!("section {symbols} ends at ");
            let end = format!(", the file at {length:#x}");
            assert!(
                error.starts_with(&place) && error.ends_with(&end),
                "{error}"
            );
        }
        let size = object.get(object.section(symbols, "size"));
        let half = format!("the symbol table in section {symbols} has half an entry");
        assert_eq!(change("size", size - 1), half);
        for link in [0, symbols] {
            let error = format!("section {link} is no table of names of symbols");
            assert_eq!(change("link", link), error);
        }
        assert_eq!(change("link", 0xffff), "there is no section 65535");
    }
}

#[test]
fn names_of_symbols_stay_within_their_table() {
    for object in Crafted::all() {
        let symbols = object.first(SYMTAB);
        let start = object.get(object.section(symbols, "offset")) as usize;
        let size = object.get(object.section(symbols, "size")) as usize;
        let strings = object.get(object.section(symbols, "link"));
        let strings = object.get(object.section(strings, "size"));
        // The last symbol is a global one.
        let last = start + size - object.pick(24, 16);
        for name in [strings, u64::from(u32::MAX)] {
            let mut changed = Crafted {
                bytes: object.bytes.clone(),
                ..object
            };
            changed.put((last, 4), name);
            let error = changed.error();
            assert_eq!(error, "a symbol's name lies outside of the table of names");
        }
    }
}

/// Sections that lie on top of each other would be read again and again.
#[test]
fn sections_on_top_of_each_other_are_refused() {
    for mut object in Crafted::all() {
        let length = object.bytes.len() as u64;
        // Sections of the whole file, 17 of them: as many as the reader allows, and one.
        let count = object.get(object.header()[2]);
        assert!(count > 4);
        let [table, _, number, _] = object.header();
        let header = object.pick(64, 40);
        let mut headers = object.bytes[object.get(table) as usize..].to_vec();
        headers.truncate(count as usize * header);
        let start = object.bytes.len();
        headers.resize((count as usize + 17) * header, 0);
        object.bytes.extend(headers);
        object.put(table, start as u64);
        object.put(number, count + 17);
        for extra in count..count + 17 {
            for (name, value) in [("type", 1), ("offset", 0), ("size", length * 2)] {
                let field = object.section(extra, name);
                object.put(field, value.min(object.bytes.len() as u64));
            }
        }
        assert_eq!(object.error(), "sections overlap");
    }
}

/// A section number beyond the table, a symbol table that is its own table of names, relocations of another size: redirecting refuses
/// them too, and says where.
#[test]
fn redirecting_refuses_what_it_cannot_follow() {
    let directory = scratch();
    for object in Crafted::all() {
        let lists: Vec<u64> = (0..object.get(object.header()[2]))
            .filter(|number| object.get(object.section(*number, "type")) == RELA)
            .collect();
        for &list in &lists {
            let mut changed = Crafted {
                bytes: object.bytes.clone(),
                ..object
            };
            let field = changed.section(list, "entsize");
            changed.put(field, 7);
            let file = directory.path().join("crafted.o");
            std::fs::write(&file, &changed.bytes).unwrap();
            let result = tool()
                .arg("--redirect")
                .arg(&file)
                .args(["-o", "-"])
                .output()
                .unwrap();
            let text = String::from_utf8(result.stderr).unwrap();
            let place = format!("malformed: size of the relocations in section {list}\n");
            assert!(text.ends_with(&place), "{text}");
            assert_eq!(result.status.code(), Some(1));
        }
        assert!(!lists.is_empty() && object.first(STRTAB) > 0);
    }
}

fn member(name: &str, size: &str, contents: &[u8]) -> Vec<u8> {
    let head = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644);
    let mut bytes = head.into_bytes();
    bytes.extend_from_slice(contents);
    bytes
}

#[test]
fn archives_with_wrong_members_are_refused_with_the_place() {
    let cases = [
        (member("a/", "9999999999", b"x"), "truncated contents"),
        (member("a/", "-1", b"x"), "wrong size"),
        (member("a/", "+1", b"xx"), "wrong size"),
        (member("a/", "1x", b"xx"), "wrong size"),
        (member("a/", "", b"xx"), "wrong size"),
        (member("/12", "2", b"xx"), "wrong place of the name"),
        (
            member("/99999999999999", "2", b"xx"),
            "wrong place of the name",
        ),
        (member("#1/9", "2", b"xx"), "wrong length of the name"),
        (member("#1/9z", "2", b"xx"), "wrong length of the name"),
        (member("a/", "2", b"xx")[..40].to_vec(), "truncated header"),
        (vec![b' '; 60], "wrong end of the header"),
    ];
    for (bytes, what) in cases {
        let archive = [b"!<arch>\n".to_vec(), bytes].concat();
        let source = Source::of(Path::new("crafted.a"), &archive);
        let error = source.scan().unwrap_err().to_string();
        let expected =
            format!("crafted.a: truncated or malformed: {what} of the archive member at 0x8");
        assert_eq!(error, expected);
    }
}

/// Every member's name is looked for in the table of names: names that overlap must not make that slow.
#[test]
fn long_names_that_overlap_take_little_time() {
    let names = [vec![b'n'; 4 << 20], b"/\n".to_vec()].concat();
    let mut archive = b"!<arch>\n".to_vec();
    archive.extend(member("//", &names.len().to_string(), &names));
    for _ in 0..50_000 {
        archive.extend(member("/0", "0", b""));
    }
    let start = Instant::now();
    let source = Source::of(Path::new("crafted.a"), &archive);
    let error = source.scan().unwrap_err().to_string();
    assert!(error.contains("wrong place of the name"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}

/// Thin archives that hold themselves or each other: members must be objects, so nothing is followed in a circle.
#[test]
fn thin_archives_in_a_circle_end() {
    let directory = scratch();
    for (name, of) in [("a.a", "b.a/"), ("b.a", "a.a/")] {
        let mut archive = b"!<thin>\n".to_vec();
        archive.extend(member(of, "100", b""));
        archive.extend(member(&format!("{name}/"), "9999999999", b""));
        std::fs::write(directory.path().join(name), archive).unwrap();
    }
    for action in ["--list", "--redirect"] {
        let result = tool()
            .current_dir(directory.path())
            .args([action, "a.a", "-o", "-"])
            .output()
            .unwrap();
        let text = String::from_utf8(result.stderr).unwrap();
        assert_eq!(result.status.code(), Some(1), "{text}");
        assert!(text.contains("a.a(b.a): not an ELF object"), "{text}");
    }
}

/// The index of 64-bit archives has a name of its own.
#[test]
fn the_index_of_large_archives_is_no_member() {
    let directory = scratch();
    let object = GCC.compile(&source("direct.c"), directory.path());
    let bytes = std::fs::read(&object).unwrap();
    let mut archive = b"!<arch>\n".to_vec();
    archive.extend(member("/SYM64/", "8", &[0; 8]));
    archive.extend(member("direct.o/", &bytes.len().to_string(), &bytes));
    let file = directory.path().join("large.a");
    std::fs::write(&file, &archive).unwrap();
    let names = String::from_utf8(run(Command::new("nm").arg("-u").arg(&file)).stdout).unwrap();
    let source = Source::open(&file).unwrap();
    let inputs = source.scan().unwrap();
    assert_eq!(inputs.objects.len(), 1);
    assert_eq!(inputs.objects[0].member.as_deref(), Some("direct.o"));
    for name in &inputs.objects[0].undefined {
        let name = String::from_utf8_lossy(name);
        assert!(names.contains(&format!("U {name}")), "{name}");
    }
}

/// Versions stand behind the names of symbols in the static table of a linked file, and in a section of their own for the dynamic one.
#[test]
fn versions_of_symbols_are_no_part_of_their_names() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    let text = "void GOMP_barrier(void); __asm__(\".symver old, shown@V1\"); \
                void old(void) { GOMP_barrier(); } void other(void) {}";
    std::fs::write(path("l.c"), text).unwrap();
    std::fs::write(path("l.map"), "V1 { global: shown; other; local: *; };").unwrap();
    run(Command::new("gcc")
        .current_dir(directory.path())
        .args(["-shared", "-fPIC", "l.c", "-o", "l.so", "-fopenmp"])
        .arg("-Wl,--version-script=l.map"));
    let source = Source::open(&path("l.so")).unwrap();
    let inputs = source.scan().unwrap();
    assert_eq!(inputs.kind, FileKind::Shared);
    let object = &inputs.objects[0];
    assert!(object.undefined.contains(&b"GOMP_barrier".as_slice()));
    assert!(object.defined.contains(&b"shown".as_slice()));
    assert!(object.defined.iter().all(|name| !name.contains(&b'@')));
}
