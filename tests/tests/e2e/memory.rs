//! Programs that keep their own account of the heap, or paint their stacks, beside what the trace says.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use instr_tests::cases::summary;
use instr_tests::heap::{ACCOUNT, with_libgcc};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::prv;
use instr_tests::toolchain::{Build, Language, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;

/// Bytes by which a stack's depth may differ from what paint says: thread-local storage of the runtime lies on it. On SPARC a thread's function is called by one of the runtime's, which needs room for
/// a window of registers; elsewhere that one leaves nothing.
fn tolerance(target: Target) -> u64 {
    128 + match target {
        Target::Sparc32 => 96,
        Target::Sparc64 => 176,
        _ => 0,
    }
}

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("memory::account::threads", threads),
        trial("memory::account::library-of-malloc-and-free", nested),
        trial("memory::leaks-have-places", leaks),
        trial("memory::paraver-has-the-bytes-in-use", paraver),
        trial("memory::paraver-has-the-calls", paraver_calls),
    ];
    for target in Target::ALL {
        trials.push(trial(
            format!("memory::account::{}", target.name()),
            move || account(target),
        ));
    }
    for target in [Target::X86_64Static, Target::Sparc64] {
        trials.push(trial(
            format!("memory::halves::{}", target.name()),
            move || halves(target),
        ));
    }
    for target in Target::ALL {
        for language in [Language::C, Language::Cxx, Language::Fortran] {
            trials.push(trial(
                format!("memory::every-function::{language:?}::{}", target.name()),
                move || every_function(target, language),
            ));
        }
    }
    for target in [Target::X86_64, Target::Sparc32, Target::Sparc64] {
        trials.push(trial(
            format!("memory::stacks::{}", target.name()),
            move || stacks(target),
        ));
    }
    trials
}

/// A built program of `tests/memory/`, of one file or more.
fn program(dir: &Path, names: &str, target: Target, openmp: bool) -> Check<(PathBuf, PathBuf)> {
    let folder = workspace::root()?.join("tests/memory");
    let files = names
        .split(' ')
        .map(|name| folder.join(format!("{name}.c")));
    let files: Vec<PathBuf> = files.collect();
    let sources: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let mut build = Build::openmp(target)
        .flag("--instr-memory")
        .flag("-pthread");
    if !openmp {
        build.flags.retain(|flag| flag != "-fopenmp");
    }
    let (plain, traced) = (dir.join("plain"), dir.join("app"));
    build.plain(&sources, &plain)?;
    build.traced(&sources, &traced)?;
    Ok((plain, traced))
}

/// What the program printed: numbers.
pub(crate) fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

/// The heap as the program saw it, and as the trace has it.
fn accounts(
    names: &str,
    target: Target,
    openmp: bool,
) -> Check<(Vec<u64>, Vec<u64>, tempfile::TempDir)> {
    let dir = workspace::work_dir("memory-account")?;
    let (_, traced) = program(dir.path(), names, target, openmp)?;
    let trace = dir.path().join("t");
    let ran = target.run(&traced).env("INSTR_TRACE", &trace).succeed()?;
    let summary = summary(&trace)?;
    let memory = &summary["memory"];
    let told = ACCOUNT.map(|name| memory[name].as_u64().unwrap_or(u64::MAX));
    ensure(memory["unknown_frees"] == 0, || format!("{memory}"))?;
    let own = with_libgcc(&numbers(&ran.text()), memory);
    Ok((own, told.to_vec(), dir))
}

/// One thread, no library that allocates: all numbers are the program's, also in static programs.
fn account(target: Target) -> Check {
    let (own, told, _) = accounts("account", target, false)?;
    ensure(own.len() == 5 && own == told, || {
        format!("the program says {own:?}, the trace {told:?}")
    })
}

/// What the C library allocates and frees by itself in a static program leaves nothing: the only block left is the program's.
fn halves(target: Target) -> Check {
    let dir = workspace::work_dir("memory-halves")?;
    let (_, traced) = program(dir.path(), "halves", target, false)?;
    let trace = dir.path().join("t");
    target.run(&traced).env("INSTR_TRACE", &trace).succeed()?;
    let memory = &summary(&trace)?["memory"];
    ensure(memory["allocations"].as_u64() > Some(1), || {
        format!("nothing of the library's is seen: {memory}")
    })?;
    let left = [&memory["live_bytes"], &memory["unknown_frees"]];
    ensure(left == [1000, 0], || format!("{memory}"))
}

/// A library whose calloc and realloc call malloc and free, which the program's link makes ours, as on RTEMS.
fn nested() -> Check {
    let (own, told, _) = accounts("nested own_library", Target::X86_64, false)?;
    ensure(own.len() == 5 && own == told, || {
        format!("the program says {own:?}, the trace {told:?}")
    })
}

/// Four threads of OpenMP.
fn threads() -> Check {
    let (own, told, _) = accounts("account", Target::X86_64, true)?;
    ensure(own.len() == 5 && own == told, || {
        format!("the program says {own:?}, the trace {told:?}")
    })
}

/// What the trace says of the heap, as `count.c` says it.
pub(crate) const COUNTED: [&str; 6] = [
    "allocations",
    "frees",
    "allocated_bytes",
    "live_high_water_bytes",
    "live_bytes",
    "unknown_frees",
];

/// Every function of the family. With the libraries' own requests, the trace's numbers are those of an account that is linked to the
/// plain program; without, one round more is what the program says of a round. With exceptions, a round more is what that account
/// says: what the first one makes is as large as the program.
fn every_function(target: Target, language: Language) -> Check {
    let dir = workspace::work_dir("memory-every")?;
    let (plain, traced) = (dir.path().join("plain"), dir.path().join("trace"));
    let (source, counter) = sources(dir.path(), target, language)?;
    let build = every(dir.path(), target, language);
    let mut counted = build.clone();
    counted.flags.insert(0, counter.display().to_string());
    counted.flags.extend(wraps());
    counted.plain(&[&source], &plain)?;
    build.flag("--instr-memory").traced(&[&source], &traced)?;
    let told = |rounds: &str, mode: &str| -> Check<(String, [u64; 6])> {
        let trace = dir.path().join([rounds, mode].concat());
        let run = target
            .run(&traced)
            .args([rounds].into_iter().chain(words(mode)));
        let ran = run.env("INSTR_TRACE", &trace).succeed()?;
        let memory = &summary(&trace)?["memory"];
        let numbers = COUNTED.map(|name| memory[name].as_u64().unwrap_or(u64::MAX));
        Ok((ran.text(), numbers))
    };
    // In the same environment: `setenv` copies it.
    let own = |rounds: &str, mode: &str| -> Check<[u64; 6]> {
        let words = [rounds].into_iter().chain(words(mode));
        let run = target.run(&plain).args(words).env("INSTR_TRACE", "");
        let said = numbers(&String::from_utf8_lossy(&run.succeed()?.stderr));
        Ok(said.try_into().map_err(|said| format!("{said:?}"))?)
    };
    let (expected, (_, found)) = (own("3", "libraries")?, told("3", "libraries")?);
    ensure(expected == found, || {
        format!("{COUNTED:?}: by the counter {expected:?}, by the trace {found:?}")
    })?;
    let ((text, three), (_, two)) = (told("3", "")?, told("2", "")?);
    ensure(more(three, two)[..3] == numbers(&text), || {
        format!("a round is {text}, in the trace {three:?} less {two:?}")
    })?;
    ensure(three[3..] == two[3..], || format!("{three:?}, {two:?}"))?;
    if language != Language::Cxx {
        return Ok(());
    }
    let expected = more(own("3", "throws")?, own("2", "throws")?);
    let found = more(told("3", "throws")?.1, told("2", "throws")?.1);
    let same = [0, 1, 2, 5].map(|at| expected[at] == found[at]);
    ensure(same == [true; 4] && expected[0] != 0, || {
        format!("with exceptions: by the counter {expected:?}, by the trace {found:?}")
    })
}

/// Arguments of a mode.
fn words(mode: &str) -> Option<&str> {
    (!mode.is_empty()).then_some(mode)
}

/// What a round more makes.
pub(crate) fn more(with: [u64; 6], without: [u64; 6]) -> [u64; 6] {
    std::array::from_fn(|at| with[at].wrapping_sub(without[at]))
}

/// `every.*` of a language; no request may be thought away by the compiler.
pub(crate) fn every(dir: &Path, target: Target, language: Language) -> Build {
    let mut build = Build::openmp(target);
    build.language = language;
    build.flags.retain(|flag| flag != "-fopenmp");
    match language {
        Language::C => build.flag("-fno-builtin"),
        Language::Cxx if target == Target::Sparc32 => build
            .flag("-fno-builtin")
            .flag("-std=c++17")
            .flag("-latomic"),
        Language::Cxx => build.flag("-fno-builtin").flag("-std=c++17"),
        Language::Fortran => build.flag(format!("-J{}", dir.display())),
    }
}

/// The program, and `count.c` compiled for it.
fn sources(dir: &Path, target: Target, language: Language) -> Check<(PathBuf, PathBuf)> {
    let folder = workspace::root()?.join("tests/memory");
    let (extension, defined) = match language {
        Language::C => ("c", "-DC"),
        Language::Cxx => ("cc", "-DCPLUSPLUS"),
        Language::Fortran => ("f90", "-DFORTRAN"),
    };
    let object = dir.join("count.o");
    let counter = Build::openmp(target)
        .flag("-c")
        .flag("-fexceptions")
        .flag(defined);
    counter.plain(&[&folder.join("count.c")], &object)?;
    Ok((folder.join(format!("every.{extension}")), object))
}

/// The linker's options for the names in `count.c`.
fn wraps() -> Vec<String> {
    const C: &str = "malloc calloc realloc reallocarray free posix_memalign aligned_alloc memalign valloc pvalloc";
    const NEW: [&str; 4] = [
        "",
        "RKSt9nothrow_t",
        "St11align_val_t",
        "St11align_val_tRKSt9nothrow_t",
    ];
    let mut names: Vec<String> = C.split(' ').map(str::to_owned).collect();
    for word in ["m", "j"] {
        for form in NEW {
            names.extend(["_Znw", "_Zna"].map(|name| format!("{name}{word}{form}")));
            names.extend(["_ZdlPv", "_ZdaPv"].map(|name| format!("{name}{form}")));
        }
        for form in ["", "St11align_val_t"] {
            names.extend(["_ZdlPv", "_ZdaPv"].map(|name| format!("{name}{word}{form}")));
        }
    }
    let option = |name: &String| format!("-Wl,--wrap={name}");
    names.iter().map(option).collect()
}

/// The functions of `account.c` that leave blocks behind, and their calls.
pub(crate) const LEAKS: [(&str, &str); 2] = [
    ("leak_small", "return malloc(24);"),
    ("leak_large", "return calloc((size_t)i, 1000);"),
];

/// The line of `account.c` with this text.
pub(crate) fn line_of(text: &str) -> Check<usize> {
    let source = std::fs::read_to_string(workspace::root()?.join("tests/memory/account.c"))?;
    let at = source.lines().position(|line| line.contains(text));
    Ok(at.ok_or("no such line")? + 1)
}

/// The calls that got what was never given back: function, line, blocks and bytes.
fn leaks() -> Check {
    let (_, _, dir) = accounts("account", Target::X86_64, true)?;
    let trace = dir.path().join("t");
    let summary = summary(&trace)?;
    let sites = summary["memory"]["sites"].as_array().ok_or("no sites")?;
    let left: Vec<(String, u64, u64)> = sites
        .iter()
        .filter(|site| site["live_blocks"] != 0)
        .map(|site| {
            let number = |name: &str| site[name].as_u64().unwrap_or(u64::MAX);
            let function = site["function"].as_str().unwrap_or("?").to_owned();
            (function, number("live_blocks"), number("live_bytes"))
        })
        .collect();
    let expected = [("leak_large", 3, 6000), ("leak_small", 3, 72)];
    for (function, blocks, bytes) in expected {
        let found = (function.to_owned(), blocks, bytes);
        ensure(left.contains(&found), || format!("{left:?}"))?;
    }
    ensure(left.len() == expected.len(), || format!("{left:?}"))?;
    let table = Run::new(&tools()?.instr)
        .args(["summary", "--leaks"])
        .arg(&trace)
        .succeed()?
        .text();
    for (_, call) in LEAKS {
        let place = format!("account.c:{}", line_of(call)?);
        ensure(table.contains(&place), || format!("no {place}:\n{table}"))?;
    }
    ensure(table.contains("6 blocks never given back"), || {
        table.clone()
    })
}

/// Bytes got and given back, and what is in use, in the Paraver file.
fn paraver() -> Check {
    let (own, _, dir) = accounts("account", Target::X86_64, true)?;
    let out = dir.path().join("app.prv");
    Run::new(&tools()?.instr)
        .arg("merge")
        .arg(dir.path().join("t"))
        .arg("-o")
        .arg(&out)
        .succeed()?;
    let (mut got, mut given, mut in_use) = (0_u64, 0_u64, Vec::new());
    // `2:cpu:application:task:thread:time:type:value:type:value…`
    for line in std::fs::read_to_string(&out)?.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        if fields[0] != "2" || fields.len() < 8 {
            continue;
        }
        for pair in fields[6..].chunks_exact(2) {
            let value: u64 = pair[1].parse()?;
            match pair[0] {
                "40000069" => got += value,
                "40000070" => given += value,
                "20000010" => in_use.push(value),
                _ => {}
            }
        }
    }
    let most = in_use.iter().max().copied();
    let last = in_use.last().copied();
    ensure(got == own[2] && got - given == own[4], || {
        format!("{got} got, {given} given back; the program says {own:?}")
    })?;
    ensure(most == Some(own[3]) && last == Some(own[4]), || {
        format!("at most {most:?}, at the end {last:?}; the program says {own:?}")
    })
}

/// Each call in the Paraver file: as many as there are by kind, each with a time, its size and its caller.
fn paraver_calls() -> Check {
    let (own, _, dir) = accounts("account", Target::X86_64, false)?;
    let out = dir.path().join("app.prv");
    Run::new(&tools()?.instr)
        .arg("merge")
        .arg(dir.path().join("t"))
        .arg("-o")
        .arg(&out)
        .succeed()?;
    let trace = prv::read(&out)?;
    let of = |kind: u64| trace.events.iter().filter(move |event| event.kind == kind);
    let (mut begun, mut gets, mut gives, mut most) = (None, 0, 0, 0);
    for event in of(40_000_040) {
        match (begun.take(), event.value) {
            (Some(begin), 0) => most = most.max(event.time - begin),
            (None, value @ 1..=5) => {
                begun = Some(event.time);
                gives += u64::from(value == 2);
                gets += u64::from(value != 2);
            }
            (_, value) => return Err(format!("{value} at {}", event.time).into()),
        }
    }
    // A realloc of a block is one that gets and gives; one for nothing only gets.
    let moves = of(40_000_042).filter(|event| event.value != 0).count() as u64 - gives;
    let sizes: i128 = of(40_000_041).map(|event| event.value).sum();
    let found = [gets, gives + moves];
    ensure(begun.is_none() && most > 0 && found == own[..2], || {
        format!("{found:?} calls, the longest {most} ns; the program says {own:?}")
    })?;
    ensure(sizes == i128::from(own[2]), || {
        format!("{sizes} bytes are asked for; the program says {own:?}")
    })?;
    let names = trace.config.values.get(&70_000_001).ok_or("no callers")?;
    let named = |event: &prv::Event| names.get(&event.value).cloned();
    let callers: BTreeSet<String> = of(70_000_001).filter_map(named).collect();
    for (function, call) in LEAKS {
        let caller = format!("{function} (account.c:{})", line_of(call)?);
        ensure(callers.contains(&caller), || format!("{callers:?}"))?;
    }
    Ok(())
}

/// `stack_high_water` of the threads but the first: bytes, exact.
fn depths(trace: &Path) -> Check<Vec<(u64, bool)>> {
    let summary = summary(trace)?;
    let of = |stack: &Value| {
        let bytes = stack["bytes"].as_u64().unwrap_or(0);
        (bytes, stack["exact"] == true)
    };
    let stacks = summary["memory"]["stack_high_water"].as_array();
    let stacks = stacks.ok_or("no stacks")?.iter().skip(1);
    Ok(stacks.map(of).collect())
}

/// Stacks that the program painted, fresh ones, used ones, one deeper than the runtime paints.
fn stacks(target: Target) -> Check {
    let dir = workspace::work_dir("memory-stacks")?;
    let (plain, traced) = program(dir.path(), "stacks", target, false)?;
    let run = |program: &Path, mode: &str| {
        target
            .run(program)
            .arg(mode)
            .env("INSTR_STACK", "1")
            .env("INSTR_TRACE", dir.path().join(mode))
            .succeed()
    };
    let by_paint = |text: String| -> Vec<u64> {
        let lines = text.lines().filter_map(|l| l.rsplit_once(' '));
        lines.filter_map(|(_, n)| n.parse().ok()).collect()
    };
    let plainly = by_paint(run(&plain, "painted")?.text());
    let painted = by_paint(run(&traced, "painted")?.text());
    ensure(plainly.len() == 3 && painted.len() == 3, || {
        format!("{plainly:?} {painted:?}")
    })?;
    for mode in ["painted", "fresh", "dirty"] {
        if mode != "painted" {
            run(&traced, mode)?;
        }
        let mut told = depths(&dir.path().join(mode))?;
        if mode == "dirty" {
            told = told.into_iter().skip(1).step_by(2).collect();
        }
        let near = |paint: &[u64]| {
            let pairs = told.iter().zip(paint);
            told.len() == 3
                && pairs
                    .into_iter()
                    .all(|(t, p)| t.0.abs_diff(*p) <= tolerance(target))
        };
        let exact = told.iter().all(|t| t.1);
        ensure(exact && near(&plainly) && near(&painted), || {
            format!("{mode}: {told:?}; paint says {painted:?}, {plainly:?} without us")
        })?;
    }
    run(&traced, "guarded")?;
    let guarded = depths(&dir.path().join("guarded"))?;
    let near = |told: &(u64, bool)| told.1 && told.0.abs_diff(painted[1]) <= tolerance(target);
    ensure(guarded.len() == 1 && near(&guarded[0]), || {
        format!("guarded: {guarded:?}; paint says {painted:?}")
    })?;
    run(&traced, "deep")?;
    let deep = depths(&dir.path().join("deep"))?;
    // 2,000 frames of 301 bytes and more.
    ensure(deep.len() == 1 && deep[0].0 > 602_000 && !deep[0].1, || {
        format!("{deep:?}")
    })
}
