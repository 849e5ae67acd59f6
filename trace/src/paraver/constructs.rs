//! Events that mark a moment: cancellation, posts of doacross loops, detach events, memory of OpenMP allocators.

use std::io::Write;

use crate::event::{Payload, cancel_flags};

use super::events::At;
use super::types::*;

/// Value of the target type for a `target_begin`.
pub(super) fn target(payload: &Payload<'_>) -> u64 {
    /// Bit of the event's flags: the data leave the device.
    const EXIT_DATA: u32 = 2;
    let Payload::TargetBegin { kind, flags, .. } = *payload else {
        return 0;
    };
    match kind {
        0..=3 => u64::from(kind) + 1,
        4 if flags & EXIT_DATA != 0 => 6,
        4 => 5,
        _ => 7,
    }
}

/// Writes an event without an end.
pub(super) fn moment<W: Write>(to: &mut At<'_, '_, W>, payload: &Payload<'_>) {
    match *payload {
        Payload::Cancel { kind, flags } => {
            let construct = match kind {
                1 | 2 | 4 | 8 => u64::from(kind),
                _ => 9,
            };
            to.put(CANCEL, construct);
            to.put(CANCEL_ACTION, action(flags));
        }
        Payload::Doacross { source: true, .. } => {
            to.put(DOACROSS, 1);
            to.put(DOACROSS, 0);
        }
        Payload::TaskEvent { handle, .. } => to.put(DETACH, handle),
        Payload::TaskFulfill { handle, .. } => to.put(FULFILL, handle),
        Payload::OmpAlloc {
            kind,
            address,
            bytes,
            ..
        } => {
            to.put(MEMORY, if kind == 2 { 18 } else { 16 });
            to.put(MEMORY_SIZE, bytes);
            to.put(MEMORY_OUT, address);
            to.put(MEMORY, 0);
        }
        Payload::OmpFree { kind, address } => {
            to.put(MEMORY, if kind == 2 { 19 } else { 17 });
            to.put(MEMORY_IN, address);
            to.put(MEMORY, 0);
        }
        _ => {}
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
