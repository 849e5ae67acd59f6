//! Executes a program on simulated threads: each runs ready tasks whenever it waits. Writes the trace.

use std::collections::HashMap;
use std::path::Path;

use instr_trace::synth::{self, START_TICKS, StreamWriter};

use crate::model::{Program, Step, predecessors};

const REGION: u32 = 1;

pub(crate) struct Random(pub u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Wait {
    Taskwait,
    Group,
    /// For the predecessors of this task; then it is complete (`true`), or begins here.
    For(usize, bool),
}

struct Frame {
    /// 0: the implicit task of thread 0; `usize::MAX`: those of the others.
    task: usize,
    at: usize,
    wait: Option<Wait>,
    children: Vec<usize>,
    groups: Vec<usize>,
    /// Its user code up to here is accounted.
    since: u64,
}

impl Frame {
    fn new(task: usize, since: u64) -> Self {
        Self {
            task,
            at: 0,
            wait: None,
            children: Vec::new(),
            groups: Vec::new(),
            since,
        }
    }
}

#[derive(Clone, Default)]
struct State {
    created: bool,
    begun: bool,
    ended: bool,
    groups: Vec<usize>,
    seq: u32,
    thread: u32,
    undeferred: bool,
}

struct Thread {
    clock: u64,
    frames: Vec<Frame>,
    out: StreamWriter<std::io::BufWriter<std::fs::File>>,
    seq: u32,
    closing: bool,
}

/// What happened.
pub(crate) struct Run {
    /// (thread, number) of each task.
    pub(crate) ids: Vec<(u32, u32)>,
    /// User code of each task before each of its steps, and before its end.
    pub(crate) work: HashMap<(usize, usize), u64>,
}

/// Runs the program.
pub(crate) fn run(dir: &Path, program: &Program, threads: usize, seed: u64) -> Run {
    let layout = synth::layouts()[seed as usize % 4];
    synth::begin(dir, layout, 1_000_000_000).unwrap();
    let threads = (0..threads).map(|index| {
        let clock = START_TICKS + 100 + 3 * index as u64;
        let task = if index == 0 { 0 } else { usize::MAX };
        Thread {
            clock,
            frames: vec![Frame::new(task, clock)],
            out: StreamWriter::create(dir, layout, index as u32, 4096).unwrap(),
            seq: 0,
            closing: false,
        }
    });
    let mut simulation = Simulation {
        program,
        states: vec![State::default(); program.tasks.len()],
        threads: threads.collect(),
        order: Vec::new(),
        groups: 0,
        work: HashMap::new(),
        random: Random(seed),
    };
    simulation.begin();
    simulation.all();
    simulation.end();
    let states = simulation.states.iter();
    Run {
        ids: states.map(|state| (state.thread, state.seq)).collect(),
        work: simulation.work,
    }
}

struct Simulation<'p> {
    program: &'p Program,
    states: Vec<State>,
    threads: Vec<Thread>,
    /// Tasks in order of creation.
    order: Vec<usize>,
    groups: usize,
    work: HashMap<(usize, usize), u64>,
    random: Random,
}

impl Simulation<'_> {
    fn put(&mut self, thread: usize, id: u8, fields: impl FnOnce(&mut synth::Body)) {
        let thread = &mut self.threads[thread];
        thread.out.event(thread.clock, id, fields).unwrap();
    }

    fn begin(&mut self) {
        for thread in 0..self.threads.len() {
            let clock = self.threads[thread].clock;
            if thread == 0 {
                self.threads[0].clock = START_TICKS;
            }
            self.put(thread, 1, |b| _ = b.u32(9).u32(u32::from(thread == 0)));
            if thread == 0 {
                self.threads[0].clock = START_TICKS + 50;
                self.put(0, 16, |b| _ = b.u32(REGION).addr(0x1000).u32(0).u32(0));
            }
            self.threads[thread].clock = clock;
            self.put(thread, 18, |b| {
                _ = b.u32(0).u32(REGION).u32(thread as u32).u32(0)
            });
        }
    }

    fn end(&mut self) {
        for thread in (0..self.threads.len()).rev() {
            let last = self
                .threads
                .iter()
                .map(|thread| thread.clock)
                .max()
                .unwrap();
            self.threads[thread].clock = last + 10;
            if thread == 0 {
                self.put(0, 17, |b| _ = b.u32(REGION));
            }
            self.put(thread, 2, |_| {});
        }
        for thread in self.threads.drain(..) {
            thread.out.finish().unwrap();
        }
    }

    fn all(&mut self) {
        loop {
            let over = self
                .threads
                .iter()
                .all(|thread| thread.closing && thread.frames.len() == 1)
                && self.order.iter().all(|task| self.states[*task].ended);
            if over {
                return;
            }
            let clocks = self.threads.iter().enumerate();
            let (_, thread) = clocks.map(|(at, thread)| (thread.clock, at)).min().unwrap();
            self.act(thread);
            let clock = self.threads[thread].clock;
            assert!(clock < START_TICKS + 10_000_000, "the simulation hangs");
        }
    }

    fn complete(&self, task: usize) -> bool {
        predecessors(self.program, task)
            .iter()
            .all(|before| self.states[*before].ended)
    }

    /// One action of the thread, which takes some time.
    fn act(&mut self, thread: usize) {
        let top = self.threads[thread].frames.last().unwrap();
        let (task, at, wait) = (top.task, top.at, top.wait);
        if let Some(wait) = wait {
            self.wait(thread, wait);
        } else if self.threads[thread].closing && self.threads[thread].frames.len() == 1 {
            self.take(thread);
        } else {
            let steps = self
                .program
                .tasks
                .get(task)
                .map_or(&[][..], |task| &task.steps);
            match steps.get(at).cloned() {
                Some(step) => {
                    self.threads[thread].frames.last_mut().unwrap().at += 1;
                    if !matches!(step, Step::Work(_)) {
                        self.account(thread, task, at);
                    }
                    self.step(thread, task, step);
                }
                None => {
                    self.account(thread, task, at);
                    self.finish(thread, task);
                }
            }
        }
        self.threads[thread].clock += 1 + self.random.below(3);
    }

    fn account(&mut self, thread: usize, task: usize, at: usize) {
        let thread = &mut self.threads[thread];
        let frame = thread.frames.last_mut().unwrap();
        *self.work.entry((task, at)).or_default() += thread.clock - frame.since;
        frame.since = thread.clock;
    }

    /// The running frame is in user code from now on.
    fn goes_on(&mut self, thread: usize) {
        let thread = &mut self.threads[thread];
        thread.frames.last_mut().unwrap().since = thread.clock;
    }

    fn finish(&mut self, thread: usize, task: usize) {
        if task == 0 || task == usize::MAX {
            self.put(thread, 19, |_| {});
            self.threads[thread].closing = true;
            return;
        }
        self.put(thread, 43, |_| {});
        self.states[task].ended = true;
        self.threads[thread].frames.pop();
        if self.states[task].undeferred {
            self.threads[thread].clock += 2;
            self.put(thread, 41, |_| {});
            self.goes_on(thread);
        }
    }

    fn step(&mut self, thread: usize, task: usize, step: Step) {
        match step {
            // The next action follows at once: the time between two is user code, too.
            Step::Work(time) => self.threads[thread].clock += time,
            Step::Create(child) => self.create(thread, task, child),
            Step::Taskwait => self.start_wait(thread, 3, Wait::Taskwait),
            Step::Group => {
                self.groups += 1;
                let group = self.groups;
                self.put(thread, 48, |_| {});
                self.threads[thread]
                    .frames
                    .last_mut()
                    .unwrap()
                    .groups
                    .push(group);
            }
            Step::EndGroup => self.start_wait(thread, 5, Wait::Group),
        }
    }

    fn start_wait(&mut self, thread: usize, kind: u32, wait: Wait) {
        self.put(thread, 32, |b| _ = b.u32(kind));
        self.threads[thread].frames.last_mut().unwrap().wait = Some(wait);
    }

    fn create(&mut self, thread: usize, parent: usize, child: usize) {
        let seq = self.threads[thread].seq;
        self.threads[thread].seq += 1;
        let task = &self.program.tasks[child];
        let deps: Vec<(u64, u32)> = task.deps.clone();
        let frame = self.threads[thread].frames.last_mut().unwrap();
        frame.children.push(child);
        let mut groups = frame.groups.clone();
        groups.extend(
            self.states
                .get(parent)
                .map_or(&[][..], |state| &state.groups),
        );
        self.states[child] = State {
            created: true,
            groups,
            seq,
            thread: thread as u32,
            undeferred: task.undeferred || task.at_once,
            ..State::default()
        };
        self.order.push(child);
        if task.wait {
            self.states[child].created = false;
            self.put(thread, 45, |b| _ = b.u32(seq).u32(0).deps(&deps));
            self.start_wait(thread, 4, Wait::For(child, true));
            return;
        }
        let flags = if task.undeferred { 0x8008 } else { 8 };
        let function = 0x2000 + 0x100 * (child as u64 % 3);
        self.put(thread, 40, |b| {
            _ = b.u32(seq).addr(function).u32(flags).deps(&deps)
        });
        self.threads[thread].clock += 2;
        if task.undeferred || task.at_once {
            // Nobody else takes it.
            self.states[child].created = false;
            self.threads[thread].frames.last_mut().unwrap().wait = Some(Wait::For(child, false));
        } else {
            self.put(thread, 41, |_| {});
            self.goes_on(thread);
        }
    }

    fn wait(&mut self, thread: usize, wait: Wait) {
        let frame = self.threads[thread].frames.last().unwrap();
        let over = match wait {
            Wait::Taskwait => frame.children.iter().all(|child| self.states[*child].ended),
            Wait::Group => {
                let group = frame.groups.last().unwrap();
                self.states
                    .iter()
                    .all(|state| !state.groups.contains(group) || state.ended)
            }
            Wait::For(child, true) => self.complete(child),
            Wait::For(child, false) => self.complete(child) && !self.excluded(child),
        };
        if !over {
            self.take(thread);
            return;
        }
        let frame = self.threads[thread].frames.last_mut().unwrap();
        frame.wait = None;
        match wait {
            Wait::Taskwait => self.put(thread, 33, |b| _ = b.u32(3)),
            Wait::Group => {
                frame.groups.pop();
                self.put(thread, 33, |b| _ = b.u32(5));
            }
            Wait::For(child, true) => {
                self.states[child].ended = true;
                self.put(thread, 33, |b| _ = b.u32(4));
            }
            Wait::For(child, false) => {
                self.start(thread, child);
                return;
            }
        }
        self.goes_on(thread);
    }

    /// A sibling that may not run at the same time runs.
    fn excluded(&self, task: usize) -> bool {
        let running = |other: &usize| self.states[*other].begun && !self.states[*other].ended;
        let mut running = (1..self.states.len()).filter(running);
        running.any(|other| other != task && self.program.excludes(other, task))
    }

    /// Begins a ready task on top of what waits, if there is one and the dice say so.
    fn take(&mut self, thread: usize) {
        let ready = |task: &&usize| {
            let state = &self.states[**task];
            state.created && !state.begun && self.complete(**task)
        };
        let ready: Vec<usize> = self.order.iter().filter(ready).copied().collect();
        let free = |task: &usize| !self.excluded(*task);
        let ready: Vec<usize> = ready.into_iter().filter(free).collect();
        if ready.is_empty() || self.random.below(4) == 0 {
            return;
        }
        let task = ready[self.random.below(ready.len() as u64) as usize];
        self.start(thread, task);
    }

    fn start(&mut self, thread: usize, task: usize) {
        self.states[task].begun = true;
        let (creator, seq) = (self.states[task].thread, self.states[task].seq);
        self.put(thread, 42, |b| _ = b.u32(creator).u32(seq));
        let clock = self.threads[thread].clock;
        self.threads[thread].frames.push(Frame::new(task, clock));
    }
}
