//! What is open in one task: nested spans, and held locks.

use hashbrown::HashMap;

use crate::event::{MutexKind, SyncKind};

use super::span::{Span, State};

/// Deeper nesting is damage: it is not followed.
pub(super) const MAX_DEPTH: usize = 1 << 16;
/// No entry.
const NONE: u32 = u32::MAX;
/// A thread waits for one lock at a time; waits without an end may lie around it, but further out none is looked for.
const MAX_WAITS: usize = 8;

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

const TAGS: usize = Tag::Sync as usize + 11;

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
            known => (u32::from(known) as usize).min(10),
        }
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    span: Span,
    /// The next entry outwards with the same tag.
    below: u32,
    /// State of the thread while this is the innermost one, and whether that is waiting in a barrier.
    state: Option<(State, bool)>,
}

/// Nested spans. Each knows the next one of its kind outwards, so that no search is needed.
#[derive(Debug)]
pub(super) struct Stack {
    entries: Vec<Entry>,
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
    pub(super) fn push(&mut self, span: Span) -> bool {
        if self.entries.len() >= MAX_DEPTH {
            return false;
        }
        let tag = Tag::number(&span);
        let state = match span.state() {
            Some(state) => Some((state, is_barrier(&span))),
            None => self.state(),
        };
        let below = std::mem::replace(&mut self.tops[tag], self.entries.len() as u32);
        self.entries.push(Entry { span, below, state });
        true
    }

    #[inline]
    pub(super) fn pop(&mut self) -> Option<Span> {
        let entry = self.entries.pop()?;
        self.tops[Tag::number(&entry.span)] = entry.below;
        Some(entry.span)
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

    /// The innermost wait for this lock.
    pub(super) fn find_acquire(&self, lock: (MutexKind, u64)) -> Option<usize> {
        let mut at = self.tops[Tag::Acquire as usize];
        for _ in 0..MAX_WAITS {
            let entry = self.entries.get(at as usize)?;
            if matches!(entry.span, Span::Acquire { kind, object } if (kind, object) == lock) {
                return Some(at as usize);
            }
            at = entry.below;
        }
        None
    }

    /// The innermost one of each tag, outermost first.
    pub(super) fn innermost(&self) -> Vec<Span> {
        let mut tops: Vec<u32> = self.tops.into_iter().filter(|at| *at != NONE).collect();
        tops.sort_unstable();
        tops.into_iter()
            .filter_map(|at| self.get(at as usize).copied())
            .collect()
    }
}

/// Locks that are held.
#[derive(Debug, Default)]
pub(super) struct Holds {
    /// The one got last, which is mostly the one given back next; also in `others` when it is held several times.
    last: Option<(MutexKind, u64)>,
    /// How often each is held, and the number of its first acquisition.
    others: HashMap<(MutexKind, u64), (u32, u64)>,
    number: u64,
}

impl Holds {
    pub(super) fn is_empty(&self) -> bool {
        self.last.is_none() && self.others.is_empty()
    }

    /// Whether there was room.
    pub(super) fn add(&mut self, lock: (MutexKind, u64)) -> bool {
        if self.others.len() >= MAX_DEPTH {
            return false;
        }
        if let Some(last) = self.last.replace(lock) {
            self.number += 1;
            let number = self.number;
            self.others.entry(last).or_insert((0, number)).0 += 1;
        }
        true
    }

    /// Whether it was held.
    pub(super) fn remove(&mut self, lock: (MutexKind, u64)) -> bool {
        if self.last == Some(lock) {
            self.last = None;
            return true;
        }
        if self.others.is_empty() {
            return false;
        }
        let Some((count, _)) = self.others.get_mut(&lock) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.others.remove(&lock);
        }
        true
    }

    /// Takes all, the one got last first.
    pub(super) fn take(&mut self) -> Vec<(MutexKind, u64)> {
        let mut others: Vec<_> = self.others.drain().collect();
        others.sort_unstable_by_key(|(_, (_, number))| std::cmp::Reverse(*number));
        let repeated = others
            .into_iter()
            .flat_map(|(lock, (count, _))| std::iter::repeat_n(lock, count as usize));
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
            assert!(stack.push(span));
        }
        assert_eq!(stack.find(Tag::Single), Some(2));
        assert_eq!(stack.find_sync(SyncKind::Taskwait), Some(1));
        assert_eq!(stack.find_sync(SyncKind::Reduction), None);
        assert_eq!(stack.state(), Some((State::Synchronization, true)));
        assert_eq!(stack.innermost(), [spans[1], spans[2], spans[3], spans[4]]);
        for span in spans.iter().rev().take(3) {
            assert_eq!(stack.pop().as_ref(), Some(span));
        }
        assert_eq!(stack.find(Tag::Single), Some(0));
        assert_eq!(stack.find(Tag::Masked), None);
        assert_eq!(stack.state(), Some((State::Synchronization, false)));
        stack.pop();
        assert_eq!(stack.state(), None);
    }

    #[test]
    fn locks_are_given_back_in_any_order() {
        let lock = |object| (MutexKind::Lock, object);
        let mut holds = Holds::default();
        for object in [1, 2, 3, 2] {
            assert!(holds.add(lock(object)));
        }
        assert!(holds.remove(lock(1)) && !holds.remove(lock(1)));
        assert_eq!(holds.take(), [lock(2), lock(3), lock(2)]);
        assert!(holds.is_empty());
    }
}
