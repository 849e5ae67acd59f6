//! The compiler of another language that belongs to a C compiler.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use super::Language;
use crate::cli::Files;

/// The compiler of `language` beside the C compiler `base`, as it is started; nothing where there is none.
///
/// For `cc` that is `c++` and `gfortran`, but never `c++` of GCC beside a `cc` that is Clang, or the other way round: build systems ask
/// one of them what it is, and believe it of both. For another name it is the name with the last part changed.
pub(super) fn of(base: &OsStr, language: Language, files: &dyn Files) -> Option<OsString> {
    let there = |name: OsString| files.in_path(&name).is_some().then_some(name);
    if base != "cc" {
        return there(renamed(base.as_bytes(), language)?);
    }
    let real = files.in_path(base).map(|path| files.real(&path));
    let beside = || {
        let real = real.as_deref()?;
        let name = renamed(real.file_name()?.as_bytes(), language)?;
        let candidates = [name, without_version(real.file_name()?, language)?];
        let paths = candidates.map(|name| real.with_file_name(name));
        paths.into_iter().find(|path| files.is_executable(path))
    };
    let usual = match language {
        Language::Cpp => there("c++".into()),
        Language::Fortran => return there("gfortran".into()).or_else(|| beside().map(Into::into)),
    };
    let is_clang = |path: &Path| {
        let name = path.file_name().unwrap_or_default().as_bytes();
        name.windows(5).any(|word| word == b"clang")
    };
    let agrees = |name: &OsString| {
        let path = files.in_path(name).map(|path| files.real(&path));
        match (&real, path) {
            (Some(c), Some(cpp)) => is_clang(c) == is_clang(&cpp),
            _ => true,
        }
    };
    match usual {
        Some(name) if agrees(&name) => Some(name),
        other => beside().map(Into::into).or(other),
    }
}

/// `sparc64-linux-gnu-gcc-12` → `sparc64-linux-gnu-g++-12`, `clang-14` → `clang++-14`; nothing for a name of another form.
fn renamed(name: &[u8], language: Language) -> Option<OsString> {
    let start = name.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
    let (folder, name) = name.split_at(start);
    let mut parts: Vec<&[u8]> = name.split(|b| *b == b'-').collect();
    let at = parts
        .iter()
        .rposition(|part| matches!(*part, b"gcc" | b"cc" | b"clang"))?;
    parts[at] = match (parts[at], language) {
        (b"gcc", Language::Cpp) => b"g++",
        (b"cc", Language::Cpp) => b"c++",
        (b"clang", Language::Cpp) => b"clang++",
        (b"clang", Language::Fortran) => return None,
        (_, Language::Fortran) => b"gfortran",
        _ => return None,
    };
    Some(OsString::from_vec(
        [folder, &parts.join(&b'-')[..]].concat(),
    ))
}

/// Clang's files are `clang-17`, and its links `clang` and `clang++`.
fn without_version(name: &OsStr, language: Language) -> Option<OsString> {
    let name = name.as_bytes();
    let is_version =
        |rest: &[u8]| !rest.is_empty() && rest.iter().all(|b| b.is_ascii_digit() || *b == b'.');
    let plain = match name.iter().rposition(|b| *b == b'-') {
        Some(at) if is_version(&name[at + 1..]) => &name[..at],
        _ => name,
    };
    renamed(plain, language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn names_keep_their_prefix_and_version() {
        let of = |name: &str, language| {
            renamed(name.as_bytes(), language).map(|name| name.into_string().unwrap())
        };
        for (name, cpp, fortran) in [
            ("gcc", "g++", Some("gfortran")),
            (
                "sparc64-linux-gnu-gcc-12",
                "sparc64-linux-gnu-g++-12",
                Some("sparc64-linux-gnu-gfortran-12"),
            ),
            ("clang-14", "clang++-14", None),
            ("cc", "c++", Some("gfortran")),
            ("/a-gcc/b-gcc", "/a-gcc/b-g++", Some("/a-gcc/b-gfortran")),
        ] {
            assert_eq!(of(name, Language::Cpp).as_deref(), Some(cpp));
            assert_eq!(of(name, Language::Fortran).as_deref(), fortran);
        }
        assert_eq!(of("icc", Language::Cpp), None);
        assert_eq!(of("ccache", Language::Cpp), None);
    }

    /// What `cc` and `c++` lead to; `/usr/bin` holds the rest.
    struct Bin(&'static str, &'static str, &'static [&'static str]);

    impl Files for Bin {
        fn in_path(&self, name: &OsStr) -> Option<PathBuf> {
            let path = Path::new("/usr/bin").join(name);
            let there = name == "cc" || (name == "c++" && !self.1.is_empty());
            (there || self.is_executable(&path)).then_some(path)
        }
        fn is_executable(&self, path: &Path) -> bool {
            self.2.iter().any(|known| path == Path::new(known))
        }
        fn exists(&self, _: &Path) -> bool {
            false
        }
        fn real(&self, path: &Path) -> PathBuf {
            match path.to_str() {
                Some("/usr/bin/cc") => self.0.into(),
                Some("/usr/bin/c++") => self.1.into(),
                _ => path.to_owned(),
            }
        }
    }

    #[test]
    fn the_compiler_of_cpp_is_of_the_same_family_as_that_of_c() {
        let cpp = |bin: Bin| of("cc".as_ref(), Language::Cpp, &bin);
        const GPP: &str = "/usr/bin/g++-12";
        const CLANGPP: &str = "/l/bin/clang++";
        let (gcc, gpp) = ("/usr/bin/gcc-12", GPP);
        let (clang, clangpp) = ("/l/bin/clang", CLANGPP);
        assert_eq!(cpp(Bin(gcc, gpp, &[])), Some("c++".into()));
        assert_eq!(cpp(Bin(clang, clangpp, &[])), Some("c++".into()));
        assert_eq!(cpp(Bin(clang, gpp, &[CLANGPP])), Some(clangpp.into()));
        let versioned = Bin("/l/bin/clang-17", gpp, &[CLANGPP]);
        assert_eq!(cpp(versioned), Some(clangpp.into()));
        assert_eq!(cpp(Bin(gcc, clangpp, &[GPP])), Some(gpp.into()));
        // The only one there is; none at all.
        assert_eq!(cpp(Bin(clang, gpp, &[])), Some("c++".into()));
        assert_eq!(cpp(Bin(gcc, "", &[GPP])), Some(gpp.into()));
        assert_eq!(cpp(Bin(gcc, "", &[])), None);
        // A masquerading compiler cache leads to neither.
        let ccache = "/usr/bin/ccache";
        assert_eq!(cpp(Bin(ccache, ccache, &[])), Some("c++".into()));
    }
}
