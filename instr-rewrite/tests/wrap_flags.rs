//! `--emit-wrap-flags` is the set of undefined symbols according to `nm` ∩ the descriptions, for every compiler.

mod common;

use common::{
    ALL, GCC, Toolchain, V8, V9, nm_undefined, run, scratch, source, tool, tool_text, wrapped,
};
use instr_rewrite::Api;
use std::collections::BTreeSet;
use std::path::Path;

/// What should be wrapped, from `nm` and the descriptions.
fn expected(toolchain: &Toolchain, object: &Path) -> BTreeSet<String> {
    let api = Api::builtin();
    let (strong, _) = nm_undefined(toolchain.nm, object);
    let wrappable = |symbol: &String| {
        api.get(symbol)
            .is_some_and(|function| function.refusal.is_none())
    };
    strong.into_iter().filter(wrappable).collect()
}

#[test]
fn flags_equal_nm_for_every_compiler_of_c() {
    let directory = scratch();
    for toolchain in ALL {
        for (name, least) in [("direct.c", 5), ("constructs.c", 4)] {
            let object = toolchain.compile(&source(name), directory.path());
            let expected = expected(toolchain, &object);
            assert!(expected.len() >= least, "{}: {expected:?}", toolchain.name);
            assert_eq!(wrapped(&object), expected, "{} {name}", toolchain.name);
        }
    }
}

#[test]
fn flags_equal_nm_for_comdat_groups_and_fortran() {
    let directory = scratch();
    for toolchain in [&GCC, &V8, &V9] {
        for name in ["templates.cpp", "loops.f90"] {
            let object = toolchain.compile(&source(name), directory.path());
            let expected = expected(toolchain, &object);
            assert!(
                expected.contains("GOMP_parallel") || expected.len() > 2,
                "{}: {expected:?}",
                toolchain.name
            );
            assert_eq!(wrapped(&object), expected, "{} {name}", toolchain.name);
        }
    }
    let fortran = wrapped(&GCC.compile(&source("loops.f90"), directory.path()));
    assert!(fortran.contains("omp_set_lock_"), "{fortran:?}");
}

#[test]
fn executables_and_shared_objects_tell_what_they_import() {
    let directory = scratch();
    for (flags, output) in [
        (&["-pie"][..], "program"),
        (&["-no-pie"], "fixed"),
        (&["-shared", "-fPIC"], "library.so"),
    ] {
        let file = directory.path().join(output);
        run(GCC
            .command("gcc")
            .args(flags)
            .arg("-fopenmp")
            .arg(source("constructs.c"))
            .arg("-o")
            .arg(&file));
        let object = GCC.compile(&source("constructs.c"), directory.path());
        assert_eq!(wrapped(&file), expected(&GCC, &object), "{output}");
    }
}

#[test]
fn sparc_executables_tell_what_they_import() {
    let directory = scratch();
    for toolchain in [&V8, &V9] {
        let file = directory.path().join(toolchain.name);
        run(toolchain
            .command("gcc")
            .arg("-fopenmp")
            .arg(source("constructs.c"))
            .args(["-latomic", "-o"])
            .arg(&file));
        let object = toolchain.compile(&source("constructs.c"), directory.path());
        assert_eq!(
            wrapped(&file),
            expected(toolchain, &object),
            "{}",
            toolchain.name
        );
    }
}

#[test]
fn styles_differ_in_form_only() {
    let directory = scratch();
    let object = GCC.compile(&source("direct.c"), directory.path());
    let gcc = tool_text(&["--emit-wrap-flags"], &object);
    assert!(gcc.starts_with("-Wl,--wrap=GOMP_barrier\n"), "{gcc}");
    assert_eq!(
        tool_text(&["--emit-wrap-flags", "--style", "ld"], &object),
        gcc.replace("-Wl,", "")
    );
    let quoted: String = gcc
        .lines()
        .map(|line| format!("\"{}\"\n", &line[4..]))
        .collect();
    assert_eq!(
        tool_text(&["--emit-wrap-flags", "--style", "response"], &object),
        quoted
    );
}

#[test]
fn weak_references_and_unknown_entry_points_are_reported_not_wrapped() {
    let directory = scratch();
    let object = GCC.compile(&source("direct.c"), directory.path());
    let output = run(tool().arg("--emit-wrap-flags").arg(&object));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    assert!(
        stderr.starts_with("instr-rewrite: warning: GOMP_from_the_future: "),
        "{stderr}"
    );
    let rows: serde_json::Value =
        serde_json::from_str(&tool_text(&["--list", "--json"], &object)).unwrap();
    let row = |symbol: &str| {
        rows.as_array()
            .unwrap()
            .iter()
            .find(|row| row["symbol"] == symbol)
            .cloned()
            .unwrap()
    };
    assert_eq!(row("GOMP_taskyield")["wrapped"], false);
    assert!(
        row("GOMP_taskyield")["why"]
            .as_str()
            .unwrap()
            .contains("weak")
    );
    assert_eq!(
        row("GOMP_from_the_future")["description"],
        serde_json::Value::Null
    );
    assert_eq!(
        row("omp_destroy_lock")["why"],
        "generic stub: enter, exit, arguments"
    );
    assert_eq!(row("GOMP_barrier")["why"], "probe barrier");
    assert_eq!(row("GOMP_barrier")["description"], "gomp.rs");
    let table = tool_text(&["--list"], &object);
    assert!(
        table
            .lines()
            .any(|line| line.split_whitespace().collect::<Vec<_>>()[..4]
                == ["GOMP_from_the_future", "-", "no", "an"]),
        "{table}"
    );
}
