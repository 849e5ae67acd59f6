//! Device constructs, and marks: cancellation, posts of doacross loops, detach events, memory of OpenMP allocators.

use std::io::Write;

use crate::event::{AllocatorKind, CancelKind, TargetKind, cancel_flags};
use crate::model::{Mark, Target};

use super::events::At;
use super::types::*;

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
