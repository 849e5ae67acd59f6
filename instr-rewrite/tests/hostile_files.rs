//! Files cut, damaged or made to mislead: an error or a result, never a panic, never a wrong object.

mod common;

use common::{CLANG, GCC, V8, V9, run, scratch, source, tool};
use instr_rewrite::Api;
use instr_rewrite::redirect::{RedirectErrorKind, redirect};
use instr_rewrite::scan::Source;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A small generator of pseudo-random numbers (xorshift64*), so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }
}

/// Small objects of both word sizes and byte orders, and an archive.
fn samples() -> Vec<(String, Vec<u8>)> {
    let directory = scratch();
    let mut samples = Vec::new();
    for toolchain in [&GCC, &CLANG, &V8, &V9] {
        let object = toolchain.compile(&source("direct.c"), directory.path());
        samples.push((toolchain.name.to_owned(), std::fs::read(&object).unwrap()));
    }
    let archive = directory.path().join("library.a");
    let member = directory.path().join("direct-gcc.o");
    let longer = directory.path().join("a_member_with_a_long_name.o");
    std::fs::copy(&member, &longer).unwrap();
    run(Command::new("ar")
        .arg("rcs")
        .arg(&archive)
        .args([&member, &longer]));
    samples.push(("archive".to_owned(), std::fs::read(&archive).unwrap()));
    samples
}

#[test]
fn every_truncation_is_refused() {
    let api = Api::builtin();
    for (name, bytes) in samples() {
        let boundaries = member_ends(&bytes);
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            // Cut between two members, an archive is one with fewer members.
            let complete = boundaries.contains(&length);
            let source = Source::of(Path::new("cut"), cut);
            let scanned = source.scan().is_ok_and(|inputs| inputs.refused.is_empty());
            assert_eq!(scanned, complete, "{name} cut at {length}");
            let redirected = redirect(Path::new("cut"), cut, &api).is_ok();
            assert_eq!(redirected, complete, "{name} cut at {length}");
        }
    }
}

/// Where the members of an archive end, with and without padding; nothing for an object.
fn member_ends(bytes: &[u8]) -> BTreeSet<usize> {
    let Ok(archive) = object::read::archive::ArchiveFile::parse(bytes) else {
        return BTreeSet::new();
    };
    let members = archive.members().map(|member| {
        let (start, size) = member.unwrap().file_range();
        (start as usize, size as usize)
    });
    let members: Vec<(usize, usize)> = members.collect();
    let first = members.iter().map(|member| member.0).min().unwrap() - 60;
    let mut ends = BTreeSet::from([8, first]);
    for table in [&b"/ "[..], b"// "] {
        // Symbol and name tables are read as members too.
        if let Some(at) = bytes
            .windows(table.len())
            .position(|window| window == table)
            .filter(|at| *at < first)
        {
            let size: usize = std::str::from_utf8(&bytes[at + 48..at + 58])
                .unwrap()
                .trim()
                .parse()
                .unwrap();
            ends.extend([at + 60 + size, (at + 60 + size).next_multiple_of(2)]);
        }
    }
    for (start, size) in members {
        let end = start + size;
        ends.extend([end, end.next_multiple_of(2)]);
    }
    ends
}

#[test]
fn damaged_bytes_never_panic_and_never_pass_the_check_wrongly() {
    let api = Api::builtin();
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut refused, mut failed_check, mut passed) = (0, 0, 0);
    for (name, bytes) in samples() {
        for _ in 0..1500 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(damaged.len());
                damaged[at] =
                    [0, 0xff, 1 << random.below(8), random.below(256) as u8][random.below(4)];
            }
            _ = Source::of(Path::new("damaged"), &damaged).scan();
            match redirect(Path::new("damaged"), &damaged, &api) {
                Ok(redirected) => {
                    let again = redirect(Path::new("again"), &redirected.bytes, &api);
                    assert!(
                        again.is_ok_and(|again| again.renamed.is_empty()),
                        "{name}: not stable"
                    );
                    passed += 1;
                }
                Err(error) if matches!(error.kind, RedirectErrorKind::Check(_)) => {
                    failed_check += 1
                }
                Err(_) => refused += 1,
            }
        }
    }
    assert!(
        refused > 100 && passed > 100,
        "{refused} refused, {failed_check} failed the check, {passed} passed"
    );
}

/// Where the section headers of an object begin.
fn section_table(bytes: &[u8]) -> usize {
    let is_64 = bytes[4] == 2;
    let field = if is_64 {
        &bytes[40..48]
    } else {
        &bytes[32..36]
    };
    let number = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
    let value = match bytes[5] {
        1 => field.iter().rev().fold(0, number),
        _ => field.iter().fold(0, number),
    };
    value as usize
}

/// Damage aimed at headers, where it matters most.
#[test]
fn damaged_section_headers_never_panic() {
    let api = Api::builtin();
    let mut random = Random(99);
    for (name, bytes) in samples().into_iter().filter(|(name, _)| name != "archive") {
        let start = section_table(&bytes);
        for _ in 0..2000 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = if random.below(8) == 0 {
                    random.below(64)
                } else {
                    start + random.below(bytes.len() - start)
                };
                damaged[at] = [0, 1, 0x7f, 0xff, random.below(256) as u8][random.below(5)];
            }
            _ = Source::of(Path::new(&name), &damaged).scan();
            _ = redirect(Path::new(&name), &damaged, &api);
        }
    }
}

/// A name of a megabyte shared by all symbols would be a terabyte of names.
#[test]
fn overlapping_names_are_refused() {
    let directory = scratch();
    let text = directory.path().join("names.s");
    let symbols: String = (0..20_000)
        .map(|number| format!(".globl s{number}\ns{number}:\n"))
        .collect();
    let long = "x".repeat(100_000);
    std::fs::write(&text, format!(".globl {long}\n{long}:\n{symbols}")).unwrap();
    let object = directory.path().join("names.o");
    run(Command::new("as").arg(&text).arg("-o").arg(&object));
    let mut bytes = std::fs::read(&object).unwrap();
    let elf = object::File::parse(&*bytes).unwrap();
    let is_long = |symbol: &object::Symbol<'_, '_>| symbol.name_bytes().unwrap().len() == 100_000;
    let number = elf.symbols().find(is_long).unwrap().index().0;
    let is_table = |section: &object::Section<'_, '_>| {
        matches!(section.flags(), object::SectionFlags::Elf { .. })
            && section.name() == Ok(".symtab")
    };
    let table = elf.sections().find(is_table).unwrap().file_range().unwrap();
    let table = table.0 as usize..(table.0 + table.1) as usize;
    let name = bytes[table.start + 24 * number..][..4].to_vec();
    for entry in table.step_by(24).skip(1) {
        bytes[entry..entry + 4].copy_from_slice(&name);
    }
    let source = Source::of(Path::new("names.o"), &bytes);
    let error = source.scan().unwrap_err();
    assert_eq!(
        error.to_string(),
        "names.o: truncated or malformed: names of symbols overlap"
    );
}

#[test]
fn strange_files_get_one_clear_error_and_nothing_is_written() {
    let directory = scratch();
    let path = |name: &str| directory.path().join(name);
    let object = GCC.compile(&source("direct.c"), directory.path());
    let good = std::fs::read(&object).unwrap();
    let mut arm = good.clone();
    arm[18] = 40; // EM_ARM
    let mut little = std::fs::read(V9.compile(&source("direct.c"), directory.path())).unwrap();
    little[18..20].copy_from_slice(&[0, 62]);
    run(Command::new("gcc")
        .args(["-flto", "-fno-fat-lto-objects", "-c"])
        .arg(source("direct.c"))
        .arg("-o")
        .arg(path("slim.o")));
    run(Command::new("gcc")
        .args(["-flto", "-ffat-lto-objects", "-c"])
        .arg(source("direct.c"))
        .arg("-o")
        .arg(path("fat.o")));
    run(Command::new("clang")
        .args(["-flto", "-c"])
        .arg(source("direct.c"))
        .arg("-o")
        .arg(path("bitcode.o")));
    run(Command::new("ar")
        .arg("rc")
        .arg(path("mixed.a"))
        .args([&object, &path("slim.o")]));
    let cases: [(&str, &[u8], &str); 6] = [
        (
            "empty.o",
            b"",
            "empty.o: not an ELF object, archive, shared object or executable (the file is empty)",
        ),
        (
            "text.o",
            b"INPUT(libc.so.6)\n",
            "text.o: not an ELF object, archive, shared object or executable (it looks like text)",
        ),
        (
            "noise.o",
            b"\x01\x02\x03\x04",
            "noise.o: not an ELF object, archive, shared object or executable (unknown magic number)",
        ),
        (
            "arm.o",
            &arm,
            "arm.o: objects for ARM (ELF machine 40) are not supported",
        ),
        (
            "flavor.o",
            &little,
            "flavor.o: x86-64 with 64-bit big-endian data is not supported",
        ),
        (
            "cut.o",
            &good[..good.len() - 1],
            "cut.o: truncated or malformed: ",
        ),
    ];
    for (name, bytes, _) in &cases {
        std::fs::write(path(name), bytes).unwrap();
    }
    let made = [
        (
            "slim.o",
            "slim.o: holds only intermediate code of GCC's link-time optimizer",
        ),
        ("bitcode.o", "bitcode.o: holds only LLVM bitcode"),
        ("mixed.a", "mixed.a(slim.o): holds only intermediate code"),
        ("missing.o", "missing.o: cannot read: No such file"),
    ];
    let all = cases
        .iter()
        .map(|(name, _, message)| (*name, *message))
        .chain(made);
    for (name, message) in all {
        for action in ["--emit-wrap-flags", "--emit-stubs", "--list", "--redirect"] {
            let output = path("output");
            let result = tool()
                .current_dir(directory.path())
                .arg(action)
                .arg(name)
                .arg("-o")
                .arg(&output)
                .output()
                .unwrap();
            let stderr = String::from_utf8(result.stderr).unwrap();
            assert_eq!(result.status.code(), Some(1), "{name} {action}: {stderr}");
            assert_eq!(stderr.lines().count(), 1, "{name} {action}: {stderr}");
            assert!(stderr.starts_with("instr-rewrite: error: "), "{stderr}");
            assert!(
                stderr.contains(message),
                "{name} {action}: {stderr}\nexpected {message}"
            );
            assert!(!output.exists(), "{name} {action}");
        }
    }
    run(tool().arg("--emit-wrap-flags").arg(path("fat.o")));
}

#[test]
fn several_bad_files_are_all_reported() {
    let directory = scratch();
    for name in ["one", "two"] {
        std::fs::write(directory.path().join(name), "text").unwrap();
    }
    let result = tool()
        .current_dir(directory.path())
        .args(["--list", "one", "two"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(result.stderr).unwrap().lines().count(), 2);
    assert_eq!(result.status.code(), Some(1));
    assert!(result.stdout.is_empty());
}

#[test]
fn messages_say_what_where_and_why_once() {
    let directory = scratch();
    let object = GCC.compile(&source("templates.cpp"), directory.path());
    std::fs::write(
        directory.path().join("bad.rs"),
        "extern \"C\" { fn f(x: Missing); }",
    )
    .unwrap();
    let program = env!("CARGO_BIN_EXE_instr-rewrite");
    let object = object.to_str().unwrap();
    let cases = [
        (vec!["--redirect", program, "-o", "x"], format!("{program}: only relocatable objects and archives of them can be redirected, this is an executable")),
        (vec!["--redirect", object, "-o", "no/x"], "cannot write no/x: No such file or directory (os error 2)".to_owned()),
        (vec!["--list", object, "--api", "none.rs"], "cannot read none.rs: No such file or directory (os error 2)".to_owned()),
        (vec!["--list", object, "--api", "/dev/zero"], "cannot read /dev/zero: 1048577 bytes, at most 1048576 are allowed".to_owned()),
        (vec!["--list", object, "--api", "bad.rs"], "bad.rs:1:22: unknown type `Missing`; declare it here (`struct Missing;`) if it is opaque".to_owned()),
    ];
    for (arguments, message) in cases {
        let result = tool()
            .current_dir(directory.path())
            .args(&arguments)
            .output()
            .unwrap();
        let stderr = String::from_utf8(result.stderr).unwrap();
        assert_eq!(stderr, format!("instr-rewrite: error: {message}\n"));
        assert_eq!(result.status.code(), Some(1), "{arguments:?}");
    }
}

#[test]
fn wrong_usage_is_status_two() {
    for arguments in [
        &["--list"][..],
        &["x.o"],
        &["--list", "--emit-stubs", "x.o"],
        &["--redirect", "x.o"],
        &["--redirect", "a", "b", "-o", "c"],
    ] {
        assert_eq!(
            tool().args(arguments).output().unwrap().status.code(),
            Some(2),
            "{arguments:?}"
        );
    }
    assert_eq!(
        tool().arg("--help").output().unwrap().status.code(),
        Some(0)
    );
}

#[test]
fn endless_and_special_files_are_refused() {
    for action in ["--list", "--redirect"] {
        let result = tool()
            .args([action, "/dev/zero", "-o", "-"])
            .output()
            .unwrap();
        assert_eq!(result.status.code(), Some(1));
        let stderr = String::from_utf8(result.stderr).unwrap();
        assert!(
            stderr.contains("/dev/zero") && stderr.contains("not a regular file"),
            "{stderr}"
        );
    }
}
