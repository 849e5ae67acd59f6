//! Every entry point of the libgomp that is installed is described, and every library routine that waits or hands out memory: by the
//! library's own symbol table.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use instr_rewrite::Api;

/// What `libgomp.so` defines, without versions; `None` where it or `nm` is missing.
fn symbols() -> Option<BTreeSet<String>> {
    let output = Command::new("gcc")
        .arg("-print-file-name=libgomp.so")
        .output()
        .ok()?;
    let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    let output = Command::new("nm")
        .args(["-D", "--defined-only", "--without-symbol-versions"])
        .arg(path.canonicalize().ok()?)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // A name of upper-case type A is a version node.
    let name = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, name) = (words.next()?, words.next()?);
        (kind != "A").then(|| name.to_owned())
    };
    Some(text.lines().filter_map(name).collect())
}

/// Of the library routines: locks and events in all spellings of Fortran, and memory (not the management of allocators).
fn told(symbol: &str) -> bool {
    let Some(routine) = symbol.strip_prefix("omp_") else {
        return symbol.starts_with("GOMP_") && !symbol.starts_with("GOMP_PLUGIN_");
    };
    let memory = [
        "alloc",
        "realloc",
        "calloc",
        "aligned_alloc",
        "aligned_calloc",
        "free",
    ];
    routine.contains("_lock")
        || routine.contains("_nest_lock")
        || routine.contains("event")
        || memory.contains(&routine)
}

#[test]
fn every_entry_point_of_the_installed_libgomp_is_described() {
    let Some(symbols) = symbols() else {
        return instr_test_needs::skipped("libgomp.so or nm is not installed");
    };
    let api = Api::builtin();
    let wanted: Vec<&String> = symbols.iter().filter(|symbol| told(symbol)).collect();
    assert!(wanted.len() > 150, "only {}: {wanted:?}", wanted.len());
    for name in [
        "omp_fulfill_event_",
        "omp_test_nest_lock_",
        "omp_realloc",
        "GOMP_doacross_ull_wait",
    ] {
        assert!(
            wanted.iter().any(|symbol| *symbol == name),
            "{name} was not looked at"
        );
    }
    let missing: Vec<_> = wanted
        .into_iter()
        .filter(|symbol| api.get(symbol).is_none())
        .collect();
    assert!(missing.is_empty(), "not described: {missing:?}");
}
