//! The file behind a module of a process that ran elsewhere or earlier.

use std::path::{Path, PathBuf};

use super::places::below_root;
use super::vdso::{is_vdso, own_vdso};
use super::{LoadError, Loader};
use crate::image::Image;

/// A loaded module as a trace records it.
#[derive(Debug, Clone, Copy)]
pub struct Module<'a> {
    /// Path in the traced process.
    pub path: &'a Path,
    /// Build id in hexadecimal, if one was recorded.
    pub build_id: Option<&'a str>,
}

/// What was found for a [`Module`].
pub enum Found {
    /// The file, opened.
    Image {
        /// Where it lies.
        path: PathBuf,
        /// Its names.
        image: Box<Image>,
    },
    /// Only files of other builds lie where it was looked for: their names would be wrong.
    OtherBuild {
        /// The first such file.
        path: PathBuf,
        /// Its build id in hexadecimal; `None` if it has none.
        build_id: Option<String>,
    },
    /// There is no such file, or it cannot be read.
    Missing {
        /// What went wrong at the first place.
        why: LoadError,
    },
}

impl Loader {
    /// Finds and opens the file of a module: below the sysroot, at its path, in the folders to search, by its build id
    /// among the debug files. A file whose build id is not the recorded one is passed over.
    #[must_use]
    pub fn find(&self, module: Module<'_>) -> Found {
        if let Some(found) = self.find_vdso(module) {
            return found;
        }
        let (mut other, mut missing) = (None, None);
        for path in self.module_places(module) {
            let image = match self.open(&path) {
                Ok(image) => image,
                Err(why) => {
                    missing.get_or_insert(why);
                    continue;
                }
            };
            let build_id = image.build_id().map(hexadecimal);
            match (module.build_id, build_id) {
                (Some(ran), Some(found)) if ran.eq_ignore_ascii_case(&found) => {
                    let image = Box::new(image);
                    return Found::Image { path, image };
                }
                (None, _) => {
                    let image = Box::new(image);
                    return Found::Image { path, image };
                }
                (Some(_), build_id) => {
                    other.get_or_insert(Found::OtherBuild { path, build_id });
                }
            }
        }
        other.unwrap_or_else(|| Found::Missing {
            why: missing.unwrap_or_else(|| LoadError::Io {
                path: module.path.to_owned(),
                source: std::io::ErrorKind::NotFound.into(),
            }),
        })
    }

    /// Places of a module's file, most likely first.
    fn module_places(&self, module: Module<'_>) -> Vec<PathBuf> {
        let mut places = Vec::new();
        match &self.sysroot {
            Some(root) => places.push(root.join(below_root(module.path))),
            None => places.push(module.path.to_owned()),
        }
        for dir in &self.search {
            places.extend(module.path.file_name().map(|name| dir.join(name)));
            places.push(dir.join(below_root(module.path)));
        }
        let id = module.build_id.and_then(id_bytes);
        for suffix in ["", ".debug"] {
            places.extend(id.iter().flat_map(|id| self.build_id_places(id, suffix)));
        }
        places
    }

    /// The kernel's library has no file; that of this process serves if it is the same one.
    fn find_vdso(&self, module: Module<'_>) -> Option<Found> {
        let path = module.path.to_str().filter(|path| is_vdso(path))?;
        let missing = || Found::Missing {
            why: LoadError::Io {
                path: PathBuf::from(path),
                source: std::io::ErrorKind::NotFound.into(),
            },
        };
        let Some(image) = own_vdso().and_then(|bytes| Image::from_bytes(bytes).ok()) else {
            return Some(missing());
        };
        let build_id = image.build_id().map(hexadecimal);
        let same = match (module.build_id, &build_id) {
            (Some(ran), Some(own)) => ran.eq_ignore_ascii_case(own),
            _ => false,
        };
        let (path, image) = (PathBuf::from(path), Box::new(image));
        Some(match same {
            true => Found::Image { path, image },
            false => Found::OtherBuild { path, build_id },
        })
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Bytes of a build id in hexadecimal; `None` for anything else.
fn id_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let honest = (2..=128).contains(&digits.len())
        && digits.len().is_multiple_of(2)
        && digits.iter().all(u8::is_ascii_hexdigit);
    honest.then(|| digits.chunks(2).map(pair).collect())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_pairs_of_digits() {
        assert_eq!(id_bytes("00fF12"), Some(vec![0, 0xff, 0x12]));
        for wrong in ["", "0", "0g", "+1", "123", &"00".repeat(100)] {
            assert_eq!(id_bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_moved_program_is_found_by_its_build_id() {
        let folder = tempfile::tempdir().unwrap();
        let own = std::env::current_exe().unwrap();
        let recorded = Path::new("/nonexistent/bin").join(own.file_name().unwrap());
        std::fs::copy(&own, folder.path().join(own.file_name().unwrap())).unwrap();
        let image = Loader::new().open(&own).unwrap();
        let id = image.build_id().map(hexadecimal);
        let loader = Loader::new().search(folder.path());
        let module = |build_id| Module {
            path: &recorded,
            build_id,
        };
        assert!(matches!(
            loader.find(module(id.as_deref())),
            Found::Image { .. }
        ));
        assert!(matches!(
            loader.find(module(Some("0123456789abcdef"))),
            Found::OtherBuild { .. }
        ));
        assert!(matches!(
            Loader::new().find(module(None)),
            Found::Missing { .. }
        ));
    }
}
