//! Places where a wanted file may lie.

use std::path::{Component, Path, PathBuf};

use super::{DEFAULT_DEBUG_DIR, Loader};
use crate::wants::Want;

/// How many folders above the program's own are looked at for the `.dwo` files of a build folder that moved.
const MAX_ANCESTORS: usize = 4;

impl Loader {
    /// Places where `want` may lie, most likely first, for a program at `program`; each only once.
    pub(super) fn places(&self, want: &Want, program: &Path) -> Vec<PathBuf> {
        // Debug links and compilation folders count from where the program really is, not from a link to it.
        let real = std::fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
        let mut places = match want {
            Want::BuildId { id } => self.build_id_places(id, ".debug"),
            Want::DebugLink { name, .. } => self.debug_link_places(name, &real),
            Want::Supplementary { name, id } => self.supplementary_places(name, id, &real),
            Want::SplitUnit { path, folder, .. } => {
                self.split_unit_places(path, folder.as_deref(), program, &real)
            }
        };
        places.extend(want.candidates(program));
        let mut distinct: Vec<PathBuf> = Vec::with_capacity(places.len());
        for place in places {
            if !distinct.contains(&place) {
                distinct.push(place);
            }
        }
        distinct
    }

    /// Folders of debug files, those below the sysroot first.
    fn debug_roots(&self) -> Vec<PathBuf> {
        let given = match self.debug_dirs.is_empty() {
            true => vec![PathBuf::from(DEFAULT_DEBUG_DIR)],
            false => self.debug_dirs.clone(),
        };
        let below = self
            .sysroot
            .iter()
            .map(|root| root.join(below_root(Path::new(DEFAULT_DEBUG_DIR))));
        below.chain(given).collect()
    }

    /// `ROOT/.build-id/ab/cdef….debug` below each folder of debug files; without a suffix, the program itself.
    pub(super) fn build_id_places(&self, id: &[u8], suffix: &str) -> Vec<PathBuf> {
        let Some((first, rest)) = id.split_first() else {
            return Vec::new();
        };
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        let tail = format!(".build-id/{first:02x}/{rest}{suffix}");
        let roots = self.debug_roots().into_iter().chain(self.search.clone());
        roots.map(|root| root.join(&tail)).collect()
    }

    /// gdb's places: beside the program, in `.debug` there, below the folders of debug files by the program's folder.
    fn debug_link_places(&self, name: &Path, program: &Path) -> Vec<PathBuf> {
        let folder = program.parent().unwrap_or(Path::new(""));
        let mut places = vec![folder.join(name), folder.join(".debug").join(name)];
        let inside = self
            .sysroot
            .as_deref()
            .and_then(|root| folder.strip_prefix(root).ok());
        for root in self.debug_roots() {
            places.extend(inside.map(|inside| root.join(inside).join(name)));
            places.push(root.join(below_root(folder)).join(name));
            places.push(root.join(name));
        }
        places.extend(self.search.iter().map(|dir| dir.join(name)));
        places
    }

    fn supplementary_places(&self, name: &Path, id: &[u8], program: &Path) -> Vec<PathBuf> {
        let folder = program.parent().unwrap_or(Path::new(""));
        let mut places = Vec::new();
        if name.is_absolute() {
            places.extend(self.sysroot.iter().map(|root| root.join(below_root(name))));
        }
        places.push(folder.join(name));
        for root in self.debug_roots() {
            // `../../.dwz/x.debug` in a debug file two or three folders below the root.
            if let Some(base) = name.file_name() {
                places.push(root.join(".dwz").join(base));
            }
        }
        places.extend(self.build_id_places(id, ".debug"));
        places
    }

    /// The package beside the program, the unit where it was compiled, then beside the program and above.
    fn split_unit_places(
        &self,
        path: &Path,
        compiled_in: Option<&Path>,
        program: &Path,
        real: &Path,
    ) -> Vec<PathBuf> {
        let whole = compiled_in.unwrap_or(Path::new("")).join(path);
        let mut places = vec![package_of(program), package_of(real)];
        places.extend(self.debug_file.as_deref().map(package_of));
        for root in self.debug_roots() {
            places.push(package_of(&root.join(below_root(real))));
        }
        places.extend(self.mapped(&whole));
        if whole.is_absolute() {
            places.extend(
                self.sysroot
                    .iter()
                    .map(|root| root.join(below_root(&whole))),
            );
        }
        places.push(whole);
        let folder = real.parent().unwrap_or(Path::new(""));
        let relative = below_root(path);
        let above = folder.ancestors().take(MAX_ANCESTORS);
        for dir in above.chain(self.search.iter().map(PathBuf::as_path)) {
            places.push(dir.join(&relative));
            places.extend(path.file_name().map(|name| dir.join(name)));
        }
        places
    }

    /// `path` as the path maps say.
    fn mapped(&self, path: &Path) -> Vec<PathBuf> {
        let map = |(old, new): &(PathBuf, PathBuf)| Some(new.join(path.strip_prefix(old).ok()?));
        self.path_maps.iter().filter_map(map).collect()
    }
}

/// `PROGRAM.dwp`.
fn package_of(program: &Path) -> PathBuf {
    let mut package = program.as_os_str().to_owned();
    package.push(".dwp");
    PathBuf::from(package)
}

/// A path without its root and without steps up, to be put below a folder.
pub(super) fn below_root(path: &Path) -> PathBuf {
    path.components()
        .filter(|part| matches!(part, Component::Normal(_)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(places: Vec<PathBuf>) -> Vec<String> {
        places
            .iter()
            .map(|place| place.display().to_string())
            .collect()
    }

    #[test]
    fn build_ids_below_every_folder_of_debug_files() {
        let want = Want::BuildId {
            id: vec![0xab, 0x01, 0xff],
        };
        let program = Path::new("/nonexistent/app");
        assert_eq!(
            texts(Loader::new().places(&want, program)),
            ["/usr/lib/debug/.build-id/ab/01ff.debug"]
        );
        let loader = Loader::new()
            .debug_dir("/d1")
            .debug_dir("/d2")
            .sysroot("/sys");
        assert_eq!(
            texts(loader.places(&want, program))[..3],
            [
                "/sys/usr/lib/debug/.build-id/ab/01ff.debug",
                "/d1/.build-id/ab/01ff.debug",
                "/d2/.build-id/ab/01ff.debug"
            ]
        );
    }

    #[test]
    fn debug_links_where_gdb_looks() {
        let want = Want::DebugLink {
            name: "app.debug".into(),
            crc32: 0,
        };
        let places = texts(Loader::new().places(&want, Path::new("/nonexistent/bin/app")));
        assert_eq!(
            places[..3],
            [
                "/nonexistent/bin/app.debug",
                "/nonexistent/bin/.debug/app.debug",
                "/usr/lib/debug/nonexistent/bin/app.debug"
            ]
        );
    }

    #[test]
    fn split_units_of_a_build_that_moved() {
        let want = Want::SplitUnit {
            path: "obj/a.dwo".into(),
            folder: Some("/old/build".into()),
            id: 1,
        };
        let loader = Loader::new().path_map("/old", "/new").search("/there");
        let places = texts(loader.places(&want, Path::new("/nonexistent/build/bin/app")));
        for expected in [
            "/nonexistent/build/bin/app.dwp",
            "/new/build/obj/a.dwo",
            "/old/build/obj/a.dwo",
            "/nonexistent/build/obj/a.dwo",
            "/nonexistent/build/bin/a.dwo",
            "/there/obj/a.dwo",
            "/there/a.dwo",
        ] {
            assert!(
                places.iter().any(|place| place == expected),
                "{expected}: {places:?}"
            );
        }
    }
}
