//! What a format with tracks of slices writes.

use std::io;

use instr_trace::model::Scheduled;

use crate::describe::Category;

/// A number with a slice or an instant.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Note {
    /// Number of a task in order of creation.
    Task(u64),
    /// Address of a lock.
    Object(u64),
    /// Value of a user event.
    Value(u64),
}

/// What a slice or an instant is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Label {
    /// Its kind.
    pub(crate) category: Category,
    /// Number of its name, by [`SliceWriter::name`].
    pub(crate) name: u64,
    /// A number with it.
    pub(crate) note: Option<Note>,
}

impl Label {
    /// Without a number.
    pub(crate) fn new(category: Category, name: u64) -> Self {
        Self {
            category,
            name,
            note: None,
        }
    }
}

/// Flows at a begin, an end or an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowsHere<'f> {
    /// Those that begin here.
    pub(crate) begin: &'f [u64],
    /// Those that end here.
    pub(crate) end: &'f [u64],
}

/// The value of a counter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// A whole number.
    Whole(i64),
    /// A number with its scale.
    Real(f64),
}

/// Writes slices, instants and counters on tracks. Times are ns. Tracks have numbers, which are not used again.
pub(crate) trait SliceWriter {
    /// Whether [`SliceWriter::task_begin`] and [`SliceWriter::task_end`] are wanted.
    const LIVES: bool = false;

    /// Begins a process: the number of its track. Names have numbers of their own in each.
    fn process(&mut self, pid: u64, name: &str) -> u64;
    /// The track of a thread of the process.
    fn thread(&mut self, tid: u32, name: &str) -> u64;
    /// A further track of a thread or process.
    fn track(&mut self, parent: u64, name: &str) -> u64;
    /// The track of a counter of a thread or process. `unit`: `bytes`, another one, or empty.
    fn counter(&mut self, parent: u64, name: &str, unit: &str) -> u64;
    /// The number of a name.
    fn name(&mut self, text: &str) -> u64;
    /// A slice begins.
    fn begin(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>);
    /// The innermost slice of a track ends.
    fn end(&mut self, time: u64, track: u64, flows: FlowsHere<'_>);
    /// A slice that is over. It nests with those of its track, which come in order of their ends.
    fn whole(&mut self, begin: u64, end: u64, track: u64, label: Label);
    /// Something at a moment.
    fn instant(&mut self, time: u64, track: u64, label: Label, flows: FlowsHere<'_>);
    /// A value of a counter.
    fn value(&mut self, time: u64, counter: u64, value: Number);
    /// A task of the process is created: its number and its name.
    fn task_begin(&mut self, _time: u64, _track: u64, _task: u64, _name: u64) {}
    /// It has ended.
    fn task_end(&mut self, _time: u64, _track: u64, _task: u64, _name: u64) {}
    /// A processor turns from one thread to another, by the system's numbers of them; 0: none.
    fn switch(&mut self, _time: u64, _processor: u32, _from: Option<u32>, _to: u32) {}
    /// What the system does with the thread of this track from now on; it is on this processor, or was on it before.
    fn scheduled(&mut self, _time: u64, _track: u64, _processor: u32, _state: Scheduled) {}
    /// What the output refused, if it did.
    fn failure(&mut self) -> Option<io::Error>;
}
