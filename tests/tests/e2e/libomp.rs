//! Conformance programs of clang run with other releases of LLVM's libomp, which `scripts/libomp-versions.sh` fetches: each in a folder of its own below
//! `INSTR_TEST_LIBOMP`. Without it there is no such test.

use std::path::PathBuf;

use instr_tests::cases::{self, Case};
use instr_tests::outcome::{stopped, trial};
use instr_tests::toolchain::{Family, Target};
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let libraries = libraries();
    if libraries.is_empty() {
        return Vec::new();
    }
    let chosen = |case: &Case| {
        let (_, family, target) = case.identity();
        family == Family::Clang && target == Target::X86_64
    };
    match cases::conformance() {
        Ok(cases) => {
            let cases = cases.into_iter().filter(chosen);
            let run = |case: Case| {
                let libraries = libraries.clone();
                let name = format!("libomp::{}", case.identity().0.replace('.', "_"));
                trial(name, move || case.run_with(&libraries))
            };
            cases.map(run).collect()
        }
        Err(stop) => vec![stopped("libomp::directives", stop)],
    }
}

/// The releases, by name.
fn libraries() -> Vec<(String, PathBuf)> {
    let Some(folder) = std::env::var_os("INSTR_TEST_LIBOMP") else {
        return Vec::new();
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path());
    let folders = folders.filter(|path| path.join("libomp.so.5").is_file());
    let name = |path: &PathBuf| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    let mut found: Vec<(String, PathBuf)> = folders
        .filter_map(|path| Some((name(&path)?, path)))
        .collect();
    found.sort();
    found
}
