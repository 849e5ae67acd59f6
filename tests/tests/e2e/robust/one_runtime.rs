//! One runtime a process: a program, the libraries it is linked with and those it loads have one trace, whoever is traced.

use std::path::{Path, PathBuf};

use instr_tests::ctf::{self, Event};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Run;
use instr_tests::toolchain::{Build, Family, Target, libomp_binds_itself, need, tools};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

use super::{source, values};

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("robust::one-runtime::sixty-plugins", sixty_plugins),
        trial("robust::one-runtime::unloaded", unloaded),
        trial("robust::one-runtime::own-symbols-first", || special("deep")),
        trial("robust::one-runtime::name-spaces", || special("apart")),
        trial("robust::one-runtime::fork", fork),
        trial("robust::one-runtime::preloaded", preloaded),
        trial("robust::one-runtime::other-version", other_version),
        trial("robust::one-runtime::no-runtime", no_runtime),
        trial("robust::one-runtime::sampled", sampled),
        trial("robust::one-runtime::heap", heap),
        trial("robust::one-runtime::libomp", libomp),
        trial("robust::one-runtime::ompt-tools", ompt_tools),
        trial("robust::one-runtime::own-ompt-tool", own_ompt_tool),
        trial(
            "robust::one-runtime::first-thread-of-libomp-ends",
            first_thread_ends,
        ),
        trial(
            "robust::one-runtime::two-threads-load-libomp",
            two_threads_load,
        ),
    ];
    let links = [
        "-Wl,-z,now",
        "-no-pie",
        "-s",
        "-Wl,--as-needed",
        "-Wl,--gc-sections",
        "-Wl,--version-script=hidden.map",
        "-fuse-ld=gold",
        "-fuse-ld=lld",
        "-fuse-ld=mold",
    ];
    trials.extend(links.map(|option| {
        trial(format!("robust::one-runtime::linked{option}"), move || {
            linked(option)
        })
    }));
    trials
}

/// A working folder with programs and libraries.
struct Place(TempDir);

impl Place {
    fn new(name: &str) -> Check<Self> {
        Ok(Self(workspace::work_dir(name)?))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn library(&self, name: &str, flags: &[&str]) -> Check<PathBuf> {
        let path = self.path(name);
        let build = Build::openmp(Target::X86_64).flag("-shared").flag("-fPIC");
        let build = flags.iter().fold(build, |build, flag| build.flag(*flag));
        build.traced(&[&source("one_runtime_library")?], &path)?;
        Ok(path)
    }

    /// The program that loads libraries, plain and traced.
    fn hosts(&self) -> Check<[PathBuf; 2]> {
        let build = Build::openmp(Target::X86_64)
            .flag("-fno-openmp")
            .flag("-ldl");
        let hosts = [self.path("plain-host"), self.path("traced-host")];
        build.plain(&[&source("one_runtime_host")?], &hosts[0])?;
        build.traced(&[&source("one_runtime_host")?], &hosts[1])?;
        Ok(hosts)
    }

    /// A build of a program that is linked with `liblibrary.so` of this folder.
    fn links(&self, build: Build) -> Build {
        let folder = self.0.path().display();
        build
            .flag(format!("-L{folder}"))
            .flag("-llibrary")
            .flag(format!("-Wl,-rpath,{folder}"))
    }

    fn run(&self, program: &Path) -> Run {
        let run = Run::new(program).dir(self.0.path());
        // Streams of context switches have a thread_begin of their own.
        run.env("OMP_NUM_THREADS", "2").env("INSTR_SWITCHES", "0")
    }

    /// The events of the one trace in the folder, which goes away.
    fn events(&self) -> Check<Vec<Event>> {
        let (trace, events) = self.trace()?;
        std::fs::remove_dir_all(trace)?;
        Ok(events)
    }

    /// The one trace in the folder.
    fn trace(&self) -> Check<(PathBuf, Vec<Event>)> {
        let entries = std::fs::read_dir(self.0.path())?.flatten();
        let paths = entries.map(|entry| entry.path());
        let traces: Vec<PathBuf> = paths.filter(|p| p.join("metadata").is_file()).collect();
        let [trace] = traces.as_slice() else {
            return Err(format!("not one trace: {traces:?}").into());
        };
        Ok((trace.clone(), ctf::read(trace)?))
    }
}

fn is(events: &[Event], expected: &[(&str, i128)]) -> Check {
    for (subject, count) in expected {
        let found = ctf::count(events, subject)?;
        ensure(found == *count, || {
            format!("{subject}: {found}, not {count}")
        })?;
    }
    Ok(())
}

fn metadata(trace: &Path) -> Check<String> {
    Ok(String::from_utf8_lossy(&std::fs::read(trace.join("metadata"))?).into_owned())
}

/// Program and library have one trace: its regions have different numbers, and what constructors and destructors of either record is there.
fn linked(option: &str) -> Check {
    if let Some(linker) = option.strip_prefix("-fuse-ld=") {
        need(&format!("ld.{linker}"))?;
    }
    let place = Place::new("one-runtime-linked")?;
    std::fs::write(
        place.path("hidden.map"),
        "{ global: library_work; main; local: *; };",
    )?;
    let option = option.replace(
        "hidden.map",
        &place.path("hidden.map").display().to_string(),
    );
    let flag = if option == "-no-pie" { "-O1" } else { &option };
    place.library("liblibrary.so", &[flag, "-Wl,--no-undefined"])?;
    let program = place.links(Build::openmp(Target::X86_64).flag(&option));
    let paths = [place.path("plain"), place.path("traced")];
    program.plain(&[&source("one_runtime_linked")?], &paths[0])?;
    program.traced(&[&source("one_runtime_linked")?], &paths[1])?;
    let of_library = [
        ("user_event{type=902,value=7}", 1),
        ("user_event{type=903}", 1),
        ("user_event{type=904}", 1),
    ];
    ensure(place.run(&paths[0]).succeed()?.text() == "6\n", || {
        "the plain program".into()
    })?;
    let events = place.events()?;
    is(&events, &of_library)?;
    is(&events, &[("parallel_begin", 2), ("implicit_begin", 4)])?;
    ensure(place.run(&paths[1]).succeed()?.text() == "6\n", || {
        "the traced program".into()
    })?;
    let events = place.events()?;
    is(&events, &of_library)?;
    is(
        &events,
        &[
            ("parallel_begin", 3),
            ("implicit_begin", 6),
            ("thread_begin", 2),
        ],
    )?;
    is(&events, &[("user_event{type=901}", 1)])?;
    let numbers = events.iter().filter(|e| e.name == "parallel_begin");
    let numbers: Vec<_> = numbers.filter_map(|event| event.get("seq")).collect();
    ensure(numbers == [0, 1, 2], || format!("regions {numbers:?}"))?;
    // Off is off for all of them.
    let off = place.run(&paths[1]).env("INSTR_ENABLED", "0").succeed()?;
    ensure(off.text() == "6\n" && place.trace().is_err(), || {
        format!("a trace in spite of INSTR_ENABLED=0\n{off}")
    })?;
    Ok(())
}

/// Each with thread-local storage of its own, the 36th would not load.
fn sixty_plugins() -> Check {
    const PLUGINS: usize = 60;
    let place = Place::new("one-runtime-sixty")?;
    let library = place.library("library.so", &["-fno-openmp"])?;
    let copies: Vec<String> = (0..PLUGINS).map(|i| format!("./copy{i}.so")).collect();
    for copy in &copies {
        std::fs::copy(&library, place.path(copy))?;
    }
    for (host, own) in place.hosts()?.iter().zip([0, PLUGINS as i128]) {
        for bind in ["LD_BIND_NOW", "LD_BIND_NOT"] {
            let run = place.run(host).arg("keep").args(&copies);
            let outcome = run.env(bind, "1").succeed()?;
            let lines = outcome.text().lines().count();
            ensure(lines == PLUGINS, || format!("{lines} plugins\n{outcome}"))?;
            let of_each = PLUGINS as i128;
            is(
                &place.events()?,
                &[
                    ("thread_begin", 1),
                    ("region_begin", of_each),
                    ("region_end", of_each),
                    ("user_event{type=901}", own),
                    ("user_event{type=902}", of_each),
                    ("user_event{type=903}", of_each),
                    ("user_event{type=904}", of_each),
                ],
            )?;
        }
    }
    Ok(())
}

/// Libraries come and go, to the same addresses, too: each keeps its names.
fn unloaded() -> Check {
    let place = Place::new("one-runtime-unloaded")?;
    let first = place.library("first.so", &["-fno-openmp", "-DNAME=\"first\""])?;
    let second = place.library("second.so", &["-fno-openmp", "-DNAME=\"other\""])?;
    let third = place.library("third.so", &[])?;
    for host in place.hosts()? {
        let libraries = [&first, &second, &first, &third, &second];
        place
            .run(&host)
            .args(libraries)
            .env("LD_PRELOAD", "libgomp.so.1")
            .succeed()?;
        let (trace, events) = place.trace()?;
        is(
            &events,
            &[
                ("user_event{type=902}", 5),
                ("user_event{type=903}", 5),
                ("user_event{type=904}", 5),
                ("parallel_begin", 2),
                ("implicit_begin", 4),
            ],
        )?;
        let metadata = metadata(&trace)?;
        for library in [&first, &second, &third] {
            let named = metadata.contains(&format!(" {}\"", library.display()));
            ensure(named, || format!("{} is forgotten", library.display()))?;
        }
        let summary = Run::new(&tools()?.instr).args(["summary", "--json"]);
        let summary = summary.arg(&trace).succeed()?.text();
        let json: serde_json::Value = serde_json::from_str(&summary).map_err(|e| e.to_string())?;
        let counts = ["first", "other", "library"].map(|name| {
            let regions = json["regions"].as_array().into_iter().flatten();
            let of_name = regions.filter(|region| region["name"] == name);
            of_name
                .filter_map(|region| region["count"].as_u64())
                .sum::<u64>()
        });
        ensure(counts == [2, 2, 1], || format!("{counts:?}\n{summary}"))?;
        std::fs::remove_dir_all(trace)?;
    }
    Ok(())
}

/// Ways to load that keep a library from seeing the program's symbols.
fn special(way: &str) -> Check {
    let place = Place::new("one-runtime-special")?;
    let libraries = ["first.so", "second.so"].map(|name| place.library(name, &["-fno-openmp"]));
    let [first, second] = libraries;
    let (first, second) = (first?, second?);
    for (host, own) in place.hosts()?.iter().zip([0, 2]) {
        let run = place.run(host).args([way, "keep"]);
        run.arg(&first).arg(&second).succeed()?;
        is(
            &place.events()?,
            &[
                ("thread_begin", 1),
                ("region_begin", 2),
                ("user_event{type=901}", own),
                ("user_event{type=902}", 2),
            ],
        )?;
    }
    Ok(())
}

/// A program linked with the library.
fn linked_program(place: &Place, traced: bool) -> Check<PathBuf> {
    let build = place.links(Build::openmp(Target::X86_64));
    let (source, path) = (source("one_runtime_linked")?, place.path("program"));
    if traced {
        build.traced(&[&source], &path)?;
    } else {
        build.plain(&[&source], &path)?;
    }
    Ok(path)
}

/// A child has a trace of its own below its parent's: also when only the library is traced.
fn fork() -> Check {
    let place = Place::new("one-runtime-fork")?;
    place.library("liblibrary.so", &["-fno-openmp"])?;
    for (traced, own) in [(false, 0), (true, 1)] {
        let program = linked_program(&place, traced)?;
        let outcome = place.run(&program).arg("fork").succeed()?;
        ensure(outcome.text() == "6\n", || format!("{outcome}"))?;
        let (trace, _) = place.trace()?;
        let children: Vec<PathBuf> = std::fs::read_dir(&trace)?
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.is_dir() && path.join("metadata").is_file())
            .collect();
        ensure(children.len() == 1, || format!("{children:?}"))?;
        let events = ctf::read(&children[0])?;
        ensure(values(&events, 902) == [8], || {
            format!("the child: {:?}", values(&events, 902))
        })?;
        is(
            &events,
            &[("region_begin", 1), ("user_event{type=905}", own)],
        )?;
        std::fs::remove_dir_all(trace)?;
    }
    Ok(())
}

/// A preloaded library brings the runtime into a program that knows nothing of it.
fn preloaded() -> Check {
    let place = Place::new("one-runtime-preloaded")?;
    let library = place.library("library.so", &["-fno-openmp"])?;
    let [plain, traced] = place.hosts()?;
    for host in [plain, traced] {
        let run = place.run(&host).arg(&library);
        run.env("LD_PRELOAD", &library).succeed()?;
        is(
            &place.events()?,
            &[
                ("user_event{type=902}", 1),
                ("user_event{type=903}", 1),
                ("user_event{type=904}", 1),
            ],
        )?;
    }
    Ok(())
}

/// A library of one version in a program of another is not traced, and says so when it is asked.
fn other_version() -> Check {
    let place = Place::new("one-runtime-version")?;
    place.library("liblibrary.so", &[])?;
    let build = place.links(Build::openmp(Target::X86_64));
    let program = place.path("program");
    build.plain(&[&source("one_runtime_other")?], &program)?;
    let outcome = place.run(&program).env("INSTR_VERBOSE", "1").succeed()?;
    let said = outcome.errors();
    ensure(
        outcome.text() == "4\n"
            && said.lines().count() == 1
            && said.contains("note: a library is not traced: it was linked by another version"),
        || format!("{outcome}"),
    )?;
    let silent = place.run(&program).succeed()?;
    ensure(silent.errors().is_empty() && place.trace().is_err(), || {
        format!("{silent}")
    })
}

/// Without a libinstr.so that is surely ours, a library in a plain program does its work untraced; where the dynamic linker finds one, it is
/// taken.
fn no_runtime() -> Check {
    let place = Place::new("one-runtime-missing")?;
    let cache = place.path("cache");
    std::fs::create_dir(&cache)?;
    let build = Build::openmp(Target::X86_64).flag("-shared").flag("-fPIC");
    let sources = [source("one_runtime_library")?];
    let link = build.command(
        Some(&tools()?.instr_cc),
        &[&sources[0]],
        &place.path("liblibrary.so"),
    )?;
    link.env("INSTR_CACHE", &cache).succeed()?;
    let program = linked_program(&place, false)?;
    std::fs::create_dir(place.path("elsewhere"))?;
    let mut copied = false;
    for entry in std::fs::read_dir(cache.join("v1"))?.flatten() {
        let file = entry.path().join("libinstr.so.2");
        if file.is_file() {
            std::fs::copy(file, place.path("elsewhere/libinstr.so.2"))?;
            copied = true;
        }
    }
    ensure(copied, || "there is no libinstr.so.2 in the cache".into())?;
    place.run(&program).succeed()?;
    is(&place.events()?, &[("parallel_begin", 2)])?;
    let untraced = |why: &str| {
        let outcome = place.run(&program).env("INSTR_VERBOSE", "1").succeed()?;
        let said = outcome.errors().contains("a library is not traced");
        ensure(
            outcome.text() == "6\n" && said && place.trace().is_err(),
            || format!("{why}\n{outcome}"),
        )
    };
    let all_may_write = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(&cache, all_may_write)?;
    untraced("a library that anybody may have put there")?;
    std::fs::remove_dir_all(&cache)?;
    untraced("a library that is gone")?;
    let run = place.run(&program);
    run.env("LD_LIBRARY_PATH", place.path("elsewhere"))
        .succeed()?;
    is(&place.events()?, &[("parallel_begin", 2)])
}

/// The program is sampled when only a library of it is traced.
fn sampled() -> Check {
    let place = Place::new("one-runtime-sampled")?;
    place.library("liblibrary.so", &["-fno-openmp"])?;
    let text = "#include <time.h>\nint library_work(int);\nint main(void) {\nlibrary_work(1);\nwhile (clock() < CLOCKS_PER_SEC / 5)\n;\nreturn 0; }\n";
    std::fs::write(place.path("busy.c"), text)?;
    let build = place.links(Build::openmp(Target::X86_64));
    let program = place.path("busy");
    build.plain(&[&place.path("busy.c")], &program)?;
    let run = place.run(&program);
    run.env("INSTR_SAMPLING_PERIOD", "2ms").succeed()?;
    let samples = ctf::count(&place.events()?, "sample")?;
    // 0.2 s of processor time: 100, and far fewer where the system ends periods at its own ticks and is busy.
    ensure((3..=130).contains(&samples), || {
        format!("{samples} samples")
    })
}

/// A library's heap is recorded when it asks for that, whoever has the runtime.
fn heap() -> Check {
    let place = Place::new("one-runtime-heap")?;
    let text = "#include <stdlib.h>\nint library_work(int n) {\nvoid *volatile p = malloc((size_t)n);\nfree(p);\nreturn n; }\n";
    std::fs::write(place.path("heap.c"), text)?;
    let build = Build::openmp(Target::X86_64)
        .flag("--instr-memory")
        .flag("-fno-openmp")
        .flag("-fno-builtin")
        .flag("-shared")
        .flag("-fPIC");
    build.traced(&[&place.path("heap.c")], &place.path("heap.so"))?;
    for host in place.hosts()? {
        place.run(&host).arg("./heap.so").succeed()?;
        is(
            &place.events()?,
            // When recording begins, or with the library, and at the end.
            &[
                ("mem_get{bytes=1}", 1),
                ("mem_get", 1),
                ("mem_give", 1),
                ("mem_heap", 2),
            ],
        )?;
    }
    // Without such a library a program says nothing of the heap.
    place.library("plain.so", &["-fno-openmp"])?;
    for host in place.hosts()? {
        place.run(&host).arg("./plain.so").succeed()?;
        is(&place.events()?, &[("mem_heap", 0), ("mem_get", 0)])?;
    }
    Ok(())
}

fn clang() -> Build {
    Build {
        family: Family::Clang,
        ..Build::openmp(Target::X86_64)
    }
}

/// A library of clang, whose constructs libomp tells, in a program of clang, a plain one, and one without OpenMP.
fn libomp() -> Check {
    let place = Place::new("one-runtime-libomp")?;
    let build = clang().flag("-shared").flag("-fPIC");
    let sources = [source("one_runtime_library")?];
    build.traced(&[&sources[0]], &place.path("liblibrary.so"))?;
    let program = place.links(clang());
    let path = place.path("program");
    program.plain(&[&source("one_runtime_linked")?], &path)?;
    place.run(&path).succeed()?;
    // libomp tells of the whole process.
    is(
        &place.events()?,
        &[("parallel_begin", 3), ("user_event{type=901}", 0)],
    )?;
    program.traced(&[&source("one_runtime_linked")?], &path)?;
    place.run(&path).succeed()?;
    is(
        &place.events()?,
        &[("parallel_begin", 3), ("user_event{type=901}", 1)],
    )?;
    let program = program.flag("-fno-openmp");
    program.traced(&[&source("one_runtime_linked")?], &path)?;
    place.run(&path).succeed()?;
    is(
        &place.events()?,
        &[("parallel_begin", 2), ("user_event{type=901}", 1)],
    )
}

/// libomp reads data of its first thread at the end of each critical section, where a tool asks for it. The program goes on when that thread has
/// ended, and the trace says what it does not have.
fn first_thread_ends() -> Check {
    // The initial thread is the first, and ends by pthread_exit(): 100 regions of two threads in another one.
    ends("initial_thread_ends", "200\n", 101)?;
    // 3 threads, 3001 regions each, 2 threads in each.
    ends("first_thread_ends", "18006\n", 9003)
}

fn ends(name: &str, output: &str, regions: i128) -> Check {
    let place = Place::new("one-runtime-first-thread")?;
    let (plain, traced) = (place.path("plain"), place.path("traced"));
    clang().plain(&[&source(name)?], &plain)?;
    clang().traced(&[&source(name)?], &traced)?;
    let instr = &tools()?.instr;
    let launched = || Run::new(instr).args(["run", "-q", "-o", "launched", "--"]);
    for _ in 0..2 {
        for run in [
            place.run(&traced),
            launched().arg(&plain).dir(place.0.path()),
        ] {
            let outcome = run.succeed()?;
            ensure(outcome.text() == output, || format!("{outcome}"))?;
            let (trace, events) = place.trace()?;
            is(&events, &[("parallel_begin", regions)])?;
            let metadata = metadata(&trace)?;
            let begun = ", mutual exclusion is not recorded: the thread that began with OpenMP may end before others";
            let silent = libomp_binds_itself()?;
            ensure(silent || metadata.contains(begun), || metadata)?;
            std::fs::remove_dir_all(trace)?;
        }
    }
    Ok(())
}

const SUM: &str = "long sum(long n)\n{\n    long s = 0;\n#pragma omp parallel num_threads(2) reduction(+ : s)\n    {\n\
                   #pragma omp for schedule(dynamic)\n        for (long i = 0; i < n; i++) {\n#pragma omp critical\n            s++;\n        }\n    }\n    return s;\n}\n";

/// The same in a library that two threads load and unload: libomp comes with it, and its first thread ends before the other one.
fn two_threads_load() -> Check {
    let place = Place::new("one-runtime-two-load")?;
    let (host, library) = (place.path("host"), place.path("libsum.so"));
    std::fs::write(place.path("sum.c"), SUM)?;
    Build::openmp(Target::X86_64)
        .flag("-fno-openmp")
        .flag("-ldl")
        .flag("-pthread")
        .plain(&[&source("two_threads_load")?], &host)?;
    clang()
        .flag("-shared")
        .flag("-fPIC")
        .traced(&[&place.path("sum.c")], &library)?;
    for _ in 0..6 {
        let outcome = place.run(&host).arg(&library).succeed()?;
        // 2 threads, 20 calls each, 10 iterations in each.
        ensure(outcome.text() == "400\n", || format!("{outcome}"))?;
        std::fs::remove_dir_all(place.trace()?.0)?;
    }
    Ok(())
}

const REGION: &str = "#include <stdio.h>\n#include <instr/instr.h>\nint main(void) {\nint n = 0;\n#pragma omp parallel num_threads(2) reduction(+ : n)\n\
                      n++;\ninstr_event(901, 1);\nprintf(\"%d\\n\", n);\nreturn 0; }\n";
const WITH_TOOL: &str = "the tool starts\n2\nthe tool ends\n";
const OTHER_TOOL: &str = "openmp = \"libomp, observed by another tool\"";

/// libomp takes one tool: a user's, however it comes into the process, goes before ours, and the trace says so.
fn ompt_tools() -> Check {
    if libomp_binds_itself()? {
        println!("this system's libomp starts no tool of a program");
        return Ok(());
    }
    let place = Place::new("one-runtime-ompt")?;
    std::fs::write(place.path("region.c"), REGION)?;
    let tool = place.path("libtool.so");
    let build = clang().flag("-fno-openmp").flag("-shared").flag("-fPIC");
    build.plain(&[&source("ompt_tool")?], &tool)?;
    let (traced, linked) = (place.path("traced"), place.path("linked"));
    clang().traced(&[&place.path("region.c")], &traced)?;
    let folder = place.0.path().display();
    let with_tool = clang()
        .flag("-Wl,--no-as-needed")
        .flag(format!("-L{folder}"))
        .flag("-ltool")
        .flag(format!("-Wl,-rpath,{folder}"));
    with_tool.traced(&[&place.path("region.c")], &linked)?;
    let libraries = format!("/nowhere/libtool.so:{}", tool.display());
    for enabled in ["1", "0"] {
        let ways = [
            place.run(&linked),
            place.run(&traced).env("LD_PRELOAD", &tool),
            place.run(&traced).env("OMP_TOOL_LIBRARIES", &libraries),
        ];
        for way in ways {
            let outcome = way.env("INSTR_ENABLED", enabled).succeed()?;
            ensure(outcome.text() == WITH_TOOL, || format!("{outcome}"))?;
            if enabled == "0" {
                continue;
            }
            let (trace, events) = place.trace()?;
            is(&events, &[("parallel_begin", 0), ("user_event", 1)])?;
            let metadata = metadata(&trace)?;
            ensure(metadata.contains(OTHER_TOOL), || metadata)?;
            std::fs::remove_dir_all(trace)?;
        }
    }
    // Libraries without a tool do not keep ours away.
    let run = place.run(&traced);
    let outcome = run
        .env("OMP_TOOL_LIBRARIES", "/nowhere/libtool.so")
        .succeed()?;
    ensure(outcome.text() == "2\n", || format!("{outcome}"))?;
    is(
        &place.events()?,
        &[("parallel_begin", 1), ("user_event", 1)],
    )
}

/// A program that is its own tool: the link and the trace say what is not recorded.
fn own_ompt_tool() -> Check {
    if libomp_binds_itself()? {
        println!("this system's libomp starts no tool of a program");
        return Ok(());
    }
    let place = Place::new("one-runtime-own-tool")?;
    std::fs::write(place.path("region.c"), REGION)?;
    let program = place.path("program");
    let build = clang().flag("--instr-verbose");
    let linked = build.traced(&[&place.path("region.c"), &source("ompt_tool")?], &program)?;
    let said = linked.errors();
    ensure(
        said.contains("has an OMPT tool of its own") && !said.contains("linked with the OMPT tool"),
        || format!("{linked}"),
    )?;
    let outcome = place.run(&program).succeed()?;
    ensure(outcome.text() == WITH_TOOL, || format!("{outcome}"))?;
    let (trace, events) = place.trace()?;
    is(&events, &[("parallel_begin", 0), ("user_event", 1)])?;
    let metadata = metadata(&trace)?;
    ensure(metadata.contains(OTHER_TOOL), || metadata)
}
