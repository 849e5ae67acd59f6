//! Outputs for other viewers than Paraver: `instr export`. An output is a [`Sink`](crate::model::Sink) in a module of its own, and a line of [`FORMATS`].

mod perfetto;

use std::io::Write;

use crate::error::Error;
use crate::names::Names;
use crate::session::Session;

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Slices, instants and values of counters.
    pub events: u64,
    /// Creations of tasks and dependences.
    pub flows: u64,
}

/// Processes, the symbols of each, where to write, and what is called now and then with (done, total).
type Writer = for<'a> fn(
    &'a Session,
    &'a [Box<dyn Names + 'a>],
    &mut dyn Write,
    &mut dyn FnMut(u64, u64),
) -> Result<Stats, Error>;

/// A file format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As it is typed.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Of the names of its files.
    pub ending: &'static str,
    writer: Writer,
}

/// All formats, the default first.
pub static FORMATS: &[Format] = &[Format {
    name: "perfetto",
    help: "For ui.perfetto.dev and trace_processor: NAME.perfetto-trace",
    ending: "perfetto-trace",
    writer: perfetto::write,
}];

impl Format {
    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// Writes the processes of `session` to `out`. `names` are the symbols of each; missing ones leave addresses. `progress` is
    /// called now and then with (done, total).
    ///
    /// # Errors
    ///
    /// Traces without events, stream files that cannot be read any more, and what `out` refuses ([`Error::Output`]).
    pub fn write<'a>(
        &self,
        session: &'a Session,
        names: &'a [Box<dyn Names + 'a>],
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Stats, Error> {
        let traces = session.traces();
        if traces.iter().all(|trace| trace.threads().is_empty()) {
            return Err(Error::no_events(traces));
        }
        (self.writer)(session, names, out, progress)
    }
}
