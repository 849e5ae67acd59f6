//! `<instr/instr.h>` of an installation: found by `instr config`, pkg-config, CMake and Meson, nothing in plain builds, events in builds by `instr-cc`.

use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

use super::clone::Clone;

pub(super) fn trials() -> Vec<Trial> {
    vec![
        trial("install::header-by-instr-config", by_instr_config),
        trial("install::header-by-pkg-config", by_pkg_config),
        trial("install::header-by-meson", by_meson),
        trial("install::header-by-cmake", by_cmake),
        trial("install::module-of-fortran", fortran),
        trial("install::header-is-nothing-in-plain-objects", is_nothing),
    ]
}

/// Three rounds: three regions, three events, three values of a counter. Made as C and as C++.
const PROGRAM: &str = "#include <instr/instr.h>\n\
int main(void)\n{\n\
    for (int round = 0; round < 3; round++) {\n\
        instr_region_begin(\"round\");\n\
        instr_event(4711, (uint64_t)round + 1);\n\
        instr_counter(\"left\", 2 - round);\n\
        instr_region_end();\n\
    }\n\
    instr_flush();\n\
    return 5;\n}\n";

/// An installation with small programs as tools, moved after it was made: what tells where the header is must not name the old place.
fn moved_installation(dir: &Path) -> Check<PathBuf> {
    let (first, prefix) = (dir.join("first"), dir.join("moved"));
    Clone::with_small_programs(dir)?.install(&first)?;
    std::fs::rename(&first, &prefix)?;
    std::fs::write(dir.join("app.c"), PROGRAM)?;
    std::fs::write(dir.join("app.cc"), PROGRAM)?;
    Ok(prefix)
}

/// The program ended as it should, and left a trace with three of everything only if it was made by `instr-cc`.
fn judge(program: &Path, traced: bool) -> Check {
    let trace = program.with_extension("instr");
    let ended = Run::new(program).env("INSTR_TRACE", &trace).output()?;
    ensure(ended.status == Status::Code(5), || format!("{ended}"))?;
    ensure(trace.is_dir() == traced, || {
        format!("{}: trace {}", program.display(), trace.is_dir())
    })?;
    if !traced {
        return Ok(());
    }
    let events = ctf::read(&trace)?;
    for (subject, expected) in [
        ("region_begin", 3),
        ("region_end", 3),
        ("user_event{type=4711}", 3),
        ("user_event{type=4711,value=3}", 1),
        ("counter", 3),
    ] {
        let found = ctf::count(&events, subject)?;
        ensure(found == expected, || {
            format!("{subject}: {found}, expected {expected}")
        })?;
    }
    Ok(())
}

/// The options that `instr config` prints are those of the installation it is called from, wherever that was moved to.
fn by_instr_config() -> Check {
    let dir = workspace::work_dir("header by config")?;
    let (first, prefix) = (dir.path().join("first"), dir.path().join("moved"));
    Clone::with_tools(dir.path())?.install(&first)?;
    std::fs::rename(&first, &prefix)?;
    std::fs::write(dir.path().join("app.c"), PROGRAM)?;
    let ask = |question: &str| -> Check<String> {
        let run = Run::new(prefix.join("bin/instr")).args(["config", question]);
        Ok(run.succeed()?.text().trim_end().to_owned())
    };
    for (question, below) in [
        ("--prefix", ""),
        ("--includedir", "include"),
        ("--cmakedir", "share/cmake/instr"),
        ("--pkgconfigdir", "share/pkgconfig"),
    ] {
        let told = ask(question)?.replace("\\ ", " ");
        let right = Path::new(&told) == prefix.join(below) && Path::new(&told).is_dir();
        ensure(right, || format!("{question}: {told}"))?;
    }
    ensure(ask("--libs")?.is_empty(), || {
        "there is nothing to link".into()
    })?;
    // As a shell takes it: the folder's name has blanks in it.
    let program = dir.path().join("app");
    let line = format!("gcc -Wall -Werror {} app.c -o app", ask("--cflags")?);
    Run::words(["sh", "-c", &line]).dir(dir.path()).succeed()?;
    judge(&program, false)
}

const MESON: &str = "project('app', 'c', 'cpp')\ninstr = dependency('instr', version: '>=0.1')\n\
executable('app', 'app.c', dependencies: instr)\nexecutable('appxx', 'app.cc', dependencies: instr)\n";

fn by_meson() -> Check {
    for program in ["meson", "ninja", "pkg-config"] {
        need(program)?;
    }
    let dir = workspace::work_dir("header-by-meson")?;
    let prefix = moved_installation(dir.path())?;
    std::fs::write(dir.path().join("meson.build"), MESON)?;
    let wrapper = tools()?.instr_cc.display().to_string();
    for (traced, compilers) in [(false, ["gcc", "g++"]), (true, [&wrapper, &wrapper])] {
        let build = format!("build-{traced}");
        Run::words(["meson", "setup", &build])
            .env("PKG_CONFIG_PATH", prefix.join("share/pkgconfig"))
            .env("CC", compilers[0])
            .env("CXX", compilers[1])
            .dir(dir.path())
            .succeed()?;
        let made = Run::words(["ninja", "-C", &build]).dir(dir.path());
        made.succeed()?;
        for program in ["app", "appxx"] {
            judge(&dir.path().join(&build).join(program), traced)?;
        }
    }
    Ok(())
}

fn pkg_config(prefix: &Path, question: &str) -> Check<Outcome> {
    Run::words(["pkg-config", question, "instr"])
        .env("PKG_CONFIG_PATH", prefix.join("share/pkgconfig"))
        .succeed()
}

fn by_pkg_config() -> Check {
    need("pkg-config")?;
    let dir = workspace::work_dir("header by pkg-config")?;
    let prefix = moved_installation(dir.path())?;
    let flags = pkg_config(&prefix, "--cflags")?.text();
    let version = pkg_config(&prefix, "--modversion")?.text();
    ensure(version.trim() == env!("CARGO_PKG_VERSION"), || version)?;
    ensure(
        pkg_config(&prefix, "--libs")?.text().trim().is_empty(),
        || "there is nothing to link".into(),
    )?;
    for (compiler, source) in [("gcc", "app.c"), ("g++", "app.cc"), ("clang", "app.c")] {
        need(compiler)?;
        for traced in [false, true] {
            let program = dir.path().join(format!("{compiler}-{traced}"));
            let run = match traced {
                true => Run::new(&tools()?.instr_cc).arg(compiler),
                false => Run::new(compiler),
            };
            run.args(["-O1", "-Wall", "-Werror"])
                .args(flags.split_whitespace())
                .arg(dir.path().join(source))
                .arg("-o")
                .arg(&program)
                .succeed()?;
            judge(&program, traced)?;
        }
    }
    Ok(())
}

const PROJECT: &str = "cmake_minimum_required(VERSION 3.13)\nproject(app C CXX)\nfind_package(instr 0.1 REQUIRED)\n\
add_executable(app app.c)\ntarget_link_libraries(app PRIVATE instr::instr)\n\
add_executable(appxx app.cc)\ntarget_link_libraries(appxx PRIVATE instr::instr)\n";

fn by_cmake() -> Check {
    need("cmake")?;
    let dir = workspace::work_dir("header by cmake")?;
    let prefix = moved_installation(dir.path())?;
    std::fs::write(dir.path().join("CMakeLists.txt"), PROJECT)?;
    let configure = |build: &str, more: &[String]| {
        let run = Run::words(["cmake", "-S", ".", "-B", build]).dir(dir.path());
        run.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()))
            .args(["-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++"])
            .args(more)
    };
    for traced in [false, true] {
        let build = format!("build-{traced}");
        let wrapper = tools()?.instr_cc.display();
        let launchers = ["C_COMPILER", "CXX_COMPILER", "C_LINKER", "CXX_LINKER"]
            .map(|what| format!("-DCMAKE_{what}_LAUNCHER={wrapper}"));
        configure(&build, if traced { &launchers } else { &[] }).succeed()?;
        let made = Run::words(["cmake", "--build", &build]).dir(dir.path());
        made.succeed()?;
        for program in ["app", "appxx"] {
            judge(&dir.path().join(&build).join(program), traced)?;
        }
    }
    // A newer one than there is, is not found.
    let project = PROJECT.replace("instr 0.1", "instr 99.0");
    std::fs::write(dir.path().join("CMakeLists.txt"), project)?;
    let ended = configure("build-newer", &[]).output()?;
    ensure(ended.errors().contains("99.0"), || format!("{ended}"))
}

/// The same as [`PROGRAM`].
const OF_FORTRAN: &str = "program app\n  use instr\n  implicit none\n  integer :: round\n  do round = 1, 3\n    call instr_region_begin('round')\n\
    \x20   call instr_event(4711, round)\n    call instr_counter('left', 3 - round)\n    call instr_region_end()\n  end do\n  call instr_flush()\n  stop 5\nend program\n";

/// The module lies beside the header; a moved installation's pkg-config knows where.
fn fortran() -> Check {
    need("pkg-config")?;
    need("gfortran")?;
    let dir = workspace::work_dir("module-of-fortran")?;
    let prefix = moved_installation(dir.path())?;
    std::fs::write(dir.path().join("app.f90"), OF_FORTRAN)?;
    let folder = pkg_config(&prefix, "--variable=includedir")?.text();
    let folder = Path::new(folder.trim()).join("instr");
    for traced in [false, true] {
        let program = dir.path().join(format!("app-{traced}"));
        let run = match traced {
            true => Run::new(&tools()?.instr_cc).arg("gfortran"),
            false => Run::new("gfortran").arg("-I").arg(prefix.join("include")),
        };
        run.args(["-O1", "-Wall", "-Werror"])
            .args(["instr.f90", "instr_fortran.c"].map(|file| folder.join(file)))
            .args(["app.f90", "-o"])
            .arg(&program)
            .dir(dir.path())
            .succeed()?;
        judge(&program, traced)?;
    }
    Ok(())
}

/// The object is the same, to the byte of its code, as that of a program without the calls.
fn is_nothing() -> Check {
    let dir = workspace::work_dir("header-is-nothing")?;
    let include = workspace::root()?.join("runtime/include");
    let calls = "#include <instr/instr.h>\nint work(int);\nint work(int n) {\n  instr_region_begin(\"unused_name\");\n  instr_event(1, (unsigned)n);\n\
                 \x20 instr_counter(\"unused_name\", n);\n  instr_region_end();\n  return n + instr_stop();\n}\n";
    let guards = "#include <instr/instr.hpp>\nint work(int);\nint work(int n) {\n  instr::recording recording(\"INSTR_MEMORY=0\");\n  instr::region region(\"unused_name\");\n\
                 \x20 return n + 1 + recording.result();\n}\n";
    let without = "int work(int);\nint work(int n) {\n  return n;\n}\n";
    for (compiler, standard, extension, calls) in [
        ("gcc", "-std=c11", "c", calls),
        ("clang", "-std=c11", "c", calls),
        ("g++", "-std=c++17", "cc", calls),
        ("clang++", "-std=c++17", "cc", calls),
        ("g++", "-std=c++11", "cc", guards),
        ("clang++", "-std=c++11", "cc", guards),
    ] {
        need(compiler)?;
        let assembly = |name: &str, text: &str| -> Check<String> {
            let source = dir.path().join(name).with_extension(extension);
            std::fs::write(&source, text)?;
            let run = Run::words([
                compiler,
                standard,
                "-O1",
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Werror",
            ]);
            let run = run.args(["-S", "-o", "-", "-I"]).arg(&include).arg(&source);
            let lines = run.succeed()?.text();
            // Names of files and numbers of labels differ.
            let code = |line: &&str| {
                let at = line.trim_start();
                // That a class of the source has a destructor is said in a table of names, even if none is called.
                !line.contains(".file")
                    && !line.starts_with(".L")
                    && !at.starts_with(".addrsig_sym")
            };
            Ok(lines.lines().filter(code).collect::<Vec<_>>().join("\n"))
        };
        let (with, plain) = (assembly("with", calls)?, assembly("plain", without)?);
        ensure(with == plain, || {
            format!("{compiler} {standard}:\n{with}\n--- without the calls\n{plain}")
        })?;
    }
    Ok(())
}
