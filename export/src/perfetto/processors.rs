//! Who runs on which processor, as the events of a kernel's scheduler that Perfetto knows: its pages draw processors from them, and
//! `trace_processor` fills `sched` and `thread_state`.
//!
//! From the kernel's part of a trace (`instr run`, `instr attach`), else from what a board or the threads recorded themselves. Each processor's
//! switches follow each other: whom one leads to is whom the next one leaves, and between two threads there is the idle one.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use instr_trace::kernel::{Context, Leave, Part, Record, ThreadId, What};
use instr_trace::model::Scheduled;
use instr_trace::{Session, Trace};

use super::ftrace::*;
use super::packets::Packets;
use crate::error::Error;

/// Events of a processor that are written at a time.
const EVENTS: usize = 256;
/// `trace_processor` refuses files with processors from this number on.
const MOST_PROCESSORS: u32 = 1024;
/// Between who leaves and who comes at one switch there is less time than this.
const DIRECT_NS: u64 = 20_000;
/// What the kernel calls the thread that runs when nobody does.
const IDLE: &str = "swapper";
/// Priority of a thread whose own is not recorded, and of the idle one: an ordinary one.
const PRIORITY: i32 = 120;

/// A processor.
#[derive(Debug, Default)]
struct Processor {
    /// The thread that runs; 0: none.
    runs: i32,
    /// Something is known of it.
    begun: bool,
    /// Time of its last event.
    last: u64,
    events: Vec<FtraceEvent>,
    lost: bool,
}

/// All processors of a machine.
#[derive(Debug, Default)]
pub(super) struct Processors {
    all: BTreeMap<u32, Processor>,
    names: HashMap<i32, String>,
    /// As they were told last.
    priorities: HashMap<i32, i32>,
    /// Threads whose exit was reported: they may still be preempted or wait, but end where they leave their processor.
    exited: HashSet<i32>,
    /// Threads that are in the tree of processes.
    known: HashSet<(i32, i32)>,
}

/// A recording of the kernel, and what is to be added to its times.
struct Recording<'t> {
    part: &'t Part,
    shift: i128,
}

/// The recordings of the session's first machine, each once.
fn recordings(session: &Session) -> Vec<Recording<'_>> {
    let mut found: Vec<Recording<'_>> = Vec::new();
    for (number, trace) in session.traces().iter().enumerate() {
        let Some(part) = trace.kernel_part().filter(|part| part.has_switches()) else {
            continue;
        };
        let (own, start) = (part.info(), trace.metadata().start_monotonic_ns);
        let is_new = found.iter().all(|other| other.part.info() != own);
        let machine = |of: &Part| (of.info().hostname.clone(), of.info().boot_id.clone());
        let is_first = found
            .first()
            .is_none_or(|first| machine(first.part) == machine(part));
        if is_new && is_first {
            found.push(Recording {
                part,
                shift: i128::from(session.offset(number)) - i128::from(start),
            });
        }
    }
    found
}

/// Whether the kernel's part of a trace has its switches.
pub(super) fn has_switches(trace: &Trace) -> bool {
    trace.kernel_part().is_some_and(Part::has_switches)
}

/// Writes what the kernel recorded. Returns how many of its streams are damaged.
pub(super) fn write(session: &Session, packets: &mut Packets<'_>) -> Result<u64, Error> {
    let mut processors = Processors::default();
    let recordings = recordings(session);
    let mut all = Vec::new();
    for Recording { part, shift } in &recordings {
        all.push((part.records()?, *shift));
    }
    // Of one switch between two recordings, that of who comes may have looked at the clock before that of who leaves: it waits for the other.
    let mut early: Vec<(usize, u64, Record)> = Vec::new();
    let mut owners: HashMap<u32, usize> = HashMap::new();
    // Few recordings: the next event of all is looked for.
    loop {
        let times = all.iter().map(|(records, shift)| {
            let time = records.next_time()?;
            Some(i128::from(time) + shift)
        });
        let next = times.enumerate().filter_map(|(at, time)| Some((time?, at)));
        let Some((time, at)) = next.min() else { break };
        let Some(record) = all[at].0.next()? else {
            break;
        };
        let time = u64::try_from(time).unwrap_or(0);
        let cpu = record.processor;
        let is_of_switch = matches!(
            record.what,
            What::In | What::Out(_) | What::Exit | What::Exec(_) | What::Lost(_)
        );
        let mut next = None;
        let here = |(_, _, waiting): &(usize, u64, Record)| waiting.processor == cpu;
        let is_over = |(_, begin, _): &(usize, u64, Record)| begin.saturating_add(DIRECT_NS) < time;
        let waits = early.iter().position(|it| is_of_switch && here(it));
        if let Some(waits) = waits.or_else(|| early.iter().position(is_over)) {
            let (owner, begin, waiting) = early.swap_remove(waits);
            let leaves = matches!(record.what, What::Out(_) | What::Exit);
            if waiting.processor == cpu && leaves && processors.runs_on(cpu, record.thread.tid) {
                next = Some((owner, waiting));
            } else {
                owners.insert(waiting.processor, owner);
                processors.add(begin, waiting, packets);
            }
        }
        if record.what == What::In && all.len() > 1 {
            let is_other = owners.get(&cpu).is_some_and(|owner| *owner != at);
            if is_other && processors.is_busy(cpu) {
                early.push((at, time, record));
                continue;
            }
            owners.insert(cpu, at);
        }
        processors.add(time, record, packets);
        if let Some((owner, waiting)) = next {
            owners.insert(cpu, owner);
            processors.add(time, waiting, packets);
        }
    }
    for (_, time, record) in early {
        processors.add(time, record, packets);
    }
    processors.flush(packets);
    Ok(all.iter().map(|(records, _)| records.damaged()).sum())
}

impl Processors {
    /// Whether the processor runs a thread.
    fn is_busy(&self, cpu: u32) -> bool {
        self.all
            .get(&cpu)
            .is_some_and(|processor| processor.runs != 0)
    }

    /// Whether the processor runs this one.
    fn runs_on(&self, cpu: u32, tid: u32) -> bool {
        let runs = self.all.get(&cpu).map_or(0, |processor| processor.runs);
        runs != 0 && u32::try_from(runs).is_ok_and(|runs| runs == tid)
    }

    fn name(&self, tid: i32) -> String {
        match (tid, self.names.get(&tid)) {
            (0, _) => IDLE.to_owned(),
            (_, Some(name)) => name.clone(),
            (_, None) => format!("thread {tid}"),
        }
    }

    /// Takes an event of a kernel's recording, at this time of the output.
    fn add(&mut self, time: u64, record: Record, packets: &mut Packets<'_>) {
        let number = |number: u32| i32::try_from(number).ok();
        let (Some(tid), Some(pid)) = (number(record.thread.tid), number(record.thread.pid)) else {
            return;
        };
        let cpu = record.processor;
        if cpu >= MOST_PROCESSORS {
            return;
        }
        if let What::Exec(name) | What::Name(name) = &record.what {
            let old = self.name(tid);
            self.names.insert(tid, name.clone());
            if self.known.contains(&(pid, tid)) {
                let rename = TaskRename {
                    pid: Some(tid),
                    oldcomm: Some(old),
                    newcomm: Some(name.clone()),
                };
                let event = FtraceEvent {
                    task_rename: Some(rename),
                    ..FtraceEvent::default()
                };
                self.event((time, cpu), event, packets);
            }
        }
        if tid != 0 && !matches!(record.what, What::Fork(_)) {
            self.know(time, (pid, tid), packets);
        }
        match record.what {
            What::In => self.runs((time, cpu), tid, UNKNOWN, packets),
            // What becomes another program runs.
            What::Exec(_) => {
                self.exited.remove(&tid);
                self.runs((time, cpu), tid, UNKNOWN, packets);
            }
            What::Out(leave) => {
                let state = match leave {
                    Leave::Blocked => BLOCKED,
                    Leave::Ready | Leave::Yielded => READY,
                };
                self.leaves((time, cpu), tid, state, packets);
            }
            What::Fork(parent) => {
                let Some(parent_tid) = number(parent.tid) else {
                    return;
                };
                let name = self.name(parent_tid);
                self.exited.remove(&tid);
                self.names.insert(tid, name.clone());
                self.known.insert((pid, tid));
                let same = parent.pid == record.thread.pid;
                let task = TaskNewtask {
                    pid: Some(tid),
                    comm: Some(name),
                    clone_flags: Some(if same { CLONE_THREAD } else { 0 }),
                };
                let event = FtraceEvent {
                    pid: Some(parent.tid),
                    task_newtask: Some(task),
                    ..FtraceEvent::default()
                };
                self.event((time, cpu), event, packets);
            }
            // Its last switch comes later, if it comes.
            What::Exit => {
                self.leaves((time, cpu), tid, ENDED, packets);
                self.exited.insert(tid);
                self.priorities.remove(&tid);
            }
            What::Arguments(text) => {
                let process = Process {
                    pid: Some(pid),
                    cmdline: text.split(' ').map(str::to_owned).collect(),
                };
                packets.processes(time, vec![process], Vec::new());
            }
            What::Lost(_) => {
                let processor = self.all.entry(cpu).or_default();
                let (last, runs) = (processor.last, processor.runs);
                if runs != 0 {
                    self.leaves((last, cpu), runs, UNKNOWN, packets);
                }
                self.all.entry(cpu).or_default().lost = true;
                // A number may be another thread's from now on.
                self.exited.clear();
            }
            What::Wake {
                by,
                processor,
                context,
            } => self.wakes((time, processor), tid, (by, context), packets),
            What::Priority(priority) => {
                if let Some(priority) = number(priority) {
                    self.priorities.insert(tid, priority);
                }
            }
            What::Name(_) => {}
        }
    }

    /// The state of a thread that leaves its processor.
    fn state(&self, tid: i32, state: i64) -> i64 {
        match self.exited.contains(&tid) {
            true => ENDED,
            false => state,
        }
    }

    fn priority(&self, tid: i32) -> i32 {
        self.priorities.get(&tid).copied().unwrap_or(PRIORITY)
    }

    /// A thread can go on. Readers end its state there if it was blocked, and ignore it if it still ran.
    fn wakes(
        &mut self,
        (time, cpu): (u64, u32),
        tid: i32,
        (by, context): (ThreadId, Context),
        packets: &mut Packets<'_>,
    ) {
        if cpu >= MOST_PROCESSORS || tid == 0 {
            return;
        }
        let waking = SchedWaking {
            comm: Some(self.name(tid)),
            pid: Some(tid),
            prio: Some(self.priority(tid)),
            success: Some(1),
        };
        let event = FtraceEvent {
            // Who runs there, in an interrupt as well.
            pid: Some(by.tid),
            sched_waking: Some(waking),
            common_flags: (context == Context::Interrupt).then_some(INTERRUPT),
            ..FtraceEvent::default()
        };
        self.event((time, cpu), event, packets);
    }

    /// A thread of a process, when it is first seen.
    fn know(&mut self, time: u64, (pid, tid): (i32, i32), packets: &mut Packets<'_>) {
        if self.known.insert((pid, tid)) {
            let thread = Thread {
                tid: Some(tid),
                name: self.names.get(&tid).cloned(),
                tgid: Some(pid),
            };
            packets.processes(time, Vec::new(), vec![thread]);
        }
    }

    /// A thread that a trace names.
    pub(super) fn named(&mut self, (pid, tid): (i32, i32), name: &str) {
        self.names.insert(tid, name.to_owned());
        self.known.insert((pid, tid));
    }

    /// A processor begins to run a thread; `before`: the state of the one that it ran, if it did not leave.
    pub(super) fn runs(
        &mut self,
        (time, cpu): (u64, u32),
        tid: i32,
        before: i64,
        packets: &mut Packets<'_>,
    ) {
        if cpu >= MOST_PROCESSORS {
            return;
        }
        let processor = self.all.entry(cpu).or_default();
        let runs = processor.runs;
        if runs != tid || !processor.begun {
            let before = self.state(runs, before);
            self.switch((time, cpu), (runs, before), tid, packets);
        }
    }

    /// A processor ends to run a thread.
    pub(super) fn leaves(
        &mut self,
        (time, cpu): (u64, u32),
        tid: i32,
        state: i64,
        packets: &mut Packets<'_>,
    ) {
        if cpu >= MOST_PROCESSORS || tid == 0 {
            return;
        }
        let processor = self.all.entry(cpu).or_default();
        // It has run there since before the recording, or is not the one that runs there.
        if processor.runs == tid || !processor.begun {
            let state = self.state(tid, state);
            self.switch((time, cpu), (tid, state), 0, packets);
        }
    }

    /// A processor turns from one thread to another; in which state the first one is then is not recorded.
    pub(super) fn turn(
        &mut self,
        (time, cpu): (u64, u32),
        from: Option<i32>,
        to: i32,
        packets: &mut Packets<'_>,
    ) {
        let begun = self.all.get(&cpu).is_some_and(|processor| processor.begun);
        if let Some(from) = from.filter(|_| !begun) {
            self.leaves((time, cpu), from, UNKNOWN, packets);
        }
        self.runs((time, cpu), to, UNKNOWN, packets);
    }

    /// What the system does with a thread from now on, which is on this processor or was on it before.
    pub(super) fn scheduled(
        &mut self,
        place: (u64, u32),
        tid: i32,
        state: Scheduled,
        packets: &mut Packets<'_>,
    ) {
        match state {
            Scheduled::Running => self.runs(place, tid, UNKNOWN, packets),
            Scheduled::Ready => self.leaves(place, tid, READY, packets),
            Scheduled::Blocked => self.leaves(place, tid, BLOCKED, packets),
            Scheduled::Unknown => self.leaves(place, tid, UNKNOWN, packets),
        }
    }

    fn switch(
        &mut self,
        (time, cpu): (u64, u32),
        (from, state): (i32, i64),
        to: i32,
        packets: &mut Packets<'_>,
    ) {
        let switch = SchedSwitch {
            prev_comm: Some(self.name(from)),
            prev_pid: Some(from),
            prev_prio: Some(self.priority(from)),
            prev_state: Some(if from == 0 { READY } else { state }),
            next_comm: Some(self.name(to)),
            next_pid: Some(to),
            next_prio: Some(self.priority(to)),
        };
        let event = FtraceEvent {
            pid: u32::try_from(from).ok(),
            sched_switch: Some(switch),
            ..FtraceEvent::default()
        };
        self.event((time, cpu), event, packets);
        let processor = self.all.entry(cpu).or_default();
        (processor.runs, processor.begun) = (to, true);
    }

    fn event(
        &mut self,
        (time, cpu): (u64, u32),
        mut event: FtraceEvent,
        packets: &mut Packets<'_>,
    ) {
        let processor = self.all.entry(cpu).or_default();
        let time = time.max(processor.last);
        processor.last = time;
        event.timestamp = Some(time);
        let runs = u32::try_from(processor.runs).unwrap_or(0);
        event.pid = event.pid.or(Some(runs));
        processor.events.push(event);
        if processor.events.len() >= EVENTS {
            give(cpu, processor, packets);
        }
    }

    /// Writes what is left.
    pub(super) fn flush(&mut self, packets: &mut Packets<'_>) {
        for (cpu, processor) in &mut self.all {
            if !processor.events.is_empty() || processor.lost {
                give(*cpu, processor, packets);
            }
        }
    }
}

fn give(cpu: u32, processor: &mut Processor, packets: &mut Packets<'_>) {
    packets.bundle(FtraceEventBundle {
        cpu: Some(cpu),
        event: std::mem::take(&mut processor.events),
        lost_events: std::mem::take(&mut processor.lost).then_some(true),
    });
}
