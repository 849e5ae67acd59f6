//! Constructs that programs use now and then: inferred static loops, masked, single and scope blocks, cancellation, doacross
//! loops, device constructs, memory of OpenMP allocators, tasks that leave their thread or are detached.

use instr_trace::event::{AllocatorKind, CancelKind, DoacrossKind, TargetKind, cancel_flags};
use instr_trace::{Event, Payload, TaskId};

use super::super::collect::Shared;
use super::super::counts::DoacrossCount;
use super::super::open::{Body, Suspended, ThreadState, Work};

/// More allocations at a time are not followed: their size is then not taken off when they are given back.
const MAX_ALLOCATED: usize = 1 << 22;

impl Shared {
    /// Takes an event of such a construct.
    pub(in super::super) fn construct(&mut self, event: &Event<'_>, thread: &mut ThreadState) {
        let now = event.time;
        let tasks = &mut self.out.special_tasks;
        match event.payload {
            Payload::TaskwaitDepend { .. } => tasks.taskwaits_depend += 1,
            Payload::TaskFulfill { .. } => tasks.fulfilled += 1,
            Payload::TaskSuspend => self.suspend(thread, now),
            Payload::TaskResume { task } => self.resume(thread, task, now),
            Payload::StaticLoop { site } => {
                let (function, counts) = thread.around();
                let count = self.out.static_loops.entry((site, function)).or_default();
                count.count += 1;
                count.instances += u64::from(counts);
            }
            Payload::Single { executor } => {
                self.out.singles += u64::from(executor);
                thread.single = executor.then_some(now);
            }
            Payload::SingleEnd => {
                if let Some(begin) = thread.single.take() {
                    self.out.single_times.add(now.saturating_sub(begin));
                }
            }
            Payload::MaskedBegin => {
                let (function, _) = thread.around();
                thread.masked.push((function, now));
            }
            Payload::MaskedEnd => {
                if let Some((function, begin)) = thread.masked.pop() {
                    let times = self.out.masked.entry(function).or_default();
                    times.add(now.saturating_sub(begin));
                }
            }
            Payload::ScopeBegin => thread.open_work(Work::Scope, now),
            Payload::Cancel { kind, flags } => self.cancel(kind, flags),
            Payload::Doacross { kind, .. } => {
                let count = self.doacross(thread);
                match kind {
                    DoacrossKind::Source => count.posts += 1,
                    _ => count.waits += 1,
                }
            }
            Payload::TargetBegin { kind, function, .. } => {
                thread.targets.push((kind, function, now))
            }
            Payload::TargetEnd { kind } => {
                let is = |open: &&(TargetKind, u64, u64)| open.0 == kind;
                if thread.targets.last().filter(is).is_some()
                    && let Some((kind, function, begin)) = thread.targets.pop()
                {
                    let times = self.out.targets.entry((kind, function)).or_default();
                    times.add(now.saturating_sub(begin));
                }
            }
            Payload::OmpAlloc {
                kind,
                address,
                bytes,
                ..
            } => self.allocate(kind, address, bytes),
            Payload::OmpFree { kind, address } => self.free(kind, address),
            _ => {}
        }
    }

    /// The count of doacross loops in the body that runs.
    pub(in super::super) fn doacross(&mut self, thread: &ThreadState) -> &mut DoacrossCount {
        self.out.doacross.entry(thread.around().0).or_default()
    }

    fn cancel(&mut self, kind: CancelKind, flags: u32) {
        let count = self.out.cancellations.entry(kind).or_default();
        if flags & cancel_flags::DISCARDED_TASK != 0 {
            count.discarded += 1;
            self.out.special_tasks.discarded += 1;
            return;
        }
        match flags & cancel_flags::ACTIVATED != 0 {
            true => count.cancels += 1,
            false => count.points += 1,
        }
        count.left += u64::from(flags & cancel_flags::DETECTED != 0);
    }

    fn allocate(&mut self, kind: AllocatorKind, address: u64, bytes: u64) {
        let count = self.out.allocations.entry(kind).or_default();
        if address == 0 {
            count.refused += 1;
            return;
        }
        count.count += 1;
        count.bytes = count.bytes.saturating_add(bytes);
        count.live_bytes = count.live_bytes.saturating_add(bytes);
        count.peak_bytes = count.peak_bytes.max(count.live_bytes);
        if self.allocated.len() < MAX_ALLOCATED {
            self.allocated.insert(address, (kind, bytes));
        }
    }

    fn free(&mut self, kind: AllocatorKind, address: u64) {
        if address == 0 {
            return;
        }
        let (kind, bytes) = self.allocated.remove(&address).unwrap_or((kind, 0));
        let count = self.out.allocations.entry(kind).or_default();
        count.freed += 1;
        count.live_bytes = count.live_bytes.saturating_sub(bytes);
    }

    /// The innermost task leaves its thread; its waits and locks go with it.
    fn suspend(&mut self, thread: &mut ThreadState, now: u64) {
        let Some(Body::Task { .. }) = thread.bodies.last() else {
            return;
        };
        self.out.special_tasks.suspended += 1;
        let Some(Body::Task {
            task,
            function,
            begin,
            inner_ns,
            before_ns,
            syncs,
            holding,
        }) = thread.bodies.pop()
        else {
            return;
        };
        let here = begin.map_or(0, |begin| now.saturating_sub(begin));
        thread.not_of_below(here);
        let suspended = Suspended {
            syncs: thread.syncs.split_off(syncs.min(thread.syncs.len())),
            holding: thread.holding.split_off(holding.min(thread.holding.len())),
            body: Body::Task {
                task,
                function,
                begin,
                inner_ns,
                before_ns: before_ns.saturating_add(here),
                syncs: 0,
                holding: 0,
            },
        };
        self.suspended.insert(task, suspended);
    }

    fn resume(&mut self, thread: &mut ThreadState, task: TaskId, now: u64) {
        let mut body = thread.task_body(task, None, None);
        if let Some(mut suspended) = self.suspended.remove(&task) {
            thread.syncs.append(&mut suspended.syncs);
            thread.holding.append(&mut suspended.holding);
            if let (
                Body::Task {
                    function: of,
                    begin: from,
                    inner_ns: inner,
                    before_ns: before,
                    ..
                },
                Body::Task {
                    function,
                    begin,
                    inner_ns,
                    before_ns,
                    ..
                },
            ) = (&mut body, suspended.body)
            {
                (*of, *inner, *before) = (function, inner_ns, before_ns);
                // A begin that was lost stays so: the body is not timed.
                *from = begin.map(|_| now);
            }
        }
        thread.push(body);
    }
}
