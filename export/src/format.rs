//! What a format is, and which there are.

use std::io::Write;
use std::path::Path;

use instr_trace::kernel::Part;
use instr_trace::names::{Names, NoNames};
use instr_trace::{Session, Trace};

use crate::error::Error;
use crate::{chrome, folded, otf2, perfetto, pprof, speedscope, tables};

/// What is written: the processes of a session, and their names.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    session: &'a Session,
    names: &'a [Box<dyn Names + 'a>],
}

impl<'a> Input<'a> {
    /// `names` are the symbols of each process, by its position in the session; missing ones leave addresses.
    #[must_use]
    pub fn new(session: &'a Session, names: &'a [Box<dyn Names + 'a>]) -> Self {
        Self { session, names }
    }

    /// With addresses in place of all names.
    #[must_use]
    pub fn unnamed(session: &'a Session) -> Self {
        Self::new(session, &[])
    }

    /// The processes.
    #[must_use]
    pub fn session(&self) -> &'a Session {
        self.session
    }

    /// Their traces.
    #[must_use]
    pub fn traces(&self) -> &'a [Trace] {
        self.session.traces()
    }

    /// What a process is called where there may be several: its program, and its number where there are.
    #[must_use]
    pub fn title(&self, process: usize) -> String {
        let traces = self.traces();
        match (traces.get(process).map(Trace::metadata), traces.len()) {
            (Some(of), 1) => of.program.clone(),
            (Some(of), _) => format!("{} ({})", of.program, of.pid),
            (None, _) => String::new(),
        }
    }

    /// The names of all processes.
    pub(crate) fn all_names(&self) -> &'a [Box<dyn Names + 'a>] {
        self.names
    }

    /// The names of a process.
    #[must_use]
    pub fn names(&self, process: usize) -> &'a dyn Names {
        let names = self.names.get(process);
        names.map_or(&NoNames as &dyn Names, |names| names.as_ref())
    }
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// What the format has: slices, instants and values of counters, or records, samples, rows.
    pub events: u64,
    /// Creations of tasks and dependences, where the format has them.
    pub flows: u64,
    /// Of `events`, those whose stacks are told without their innermost frames: there were too many different ones.
    pub shortened: u64,
    /// Streams of the kernel's part that are damaged or cut, where the format has its switches.
    pub damaged_streams: u64,
    /// Of a process no thread's length of a sample's period is known: times of its samples are numbers of periods.
    pub no_period: bool,
}

/// Called now and then with (done, total).
pub type Progress<'p> = dyn FnMut(u64, u64) + 'p;

/// Writes one file.
type FileWriter = fn(&Input<'_>, &mut dyn Write, &mut Progress<'_>) -> Result<Stats, Error>;
/// Fills a folder that is empty.
type FolderWriter = fn(&Input<'_>, &Path, &mut Progress<'_>) -> Result<Stats, Error>;

#[derive(Clone, Copy, Debug)]
enum Writer {
    File(FileWriter),
    Folder(FolderWriter),
}

/// Where a format writes to: what its [`Shape`] asks for.
pub enum Target<'t> {
    /// One file.
    File(&'t mut dyn Write),
    /// An empty folder, see [`NewFolder`](crate::NewFolder).
    Folder(&'t Path),
}

/// What a format makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One file.
    File,
    /// A folder of files.
    Folder,
}

/// A format.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As it is typed.
    pub name: &'static str,
    /// One line for people.
    pub help: &'static str,
    /// Of the names of its files or folders.
    pub ending: &'static str,
    /// Whether a trace of processors alone can be written: of a program that recorded nothing itself.
    processors: bool,
    writer: Writer,
}

/// All formats, the default first.
pub static FORMATS: &[Format] = &[
    Format {
        name: "perfetto",
        help: "For ui.perfetto.dev and trace_processor: NAME.perfetto-trace",
        ending: "perfetto-trace",
        processors: true,
        writer: Writer::File(perfetto::write),
    },
    Format {
        name: "chrome",
        help: "Chrome's JSON of trace events, for all that reads it: NAME.chrome.json",
        ending: "chrome.json",
        processors: false,
        writer: Writer::File(chrome::write),
    },
    Format {
        name: "otf2",
        help: "For Vampir and Score-P's tools, by the system's OTF2 library: a folder NAME.otf2",
        ending: "otf2",
        processors: false,
        writer: Writer::Folder(otf2::write),
    },
    Format {
        name: "folded",
        help: "Stacks with their ns, for flame graphs: NAME.folded",
        ending: "folded",
        processors: false,
        writer: Writer::File(folded::write),
    },
    Format {
        name: "pprof",
        help: "A profile for go tool pprof and its like: NAME.pb.gz",
        ending: "pb.gz",
        processors: false,
        writer: Writer::File(pprof::write),
    },
    Format {
        name: "speedscope",
        help: "For speedscope.app: NAME.speedscope.json",
        ending: "speedscope.json",
        processors: false,
        writer: Writer::File(speedscope::write),
    },
    Format {
        name: "parquet",
        help: "Tables (docs/tables.md) for DuckDB, pandas, polars, Spark, Dask: a folder NAME.parquet",
        ending: "parquet",
        processors: true,
        writer: Writer::Folder(tables::parquet),
    },
    Format {
        name: "arrow",
        help: "The same tables as files of Arrow (Feather): a folder NAME.arrow",
        ending: "arrow",
        processors: true,
        writer: Writer::Folder(tables::arrow),
    },
    Format {
        name: "arrow-mapped",
        help: "The same without compression, which readers map into memory without a copy: a folder NAME.arrow",
        ending: "arrow",
        processors: true,
        writer: Writer::Folder(tables::mapped),
    },
    Format {
        name: "csv",
        help: "The same tables as comma-separated values: a folder NAME.csv",
        ending: "csv",
        processors: true,
        writer: Writer::Folder(tables::csv),
    },
    Format {
        name: "json",
        help: "The same tables as JSON, an object a line: a folder NAME.json",
        ending: "json",
        processors: true,
        writer: Writer::Folder(tables::json),
    },
];

impl Format {
    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        FORMATS.iter().find(|format| format.name == name)
    }

    /// What [`Stats::events`] counts, for people.
    #[must_use]
    pub fn entries(&self) -> &'static str {
        match self.is_tables() {
            true => "rows",
            false => "events",
        }
    }

    /// What [`Stats::flows`] counts, for people: one of them.
    #[must_use]
    pub fn links(&self) -> &'static str {
        match self.is_tables() {
            true => "dependence",
            false => "flow",
        }
    }

    fn is_tables(&self) -> bool {
        matches!(
            self.name,
            "parquet" | "arrow" | "arrow-mapped" | "csv" | "json"
        )
    }

    /// What it makes.
    #[must_use]
    pub fn shape(&self) -> Shape {
        match self.writer {
            Writer::File(_) => Shape::File,
            Writer::Folder(_) => Shape::Folder,
        }
    }

    /// Writes the processes of `input` to `target`. `progress` is called now and then with (done, total).
    ///
    /// # Errors
    ///
    /// Traces without events, stream files that cannot be read any more, and what the target refuses.
    ///
    /// # Panics
    ///
    /// The target is not of the format's [`Shape`].
    pub fn write(
        &self,
        input: &Input<'_>,
        target: Target<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Stats, Error> {
        let traces = input.traces();
        let is_empty = |trace: &Trace| {
            let processors = self.processors && trace.kernel_part().is_some_and(Part::has_switches);
            trace.threads().is_empty() && !processors
        };
        if traces.iter().all(is_empty) {
            return Err(instr_trace::Error::no_events(traces).into());
        }
        match (self.writer, target) {
            (Writer::File(write), Target::File(out)) => write(input, out, progress),
            (Writer::Folder(write), Target::Folder(folder)) => write(input, folder, progress),
            (writer, _) => panic!("{} writes {writer:?}", self.name),
        }
    }
}
