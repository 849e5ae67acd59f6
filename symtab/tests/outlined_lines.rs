//! The start of an outlined OpenMP function is its directive's line.

mod common;

use common::*;
use instr_symtab::{critical_name, parse_outlined};

#[test]
fn outlined_functions_start_at_their_directive() {
    for target in gcc_targets() {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("openmp.c"), OPENMP).expect("the source is written");
            let program = target.compile(
                folder.path(),
                "openmp.c",
                &["-g", level, "-fopenmp"],
                "program",
            );
            let image = image(&program);
            let bodies = image
                .symbols_where(|name| parse_outlined(&String::from_utf8_lossy(name)).is_some());
            assert_eq!(bodies.len(), 4, "{} {level}: {bodies:?}", target.name);
            for body in bodies {
                let answer = image.lookup(body.address);
                let expected = line_of(OPENMP, &format!("MARK {}", body.raw));
                assert_eq!(
                    answer.line,
                    Some(expected),
                    "{} {level} {}: {answer:?}",
                    target.name,
                    body.raw
                );
                assert_eq!(answer.offset, Some(0));
                assert!(
                    answer
                        .file
                        .as_ref()
                        .is_some_and(|file| file.ends_with("/openmp.c")),
                    "{answer:?}"
                );
                assert_eq!(
                    answer.function.as_ref().map(|name| &*name.raw),
                    Some(&*body.raw)
                );
                assert_eq!(answer.frames.len(), 1);
            }
        }
    }
}

/// GCC 12 writes a line of the nested task, then the region's, at the first instruction of `tasks._omp_fn.0` with -O2.
const NESTED: &str = include_str!("programs/openmp.c");

#[test]
fn statements_that_were_moved_up_do_not_hide_the_directive() {
    let lines: Vec<&str> = NESTED.lines().collect();
    for target in gcc_targets() {
        for level in ["-O1", "-O2", "-O3"] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("nested.c"), NESTED).expect("the source is written");
            let flags = ["-g", level, "-fopenmp"];
            let program = target.compile(folder.path(), "nested.c", &flags, "program");
            let image = image(&program);
            let bodies = image.symbols_where(|name| {
                parse_outlined(&String::from_utf8_lossy(name))
                    .is_some_and(|parts| parts.kind == instr_symtab::OutlinedKind::Body)
                    && !name.ends_with(b".cold")
            });
            assert!(bodies.len() >= 4, "{} {level}: {bodies:?}", target.name);
            for body in bodies {
                let line = image.lookup(body.address).line.expect("a line") as usize;
                assert!(
                    lines[line - 1].starts_with("#pragma omp"),
                    "{} {level} {}: line {line} is `{}`",
                    target.name,
                    body.raw,
                    lines[line - 1]
                );
            }
        }
    }
}

#[test]
fn clangs_directives_stand_in_their_lines() {
    if !CLANG.is_installed() {
        return;
    }
    let lines: Vec<&str> = NESTED.lines().collect();
    for debug in ["-g", "-gline-tables-only", "-gdwarf-4"] {
        for level in ["-O0", "-O1", "-O2", "-O3"] {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("nested.c"), NESTED).expect("the source is written");
            let flags = [debug, level, "-fopenmp"];
            let image = image(&CLANG.compile(folder.path(), "nested.c", &flags, "program"));
            let bodies = image.symbols_where(|name| {
                parse_outlined(&String::from_utf8_lossy(name))
                    .is_some_and(|parts| parts.kind != instr_symtab::OutlinedKind::Copy)
            });
            assert!(bodies.len() >= 4, "{flags:?}: {bodies:?}");
            for body in bodies {
                let directive = image.directive(body.address).expect("a directive");
                let line = directive.line.expect("a line") as usize;
                let text = lines[line - 1];
                let what = format!("{flags:?} {}: line {line} is `{text}`", body.raw);
                assert!(text.trim_start().starts_with("#pragma omp"), "{what}");
            }
        }
    }
}

#[test]
fn named_criticals_are_found_by_the_address_of_their_word() {
    for target in gcc_targets() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("openmp.c"), OPENMP).expect("the source is written");
        let program = target.compile(folder.path(), "openmp.c", &["-g", "-fopenmp"], "program");
        let image = image(&program);
        let word = image.symbols_named(".gomp_critical_user_account").remove(0);
        let width = if target.name == "sparc32" { 4 } else { 8 };
        assert_eq!(word.size, width);
        let found = image
            .data_symbol(word.address + width - 1)
            .expect("the last byte belongs to it");
        assert_eq!(critical_name(&found.raw), Some("account"));
        assert_eq!(
            image
                .data_symbol(word.address.wrapping_sub(1))
                .filter(|s| s.raw == found.raw),
            None
        );
    }
}
