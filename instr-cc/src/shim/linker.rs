//! Finding the linker that the compiler would have run without us.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::cache::{Cache, key};
use crate::compiler::Machine;
use crate::exec::Call;
use crate::runtime;

use super::context::Context;

/// Finds the real linker of this name: in the folders that GCC hands down (`COMPILER_PATH`), where the compiler says it
/// is, for a cross compiler under its long name in `PATH`, and in `PATH`.
#[must_use]
pub fn find(name: &OsStr, context: &Context, machine: &Machine) -> Option<PathBuf> {
    handed_down(name, context, machine)
        .or_else(|| told_by_compiler(name, context, machine))
        .or_else(|| machine.find(name).map(|(path, _)| path))
}

fn handed_down(name: &OsStr, context: &Context, machine: &Machine) -> Option<PathBuf> {
    let path = std::env::var_os("COMPILER_PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let others = folders
        .iter()
        .map(PathBuf::as_path)
        .filter(|f| !f.as_os_str().is_empty() && !is_shim(f, &context.shim));
    machine.search(name, others).map(|(path, _)| path)
}

/// Whether a folder is the shim's, with or without a slash at its end.
#[must_use]
pub fn is_shim(folder: &Path, shim: &Path) -> bool {
    // Comparing paths by their parts ignores the slash.
    folder == shim
}

/// Asks the compiler, once for each compiler, flags and name.
fn told_by_compiler(name: &OsStr, context: &Context, machine: &Machine) -> Option<PathBuf> {
    let cache = Cache::at(context.cache.clone());
    let (identity, facts) = runtime::identify(&cache, &context.compiler).ok()?;
    let parts = [identity.as_bytes(), name.as_bytes()];
    let entry = format!(
        "linker-{}",
        key(parts
            .into_iter()
            .chain(context.abi.iter().map(|w| w.as_bytes())))
    );
    let entry = cache
        .entry(&entry, |dir| {
            fs::write(dir.join("path"), ask(name, context)?.as_bytes())
        })
        .ok()?;
    let told = fs::read(entry.join("path")).ok()?;
    if told.contains(&b'/') {
        let path = PathBuf::from(OsString::from_vec(told));
        if path.is_file() && !machine.is_own(&path) {
            return Some(path);
        }
    }
    let native = facts
        .machine
        .starts_with(&format!("{}-", std::env::consts::ARCH));
    let long = [facts.machine.as_bytes(), b"-", name.as_bytes()].concat();
    if native {
        None
    } else {
        machine.find(OsStr::from_bytes(&long)).map(|(path, _)| path)
    }
}

fn ask(name: &OsStr, context: &Context) -> io::Result<OsString> {
    let mut question = OsString::from("-print-prog-name=");
    question.push(name);
    let output = Call::new(&context.compiler)
        .args(&context.abi)
        .args([question])
        .run_privately()?;
    Ok(OsString::from_vec(output.stdout.trim_ascii().to_vec()))
}

/// Whether the linker looks into archives whenever something is missing (lld, mold), not only in order (bfd, gold).
#[must_use]
pub fn looks_back(linker: &Path) -> bool {
    let real = fs::canonicalize(linker).unwrap_or_else(|_| linker.to_owned());
    let name = real
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    name.contains("lld") || name.contains("mold")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shims_folder_is_recognised_with_a_slash() {
        assert!(is_shim(Path::new("/a/b/"), Path::new("/a/b")));
        assert!(!is_shim(Path::new("/a/bc"), Path::new("/a/b")));
    }
}
