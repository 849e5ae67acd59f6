//! The generated files of the repository are those that the tables give.

use std::path::Path;

use instr_schema::generate;

#[test]
fn generated_files_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for file in generate::files(&root).unwrap() {
        let there = std::fs::read_to_string(root.join(file.path)).unwrap();
        assert!(
            there == file.text,
            "{} is not current: run `cargo run -p instr-schema` and look at what changes",
            file.path
        );
    }
}
