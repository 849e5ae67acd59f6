//! The code addresses that occur in a trace.

use std::collections::BTreeMap;

use anyhow::Result;
use instr_trace::Trace;
use instr_trace::event::task_flags;
use instr_trace::model::{At, Begin, Code, Mark, Sink, Span, replay};

use super::question::Question;

/// All code addresses in the trace, by address: functions that were outlined, and return addresses of calls.
///
/// # Errors
///
/// Those of reading the trace.
pub(super) fn code_addresses(trace: &Trace) -> Result<Vec<Question>> {
    let mut found = Found::default();
    replay(trace, &mut found)?;
    let questions = found.0.into_iter();
    Ok(questions
        .map(|(address, call_site)| Question::traced(address, call_site))
        .collect())
}

/// Addresses, and whether each is one that a call returns to.
#[derive(Default)]
struct Found(BTreeMap<u64, bool>);

impl Found {
    fn add(&mut self, code: Code) {
        if code.address != 0 {
            // The start of a function may also be what a call returns to; the function is meant then.
            *self.0.entry(code.address).or_insert(code.site) &= code.site;
        }
    }
}

impl Sink for Found {
    const TASK_CODES: bool = false;

    fn begin(&mut self, _at: At, span: &Span, _how: Begin) {
        match *span {
            Span::Parallel { code, .. }
            | Span::Create { code, .. }
            | Span::Taskloop { code, .. } => self.add(code),
            Span::Target(target) => {
                let site = target.flags & task_flags::CALL_SITE != 0;
                self.add(Code::new(target.function, site));
            }
            _ => {}
        }
    }

    fn mark(&mut self, _at: At, mark: Mark<'_>) {
        if let Mark::StaticLoop { site } = mark {
            self.add(Code::new(site, true));
        }
    }
}
