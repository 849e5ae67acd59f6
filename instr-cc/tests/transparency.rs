//! The wrapper is not noticed: output, exit status, signals, files and arguments are the compiler's own.

mod common;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;

use common::{INSTR_CC, Place, text};
use instr_test_needs::has;

fn same_output(place: &Place, line: &str) {
    let (plain, wrapped) = (place.run(line), place.wrapped(line));
    assert_eq!(text(&wrapped.stdout), text(&plain.stdout), "{line}");
    assert_eq!(text(&wrapped.stderr), text(&plain.stderr), "{line}");
    assert_eq!(wrapped.status, plain.status, "{line}");
}

#[test]
fn questions_and_mistakes_get_the_compilers_own_answers() {
    let place = Place::new();
    place.write("bad.c", "#include \"none.h\"\nint main(void) { return x; }");
    place.write("odd.c", "int main(void) { int unused; return 0 }");
    place.write(
        "undefined.c",
        "int missing(void); int main(void) { return missing(); }",
    );
    place.write("m.c", "int main(void) { return 0; }");
    for line in [
        "gcc",
        "gcc --version",
        "gcc -dumpmachine",
        "gcc -print-prog-name=ld",
        "gcc -print-search-dirs",
        "gcc -v",
        "gcc --help",
        "gcc -c bad.c",
        "gcc -Wall -c odd.c",
        "gcc nothing.c",
        "gcc nothing.o -o x",
        "gcc -lnothing m.c -c",
        "gcc -no-such-option m.c -c",
        "gcc -x cuda m.c",
        "gcc -E m.c",
        "gcc -E -dM m.c",
        "gcc -M p.c",
        "gcc -MM p.c",
        "gcc -S m.c -o -",
        "gcc -fsyntax-only m.c",
        "gcc -o /dev/null m.c",
        "gcc -fopenmp -o /dev/null p.c",
        "gcc m.c -lnothing -o x",
        "gcc @nothing.rsp",
        "gcc -c m.c -o m.o",
        "gcc -fno-use-linker-plugin m.o -Wl,--version -o x",
    ] {
        same_output(&place, line);
    }
    if has("clang") {
        for line in [
            "clang",
            "clang --version",
            "clang -c bad.c",
            "clang -E m.c",
            "clang m.c -lnothing -fuse-ld=lld -o x",
        ] {
            same_output(&place, line);
        }
    }
}

/// The object's temporary name differs from run to run.
fn without_object_names(text: &str) -> String {
    text.lines()
        .map(|l| l.split_once("/cc").map_or(l, |(before, _)| before))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_failing_link_of_an_openmp_program_fails_as_it_would_plainly() {
    let place = Place::new();
    place.write(
        "q.c",
        "int missing(void); int main(void) {\n#pragma omp parallel\n missing(); return 0; }",
    );
    assert!(place.run("gcc -fopenmp -c q.c").status.success());
    same_output(&place, "gcc -fopenmp q.o -o q");
    same_output(&place, "gcc q.o -o q");
    let line = "gcc -fopenmp q.c -o q";
    let (plain, wrapped) = (place.run(line), place.wrapped(line));
    assert_eq!(
        without_object_names(&text(&wrapped.stderr)),
        without_object_names(&text(&plain.stderr))
    );
    assert_eq!(wrapped.status, plain.status);
    let told = place.wrapped("gcc --instr-verbose -fopenmp q.o -o q");
    assert!(
        text(&told.stderr).contains("instr-cc: note: linked plainly: the instrumented link failed")
    );
}

#[test]
fn objects_and_dependency_files_are_those_of_the_compiler() {
    let place = Place::new();
    let deps = "gcc -fopenmp -MD -MF p.d -c p.c -o p.o";
    let files = |place: &Place| ["p.d", "p.o"].map(|f| fs::read(place.path().join(f)).unwrap());
    assert!(place.run(deps).status.success());
    let plain = files(&place);
    assert!(place.wrapped(deps).status.success());
    assert_eq!(files(&place), plain);
    assert!(
        place
            .command("gcc")
            .args(["-c", "p.c"])
            .env("DEPENDENCIES_OUTPUT", "env.d")
            .status()
            .unwrap()
            .success()
    );
    let plain = fs::read(place.path().join("env.d")).unwrap();
    fs::remove_file(place.path().join("env.d")).unwrap();
    let cache = place.path().join("cold");
    let mut one_step = place.command(INSTR_CC);
    one_step
        .args(["gcc", "-fopenmp", "p.c", "-o", "p"])
        .env("DEPENDENCIES_OUTPUT", "env.d")
        .env("INSTR_CACHE", cache);
    assert!(one_step.status().unwrap().success());
    assert_eq!(fs::read(place.path().join("env.d")).unwrap(), plain);
}

#[test]
fn a_compiler_killed_by_a_signal_kills_the_wrapper_by_it() {
    let place = Place::new();
    script(&place, "cc-dies", "kill -USR1 $$");
    let status = place.wrapped("./cc-dies -c x.c").status;
    assert_eq!(status.signal(), Some(libc::SIGUSR1));
    // No place for a cache: a file lies where the user's own folder among temporary files would be.
    // SAFETY: the call has no arguments and always succeeds.
    let user = unsafe { libc::geteuid() };
    place.write(&format!("instr-cache-{user}"), "");
    let mut private = place.command(INSTR_CC);
    private
        .args(["./cc-dies", "-c", "x.c"])
        .env("INSTR_CACHE", "/dev/null/x")
        .env_remove("XDG_CACHE_HOME")
        .env_remove("HOME")
        .env("TMPDIR", place.path());
    assert_eq!(private.status().unwrap().signal(), Some(libc::SIGUSR1));
    let left = fs::read_dir(place.path()).unwrap().filter(|e| {
        e.as_ref()
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with("instr-cc-")
    });
    assert_eq!(left.count(), 0, "the private folder is removed");
}

fn script(place: &Place, name: &str, body: &str) {
    place.write(name, format!("#!/bin/sh\n{body}\n"));
    fs::set_permissions(place.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn arguments_reach_the_compiler_unchanged_and_in_order() {
    let place = Place::new();
    script(&place, "show", "printf '%s\\n' \"$@\"");
    let odd = OsString::from_vec(b"-DX=\xff \n'\"\\".to_vec());
    let args = [
        "-c", "--weird", "-Wl,-x,y", "-O2", "a b.f90", "-o", "", "@none",
    ]
    .map(OsString::from);
    let mut command = place.command(INSTR_CC);
    let output = command
        .args(["./show", "--instr-verbose"])
        .args(&args)
        .arg(&odd)
        .output()
        .unwrap();
    let want = args
        .iter()
        .chain([&odd])
        .flat_map(|a| [a.clone().into_vec(), b"\n".to_vec()].concat())
        .collect::<Vec<u8>>();
    assert_eq!(text(&output.stdout), text(&want));
    assert_eq!(output.stdout, want);
}

#[test]
fn paths_with_spaces_and_odd_bytes_are_instrumented() {
    let place = Place::new();
    let dir = place.path().join(OsString::from_vec(b"a b'\xff".to_vec()));
    fs::create_dir(&dir).unwrap();
    fs::copy(place.path().join("p.c"), dir.join("p q.c")).unwrap();
    let mut command = place.command(INSTR_CC);
    command
        .current_dir(&dir)
        .env("INSTR_CACHE", dir.join("ca che"));
    let output = command
        .args(["gcc", "-fopenmp", "p q.c", "-o", "p q"])
        .output()
        .unwrap();
    assert_eq!(
        (text(&output.stderr).as_str(), output.status.code()),
        ("", Some(0))
    );
    assert_eq!(
        place
            .command(dir.join("p q"))
            .current_dir(&dir)
            .status()
            .unwrap()
            .code(),
        Some(7)
    );
    assert!(dir.join("p q.instr").is_dir());
}

#[test]
fn switched_off_it_is_the_plain_compiler() {
    let place = Place::new();
    assert!(
        place
            .command(INSTR_CC)
            .args(["-fopenmp", "p.c", "-o", "a"])
            .env("INSTR_CC", "off")
            .status()
            .unwrap()
            .success()
    );
    assert!(
        place
            .wrapped("--instr-off gcc -fopenmp p.c -o b")
            .status
            .success()
    );
    for name in ["a", "b"] {
        assert_eq!(place.run(&format!("./{name}")).status.code(), Some(7));
        assert!(!place.has_trace(name));
    }
}

#[test]
fn many_cold_links_at_once_build_one_runtime() {
    let place = Place::new();
    place.write(
        "Makefile",
        "all: 1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8: p.c\n\t$(CC) -fopenmp p.c -o $@\n",
    );
    let cache = place.path().join("cold");
    let mut make = place.command("make");
    make.args(["-j8", &format!("CC={INSTR_CC} gcc")])
        .env("INSTR_CACHE", &cache);
    let output = make.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    for name in 1..=8 {
        assert_eq!(place.run(&format!("./{name}")).status.code(), Some(7));
        assert!(place.has_trace(&name.to_string()), "{name}");
    }
    let entries = fs::read_dir(cache.join("v1"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    let entries: Vec<String> = entries.filter(|e| !e.ends_with(".lock")).collect();
    assert_eq!(
        entries.iter().filter(|e| e.starts_with("lib-")).count(),
        1,
        "{entries:?}"
    );
    assert!(
        !entries.iter().any(|e| e.starts_with(".new-")),
        "{entries:?}"
    );
}

#[test]
fn names_and_variables_choose_the_compiler_and_never_the_wrapper() {
    let place = Place::new();
    let bin = place.path().join("bin");
    fs::create_dir(&bin).unwrap();
    for name in ["instr-gcc", "gcc", "cc"] {
        symlink(INSTR_CC, bin.join(name)).unwrap();
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for (program, compiler) in [
        ("bin/instr-gcc", ""),
        ("bin/gcc", ""),
        ("bin/cc", ""),
        (INSTR_CC, "gcc"),
        (INSTR_CC, ""),
    ] {
        let program = place.path().join(program);
        let mut command = place.command(program);
        command
            .args(compiler.split_whitespace())
            .args(["-fopenmp", "p.c", "-o", "p"])
            .env("PATH", &path);
        let output = command.output().unwrap();
        assert_eq!(
            (text(&output.stderr).as_str(), output.status.code()),
            ("", Some(0)),
            "{compiler}"
        );
        assert_eq!(place.run("./p").status.code(), Some(7));
        assert!(place.has_trace("p"));
        fs::remove_dir_all(place.path().join("p.instr")).unwrap();
    }
}

#[test]
fn wrong_usage_is_told_and_has_its_own_status() {
    let place = Place::new();
    script(&place, "again", &format!("exec {INSTR_CC} ./again \"$@\""));
    for (line, part) in [
        ("--instr-nonsense x.c", "unknown option --instr-nonsense"),
        ("--instr-config= gcc x.c", "--instr-config= needs a value"),
        (
            "--instr-target=vax x.c",
            "--instr-target=vax names no known target",
        ),
        ("./again x.c", "runs instr-cc again"),
    ] {
        let output = place.wrapped(line);
        assert!(
            text(&output.stderr).starts_with("instr-cc: error: "),
            "{line}: {}",
            text(&output.stderr)
        );
        assert!(
            text(&output.stderr).contains(part),
            "{line}: {}",
            text(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(2), "{line}");
        assert!(output.stdout.is_empty());
    }
    place.write("broken.rs", "extern \"C\" { fn f(");
    for file in ["none.rs", "broken.rs"] {
        let refused = place.wrapped(&format!("--instr-api={file} gcc p.c"));
        assert!(
            text(&refused.stderr).starts_with("instr-cc: error: ")
                && text(&refused.stderr).contains(file)
        );
        assert_eq!(refused.status.code(), Some(1));
    }
    place.write("broken.toml", "polizy = 1\n");
    for (file, why) in [
        ("none.toml", "cannot read"),
        ("/dev/zero", "at most 1048576 are allowed"),
        ("broken.toml", "there is no setting polizy"),
    ] {
        let refused = place.wrapped(&format!("--instr-config={file} gcc p.c"));
        assert!(
            text(&refused.stderr).contains(why),
            "{}",
            text(&refused.stderr)
        );
        assert_eq!(refused.status.code(), Some(1));
    }
    let missing = place
        .command(INSTR_CC)
        .arg("x.c")
        .env("INSTR_CC", "no-such-cc")
        .output()
        .unwrap();
    assert!(text(&missing.stderr).contains("cannot find the compiler no-such-cc"));
}

#[test]
fn a_response_file_that_names_itself_is_the_compilers_to_refuse() {
    let place = Place::new();
    place.write("loop", "@loop");
    let output = place.wrapped("--instr-verbose gcc @loop");
    assert!(
        text(&output.stderr).contains("nested more than 32 deep"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(output.status, place.run("gcc @loop").status);
}

#[test]
fn help_version_and_dry_run_run_nothing() {
    let place = Place::new();
    assert!(text(&place.wrapped("--instr-help").stdout).contains("--instr-verbose"));
    assert!(text(&place.wrapped("gcc --instr-version").stdout).starts_with("instr-cc "));
    let dry = place.wrapped("--instr-dry-run gcc -fopenmp p.c -o dry");
    assert!(
        text(&dry.stdout).contains("-D__INSTR__=1") && text(&dry.stdout).contains("-B"),
        "{}",
        text(&dry.stdout)
    );
    assert!(!place.path().join("dry").exists());
}

#[test]
fn a_configure_like_probe_leaves_no_trace_of_the_wrapper() {
    let place = Place::new();
    place.write("conftest.c", "int main(void) { return 0; }");
    let link = place.wrapped("--instr-verbose gcc -o conftest conftest.c");
    assert_eq!(link.status.code(), Some(0));
    assert!(text(&link.stderr).contains("nothing to instrument"));
    assert!(place.run("./conftest").status.success());
    assert!(!place.has_trace("conftest"));
    assert!(place.run("gcc -o plain conftest.c").status.success());
    let bytes = |name: &str| fs::read(place.path().join(name)).unwrap();
    assert_eq!(
        bytes("conftest"),
        bytes("plain"),
        "the program is the plain one"
    );
}

#[test]
fn a_runtime_that_cannot_be_built_leaves_a_plain_program() {
    let place = Place::new();
    script(
        &place,
        "picky-cc",
        "case \"$*\" in *-std=c11*) echo 'picky: error: no C11 here' >&2; exit 1;; esac\nexec gcc \"$@\"",
    );
    let line = "./picky-cc -fopenmp p.c -o p";
    let quiet = place.wrapped(line);
    assert_eq!(
        (text(&quiet.stderr).as_str(), quiet.status.code()),
        ("", Some(0))
    );
    let told = place.wrapped(&format!("--instr-verbose {line}"));
    assert!(
        text(&told.stderr).contains("linked plainly: "),
        "{}",
        text(&told.stderr)
    );
    assert!(
        text(&told.stderr).contains("picky: error: no C11 here"),
        "{}",
        text(&told.stderr)
    );
    assert_eq!(place.run("./p").status.code(), Some(7));
    assert!(!place.has_trace("p"));
}

#[test]
fn why_there_is_no_runtime_is_told_where_the_link_fails_without_it() {
    let place = Place::new();
    script(
        &place,
        "picky-cc",
        "case \"$*\" in *-std=c11*) echo 'picky: error: no C11 here' >&2; exit 1;; esac\nexec gcc \"$@\"",
    );
    place.write(
        "needs.c",
        "extern int instr_rtems_fatal(void); int main(void) {\n#pragma omp parallel\n ;\n return instr_rtems_fatal(); }",
    );
    let line = "./picky-cc -fopenmp needs.c -o needs";
    let (plain, wrapped) = (place.run(line), place.wrapped(line));
    assert_eq!(wrapped.status, plain.status);
    assert!(!wrapped.status.success());
    let told = text(&wrapped.stderr);
    assert!(
        told.contains("undefined reference to `instr_rtems_fatal'"),
        "{told}"
    );
    assert!(
        told.contains("instr-cc: warning: this link is without the runtime: "),
        "{told}"
    );
    assert!(told.contains("picky: error: no C11 here"), "{told}");
}

#[test]
fn a_program_that_is_no_known_compiler_is_run_plainly() {
    let place = Place::new();
    script(
        &place,
        "odd-cc",
        "case \"$*\" in *-E*) echo instr_facts other;; *) exec gcc \"$@\";; esac",
    );
    let told = place.wrapped("--instr-verbose ./odd-cc -fopenmp p.c -o p");
    assert!(
        text(&told.stderr).contains("neither GCC nor Clang"),
        "{}",
        text(&told.stderr)
    );
    assert_eq!(place.run("./p").status.code(), Some(7));
    assert!(!place.has_trace("p"));
}

#[test]
fn a_warm_link_starts_no_compiler_of_its_own() {
    let place = Place::new();
    script(&place, "log-cc", "echo run >> log\nexec gcc \"$@\"");
    let runs = || {
        fs::read_to_string(place.path().join("log"))
            .unwrap()
            .lines()
            .count()
    };
    assert!(place.run("gcc -fopenmp -c p.c").status.success());
    assert!(place.wrapped("./log-cc -fopenmp p.o -o p").status.success());
    let cold = runs();
    assert!(place.wrapped("./log-cc -fopenmp p.o -o p").status.success());
    assert_eq!(runs() - cold, 1);
    assert!(place.run("./p").status.code() == Some(7) && place.has_trace("p"));
}

#[test]
fn a_very_long_link_line_is_instrumented() {
    let place = Place::new();
    let words: Vec<String> = (0..1300)
        .map(|i| format!("'-L/no such folder/{i}/{}'", "x".repeat(40)))
        .collect();
    place.write("long", words.join("\n"));
    let link = place.wrapped("gcc -fopenmp p.c @long -o p");
    assert_eq!(
        (text(&link.stderr).as_str(), link.status.code()),
        ("", Some(0))
    );
    assert_eq!(place.run("./p").status.code(), Some(7));
    assert!(place.has_trace("p"));
}
