//! Marks of constructs that programs use now and then: inferred static loops, cancellation, doacross loops, memory of OpenMP
//! allocators, detached tasks.

use instr_trace::event::{AllocatorKind, CancelKind, cancel_flags};
use instr_trace::model::{At, Mark};

use super::Collector;

/// More allocations at a time are not followed: their size is then not taken off when they are given back.
const MAX_ALLOCATED: usize = 1 << 22;

impl Collector {
    /// Takes a mark of such a construct.
    pub(super) fn construct(&mut self, at: At, mark: Mark<'_>) {
        let thread = &self.threads[at.position];
        let out = &mut self.out;
        match mark {
            Mark::StaticLoop { site } => {
                let count = out.static_loops.entry((site, thread.body)).or_default();
                count.count += 1;
                count.instances += u64::from(!thread.is_worker);
            }
            Mark::Post => out.doacross.entry(thread.body).or_default().posts += 1,
            Mark::Await => out.doacross.entry(thread.body).or_default().waits += 1,
            Mark::Fulfill { .. } => out.special_tasks.fulfilled += 1,
            Mark::Cancel { kind, flags } => self.cancel(kind, flags),
            Mark::Alloc {
                kind,
                address,
                bytes,
            } => self.allocate(kind, address, bytes),
            Mark::Free { kind, address } => self.free(kind, address),
            _ => {}
        }
    }

    fn cancel(&mut self, kind: CancelKind, flags: u32) {
        let count = self.out.cancellations.entry(kind).or_default();
        if flags & cancel_flags::DISCARDED_TASK != 0 {
            count.discarded += 1;
            self.out.special_tasks.discarded += 1;
            return;
        }
        match flags & cancel_flags::ACTIVATED != 0 {
            true => count.cancels += 1,
            false => count.points += 1,
        }
        count.left += u64::from(flags & cancel_flags::DETECTED != 0);
    }

    fn allocate(&mut self, kind: AllocatorKind, address: u64, bytes: u64) {
        let count = self.out.allocations.entry(kind).or_default();
        if address == 0 {
            count.refused += 1;
            return;
        }
        count.count += 1;
        count.bytes = count.bytes.saturating_add(bytes);
        count.live_bytes = count.live_bytes.saturating_add(bytes);
        count.peak_bytes = count.peak_bytes.max(count.live_bytes);
        if self.allocated.len() < MAX_ALLOCATED {
            self.allocated.insert(address, (kind, bytes));
        }
    }

    fn free(&mut self, kind: AllocatorKind, address: u64) {
        if address == 0 {
            return;
        }
        let (kind, bytes) = self.allocated.remove(&address).unwrap_or((kind, 0));
        let count = self.out.allocations.entry(kind).or_default();
        count.freed += 1;
        count.live_bytes = count.live_bytes.saturating_sub(bytes);
    }
}
