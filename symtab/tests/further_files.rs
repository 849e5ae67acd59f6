//! Debug information in other files: stripped programs, split units, packages; and programs loaded elsewhere.

mod common;

use std::path::Path;

use common::*;
use instr_symtab::{Bytes, Error, Image, ModuleMap, Want};

fn source(folder: &Path) {
    std::fs::write(folder.join("inlines.c"), INLINES).expect("the source is written");
}

fn frames_of(image: &Image, name: &str) -> Vec<Frames> {
    let symbol = image.symbols_named(name).remove(0);
    (symbol.address..symbol.address + symbol.size)
        .map(|address| our_frames(image, address))
        .collect()
}

/// Reads the first candidate that exists, as a caller would.
fn fetch(want: &Want, program: &Path) -> Vec<u8> {
    let found = want
        .candidates(program)
        .into_iter()
        .find_map(|path| std::fs::read(path).ok());
    found.unwrap_or_else(|| panic!("{want:?}"))
}

#[test]
fn a_stripped_program_asks_for_its_debug_file() {
    for target in gcc_targets() {
        for build_id in ["-Wl,--build-id", "-Wl,--build-id=none"] {
            let folder = tempfile::tempdir().expect("a folder");
            source(folder.path());
            let program = target.compile(
                folder.path(),
                "inlines.c",
                &["-g", "-O2", build_id],
                "program",
            );
            let whole = image(&program);
            assert_eq!(whole.wants(), []);
            let objcopy = format!("{}objcopy", target.binutils);
            run(
                folder.path(),
                &objcopy,
                &["--only-keep-debug", "program", "program.debug"],
            );
            run(
                folder.path(),
                &objcopy,
                &[
                    "--strip-all",
                    "--add-gnu-debuglink=program.debug",
                    "program",
                    "stripped",
                ],
            );
            let stripped_path = folder.path().join("stripped");
            let stripped = image(&stripped_path);
            let outer = whole.symbols_named("outer").remove(0);
            assert_eq!(stripped.lookup(outer.address).line, None);
            assert_eq!(stripped.build_id(), whole.build_id());
            assert_eq!(stripped.build_id().is_some(), build_id == "-Wl,--build-id");
            assert_eq!(
                stripped.debug_link().map(|(name, _)| name),
                Some(&b"program.debug"[..])
            );
            let wants = stripped.wants();
            let link = wants
                .iter()
                .find(|want| matches!(want, Want::DebugLink { .. }))
                .expect("wishes the debug file");
            let completed = stripped
                .with_debug(&fetch(link, &stripped_path))
                .expect("its own debug file");
            assert_eq!(completed.wants(), []);
            assert_eq!(frames_of(&completed, "outer"), frames_of(&whole, "outer"));
            assert_eq!(completed.lookup(outer.address).offset, Some(0));
        }
    }
}

#[test]
fn the_file_of_another_program_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    source(folder.path());
    let flags = ["-g", "-Wl,--build-id"];
    let program = X86_64.compile(folder.path(), "inlines.c", &flags, "program");
    std::fs::write(
        folder.path().join("other.c"),
        "int main(void) { return 0; }",
    )
    .expect("the source is written");
    let other = X86_64.compile(folder.path(), "other.c", &flags, "other");
    let other = std::fs::read(other).expect("the other program");
    let mut image = image(&program);
    let before = frames_of(&image, "outer");
    let results = image.add_debug([Bytes::from(other), Bytes::from(&b"not ELF"[..])]);
    assert!(
        matches!(results[0], Err(Error::OtherProgram { .. })),
        "{results:?}"
    );
    assert!(matches!(results[1], Err(Error::NotElf)), "{results:?}");
    assert_eq!(frames_of(&image, "outer"), before);
}

#[test]
fn split_units_are_asked_for_and_used() {
    for (target, flags) in [
        (X86_64, ["-g", "-gdwarf-5"]),
        (X86_64, ["-g", "-gdwarf-4"]),
        (SPARC64, ["-g", "-gdwarf-5"]),
    ] {
        if !target.is_installed() {
            continue;
        }
        let folder = tempfile::tempdir().expect("a folder");
        source(folder.path());
        let whole = image(&target.compile(
            folder.path(),
            "inlines.c",
            &[flags[0], flags[1], "-O2"],
            "whole",
        ));
        target.compile(
            folder.path(),
            "inlines.c",
            &[flags[0], flags[1], "-O2", "-gsplit-dwarf", "-c"],
            "inlines.o",
        );
        let program = target.compile(folder.path(), "inlines.o", &["-g"], "program");
        let split = image(&program);
        let wants = split.wants();
        assert!(matches!(wants[..], [Want::SplitUnit { .. }]), "{wants:?}");
        assert_ne!(frames_of(&split, "outer"), frames_of(&whole, "outer"));
        let dwo = fetch(&wants[0], &program);
        let completed = split.with_debug(&dwo).expect("its own unit");
        assert_eq!(completed.wants(), []);
        assert_eq!(
            frames_of(&completed, "outer"),
            frames_of(&whole, "outer"),
            "{} {flags:?}",
            target.name
        );
    }
}

#[test]
fn a_packed_file_of_split_units_serves_too() {
    let folder = tempfile::tempdir().expect("a folder");
    source(folder.path());
    X86_64.compile(
        folder.path(),
        "inlines.c",
        &["-g", "-gdwarf-4", "-O2", "-gsplit-dwarf", "-c"],
        "inlines.o",
    );
    let program = X86_64.compile(folder.path(), "inlines.o", &["-g"], "program");
    let split = image(&program);
    if !instr_test_needs::has("dwp") {
        return;
    }
    let packed = std::process::Command::new("dwp")
        .args(["-e", "program"])
        .current_dir(folder.path())
        .output()
        .expect("dwp starts");
    assert!(packed.status.success(), "{packed:?}");
    let completed = split
        .with_debug(&fetch(&split_want(&program), &program))
        .expect("the package");
    assert_eq!(completed.wants(), []);
    let whole = image(&X86_64.compile(
        folder.path(),
        "inlines.c",
        &["-g", "-gdwarf-4", "-O2"],
        "whole",
    ));
    assert_eq!(frames_of(&completed, "outer"), frames_of(&whole, "outer"));
}

fn split_want(program: &Path) -> Want {
    image(program).wants().remove(0)
}

#[test]
fn run_time_addresses_of_a_position_independent_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let printing = "#include <stdio.h>\n#include <stdint.h>\nextern char __ehdr_start, _end;\nint spot(void) { return 1; }\nint main(void) { printf(\"%jx %jx %jx %jx\\n\", (uintmax_t)(uintptr_t)&__ehdr_start, (uintmax_t)(uintptr_t)&_end, (uintmax_t)(uintptr_t)spot, (uintmax_t)(uintptr_t)printf); return 0; }\n";
    std::fs::write(folder.path().join("pie.c"), printing).expect("the source is written");
    let program = X86_64.compile(folder.path(), "pie.c", &["-g", "-pie", "-fPIE"], "pie");
    let out = run(folder.path(), "./pie", &[]);
    let numbers: Vec<u64> = out
        .split_whitespace()
        .map(|n| u64::from_str_radix(n, 16).expect("a number"))
        .collect();
    let map = ModuleMap::new([(numbers[0], numbers[1])]);
    assert_eq!(map.find(numbers[3]), None, "printf is in the library");
    let (module, address) = map.find(numbers[2]).expect("spot is in the program");
    assert_eq!(module, 0);
    let answer = image(&program).lookup(address);
    assert_eq!(
        answer.function.as_ref().map(|name| &*name.demangled),
        Some("spot")
    );
    assert_eq!(
        (answer.offset, answer.line),
        (Some(0), Some(line_of(printing, "int spot")))
    );
}
