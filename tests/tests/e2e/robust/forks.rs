//! fork, exec, vfork: the parent's trace is the parent's, the child's its own.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use libtest_mimic::Trial;

use super::{Guest, contiguous, only_entry, sound, values};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::fork::child-records-its-own-trace", || {
            child("child", 7)
        }),
        trial("robust::fork::child-that-leaves-by-_exit", || {
            child("child-_exit", 7)
        }),
        trial("robust::fork::grandchild", grandchild),
        trial("robust::fork::child-that-records-nothing", || {
            without_trace("silent", &[])
        }),
        trial("robust::fork::child-executes-a-plain-program", || {
            without_trace("exec", &["/bin/echo", "hello"])
        }),
        trial("robust::fork::vfork-and-exec", || {
            without_trace("vfork", &["/bin/echo", "hello"])
        }),
        trial("robust::fork::exec-that-fails", || {
            without_trace("exec", &["/nonexistent"])
        }),
        trial("robust::fork::child-executes-a-traced-program", exec_traced),
        trial("robust::fork::program-replaces-itself", replace),
        trial("robust::fork::process-id-used-again", again),
    ]
}

/// The parent's 20 events are all in its trace, wherever the child went.
fn parent_complete(guest: &Guest) -> Check {
    let events = sound(&guest.path("trace"), false)?;
    let recorded = values(&events, 70);
    let expected = (1..=10).chain(1..=10);
    ensure(recorded.iter().copied().eq(expected), || {
        format!("the parent's events are {recorded:?}")
    })?;
    ensure(values(&events, 71).is_empty(), || {
        "the child's events are in the parent's trace".into()
    })
}

fn run(guest: &Guest, args: &[&str]) -> Check {
    // A plain program may execute a traced one, so the two runs need places of their own.
    let plain = guest
        .plain()
        .args(args)
        .env("INSTR_TRACE", guest.path("of-plain"))
        .output()?;
    plain.same_as(
        &guest
            .traced()
            .args(args)
            .env("INSTR_TRACE", guest.path("trace"))
            .output()?,
    )
}

fn child(mode: &str, count: i128) -> Check {
    let guest = Guest::build("forks")?;
    run(&guest, &[mode])?;
    parent_complete(&guest)?;
    let fork = only_entry(&guest.path("trace"), "fork-")?;
    contiguous(&sound(&fork, false)?, 71, 1, count)
}

fn grandchild() -> Check {
    let guest = Guest::build("forks")?;
    run(&guest, &["grandchild"])?;
    parent_complete(&guest)?;
    let child = only_entry(&guest.path("trace"), "fork-")?;
    contiguous(&ctf::read(&child)?, 71, 1, 7)?;
    let grandchild = only_entry(&child, "fork-")?;
    contiguous(&ctf::read(&grandchild)?, 72, 1, 5)
}

fn without_trace(mode: &str, command: &[&str]) -> Check {
    let guest = Guest::build("forks")?;
    run(&guest, &[&[mode], command].concat())?;
    parent_complete(&guest)?;
    let left = only_entry(&guest.path("trace"), "fork-");
    ensure(left.is_err(), || {
        "a child that recorded nothing left a trace".into()
    })
}

/// Two children with the same process id, one after the other: both traces stay, and the tools read both.
fn again() -> Check {
    let guest = Guest::build("forks")?;
    let trace = guest.path("trace");
    run(&guest, &["again", trace.to_str().unwrap_or("")])?;
    parent_complete(&guest)?;
    let summary = cases::summary(&trace)?;
    let children = summary["children"].as_array().into_iter().flatten();
    let counts: Vec<_> = children
        .map(|child| child["user_events"][0]["count"].as_i64())
        .collect();
    ensure(counts == [Some(7), Some(5)], || {
        format!("events of the children: {counts:?}")
    })
}

/// The environment sends the second program to the same place while the first one is alive.
fn exec_traced() -> Check {
    let guest = Guest::build("forks")?;
    let other = Guest::build("events")?;
    let program = other.traced.to_str().unwrap_or("").to_owned();
    run(&guest, &["exec", &program, "30"])?;
    parent_complete(&guest)
}

/// exec without fork: the process goes on as another program, whose trace must not overwrite the first one's.
fn replace() -> Check {
    let guest = Guest::build("forks")?;
    let other = Guest::build("events")?;
    let program = other.traced.to_str().unwrap_or("").to_owned();
    run(&guest, &["replace", &program, "30"])?;
    let repaired = super::repair(&guest.path("trace"))?;
    contiguous(&ctf::read(&repaired)?, 70, 1, 10)
}
