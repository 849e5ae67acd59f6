//! Constructs inside of bodies: work-sharing, blocks, waits, locks.

use instr_trace::event::{MutexKind, SyncKind};
use instr_trace::model::{At, End, Span, Work};

use super::{Collector, Receiver, running};
use crate::predict::costs::Cost;
use crate::predict::model::{Lock, Spot, Step};

fn is_barrier(kind: SyncKind) -> bool {
    matches!(
        kind,
        SyncKind::ExplicitBarrier | SyncKind::ImplicitBarrier | SyncKind::Copyprivate
    )
}

impl<R: Receiver> Collector<R> {
    pub(super) fn ordered(&mut self, at: At) {
        if let (Some(open), Some(_)) = (&mut self.open, self.bodies.get(at.body as usize)) {
            open.ordered = true;
        }
    }

    pub(super) fn wants(&mut self, at: At, kind: MutexKind, object: u64) {
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match kind {
            MutexKind::Ordered => open.ordered = true,
            MutexKind::ReadLock => open.read_locks = true,
            _ => {
                let lock = open.lock(Lock { kind, object });
                body.push(Step::Acquire(lock));
                body.held.push(lock);
            }
        }
    }

    /// Other constructs than bodies and regions.
    pub(super) fn construct(&mut self, at: At, span: &Span) {
        if let Span::Acquire { kind, object } = *span {
            let off = self.lines[at.position].off;
            self.times.asks(at.body, at.time, off);
            return self.wants(at, kind, object);
        }
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match *span {
            Span::Taskloop { task, flags, .. } => {
                if flags & Span::NOGROUP == 0 {
                    body.push(Step::GroupBegin);
                }
                let number = open.taskloop(task, flags);
                body.push(Step::Pieces(number));
            }
            Span::Taskgroup => body.push(Step::GroupBegin),
            Span::Work(Work::Scope) => {}
            Span::Work(work) => {
                let spot = open.share(body, work);
                let spot = self.spots.number(spot);
                body.enter(spot);
            }
            Span::Single | Span::Masked => {
                let spot = self.spots.number(Spot::Single(open.code));
                open.own(body);
                body.enter(spot);
            }
            Span::User { name } => {
                let spot = self.spots.number(Spot::User(name));
                body.enter(spot);
            }
            Span::Asking { called } => {
                body.chunk_ends();
                body.asks = called.then_some((at.time, self.lines[at.position].off));
            }
            Span::Sync(SyncKind::Taskwait) => body.push(Step::Taskwait),
            Span::Sync(SyncKind::TaskgroupEnd) => body.push(Step::GroupEnd),
            Span::Sync(SyncKind::DoacrossSink) => open.ordered = true,
            Span::Sync(kind) if is_barrier(kind) && body.is_implicit() => {
                let number = open.barrier(body);
                self.times.arrive(number, at.time);
            }
            _ => {}
        }
        if matches!(span, Span::Sync(_)) {
            self.is_free(at);
        }
    }

    pub(super) fn construct_ends(&mut self, at: At, span: &Span, how: End) {
        let Self { bodies, open, .. } = self;
        let body = running(bodies, at.body);
        let (Some(body), Some(open)) = (body, open) else {
            return;
        };
        match *span {
            Span::Taskloop { flags, .. } if flags & Span::NOGROUP == 0 => {
                body.push(Step::GroupEnd);
            }
            Span::Work(Work::Scope) => {}
            Span::Work(_) => {
                open.share_ends(body);
                body.leave();
            }
            Span::Single => {
                body.leave();
                open.once(body);
            }
            Span::Masked => {
                body.leave();
                open.masked(body);
            }
            Span::User { .. } => body.leave(),
            Span::Asking { .. } => {
                if let Some((since, off)) = body.asks.take() {
                    let off = self.lines[at.position].off.since(off);
                    let took = at.time.saturating_sub(since);
                    self.samples.add(Cost::Ask, took, off);
                }
            }
            Span::Acquire { kind, object } => {
                let lock = Lock { kind, object };
                if how == End::Refused {
                    let number = open.lock(lock);
                    body.refused(number);
                } else {
                    let now = (at.time, self.lines[at.position].off);
                    self.times.has(at.body, lock, now, &mut self.samples);
                }
            }
            Span::Hold { kind, object } => {
                let lock = Lock { kind, object };
                self.times.gives(lock, at.time);
                let number = open.lock(lock);
                body.gives(number);
            }
            Span::Sync(kind) if is_barrier(kind) && body.is_implicit() => {
                let number = open.last_barrier(body);
                let line = &self.lines[at.position];
                let off = line.off.since(line.free.1);
                self.times.leave(number, at.time, off, &mut self.samples);
            }
            _ => {}
        }
    }
}
