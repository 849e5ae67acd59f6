//! The ways in which libomp comes into a program, and what becomes of the recording: names on the link line, linkers, a plugin that is loaded and unloaded,
//! children.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Family, Target, libomp, libomp_binds_itself, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

/// What `tests/conformance/taskgroup.c` creates: 4 groups of 2 children with 2 each, 2 nested ones.
const TASKS: i128 = 4 * 2 * 2 + 2;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("libomp-links::names", names),
        trial("libomp-links::plugin", plugin),
        trial("libomp-links::fork", fork),
        trial("libomp-links::bound", bound),
        trial("libomp-links::static-as-without-us", || {
            fails_alike("-static")
        }),
    ];
    for linker in ["bfd", "gold", "lld", "mold"] {
        trials.push(trial(format!("libomp-links::{linker}"), move || {
            by_linker(linker)
        }));
    }
    trials
}

fn source() -> Check<PathBuf> {
    Ok(workspace::root()?.join("tests/conformance/taskgroup.c"))
}

fn build(family: Family) -> Build {
    Build {
        family,
        ..Build::openmp(Target::X86_64)
    }
}

/// Runs a program and demands the tasks of [`source`] in its trace, recorded through libomp.
fn judge(program: &Path, trace: &Path) -> Check {
    let run = Run::new(program).env("INSTR_TRACE", trace);
    run.env("OMP_NUM_THREADS", "2").succeed()?;
    let created = ctf::count(&ctf::read(trace)?, "task_create")?;
    let metadata = String::from_utf8_lossy(&std::fs::read(trace.join("metadata"))?).into_owned();
    ensure(
        created == TASKS && metadata.contains("openmp = \"libomp"),
        || format!("{}: {created} tasks of {TASKS}", program.display()),
    )
}

/// A copy of libomp that calls its own `ompt_start_tool`, as one that was linked with `-Bsymbolic-functions`: where it asked the dynamic
/// linker whose function to call, it now asks for its own (`R_X86_64_RELATIVE` in place of `R_X86_64_JUMP_SLOT`).
fn bound_libomp(folder: &Path) -> Check {
    const ENTRY: usize = 24;
    let mut bytes = std::fs::read(libomp()?.join("libomp.so"))?;
    let (relocations, number, address) = {
        let file = object::File::parse(bytes.as_slice()).map_err(|error| error.to_string())?;
        let symbols: Vec<_> = file.dynamic_symbols().collect();
        let own = symbols
            .iter()
            .find(|symbol| symbol.name() == Ok("ompt_start_tool"));
        let own = own.ok_or("libomp has no ompt_start_tool")?;
        let section = file.section_by_name(".rela.plt").ok_or("no .rela.plt")?;
        let range = section.file_range().ok_or("no contents of .rela.plt")?;
        (range, own.index().0 as u64, own.address())
    };
    let (begin, length) = (relocations.0 as usize, relocations.1 as usize);
    let table = bytes
        .get_mut(begin..begin + length)
        .ok_or("a cut libomp.so")?;
    let calls = |entry: &&mut [u8]| entry[8..16] == (number << 32 | 7).to_le_bytes();
    let mut entries = table.chunks_exact_mut(ENTRY);
    // This system's libomp may be such a one already.
    if let Some(entry) = entries.find(calls) {
        entry[8..16].copy_from_slice(&8_u64.to_le_bytes());
        entry[16..24].copy_from_slice(&address.to_le_bytes());
    }
    for name in ["libomp.so", "libomp.so.5"] {
        std::fs::write(folder.join(name), &bytes)?;
    }
    Ok(())
}

/// A libomp that looks for a tool behind itself only: a program's constructs are recorded, and a library's in a plain program.
fn bound() -> Check {
    let dir = workspace::work_dir("libomp-bound")?;
    bound_libomp(dir.path())?;
    let (program, trace) = (dir.path().join("app"), dir.path().join("trace"));
    let folder = format!("-L{}", dir.path().display());
    let run = |program: &Path, traced: bool| {
        let run = Run::new(program).env("LD_LIBRARY_PATH", dir.path());
        let run = run.env("LD_BIND_NOW", "1").env("OMP_NUM_THREADS", "2");
        let run = match traced {
            true => run.env("INSTR_TRACE", &trace),
            false => run.env("INSTR_TRACE", &trace).env("INSTR_ENABLED", "0"),
        };
        run.succeed()
    };
    let link = Run::new(&tools()?.instr_cc).args(["clang", "-fopenmp", &folder]);
    link.arg(source()?).arg("-o").arg(&program).succeed()?;
    let plain = run(&program, false)?;
    ensure(!trace.exists(), || {
        "a trace of a run that was switched off".into()
    })?;
    plain.same_as(&run(&program, true)?)?;
    let created = ctf::count(&ctf::read(&trace)?, "task_create")?;
    ensure(created == TASKS, || format!("{created} tasks of {TASKS}"))
}

/// GCC's objects, linked by the names that Debian's package gives the library. (It has no `libomp.so` where linkers look, so that `-lomp` needs a `-L`,
/// with us as without: that is how [`Family::GccLibomp`] links.)
fn names() -> Check {
    let dir = workspace::work_dir("libomp-names")?;
    let folder = libomp()?;
    let object = dir.path().join("a.o");
    let compile = build(Family::Gcc).flag("-c");
    compile.traced(&[&source()?], &object)?;
    let file = folder.join("libomp.so").display().to_string();
    let names = [
        "-liomp5".to_owned(),
        "-lomp5".into(),
        "-l:libomp.so.5".into(),
        file,
    ];
    for (index, name) in names.iter().enumerate() {
        let program = dir.path().join(format!("app{index}"));
        let link = Run::new(&tools()?.instr_cc).arg("gcc").arg(&object);
        link.arg(name).arg("-o").arg(&program).succeed()?;
        judge(&program, &program.with_extension("trace"))?;
    }
    Ok(())
}

/// clang's program and GCC's objects by each linker.
fn by_linker(linker: &str) -> Check {
    need(if linker == "mold" { "mold" } else { "ld.bfd" })?;
    let dir = workspace::work_dir("libomp-linker")?;
    for family in [Family::Clang, Family::GccLibomp] {
        let program = dir.path().join(family.name());
        let build = build(family).flag(format!("-fuse-ld={linker}"));
        build.traced(&[&source()?], &program)?;
        judge(&program, &program.with_extension("trace"))?;
    }
    Ok(())
}

/// What cannot be linked fails with the compiler's own words and status.
fn fails_alike(flag: &str) -> Check {
    let dir = workspace::work_dir("libomp-fails")?;
    let build = build(Family::Clang).flag(flag);
    let command =
        |wrapper: Option<&Path>| build.command(wrapper, &[&source()?], &dir.path().join("app"));
    let plain = command(None)?.output()?;
    let traced = command(Some(&tools()?.instr_cc))?.output()?;
    if dir.path().join("app").exists() {
        return judge(&dir.path().join("app"), &dir.path().join("trace"));
    }
    ensure(plain.status == traced.status, || {
        format!("{plain}\n{traced}")
    })
}

const PLUGIN: &str = "int work(void) { int s = 0;\n#pragma omp parallel num_threads(2)\n{\n#pragma omp atomic\ns++;\n}\nreturn s; }\n";
const HOST: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int c, char **v) { for (int i = 0; i < 2; i++) {\n\
                    void *h = dlopen(v[1], RTLD_NOW | RTLD_LOCAL); if (h == NULL || c != 2) return 1;\n\
                    int (*f)(void) = (int (*)(void))dlsym(h, \"work\"); printf(\"%d\\n\", f()); dlclose(h); } return 0; }\n";

/// A program without OpenMP loads a traced library of clang, unloads it, and does so again.
fn plugin() -> Check {
    if libomp_binds_itself()? {
        println!("this system's libomp finds no tool where a plugin brings it");
        return Ok(());
    }
    let dir = workspace::work_dir("libomp-plugin")?;
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("plugin.c"), PLUGIN)?;
    std::fs::write(at("host.c"), HOST)?;
    let library = build(Family::Clang).flag("-shared").flag("-fPIC");
    library.traced(&[&at("plugin.c")], &at("plugin.so"))?;
    let host = build(Family::Gcc).flag("-fno-openmp").flag("-ldl");
    host.plain(&[&at("host.c")], &at("host"))?;
    let run = Run::new(at("host")).arg(at("plugin.so"));
    let outcome = run.env("INSTR_TRACE", at("trace")).succeed()?;
    ensure(outcome.text() == "2\n2\n", || format!("{outcome}"))?;
    let events = ctf::read(&at("trace"))?;
    let counts =
        ["parallel_begin", "implicit_begin", "implicit_end"].map(|name| ctf::count(&events, name));
    ensure(counts == [Ok(2), Ok(4), Ok(4)], || format!("{counts:?}"))
}

const FORK: &str = "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
                    static int region(void) { int s = 0;\n#pragma omp parallel num_threads(2)\n{\n#pragma omp atomic\ns++;\n}\nreturn s; }\n\
                    int main(void) { int first = region(); pid_t child = fork(); if (child == 0) _exit(region() != 2); int status;\n\
                    waitpid(child, &status, 0); printf(\"%d %d\\n\", first + region(), status); return 0; }\n";

/// The child of a program that has used libomp starts it anew, and has a trace of its own.
fn fork() -> Check {
    let dir = workspace::work_dir("libomp-fork")?;
    let at = |name: &str| dir.path().join(name);
    std::fs::write(at("fork.c"), FORK)?;
    build(Family::Clang).traced(&[&at("fork.c")], &at("fork"))?;
    let run = Run::new(at("fork")).env("INSTR_TRACE", at("trace"));
    let outcome = run.succeed()?;
    ensure(outcome.text() == "4 0\n", || format!("{outcome}"))?;
    let regions = |trace: &Path| -> Check<i128> {
        let told = cases::summary(trace)?["parallel_regions"]
            .as_array()
            .map(Vec::len);
        let begun = ctf::count(&ctf::read(trace)?, "parallel_begin")?;
        ensure(told.is_some_and(|told| told > 0), || {
            "no region in the summary".into()
        })?;
        Ok(begun)
    };
    let is_child = |path: &PathBuf| path.is_dir();
    let entries = std::fs::read_dir(at("trace"))?
        .flatten()
        .map(|entry| entry.path());
    let children: Vec<PathBuf> = entries.filter(is_child).collect();
    ensure(children.len() == 1, || format!("{children:?}"))?;
    let child = regions(&children[0])?;
    // The parent's trace without the child's folder in it.
    std::fs::rename(&children[0], at("child"))?;
    let parent = regions(&at("trace"))?;
    ensure((parent, child) == (2, 1), || {
        format!("{parent} and {child} regions")
    })
}
