//! Kinds in the words of OpenMP and POSIX, as tables, JSON and other outputs show them.

use crate::event::{AllocatorKind, CancelKind, MutexKind, SyncKind, TargetKind};

/// What a thread waits for, in the words of the OpenMP specification and of POSIX.
pub fn sync_name(kind: SyncKind) -> &'static str {
    match kind {
        SyncKind::ExplicitBarrier => "barrier",
        SyncKind::ImplicitBarrier => "work-sharing barrier",
        SyncKind::Taskwait => "taskwait",
        SyncKind::TaskwaitDepend => "taskwait depend",
        SyncKind::TaskgroupEnd => "taskgroup",
        SyncKind::Taskyield => "taskyield",
        SyncKind::Copyprivate => "copyprivate",
        SyncKind::DoacrossSink => "doacross sink",
        SyncKind::Reduction => "reduction",
        SyncKind::TeamsEnd => "end of teams",
        SyncKind::Condition => "condition variable",
        SyncKind::ThreadBarrier => "thread barrier",
        SyncKind::Semaphore => "semaphore",
        SyncKind::Join => "join",
        SyncKind::Once => "once",
        SyncKind::Future => "future",
        SyncKind::Interpreter => "interpreter lock",
        _ => "unknown",
    }
}

/// Name, and `FILE:LINE` of the first line, of a [`Span::Function`](crate::model::Span::Function) with this text; functions of C have no place.
pub fn function_parts(text: &str) -> (&str, Option<&str>) {
    match text.split_once('\t') {
        Some((name, place)) => (name, Some(place)),
        None => (text, None),
    }
}

/// The same as one label, the file without its folders: `work (app.py:12)`.
pub fn function_label(text: &str) -> String {
    match function_parts(text) {
        (name, Some(place)) => {
            let short = place.rsplit('/').next().unwrap_or(place);
            format!("{name} ({short})")
        }
        (name, None) => name.to_owned(),
    }
}

/// What a function of a language is that stands for a task of an event loop (Python's asyncio), by the beginning of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asynchronous {
    /// A task: `task NAME`. Each has an address of its own.
    Task,
    /// What it awaits: `await NAME`. It begins and is suspended just before its task is, and ends just after that goes on.
    Await,
}

/// Whether a function with this text is one of them. No function of Python has a blank in its name.
pub fn asynchronous(text: &str) -> Option<Asynchronous> {
    match text.split_once(' ')?.0 {
        "task" => Some(Asynchronous::Task),
        "await" => Some(Asynchronous::Await),
        _ => None,
    }
}

/// The kind of a critical section or lock, for people.
pub fn mutex_name(kind: MutexKind) -> &'static str {
    match kind {
        MutexKind::Critical => "critical",
        MutexKind::NamedCritical => "named critical",
        MutexKind::Atomic => "atomic",
        MutexKind::Ordered => "ordered",
        MutexKind::Lock => "lock",
        MutexKind::NestLock => "nest lock",
        MutexKind::Mutex => "mutex",
        MutexKind::ReadLock => "read lock",
        MutexKind::WriteLock => "write lock",
        MutexKind::SpinLock => "spin lock",
        _ => "unknown",
    }
}

/// The construct of a cancellation, in the words of the directive.
pub fn cancel_name(kind: CancelKind) -> &'static str {
    match kind {
        CancelKind::Parallel => "parallel",
        CancelKind::Loop => "for",
        CancelKind::Sections => "sections",
        CancelKind::Taskgroup => "taskgroup",
        _ => "unknown",
    }
}

/// A device construct, in the words of the directive.
pub fn target_name(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Target => "target",
        TargetKind::Data => "target data",
        TargetKind::DataEnd => "end of target data",
        TargetKind::Update => "target update",
        TargetKind::EnterExitData => "target enter/exit data",
        _ => "unknown",
    }
}

/// How memory of an OpenMP allocator was asked for.
pub fn allocation_name(kind: AllocatorKind) -> &'static str {
    match kind {
        AllocatorKind::Call => "omp_alloc",
        AllocatorKind::Clause => "allocate clause",
        _ => "unknown",
    }
}
