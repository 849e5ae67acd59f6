//! Which further files would tell more, and taking them in.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bytes::Bytes;
use crate::dwarf::{Dwarf, Files, dwo_ids};
use crate::elf::Elf;
use crate::error::{Error, Result};
use crate::image::Image;

/// Where distributions keep debug information apart from programs.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// A further file that would tell more. The caller decides where to look and whether to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Want {
    /// The debug information that was stripped from the program, by its build id.
    BuildId {
        /// The id's bytes.
        id: Vec<u8>,
    },
    /// The debug information that was stripped from the program, by name and checksum (`.gnu_debuglink`).
    DebugLink {
        /// File name without folder.
        name: PathBuf,
        /// CRC-32 of the whole file.
        crc32: u32,
    },
    /// Debug information shared by several programs (`.gnu_debugaltlink`, made by `dwz -m`).
    Supplementary {
        /// Path, absolute or relative to the file that names it.
        name: PathBuf,
        /// Build id of that file.
        id: Vec<u8>,
    },
    /// One unit of split debug information (`-gsplit-dwarf`); `PROGRAM.dwp` may hold it too.
    SplitUnit {
        /// Path as the compiler was told.
        path: PathBuf,
        /// Compilation folder that a relative path counts from.
        folder: Option<PathBuf>,
        /// Id of the unit.
        id: u64,
    },
}

impl Want {
    /// Paths where the file may lie, most likely first, for a program at `program`.
    #[must_use]
    pub fn candidates(&self, program: &Path) -> Vec<PathBuf> {
        let folder = program.parent().unwrap_or(Path::new(""));
        match self {
            Want::BuildId { id } => build_id_path(id).into_iter().collect(),
            Want::DebugLink { name, .. } => {
                let below_root = folder.strip_prefix("/").unwrap_or(folder);
                vec![
                    folder.join(name),
                    folder.join(".debug").join(name),
                    Path::new(DEBUG_ROOT).join(below_root).join(name),
                ]
            }
            Want::Supplementary { name, id } => {
                let mut paths = vec![folder.join(name)];
                paths.extend(build_id_path(id));
                paths
            }
            Want::SplitUnit {
                path,
                folder: compiled_in,
                ..
            } => {
                let mut package = program.as_os_str().to_owned();
                package.push(".dwp");
                let mut paths = vec![PathBuf::from(package)];
                paths.push(compiled_in.as_deref().unwrap_or(Path::new("")).join(path));
                paths.extend(path.file_name().map(|name| folder.join(name)));
                paths
            }
        }
    }
}

/// Where a distribution keeps the debug information of this build id.
fn build_id_path(id: &[u8]) -> Option<PathBuf> {
    let (first, rest) = id.split_first()?;
    Some(PathBuf::from(format!(
        "{DEBUG_ROOT}/.build-id/{first:02x}/{}.debug",
        hex(rest)
    )))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A path from bytes of the file.
fn path(bytes: &[u8]) -> PathBuf {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
    }
    #[cfg(not(unix))]
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

impl Image {
    /// Further files that would tell more, in a fixed order; empty if nothing is missing.
    ///
    /// Handing one in may bring up further wishes: the debug file of a program may name a supplementary one.
    #[must_use]
    pub fn wants(&self) -> Vec<Want> {
        let files = self.store.borrow_owner();
        let mut wants = Vec::new();
        if files.debug.is_none() && !files.main.has_debug() {
            wants.extend(files.main.build_id.clone().map(|id| Want::BuildId { id }));
            wants.extend(
                files
                    .main
                    .debug_link
                    .as_ref()
                    .map(|(name, crc32)| Want::DebugLink {
                        name: path(name),
                        crc32: *crc32,
                    }),
            );
        }
        if files.supplementary.is_none() {
            let link = files.dwarf().alt_link.as_ref();
            wants.extend(link.map(|(name, id)| Want::Supplementary {
                name: path(name),
                id: id.clone(),
            }));
        }
        wants.extend(
            self.store
                .with_dependent(|_, dwarf| missing_split_units(dwarf)),
        );
        wants
    }

    /// This image together with a further file: the debug information it was stripped of, a supplementary file, a
    /// `.dwo` or a `.dwp`. What it is shows from its contents.
    ///
    /// # Errors
    ///
    /// If the file is damaged, belongs to another program or holds nothing of use.
    pub fn with_debug(mut self, bytes: &[u8]) -> Result<Self> {
        match self.add_debug([Bytes::from(bytes)]).pop() {
            Some(Err(error)) => Err(error),
            _ => Ok(self),
        }
    }

    /// Takes in several further files at once, which is cheaper than one by one, and without copying them.
    ///
    /// ```
    /// # fn open(program: &std::path::Path) -> Result<instr_symtab::Image, Box<dyn std::error::Error>> {
    /// use instr_symtab::{Bytes, Image};
    ///
    /// let mut image = Image::from_bytes(Bytes::from(std::fs::read(program)?))?;
    /// // A stripped program's debug file, then what that asks for itself.
    /// for _ in 0..4 {
    ///     let read = |want: &instr_symtab::Want| {
    ///         want.candidates(program).iter().find_map(|path| std::fs::read(path).ok())
    ///     };
    ///     let found: Vec<Bytes> = image.wants().iter().filter_map(read).map(Bytes::from).collect();
    ///     if !image.add_debug(found).iter().any(Result::is_ok) {
    ///         break; // nothing more is to be found
    ///     }
    /// }
    /// # Ok(image)
    /// # }
    /// ```
    ///
    /// Gives one result per file, in order; files that are refused leave the image as it was.
    pub fn add_debug(&mut self, further: impl IntoIterator<Item = Bytes>) -> Vec<Result<()>> {
        let mut files = self.store.borrow_owner().clone();
        let results: Vec<_> = further
            .into_iter()
            .map(|bytes| files.accept(bytes))
            .collect();
        if results.iter().any(Result::is_ok) {
            *self = Image::from_files(files);
        }
        results
    }
}

impl Image {
    /// Takes in the debug file that the user names, which must be that of this program: by build id, else by the checksum
    /// the program records; where the program records neither, any file with debug information of its machine will do.
    ///
    /// # Errors
    ///
    /// If the file is damaged, belongs to another program (both ids or checksums are told) or holds nothing of use. The
    /// image stays as it was.
    pub fn add_debug_file(&mut self, bytes: Bytes) -> Result<()> {
        let mut files = self.store.borrow_owner().clone();
        if files.main.build_id.is_none() && files.main.debug_link.is_none() {
            let elf = Elf::parse(bytes.clone())?;
            let usable = elf.has_debug() || !elf.symbols().is_empty();
            if usable && elf.machine == files.main.machine && !elf.relocatable {
                files.debug = Some(Arc::new(elf));
                *self = Image::from_files(files);
                return Ok(());
            }
        }
        files.accept(bytes)?;
        *self = Image::from_files(files);
        Ok(())
    }
}

impl Files {
    /// Puts a further file in its place.
    fn accept(&mut self, bytes: Bytes) -> Result<()> {
        let elf = Arc::new(Elf::parse(bytes)?);
        if !elf.section(".debug_cu_index").is_empty() {
            self.package = Some(elf);
        } else if !elf.section(".debug_info.dwo").is_empty() {
            if dwo_ids(&elf).is_empty() {
                return Err(Error::NotWanted);
            }
            self.dwos.push(elf);
        } else if self.is_debug_file(&elf) {
            if !elf.has_debug() && elf.symbols().is_empty() {
                return Err(Error::NotWanted);
            }
            self.debug = Some(elf);
        } else if self
            .dwarf()
            .alt_link
            .as_ref()
            .is_some_and(|(_, id)| Some(id) == elf.build_id.as_ref())
        {
            self.supplementary = Some(elf);
        } else {
            return Err(self.refusal(&elf));
        }
        Ok(())
    }

    /// Whether the file holds what was stripped from the program: by build id, or by checksum where there is none.
    fn is_debug_file(&self, elf: &Elf) -> bool {
        match (&self.main.build_id, &elf.build_id) {
            (Some(expected), Some(found)) => expected == found,
            _ => self
                .main
                .debug_link
                .as_ref()
                .is_some_and(|(_, crc)| *crc == crc32fast::hash(elf.data())),
        }
    }

    fn refusal(&self, elf: &Elf) -> Error {
        let id = |id: &Option<Vec<u8>>| {
            id.as_ref()
                .map_or_else(|| String::from("none"), |id| hex(id))
        };
        if self.main.build_id.is_none() && self.main.debug_link.is_none() {
            return Error::NotWanted;
        }
        if let (None, Some((_, expected))) = (&self.main.build_id, &self.main.debug_link) {
            return Error::OtherChecksum {
                found: crc32fast::hash(elf.data()),
                expected: *expected,
            };
        }
        Error::OtherProgram {
            found: id(&elf.build_id),
            expected: id(&self.main.build_id),
        }
    }
}

/// The split units whose debug information has not been handed in.
fn missing_split_units(dwarf: &Dwarf<'_>) -> Vec<Want> {
    let mut wants = Vec::new();
    for unit in dwarf.skeletons() {
        let Some(id) = unit.dwo_id.filter(|&id| !dwarf.has_split_unit(id)) else {
            continue;
        };
        let Ok(Some(name)) = unit.dwo_name() else {
            continue;
        };
        let Ok(name) = dwarf.sections.attr_string(&unit, name) else {
            continue;
        };
        let folder = unit.comp_dir.map(|folder| path(folder.slice()));
        wants.push(Want::SplitUnit {
            path: path(name.slice()),
            folder,
            id: id.0,
        });
    }
    wants
}
