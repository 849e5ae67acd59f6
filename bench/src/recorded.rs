//! What a traced program recorded.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use instr_trace::{Payload, Trace};

/// Events of one trace.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Recorded {
    /// All events, those of the tracer's own work included.
    pub(crate) events: u64,
    /// Explicit tasks that began.
    pub(crate) tasks: u64,
    /// Chunks of loops that were handed out.
    pub(crate) chunks: u64,
    /// Size of the packets.
    pub(crate) bytes: u64,
}

/// Counts the events of a trace; `None` when there is none, because the program was linked without the runtime or because
/// nothing of it could be seen.
///
/// # Errors
/// When the trace is damaged, or when events were lost: figures about it would mean nothing.
pub(crate) fn count(folder: &Path) -> Result<Option<Recorded>> {
    if !folder.join("metadata").is_file() {
        return Ok(None);
    }
    let trace = Trace::open(folder).with_context(|| format!("cannot open {}", folder.display()))?;
    ensure!(
        trace.discarded() == 0 && trace.warning_count() == 0,
        "{}: {} events lost, {} warnings",
        folder.display(),
        trace.discarded(),
        trace.warning_count()
    );
    let mut recorded = Recorded {
        bytes: trace.bytes(),
        ..Recorded::default()
    };
    for position in 0..trace.threads().len() {
        let Some(mut stream) = trace.stream(position) else {
            continue;
        };
        while let Some(event) = stream.next()? {
            match event.payload {
                Payload::TaskBegin { .. } => recorded.tasks += 1,
                Payload::ChunkBegin { .. } => recorded.chunks += 1,
                _ => {}
            }
        }
        recorded.events += stream.events();
    }
    Ok(Some(recorded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_trace_is_not_an_error() {
        assert_eq!(count(Path::new("/nonexistent.instr")).unwrap(), None);
    }
}
