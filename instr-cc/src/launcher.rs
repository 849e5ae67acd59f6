//! Builds of CMake that compile with us and link without: their programs record nothing, and nobody would say why.
//!
//! `CMAKE_C_COMPILER_LAUNCHER=instr-cc` puts us in front of compilations alone; links have a launcher of their own since CMake 3.21.
//! CMake writes down how it will link before anything is compiled: `CMakeFiles/TARGET.dir/link.txt` for make, `build.ninja` and
//! `CMakeFiles/rules.ninja` for Ninja. The warning comes with the first object of a target.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::argv::table::Kind;
use crate::argv::{self, Arg};
use crate::cli;
use crate::compiler::Machine;
use crate::plan::Additions;

/// Larger files of CMake's are not looked into.
const MAX_FILE: u64 = 64 << 20;

/// What kinds of links Ninja's rules are named after.
const LINKS: [&str; 3] = [
    "_EXECUTABLE_LINKER__",
    "_SHARED_LIBRARY_LINKER__",
    "_MODULE_LIBRARY_LINKER__",
];

/// How a target of CMake's will be linked.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    /// The first word of the command.
    program: String,
    /// The first object.
    object: String,
}

/// What to say of a compilation by `compiler` whose target will be linked without us, if it is the target's first.
#[must_use]
pub fn warning(
    compiler: &Path,
    args: &[OsString],
    additions: &Additions,
    machine: &Machine,
) -> Option<String> {
    if additions.link || additions.plain_link.is_some() {
        return None;
    }
    let args = argv::parse(args);
    let output = args.iter().find(|arg| arg.kind() == Kind::Output)?;
    let output = output.value().filter(|_| compiles(&args))?;
    let (folder, target) = target_of(Path::new(output))?;
    let link = by_make(&folder).or_else(|| by_ninja(Path::new("."), output))?;
    let program = OsStr::new(&link.program);
    let is_compiler = cli::looks_like_compiler(Path::new(program).file_name()?.as_bytes());
    // A script of this name in another folder may call us, as it did for this compilation.
    let beside = Path::new(program).parent() == compiler.parent();
    let is_own = machine.is_own(Path::new(program));
    if output != OsStr::new(&link.object) || !is_compiler || !beside || is_own {
        return None;
    }
    let language = match () {
        () if link.program.contains("++") => "CXX",
        () if link.program.contains("fortran") => "Fortran",
        () => "C",
    };
    Some(format!(
        "{target} is compiled with instr-cc and linked without it: it will leave no trace\n  \
         note: CMake was given a compiler launcher and no linker launcher\n  \
         help: configure with -DCMAKE_{language}_LINKER_LAUNCHER=instr-cc too (CMake 3.21 or later), or with \
         -DCMAKE_{language}_COMPILER=instr-cc in a new build folder"
    ))
}

fn compiles(args: &[Arg]) -> bool {
    args.iter().any(|arg| arg.kind() == Kind::NoLink)
}

/// The folder of the target that an object belongs to, and its name: `CMakeFiles/NAME.dir/…`.
fn target_of(object: &Path) -> Option<(PathBuf, String)> {
    let parts: Vec<Component> = object.components().collect();
    let at = parts
        .iter()
        .position(|part| part.as_os_str() == "CMakeFiles")?;
    let name = parts.get(at + 1)?.as_os_str().to_str()?;
    let folder = parts[..at + 2].iter().collect();
    Some((folder, name.strip_suffix(".dir")?.to_owned()))
}

fn read(path: &Path) -> Option<String> {
    let meta = fs::metadata(path).ok()?;
    (meta.is_file() && meta.len() <= MAX_FILE).then(|| fs::read_to_string(path).ok())?
}

fn by_make(folder: &Path) -> Option<Link> {
    let text = read(&folder.join("link.txt"))?;
    let mut words = text.lines().next()?.split_whitespace();
    Some(Link {
        program: words.next()?.to_owned(),
        object: words.find(|word| word.ends_with(".o"))?.to_owned(),
    })
}

fn by_ninja(folder: &Path, object: &OsStr) -> Option<Link> {
    let object = object.to_str()?;
    let text = read(&folder.join("build.ninja"))?;
    // build app: C_EXECUTABLE_LINKER__app_Debug CMakeFiles/app.dir/app.c.o | …
    let rule_of = |line: &str| {
        let (_, rest) = line.strip_prefix("build ")?.split_once(": ")?;
        let mut words = rest.split(' ');
        let rule = words.next()?;
        let links = LINKS.iter().any(|kind| rule.contains(kind));
        (links && words.next() == Some(object)).then(|| rule.to_owned())
    };
    let rule = text.lines().find_map(rule_of)?;
    let rules = read(&folder.join("CMakeFiles/rules.ninja"))?;
    let mut lines = rules.lines();
    lines.find(|line| line.strip_prefix("rule ") == Some(rule.as_str()))?;
    let command = lines
        .take_while(|line| !line.is_empty())
        .find_map(|line| line.trim_start().strip_prefix("command = "))?;
    // $PRE_LINK && /usr/bin/cc $FLAGS … && $POST_BUILD
    let (_, command) = command.split_once("$PRE_LINK && ")?;
    Some(Link {
        program: command.split(' ').next()?.to_owned(),
        object: object.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_belong_to_targets() {
        let of = |path: &str| target_of(Path::new(path));
        let (folder, name) = of("CMakeFiles/app.dir/src/a.c.o").unwrap();
        assert_eq!(
            (folder, name.as_str()),
            ("CMakeFiles/app.dir".into(), "app")
        );
        let (folder, name) = of("/b/sub/CMakeFiles/x y.dir/a.c.o").unwrap();
        assert_eq!(
            (folder, name.as_str()),
            ("/b/sub/CMakeFiles/x y.dir".into(), "x y")
        );
        for path in ["a.o", "CMakeFiles", "CMakeFiles/a.o", "CMakeFiles/x/a.o"] {
            assert_eq!(of(path), None, "{path}");
        }
    }

    #[test]
    fn the_links_that_cmake_writes_down_are_read() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(
            dir.path().join("link.txt"),
            "/usr/bin/cc  -O2 -rdynamic CMakeFiles/app.dir/a.c.o CMakeFiles/app.dir/b.c.o -o app \n",
        )
        .unwrap();
        let link = |program: &str, object: &str| {
            Some(Link {
                program: program.into(),
                object: object.into(),
            })
        };
        let first = "CMakeFiles/app.dir/a.c.o";
        assert_eq!(by_make(dir.path()), link("/usr/bin/cc", first));
        fs::create_dir(dir.path().join("CMakeFiles")).unwrap();
        fs::write(
            dir.path().join("build.ninja"),
            "build CMakeFiles/app.dir/a.c.o: C_COMPILER__app_ ../a.c\n\
             build app: C_EXECUTABLE_LINKER__app_ CMakeFiles/app.dir/a.c.o CMakeFiles/app.dir/b.c.o | x\n",
        )
        .unwrap();
        fs::write(
            dir.path().join("CMakeFiles/rules.ninja"),
            "rule C_COMPILER__app_\n  command = /w/instr-cc /usr/bin/cc -c $in\n\n\
             rule C_EXECUTABLE_LINKER__app_\n  depfile = x\n  command = $PRE_LINK && /usr/bin/cc $FLAGS $in -o $TARGET_FILE && $POST_BUILD\n\n",
        )
        .unwrap();
        let ninja = |object: &str| by_ninja(dir.path(), object.as_ref());
        assert_eq!(ninja(first), link("/usr/bin/cc", first));
        assert_eq!(ninja("CMakeFiles/app.dir/b.c.o"), None);
        assert_eq!(by_ninja(&dir.path().join("none"), first.as_ref()), None);
    }
}
