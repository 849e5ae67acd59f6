//! What a target is fed: one or several named files.

use std::fs;
use std::io;
use std::path::Path;

/// A file of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// File name.
    pub(crate) name: String,
    /// Contents.
    pub(crate) bytes: Vec<u8>,
}

/// An input; most have one part, a trace has one per file of its folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Input(pub(crate) Vec<Part>);

impl Input {
    /// An input of one file.
    pub(crate) fn single(name: &str, bytes: Vec<u8>) -> Self {
        Input(vec![Part {
            name: name.to_owned(),
            bytes,
        }])
    }

    /// Bytes of the first part.
    pub(crate) fn first(&self) -> &[u8] {
        self.0.first().map_or(&[], |part| &part.bytes)
    }

    /// Bytes of all parts.
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|part| part.bytes.len()).sum()
    }

    /// Reads a file, or all files of a folder in order of their names.
    pub(crate) fn read(path: &Path) -> io::Result<Self> {
        let part = |path: &Path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            Ok::<_, io::Error>(Part {
                name,
                bytes: fs::read(path)?,
            })
        };
        if !path.is_dir() {
            return Ok(Input(vec![part(path)?]));
        }
        let mut parts = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                parts.push(part(&entry.path())?);
            }
        }
        parts.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Input(parts))
    }

    /// Writes all parts into a folder, which holds nothing else afterwards.
    pub(crate) fn write_folder(&self, folder: &Path) -> io::Result<()> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let known = self.0.iter().any(|part| *part.name == *entry.file_name());
            if !known && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        for part in &self.0 {
            fs::write(folder.join(&part.name), &part.bytes)?;
        }
        Ok(())
    }

    /// A number that tells inputs apart (FNV-1a).
    pub(crate) fn fingerprint(&self) -> u64 {
        let bytes = self
            .0
            .iter()
            .flat_map(|part| part.name.bytes().chain(part.bytes.iter().copied()));
        bytes.fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3)
        })
    }
}
