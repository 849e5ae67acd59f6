//! Names of what a prediction speaks of.

use hashbrown::HashMap;
use instr_analysis::predict::collect::Why;
use instr_analysis::predict::costs::Cost;
use instr_analysis::predict::forecast::{Lever, Loss};
use instr_analysis::predict::model::{Lock, Spot};
use instr_trace::Names;
use instr_trace::model::Code;
use instr_trace::names::CodeRole;

use crate::summary::build::lock_name;
use crate::summary::model::Place;

/// What is outside of parallel regions, as users name it.
pub(super) const SERIAL: &str = "serial";

/// Names of one trace.
pub(super) struct Namer<'n> {
    pub(super) names: &'n dyn Names,
    /// Texts by their addresses.
    pub(super) texts: &'n HashMap<u64, String>,
}

impl Namer<'_> {
    fn place(&self, code: Code, role: CodeRole) -> Place {
        Place::of(self.names, Some(code), role)
    }

    fn region(&self, code: Code) -> String {
        self.place(code, CodeRole::Parallel).label
    }

    fn user(&self, address: u64) -> String {
        let text = self.texts.get(&address).cloned();
        text.unwrap_or_else(|| format!("{address:#x}"))
    }

    pub(super) fn spot(&self, spot: Spot) -> String {
        match spot {
            Spot::Serial => "serial code".to_owned(),
            Spot::Region(code) => self.region(code),
            Spot::Loop(code, 0) => format!("loops of {}", self.region(code)),
            Spot::Loop(code, number) => format!("loop {number} of {}", self.region(code)),
            Spot::Single(code) => format!("single in {}", self.region(code)),
            Spot::Task(code) => self.place(code, CodeRole::Task).label,
            Spot::User(address) => self.user(address),
            Spot::NoProcessor => "waiting for a processor".to_owned(),
        }
    }

    pub(super) fn lock(&self, lock: Lock) -> String {
        let name = lock_name(lock.kind, lock.object, self.names);
        let kind = instr_trace::words::mutex_name(lock.kind);
        match name == kind {
            true => name,
            false => format!("{kind} {name}"),
        }
    }

    /// Whether the user may mean this lock.
    pub(super) fn is_lock(&self, lock: Lock, given: &str) -> bool {
        let name = lock_name(lock.kind, lock.object, self.names);
        name == given || self.lock(lock) == given || format!("{:#x}", lock.object) == given
    }

    /// Whether the user may mean this spot: by its function, its file and line, or its label.
    pub(super) fn is_spot(&self, spot: Spot, given: &str) -> bool {
        let (code, role) = match spot {
            Spot::Serial => return given == SERIAL || given == self.spot(spot),
            Spot::User(address) => return given == self.user(address),
            Spot::NoProcessor => return false,
            Spot::Task(code) => (code, CodeRole::Task),
            Spot::Region(code) | Spot::Loop(code, _) | Spot::Single(code) => {
                (code, CodeRole::Parallel)
            }
        };
        let place = self.place(code, role);
        let name = place.label.split(" [").next().unwrap_or_default();
        let line = place.line.map(|line| {
            let file = place.file.as_deref().unwrap_or_default();
            let base = file.rsplit('/').next().unwrap_or_default();
            (format!("{file}:{line}"), format!("{base}:{line}"))
        });
        given == place.label
            || given == name
            || place.function.as_deref() == Some(given)
            || self.spot(spot) == given
            || line.is_some_and(|(whole, base)| given == whole || given == base)
    }

    /// What time is lost to, and where.
    pub(super) fn loss(&self, loss: Loss) -> (&'static str, String) {
        match loss {
            Loss::Serial => ("serial code", String::new()),
            Loss::Unmodelled => ("what is not modelled", String::new()),
            Loss::Creation(code) => ("creation by one thread", self.region(code)),
            Loss::Dependences(code) => ("order of tasks", self.region(code)),
            Loss::Single(code) => ("single blocks", self.region(code)),
            Loss::Imbalance(spot) => ("unequal chunks", self.spot(spot)),
            Loss::FewPieces(spot) => ("too few chunks", self.spot(spot)),
            Loss::Own(code) => ("unequal threads", self.region(code)),
            Loss::Lock(lock) => ("waiting for locks", self.lock(lock)),
            Loss::Queue => ("queue of tasks", String::new()),
            Loss::Overhead(cost) => (cost_name(cost), String::new()),
        }
    }

    pub(super) fn lever(&self, lever: Lever) -> (String, &'static str) {
        match lever {
            Lever::Spot(spot) => (self.spot(spot), "code"),
            Lever::Lock(lock) => (self.lock(lock), "lock"),
            Lever::Tasks => ("creating and beginning tasks".to_owned(), "tasks"),
        }
    }
}

/// A cost as a phrase.
pub(super) fn cost_name(cost: Cost) -> &'static str {
    match cost {
        Cost::Create => "creating tasks",
        Cost::Dispatch => "beginning tasks",
        Cost::Wake => "waking up for a task",
        Cost::Enter => "beginning a region",
        Cost::Fork => "waking up for a region",
        Cost::Start => "starting threads",
        Cost::Make => "each further thread",
        Cost::Barrier => "leaving barriers",
        Cost::Join => "ending regions",
        Cost::Ask => "asking for chunks",
        Cost::Lock => "taking free locks",
        Cost::HandOver => "handing locks over",
    }
}

/// What is not modelled, and what is assumed.
pub(super) fn why(why: Why) -> &'static str {
    match why {
        Why::TooLarge => {
            "regions with more than 4 194 304 tasks, or as many steps as memory is kept for: as long as recorded"
        }
        Why::Cut => {
            "regions whose begin, end or tasks the trace does not hold in full: as long as recorded"
        }
        Why::Different => {
            "regions whose threads met different constructs (cancelled?): as long as recorded"
        }
        Why::Nested => {
            "regions inside of regions: as long as recorded, whatever the number of threads"
        }
        Why::Teams => "leagues of teams: as long as recorded",
        Why::Stuck => {
            "regions in whose order of locks a thread would wait for ever: as long as recorded"
        }
        Why::Ordered => "loops with ordered: their order is not kept",
        Why::Detached => "tasks with a detach clause or on a device: only what the host runs",
        Why::Priority => "priorities of tasks, which the trace does not hold: in order of creation",
        Why::ReadLocks => "locks for reading: left out",
        Why::Undeferred => {
            "regions of one thread in which libomp deferred no task: as if all were deferred with more threads, also those with an if clause that is false"
        }
        Why::Sections => {
            "sections whose begins are not recorded (libomp): as if they took the same time"
        }
        Why::Chunks => {
            "loops whose chunks are not recorded (libomp): as if the threads divided them evenly in advance"
        }
    }
}
