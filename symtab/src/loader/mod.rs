//! Opens programs with the debug files that belong to them: the part of the crate that touches files.
//!
//! Behind the cargo feature `loader`. The rest of the crate never opens a file; it tells what it [`Want`]s, and this
//! looks for it in the places where gdb and distributions look.

mod find;
mod map;
mod places;
mod vdso;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::bytes::Bytes;
use crate::error::Error;
use crate::image::Image;
use crate::wants::Want;

pub use find::{Found, Module};
pub use map::map_file;
pub use vdso::{is_vdso, own_vdso};

/// Where distributions keep debug information apart from programs.
pub const DEFAULT_DEBUG_DIR: &str = "/usr/lib/debug";

/// Rounds of asking for further files. A debug file may name a supplementary one, and each refused candidate costs a
/// round; nothing honest goes deeper.
const MAX_ROUNDS: usize = 12;

/// Why a file could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file was read, and refused.
    #[error("cannot read {}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        source: Error,
    },
    /// The debug file that the caller named does not serve the program.
    #[error("debug file {} of {}", path.display(), program.display())]
    DebugFile {
        /// The debug file.
        path: PathBuf,
        /// The program.
        program: PathBuf,
        /// Why.
        source: Error,
    },
}

/// Opens programs; tells where else than in the usual places to look for what belongs to them.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let loader = instr_symtab::Loader::new().debug_dir("/opt/debug");
/// let image = loader.open(&std::env::current_exe()?)?;
/// assert!(!image.symbols_named("main").is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Loader {
    /// Folders of debug files; empty stands for [`DEFAULT_DEBUG_DIR`].
    debug_dirs: Vec<PathBuf>,
    /// The debug file of the program, where the caller knows it.
    debug_file: Option<PathBuf>,
    /// Folder that stands for `/` of the machine the program comes from.
    sysroot: Option<PathBuf>,
    /// Folders where moved programs and `.dwo` files may lie.
    search: Vec<PathBuf>,
    /// Beginnings of paths in debug information and what they are here.
    path_maps: Vec<(PathBuf, PathBuf)>,
}

impl Loader {
    /// Looks in the usual places only: beside the program and below [`DEFAULT_DEBUG_DIR`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Looks for debug files below `dir`, too; the first one given takes the place of [`DEFAULT_DEBUG_DIR`].
    #[must_use]
    pub fn debug_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.debug_dirs.push(dir.into());
        self
    }

    /// Takes the debug information from `file`, which has to belong to the program.
    #[must_use]
    pub fn debug_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.debug_file = Some(file.into());
        self
    }

    /// Looks for everything that has an absolute path below `dir`: a copy of the system where the program ran.
    #[must_use]
    pub fn sysroot(mut self, dir: impl Into<PathBuf>) -> Self {
        self.sysroot = Some(dir.into());
        self
    }

    /// Looks for moved programs, libraries and `.dwo` files in `dir`, too.
    #[must_use]
    pub fn search(mut self, dir: impl Into<PathBuf>) -> Self {
        self.search.push(dir.into());
        self
    }

    /// Takes `new` for `old` at the start of paths in debug information: a build folder that moved.
    #[must_use]
    pub fn path_map(mut self, old: impl Into<PathBuf>, new: impl Into<PathBuf>) -> Self {
        self.path_maps.push((old.into(), new.into()));
        self
    }

    /// Opens the program, library or object file at `path` with the debug files that lie where they should.
    ///
    /// # Errors
    ///
    /// Files that cannot be read or are no ELF files, and a [`debug_file`](Self::debug_file) that does not fit. Debug
    /// files that are missing or do not fit otherwise are none.
    pub fn open(&self, path: &Path) -> Result<Image, LoadError> {
        let io = |source| LoadError::Io {
            path: path.to_owned(),
            source,
        };
        let bytes = map_file(path).map_err(io)?;
        self.open_bytes(bytes, path)
    }

    /// As [`Loader::open`], for a file that was read already.
    ///
    /// # Errors
    ///
    /// As [`Loader::open`].
    pub fn open_bytes(&self, bytes: Bytes, path: &Path) -> Result<Image, LoadError> {
        let mut image = Image::from_bytes(bytes).map_err(|source| LoadError::Refused {
            path: path.to_owned(),
            source,
        })?;
        if let Some(file) = &self.debug_file {
            take_debug_file(&mut image, file, path)?;
        }
        self.complete(&mut image, path);
        Ok(image)
    }

    /// Hands in what the image asks for as long as something is found.
    fn complete(&self, image: &mut Image, program: &Path) {
        let mut tried = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let further: Vec<Bytes> = image
                .wants()
                .iter()
                .filter_map(|want| self.next_candidate(want, program, &mut tried))
                .collect();
            if further.is_empty() {
                return;
            }
            // What is refused was tried: the next round goes on with the next place.
            image.add_debug(further);
        }
    }

    /// The first file for `want` that is there and was not tried yet.
    fn next_candidate(
        &self,
        want: &Want,
        program: &Path,
        tried: &mut BTreeSet<PathBuf>,
    ) -> Option<Bytes> {
        let places = self.places(want, program);
        places.into_iter().find_map(|place| {
            if tried.contains(&place) {
                return None;
            }
            let bytes = map_file(&place).ok();
            tried.insert(place);
            bytes
        })
    }
}

/// Hands in the debug file that the caller named.
fn take_debug_file(image: &mut Image, file: &Path, program: &Path) -> Result<(), LoadError> {
    let bytes = map_file(file).map_err(|source| LoadError::Io {
        path: file.to_owned(),
        source,
    })?;
    image
        .add_debug_file(bytes)
        .map_err(|source| LoadError::DebugFile {
            path: file.to_owned(),
            program: program.to_owned(),
            source,
        })
}
