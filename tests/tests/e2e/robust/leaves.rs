//! The many ways in which a program ends.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::process::Status;
use instr_tests::prv;
use libtest_mimic::Trial;

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
        .chain([trial(
            "robust::leave::threads-that-are-cancelled-at-any-moment",
            cancelled,
        )])
        .collect()
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
