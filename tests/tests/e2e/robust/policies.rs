//! Buffers and policies: what is recorded and what is discarded add up to what the program issued.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::Target;
use libtest_mimic::Trial;

use super::{Guest, contiguous, discarded, sound, values};

const COUNT: i128 = 20_000;
/// Events the runtime may issue by itself in such a run (thread_begin, thread_end, clock_sync …), which may be discarded too.
const OWN: i128 = 8;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::policy::stream-keeps-all", || {
            stream(Target::X86_64)
        }),
        trial("robust::policy::stream-keeps-all-sparc", || {
            stream(Target::Sparc32)
        }),
        trial("robust::policy::end-keeps-the-first", || {
            end(Target::X86_64)
        }),
        trial("robust::policy::end-keeps-the-first-sparc64", || {
            end(Target::Sparc64)
        }),
        trial("robust::policy::ring-keeps-the-latest", || {
            ring(Target::X86_64)
        }),
        trial("robust::policy::ring-keeps-the-latest-sparc", || {
            ring(Target::Sparc32)
        }),
        trial("robust::policy::ring-and-end-that-fit-lose-nothing", || {
            fits("ring")?;
            fits("end")
        }),
        trial("robust::settings::buffer-too-small", || {
            odd_setting("INSTR_BUFFER", "16")
        }),
        trial("robust::settings::buffer-zero", || {
            odd_setting("INSTR_BUFFER", "0")
        }),
        trial("robust::settings::buffer-garbage", || {
            odd_setting("INSTR_BUFFER", "lots of bytes")
        }),
        trial("robust::settings::buffer-negative", || {
            odd_setting("INSTR_BUFFER", "-4096")
        }),
        trial("robust::settings::buffer-overflow", || {
            odd_setting("INSTR_BUFFER", "99999999999999999999999")
        }),
        trial("robust::settings::policy-garbage", || {
            odd_setting("INSTR_POLICY", "sometimes")
        }),
        trial("robust::settings::enabled-garbage", || {
            odd_setting("INSTR_ENABLED", "perhaps")
        }),
        trial("robust::settings::sink-garbage", || {
            odd_setting("INSTR_SINK", "../..")
        }),
        trial("robust::settings::config-that-is-not-there", || {
            odd_setting("INSTR_CONFIG", "/nonexistent.toml")
        }),
        trial(
            "robust::settings::buffer-larger-than-memory",
            buffer_larger_than_memory,
        ),
    ]
}

fn run(target: Target, policy: &str, buffer: &str) -> Check<(Guest, serde_json::Value)> {
    let guest = Guest::build_for("events", target)?;
    let trace = guest.path("trace");
    let env = [
        ("INSTR_TRACE", trace.to_str().unwrap_or("")),
        ("INSTR_POLICY", policy),
        ("INSTR_BUFFER", buffer),
    ];
    guest.compare(&[&COUNT.to_string()], &env)?;
    let summary = cases::summary(&trace)?;
    Ok((guest, summary))
}

fn stream(target: Target) -> Check {
    let (guest, summary) = run(target, "stream", "4096")?;
    let events = sound(&guest.path("trace"), false)?;
    contiguous(&events, 500, 1, COUNT)?;
    let lost = discarded(&summary)?;
    ensure(lost == 0, || format!("{lost} events discarded"))
}

fn end(target: Target) -> Check {
    let (guest, summary) = run(target, "end", "16384")?;
    let events = ctf::read_lossy(&guest.path("trace"))?;
    let kept = values(&events, 500).len() as i128;
    ensure(kept > 100 && kept < COUNT, || {
        format!("{kept} events in a buffer of 16 KiB")
    })?;
    contiguous(&events, 500, 1, kept)?;
    adds_up(kept, discarded(&summary)?)
}

fn ring(target: Target) -> Check {
    let (guest, summary) = run(target, "ring", "16384")?;
    let events = ctf::read_lossy(&guest.path("trace"))?;
    let kept = values(&events, 500).len() as i128;
    ensure(kept > 100 && kept < COUNT, || {
        format!("{kept} events in a ring of 16 KiB")
    })?;
    contiguous(&events, 500, COUNT - kept + 1, COUNT)?;
    adds_up(kept, discarded(&summary)?)
}

fn adds_up(kept: i128, lost: i128) -> Check {
    let issued = COUNT..=COUNT + OWN;
    ensure(issued.contains(&(kept + lost)), || {
        format!("recorded {kept} + discarded {lost} is not the {COUNT} issued")
    })
}

fn fits(policy: &str) -> Check {
    let (guest, summary) = run(Target::X86_64, policy, "8M")?;
    let events = sound(&guest.path("trace"), false)?;
    contiguous(&events, 500, 1, COUNT)?;
    let lost = discarded(&summary)?;
    ensure(lost == 0, || {
        format!("policy {policy}: {lost} events discarded")
    })
}

/// A setting nobody can mean: the program runs as always, and is traced as by default.
fn odd_setting(name: &'static str, value: &'static str) -> Check {
    let guest = Guest::build("mixed")?;
    let trace = guest.path("trace");
    guest.compare(
        &[],
        &[("INSTR_TRACE", trace.to_str().unwrap_or("")), (name, value)],
    )?;
    let events = sound(&trace, false)?;
    let user = ctf::counts(&events).get("user_event").copied();
    ensure(user == Some(2 * (50 + 200) + 30), || {
        format!("{user:?} user events")
    })
}

fn buffer_larger_than_memory() -> Check {
    let guest = Guest::build("mixed")?;
    let trace = guest.path("trace");
    guest.compare(
        &[],
        &[
            ("INSTR_TRACE", trace.to_str().unwrap_or("")),
            ("INSTR_BUFFER", "1024G"),
        ],
    )?;
    Ok(())
}
