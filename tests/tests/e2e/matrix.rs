//! `instr-cc` with every linker and kind of link: what the plain driver can build, the wrapper builds, and the program is traced.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run, Status};
use instr_tests::toolchain::{need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

const LINKERS: [(&str, &str); 4] = [
    ("bfd", "ld.bfd"),
    ("gold", "ld.gold"),
    ("lld", "ld.lld"),
    ("mold", "mold"),
];
const KINDS: [(&str, &[&str]); 6] = [
    ("static", &["-static"]),
    ("static-pie", &["-static-pie", "-fPIE"]),
    ("pie", &["-pie", "-fPIE"]),
    ("no-pie", &["-no-pie", "-fno-pie"]),
    ("shared", &["-shared", "-fPIC"]),
    ("lto", &["-flto"]),
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for (linker, program) in LINKERS {
        for (kind, flags) in KINDS {
            for (compiler, file, more) in compilers(kind) {
                let name = format!("matrix::{linker}::{kind}::{compiler}");
                trials.push(trial(name, move || {
                    combination(linker, program, kind, flags, compiler, file, more)
                }));
            }
        }
    }
    trials.extend([
        trial("matrix::response-files", response_files),
        trial(
            "matrix::make-in-parallel-with-an-empty-cache",
            make_in_parallel,
        ),
        trial("matrix::compile-and-link-apart", compile_and_link_apart),
        trial("matrix::errors-are-the-compilers", errors_are_the_compilers),
        trial("matrix::queries-pass-through", queries_pass_through),
        trial("matrix::switched-off", switched_off),
        trial("matrix::as-a-command-of-instr", as_a_command),
        trial("matrix::dependency-files", dependency_files),
    ]);
    trials
}

/// gcc everywhere; the other compilers where they differ.
fn compilers(kind: &str) -> Vec<(&'static str, &'static str, &'static [&'static str])> {
    let mut list: Vec<(&str, &str, &[&str])> =
        vec![("gcc", "c", &["-fopenmp"]), ("clang", "c", &[])];
    if matches!(kind, "pie" | "shared") {
        list.extend([
            ("g++", "cc", &["-fopenmp"] as &[&str]),
            ("gfortran", "f90", &["-fopenmp"]),
            ("clang++", "cc", &[]),
        ]);
    }
    list
}

const C: &str = "#include <stdio.h>\n#include <instr/instr.h>\n\
                 int work(void);\n\
                 int work(void) {\n  int n = 0;\n  instr_event(5, 1);\n\
                 #pragma omp parallel num_threads(2)\n  {\n\
                 #pragma omp critical\n    n++;\n  }\n  printf(\"%d\\n\", n);\n  return 0;\n}\n";
const C_MAIN: &str = "int work(void);\nint main(void) { return work(); }\n";
const CXX: &str = "#include <cstdio>\n#include <instr/instr.h>\n\
                   extern \"C\" int work() {\n  int n = 0;\n  instr_event(5, 1);\n\
                   #pragma omp parallel num_threads(2)\n  {\n\
                   #pragma omp critical\n    n++;\n  }\n  std::printf(\"%d\\n\", n);\n  return 0;\n}\n";
const CXX_MAIN: &str = "extern \"C\" int work();\nint main() { return work(); }\n";
const FORTRAN: &str = "function work() bind(c) result(status)\n  use iso_c_binding\n  integer(c_int) :: status\n  integer :: n\n  n = 0\n\
                       \x20 !$omp parallel num_threads(2)\n  !$omp critical\n  n = n + 1\n  !$omp end critical\n  !$omp end parallel\n\
                       \x20 print *, n\n  status = 0\nend function\n";
const FORTRAN_MAIN: &str = "program main\n  use iso_c_binding\n  interface\n    function work() bind(c)\n      import :: c_int\n\
                            \x20     integer(c_int) :: work\n    end function\n  end interface\n  if (work() /= 0) stop 1\nend program\n";

/// Writes the two sources of a program into `dir`.
fn sources(dir: &Path, extension: &str) -> Check<[PathBuf; 2]> {
    let (work, main) = match extension {
        "c" => (C, C_MAIN),
        "cc" => (CXX, CXX_MAIN),
        _ => (FORTRAN, FORTRAN_MAIN),
    };
    let files = [
        dir.join("work").with_extension(extension),
        dir.join("main").with_extension(extension),
    ];
    std::fs::write(&files[0], work)?;
    std::fs::write(&files[1], main)?;
    Ok(files)
}

fn wrapped(compiler: &str) -> Check<Run> {
    Ok(Run::new(&tools()?.instr_cc).arg(compiler))
}

fn plain(compiler: &str) -> Check<Run> {
    Ok(Run::new(compiler)
        .arg("-I")
        .arg(workspace::root()?.join("runtime/include")))
}

/// Builds in two folders with the same command lines, plainly and wrapped, and compares what is said and what comes out.
fn combination(
    linker: &str,
    program: &str,
    kind: &str,
    flags: &[&str],
    compiler: &str,
    extension: &str,
    more: &[&str],
) -> Check {
    need(program)?;
    need(compiler)?;
    let dir = workspace::work_dir(&format!("{linker}-{kind}-{compiler}"))?;
    let [work, main] = sources(dir.path(), extension)?;
    let arguments: Vec<String> = [&["-g", "-O1", &format!("-fuse-ld={linker}")], flags, more]
        .concat()
        .iter()
        .map(|f| (*f).to_owned())
        .collect();
    let build = |run: Run, folder: &str| -> Check<Outcome> {
        let out = dir.path().join(folder);
        std::fs::create_dir_all(&out)?;
        if kind != "shared" {
            return run
                .args(&arguments)
                .args([&work, &main])
                .arg("-o")
                .arg(out.join("app"))
                .output();
        }
        let library = run
            .clone()
            .args(&arguments)
            .arg(&work)
            .arg("-o")
            .arg(out.join("libwork.so"))
            .output()?;
        if library.status != Status::Code(0) {
            return Ok(library);
        }
        let rest = arguments.iter().filter(|argument| *argument != "-shared");
        let run = run
            .args(rest)
            .arg(&main)
            .arg("-L")
            .arg(&out)
            .arg("-lwork")
            .arg(format!("-Wl,-rpath,{}", out.display()));
        run.arg("-o").arg(out.join("app")).output()
    };
    let reference = build(plain(compiler)?, "plain")?;
    let outcome = build(wrapped(compiler)?, "traced")?;
    ensure(reference.status == outcome.status, || {
        format!("the wrapper's status differs\n{reference}\n{outcome}")
    })?;
    if reference.status != Status::Code(0) {
        // The plain driver cannot do this either.
        instr_test_needs::say(&format!(
            "matrix: {compiler} with {linker}, {kind}: the same refusal with and without the wrapper"
        ));
        return Ok(());
    }
    let execute = |folder: &str| {
        Run::new(dir.path().join(folder).join("app"))
            .env("INSTR_TRACE", dir.path().join("trace"))
            .dir(dir.path())
            .output()
    };
    let (reference, outcome) = (execute("plain")?, execute("traced")?);
    reference.same_as(&outcome)?;
    if reference.status != Status::Code(0) {
        return Ok(()); // nor does its program run
    }
    if kind == "lto" && compiler == "clang" {
        // Bitcode has no symbols that the linker's --wrap could reach: linked plainly, and the reason is told.
        let told = build(wrapped(compiler)?.arg("--instr-verbose"), "told")?;
        let silent = !dir.path().join("trace").exists();
        return ensure(silent && told.errors().contains("bitcode"), || {
            format!("no reason is told\n{told}")
        });
    }
    judge(
        &dir.path().join("trace"),
        extension,
        more.contains(&"-fopenmp"),
    )
}

/// One region of two threads with a critical section each (when OpenMP is on), one user event (when the language has them).
fn judge(trace: &Path, extension: &str, openmp: bool) -> Check {
    let events = ctf::read(trace)?;
    let factor = i128::from(openmp);
    for (subject, expected) in [
        ("parallel_begin", factor),
        ("implicit_begin", 2 * factor),
        ("mutex_acquired", 2 * factor),
        ("user_event", i128::from(extension != "f90")),
    ] {
        let actual = ctf::count(&events, subject)?;
        ensure(actual == expected, || {
            format!("{subject}: expected {expected}, got {actual}")
        })?;
    }
    cases::paraver(trace, instr_tests::prv::check::Options::default())?;
    Ok(())
}

fn traced_run(dir: &Path, program: &str) -> Check<Outcome> {
    Run::new(dir.join(program))
        .env("INSTR_TRACE", dir.join("trace"))
        .dir(dir)
        .succeed()
}

fn response_files() -> Check {
    let dir = workspace::work_dir("response-files")?;
    sources(dir.path(), "c")?;
    std::fs::write(dir.path().join("inner"), "-fopenmp 'work.c'\n\"main.c\"")?;
    std::fs::write(
        dir.path().join("outer"),
        "-g -O1 @inner\n-o app\\ with\\ space",
    )?;
    wrapped("gcc")?.arg("@outer").dir(dir.path()).succeed()?;
    traced_run(dir.path(), "app with space")?;
    judge(&dir.path().join("trace"), "c", true)?;
    // A circle ends as it ends for the compiler.
    std::fs::write(dir.path().join("circle"), "@circle")?;
    let reference = plain("gcc")?.arg("@circle").dir(dir.path()).output()?;
    let outcome = wrapped("gcc")?.arg("@circle").dir(dir.path()).output()?;
    ensure(
        outcome.status != Status::Code(0) && reference.status != Status::Code(0),
        || format!("{reference}\n{outcome}"),
    )
}

/// Eight programs at once with a cache that holds nothing: the runtime is built by one and used by all.
fn make_in_parallel() -> Check {
    need("make")?;
    let dir = workspace::work_dir("make-in-parallel")?;
    sources(dir.path(), "c")?;
    let names: Vec<String> = (1..=8).map(|number| format!("app{number}")).collect();
    let makefile = format!(
        "all: {}\napp%: work%.o main.o\n\t$(CC) -fopenmp $^ -o $@\n%.o: %.c\n\t$(CC) -g -O1 -fopenmp -c $< -o $@\n",
        names.join(" ")
    );
    std::fs::write(dir.path().join("Makefile"), makefile)?;
    for number in 1..=8 {
        std::fs::copy(
            dir.path().join("work.c"),
            dir.path().join(format!("work{number}.c")),
        )?;
    }
    let cc = format!("CC={} gcc", tools()?.instr_cc.display());
    let cache = dir.path().join("cache");
    let outcome = Run::new("make")
        .args(["-s", "-j8", &cc])
        .env("INSTR_CACHE", &cache)
        .dir(dir.path())
        .succeed()?;
    ensure(
        outcome.stdout.is_empty() && outcome.stderr.is_empty(),
        || format!("{outcome}"),
    )?;
    for name in names {
        traced_run(dir.path(), &name)?;
        let events = ctf::read(&dir.path().join("trace"))?;
        ensure(ctf::count(&events, "parallel_begin")? == 1, || {
            format!("{name} is not traced")
        })?;
        std::fs::remove_dir_all(dir.path().join("trace"))?;
    }
    Ok(())
}

fn compile_and_link_apart() -> Check {
    let dir = workspace::work_dir("apart")?;
    sources(dir.path(), "c")?;
    for (name, compile, link) in [("both", true, true), ("link-only", false, true)] {
        for file in ["work", "main"] {
            let run = if compile {
                wrapped("gcc")?
            } else {
                plain("gcc")?
            };
            run.args(["-g", "-O1", "-fopenmp", "-c"])
                .arg(format!("{file}.c"))
                .dir(dir.path())
                .succeed()?;
        }
        ensure(link, || "always linked by the wrapper".into())?;
        wrapped("gcc")?
            .args(["-fopenmp", "work.o", "main.o", "-o", name])
            .dir(dir.path())
            .succeed()?;
        traced_run(dir.path(), name)?;
        let events = ctf::read(&dir.path().join("trace"))?;
        ensure(ctf::count(&events, "parallel_begin")? == 1, || {
            format!("{name}: no region")
        })?;
        std::fs::remove_dir_all(dir.path().join("trace"))?;
    }
    // Objects of the wrapper linked plainly: a program without a trace, and nothing is missing.
    wrapped("gcc")?
        .args(["-g", "-O1", "-fopenmp", "-c", "work.c"])
        .dir(dir.path())
        .succeed()?;
    plain("gcc")?
        .args(["-fopenmp", "work.o", "main.o", "-o", "plain"])
        .dir(dir.path())
        .succeed()?;
    traced_run(dir.path(), "plain")?;
    ensure(!dir.path().join("trace").exists(), || {
        "a plainly linked program left a trace".into()
    })
}

/// Wrong sources, missing files, wrong options: output and status are those of the compiler.
fn errors_are_the_compilers() -> Check {
    let dir = workspace::work_dir("errors")?;
    sources(dir.path(), "c")?;
    std::fs::write(
        dir.path().join("wrong.c"),
        "int main(void) { return undeclared; }\n",
    )?;
    std::fs::write(
        dir.path().join("unresolved.c"),
        "int missing(void);\nint main(void) { return missing(); }\n",
    )?;
    for arguments in [
        &["-c", "wrong.c"] as &[&str],
        &["nowhere.c"],
        &["-c", "main.c", "--no-such-option"],
        &["main.c", "-lnosuchlibrary"],
        &[],
        &["-o", "/nonexistent/app", "main.c"],
    ] {
        let reference = plain("gcc")?.args(arguments).dir(dir.path()).output()?;
        let outcome = wrapped("gcc")?.args(arguments).dir(dir.path()).output()?;
        ensure(reference.status == outcome.status, || {
            format!("{reference}\n{outcome}")
        })?;
        ensure(
            lines_without_temporaries(&reference) == lines_without_temporaries(&outcome),
            || format!("{reference}\n{outcome}"),
        )?;
    }
    let reference = plain("gcc")?.arg("unresolved.c").dir(dir.path()).output()?;
    let outcome = wrapped("gcc")?
        .arg("unresolved.c")
        .dir(dir.path())
        .output()?;
    let told = outcome
        .errors()
        .contains("undefined reference to `missing'");
    ensure(reference.status == outcome.status && told, || {
        format!("{reference}\n{outcome}")
    })
}

fn lines_without_temporaries(outcome: &Outcome) -> Vec<String> {
    outcome
        .errors()
        .lines()
        .filter(|line| !line.contains("/tmp/cc"))
        .map(str::to_owned)
        .collect()
}

fn queries_pass_through() -> Check {
    let dir = workspace::work_dir("queries")?;
    sources(dir.path(), "c")?;
    for arguments in [
        &["--version"] as &[&str],
        &["-dumpmachine"],
        &["-print-file-name=libgomp.a"],
        &["-E", "main.c"],
        &["-MM", "main.c"],
        &["-S", "-o", "-", "main.c"],
        &["-fsyntax-only", "main.c"],
    ] {
        let reference = plain("gcc")?.args(arguments).dir(dir.path()).output()?;
        reference.same_as(&wrapped("gcc")?.args(arguments).dir(dir.path()).output()?)?;
    }
    Ok(())
}

/// `instr c++` runs `c++`, `instr fortran` gfortran; `instr cc` what `instr-cc` would.
fn as_a_command() -> Check {
    for (command, compiler) in [("cc", "cc"), ("c++", "c++"), ("fortran", "gfortran")] {
        need(compiler)?;
        let shown = Run::new(&tools()?.instr)
            .args([command, "--instr-dry-run", "-c", "x.c"])
            .succeed()?
            .text();
        let run = format!("/{compiler} ");
        ensure(shown.contains(&run), || format!("{command}: {shown}"))?;
    }
    Ok(())
}

fn switched_off() -> Check {
    let dir = workspace::work_dir("off")?;
    sources(dir.path(), "c")?;
    let include = workspace::root()?.join("runtime/include");
    let arguments = ["-g", "-fopenmp", "work.c", "main.c", "-o", "app"];
    let off = wrapped("gcc")?
        .arg("--instr-off")
        .arg("-I")
        .arg(&include)
        .args(arguments)
        .dir(dir.path());
    let by_environment = Run::new(&tools()?.instr_cc)
        .arg("-I")
        .arg(&include)
        .args(arguments)
        .env("INSTR_CC", "off")
        .dir(dir.path());
    for run in [off, by_environment] {
        run.succeed()?;
        traced_run(dir.path(), "app")?;
        ensure(!dir.path().join("trace").exists(), || {
            "a trace although switched off".into()
        })?;
    }
    Ok(())
}

fn dependency_files() -> Check {
    let dir = workspace::work_dir("dependency-files")?;
    sources(dir.path(), "c")?;
    let mut contents = Vec::new();
    for run in [plain("gcc")?, wrapped("gcc")?] {
        run.args(["-MMD", "-MF", "main.d", "-c", "main.c", "-o", "main.o"])
            .dir(dir.path())
            .succeed()?;
        contents.push(std::fs::read(dir.path().join("main.d"))?);
        std::fs::remove_file(dir.path().join("main.d"))?;
    }
    ensure(contents[0] == contents[1], || {
        "the dependency file is not the compiler's".into()
    })
}
