//! Reads raw traces (`docs/trace-format.md`), converts clocks, merges the streams in time order, and says what events mean.
//!
//! ```no_run
//! let trace = instr_trace::Trace::open("app.instr")?;
//! let mut merge = trace.merge();
//! while let Some(event) = merge.next()? {
//!     println!("{} {} {:?}", event.time, event.thread, event.payload);
//! }
//! # Ok::<(), instr_trace::Error>(())
//! ```

mod clock;
mod decode;
pub mod depend;
pub mod energy;
mod error;
pub mod event;
mod follow;
mod index;
mod input;
pub mod kernel;
mod layout;
mod merge;
mod metadata;
pub mod model;
pub mod names;
pub mod new_file;
mod packet;
pub mod paraver;
mod recent;
mod repair;
pub mod samples;
pub mod sensors;
mod session;
mod stream;
#[doc(hidden)]
pub mod synth;
pub mod task_map;
mod task_set;
pub mod tasks;
mod trace;
mod window;
pub mod words;

pub use clock::Clock;
pub use error::{Error, Warning};
pub use event::{Event, Payload, RegionId, TaskId};
pub use follow::{Follow, Follower, Look};
pub use layout::{ByteOrder, Format, Layout, WordSize};
pub use merge::Merge;
pub use metadata::{ClockInfo, Metadata, Module};
pub use names::{CodeName, Names};
pub use packet::{PacketInfo, flag_as_cut};
pub use session::{Session, SessionMerge};
pub use stream::StreamReader;
pub use trace::{ThreadInfo, Trace};
