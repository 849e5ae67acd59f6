//! Work-sharing constructs, single and masked blocks, device constructs.

use crate::event::{Payload, schedule_flags};

use super::Thread;
use super::sink::{At, Sink};
use super::span::{Span, Target, Work};
use super::stack::Tag;

impl Thread {
    pub(super) fn work<S: Sink>(&mut self, at: At, payload: &Payload<'_>, sink: &mut S) {
        match *payload {
            // Where chunks or sections have no events, all of the construct is user code.
            Payload::LoopBegin { schedule, .. } => {
                let asks = !schedule.has(schedule_flags::COUNTED);
                self.begin_work(at, Work::Loop(schedule), asks, sink);
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
            Payload::ChunkBegin { .. } | Payload::SectionBegin { .. } => {
                self.close_tag(at, Tag::Asking, sink)
            }
            Payload::WorkEnd { .. } => self.close_tag(at, Tag::Work, sink),
            Payload::Single { executor } => {
                self.end_single(at, sink);
                if executor {
                    self.open(at, Span::Single, sink);
                }
            }
            Payload::SingleEnd => self.end_single(at, sink),
            Payload::MaskedBegin => {
                self.end_single(at, sink);
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

    fn begin_work<S: Sink>(&mut self, at: At, work: Work, asks: bool, sink: &mut S) {
        self.end_single(at, sink);
        self.open(at, Span::Work(work), sink);
        if asks {
            self.open(at, Span::Asking { called: false }, sink);
        }
    }

    /// The end of a single block is not always recorded: it then lasts until the next construct of the team.
    pub(super) fn end_single<S: Sink>(&mut self, at: At, sink: &mut S) {
        self.close_tag(at, Tag::Single, sink);
    }
}
