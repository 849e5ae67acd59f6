//! Buffers and policies: what is recorded and what is discarded add up to what the program issued.

use std::path::Path;

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
use instr_tests::toolchain::Target;
use instr_trace::{Payload, Trace};
use libtest_mimic::Trial;

use super::{Guest, contiguous, discarded, sound, values};

const COUNT: i128 = 20_000;
/// Events the runtime may issue by itself in such a run (thread_begin, thread_end, clock_sync …), which may be discarded too.
const OWN: i128 = 8;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = vec![
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
        trial("robust::settings::no-trouble-without-a-mistake", no_trouble),
        trial(
            "robust::settings::buffer-larger-than-memory",
            buffer_larger_than_memory,
        ),
    ];
    for (name, settings, why) in ODD {
        trials.push(trial(format!("robust::settings::{name}"), move || {
            odd_settings(settings, why)
        }));
    }
    trials
}

/// Settings with values that nobody can mean, and the reason the trace must give, behind the setting's name.
type Odd = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);
const NO_SIZE: &str = " is not a size";
const NO_SWITCH: &str = " is not 0 or 1; ";
const ODD: [Odd; 10] = [
    (
        "buffer-too-small",
        &[("INSTR_BUFFER", "16"), ("INSTR_BUFFER", "4095")],
        " is too small; the smallest size, 4096 bytes, is used",
    ),
    ("buffer-zero", &[("INSTR_BUFFER", "0")], " is too small"),
    (
        "buffer-garbage",
        &[
            ("INSTR_BUFFER", "lots of bytes"),
            ("INSTR_BUFFER", "64Q"),
            ("INSTR_BUFFER", "64KK"),
            ("INSTR_BUFFER", "K"),
        ],
        NO_SIZE,
    ),
    ("buffer-negative", &[("INSTR_BUFFER", "-4096")], NO_SIZE),
    (
        "buffer-overflow",
        &[
            ("INSTR_BUFFER", "99999999999999999999999"),
            ("INSTR_BUFFER", "18446744073709551615G"),
        ],
        NO_SIZE,
    ),
    (
        "policy-garbage",
        &[("INSTR_POLICY", "sometimes"), ("INSTR_POLICY", "rin")],
        " is not stream, end or ring",
    ),
    (
        "switch-garbage",
        &[
            ("INSTR_ENABLED", "perhaps"),
            ("INSTR_ENABLED", "11"),
            ("INSTR_MEMORY", "2"),
            ("INSTR_STACK", "on"),
        ],
        NO_SWITCH,
    ),
    (
        "switches-garbage",
        &[("INSTR_SWITCHES", "yes"), ("INSTR_SWITCHES", "bpf")],
        " is not 0, 1, perf or ebpf",
    ),
    (
        "sink-garbage",
        &[("INSTR_SINK", "../.."), ("INSTR_SINK", "fil")],
        " is not file, console, ram or own",
    ),
    (
        "write-max-garbage",
        &[("INSTR_WRITE_MAX", "all"), ("INSTR_WRITE_MAX", "2G")],
        NO_SIZE,
    ),
];

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
    ensure(lost == 0, || format!("{lost} events discarded"))?;
    flushes(&guest.path("trace"), &summary)
}

/// Each packet but the last is followed by its flush, which begins behind the packet's last event, not behind the packet's end,
/// and tells the packet's bytes. The summary's flush time is the sum of all.
fn flushes(trace: &Path, summary: &serde_json::Value) -> Check {
    let trace = Trace::open(trace)?;
    ensure(trace.threads().len() == 1, || "several threads".into())?;
    let packets = trace.packets(0);
    let (mut merge, mut last, mut count, mut total) = (trace.merge(), 0, 0, 0);
    while let Some(event) = merge.next()? {
        match event.payload {
            Payload::FlushBegin => {}
            Payload::Flush { begin, bytes } => {
                let packet = packets.get(count).ok_or("more flushes than packets")?;
                let end = trace.clock().to_ns(packet.end);
                ensure((last..=end).contains(&begin), || {
                    format!("flush {count} begins at {begin}, not from {last} to {end}")
                })?;
                ensure(u64::from(bytes) == packet.bytes, || {
                    format!("flush {count} of {bytes} bytes, {}", packet.bytes)
                })?;
                count += 1;
                total += event.time - begin;
                last = event.time;
            }
            _ => last = event.time,
        }
    }
    ensure(count > 50 && count + 1 == packets.len(), || {
        format!("{count} flushes of {} packets", packets.len())
    })?;
    let told = &summary["threads"][0]["flush_ns"];
    ensure(*told == total, || {
        format!("flush_ns is {told}, the flushes took {total}")
    })
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

/// Each setting by itself: the program runs as always, is traced as by default, and the trace says what was not understood.
fn odd_settings(settings: &[(&str, &str)], why: &str) -> Check {
    let guest = Guest::build("mixed")?;
    for (at, (name, value)) in settings.iter().enumerate() {
        let trace = guest.path(&format!("trace{at}"));
        let trouble = traced_with(&guest, &trace, name, value)?;
        // What the host understands it shows with the value; the rest is as the runtime found it.
        let expected = [format!("{name}={value}{why}"), format!("{name}{why}")];
        let told = trouble
            .as_deref()
            .is_some_and(|trouble| expected.iter().any(|start| trouble.starts_with(start)));
        ensure(told, || {
            format!("expected the trouble `{}…`, got {trouble:?}", expected[0])
        })?;
        // The runtime itself has said so, not only the host, which reads the values that were given.
        let metadata = std::fs::read_to_string(trace.join("metadata"))?;
        let own = metadata
            .lines()
            .find_map(|line| line.trim().strip_prefix("setting_trouble = "));
        ensure(own.is_some_and(|own| own.contains(name)), || {
            format!("{name}: the metadata has setting_trouble {own:?}")
        })?;
    }
    Ok(())
}

/// Settings that are understood are no trouble, at the ends of what they may be.
fn no_trouble() -> Check {
    let guest = Guest::build("mixed")?;
    for (at, (name, value)) in [
        ("INSTR_BUFFER", "4096"),
        ("INSTR_BUFFER", "64k"),
        ("INSTR_POLICY", "stream"),
        ("INSTR_ENABLED", "1"),
        ("INSTR_SINK", "file"),
        ("INSTR_WRITE_MAX", "1G"),
        ("INSTR_BUFFER", ""),
    ]
    .into_iter()
    .enumerate()
    {
        let trace = guest.path(&format!("trace{at}"));
        let trouble = traced_with(&guest, &trace, name, value)?;
        ensure(trouble.is_none(), || format!("{name}={value}: {trouble:?}"))?;
    }
    Ok(())
}

/// Runs with the setting, demands that every event was recorded, returns the trouble that the trace tells.
fn traced_with(guest: &Guest, trace: &Path, name: &str, value: &str) -> Check<Option<String>> {
    let place = ("INSTR_TRACE", trace.to_str().unwrap_or(""));
    guest.compare(&[], &[place, (name, value)])?;
    let events = sound(trace, false)?;
    let user = ctf::counts(&events).get("user_event").copied();
    ensure(user == Some(2 * (50 + 200) + 30), || {
        format!("{name}={value}: {user:?} user events")
    })?;
    let summary = cases::summary(trace)?;
    Ok(summary["setting_trouble"].as_str().map(str::to_owned))
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
    let summary = cases::summary(&trace)?;
    let told = summary["setting_trouble"].as_str().unwrap_or("");
    ensure(
        told.contains("is too large; the largest size, 1G, is used"),
        || format!("the trace has the trouble {told:?}"),
    )
}
