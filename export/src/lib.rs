//! Traces as files of other tools' formats: `instr export`. A format is a [`Sink`](instr_trace::model::Sink) in a module of its own and an entry
//! of [`FORMATS`].
//!
//! ```no_run
//! use instr_export::{Format, Input, Target};
//!
//! let session = instr_trace::Session::open(&["app.instr"])?;
//! let input = Input::unnamed(&session);
//! let format = Format::named("perfetto").expect("a format");
//! let mut bytes = Vec::new();
//! let stats = format.write(&input, Target::File(&mut bytes), &mut |_, _| {})?;
//! println!("{} events", stats.events);
//! # Ok::<(), instr_export::Error>(())
//! ```

mod chrome;
mod describe;
mod error;
mod folded;
mod format;
mod frames;
mod nesting;
mod new_folder;
mod otf2;
mod perfetto;
mod pprof;
mod profile;
mod replays;
mod slices;
mod speedscope;
mod spool;
mod tables;
mod text;

pub use error::Error;
pub use format::{FORMATS, Format, Input, Progress, Shape, Stats, Target};
pub use new_folder::{MARK, NewFolder};
