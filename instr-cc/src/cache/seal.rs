//! Whether an entry is what was built: a list of its files with their checksums, written last and compared with each use. Disks
//! fill, machines stop and people delete; a half runtime would leave programs untraced without a word, or fail to compile.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The list's name in the entry.
const NAME: &str = ".seal";

/// Writes the list of what is in `dir`.
pub(super) fn close(dir: &Path) -> io::Result<()> {
    let text = describe(dir, &files(dir)?)?;
    fs::write(dir.join(NAME), text)
}

/// Whether everything listed is there as it was.
pub(super) fn holds(dir: &Path) -> bool {
    let Ok(list) = fs::read(dir.join(NAME)) else {
        return false;
    };
    // A line for each file, and a last one with their number.
    let names: Option<Vec<PathBuf>> = list
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty() && !line.starts_with(b"end "))
        .map(|line| {
            let name = line.splitn(2, |byte| *byte == b' ').nth(1)?;
            Some(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
        })
        .collect();
    names.is_some_and(|names| describe(dir, &names).is_ok_and(|text| text == list))
}

/// `CHECKSUM NAME` of each file; of a link, the checksum of where it leads.
fn describe(dir: &Path, files: &[PathBuf]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    for name in files {
        let path = dir.join(name);
        let bytes = match fs::read_link(&path) {
            Ok(target) => target.into_os_string().into_encoded_bytes(),
            Err(_) => fs::read(&path)?,
        };
        write!(text, "{:08x} ", crc32fast::hash(&bytes))?;
        text.extend_from_slice(name.as_os_str().as_bytes());
        text.push(b'\n');
    }
    writeln!(text, "end {}", files.len())?;
    Ok(text)
}

/// Files and links below `dir`, relative to it, in order.
fn files(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(dir.join(&folder))? {
            let entry = entry?;
            let name = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(name);
            } else {
                found.push(name);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry of a file, one in a folder, an empty one and a link.
    fn entry() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path();
        fs::create_dir(d.join("include")).unwrap();
        fs::write(d.join("a"), "text").unwrap();
        fs::write(d.join("empty"), "").unwrap();
        fs::write(d.join("include/b c.h"), "more").unwrap();
        std::os::unix::fs::symlink("/x", d.join("ld")).unwrap();
        close(d).unwrap();
        dir
    }

    #[test]
    fn every_damage_shows() {
        type Damage = fn(&Path) -> io::Result<()>;
        let damages: [(&str, Damage); 9] = [
            ("changed", |d| fs::write(d.join("a"), "texT")),
            ("cut", |d| fs::write(d.join("include/b c.h"), "")),
            ("longer", |d| fs::write(d.join("empty"), "\0")),
            ("gone", |d| fs::remove_file(d.join("a"))),
            ("a folder gone", |d| fs::remove_dir_all(d.join("include"))),
            ("a link gone", |d| fs::remove_file(d.join("ld"))),
            ("another link", |d| {
                fs::remove_file(d.join("ld"))?;
                std::os::unix::fs::symlink("/y", d.join("ld"))
            }),
            ("no list", |d| fs::remove_file(d.join(NAME))),
            ("an empty list", |d| fs::write(d.join(NAME), "")),
        ];
        for (what, damage) in damages {
            let dir = entry();
            assert!(holds(dir.path()));
            damage(dir.path()).unwrap();
            assert!(!holds(dir.path()), "{what}");
        }
    }

    #[test]
    fn a_list_that_was_cut_anywhere_does_not_hold() {
        let dir = entry();
        let list = fs::read(dir.path().join(NAME)).unwrap();
        for length in 0..list.len() {
            fs::write(dir.path().join(NAME), &list[..length]).unwrap();
            assert!(!holds(dir.path()), "{length} of {}", list.len());
        }
    }
}
