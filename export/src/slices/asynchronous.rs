//! Tasks of event loops (Python's asyncio): each has a track of its own, with what it does: it runs, or awaits something.

use hashbrown::HashMap;
use instr_trace::model::{At, End};
use instr_trace::words::{Asynchronous, asynchronous, function_label};

use super::Slices;
use super::writer::{FlowsHere, Label, SliceWriter};
use crate::describe::Category;

/// The track of one.
#[derive(Clone, Copy, Debug)]
struct Lane {
    track: u64,
    /// A slice is open on it.
    busy: bool,
}

/// All of a process.
#[derive(Debug, Default)]
pub(super) struct Asynchronicity {
    /// By the address of the task's text.
    lanes: HashMap<u64, Lane>,
    /// What functions are, by thread and the address of their texts.
    kinds: HashMap<(usize, u64), Asynchronous>,
    /// By thread: the name of what the task awaits that is about to be suspended.
    awaited: HashMap<usize, u64>,
}

impl Asynchronicity {
    /// An address gets this text on a thread.
    pub(super) fn text(&mut self, position: usize, address: u64, text: &str) {
        match asynchronous(text) {
            Some(kind) => {
                self.kinds.insert((position, address), kind);
            }
            None if self.kinds.is_empty() => {}
            None => {
                self.kinds.remove(&(position, address));
            }
        }
    }

    fn kind(&self, position: usize, address: u64) -> Option<Asynchronous> {
        match self.kinds.is_empty() {
            true => None,
            false => self.kinds.get(&(position, address)).copied(),
        }
    }
}

impl<W: SliceWriter> Slices<'_, W> {
    fn name_of_function(&mut self, at: At, address: u64) -> u64 {
        match self.texts.get(&(at.position, address)) {
            Some(text) => self.writer.name(&function_label(text)),
            None => self.writer.name(&format!("{address:#x}")),
        }
    }

    /// A function begins or goes on: of a task, on the task's track too.
    pub(super) fn begin_asynchronous(&mut self, at: At, address: u64) {
        match self.asynchronous.kind(at.position, address) {
            Some(Asynchronous::Task) => self.task_runs(at, address),
            Some(Asynchronous::Await) => {
                let name = self.name_of_function(at, address);
                self.asynchronous.awaited.insert(at.position, name);
            }
            None => {}
        }
    }

    fn task_runs(&mut self, at: At, address: u64) {
        let name = self.name_of_function(at, address);
        let time = self.time(at);
        let track = match self.asynchronous.lanes.get(&address).copied() {
            Some(lane) => {
                if lane.busy {
                    self.writer.end(time, lane.track, FlowsHere::default());
                }
                lane.track
            }
            None => {
                let text = self.texts.get(&(at.position, address));
                let title =
                    text.map_or_else(|| format!("{address:#x}"), |text| function_label(text));
                self.writer.track(self.track, &title)
            }
        };
        let label = Label::new(Category::Function, name);
        self.writer.begin(time, track, label, FlowsHere::default());
        let lane = Lane { track, busy: true };
        self.asynchronous.lanes.insert(address, lane);
    }

    /// A function leaves its thread.
    pub(super) fn end_asynchronous(&mut self, at: At, address: u64, how: End) {
        match self.asynchronous.kind(at.position, address) {
            Some(Asynchronous::Task) => {}
            Some(Asynchronous::Await) if how != End::Suspended => {
                self.asynchronous.awaited.remove(&at.position);
                return;
            }
            _ => return,
        }
        let awaited = self.asynchronous.awaited.remove(&at.position);
        let Some(lane) = self.asynchronous.lanes.get(&address).copied() else {
            return;
        };
        let time = self.time(at);
        if lane.busy {
            self.writer.end(time, lane.track, FlowsHere::default());
        }
        if how != End::Suspended {
            self.asynchronous.lanes.remove(&address);
            return;
        }
        if let Some(name) = awaited {
            let label = Label::new(Category::Wait, name);
            self.writer
                .begin(time, lane.track, label, FlowsHere::default());
        }
        let busy = awaited.is_some();
        let track = lane.track;
        self.asynchronous
            .lanes
            .insert(address, Lane { track, busy });
    }

    /// Tasks that never went on await to the end.
    pub(super) fn finish_asynchronous(&mut self, end: u64) {
        let mut open: Vec<_> = self
            .asynchronous
            .lanes
            .drain()
            .map(|(_, lane)| lane)
            .collect();
        open.sort_by_key(|lane| lane.track);
        for lane in open.into_iter().filter(|lane| lane.busy) {
            self.writer
                .end((self.place)(end), lane.track, FlowsHere::default());
        }
    }
}
