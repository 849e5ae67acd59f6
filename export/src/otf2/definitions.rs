//! What the records of an archive speak of: texts, regions, machines, processes, threads, teams, metrics.

use std::ffi::CString;

use hashbrown::HashMap;
use instr_trace::event::SyncKind;
use instr_trace::model::{Span, Work};

use super::archive::Archive;
use super::paradigm;
use crate::describe::Category;
use crate::frames::Frame;

/// No text, no parent.
const NONE: u32 = u32::MAX;
/// `OTF2_SYSTEM_TREE_DOMAIN_MACHINE` and `_SHARED_MEMORY`.
const MACHINE: u8 = 0;
const SHARED_MEMORY: u8 = 1;
/// `OTF2_LOCATION_GROUP_TYPE_PROCESS`, `OTF2_LOCATION_TYPE_CPU_THREAD` and `_METRIC`.
const PROCESS: u8 = 1;
const CPU_THREAD: u8 = 1;
const METRIC: u8 = 3;
/// `OTF2_GROUP_TYPE_COMM_LOCATIONS` and `_COMM_GROUP`.
const COMM_LOCATIONS: u8 = 4;
const COMM_GROUP: u8 = 5;
/// `OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN`.
const FORK_JOIN: u8 = 1;
/// `OTF2_METRIC_TYPE_USER`, `OTF2_METRIC_ACCUMULATED_START`, `OTF2_METRIC_ABSOLUTE_POINT`.
const USER: u8 = 3;
const ACCUMULATED_START: u8 = 0;
const ABSOLUTE_POINT: u8 = 1 | 1 << 4;
/// `OTF2_BASE_DECIMAL`, `OTF2_METRIC_ASYNCHRONOUS`, `OTF2_RECORDER_KIND_ABSTRACT`.
const DECIMAL: u8 = 1;
const ASYNCHRONOUS: u8 = 2;
const ABSTRACT: u8 = 1;
/// `OTF2_TYPE_INT64` and `OTF2_TYPE_DOUBLE`.
pub(super) const INT64: u8 = 8;
pub(super) const DOUBLE: u8 = 10;

/// Threads that work together: all that were in regions of one thread, in the order in which they came. A region's own members are known when
/// it is over, and its records come before.
#[derive(Debug)]
pub(super) struct Team {
    pub(super) name: String,
    /// Locations.
    pub(super) members: Vec<u64>,
}

impl Team {
    /// The number of a location in it.
    pub(super) fn rank(&mut self, location: u64) -> u32 {
        let known = self.members.iter().position(|member| *member == location);
        let rank = known.unwrap_or_else(|| {
            self.members.push(location);
            self.members.len() - 1
        });
        rank as u32
    }
}

/// Something that is measured.
#[derive(Debug)]
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) unit: String,
    /// It only grows, from 0 at the begin of its thread.
    pub(super) is_total: bool,
    /// [`INT64`] or [`DOUBLE`].
    pub(super) value_type: u8,
}

/// A process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) title: String,
    pub(super) machine: String,
    /// Place of the process that forked it.
    pub(super) parent: Option<usize>,
    /// Names of its threads, whose locations follow each other.
    pub(super) threads: Vec<String>,
}

/// When.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The first time, ns.
    pub(super) begin: u64,
    /// From it to the last one, ns.
    pub(super) length: u64,
    /// The time of day of the first one, ns since 1970.
    pub(super) realtime: u64,
}

/// Writes definitions; texts when they are first named.
pub(super) struct Definitions<'a> {
    archive: &'a mut Archive,
    texts: HashMap<String, u32>,
}

impl<'a> Definitions<'a> {
    pub(super) fn new(archive: &'a mut Archive) -> Self {
        Self {
            archive,
            texts: HashMap::new(),
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let number = self.texts.len() as u32;
        self.texts.insert(text.to_owned(), number);
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open, the text lives as long as the call.
            unsafe { (library.string)(writer, number, text.as_ptr()) }
        });
        number
    }

    pub(super) fn clock(&mut self, clock: Clock) {
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open.
            unsafe {
                (library.clock)(
                    writer,
                    1_000_000_000,
                    clock.begin,
                    clock.length,
                    clock.realtime,
                )
            }
        });
        for (number, name) in [
            (paradigm::OPENMP, "OpenMP"),
            (paradigm::PTHREAD, "POSIX threads"),
        ] {
            let name = self.text(name);
            self.archive.define(|library, writer| {
                // SAFETY: the writer is open.
                unsafe { (library.paradigm)(writer, number, name, FORK_JOIN) }
            });
        }
    }

    /// Processes below their machines, and their threads. `records`: how many each location has that is there; those of threads come first, then
    /// there is one of each process.
    pub(super) fn processes(&mut self, processes: &[Process], records: &[Option<u64>]) {
        let mut machines: HashMap<&str, u32> = HashMap::new();
        let mut location = 0;
        let all: usize = processes.iter().map(|process| process.threads.len()).sum();
        for (number, process) in (0..).zip(processes) {
            let new = machines.len() as u32;
            let machine = *machines.entry(&process.machine).or_insert(new);
            if machine == new {
                self.machine(machine, &process.machine);
            }
            let title = self.text(&process.title);
            let parent = process.parent.map_or(NONE, |parent| parent as u32);
            self.archive.define(|library, writer| {
                // SAFETY: the writer is open.
                unsafe { (library.location_group)(writer, number, title, PROCESS, machine, parent) }
            });
            for name in &process.threads {
                self.location((location, CPU_THREAD), name, records, number);
                location += 1;
            }
            self.location((all + number as usize, METRIC), "process", records, number);
        }
    }

    fn machine(&mut self, number: u32, name: &str) {
        let (name, class) = (self.text(name), self.text("machine"));
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.node)(writer, number, name, class, NONE) }
        });
        for domain in [MACHINE, SHARED_MEMORY] {
            self.archive.define(|library, writer| {
                // SAFETY: the writer is open.
                unsafe { (library.domain)(writer, number, domain) }
            });
        }
    }

    fn location(
        &mut self,
        (number, kind): (usize, u8),
        name: &str,
        records: &[Option<u64>],
        process: u32,
    ) {
        let Some(Some(count)) = records.get(number).copied() else {
            return;
        };
        let name = self.text(name);
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open.
            unsafe { (library.location)(writer, number as u64, name, kind, count, process) }
        });
    }

    pub(super) fn region(&mut self, number: u32, frame: &Frame) {
        let name = self.text(&frame.name);
        let description = self.text(frame.category.map_or("", Category::name));
        let file = frame.file.as_deref().map_or(NONE, |file| self.text(file));
        let line = frame.line.unwrap_or(0);
        let (role, model) = role(frame);
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open.
            unsafe {
                (library.region)(
                    writer,
                    number,
                    name,
                    name,
                    description,
                    role,
                    model,
                    0,
                    file,
                    line,
                    0,
                )
            }
        });
    }

    /// All threads, which teams are parts of, and the teams.
    pub(super) fn teams(&mut self, threads: usize, teams: &[Team]) {
        let all: Vec<u64> = (0..threads as u64).collect();
        self.group(0, "threads", COMM_LOCATIONS, &all);
        for (number, team) in (0..).zip(teams) {
            self.group(number + 1, &team.name, COMM_GROUP, &team.members);
            let name = self.text(&team.name);
            self.archive.define(|library, writer| {
                // SAFETY: the writer is open.
                unsafe { (library.comm)(writer, number, name, number + 1, NONE, 0) }
            });
        }
    }

    fn group(&mut self, number: u32, name: &str, kind: u8, members: &[u64]) {
        let name = self.text(name);
        let count = members.len() as u32;
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open, and there are as many members as are told.
            unsafe {
                (library.group)(
                    writer,
                    number,
                    name,
                    kind,
                    paradigm::OPENMP,
                    0,
                    count,
                    members.as_ptr(),
                )
            }
        });
    }

    /// Each metric is a class of its own.
    pub(super) fn metric(&mut self, number: u32, metric: &Metric) {
        let (name, unit) = (self.text(&metric.name), self.text(&metric.unit));
        let mode = match metric.is_total {
            true => ACCUMULATED_START,
            false => ABSOLUTE_POINT,
        };
        let kind = metric.value_type;
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open.
            unsafe {
                (library.metric_member)(
                    writer, number, name, name, USER, mode, kind, DECIMAL, 0, unit,
                )
            }
        });
        self.archive.define(|library, writer| {
            // SAFETY: the writer is open, and there is one member.
            unsafe {
                (library.metric_class)(writer, number, 1, &raw const number, ASYNCHRONOUS, ABSTRACT)
            }
        });
    }
}

/// `OTF2_RegionRole` and `OTF2_Paradigm` of a frame.
fn role(frame: &Frame) -> (u8, u8) {
    use paradigm::{OPENMP, UNKNOWN, USER};
    const FUNCTION: u8 = 1;
    const LOOP: u8 = 3;
    const CODE: u8 = 4;
    const PARALLEL: u8 = 5;
    const SECTIONS: u8 = 6;
    const WORKSHARE: u8 = 8;
    const SINGLE: u8 = 9;
    const MASTER: u8 = 11;
    const BARRIER: u8 = 15;
    const IMPLICIT_BARRIER: u8 = 16;
    const TASK: u8 = 20;
    const TASK_CREATE: u8 = 21;
    const TASK_WAIT: u8 = 22;
    const ARTIFICIAL: u8 = 31;
    const THREAD_WAIT: u8 = 33;
    let role = match frame.span {
        Some(Span::Parallel { .. } | Span::Implicit { .. }) => PARALLEL,
        Some(Span::Closing { .. }) => IMPLICIT_BARRIER,
        Some(Span::Task { .. }) => TASK,
        Some(Span::Create { .. } | Span::Taskloop { .. }) => TASK_CREATE,
        Some(Span::WaitDepend { .. } | Span::Taskgroup) => TASK_WAIT,
        Some(Span::Work(Work::Loop { .. } | Work::Combined)) => LOOP,
        Some(Span::Work(Work::Sections)) => SECTIONS,
        Some(Span::Work(Work::Scope)) => WORKSHARE,
        Some(Span::Single) => SINGLE,
        Some(Span::Masked) => MASTER,
        Some(Span::Sync(kind)) => match kind {
            SyncKind::ExplicitBarrier => BARRIER,
            SyncKind::ImplicitBarrier | SyncKind::Reduction | SyncKind::TeamsEnd => {
                IMPLICIT_BARRIER
            }
            SyncKind::Taskwait | SyncKind::TaskwaitDepend | SyncKind::TaskgroupEnd => TASK_WAIT,
            SyncKind::Join => return (THREAD_WAIT, paradigm::PTHREAD),
            SyncKind::Condition
            | SyncKind::ThreadBarrier
            | SyncKind::Semaphore
            | SyncKind::Once
            | SyncKind::Future
            | SyncKind::Interpreter => return (CODE, paradigm::PTHREAD),
            _ => CODE,
        },
        Some(Span::User { .. }) => return (CODE, USER),
        Some(Span::Call { .. } | Span::Function { .. }) => return (FUNCTION, USER),
        Some(Span::Flush) => return (ARTIFICIAL, paradigm::MEASUREMENT_SYSTEM),
        Some(_) => CODE,
        None => return (FUNCTION, UNKNOWN),
    };
    (role, OPENMP)
}
