//! What a thread waits for, or what keeps the run-time library busy: the kinds that the page shows beside a state.

use instr_trace::model::{Span, Work};
use instr_trace::words::{mutex_name, sync_name, target_name};

/// Names of kinds, in the order in which they were met first; the first one is none.
#[derive(Debug)]
pub(super) struct Waits {
    names: Vec<&'static str>,
}

impl Waits {
    pub(super) fn new() -> Self {
        Self { names: vec![""] }
    }

    /// The number of what a span does to the state of its thread; 0 where its body computes.
    pub(super) fn of(&mut self, span: &Span) -> u8 {
        let name = name(span);
        // The first names are those that come most often.
        let found = self.names.iter().position(|own| *own == name);
        let at = found.unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        u8::try_from(at).unwrap_or(0)
    }

    pub(super) fn into_names(self) -> Vec<&'static str> {
        self.names
    }
}

/// In the words of tables and other outputs.
fn name(span: &Span) -> &'static str {
    match span {
        Span::Closing { .. } => "closing barrier",
        Span::Sync(kind) => sync_name(*kind),
        Span::Acquire { kind, .. } => mutex_name(*kind),
        Span::Parallel { .. } => "begin or end of a region",
        Span::Create { .. } => "creation of a task",
        Span::Taskloop { .. } => "taskloop",
        Span::Asking { .. } => "asking for work",
        Span::Target(target) => target_name(target.kind),
        Span::Flush => "the trace is written",
        Span::Work(Work::Loop { .. } | Work::Combined | Work::Sections | Work::Scope) => "",
        _ => "",
    }
}
