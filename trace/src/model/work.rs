//! Work-sharing constructs, single and masked blocks, device constructs.

use crate::event::{Payload, schedule_flags};

use super::Thread;
use super::sink::{At, Mark, Sink};
use super::span::{End, Span, Target, Work};
use super::stack::Tag;

impl Thread {
    pub(super) fn work<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            // Where chunks or sections have no events, all of the construct is user code.
            Payload::LoopBegin { schedule, incr, .. } => {
                let asks = !schedule.has(schedule_flags::COUNTED);
                self.begin_work(at, Work::Loop { schedule, incr }, asks, sink);
            }
            Payload::SectionsBegin { .. } => {
                self.begin_work(at, Work::Sections, !self.whole_sections, sink)
            }
            Payload::ScopeBegin => self.begin_work(at, Work::Scope, false, sink),
            Payload::Dispatch => {
                self.close_tag(at, Tag::Asking, sink);
                if self.top().stack.find(Tag::Work).is_none() {
                    self.open(at, Span::Work(Work::Combined), sink);
                }
                self.open(at, Span::Asking { called: true }, sink);
            }
            Payload::ChunkBegin { begin, end } => self.piece(at, Mark::Chunk { begin, end }, sink),
            Payload::SectionBegin { number } => self.piece(at, Mark::Section { number }, sink),
            Payload::WorkEnd { .. } => self.close_tag(at, Tag::Work, sink),
            Payload::Single { executor } => {
                self.end_single(at, End::Implied, sink);
                if executor {
                    self.open(at, Span::Single, sink);
                }
            }
            Payload::SingleEnd => self.end_single(at, End::Told, sink),
            Payload::MaskedBegin => {
                self.end_single(at, End::Implied, sink);
                self.open(at, Span::Masked, sink);
            }
            Payload::MaskedEnd => self.close_tag(at, Tag::Masked, sink),
            Payload::TargetBegin {
                kind,
                function,
                flags,
                ..
            } => {
                let target = Target {
                    kind,
                    function,
                    flags,
                };
                self.open(at, Span::Target(target), sink);
            }
            Payload::TargetEnd { .. } => self.close_tag(at, Tag::Target, sink),
            _ => {}
        }
    }

    /// A chunk or section begins.
    fn piece<S: Sink>(&mut self, at: At, mark: Mark<'_>, sink: &mut S) {
        self.close_tag(at, Tag::Asking, sink);
        if S::MARKS && self.top().stack.find(Tag::Work).is_some() {
            sink.mark(at, mark);
        }
    }

    fn begin_work<S: Sink>(&mut self, at: At, work: Work, asks: bool, sink: &mut S) {
        self.end_single(at, End::Implied, sink);
        self.open(at, Span::Work(work), sink);
        if asks {
            self.open(at, Span::Asking { called: false }, sink);
        }
    }

    /// The end of a single block is not always recorded: it then lasts until the next construct of the team.
    pub(super) fn end_single<S: Sink>(&mut self, at: At, how: End, sink: &mut S) {
        if let Some(to) = self.top().stack.find(Tag::Single) {
            self.close(at, to, how, sink);
        }
    }
}
