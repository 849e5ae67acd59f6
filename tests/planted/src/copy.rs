//! The copy of the project's files that faults are planted in.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Makes `copy` hold the files of the work tree at `root` that git does not ignore, and no others of an earlier copy. Files that
/// are the same already are left alone, so that cargo does not build what depends on them again.
///
/// # Errors
///
/// When git cannot list the files, or one cannot be copied.
pub(crate) fn update(root: &Path, copy: &Path) -> Result<()> {
    let wanted = listed(root)?;
    for path in &wanted {
        let (from, to) = (root.join(path), copy.join(path));
        let bytes =
            std::fs::read(&from).with_context(|| format!("cannot read {}", from.display()))?;
        if std::fs::read(&to).is_ok_and(|there| there == bytes) {
            continue;
        }
        if let Some(dir) = to.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::copy(&from, &to).with_context(|| format!("cannot write {}", to.display()))?;
        // A copy is as old as the copying: cargo goes by the time of the last change.
        std::fs::File::options()
            .write(true)
            .open(&to)?
            .set_modified(std::time::SystemTime::now())?;
    }
    for path in files(copy, Path::new(""))? {
        if !wanted.contains(&path) {
            std::fs::remove_file(copy.join(path))?;
        }
    }
    Ok(())
}

/// Files that git knows or does not ignore, and that are there.
fn listed(root: &Path) -> Result<BTreeSet<PathBuf>> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "-co", "--exclude-standard"])
        .current_dir(root)
        .output()
        .context("git does not start")?;
    ensure!(
        output.status.success(),
        "git ls-files failed: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let names = String::from_utf8(output.stdout).context("a file name is no UTF-8")?;
    let there = |path: &PathBuf| root.join(path).is_file();
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(there)
        .collect())
}

/// Files below `dir`, from `root`, without those that building makes.
fn files(root: &Path, dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.join(dir))? {
        let entry = entry?;
        let path = dir.join(entry.file_name());
        if !entry.file_type()?.is_dir() {
            found.push(path);
        } else if entry.file_name() != "target" && entry.file_name() != ".git" {
            found.extend(files(root, &path)?);
        }
    }
    Ok(found)
}
