//! The code addresses that occur in a trace.

use std::collections::BTreeMap;

use anyhow::Result;
use instr_trace::event::task_flags;
use instr_trace::{Payload, Trace};

use super::question::Question;

/// All code addresses in the trace, by address: functions that were outlined, and return addresses of calls.
///
/// # Errors
///
/// Those of reading the trace.
pub(super) fn code_addresses(trace: &Trace) -> Result<Vec<Question>> {
    let mut found: BTreeMap<u64, bool> = BTreeMap::new();
    let mut events = trace.merge();
    while let Some(event) = events.next()? {
        let Some((address, call_site)) = code_address(&event.payload) else {
            continue;
        };
        if address != 0 {
            // The start of a function may also be what a call returns to; the function is meant then.
            *found.entry(address).or_insert(call_site) &= call_site;
        }
    }
    let questions = found.into_iter();
    Ok(questions
        .map(|(address, call_site)| Question::traced(address, call_site))
        .collect())
}

/// The address of code in an event, and whether it is one that a call returns to.
fn code_address(payload: &Payload<'_>) -> Option<(u64, bool)> {
    let is_site = |flags: u32| flags & task_flags::CALL_SITE != 0;
    match *payload {
        Payload::ParallelBegin {
            function,
            call_site,
            ..
        } => Some((function, call_site)),
        Payload::TaskCreate {
            function, flags, ..
        }
        | Payload::TaskloopBegin {
            function, flags, ..
        }
        | Payload::TargetBegin {
            function, flags, ..
        } => Some((function, is_site(flags))),
        Payload::StaticLoop { site } => Some((site, true)),
        _ => None,
    }
}
