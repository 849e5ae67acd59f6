//! Programs linked through `--wrap` and through `--redirect` behave as the plain ones, and their probes see the same.

mod common;

use common::{
    GCC, GCC_SECTIONS, Toolchain, V8, V8_PIC, V9, include, run, scratch, source, tool, tool_text,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles the stubs for `object`.
fn stubs(toolchain: &Toolchain, object: &Path, linkage: &str, directory: &Path) -> PathBuf {
    let text = directory.join(format!("stubs-{linkage}.c"));
    run(tool()
        .args(["--emit-stubs", "--linkage", linkage, "-o"])
        .arg(&text)
        .arg(object));
    let compiled = text.with_extension("o");
    let mut command = toolchain.command("gcc");
    run(command
        .arg("-I")
        .arg(include())
        .arg("-c")
        .arg(&text)
        .arg("-o")
        .arg(&compiled));
    compiled
}

/// Links `parts`, with what the linker needs besides.
fn link(toolchain: &Toolchain, extra: &[String], parts: &[&Path], program: &Path) {
    let mut command = toolchain.command("gcc");
    command
        .arg("-fopenmp")
        .args(extra)
        .args(parts)
        .arg("-o")
        .arg(program);
    if !toolchain.emulator.is_empty() {
        command.args(["-static", "-latomic"]);
    }
    run(&mut command);
}

/// What a program prints, and the counts of its probes.
fn execute(toolchain: &Toolchain, program: &Path) -> (String, BTreeMap<String, u64>) {
    let mut command = if toolchain.emulator.is_empty() {
        Command::new(program)
    } else {
        let mut command = Command::new(toolchain.emulator);
        command.arg(program);
        command
    };
    let output = run(command
        .env("OMP_DYNAMIC", "false")
        .env_remove("OMP_SCHEDULE"));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let count = |line: &str| {
        line.rsplit_once(' ')
            .map(|(name, calls)| (name.to_owned(), calls.parse().unwrap()))
    };
    (
        String::from_utf8(output.stdout).unwrap(),
        stderr.lines().filter_map(count).collect(),
    )
}

/// Builds and runs the plain, the wrapped and the redirected program; returns the counts.
fn three_ways(toolchain: &Toolchain) -> BTreeMap<String, u64> {
    let directory = scratch();
    let directory = directory.path();
    let object = toolchain.compile(&source("constructs.c"), directory);
    let probes = toolchain.compile(&source("probes.c"), directory);
    let plain = directory.join("plain");
    link(toolchain, &[], &[&object], &plain);

    let flags: Vec<String> = tool_text(&["--emit-wrap-flags"], &object)
        .lines()
        .map(str::to_owned)
        .collect();
    let wrapped = directory.join("wrapped");
    link(
        toolchain,
        &flags,
        &[
            &object,
            &stubs(toolchain, &object, "wrap", directory),
            &probes,
        ],
        &wrapped,
    );

    let redirected_object = directory.join("redirected.o");
    run(tool()
        .arg("--redirect")
        .arg(&object)
        .arg("-o")
        .arg(&redirected_object));
    let redirected = directory.join("redirected");
    let renamed = stubs(toolchain, &redirected_object, "rename", directory);
    link(
        toolchain,
        &[],
        &[&redirected_object, &renamed, &probes],
        &redirected,
    );

    let (expected, none) = execute(toolchain, &plain);
    assert!(none.is_empty());
    let (by_wrap, wrap_counts) = execute(toolchain, &wrapped);
    let (by_redirect, redirect_counts) = execute(toolchain, &redirected);
    assert_eq!(by_wrap, expected, "{}", toolchain.name);
    assert_eq!(by_redirect, expected, "{}", toolchain.name);
    assert_eq!(redirect_counts, wrap_counts, "{}", toolchain.name);
    wrap_counts
}

/// Counts that follow from the source alone, whatever the compiler and the processor.
fn check_closed_forms(counts: &BTreeMap<String, u64>, name: &str) {
    // Two tasks for each call of fibonacci(n) with n >= 2, starting at 10, and a chain of twenty.
    let mut inner = [0u64; 11];
    for n in 2..=10 {
        inner[n] = 1 + inner[n - 1] + inner[n - 2];
    }
    assert_eq!(counts["task"], 2 * inner[10] + 20, "{name}");
    assert_eq!(counts["taskwait"], inner[10] + 1, "{name}");
    assert_eq!(
        (
            counts["taskloop"],
            counts["taskgroup_start"],
            counts["taskgroup_end"]
        ),
        (1, 1, 1),
        "{name}"
    );
    // Regions: loops, exclusion, tasks; one combined with its loop.
    assert_eq!(
        (counts["parallel"], counts["parallel_loop"]),
        (3, 1),
        "{name}"
    );
    // Three threads each in two nonmonotonic loops with bounds that are not constant.
    assert_eq!(counts["loop_start"], 6, "{name}");
    assert_eq!(counts["ordered"], 2 * 200, "{name}");
    assert_eq!(
        (counts["lock"], counts["nest lock"]),
        (2 * 3, 2 * 3),
        "{name}"
    );
    assert_eq!(
        (counts["critical_name_start"], counts["critical_name_end"]),
        (3, 3),
        "{name}"
    );
    // One critical in each thread, two in sections.
    assert_eq!(counts["critical"], 2 * 5, "{name}");
    assert_eq!(counts["enter"], counts["leave"], "{name}");
    assert_eq!(
        counts["omp_init_lock"] + counts["omp_destroy_nest_lock"],
        2,
        "{name}"
    );
    assert!(
        counts.keys().all(|probe| !probe.starts_with("wrong")),
        "{name}: {counts:?}"
    );
}

#[test]
fn x86_64_programs_count_the_same() {
    for toolchain in [&GCC, &GCC_SECTIONS] {
        check_closed_forms(&three_ways(toolchain), toolchain.name);
    }
}

#[test]
fn sparc_v8_programs_count_the_same() {
    for toolchain in [&V8, &V8_PIC] {
        check_closed_forms(&three_ways(toolchain), toolchain.name);
    }
}

#[test]
fn sparc_v9_programs_count_the_same() {
    check_closed_forms(&three_ways(&V9), V9.name);
}

#[test]
fn every_linker_accepts_redirected_comdat_groups() {
    let directory = scratch();
    let directory = directory.path();
    let probes = GCC.compile(&source("probes.c"), directory);
    for driver in ["g++", "clang++"] {
        let object = directory.join(format!("{driver}.o"));
        let openmp = if driver == "g++" {
            "-fopenmp"
        } else {
            "-fno-openmp"
        };
        run(Command::new(driver)
            .args(["-O1", openmp, "-c"])
            .arg(source("templates.cpp"))
            .arg("-o")
            .arg(&object));
        let redirected = directory.join("redirected.o");
        run(tool()
            .arg("--redirect")
            .arg(&object)
            .arg("-o")
            .arg(&redirected));
        let stubs = stubs(&GCC, &object, "rename", directory);
        for linker in ["bfd", "gold", "lld", "mold"] {
            let program = directory.join("program");
            let mut command = Command::new("g++");
            command
                .arg(format!("-fuse-ld={linker}"))
                .arg("-fopenmp")
                .args([&redirected, &stubs, &probes]);
            run(command.args(["-Wl,--gc-sections", "-o"]).arg(&program));
            let (printed, counts) = execute(&GCC, &program);
            assert_eq!(printed, "300 50 9\n", "{driver} {linker}");
            if driver == "g++" {
                assert_eq!(counts["critical_name_start"], 1, "{linker}");
            }
        }
    }
}
