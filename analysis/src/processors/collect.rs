//! From switches to states.

use hashbrown::HashMap;
use instr_trace::kernel::{Context, Info, Leave, Record, Recorded, Recorder, ThreadId, What};

use super::load::{Bins, InUse};
use super::model::{Allocation, Application, Counted, Processor};
use super::threads::{State, Threads};
use super::waits::{DIRECT_NS, Queue, Waits};
use super::wakes::Wakes;
use super::{Each, Slice, Stretch, Woken};

/// A processor while events are read.
#[derive(Debug)]
struct Lane {
    /// Who runs there, and since when.
    runs: Option<(usize, u64)>,
    /// Its last event.
    last: u64,
    queue: Queue,
    busy: Vec<u64>,
    others: u64,
    switches: u64,
    bins: Bins,
}

/// A thread that comes to a processor on which one of another recording still runs.
#[derive(Debug, Clone, Copy)]
struct Early {
    part: usize,
    id: ThreadId,
    lane: usize,
    time: u64,
}

/// Takes the events of all recordings in order of time.
pub(super) struct Collector<'a> {
    infos: &'a [&'a Info],
    begin: u64,
    /// Of the time line; the last event, if the recording was not ended.
    length: u64,
    threads: Threads,
    numbers: Vec<u32>,
    lanes: Vec<Lane>,
    by_number: HashMap<u32, usize>,
    in_use: InUse,
    bins: Bins,
    waits: Waits,
    wakes: Wakes,
    lost: u64,
    /// When events were lost last.
    last_loss: u64,
    /// Each recording looks at the clock for itself: of one switch, that of who comes may do so before that of who leaves. They wait for the other's event.
    early: Vec<Early>,
    /// The last event of each recording on each processor.
    last_of: Vec<Vec<u64>>,
    told: &'a mut dyn Each,
}

impl<'a> Collector<'a> {
    /// `processors`: those that have streams.
    pub(super) fn new(
        infos: &'a [&'a Info],
        processors: impl Iterator<Item = u32>,
        told: &'a mut dyn Each,
    ) -> Self {
        let begin = infos.iter().map(|info| info.start_monotonic_ns).min();
        let end = infos.iter().map(|info| info.end_monotonic_ns).max();
        let begin = begin.unwrap_or(0);
        let length = end.unwrap_or(0).saturating_sub(begin);
        let mut numbers: Vec<u32> = processors.collect();
        numbers.sort_unstable();
        numbers.dedup();
        let lane = |_: &u32| Lane {
            runs: None,
            last: 0,
            queue: Queue::default(),
            busy: vec![0; infos.len()],
            others: 0,
            switches: 0,
            bins: Bins::new(length),
        };
        Self {
            infos,
            begin,
            length,
            threads: Threads::default(),
            lanes: numbers.iter().map(lane).collect(),
            by_number: numbers.iter().copied().zip(0..).collect(),
            last_of: vec![vec![0; numbers.len()]; infos.len()],
            numbers,
            in_use: InUse::default(),
            bins: Bins::new(length),
            waits: Waits::default(),
            wakes: Wakes::default(),
            lost: 0,
            last_loss: 0,
            early: Vec::new(),
            told,
        }
    }

    /// Takes an event of a recording.
    pub(super) fn add(&mut self, part: usize, record: &Record) {
        let Some(&lane) = self.by_number.get(&record.processor) else {
            return;
        };
        let time = record.time.saturating_sub(self.begin);
        self.last_of[part][lane] = time;
        if !self.early.is_empty() && self.settle(part, record, lane, time) {
            return;
        }
        if self.infos.len() > 1 && self.is_early(part, record, lane) {
            let id = record.thread;
            self.early.push(Early {
                part,
                id,
                lane,
                time,
            });
            return;
        }
        self.take(part, record, lane, time);
    }

    /// Whether a thread comes although one of another recording has not left.
    fn is_early(&self, part: usize, record: &Record, lane: usize) -> bool {
        let runs = self.lanes[lane].runs;
        let other = runs.is_some_and(|(thread, _)| self.threads.all[thread].part != part);
        record.what == What::In && other
    }

    /// Lets those come that waited for this event, or for longer than one switch takes. Whether that was all.
    fn settle(&mut self, part: usize, record: &Record, lane: usize, time: u64) -> bool {
        let runs = self.lanes[lane].runs.map(|(thread, _)| thread);
        // By eBPF the exit of a thread is its last leave.
        let leaves = matches!(record.what, What::Out(_) | What::Exit)
            && runs.is_some()
            && self.threads.find(part, record.thread.tid) == runs;
        let tells = matches!(
            record.what,
            What::In | What::Out(_) | What::Exit | What::Exec(_) | What::Lost(_)
        );
        let mut waits_for_this = None;
        let mut over = Vec::new();
        self.early.retain(|early| {
            let is_own = (early.part, early.id.tid) == (part, record.thread.tid);
            let is_here = tells && (early.lane == lane || is_own);
            if is_here && leaves && !is_own {
                waits_for_this = Some(*early);
            } else if is_here || early.time.saturating_add(DIRECT_NS) < time {
                over.push(*early);
            } else {
                return true;
            }
            false
        });
        for early in over {
            self.runs(early.part, early.id, early.lane, early.time);
        }
        let Some(early) = waits_for_this else {
            return false;
        };
        self.take(part, record, lane, time);
        self.runs(early.part, early.id, early.lane, time);
        true
    }

    fn take(&mut self, part: usize, record: &Record, lane: usize, time: u64) {
        let id = record.thread;
        match &record.what {
            What::In => self.runs(part, id, lane, time),
            What::Out(leave) => self.leaves(part, id, lane, time, *leave),
            What::Fork(parent) => self.forks(part, id, *parent, time),
            What::Exit => {
                if let Some(thread) = self.threads.find(part, id.tid) {
                    self.set(thread, time, State::Ended);
                }
            }
            What::Exec(name) => self.becomes(part, id, lane, time, name),
            What::Name(name) => {
                let thread = self.thread(part, id, time);
                self.threads.all[thread].name.clone_from(name);
                let process = self.threads.all[thread].process;
                let process = &mut self.threads.processes[process];
                if process.name.is_empty() && id.tid == id.pid {
                    process.name.clone_from(name);
                }
            }
            What::Arguments(text) => {
                let process = self.process(part, id, time);
                self.threads.processes[process].arguments.clone_from(text);
            }
            What::Lost(count) => self.loses(lane, time, *count),
            What::Wake {
                by,
                processor,
                context,
            } => self.wakes(part, id, time, (*by, *processor, *context)),
            What::Priority(priority) => {
                let thread = self.thread(part, id, time);
                self.threads.all[thread].priority = Some(*priority);
            }
        }
        self.lanes[lane].last = time;
    }

    /// The process, made known if it is not.
    fn process(&mut self, part: usize, id: ThreadId, time: u64) -> usize {
        let known = self.threads.process(part, id.pid);
        known.unwrap_or_else(|| {
            let info = self.infos[part];
            let is_own = info.recorded != Recorded::System || info.pid == id.pid;
            self.threads
                .add_process(part, id.pid, is_own.then_some(part), time)
        })
    }

    /// The thread, made known if it is not.
    fn thread(&mut self, part: usize, id: ThreadId, time: u64) -> usize {
        if let Some(thread) = self.threads.find(part, id.tid) {
            return thread;
        }
        let process = self.process(part, id, time);
        self.threads.add(part, id, process, State::Unknown, time)
    }

    fn runs(&mut self, part: usize, id: ThreadId, lane: usize, time: u64) {
        self.vacate(lane, time, State::Unknown);
        if id.tid == 0 {
            return; // the processor has nothing to do
        }
        let known = self.threads.find(part, id.tid);
        let known = known.or_else(|| self.threads.revive(part, id.tid, self.last_loss));
        let thread = known.unwrap_or_else(|| self.thread(part, id, time));
        self.set(thread, time, State::Runs(lane));
    }

    fn leaves(&mut self, part: usize, id: ThreadId, lane: usize, time: u64, leave: Leave) {
        if id.tid == 0 {
            return;
        }
        let Some(thread) = self.threads.find(part, id.tid) else {
            return; // it has ended, and leaves for the last time
        };
        if self.threads.all[thread].has_exited {
            // Whether it comes again is seen when it does: it may be reaped before, and has no number then.
            return self.set(thread, time, State::Ended);
        }
        let times = &mut self.threads.all[thread].times;
        let to = match leave {
            Leave::Blocked => {
                times.voluntary += 1;
                State::Blocked
            }
            Leave::Ready | Leave::Yielded => {
                times.involuntary += 1;
                times.yielded += u64::from(leave == Leave::Yielded);
                State::Ready
            }
        };
        self.set(thread, time, to);
        if to == State::Ready && self.lanes[lane].queue.leave(thread, time) {
            self.threads.all[thread].waits_at = Some(lane);
        }
    }

    /// The thread can go on. If it had not left its processor yet, nothing has happened.
    fn wakes(
        &mut self,
        part: usize,
        id: ThreadId,
        time: u64,
        (by, processor, context): (ThreadId, u32, Context),
    ) {
        let thread = self.thread(part, id, time);
        let state = self.threads.all[thread].state;
        if !matches!(state, State::Blocked | State::Unknown) {
            return;
        }
        // A processor that has nothing to do wakes nobody by itself: that was an interrupt, or a call of another processor, on the stack of its idle task.
        let context = match context {
            Context::Thread if by.tid == 0 => Context::Interrupt,
            other => other,
        };
        let who = match context {
            Context::Thread | Context::Unknown if by.tid != 0 => self.threads.find(part, by.tid),
            _ => None,
        };
        self.set(thread, time, State::Ready);
        let live = &mut self.threads.all[thread];
        live.woken = Some(self.wakes.add(thread, context, by, who));
        // It waits where it ran last: elsewhere it would run at once.
        if let Some(lane) = live.last
            && self.lanes[lane].queue.join(thread, time)
        {
            live.waits_at = Some(lane);
        }
        let process = &self.threads.processes[live.process];
        self.told.woken(&Woken {
            time_ns: time,
            by_tid: by.tid,
            by_pid: by.pid,
            by_processor: processor,
            context,
            application: process.application,
            pid: process.pid,
            tid: live.tid,
        });
    }

    fn forks(&mut self, part: usize, id: ThreadId, parent: ThreadId, time: u64) {
        if let Some(old) = self.threads.find(part, id.tid) {
            self.set(old, time, State::Ended); // its end was lost
        }
        let of_parent = self.process(part, parent, time);
        let process = match id.pid == parent.pid {
            true => of_parent,
            false => {
                let info = self.infos[part];
                let old = &self.threads.processes[of_parent];
                let (name, mut own) = (old.name.clone(), old.application);
                if id.pid == info.pid {
                    own = Some(part);
                }
                let new = self.threads.add_process(part, id.pid, own, time);
                let process = &mut self.threads.processes[new];
                process.name = name;
                process.parent = Some(parent.pid).filter(|_| id.pid != info.pid);
                new
            }
        };
        self.threads.add(part, id, process, State::Ready, time);
    }

    /// The process becomes another program: of its threads the one is left.
    fn becomes(&mut self, part: usize, id: ThreadId, lane: usize, time: u64, name: &str) {
        let mut thread = self.thread(part, id, time);
        if self.threads.all[thread].has_exited {
            // The first thread, in its last steps: another one has its number from now on.
            let process = self.threads.all[thread].process;
            self.set(thread, time, State::Ended);
            let state = State::Unknown;
            thread = self.threads.add(part, id, process, state, time);
        }
        let process = self.threads.all[thread].process;
        let others = self.threads.processes[process].threads.clone();
        for other in others.into_iter().filter(|other| *other != thread) {
            self.set(other, time, State::Ended);
        }
        name.clone_into(&mut self.threads.all[thread].name);
        let process = &mut self.threads.processes[process];
        name.clone_into(&mut process.name);
        process.arguments.clear();
        if !matches!(self.threads.all[thread].state, State::Runs(_)) {
            self.vacate(lane, time, State::Unknown);
            self.set(thread, time, State::Runs(lane));
        }
    }

    /// What the processor did since its last event is not known.
    fn loses(&mut self, lane: usize, time: u64, count: u64) {
        self.lost = self.lost.saturating_add(count);
        self.last_loss = time;
        let last = self.lanes[lane].last.min(time);
        self.vacate(lane, last, State::Unknown);
    }

    /// Nobody runs on the processor any more.
    fn vacate(&mut self, lane: usize, time: u64, to: State) {
        if let Some((thread, _)) = self.lanes[lane].runs {
            let to = match self.threads.all[thread].has_exited {
                true => State::Ended,
                false => to,
            };
            self.set(thread, time, to);
        }
    }

    /// Ends what a thread did, with all that follows from it; from now on it does something else.
    fn set(&mut self, thread: usize, time: u64, to: State) {
        if let State::Runs(lane) = self.threads.all[thread].state {
            self.tell(thread, lane, time, to);
            self.stops(thread, lane, time);
        }
        if let Some(lane) = self.threads.all[thread].waits_at.take() {
            let lane = &mut self.lanes[lane];
            lane.queue.end(thread, time, lane.runs, &mut self.waits);
            let thread = &mut self.threads.all[thread];
            let ns = time.saturating_sub(thread.since);
            thread.preempted_ns = thread.preempted_ns.saturating_add(ns);
        }
        if let Some(pair) = self.threads.all[thread].woken.take() {
            let ns = time.saturating_sub(self.threads.all[thread].since);
            self.wakes.ran(pair, ns);
            let times = &mut self.threads.all[thread].times;
            times.woken_ns = times.woken_ns.saturating_add(ns);
        }
        self.lasted(thread, time);
        self.threads.change(thread, time, to);
        if let State::Runs(lane) = to {
            self.begins(thread, lane, time);
        }
    }

    fn tell(&mut self, thread: usize, lane: usize, time: u64, to: State) {
        let live = &self.threads.all[thread];
        let process = &self.threads.processes[live.process];
        self.told.slice(&Slice {
            processor: self.numbers[lane],
            begin_ns: live.since,
            end_ns: time.max(live.since),
            application: process.application,
            pid: process.pid,
            tid: live.tid,
            name: &live.name,
            process_name: &process.name,
            then: match to {
                State::Blocked => "blocked",
                State::Ready => "ready",
                State::Ended => "ended",
                State::Runs(_) | State::Unknown => "unknown",
            },
        });
    }

    /// Tells what a thread did up to now.
    fn lasted(&mut self, thread: usize, time: u64) {
        let live = &self.threads.all[thread];
        let state = match live.state {
            State::Runs(_) => "running",
            State::Ready => "ready",
            State::Blocked => "blocked",
            State::Unknown => "unknown",
            State::Ended => return,
        };
        if live.since >= time {
            return;
        }
        let process = &self.threads.processes[live.process];
        self.told.stretch(&Stretch {
            thread,
            state,
            begin_ns: live.since,
            end_ns: time,
            application: process.application,
            process: live.process,
            pid: process.pid,
            tid: live.tid,
            name: &live.name,
            process_name: &process.name,
        });
    }

    fn begins(&mut self, thread: usize, lane: usize, time: u64) {
        let live = &mut self.threads.all[thread];
        live.times.migrations += u64::from(live.last.is_some_and(|last| last != lane));
        live.last = Some(lane);
        let is_own = self.threads.processes[live.process].application.is_some();
        let lane = &mut self.lanes[lane];
        lane.switches += 1;
        lane.runs = Some((thread, time));
        lane.queue.take(thread, time, &mut self.waits);
        if is_own {
            self.in_use.change(time, true);
        }
    }

    fn stops(&mut self, thread: usize, lane: usize, time: u64) {
        let process = self.threads.all[thread].process;
        let application = self.threads.processes[process].application;
        let from = self.threads.all[thread].since;
        let lane = &mut self.lanes[lane];
        lane.runs = None;
        lane.queue.ran(thread, from, time, &mut self.waits);
        let ns = time.saturating_sub(from);
        match application {
            Some(application) => {
                lane.busy[application] = lane.busy[application].saturating_add(ns);
                lane.bins.add(from, time);
                self.bins.add(from, time);
                self.in_use.change(time, false);
            }
            None => lane.others = lane.others.saturating_add(ns),
        }
    }

    /// What there was. States that last at the end of their recording end there. On processors whose stream
    /// broke off (`broken`, by recording) they end at its last event, and so do those of threads that ran on none: they may have run there.
    pub(super) fn finish(mut self, broken: &[Vec<u32>]) -> Allocation {
        for early in std::mem::take(&mut self.early) {
            self.runs(early.part, early.id, early.lane, early.time);
        }
        let broken: Vec<Vec<usize>> = broken
            .iter()
            .map(|numbers| {
                let lanes = numbers
                    .iter()
                    .filter_map(|number| self.by_number.get(number));
                lanes.copied().collect()
            })
            .collect();
        let last = self.lanes.iter().map(|lane| lane.last).max().unwrap_or(0);
        for thread in 0..self.threads.all.len() {
            let process = self.threads.all[thread].process;
            let application = self.threads.processes[process].application;
            let info = self.infos[application.unwrap_or(0)];
            let end = match info.end_monotonic_ns {
                0 => last,
                end => end.saturating_sub(self.begin),
            };
            let state = self.threads.all[thread].state;
            // The state stays: the thread has not ended.
            let end = end.max(self.threads.all[thread].since);
            let part = self.threads.all[thread].part;
            let state = match state {
                State::Ended => state,
                State::Runs(lane) if !broken[part].contains(&lane) => state,
                _ if !broken[part].is_empty() => {
                    let of_lane = |lane: &usize| self.last_of[part][*lane];
                    let known = match state {
                        State::Runs(lane) => of_lane(&lane),
                        _ => broken[part].iter().map(of_lane).min().unwrap_or(end),
                    };
                    let known = known.max(self.threads.all[thread].since).min(end);
                    self.set(thread, known, State::Unknown);
                    State::Unknown
                }
                _ => state,
            };
            match state {
                State::Ended => {}
                State::Runs(_) => self.set(thread, end, State::Unknown),
                _ => self.set(thread, end, state),
            }
        }
        let mut applications = Vec::new();
        for (at, info) in self.infos.iter().enumerate() {
            let processes = self.threads.of_application(at, &self.numbers);
            applications.push(application(info, self.begin, processes));
        }
        let is_system = self
            .infos
            .iter()
            .any(|info| info.recorded == Recorded::System);
        let processor = |(lane, number): (Lane, &u32)| Processor {
            processor: *number,
            busy_ns: lane.busy,
            others_ns: is_system.then_some(lane.others),
            switches: lane.switches,
            busy: lane.bins.shares(),
        };
        let (interference, unattributed_ns) = self.waits.finish(&self.threads);
        let (woken, more_wakes) = self.wakes.finish(&self.threads);
        Allocation {
            recorded: recorded(self.infos).word(),
            recorder: recorder(self.infos).map(Recorder::word),
            woken,
            more_wakes,
            trouble: self.infos.iter().find_map(|info| info.trouble.clone()),
            duration_ns: self.length.max(last),
            lost: self.lost,
            damaged_streams: 0,
            applications,
            processors: self
                .lanes
                .into_iter()
                .zip(&self.numbers)
                .map(processor)
                .collect(),
            in_use_ns: self.in_use.finish(self.length.max(last)),
            in_use: self.bins.shares(),
            interference,
            unattributed_ns,
        }
    }
}

fn recorded(infos: &[&Info]) -> Recorded {
    let of = |kind| infos.iter().any(|info| info.recorded == kind);
    match (of(Recorded::Sums), of(Recorded::System)) {
        (true, _) => Recorded::Sums,
        (_, true) => Recorded::System,
        _ => Recorded::Tree,
    }
}

/// What recorded all of them; of several, the one that tells less.
fn recorder(infos: &[&Info]) -> Option<Recorder> {
    let mut recorded = infos
        .iter()
        .filter(|info| info.recorded != Recorded::Sums)
        .map(|info| info.recorder);
    let first = recorded.next()?;
    Some(match recorded.any(|other| other != first) {
        true => Recorder::Perf,
        false => first,
    })
}

fn application(info: &Info, begin: u64, mut processes: Vec<super::model::Process>) -> Application {
    let mut found = Application {
        program: info.program.clone(),
        arguments: info.arguments.clone(),
        pid: info.pid,
        begin_ns: info.start_monotonic_ns.saturating_sub(begin),
        end_ns: info.end_monotonic_ns.saturating_sub(begin),
        counted: info.usage.map(|usage| Counted {
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            voluntary: usage.voluntary,
            involuntary: usage.involuntary,
        }),
        ..Application::default()
    };
    for process in &mut processes {
        found.times.add(&process.times);
        // The launcher has the arguments of its program, however short that lived.
        let is_own = process.pid == info.pid && info.program.starts_with(&process.name);
        if is_own && process.arguments.is_empty() && !process.name.is_empty() {
            let whole = [info.program.as_str(), info.arguments.as_str()].join(" ");
            whole.trim_end().clone_into(&mut process.arguments);
        }
    }
    found.processes = processes;
    found
}
