//! `make install`, `make uninstall`, `make deb`: what they write and what they leave; the tools and the header as a user finds them then.

mod clone;
mod header;
mod package;
mod preloaded;

use std::collections::BTreeMap;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::tools;
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::boundaries::{files, link_targets};
use clone::{Clone, copy};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("install::tools-work-from-a-prefix-with-spaces", tools_work),
        trial("install::a-tool-works-alone", alone),
        trial("install::links-in-documents-lead-somewhere", links),
        trial("install::uninstall-leaves-what-was-there", round_trip),
        trial("install::folders-of-ours-go-with-it", whole_prefix_goes),
        trial("install::files-of-others-stay", changed_files_stay),
        trial("install::an-upgrade-removes-what-is-gone", upgrade),
        trial("install::nothing-is-compiled", never_compiles),
        trial("install::what-is-old-is-refused", old_is_refused),
        trial("install::another-target-folder-is-remembered", other_target),
        trial("install::places-that-cannot-be", refused_places),
    ];
    trials.extend(header::trials());
    trials.extend(package::trials());
    trials.extend(preloaded::trials());
    trials
}

/// Everything below a folder: kind and mode, and what files hold or links say.
fn snapshot(dir: &Path) -> Check<BTreeMap<PathBuf, (u32, Vec<u8>)>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)? {
            let path = entry?.path();
            let meta = path.symlink_metadata()?;
            let content = if meta.is_symlink() {
                std::fs::read_link(&path)?
                    .into_os_string()
                    .into_encoded_bytes()
            } else if meta.is_file() {
                std::fs::read(&path)?
            } else {
                folders.push(path.clone());
                Vec::new()
            };
            found.insert(path, (meta.mode(), content));
        }
    }
    Ok(found)
}

fn same_tree(dir: &Path, before: &BTreeMap<PathBuf, (u32, Vec<u8>)>) -> Check {
    let after = snapshot(dir)?;
    let all = before.keys().chain(after.keys());
    let differs: Vec<&PathBuf> = all.filter(|p| before.get(*p) != after.get(*p)).collect();
    ensure(differs.is_empty(), || format!("not as before: {differs:?}"))
}

/// The one message of a refusal, and that nothing was made.
fn refused(run: &Run, message: &str, help: &str) -> Check<Outcome> {
    let ended = run.output()?;
    let said = ended.errors();
    let right = ended.status != Status::Code(0) && said.contains(message) && said.contains(help);
    ensure(right, || {
        format!("expected `{message}` and `{help}`:\n{ended}")
    })?;
    ensure(said.matches("error:").count() == 1, || {
        format!("more than one message:\n{ended}")
    })?;
    Ok(ended)
}

/// Builds and runs an example with what is in `bin`; its summary as JSON.
fn use_tools(bin: &Path, dir: &Path) -> Check<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", bin.display());
    let source = workspace::root()?.join("examples/make/primes.c");
    let run = |words: &[&str]| Run::words(words).dir(dir).env("PATH", &path);
    let cache = dir.join("cache");
    let build = run(&["instr-gcc", "-O1", "-g", "-fopenmp", "-o", "primes"]).arg(source);
    build.env("INSTR_CACHE", &cache).succeed()?;
    run(&["./primes"]).env("OMP_NUM_THREADS", "2").succeed()?;
    let list = run(&["instr-rewrite", "--list", "primes"]);
    ensure(list.succeed()?.text().contains("GOMP_"), || {
        "no list".into()
    })?;
    Ok(run(&["instr", "summary", "--json", "primes.instr"])
        .succeed()?
        .text())
}

fn tools_work() -> Check {
    let dir = workspace::work_dir("install-tools")?;
    let prefix = dir.path().join("pre fix");
    let installed = Clone::with_tools(dir.path())?.install(&prefix)?;
    let bin = prefix.join("bin");
    let hint = format!(
        "export PATH={}",
        bin.display().to_string().replace(' ', "\\ ")
    );
    ensure(installed.text().contains(&hint), || format!("{installed}"))?;
    let summary = use_tools(&bin, dir.path())?;
    // 1,000,000 numbers in chunks of 10,000; the first thread's loop and the other's.
    ensure(summary.contains("\"primes\""), || summary.clone())?;

    // Documents that help texts name are where the help says.
    let docs = prefix.join("share/doc/instr");
    for words in [
        &["instr", "run", "--help"] as &[&str],
        &["instr", "summary", "--help"],
        &["instr", "graph", "--help"],
        &["instr", "symbolize", "--help"],
        &["instr-cc", "--instr-help"],
    ] {
        let run = Run::new(bin.join(words[0])).args(&words[1..]);
        let help = run.succeed()?.text();
        let plain = help.split_whitespace().collect::<Vec<_>>().join(" ");
        let folder = docs.canonicalize()?;
        ensure(plain.contains(&*folder.to_string_lossy()), || help.clone())?;
        for name in plain.split(|c: char| c.is_whitespace() || "()[],:".contains(c)) {
            let named = name.trim_end_matches(['.', ';']);
            if named.starts_with("docs/") && named != "docs/" {
                ensure(docs.join(named).is_file(), || {
                    format!("{words:?} names {named}")
                })?;
            }
        }
    }
    let nothing = dir.path().join("empty.log");
    std::fs::write(&nothing, "no trace\n")?;
    let extract = Run::new(bin.join("instr")).arg("extract").arg(&nothing);
    let said = extract.output()?.errors();
    let named = said
        .lines()
        .find_map(|line| line.strip_prefix("  help: ")?.split(" describes").next());
    ensure(named.is_some_and(|path| Path::new(path).is_file()), || {
        format!("the help names no file: {said}")
    })
}

/// As `cargo install` leaves it: no header, no document, no other tool beside it.
fn alone() -> Check {
    let dir = workspace::work_dir("install-alone")?;
    let bin = dir.path().join("bin");
    std::fs::create_dir(&bin)?;
    let tools = tools()?;
    for tool in [&tools.instr, &tools.instr_cc, &tools.instr_rewrite] {
        let name = tool.file_name().ok_or("a tool without a name")?;
        std::fs::copy(tool, bin.join(name))?;
    }
    let links = workspace::root()?.join("scripts/links.sh");
    Run::new(links).arg(&bin).succeed()?;
    use_tools(&bin, dir.path())?;
    let help = Run::new(bin.join("instr-cc"))
        .arg("--instr-help")
        .succeed()?;
    ensure(!help.text().contains("are below"), || format!("{help}"))
}

fn links() -> Check {
    let dir = workspace::work_dir("install-links")?;
    let prefix = dir.path().join("prefix");
    Clone::with_small_programs(dir.path())?.install(&prefix)?;
    let doc = prefix.join("share/doc/instr");
    let mut count = 0;
    for path in files(&doc, &["md"])? {
        let folder = path.parent().ok_or("no folder")?;
        for target in link_targets(&std::fs::read_to_string(&path)?) {
            count += 1;
            ensure(folder.join(&target).exists(), || {
                format!("{}: {target} leads nowhere", path.display())
            })?;
        }
    }
    ensure(count > 40, || format!("only {count} links"))?;
    // The README's links to documents are still links.
    let readme = std::fs::read_to_string(doc.join("README.md"))?;
    ensure(readme.contains("](docs/environment.md)"), || {
        "README.md lost its links".into()
    })
}

/// Files of others, empty folders and a link to a folder are there before; twice installed, once removed, nothing differs.
fn round_trip() -> Check {
    let dir = workspace::work_dir("install-round-trip")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let stage = dir.path().join("sta ge");
    let prefix = stage.join("usr/local");
    std::fs::create_dir_all(prefix.join("bin"))?;
    std::fs::create_dir_all(prefix.join("share/man"))?;
    std::fs::create_dir_all(stage.join("elsewhere"))?;
    symlink("../../elsewhere", prefix.join("include"))?;
    std::fs::write(prefix.join("bin/other"), "other")?;
    std::fs::set_permissions(prefix.join("bin"), PermissionsExt::from_mode(0o2775))?;
    let before = snapshot(&stage)?;
    let sources = snapshot(&clone.root)?;
    let destdir = format!("DESTDIR={}//", stage.display());
    for _ in 0..2 {
        // Whatever root's umask is, the files are for everybody.
        let script = "umask 077 && exec make --no-print-directory install \"$1\"";
        let run = Run::words(["sh", "-c", script, "sh", &destdir]);
        run.dir(&clone.root).succeed()?;
    }
    for (path, (mode, _)) in snapshot(&prefix)? {
        let readable = if path.is_dir() { 0o005 } else { 0o004 };
        ensure(mode & readable == readable, || {
            format!("{}: {mode:o}", path.display())
        })?;
    }
    for name in ["instr", "instr-cc", "instr-rewrite", "instr-g++"] {
        Run::new(prefix.join("bin").join(name)).succeed()?;
    }
    ensure(stage.join("elsewhere/instr/instr.h").is_file(), || {
        "the folder behind the link is not used".into()
    })?;
    clone.make(["uninstall", &destdir]).succeed()?;
    same_tree(&stage, &before)?;
    same_tree(&clone.root, &sources)
}

fn whole_prefix_goes() -> Check {
    let dir = workspace::work_dir("install-whole-prefix")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let home = dir.path().join("home");
    std::fs::create_dir(&home)?;
    // A shell that leaves the tilde to us, as dash does.
    let run = |target: &str| {
        let run = clone.make([target, "PREFIX=~/opt/in str/"]);
        run.env("HOME", &home)
    };
    run("install").succeed()?;
    Run::new(home.join("opt/in str/bin/instr-cc")).succeed()?;
    run("uninstall").succeed()?;
    ensure(snapshot(&home)?.is_empty(), || {
        format!("left: {:?}", snapshot(&home))
    })?;
    refused(&run("uninstall"), "nothing to remove", "PREFIX").map(drop)
}

fn changed_files_stay() -> Check {
    let dir = workspace::work_dir("install-changed")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let prefix = dir.path().join("prefix");
    clone.install(&prefix)?;
    let mine = [prefix.join("bin/instr-gcc"), prefix.join("bin/instr")];
    for path in &mine {
        std::fs::remove_file(path)?;
        std::fs::write(path, "mine")?;
    }
    let words = format!("PREFIX={}", prefix.display());
    let said = clone.make(["uninstall", &words]).succeed()?;
    for path in &mine {
        ensure(std::fs::read(path)? == b"mine", || {
            format!("{} was removed", path.display())
        })?;
        let told = format!("left: {}", path.display());
        ensure(said.text().contains(&told), || format!("{said}"))?;
    }
    ensure(snapshot(&prefix)?.len() == 3, || {
        format!("{:?}", snapshot(&prefix))
    })
}

fn upgrade() -> Check {
    let dir = workspace::work_dir("install-upgrade")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let prefix = dir.path().join("prefix");
    copy(
        &clone.root.join("examples/make"),
        &clone.root.join("examples/of-old"),
    )?;
    clone.install(&prefix)?;
    let old = prefix.join("share/doc/instr/examples/of-old/primes.c");
    ensure(old.is_file(), || "no old example".into())?;
    std::fs::remove_dir_all(clone.root.join("examples/of-old"))?;
    clone.install(&prefix)?;
    ensure(!old.exists(), || "the old example is still there".into())?;
    let words = format!("PREFIX={}", prefix.display());
    clone.make(["uninstall", &words]).succeed()?;
    ensure(!prefix.exists(), || format!("{:?}", snapshot(&prefix)))
}

/// As root without the user's variables and without Rust: only what is built counts.
fn never_compiles() -> Check {
    let dir = workspace::work_dir("install-compiles-nothing")?;
    let clone = Clone::new(dir.path())?;
    let prefix = dir.path().join("prefix");
    let words = format!("PREFIX={}", prefix.display());
    let install = clone
        .make(["install", &words])
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent");
    let again = format!("then: make install {words}");
    refused(&install, "nothing is built yet", "type first: make")?;
    refused(&install, "nothing is built yet", &again)?;
    ensure(
        !prefix.exists() && !clone.root.join("target").exists(),
        || "something was made".into(),
    )?;
    let sudo = install.clone().env("SUDO_USER", "someone");
    let root = Run::words(["id", "-u"]).succeed()?.text().trim() == "0";
    let command = if root {
        "then: sudo make install"
    } else {
        "then: make install"
    };
    refused(&sudo, "nothing is built yet", command)?;
    clone.build_small(&clone.root.join("target"))?;
    let done = install.succeed()?;
    ensure(!done.text().contains("cargo"), || format!("{done}"))
}

fn old_is_refused() -> Check {
    let dir = workspace::work_dir("install-old")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let prefix = dir.path().join("prefix");
    let words = format!("PREFIX={}", prefix.display());
    let install = clone.make(["install", &words]);
    let source = clone.root.join("Cargo.toml");
    let later = |by: u64| -> Check {
        let time = std::time::SystemTime::now() + std::time::Duration::from_secs(by);
        let file = std::fs::File::options().write(true).open(&source)?;
        Ok(file.set_modified(time)?)
    };
    later(100)?;
    let said = refused(&install, "is older than the sources", "type first: make")?;
    let names = said.errors().contains("Cargo.toml");
    ensure(names && !prefix.exists(), || format!("{said}"))?;
    // What cargo need not build again counts as built when `make` ended after it.
    let note = std::fs::File::options()
        .write(true)
        .open(clone.root.join("target/built"))?;
    note.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(200))?;
    install.succeed().map(drop)
}

fn other_target() -> Check {
    let dir = workspace::work_dir("install-other-target")?;
    let clone = Clone::new(dir.path())?;
    let target = dir.path().join("other target");
    clone.build_small(&target)?;
    let prefix = dir.path().join("prefix");
    clone.install(&prefix)?;
    Run::new(prefix.join("bin/instr")).succeed()?;
    // A later build in the usual folder is the one that counts.
    std::fs::remove_dir_all(&target)?;
    let install = clone.make(["install", &format!("PREFIX={}", prefix.display())]);
    refused(&install, "nothing is built yet", "other target/release")?;
    clone.build_small(&clone.root.join("target"))?;
    install.succeed().map(drop)
}

fn refused_places() -> Check {
    let dir = workspace::work_dir("install-places")?;
    let clone = Clone::with_small_programs(dir.path())?;
    let file = dir.path().join("file");
    std::fs::write(&file, "")?;
    let before = snapshot(dir.path())?;
    let relative = clone.make(["install", "PREFIX=some where"]);
    let absolute = format!("PREFIX={}/some\\ where", clone.root.display());
    refused(&relative, "expected an absolute path", &absolute)?;
    let below_a_file = format!("PREFIX={}/x", file.display());
    let below_a_file = clone.make(["install", &below_a_file]);
    refused(&below_a_file, "cannot write into", "PREFIX=~/.local")?;
    same_tree(dir.path(), &before)
}
