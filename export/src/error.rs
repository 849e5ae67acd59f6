//! Why a trace cannot be written in a format.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this library. The text names the file and the place in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] instr_trace::Error),
    /// The output file cannot be written. Whoever gave it knows its name.
    #[error(transparent)]
    Output(io::Error),
    /// A file or folder of an output folder cannot be made or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `create`, `write` …
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// What is needed beside this program is not there.
    #[error("{what}")]
    Library {
        /// What is missing, and why.
        what: String,
        /// How to get it.
        help: String,
    },
    /// The OTF2 library refuses something.
    #[error("OTF2: {0}")]
    Otf2(String),
    /// Something is in the place of the output that it must not replace.
    #[error("cannot write {}: {why}", path.display())]
    Taken {
        /// The place.
        path: PathBuf,
        /// What is there.
        why: String,
    },
}

impl Error {
    /// A file without a name, of the folder for temporary files, cannot be written or read.
    pub(crate) fn spool(source: io::Error) -> Self {
        let path = std::env::temp_dir();
        Self::io("write a temporary file in", &path)(source)
    }

    /// Makes the error of an operation on `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
