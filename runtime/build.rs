//! Collects the C sources and headers into one table, so that the host tools carry them inside.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDERS: [&str; 10] = [
    "arch", "core", "include", "library", "ompt", "platform", "probes", "sampling", "sensors",
    "sinks",
];

fn collect(dir: &Path, out: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, out)?;
        } else if path
            .extension()
            .is_some_and(|e| ["c", "h", "hpp", "f90"].iter().any(|wanted| e == *wanted))
        {
            out.push(path);
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let mut files = Vec::new();
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        collect(&root.join(folder), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    let mut hashes = [1_u8, 2].map(|seed| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        hasher
    });
    for file in &files {
        let name = file
            .strip_prefix(&root)?
            .to_str()
            .ok_or("file name is not UTF-8")?;
        let path = file.to_str().ok_or("path is not UTF-8")?;
        writeln!(table, "    ({name:?}, include_str!({path:?})),")?;
        println!("cargo:rerun-if-changed={path}");
        let text = fs::read_to_string(file)?;
        hashes
            .iter_mut()
            .for_each(|hasher| (name, &text).hash(hasher));
    }
    let [first, second] = hashes.map(|hasher| hasher.finish());
    println!("cargo:rustc-env=INSTR_RUNTIME_KEY={first:016x}{second:016x}");
    table.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("files.rs"), table)?;
    Ok(())
}
