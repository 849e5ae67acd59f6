//! Objects that went through `instr-rewrite --redirect` and are linked by `instr-cc`: it sees the stubs they call and brings them. Every call is
//! recorded once, whichever objects of a program are redirected.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Family, Target, libomp, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;

/// A region of two threads, each with a critical section, in a function of its own.
const WORK: &str = "int work(int);\nint work(int n) {\n\
                    #pragma omp parallel num_threads(2)\n  {\n\
                    #pragma omp critical\n    n++;\n  }\n  return n;\n}\n";
/// The same in the program itself, behind a call of the function.
const MAIN: &str = "#include <stdio.h>\nint work(int);\nint main(void) {\n  int n = work(0);\n\
                    #pragma omp parallel num_threads(2)\n  {\n\
                    #pragma omp critical\n    n++;\n  }\n  printf(\"%d\\n\", n);\n  return 0;\n}\n";

/// Which objects of the program are redirected, and how the linker gets them.
#[derive(Debug, Clone, Copy)]
enum Form {
    /// Both objects.
    Both,
    /// One; the other is plain.
    Mixed,
    /// One, in an archive; the other is plain.
    Archive,
    /// One, merged with the other by `-r`.
    Merged,
    /// Both, without the symbols that no relocation names: the functions' own names are gone.
    Stripped,
}

const FORMS: [Form; 5] = [
    Form::Both,
    Form::Mixed,
    Form::Archive,
    Form::Merged,
    Form::Stripped,
];

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    let targets = Target::ALL.into_iter().chain(Target::FURTHER);
    for target in targets.filter(|target| cases::wanted(*target)) {
        for form in FORMS {
            let name = format!("{form:?}").to_lowercase();
            let name = format!("redirected::{name}::{}", target.name());
            trials.push(trial(name, move || program(target, form, &[])));
        }
    }
    for linker in ["bfd", "gold", "lld", "mold"] {
        let names: [(&str, &'static [&'static str]); 3] = [
            ("pie", &["-pie"]),
            ("no-pie", &["-no-pie"]),
            ("static", &["-static"]),
        ];
        for (kind, flags) in names {
            trials.push(trial(format!("redirected::{linker}::{kind}"), move || {
                need(&format!("ld.{linker}"))?;
                let select = format!("-fuse-ld={linker}");
                let flags = [&[select.as_str()], flags].concat();
                program(Target::X86_64, Form::Mixed, &flags)
            }));
        }
    }
    trials.extend([
        trial("redirected::shared-library", shared_library),
        trial("redirected::libomp", with_libomp),
        trial("redirected::stubs-of-the-program", stubs_of_the_program),
        trial("redirected::list", list),
    ]);
    trials
}

/// The two objects, compiled plainly with these flags.
fn compile(dir: &Path, target: Target, flags: &[&str]) -> Check<[PathBuf; 2]> {
    let mut objects = Vec::new();
    for (name, text) in [("work", WORK), ("main", MAIN)] {
        let source = dir.join(name).with_extension("c");
        std::fs::write(&source, text)?;
        let object = dir.join(name).with_extension("o");
        let build = flags
            .iter()
            .fold(Build::openmp(target), |build, flag| build.flag(*flag));
        build.flag("-c").plain(&[&source], &object)?;
        objects.push(object);
    }
    objects
        .try_into()
        .map_err(|_| "two sources make two objects".into())
}

fn redirect(input: &Path) -> Check<PathBuf> {
    let extension = input.extension().unwrap_or_default().to_string_lossy();
    let output = input.with_extension(format!("redirected.{extension}"));
    let run = Run::new(&tools()?.instr_rewrite).arg("--redirect");
    run.arg(input).arg("-o").arg(&output).succeed()?;
    Ok(output)
}

/// What is linked of the two objects.
fn inputs(form: Form, target: Target, [work, main]: &[PathBuf; 2]) -> Check<Vec<PathBuf>> {
    Ok(match form {
        Form::Both => vec![redirect(work)?, redirect(main)?],
        Form::Mixed => vec![redirect(work)?, main.clone()],
        Form::Archive => {
            let archive = work.with_extension("a");
            let ar = Run::new("ar").arg("rcs").arg(&archive);
            ar.arg(work).succeed()?;
            vec![main.clone(), redirect(&archive)?]
        }
        Form::Merged => {
            let merged = work.with_extension("merged.o");
            let compiler = Build::openmp(target);
            let compiler = compiler.family.command(compiler.language, target)?;
            let flags = target.flags().iter().filter(|flag| flag.starts_with("-m"));
            let run = Run::new(compiler).args(flags).args(["-nostdlib", "-r"]);
            let run = run.arg(redirect(work)?).arg(main);
            run.arg("-o").arg(&merged).succeed()?;
            vec![merged]
        }
        Form::Stripped => {
            let objects = [redirect(work)?, redirect(main)?];
            let compiler = Build::openmp(target);
            let compiler = compiler.family.command(compiler.language, target)?;
            let tool = |name: &str| Run::new(compiler.replace("gcc", name));
            for object in &objects {
                tool("strip")
                    .arg("--strip-unneeded")
                    .arg(object)
                    .succeed()?;
                let names = tool("nm").arg("-u").arg(object).succeed()?;
                let left = names.text().contains(" U GOMP_parallel\n");
                ensure(!left, || format!("the name is still there\n{names}"))?;
            }
            objects.to_vec()
        }
    })
}

/// The same program with plain objects is linked too, and both print the same.
fn program(target: Target, form: Form, flags: &[&str]) -> Check {
    let dir = workspace::work_dir("redirected")?;
    let fixed: &[&str] = match flags.contains(&"-no-pie") {
        true => &["-fno-pie"],
        false => &[],
    };
    let objects = compile(dir.path(), target, fixed)?;
    let inputs = inputs(form, target, &objects)?;
    let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let build = flags
        .iter()
        .fold(Build::openmp(target), |build, flag| build.flag(*flag));
    let (traced, plain) = (dir.path().join("traced"), dir.path().join("plain"));
    build.traced(&inputs, &traced)?;
    build.plain(&objects.each_ref().map(PathBuf::as_path), &plain)?;
    let trace = dir.path().join("trace");
    let reference = target.run(&plain).succeed()?;
    let outcome = target.run(&traced).env("INSTR_TRACE", &trace).succeed()?;
    reference.same_as(&outcome)?;
    judge(&trace)
}

/// Two regions of two threads, a critical section for each thread in each of them.
fn judge(trace: &Path) -> Check {
    let events = ctf::read(trace)?;
    for (subject, expected) in [
        ("parallel_begin", 2),
        ("implicit_begin", 4),
        ("mutex_acquired", 4),
    ] {
        let actual = ctf::count(&events, subject)?;
        ensure(actual == expected, || {
            format!("{subject}: expected {expected}, got {actual}")
        })?;
    }
    cases::paraver(trace, instr_tests::prv::check::Options::default())?;
    Ok(())
}

/// A library of a redirected object, made by `instr-cc`, and a program of a plain one.
fn shared_library() -> Check {
    let dir = workspace::work_dir("redirected-library")?;
    let [work, main] = compile(dir.path(), Target::X86_64, &["-fPIC"])?;
    let build = Build::openmp(Target::X86_64);
    let library = dir.path().join("libwork.so");
    let shared = build.clone().flag("-shared");
    shared.traced(&[&redirect(&work)?], &library)?;
    let program = dir.path().join("program");
    let rpath = format!("-Wl,-rpath,{}", dir.path().display());
    build.flag(rpath).plain(&[&main, &library], &program)?;
    let trace = dir.path().join("trace");
    let outcome = Run::new(&program).env("INSTR_TRACE", &trace).succeed()?;
    ensure(outcome.text() == "4\n", || format!("{outcome}"))?;
    let events = ctf::read(&trace)?;
    let regions = ctf::count(&events, "parallel_begin")?;
    ensure(regions == 1, || {
        format!("{regions} regions, 1 in the library")
    })
}

/// With libomp its tool interface records: the stubs of redirected objects must not do it again.
fn with_libomp() -> Check {
    let folder = libomp()?;
    let dir = workspace::work_dir("redirected-libomp")?;
    let [work, main] = compile(dir.path(), Target::X86_64, &[])?;
    let mut build = Build::openmp(Target::X86_64);
    build.family = Family::Gcc;
    build.flags = vec![
        "-g".into(),
        format!("-L{}", folder.display()),
        "-lomp".into(),
    ];
    let program = dir.path().join("program");
    build.traced(&[&redirect(&work)?, &main], &program)?;
    let trace = dir.path().join("trace");
    let outcome = Run::new(&program)
        .env("INSTR_TRACE", &trace)
        .env("LD_LIBRARY_PATH", &folder)
        .succeed()?;
    ensure(outcome.text() == "4\n", || format!("{outcome}"))?;
    judge(&trace)
}

/// A program that brings stubs of its own gets none of ours, and what they call is not wrapped.
fn stubs_of_the_program() -> Check {
    let dir = workspace::work_dir("redirected-stubs")?;
    let [work, main] = compile(dir.path(), Target::X86_64, &[])?;
    let stubs = dir.path().join("stubs.c");
    let text = "void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);\n\
                void GOMP_critical_start(void);\nvoid GOMP_critical_end(void);\n\
                void instr_wrap_GOMP_parallel(void (*f)(void *), void *data, unsigned n, unsigned flags);\n\
                void instr_wrap_GOMP_parallel(void (*f)(void *), void *data, unsigned n, unsigned flags) {\n\
                \x20 GOMP_parallel(f, data, n, flags);\n}\n\
                void instr_wrap_GOMP_critical_start(void);\n\
                void instr_wrap_GOMP_critical_start(void) { GOMP_critical_start(); }\n\
                void instr_wrap_GOMP_critical_end(void);\n\
                void instr_wrap_GOMP_critical_end(void) { GOMP_critical_end(); }\n";
    std::fs::write(&stubs, text)?;
    let program = dir.path().join("program");
    let build = Build::openmp(Target::X86_64).flag("--instr-verbose");
    let outcome = build.traced(&[&redirect(&work)?, &redirect(&main)?, &stubs], &program)?;
    let told =
        "GOMP_parallel is not wrapped: the program has a stub for its redirected calls itself";
    ensure(outcome.errors().contains(told), || format!("{outcome}"))?;
    let trace = dir.path().join("trace");
    let outcome = Run::new(&program).env("INSTR_TRACE", &trace).succeed()?;
    ensure(outcome.text() == "4\n" && !trace.exists(), || {
        format!("{outcome}")
    })
}

/// `--list` tells which calls are redirected already.
fn list() -> Check {
    let dir = workspace::work_dir("redirected-list")?;
    let [work, main] = compile(dir.path(), Target::X86_64, &[])?;
    for (objects, redirected) in [(vec![&redirect(&work)?], true), (vec![&main], false)] {
        let run = Run::new(&tools()?.instr_rewrite).arg("--list");
        let listed = run.args(objects).succeed()?;
        let text = listed.text();
        let line = text.lines().find(|line| line.starts_with("GOMP_parallel "));
        let end = match redirected {
            true => "yes      redirected, probe parallel",
            false => "yes      probe parallel",
        };
        let right = line.is_some_and(|line| line.ends_with(end));
        ensure(right, || format!("{listed}"))?;
    }
    Ok(())
}
