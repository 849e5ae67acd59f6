//! The public interface from other languages than C: exactly what lies between start and stop, however the program is built, and nothing where no tool is.

use std::path::{Path, PathBuf};

use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Family, Language, Target, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for way in [CXX, CLANGXX, FORTRAN] {
        let name = way.name;
        trials.extend([
            trial(format!("bindings::{name}::dynamic"), move || {
                linked(&way, &[])
            }),
            trial(format!("bindings::{name}::shared-library"), move || {
                library(&way)
            }),
            trial(format!("bindings::{name}::under-instr-run"), move || {
                under_run(&way)
            }),
            trial(format!("bindings::{name}::without-a-tool"), move || {
                without(&way)
            }),
        ]);
    }
    // LLVM's libomp is there as a shared library alone.
    for way in [CXX, FORTRAN] {
        trials.push(trial(
            format!("bindings::{}::static", way.name),
            move || linked(&way, &["-static"]),
        ));
    }
    trials.push(trial("bindings::cxx::mixed-objects", mixed_objects));
    trials.push(trial("bindings::fortran::names", fortran_names));
    trials
}

/// How the test's program is made in a language.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    family: Family,
    language: Language,
    sources: &'static [&'static str],
    /// What calls look for the runtime of `instr run`.
    dynamic: &'static [&'static str],
    /// The names of regions, and how many of ten regions have each.
    regions: [(&'static str, i128); 2],
}

const CXX: Way = Way {
    name: "cxx",
    family: Family::Gcc,
    language: Language::Cxx,
    sources: &["tests/api/pairs.cc"],
    dynamic: &["-DINSTR_DYNAMIC"],
    regions: [("inside", 10), ("outside", 0)],
};
const CLANGXX: Way = Way {
    name: "clangxx",
    family: Family::Clang,
    ..CXX
};
const FORTRAN: Way = Way {
    name: "fortran",
    family: Family::Gcc,
    language: Language::Fortran,
    sources: &[
        "runtime/include/instr/instr.f90",
        "runtime/include/instr/instr_fortran.c",
        "tests/api/pairs.f90",
    ],
    dynamic: &[],
    regions: [("even", 5), ("odd", 5)],
};

/// What `pairs 4 10 7` has between start and stop: 4 pairs of 10 events on 2 threads.
const ARGUMENTS: [&str; 3] = ["4", "10", "7"];
const INSIDE: i128 = 4 * 10 * 2;

struct Place {
    dir: TempDir,
}

impl Place {
    fn new(way: &Way, name: &str) -> Check<Self> {
        let dir = workspace::work_dir(&format!("bindings-{}-{name}", way.name))?;
        Ok(Self { dir })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The program of a language, by `instr-cc` or by the compiler alone.
    fn build(&self, way: &Way, traced: bool, flags: &[&str], output: &str) -> Check<PathBuf> {
        let root = workspace::root()?;
        let sources: Vec<_> = way.sources.iter().map(|file| root.join(file)).collect();
        let sources: Vec<_> = sources.iter().map(PathBuf::as_path).collect();
        let mut build = Build::openmp(Target::X86_64);
        build.family = way.family;
        build.language = way.language;
        let build = flags.iter().fold(build, |build, flag| build.flag(*flag));
        let output = self.at(output);
        let wrapper = match traced {
            true => Some(tools()?.instr_cc.as_path()),
            false => None,
        };
        // Modules of Fortran are written into the current folder.
        let run = build.command(wrapper, &sources, &output)?;
        run.dir(self.dir.path()).succeed()?;
        Ok(output)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Run {
        Run::new(program).args(arguments).dir(self.dir.path())
    }

    fn under_run(&self, program: &Path, arguments: &[&str]) -> Check<Run> {
        let run = Run::new(&tools()?.instr).args(["run", "--"]).arg(program);
        Ok(run.args(arguments).dir(self.dir.path()))
    }

    fn judge(&self, way: &Way, trace: &str) -> Check {
        judge(&self.at(trace), &way.regions)
    }
}

/// Nothing but what lies inside was recorded, without losses. `regions`: how many of ten regions have a name.
pub(crate) fn judge(trace: &Path, names: &[(&str, i128)]) -> Check {
    let events = ctf::read(trace)?;
    for (subject, expected) in [
        ("user_event", INSIDE),
        ("user_event{type=5}", INSIDE),
        ("user_event{type=5,value=10}", INSIDE / 10),
        ("region_begin", INSIDE),
        ("region_end", INSIDE),
        ("tracing_on", 3),
    ] {
        equal(subject, &ctf::count(&events, subject)?, &expected)?;
    }
    let json = summary(trace)?;
    for (name, of_ten) in names {
        equal(name, &regions(&json, name), &(INSIDE / 10 * of_ten))?;
    }
    Ok(())
}

pub(crate) fn summary(trace: &Path) -> Check<serde_json::Value> {
    let run = Run::new(&tools()?.instr).args(["summary", "--json"]);
    let text = run.arg(trace).succeed()?.text();
    Ok(serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))?)
}

/// How often a region of the program was entered, as `instr summary --json` has it.
pub(crate) fn regions(json: &serde_json::Value, name: &str) -> i128 {
    let list = json["regions"].as_array();
    let found = list
        .into_iter()
        .flatten()
        .find(|region| region["name"] == name);
    found
        .and_then(|region| region["count"].as_i64())
        .unwrap_or(0)
        .into()
}

fn equal<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, expected: &T) -> Check {
    ensure(found == expected, || {
        format!("{what}: {found:?}, expected {expected:?}")
    })
}

fn said(outcome: &Outcome, text: &str) -> Check {
    ensure(outcome.text() == text, || {
        format!("expected {text:?} of\n{outcome}")
    })
}

fn linked(way: &Way, flags: &[&str]) -> Check {
    let place = Place::new(way, "linked")?;
    let program = place.build(way, true, flags, "pairs")?;
    let run = place.run(&program, &ARGUMENTS).env("INSTR_PAUSED", "1");
    said(&run.succeed()?, "started 0 stopped 0\n")?;
    place.judge(way, "pairs.instr")?;
    // A setting of the program is taken; one that is refused begins nothing.
    std::fs::remove_dir_all(place.at("pairs.instr"))?;
    let config = "INSTR_TRACE=mine.instr; INSTR_BUFFER=8K";
    let run = place.run(&program, &["2", "10", "7", config]);
    said(
        &run.env("INSTR_PAUSED", "1").succeed()?,
        "started 0 stopped 0\n",
    )?;
    let text = std::fs::read_to_string(place.at("mine.instr/metadata"))?;
    ensure(text.contains("buffer_bytes = 8192;"), || text)?;
    let run = place.run(&program, &["1", "2", "5", "INSTR_NO=1"]);
    said(
        &run.env("INSTR_PAUSED", "1").succeed()?,
        "started -2 stopped 0\n",
    )
}

/// Runs the `main` of a library that it loads.
const HOST: &str = "#include <dlfcn.h>\n#include <stdio.h>\nint main(int argc, char **argv)\n{\n    void *library = dlopen(\"./libpairs.so\", RTLD_NOW);\n\
\x20   int (*of_library)(int, char **) = library ? (int (*)(int, char **))dlsym(library, \"main\") : NULL;\n    if (of_library == NULL)\n        return puts(dlerror()), 1;\n    return of_library(argc, argv);\n}\n";

/// The calls are in a library that `instr-cc` linked; the program is plain.
fn library(way: &Way) -> Check {
    let place = Place::new(way, "library")?;
    place.build(way, true, &["-fPIC", "-shared"], "libpairs.so")?;
    std::fs::write(place.at("host.c"), HOST)?;
    Run::words("gcc host.c -o host".split(' '))
        .dir(place.dir.path())
        .succeed()?;
    let run = place.run(&place.at("host"), &ARGUMENTS);
    let outcome = run.env("INSTR_PAUSED", "1").succeed()?;
    said(&outcome, "started 0 stopped 0\n")?;
    place.judge(way, "host.instr")
}

fn under_run(way: &Way) -> Check {
    let place = Place::new(way, "under-run")?;
    let program = place.build(way, false, way.dynamic, "pairs")?;
    let run = place.under_run(&program, &ARGUMENTS)?;
    let outcome = run.env("INSTR_PAUSED", "1").succeed()?;
    said(&outcome, "started 0 stopped 0\n")?;
    place.judge(way, "pairs.instr")
}

/// What the libgfortran of GCC 12 and before refers to weakly, which brings nothing out of libc.a.
const WEAK: &str = "-Wl,-u,pthread_mutex_destroy,-u,pthread_mutex_init,-u,pthread_mutex_trylock,-u,pthread_key_create,-u,pthread_key_delete,\
-u,pthread_getspecific,-u,pthread_setspecific,-u,pthread_cond_init,-u,pthread_cond_destroy,-u,pthread_cond_wait,-u,pthread_cond_broadcast";

/// 8 calls of start returned -1, and nothing was left behind.
fn without(way: &Way) -> Check {
    let place = Place::new(way, "without")?;
    let static_too = way.family == Family::Gcc;
    let mut flags = vec![Vec::new(), way.dynamic.to_vec()];
    flags.push(vec!["-D__INSTR__=1"]);
    if static_too {
        // A static program of Fortran with OpenMP crashes at its end without these, whatever is in it (GCC 12).
        flags.push([way.dynamic, &["-static", WEAK]].concat());
    }
    for flags in flags {
        let program = place.build(way, false, &flags, "pairs")?;
        said(
            &place.run(&program, &ARGUMENTS).succeed()?,
            "started -8 stopped 0\n",
        )?;
    }
    ensure(!place.at("pairs.instr").exists(), || "a trace".into())
}

/// One file as `instr-cc` compiles it and one that is plain, without optimization: each object keeps its own guards, in either order of the link.
fn mixed_objects() -> Check {
    let place = Place::new(&CXX, "mixed")?;
    let text = |name: &str, number: u32| {
        format!(
            "#include <instr/instr.hpp>\nvoid {name}()\n{{\n    for (int i = 0; i < {number}; i++)\n        instr::region here(\"{name}\");\n}}\n"
        )
    };
    std::fs::write(place.at("with.cc"), text("with", 3))?;
    std::fs::write(place.at("without.cc"), text("without", 4))?;
    std::fs::write(
        place.at("main.cc"),
        "void with();\nvoid without();\nint main()\n{\n    with();\n    without();\n}\n",
    )?;
    let include = format!("-I{}", workspace::root()?.join("runtime/include").display());
    let wrapper = tools()?.instr_cc.clone();
    let run = |run: Run| run.dir(place.dir.path()).succeed();
    run(Run::words([
        "g++",
        "-O0",
        &include,
        "-c",
        "without.cc",
        "main.cc",
    ]))?;
    run(Run::new(&wrapper).args(["g++", "-O0", "-c", "with.cc"]))?;
    for order in [["with.o", "without.o"], ["without.o", "with.o"]] {
        let link = Run::new(&wrapper).args(["g++", "main.o", "-o", "mixed"]);
        run(link.args(order))?;
        place.run(&place.at("mixed"), &[]).succeed()?;
        let events = ctf::read(&place.at("mixed.instr"))?;
        equal("begun", &ctf::count(&events, "region_begin")?, &3)?;
        equal("ended", &ctf::count(&events, "region_end")?, &3)?;
    }
    Ok(())
}

/// Threads give the same names and others at the same time, more names than are kept, and texts with a NUL.
fn fortran_names() -> Check {
    const NAMES: &str = "program names\n  use instr\n  use iso_c_binding, only: c_null_char\n  implicit none\n  integer :: i\n  character(len=20) :: name\n\
        \x20 !$omp parallel num_threads(4) private(name, i)\n  do i = 1, 5000\n    write (name, '(a,i0)') 'n', i\n    call instr_region_begin(name)\n    call instr_region_end()\n  end do\n  !$omp end parallel\n\
        \x20 call instr_region_begin('n17' // c_null_char // 'rest')\n  call instr_region_end()\n  call instr_region_begin('')\n  call instr_region_end()\nend program\n";
    let place = Place::new(&FORTRAN, "names")?;
    std::fs::write(place.at("names.f90"), NAMES)?;
    let root = workspace::root()?.join("runtime/include/instr");
    let build = Build {
        language: Language::Fortran,
        ..Build::openmp(Target::X86_64)
    };
    let sources = [root.join("instr.f90"), root.join("instr_fortran.c")];
    let own = place.at("names.f90");
    let run = build.command(
        Some(&tools()?.instr_cc),
        &[&sources[0], &sources[1], &own],
        &place.at("names"),
    )?;
    run.dir(place.dir.path()).succeed()?;
    place.run(&place.at("names"), &[]).succeed()?;
    let trace = place.at("names.instr");
    let json = summary(&trace)?;
    let list = json["regions"].as_array().cloned().unwrap_or_default();
    let surplus = regions(&json, "(more than 4096 names)");
    let mut whole = 0;
    for region in &list {
        let name = region["name"].as_str().unwrap_or("?");
        let count = region["count"].as_i64().unwrap_or(0);
        whole += i128::from(count);
        let right = match name {
            "n17" => count == 5,
            _ if name.starts_with('n') => (1..=4).contains(&count),
            _ => name.starts_with('(') || name.is_empty(),
        };
        ensure(right, || format!("{name}: {count}"))?;
    }
    equal("regions", &whole, &(4 * 5000 + 2))?;
    equal("kept names and the other one", &list.len(), &4097)?;
    // 904 names have no place, and so has the empty one.
    equal("surplus", &surplus, &(904 * 4 + 1))
}
