//! Words of columns, and the numbers that columns have for identities.

use instr_trace::event::{BlockKind, RegionId, TaskId};
use instr_trace::model::{End, HeapFunction, PagesFunction, Scheduled, Span, State, Work};
use instr_trace::tasks::TaskKind;

/// A time, an address or a count as a column has it: what does not fit keeps its bits.
#[inline]
pub(super) fn int(number: u64) -> i64 {
    number.cast_signed()
}

/// The number of a task in columns.
#[inline]
pub(super) fn task(id: TaskId) -> i64 {
    int(u64::from(id.thread) << 32 | u64::from(id.seq))
}

/// The number of a region in columns.
#[inline]
pub(super) fn region(id: RegionId) -> i64 {
    int(u64::from(id.thread) << 32 | u64::from(id.seq))
}

pub(super) fn state(state: State) -> &'static str {
    match state {
        State::Useful => "useful",
        State::Synchronization => "synchronization",
        State::Scheduling => "scheduling",
        State::Flush => "flush",
        State::Idle => "idle",
    }
}

pub(super) fn ended(how: End) -> &'static str {
    match how {
        End::Told => "event",
        End::Refused => "refused",
        End::Implied => "implied",
        End::Cut => "cut",
        End::Suspended => "suspended",
        End::Kept => "kept",
        End::Unseen { .. } => "unseen",
    }
}

/// What a span is; nothing for one that this version does not show.
pub(super) fn span(span: &Span) -> Option<&'static str> {
    Some(match span {
        Span::Parallel { .. } => "parallel",
        Span::Implicit { .. } => "implicit task",
        Span::Closing { .. } => "closing barrier",
        Span::Task { .. } => "task",
        Span::Create { .. } => "create",
        Span::WaitDepend { .. } => "taskwait depend",
        Span::Taskloop { .. } => "taskloop",
        Span::Taskgroup => "taskgroup",
        Span::Work(Work::Loop { .. } | Work::Combined) => "loop",
        Span::Work(Work::Sections) => "sections",
        Span::Work(Work::Scope) => "scope",
        Span::Asking { .. } => "asking",
        Span::Single => "single",
        Span::Masked => "masked",
        Span::Sync(_) => "wait",
        Span::Acquire { .. } => "acquire",
        Span::Hold { .. } => "hold",
        Span::Target(_) => "target",
        Span::Flush => "flush",
        Span::User { .. } => "region",
        Span::Call { .. } => "call",
        Span::Function { .. } => "function",
        _ => return None,
    })
}

pub(super) fn task_kind(kind: TaskKind) -> &'static str {
    match kind {
        TaskKind::Task => "task",
        TaskKind::Taskloop => "taskloop",
        TaskKind::Taskwait => "taskwait",
        TaskKind::Target => "target",
    }
}

pub(super) fn heap(function: HeapFunction) -> &'static str {
    match function {
        HeapFunction::Get(BlockKind::Calloc) => "calloc",
        HeapFunction::Get(BlockKind::Aligned) => "aligned",
        HeapFunction::Get(BlockKind::Pages) => "pages",
        HeapFunction::Get(BlockKind::New) => "new",
        HeapFunction::Get(BlockKind::NewArray) => "new[]",
        HeapFunction::Get(_) => "malloc",
        HeapFunction::Give(BlockKind::New) => "delete",
        HeapFunction::Give(BlockKind::NewArray) => "delete[]",
        HeapFunction::Give(_) => "free",
        HeapFunction::Move => "realloc",
    }
}

pub(super) fn pages(function: PagesFunction) -> &'static str {
    match function {
        PagesFunction::Map => "mmap",
        PagesFunction::Unmap => "munmap",
        PagesFunction::Remap => "mremap",
    }
}

/// What a thread does that has left its processor.
pub(super) fn left(state: Scheduled) -> &'static str {
    match state {
        Scheduled::Blocked => "blocked",
        Scheduled::Ready => "ready",
        Scheduled::Running | Scheduled::Unknown => "unknown",
    }
}
