//! Takes libgomp's tests out of Debian's package `gcc-12-source`. Nothing of it is kept in the project.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};

/// Where the package puts GCC's sources: a folder for each version, which holds `gcc-VERSION….tar.xz`.
const PACKAGE: &str = "/usr/src/gcc-12";

/// What is taken out of the archive: the tests, and the two headers that tests of the plain entry points include.
const MEMBERS: [&str; 3] = [
    "*/libgomp/testsuite",
    "*/libgomp/libgomp_g.h",
    "*/include/gomp-constants.h",
];

/// Says which archive the folder beside it came from.
const STAMP: &str = "unpacked-from";

/// The unpacked tests.
#[derive(Debug, Clone)]
pub struct Suite {
    root: PathBuf,
}

impl Suite {
    /// Tests that lie unpacked in `root` already.
    #[must_use]
    pub fn at(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The folder that holds `libgomp.c` and its like.
    #[must_use]
    pub fn tests(&self) -> PathBuf {
        self.root.join("libgomp/testsuite")
    }

    /// Folders for `-I`, as `libgomp.exp` gives them (`config.h` is what configuring libgomp would have written).
    #[must_use]
    pub fn includes(&self) -> [PathBuf; 3] {
        ["include", "libgomp", "configured"].map(|name| self.root.join(name))
    }

    /// The package's archive; `None` when the package is not installed.
    #[must_use]
    pub fn archive() -> Option<PathBuf> {
        let entries = std::fs::read_dir(PACKAGE).ok()?;
        let mut archives: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("gcc-") && name.contains(".tar")
            })
            .collect();
        archives.sort();
        archives.pop()
    }

    /// Unpacks `archive` into `root`, unless that was done before.
    ///
    /// # Errors
    ///
    /// When `tar` fails or `root` cannot be written.
    pub fn unpack(archive: &Path, root: &Path) -> anyhow::Result<Self> {
        let suite = Self::at(root);
        if suite.is_of(archive) {
            return Ok(suite);
        }
        let parent = root.parent().context("no folder to unpack into")?;
        std::fs::create_dir_all(parent)?;
        let fresh = tempfile::Builder::new()
            .prefix("libgomp-testsuite-")
            .tempdir_in(parent)?;
        extract(archive, fresh.path())?;
        configure(fresh.path())?;
        std::fs::write(fresh.path().join(STAMP), stamp(archive))?;
        suite.replace_by(fresh, archive)?;
        Ok(suite)
    }

    fn is_of(&self, archive: &Path) -> bool {
        std::fs::read_to_string(self.root.join(STAMP)).is_ok_and(|text| text == stamp(archive))
    }

    fn replace_by(&self, fresh: tempfile::TempDir, archive: &Path) -> anyhow::Result<()> {
        if self.root.exists() && !self.is_of(archive) {
            std::fs::remove_dir_all(&self.root)?;
        }
        let renamed = std::fs::rename(fresh.path(), &self.root);
        // Another process may have been faster; its copy is as good.
        if renamed.is_err() && !self.is_of(archive) {
            renamed.with_context(|| format!("cannot make {}", self.root.display()))?;
        }
        if !fresh.path().exists() {
            let _ = fresh.keep();
        }
        Ok(())
    }
}

/// Changes when the package does.
fn stamp(archive: &Path) -> String {
    let length = std::fs::metadata(archive).map_or(0, |data| data.len());
    format!("{} {length} {}\n", archive.display(), MEMBERS.join(" "))
}

fn extract(archive: &Path, into: &Path) -> anyhow::Result<()> {
    let output = Command::new("tar")
        .args([
            "--extract",
            "--strip-components=1",
            "--no-same-owner",
            "--wildcards",
        ])
        .arg("--file")
        .arg(archive)
        .arg("--directory")
        .arg(into)
        .args(MEMBERS)
        .output()
        .context("cannot start tar")?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        bail!("tar cannot unpack {}: {}", archive.display(), why.trim());
    }
    Ok(())
}

/// Writes what libgomp's configuration would have said about this system, as far as a test asks.
fn configure(root: &Path) -> std::io::Result<()> {
    let dir = root.join("configured");
    std::fs::create_dir_all(&dir)?;
    std::fs::write(dir.join("config.h"), "#define HAVE_PTHREAD_AFFINITY_NP 1\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_is_unpacked_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let at = |name: &str| dir.path().join(name);
        for (name, text) in [
            ("gcc-1/libgomp/testsuite/libgomp.c/a.c", "int main;"),
            ("gcc-1/libgomp/libgomp_g.h", ""),
            ("gcc-1/include/gomp-constants.h", ""),
            ("gcc-1/libgomp/task.c", "not a test"),
        ] {
            std::fs::create_dir_all(at(name).parent().expect("a folder")).expect("made");
            std::fs::write(at(name), text).expect("written");
        }
        let archive = at("gcc-1.tar");
        let status = Command::new("tar")
            .arg("-cf")
            .arg(&archive)
            .arg("-C")
            .arg(dir.path())
            .arg("gcc-1")
            .status();
        assert!(status.expect("tar runs").success());
        let suite = Suite::unpack(&archive, &at("out/suite")).expect("unpacked");
        assert!(suite.tests().join("libgomp.c/a.c").is_file());
        assert!(!at("out/suite/libgomp/task.c").exists());
        assert!(suite.includes().iter().all(|dir| dir.is_dir()));
        std::fs::write(suite.tests().join("mark"), "").expect("written");
        let again = Suite::unpack(&archive, &at("out/suite")).expect("there");
        assert!(again.tests().join("mark").exists());
        assert!(Suite::unpack(&at("none.tar"), &at("out/other")).is_err());
        let left = std::fs::read_dir(at("out")).expect("a folder").count();
        assert_eq!(left, 1, "a failed run leaves nothing");
    }
}
