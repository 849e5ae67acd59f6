//! The many ways in which a program ends.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::{Run, Status};
use instr_tests::prv;
use instr_tests::toolchain::{Build, Family, Language, Target};
use instr_tests::workspace;
use libtest_mimic::Trial;
use serde_json::Value;
use std::collections::BTreeMap;

use super::{Guest, repair, values};

/// How, by which thread, with which status; whether the program's own exit handler runs; whether the trace is closed.
const WAYS: [(&str, &str, Status, bool, bool); 12] = [
    ("return", "0", Status::Code(20), true, true),
    ("exit", "0", Status::Code(21), true, true),
    ("exit", "1", Status::Code(21), true, true),
    ("_exit", "0", Status::Code(22), false, true),
    ("_exit", "1", Status::Code(22), false, true),
    ("_Exit", "1", Status::Code(23), false, true),
    ("quick_exit", "1", Status::Code(24), true, true),
    ("pthread_exit", "0", Status::Code(0), true, true),
    ("abort", "0", Status::Signal(6), false, false),
    ("abort", "1", Status::Signal(6), false, false),
    ("term", "0", Status::Signal(15), false, false),
    ("segv", "1", Status::Signal(11), false, false),
];

pub(crate) fn trials() -> Vec<Trial> {
    let name = |how: &str, thread: &str| format!("robust::leave::{how}-by-thread-{thread}");
    WAYS.into_iter()
        .map(|(how, thread, status, handler, closed)| {
            trial(name(how, thread), move || {
                leave(how, thread, status, handler, closed)
            })
        })
        .chain([
            trial(
                "robust::leave::threads-that-are-cancelled-at-any-moment",
                cancelled,
            ),
            trial("robust::leave::calls-that-are-left", || {
                calls_that_are_left(Family::Gcc, &[], true)
            }),
            trial("robust::leave::calls-that-are-left-clang", || {
                calls_that_are_left(Family::Clang, &["-fno-openmp"], true)
            }),
            // Nothing finds the stubs' cleanups in a static program: the call ends where the next one begins.
            trial("robust::leave::calls-that-are-left-static", || {
                calls_that_are_left(Family::Gcc, &["-static"], false)
            }),
        ])
        .collect()
}

/// Each call of a described function that begins also ends, innermost first, however it was left.
fn calls_that_are_left(family: Family, flags: &[&str], at_once: bool) -> Check {
    let dir = workspace::work_dir("calls")?;
    let sources = workspace::root()?.join("tests/robust");
    let program = dir.path().join("calls");
    let api = format!("--instr-api={}", sources.join("calls_api.rs").display());
    let mut build = Build::openmp(Target::X86_64).flag("-pthread").flag(api);
    (build.family, build.language) = (family, Language::Cxx);
    for flag in flags {
        build = build.flag(*flag);
    }
    let parts = ["calls.cc", "calls_work.cc"].map(|name| sources.join(name));
    build.traced(&[&parts[0], &parts[1]], &program)?;
    let trace = dir.path().join("trace");
    let outcome = Run::new(&program)
        .env("INSTR_TRACE", trace.to_str().unwrap_or(""))
        .succeed()?;
    ensure(outcome.text() == "70 100 43 1 3 3\n", || {
        format!("{outcome}")
    })?;

    let mut open = BTreeMap::from([(0, 0), (1, 0)]);
    let mut begun = 0;
    for event in ctf::read(&trace)? {
        let depth = open.entry(event.stream).or_insert(0);
        match &*event.name {
            "call_begin" => (begun, *depth) = (begun + 1, *depth + 1),
            "call_end" => *depth -= 1,
            _ => {}
        }
        ensure((0..=43).contains(depth), || {
            format!("{depth} calls are open behind {begun} begins")
        })?;
    }
    ensure(
        begun == 115 + 2 * 155 && open.values().all(|depth| *depth == 0),
        || format!("{begun} begins; still open: {open:?}"),
    )?;

    let summary = cases::summary(&trace)?;
    let calls = summary["calls"].as_array().ok_or("no calls")?;
    let mut counts: Vec<_> = calls.iter().map(|call| call["count"].as_u64()).collect();
    counts.sort_unstable();
    // Those in which recording was switched off have no length.
    ensure(counts == [Some(114), Some(154), Some(154)], || {
        format!("{calls:?}")
    })?;
    // The thread that is cancelled waits for 20 ms, and so does the program behind each exception.
    let long = |call: &&Value| call["total_ns"].as_u64().is_none_or(|ns| ns > 100_000_000);
    let long = calls.iter().filter(long).count();
    ensure(!at_once || long == 0, || {
        format!("calls last behind the exceptions that left them: {calls:?}")
    })
}

/// A thread whose cancellation is asynchronous is joined as a cancelled one wherever that meets it, also where it hands over its buffer.
fn cancelled() -> Check {
    let guest = Guest::build("cancelled")?;
    let trace = guest.path("trace");
    let env = [
        ("INSTR_TRACE", trace.to_str().unwrap_or("")),
        ("INSTR_BUFFER", "4096"),
        ("INSTR_PTHREAD", "off"), // else a thread is recorded before the program makes its cancellation asynchronous
    ];
    // It is mostly the first one of a process that meets the runtime inside.
    for count in [2, 2, 2, 2, 2, 2, 2, 30] {
        let outcome = guest.compare(&[&count.to_string()], &env)?;
        let expected = format!("0 of {count} are joined otherwise\n");
        ensure(outcome.text() == expected, || format!("{outcome}"))?;
    }
    // All that others record is there, whatever the cancelled ones left.
    let summary = cases::summary(&trace)?;
    let events = summary["user_events"].as_array().cloned();
    let of_main = events.iter().flatten().find(|event| event["type"] == 811);
    ensure(
        of_main.is_some_and(|event| event["count"] == 30) && summary["truncated_streams"] == 0,
        || format!("{events:?}, {}", summary["truncated_streams"]),
    )
}

fn leave(how: &str, thread: &str, status: Status, handler: bool, closed: bool) -> Check {
    let guest = Guest::build("leaves")?;
    let trace = guest.path("trace");
    let outcome = guest.compare(
        &[how, thread],
        &[("INSTR_TRACE", trace.to_str().unwrap_or(""))],
    )?;
    ensure(outcome.status == status, || format!("{outcome}"))?;
    let summary = cases::summary(&trace)?;
    ensure(summary["discarded"] == 0, || {
        format!("discarded: {}", summary["discarded"])
    })?;
    let events = if closed {
        ctf::read(&trace)?
    } else {
        ctf::read(&repair(&trace)?)?
    };
    let recorded = values(&events, 800).len();
    ensure(recorded == 2 * 20, || format!("{recorded} of 40 events"))?;
    let from_handler = values(&events, 801).len();
    // Whether the handler's event comes before or after the trace is closed is the C library's choice; its output is not.
    ensure(from_handler <= usize::from(handler), || {
        format!("{from_handler} events of the exit handler")
    })?;
    // Handlers of at_quick_exit are called in the reverse order, and ours was the first.
    ensure(how != "quick_exit" || from_handler == 1, || {
        "the event of the handler is missing".into()
    })?;
    cases::paraver(&trace, prv::check::Options { open: true })?;
    Ok(())
}
