//! Functions that the linker dropped are still described by the debug information, at addresses of nothing or of
//! something else. They never answer.

mod common;

use std::path::{Path, PathBuf};

use common::*;
use instr_symtab::{Image, Lookup, SymbolKind};

/// The file that is compiled without debug information.
const PLAIN: &str =
    "volatile int plain_sink;\nint plain(int x) {\n  plain_sink = x;\n  return x + 1;\n}\n";

/// Functions that are dropped, one of them longer than the distance from 0 to the first code.
fn dropped() -> String {
    let mut text = String::from("volatile int sink;\nint dropped_long(int x) {\n");
    (0..1500).for_each(|i| text.push_str(&format!("  sink = x + {i};\n")));
    text.push_str("  return x;\n}\nint dropped_short(int x) {\n  sink = x;\n  return x * 3;\n}\n");
    text.push_str("int kept(int x) {\n  sink = x;\n  return x * 5;\n}\n");
    text
}

fn build(target: &Target, folder: &Path, flags: &[&str]) -> PathBuf {
    let main = "int plain(int), kept(int);\nint main(int n, char **v) {\n  (void)v;\n  return plain(n) + kept(n);\n}\n";
    for (name, text) in [
        ("plain.c", PLAIN),
        ("dropped.c", &dropped()),
        ("main.c", main),
    ] {
        std::fs::write(folder.join(name), text).expect("the source is written");
    }
    let common = ["-O1", "-c", "-ffunction-sections"];
    target.compile(folder, "plain.c", &common, "plain.o");
    let debug = [&common[..], &["-g"], flags].concat();
    target.compile(folder, "dropped.c", &debug, "dropped.o");
    target.compile(folder, "main.c", &debug, "main.o");
    let link = [&["-Wl,--gc-sections", "plain.o", "dropped.o"], flags].concat();
    target.compile(folder, "main.o", &link, "program")
}

/// The answer names no dropped function and no line of its file, except those of the function that stayed.
fn is_clean(answer: &Lookup) -> bool {
    answer.frames.iter().all(|frame| {
        let name = frame.function.as_ref().map_or("", |name| &*name.raw);
        let file = frame.file.as_deref().unwrap_or_default();
        !name.starts_with("dropped") && (!file.ends_with("dropped.c") || name == "kept")
    })
}

fn check(image: &Image, what: &str) {
    for address in [0, 1, 2, 8, u64::MAX, u64::MAX - 1, u64::from(u32::MAX)] {
        let answer = image.lookup(address);
        assert_eq!(*answer, Lookup::default(), "{what} at {address:#x}");
    }
    for address in (0..0x8000).step_by(4) {
        let answer = image.lookup(address);
        assert!(is_clean(&answer), "{what} at {address:#x}: {answer:?}");
    }
    let of = |name: &str| image.symbols_named(name).remove(0);
    for symbol in [of("plain"), of("main"), of("kept")] {
        for address in symbol.address..symbol.address + symbol.size {
            let answer = image.lookup(address);
            let name = answer.function.as_ref().map(|name| &*name.raw);
            assert_eq!(name, Some(&*symbol.raw), "{what} at {address:#x}");
            assert!(is_clean(&answer), "{what} at {address:#x}: {answer:?}");
            if symbol.raw == "kept" {
                // The dropped function hides the lines of its neighbour at most; they are not taken for one another.
                let first = line_of(&dropped(), "int kept");
                assert!(answer.line.is_none_or(|line| line >= first), "{answer:?}");
                continue;
            }
            let has_line = symbol.raw == "main";
            assert_eq!(
                answer.line.is_some(),
                has_line,
                "{what} at {address:#x}: {answer:?}"
            );
        }
    }
    assert!(
        image.symbols_named("dropped_long").is_empty(),
        "{what}: not dropped"
    );
    // Data has no lines, and is found as data.
    for symbol in image.symbols_where(|name| name == b"sink" || name == b"plain_sink") {
        assert_eq!(symbol.kind, SymbolKind::Data);
        assert_eq!(
            *image.lookup(symbol.address),
            Lookup::default(),
            "{what} {}",
            symbol.raw
        );
        let found = image.data_symbol(symbol.address).map(|found| found.raw);
        assert_eq!(found.as_deref(), Some(&*symbol.raw), "{what}");
    }
}

#[test]
fn sections_that_nothing_refers_to() {
    for target in gcc_targets() {
        for version in ["-gdwarf-4", "-gdwarf-5"] {
            let folder = tempfile::tempdir().expect("a folder");
            let program = build(&target, folder.path(), &[version]);
            check(&image(&program), &format!("{} {version}", target.name));
        }
    }
}

#[test]
fn sections_dropped_by_other_linkers_and_compilers() {
    let clang = CLANG.is_installed().then_some(CLANG);
    for target in [Some(X86_64), clang].into_iter().flatten() {
        for (linker, tool) in [
            ("-fuse-ld=gold", "ld.gold"),
            ("-fuse-ld=lld", "ld.lld"),
            ("-fuse-ld=mold", "mold"),
        ] {
            for version in ["-gdwarf-4", "-gdwarf-5"] {
                if instr_test_needs::has(tool) {
                    let folder = tempfile::tempdir().expect("a folder");
                    let program = build(&target, folder.path(), &[linker, version]);
                    check(
                        &image(&program),
                        &format!("{} {linker} {version}", target.name),
                    );
                }
            }
        }
    }
}

#[test]
fn the_second_copy_of_an_inline_function() {
    let header = "template <class T> struct S { T t; __attribute__((noinline)) T get() const { return t; } };\n";
    let folder = tempfile::tempdir().expect("a folder");
    let sources = [
        (
            "one.cc",
            format!("{header}long one(long n) {{ return S<long>{{n}}.get(); }}\n"),
        ),
        (
            "two.cc",
            format!(
                "\n\n{header}long one(long);\nint main(int n, char **) {{ return one(n) + S<long>{{n}}.get(); }}\n"
            ),
        ),
    ];
    for (name, text) in &sources {
        std::fs::write(folder.path().join(name), text).expect("the source is written");
    }
    let target = Target {
        compiler: &["g++"],
        ..X86_64
    };
    target.compile(folder.path(), "one.cc", &["-g", "-O1", "-c"], "one.o");
    target.compile(folder.path(), "two.cc", &["-g", "-O1", "-c"], "two.o");
    let program = target.compile(folder.path(), "two.o", &["one.o"], "program");
    let image = image(&program);
    for address in 0..0x400 {
        assert_eq!(*image.lookup(address), Lookup::default(), "{address:#x}");
    }
    let get = image
        .symbols_where(|name| name.starts_with(b"_ZNK1SIlE3get"))
        .remove(0);
    let answer = image.lookup(get.address);
    assert_eq!(
        answer.function.as_ref().map(|name| &*name.demangled),
        Some("S<long>::get() const")
    );
    assert!(answer.line.is_some());
}
