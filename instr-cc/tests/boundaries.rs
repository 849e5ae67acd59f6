//! Rules about the source that reviewers would have to defend otherwise.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

/// Files of `src` other than `allowed` that contain one of `words`.
fn offenders(words: &[&str], allowed: &str) -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&src, &mut files);
    assert!(files.len() > 10);
    files.retain(|f| *f != src.join(allowed));
    files.retain(|f| {
        let text = fs::read_to_string(f).unwrap();
        words.iter().any(|w| text.contains(w))
    });
    files
}

#[test]
fn processes_are_started_in_one_place() {
    let found = offenders(&["Command::new", "process::Command"], "exec.rs");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn standard_error_is_written_in_one_place() {
    let found = offenders(&["eprint", "io::stderr().write"], "say.rs");
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn planning_looks_at_no_file() {
    for file in [
        "plan.rs",
        "argv/mod.rs",
        "argv/table.rs",
        "shim/line.rs",
        "shim/context.rs",
    ] {
        let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(file))
            .unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        assert!(
            !code.contains("std::fs") && !code.contains("std::env"),
            "{file}"
        );
    }
}
