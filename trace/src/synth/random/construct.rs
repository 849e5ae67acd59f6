//! Constructs of a team, and tasks.

use super::program::{Program, Ready, function, object};

impl Program {
    /// The threads meet a construct, one after the other.
    pub(super) fn construct(&mut self, team: &[usize], depth: u32) {
        let one = team[self.random.usize(..team.len())];
        match self.random.u8(..16) {
            0 | 1 => self.work_loop(team),
            2 => self.sections(team),
            3 => self.single(team, one),
            4 => self.masked(team[0]),
            5 => self.scope(team),
            6 => team.iter().for_each(|thread| self.lock(*thread)),
            7..=9 => self.tasks(one),
            10 => self.barrier(team, 1),
            11 => self.taskloop(one),
            12 => self.taskgroup(one),
            13 => self.doacross(team),
            14 if depth < 2 => self.nested(team, one, depth),
            _ => team.iter().for_each(|thread| self.leaf(*thread)),
        }
    }

    /// All wait for all, and run tasks meanwhile.
    fn barrier(&mut self, team: &[usize], kind: u32) {
        for &thread in team {
            self.put(thread, 32, |body| _ = body.u32(kind));
        }
        self.drain(team, None);
        let end = team.iter().map(|thread| self.threads[*thread].now).max();
        for &thread in team {
            self.not_before(thread, end.unwrap_or(0));
            self.put(thread, 33, |body| _ = body.u32(kind));
        }
    }

    /// A loop of chunks, or one whose chunks are not recorded.
    fn work_loop(&mut self, team: &[usize]) {
        let (nowait, schedule) = (self.random.bool(), self.random.u32(..5));
        let known = self.random.u8(..4) > 0;
        let flags = if known { 0 } else { 0x4000 };
        for &thread in team {
            self.put(thread, 20, |body| {
                _ = body.u32(schedule | flags).i64(0).i64(100).i64(1).i64(0)
            });
            for chunk in 0..self.random.i64(..4) {
                if known {
                    self.put(thread, 23, |body| {
                        _ = body.i64(chunk * 10).i64(chunk * 10 + 10)
                    });
                }
                self.leaf(thread);
                if known {
                    self.put(thread, 25, |_| {});
                }
            }
            self.put(thread, 26, |body| _ = body.u32(u32::from(nowait)));
        }
        if !nowait {
            self.barrier(team, 2);
        }
    }

    fn sections(&mut self, team: &[usize]) {
        for &thread in team {
            self.put(thread, 21, |body| _ = body.u32(4));
            for number in 1..=self.random.u32(..3) {
                self.put(thread, 24, |body| _ = body.u32(number));
                self.leaf(thread);
                self.put(thread, 25, |_| {});
            }
            self.put(thread, 26, |body| _ = body.u32(0));
        }
        self.barrier(team, 2);
    }

    /// The end of the block is recorded or not.
    fn single(&mut self, team: &[usize], one: usize) {
        let (ends, shared) = (self.random.bool(), self.random.u8(..4) == 0);
        for &thread in team {
            self.put(thread, 22, |body| _ = body.u32(u32::from(thread == one)));
            if thread == one {
                self.leaf(thread);
                self.tasks(thread);
                if ends {
                    self.put(thread, 31, |_| {});
                }
            }
        }
        self.barrier(team, if shared { 7 } else { 2 });
    }

    fn masked(&mut self, thread: usize) {
        self.put(thread, 28, |_| {});
        self.leaf(thread);
        self.put(thread, 29, |_| {});
    }

    fn scope(&mut self, team: &[usize]) {
        for &thread in team {
            self.put(thread, 30, |_| {});
            self.leaf(thread);
            self.put(thread, 26, |body| _ = body.u32(0));
        }
        self.barrier(team, 2);
    }

    fn doacross(&mut self, team: &[usize]) {
        for &thread in team {
            self.put(thread, 20, |body| {
                _ = body.u32(0x1001).i64(0).i64(100).i64(1).i64(0)
            });
            self.put(thread, 23, |body| _ = body.i64(0).i64(10));
            for iteration in 0..3 {
                self.put(thread, 39, |body| _ = body.u32(2).u32(1).i64(iteration));
                self.put(thread, 32, |body| _ = body.u32(8));
                self.put(thread, 33, |body| _ = body.u32(8));
                self.put(thread, 39, |body| _ = body.u32(1).u32(1).i64(iteration));
            }
            self.put(thread, 25, |_| {});
            self.put(thread, 26, |body| _ = body.u32(1));
        }
    }

    /// A region of one thread of the team, with those that are in none.
    fn nested(&mut self, team: &[usize], one: usize, depth: u32) {
        if !self.ready.is_empty() {
            return self.barrier(team, 1);
        }
        let (first, most) = (team.len(), self.threads.len());
        let idle = |thread: &usize| depth == 0 && !team.contains(thread);
        let members = std::iter::once(one).chain((first..most).filter(idle));
        let members: Vec<usize> = members.collect();
        self.region(&members, depth + 1);
    }

    /// Some task constructs, and perhaps a wait for them.
    fn tasks(&mut self, thread: usize) {
        for _ in 0..self.random.u8(1..6) {
            self.create(thread);
        }
        match self.random.u8(..4) {
            0 => self.wait_for_children(thread, 3),
            1 => self.wait_depend(thread),
            _ => {}
        }
    }

    /// The task that runs on `thread`; of an implicit one nothing but the thread is known.
    fn running(&self, thread: usize) -> (u32, u32) {
        let implicit = (u32::MAX, thread as u32);
        self.threads[thread]
            .tasks
            .last()
            .copied()
            .unwrap_or(implicit)
    }

    /// A wait in which the children of the running task run.
    fn wait_for_children(&mut self, thread: usize, kind: u32) {
        let running = self.running(thread);
        self.put(thread, 32, |body| _ = body.u32(kind));
        self.drain(&[thread], Some(running));
        self.put(thread, 33, |body| _ = body.u32(kind));
    }

    fn wait_depend(&mut self, thread: usize) {
        let seq = self.number(thread);
        let address = object(self.random.u64(..4));
        self.put(thread, 45, |body| {
            _ = body.u32(seq).u32(0).deps(&[(address, 1)])
        });
        self.wait_for_children(thread, 4);
    }

    /// The next number of a task of this thread.
    fn number(&mut self, thread: usize) -> u32 {
        let seq = self.threads[thread].next_task;
        self.threads[thread].next_task += 1;
        seq
    }

    /// A task construct: deferred, or run at once.
    fn create(&mut self, thread: usize) {
        if self.tasks_left == 0 {
            return;
        }
        self.tasks_left -= 1;
        let (seq, parent) = (self.number(thread), self.running(thread));
        let task = (thread as u32, seq);
        let undeferred = self.random.u8(..4) == 0;
        let entry = |program: &mut Self| {
            let kind = [1, 1, 2, 2, 4, 5, 6][program.random.usize(..7)];
            (object(program.random.u64(..4)), kind)
        };
        let count = if undeferred { 0 } else { self.random.u8(..4) };
        let deps: Vec<(u64, u32)> = (0..count).map(|_| entry(self)).collect();
        let (untied, detach) = (self.random.bool(), !undeferred && self.random.u8(..8) == 0);
        let flags = u32::from(untied)
            | if undeferred { 0x8000 } else { 0 }
            | if detach { 0x2000 } else { 0 }
            | if count > 0 { 8 } else { 0 };
        if count == 3 {
            self.put(thread, 44, |body| _ = body.u32(seq).deps(&deps[..1]));
        }
        let told = if count == 3 { &deps[1..] } else { &deps[..] };
        let body_of = function(4 + self.random.u64(..4));
        self.put(thread, 40, |body| {
            _ = body.u32(seq).addr(body_of).u32(flags).deps(told)
        });
        let handle = if detach { 0x5000 + u64::from(seq) } else { 0 };
        if detach {
            self.put(thread, 52, |body| {
                _ = body.u32(task.0).u32(task.1).addr(handle)
            });
        }
        let from = self.threads[thread].now;
        let ready = Ready {
            task,
            parent,
            from,
            deps,
            untied,
            handle,
        };
        if undeferred {
            self.run_task(thread, &[thread], &ready);
        } else {
            self.ready.push(ready);
        }
        self.put(thread, 41, |_| {});
    }

    /// What a task does: it may create others and wait for them.
    pub(super) fn task_body(&mut self, thread: usize) {
        match self.random.u8(..6) {
            0 if self.threads[thread].tasks.len() < 4 => self.tasks(thread),
            1 if self.threads[thread].tasks.len() < 4 => self.taskgroup(thread),
            2 => {}
            _ => self.leaf(thread),
        }
    }

    /// All pieces run inside of the call.
    fn taskloop(&mut self, thread: usize) {
        let (seq, pieces) = (self.number(thread), self.random.i64(1..5));
        let body_of = function(4 + self.random.u64(..4));
        self.put(thread, 46, |body| {
            _ = body
                .u32(seq)
                .addr(body_of)
                .u32(0)
                .u64(pieces as u64)
                .i64(0)
                .i64(pieces * 10)
                .i64(1)
        });
        for piece in 0..pieces {
            let own = self.number(thread);
            self.put(thread, 49, |body| {
                _ = body
                    .u32(thread as u32)
                    .u32(seq)
                    .u32(own)
                    .i64(piece * 10)
                    .i64(piece * 10 + 10)
            });
            let ready = Ready {
                task: (thread as u32, own),
                parent: self.running(thread),
                from: 0,
                deps: Vec::new(),
                untied: false,
                handle: 0,
            };
            self.run_task(thread, &[thread], &ready);
        }
        self.put(thread, 47, |_| {});
    }

    fn taskgroup(&mut self, thread: usize) {
        self.put(thread, 48, |_| {});
        for _ in 0..self.random.u8(..4) {
            self.create(thread);
        }
        self.wait_for_children(thread, 5);
    }
}
