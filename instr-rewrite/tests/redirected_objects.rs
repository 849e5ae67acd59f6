//! `--redirect` changes what it must and nothing else, checked with binutils and object, for objects of every compiler.

mod common;

use common::{
    ALL, CLANG, GCC, GCC_SECTIONS, V8_PIC, V9, nm_undefined, run, scratch, source, tool, wrapped,
};
use instr_rewrite::Api;
use instr_rewrite::redirect::redirect;
use object::{
    Object as _, ObjectSection as _, ObjectSymbol as _, RelocationFlags, RelocationTarget,
};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Relocated section, offset, type, addend → name of the symbol of every relocation.
type References = BTreeMap<(String, usize, u64, String, i64), String>;

fn references(bytes: &[u8]) -> References {
    let elf = object::File::parse(bytes).unwrap();
    let mut all = References::new();
    for section in elf.sections() {
        for (offset, relocation) in section.relocations() {
            let RelocationTarget::Symbol(symbol) = relocation.target() else {
                panic!("a relocation without a symbol");
            };
            let symbol = elf.symbol_by_index(symbol).unwrap();
            let mut name = symbol.name().unwrap().to_owned();
            if name.is_empty() {
                name = format!("section {:?}", symbol.section());
            }
            let RelocationFlags::Elf { r_type } = relocation.flags() else {
                panic!("no relocation of ELF");
            };
            let place = (
                section.name().unwrap().to_owned(),
                section.index().0,
                offset,
                format!("{r_type:?}"),
                relocation.addend(),
            );
            all.insert(place, name);
        }
    }
    all
}

/// Name, type and contents of the sections that must not change.
fn sections(bytes: &[u8]) -> Vec<(String, String, Vec<u8>)> {
    let elf = object::File::parse(bytes).unwrap();
    let changed = |name: &str| {
        [".symtab", ".strtab", ".symtab_shndx"].contains(&name) || name.starts_with(".rel")
    };
    let mut all = Vec::new();
    for section in elf.sections() {
        let name = section.name().unwrap().to_owned();
        if !changed(&name) {
            let kind = format!("{:?} {:?}", section.kind(), section.flags());
            all.push((name, kind, section.data().unwrap().to_vec()));
        }
    }
    all
}

fn redirected(object: &Path) -> Vec<u8> {
    let output = object.with_extension("redirected.o");
    run(tool().arg("--redirect").arg(object).arg("-o").arg(&output));
    std::fs::read(output).unwrap()
}

/// Compares an object with its redirected copy.
fn check(object: &Path, what: &str) {
    let old = std::fs::read(object).unwrap();
    let new = redirected(object);
    let functions = wrapped(object);
    let (before, after) = (references(&old), references(&new));
    assert_eq!(before.len(), after.len(), "{what}");
    let elf = object::File::parse(&*old).unwrap();
    let mut changed = 0;
    for (place, name) in &before {
        let target = elf.section_by_index(object::SectionIndex(place.1)).unwrap();
        let object::SectionFlags::Elf { sh_flags, .. } = target.flags() else {
            panic!("no section of ELF");
        };
        let loaded = sh_flags.contains(object::elf::SHF_ALLOC);
        let unwinding = place.0.starts_with(".eh_frame");
        let expected = if functions.contains(name) && loaded && !unwinding {
            changed += 1;
            format!("instr_wrap_{name}")
        } else {
            name.clone()
        };
        assert_eq!(after[place], expected, "{what}: {place:x?}");
    }
    assert!(
        changed >= functions.len(),
        "{what}: {changed} references, {functions:?}"
    );
    assert_eq!(sections(&old), sections(&new), "{what}");
    assert_eq!(old[..64], new[..64], "{what}: the ELF header changed");
    let again = redirect(object, &new, &Api::builtin()).unwrap();
    assert!(
        again.bytes == new && again.renamed.is_empty(),
        "{what}: the second time changed something"
    );
}

#[test]
fn objects_of_every_compiler() {
    let directory = scratch();
    for toolchain in ALL {
        for name in ["direct.c", "constructs.c"] {
            let object = toolchain.compile(&source(name), directory.path());
            check(&object, &format!("{} {name}", toolchain.name));
            let (old, _) = nm_undefined(toolchain.nm, &object);
            let (new, _) = nm_undefined(toolchain.nm, &object.with_extension("redirected.o"));
            let expected = wrapped(&object)
                .iter()
                .map(|name| format!("instr_wrap_{name}"))
                .chain(old)
                .collect();
            assert_eq!(
                new, expected,
                "{} {name}: nm reads other symbols",
                toolchain.name
            );
        }
    }
}

#[test]
fn section_groups_and_fortran() {
    let directory = scratch();
    for toolchain in [&GCC, &GCC_SECTIONS, &V8_PIC, &V9] {
        for name in ["templates.cpp", "loops.f90"] {
            check(
                &toolchain.compile(&source(name), directory.path()),
                &format!("{} {name}", toolchain.name),
            );
        }
    }
}

/// binutils copy the redirected object with all its relocations, and merge it.
#[test]
fn other_tools_read_the_object_as_well() {
    let directory = scratch();
    for (toolchain, prefix) in [
        (&GCC, ""),
        (&CLANG, ""),
        (&V8_PIC, "sparc64-linux-gnu-"),
        (&V9, "sparc64-linux-gnu-"),
    ] {
        let object = toolchain.compile(&source("direct.c"), directory.path());
        let new = object.with_extension("new.o");
        run(tool().arg("--redirect").arg(&object).arg("-o").arg(&new));
        let copy = object.with_extension("copy.o");
        run(Command::new(format!("{prefix}objcopy"))
            .arg(&new)
            .arg(&copy));
        let list = |file: &Path| {
            let text = run(Command::new(format!("{prefix}objdump")).arg("-r").arg(file)).stdout;
            String::from_utf8(text)
                .unwrap()
                .lines()
                .skip(2)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(list(&copy), list(&new), "{}", toolchain.name);
        let merged = object.with_extension("merged.o");
        let (driver, flags) = toolchain.cc.split_first().unwrap();
        run(Command::new(driver)
            .args(flags)
            .args(["-nostdlib", "-r", "-o"])
            .arg(&merged)
            .arg(&new));
        let functions = wrapped(&object);
        let (undefined, _) = nm_undefined(toolchain.nm, &merged);
        assert!(
            functions
                .iter()
                .all(|name| undefined.contains(&format!("instr_wrap_{name}"))),
            "{}",
            toolchain.name
        );
    }
}

#[test]
fn clang_objects_keep_their_address_significance_table() {
    let directory = scratch();
    let object = CLANG.compile(&source("direct.c"), directory.path());
    let addrsig = |bytes: &[u8]| {
        sections(bytes)
            .into_iter()
            .find(|(name, ..)| name == ".llvm_addrsig")
    };
    let old = addrsig(&std::fs::read(&object).unwrap());
    assert!(old.is_some(), "clang wrote no .llvm_addrsig");
    assert_eq!(addrsig(&redirected(&object)), old);
}

#[test]
fn sparc_double_part_relocations_keep_their_second_addend() {
    let directory = scratch();
    let text = directory.path().join("olo10.s");
    std::fs::write(
        &text,
        ".text\nldx [%g1 + %lo(GOMP_barrier) + 8], %g2\ncall GOMP_barrier\nnop\n",
    )
    .unwrap();
    let object = directory.path().join("olo10.o");
    run(Command::new("sparc64-linux-gnu-as")
        .args(["-64", "-Av9"])
        .arg(&text)
        .arg("-o")
        .arg(&object));
    let new = redirected(&object);
    std::fs::write(&object, &new).unwrap();
    let listing = String::from_utf8(
        run(Command::new("sparc64-linux-gnu-readelf")
            .arg("-rW")
            .arg(&object))
        .stdout,
    )
    .unwrap();
    assert!(listing.contains("R_SPARC_OLO10"), "{listing}");
    let line = listing
        .lines()
        .find(|line| line.contains("R_SPARC_OLO10"))
        .unwrap();
    assert!(line.contains("instr_wrap_GOMP_barrier + 0 + 8"), "{line}");
}

/// More than 65,280 sections: symbols have their section numbers in a table of their own.
#[test]
fn objects_with_extended_section_numbers() {
    let directory = scratch();
    let text = directory.path().join("many.s");
    let mut source =
        String::from(".text\n.globl start\nstart: call GOMP_barrier\n call GOMP_taskwait\n");
    for number in 0..66_000 {
        source += &format!(".section .text.f{number},\"ax\"\n.globl f{number}\nf{number}: ret\n");
    }
    std::fs::write(&text, source + ".text\n jmp GOMP_barrier\n.quad f65999\n").unwrap();
    let object = directory.path().join("many.o");
    run(Command::new("as").arg(&text).arg("-o").arg(&object));
    let output = directory.path().join("new.o");
    run(tool().arg("--redirect").arg(&object).arg("-o").arg(&output));
    let read = |file: &Path| {
        String::from_utf8(run(Command::new("readelf").arg("-sW").arg(file)).stdout).unwrap()
    };
    let (old, new) = (read(&object), read(&output));
    let symbols = |text: &str| {
        text.lines()
            .filter(|line| line.contains(" f"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(symbols(&old).len(), 66_000);
    assert_eq!(symbols(&old), symbols(&new));
    let relocations =
        String::from_utf8(run(Command::new("readelf").arg("-rW").arg(&output)).stdout).unwrap();
    assert_eq!(
        relocations.matches("instr_wrap_GOMP_barrier").count(),
        2,
        "{relocations}"
    );
    assert_eq!(
        relocations.matches("instr_wrap_GOMP_taskwait").count(),
        1,
        "{relocations}"
    );
    // The linker reads it as well.
    let linked = directory.path().join("linked");
    let symbols = ["GOMP_barrier", "GOMP_taskwait"].map(|name| {
        [
            format!("--defsym=instr_wrap_{name}=0x400000"),
            format!("--defsym={name}=0x500000"),
        ]
    });
    run(Command::new("ld")
        .args(symbols.as_flattened())
        .args(["-e", "start"])
        .arg(&output)
        .arg("-o")
        .arg(&linked));
}

#[test]
fn without_references_the_object_stays_as_it_is() {
    let directory = scratch();
    let file = directory.path().join("plain.c");
    std::fs::write(
        &file,
        "int printf(const char *, ...); int main(void) { return printf(\"x\"); }",
    )
    .unwrap();
    let object = GCC.compile(&file, directory.path());
    assert_eq!(redirected(&object), std::fs::read(&object).unwrap());
}

#[test]
fn an_object_that_defines_the_stub_is_left_alone() {
    let directory = scratch();
    let object = GCC.compile(&source("direct.c"), directory.path());
    let stubs = directory.path().join("stubs.c");
    run(tool()
        .args(["--emit-stubs", "--linkage=rename", "-o"])
        .arg(&stubs)
        .arg(&object));
    let stubs = GCC.compile(&stubs, directory.path());
    assert_eq!(redirected(&stubs), std::fs::read(&stubs).unwrap());
}

#[test]
fn the_output_may_be_the_input_and_keeps_its_permissions() {
    let directory = scratch();
    let object = GCC.compile(&source("direct.c"), directory.path());
    let expected = redirected(&object);
    std::fs::set_permissions(&object, std::fs::Permissions::from_mode(0o640)).unwrap();
    run(tool().arg("--redirect").arg(&object).arg("-o").arg(&object));
    assert_eq!(std::fs::read(&object).unwrap(), expected);
    assert_eq!(
        std::fs::metadata(&object).unwrap().permissions().mode() & 0o777,
        0o640
    );
    let left: Vec<PathBuf> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(left.len(), 2, "temporary files stay behind: {left:?}");
}
