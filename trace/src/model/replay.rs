//! All events of a trace, interpreted.

use crate::error::Error;
use crate::trace::Trace;

use super::sink::Sink;
use super::{Interpreter, Scheduler};

/// Gives all that `trace` means to `sink`, in order of time.
///
/// # Errors
///
/// Stream files that cannot be read any more.
pub fn replay<S: Sink>(trace: &Trace, sink: &mut S) -> Result<(), Error> {
    let mut model = Interpreter::of(trace);
    let mut scheduler = Scheduler::of(trace)?;
    let mut merge = trace.merge();
    while let Some(time) = merge.advance()? {
        scheduler.advance(time, &mut model, sink)?;
        if let (Some(position), Some(event)) = (merge.position(), &merge.current()) {
            model.event(position, event, sink);
        }
    }
    scheduler.finish(&mut model, sink)?;
    model.finish(sink);
    Ok(())
}
