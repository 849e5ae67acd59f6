//! Layers of the C runtime: who may include whom, which files call the system, which have instructions of a processor. The picture is in
//! docs/architecture.md.

use std::collections::BTreeSet;
use std::path::Path;

use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::workspace;
use libtest_mimic::Trial;

use crate::boundaries::{files, nothing};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("layers::includes-point-down", includes_point_down),
        trial("layers::instructions-are-in-arch", instructions),
        trial("layers::systems-headers-are-in-platform", system_headers),
        trial("layers::macros-do-not-return", macros),
        trial("layers::shapes-are-written-once", shapes),
    ]
}

/// A layer of the runtime: a name, and the beginnings of the paths that belong to it.
type Layer = (&'static str, &'static [&'static str]);

/// From the bottom up: the first beginning that fits decides. A file includes files of its own layer and of those below.
const LAYERS: [Layer; 7] = [
    ("public headers", &["include/"]),
    ("instructions", &["arch/"]),
    (
        "settings and texts",
        &[
            "core/cold.h",
            "core/config.h",
            "core/events.h",
            "core/format.h",
            "core/text.",
            "core/parse_time.c",
            "core/settings.h",
            "core/static_config.",
        ],
    ),
    (
        "interfaces",
        &[
            "platform/platform.h",
            "sinks/sink.h",
            "sensors/sensors.h",
            "sensors/optional.h",
            "sampling/sampling.h",
            "library/modules.h",
            "library/table.h",
            "library/interface.h",
            "ompt/ompt.h",
        ],
    ),
    ("core", &["core/"]),
    (
        "systems, sinks, sensors, samples",
        &["platform/", "sinks/", "sensors/", "sampling/"],
    ),
    (
        "probes, tools, libraries",
        &["probes/", "ompt/", "library/"],
    ),
];

/// Number of the layer of a file in the runtime, from the bottom.
fn layer(file: &str) -> Option<usize> {
    LAYERS
        .iter()
        .position(|(_, begins)| begins.iter().any(|begin| file.starts_with(begin)))
}

/// Sources and headers of the runtime: paths in it, and texts.
fn sources() -> Check<Vec<(String, String)>> {
    let root = workspace::root()?.join("runtime");
    let mut found = Vec::new();
    for path in files(&root, &["c", "h"])? {
        let inside = path.strip_prefix(&root).unwrap_or(&path);
        if inside.starts_with("tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path)?;
        found.push((inside.to_string_lossy().into_owned(), text));
    }
    ensure(found.len() > 50, || format!("only {} sources", found.len()))?;
    Ok(found)
}

/// What a line includes, between these quotes.
fn included(line: &str, open: char, close: char) -> Option<&str> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("include")?.trim_start();
    rest.strip_prefix(open)?.split(close).next()
}

/// Lines for which `wrong` gives a remark.
fn lines(wrong: impl Fn(&str, &str) -> Option<String>) -> Check<Vec<String>> {
    let mut found = Vec::new();
    for (file, text) in sources()? {
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(remark) = wrong(&file, line) {
                found.push(format!("runtime/{file}:{number}: {remark}"));
            }
        }
    }
    Ok(found)
}

fn includes_point_down() -> Check {
    let mut used = BTreeSet::new();
    for (file, _) in sources()? {
        let number = layer(&file);
        ensure(number.is_some(), || {
            format!("runtime/{file} is in no layer")
        })?;
        used.extend(number);
    }
    ensure(used.len() == LAYERS.len(), || "a layer has no files".into())?;
    let found = lines(|file, line| {
        let target = included(line, '"', '"')?;
        let inside = if target.starts_with("instr/") {
            format!("include/{target}")
        } else {
            target.to_owned()
        };
        let (from, to) = (layer(file)?, layer(&inside));
        let folder = |path: &str| Path::new(path).parent().map(Path::to_path_buf);
        let down = to.is_some_and(|to| to < from);
        let across = to == Some(from)
            && (folder(&inside) == folder(file)
                || LAYERS[from].0 == "interfaces"
                || LAYERS[from].0 == "settings and texts"
                || (folder(file) == Some("library".into()) && inside.starts_with("ompt/"))
                || (folder(file) == Some("ompt".into()) && inside.starts_with("library/")));
        (!down && !across).then(|| format!("includes {target}"))
    })?;
    nothing(
        &found,
        "a file of the runtime includes files of its folder and of the layers below",
    )
}

fn instructions() -> Check {
    let found = lines(|file, line| {
        // A barrier for the compiler and directives of the assembler are no instructions.
        let from = line.find("__asm__")?;
        let code = line[from..].trim_end();
        let harmless =
            code.contains("(\"\"") || code.contains("(\".") || code.contains("INSTR_ARCH_");
        (!file.starts_with("arch/") && !harmless).then(|| line.trim().to_owned())
    })?;
    nothing(&found, "instructions of a processor are in runtime/arch")
}

/// Headers of a system; every platform has the others.
fn is_of_a_system(header: &str) -> bool {
    let begins = ["sys/", "linux/", "rtems", "grlib/", "bsp"];
    let names = [
        "unistd.h",
        "fcntl.h",
        "pthread.h",
        "sched.h",
        "poll.h",
        "link.h",
        "dlfcn.h",
        "signal.h",
        "time.h",
        "elf.h",
        "dirent.h",
        "malloc.h",
        "ucontext.h",
    ];
    begins.iter().any(|begin| header.starts_with(begin)) || names.contains(&header)
}

/// Besides `platform/`: what writes files, and what only programs with shared libraries have.
const SYSTEM: [&str; 5] = [
    "platform/",
    "sinks/file",
    "sinks/small_file.c",
    "library/",
    "ompt/",
];

fn system_headers() -> Check {
    let found = lines(|file, line| {
        let header = included(line, '<', '>')?;
        let allowed =
            SYSTEM.iter().any(|begin| file.starts_with(begin)) || file == "include/instr/rtems.h";
        (is_of_a_system(header) && !allowed).then(|| format!("includes <{header}>"))
    })?;
    nothing(
        &found,
        "systems are called by platform/, files by sinks/file*, the dynamic linker by library/ and ompt/",
    )
}

fn macros() -> Check {
    let mut found = Vec::new();
    for (file, text) in sources()? {
        let (mut in_macro, mut braces) = (false, 0);
        for (number, line) in (1..).zip(text.lines()) {
            if !in_macro {
                in_macro = line.trim_start().starts_with("#define");
                braces = 0;
            }
            let code = line.split("/*").next().unwrap_or_default();
            if in_macro && braces == 0 && code.contains("return ") && !code.contains('{') {
                found.push(format!("runtime/{file}:{number}: {}", line.trim()));
            }
            braces += code.matches('{').count();
            in_macro &= line.ends_with('\\');
        }
    }
    nothing(
        &found,
        "a macro that returns hides the end of a function (one that is a function does not)",
    )
}

/// What is written once: a word of its code, and where that stands.
const SHAPES: [(&str, &str); 1] = [("'0' + ", "core/text.c")];

fn shapes() -> Check {
    let found = lines(|file, line| {
        let (word, home) = SHAPES.iter().find(|(word, _)| line.contains(word))?;
        (!file.starts_with(home)).then(|| format!("`{word}`: {}", line.trim()))
    })?;
    nothing(&found, "decimal numbers are written in one place")
}
