//! What is open in one task: nested spans, and held locks.

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use crate::event::{MutexKind, SyncKind};

use super::span::{Span, State};

/// Deeper nesting is damage: it is not followed.
pub(super) const MAX_DEPTH: usize = 1 << 16;
/// No entry.
const NONE: u32 = u32::MAX;

/// Spans of which an end event finds the innermost one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Parallel,
    Closing,
    Create,
    WaitDepend,
    Taskloop,
    Work,
    Asking,
    Single,
    Masked,
    Acquire,
    Target,
    Flush,
    /// One for each kind of wait, this the first.
    Sync,
}

/// The largest kind of wait with a name.
const SYNCS: usize = 16;
const TAGS: usize = Tag::Sync as usize + 1 + SYNCS;

impl Tag {
    fn number(span: &Span) -> usize {
        let tag = match span {
            Span::Parallel { .. } => Self::Parallel,
            Span::Closing { .. } => Self::Closing,
            Span::Create { .. } => Self::Create,
            Span::WaitDepend { .. } => Self::WaitDepend,
            Span::Taskloop { .. } => Self::Taskloop,
            Span::Work(_) => Self::Work,
            Span::Asking { .. } => Self::Asking,
            Span::Single => Self::Single,
            Span::Masked => Self::Masked,
            Span::Acquire { .. } => Self::Acquire,
            Span::Target(_) => Self::Target,
            Span::Sync(kind) => return sync(*kind),
            // Bodies, held locks and the program's own regions are kept elsewhere.
            _ => Self::Flush,
        };
        tag as usize
    }
}

fn is_barrier(span: &Span) -> bool {
    use SyncKind::{ExplicitBarrier, ImplicitBarrier};
    matches!(
        span,
        Span::Closing { .. } | Span::Sync(ExplicitBarrier | ImplicitBarrier)
    )
}

fn sync(kind: SyncKind) -> usize {
    Tag::Sync as usize
        + match kind {
            SyncKind::Other(_) => 0,
            known => (u32::from(known) as usize).min(SYNCS),
        }
}

#[derive(Clone, Copy, Debug)]
struct Open {
    span: Span,
    /// The next entry outwards with the same tag.
    below: u32,
    /// State of the thread while this is the innermost one, and whether that is waiting in a barrier.
    state: Option<(State, bool)>,
    begin: u64,
}

/// Nested spans. Each knows the next one of its kind outwards, so that no search is needed.
#[derive(Debug)]
pub(super) struct Stack {
    entries: Vec<Open>,
    tops: [u32; TAGS],
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            tops: [NONE; TAGS],
        }
    }
}

impl Stack {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn last(&self) -> Option<&Span> {
        self.entries.last().map(|entry| &entry.span)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Span> {
        self.entries.get(at).map(|entry| &entry.span)
    }

    /// The state that follows from the spans, and whether it is waiting in a barrier; `None`: that of the body around them.
    #[inline]
    pub(super) fn state(&self) -> Option<(State, bool)> {
        self.entries.last().and_then(|entry| entry.state)
    }

    /// Whether there was room.
    #[inline]
    pub(super) fn push(&mut self, span: Span, begin: u64) -> bool {
        if self.entries.len() >= MAX_DEPTH {
            return false;
        }
        let tag = Tag::number(&span);
        let state = match span.state() {
            Some(state) => Some((state, is_barrier(&span))),
            None => self.state(),
        };
        let below = std::mem::replace(&mut self.tops[tag], self.entries.len() as u32);
        self.entries.push(Open {
            span,
            below,
            state,
            begin,
        });
        true
    }

    /// The innermost one, and when it began.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<(Span, u64)> {
        let entry = self.entries.pop()?;
        self.tops[Tag::number(&entry.span)] = entry.below;
        Some((entry.span, entry.begin))
    }

    /// The innermost one with this tag.
    #[inline]
    pub(super) fn find(&self, tag: Tag) -> Option<usize> {
        let at = self.tops[tag as usize];
        (at != NONE).then_some(at as usize)
    }

    /// The innermost wait of this kind.
    #[inline]
    pub(super) fn find_sync(&self, kind: SyncKind) -> Option<usize> {
        let at = self.tops[sync(kind)];
        (at != NONE).then_some(at as usize)
    }

    /// All of them, outermost first.
    pub(super) fn spans(&self) -> impl Iterator<Item = &Span> {
        self.entries.iter().map(|entry| &entry.span)
    }

    /// Keeps the innermost one of each kind. All with their begins, innermost first, and whether they are kept.
    pub(super) fn suspend(&mut self) -> Vec<(Span, u64, bool)> {
        let kept = |at: usize, span: &Span| self.tops[Tag::number(span)] as usize == at;
        let entries = self.entries.iter().enumerate().rev();
        let all: Vec<_> = entries
            .map(|(at, entry)| (entry.span, entry.begin, kept(at, &entry.span)))
            .collect();
        if !all.iter().all(|(.., kept)| *kept) {
            *self = Self::default();
            for (span, begin, _) in all.iter().rev().filter(|(.., kept)| *kept) {
                self.push(*span, *begin);
            }
        }
        all
    }
}

/// Locks that are held.
#[derive(Debug, Default)]
pub(super) struct Holds {
    /// The one got last and when, which is mostly the one given back next; also in `others` when it is held several times.
    last: Option<(Lock, u64)>,
    others: HashMap<Lock, Held>,
    /// Acquisitions in `others`.
    len: usize,
    number: u64,
}

type Lock = (MutexKind, u64);

/// A lock that is held, perhaps several times.
#[derive(Debug)]
struct Held {
    /// Of its first acquisition among all.
    number: u64,
    /// Times of the first acquisition and of the further ones.
    first: u64,
    more: Vec<u64>,
}

impl Holds {
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none() && self.others.is_empty()
    }

    /// Whether one more is followed.
    pub(super) fn has_room(&self) -> bool {
        self.len < MAX_DEPTH
    }

    /// Whether there was room.
    pub(super) fn add(&mut self, lock: Lock, now: u64) -> bool {
        if !self.has_room() {
            return false;
        }
        if let Some((last, since)) = self.last.replace((lock, now)) {
            self.number += 1;
            self.len += 1;
            match self.others.entry(last) {
                Entry::Occupied(held) => held.into_mut().more.push(since),
                Entry::Vacant(place) => {
                    place.insert(Held {
                        number: self.number,
                        first: since,
                        more: Vec::new(),
                    });
                }
            }
        }
        true
    }

    /// The time of the last acquisition, if it was held.
    pub(super) fn remove(&mut self, lock: Lock) -> Option<u64> {
        if let Some((last, since)) = self.last
            && last == lock
        {
            self.last = None;
            return Some(since);
        }
        if self.others.is_empty() {
            return None;
        }
        let held = self.others.get_mut(&lock)?;
        self.len -= 1;
        if let Some(since) = held.more.pop() {
            return Some(since);
        }
        self.others.remove(&lock).map(|held| held.first)
    }

    /// Takes all with the times of their acquisition, the one got last first.
    pub(super) fn take(&mut self) -> Vec<(Lock, u64)> {
        self.len = 0;
        let mut others: Vec<_> = self.others.drain().collect();
        others.sort_unstable_by_key(|(_, held)| std::cmp::Reverse(held.number));
        let repeated = others.into_iter().flat_map(|(lock, held)| {
            let times = held.more.into_iter().rev();
            times.chain([held.first]).map(move |since| (lock, since))
        });
        self.last.take().into_iter().chain(repeated).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_find_the_innermost_of_their_kind() {
        let mut stack = Stack::default();
        let spans = [
            Span::Single,
            Span::Sync(SyncKind::Taskwait),
            Span::Single,
            Span::Sync(SyncKind::ExplicitBarrier),
            Span::Masked,
        ];
        for span in spans {
            assert!(stack.push(span, 0));
        }
        assert_eq!(stack.find(Tag::Single), Some(2));
        assert_eq!(stack.find_sync(SyncKind::Taskwait), Some(1));
        assert_eq!(stack.find_sync(SyncKind::Reduction), None);
        assert_eq!(stack.state(), Some((State::Synchronization, true)));
        for span in spans.iter().rev().take(3) {
            assert_eq!(stack.pop(), Some((*span, 0)));
        }
        assert_eq!(stack.find(Tag::Single), Some(0));
        assert_eq!(stack.find(Tag::Masked), None);
        assert_eq!(stack.state(), Some((State::Synchronization, false)));
        stack.pop();
        assert_eq!(stack.state(), None);
    }

    #[test]
    fn a_suspended_task_keeps_the_innermost_of_each_kind() {
        let mut stack = Stack::default();
        let waits = [SyncKind::Taskwait, SyncKind::Taskyield].map(Span::Sync);
        let spans = [Span::Masked, waits[0], Span::Masked, waits[1], waits[0]];
        for (begin, span) in (0..).zip(spans) {
            assert!(stack.push(span, begin));
        }
        let kept = [true, true, true, false, false];
        let expected = (0..5).map(|at| (spans[4 - at], 4 - at as u64, kept[at]));
        assert!(stack.suspend().into_iter().eq(expected));
        assert!(stack.spans().eq(&spans[2..]));
        assert_eq!(stack.find(Tag::Masked), Some(0));
        assert_eq!(stack.pop(), Some((waits[0], 4)));
        assert_eq!(stack.find_sync(SyncKind::Taskwait), None);
    }

    #[test]
    fn locks_are_given_back_in_any_order() {
        let lock = |object| (MutexKind::Lock, object);
        let mut holds = Holds::default();
        for (time, object) in (10..).zip([1, 2, 3, 2, 2]) {
            assert!(holds.add(lock(object), time));
        }
        assert_eq!(holds.remove(lock(1)), Some(10));
        assert_eq!(holds.remove(lock(1)), None);
        assert_eq!(holds.remove(lock(2)), Some(14));
        let rest = [(lock(3), 12), (lock(2), 13), (lock(2), 11)];
        assert_eq!(holds.take(), rest);
        assert!(holds.is_empty());
    }
}
