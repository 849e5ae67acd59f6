//! A region run by a number of threads in simulated time: a list scheduler that follows OpenMP's rules.
//!
//! Each thread has a stack of bodies, as real ones have: its implicit task at the bottom, on top of it the tasks that it runs while it waits. Something happens
//! when a piece of work ends, a thread wakes up, or a lock is given back; between two such moments nothing is done. `docs/predict.md` says what is
//! modelled and what is not.

mod base;
mod locks;
mod losses;
mod tasks;
mod teams;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::costs::{Cost, Costs};
use super::model::{Lock, Region, Step};
use super::plan::Plan;

use base::Stage;
use locks::LockState;
pub use losses::{Cause, Losses};
use tasks::{BodyState, Group, Queues, TaskState};

/// No group, no thread, no body.
const NONE: u32 = u32::MAX;

/// Whose rules for tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// libgomp: one queue, first in, first out; waiting threads run children only; with more than 64 tasks for each thread, those that are created run at once.
    #[default]
    Gomp,
    /// libomp: a queue for each thread, last in, first out, and the oldest of another thread's; a task runs at once when 256 are in the creator's queue.
    Omp,
    /// One queue without a limit.
    Unlimited,
}

/// What is assumed of a run.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// Whose rules.
    pub library: Library,
    /// What it costs.
    pub costs: Costs,
    /// By what the work of each spot is multiplied; 1 where there is none.
    pub factors: Vec<f64>,
    /// These locks do not exist.
    pub without: [Option<Lock>; 2],
    /// Creating and taking tasks happens one after the other, on whatever thread.
    pub one_by_one: bool,
    /// So many threads of the team are made for the region.
    pub made: usize,
}

/// What a simulation shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// From the begin of the region to its end, ns.
    pub elapsed: u64,
    /// Threads that it had.
    pub threads: usize,
    /// The time of all threads.
    pub losses: Losses,
}

/// A thread would wait for ever: the recorded order of locks and waits cannot be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck;

/// Runs `region` as `plan` lays it out.
///
/// # Errors
///
/// A thread would wait for ever.
pub fn simulate(region: &Region, plan: &Plan, case: &Case) -> Result<Outcome, Stuck> {
    Simulation::new(region, plan, case).run()
}

/// What a body waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// Its children.
    Children,
    /// The tasks of a group.
    Group(u32),
    /// The predecessors of an undeferred task.
    For(u32),
    /// The other threads.
    Barrier,
    /// A lock.
    Lock,
}

/// What happens to a thread next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// The next step.
    Go,
    /// The task was created.
    Created(u32),
    /// The task begins.
    Begin(u32),
    /// It looks for something to do.
    Look,
    /// A piece of the loop can be taken.
    Asked,
}

/// A body on the stack of a thread.
#[derive(Clone, Debug)]
struct Frame<'a> {
    steps: &'a [Step],
    at: usize,
    /// Pieces of a taskloop that were created.
    pieces: usize,
    /// The task; those of the team come behind the explicit ones.
    body: u32,
    /// The innermost taskgroup.
    group: u32,
    wait: Option<Wait>,
}

#[derive(Clone, Debug)]
struct Thread<'a> {
    frames: Vec<Frame<'a>>,
    stage: Stage,
    next: Next,
    /// Of its last event: others are void.
    token: u32,
    idle: bool,
    /// It waits for a lock since then.
    since: u64,
}

struct Simulation<'a> {
    region: &'a Region,
    plan: &'a Plan,
    case: &'a Case,
    now: u64,
    serial: u64,
    events: BinaryHeap<Reverse<(u64, u64, u32, u32)>>,
    threads: Vec<Thread<'a>>,
    tasks: Vec<TaskState>,
    bodies: Vec<BodyState>,
    groups: Vec<Group>,
    queues: Queues,
    /// Tasks that are created and not complete; that wait for others; that are ready.
    outstanding: u64,
    blocked: u64,
    ready: u64,
    locks: Vec<LockState>,
    /// Threads in the barrier.
    arrived: usize,
    /// Threads that wait in it and have nothing to do, and others that have nothing to do. Some may have got something since.
    idle_at_barrier: Vec<u32>,
    idle_elsewhere: Vec<u32>,
    idle: u64,
    /// The next of each gap's claims, and of each queue's pieces.
    claimed: Vec<usize>,
    taken: Vec<usize>,
    /// Threads that run what one thread does, those that create tasks in it, and those in a loop.
    in_special: u64,
    creators: u64,
    in_share: u64,
    share: u32,
    /// The queue of tasks is in use up to here.
    queue_free: u64,
    over: Option<u64>,
    losses: Losses,
}

impl<'a> Simulation<'a> {
    fn new(region: &'a Region, plan: &'a Plan, case: &'a Case) -> Self {
        let (tasks, threads) = (region.tasks.len(), plan.threads);
        let thread = |number: usize| Thread {
            frames: vec![Frame {
                steps: &[],
                at: 0,
                pieces: 0,
                body: (tasks + number) as u32,
                group: NONE,
                wait: None,
            }],
            stage: Stage::default(),
            next: Next::Go,
            token: 0,
            idle: false,
            since: 0,
        };
        let task = |task: &super::model::Task| TaskState::new(task.predecessors);
        let losses = Losses {
            locks: vec![0; region.locks.len()],
            ..Losses::default()
        };
        Self {
            region,
            plan,
            case,
            now: 0,
            serial: 0,
            events: BinaryHeap::new(),
            threads: (0..threads).map(thread).collect(),
            tasks: region.tasks.iter().map(task).collect(),
            bodies: vec![BodyState::default(); tasks + threads],
            groups: Vec::new(),
            queues: Queues::new(case.library, threads),
            outstanding: 0,
            blocked: 0,
            ready: 0,
            locks: vec![LockState::default(); region.locks.len()],
            arrived: 0,
            idle_at_barrier: Vec::new(),
            idle_elsewhere: Vec::new(),
            idle: 0,
            claimed: vec![0; plan.gaps.len()],
            taken: vec![0; plan.meetings.len()],
            in_special: 0,
            creators: 0,
            in_share: 0,
            share: 0,
            queue_free: 0,
            over: None,
            losses,
        }
    }

    fn run(mut self) -> Result<Outcome, Stuck> {
        self.begin_team();
        while let Some(Reverse((time, _, thread, token))) = self.events.pop() {
            let thread = thread as usize;
            if self.threads[thread].token != token {
                continue;
            }
            self.advance(time);
            self.go(thread);
            if let Some(end) = self.over {
                return Ok(Outcome {
                    elapsed: end,
                    threads: self.threads.len(),
                    losses: self.losses,
                });
            }
        }
        Err(Stuck)
    }

    /// Time passes.
    fn advance(&mut self, time: u64) {
        let passed = time - self.now;
        if passed > 0 && self.idle > 0 {
            let cause = self.cause();
            self.losses.idle(cause, passed * self.idle);
        }
        self.now = time;
    }

    /// Why threads are idle now.
    fn cause(&self) -> Cause {
        if self.creators > 0 && self.blocked == 0 {
            Cause::Creation
        } else if self.outstanding > 0 {
            Cause::Dependences
        } else if self.in_special > 0 {
            Cause::Single
        } else if self.in_share > 0 {
            match self.pieces(self.share) < self.threads.len() {
                true => Cause::FewPieces(self.share),
                false => Cause::Imbalance(self.share),
            }
        } else {
            Cause::Own
        }
    }

    /// The thread goes on at this time.
    fn at(&mut self, thread: usize, time: u64, next: Next) {
        self.serial += 1;
        let state = &mut self.threads[thread];
        state.token = state.token.wrapping_add(1);
        state.next = next;
        let event = (time, self.serial, thread as u32, state.token);
        self.events.push(Reverse(event));
    }

    /// The run-time library works on the thread.
    fn spend(&mut self, thread: usize, cost: Cost, next: Next) {
        let ns = self.case.costs.ns(cost);
        self.losses.spend(cost, ns);
        let queued = matches!(cost, Cost::Create | Cost::Dispatch) && self.case.one_by_one;
        let begin = if queued {
            self.now.max(self.queue_free)
        } else {
            self.now
        };
        self.losses.queue += begin - self.now;
        if queued {
            self.queue_free = begin + ns;
        }
        self.at(thread, begin + ns, next);
    }

    fn top(&mut self, thread: usize) -> &mut Frame<'a> {
        let frames = &mut self.threads[thread].frames;
        let last = frames.len() - 1;
        &mut frames[last]
    }

    fn go(&mut self, thread: usize) {
        match self.threads[thread].next {
            Next::Go => self.steps(thread),
            Next::Created(task) => self.created(thread, task),
            Next::Begin(task) => self.begin(thread, task),
            Next::Look => self.look(thread),
            Next::Asked => self.take_piece(thread),
        }
    }

    /// Does steps until one takes time.
    fn steps(&mut self, thread: usize) {
        loop {
            let frame = self.top(thread);
            let Some(step) = frame.steps.get(frame.at).copied() else {
                match self.threads[thread].frames.len() {
                    1 => match self.next_stage(thread) {
                        true => continue,
                        false => return,
                    },
                    _ => return self.task_ends(thread),
                }
            };
            if let Step::Pieces(taskloop) = step {
                let pieces = &self.region.taskloops[taskloop as usize];
                let frame = self.top(thread);
                if let Some(task) = pieces.get(frame.pieces).copied() {
                    frame.pieces += 1;
                    return self.spend(thread, Cost::Create, Next::Created(task));
                }
                frame.pieces = 0;
            }
            self.top(thread).at += 1;
            self.passed_step(thread, &step);
            match step {
                Step::Work { spot, ns } => {
                    let ns = self.scaled(spot, ns);
                    if ns > 0 {
                        self.losses.work += ns;
                        return self.at(thread, self.now + ns, Next::Go);
                    }
                }
                Step::Create(task) => {
                    return self.spend(thread, Cost::Create, Next::Created(task));
                }
                Step::Pieces(_) => {}
                Step::Taskwait => {
                    self.top(thread).wait = Some(Wait::Children);
                    if !self.is_over(thread) {
                        return self.look(thread);
                    }
                }
                Step::GroupBegin => self.group_begin(thread),
                Step::GroupEnd => {
                    let group = self.top(thread).group;
                    self.top(thread).wait = Some(Wait::Group(group));
                    if !self.is_over(thread) {
                        return self.look(thread);
                    }
                }
                Step::Acquire(lock) => {
                    if self.acquire(thread, lock) {
                        return;
                    }
                }
                Step::Release(lock) => self.release(lock),
            }
        }
    }

    fn scaled(&self, spot: u32, ns: u64) -> u64 {
        match self.case.factors.get(spot as usize) {
            Some(factor) if *factor != 1.0 => (ns as f64 * factor).round() as u64,
            _ => ns,
        }
    }

    /// The thread has nothing to do.
    fn rest(&mut self, thread: usize) {
        self.threads[thread].idle = true;
        self.idle += 1;
        match self.top(thread).wait {
            Some(Wait::Barrier) => self.idle_at_barrier.push(thread as u32),
            _ => self.idle_elsewhere.push(thread as u32),
        }
    }

    /// The thread, which is idle, gets to know that there is something to do.
    fn wake(&mut self, thread: usize) {
        self.stop_resting(thread);
        self.spend(thread, Cost::Wake, Next::Look);
    }

    fn stop_resting(&mut self, thread: usize) {
        if std::mem::take(&mut self.threads[thread].idle) {
            self.idle -= 1;
        }
    }

    /// The thread waits: it goes on, runs a task, or rests.
    fn look(&mut self, thread: usize) {
        if self.top(thread).wait.is_none() || self.is_over(thread) {
            // It may have been woken for a task that it does not take.
            if self.ready > 0 {
                self.wake_any();
            }
            return self.steps(thread);
        }
        match self.take_task(thread) {
            Some(task) => self.spend(thread, Cost::Dispatch, Next::Begin(task)),
            None => self.rest(thread),
        }
    }
}
