//! Libraries loaded at run time, with OpenMP inside.

use std::path::{Path, PathBuf};

use instr_tests::cases;
use instr_tests::ctf::{self, Event};
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Outcome, Run};
use instr_tests::toolchain::{Build, Target};
use instr_tests::workspace;
use libtest_mimic::Trial;
use tempfile::TempDir;

use super::{sound, source, values};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::dlopen::plain-program-traced-library", || {
            plain_program_traced_library(&[])
        }),
        trial(
            "robust::dlopen::plain-program-unloads-traced-library",
            || plain_program_traced_library(&["close"]),
        ),
        trial(
            "robust::dlopen::traced-program-plain-library",
            traced_program_plain_library,
        ),
        trial("robust::dlopen::both-traced", both_traced),
        trial("robust::short-threads::one-thousand", short_threads),
        trial("robust::short-threads::last-events", last_events),
        trial("robust::short-threads::all-at-once", all_at_once),
        trial(
            "robust::signal::first-event-asks-for-no-memory",
            keys_before_ours,
        ),
    ]
}

struct Pieces {
    dir: TempDir,
}

impl Pieces {
    fn build() -> Check<Self> {
        let pieces = Self {
            dir: workspace::work_dir("dlopen")?,
        };
        let program = Build::openmp(Target::X86_64)
            .flag("-fno-openmp")
            .flag("-ldl");
        let library = Build::openmp(Target::X86_64).flag("-shared").flag("-fPIC");
        program.plain(&[&source("loader")?], &pieces.path("plain-loader"))?;
        program.traced(&[&source("loader")?], &pieces.path("traced-loader"))?;
        library.plain(&[&source("plugin")?], &pieces.path("plain.so"))?;
        library.traced(&[&source("plugin")?], &pieces.path("traced.so"))?;
        Ok(pieces)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn run(&self, program: &str, library: &str, args: &[&str]) -> Check<Outcome> {
        let run = Run::new(self.path(program))
            .arg(self.path(library))
            .args(args);
        run.env("INSTR_TRACE", self.path("trace"))
            .dir(self.dir.path())
            .output()
    }
}

fn regions(events: &[Event]) -> (i128, i128) {
    let counts = ctf::counts(events);
    let of = |name: &str| counts.get(name).copied().unwrap_or(0);
    (of("parallel_begin"), of("task_begin"))
}

fn plain_program_traced_library(args: &[&str]) -> Check {
    let pieces = Pieces::build()?;
    let reference = pieces.run("plain-loader", "plain.so", args)?;
    reference.same_as(&pieces.run("plain-loader", "traced.so", args)?)?;
    let events = sound(&pieces.path("trace"), false)?;
    ensure(regions(&events) == (4, 10), || {
        format!("regions and tasks: {:?}", regions(&events))
    })?;
    ensure(values(&events, 900) == [40], || {
        format!("the library's event: {:?}", values(&events, 900))
    })
}

fn traced_program_plain_library() -> Check {
    let pieces = Pieces::build()?;
    let reference = pieces.run("plain-loader", "plain.so", &[])?;
    reference.same_as(&pieces.run("traced-loader", "plain.so", &[])?)?;
    let events = sound(&pieces.path("trace"), false)?;
    ensure(values(&events, 901) == [1, 2], || {
        format!("the program's events: {:?}", values(&events, 901))
    })?;
    ensure(regions(&events) == (0, 0), || {
        "a library that was not instrumented was seen".into()
    })
}

/// A traced program loads a traced library: one trace, no event lost or shown twice.
fn both_traced() -> Check {
    let pieces = Pieces::build()?;
    let reference = pieces.run("plain-loader", "plain.so", &[])?;
    reference.same_as(&pieces.run("traced-loader", "traced.so", &[])?)?;
    let traces = traces(pieces.dir.path())?;
    ensure(traces == [pieces.path("trace")], || format!("{traces:?}"))?;
    let events = sound(&traces[0], false)?;
    ensure(values(&events, 901) == [1, 2], || {
        format!("the program's events: {:?}", values(&events, 901))
    })?;
    ensure(values(&events, 900) == [40], || {
        format!("the library's event: {:?}", values(&events, 900))
    })?;
    ensure(regions(&events) == (4, 10), || {
        format!("regions and tasks: {:?}", regions(&events))
    })
}

fn traces(dir: &Path) -> Check<Vec<PathBuf>> {
    let entries = std::fs::read_dir(dir)?.flatten().map(|entry| entry.path());
    let mut traces: Vec<PathBuf> = entries
        .filter(|path| path.join("metadata").is_file())
        .collect();
    traces.sort();
    Ok(traces)
}

fn short_threads() -> Check {
    let guest = super::Guest::build("short_threads")?;
    let trace = guest.path("trace");
    // Streams of context switches have a thread_begin of their own.
    let settings = [
        ("INSTR_TRACE", trace.to_str().unwrap_or("")),
        ("INSTR_SWITCHES", "0"),
    ];
    guest.compare(&[], &settings)?;
    let events = sound(&trace, false)?;
    let mut recorded = values(&events, 600);
    recorded.sort_unstable();
    let expected = (0..1000).flat_map(|thread| (1..=5).map(move |event| thread * 10 + event));
    ensure(recorded.iter().copied().eq(expected), || {
        format!("{} of 5000 events", recorded.len())
    })?;
    ensure(regions(&events).0 == 100, || {
        format!("{} of 100 regions", regions(&events).0)
    })?;
    let begun = ctf::counts(&events).get("thread_begin").copied();
    // The initial thread, 1,000 threads of the program, one worker of each of 100 teams.
    ensure(begun == Some(1 + 1000 + 100), || {
        format!("{begun:?} threads")
    })?;
    // The initial thread, eight of the program, and the workers of their teams, each of which may live until its master has ended.
    let files = std::fs::read_dir(&trace)?.flatten();
    let named =
        |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with("thread_");
    let files = files.filter(named).count();
    ensure((2..=1 + 8 + 8).contains(&files), || {
        format!("{files} stream files")
    })
}

/// Hundreds of threads begin at the same time: each waits until those before it have begun, however long that takes, and none is left out.
fn all_at_once() -> Check {
    const THREADS: i128 = 250;
    const EACH: i128 = 20;
    let guest = super::Guest::build("crowd")?;
    let trace = guest.path("trace");
    let library = guest.path("slow.so");
    let build = Build::openmp(Target::X86_64).flag("-fno-openmp");
    let build = build.flag("-shared").flag("-fPIC");
    build.plain(&[&source("slow")?], &library)?;
    let [threads, each] = [THREADS, EACH].map(|number| number.to_string());
    // A thread begins in 5 ms then, in which it has the lock.
    let settings = [
        ("INSTR_TRACE", trace.to_str().unwrap_or("")),
        ("INSTR_SWITCHES", "0"),
        ("INSTR_PTHREAD", "off"),
        ("LD_PRELOAD", library.to_str().unwrap_or("")),
        ("SLOW_CLOCK", "1000"),
    ];
    guest.compare(&[&threads, &each], &settings)?;
    let summary = cases::summary(&trace)?;
    let recorded = summary["user_events"][0]["count"].as_i64().map(i128::from);
    ensure(
        recorded == Some(THREADS * EACH) && summary["discarded"] == 0,
        || format!("{recorded:?} events, {} discarded", summary["discarded"]),
    )
}

/// Libraries make keys before the program begins; the first event of a thread is a handler's.
fn keys_before_ours() -> Check {
    let guest = super::Guest::build("early_keys")?;
    let library = guest.path("keys.so");
    let build = Build::openmp(Target::X86_64).flag("-fno-openmp");
    let build = build.flag("-shared").flag("-fPIC").flag("-DLIBRARY");
    build.plain(&[&source("early_keys")?], &library)?;
    let (trace, library) = (guest.path("trace"), library.display().to_string());
    let trace_name = trace.display().to_string();
    let env = [("INSTR_TRACE", &*trace_name), ("LD_PRELOAD", &library)];
    guest.compare(&[], &env)?; // the plain program asks for none
    let events = sound(&trace, false)?;
    ensure(values(&events, 1) == [1], || {
        format!("the handler's event: {:?}", values(&events, 1))
    })?;
    let ended = ctf::counts(&events).get("thread_end").copied();
    ensure(ended == Some(2), || format!("{ended:?} threads ended"))
}

/// What destructors of keys record is their thread's.
fn last_events() -> Check {
    let guest = super::Guest::build("last_events")?;
    let trace = guest.path("trace");
    guest.compare(&[], &[("INSTR_TRACE", trace.to_str().unwrap_or(""))])?;
    let events = sound(&trace, false)?;
    let of = |kind: i128| -> Vec<(i128, Option<i128>)> {
        let of_kind = events
            .iter()
            .filter(|event| event.get("type") == Some(kind));
        of_kind
            .map(|event| (event.stream, event.get("value")))
            .collect()
    };
    // The initial thread is 0, the others are numbered as they come.
    let expected: Vec<_> = (1..=20).map(|number| (number, Some(number))).collect();
    ensure(of(600) == expected && of(601) == expected, || {
        format!("{:?}, {:?}", of(600), of(601))
    })?;
    let ended = ctf::counts(&events).get("thread_end").copied();
    ensure(ended == Some(21), || format!("{ended:?} threads ended"))
}
