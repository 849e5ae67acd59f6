//! `instr-rewrite --emit-wrap-flags` on an object prints exactly the undefined symbols that are described, as `nm` sees them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Family, Language, Target, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let kinds: [(&str, Target, Family, &[&str]); 6] = [
        ("gcc-x86_64", Target::X86_64, Family::Gcc, &[]),
        (
            "gcc-x86_64-pic",
            Target::X86_64,
            Family::Gcc,
            &["-fPIC", "-O2", "-ffunction-sections"],
        ),
        ("clang-x86_64", Target::X86_64, Family::Clang, &[]),
        (
            "gcc-sparc-v8",
            Target::Sparc32,
            Family::Gcc,
            &["-m32", "-mcpu=v8"],
        ),
        (
            "gcc-sparc-v8plus",
            Target::Sparc32,
            Family::Gcc,
            &["-m32", "-mcpu=v9"],
        ),
        ("gcc-sparc64", Target::Sparc64, Family::Gcc, &["-m64"]),
    ];
    for (name, target, family, flags) in kinds {
        // What these objects refer to differs from the plain ones in few places: `make test-all` looks at them as well.
        let rare = name.ends_with("-pic") || name.ends_with("-v8plus");
        if cases::wanted(target) && (!rare || cases::all()) {
            trials.push(trial(format!("symbols::wrap-flags::{name}"), move || {
                objects(target, family, flags)
            }));
        }
    }
    trials
}

/// Every source of the suite that the compiler takes.
fn all_sources() -> Check<Vec<(PathBuf, Language)>> {
    let root = workspace::root()?.join("tests");
    let mut found = Vec::new();
    for folder in std::fs::read_dir(root.join("sources"))?.flatten() {
        for file in std::fs::read_dir(folder.path())?.flatten() {
            found.extend(Language::of(&file.path()).map(|language| (file.path(), language)));
        }
    }
    for file in std::fs::read_dir(root.join("robust"))?.flatten() {
        found.extend(Language::of(&file.path()).map(|language| (file.path(), language)));
    }
    found.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(found)
}

fn objects(target: Target, family: Family, flags: &[&str]) -> Check {
    need("nm")?;
    let dir = workspace::work_dir("wrap-flags")?;
    let described = described()?;
    let include = workspace::root()?.join("runtime/include");
    let mut seen = 0;
    let mut problems = Vec::new();
    // Compilers differ in few names: one has all sources, the others a third of them each, and all in `make test-all`.
    let parts = if cases::all() || target == Target::X86_64 && family == Family::Gcc {
        1
    } else {
        3
    };
    for (source, language) in all_sources()?.into_iter().step_by(parts) {
        if family == Family::Clang && language == Language::Fortran {
            continue;
        }
        let object = dir.path().join("object.o");
        let compiler = family.command(language, target)?;
        let compile = Run::new(compiler)
            .args(["-fopenmp", "-w"])
            .args(flags)
            .arg("-I")
            .arg(&include);
        let compiled = compile
            .arg("-c")
            .arg(&source)
            .arg("-o")
            .arg(&object)
            .dir(dir.path())
            .output()?;
        if family == Family::Clang && !compiled.errors().is_empty() {
            continue; // a construct this clang does not know
        }
        ensure(compiled.errors().is_empty(), || format!("{compiled}"))?;
        let undefined = undefined(&object)?;
        let expected: BTreeSet<String> = undefined.intersection(&described).cloned().collect();
        seen += expected.len();
        let flags = Run::new(&tools()?.instr_rewrite)
            .args(["--memory", "--threads", "--emit-wrap-flags"])
            .arg(&object)
            .succeed()?;
        let lines: Vec<String> = flags.text().lines().map(str::to_owned).collect();
        let actual: BTreeSet<String> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("-Wl,--wrap="))
            .map(str::to_owned)
            .collect();
        if actual != expected || lines.len() != expected.len() {
            problems.push(format!(
                "{}: {actual:?}, expected {expected:?}",
                source.display()
            ));
        }
    }
    ensure(problems.is_empty(), || problems.join("\n"))?;
    ensure(seen > 20 || family == Family::Clang, || {
        format!("only {seen} references of interest in all objects")
    })
}

/// `nm -u`, a reader that is not ours.
fn undefined(object: &Path) -> Check<BTreeSet<String>> {
    let listed = Run::new("nm").args(["-u", "-P"]).arg(object).succeed()?;
    Ok(listed
        .text()
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect())
}

/// The names declared in the description files, found by their text: `fn NAME(`, unless marked
/// `#[no_wrap]`.
fn described() -> Check<BTreeSet<String>> {
    let api = workspace::root()?.join("instr-rewrite/api");
    let mut names = BTreeSet::new();
    for file in std::fs::read_dir(&api)?.flatten().map(|entry| entry.path()) {
        let text = std::fs::read_to_string(&file)?;
        let mut left_alone = false;
        for line in text.lines().map(str::trim) {
            left_alone |= line.starts_with("#[no_wrap");
            let rest = line
                .strip_prefix("pub ")
                .unwrap_or(line)
                .strip_prefix("fn ");
            if let Some((name, _)) = rest.and_then(|rest| rest.split_once('(')) {
                names.extend((!left_alone).then(|| name.to_owned()));
                left_alone = false;
            }
        }
    }
    ensure(names.contains("GOMP_parallel"), || {
        format!("{} names described", names.len())
    })?;
    Ok(names)
}
