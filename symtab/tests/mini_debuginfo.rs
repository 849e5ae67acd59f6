//! Stripped programs whose symbols are packed into `.gnu_debugdata`, made the way Fedora's `find-debuginfo` does.

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::*;
use instr_symtab::SymbolKind;

/// Names of `nm`'s lines.
fn names(target: &Target, folder: &Path, arguments: &[&str]) -> BTreeSet<String> {
    let out = run(folder, &format!("{}nm", target.binutils), arguments);
    out.lines()
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

/// Strips `program` in `folder` and packs the names of functions that are not dynamic symbols.
fn pack(target: &Target, folder: &Path) -> PathBuf {
    let objcopy = format!("{}objcopy", target.binutils);
    let dynamic = names(
        target,
        folder,
        &["-D", "program", "--format=posix", "--defined-only"],
    );
    let all = run(
        folder,
        &format!("{}nm", target.binutils),
        &["program", "--format=posix", "--defined-only"],
    );
    let functions: String = all
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            let (name, kind) = (fields.next()?, fields.next()?);
            ("tT".contains(kind) && !dynamic.contains(name)).then(|| format!("{name}\n"))
        })
        .collect();
    std::fs::write(folder.join("keep"), functions).expect("the names are written");
    run(folder, &objcopy, &["--only-keep-debug", "program", "debug"]);
    run(
        folder,
        &objcopy,
        &[
            "-S",
            "--remove-section",
            ".gdb_index",
            "--remove-section",
            ".comment",
            "--keep-symbols=keep",
            "debug",
            "mini",
        ],
    );
    run(folder, "xz", &["-k", "mini"]);
    let add = [
        "--strip-all",
        "--add-section",
        ".gnu_debugdata=mini.xz",
        "program",
        "stripped",
    ];
    run(folder, &objcopy, &add);
    folder.join("stripped")
}

#[test]
fn packed_names_join_the_dynamic_ones() {
    if !instr_test_needs::has("xz") {
        return;
    }
    for target in gcc_targets() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
        let flags = ["-g", "-O2", "-rdynamic"];
        let program = target.compile(folder.path(), "inlines.c", &flags, "program");
        let stripped = pack(&target, folder.path());
        assert_eq!(
            names(&target, folder.path(), &["stripped"]),
            BTreeSet::new()
        );
        let (whole, stripped) = (image(&program), image(&stripped));
        // `cloned` is local: it can only come from the packed table; `outer` and `main` only from the dynamic one.
        let mut seen = BTreeSet::new();
        for symbol in whole.symbols_where(|_| true) {
            if symbol.kind != SymbolKind::Function || symbol.size == 0 {
                continue;
            }
            for address in [symbol.address, symbol.address + symbol.size - 1] {
                let (a, b) = (whole.lookup(address), stripped.lookup(address));
                assert_eq!(a.function, b.function, "{} {}", target.name, symbol.raw);
                assert_eq!(a.offset, b.offset, "{} {}", target.name, symbol.raw);
                assert_eq!(b.line, None);
            }
            seen.insert(symbol.raw);
        }
        assert!(seen.contains("outer") && seen.contains("main"), "{seen:?}");
        assert!(
            seen.iter().any(|name| name.starts_with("cloned")),
            "{seen:?}"
        );
        let twice = stripped.symbols_where(|name| name == b"outer");
        assert_eq!(twice.len(), 1, "{twice:?}");
    }
}

#[test]
fn a_damaged_packed_table_leaves_the_dynamic_names() {
    if !instr_test_needs::has("xz") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
    let flags = ["-O2", "-rdynamic"];
    let program = X86_64.compile(folder.path(), "inlines.c", &flags, "program");
    let outer = image(&program).symbols_named("outer").remove(0);
    let stripped = std::fs::read(pack(&X86_64, folder.path())).expect("the stripped program");
    let start = b"\xfd7zXZ\0";
    let at = stripped
        .windows(start.len())
        .position(|bytes| bytes == start)
        .expect("the packed table");
    for offset in 0..400 {
        let mut bytes = stripped.clone();
        if let Some(byte) = bytes.get_mut(at + offset) {
            *byte ^= 0x55;
        }
        let answer = instr_symtab::Image::parse(&bytes)
            .expect("the file itself is whole")
            .lookup(outer.address);
        let name = answer.function.as_ref().map(|name| &*name.raw);
        assert_eq!(name, Some("outer"), "byte {offset}");
    }
}

#[test]
fn a_packed_table_of_endless_zeros_is_refused() {
    if !instr_test_needs::has("xz") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
    X86_64.compile(folder.path(), "inlines.c", &["-s", "-rdynamic"], "program");
    // 256 MiB of zeros in 40 KB.
    let make = "head -c 268435456 /dev/zero | xz -0 > bomb.xz";
    run(folder.path(), "sh", &["-c", make]);
    let add = ["--add-section", ".gnu_debugdata=bomb.xz", "program", "bomb"];
    run(folder.path(), "objcopy", &add);
    let image = image(&folder.path().join("bomb"));
    assert_eq!(image.symbols_named("outer").len(), 1);
}
