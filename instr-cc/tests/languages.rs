//! `CC=instr-cc`, `CXX=instr-cc`, `FC=instr-cc`: the compiler is chosen by the language of sources and objects, with real compilers and
//! build systems; what no language decides is answered by one compiler.

mod common;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use common::{INSTR_CC, Place, text};
use instr_test_needs::has;

const CPP: &str = r#"
#include <iostream>
#include <string>
extern "C" int work(int *n)
{
    int sum = 0;
    #pragma omp parallel for schedule(dynamic) reduction(+:sum) num_threads(2)
    for (int i = 0; i < 10; i++)
        sum += i;
    std::string text = "sum ";
    text += std::to_string(sum + *n);
    std::cout << text << std::endl;
    return 7;
}
"#;
const CPP_MAIN: &str =
    "extern \"C\" int work(int *);\nint main() { int n = 0; return work(&n); }\n";
/// C that no C++ compiler takes.
const C_MAIN: &str =
    "int work(int *class);\nint main(void) { int *restrict new = &(int){0}; return work(new); }\n";
const FORTRAN: &str = "function work(n) bind(c)\n  use iso_c_binding\n  integer(c_int) :: work, n\n  integer :: i, s\n  s = n\n\
                       \x20 !$omp parallel do schedule(dynamic) reduction(+:s) num_threads(2)\n  do i = 1, 9\n    s = s + i\n  end do\n\
                       \x20 write(*, '(a,i0)') 'sum ', s\n  work = 7\nend function\n";
const FORTRAN_MAIN: &str = "program main\n  use iso_c_binding\n  interface\n    function work(n) bind(c)\n      import :: c_int\n\
                            \x20     integer(c_int) :: work, n\n    end function\n  end interface\n  integer(c_int) :: n = 0\n\
                            \x20 call exit(work(n))\nend program\n";

fn place() -> Place {
    let place = Place::new();
    for (name, source) in [
        ("work.cpp", CPP),
        ("cppmain.cc", CPP_MAIN),
        ("cmain.c", C_MAIN),
        ("work.f90", FORTRAN),
        ("fmain.F90", FORTRAN_MAIN),
    ] {
        place.write(name, source);
    }
    place
}

/// Runs a line of the wrapper that must succeed in silence.
fn built(place: &Place, line: &str) {
    let output = place.wrapped(line);
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        ("", Some(0)),
        "{line}"
    );
}

/// The program computes what it should and leaves a trace, which is removed.
fn traced(place: &Place, program: &str) {
    let output = place.run(&format!("./{program}"));
    assert_eq!(
        (text(&output.stdout).as_str(), output.status.code()),
        ("sum 45\n", Some(7)),
        "{program}: {}",
        text(&output.stderr)
    );
    assert!(place.has_trace(program), "{program}: no trace");
    fs::remove_dir_all(place.path().join(format!("{program}.instr"))).unwrap();
}

#[test]
fn sources_of_every_language_are_compiled_and_linked() {
    let place = place();
    let mut lines = vec!["work.cpp cppmain.cc", "work.cpp cmain.c"];
    if has("gfortran") {
        lines.extend([
            "work.f90 fmain.F90",
            "work.f90 cmain.c",
            "work.f90 cppmain.cc",
            "work.cpp fmain.F90",
        ]);
    }
    for line in lines {
        built(&place, &format!("-fopenmp {line} -o program"));
        traced(&place, "program");
    }
}

#[test]
fn objects_are_linked_by_what_they_need() {
    let place = place();
    built(&place, "-fopenmp -c work.cpp cppmain.cc cmain.c");
    let mut lines = vec![
        "work.o cppmain.o",
        "cmain.o work.o",
        "cmain.c work.o",
        "cmain.o -L. -lwork",
        "cmain.c libwork.a",
        "cmain.o -Wl,--start-group libwork.a -Wl,--end-group",
        "cmain.o -Wl,--start-group,libwork.a,--end-group",
        "@objects",
        "cmain.o work.o -lstdc++",
    ];
    place.write("objects", "'cmain.o'\n\"work.o\"");
    assert!(place.run("ar rc libwork.a work.o").status.success());
    if has("gfortran") {
        built(&place, "-fopenmp -c work.f90 -o fwork.o");
        built(&place, "-fopenmp -c fmain.F90");
        assert!(place.run("ar rc libfwork.a fwork.o").status.success());
        lines.extend([
            "fwork.o fmain.o",
            "fwork.o cmain.o",
            "cmain.o libfwork.a",
            "fwork.o cppmain.o",
            "work.o fmain.o",
            "fwork.o cppmain.o -lgfortran",
        ]);
    }
    for line in lines {
        built(&place, &format!("-fopenmp {line} -o program"));
        traced(&place, "program");
    }
}

#[test]
fn intermediate_code_is_known_by_its_sources() {
    let place = place();
    built(&place, "-flto -fopenmp -c work.cpp cppmain.cc");
    built(&place, "-flto -fopenmp work.o cppmain.o -o program");
    traced(&place, "program");
    assert!(place.run("gcc-ar rc libwork.a work.o").status.success());
    built(&place, "-flto -fopenmp cppmain.o libwork.a -o program");
    traced(&place, "program");
    if has("clang++") {
        assert!(
            place
                .run("clang++ -flto -c cppmain.cc -o bitcode.o")
                .status
                .success()
        );
        assert!(
            place
                .run("clang++ -flto -c work.cpp -o bitwork.o")
                .status
                .success()
        );
        let dry = place.wrapped("--instr-dry-run bitcode.o bitwork.o -o x");
        assert!(text(&dry.stdout).contains("c++ "), "{}", text(&dry.stdout));
    }
}

/// The program of a dry run: the word behind the variables.
fn chosen(place: &Place, line: &str, path: Option<&Path>) -> String {
    let mut command = place.command(INSTR_CC);
    command.arg("--instr-dry-run").args(line.split_whitespace());
    if let Some(path) = path {
        let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
        command.env("PATH", path);
    }
    let output = text(&command.output().unwrap().stdout);
    let words = output.split_whitespace();
    let program = words
        .skip_while(|word| word.contains("INSTR_") || !word.starts_with('/'))
        .find(|word| {
            !word.starts_with("cache=") && !word.starts_with("shim=") && !word.starts_with('\'')
        });
    let program = program.unwrap_or_default().to_owned();
    Path::new(&program)
        .file_name()
        .unwrap_or_default()
        .to_str()
        .unwrap()
        .to_owned()
}

#[test]
fn c_programs_keep_the_c_compiler() {
    let place = place();
    built(&place, "-fopenmp -c p.c");
    for line in [
        "p.c -o p",
        "p.o -o p",
        "-c p.c",
        "p.o -lm -o p",
        "--version",
        "-print-search-dirs",
        "-x c -E -",
    ] {
        assert_eq!(chosen(&place, line, None), "cc", "{line}");
    }
    let told = place.wrapped("--instr-verbose -c work.cpp");
    let note = "instr-cc: note: runs c++, not cc: by the language of sources and objects\n";
    assert_eq!(text(&told.stderr), note);
    built(&place, "-fopenmp p.o -o p");
    let needed = text(&place.run("readelf -d p").stdout);
    assert!(!needed.contains("libstdc++"), "{needed}");
}

#[test]
fn what_the_user_names_is_stronger() {
    let place = place();
    for line in ["gcc -c work.cpp", "gcc work.cpp cppmain.cc -o x"] {
        assert_eq!(chosen(&place, line, None), "gcc", "{line}");
    }
    let mut command = place.command(INSTR_CC);
    command.env("INSTR_CC", "gcc");
    let output = command.args(["--instr-dry-run", "-c", "work.cpp"]).output();
    assert!(text(&output.unwrap().stdout).contains("/gcc "));
    // Objects of C++ and a compiler of C: as without us.
    built(&place, "-fopenmp -c work.cpp cppmain.cc");
    let plain = place.run("gcc -fopenmp work.o cppmain.o -o x");
    let wrapped = place.wrapped("gcc -fopenmp work.o cppmain.o -o x");
    assert_eq!(wrapped.status.code(), plain.status.code());
    assert_eq!(text(&wrapped.stderr), text(&plain.stderr));
}

#[test]
fn a_default_clang_stays_clang() {
    let (Some(clang), Some(clangpp)) = (which("clang"), which("clang++")) else {
        return;
    };
    let place = place();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    symlink(&clang, bin.join("cc")).unwrap();
    let of = |line: &str| chosen(&place, line, Some(&bin));
    // `c++` is g++ here: the one beside clang is taken.
    assert!(
        of("-c work.cpp").starts_with("clang++"),
        "{}",
        of("-c work.cpp")
    );
    symlink(&clangpp, bin.join("c++")).unwrap();
    assert_eq!(of("-c work.cpp"), "c++");
    let mut command = place.command(INSTR_CC);
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    command.env("PATH", path);
    let output = command
        .args(["-fopenmp", "work.cpp", "cppmain.cc", "-o", "program"])
        .output()
        .unwrap();
    assert_eq!(text(&output.stderr), "");
    traced(&place, "program");
}

fn which(name: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|folder| folder.join(name));
    found
        .into_iter()
        .find(|file| file.is_file())
        .filter(|_| has(name))
}

#[test]
fn a_missing_fortran_compiler_is_named() {
    let place = place();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    place.write("bin/cc", "#!/bin/sh\nexit 1\n");
    fs::set_permissions(bin.join("cc"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(INSTR_CC);
    command.env("PATH", &bin).args(["-c", "work.f90"]);
    let output = command.output().unwrap();
    let said = text(&output.stderr);
    let told = "instr-cc: error: cannot compile work.f90: it is Fortran, and there is no gfortran in PATH\n  help: install gfortran";
    assert!(said.starts_with(told), "{said}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_makefile_has_one_word_for_three_languages() {
    let place = place();
    if !has("make") || !has("gfortran") {
        return;
    }
    place.write(
        "Makefile",
        "all: c cpp f\n\
         c: cmain.o work.o\n\t$(CC) -fopenmp $^ -o $@\n\
         cpp: cppmain.o work.o\n\t$(CXX) -fopenmp $^ -o $@\n\
         f: fmain.o fwork.o\n\t$(FC) -fopenmp $^ -o $@\n\
         %.o: %.c\n\t$(CC) -fopenmp -c $< -o $@\n\
         %.o: %.cpp\n\t$(CXX) -fopenmp -c $< -o $@\n\
         %.o: %.cc\n\t$(CXX) -fopenmp -c $< -o $@\n\
         %.o: %.F90\n\t$(FC) -fopenmp -c $< -o $@\n\
         fwork.o: work.f90\n\t$(FC) -fopenmp -c $< -o $@\n",
    );
    let words = ["CC", "CXX", "FC"].map(|name| format!("{name}={INSTR_CC}"));
    let output = place.command("make").args(words).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for program in ["c", "cpp", "f"] {
        traced(&place, program);
    }
}

const CMAKE: &str = "cmake_minimum_required(VERSION 3.13)\nproject(p C CXX Fortran)\nfind_package(OpenMP REQUIRED)\n\
add_library(work STATIC work.cpp)\ntarget_link_libraries(work PUBLIC OpenMP::OpenMP_CXX)\n\
add_library(fwork SHARED work.f90)\ntarget_link_libraries(fwork PUBLIC OpenMP::OpenMP_Fortran)\n\
add_executable(c cmain.c)\ntarget_link_libraries(c work)\n\
add_executable(cpp cppmain.cc)\ntarget_link_libraries(cpp work)\n\
add_executable(f fmain.F90)\ntarget_link_libraries(f fwork)\n";

#[test]
fn cmake_takes_it_as_every_compiler() {
    if !has("cmake") || !has("gfortran") {
        return;
    }
    let place = place();
    place.write("CMakeLists.txt", CMAKE);
    let compilers =
        ["C", "CXX", "Fortran"].map(|name| format!("-DCMAKE_{name}_COMPILER={INSTR_CC}"));
    let mut generators = vec!["Unix Makefiles"];
    generators.extend(has("ninja").then_some("Ninja"));
    for generator in generators {
        let build = format!("build{}", generator.len());
        let mut configure = place.command("cmake");
        configure.args(["-G", generator, "-S", ".", "-B", &build]);
        let output = configure.args(&compilers).output().unwrap();
        let said = text(&output.stdout);
        assert!(output.status.success(), "{said}{}", text(&output.stderr));
        for language in ["C", "CXX", "Fortran"] {
            let identified = format!("The {language} compiler identification is GNU");
            assert!(said.contains(&identified), "{said}");
        }
        let output = place.run(&format!("cmake --build {build}"));
        assert!(output.status.success(), "{}", text(&output.stdout));
        for program in ["c", "cpp", "f"] {
            let file = place.path().join(&build).join(program);
            fs::rename(file, place.path().join(program)).unwrap();
            traced(&place, program);
        }
    }
}

#[test]
fn autoconf_configures_and_builds_with_it() {
    if !has("autoconf") || !has("make") {
        return;
    }
    let place = place();
    place.write(
        "configure.ac",
        "AC_INIT([p], [1])\nAC_CONFIG_SRCDIR([work.cpp])\nAC_PROG_CC\nAC_PROG_CXX\nAC_OPENMP\nAC_LANG([C++])\nAC_OPENMP\n\
         AC_CHECK_HEADERS([vector])\nAC_CHECK_LIB([m], [cos])\nAC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n",
    );
    place.write(
        "Makefile.in",
        "cpp: cppmain.o work.o\n\t@CXX@ @OPENMP_CXXFLAGS@ $^ -o $@\n%.o: %.cpp\n\t@CXX@ @OPENMP_CXXFLAGS@ -c $< -o $@\n\
         %.o: %.cc\n\t@CXX@ @OPENMP_CXXFLAGS@ -c $< -o $@\n",
    );
    let run = |program: &str, arguments: &[&str]| {
        let mut command = place.command(place.path().join(program));
        if !program.starts_with("./") {
            command = place.command(program);
        }
        command
            .env("CC", INSTR_CC)
            .env("CXX", INSTR_CC)
            .args(arguments);
        let output = command.output().unwrap();
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{program}: {said}");
        said
    };
    run("autoconf", &[]);
    let said = run("./configure", &[]);
    assert!(
        said.contains("for option to support OpenMP... -fopenmp") || said.contains("-fopenmp"),
        "{said}"
    );
    run("make", &["cpp"]);
    traced(&place, "cpp");
}

#[test]
fn a_linker_by_its_name_links_what_is_traced() {
    let place = Place::new();
    fs::create_dir(place.path().join("bin")).unwrap();
    let script = place.path().join("bin/ld");
    fs::write(&script, format!("#!/bin/sh\nexec {INSTR_CC} ld \"$@\"\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let linked = place.run("gcc -Bbin/ -fopenmp p.c -o p");
    assert_eq!(
        (text(&linked.stderr).as_str(), linked.status.code()),
        ("", Some(0))
    );
    assert_eq!(text(&place.run("./p").stdout), "sum 48\n");
    assert!(place.has_trace("p"));
    let plain = place.run("ld --version");
    assert_eq!(place.wrapped("ld --version").stdout, plain.stdout);
    let plain = place.run("ld nothing.o -o x");
    let wrapped = place.wrapped("ld nothing.o -o x");
    assert!(text(&wrapped.stderr).ends_with(&text(&plain.stderr)));
    assert_eq!(wrapped.status.code(), plain.status.code());
}

/// A program of CMake whose compiler is launched by the wrapper, and what the build says.
fn launched(generator: &str, more: &[&str]) -> (Place, String) {
    let place = Place::new();
    place.write("q.c", "int q(void) { return 0; }\n");
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.21)\nproject(p C)\nfind_package(OpenMP REQUIRED)\n\
         add_library(q STATIC q.c)\nadd_executable(p p.c q.c)\ntarget_link_libraries(p q OpenMP::OpenMP_C)\n",
    );
    let launcher = format!("-DCMAKE_C_COMPILER_LAUNCHER={INSTR_CC}");
    let mut configure = place.command("cmake");
    configure.args(["-G", generator, "-S", ".", "-B", "build", &launcher]);
    configure.args(more.iter().map(|option| option.replace("{}", INSTR_CC)));
    assert!(configure.output().unwrap().status.success());
    let output = place.run("cmake --build build --verbose");
    let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said}");
    assert!(place.run("./build/p").status.code() == Some(7));
    (place, said)
}

#[test]
fn a_launcher_for_the_compiler_alone_is_told_of() {
    if !has("cmake") {
        return;
    }
    let mut generators = vec!["Unix Makefiles"];
    generators.extend(has("ninja").then_some("Ninja"));
    for generator in generators {
        let (place, said) = launched(generator, &[]);
        let warning = "instr-cc: warning: p is compiled with instr-cc and linked without it: it will leave no trace";
        assert_eq!(said.matches(warning).count(), 1, "{said}");
        assert_eq!(said.matches("instr-cc: warning").count(), 1, "{said}");
        assert!(
            said.contains("-DCMAKE_C_LINKER_LAUNCHER=instr-cc"),
            "{said}"
        );
        assert!(!place.has_trace("p"));
        let (place, said) = launched(generator, &["-DCMAKE_C_LINKER_LAUNCHER={}"]);
        assert!(!said.contains("instr-cc: "), "{said}");
        assert!(place.has_trace("p"));
    }
}

/// On a terminal, the compiler's help ends with a line about ours; else it is the compiler's to the byte.
#[test]
fn help_on_a_terminal_points_to_our_own() {
    if !has("script") {
        return;
    }
    let place = Place::new();
    let line = format!("{INSTR_CC} --help");
    let shown = place
        .command("script")
        .args(["-qec", &line, "/dev/null"])
        .output()
        .unwrap();
    let shown = text(&shown.stdout).replace('\r', "");
    let plain = text(&place.run("cc --help").stdout);
    assert!(shown.starts_with(&plain), "{shown}");
    let last = shown.trim_end().lines().last().unwrap_or_default();
    assert!(last.contains("instr-cc --instr-help"), "{last}");
    assert_eq!(text(&place.wrapped("--help").stdout), plain);
}
