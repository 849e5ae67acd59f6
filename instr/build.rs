//! Embeds the target descriptions of `cross-targets/`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dir = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?).join("../cross-targets");
    println!("cargo:rerun-if-changed={}", dir.display());
    let mut files = Vec::new();
    for entry in fs::read_dir(&dir)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            files.push(path.canonicalize()?);
        }
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in files {
        writeln!(
            table,
            "    include_str!({:?}),",
            file.to_str().ok_or("path is not UTF-8")?
        )?;
    }
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("targets.rs"), table)?;
    Ok(())
}
