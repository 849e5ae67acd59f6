//! What an interpreter gives, and who takes it.

use instr_trace::RegionId;
use instr_trace::event::{ParallelKind, task_flags};
use instr_trace::model::{At, Begin, End, Mark, Scheduled, Since, Sink, Span, State};

use super::{Collector, MAX_TEXTS, Receiver, Why, running};
use crate::predict::model::Spot;

impl<R: Receiver> Sink for Collector<R> {
    fn thread_begin(&mut self, at: At) {
        self.tasks.thread_begin(at);
        let line = &mut self.lines[at.position];
        (line.body, line.last) = (at.body, at.time);
        if let Some(open) = &self.open {
            // It was made for the region, and had no processor before.
            line.off.all = at.time.saturating_sub(open.begin);
            self.times.is_made(at.time);
        }
        let span = self.span.get_or_insert((at.time, at.time));
        span.1 = span.1.max(at.time);
    }

    fn thread_end(&mut self, at: At) {
        self.tasks.thread_end(at);
        self.account(at);
        self.lines[at.position].useful = false;
        if let Some(span) = &mut self.span {
            span.1 = span.1.max(at.time);
        }
    }

    fn trace_end(&mut self) {
        self.tasks.trace_end();
    }

    fn body(&mut self, at: At, _body: Option<&Span>) {
        self.account(at);
        self.lines[at.position].body = at.body;
    }

    fn state(&mut self, at: At, state: State) {
        self.tasks.state(at, state);
        self.account(at);
        self.lines[at.position].useful = state == State::Useful;
    }

    fn scheduled(&mut self, at: At, state: Scheduled, _lost: u32) {
        self.account(at);
        self.survey.has_switches = true;
        let line = &mut self.lines[at.position];
        line.ready = state == Scheduled::Ready;
        line.away = matches!(state, Scheduled::Ready | Scheduled::Blocked);
    }

    fn begin(&mut self, at: At, span: &Span, how: Begin) {
        self.tasks.out().0.clear();
        self.tasks.begin(at, span, how);
        self.account(at);
        if let Span::Parallel { region, code, kind } = *span {
            if how == Begin::Told {
                let is_teams = kind == ParallelKind::Teams;
                self.parallel(at, region, code, is_teams);
            }
            return;
        }
        if self.open.is_none() {
            return;
        }
        let told = how == Begin::Told;
        match *span {
            Span::Implicit {
                region, thread_num, ..
            } => self.implicit(at, region, thread_num, how),
            Span::Task {
                task, undeferred, ..
            } if told => self.task_begins(at, task, undeferred),
            Span::Create { task, code, flags } => self.create(at, task, Spot::Task(code), flags),
            Span::WaitDepend { task, nowait } => {
                let flags = if nowait { 0 } else { task_flags::IF_FALSE };
                self.create(at, task, Spot::Task(0.into()), flags);
            }
            _ if told => self.construct(at, span),
            // A lock that was not asked for.
            Span::Hold { kind, object } if how == Begin::Found => self.wants(at, kind, object),
            _ => {}
        }
    }

    fn end(&mut self, at: At, span: &Span, how: End, since: Since) {
        self.tasks.end(at, span, how, since);
        self.account(at);
        if self.open.is_none() {
            return;
        }
        match *span {
            Span::Implicit { .. } | Span::Task { .. } if how.is_final() => {
                self.body_ends(at, matches!(how, End::Told | End::Unseen { told: true }));
            }
            Span::Implicit { .. } | Span::Task { .. } if how == End::Kept => {
                if let Some(open) = &mut self.open {
                    open.fail(Why::Cut);
                }
            }
            Span::Create { task, .. } => self.created(at, task),
            _ if how.is_final() => self.construct_ends(at, span, how),
            _ => {}
        }
    }

    fn region_end(&mut self, at: At, region: RegionId, members: &[usize]) {
        self.tasks.region_end(at, region, members);
        self.account(at);
        self.end_region(at, region);
    }

    fn mark(&mut self, at: At, mark: Mark<'_>) {
        self.tasks.mark(at, mark);
        if let Mark::Text { address, text } = mark
            && self.survey.texts.len() < MAX_TEXTS
        {
            let text = String::from_utf8_lossy(text).into_owned();
            self.survey.texts.insert(address, text);
        }
        if self.open.is_none() {
            return;
        }
        match mark {
            Mark::Chunk { begin, end } => {
                self.account(at);
                if let Some(body) = self.body(at) {
                    body.chunk(begin, end);
                }
            }
            Mark::Section { number } => {
                self.account(at);
                if let Some(body) = self.body(at) {
                    body.chunk(i64::from(number), i64::from(number) + 1);
                }
            }
            Mark::StaticLoop { .. } => {
                self.account(at);
                let Self { bodies, open, .. } = self;
                let body = running(bodies, at.body);
                if let (Some(body), Some(open)) = (body, open) {
                    open.static_loop(body);
                }
            }
            Mark::Piece {
                taskloop,
                task,
                code,
            } => {
                let spot = self.spots.number(Spot::Task(code));
                if let Some(open) = &mut self.open {
                    open.piece(taskloop, task, spot);
                }
            }
            Mark::Post | Mark::Await => self.ordered(at),
            Mark::Detach { .. } => {
                if let Some(open) = &mut self.open {
                    open.detached = true;
                }
            }
            _ => {}
        }
    }
}
