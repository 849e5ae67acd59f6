//! A signal handler that records while the program does.

use instr_tests::cases;
use instr_tests::ctf;
use instr_tests::outcome::{Check, ensure, trial};
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
    ]
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
    // An event of the handler may find the thread in the middle of another one; that must stay the exception.
    ensure(lost <= calls && lost * 10 <= issued, || {
        format!("{lost} events lost for {calls} handler calls")
    })
}
