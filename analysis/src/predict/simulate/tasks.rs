//! Explicit tasks: created, ready, run, complete.

use std::collections::VecDeque;

use super::{Frame, Library, NONE, Simulation, Wait};

/// Tasks for each thread, above which libgomp runs a task where it is created.
const GOMP_LIMIT: u64 = 64;
/// Tasks in a thread's queue, from which on libomp does.
const OMP_LIMIT: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// Not created.
    None,
    /// Waits for others.
    Blocked,
    Ready,
    /// Its creator waits for its predecessors, and runs it then.
    Awaited(u32),
    Running,
    Complete,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TaskState {
    life: Life,
    /// Predecessors that are not complete.
    left: u32,
    /// The task that created it, and its taskgroup.
    parent: u32,
    group: u32,
    /// The next in the parent's and in the group's list of ready tasks.
    next_child: u32,
    next_of_group: u32,
}

impl TaskState {
    pub(super) fn new(predecessors: u32) -> Self {
        Self {
            life: Life::None,
            left: predecessors,
            parent: NONE,
            group: NONE,
            next_child: NONE,
            next_of_group: NONE,
        }
    }
}

/// A task of any kind as the parent of others.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyState {
    /// Children that are not complete.
    children: u32,
    /// The last of them that became ready; some may run since.
    ready: u32,
    /// The thread that waits for them.
    waiter: u32,
}

impl Default for BodyState {
    fn default() -> Self {
        Self {
            children: 0,
            ready: NONE,
            waiter: NONE,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    /// Its tasks that are not complete.
    tasks: u32,
    /// The one around it.
    outer: u32,
    ready: u32,
    waiter: u32,
}

/// Ready tasks.
#[derive(Debug)]
pub(super) struct Queues {
    library: Library,
    /// One, or one for each thread. Some of their tasks may run since.
    of: Vec<VecDeque<u32>>,
}

impl Queues {
    pub(super) fn new(library: Library, threads: usize) -> Self {
        let count = match library {
            Library::Omp => threads,
            _ => 1,
        };
        Self {
            library,
            of: vec![VecDeque::new(); count],
        }
    }

    fn push(&mut self, thread: usize, task: u32) {
        let count = self.of.len();
        self.of[thread % count].push_back(task);
    }
}

impl<'a> Simulation<'a> {
    pub(super) fn group_begin(&mut self, thread: usize) {
        let number = self.groups.len() as u32;
        let frame = self.top(thread);
        let outer = std::mem::replace(&mut frame.group, number);
        self.groups.push(Group {
            tasks: 0,
            outer,
            ready: NONE,
            waiter: NONE,
        });
    }

    /// The call that creates the task is over, or its undeferred task begins.
    pub(super) fn created(&mut self, thread: usize, task: u32) {
        let number = task as usize;
        let limited = match self.case.library {
            Library::Gomp => self.outstanding > GOMP_LIMIT * self.threads.len() as u64,
            Library::Omp => self.queues.of[thread].len() >= OMP_LIMIT,
            Library::Unlimited => false,
        };
        let frame = self.top(thread);
        let (parent, group) = (frame.body, frame.group);
        let state = &mut self.tasks[number];
        if state.life != Life::None {
            // A damaged trace: it was created twice.
            return self.steps(thread);
        }
        (state.parent, state.group) = (parent, group);
        self.bodies[parent as usize].children += 1;
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.tasks += 1;
        }
        self.outstanding += 1;
        let state = &mut self.tasks[number];
        if self.region.tasks[number].undeferred || limited {
            if state.left == 0 {
                return self.begin(thread, task);
            }
            state.life = Life::Awaited(thread as u32);
            self.blocked += 1;
            self.top(thread).wait = Some(Wait::For(task));
            return self.look(thread);
        }
        match state.left {
            0 => self.becomes_ready(thread, task),
            _ => {
                state.life = Life::Blocked;
                self.blocked += 1;
            }
        }
        self.steps(thread);
    }

    /// The body begins on this thread.
    pub(super) fn begin(&mut self, thread: usize, task: u32) {
        let region = self.region;
        let state = &mut self.tasks[task as usize];
        state.life = Life::Running;
        let frame = Frame {
            steps: region.at(&region.tasks[task as usize].steps),
            at: 0,
            pieces: 0,
            body: task,
            group: state.group,
            wait: None,
        };
        self.threads[thread].frames.push(frame);
        self.steps(thread);
    }

    fn becomes_ready(&mut self, thread: usize, task: u32) {
        let state = &mut self.tasks[task as usize];
        state.life = Life::Ready;
        let (parent, group) = (state.parent, state.group);
        self.ready += 1;
        self.queues.push(thread, task);
        let body = &mut self.bodies[parent as usize];
        state.next_child = std::mem::replace(&mut body.ready, task);
        let mut waiters = [(body.waiter, parent, NONE), (NONE, NONE, group)];
        if let Some(state_of_group) = self.groups.get_mut(group as usize) {
            state.next_of_group = std::mem::replace(&mut state_of_group.ready, task);
            waiters[1].0 = state_of_group.waiter;
        }
        for (waiter, body, group) in waiters {
            if self.rests_for(waiter, body, group) {
                return self.wake(waiter as usize);
            }
        }
        self.wake_any();
    }

    /// Whether the thread has nothing to do and may run children of the body, or tasks of the group.
    fn rests_for(&self, thread: u32, body: u32, group: u32) -> bool {
        let Some(thread) = self.threads.get(thread as usize) else {
            return false;
        };
        let top = thread.frames.last();
        thread.idle
            && top.is_some_and(|top| match top.wait {
                Some(Wait::Children | Wait::For(_)) => top.body == body,
                Some(Wait::Group(own)) => own == group,
                _ => false,
            })
    }

    /// Wakes a thread that has nothing to do and may run any task.
    pub(super) fn wake_any(&mut self) {
        if let Some(idle) = self.first_idle() {
            self.wake(idle);
        }
    }

    /// A thread that has nothing to do and may run any task.
    fn first_idle(&mut self) -> Option<usize> {
        while let Some(thread) = self.idle_at_barrier.pop() {
            let state = &self.threads[thread as usize];
            if state.idle && state.frames.len() == 1 {
                return Some(thread as usize);
            }
        }
        if self.case.library == Library::Gomp {
            self.idle_elsewhere.clear();
        }
        while let Some(thread) = self.idle_elsewhere.pop() {
            if self.threads[thread as usize].idle {
                return Some(thread as usize);
            }
        }
        None
    }

    /// Whether what the body waits for is over; then it waits no more.
    pub(super) fn is_over(&mut self, thread: usize) -> bool {
        let frame = self.top(thread);
        let (body, wait) = (frame.body, frame.wait);
        let over = match wait {
            None => true,
            Some(Wait::Children) => {
                let state = &mut self.bodies[body as usize];
                state.waiter = thread as u32;
                state.children == 0
            }
            Some(Wait::Group(group)) => match self.groups.get_mut(group as usize) {
                Some(state) => {
                    state.waiter = thread as u32;
                    let over = state.tasks == 0;
                    if over {
                        let outer = state.outer;
                        self.top(thread).group = outer;
                    }
                    over
                }
                None => true,
            },
            Some(Wait::For(task)) => {
                self.bodies[body as usize].waiter = thread as u32;
                let over = self.tasks[task as usize].left == 0;
                if over {
                    self.blocked -= 1;
                    self.bodies[body as usize].waiter = NONE;
                    self.top(thread).wait = None;
                    // The thread goes on with it in place of the next step.
                    let region = self.region;
                    let state = &mut self.tasks[task as usize];
                    state.life = Life::Running;
                    let group = state.group;
                    self.threads[thread].frames.push(Frame {
                        steps: region.at(&region.tasks[task as usize].steps),
                        at: 0,
                        pieces: 0,
                        body: task,
                        group,
                        wait: None,
                    });
                    return true;
                }
                over
            }
            Some(Wait::Barrier | Wait::Lock) => false,
        };
        if over {
            self.bodies[body as usize].waiter = NONE;
            self.top(thread).wait = None;
        }
        over
    }

    /// A ready task that the thread may run.
    pub(super) fn take_task(&mut self, thread: usize) -> Option<u32> {
        if self.ready == 0 {
            return None;
        }
        let frame = self.top(thread);
        let (body, wait) = (frame.body, frame.wait?);
        let task = match (self.queues.library, wait) {
            (_, Wait::Lock) => None,
            (Library::Gomp, Wait::Children | Wait::For(_)) => self.ready_child(body),
            (Library::Gomp, Wait::Group(group)) => self.ready_of_group(group),
            _ => self.queued(thread),
        }?;
        self.ready -= 1;
        self.tasks[task as usize].life = Life::Running;
        Some(task)
    }

    fn ready_child(&mut self, body: u32) -> Option<u32> {
        loop {
            let task = self.bodies[body as usize].ready;
            let state = self.tasks.get(task as usize)?;
            self.bodies[body as usize].ready = state.next_child;
            if state.life == Life::Ready {
                return Some(task);
            }
        }
    }

    fn ready_of_group(&mut self, group: u32) -> Option<u32> {
        loop {
            let group = self.groups.get_mut(group as usize)?;
            let task = group.ready;
            let state = self.tasks.get(task as usize)?;
            group.ready = state.next_of_group;
            if state.life == Life::Ready {
                return Some(task);
            }
        }
    }

    fn queued(&mut self, thread: usize) -> Option<u32> {
        let count = self.queues.of.len();
        let own = thread % count;
        for offset in 0..count {
            let victim = (own + offset) % count;
            let last_in = self.case.library == Library::Omp && offset == 0;
            let queue = &mut self.queues.of[victim];
            loop {
                let next = if last_in {
                    queue.pop_back()
                } else {
                    queue.pop_front()
                };
                let Some(task) = next else { break };
                if self.tasks[task as usize].life == Life::Ready {
                    return Some(task);
                }
            }
        }
        None
    }

    /// The task on top of the thread's stack has ended.
    pub(super) fn task_ends(&mut self, thread: usize) {
        let Some(frame) = self.threads[thread].frames.pop() else {
            return;
        };
        let number = frame.body as usize;
        let region = self.region;
        let state = &mut self.tasks[number];
        state.life = Life::Complete;
        let (parent, group) = (state.parent as usize, state.group);
        self.outstanding -= 1;
        let successors = &region.tasks[number].successors;
        let successors = successors.start as usize..successors.end as usize;
        for after in &region.successors[successors] {
            self.predecessor_ends(thread, *after);
        }
        self.bodies[parent].children -= 1;
        if self.bodies[parent].children == 0 {
            self.notify(self.bodies[parent].waiter);
        }
        if let Some(group) = self.groups.get_mut(group as usize) {
            group.tasks -= 1;
            if group.tasks == 0 {
                let waiter = group.waiter;
                self.notify(waiter);
            }
        }
        if !self.open_barrier() {
            self.look(thread);
        }
    }

    fn predecessor_ends(&mut self, thread: usize, task: u32) {
        let state = &mut self.tasks[task as usize];
        state.left = state.left.saturating_sub(1);
        if state.left > 0 {
            return;
        }
        match state.life {
            Life::Blocked => {
                self.blocked -= 1;
                self.becomes_ready(thread, task);
            }
            Life::Awaited(waiter) => self.notify(waiter),
            _ => {}
        }
    }

    /// What a thread waits for may be over.
    fn notify(&mut self, waiter: u32) {
        let rests = self
            .threads
            .get(waiter as usize)
            .is_some_and(|thread| thread.idle);
        if rests {
            self.wake(waiter as usize);
        }
    }
}
