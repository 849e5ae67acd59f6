//! Types and values of constructs, and marks: cancellation, posts of doacross loops, detach events, memory of OpenMP allocators.

use std::io::Write;

use crate::event::{AllocatorKind, CancelKind, MutexKind, SyncKind, TargetKind, cancel_flags};
use crate::model::{Mark, Span, Target};

use super::events::At;
use super::types::*;

/// Type and value of a wait.
pub(super) fn sync(kind: SyncKind) -> (u32, u64) {
    match kind {
        SyncKind::ExplicitBarrier => (BARRIER, 1),
        SyncKind::ImplicitBarrier => (JOIN, 1),
        SyncKind::Taskwait => (TASKWAIT, 1),
        SyncKind::TaskwaitDepend => (TASKWAIT, 2),
        SyncKind::TaskgroupEnd => (TASKGROUP, 2),
        SyncKind::Taskyield => (TASKYIELD, 1),
        SyncKind::DoacrossSink => (DOACROSS, 2),
        // Extrae has no type for these.
        SyncKind::Copyprivate => (WAIT, 1),
        SyncKind::Reduction => (WAIT, 2),
        SyncKind::TeamsEnd => (WAIT, 3),
        SyncKind::Other(_) => (WAIT, 4),
        SyncKind::Condition => (WAIT, 5),
        SyncKind::ThreadBarrier => (WAIT, 6),
        SyncKind::Semaphore => (WAIT, 7),
        SyncKind::Join => (WAIT, 8),
        SyncKind::Once => (WAIT, 9),
        SyncKind::Future => (WAIT, 10),
        SyncKind::Interpreter => (WAIT, 11),
    }
}

/// Type of a kind of mutual exclusion.
pub(super) fn lock_type(kind: MutexKind) -> u32 {
    match kind {
        MutexKind::NamedCritical | MutexKind::Lock | MutexKind::NestLock => NAMED_LOCK,
        MutexKind::Critical | MutexKind::Atomic | MutexKind::Other(_) => LOCK,
        MutexKind::Ordered => ORDERED,
        MutexKind::Mutex | MutexKind::ReadLock | MutexKind::WriteLock | MutexKind::SpinLock => {
            THREAD_LOCK
        }
    }
}

/// Whether locks of a type are told by their addresses.
pub(super) fn has_name(lock_type: u32) -> bool {
    matches!(lock_type, NAMED_LOCK | THREAD_LOCK)
}

/// Types that get a 0 when a span ends.
pub(super) fn types(span: &Span) -> &'static [u32] {
    match span {
        Span::Parallel { .. } => &[PARALLEL],
        Span::Implicit { .. } => &[PARALLEL_FUNCTION, PARALLEL_LINE],
        Span::Task { .. } => &[TASK_FUNCTION, TASK_LINE, TASK_ID],
        Span::Create { .. } | Span::WaitDepend { .. } => &[CREATED_FUNCTION, CREATED_LINE, TASK_ID],
        Span::Taskloop { .. } => &[CREATED_FUNCTION, CREATED_LINE, TASKLOOP, TASKLOOP_ID],
        Span::Taskgroup => &[IN_TASKGROUP],
        Span::Work(_) | Span::Single | Span::Masked => &[WORKSHARING],
        Span::Asking { called: true } => &[DISPATCH],
        Span::Target(_) => &[TARGET, TARGET_FUNCTION],
        Span::Flush => &[FLUSH],
        Span::User { .. } => &[REGION],
        Span::Call { .. } => &[CALL],
        Span::Function { .. } => &[USER_FUNCTION, USER_LINE, LISTED_FUNCTION],
        // The others have values of their own.
        _ => &[],
    }
}

/// Value of the target type.
pub(super) fn target(target: &Target) -> u64 {
    match target.kind {
        TargetKind::Target => 1,
        TargetKind::Data => 2,
        TargetKind::DataEnd => 3,
        TargetKind::Update => 4,
        TargetKind::EnterExitData if target.is_exit() => 6,
        TargetKind::EnterExitData => 5,
        TargetKind::Other(_) => 7,
    }
}

/// Writes an event without an end.
pub(super) fn moment<W: Write>(to: &mut At<'_, '_, W>, mark: Mark<'_>) {
    match mark {
        Mark::Cancel { kind, flags } => {
            let construct = match kind {
                CancelKind::Other(_) => 9,
                known => u64::from(u32::from(known)),
            };
            to.put(CANCEL, construct);
            to.put(CANCEL_ACTION, action(flags));
        }
        Mark::Post => {
            to.put(DOACROSS, 1);
            to.put(DOACROSS, 0);
        }
        Mark::Detach { handle, .. } => to.put(DETACH, handle),
        Mark::Fulfill { handle, .. } => to.put(FULFILL, handle),
        Mark::Alloc {
            kind,
            address,
            bytes,
        } => {
            to.put(MEMORY, clause(kind, 18, 16));
            to.put(MEMORY_SIZE, bytes);
            to.put(MEMORY_OUT, address);
            to.put(MEMORY, 0);
        }
        Mark::Free { kind, address } => {
            to.put(MEMORY, clause(kind, 19, 17));
            to.put(MEMORY_IN, address);
            to.put(MEMORY, 0);
        }
        _ => {}
    }
}

fn clause(kind: AllocatorKind, clause: u64, call: u64) -> u64 {
    match kind {
        AllocatorKind::Clause => clause,
        _ => call,
    }
}

fn action(flags: u32) -> u64 {
    let leaves = flags & cancel_flags::DETECTED != 0;
    match flags {
        _ if flags & cancel_flags::DISCARDED_TASK != 0 => 5,
        _ if flags & cancel_flags::ACTIVATED != 0 => 3 + u64::from(leaves),
        _ => 1 + u64::from(leaves),
    }
}
