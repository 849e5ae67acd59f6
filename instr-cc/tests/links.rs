//! Real compilers and linkers: an instrumented program prints and returns what the plain one does, and leaves a trace.

mod common;

use common::{Place, text};
use instr_test_needs::has;

/// Compiles plainly and wrapped, runs both, compares; the wrapped one must be instrumented.
fn same_program_with_trace(compiler: &str, args: &str, emulator: &str) {
    let place = Place::new();
    let plain = place.run(&format!("{compiler} {args} -o plain"));
    assert!(
        plain.status.success(),
        "{compiler} {args}: {}",
        text(&plain.stderr)
    );
    let wrapped = place.wrapped(&format!("{compiler} {args} -o wrapped"));
    assert_eq!(
        text(&wrapped.stdout),
        text(&plain.stdout),
        "{compiler} {args}"
    );
    assert_eq!(
        text(&wrapped.stderr).lines().count(),
        text(&plain.stderr).lines().count(),
        "{}",
        text(&wrapped.stderr)
    );
    let runs = ["plain", "wrapped"].map(|name| place.run(format!("{emulator} ./{name}").trim()));
    assert_eq!(text(&runs[0].stdout), "sum 48\n");
    assert_eq!(
        text(&runs[1].stdout),
        "sum 48\n",
        "{compiler} {args}: {}",
        text(&runs[1].stderr)
    );
    assert_eq!(runs.map(|r| r.status.code()), [Some(7); 2]);
    assert!(place.has_trace("wrapped"), "{compiler} {args}: no trace");
    assert!(!place.has_trace("plain"));
}

fn with_linkers(compiler: &str, args: &str) {
    for linker in ["bfd", "gold", "lld", "mold"] {
        if has(&format!("ld.{linker}")) {
            same_program_with_trace(compiler, &format!("-fuse-ld={linker} {args}"), "");
        }
    }
}

#[test]
fn gcc_with_every_linker() {
    with_linkers("gcc", "-fopenmp p.c");
}

#[test]
fn gcc_static_with_every_linker() {
    with_linkers("gcc", "-static -fopenmp p.c");
}

#[test]
fn gcc_makes_position_independent_and_fixed_programs() {
    same_program_with_trace("gcc", "-static-pie -fopenmp p.c", "");
    same_program_with_trace("gcc", "-no-pie -fopenmp -O2 -g p.c", "");
}

#[test]
fn gcc_with_link_time_optimization() {
    for args in [
        "",
        "-fuse-ld=gold",
        "-fuse-ld=mold",
        "-static",
        "-ffat-lto-objects",
    ] {
        same_program_with_trace("gcc", &format!("-flto -O2 -fopenmp p.c {args}"), "");
    }
}

#[test]
fn gpp_compiles_cpp() {
    same_program_with_trace("g++", "-x c++ -fopenmp p.c", "");
}

#[test]
fn clang_links_objects_of_gcc_with_every_linker() {
    if !has("clang") {
        return;
    }
    for linker in ["bfd", "gold", "lld", "mold"] {
        let place = Place::new();
        assert!(place.wrapped("gcc -fopenmp -c p.c").status.success());
        let link = place.wrapped(&format!("clang -fuse-ld={linker} p.o -lgomp -o wrapped"));
        assert_eq!(
            (text(&link.stderr).as_str(), link.status.code()),
            ("", Some(0))
        );
        assert_eq!(text(&place.run("./wrapped").stdout), "sum 48\n");
        assert!(place.has_trace("wrapped"), "{linker}");
    }
}

#[test]
fn gfortran_programs_are_instrumented() {
    if !has("gfortran") {
        return;
    }
    let place = Place::new();
    let source = "program t\ninteger :: i, s\ns = 0\n!$omp parallel do schedule(dynamic) reduction(+:s)\ndo i = 1, 10\n\
                  s = s + i\nend do\nprint *, s\nend\n";
    place.write("f.f90", source);
    let built = place.wrapped("gfortran -fopenmp f.f90 p.c -c");
    assert_eq!(
        (text(&built.stderr).as_str(), built.status.code()),
        ("", Some(0))
    );
    assert!(place.wrapped("gfortran -fopenmp f.o -o f").status.success());
    assert_eq!(text(&place.run("./f").stdout).trim(), "55");
    assert!(place.has_trace("f"));
}

#[test]
fn sparc_programs_are_instrumented() {
    if !has("sparc64-linux-gnu-gcc") {
        return;
    }
    if has("qemu-sparc32plus") {
        same_program_with_trace(
            "sparc64-linux-gnu-gcc",
            "-m32 -mcpu=v8 -static -fopenmp p.c",
            "qemu-sparc32plus",
        );
    }
    if has("qemu-sparc64") {
        same_program_with_trace(
            "sparc64-linux-gnu-gcc",
            "-m64 -static -fopenmp p.c",
            "qemu-sparc64",
        );
    }
}

#[test]
fn a_target_brings_its_compiler_and_flags() {
    if !has("sparc64-linux-gnu-gcc") || !has("qemu-sparc32plus") {
        return;
    }
    let place = Place::new();
    assert!(
        place
            .wrapped("--instr-target=sparc-linux -fopenmp p.c -o wrapped")
            .status
            .success()
    );
    assert_eq!(
        text(&place.run("qemu-sparc32plus ./wrapped").stdout),
        "sum 48\n"
    );
    assert!(place.has_trace("wrapped"));
}

#[test]
fn separate_steps_archives_and_response_files_are_instrumented() {
    let place = Place::new();
    place.write(
        "main.c",
        "int work(void); int main(void) { return work(); }",
    );
    place.write("work.c", PROGRAM_PART);
    place.write("odd name.rsp", "-c -fopenmp 'work.c' \"main.c\"");
    place.write("outer", "'@odd name.rsp'");
    assert!(place.wrapped("gcc @outer").status.success());
    assert!(place.run("ar rcs libwork.a work.o").status.success());
    place.write("link", "main.o -L. -lwork -fopenmp -o 'wra\\pped'");
    assert!(place.wrapped("gcc @link").status.success());
    assert_eq!(place.run("./wrapped").status.code(), Some(4));
    assert!(place.has_trace("wrapped"));
}

const PROGRAM_PART: &str = "int work(void) { int n = 0;\n#pragma omp parallel num_threads(2)\n{\n#pragma omp critical\n n += 2;\n}\nreturn n; }";

#[test]
fn a_shared_library_is_instrumented() {
    let place = Place::new();
    place.write(
        "main.c",
        "int work(void); int main(void) { return work(); }",
    );
    place.write("work.c", PROGRAM_PART);
    assert!(
        place
            .wrapped("gcc -shared -fPIC -fopenmp work.c -o libwork.so")
            .status
            .success()
    );
    assert!(
        place
            .wrapped("gcc main.c -L. -lwork -Wl,-rpath,. -o wrapped")
            .status
            .success()
    );
    assert_eq!(place.run("./wrapped").status.code(), Some(4));
    assert!(place.has_trace("wrapped"));
}

#[test]
fn a_relocatable_link_stays_plain_and_its_use_is_instrumented() {
    let place = Place::new();
    place.write("a.c", "int extra;");
    assert!(place.wrapped("gcc -fopenmp -c p.c a.c").status.success());
    let link = place.wrapped("gcc --instr-verbose -r p.o a.o -o both.o");
    assert!(
        text(&link.stderr).contains("linked plainly: -r makes an object file"),
        "{}",
        text(&link.stderr)
    );
    let link = place.wrapped("gcc --instr-verbose -nostdlib -Wl,-r p.o a.o -o both2.o");
    assert!(
        text(&link.stderr).contains("linked plainly: an object file is made"),
        "{}",
        text(&link.stderr)
    );
    assert!(
        place
            .wrapped("gcc -fopenmp both.o -o wrapped")
            .status
            .success()
    );
    assert_eq!(place.run("./wrapped").status.code(), Some(7));
    assert!(place.has_trace("wrapped"));
}

#[test]
fn a_described_function_that_the_program_defines_is_still_found_by_its_libraries() {
    let place = Place::new();
    place.write(
        "api.rs",
        "extern \"C\" { pub fn helper(x: c_int) -> c_int; }",
    );
    place.write(
        "main.c",
        "int helper(int); int outer(int); int main(void) { return helper(1) + outer(2); }",
    );
    place.write("helper.c", "int helper(int x) { return x + 1; }");
    place.write(
        "lib.c",
        "int helper(int); int outer(int x) { return helper(x); }",
    );
    assert!(
        place
            .run("gcc -shared -fPIC lib.c -o libouter.so")
            .status
            .success()
    );
    for linker in ["bfd", "gold", "lld", "mold"] {
        let line = format!(
            "gcc --instr-verbose -fuse-ld={linker} --instr-api=api.rs main.c helper.c -L. -louter -Wl,-rpath,. -o wrapped"
        );
        let link = place.wrapped(&line);
        assert!(
            text(&link.stderr).contains("instrumented: helper"),
            "{}",
            text(&link.stderr)
        );
        assert_eq!(place.run("./wrapped").status.code(), Some(5), "{linker}");
    }
}

#[test]
fn the_public_interface_works_without_openmp() {
    let place = Place::new();
    place.write("u.c", "#include <instr/instr.h>\n#ifndef __INSTR__\n#error not under instr-cc\n#endif\nint main(void) { instr_event(1, 2); return 3; }");
    for args in ["", "-static", "-flto"] {
        let link = place.wrapped(&format!("gcc {args} u.c -o wrapped"));
        assert_eq!(
            (text(&link.stderr).as_str(), link.status.code()),
            ("", Some(0))
        );
        assert_eq!(place.run("./wrapped").status.code(), Some(3));
        assert!(place.has_trace("wrapped"), "{args}");
        std::fs::remove_dir_all(place.path().join("wrapped.instr")).unwrap();
    }
}

#[test]
fn a_plain_library_that_uses_openmp_too_can_be_linked_with() {
    let place = Place::new();
    place.write("work.c", PROGRAM_PART);
    place.write("main.c", "int work(void); int main(void) { int n = 0;\n#pragma omp parallel num_threads(2)\n{\n#pragma omp critical\n n++;\n}\nreturn n + work(); }");
    assert!(
        place
            .run("gcc -shared -fPIC -fopenmp work.c -o libwork.so")
            .status
            .success()
    );
    for linker in ["bfd", "gold", "lld", "mold"] {
        let line = format!(
            "gcc -fuse-ld={linker} -fopenmp main.c -L. -lwork -Wl,-rpath,. -o wrapped-{linker}"
        );
        let link = place.wrapped(&line);
        assert_eq!(
            (text(&link.stderr).as_str(), link.status.code()),
            ("", Some(0))
        );
        assert_eq!(
            place.run(&format!("./wrapped-{linker}")).status.code(),
            Some(6)
        );
        assert!(place.has_trace(&format!("wrapped-{linker}")), "{linker}");
    }
}

#[test]
fn static_fortran_and_cpp_find_the_thread_functions_they_look_for() {
    let place = Place::new();
    place.write(
        "mark.c",
        "#include <instr/instr.h>\nvoid mark_(void) { instr_event(1, 2); }",
    );
    place.write("f.f90", "program t\ncall mark()\nprint *, 'hi'\nend\n");
    place.write(
        "t.cc",
        "#include <stdexcept>\nextern \"C\" void mark_(void);\n\
         int main() { mark_(); try { throw std::runtime_error(\"x\"); } catch (std::exception &) { return 9; } }",
    );
    for (tool, line, status) in [
        ("gfortran", "gfortran -static f.f90 mark.o -o wrapped", 0),
        ("g++", "g++ -static t.cc mark.o -o wrapped", 9),
    ] {
        if has(tool) {
            assert!(place.wrapped("gcc -c mark.c").status.success());
            let link = place.wrapped(line);
            assert_eq!(
                (text(&link.stderr).as_str(), link.status.code()),
                ("", Some(0))
            );
            assert_eq!(place.run("./wrapped").status.code(), Some(status), "{line}");
            assert!(place.has_trace("wrapped"));
        }
    }
}
