//! Writes the generated files of the repository.

use std::path::Path;
use std::process::ExitCode;

use instr_schema::generate;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let written = generate::files(&root).and_then(|files| {
        files
            .iter()
            .try_for_each(|file| std::fs::write(root.join(file.path), &file.text))
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("instr-schema: error: {error}");
            ExitCode::from(1)
        }
    }
}
