//! Damaged files give errors or fewer names, never a panic.

mod common;

use common::*;
use instr_symtab::{Error, Image};

/// Asks everything there is to ask.
fn exercise(bytes: &[u8], addresses: &[u64]) -> bool {
    let Ok(image) = Image::parse(bytes) else {
        return false;
    };
    for &address in addresses {
        let _ = image.lookup(address);
        let _ = (image.symbol(address), image.data_symbol(address));
    }
    let _ = (
        image.wants(),
        image.build_id(),
        image.debug_link(),
        image.debug_error(),
        image.symbols_named("main"),
    );
    true
}

/// Programs of several kinds together with addresses inside of them.
fn programs() -> Vec<(Vec<u8>, Vec<u64>)> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("openmp.c"), OPENMP).expect("the source is written");
    let mut programs = Vec::new();
    let mut targets = gcc_targets();
    targets.retain(|target| target.name != "sparc32");
    for target in targets {
        for flags in [
            &["-g", "-O2", "-fopenmp", "-c"][..],
            &["-g", "-O2", "-fopenmp", "-gz=zlib"],
            &["-g", "-gdwarf-4", "-fopenmp"],
        ] {
            let path = target.compile(folder.path(), "openmp.c", flags, "program");
            let addresses = functions(&target, &path)
                .iter()
                .flat_map(|&(_, a, size)| [a, a + size / 2])
                .collect();
            programs.push((std::fs::read(path).expect("the program"), addresses));
        }
    }
    programs
}

#[test]
fn truncated_files() {
    for (bytes, addresses) in programs() {
        let mut accepted = 0;
        for cut in 0..200 {
            accepted += usize::from(exercise(&bytes[..bytes.len() * cut / 200], &addresses));
        }
        for cut in 0..65 {
            exercise(&bytes[..cut], &addresses);
        }
        // The section headers are at the end: without them there is nothing to read.
        assert!(accepted < 200);
        assert!(exercise(&bytes, &addresses));
    }
}

#[test]
fn flipped_bytes() {
    let programs = programs();
    let mut random = Random(0x5EED);
    let mut accepted = 0;
    for round in 0..5000 {
        let (bytes, addresses) = &programs[round % programs.len()];
        let mut bytes = bytes.clone();
        for _ in 0..1 + random.below(8) {
            // Half of the flips hit the headers, symbols and debug sections rather than code and padding.
            let half = bytes.len() / 2;
            let at = if random.below(2) == 0 {
                random.below(bytes.len())
            } else {
                half + random.below(bytes.len() - half)
            };
            bytes[at] ^= 1 << random.below(8);
        }
        accepted += usize::from(exercise(&bytes, addresses));
    }
    assert!(
        accepted > 1000,
        "most flips leave something to read: {accepted}"
    );
}

/// Every kind of change of every byte of a very small program; `instr-fuzz sweep` does it for all kinds of programs.
#[test]
fn each_byte_of_a_small_program_in_turn() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = "volatile int sink;\nstatic inline __attribute__((always_inline)) int leaf(int x) { sink = x; return x + sink; }\n\
                  void _start(void) { for (;;) sink = leaf(leaf(sink)); }\n";
    std::fs::write(folder.path().join("tiny.c"), source).expect("the source is written");
    let flags = ["-g", "-O2", "-nostdlib", "-static", "-Wl,-N"];
    let path = X86_64.compile(folder.path(), "tiny.c", &flags, "tiny");
    let start = functions(&X86_64, &path)[0].1;
    let addresses = [start, start + 7];
    let original = std::fs::read(path).expect("the program");
    assert!(original.len() < 4096, "{} bytes", original.len());
    for len in 0..original.len() {
        exercise(&original[..len], &addresses);
    }
    let mut accepted = 0;
    for at in 0..original.len() {
        for change in [1, 0x80, 0xFF] {
            let mut bytes = original.clone();
            bytes[at] ^= change;
            accepted += usize::from(exercise(&bytes, &addresses));
        }
    }
    assert!(
        accepted > original.len(),
        "most changes leave something to read: {accepted}"
    );
}

#[test]
fn what_is_not_elf_is_refused() {
    for bytes in [
        &b""[..],
        b"\x7fELF",
        b"MZ",
        b"!<arch>\n",
        b"#!/bin/sh\n",
        b"\x7fELF\x02\x01\x01",
    ] {
        assert!(
            matches!(Image::parse(bytes), Err(Error::NotElf | Error::BadElf(_))),
            "{bytes:?}"
        );
    }
}

#[test]
fn a_compressed_section_that_claims_too_much_is_not_believed() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("inlines.c"), INLINES).expect("the source is written");
    let path = X86_64.compile(
        folder.path(),
        "inlines.c",
        &["-g", "-O2", "-gz=zlib"],
        "program",
    );
    let mut bytes = std::fs::read(&path).expect("the program");
    assert_eq!(
        Image::parse(&bytes).expect("the program").debug_error(),
        None
    );
    // Elf64_Chdr: type 1 (zlib), reserved, size, alignment, then zlib's header.
    let mut headers = Vec::new();
    for at in (0..bytes.len() - 26).filter(|at| at % 8 == 0) {
        if bytes[at..at + 8] == [1, 0, 0, 0, 0, 0, 0, 0] && bytes[at + 24] == 0x78 {
            headers.push(at);
        }
    }
    let unaligned = (0..bytes.len() - 26)
        .filter(|&at| bytes[at..at + 8] == [1, 0, 0, 0, 0, 0, 0, 0] && bytes[at + 24] == 0x78);
    headers.extend(unaligned);
    assert!(!headers.is_empty());
    for at in headers {
        bytes[at + 8..at + 16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    }
    let image = Image::parse(&bytes).expect("the rest of it");
    let error = image.debug_error().expect("says so");
    assert!(error.contains("claims 1099511627776 bytes"), "{error}");
    let outer = image.symbols_named("outer").remove(0);
    let answer = image.lookup(outer.address);
    assert_eq!(
        (answer.frames.len(), answer.line, answer.offset),
        (1, None, Some(0))
    );
}
