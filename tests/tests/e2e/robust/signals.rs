//! A signal handler that records while the program does.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, Stop, ensure, trial};
use instr_tests::process::Status;
use libtest_mimic::Trial;

use super::{Guest, discarded, values};

const COUNT: i128 = 50_000;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("robust::signal::handler-records-small-buffer", || {
            handler("4096")
        }),
        trial("robust::signal::handler-records-large-buffer", || {
            handler("1M")
        }),
        trial("robust::signal::handlers-that-fit-lose-nothing", || {
            for buffer in ["4K", "1M"] {
                ensure(storm("exit", 10, buffer)? == 0, || {
                    "events of handlers are discarded".into()
                })?;
            }
            Ok(())
        }),
        trial("robust::signal::handler-on-its-own-stack-records", || {
            ensure(storm("stack", 10, "1M")? == 0, || {
                "events of handlers are discarded".into()
            })
        }),
        trial("robust::signal::signals-that-are-not-held", || {
            ["4K", "512K"].into_iter().try_for_each(|buffer| {
                let lost = storm("trap", 1, buffer)?;
                println!("{lost} lost");
                Ok(())
            })
        }),
        trial("robust::signal::threads-end-while-signals-come", || {
            for mode in ["threads", "threads-killed"] {
                ensure(storm(mode, 1, "16K")? == 0, || {
                    format!("{mode}: events of handlers are discarded")
                })?;
            }
            Ok(())
        }),
        trial("robust::signal::what-does-not-fit-is-counted", || {
            for mode in ["exit", "killed"] {
                for buffer in ["4K", "1M"] {
                    let lost = storm(mode, 100, buffer)?;
                    ensure(lost > 0, || "nothing was lost: no test".into())?;
                }
            }
            Ok(())
        }),
        trial("robust::signal::handler-does-not-return", || leaves("0")),
        trial(
            "robust::signal::handler-on-its-own-stack-does-not-return",
            || leaves("1"),
        ),
        trial(
            "robust::priority::higher-ones-wait-for-lower-ones",
            priorities,
        ),
        trial(
            "robust::policy::names-are-in-the-packets-that-need-them",
            names,
        ),
    ]
}

/// A thread of high priority that begins while one of low priority does, on the same processor, lets it go on.
fn priorities() -> Check {
    let guest = Guest::build("priorities")?;
    let trace = guest.path("trace");
    let run = guest.traced().env("INSTR_TRACE", &trace);
    let outcome = run.output()?;
    if outcome.status == Status::Code(77) {
        return Err(Stop::NotAllowed("no thread may have a priority".into()));
    }
    ensure(outcome.status == Status::Code(0), || format!("{outcome}"))?;
    let summary = cases::summary(&trace)?;
    let recorded = summary["user_events"][0]["count"].as_i64();
    let events = recorded.map_or(0, i128::from) + discarded(&summary)?;
    let threads = summary["threads"].as_array().map_or(0, Vec::len);
    // The initial thread, and the two that make the others, record nothing.
    ensure(events >= 300 && threads as i128 >= events, || {
        format!("{events} events, {threads} threads")
    })
}

/// Runs `handlers` and gives the counts of user events 700, 701 and 702, of those discarded, and those that it counted itself.
fn handlers(mode: &str, each: &str, buffer: &str) -> Check<([i128; 3], i128, [i128; 2])> {
    let guest = Guest::build("handlers")?;
    let (trace, counts) = (guest.path("trace"), guest.path("counts"));
    let run = guest.traced().args([mode, each]).arg(&counts);
    let run = run.env("INSTR_TRACE", &trace).env("INSTR_BUFFER", buffer);
    run.output()?;
    let counts = std::fs::read_to_string(&counts)?;
    let own: Vec<i128> = counts
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    let &[program, handler] = own.as_slice() else {
        return Err(format!("the program's own counts are missing: {counts}").into());
    };
    let summary = cases::summary(&trace)?;
    // A reader that meets an event earlier than the one before ends the stream there.
    ensure(
        mode.ends_with("killed") || summary["truncated_streams"] == 0,
        || "a stream is damaged".into(),
    )?;
    let events = summary["user_events"].as_array().cloned();
    let count = |kind: i64| {
        let all = events.iter().flatten();
        let found = all.filter(|event| event["type"] == kind);
        found
            .filter_map(|event| event["count"].as_i64())
            .map(i128::from)
            .sum()
    };
    Ok((
        [700, 701, 702].map(count),
        discarded(&summary)?,
        [program, handler],
    ))
}

/// What is recorded and what is discarded is what was emitted, to the last event; the program's own are all there.
fn storm(mode: &str, each: u32, buffer: &str) -> Check<i128> {
    let ([program, handler, _], lost, [issued, in_handler]) =
        handlers(mode, &each.to_string(), buffer)?;
    ensure(in_handler > i128::from(each) && program == issued, || {
        format!("{program} of {issued} events, {in_handler} in handlers")
    })?;
    ensure(handler + lost == in_handler, || {
        format!("{mode}, {buffer}: {handler} recorded and {lost} discarded of {in_handler}")
    })?;
    Ok(lost)
}

/// A thread whose handlers never return goes on recording.
fn leaves(stack: &str) -> Check {
    for buffer in ["4K", "1M"] {
        let ([program, _, last], lost, [issued, left]) = handlers("leaves", stack, buffer)?;
        // On a busy machine one more signal comes before the timer is off.
        ensure(last == 1000 && (150..160).contains(&left), || {
            format!("{last} of the last 1000 events are there, {left} handlers did not return")
        })?;
        // An event may be complete when the handler leaves its caller, which has not counted it then. In the last three of its instructions
        // it is in the trace, and the guard is still taken: then it is counted as lost, too.
        let all = program + lost;
        ensure((issued..=issued + 2 * left).contains(&all), || {
            format!("{buffer}: {program} recorded and {lost} discarded of {issued}, {left} left")
        })?;
        ensure(lost <= left, || format!("{lost} lost by {left} handlers"))?;
    }
    Ok(())
}

/// Also the first event of a packet has its name.
fn names() -> Check {
    let guest = Guest::build("names")?;
    let trace = guest.path("trace");
    for policy in ["stream", "ring"] {
        let env = [
            ("INSTR_TRACE", trace.to_str().unwrap_or("")),
            ("INSTR_BUFFER", "16K"),
            ("INSTR_POLICY", policy),
        ];
        guest.compare(&[], &env)?;
        let summary = cases::summary(&trace)?;
        for (table, expected) in [
            ("regions", "the only region"),
            ("counters", "the only counter"),
        ] {
            let found: Vec<_> = summary[table].as_array().into_iter().flatten().collect();
            ensure(found.len() == 1 && found[0]["name"] == expected, || {
                format!("{policy}: {found:?}")
            })?;
        }
    }
    Ok(())
}

fn handler(buffer: &str) -> Check {
    let guest = Guest::build("signals")?;
    let (trace, calls) = (guest.path("trace"), guest.path("calls"));
    let env = [
        ("INSTR_TRACE", trace.to_str().unwrap_or("")),
        ("INSTR_BUFFER", buffer),
    ];
    guest.compare(&[calls.to_str().unwrap_or("")], &env)?;
    let calls: i128 = std::fs::read_to_string(&calls)?
        .trim()
        .parse()
        .map_err(|_| "the number of handler calls")?;
    let lost = discarded(&cases::summary(&trace)?)?;
    let events = if lost == 0 {
        ctf::read(&trace)?
    } else {
        ctf::read_lossy(&trace)?
    };
    let (main, interrupting) = (values(&events, 700), values(&events, 701));
    for recorded in [&main, &interrupting] {
        ensure(recorded.windows(2).all(|pair| pair[0] < pair[1]), || {
            "events out of order".into()
        })?;
    }
    let counts = ctf::counts(&events);
    let regions = counts.get("region_begin").copied().unwrap_or(0)
        + counts.get("region_end").copied().unwrap_or(0);
    let recorded = main.len() as i128 + interrupting.len() as i128 + regions;
    let issued = 3 * COUNT + calls;
    ensure(recorded + lost == issued, || {
        format!("recorded {recorded} + discarded {lost} is not the {issued} issued")
    })?;
    // An event of the handler may find the thread in the middle of another one: it is written later.
    ensure(lost == 0, || {
        format!("{lost} events lost for {calls} handler calls")
    })
}
