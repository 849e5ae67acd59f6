//! The library that `instr run` preloads, as an installation brings it: `PREFIX/lib/instr`, beside `PREFIX/bin`. Machines without a compiler, and users
//! without a folder of their own, have it from there. It is used only where it is what this version would build.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use instr_rewrite::api;
use instr_rewrite::program::Program;

use crate::cache::key;
use crate::runtime::shared_name;

/// From the folder of the programs to that of the library.
const WAY: &str = "../lib/instr";
/// The file that says what the library is.
const ABOUT: &str = "preload.version";
/// More is no such file.
const MAX_ABOUT: u64 = 256;
/// So much of a library has its headers.
const HEADERS: u64 = 1 << 16;

/// What an installation has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// No library: it was not built, or this program stands alone.
    Nothing,
    /// The library, which is what this version would build.
    Usable(PathBuf),
    /// One that is not to be used, and why.
    Refused(String),
}

/// Looks beside the program `own` for the library `name`.
pub(crate) fn find(own: &Path, name: &str) -> Found {
    let folder = own.parent().map(|bin| bin.join(WAY));
    let Some(folder) = folder.and_then(|folder| folder.canonicalize().ok()) else {
        return Found::Nothing;
    };
    let library = folder.join(name);
    if !library.exists() {
        return Found::Nothing;
    }
    match check(&folder, &library, own) {
        Ok(()) => Found::Usable(library),
        Err(why) => Found::Refused(format!("{} is not used: {why}", library.display())),
    }
}

fn check(folder: &Path, library: &Path, own: &Path) -> Result<(), String> {
    let about = begin_of(&folder.join(ABOUT), MAX_ABOUT)
        .map_err(|error| format!("{ABOUT} beside it cannot be read: {error}"))?;
    let about = String::from_utf8_lossy(&about);
    let wanted = about_this();
    if about != wanted {
        let version = |text: &str| {
            let word = text.split_whitespace().nth(1)?;
            let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-+~".contains(c);
            word.chars().all(is_plain).then(|| word.to_owned())
        };
        return Err(match (version(&about), version(&wanted)) {
            (Some(theirs), Some(ours)) if theirs != ours => {
                format!("it is of instr {theirs}, this is {ours}")
            }
            (Some(_), _) => "it was built from other sources of the same version".to_owned(),
            (None, _) => format!("{ABOUT} beside it is damaged"),
        });
    }
    for file in [library, &folder.join(shared_name())] {
        let name = file.file_name().unwrap_or_default().display().to_string();
        let begin = begin_of(file, HEADERS);
        let begin = begin.map_err(|error| format!("{name} cannot be read: {error}"))?;
        let theirs = Program::parse(&begin).ok_or_else(|| format!("{name} is no library"))?;
        let begin = begin_of(own, HEADERS).map_err(|error| error.to_string())?;
        let ours = Program::parse(&begin).ok_or("this program's own file cannot be read")?;
        if (theirs.machine, theirs.is_64) != (ours.machine, ours.is_64) {
            return Err(format!("{name} is for another processor"));
        }
    }
    Ok(())
}

fn begin_of(file: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(file)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The text of [`ABOUT`]: the version, and a key of all that the library is made of but the compiler.
fn about_this() -> String {
    let shared = shared_name();
    let mut parts = vec![env!("CARGO_PKG_VERSION"), instr_runtime::KEY, &shared];
    for text in api::own_texts() {
        parts.push(text);
    }
    let key = key(parts.into_iter().map(str::as_bytes));
    format!("instr {} {key}\n", env!("CARGO_PKG_VERSION"))
}

/// Puts the built `libraries`, and what lies beside them, into `folder` for an installation. Nobody sees half a file.
///
/// # Errors
///
/// A folder that cannot be written.
pub(crate) fn put(libraries: &[PathBuf], folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let new = |name: &Path, from: &mut dyn io::Read| -> io::Result<()> {
        let mut file = tempfile::Builder::new()
            .permissions(fs::Permissions::from_mode(0o644))
            .tempfile_in(folder)?;
        io::copy(from, &mut file)?;
        file.flush()?;
        file.persist(folder.join(name))?;
        Ok(())
    };
    // What it is comes last, and goes first: a library without it is not used.
    match fs::remove_file(folder.join(ABOUT)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let beside = shared_name();
    for library in libraries {
        let name = Path::new(library.file_name().unwrap_or_default());
        new(name, &mut File::open(library)?)?;
        new(
            beside.as_ref(),
            &mut File::open(library.with_file_name(&beside))?,
        )?;
    }
    new(ABOUT.as_ref(), &mut about_this().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAME: &str = "libinstr-preload.so";

    /// An installation whose files are copies of this program: `bin/instr`.
    fn installation(dir: &Path) -> PathBuf {
        let own = std::env::current_exe().unwrap();
        let (bin, built) = (dir.join("bin"), dir.join("built"));
        for folder in [&bin, &built] {
            fs::create_dir(folder).unwrap();
        }
        fs::copy(&own, bin.join("instr")).unwrap();
        for name in [NAME, &shared_name()] {
            fs::copy(&own, built.join(name)).unwrap();
        }
        put(&[built.join(NAME)], &dir.join("lib/instr")).unwrap();
        bin.join("instr")
    }

    #[test]
    fn what_was_put_is_found_and_used() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let own = installation(&root);
        let library = root.join("lib/instr").join(NAME);
        assert_eq!(find(&own, NAME), Found::Usable(library));
        let alone = root.join("alone/instr");
        assert_eq!(find(&alone, NAME), Found::Nothing);
        fs::remove_file(root.join("lib/instr").join(NAME)).unwrap();
        assert_eq!(find(&own, NAME), Found::Nothing);
    }

    #[test]
    fn another_version_another_processor_and_damage_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let own = installation(dir.path());
        let folder = dir.path().join("lib/instr");
        let why = || match find(&own, NAME) {
            Found::Refused(why) => why,
            other => panic!("{other:?}"),
        };
        let about = folder.join(ABOUT);
        let right = fs::read_to_string(&about).unwrap();
        for (text, wanted) in [
            ("instr 0.0.1 0123\n", "it is of instr 0.0.1, this is "),
            (&right.replace('\n', "0\n"), "other sources of the same"),
            ("", "preload.version beside it is damaged"),
            ("instr \u{1b}[31m x", "preload.version beside it is damaged"),
        ] {
            fs::write(&about, text).unwrap();
            assert!(why().contains(wanted), "{text:?}: {}", why());
        }
        fs::write(&about, &right).unwrap();
        let shared = folder.join(shared_name());
        let bytes = fs::read(&shared).unwrap();
        let mut other = bytes.clone();
        other[18] = 2; // the machine, in the ELF header
        fs::write(&shared, other).unwrap();
        assert!(why().contains("is for another processor"), "{}", why());
        fs::write(&shared, "text").unwrap();
        assert!(why().contains("is no library"), "{}", why());
        fs::remove_file(&shared).unwrap();
        assert!(why().contains("cannot be read"), "{}", why());
        fs::remove_file(&about).unwrap();
        assert!(why().contains("preload.version"), "{}", why());
    }
}
