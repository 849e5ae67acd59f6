//! Why a trace cannot be read or written.

use std::path::{Path, PathBuf};

use crate::trace::Trace;

/// An error of this library. The text names the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `create` …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },
    /// The output could not be written.
    #[error(transparent)]
    Output(std::io::Error),
    /// A trace of no thread, where threads' events are asked for.
    #[error("{} has no events of threads, of which this is made; what the kernel recorded is in other formats (perfetto, parquet, arrow, csv, json)", path.display())]
    NoEvents {
        /// The trace.
        path: PathBuf,
    },
    /// The directory holds no trace of ours.
    #[error("{} is not a trace: {why}", path.display())]
    NotATrace {
        /// The directory.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// The metadata file contradicts the format.
    #[error("cannot read {}: {why}", path.display())]
    Metadata {
        /// The metadata file.
        path: PathBuf,
        /// What is wrong, with the line where known.
        why: String,
    },
    /// The trace's format version is not ours.
    #[error("{}: format version {found}, this build reads 1 and 2", path.display())]
    Version {
        /// The metadata file.
        path: PathBuf,
        /// The version it names.
        found: u64,
    },
    /// The input is larger than the output format can express.
    #[error("cannot write {}: {why}", path.display())]
    TooLarge {
        /// The output file.
        path: PathBuf,
        /// The limit.
        why: String,
    },
}

impl Error {
    /// The error of traces without a single thread: there is nothing to write.
    #[must_use]
    pub fn no_events(traces: &[Trace]) -> Self {
        let path = traces.first().map(|trace| trace.dir().to_owned());
        Self::NoEvents {
            path: path.unwrap_or_default(),
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}

/// Trouble that does not stop the reader: part of a stream could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The file concerned.
    pub path: PathBuf,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// What is wrong and what was done about it.
    pub what: String,
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} at byte {}: {}",
            self.path.display(),
            self.offset,
            self.what
        )
    }
}
