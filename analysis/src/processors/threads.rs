//! The threads and processes that were seen, and in which state each is.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use instr_trace::kernel::ThreadId;

use super::model::{OnProcessor, Process, Thread, Times};

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs on this processor (by position).
    Runs(usize),
    /// It could run.
    Ready,
    /// It waits.
    Blocked,
    /// Events were lost.
    Unknown,
    /// It has ended.
    Ended,
}

/// A thread.
#[derive(Debug)]
pub(super) struct Live {
    /// Of which recording.
    pub(super) part: usize,
    pub(super) tid: u32,
    pub(super) name: String,
    /// Position of its process.
    pub(super) process: usize,
    pub(super) state: State,
    /// Since when.
    pub(super) since: u64,
    /// Where it ran last.
    pub(super) last: Option<usize>,
    /// On the list of which processor's waits it is.
    pub(super) waits_at: Option<usize>,
    pub(super) times: Times,
    /// It was woken, and has not run since: the number of the pair.
    pub(super) woken: Option<usize>,
    /// The kernel's priority that it ran with last.
    pub(super) priority: Option<u32>,
    /// Its exit was reported: what it still does is its own, and it ends where it leaves its processor.
    pub(super) has_exited: bool,
    /// Of its ready time what its waits hold that are followed.
    pub(super) preempted_ns: u64,
    begin: u64,
    end: Option<u64>,
    by_processor: BTreeMap<usize, u64>,
}

/// A process.
#[derive(Debug)]
pub(super) struct LiveProcess {
    pub(super) pid: u32,
    /// `None`: another program's.
    pub(super) application: Option<usize>,
    pub(super) parent: Option<u32>,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Positions of its threads that have not ended.
    pub(super) threads: BTreeSet<usize>,
    begin: u64,
    end: Option<u64>,
}

/// All of them. A number that is used again is another thread.
#[derive(Debug, Default)]
pub(super) struct Threads {
    pub(super) all: Vec<Live>,
    pub(super) processes: Vec<LiveProcess>,
    /// By recording and number.
    by_tid: HashMap<(usize, u32), usize>,
    by_pid: HashMap<(usize, u32), usize>,
}

impl Threads {
    /// The thread with this number, if it lives.
    pub(super) fn find(&self, part: usize, tid: u32) -> Option<usize> {
        let at = *self.by_tid.get(&(part, tid))?;
        (self.all[at].state != State::Ended).then_some(at)
    }

    /// The thread with this number that has ended since `from`, if no other one has the number now: it runs again. perf reports the exit of a thread some 0.1 ms before
    /// the thread leaves its processor for the last time, and until then it may be preempted, or wait. What it did between the report, or its last leave, and now is not known.
    pub(super) fn revive(&mut self, part: usize, tid: u32, from: u64) -> Option<usize> {
        let at = *self.by_tid.get(&(part, tid))?;
        let thread = &mut self.all[at];
        let end = thread.end.filter(|end| *end >= from)?;
        thread.end = None;
        thread.since = end;
        thread.state = State::Unknown;
        thread.has_exited = true;
        let process = &mut self.processes[thread.process];
        process.end = None;
        process.threads.insert(at);
        Some(at)
    }

    /// The process with this number, if it lives.
    pub(super) fn process(&self, part: usize, pid: u32) -> Option<usize> {
        let at = *self.by_pid.get(&(part, pid))?;
        self.processes[at].end.is_none().then_some(at)
    }

    /// A new process.
    pub(super) fn add_process(
        &mut self,
        part: usize,
        pid: u32,
        application: Option<usize>,
        begin: u64,
    ) -> usize {
        let at = self.processes.len();
        self.processes.push(LiveProcess {
            pid,
            application,
            parent: None,
            name: String::new(),
            arguments: String::new(),
            threads: BTreeSet::new(),
            begin,
            end: None,
        });
        self.by_pid.insert((part, pid), at);
        at
    }

    /// A new thread of a process.
    pub(super) fn add(
        &mut self,
        part: usize,
        id: ThreadId,
        process: usize,
        state: State,
        time: u64,
    ) -> usize {
        let at = self.all.len();
        self.all.push(Live {
            part,
            tid: id.tid,
            name: self.processes[process].name.clone(),
            process,
            state,
            since: time,
            last: None,
            waits_at: None,
            times: Times::default(),
            woken: None,
            priority: None,
            has_exited: false,
            preempted_ns: 0,
            begin: time,
            end: None,
            by_processor: BTreeMap::new(),
        });
        self.processes[process].threads.insert(at);
        self.by_tid.insert((part, id.tid), at);
        at
    }

    /// Ends what a thread did; from now on it does something else.
    pub(super) fn change(&mut self, at: usize, time: u64, to: State) {
        let thread = &mut self.all[at];
        let ns = time.saturating_sub(thread.since);
        let times = &mut thread.times;
        let sum = match thread.state {
            State::Runs(processor) => {
                let there = thread.by_processor.entry(processor).or_default();
                *there = there.saturating_add(ns);
                &mut times.on_processor_ns
            }
            State::Ready => &mut times.ready_ns,
            State::Blocked => &mut times.blocked_ns,
            State::Unknown => &mut times.unknown_ns,
            State::Ended => return,
        };
        *sum = sum.saturating_add(ns);
        thread.since = time;
        thread.state = to;
        if to == State::Ended {
            thread.end = Some(time);
            let process = &mut self.processes[thread.process];
            process.threads.remove(&at);
            if process.threads.is_empty() {
                process.end = Some(time);
            }
        }
    }

    /// The processes of an application with their threads, in order of their begin. `numbers` are those of the processors.
    pub(super) fn of_application(&mut self, application: usize, numbers: &[u32]) -> Vec<Process> {
        let mut found: Vec<Option<Process>> = Vec::new();
        for process in &mut self.processes {
            found.push((process.application == Some(application)).then(|| Process {
                pid: process.pid,
                parent: process.parent,
                name: process.name.clone(),
                arguments: std::mem::take(&mut process.arguments),
                begin_ns: process.begin,
                end_ns: process.end,
                ..Process::default()
            }));
        }
        for thread in &self.all {
            let Some(process) = &mut found[thread.process] else {
                continue;
            };
            process.times.add(&thread.times);
            let on = |(at, ns): (&usize, &u64)| OnProcessor {
                processor: numbers[*at],
                ns: *ns,
            };
            process.threads.push(Thread {
                tid: thread.tid,
                name: thread.name.clone(),
                begin_ns: thread.begin,
                end_ns: thread.end,
                times: thread.times,
                priority: thread.priority,
                processors: thread.by_processor.iter().map(on).collect(),
            });
        }
        found.into_iter().flatten().collect()
    }
}
