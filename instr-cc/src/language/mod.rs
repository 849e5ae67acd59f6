//! Which compiler is meant where none is named: by the language of the sources, and for a link by what the objects need.
//!
//! `c++` for C++, `gfortran` for Fortran, the default compiler (`cc`, or that of `--instr-target`) for everything else, so that
//! `CC=instr-cc`, `CXX=instr-cc` and `FC=instr-cc` are three right settings. A line that shows no language (`--version`, `-v`,
//! `-print-search-dirs`) is the default compiler's. What a user names is never changed.

mod companion;
mod objects;
mod sources;

use crate::argv::{self, response_file};
use crate::cli::{Choice, Files};
use crate::error::UsageError;

use sources::Sources;

/// The languages whose compilers link more than the C compiler does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C++, Objective-C++ too.
    Cpp,
    /// Fortran.
    Fortran,
}

/// The languages whose run-time libraries a link needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Needs {
    cpp: bool,
    fortran: bool,
}

/// Takes the compiler of the line's language in place of the default one.
///
/// # Errors
/// When there are Fortran sources and no Fortran compiler: the C compiler's own message names neither.
pub fn choose(mut choice: Choice, files: &dyn Files) -> Result<Choice, UsageError> {
    // A response file that cannot be read is the compiler's to refuse.
    let Ok(words) = response_file::expand(&choice.args) else {
        return Ok(choice);
    };
    let args = argv::parse(&words);
    let sources = Sources::of(&args);
    let mut needs = Needs {
        cpp: sources.cpp,
        fortran: sources.fortran.is_some(),
    };
    let others = sources.c || sources.others;
    if sources.links {
        if sources.objects {
            let found = objects::needs(&args, others || needs != Needs::default());
            needs.cpp |= found.cpp;
            needs.fortran |= found.fortran;
        }
    } else if others || (needs.cpp && needs.fortran) {
        // Each file is compiled by its own language, whatever the driver's name is.
        return Ok(choice);
    }
    let add_cpp_library = needs.cpp && sources.links && objects::lacks_cpp_library(&args);
    // A C++ compiler takes C for C++; those of C and Fortran compile each source by its ending, and lack the library of C++ alone.
    let language = match (needs.cpp, needs.fortran) {
        (false, false) => return Ok(choice),
        (true, false) if sources.c => None,
        (true, false) => Some(Language::Cpp),
        (_, true) => Some(Language::Fortran),
    };
    if let Some(language) = language {
        let name = companion::of(choice.compiler(), language, files);
        match (name, choice.command.last_mut(), sources.fortran) {
            (Some(name), Some(compiler), _) => *compiler = name,
            (None, _, Some(file)) => {
                let file = file.to_string_lossy().into_owned();
                return Err(UsageError::NoFortran(file));
            }
            _ => return Ok(choice),
        }
    }
    if language != Some(Language::Cpp) && add_cpp_library {
        choice.args.extend(objects::CPP_LIBRARY.map(Into::into));
    }
    Ok(choice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::{OsStr, OsString};
    use std::path::{Path, PathBuf};

    /// `/usr/bin` with these programs.
    struct Bin(&'static [&'static str]);

    impl Files for Bin {
        fn in_path(&self, name: &OsStr) -> Option<PathBuf> {
            let path = Path::new("/usr/bin").join(name);
            self.is_executable(&path).then_some(path)
        }
        fn is_executable(&self, path: &Path) -> bool {
            self.0.iter().any(|p| Path::new("/usr/bin").join(p) == path)
        }
        fn exists(&self, _: &Path) -> bool {
            false
        }
        fn real(&self, path: &Path) -> PathBuf {
            match path.file_name().and_then(OsStr::to_str) {
                Some("cc") => "/usr/bin/x86_64-linux-gnu-gcc-12".into(),
                Some("c++") => "/usr/bin/x86_64-linux-gnu-g++-12".into(),
                _ => path.to_owned(),
            }
        }
    }

    const ALL: Bin = Bin(&["cc", "c++", "gfortran"]);

    fn chosen(line: &str, files: &Bin) -> Result<String, UsageError> {
        let choice = Choice {
            command: vec!["cc".into()],
            extra: Vec::new(),
            args: line.split_whitespace().map(OsString::from).collect(),
            named: false,
        };
        let choice = choose(choice, files)?;
        let words = [choice.command, choice.args].concat();
        Ok(words.join(OsStr::new(" ")).into_string().unwrap())
    }

    #[test]
    fn sources_choose_the_compiler() {
        for (line, compiler) in [
            ("-c x.c", "cc"),
            ("x.c y.s z.S -o x", "cc"),
            ("-c x.cpp", "c++"),
            ("-c x.cc y.cxx z.C", "c++"),
            ("x.cpp -o x", "c++"),
            ("-c x.ii", "c++"),
            ("-c x.i", "cc"),
            ("-c x.m", "cc"),
            ("-c x.mm", "c++"),
            ("-E x.cpp", "c++"),
            ("-E x.c", "cc"),
            ("-x c++ -E -", "c++"),
            ("-E -xc++ -dM /dev/null", "c++"),
            ("-x c -E -", "cc"),
            ("-x c++-header x.h", "c++"),
            ("x.hpp", "c++"),
            ("x.h", "cc"),
            ("-c x.f90", "gfortran"),
            ("x.F -o x", "gfortran"),
            ("-x f95 -c x.txt", "gfortran"),
            ("-x c++ a.c -x none -c", "c++"),
            ("-x c a.cpp -c", "cc"),
            ("-o x.cpp y.c", "cc"),
            ("-v", "cc"),
            ("-v x.cpp", "c++"),
            ("--version", "cc"),
            ("-print-prog-name=ld", "cc"),
            ("-dumpmachine", "cc"),
            ("", "cc"),
            // Compiled each by its own language.
            ("-c x.c y.cpp", "cc"),
            ("-c x.f90 y.cpp", "cc"),
            ("-c x.s y.cpp", "cc"),
            ("x.c y.f90 -o x", "gfortran"),
        ] {
            let want = format!("{compiler} {line}");
            let same = chosen(line, &ALL).unwrap();
            let same: Vec<&str> = same.split_whitespace().collect();
            assert_eq!(same.join(" "), want.trim(), "{line}");
        }
    }

    #[test]
    fn languages_that_are_mixed_are_compiled_each_as_it_is() {
        for (line, want) in [
            ("a.c b.cpp -o x", "cc a.c b.cpp -o x {}"),
            ("a.c b.cpp -lstdc++", "cc a.c b.cpp -lstdc++"),
            ("a.c b.cpp -nostdlib", "cc a.c b.cpp -nostdlib"),
            ("a.cpp b.f90 -o x", "gfortran a.cpp b.f90 -o x {}"),
            ("a.cpp b.f90 -lstdc++", "gfortran a.cpp b.f90 -lstdc++"),
            ("a.c b.cpp c.f90", "gfortran a.c b.cpp c.f90 {}"),
        ] {
            let want = want.replace("{}", &objects::CPP_LIBRARY.join(" "));
            assert_eq!(chosen(line, &ALL).unwrap(), want);
        }
    }

    #[test]
    fn without_the_compiler_of_a_language_the_default_one_remains() {
        let only = Bin(&["cc"]);
        assert_eq!(chosen("x.cpp -o x", &only).unwrap(), "cc x.cpp -o x");
        assert_eq!(
            chosen("-c a/x.f90", &only),
            Err(UsageError::NoFortran("a/x.f90".into()))
        );
    }
}
