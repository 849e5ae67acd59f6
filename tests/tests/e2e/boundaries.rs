//! Boundaries of the architecture, guarded so that reviewers need not: who may touch files, start processes, use stdio; who may depend
//! on whom; the runtime compiles without a warning everywhere; links in the documentation lead somewhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use instr_tests::cases;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::need;
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial(
            "boundary::symtab-touches-no-files-and-no-processes",
            symtab_is_pure,
        ),
        trial(
            "boundary::processes-are-started-in-one-place",
            one_place_for_processes,
        ),
        trial(
            "boundary::events-are-interpreted-in-one-place",
            interpreted_once,
        ),
        trial("boundary::no-stdio-in-the-runtime", no_stdio),
        trial("boundary::dependencies-only-point-down", floors),
        trial("boundary::who-reads-elf-and-dwarf", elf_readers),
        trial("boundary::no-workplace-in-tracked-files", no_workplace),
        trial("boundary::links-in-documents-lead-somewhere", links),
        trial("boundary::public-header-stands-alone", public_header),
    ];
    for (name, compiler, optimizations) in COMPILERS {
        let optimizations = match optimizations {
            FAST | SMALL if cases::all() => OPTIMIZED,
            NONE if !cases::all() => continue,
            _ => optimizations,
        };
        trials.push(trial(
            format!("boundary::runtime-compiles-without-warning::{name}"),
            move || runtime_compiles(compiler, optimizations),
        ));
    }
    trials
}

/// Name, compiler with its flags, and the levels of optimization. 32 bits are those of SPARC: there is no 32-bit x86 target.
type Compiler = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const OPTIMIZED: &[&str] = &["-O2", "-Os"];
/// One of the two for each compiler: `make test-all` takes both.
const FAST: &[&str] = &["-O2"];
const SMALL: &[&str] = &["-Os"];
/// No runtime of a user's is compiled so: `make test-all` does.
const NONE: &[&str] = &["-O0"];
/// Without making code where no board is: warnings from the flow of data come on the others.
const SYNTAX: &[&str] = &["-fsyntax-only"];

const COMPILERS: [Compiler; 9] = [
    ("gcc", &["gcc"], FAST),
    ("clang", &["clang"], SMALL),
    ("gcc-pic-unoptimized", &["gcc", "-fPIC"], NONE),
    (
        "sparc-32-pic-unoptimized",
        &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8", "-fPIC"],
        NONE,
    ),
    (
        "sparc-v8",
        &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=v8"],
        FAST,
    ),
    (
        "sparc-leon3",
        &["sparc64-linux-gnu-gcc", "-m32", "-mcpu=leon3"],
        SMALL,
    ),
    ("sparc64", &["sparc64-linux-gnu-gcc", "-m64"], FAST),
    ("aarch64", &["aarch64-linux-gnu-gcc"], SYNTAX),
    ("riscv64", &["riscv64-linux-gnu-gcc"], SYNTAX),
];

/// Files below `dir` with one of these extensions, sorted.
pub(crate) fn files(dir: &Path, extensions: &[&str]) -> Check<Vec<PathBuf>> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(dir) else {
        return Ok(found);
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(files(&path, extensions)?);
        } else if path
            .extension()
            .is_some_and(|extension| extensions.iter().any(|wanted| extension == *wanted))
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Lines of a Rust file before its unit tests that hold one of `words`, comments aside.
fn code_with(path: &Path, words: &[&str]) -> Check<Vec<String>> {
    let text = std::fs::read_to_string(path)?;
    let code = text.split("#[cfg(test)]").next().unwrap_or("");
    let holds = |line: &str| {
        let line = line.split("//").next().unwrap_or("");
        words.iter().any(|word| line.contains(word))
    };
    let lines = (1..).zip(code.lines()).filter(|(_, line)| holds(line));
    Ok(lines
        .map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim()))
        .collect())
}

/// Fails with the rule and what was found against it.
pub(crate) fn nothing(found: &[String], rule: &str) -> Check {
    ensure(found.is_empty(), || {
        format!("{rule}:\n  {}", found.join("\n  "))
    })
}

fn symtab_is_pure() -> Check {
    let mut found = Vec::new();
    // The loader, behind a cargo feature of its own, is the caller that fetches files.
    let core = |path: &PathBuf| !path.components().any(|part| part.as_os_str() == "loader");
    let sources = files(&workspace::root()?.join("symtab/src"), &["rs"])?;
    for path in sources.into_iter().filter(core) {
        found.extend(code_with(
            &path,
            &[
                "std::fs",
                "fs::",
                "std::process",
                "File::open",
                "Command::new",
                "std::net",
            ],
        )?);
    }
    nothing(
        &found,
        "symtab asks its caller for files, it does not open them",
    )
}

fn one_place_for_processes() -> Check {
    let root = workspace::root()?;
    let mut found = Vec::new();
    for crate_ in [
        "analysis",
        "export",
        "instr",
        "instr-cc",
        "instr-rewrite",
        "runtime",
        "schema",
        "symtab",
        "trace",
    ] {
        for path in files(&root.join(crate_).join("src"), &["rs"])? {
            if !path.ends_with("instr-cc/src/exec.rs") {
                found.extend(code_with(
                    &path,
                    &[
                        "process::Command",
                        "Command::new",
                        "libc::execv",
                        "libc::fork",
                    ],
                )?);
            }
        }
    }
    nothing(&found, "processes are started in instr-cc/src/exec.rs only")
}

/// What reads raw events: from bytes, and the interpreter. Everything else is a sink of that.
const EVENT_READERS: [&str; 5] = [
    "trace/src/decode/",
    "trace/src/event/",
    "trace/src/model/",
    "trace/src/stream.rs",
    "trace/src/trace.rs",
];

fn interpreted_once() -> Check {
    let root = workspace::root()?;
    let mut found = Vec::new();
    let mut readers = 0;
    for crate_ in ["analysis", "export", "instr", "trace"] {
        for path in files(&root.join(crate_).join("src"), &["rs"])? {
            let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
            let is_test = path.ends_with("tests.rs") || inside.contains("/tests/");
            let named = code_with(&path, &["Payload::"])?;
            if EVENT_READERS
                .iter()
                .any(|reader| inside.starts_with(reader))
            {
                readers += named.len();
            } else if !is_test {
                found.extend(named);
            }
        }
    }
    ensure(readers > 0, || "nobody reads events".into())?;
    nothing(
        &found,
        "what events mean is derived in trace/src/model (docs/architecture.md)",
    )
}

/// Headers and calls of an operating system, which the runtime's core leaves to `platform` and `sinks`.
const SYSTEM_HEADERS: [&str; 4] = ["<stdio.h>", "<stdlib.h>", "<unistd.h>", "<pthread.h>"];
const SYSTEM_CALLS: [&str; 9] = [
    "malloc", "calloc", "realloc", "free", "printf", "fprintf", "snprintf", "puts", "abort",
];

fn no_stdio() -> Check {
    let runtime = workspace::root()?.join("runtime");
    let mut found = Vec::new();
    for folder in ["core", "probes", "ompt", "sampling", "sensors", "arch"] {
        let sources = files(&runtime.join(folder), &["c", "h"])?;
        ensure(!sources.is_empty(), || format!("no sources in {folder}"))?;
        for path in sources {
            let text = without_comments(&std::fs::read_to_string(&path)?);
            let lines = (1..).zip(text.lines());
            let bad = lines.filter(|(_, line)| asks_the_system(line));
            found.extend(
                bad.map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim())),
            );
        }
    }
    nothing(
        &found,
        "the runtime's core and probes know no operating system and no stdio",
    )?;
    for line in [
        "#include <stdio.h>",
        "p = malloc(9);",
        "  printf(text);",
        "free (p);",
    ] {
        ensure(asks_the_system(line), || format!("not noticed: {line}"))?;
    }
    ensure(
        !asks_the_system("instr_probe_malloc(9, __real_malloc(9))"),
        || "a wrapped function is none that is called".into(),
    )
}

/// Whether a line of C, without comments, includes a header of the system or calls one of its functions by its own name.
fn asks_the_system(line: &str) -> bool {
    let includes =
        line.contains("#include") && SYSTEM_HEADERS.iter().any(|header| line.contains(header));
    let part_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls = |name: &&str| {
        line.match_indices(*name).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + name.len()..].trim_start();
            !before.is_some_and(|c| part_of_name(c) || c == '.' || c == '>')
                && after.starts_with('(')
        })
    };
    includes || SYSTEM_CALLS.iter().any(calls)
}

/// C without comments and with its lines where they were.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        let (inside, after) = comment.split_once("*/").unwrap_or((comment, ""));
        code += before;
        code.extend(inside.chars().filter(|&c| c == '\n'));
        rest = after;
    }
    code += rest;
    let lines = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or(""));
    lines.collect::<Vec<_>>().join("\n")
}

/// How far above the ground each crate stands; an arrow must point to a lower floor.
const FLOORS: [(&str, u32); 12] = [
    ("instr-runtime", 0),
    ("instr-schema", 1), // a test of its settings reads the runtime's sources
    ("instr-symtab", 1),
    ("instr-trace", 2),
    ("instr-analysis", 3),
    ("instr-tables", 4),
    ("instr-export", 5),
    ("instr-query", 5),
    ("instr-rewrite", 2),
    ("instr-cc", 3),
    ("instr", 6),
    ("instr-tests", 7),
];

/// Crates that read ELF or DWARF, who may depend on them, and who may in tests, as an independent judge.
const ELF_READERS: [(&str, &str, &[&str]); 4] = [
    ("object", "instr-symtab", &["instr-rewrite", "instr-tests"]),
    ("gimli", "instr-symtab", &[]),
    ("addr2line", "instr-symtab", &[]),
    ("goblin", "instr-rewrite", &[]),
];

/// docs/decisions/0009-one-elf-reader.md
fn elf_readers() -> Check {
    let mut found = Vec::new();
    for package in packages()? {
        let name = package["name"].as_str().unwrap_or("").to_owned();
        for dependency in package["dependencies"]
            .as_array()
            .ok_or("no dependencies")?
        {
            let on = dependency["name"].as_str().unwrap_or("");
            let Some((_, user, judges)) = ELF_READERS.iter().find(|reader| reader.0 == on) else {
                continue;
            };
            let for_tests = dependency["kind"] == "dev";
            if name != *user && !(for_tests && judges.contains(&name.as_str())) {
                found.push(format!("{name} → {on}"));
            }
        }
    }
    nothing(
        &found,
        "symtab reads names, instr-rewrite what a linker reads (docs/decisions/0009-one-elf-reader.md)",
    )
}

/// The packages of the workspace, as cargo tells them.
fn packages() -> Check<Vec<Value>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    let output = command
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .current_dir(workspace::root()?)
        .output()?;
    ensure(output.status.success(), || {
        String::from_utf8_lossy(&output.stderr).into_owned()
    })?;
    let metadata: Value =
        serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let packages = metadata["packages"].as_array().ok_or("no packages")?;
    Ok(packages.clone())
}

fn floors() -> Check {
    let floors: BTreeMap<&str, u32> = FLOORS.into_iter().collect();
    let mut found = Vec::new();
    for package in packages()? {
        let name = package["name"].as_str().unwrap_or("");
        let Some(&floor) = floors.get(name) else {
            // Benchmarks and the like stand beside the tests.
            continue;
        };
        for dependency in package["dependencies"]
            .as_array()
            .ok_or("no dependencies")?
        {
            let on = dependency["name"].as_str().unwrap_or("");
            if floors.get(on).is_some_and(|&below| below >= floor) {
                found.push(format!("{name} → {on}"));
            }
        }
    }
    nothing(&found, "no arrow runs up, none in a circle")
}

/// Tracked files; a source package without a repository has all its files looked at instead.
fn tracked() -> Check<Vec<PathBuf>> {
    let root = workspace::root()?;
    let listed = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output();
    let Some(output) = listed.ok().filter(|output| output.status.success()) else {
        return Err(Stop::Skip("not in a git work tree".into()));
    };
    let names = output
        .stdout
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty());
    Ok(names
        .map(|name| root.join(String::from_utf8_lossy(name).as_ref()))
        .collect())
}

fn no_workplace() -> Check {
    // Put together here, so that this file does not hold them.
    let words = [
        ["/wo", "rk/"],
        ["../sha", "red"],
        ["shared/ref", "erence"],
        ["arti", "factory"],
        ["/tm", "p/w/"],
    ]
    .map(|parts| parts.concat());
    let mut found = Vec::new();
    for path in tracked()? {
        let Ok(bytes) = std::fs::read(&path) else {
            continue;
        };
        let text = String::from_utf8_lossy(&bytes);
        let lines = (1..)
            .zip(text.lines())
            .filter(|(_, line)| words.iter().any(|word| line.contains(word.as_str())));
        found.extend(
            lines.map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim())),
        );
    }
    nothing(&found, "paths of a workplace mean nothing to others")
}

fn links() -> Check {
    let root = workspace::root()?;
    let mut found = Vec::new();
    let listed = tracked().or_else(|_| files(root, &["md"]))?;
    for path in listed.iter().filter(|path| {
        path.extension().is_some_and(|extension| extension == "md") && path.is_file()
    }) {
        let text = std::fs::read_to_string(path)?;
        let dir = path.parent().ok_or("no folder")?;
        for target in link_targets(&text) {
            if !dir.join(&target).exists() {
                found.push(format!("{}: {target}", path.display()));
            }
        }
    }
    nothing(&found, "links that lead nowhere")
}

/// Targets of `[text](target)` that are relative paths, without `#fragment`; code blocks aside.
pub(crate) fn link_targets(text: &str) -> Vec<String> {
    let mut targets = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        if in_code {
            continue;
        }
        for part in line.split("](").skip(1) {
            let target = part
                .split(')')
                .next()
                .unwrap_or("")
                .split('#')
                .next()
                .unwrap_or("");
            let external = target.contains("://") || target.starts_with("mailto:");
            if !target.is_empty() && !external && !target.contains(' ') {
                targets.push(target.to_owned());
            }
        }
    }
    targets
}

const WARNINGS: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];

fn runtime_compiles(compiler: &[&str], optimizations: &[&str]) -> Check {
    need(compiler[0])?;
    let root = workspace::root()?.join("runtime");
    let dir = workspace::work_dir("runtime-compiles")?;
    let mut sources = Vec::new();
    for folder in [
        "core", "include", "library", "ompt", "probes", "sampling", "sensors", "sinks", "platform",
    ] {
        sources.extend(files(&root.join(folder), &["c"])?);
    }
    ensure(sources.len() > 5, || {
        format!("only {} sources", sources.len())
    })?;
    // What belongs to RTEMS is compiled as for RTEMS, with headers that stand for its own.
    let (rtems, others): (Vec<_>, Vec<_>) = sources.into_iter().partition(|path| {
        path.parent()
            .is_some_and(|folder| folder.ends_with("platform/rtems"))
            || path.ends_with("sinks/small_file.c")
    });
    let board = root.join("../tests/board/include");
    let (include, options) = (
        ["-I".into(), board],
        ["-U__linux__", "-D__rtems__", "-D__INSTR__=1"],
    );
    let linux_only = optimizations == SYNTAX;
    for optimization in optimizations {
        for (sources, is_rtems) in [(&others, false), (&rtems, true)] {
            if is_rtems && linux_only {
                continue;
            }
            // The unit tests of the runtime make code of the others with this level and these warnings.
            let known = optimizations == FAST && !is_rtems;
            let optimization = if known { SYNTAX[0] } else { optimization };
            let mut run = Run::words(compiler)
                .args(WARNINGS)
                .arg(optimization)
                .arg("-I")
                .arg(&root)
                .arg("-I")
                .arg(root.join("include"));
            if is_rtems {
                run = run.args(&options).args(&include).arg("-DINSTR_BOARD_IO");
            }
            // Assemblers have no warnings of their own to give.
            let run = run.arg("-S").args(sources).dir(dir.path());
            let outcome = run.succeed()?;
            ensure(outcome.errors().is_empty(), || format!("{outcome}"))?;
        }
    }
    Ok(())
}

fn public_header() -> Check {
    let include = workspace::root()?.join("runtime/include");
    let dir = workspace::work_dir("public-header")?;
    let source = "#include <instr/instr.h>\n#include <instr/instr.h>\n\
                  int use(void);\n\
                  int use(void) { instr_event(1, 2); instr_region_begin(\"r\"); instr_region_end(); instr_counter(\"c\", -3);\n\
                  return instr_start(0) + instr_stop() + instr_flush(); }\n";
    for (compiler, standard, file) in [
        ("gcc", "-std=c11", "use.c"),
        ("clang", "-std=c11", "use.c"),
        ("g++", "-std=c++11", "use.cc"),
        ("clang++", "-std=c++17", "use.cc"),
        ("sparc64-linux-gnu-gcc", "-std=c11", "use.c"),
    ] {
        need(compiler)?;
        let path = dir.path().join(file);
        std::fs::write(&path, source)?;
        for define in ["-DPLAIN", "-D__INSTR__=1", "-DINSTR_DYNAMIC"] {
            let run = Run::new(compiler).args([
                standard,
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
                "-Wno-address",
                define,
            ]);
            run.arg("-I")
                .arg(&include)
                .arg("-c")
                .arg(&path)
                .dir(dir.path())
                .succeed()?;
        }
    }
    Ok(())
}
