//! Names of C++ as `c++filt` spells them, on all symbols of large libraries.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::run;
use instr_symtab::demangle;

/// A library of the system by the first letters of its name.
fn library(name: &str) -> Option<PathBuf> {
    let folder = Path::new("/usr/lib/x86_64-linux-gnu");
    let entries = std::fs::read_dir(folder).ok()?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            path.file_name()
                .is_some_and(|file| file.to_string_lossy().starts_with(name))
        })
        .collect();
    found.sort();
    found.into_iter().next()
}

/// What `c++filt -i` (the words of `addr2line -C`) makes of the names, one a line.
fn filtered(names: &[String]) -> Vec<String> {
    let mut filter = Command::new("c++filt")
        .arg("-i")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("c++filt starts");
    let mut input = filter.stdin.take().expect("a pipe");
    let text = names.join("\n") + "\n";
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let out = filter.wait_with_output().expect("c++filt ends");
    writer
        .join()
        .expect("no panic")
        .expect("the names are written");
    String::from_utf8_lossy(&out.stdout)
        .lines()
        .map(str::to_owned)
        .collect()
}

/// How many of how many names of a library are spelled alike.
fn agreement(library: &Path) -> (usize, usize) {
    let path = library.to_str().expect("plain path");
    let out = run(
        Path::new("/"),
        "nm",
        &["-D", "--format=posix", "--without-symbol-versions", path],
    );
    let mut names: Vec<String> = out
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| name.starts_with("_Z"))
        .map(str::to_owned)
        .collect();
    names.sort();
    names.dedup();
    let theirs = filtered(&names);
    assert_eq!(theirs.len(), names.len());
    let equal = |(name, theirs): &(&String, &String)| demangle(name.as_bytes()) == ***theirs;
    (names.iter().zip(&theirs).filter(equal).count(), names.len())
}

#[test]
fn names_of_large_libraries_are_spelled_as_binutils_does() {
    // Measured: all but 46 of 74,759. See docs/decisions/0007-demangler.md.
    for name in ["libstdc++.so.6", "libLLVM", "libclang-cpp.so"] {
        let Some(library) = library(name) else {
            instr_test_needs::skipped(&format!("there is no {name}"));
            continue;
        };
        let (equal, all) = agreement(&library);
        println!("{name}: {equal} of {all}");
        assert!(equal * 1000 >= all * 998, "{name}: {equal} of {all}");
    }
}

#[test]
fn clones_of_cpp_functions_are_spelled_as_binutils_does() {
    let names = [
        "_Z3foov.cold",
        "_Z3foov.part.0",
        "_Z3foov.isra.0",
        "_Z3foov.constprop.0.isra.1",
        "_Z3foov.part.0.cold",
        "_Z3foov.lto_priv.0",
        "_Z3foov.constprop.3.cold",
        "_Z3foov._omp_fn.0",
        "_ZTV1A",
        "_ZThn8_N1A1fEv",
        "_Z1fILl3EEvv",
        // Constructor templates, also inside others; variables, lambdas and classes in function templates.
        "_ZN1AC2IiEEiT_",
        "_ZNSt6threadC1IRFviEJRiEvEEOT_DpOT0_",
        "_ZZN1AC1IiEET_ENKUlvE_clEv",
        "_ZZ1fIiEvT_E1x",
        "_ZGVZ1fIiEvT_E1x",
        "_ZNK1A1fIJicEEEvDpOT_",
    ];
    let names = names.map(str::to_owned).to_vec();
    for (name, theirs) in names.iter().zip(filtered(&names)) {
        assert_eq!(demangle(name.as_bytes()), theirs, "{name}");
    }
}
