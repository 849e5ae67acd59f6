//! Where the documents are that help texts and messages name as `docs/NAME.md`.

use std::path::{Path, PathBuf};

/// The folder that holds `docs/`: of the installation this program belongs to, or of the sources it was built from. Nothing when the
/// program stands alone, as `cargo install` leaves it.
#[must_use]
pub fn folder() -> Option<PathBuf> {
    folder_of(&std::env::current_exe().ok()?)
}

/// `PREFIX/bin/PROGRAM` has them in `PREFIX/share/doc/instr`, `target/release/PROGRAM` beside `target`.
fn folder_of(program: &Path) -> Option<PathBuf> {
    let bin = program.parent()?;
    ["../share/doc/instr", "../.."]
        .iter()
        .filter_map(|way| bin.join(way).canonicalize().ok())
        .find(|folder| folder.join("docs/environment.md").is_file())
}

/// The line that ends a help text in which documents are named; empty when they are not here.
#[must_use]
pub fn note() -> String {
    let line = |folder: PathBuf| format!("Files named docs/... are below {}.", folder.display());
    folder().map_or_else(String::new, line)
}

/// `docs/NAME` with its folder in front, if it is here.
#[must_use]
pub fn path(name: &str) -> PathBuf {
    let below = Path::new("docs").join(name);
    folder().map_or(below.clone(), |folder| folder.join(below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn documents_are_found_from_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let program = |folder: &str| {
            fs::create_dir_all(root.join(folder)).unwrap();
            root.join(folder).join("instr")
        };
        let document = |folder: &str| {
            fs::create_dir_all(root.join(folder).join("docs")).unwrap();
            fs::write(root.join(folder).join("docs/environment.md"), "").unwrap();
            root.join(folder)
        };
        assert_eq!(folder_of(&program("alone/bin")), None);
        let installed = document("prefix/share/doc/instr");
        assert_eq!(folder_of(&program("prefix/bin")), Some(installed));
        let clone = document("clone");
        assert_eq!(folder_of(&program("clone/target/release")), Some(clone));
        fs::create_dir_all(root.join("other/docs")).unwrap();
        assert_eq!(folder_of(&program("other/target/release")), None);
    }
}
