//! `make deb`: what is in the package, and that it works where it is unpacked.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::need;
use instr_tests::workspace;
use libtest_mimic::Trial;

use super::clone::{Clone, TOOLS};
use super::use_tools;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("install::package-has-working-tools", works),
        trial("install::package-is-reproducible", reproducible),
    ]
}

/// Makes the package of a clone, compressed with this effort.
fn package(clone: &Clone, level: &str) -> Check<PathBuf> {
    for tool in ["dpkg-deb", "readelf"] {
        need(tool)?;
    }
    let script = clone.root.join("scripts/deb.sh");
    let made = Run::new(script)
        .env("SOURCE_DATE_EPOCH", "1700000000")
        .env("INSTR_DEB_LEVEL", level)
        .succeed()?;
    let text = made.text();
    let path = text.trim().strip_prefix("package: ").ok_or("no package")?;
    Ok(path.into())
}

fn field(package: &Path, name: &str) -> Check<String> {
    let run = Run::words(["dpkg-deb", "--field"]).arg(package).arg(name);
    Ok(run.succeed()?.text().trim().to_owned())
}

fn works() -> Check {
    let dir = workspace::work_dir("package-works")?;
    let package = package(&Clone::with_tools(dir.path())?, "0")?; // what is in it is tested, not its size
    let root = dir.path().join("root");
    Run::words(["dpkg-deb", "--extract"])
        .arg(&package)
        .arg(&root)
        .succeed()?;
    Run::words(["dpkg-deb", "--control"])
        .arg(&package)
        .arg(dir.path().join("control"))
        .succeed()?;
    let sums = dir.path().join("control/md5sums");
    let checked = Run::words(["md5sum", "--check", "--strict"]).arg(&sums);
    let checked = checked.dir(&root).succeed()?.text();
    let files = Run::words(["find", "usr", "-type", "f"])
        .dir(&root)
        .succeed()?
        .text();
    ensure(checked.lines().count() == files.lines().count(), || {
        "md5sums lists other files".into()
    })?;
    use_tools(&root.join("usr/bin"), dir.path())?;
    for tool in TOOLS {
        let page = format!("usr/share/man/man1/{tool}.1.gz");
        ensure(root.join(&page).is_file(), || format!("no {page}"))?;
    }
    let alias = root.join("usr/share/man/man1/instr-gcc.1.gz");
    ensure(alias.canonicalize()?.ends_with("instr-cc.1.gz"), || {
        "instr-gcc has no page".into()
    })?;
    let size: u64 = field(&package, "Installed-Size")?.parse()?;
    let du = Run::words(["du", "-sk", "--apparent-size"]).arg(root.join("usr"));
    let du = du.succeed()?.text();
    let du: u64 = du.split_whitespace().next().unwrap_or("").parse()?;
    ensure(size.abs_diff(du) <= du / 10, || {
        format!("{size} KiB, {du} by du")
    })?;
    let depends = field(&package, "Depends")?;
    // Programs as they are need no compiler: the library that is preloaded into them is there.
    ensure(!depends.contains("compiler"), || depends.clone())?;
    let recommended = field(&package, "Recommends")?;
    ensure(recommended.contains("gcc | clang | c-compiler"), || {
        recommended.clone()
    })?;
    let library = root.join("usr/lib/instr/libinstr-preload.so");
    ensure(library.is_file(), || "nothing to preload".into())?;
    same_libraries(dir.path(), &root, &depends)?;
    lintian(&package)
}

/// Debian's own tool names the same packages of libraries; where it is not installed, the C library is looked for alone.
fn same_libraries(dir: &Path, root: &Path, depends: &str) -> Check {
    let names = |text: &str| -> Vec<String> {
        let parts = text.split(',').map(|part| part.split_whitespace().next());
        let names = parts.flatten().filter(|name| name.starts_with("lib"));
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    let ours = names(depends);
    ensure(ours.iter().any(|name| name.starts_with("libc6")), || {
        depends.into()
    })?;
    if need("dpkg-shlibdeps").is_err() {
        return Ok(());
    }
    std::fs::create_dir_all(dir.join("source/debian"))?;
    std::fs::write(
        dir.join("source/debian/control"),
        "Source: instr\n\nPackage: instr\nArchitecture: any\n",
    )?;
    let asked = Run::words(["dpkg-shlibdeps", "-O"]).dir(&dir.join("source"));
    let tools = TOOLS.map(|tool| root.join("usr/bin").join(tool));
    let theirs = asked.args(tools).succeed()?.text();
    let theirs = names(theirs.trim().trim_start_matches("shlibs:Depends="));
    ensure(ours == theirs, || {
        format!("{ours:?}, {theirs:?} by dpkg-shlibdeps")
    })
}

fn reproducible() -> Check {
    let dir = workspace::work_dir("package-reproducible")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let first = std::fs::read(package(&clone, "1")?)?;
    // Another time, another folder, another umask.
    let moved = dir.path().join("moved");
    std::fs::rename(&clone.root, &moved)?;
    let clone = Clone { root: moved };
    clone.build_small(&clone.root.join("target"))?;
    let second = std::fs::read(package(&clone, "1")?)?;
    ensure(first == second, || "the second package differs".into())
}

/// Debian's own judge of packages, in `make test-all` and where it is installed: it is too large to ask everybody for, and slow. The project has no mail address of its
/// own (who makes a package gives theirs in `DEBEMAIL`), and the tools under test keep the symbols that a release does not have.
fn lintian(package: &Path) -> Check {
    if !cases::all() || need("lintian").is_err() {
        return Ok(());
    }
    let left_out =
        "bogus-mail-host,bogus-mail-host-in-debian-changelog,unstripped-binary-or-object";
    let run = Run::words([
        "lintian",
        "--fail-on",
        "error,warning",
        "--suppress-tags",
        left_out,
    ]);
    run.arg(package).succeed().map(drop)
}
