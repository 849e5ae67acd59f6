//! All events of a trace, interpreted.

use crate::error::Error;
use crate::event::Event;
use crate::trace::Trace;

use super::sink::Sink;
use super::{Interpreter, Scheduler};

/// Gives all that `trace` means to `sink`, in order of time.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn replay<S: Sink>(trace: &Trace, sink: &mut S) -> Result<(), Error> {
    replay_with(trace, sink, |_, _| {})
}

/// As [`replay`]; `seen` is called with each event, and the position of its thread, before `sink` has what it means.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn replay_with<S: Sink>(
    trace: &Trace,
    sink: &mut S,
    mut seen: impl FnMut(usize, &Event<'_>),
) -> Result<(), Error> {
    let mut model = Interpreter::of(trace);
    let mut scheduler = Scheduler::of(trace)?;
    let mut merge = trace.merge();
    while let Some(time) = merge.advance()? {
        scheduler.advance(time, &mut model, sink)?;
        if let (Some(position), Some(event)) = (merge.position(), &merge.current()) {
            seen(position, event);
            model.event(position, event, sink);
        }
    }
    scheduler.finish(&mut model, sink)?;
    model.finish(sink);
    Ok(())
}
