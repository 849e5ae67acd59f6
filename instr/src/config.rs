//! `instr config`: where things of the installation are, for builds without `instr-cc` that include `<instr/instr.h>`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use instr_cc::cache::Cache;

use crate::cli::ConfigOptions;
use crate::console::{Console, NO_OUTPUT, Refusal};

/// Where the header and the files of build systems are.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    /// The folder in which `instr/instr.h` is.
    include: PathBuf,
    /// The installation; nothing where there is none.
    prefix: Option<PathBuf>,
}

/// Prints what is asked for, each on a line of its own, in the order of the help; without a question everything by name.
///
/// # Errors
///
/// A question about an installation where there is none, and failures to write.
pub fn run(options: &ConfigOptions, console: &mut Console<'_>) -> Result<()> {
    if options.example {
        return console
            .out
            .write_all(crate::series::EXAMPLE.as_bytes())
            .context(NO_OUTPUT);
    }
    let places = Places::of(&std::env::current_exe()?)?;
    let below = |name: &'static str| {
        let prefix = places.prefix.as_ref();
        prefix.map(|prefix| escaped(&prefix.join(name)))
    };
    let answers = [
        (options.cflags, "cflags", Some(places.cflags())),
        // Calls compile to nothing; instr-cc alone links what records them.
        (options.libs, "libs", Some(String::new())),
        (
            options.includedir,
            "includedir",
            Some(escaped(&places.include)),
        ),
        (
            options.prefix,
            "prefix",
            places.prefix.as_deref().map(escaped),
        ),
        (options.cmakedir, "cmakedir", below("share/cmake/instr")),
        (
            options.pkgconfigdir,
            "pkgconfigdir",
            below("share/pkgconfig"),
        ),
    ];
    let all = !answers.iter().any(|(asked, ..)| *asked);
    for (asked, name, answer) in answers {
        match answer {
            Some(answer) if all => writeln!(console.out, "{name}: {answer}"),
            Some(answer) if asked => writeln!(console.out, "{answer}"),
            None if asked => return Err(not_installed(name).into()),
            _ => Ok(()),
        }
        .context(NO_OUTPUT)?;
    }
    Ok(())
}

fn not_installed(name: &str) -> Refusal {
    Refusal {
        message: format!("cannot tell --{name}: this instr was not installed by make install"),
        notes: Vec::new(),
        help: Some("--cflags works everywhere; or install it: make install PREFIX=~/.local".into()),
    }
}

impl Places {
    /// Those of `PREFIX/bin/instr`, of `target/release/instr` in the sources, else a copy of the header that instr-cc keeps.
    fn of(program: &Path) -> Result<Self> {
        let folder = program.parent().unwrap_or(Path::new("."));
        let has_header = |include: &PathBuf| include.join("instr/instr.h").is_file();
        let found = |way: &str| folder.join(way).canonicalize().ok().filter(has_header);
        if let Some(include) = found("../include") {
            let prefix = include.parent().map(Path::to_owned);
            return Ok(Self { include, prefix });
        }
        let prefix = None;
        if let Some(include) = found("../../runtime/include") {
            return Ok(Self { include, prefix });
        }
        let why = "cannot keep a copy of instr/instr.h";
        let cache = Cache::open(|name| std::env::var_os(name)).context(why)?;
        anyhow::ensure!(!cache.is_private(), "{why}: there is no folder for a cache");
        let include = instr_cc::runtime::headers(&cache).context(why)?;
        Ok(Self { include, prefix })
    }

    /// Compilers look into /usr/include by themselves; in front of other folders it would be in the way.
    fn cflags(&self) -> String {
        match self.include == Path::new("/usr/include") {
            true => String::new(),
            false => format!("-I{}", escaped(&self.include)),
        }
    }
}

/// A path as pkg-config writes it: what a shell would not take as it stands has a backslash in front.
fn escaped(path: &Path) -> String {
    let mut text = String::new();
    for character in path.to_string_lossy().chars() {
        let plain = character.is_alphanumeric() || "/._-+=,:@%^~".contains(character);
        if !plain {
            text.push('\\');
        }
        text.push(character);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_header_is_found_from_the_program() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let header = |folder: &str| {
            fs::create_dir_all(root.join(folder).join("instr")).unwrap();
            fs::write(root.join(folder).join("instr/instr.h"), "").unwrap();
            root.join(folder)
        };
        let program = |folder: &str| {
            fs::create_dir_all(root.join(folder)).unwrap();
            root.join(folder).join("instr")
        };
        let include = header("pre fix/include");
        let places = Places::of(&program("pre fix/bin")).unwrap();
        assert_eq!(places.prefix, Some(root.join("pre fix")));
        assert_eq!(places.include, include);
        assert!(places.cflags().ends_with("/pre\\ fix/include"));
        let include = header("clone/runtime/include");
        let places = Places::of(&program("clone/target/release")).unwrap();
        assert_eq!((places.include, places.prefix), (include, None));
    }

    #[test]
    fn the_systems_folder_is_no_option() {
        let of = |include: &str| {
            Places {
                include: include.into(),
                prefix: None,
            }
            .cflags()
        };
        assert_eq!(of("/usr/include"), "");
        assert_eq!(of("/usr/local/include"), "-I/usr/local/include");
        assert_eq!(of("/a b/$c"), "-I/a\\ b/\\$c");
    }
}
