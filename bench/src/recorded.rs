//! What a traced program recorded.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use instr_trace::Trace;
use instr_trace::model::{At, Begin, Mark, Sink, Span, replay};

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
        while stream.next()?.is_some() {}
        recorded.events += stream.events();
    }
    replay(&trace, &mut recorded)?;
    Ok(Some(recorded))
}

impl Sink for Recorded {
    const TASK_CODES: bool = false;

    fn begin(&mut self, _at: At, span: &Span, how: Begin) {
        self.tasks += u64::from(matches!(span, Span::Task { .. }) && how == Begin::Told);
    }

    fn mark(&mut self, _at: At, mark: Mark<'_>) {
        self.chunks += u64::from(matches!(mark, Mark::Chunk { .. }));
    }
}

#[cfg(test)]
mod tests {
    use instr_trace::synth;

    use super::*;

    #[test]
    fn no_trace_is_not_an_error() {
        assert_eq!(count(Path::new("/nonexistent.instr")).unwrap(), None);
    }

    #[test]
    fn counts_every_event_and_tells_tasks_and_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let layout = synth::layouts()[0];
        synth::begin(folder.path(), layout, 1_000_000_000).unwrap();
        for thread in 0..2 {
            let mut stream =
                synth::StreamWriter::create(folder.path(), layout, thread, 64).unwrap();
            let (chunk_begin, task_begin, task_end) = (23, 42, 43);
            stream.loop_begin(1000, 2u32, 0, 10, 1, 1).unwrap();
            for i in 0..10 {
                let ticks = 1000 + 10 * i;
                stream
                    .event(ticks, chunk_begin, |body| {
                        body.i64(0).i64(1);
                    })
                    .unwrap();
                stream
                    .event(ticks + 1, task_begin, |body| {
                        body.u32(thread).u32(i as u32);
                    })
                    .unwrap();
                stream.event(ticks + 2, task_end, |_| {}).unwrap();
            }
            stream.finish().unwrap();
        }
        let recorded = count(folder.path()).unwrap().unwrap();
        assert_eq!(
            (recorded.events, recorded.tasks, recorded.chunks),
            (62, 20, 20)
        );
        // Chunks take 24 bytes, task_begin 16, task_end 8; packet headers come on top.
        assert!(recorded.bytes > 20 * (24 + 16 + 8), "{}", recorded.bytes);
    }
}
