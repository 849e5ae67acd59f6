//! A program that runs in virtual time. One construct is played after the other; each thread has a clock of its own.

use std::collections::HashMap;

use fastrand::Rng;

use super::{Recipe, Recorded};
use crate::layout::Layout;
use crate::synth::{Body, START_MONOTONIC, START_REALTIME, START_TICKS};

/// A task or region where there is none.
const NOBODY: (u32, u32) = (u32::MAX, 0);
/// Most tasks of a trace for each of its constructs.
const TASKS: u32 = 20;

/// Address of the text of a name.
pub(super) fn name(number: u64) -> u64 {
    0x7000 + number * 16
}

/// Address of a body.
pub(super) fn function(number: u64) -> u64 {
    0x1000 + number * 0x40
}

/// Address of a lock, or of what tasks depend on.
pub(super) fn object(number: u64) -> u64 {
    0x9000 + number * 8
}

/// A thread of the program.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) now: u64,
    pub(super) events: Vec<Recorded>,
    /// Explicit tasks that run on it, innermost last.
    pub(super) tasks: Vec<(u32, u32)>,
    pub(super) region: (u32, u32),
    pub(super) next_task: u32,
    pub(super) next_region: u32,
}

/// A task that waits to be run.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) task: (u32, u32),
    pub(super) parent: (u32, u32),
    /// It does not begin earlier.
    pub(super) from: u64,
    pub(super) deps: Vec<(u64, u32)>,
    pub(super) untied: bool,
    /// Handle of a `detach` clause, 0: none.
    pub(super) handle: u64,
}

/// The program.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) layout: Layout,
    pub(super) random: Rng,
    pub(super) threads: Vec<Thread>,
    pub(super) ready: Vec<Ready>,
    /// When the last task that names an address has ended.
    pub(super) depend: HashMap<u64, u64>,
    /// Blocks of the heap, mappings and memory of allocators that are in use: address and bytes.
    pub(super) blocks: Vec<(u64, u64)>,
    pub(super) pages: Vec<(u64, u64)>,
    pub(super) omp: Vec<u64>,
    /// Addresses are handed out once.
    pub(super) next_address: u64,
    /// When each lock is free.
    pub(super) locks: [u64; 8],
    pub(super) tasks_left: u32,
}

impl Program {
    /// Numbers and events of streams: threads of the program, one of the runtime's own, two processors, context switches of the first two threads.
    pub(super) fn run(recipe: &Recipe) -> Vec<(u32, Vec<Recorded>)> {
        let thread = |_| Thread {
            now: START_TICKS,
            events: Vec::new(),
            tasks: Vec::new(),
            region: NOBODY,
            next_task: 0,
            next_region: 1,
        };
        let mut program = Self {
            layout: recipe.layout,
            random: Rng::with_seed(recipe.seed),
            threads: (0..recipe.threads.max(1)).map(thread).collect(),
            ready: Vec::new(),
            depend: HashMap::new(),
            blocks: Vec::new(),
            pages: Vec::new(),
            omp: Vec::new(),
            next_address: 0x10_0000,
            locks: [0; 8],
            tasks_left: recipe.constructs.saturating_mul(TASKS),
        };
        program.begin(0);
        for _ in 0..recipe.constructs {
            match program.random.u8(..4) {
                0 => program.leaf(0),
                _ => program.top_region(),
            }
        }
        program.finish();
        let (end, mut random) = (program.end(), program.random.clone());
        let layout = program.layout;
        let mut streams: Vec<_> = program
            .threads
            .into_iter()
            .map(|thread| thread.events)
            .collect();
        let threads = streams.len() as u32;
        streams.push(reader(threads, layout, end, &mut random));
        for processor in 0..2 {
            streams.push(switches(processor, threads, layout, end, &mut random));
        }
        let mut streams: Vec<_> = (0..).zip(streams).collect();
        for thread in 0..threads.min(2) {
            streams.push((thread | 1 << 31, scheduled(layout, end, &mut random)));
        }
        streams
    }

    /// The latest clock.
    fn end(&self) -> u64 {
        self.threads
            .iter()
            .map(|thread| thread.now)
            .max()
            .unwrap_or(0)
    }

    /// Records an event of `thread`, some ticks later.
    pub(super) fn put(&mut self, thread: usize, id: u8, fields: impl FnOnce(&mut Body)) {
        let step = 1 + self.random.u64(..30);
        let own = &mut self.threads[thread];
        own.now += step;
        let mut body = Body::new(self.layout);
        fields(&mut body);
        own.events.push(Recorded {
            at: own.now,
            id,
            fields: body.bytes,
            task: own.tasks.last().copied().unwrap_or(NOBODY),
            region: own.region,
        });
    }

    /// The clock of `thread` does not stand before `time`.
    pub(super) fn not_before(&mut self, thread: usize, time: u64) {
        let own = &mut self.threads[thread];
        own.now = own.now.max(time);
    }

    /// The first events of a thread.
    pub(super) fn begin(&mut self, thread: usize) {
        let number = thread as u32;
        self.put(thread, 1, |body| {
            _ = body.u32(4000 + number).u32(u32::from(thread == 0))
        });
        for number in 0..4 {
            self.put(thread, 7, |body| {
                _ = body
                    .text(["first", "second", "third", "fourth"][number as usize])
                    .addr(name(number))
            });
        }
        self.synchronise(thread);
        self.put(thread, 79, |body| {
            _ = body
                .u32(1)
                .addr(0x7F00_0000)
                .addr(0x7F80_0000)
                .addr(0x7F7F_0000)
        });
        self.put(thread, 80, |body| _ = body.u32(1).u32(27).u64(1000));
        if thread == 0 {
            self.put(thread, 78, |body| {
                _ = body.u64(1 << 20).u64(0).u64(1 << 20).u64(0)
            });
        }
    }

    /// A pair for the clock, which runs at 1 GHz and does not drift.
    pub(super) fn synchronise(&mut self, thread: usize) {
        let ticks = self.threads[thread].now;
        let passed = ticks - START_TICKS;
        self.put(thread, 3, |body| {
            _ = body
                .u64(ticks)
                .u64(START_MONOTONIC + passed)
                .u64(START_REALTIME + passed)
        });
    }

    /// All threads end, the initial one last.
    fn finish(&mut self) {
        let end = self.end();
        for thread in (0..self.threads.len()).rev() {
            if self.threads[thread].events.is_empty() {
                continue;
            }
            self.not_before(thread, end);
            self.put(thread, 66, |body| {
                _ = body.u32(2).u32(2).i64(900_000).i64(800_000)
            });
            self.put(thread, 79, |body| {
                _ = body
                    .u32(2)
                    .addr(0x7F00_0000)
                    .addr(0x7F80_0000)
                    .addr(0x7F70_0000)
            });
            if thread == 0 {
                self.put(thread, 78, |body| {
                    _ = body.u64(1 << 20).u64(4096).u64(1 << 19).u64(0)
                });
                let all = self.end();
                self.not_before(thread, all);
            }
            self.put(thread, 2, |_| {});
        }
    }

    /// A region of the initial thread with any number of threads.
    fn top_region(&mut self) {
        let members: Vec<usize> = (0..self.random.usize(1..=self.threads.len())).collect();
        self.region(&members, 0);
    }

    /// A region of `members`; the first encounters it.
    pub(super) fn region(&mut self, members: &[usize], depth: u32) {
        let (leader, team) = (members[0], members.len() as u32);
        let seq = self.threads[leader].next_region;
        self.threads[leader].next_region += 1;
        let (region, body_of) = ((leader as u32, seq), function(self.random.u64(..4)));
        let kind = [0, 0, 0, 1, 2][self.random.usize(..5)];
        self.put(leader, 16, |body| {
            _ = body.u32(seq).addr(body_of).u32(team).u32(kind)
        });
        let start = self.threads[leader].now;
        let mut before = Vec::new();
        for (number, &member) in (0..).zip(members) {
            if self.threads[member].events.is_empty() {
                self.not_before(member, start);
                self.begin(member);
            }
            self.not_before(member, start);
            let own = &mut self.threads[member];
            before.push((
                std::mem::take(&mut own.tasks),
                std::mem::replace(&mut own.region, region),
            ));
            let told = if number == 0 { team } else { 0 };
            self.put(member, 18, |body| {
                _ = body.u32(region.0).u32(region.1).u32(number).u32(told)
            });
        }
        for _ in 0..self.random.u8(..6) {
            self.construct(members, depth);
        }
        for &member in members {
            self.put(member, 19, |_| {});
        }
        self.drain(members, None);
        let end = members.iter().map(|member| self.threads[*member].now).max();
        self.not_before(leader, end.unwrap_or(0));
        self.put(leader, 17, |body| _ = body.u32(seq));
        let end = self.threads[leader].now;
        for (&member, (tasks, region)) in members.iter().zip(before) {
            self.not_before(member, end);
            (self.threads[member].tasks, self.threads[member].region) = (tasks, region);
        }
    }

    /// Runs tasks on `threads`, which wait: all that are ready, or the children of one.
    pub(super) fn drain(&mut self, threads: &[usize], of: Option<(u32, u32)>) {
        loop {
            let wanted = |ready: &Ready| of.is_none_or(|parent| ready.parent == parent);
            let Some(at) = self.ready.iter().position(wanted) else {
                return;
            };
            let ready = self.ready.remove(at);
            let thread = threads[self.random.usize(..threads.len())];
            self.run_task(thread, threads, &ready);
        }
    }

    /// Runs a task; an untied one may go on on another of `threads`.
    pub(super) fn run_task(&mut self, mut thread: usize, threads: &[usize], ready: &Ready) {
        let mut from = ready.from;
        for (address, kind) in &ready.deps {
            let free = match kind {
                6 => self.depend.values().copied().max(),
                _ => self
                    .depend
                    .get(address)
                    .copied()
                    .max(self.depend.get(&0).copied()),
            };
            from = from.max(free.unwrap_or(0));
        }
        self.not_before(thread, from);
        let task = ready.task;
        self.put(thread, 42, |body| _ = body.u32(task.0).u32(task.1));
        self.threads[thread].tasks.push(task);
        self.task_body(thread);
        if ready.untied && self.random.bool() {
            self.put(thread, 50, |_| {});
            self.threads[thread].tasks.pop();
            let time = self.threads[thread].now;
            thread = threads[self.random.usize(..threads.len())];
            self.not_before(thread, time);
            self.put(thread, 51, |body| _ = body.u32(task.0).u32(task.1));
            self.threads[thread].tasks.push(task);
            self.task_body(thread);
        }
        if ready.handle != 0 {
            self.put(thread, 53, |body| {
                _ = body.u32(task.0).u32(task.1).addr(ready.handle)
            });
        }
        self.put(thread, 43, |_| {});
        self.threads[thread].tasks.pop();
        let end = self.threads[thread].now;
        for (address, kind) in &ready.deps {
            // What everything depends on counts for all addresses.
            let address = if *kind == 6 { 0 } else { *address };
            let free = self.depend.entry(address).or_default();
            *free = end.max(*free);
        }
    }
}

/// The stream of a thread of the runtime's own, which reads sensors.
fn reader(thread: u32, layout: Layout, end: u64, random: &mut Rng) -> Vec<Recorded> {
    let mut events = Vec::new();
    let mut put = |at, id, fields: &dyn Fn(&mut Body)| events.push(alone(layout, at, id, fields));
    put(START_TICKS + 2, 1, &|body| {
        _ = body.u32(4000 + thread).u32(2)
    });
    let (mut at, mut energy) = (START_TICKS + 5, 999_000);
    while at < end {
        energy = (energy + random.i64(..2000)) % 1_000_000;
        put(at, 64, &|body| _ = body.u32(0).u32(1).i64(energy));
        let degrees = random.i64(30_000..60_000);
        put(at + 1, 64, &|body| {
            _ = body.u32(1).u32(2).i64(degrees).i64(degrees + 1)
        });
        at += 500 + random.u64(..1000);
    }
    put(at, 65, &|body| _ = body.u32(1).u32(5));
    put(at + 1, 2, &|_| {});
    events
}

/// The stream of a processor, which turns from thread to thread.
fn switches(
    processor: u32,
    threads: u32,
    layout: Layout,
    end: u64,
    random: &mut Rng,
) -> Vec<Recorded> {
    let mut events = Vec::new();
    let mut put = |at, id, fields: &dyn Fn(&mut Body)| events.push(alone(layout, at, id, fields));
    put(START_TICKS + 1, 1, &|body| _ = body.u32(processor).u32(4));
    let (mut at, mut runs) = (START_TICKS + 3, 0);
    while at < end {
        let thread = 4000 + random.u32(..threads);
        let next = [0, 1, thread][random.usize(..3)];
        put(at, 88, &|body| _ = body.u32(processor).u32(runs).u32(next));
        runs = next;
        at += 100 + random.u64(..2000);
    }
    put(at, 2, &|_| {});
    events
}

/// What the system does with a thread.
fn scheduled(layout: Layout, end: u64, random: &mut Rng) -> Vec<Recorded> {
    let mut events = Vec::new();
    let mut at = START_TICKS + 2;
    while at < end {
        let (state, number) = (random.u32(1..=4), random.u32(..4));
        events.push(alone(layout, at, 92, &|body| {
            _ = body.u32(state).u32(number);
        }));
        at += 50 + random.u64(..1000);
    }
    events
}

/// An event outside of tasks and regions.
fn alone(layout: Layout, at: u64, id: u8, fields: &dyn Fn(&mut Body)) -> Recorded {
    let mut body = Body::new(layout);
    fields(&mut body);
    Recorded {
        at,
        id,
        fields: body.bytes,
        task: NOBODY,
        region: NOBODY,
    }
}
